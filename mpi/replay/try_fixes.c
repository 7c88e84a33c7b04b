#include "try_fixes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "changes.h"
#include "even_stages.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "rank_slack.h"
#include "replay/job/each.h"
#include "replay/whatif/choose_changes.h"
#include "replay/whatif/plan.h"
#include "slow_hosts.h"

/* This share of the job's ranks is called the worst ranks. They are the ranks with the largest S_x:
 * the time T of the job if every rank except x had the weights of its peers. */
static const double WORST_SHARE = 0.03;

/* A fix to evaluate: which ranks are fixed, and with which weights. */
typedef struct trial {
    tm_whatif_item item;
    uint32_t first, n; /* range of members */
    tm_fix_sets sets;
} trial;

typedef struct whatif {
    const tm_replay_ranks *r;
    const tm_scenario *scenario; /* or NULL */
    tm_replay_result *result;
    tm_changes chosen; /* the changes that process 0 chose */
    tm_split split;
    tm_scaled scaled; /* factors that make slow transfers as fast as the others */
    tm_changes_more more;
    tm_replay job;
    tm_fixer fixer;
    tm_trying trying; /* evaluation of the changes */
    tm_vec trials;    /* vector of trial */
    tm_vec members;   /* vector of uint32_t: indices of the trials' ranks */
    tm_vec best; /* vector of tm_whatif_step: the best fix for each step among the fixes of a single
                    rank that this process tried */
    int64_t *ideal; /* owned; [operations + steps] times if all ranks have the IDEAL weights */
    uint8_t *sets;  /* owned; [n_ranks] */
    int self, n_processes;
} whatif;

/* S_x of a rank x: the time T of the job if every rank except x had the weights of its peers. */
typedef struct without {
    int64_t ideal_ns;
    uint32_t place;
} without;

TM_ORDER_FALLING(by_ideal, without, ideal_ns, place);

/* Process 0, which has the path, chooses the changes and broadcasts them. */
static tm_status choose_changes(whatif *w, tm_error *err) {
    const tm_path_step *steps = w->result->path_steps.data;
    for (size_t k = 0; k < w->result->path_steps.n; k++)
        w->result->total_ns += steps[k].end_ns - steps[k].begin_ns;
    tm_status status = w->self == 0 ? tm_changes_choose(w->result, &w->chosen, err) : TM_OK;
    TM_TRY(tm_mpi_agree(w->r->comm, status, err));
    MPI_Bcast(&w->chosen, sizeof w->chosen, MPI_BYTE, 0, w->r->comm);
    return TM_OK;
}

/* Reduces this process's ranks twice: with the sets of weights that trials use, and with the sets
 * of the first batch of changes. */
static tm_status reduce_ranks(whatif *w, tm_vec *words, tm_error *err) {
    const tm_replay_weigh weighs[2] = {
        {TM_N_RANK_SETS, tm_sets_weigh, tm_sets_weigh_batch(), NULL, NULL, words},
        tm_mpi_changes_weigh(&w->trying)};
    return tm_replay_reduce(w->r, weighs, 2, err);
}

static tm_status make_job(whatif *w, tm_error *err) {
    tm_vec own = TM_VEC(int64_t), all = TM_VEC(int64_t);
    TM_TRY(tm_mpi_changes_open(w->r, &w->chosen, &w->more, w->scenario, &w->trying, err));
    tm_status status = tm_mpi_agree(w->r->comm, reduce_ranks(w, &own, err), err);
    if (status == TM_OK)
        status = tm_replay_share(w->r->comm, &own, &all, err);
    tm_vec_free(&own);
    if (status == TM_OK)
        status = tm_mpi_agree(w->r->comm, tm_replay_build(all.data, all.n, &w->job, err), err);
    tm_vec_free(&all);
    if (status == TM_OK)
        status = tm_mpi_agree(w->r->comm, tm_replay_count(&w->job, w->r->steps, err), err);
    if (status != TM_OK)
        return status;
    const tm_fix_sets recorded = {TM_SET_RECORDED, TM_SET_RECORDED_EXPLAINED};
    TM_TRY(tm_mpi_agree(w->r->comm, tm_fixer_open(&w->job, recorded, &w->fixer, err), err));
    for (size_t i = 0; i < w->job.n_operations; i++)
        assert(w->fixer.recorded_ns[i] == w->job.operations[i].last_ns);
    return TM_OK;
}

