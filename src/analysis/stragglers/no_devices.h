/* What is said where no trace has an event of a device: that first, and why, as far as they tell.
 */
#ifndef TMERGE_NO_DEVICES_H
#define TMERGE_NO_DEVICES_H

#include "verdict_sentence.h"

/**
 * Needs job.rank and overlap.rank.
 * @param headline, evidence  NULL: not wanted
 * @return                    false, with nothing written, where there are such events
 */
bool tm_no_devices_text(const tm_tables *tables, char headline[TM_SENTENCE_MAX],
                        char evidence[TM_SENTENCE_MAX]);

#endif
