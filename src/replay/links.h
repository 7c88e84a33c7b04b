/* Whether a host's transfers take longer than those of the others: operations of several hosts that
 * cross it, against those of the same kind, size and number of ranks and hosts that do not. What an
 * operation takes is its shortest kernel, that of the last rank to come, which needs no clocks. */
#ifndef TMERGE_REPLAY_LINKS_H
#define TMERGE_REPLAY_LINKS_H

#include "base/keys.h"
#include "timeline/collectives.h"

/** Operations that should take equally long. Sent as bytes. */
typedef struct tm_links_class {
    int64_t kind, bytes, n_ranks, n_hosts;
} tm_links_class;

/** A group's operations of a class. Sent as bytes. */
typedef struct tm_links_time {
    tm_links_class class;
    uint64_t group;                     /* as in tm_comm_record */
    int64_t count, ns, low_ns, high_ns; /* median, and the quartiles */
} tm_links_time;

/** A host of a group; each once. Sent as bytes. */
typedef struct tm_links_member {
    uint64_t group;
    int64_t host; /* name id */
} tm_links_member;

/** A class whose operations are slow across the host. Sent as bytes. */
typedef struct tm_links_slow {
    tm_links_class class;
    int64_t count, ns, others_ns; /* operations that cross it, their median, and the others' */
} tm_links_slow;

/** What is found. */
typedef struct tm_links {
    tm_vec hosts; /* of int64_t: name ids; several where no operation tells them apart */
    tm_vec slow;  /* of tm_links_slow, that of most time first */
} tm_links;

#define TM_LINKS() ((tm_links){TM_VEC(int64_t), TM_VEC(tm_links_slow)})

void tm_links_free(tm_links *network);

/** The host of a rank, name id; TM_NO_NAME where it is not known. */
typedef uint32_t tm_links_host_of(const void *context, int64_t rank);

/**
 * Sums the operations that this process matched, if they are complete and of several hosts.
 * @param links    of tm_links_time, appended to
 * @param members  of tm_links_member, likewise
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_collect(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, tm_vec *links, tm_vec *members,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Finds the host whose transfers are slow. In a class with a group that crosses it and one that
 * does not, three operations each at least, they are if the lower quartile of each that does is
 * above the upper one of all that do not, and their median is 1.3 times theirs and 10 us above. So
 * it has to be in all such classes of 1 MiB or more, and of no less than the smallest that is slow.
 * Hosts that the same groups cross are named together, up to three; where others are slow, too,
 * nobody is.
 * @param links, members  of all processes; sorted
 * @return                TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_compare(tm_vec *links, tm_vec *members, tm_links *out,
                           tm_error *err) TM_MUST_CHECK;

/** What is left of an operation's transfer were it as fast as others. Sent as bytes. */
typedef struct tm_links_factor {
    uint64_t operation; /* as in tm_replay_visit */
    double factor;
    int64_t origin; /* of a member */
} tm_links_factor;

/** Adds those of the operations that this process matched, for each member. TM_OK; TM_ERR_FAULT. */
tm_status tm_links_factors(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, const tm_links *network, tm_vec *factors,
                           tm_error *err) TM_MUST_CHECK;

#endif
