/* What a page says of the job besides its tables: how the store was made, whom it left out. */
#ifndef TMERGE_REPORT_FACTS_H
#define TMERGE_REPORT_FACTS_H

#include "report/choice.h"
#include "table/out.h"
#include "tmerge/store.h"

enum { TM_PAGE_NAME_MAX = 120 };

/** What is known before the tables are written. */
typedef struct tm_page_job {
    char name[TM_PAGE_NAME_MAX + 1]; /* by which people call it; "" for none */
    int64_t begin_ns;                /* 0: not known */
    tm_out facts;                    /* members of an object, each with a comma behind it */
} tm_page_job;

/**
 * Reads job.job, job.rank and, where ranks are left out, what their hosts are folded from.
 *
 * @param tables  with the definitions, each empty, and empty again afterwards
 * @param out     freed by tm_page_job_free whatever comes of it
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_page_job_make(const tm_store *store, const tm_tables *tables,
                           const tm_page_choice *choice, tm_page_job *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_page_job_free(tm_page_job *job);

#endif
