/* Figures of several jobs, one after the other: which change is real. */
#ifndef TMERGE_TREND_H
#define TMERGE_TREND_H

#include "tmerge/table.h"

/** The definition of the table that tm_trend fills: see its columns. */
extern const tm_table_def tm_trend_def;

typedef struct tm_trend tm_trend;

/** @return NULL where memory is out */
tm_trend *tm_trend_create(void);
void tm_trend_destroy(tm_trend *trend);

/**
 * Adds a job behind those that there are; nothing of it is kept but its figures.
 * @param tables  one that the store lacks is empty
 * @return        TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_trend_add(tm_trend *trend, const char *store, const tm_tables *tables,
                       tm_error *err) TM_MUST_CHECK;

/** Adds the rows: figure by figure that any of them has, job by job. TM_OK; TM_ERR_FAULT. */
tm_status tm_trend_tell(const tm_trend *trend, tm_table *out, tm_error *err) TM_MUST_CHECK;

#endif
