#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

/* WORTH_TRYING: a fix is evaluated if it shortens the path by at least T / 2000. WORTH_PLANNING: a
 * rank is a candidate for the plan if its fix shortens the remaining path by at least T / 200; the
 * last ranks of the plan must save at least T / 200 together. PLAN_MAX: maximum number of ranks. */
enum { WORTH_TRYING = 2000, WORTH_PLANNING = 200, PLAN_MAX = 8 };

void tm_fixer_free(tm_fixer *fixer) {
    free(fixer->recorded_ns);
    free(fixer->fixed_ns);
    free(fixer->path_ns);
    free(fixer->set_of_rank);
    *fixer = (tm_fixer){0};
}

static bool is_share(int64_t part, int64_t total, int64_t of) {
    return part > 0 && part >= (total + of - 1) / of;
}

static void set_all(tm_fixer *fixer, uint8_t set) {
    memset(fixer->set_of_rank, set, fixer->replay->n_ranks);
}

static int64_t sweep(const tm_fixer *fixer, int64_t *ns) {
    tm_replay_forward(fixer->replay, fixer->set_of_rank, ns);
    return tm_replay_total(fixer->replay, ns);
}

/* Computes by how much the hops of each rank are shorter with @p set than with the rank's set in
 * set_of_rank. Adds the result to the rank's element of @p path_ns. */
static void add_reductions(const tm_fixer *fixer, const tm_vec *hops, size_t set,
                           int64_t *path_ns) {
    const tm_replay *job = fixer->replay;
    for (size_t i = 0; i < hops->n; i++) {
        const tm_hop *hop = (const tm_hop *)hops->data + i;
        path_ns[hop->rank] += job->ns[fixer->set_of_rank[hop->rank] * job->n_links + hop->link] -
                              job->ns[set * job->n_links + hop->link];
    }
}

/* Finds the whole path, from the root to the last end, with the current times and weights. */
static bool whole_path(const tm_fixer *fixer, const int64_t *ns, tm_vec *hops) {
    return tm_replay_paths(fixer->replay, fixer->set_of_rank, ns, hops);
}

static bool begin(tm_fixer *fixer) {
    const tm_replay *job = fixer->replay;
    size_t n = job->n_operations + job->n_steps + 1;
    tm_vec hops = TM_VEC(tm_hop);
    fixer->recorded_ns = calloc(n, sizeof *fixer->recorded_ns);
    fixer->fixed_ns = calloc(n, sizeof *fixer->fixed_ns);
    fixer->path_ns = calloc(job->n_sets * job->n_ranks + 1, sizeof *fixer->path_ns);
    fixer->set_of_rank = calloc(job->n_ranks + 1, sizeof *fixer->set_of_rank);
    if (!fixer->recorded_ns || !fixer->fixed_ns || !fixer->path_ns || !fixer->set_of_rank)
        return false;
    set_all(fixer, fixer->recorded.explained);
    fixer->explained_ns = sweep(fixer, fixer->fixed_ns);
    set_all(fixer, fixer->recorded.plain);
    fixer->total_ns = sweep(fixer, fixer->recorded_ns);
    bool ok = whole_path(fixer, fixer->recorded_ns, &hops);
    for (size_t set = 0; ok && set < job->n_sets; set++)
        add_reductions(fixer, &hops, set, fixer->path_ns + set * job->n_ranks);
    tm_vec_free(&hops);
    return ok;
}

tm_status tm_fixer_open(const tm_replay *replay, tm_fix_sets recorded, tm_fixer *fixer,
                        tm_error *err) {
    tm_fixer opened = {.replay = replay, .recorded = recorded};
    if (!begin(&opened)) {
        tm_fixer_free(&opened);
        return tm_fail_memory(err);
    }
    *fixer = opened;
    return TM_OK;
}

static size_t n_fixed(const tm_fixer *fixer, const tm_fix *fix) {
    return fix->ranks ? fix->n : fixer->replay->n_ranks;
}

static int64_t path_ns_of(const tm_fixer *fixer, const tm_fix *fix) {
    const int64_t *path_ns = fixer->path_ns + fix->sets.plain * fixer->replay->n_ranks;
    int64_t sum = 0;
    for (size_t i = 0; i < n_fixed(fixer, fix); i++)
        sum += path_ns[fix->ranks ? fix->ranks[i] : i];
    return sum;
}

bool tm_fixer_may_help(const tm_fixer *fixer, const tm_fix *fix) {
    return is_share(path_ns_of(fixer, fix), fixer->total_ns, WORTH_TRYING);
}

static int64_t total_with(tm_fixer *fixer, const tm_fix *fix, uint8_t recorded, uint8_t fixed) {
    set_all(fixer, recorded);
    for (size_t i = 0; i < n_fixed(fixer, fix); i++)
        fixer->set_of_rank[fix->ranks ? fix->ranks[i] : i] = fixed;
    return sweep(fixer, fixer->fixed_ns);
}

