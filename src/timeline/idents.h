/* Calls a function for every name id of a timeline, to collect or to replace the ids. */
#ifndef TMERGE_IDENTS_H
#define TMERGE_IDENTS_H

#include "tmerge/timeline.h"

/** Calls @p visit for each field of the timeline that holds a name id. The visitor may change the
 * id. */
void tm_timeline_each_name(tm_timeline *timeline, void (*visit)(void *context, uint32_t *id),
                           void *context);

/** Calls @p visit for each field with a name id in @p n rows of an attribute table. */
void tm_attr_each_name(tm_attr attr, void *rows, size_t n,
                       void (*visit)(void *context, uint32_t *id), void *context);

#endif
