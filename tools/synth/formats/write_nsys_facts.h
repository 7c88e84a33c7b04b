/* Facts in an Nsight Systems export, apart from events: host, GPUs, times, options, environment. */
#ifndef TMERGE_SYNTH_WRITE_NSYS_FACTS_H
#define TMERGE_SYNTH_WRITE_NSYS_FACTS_H

#include <stdint.h>

#include "nsys_db.h"
#include "synth/base/config.h"
#include "synth/base/placement.h"

/* Parts of an identifier, from the highest bits: hardware (8 bits), machine (8), process (24),
 * thread (24). */
#define TMS_NSYS_MACHINE (INT64_C(1) << 48)

static inline int64_t tms_nsys_process(int64_t pid) {
    return TMS_NSYS_MACHINE | pid << 24;
}

static inline int64_t tms_nsys_thread(int64_t pid, int64_t tid) {
    return tms_nsys_process(pid) | tid;
}

/* A file, which has ranks of one host. */
typedef struct tms_nsys_session {
    int64_t rank;     /* the first rank in the file */
    int64_t host;     /* host of all ranks of the file */
    int64_t begin_ns; /* origin of all times [recorded ns since the epoch] */
    int64_t end_ns;   /* end of the last rank's recording [recorded ns since the epoch] */
} tms_nsys_session;

/* Writes what is known at the start: session, host, exporter, and the environment with its secrets.
 * A file with several ranks has the environment of their launcher. */
void tms_nsys_begin_facts(tms_db *db, const tms_config *config, const tms_nsys_session *session);

/* Writes a rank's process, threads, devices and streams.
 * @param thread_names  string ids of the names of the Python thread and the backward thread */
void tms_nsys_rank_facts(tms_db *db, const tms_config *config, const tms_placement *placement,
                         const int64_t thread_names[2]);

/* Writes what is known only at the end. */
void tms_nsys_end_facts(tms_db *db, const tms_nsys_session *session);

#endif
