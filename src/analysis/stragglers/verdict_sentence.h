/* The sentence beside a verdict: its reasons in figures, each of which a table holds. */
#ifndef TMERGE_VERDICT_SENTENCE_H
#define TMERGE_VERDICT_SENTENCE_H

#include "tmerge/table.h"
#include "verdict.h"

enum { TM_SENTENCE_MAX = 1024 };

/** What a sentence is about. Borrowed. */
typedef struct tm_verdict_topic {
    const tm_verdict *verdict;
    const bool *among; /* by row of stragglers.rank: the ranks that the verdict is about */
    const char *host;  /* of the verdict's rank, where it is to be named, or NULL */
    bool aligned;      /* clocks are compared */
} tm_verdict_topic;

/** Writes a sentence: who, share, time, persistence, cause, where to look. Needs stragglers.rank
 * with its speeds, overlap.rank and clock.check. */
void tm_verdict_sentence(const tm_tables *tables, const tm_verdict_topic *evidence,
                         char out[TM_SENTENCE_MAX]);

#endif
