/* The verdict on the whole job, from data that the processes sent. */
#ifndef TMERGE_JUDGE_H
#define TMERGE_JUDGE_H

#include "findings.h"

/** Internal tables: the operations with the longest waits, the shares of communication that could
 * be compared, and the pipeline. */
extern const tm_table_def tm_judge_heavy, tm_judge_heard, tm_judge_pipeline;

/** Adds the operations of this process that are among the job's operations with the longest waits.
 * The first process also adds the pipeline. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_judge_add_heavy(tm_tables *tables, const tm_collectives *own,
                             tm_error *err) TM_MUST_CHECK;

/** Adds how much of a rank's communication could be compared. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_judge_add_heard(tm_tables *tables, const tm_timeline *timeline,
                             tm_error *err) TM_MUST_CHECK;

/** The verdict, and the data from which it follows. */
typedef struct tm_judgement {
    tm_verdict_kind kind;
    tm_findings found;
    bool *among; /* [blames->n_ranks] whether a rank is named; owned */
    /* [blames->n_ranks] largest excess and smallest p of each rank in any of its groups; `member`
     * is -1 if the rank was compared in no group; owned */
    tm_standing *standings;
    int64_t window_ns;    /* sum of the windows of all ranks */
    int64_t unknown_ns;   /* as in tm_findings_input */
    double matched_share; /* share of communication time in complete operations */
    double open_share;    /* as in tm_findings_input */
    bool withheld;        /* whether there is no verdict, because too much was not recorded */
} tm_judgement;

/**
 * Reads the internal tables, overlap.rank and overlap.step, and makes the verdict.
 * @param out  the caller closes it with tm_judge_close, also on failure
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_judge(const tm_tables *tables, const tm_blames *blames, tm_judgement *out,
                   tm_error *err) TM_MUST_CHECK;
void tm_judge_close(tm_judgement *judgement);

#endif
