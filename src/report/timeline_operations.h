/* The matched operations of a job and who came when to them. */
#ifndef TMERGE_REPORT_TIMELINE_OPERATIONS_H
#define TMERGE_REPORT_TIMELINE_OPERATIONS_H

#include "base/keys.h"
#include "timeline_dictionary.h"
#include "timeline_plan.h"

/** An operation: the kernels of several ranks that belong together. */
typedef struct tm_operation {
    int64_t begin_ns; /* earliest, on the job's clock, since the epoch */
    int64_t wait_ns;  /* of all members */
    int64_t bytes;    /* on its lowest rank, -1 without metadata */
    int64_t step;     /* -1 for none */
    int64_t seen;     /* the lowest rank that was added, of which bytes, step and names are */
    int32_t first_rank;
    uint32_t first_event;        /* with first_rank its name in the store */
    uint32_t group, description; /* name ids */
    uint32_t n;                  /* members */
    uint32_t n_lanes;            /* those of ranks that have lanes */
    uint32_t number;             /* in the page, TM_NO_EVENT for one that is left out */
    uint8_t kind;                /* tm_collective_kind */
    bool waits;
} tm_operation;

typedef struct tm_operations {
    tm_keys firsts;  /* the kernels of their lowest ranks, which name them */
    tm_vec all;      /* of tm_operation, one for each key */
    uint32_t *shown; /* owned; [n_shown] indices into `all`, by number */
    size_t n_shown;
    tm_vec members; /* of tm_operation_member, of those that are shown, rank after rank */
    const tm_page_kept *ranks; /* borrowed; who has lanes; NULL: all */
} tm_operations;

void tm_operations_init(tm_operations *operations);
void tm_operations_free(tm_operations *operations);

/** Adds the next rank's kernels, so that the operations are known. TM_OK; TM_ERR_FAULT. */
tm_status tm_operations_add(tm_operations *operations, const tm_timeline *timeline,
                            const tm_names *names, tm_error *err) TM_MUST_CHECK;

/** Adds what other ranks are known to have had of an operation. TM_OK; TM_ERR_FAULT. */
tm_status tm_operations_join(tm_operations *operations, const tm_operation *other,
                             tm_error *err) TM_MUST_CHECK;

/** Numbers, in order of begin, the operations that waited most, up to so many members. */
tm_status tm_operations_choose(tm_operations *operations, size_t n_members,
                               tm_error *err) TM_MUST_CHECK;

/** An operation's name in the store. */
typedef struct tm_operation_name {
    int32_t rank;
    uint32_t event;
} tm_operation_name;

/** Gives operations the numbers that were chosen elsewhere, where they are known.
 * @param names  [n] by number */
void tm_operations_set_numbers(tm_operations *operations, const tm_operation_name *names, size_t n);

/** How many members those have that are numbered. */
size_t tm_operations_members(const tm_operations *operations);

/** The number in the page of the operation that a kernel belongs to, or TM_NO_EVENT. */
uint32_t tm_operations_number(const tm_operations *operations, const tm_collective_attr *attr);

/** Adds the next rank's members of the operations that are shown. TM_OK; TM_ERR_FAULT.
 * @param at  its place among the ranks */
tm_status tm_operations_gather(tm_operations *operations, const tm_timeline *timeline, size_t at,
                               tm_error *err) TM_MUST_CHECK;

/** Appends them, with who came last and who may have.
 * @param plan  with the clocks of the ranks */
tm_status tm_operations_put(const tm_operations *operations, const tm_plan *plan,
                            int64_t job_begin_ns, tm_dictionary *dictionary, tm_bytes *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
