/* Finds the fronts of a stuck job. A group's front is the first operation that some rank has not
 * reached, in which ranks differ (in operation, size or type), or that does not end. */
#ifndef TMERGE_HANG_FRONTS_H
#define TMERGE_HANG_FRONTS_H

#include "base/vec.h"
#include "ras.h"
#include "tmerge/table.h"

/** Maximum number of ranks. */
enum { TM_HANG_RANKS_MAX = 1 << 22 };

/** Returns the maximum number of ranks of a job with this many dumps, if no dump shows the number
 * of ranks. The limit keeps damaged files from claiming millions of ranks. */
int64_t tm_hang_most_ranks(size_t n_dumps);

/** What is wrong at a front. */
typedef enum tm_hang_problem {
    TM_HANG_OTHER_TIMES, /* the operation has ended on some ranks, but dumps of other members do not
                            contain it */
    TM_HANG_MISMATCH,    /* ranks issued different operations, sizes or types */
    TM_HANG_MISSING,     /* the dumps show that some ranks have not come */
    TM_HANG_PERHAPS,     /* the dumps do not show whether some ranks have come, or whether they are
                            members */
    TM_HANG_NO_DUMP,     /* all ranks with a dump came; other members have no dump */
    TM_HANG_ALL_CAME,    /* all ranks came, but the operation does not end */
    TM_HANG_N_PROBLEMS
} tm_hang_problem;

/** A front: the operation at which a group is stuck. The vectors have ascending ranks (int64_t). */
typedef struct tm_hang_front {
    tm_hang_problem problem;
    size_t group; /* row of hang.group */
    int64_t seq;
    bool is_p2p;
    size_t call; /* row of hang.call: the call of one rank; TM_HANG_NO_ROW: none */
    /* for a send or receive, row of hang.call: the peer's call; TM_HANG_NO_ROW: none */
    size_t answer;
    bool sure;        /* whether `call` and `answer` certainly belong together */
    int64_t since_ns; /* earliest time since which a rank can have waited [ns since the epoch]; 0:
                         unknown */
    int64_t first_ns; /* first arrival of a rank [ns since the epoch]; 0: unknown */
    /* `came`: ranks that reached the operation; `waiting`: those of them on which it has not
     * ended */
    tm_vec came, waiting;
    tm_vec absent, no_dump, perhaps;
    bool reported; /* whether the members of the group are known */
    bool cause;
} tm_hang_front;

/** The tables of the dumps, and the facts that they show about the job's ranks. */
typedef struct tm_hang_world {
    const tm_table *dumps, *groups, *progress, *calls, *seen;
    int64_t n_ranks;
    int64_t most_ranks; /* upper limit of n_ranks, for jobs in which only the lists and sizes of
                           groups show n_ranks */
    bool any_open;      /* whether an operation has not ended */
    bool reported;      /* whether a dump or the user gives n_ranks */
    size_t *dump_of;    /* [n_ranks] row in dumps; TM_HANG_NO_ROW: no readable dump; owned */
    tm_hang_ras ras;
    /* owned; [n_ranks] state of each rank's process, from RAS; NULL: RAS did not report on these
     * ranks */
    tm_hang_process *processes;
    tm_vec unreadable; /* vector of int64_t, ascending: ranks with an unreadable dump */
    tm_vec fronts;     /* vector of tm_hang_front */
} tm_hang_world;

#define TM_HANG_NO_ROW SIZE_MAX

/** Reads the tables of tables.h. @param n_ranks  as given by the user; 0: not given */
tm_status tm_hang_world_make(const tm_tables *tables, int64_t n_ranks, tm_hang_world *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_hang_world_free(tm_hang_world *world);

/** Returns the row in hang.call of a rank's collective; TM_HANG_NO_ROW if it was not kept. */
size_t tm_hang_call(const tm_hang_world *w, int64_t group, int64_t rank, int64_t seq);

/** Returns the row in hang.call of a rank's call at a front; TM_HANG_NO_ROW if it was not kept. */
size_t tm_hang_call_of(const tm_hang_world *w, const tm_hang_front *f, int64_t rank);

bool tm_hang_has(const tm_vec *ranks, int64_t rank);

#endif
