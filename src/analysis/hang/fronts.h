/* Where a job stands: of each group the first operation that not all have come to, or in which they
 * differ, or which does not end. */
#ifndef TMERGE_HANG_FRONTS_H
#define TMERGE_HANG_FRONTS_H

#include "base/vec.h"
#include "tmerge/table.h"

/** No job has more ranks: what a dump says of others is none. */
enum { TM_HANG_RANKS_MAX = 1 << 22 };

/** What is wrong at a front. */
typedef enum tm_hang_problem {
    TM_HANG_OTHER_TIMES, /* over for some, which needs ranks whose dumps do not have it */
    TM_HANG_MISMATCH,    /* ranks came with other operations, sizes or types */
    TM_HANG_MISSING,     /* of ranks with a dump some have not come */
    TM_HANG_PERHAPS,     /* likewise; or it cannot be told whether they have, or are members */
    TM_HANG_NO_DUMP,     /* all with a dump came */
    TM_HANG_ALL_CAME,    /* and it does not end */
    TM_HANG_N_PROBLEMS
} tm_hang_problem;

/** Ranks are ascending, of int64_t. */
typedef struct tm_hang_front {
    tm_hang_problem problem;
    size_t group; /* row of hang.group */
    int64_t seq;
    bool is_p2p;
    size_t call;          /* row of hang.call that stands for it; n_rows: none */
    size_t answer;        /* of a send or receive that of the other side; likewise */
    bool sure;            /* the two belong together */
    int64_t first_ns;     /* when the first came; 0: not told */
    tm_vec came, waiting; /* waiting: those that it is not over for */
    tm_vec absent, no_dump, perhaps;
    bool told; /* who the members are */
    bool cause;
} tm_hang_front;

/** What is known of the job's ranks. */
typedef struct tm_hang_world {
    const tm_table *dumps, *groups, *lanes, *calls, *seen;
    int64_t n_ranks;
    int64_t most_ranks; /* what lists and sizes of groups may make of n_ranks at most */
    bool any_open;      /* some operation is not over */
    bool told;          /* some dump, or the user, tells n_ranks */
    size_t *dump_of;    /* [n_ranks] owned; row of dumps; NO_ROW: none that can be read */
    tm_vec unreadable;  /* of int64_t, ascending: ranks whose dump cannot be read */
    tm_vec fronts;      /* of tm_hang_front */
} tm_hang_world;

#define TM_HANG_NO_ROW SIZE_MAX

/** Reads the tables of this room. @param n_ranks  what the user says, else 0. */
tm_status tm_hang_world_make(const tm_tables *tables, int64_t n_ranks, tm_hang_world *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_hang_world_free(tm_hang_world *world);

/** The row of a rank's call in hang.call; TM_HANG_NO_ROW where it is not kept. */
size_t tm_hang_call(const tm_hang_world *w, int64_t group, int64_t rank, int64_t seq);

/** Likewise of a front. */
size_t tm_hang_call_of(const tm_hang_world *w, const tm_hang_front *f, int64_t rank);

bool tm_hang_has(const tm_vec *ranks, int64_t rank);

#endif
