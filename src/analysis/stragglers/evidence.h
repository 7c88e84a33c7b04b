/* What stands beside a verdict: how fast each rank computes, and the sentence to be checked. */
#ifndef TMERGE_EVIDENCE_H
#define TMERGE_EVIDENCE_H

#include "tmerge/table.h"
#include "verdict.h"

enum { TM_EVIDENCE_MAX = 1024 };

/**
 * Sets every rank's relative speed: the median over its steps of the ranks' median compute_ns in
 * that step / its own; null where it computed in no step.
 *
 * @param tables  with overlap.step
 * @param ranks   rows ascending in rank, whose first column is the rank
 * @param column  where the speed goes
 */
tm_status tm_evidence_speeds(const tm_tables *tables, tm_table *ranks, int column,
                             tm_error *err) TM_MUST_CHECK;

/** What a sentence is about. Borrowed. */
typedef struct tm_evidence {
    const tm_verdict *verdict;
    const bool *among; /* by row of stragglers.rank: the ranks that the verdict is about */
    const char *host;  /* of the verdict's rank, where it is to be named, or NULL */
    bool aligned;      /* clocks are compared */
} tm_evidence;

/** Writes a sentence: who, share, time, persistence, cause, where to look. Needs stragglers.rank
 * with its speeds, overlap.rank and clock.check. */
void tm_evidence_sentence(const tm_tables *tables, const tm_evidence *evidence,
                          char out[TM_EVIDENCE_MAX]);

/** A time for prose: "37.4 ms"; two decimals below 10, one below 1,000, rounded first. */
void tm_evidence_time(int64_t ns, char *out, size_t size);

#endif
