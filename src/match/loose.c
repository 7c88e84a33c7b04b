#include "loose.h"

#include <stdlib.h>
#include <string.h>

#include "align.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "left_out.h"
#include "records.h"

/* The kernels of one group and stream (numbered stream). */
typedef struct assembly {
    tm_comm_record *records; /* ordered by rank, then by end */
    size_t n;
    tm_mark *marks;      /* [n] */
    int64_t *operations; /* [n] */
    tm_member *members;
    size_t n_members;
} assembly;

uint64_t tm_record_signature(const tm_comm_record *record) {
    int64_t signature[3] = {record->way == TM_MATCH_ORDER ? record->kind : -1,
                            record->kind == TM_COLL_ALLTOALL || record->tagged ? -1
                                                                               : record->bytes};
    memcpy(&signature[2], &record->operation, sizeof signature[2]);
    return tm_hash_mixed(0, signature, sizeof signature);
}

static uint64_t stream_of(const tm_comm_record *record) {
    return record->key >> TM_LANE_SHIFT;
}

static bool same_run(const tm_comm_record *a, const tm_comm_record *b) {
    return a->group == b->group && stream_of(a) == stream_of(b);
}

static int by_run(const void *a, const void *b) {
    const tm_comm_record *x = a, *y = b;
    int order = tm_order_u64(x->group, y->group);
    order = order ? order : tm_order_u64(stream_of(x), stream_of(y));
    order = order ? order : tm_order_i64(x->rank, y->rank);
    order = order ? order : tm_order_i64(x->end_ns, y->end_ns);
    return order ? order : tm_order_i64(x->event, y->event);
}

static tm_mark mark_of(const tm_comm_record *record) {
    return (tm_mark){
        .begin_ns = record->begin_ns,
        .end_ns = record->end_ns,
        .step = record->operation ? -1 : record->step, /* see step_of in records.c */
        .signature = tm_record_signature(record),
        .synchronises = tm_record_synchronises(record),
    };
}

static void assemble(assembly *a) {
    a->n_members = 0;
    for (size_t first = 0, i = 0; first < a->n; first = i) {
        for (i = first; i < a->n && a->records[i].rank == a->records[first].rank; i++)
            a->marks[i] = mark_of(&a->records[i]);
        a->members[a->n_members++] =
            (tm_member){.run = {a->marks + first, i - first}, .operations = a->operations + first};
    }
}

/* Returns why a kernel of a rank belongs to no operation. */
static tm_unmatched reason_of(const tm_member *member, const tm_comm_record *record) {
    if (member->reason != TM_UNMATCHED_NOT)
        return member->reason;
    bool placed = tm_run_synchronises(&member->run) && !tm_record_synchronises(record);
    return placed ? TM_UNMATCHED_PLACE : TM_UNMATCHED_ALONE;
}

/* Sets the keys of the matched records and moves these records to the front. Sets *n_kept to their
 * number. */
static tm_status take_answers(assembly *a, size_t *n_kept, tm_vec *left_out, tm_error *err) {
    size_t kept = 0, i = 0;
    for (size_t r = 0; r < a->n_members; r++) {
        const tm_member *member = &a->members[r];
        for (size_t k = 0; k < member->run.n; k++, i++) {
            tm_comm_record *record = &a->records[i];
            if (member->operations[k] < 0) {
                TM_TRY(tm_left_out_add(left_out, record->group_text, record->group_size,
                                       reason_of(member, record), err));
                continue;
            }
            record->key = stream_of(record) << TM_LANE_SHIFT | (uint64_t)member->operations[k];
            a->records[kept++] = *record;
        }
    }
    *n_kept = kept;
    return TM_OK;
}

static tm_status align_run(tm_comm_record *records, size_t n, size_t *n_kept, tm_vec *left_out,
                           tm_error *err) {
    assembly a = {.records = records, .n = n};
    size_t n_ranks = 1;
    for (size_t i = 1; i < n; i++)
        n_ranks += records[i].rank != records[i - 1].rank;
    a.marks = calloc(n, sizeof *a.marks);
    a.operations = calloc(n, sizeof *a.operations);
    a.members = calloc(n_ranks, sizeof *a.members);
    tm_status status = a.marks && a.operations && a.members ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        assemble(&a);
        status = tm_match_align(a.members, a.n_members, err);
    }
    if (status == TM_OK)
        status = take_answers(&a, n_kept, left_out, err);
    free(a.marks);
    free(a.operations);
    free(a.members);
    return status;
}

tm_status tm_match_loose(tm_vec *records, tm_vec *left_out, tm_error *err) {
    tm_comm_record *v = records->data;
    size_t kept = 0;
    tm_vec_sort(records, by_run);
    for (size_t first = 0, i = 0; first < records->n; first = i) {
        size_t n = 0;
        for (i = first + 1; i < records->n && same_run(&v[first], &v[i]); i++)
            ;
        TM_TRY(align_run(v + first, i - first, &n, left_out, err));
        for (size_t k = 0; k < n; k++)
            v[kept++] = v[first + k];
    }
    records->n = kept;
    return TM_OK;
}
