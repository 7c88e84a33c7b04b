/* Figures of several successive jobs, and whether their changes are significant. */
#ifndef TMERGE_TREND_H
#define TMERGE_TREND_H

#include "tmerge/table.h"

/** Definition of the table that tm_trend fills. */
extern const tm_table_def tm_trend_def;

typedef struct tm_trend tm_trend;

/** Creates an empty trend. Returns NULL when out of memory. */
tm_trend *tm_trend_create(void);
void tm_trend_destroy(tm_trend *trend);

/**
 * Appends the figures of a job.
 * @param tables  a table that the store lacks is empty
 * @return        TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_trend_add(tm_trend *trend, const char *store, const tm_tables *tables,
                       tm_error *err) TM_MUST_CHECK;

/** Adds a row for each job and each figure that any job has. Rows of one figure are adjacent.
 * Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_trend_tell(const tm_trend *trend, tm_table *out, tm_error *err) TM_MUST_CHECK;

#endif
