/* The table job.format: data that the traces of a format never contain. Part of the analysis
 * `job`. */
#ifndef TMERGE_JOB_FORMAT_LIMITS_H
#define TMERGE_JOB_FORMAT_LIMITS_H

#include "tmerge/table.h"

extern const tm_table_def tm_job_format_table;

/** Fills the table for the formats in job.rank. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_job_formats(tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
