/* The process groups of a job: their members, hosts and dimensions, from the internal tables. */
#ifndef TMERGE_GROUP_SURVEY_H
#define TMERGE_GROUP_SURVEY_H

#include "tmerge/table.h"

/* Internal tables that it is made of, besides those of group_parts.h. */
extern const tm_table_def tm_group_member_part_def;
extern const tm_table_def tm_group_member_def;

enum { TM_MEMBERS_MAX = 256 };

/** A process group of the job, as its row of groups.part and its members tell. */
typedef struct tm_group_whole {
    const tm_cell *part;   /* borrowed, as are */
    const int64_t *ranks;  /* [n_ranks] ascending: those whose kernels are in its operations, and */
    const char *dimension; /* NULL where nothing tells it */
    size_t n_ranks;
    int64_t n_hosts; /* of these ranks; 0 where the host of one is not known */
    int64_t n_links; /* rows of groups.link, and */
    int64_t n_slow;  /* those that are slow */
    char members[TM_MEMBERS_MAX];
} tm_group_whole;

/** The groups of the job, and on which host each rank is. */
typedef struct tm_group_survey {
    tm_tables *tables;
    tm_group_whole *groups; /* [n_groups] ascending in id */
    size_t n_groups;
    int64_t *members; /* what `ranks` of the groups point into */
    int64_t *hosts;   /* [rows of job.rank] the number of its host, -1 unknown */
} tm_group_survey;

/**
 * Takes the groups from internal tables that are sorted.
 * @param out  borrows from the tables; to be freed whatever comes of the call
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_group_survey_make(tm_tables *tables, tm_group_survey *out,
                               tm_error *err) TM_MUST_CHECK;
void tm_group_survey_free(tm_group_survey *survey);

/** On how many hosts these ranks are; 0 where the host of one is not known.
 * @param scratch  [n] */
int64_t tm_group_hosts(const tm_group_survey *survey, const int64_t *ranks, size_t n,
                       int64_t *scratch);

/** "intra" for one host, "inter" for more, NULL for 0: not known. */
const char *tm_group_reach(int64_t n_hosts);

#endif
