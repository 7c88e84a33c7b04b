/* What mending saves, in a sentence: it follows the verdict. */
#ifndef TMERGE_WHATIF_SENTENCE_H
#define TMERGE_WHATIF_SENTENCE_H

#include "tmerge/table.h"

enum { TM_WHATIF_SENTENCE_MAX = 640 };

/** What mending who is named in stragglers.finding saves of a step, or that it saves nothing by
 * itself, and what does; where nobody is named, what would help most. Empty where nothing is known.
 *
 * @return  the row of whatif.item that is about who is named; its n_rows for none
 */
size_t tm_whatif_sentence(const tm_tables *tables, char out[TM_WHATIF_SENTENCE_MAX]);

#endif
