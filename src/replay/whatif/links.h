/* Finds a host with slow transfers. Compares the operations of the host with operations of other
 * hosts that have the same kind, size, and number of ranks and hosts. The time of an operation is
 * that of its shortest kernel, that of the rank that arrived last. So clocks need not be fitted. */
#ifndef TMERGE_REPLAY_LINKS_H
#define TMERGE_REPLAY_LINKS_H

#include "base/keys.h"
#include "timeline/collectives.h"

/** A class of operations that should take equally long. Sent as bytes. */
typedef struct tm_links_class {
    int64_t kind, bytes, n_ranks, n_hosts;
} tm_links_class;

/** Times of a group's operations of one class. Sent as bytes. */
typedef struct tm_links_time {
    tm_links_class class;
    uint64_t group;                     /* as in tm_comm_record */
    int64_t count, ns, low_ns, high_ns; /* median and quartiles */
} tm_links_time;

/** A host of a group. A group has each host once. Sent as bytes. */
typedef struct tm_links_member {
    uint64_t group;
    int64_t host; /* name id */
} tm_links_member;

/** A class whose operations are slow if they involve the host. Sent as bytes. */
typedef struct tm_links_slow {
    tm_links_class class;
    int64_t count, ns,
        others_ns; /* operations with the host, their median time, and that of the others */
} tm_links_slow;

/** Result. */
typedef struct tm_links {
    tm_vec hosts; /* of int64_t: name ids of the slow host, or of several that always occur
                     together */
    tm_vec slow;  /* of tm_links_slow, the largest total time first */
} tm_links;

#define TM_LINKS() ((tm_links){TM_VEC(int64_t), TM_VEC(tm_links_slow)})

void tm_links_free(tm_links *network);

/** Returns the host of a rank as a name id; TM_NO_NAME if unknown. */
typedef uint32_t tm_links_host_of(const void *context, int64_t rank);

/**
 * Summarises the complete operations over several hosts that this process matched.
 * @param links    of tm_links_time, appended to
 * @param members  of tm_links_member, appended to
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_collect(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, tm_vec *links, tm_vec *members,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Finds the host whose transfers are slow. A class is compared if it has groups with the host and
 * groups without, each with three operations or more. It is slow if the lower quartile of every
 * group with the host is above the upper quartile of every group without, and the median of the
 * former is 1.3 times that of the latter and more than 10 us above it. All compared classes of 1
 * MiB or more must be slow, and so must all smaller ones down to the smallest slow class. Up to
 * three hosts that always occur in the same groups are reported together. If further hosts are
 * slow, no host is reported.
 * @param links, members  of all processes; sorted
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_compare(tm_vec *links, tm_vec *members, tm_links *out,
                           tm_error *err) TM_MUST_CHECK;

/** Factor that makes an operation's transfer as fast as others. Sent as bytes. */
typedef struct tm_links_factor {
    uint64_t operation; /* as in tm_replay_visit */
    double factor;
    int64_t origin; /* process that holds a member */
} tm_links_factor;

/** Appends a factor for each member of the slow host's operations that this process matched. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_links_factors(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, const tm_links *network, tm_vec *factors,
                           tm_error *err) TM_MUST_CHECK;

#endif
