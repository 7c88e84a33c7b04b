/* The reasons why no operation has a known wait. */
#ifndef TMERGE_NO_WAITS_H
#define TMERGE_NO_WAITS_H

#include "verdict_sentence.h"

/** Writes the reason if no operation has a known wait. Reads job.rank, clock.rank, clock.check, and
 * the tables of tm_no_devices_text. */
void tm_no_waits_text(const tm_tables *tables, const tm_verdict_topic *e,
                      char out[TM_SENTENCE_MAX]);

#endif
