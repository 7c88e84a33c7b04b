/* Tables that an Nsight Systems export may contain in addition (--host-tables): calls of the OS,
 * scheduling, libraries, memory, page faults and metrics. They follow the documented schema. In
 * public exports, only the first two have rows. */
#ifndef TMERGE_SYNTH_WRITE_NSYS_HOST_H
#define TMERGE_SYNTH_WRITE_NSYS_HOST_H

#include "write_nsys_facts.h"

/** Writes the names that the rows refer to, once per file. */
void tms_nsys_host_names(tms_db *db);

/** Writes a rank's rows, spread evenly over its recording.
 * @param begin_ns start of the recording [ns since the session's start]
 * @param end_ns    end of the recording [ns since the session's start] */
void tms_nsys_host_rows(tms_db *db, const tms_placement *placement, int64_t begin_ns,
                        int64_t end_ns);

#endif
