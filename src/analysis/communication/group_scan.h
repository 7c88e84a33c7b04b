/* A job's process groups with their members, hosts and dimensions, from internal tables. */
#ifndef TMERGE_GROUP_SCAN_H
#define TMERGE_GROUP_SCAN_H

#include "tmerge/table.h"

/* More internal tables; see group_parts.h. */
extern const tm_table_def tm_group_member_part_def;
extern const tm_table_def tm_group_member_def;

enum { TM_MEMBERS_MAX = 256 };

/** A process group of the job. */
typedef struct tm_group_totals {
    const tm_cell *part; /* row of groups.part; borrowed */
    /* [n_ranks] ascending: ranks with kernels in operations of the group; borrowed */
    const int64_t *ranks;
    const char *dimension; /* parallel dimension, borrowed; NULL if unknown */
    size_t n_ranks;
    int64_t n_hosts; /* number of hosts of these ranks; 0 if any host is unknown */
    int64_t n_links; /* rows of groups.link */
    int64_t n_slow;  /* number of slow rows of groups.link */
    char members[TM_MEMBERS_MAX];
} tm_group_totals;

/** The groups of the job, and the host of each rank. */
typedef struct tm_group_scan {
    tm_tables *tables;
    tm_group_totals *groups; /* [n_groups] ascending in id */
    size_t n_groups;
    int64_t *members; /* the groups' `ranks` point into this array */
    int64_t *hosts;   /* [rows of job.rank] number of the row's host; -1 if unknown */
} tm_group_scan;

/**
 * Collects the groups from the internal tables, which must be sorted.
 *
 * @param out  borrows from the tables; the caller frees it even if the call fails
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_group_scan_make(tm_tables *tables, tm_group_scan *out, tm_error *err) TM_MUST_CHECK;
void tm_group_scan_free(tm_group_scan *scan);

/**
 * Returns the number of hosts of [n] ranks; 0 if any host is unknown.
 *
 * @param scratch  [n]
 */
int64_t tm_group_hosts(const tm_group_scan *scan, const int64_t *ranks, size_t n, int64_t *scratch);

/** Returns "intra" for one host, "inter" for several, NULL for 0 (unknown). */
const char *tm_group_reach(int64_t n_hosts);

#endif