tm_saving tm_fixer_try(tm_fixer *fixer, const tm_fix *fix) {
    int64_t explained = total_with(fixer, fix, fixer->recorded.explained, fix->sets.explained);
    int64_t plain = total_with(fixer, fix, fixer->recorded.plain, fix->sets.plain);
    return (tm_saving){path_ns_of(fixer, fix), fixer->total_ns - plain,
                       fixer->total_ns - explained};
}

typedef struct candidate {
    int64_t path_ns; /* how much the rank's fix shortens the remaining path */
    uint32_t rank;
} candidate;

TM_ORDER_FALLING(by_promise, candidate, path_ns, rank);

typedef struct planning {
    tm_fixer *fixer;
    tm_fix_sets peer;
    uint32_t ranks[PLAN_MAX]; /* the ranks that are fixed so far, followed by the candidate */
    size_t n;                 /* number of fixed ranks */
    int64_t total_ns;         /* T if the ranks of the plan are fixed */
    tm_vec hops;       /* vector of tm_hop: critical path that remains if the ranks of the plan are
                          fixed */
    tm_vec candidates; /* vector of candidate */
    int64_t *path_ns;  /* [n_ranks] how much the fix of each rank shortens the remaining path */
} planning;

/* Returns T if the first n ranks of the plan are fixed. */
static int64_t total_of(const planning *p, size_t n) {
    tm_fix fix = {p->ranks, n, p->peer};
    return total_with(p->fixer, &fix, p->fixer->recorded.plain, p->peer.plain);
}

/* Lists the ranks whose fix shortens the remaining path enough. The rank with the largest reduction
 * is first. */
static bool find_candidates(planning *p) {
    size_t n_ranks = p->fixer->replay->n_ranks;
    p->total_ns = total_of(p, p->n);
    if (!whole_path(p->fixer, p->fixer->fixed_ns, &p->hops))
        return false;
    memset(p->path_ns, 0, n_ranks * sizeof *p->path_ns);
    add_reductions(p->fixer, &p->hops, p->peer.plain, p->path_ns);
    p->candidates.n = 0;
    for (size_t i = 0; i < n_ranks; i++) {
        if (!is_share(p->path_ns[i], p->fixer->total_ns, WORTH_PLANNING))
            continue;
        candidate *c = tm_vec_push(&p->candidates);
        if (!c)
            return false;
        *c = (candidate){p->path_ns[i], (uint32_t)i};
    }
    tm_vec_sort(&p->candidates, by_promise);
    return true;
}

/* Returns the candidate that saves most. If no candidate saves anything, returns the first. If
 * there are no candidates, path_ns of the result is negative. */
static candidate best_candidate(planning *p, int64_t *saved_ns) {
    const candidate *first = p->candidates.data;
    candidate best = p->candidates.n > 0 ? *first : (candidate){.path_ns = -1};
    *saved_ns = 0;
    for (size_t i = 0; i < p->candidates.n; i++) {
        const candidate *c = (const candidate *)p->candidates.data + i;
        if (c->path_ns < *saved_ns)
            break; /* no further candidate can save more */
        p->ranks[p->n] = c->rank;
        int64_t saved = p->total_ns - total_of(p, p->n + 1);
        if (saved > *saved_ns || (saved > 0 && saved == *saved_ns && c->rank < best.rank)) {
            best = *c;
            *saved_ns = saved;
        }
    }
    return best;
}

static bool make_plan(planning *p, tm_vec *plan) {
    size_t kept = 0;
    int64_t kept_ns = p->fixer->total_ns; /* T if all ranks of the plan that are kept are fixed */
    while (p->n < PLAN_MAX) {
        int64_t saved_ns;
        if (!find_candidates(p))
            return false;
        candidate best = best_candidate(p, &saved_ns);
        if (best.path_ns < 0)
            break;
        p->ranks[p->n++] = best.rank;
        if (is_share(kept_ns - (p->total_ns - saved_ns), p->fixer->total_ns, WORTH_PLANNING)) {
            kept = p->n;
            kept_ns = p->total_ns - saved_ns;
        }
        tm_planned *planned = tm_vec_push(plan);
        if (!planned)
            return false;
        tm_fix fix = {p->ranks, p->n, p->peer};
        *planned = (tm_planned){best.rank, tm_fixer_try(p->fixer, &fix)};
        planned->saving.path_ns = best.path_ns;
    }
    plan->n = kept;
    return true;
}

tm_status tm_fixer_plan(tm_fixer *fixer, tm_fix_sets peer, tm_vec *plan, tm_error *err) {
    planning p = {.fixer = fixer,
                  .peer = peer,
                  .hops = TM_VEC(tm_hop),
                  .candidates = TM_VEC(candidate),
                  .path_ns = malloc((fixer->replay->n_ranks + 1) * sizeof *p.path_ns)};
    plan->n = 0;
    bool ok = p.path_ns && make_plan(&p, plan);
    tm_vec_free(&p.hops);
    tm_vec_free(&p.candidates);
    free(p.path_ns);
    return ok ? TM_OK : tm_fail_memory(err);
}
