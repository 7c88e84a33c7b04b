/* Matches kernels without metadata: derives groups and operations from the traces, first within
 * each host, then between hosts. */
#ifndef TMERGE_INFER_H
#define TMERGE_INFER_H

#include "timeline/collectives.h"

/** An operation of a cluster of one host. It is sent to the process that joins the hosts. For this
 * reason, it has no pointers, and neither have the other messages here. */
typedef struct tm_host_operation {
    /* family of the cluster; clusters of different families belong to different groups */
    uint64_t family;
    uint64_t signature;
    /* latest start, median end and earliest end; on the clock of member 0 */
    int64_t last_ns, end_ns, first_end_ns;
    int64_t step;
    int32_t host, cluster, place; /* place: index among the operations of the cluster */
    int32_t n;                    /* number of ranks that have the operation */
    bool synchronises, telling, bare;
} tm_host_operation;

/** A rank of a cluster of one host, as sent to the process that joins the hosts. */
typedef struct tm_host_member {
    uint64_t family;
    int64_t rank;
    int64_t stream; /* number of the stream: index of its track in the rank's timeline */
    int64_t spread_ns;
    double bits;
    int32_t host, cluster;
    int32_t origin; /* process that holds the host and that receives the answer */
    bool at_least;
} tm_host_member;

/** The group found for a cluster. */
typedef struct tm_group_answer {
    uint64_t group;
    int32_t host, cluster, origin;
    int32_t size; /* number of ranks of the group; 1: no group is proven */
    /* Evidence [bits] for the weakest of the joins from which the cluster was made, rounded
     * down. */
    int32_t bits;
    bool at_least;
    char text[TM_GROUP_TEXT_MAX];
} tm_group_answer;

/** The result for one operation of a cluster. */
typedef struct tm_operation_answer {
    uint64_t key; /* as in tm_comm_record */
    int32_t host, cluster, place, origin;
    bool alone; /* no other rank has the operation */
} tm_operation_answer;

/** What a process knows about the hosts whose groups it infers. */
typedef struct tm_inference {
    /* vector of tm_comm_record: the records of all ranks of the hosts, as in tm_match_input.bare */
    tm_vec records;
    tm_vec streams;  /* vector of stream: the range of records of each rank and stream */
    tm_vec clusters; /* vector of tm_cluster, host by host */
    tm_vec hosts;    /* vector of int32_t: the host of each cluster */
} tm_inference;

void tm_inference_init(tm_inference *inference);
void tm_inference_free(tm_inference *inference);

/** The clusters of hosts. They are sent to the processes that join them. The answer is
 * tm_host_answers. */
typedef struct tm_host_report {
    tm_vec operations; /* vector of tm_host_operation */
    tm_vec members;    /* vector of tm_host_member */
} tm_host_report;

typedef struct tm_host_answers {
    tm_vec groups;     /* vector of tm_group_answer */
    tm_vec operations; /* vector of tm_operation_answer */
} tm_host_answers;

tm_host_report tm_host_report_empty(void);
tm_host_answers tm_host_answers_empty(void);
void tm_host_report_free(tm_host_report *report);
void tm_host_answers_free(tm_host_answers *answers);

/**
 * Joins the ranks of each host, which share a clock.
 * @param origin  number of this process
 * @param out     the clusters are appended
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_infer_hosts(tm_inference *v, int origin, tm_host_report *out,
                         tm_error *err) TM_MUST_CHECK;

/** Options for joining hosts. */
typedef struct tm_infer_options {
    int64_t wall_uncertainty_ns; /* standard deviation of a host's wall clock */
    bool all_here; /* every rank of the job has a trace, and all traces have one format */
} tm_infer_options;

/**
 * Joins the clusters of the hosts, and names the groups.
 * @param report  all clusters of some families, in any order; the call sorts them
 * @param out     the answers are appended
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_infer_job(tm_host_report *report, const tm_infer_options *options,
                       tm_host_answers *out, tm_error *err) TM_MUST_CHECK;

/**
 * Sets group and key of the kernels whose operation is proven. Counts the other kernels as
 * unmatched.
 * @param answers   answers for the hosts of this process, in any order; the call sorts them
 * @param out       vector of tm_comm_record; the kernels are appended
 * @param left_out  vector of tm_left_out; the counts are added
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_infer_finish(tm_inference *v, tm_host_answers *answers, tm_vec *out, tm_vec *left_out,
                          tm_error *err) TM_MUST_CHECK;

#endif