static const tm_replay_fact *fact_at(const whatif *w, size_t i) {
    return (const tm_replay_fact *)w->r->facts.data + i;
}

/* Returns the id of the trial that contains a rank: the id of the rank, its host or its stage. */
static int64_t id_of(const tm_replay_fact *f, tm_whatif_what what) {
    return what == TM_WHATIF_RANK ? f->rank : what == TM_WHATIF_HOST ? (int64_t)f->host : f->stage;
}

static bool is_named(const tm_replay_fact *f, tm_whatif_what what) {
    return what == TM_WHATIF_RANK ||
           (what == TM_WHATIF_HOST ? f->host != TM_NO_NAME : f->stage >= 0);
}

/*
 * Adds the members of the trials from index @p first on, in the order of ranks. The n of each of
 * these trials must be set.
 * @param of  [ranks] 1 + the index of the rank's trial, counted from @p first; 0: the rank is in
 *            none
 */
static bool add_members(whatif *w, size_t first, const uint32_t *of) {
    trial *trials = (trial *)w->trials.data + first;
    size_t n = w->members.n;
    for (size_t i = 0; i < w->trials.n - first; i++) {
        trials[i].first = (uint32_t)n;
        n += trials[i].n;
        trials[i].n = 0;
    }
    if (!tm_vec_append(&w->members, NULL, n - w->members.n))
        return false;
    for (uint32_t k = 0; k < w->r->facts.n; k++)
        if (of[k] > 0) {
            trial *t = &trials[of[k] - 1];
            ((uint32_t *)w->members.data)[t->first + t->n++] = k;
        }
    return true;
}

/*
 * Numbers the trials of ranks, hosts or stages in the order of their first ranks.
 * @param of   [ranks] set to 1 + the number of the rank's trial; 0 before the call and for ranks in
 *             none
 * @param ids  empty before the call; gets the id of each trial
 */
static bool number_trials(const whatif *w, tm_whatif_what what, uint32_t *of, tm_keys *ids) {
    bool ok = true, several = false;
    for (size_t i = 1; i < w->r->facts.n; i++)
        several = several || id_of(fact_at(w, i), what) != id_of(fact_at(w, 0), what);
    for (size_t i = 0; i < w->r->facts.n && ok && several; i++) {
        const int64_t id = id_of(fact_at(w, i), what);
        if (!is_named(fact_at(w, i), what))
            continue;
        of[i] = tm_keys_add(ids, &id) + 1; /* TM_NO_KEY gives 0 */
        ok = of[i] > 0;
    }
    return ok;
}

/* Adds a trial for each rank, host or stage. Adds none if the job has only one. */
static bool add_trials(whatif *w, tm_whatif_what what) {
    tm_keys ids = TM_KEYS(int64_t);
    uint32_t *of = calloc(w->r->facts.n + 1, sizeof *of);
    const size_t first = w->trials.n;
    bool ok = of && number_trials(w, what, of, &ids);
    trial *added = ok ? tm_vec_append(&w->trials, NULL, ids.keys.n) : NULL;
    ok = added || (ok && ids.keys.n == 0);
    for (size_t i = 0; added && i < ids.keys.n; i++)
        added[i] = (trial){.item = {.what = (uint8_t)what,
                                    .id = ((const int64_t *)ids.keys.data)[i],
                                    .ideal_ns = -1,
                                    .next_rank = -1},
                           .sets = {TM_SET_PEER, TM_SET_PEER_EXPLAINED}};
    for (size_t i = 0; added && i < w->r->facts.n; i++)
        if (of[i] > 0)
            added[of[i] - 1].item.ranks = ++added[of[i] - 1].n;
    ok = ok && add_members(w, first, of);
    tm_keys_free(&ids);
    free(of);
    return ok;
}

static tm_status list_trials(whatif *w, tm_error *err) {
    const bool ok = add_trials(w, TM_WHATIF_RANK) && add_trials(w, TM_WHATIF_HOST) &&
                    add_trials(w, TM_WHATIF_STAGE);
    return tm_mpi_agree(w->r->comm, ok ? TM_OK : tm_fail_memory(err), err);
}

