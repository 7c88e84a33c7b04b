/* Whether the order of kernels alone tells which belong together. */
#include "records.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "left_out.h"
#include "order.h"
#include "run.h"

/* The same run on all ranks stands together, in the order of the ranks. */
static int by_run(const void *a, const void *b) {
    const tm_sequence *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_u64(x->lane, y->lane);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

static int by_place(const void *a, const void *b) {
    const tm_end *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_i64(x->rank, y->rank);
    return order ? order : tm_order_u64(x->key, y->key); /* lane after lane */
}

static bool other_step(int64_t a, int64_t b) {
    return a >= 0 && b >= 0 && a != b;
}

static bool same_sequence(const tm_sequence *a, const tm_sequence *b) {
    return a->n == b->n && a->digest == b->digest && a->rank != b->rank &&
           !(other_step(a->first_step, b->first_step) && other_step(a->last_step, b->last_step));
}

/* Where the ends of a sequence begin; NULL where they are not all there. */
static const tm_end *ends_of(const tm_sequence *sequence, const tm_end *ends, size_t n) {
    tm_end wanted = {
        .group = sequence->group, .key = sequence->lane << TM_LANE_SHIFT, .rank = sequence->rank};
    const tm_end *found = n > 0 ? bsearch(&wanted, ends, n, sizeof wanted, by_place) : NULL;
    return found && (size_t)(ends + n - found) >= (size_t)sequence->n ? found : NULL;
}

static bool order_holds(const tm_sequence *a, const tm_sequence *b, const tm_end *ends, size_t n) {
    const tm_end *x = ends_of(a, ends, n), *y = ends_of(b, ends, n);
    return !x || !y || tm_order_holds(x, y, (size_t)a->n);
}

/* Whether the sequences of one run agree; they lie in the order of their ranks. */
static bool run_agrees(const tm_sequence *run, size_t n, const tm_end *ends, size_t n_ends) {
    bool pair = run->way == TM_MATCH_PAIR;
    for (size_t i = 1; i < n; i++)
        if (!same_sequence(&run[i], &run[i - 1]) || !same_sequence(&run[i], &run[0]))
            return false;
    if (!pair && n > 1 && (int64_t)n != run->group_size)
        return false;
    for (size_t i = 1; i < n && !pair; i++)
        if (!order_holds(&run[0], &run[i], ends, n_ends))
            return false;
    return true;
}

/* What ends of lanes that agree tell of two ranks: appends a pair for each operation. */
static bool add_pairs(const tm_sequence *a, const tm_sequence *b, const tm_end *ends, size_t n_ends,
                      tm_vec *out) {
    const tm_end *x = ends_of(a, ends, n_ends), *y = ends_of(b, ends, n_ends);
    for (int64_t i = 0; x && y && i < a->n; i++) {
        tm_end_pair pair = {a->lane, x[i].end_ns, y[i].end_ns - x[i].end_ns,
                            tm_run_noise(x[i].end_ns - x[i].begin_ns, y[i].end_ns - y[i].begin_ns)};
        if (x[i].synchronises && y[i].synchronises && !tm_vec_append(out, &pair, 1))
            return false;
    }
    return true;
}

/* The first sequence of each lane on which all ranks of a group agree; false when memory is out. */
static bool list_lanes(const tm_sequence *group, size_t n, tm_vec *out) {
    for (size_t first = 0, i = 0; first < n; first = i) {
        const tm_sequence *lane = &group[first];
        for (i = first; i < n && group[i].lane == lane->lane; i++)
            ;
        if (lane->agrees && (int64_t)(i - first) == lane->group_size &&
            !tm_vec_append(out, &lane, 1))
            return false;
    }
    return true;
}

/* Whether the lanes that agree also agree with one another, for the first rank and each other. */
static tm_status compare_lanes(const tm_sequence *group, size_t n, const tm_end *ends,
                               size_t n_ends, bool *meet, tm_error *err) {
    tm_vec lanes = TM_VEC(const tm_sequence *), pairs = TM_VEC(tm_end_pair);
    bool ok = list_lanes(group, n, &lanes);
    const tm_sequence *const *v = lanes.data;
    *meet = true;
    for (int32_t r = 1; lanes.n > 1 && r < group->group_size && *meet && ok; r++) {
        pairs.n = 0;
        for (size_t i = 0; i < lanes.n && ok; i++)
            ok = add_pairs(v[i], v[i] + r, ends, n_ends, &pairs);
        *meet = ok && tm_order_lanes_meet(pairs.data, pairs.n);
    }
    tm_vec_free(&lanes);
    tm_vec_free(&pairs);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Kernels that do not say their group were taken for the job's: lanes that contradict each other
 * show that some are not, and nobody knows which. */
static tm_status judge_assumption(tm_sequence *sequences, size_t n, const tm_end *ends,
                                  size_t n_ends, uint64_t assumed, tm_error *err) {
    size_t first = 0, end;
    bool meet;
    while (first < n && sequences[first].group != assumed)
        first++;
    for (end = first; end < n && sequences[end].group == assumed; end++)
        ;
    if (first == n)
        return TM_OK;
    TM_TRY(compare_lanes(sequences + first, end - first, ends, n_ends, &meet, err));
    for (size_t i = first; i < end && !meet; i++)
        sequences[i].agrees = TM_SEQUENCE_REFUTED;
    return TM_OK;
}

tm_status tm_match_compare(tm_sequence *sequences, size_t n, tm_end *ends, size_t n_ends,
                           uint64_t assumed, tm_error *err) {
    if (n > 1)
        qsort(sequences, n, sizeof *sequences, by_run);
    if (n_ends > 1)
        qsort(ends, n_ends, sizeof *ends, by_place);
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first; i < n && sequences[i].group == sequences[first].group &&
                        sequences[i].lane == sequences[first].lane;
             i++)
            ;
        bool agrees = run_agrees(sequences + first, i - first, ends, n_ends);
        for (size_t k = first; k < i; k++)
            sequences[k].agrees = agrees ? TM_SEQUENCE_AGREES : TM_SEQUENCE_DIFFERS;
    }
    return judge_assumption(sequences, n, ends, n_ends, assumed, err);
}

