/* Work of ranks that their peers do not run, as a table and as a sentence. */
#ifndef TMERGE_STRAGGLERS_EXTRA_WORK_H
#define TMERGE_STRAGGLERS_EXTRA_WORK_H

#include "analysis/shared/late_cause.h"
#include "timeline/collectives.h"
#include "tmerge/table.h"

extern const tm_table_def tm_extras_def;

/** Adds the rows that the replay found. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_extras_fill(const tm_collectives *own, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Describes extra work: "it runs 80 kernels a step that its peers do not run (7.20 ms, most in
 * "add", and 0.80 ms of the host up to their launches): look at ...". If only some steps have extra
 * work, the numbers are means over these steps: "in 3 of 10 steps it runs 80 kernels that ...".
 * @param cause  its kind is TM_LATE_EXTRA
 * @param when   text before the description */
void tm_extras_text(const tm_late_cause *cause, const char *when, char *out, size_t size);

#endif
