/* Dumps of PyTorch's flight recorder: what one rank's process groups were last asked for, as a
 * pickle (_dump_nccl_trace, _dump_fr_trace, the files of the watchdog) or as JSON. */
#ifndef TMERGE_FLIGHT_H
#define TMERGE_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/source.h"

/** A process group, as the rank knows it. */
typedef struct tm_flight_group {
    const char *name, *desc; /* borrowed, as all texts here, until the next dump is read */
    const int64_t *ranks;    /* [n_ranks] in their order in the group; none where not told */
    size_t n_ranks;
    uint64_t key; /* of name and ranks: the same in every dump */
} tm_flight_group;

typedef enum tm_flight_state {
    TM_FLIGHT_SCHEDULED, /* on the host; or it is not known how far */
    TM_FLIGHT_STARTED,
    TM_FLIGHT_COMPLETED
} tm_flight_state;

/** An operation that the rank's host issued. */
typedef struct tm_flight_call {
    size_t group;        /* in the dump's */
    int64_t seq;         /* among the collectives of the group, or among its sends and receives */
    int64_t other_seq;   /* the other of the two numbers; -1 where not told */
    int64_t record;      /* among all of the rank */
    const char *backend; /* "nccl"; "" where the name has none */
    const char *op;      /* "all_reduce"; "send 0->1" */
    int64_t created_ns;  /* since the epoch; 0 where not told, as the next three */
    int64_t started_ns, completed_ns, timeout_ns;
    uint64_t form;      /* of operation, sizes and types: equal where ranks agree; of a send or
                         * receive of sizes and types */
    int64_t group_size; /* as its sizes tell, of an all_gather; 0: they do not */
    bool is_p2p;
    bool ends_batch;       /* what follows a coalesced batch, and stands for it */
    bool is_retired;       /* the watchdog has left it: over, or timed out */
    tm_flight_state state; /* of a batch's member that of the batch */
    uint32_t values;       /* for tm_flight_text */
} tm_flight_call;

typedef struct tm_flight tm_flight;

/** NULL when memory is out. */
tm_flight *tm_flight_create(void);
void tm_flight_destroy(tm_flight *flight);

/**
 * Reads a dump in place of the one before. No code of a pickle is ever run. A dump that was cut
 * short is read as far as it goes.
 * @return  TM_OK; TM_ERR_INPUT: no such dump, a pickle that calls code; TM_ERR_FAULT
 */
tm_status tm_flight_read(tm_flight *flight, tm_source *source, tm_error *err) TM_MUST_CHECK;

/** Whether a file is such a dump. MAYBE: it may be other JSON; or it is empty. */
typedef enum tm_flight_guess { TM_FLIGHT_NO, TM_FLIGHT_MAYBE, TM_FLIGHT_YES } tm_flight_guess;

/** As far as its first bytes tell. */
tm_flight_guess tm_flight_is_dump(const char *head, size_t size);

const tm_flight_group *tm_flight_groups(const tm_flight *flight, size_t *n);

/** In the order in which they were issued. */
const tm_flight_call *tm_flight_calls(const tm_flight *flight, size_t *n);

const char *tm_flight_version(const tm_flight *flight); /* "2.10"; "" where not told */
int64_t tm_flight_rank(const tm_flight *flight);        /* -1: the dump does not say */
bool tm_flight_is_cut(const tm_flight *flight);
int64_t tm_flight_left_out(const tm_flight *flight); /* entries that say too little */

/** What a text of a call is of. */
typedef enum tm_flight_part {
    TM_FLIGHT_INPUTS,  /* "[[4, 4]] float32" */
    TM_FLIGHT_OUTPUTS, /* the same */
    TM_FLIGHT_FRAMES   /* "step train.py:12 < main train.py:80": the program's own, innermost first;
                        * where there are none, the innermost */
} tm_flight_part;

/** Writes a part of a call, cut to @p size; "" where it is not told. */
void tm_flight_text(const tm_flight *flight, const tm_flight_call *call, tm_flight_part part,
                    char *out, size_t size);

#endif
