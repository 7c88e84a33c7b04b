/* The matched operations of a job, with the time at which each participating rank arrived. */
#ifndef TMERGE_REPORT_TIMELINE_OPERATIONS_H
#define TMERGE_REPORT_TIMELINE_OPERATIONS_H

#include "base/keys.h"
#include "timeline_dictionary.h"
#include "timeline_plan.h"

/** An operation: the matched kernels of several ranks. */
typedef struct tm_operation {
    int64_t begin_ns; /* earliest start, on the job's clock, since the epoch */
    int64_t wait_ns;  /* sum over participations */
    int64_t bytes;    /* size on the lowest rank [B]; -1 without metadata */
    int64_t step;     /* -1: none */
    int64_t seen;     /* lowest rank added so far; `bytes`, `step` and the names are from the kernel
                         of this rank */
    int32_t first_rank;
    uint32_t first_event; /* row of the kernel on first_rank, the lowest rank. Rank and row identify
                             the operation in the store */
    uint32_t group, description; /* name ids */
    uint32_t n;                  /* number of participations */
    uint32_t n_lanes;            /* number of participations of ranks with lanes */
    uint32_t number;             /* number of the operation in the page; TM_NO_EVENT if it is left
                                    out */
    uint8_t kind;                /* tm_collective_kind */
    bool waits;
} tm_operation;

typedef struct tm_operations {
    tm_keys firsts;  /* keys (tm_operation_name) of all operations */
    tm_vec all;      /* vector of tm_operation, in the order of the keys in `firsts` */
    uint32_t *shown; /* owned; [n_shown] for each operation of the page: its index in `all` */
    size_t n_shown;
    tm_vec members; /* vector of tm_operation_member: participations in the chosen operations,
                       rank by rank */
    const tm_page_kept *ranks; /* ranks that have lanes; NULL: all ranks; borrowed */
} tm_operations;

void tm_operations_init(tm_operations *operations);
void tm_operations_free(tm_operations *operations);

/** Adds the next rank's kernels to the operations. TM_OK; TM_ERR_FAULT. */
tm_status tm_operations_add(tm_operations *operations, const tm_timeline *timeline,
                            const tm_names *names, tm_error *err) TM_MUST_CHECK;

/** Merges an operation collected from other ranks. TM_OK; TM_ERR_FAULT. */
tm_status tm_operations_join(tm_operations *operations, const tm_operation *other,
                             tm_error *err) TM_MUST_CHECK;

/** Chooses the operations with the largest waits, up to @p n_members participations in total, and
 * numbers them by begin. TM_OK; TM_ERR_FAULT. */
tm_status tm_operations_choose(tm_operations *operations, size_t n_members,
                               tm_error *err) TM_MUST_CHECK;

/** Identifies an operation in the store. `rank` is the operation's lowest rank. `event` is the row
 * of the kernel on this rank. */
typedef struct tm_operation_name {
    int32_t rank;
    uint32_t event;
} tm_operation_name;

/** Sets the numbers of the operations that another process chose. Ignores operations in which no
 * rank of this process takes part. @param names [n] by number of the operation */
void tm_operations_set_numbers(tm_operations *operations, const tm_operation_name *names, size_t n);

/** Returns the number of participations in the chosen operations. */
size_t tm_operations_members(const tm_operations *operations);

/** Returns the number that a kernel's operation has in the page, or TM_NO_EVENT. */
uint32_t tm_operations_number(const tm_operations *operations, const tm_collective_attr *attr);

/** Adds the next rank's participations in the chosen operations. TM_OK; TM_ERR_FAULT.
 * @param at the rank's index among all ranks */
tm_status tm_operations_gather(tm_operations *operations, const tm_timeline *timeline, size_t at,
                               tm_error *err) TM_MUST_CHECK;

/** Appends the chosen operations, each with its last arrival and the arrivals tied with it.
 * @param plan has the clocks of the ranks */
tm_status tm_operations_put(const tm_operations *operations, const tm_plan *plan,
                            int64_t job_begin_ns, tm_dictionary *dictionary, tm_bytes *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
