/* The tables of the verdict: stragglers.finding and stragglers.job. */
#ifndef TMERGE_VERDICT_TABLES_H
#define TMERGE_VERDICT_TABLES_H

#include "verdict_sentence.h"

extern const tm_table_def tm_verdict_finding, tm_verdict_job;

/** Fills both tables. Reads the same tables as the sentences. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_verdict_fill(const tm_verdict_topic *topic, tm_tables *tables,
                          tm_error *err) TM_MUST_CHECK;

#endif
