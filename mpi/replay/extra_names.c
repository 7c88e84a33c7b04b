#include "extra_names.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "replay/job/extras_sum.h"
#include "waits/stages.h"

static int range_owner(const void *record, int n_processes) {
    return (int)(((const tm_count_range *)record)->key % (uint64_t)n_processes);
}

static tm_status add_uneven(const tm_vec *ranges, tm_keys *uneven, tm_error *err) {
    tm_counts counts = TM_COUNTS();
    const tm_count_range *v = ranges->data;
    bool ok = true;
    for (size_t i = 0; i < ranges->n && ok; i++)
        ok = tm_counts_add(&counts, &v[i]);
    v = counts.ranges.data;
    for (size_t i = 0; i < counts.ranges.n && ok; i++)
        ok = v[i].least == v[i].most || tm_keys_add(uneven, &v[i].key) != TM_NO_KEY;
    tm_counts_free(&counts);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_mpi_counts(MPI_Comm comm, tm_counts *own, tm_keys *uneven, tm_error *err) {
    tm_vec there = TM_VEC(tm_count_range);
    tm_status status = tm_mpi_shuffle(comm, &own->ranges, range_owner, &there, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, add_uneven(&there, uneven, err), err);
    tm_vec_free(&there);
    return status == TM_OK ? tm_replay_share_keys(comm, uneven, err) : status;
}

static tm_extra_ranks ranks_of(const tm_replay_ranks *r, size_t index, const tm_batch *batch) {
    const int64_t stage = tm_stage_of(&r->collectives->stages, r->timelines[index].rank);
    return (tm_extra_ranks){batch ? NULL : &r->items[index], batch, index, stage,
                            tm_replay_count_stage(r, stage)};
}

/* Lists the single ranks, then the batches.
 * @param out  vector of tm_extra_ranks */
static bool list_ranks(const tm_replay_ranks *r, tm_vec *out) {
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    bool ok = true;
    for (size_t i = 0; i < r->n && ok; i++) {
        const tm_extra_ranks one = ranks_of(r, i, NULL);
        ok = r->graphs[i].n_nodes == 0 || !r->items[i].places || tm_vec_append(out, &one, 1);
    }
    for (size_t c = 0; c < n_batches && ok; c++) {
        const tm_extra_ranks one =
            batches[c].n > 0 ? ranks_of(r, batches[c].index[0], &batches[c]) : (tm_extra_ranks){0};
        ok = batches[c].n == 0 || tm_vec_append(out, &one, 1);
    }
    return ok;
}

/* Returns whether a rank without a known stage may belong to a stage: the rank has unmatched sends
 * or receives. */
static bool may_be_of_stage(const tm_timeline *t, int64_t stage) {
    const tm_collective_attr *attrs = t->attrs[TM_ATTR_COLLECTIVE];
    bool any = false;
    for (size_t i = 0; i < t->n_attrs[TM_ATTR_COLLECTIVE] && stage < 0 && !any; i++)
        any = attrs[i].first_rank < 0 &&
              (attrs[i].kind == TM_COLL_SEND || attrs[i].kind == TM_COLL_RECV ||
               attrs[i].kind == TM_COLL_SENDRECV);
    return any;
}

static tm_extra_role role_of(const tm_replay_ranks *r, const tm_extra_sums *sums) {
    tm_extra_role role = {.stage = sums->stage,
                          .unlike = may_be_of_stage(&r->timelines[sums->index], sums->stage)};
    for (unsigned step = 0; step < TM_EXTRA_STEPS; step++) {
        role.whole_ns += sums->whole[0][step] + sums->whole[1][step];
        role.rare_ns += sums->rare[0][step] + sums->rare[1][step];
    }
    return role;
}

/* Adds @p one to the role of its stage. */
static bool add_role(tm_vec *roles, const tm_extra_role *one) {
    tm_extra_role *v = roles->data;
    for (size_t i = 0; i < roles->n; i++)
        if (v[i].stage == one->stage) {
            v[i].whole_ns += one->whole_ns;
            v[i].rare_ns += one->rare_ns;
            v[i].unlike += one->unlike;
            return true;
        }
    return tm_vec_append(roles, one, 1) != NULL;
}

/* Finds the roles of the job: one for each stage. @p out is a vector of tm_extra_role. */
static tm_status find_roles(const tm_replay_ranks *r, const tm_vec *sums, tm_vec *out,
                            tm_error *err) {
    tm_vec own = TM_VEC(tm_extra_role), all = TM_VEC(tm_extra_role);
    bool ok = true;
    for (size_t i = 0; i < sums->n && ok; i++) {
        const tm_extra_role one = role_of(r, (const tm_extra_sums *)sums->data + i);
        ok = add_role(&own, &one);
    }
    tm_status status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(r->comm, &own, &all, err);
    for (size_t i = 0; i < all.n && ok; i++)
        ok = add_role(out, (const tm_extra_role *)all.data + i);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status == TM_OK ? tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err) : status;
}

