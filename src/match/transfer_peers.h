/* Finds the peers of transfers between hosts (gloo's isend and irecv) whose group was not recorded.
 * A call names its peer by the peer's place in the group. So the peer is at this place in one of
 * the rank's groups. The peer is found if only one assignment of peers makes the numbers of sends
 * and receives equal on both sides. */
#ifndef TMERGE_TRANSFER_PEERS_H
#define TMERGE_TRANSFER_PEERS_H

#include "base/vec.h"
#include "timeline/host_comm.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** A rank's transfers in one direction with the same possible peers. */
typedef struct tm_transfers {
    int64_t rank; /* must be the first member: transfers are bisected by rank */
    int64_t n;    /* number of transfers */
    int64_t peers[TM_PEERS_MAX];
    uint32_t alive; /* bit i: peers[i] is still possible */
    uint32_t sends; /* 0: receives */
} tm_transfers;

/** Appends those transfers of a rank that have several possible peers (timeline/host_comm.h).
 * Returns false if out of memory. */
bool tm_transfers_list(const tm_timeline *timeline, const tm_names *names, tm_vec *out);

/** Excludes peers that do not fit.
 * @param all  vector of tm_transfers, of all ranks; the call sorts them */
void tm_transfers_resolve(tm_vec *all);

/** Sets the peers of those transfers of a rank whose peer is known, and makes the pair of ranks
 * their group. TM_OK; TM_ERR_FAULT.
 * @param all  from tm_transfers_resolve */
tm_status tm_transfers_apply(const tm_vec *all, tm_timeline *timeline, tm_names *names,
                             tm_error *err) TM_MUST_CHECK;

#endif
