/* The sentences of a verdict and its reasons. Tables have all figures in them. */
#ifndef TMERGE_VERDICT_SENTENCE_H
#define TMERGE_VERDICT_SENTENCE_H

#include "judge.h"

enum { TM_SENTENCE_MAX = 1600 };

/** Input of the sentences. All pointers are borrowed. */
typedef struct tm_verdict_topic {
    const tm_blames *blames;
    const tm_judgement *judgement;
    bool aligned; /* whether clocks were aligned */
    bool sized;   /* whether a trace contains the number of the job's ranks */
} tm_verdict_topic;

/** Writes the verdict: which ranks are late, when, and how certain this is. Reads job.rank. */
void tm_verdict_headline(const tm_tables *tables, const tm_verdict_topic *e,
                         char out[TM_SENTENCE_MAX]);

/** Writes the reasons: excess, kind of work, caused waits, where to look. Reads stragglers.rank,
 * whose speeds must be set, job.rank, overlap.rank and clock.check. */
void tm_verdict_evidence(const tm_tables *tables, const tm_verdict_topic *e,
                         char out[TM_SENTENCE_MAX]);

#endif
