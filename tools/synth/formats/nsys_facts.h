/* What an Nsight Systems export tells beside its events: host, GPUs, times, options, environment.
 */
#ifndef TMERGE_SYNTH_NSYS_FACTS_H
#define TMERGE_SYNTH_NSYS_FACTS_H

#include <stdint.h>

#include "nsys_db.h"
#include "synth/base/config.h"
#include "synth/base/placement.h"

/* Identifiers are <hardware 8><machine 8><process 24><thread 24>. */
#define TMS_NSYS_MACHINE (INT64_C(1) << 48)

static inline int64_t tms_nsys_process(int64_t pid) {
    return TMS_NSYS_MACHINE | pid << 24;
}

static inline int64_t tms_nsys_thread(int64_t pid, int64_t tid) {
    return tms_nsys_process(pid) | tid;
}

/* One file of one host. */
typedef struct tms_nsys_session {
    int64_t rank;     /* the first in the file */
    int64_t host;     /* all of the file are on it */
    int64_t begin_ns; /* what all times count from [recorded ns since the epoch] */
    int64_t end_ns;   /* when the last rank's recording ends, the same */
} tms_nsys_session;

/* Writes what is known from the start: the session's, host's and exporter's facts, and the
 * environment with its secrets, which is that of a launcher where a file has several ranks. */
void tms_nsys_begin_facts(tms_db *db, const tms_config *config, const tms_nsys_session *session);

/* Writes a rank's process, its threads, devices and streams.
 * @param thread_names  string ids of the Python thread's and the backward thread's name */
void tms_nsys_rank_facts(tms_db *db, const tms_config *config, const tms_placement *placement,
                         const int64_t thread_names[2]);

/* Writes what is known in the end. */
void tms_nsys_end_facts(tms_db *db, const tms_nsys_session *session);

#endif