static tm_sequence_answer answer_to(const tm_comm_record *record, const tm_sequence *answers,
                                    size_t n) {
    tm_sequence wanted = {
        .group = record->group, .lane = record->key >> TM_LANE_SHIFT, .rank = record->rank};
    if (record->way != TM_MATCH_ORDER && record->way != TM_MATCH_PAIR)
        return TM_SEQUENCE_AGREES;
    const tm_sequence *found = n > 0 ? bsearch(&wanted, answers, n, sizeof wanted, by_run) : NULL;
    return found ? (tm_sequence_answer)found->agrees : TM_SEQUENCE_DIFFERS;
}

tm_status tm_match_drop(tm_match_input *input, tm_sequence *answers, size_t n, tm_error *err) {
    tm_comm_record *records = input->records.data;
    size_t kept = 0;
    if (n > 1)
        qsort(answers, n, sizeof *answers, by_run);
    for (size_t i = 0; i < input->records.n; i++) {
        const tm_comm_record *record = &records[i];
        tm_sequence_answer answer = answer_to(record, answers, n);
        if (answer == TM_SEQUENCE_AGREES)
            records[kept++] = *record;
        else if (answer == TM_SEQUENCE_REFUTED)
            TM_TRY(tm_left_out_add(&input->left_out, "", -1, TM_UNMATCHED_GROUP, err));
        else if (record->way == TM_MATCH_PAIR)
            TM_TRY(tm_left_out_add(&input->left_out, record->group_text, record->group_size,
                                   TM_UNMATCHED_TRANSFERS, err));
        else if (!tm_vec_append(&input->loose, record, 1))
            return tm_fail_memory(err);
    }
    input->records.n = kept;
    return TM_OK;
}
