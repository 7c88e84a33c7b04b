/* The verdict for traces without device work, which says so and, if known, why. */
#ifndef TMERGE_NO_DEVICES_H
#define TMERGE_NO_DEVICES_H

#include "verdict_sentence.h"

/**
 * Writes the verdict for traces without device events, or in which all steps are graph captures.
 * Reads job.job, job.rank, overlap.rank, steps.kind and steps.mark.
 * @param headline, evidence  receive the sentences; NULL if not wanted
 * @return                    false for all other traces; nothing is written then
 */
bool tm_no_devices_text(const tm_tables *tables, char headline[TM_SENTENCE_MAX],
                        char evidence[TM_SENTENCE_MAX]);

#endif
