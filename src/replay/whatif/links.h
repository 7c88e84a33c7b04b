/* Finds slow transfers: those of a host, within a host, of a rank or over one link. Compares
 * operations at a place with operations elsewhere that have the same kind, size, number of ranks
 * and number of hosts. The time of an operation is the time of its shortest kernel, which is on the
 * rank that arrived last. So the result does not depend on the fit of clocks. The ends of an
 * operation are its hosts or, if all its ranks are on one host, its ranks. A place is one end, the
 * inside of a host, or all ends of an operation: a link between two ends may be slow although each
 * of them has other links that are not. */
#ifndef TMERGE_REPLAY_LINKS_H
#define TMERGE_REPLAY_LINKS_H

#include "base/keys.h"
#include "timeline/collectives.h"

/** A class of operations that should take equally long. Sent as bytes. */
typedef struct tm_links_class {
    int64_t kind, bytes, n_ranks, n_hosts;
} tm_links_class;

/** How long an operation took. Sent as bytes. */
typedef struct tm_links_taken {
    tm_links_class class;
    uint64_t group; /* as in tm_comm_record */
    int64_t ns;
} tm_links_taken;

/** Times of the operations of one class in a group. Sent as bytes. */
typedef struct tm_links_time {
    tm_links_class class;
    uint64_t group;
    int64_t count, ns, low_ns, high_ns; /* ns: median; low_ns, high_ns: quartiles */
} tm_links_time;

/** HOST, INSIDE: id is a host's name id. RANK: id is a rank. LINK: all ends of an operation; id is
 * a hash of them. */
typedef enum tm_links_what {
    TM_LINKS_HOST,
    TM_LINKS_INSIDE,
    TM_LINKS_RANK,
    TM_LINKS_LINK
} tm_links_what;

/** A place. Sent as bytes. */
typedef struct tm_links_place {
    int64_t what; /* tm_links_what */
    int64_t id;
} tm_links_place;

/** A place of a group. Sent as bytes. */
typedef struct tm_links_member {
    uint64_t group;
    tm_links_place place;
} tm_links_member;

/** A class in which operations at the place are slow. Sent as bytes. */
typedef struct tm_links_slow {
    tm_links_class class;
    /* count: number of operations at the place. ns: their median time. others_ns: median time of
     * the other operations. */
    int64_t count, ns, others_ns;
} tm_links_slow;

typedef struct tm_links {
    /* vector of tm_links_place, ascending: the slow hosts, the inside of a host, or the slow ranks
     * of a host. Several if they always occur together, or if only the link between them is slow */
    tm_vec ends;
    tm_vec slow; /* vector of tm_links_slow, sorted by count x ns, the largest first */
} tm_links;

#define TM_LINKS() ((tm_links){TM_VEC(tm_links_place), TM_VEC(tm_links_slow)})

void tm_links_free(tm_links *network);

/** Returns the host of a rank as a name id; TM_NO_NAME if unknown. */
typedef uint32_t tm_links_host_of(const void *context, int64_t rank);

/**
 * Lists the complete operations of several ranks on known hosts that this process matched.
 *
 * @param taken    vector of tm_links_taken; this function appends to it
 * @param members  vector of tm_links_member; this function appends to it
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_collect(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, tm_vec *taken, tm_vec *members,
                           tm_error *err) TM_MUST_CHECK;

/**
 * Summarises the operations of groups. All operations of a group must be here.
 *
 * @param taken  vector of tm_links_taken; this function sorts it
 * @param links  vector of tm_links_time; this function appends to it
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_summarise(tm_vec *taken, tm_vec *links, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the place whose transfers are slow. A class is compared if it has groups at the place and
 * groups elsewhere, and if each of these groups has at least three operations. A compared class is
 * slow if these conditions are met:
 * - The lower quartile of every group at the place is above the upper quartile of every group
 *   elsewhere.
 * - The median at the place is at least 1.3 times the median elsewhere, and is more than 10 us
 *   longer.
 *
 * The place is slow if the following compared classes are slow: all classes of 1 MiB or more, and
 * all smaller classes down to the smallest slow class. Up to three slow hosts (or ranks) that
 * always occur in the same groups are reported together. If there are other slow hosts (ranks,
 * links), none is reported. Of the places found, the one with the most excess time is reported, in
 * case of a tie the first of tm_links_what.
 *
 * @param links    links of all processes; this function sorts them
 * @param members  members of all processes; this function sorts them
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_links_compare(tm_vec *links, tm_vec *members, tm_links *out,
                           tm_error *err) TM_MUST_CHECK;

/** Factor for the transfer of an operation at the slow place. It makes the transfer as fast as
 * transfers elsewhere. Sent as bytes. */
typedef struct tm_links_factor {
    uint64_t operation; /* as in tm_replay_participant */
    double factor;
    int64_t origin; /* process that holds the member */
} tm_links_factor;

/** For each operation at the slow place that this process matched, appends a factor for each
 * member. TM_OK; TM_ERR_FAULT. */
tm_status tm_links_factors(const tm_collectives *collectives, tm_links_host_of *host_of,
                           const void *context, const tm_links *network, tm_vec *factors,
                           tm_error *err) TM_MUST_CHECK;

#endif
