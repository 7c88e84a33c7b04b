/* Evidence for the verdict that a pipeline's bubble is to blame. */
#ifndef TMERGE_BUBBLE_SENTENCE_H
#define TMERGE_BUBBLE_SENTENCE_H

#include "verdict_sentence.h"

/** Writes the size of the bubble, the part of it that the schedule explains, and whether ranks
 * cause part of it. Reads kernels.same, whatif.item and whatif.split. */
void tm_bubble_evidence(const tm_tables *tables, const tm_verdict_topic *e,
                        char out[TM_SENTENCE_MAX]);

#endif
