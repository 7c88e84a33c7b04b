/* Reads dumps of PyTorch's flight recorder. A dump contains the last operations that one rank
 * issued to its process groups. It is a pickle (from _dump_nccl_trace, _dump_fr_trace or the
 * watchdog) or JSON. */
#ifndef TMERGE_FLIGHT_H
#define TMERGE_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/source.h"

/** A process group, as recorded in the rank's dump. */
typedef struct tm_flight_group {
    const char *name, *desc; /* borrowed, like all texts here, until the next dump is read */
    const int64_t *ranks;    /* [n_ranks] ranks of the group in its order; empty if not recorded */
    size_t n_ranks;
    uint64_t key; /* hash of name and ranks; equal in the dumps of all ranks */
} tm_flight_group;

typedef enum tm_flight_state {
    TM_FLIGHT_SCHEDULED, /* the operation has not started on the GPU, or its progress is unknown */
    TM_FLIGHT_STARTED,
    TM_FLIGHT_COMPLETED
} tm_flight_state;

/** An operation that the rank's host issued. */
typedef struct tm_flight_call {
    size_t group;        /* index into the dump's groups */
    int64_t seq;         /* for a collective: its number among the group's collectives; for a send
                            or receive: its number among the group's sends and receives */
    int64_t other_seq;   /* for a collective: number of the last send or receive before it; for a
                            send or receive: number of the last collective before it; -1 if not
                            recorded */
    int64_t record;      /* number of the operation's record among all records of the rank */
    const char *backend; /* backend in the recorded name, such as "nccl" in "nccl:all_reduce"; "" if
                            the name has no backend */
    const char *op;      /* "all_reduce"; "send 0->1" */
    int64_t created_ns;  /* created, started, completed: times since the epoch; timeout: a duration;
                            0: not recorded */
    int64_t started_ns, completed_ns, timeout_ns;
    uint64_t form; /* hash of the operation, the sizes and the types, on which all ranks must agree;
                      for sends and receives only of the sizes and the types */
    int64_t group_size; /* size of the group, computed from the sizes of an all_gather; 0:
                           unknown */
    bool is_p2p;
    bool ends_batch; /* the record is the end of a coalesced batch; records of the batch's members
                        come before it */
    bool is_retired; /* the watchdog no longer tracks the operation: it has finished or timed out */
    tm_flight_state state; /* a member of a batch has the state of the batch */
    uint32_t values;       /* where tm_flight_text finds the texts */
} tm_flight_call;

typedef struct tm_flight tm_flight;

/** Creates a reader without a dump. Returns NULL when out of memory. */
tm_flight *tm_flight_create(void);
void tm_flight_destroy(tm_flight *flight);

/**
 * Reads a dump and replaces the previous one. Never runs code from a pickle. A truncated dump is
 * read up to the cut.
 * @return  TM_OK; TM_ERR_INPUT: not a dump, or a pickle that calls code; TM_ERR_FAULT
 */
tm_status tm_flight_read(tm_flight *flight, tm_source *source, tm_error *err) TM_MUST_CHECK;

/** Whether a file is a dump. MAYBE: the file is empty, or is JSON and its first bytes do not show
 * its kind. */
typedef enum tm_flight_guess { TM_FLIGHT_NO, TM_FLIGHT_MAYBE, TM_FLIGHT_YES } tm_flight_guess;

/** Guesses from the first bytes of a file whether the file is a dump. */
tm_flight_guess tm_flight_is_dump(const char *head, size_t size);

const tm_flight_group *tm_flight_groups(const tm_flight *flight, size_t *n);

/** Returns the calls in the order in which they were issued. */
const tm_flight_call *tm_flight_calls(const tm_flight *flight, size_t *n);

const char *tm_flight_version(const tm_flight *flight); /* version of the dump's format, "2.10"; ""
                                                           if not recorded */
int64_t tm_flight_rank(const tm_flight *flight);        /* -1: not recorded */
bool tm_flight_is_cut(const tm_flight *flight);
int64_t tm_flight_left_out(const tm_flight *flight); /* number of incomplete entries that were
                                                        skipped */

/** Parts of a call that are available as text. */
typedef enum tm_flight_part {
    TM_FLIGHT_INPUTS,  /* "[[4, 4]] float32" */
    TM_FLIGHT_OUTPUTS, /* same form */
    TM_FLIGHT_FRAMES /* "step train.py:12 < main train.py:80": the frames of the program, innermost
                        first. If none of the frames is of the program: only the innermost frame. */
} tm_flight_part;

/** Writes a part of a call as text, cut to @p size; "" if not recorded. */
void tm_flight_text(const tm_flight *flight, const tm_flight_call *call, tm_flight_part part,
                    char *out, size_t size);

#endif
