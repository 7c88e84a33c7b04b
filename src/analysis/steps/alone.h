/* What one rank by itself tells: how its device's time went, and why it idles. */
#ifndef TMERGE_ALONE_H
#define TMERGE_ALONE_H

#include <stdbool.h>

#include "tmerge/table.h"

enum { TM_ALONE_MAX = 768 };

/** The sentence that stands first of a job of one rank with events of a device, and what it rests
 * on ("" for nothing); both empty and false of any other job. */
bool tm_alone_text(const tm_tables *tables, char headline[TM_ALONE_MAX],
                   char evidence[TM_ALONE_MAX]);

#endif
