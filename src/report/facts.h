/* Facts about a job that its page shows: how the store was made, and which ranks are missing. */
#ifndef TMERGE_REPORT_FACTS_H
#define TMERGE_REPORT_FACTS_H

#include "report/page_selection.h"
#include "table/out.h"
#include "tmerge/store.h"

enum { TM_PAGE_NAME_MAX = 120 };

typedef struct tm_page_job {
    char name[TM_PAGE_NAME_MAX + 1]; /* name of the job; "" for none */
    int64_t begin_ns;                /* 0: unknown */
    tm_out facts;                    /* members of a JSON object, each followed by a comma */
} tm_page_job;

/**
 * Reads job.job and job.rank. If ranks are left out, also reads the tables that are summed by host
 * (page_hosts.h).
 *
 * @param tables  definitions without rows; empty again on return
 * @param out     must be freed with tm_page_job_free, also after a failure
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_page_job_make(const tm_store *store, const tm_tables *tables,
                           const tm_page_selection *selection, tm_page_job *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_page_job_free(tm_page_job *job);

#endif
