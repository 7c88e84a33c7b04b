/* Simulates a job and writes its folder: one trace per rank, and the truth. */
#ifndef TMERGE_SYNTH_SYNTH_JOB_H
#define TMERGE_SYNTH_SYNTH_JOB_H

#include "synth/base/config.h"
#include "synth/base/error.h"
#include "synth/formats/writer.h"
#include "synth/sim/sim_plan.h"
#include "synth/truth/tally.h"

/** Writes a rank's trace and measures its GPU work.
 *
 * @param writer  is open and stays open
 * @param tally   must be empty; on TMS_OK it is finished, and n_recorded is set
 * @return        TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_job_write_rank(const tms_plan *plan, int64_t rank, tms_writer *writer,
                              tms_tally *tally, tms_error *err) __attribute__((warn_unused_result));

/**
 * Runs the whole simulation. Each file gets its final name when it is complete, truth.json last.
 *
 * @param wanted  checked, with `dir` set; with a target size, its number of steps is ignored
 * @return        TMS_OK; TMS_ERR_OUTPUT; TMS_ERR_FAULT
 */
tms_status tms_job_run(const tms_config *wanted, tms_error *err);

#endif
