/* Finds where a job is stuck: for each group, the first operation that some ranks have not reached,
 * in which ranks differ, or that does not end. */
#ifndef TMERGE_HANG_FRONTS_H
#define TMERGE_HANG_FRONTS_H

#include "base/vec.h"
#include "ras.h"
#include "tmerge/table.h"

/** Upper limit of ranks. */
enum { TM_HANG_RANKS_MAX = 1 << 22 };

/** Returns the maximum number of ranks to assume for a job with this many dumps that do not list
 * its ranks. So damaged files do not make a job of millions of ranks. */
int64_t tm_hang_most_ranks(size_t n_dumps);

/** What is wrong at a front. */
typedef enum tm_hang_problem {
    TM_HANG_OTHER_TIMES, /* the operation is over on some ranks, but others that it needs have no
                            record of it */
    TM_HANG_MISMATCH,    /* ranks issued different operations, sizes or types */
    TM_HANG_MISSING,     /* some ranks have not come, as their dumps show */
    TM_HANG_PERHAPS,     /* for some ranks it is unknown whether they came, or are members */
    TM_HANG_NO_DUMP,     /* all ranks with a dump came; other members left none */
    TM_HANG_ALL_CAME,    /* all ranks came, and the operation does not end */
    TM_HANG_N_PROBLEMS
} tm_hang_problem;

/** A front: the operation at which a group is stuck. The vectors of ranks are of int64_t,
 * ascending. */
typedef struct tm_hang_front {
    tm_hang_problem problem;
    size_t group; /* row of hang.group */
    int64_t seq;
    bool is_p2p;
    size_t call;          /* row of hang.call with the call of one rank; TM_HANG_NO_ROW: none */
    size_t answer;        /* send or receive: row of the other side's call; TM_HANG_NO_ROW: none */
    bool sure;            /* `call` and `answer` certainly belong together */
    int64_t first_ns;     /* time of the first arrival since the epoch; 0: unknown */
    tm_vec came, waiting; /* waiting: ranks that came, and for which the operation is not over */
    tm_vec absent, no_dump, perhaps;
    bool reported; /* the members of the group are known */
    bool cause;
} tm_hang_front;

/** The tables of dumps, and what they show about the job's ranks. */
typedef struct tm_hang_world {
    const tm_table *dumps, *groups, *lanes, *calls, *seen;
    int64_t n_ranks;
    int64_t most_ranks; /* limit for n_ranks if it is derived from lists and sizes of groups */
    bool any_open;      /* some operation is not over */
    bool reported;      /* a dump or the user states n_ranks */
    size_t *dump_of;    /* [n_ranks] row of dumps; TM_HANG_NO_ROW: no readable dump; owned */
    tm_hang_ras ras;
    /* [n_ranks] from an answer of RAS; NULL: there is none on these ranks; owned */
    tm_hang_process *processes;
    tm_vec unreadable; /* of int64_t, ascending: ranks with an unreadable dump */
    tm_vec fronts;     /* of tm_hang_front */
} tm_hang_world;

#define TM_HANG_NO_ROW SIZE_MAX

/** Reads the tables of tables.h. @param n_ranks  number of ranks given by the user; 0: not given */
tm_status tm_hang_world_make(const tm_tables *tables, int64_t n_ranks, tm_hang_world *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_hang_world_free(tm_hang_world *world);

/** Returns the row of a rank's collective in hang.call; TM_HANG_NO_ROW if it was not kept. */
size_t tm_hang_call(const tm_hang_world *w, int64_t group, int64_t rank, int64_t seq);

/** Returns the row of a rank's call at a front; TM_HANG_NO_ROW if it was not kept. */
size_t tm_hang_call_of(const tm_hang_world *w, const tm_hang_front *f, int64_t rank);

bool tm_hang_has(const tm_vec *ranks, int64_t rank);

#endif
