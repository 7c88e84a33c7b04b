/* The hosts of a job of more ranks than its page holds, each with what its ranks sum to. */
#ifndef TMERGE_REPORT_HOSTS_H
#define TMERGE_REPORT_HOSTS_H

#include "table/out.h"
#include "tmerge/table.h"

enum { TM_PAGE_HOSTS = 1024 };

/**
 * Appends "hosts": [[name, ranks, first rank, computing ns, idle ns, waited ns, caused ns,
 * the rank that caused most], ...], of at most TM_PAGE_HOSTS hosts, those that caused most, in the
 * order of their first ranks; and "host_count".
 *
 * @param ranks       job.rank
 * @param overlap     overlap.rank
 * @param stragglers  stragglers.rank
 * @return            TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_page_hosts_put(const tm_table *ranks, const tm_table *overlap,
                            const tm_table *stragglers, tm_out *out, tm_error *err) TM_MUST_CHECK;

#endif