static bool is_one_role(const tm_vec *roles, int64_t stage) {
    const tm_extra_role *v = roles->data;
    for (size_t i = 0; i < roles->n; i++)
        if (v[i].stage == stage)
            return tm_extra_role_is_one(&v[i]);
    return false;
}

/* Gets what the peers of this process's ranks did in each step (vector of tm_peer_others). */
static tm_status ask_peers(const tm_replay_ranks *r, const tm_vec *sums, const tm_vec *roles,
                           tm_vec *back, tm_error *err) {
    tm_vec own = TM_VEC(tm_peer), there = TM_VEC(tm_peer), others = TM_VEC(tm_peer_others);
    const tm_vec rows = TM_VEC(tm_peer_row);
    const tm_extra_sums *v = sums->data;
    bool ok = true;
    int self;
    MPI_Comm_rank(r->comm, &self);
    for (size_t i = 0; i < sums->n && ok; i++)
        ok = !is_one_role(roles, v[i].stage) || tm_extras_list(&v[i], self, &own);
    tm_status status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &own, tm_replay_peer_owner, &there, err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, tm_peers_compare(&there, &rows, &others, err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &others, tm_replay_others_origin, back, err);
    TM_VECS_FREE(&own, &there, &others);
    return status;
}

static unsigned tag_of(const tm_step *step) {
    return 1 + (unsigned)((uint64_t)step->number % TM_PLACE_STEPS);
}

static bool add_factors(tm_replay_ranks *r, const tm_extra_sums *sums, tm_extra_factors *factors) {
    const tm_timeline *t = &r->timelines[sums->index];
    size_t first = 0, last = t->n_steps;
    while (first < t->n_steps && !t->steps[first].annotated)
        first++;
    while (last > first && !t->steps[last - 1].annotated)
        last--;
    if (first == last ||
        !tm_extras_trust(sums, tag_of(&t->steps[first]), tag_of(&t->steps[last - 1]), factors))
        return true;
    return tm_vec_append(&r->places.extras.factors, factors, 1) != NULL;
}

TM_ORDER_BY(by_index, tm_extra_factors, index);

/*
 * Compares the sums of this process's ranks with those of their peers. Sets the factors of the
 * ranks and the flags of the places.
 * @param sums    vector of tm_extra_sums, in the order of the ranks
 * @param others  vector of tm_peer_others: what the peers did
 */
static bool compare(tm_replay_ranks *r, const tm_vec *ranks, const tm_vec *sums,
                    const tm_vec *others) {
    const tm_extra_ranks *of = ranks->data;
    const tm_extra_sums *v = sums->data;
    const tm_peer_others *answers = others->data;
    tm_keys known = TM_KEYS(uint64_t);
    tm_vec of_known = TM_VEC(tm_peer_others);
    bool ok = true, whole[TM_EXTRA_STEPS];
    for (size_t i = 0; i < others->n && ok;
         i++) { /* several ranks may have asked for a place; their answers are equal */
        tm_peer_others *one = tm_keys_value(&known, &of_known, &answers[i].place);
        ok = one != NULL;
        if (one)
            *one = answers[i];
    }
    r->places.extras.flags = calloc(r->places.keys.keys.n + 1, 1);
    ok = ok && r->places.extras.flags;
    for (size_t i = 0; i < ranks->n && ok; i++) {
        for (size_t k = 0; k < tm_extra_lanes(&of[i]) && ok; k++, v++) {
            tm_extra_factors factors = tm_extras_compare(v, &known, of_known.data, whole);
            ok = add_factors(r, v, &factors);
        }
        if (ok)
            tm_extras_mark(&of[i], whole, &r->places);
    }
    tm_vec_sort(&r->places.extras.factors, by_index);
    tm_keys_free(&known);
    tm_vec_free(&of_known);
    return ok;
}

