/* What ranks run that their peers do not, as a table. */
#ifndef TMERGE_STRAGGLERS_EXTRAS_H
#define TMERGE_STRAGGLERS_EXTRAS_H

#include "timeline/collectives.h"
#include "tmerge/table.h"

extern const tm_table_def tm_extras_def;

/** Adds the rows that the replay has. TM_OK; TM_ERR_FAULT. */
tm_status tm_extras_fill(const tm_collectives *own, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
