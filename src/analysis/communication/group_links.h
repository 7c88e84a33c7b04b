/* The table of links: process groups and pairs of ranks, each compared with its peers. */
#ifndef TMERGE_GROUP_LINKS_H
#define TMERGE_GROUP_LINKS_H

#include "group_scan.h"

extern const tm_table_def tm_group_link_def;

/** Adds the rows of groups.link, and counts slow links in the rows of their groups. Returns TM_OK
 * or TM_ERR_FAULT. */
tm_status tm_group_links_add(tm_group_scan *scan, tm_error *err) TM_MUST_CHECK;

#endif
