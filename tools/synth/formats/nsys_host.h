/* What an Nsight Systems export can hold besides what a job of PyTorch needs: calls of the OS,
 * scheduling, libraries, memory, page faults, metrics (--host-tables). After the documented schema:
 * but for the first two no public export has such rows. */
#ifndef TMERGE_SYNTH_NSYS_HOST_H
#define TMERGE_SYNTH_NSYS_HOST_H

#include "nsys_facts.h"

/** Writes the names that the rows refer to, once for a file. */
void tms_nsys_host_names(tms_db *db);

/**
 * Writes a rank's rows, spread evenly over its recording.
 * @param begin_ns  and @p end_ns: of the recording, since the session's begin
 */
void tms_nsys_host_rows(tms_db *db, const tms_placement *placement, int64_t begin_ns,
                        int64_t end_ns);

#endif
