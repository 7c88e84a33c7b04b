/* The sentences beside a verdict: its reasons in figures, each of which a table holds. */
#ifndef TMERGE_VERDICT_SENTENCE_H
#define TMERGE_VERDICT_SENTENCE_H

#include "judge.h"

enum { TM_SENTENCE_MAX = 1536 };

/** What they are about. Borrowed. */
typedef struct tm_verdict_topic {
    const tm_tolls *tolls;
    const tm_judgement *judgement;
    bool aligned; /* clocks are compared */
    bool sized;   /* a trace tells how many ranks the job has */
} tm_verdict_topic;

/** Writes the verdict: who, when, and how sure that is. Needs job.rank. */
void tm_verdict_headline(const tm_tables *tables, const tm_verdict_topic *e,
                         char out[TM_SENTENCE_MAX]);

/** Writes why: by how much, in what, what it costs, where to look. Needs stragglers.rank with its
 * speeds, job.rank, overlap.rank and clock.check. */
void tm_verdict_evidence(const tm_tables *tables, const tm_verdict_topic *e,
                         char out[TM_SENTENCE_MAX]);

#endif
