/* Kernels that say nothing of their operation: groups and operations that the traces prove. A
 * host's kernels come together first, then what was found of each host. */
#ifndef TMERGE_INFER_H
#define TMERGE_INFER_H

#include "timeline/collectives.h"

/** An operation of a party of one host, as it goes to where the hosts meet. Sent as bytes, as are
 * the others: no pointers. */
typedef struct tm_host_operation {
    uint64_t family; /* of the party: others of it may be of one group */
    uint64_t token;
    int64_t last_ns, end_ns, first_end_ns; /* as in tm_party */
    int64_t step;
    int32_t host, party, place; /* its number among the party's operations */
    int32_t n;                  /* ranks that have it */
    bool synchronises, telling, bare;
} tm_host_operation;

/** A rank of such a party. */
typedef struct tm_host_member {
    uint64_t family;
    int64_t rank;
    int64_t lane; /* of the rank's lanes without metadata */
    int64_t spread_ns;
    double bits;
    int32_t host, party;
    int32_t origin; /* the process that holds the host: the answer goes there */
    bool at_least;
} tm_host_member;

/** What became of a party. */
typedef struct tm_group_answer {
    uint64_t group;
    int32_t host, party, origin;
    int32_t size; /* ranks of the group; 1: nothing is proven */
    int32_t bits; /* evidence for the weakest join, rounded down */
    bool at_least;
    char text[TM_GROUP_TEXT_MAX];
} tm_group_answer;

/** What became of one of its operations. */
typedef struct tm_operation_answer {
    uint64_t key; /* as in tm_comm_record */
    int32_t host, party, place, origin;
    bool alone; /* no other rank has it */
} tm_operation_answer;

/** What a process has of the hosts that it owns. */
typedef struct tm_inference {
    tm_vec records; /* of tm_comm_record: of all ranks of the hosts; see tm_match_input.bare */
    tm_vec lanes;   /* of the runs of one rank and lane among them */
    tm_vec parties; /* of tm_party, host after host */
    tm_vec hosts;   /* of int32_t: the host of each party */
} tm_inference;

void tm_inference_init(tm_inference *inference);
void tm_inference_free(tm_inference *inference);

/** What is told of the hosts' parties, and what is answered. */
typedef struct tm_host_report {
    tm_vec operations; /* of tm_host_operation */
    tm_vec members;    /* of tm_host_member */
} tm_host_report;

typedef struct tm_host_answers {
    tm_vec groups;     /* of tm_group_answer */
    tm_vec operations; /* of tm_operation_answer */
} tm_host_answers;

tm_host_report tm_host_report_empty(void);
tm_host_answers tm_host_answers_empty(void);
void tm_host_report_free(tm_host_report *report);
void tm_host_answers_free(tm_host_answers *answers);

/**
 * Joins the ranks of each host, whose clocks are one.
 * @param origin  this process
 * @param out     appended to
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_infer_hosts(tm_inference *v, int origin, tm_host_report *out,
                         tm_error *err) TM_MUST_CHECK;

/** How hosts are joined. */
typedef struct tm_infer_options {
    int64_t wall_uncertainty_ns; /* of a host's wall clock, one standard deviation */
    bool all_here;               /* every rank of the job has a trace, of one format */
} tm_infer_options;

/**
 * Joins what was found of hosts, and names the groups.
 * @param report  all of some families, in any order; sorted by the call
 * @param out     appended to
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_infer_job(tm_host_report *report, const tm_infer_options *options,
                       tm_host_answers *out, tm_error *err) TM_MUST_CHECK;

/**
 * Gives the kernels group and key. Those that are not proven to be of any operation are counted.
 * @param answers   for the hosts of this process, in any order; sorted by the call
 * @param out       of tm_comm_record, appended to
 * @param left_out  of tm_left_out
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_infer_finish(tm_inference *v, tm_host_answers *answers, tm_vec *out, tm_vec *left_out,
                          tm_error *err) TM_MUST_CHECK;

#endif