static void set_members(const whatif *w, const trial *t, uint8_t others, uint8_t set) {
    const uint32_t *members = (const uint32_t *)w->members.data + t->first;
    for (size_t i = 0; i < w->job.n_ranks; i++)
        w->sets[i] = others;
    for (uint32_t i = 0; i < t->n; i++)
        w->sets[members[i]] = set;
}

/* Keeps the last evaluated trial as the best fix of each step in which it saves more than the best
 * one so far. Only for trials of a single rank. */
static void keep_best(whatif *w, const trial *t) {
    const int64_t *old = w->fixer.recorded_ns + w->job.n_operations;
    const int64_t *new = w->fixer.fixed_ns + w->job.n_operations;
    tm_whatif_step *best = w->best.data;
    for (size_t k = 0; k < w->best.n && t->item.what == TM_WHATIF_RANK; k++) {
        int64_t was = old[k] - (k > 0 ? old[k - 1] : 0), is = new[k] - (k > 0 ? new[k - 1] : 0);
        if (was - is > best[k].saved_ns) {
            best[k].saved_ns = was - is;
            best[k].best_rank = t->item.id;
        }
    }
}

static int64_t sweep(whatif *w, int64_t *ns) {
    tm_replay_forward(&w->job, w->sets, ns);
    return tm_replay_total(&w->job, ns);
}

static tm_status try_one(whatif *w, trial *t, tm_error *err) {
    const tm_fix fix = {(const uint32_t *)w->members.data + t->first, t->n, t->sets};
    t->item.tried = tm_fixer_may_help(&w->fixer, &fix);
    if (t->item.tried) {
        tm_saving saving = tm_fixer_try(&w->fixer, &fix);
        t->item.saved_ns = saving.saved_ns;
        t->item.saved_most_ns = saving.saved_most_ns;
        keep_best(w, t);
        set_members(w, t, TM_SET_RECORDED, t->sets.plain);
        TM_TRY(tm_replay_busiest(&w->job, w->sets, w->fixer.fixed_ns, &t->item.next_rank, err));
    }
    return TM_OK;
}

/* Consecutive trials of one kind (ranks, hosts or stages) that are evaluated together; at most
 * TM_EACH_LANES. */
typedef struct batch {
    size_t first, after;
    size_t sort; /* index of the first trial of the same kind as these trials */
} batch;

