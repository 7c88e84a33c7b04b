/* What is said where the traces hold no work of devices that could be judged: that first, and why,
 * as far as they say. */
#ifndef TMERGE_NO_DEVICES_H
#define TMERGE_NO_DEVICES_H

#include "verdict_sentence.h"

/**
 * Of traces without an event of a device, and of those of which all steps are captures of graphs.
 * Needs job.job, job.rank, overlap.rank, steps.kind and steps.mark.
 * @param headline, evidence  NULL: not wanted
 * @return                    false, with nothing written, of other traces
 */
bool tm_no_devices_text(const tm_tables *tables, char headline[TM_SENTENCE_MAX],
                        char evidence[TM_SENTENCE_MAX]);

#endif
