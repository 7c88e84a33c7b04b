/* The answer of NCCL's RAS subsystem about a running job: the JSON that `ncclras -f json` of
 * NCCL 2.28.7 and later prints. */
#ifndef TMERGE_RAS_H
#define TMERGE_RAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/source.h"

/** Upper limit of the size of a communicator. */
enum { TM_RAS_SIZE_MAX = 1 << 22 };

/** State of a rank of a communicator. The column `state` of hang.ras has a word for each state
 * except the first. */
typedef enum tm_ras_state {
    TM_RAS_RUNNING,
    TM_RAS_STARTING,    /* the communicator is not yet initialised */
    TM_RAS_ENDING,      /* the program called ncclCommFinalize or ncclCommDestroy */
    TM_RAS_ABORTED,     /* the program or NCCL aborted the communicator */
    TM_RAS_FAILED,      /* NCCL reports an error */
    TM_RAS_GONE,        /* the rank's process answers, but has no such communicator */
    TM_RAS_UNREACHABLE, /* the rank's process did not answer in time */
    TM_RAS_DEAD         /* the rank's process has not answered for so long that NCCL counts it as
                           lost */
} tm_ras_state;

/** Number of operations of one kind that a rank has launched. */
typedef struct tm_ras_count {
    const char *operation; /* "AllReduce"; borrowed, like all texts here, until the next read */
    int64_t launched;
} tm_ras_count;

typedef struct tm_ras_member {
    int64_t rank; /* in the communicator */
    const char *host;
    int64_t pid, gpu; /* process id, and the driver's number of the GPU; -1: unknown */
    tm_ras_state state;
    int64_t error; /* in state TM_RAS_FAILED: the ncclResult_t */
    const tm_ras_count *counts;
    size_t n_counts; /* 0 for the states from TM_RAS_GONE on */
} tm_ras_member;

typedef struct tm_ras_comm {
    const char *hash, *secondary_hash; /* "0x6c1f4a9d2b7e8305", "0x91:0x92" */
    int64_t size;
    const tm_ras_member *members;
    size_t n_members; /* at most size */
} tm_ras_comm;

typedef struct tm_ras tm_ras;

/** Creates a reader without an answer. Returns NULL when out of memory. */
tm_ras *tm_ras_create(void);
void tm_ras_destroy(tm_ras *ras);

/** Returns whether the first bytes of a file are those of an answer, as JSON or as text. */
bool tm_ras_is_answer(const char *head, size_t size);

/**
 * Reads an answer and replaces the previous one.
 * @return  TM_OK; TM_ERR_INPUT: not the JSON of an answer, or cut short; TM_ERR_FAULT
 */
tm_status tm_ras_read(tm_ras *ras, tm_source *source, tm_error *err) TM_MUST_CHECK;

const tm_ras_comm *tm_ras_comms(const tm_ras *ras, size_t *n);
const char *tm_ras_version(const tm_ras *ras); /* version of NCCL; "" if not recorded */
const char *tm_ras_time(const tm_ras *ras);    /* when NCCL answered, in the local time of the
                                                  job's host; "" if not recorded */
int64_t tm_ras_left_out(const tm_ras *ras); /* number of entries skipped because their rank is not
                                               in their communicator */
int64_t tm_ras_commas(const tm_ras *ras);   /* number of missing commas that were added: NCCL 2.28
                                               omits one for each rank without an answer */

#endif
