/* Sums per host, for jobs with more ranks than a page holds. */
#ifndef TMERGE_REPORT_PAGE_HOSTS_H
#define TMERGE_REPORT_PAGE_HOSTS_H

#include "table/out.h"
#include "tmerge/table.h"

enum { TM_PAGE_HOSTS = 1024 };

/**
 * Appends "host_count" and "hosts": [[name, ranks, first rank, computing ns, idle ns, waited ns,
 * caused ns, the rank that caused most], ...]. If there are more than TM_PAGE_HOSTS hosts, lists
 * only the hosts that caused the most wait. The hosts are ordered by their first rank.
 *
 * @param ranks       job.rank
 * @param overlap     overlap.rank
 * @param stragglers  stragglers.rank
 * @return            TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_page_hosts_put(const tm_table *ranks, const tm_table *overlap,
                            const tm_table *stragglers, tm_out *out, tm_error *err) TM_MUST_CHECK;

#endif
