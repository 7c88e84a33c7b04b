/* The job's part of the verdict: what the processes sent, brought together and judged. */
#ifndef TMERGE_JUDGE_H
#define TMERGE_JUDGE_H

#include "findings.h"
#include "tmerge/analysis.h"

/** Internal tables: the operations that waited most, how much of its communication each rank could
 * compare, and the pipeline. */
extern const tm_table_def tm_judge_heavy, tm_judge_heard, tm_judge_pipeline;

/** Adds those of the job's worst operations that this process matched, and the pipeline where it
 * speaks for the job. TM_OK; TM_ERR_FAULT. */
tm_status tm_judge_add_heavy(tm_tables *tables, const tm_collectives *own,
                             tm_error *err) TM_MUST_CHECK;

/** Adds what a rank could compare of its communication. TM_OK; TM_ERR_FAULT. */
tm_status tm_judge_add_heard(tm_tables *tables, const tm_timeline *timeline,
                             tm_error *err) TM_MUST_CHECK;

/** The verdict with all that it is made of. */
typedef struct tm_judgement {
    tm_verdict_kind kind;
    tm_findings found;
    bool *among;            /* [n_ranks] of the tolls: whether a rank is named, owned, as is */
    tm_standing *standings; /* [n_ranks] the largest excess and the least p over its groups; member
                               -1 where it was compared in none */
    int64_t window_ns;      /* sum of all ranks' windows */
    double matched_share;   /* of the communication time: of complete operations */
    bool withheld;          /* too much of what it would rest on was not recorded */
} tm_judgement;

/**
 * Reads the internal tables, overlap.rank and overlap.step, and judges.
 * @param out  to be closed with tm_judge_close whatever comes of it
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_judge(const tm_tables *tables, const tm_tolls *tolls, tm_judgement *out,
                   tm_error *err) TM_MUST_CHECK;
void tm_judge_close(tm_judgement *judgement);

#endif
