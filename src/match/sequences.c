/* Decides whether kernels can be matched by their order. */
#include "records.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "left_out.h"
#include "pair_by_order.h"

TM_ORDER_BY(by_run, tm_sequence, group, stream, rank);

static int by_place(const void *a, const void *b) {
    const tm_end *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_i64(x->rank, y->rank);
    return order ? order : tm_order_u64(x->key, y->key); /* the key is the stream, then the place */
}

static bool other_step(int64_t a, int64_t b) {
    return a >= 0 && b >= 0 && a != b;
}

static bool same_sequence(const tm_sequence *a, const tm_sequence *b) {
    return a->n == b->n && a->digest == b->digest && a->rank != b->rank &&
           !(other_step(a->first_step, b->first_step) && other_step(a->last_step, b->last_step));
}

/* Returns the first end of a sequence; NULL if ends of the sequence are missing. */
static const tm_end *ends_of(const tm_sequence *sequence, const tm_end *ends, size_t n) {
    tm_end wanted = {
        .group = sequence->group, .key = sequence->stream << TM_LANE_SHIFT, .rank = sequence->rank};
    const tm_end *found = n > 0 ? bsearch(&wanted, ends, n, sizeof wanted, by_place) : NULL;
    return found && (size_t)(ends + n - found) >= (size_t)sequence->n ? found : NULL;
}

static bool order_holds(const tm_sequence *a, const tm_sequence *b, const tm_end *ends, size_t n) {
    const tm_end *x = ends_of(a, ends, n), *y = ends_of(b, ends, n);
    return !x || !y || tm_order_holds(x, y, (size_t)a->n);
}

/* Returns whether the sequences of one group and stream, sorted by rank, agree. */
static bool run_agrees(const tm_sequence *run, size_t n, const tm_end *ends, size_t n_ends) {
    bool pair = run->way == TM_MATCH_PAIR;
    for (size_t i = 1; i < n; i++)
        if (!same_sequence(&run[i], &run[i - 1]) || !same_sequence(&run[i], &run[0]))
            return false;
    if (!pair && !run->named && n > 1 && (int64_t)n != run->group_size)
        return false;
    for (size_t i = 1; i < n && !pair; i++)
        if (!order_holds(&run[0], &run[i], ends, n_ends))
            return false;
    return true;
}

void tm_match_compare(tm_sequence *sequences, size_t n, tm_end *ends, size_t n_ends) {
    if (n > 1)
        qsort(sequences, n, sizeof *sequences, by_run);
    if (n_ends > 1)
        qsort(ends, n_ends, sizeof *ends, by_place);
    for (size_t first = 0, i = 0; first < n; first = i) {
        for (i = first; i < n && sequences[i].group == sequences[first].group &&
                        sequences[i].stream == sequences[first].stream;
             i++)
            ;
        bool agrees = run_agrees(sequences + first, i - first, ends, n_ends);
        for (size_t k = first; k < i; k++)
            sequences[k].agrees = agrees;
    }
}

static bool is_agreed(const tm_comm_record *record, const tm_sequence *answers, size_t n) {
    tm_sequence wanted = {
        .group = record->group, .stream = record->key >> TM_LANE_SHIFT, .rank = record->rank};
    if (record->way != TM_MATCH_ORDER && record->way != TM_MATCH_PAIR)
        return true;
    const tm_sequence *found = n > 0 ? bsearch(&wanted, answers, n, sizeof wanted, by_run) : NULL;
    return found && found->agrees;
}

tm_status tm_match_drop(tm_match_input *input, tm_sequence *answers, size_t n, tm_error *err) {
    tm_comm_record *records = input->records.data;
    size_t kept = 0;
    if (n > 1)
        qsort(answers, n, sizeof *answers, by_run);
    for (size_t i = 0; i < input->records.n; i++) {
        const tm_comm_record *record = &records[i];
        if (is_agreed(record, answers, n))
            records[kept++] = *record;
        else if (record->way == TM_MATCH_PAIR)
            TM_TRY(tm_left_out_add(&input->left_out, record->group_text, record->group_size,
                                   TM_UNMATCHED_TRANSFERS, err));
        else if (!tm_vec_append(&input->loose, record, 1))
            return tm_fail_memory(err);
    }
    input->records.n = kept;
    return TM_OK;
}