/* @p of is the sum of the steps that have the same tm_place_step. Divides it equally among these
 * steps of the timeline, and appends a row for each of them. */
static bool add_steps(const tm_timeline *t, const tm_extra_row *of, tm_vec *out) {
    int64_t n = 0;
    for (size_t k = 0; k < t->n_steps; k++)
        n += t->steps[k].annotated && tag_of(&t->steps[k]) == of->step;
    for (size_t k = 0; k < t->n_steps && n > 0; k++) {
        const tm_extra_row mean = {t->rank,        t->steps[k].number, of->n / n,
                                   of->ns / n,     of->calls_ns / n,   of->name,
                                   of->name_n / n, of->name_ns / n};
        if (t->steps[k].annotated && tag_of(&t->steps[k]) == of->step &&
            !tm_vec_append(out, &mean, 1))
            return false;
    }
    return true;
}

/* Sends the rows of all ranks to process 0. */
static tm_status send_rows(tm_replay_ranks *r, const tm_vec *ranks, tm_error *err) {
    const tm_extra_ranks *of = ranks->data;
    tm_vec tagged = TM_VEC(tm_extra_row), own = TM_VEC(tm_extra_row);
    const tm_extra_row *rows;
    bool ok = true;
    for (size_t i = 0; i < ranks->n && ok; i++)
        ok = tm_extras_rows(&of[i], &r->places, &tagged);
    rows = tagged.data;
    for (size_t i = 0; i < tagged.n && ok; i++)
        ok = add_steps(&r->timelines[rows[i].rank], &rows[i], &own);
    tm_vec_free(&tagged);
    tm_status status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &own, tm_mpi_first_process, &r->extras, err);
    tm_vec_free(&own);
    return status;
}

/* Sets *any to whether some rank of the job has a place that another rank of its role lacks. If so,
 * sums the work of this process's ranks. */
static tm_status sum_ranks(const tm_replay_ranks *r, const tm_vec *ranks, tm_vec *sums, int *any,
                           tm_error *err) {
    const tm_extra_ranks *of = ranks->data;
    bool ok = true;
    *any = 0;
    for (size_t i = 0; i < ranks->n && !*any; i++)
        *any = tm_extras_any(&of[i], &r->places);
    MPI_Allreduce(MPI_IN_PLACE, any, 1, MPI_INT, MPI_MAX, r->comm);
    for (size_t i = 0; i < ranks->n && *any && ok; i++)
        ok = tm_extras_sum(&of[i], &r->places, sums);
    return tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
}

tm_status tm_mpi_extras(tm_replay_ranks *r, tm_error *err) {
    tm_vec ranks = TM_VEC(tm_extra_ranks), sums = TM_VEC(tm_extra_sums);
    tm_vec roles = TM_VEC(tm_extra_role), others = TM_VEC(tm_peer_others);
    int any = 0;
    const bool listed = list_ranks(r, &ranks);
    tm_status status = tm_mpi_agree(r->comm, listed ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = sum_ranks(r, &ranks, &sums, &any, err);
    if (status == TM_OK && any)
        status = find_roles(r, &sums, &roles, err);
    if (status == TM_OK && any)
        status = ask_peers(r, &sums, &roles, &others, err);
    if (status == TM_OK && any) {
        const bool ok = compare(r, &ranks, &sums, &others);
        status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    }
    if (status == TM_OK && any)
        status = send_rows(r, &ranks, err);
    TM_VECS_FREE(&ranks, &sums, &roles, &others);
    return status;
}
