/* The job's part of the verdict: merges and judges the data sent by the processes. */
#ifndef TMERGE_JUDGE_H
#define TMERGE_JUDGE_H

#include "findings.h"
#include "tmerge/analysis.h"

/** Internal tables: operations with the longest waits, communication compared, and the pipeline. */
extern const tm_table_def tm_judge_heavy, tm_judge_heard, tm_judge_pipeline;

/** Adds the job's worst operations that this process matched, and, from the first process, the
 * pipeline. TM_OK; TM_ERR_FAULT. */
tm_status tm_judge_add_heavy(tm_tables *tables, const tm_collectives *own,
                             tm_error *err) TM_MUST_CHECK;

/** Adds how much of a rank's communication could be compared. TM_OK; TM_ERR_FAULT. */
tm_status tm_judge_add_heard(tm_tables *tables, const tm_timeline *timeline,
                             tm_error *err) TM_MUST_CHECK;

/** The verdict and the data that it is based on. */
typedef struct tm_judgement {
    tm_verdict_kind kind;
    tm_findings found;
    bool *among;            /* [blames->n_ranks] whether a rank is named; owned */
    tm_standing *standings; /* [blames->n_ranks] maximum excess and minimum p over the rank's
                               groups; member -1 if it was compared in none; owned */
    int64_t window_ns;      /* sum of all ranks' windows */
    double matched_share;   /* share of communication time in complete operations */
    bool withheld;          /* too much of the underlying data was not recorded */
} tm_judgement;

/**
 * Reads the internal tables, overlap.rank and overlap.step, and judges.
 * @param out  close it with tm_judge_close, even on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_judge(const tm_tables *tables, const tm_blames *blames, tm_judgement *out,
                   tm_error *err) TM_MUST_CHECK;
void tm_judge_close(tm_judgement *judgement);

#endif