static tm_status try_some(whatif *w, const tm_each *each, const batch *some, tm_vec *items,
                          tm_error *err) {
    trial *trials = w->trials.data;
    int64_t ideals[TM_EACH_LANES];
    tm_each_totals(each, some->first - some->sort, some->after - some->first, ideals);
    for (size_t i = some->first; i < some->after; i++) {
        /* S_x: the time T if all ranks that are not in the trial had the weights of their peers */
        trials[i].item.ideal_ns = ideals[i - some->first];
        TM_TRY(try_one(w, &trials[i], err));
        if (!tm_vec_append(items, &trials[i].item, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Returns, for each rank, the index of its trial minus @p first; UINT32_MAX if no trial in
 * [first, after) contains the rank. NULL when out of memory. */
static uint32_t *group_ranks(const whatif *w, size_t first, size_t after) {
    const trial *trials = w->trials.data;
    const uint32_t *members = w->members.data;
    uint32_t *groups = malloc((w->job.n_ranks + 1) * sizeof *groups);
    if (!groups)
        return NULL;
    memset(groups, 0xff, w->job.n_ranks * sizeof *groups);
    for (size_t i = first; i < after; i++)
        for (uint32_t k = 0; k < trials[i].n; k++)
            groups[members[trials[i].first + k]] = (uint32_t)(i - first);
    return groups;
}

/* Evaluates this process's share of the trials [first, after), which are of one kind. */
static tm_status try_sort(whatif *w, size_t first, size_t after, tm_vec *items, tm_error *err) {
    const tm_replay_sets sets = {TM_SET_IDEAL_RECORDED, TM_SET_IDEAL};
    const size_t apart = (size_t)w->n_processes * TM_EACH_LANES;
    const size_t own = first + (size_t)w->self * TM_EACH_LANES;
    tm_each each = {0};
    if (own >= after) /* there are so few trials that other processes evaluate all of them */
        return TM_OK;
    uint32_t *groups = group_ranks(w, first, after);
    tm_status status =
        groups && tm_each_open(&each, &w->job, sets, groups) ? TM_OK : tm_fail_memory(err);
    for (size_t i = own; i < after && status == TM_OK; i += apart) {
        const batch some = {i, after - i < TM_EACH_LANES ? after : i + TM_EACH_LANES, first};
        status = try_some(w, &each, &some, items, err);
    }
    tm_each_free(&each);
    free(groups);
    return status;
}

static tm_status try_all(whatif *w, tm_vec *items, tm_error *err) {
    const trial *trials = w->trials.data;
    for (size_t first = 0, after = 0; first < w->trials.n; first = after) {
        while (after < w->trials.n && trials[after].item.what == trials[first].item.what)
            after++;
        TM_TRY(try_sort(w, first, after, items, err));
    }
    return TM_OK;
}

/* Adds the plan of fixes to the result, on process 0. */
static tm_status add_plan(whatif *w, tm_error *err) {
    const tm_fix_sets peer = {TM_SET_PEER, TM_SET_PEER_EXPLAINED};
    tm_vec plan = TM_VEC(tm_planned);
    tm_status status = tm_fixer_plan(&w->fixer, peer, &plan, err);
    for (size_t i = 0; i < plan.n && status == TM_OK; i++) {
        const tm_planned *p = (const tm_planned *)plan.data + i;
        const tm_whatif_item item = {.id = w->job.ranks[p->rank],
                                     .ranks = (int64_t)i + 1,
                                     .path_ns = p->saving.path_ns,
                                     .saved_ns = p->saving.saved_ns,
                                     .saved_most_ns = p->saving.saved_most_ns,
                                     .ideal_ns = -1,
                                     .next_rank = -1,
                                     .what = TM_WHATIF_PLAN,
                                     .tried = true};
        if (!tm_vec_append(&w->result->items, &item, 1))
            status = tm_fail_memory(err);
    }
    tm_vec_free(&plan);
    return status;
}

static int by_item(const void *a, const void *b) {
    const tm_whatif_item *x = a, *y = b;
    int order = tm_order_i64(x->what, y->what);
    if (order == 0 && x->what == TM_WHATIF_PLAN)
        return tm_order_i64(x->ranks, y->ranks);
    return order ? order : tm_order_i64(x->id, y->id);
}

/* Computes T with the worst ranks (3 %, rounded up) fixed, and T with the last stage fixed. */
static tm_status fix_worst(whatif *w, tm_error *err) {
    const tm_whatif_item *items = w->result->items.data;
    tm_vec worst = TM_VEC(without);
    size_t n = (size_t)ceil(WORST_SHARE * (double)w->r->facts.n);
    int64_t last = -1;
    bool ok = true;
    for (size_t i = 0; i < w->result->items.n && ok; i++) {
        if (items[i].what == TM_WHATIF_STAGE)
            last = items[i].id > last ? items[i].id : last;
        const without o = {items[i].ideal_ns, (uint32_t)worst.n};
        ok = items[i].what != TM_WHATIF_RANK || tm_vec_append(&worst, &o, 1);
    }
    if (ok && worst.n > 1)
        qsort(worst.data, worst.n, worst.size, by_ideal);
    w->result->workers_ns = w->result->stage_ns = -1;
    if (ok && worst.n > 0) {
        for (size_t i = 0; i < w->job.n_ranks; i++)
            w->sets[i] = TM_SET_RECORDED;
        for (size_t i = 0; i < n && i < worst.n; i++)
            w->sets[((const without *)worst.data)[i].place] = TM_SET_PEER;
        w->result->workers_ns = sweep(w, w->fixer.fixed_ns);
    }
    if (ok && last >= 0) {
        for (size_t i = 0; i < w->job.n_ranks; i++)
            w->sets[i] = fact_at(w, i)->stage == last ? TM_SET_PEER : TM_SET_RECORDED;
        w->result->stage_ns = sweep(w, w->fixer.fixed_ns);
    }
    tm_vec_free(&worst);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Adds to the items of ranks, hosts or stages how much of the path is on each of them. @p path
 * [facts] is the time of each rank on the path. */
static bool add_paths_of(whatif *w, tm_whatif_what what, const int64_t *path) {
    tm_keys keys = TM_KEYS(int64_t);
    tm_vec sums = TM_VEC(int64_t);
    tm_whatif_item *items = w->result->items.data;
    bool ok = true;
    for (size_t i = 0; i < w->r->facts.n && ok; i++) {
        const int64_t id = id_of(fact_at(w, i), what);
        int64_t *sum = tm_keys_value(&keys, &sums, &id);
        ok = sum != NULL;
        if (ok)
            *sum += path[i];
    }
    for (size_t i = 0; i < w->result->items.n && ok; i++) {
        const uint32_t at = items[i].what == what ? tm_keys_find(&keys, &items[i].id) : TM_NO_KEY;
        items[i].path_ns += at == TM_NO_KEY ? 0 : ((const int64_t *)sums.data)[at];
    }
    tm_keys_free(&keys);
    tm_vec_free(&sums);
    return ok;
}

/* Sets how much of the path belongs to each rank, host and stage, to the scenario, and to the work
 * of stages and the network. Runs on process 0, which has the pieces. */
static tm_status add_paths(whatif *w, tm_error *err) {
    const tm_path_piece *pieces = w->result->pieces.data;
    tm_whatif_item *items = w->result->items.data;
    int64_t *path = calloc(w->r->facts.n + 1, sizeof *path), of_scenario = 0;
    int64_t of_kind[TM_N_EDGE_KINDS] = {0};
    if (!path)
        return tm_fail_memory(err);
    for (size_t k = 0; k < w->result->pieces.n; k++) {
        of_scenario += pieces[k].part > 0 ? pieces[k].ns : 0;
        of_kind[pieces[k].kind] += pieces[k].ns;
        path[TM_FIRST_FROM(tm_replay_fact, rank, w->r->facts.data, w->r->facts.n,
                           pieces[k].rank)] += pieces[k].ns;
    }
    for (size_t i = 0; i < w->result->items.n; i++) {
        items[i].path_ns += items[i].what == TM_WHATIF_SCENARIO ? of_scenario : 0;
        items[i].path_ns += items[i].what == TM_WHATIF_SPLIT || items[i].what == TM_WHATIF_EVEN
                                ? of_kind[TM_EDGE_COMPUTE]
                            : items[i].what == TM_WHATIF_NETWORK || items[i].what == TM_WHATIF_LINK
                                ? of_kind[TM_EDGE_TRANSFER]
                                : 0;
    }
    const bool ok = add_paths_of(w, TM_WHATIF_RANK, path) &&
                    add_paths_of(w, TM_WHATIF_HOST, path) && add_paths_of(w, TM_WHATIF_STAGE, path);
    free(path);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status add_steps(whatif *w, tm_error *err) {
    const int64_t *old = w->fixer.recorded_ns + w->job.n_operations;
    const int64_t *ideal = w->ideal + w->job.n_operations;
    for (size_t k = 0; k < w->job.n_steps; k++) {
        const tm_whatif_step step = {.number = w->job.steps[k],
                                     .ns = old[k] - (k > 0 ? old[k - 1] : 0),
                                     .base_ns = old[k] - (k > 0 ? old[k - 1] : 0),
                                     .ideal_ns = ideal[k] - (k > 0 ? ideal[k - 1] : 0),
                                     .best_rank = -1};
        if (!tm_vec_append(&w->best, &step, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static int by_saving(const void *a, const void *b) {
    const tm_whatif_step *x = a, *y = b;
    int order = tm_order_i64(x->number, y->number);
    order = order ? order : -tm_order_i64(x->saved_ns, y->saved_ns);
    return order ? order : tm_order_i64(x->best_rank, y->best_rank);
}

static bool counts(const whatif *w, int64_t number) {
    return !w->job.counts || w->job.counts[tm_lower_bound(w->job.steps, w->job.n_steps, number)];
}

/* Finds the best fix of each step of the result, over all processes. */
static tm_status gather_steps(whatif *w, tm_error *err) {
    tm_vec all = TM_VEC(tm_whatif_step);
    tm_status status = tm_mpi_everywhere(w->r->comm, &w->best, &all, err);
    const tm_whatif_step *v = all.data;
    tm_vec_sort(&all, by_saving);
    for (size_t i = 0; i < all.n && status == TM_OK; i++)
        if ((i == 0 || v[i].number != v[i - 1].number) && counts(w, v[i].number) &&
            !tm_vec_append(&w->result->steps, &v[i], 1))
            status = tm_fail_memory(err);
    tm_vec_free(&all);
    return tm_mpi_agree(w->r->comm, status, err);
}

/* Adds the item of evenly divided work, which was evaluated before ranks were compared. */
static tm_status add_even(const whatif *w, tm_vec *items, tm_error *err) {
    const tm_whatif_item item = {.what = TM_WHATIF_EVEN,
                                 .ranks = w->trying.n_ranks,
                                 .saved_ns = w->fixer.total_ns - w->r->even_ns,
                                 .saved_most_ns = w->fixer.total_ns - w->r->even_explained_ns,
                                 .ideal_ns = -1,
                                 .next_rank = -1,
                                 .tried = true};
    return w->r->even_ns == 0 || tm_vec_append(items, &item, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status try_trials(whatif *w, tm_error *err) {
    tm_vec own = TM_VEC(tm_whatif_item);
    size_t n = w->job.n_operations + w->job.n_steps + 1;
    w->ideal = malloc(n * sizeof *w->ideal);
    w->sets = malloc(w->job.n_ranks + 1);
    tm_status status = w->ideal && w->sets ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        for (size_t i = 0; i < w->job.n_ranks; i++)
            w->sets[i] = TM_SET_IDEAL;
        w->result->ideal_ns = sweep(w, w->ideal);
        w->result->explained_ns = w->fixer.explained_ns;
        status = add_steps(w, err);
    }
    if (status == TM_OK)
        status = try_all(w, &own, err);
    status = tm_mpi_agree(w->r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_changes_try(&w->trying, w->fixer.total_ns, &own, err);
    if (status == TM_OK && w->self == 0)
        status = add_even(w, &own, err);
    status = tm_mpi_agree(w->r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(w->r->comm, &own, &w->result->items, err);
    tm_vec_free(&own);
    TM_TRY(status);
    if (w->self == 0)
        status = add_plan(w, err);
    tm_vec_sort(&w->result->items, by_item);
    if (w->self == 0 && status == TM_OK) {
        status = add_paths(w, err);
        status = status == TM_OK ? fix_worst(w, err) : status;
    }
    TM_TRY(tm_mpi_agree(w->r->comm, status, err));
    return gather_steps(w, err);
}

/* Finds stages with unequal work, and hosts or ranks with slow transfers. */
static tm_status compare_parts(whatif *w, tm_error *err) {
    TM_TRY(tm_mpi_split(w->r, w->result, &w->split, err));
    TM_TRY(tm_mpi_links(w->r, &w->result->network, &w->scaled, err));
    w->more.pairs = w->split.pairs;
    bool ok = tm_mpi_split_change(&w->split, &w->more.changes) &&
              tm_mpi_links_change(w->r, &w->result->network, &w->scaled, &w->more.changes);
    if (w->self == 0 && w->split.stages.n > 0)
        ok = ok && tm_vec_append(&w->result->stages, w->split.stages.data, w->split.stages.n);
    return tm_mpi_agree(w->r->comm, ok ? TM_OK : tm_fail_memory(err), err);
}

static tm_status find(whatif *w, tm_error *err) {
    TM_TRY(choose_changes(w, err));
    TM_TRY(compare_parts(w, err));
    TM_TRY(make_job(w, err));
    TM_TRY(list_trials(w, err));
    TM_TRY(try_trials(w, err));
    return tm_mpi_slack(w->r, &w->fixer, w->result, err);
}

tm_status tm_mpi_whatif(const tm_replay_ranks *ranks, const tm_scenario *scenario,
                        tm_replay_result *result, tm_error *err) {
    whatif w = {.r = ranks,
                .scenario = scenario,
                .result = result,
                .trials = TM_VEC(trial),
                .members = TM_VEC(uint32_t),
                .more = {TM_VEC(tm_change_more), NULL},
                .best = TM_VEC(tm_whatif_step)};
    MPI_Comm_rank(ranks->comm, &w.self);
    MPI_Comm_size(ranks->comm, &w.n_processes);
    tm_status status = find(&w, err);
    tm_fixer_free(&w.fixer);
    tm_mpi_changes_free(&w.trying);
    tm_replay_free(&w.job);
    TM_VECS_FREE(&w.trials, &w.members, &w.more.changes);
    tm_mpi_split_free(&w.split);
    tm_scaled_free(&w.scaled);
    tm_vec_free(&w.best);
    free(w.ideal);
    free(w.sets);
    return status;
}
