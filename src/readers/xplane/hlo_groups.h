/* Which devices take part in a collective of XLA with one of them. */
#ifndef TMERGE_XPLANE_HLO_GROUPS_H
#define TMERGE_XPLANE_HLO_GROUPS_H

#include "hlo.h"

/** A module's devices: replica r's part p runs on devices[r * n_parts + p]. */
typedef struct tm_assignment {
    const int64_t *devices; /* borrowed */
    size_t n_replicas, n_parts;
} tm_assignment;

/**
 * Finds the devices of a collective's group from its text: replica_groups as "{{0,1},{2,3}}", as
 * "[4,2]<=[2,4]T(1,0)" (counted, reshaped, transposed, reshaped again) or none, which means all;
 * of source_target_pairs those that a chain of pairs links. What their numbers stand for
 * (replicas, parts, both) follows from channel_id and use_global_device_ids as XLA says.
 *
 * @param own  the device that asks
 * @param out  of int64_t: ascending devices, @p own among them; none where that cannot be told
 * @return     false when memory is out
 */
bool tm_hlo_group(const tm_hlo *hlo, const tm_assignment *assignment, int64_t own,
                  tm_vec *out) TM_MUST_CHECK;

/** What a device does in a collective-permute: bits. */
enum { TM_HLO_SENDS = 1, TM_HLO_RECEIVES = 2 };

/** These bits for @p own, by source_target_pairs; 0 where none name it. What it gives to itself is
 * neither. */
int tm_hlo_ends(const tm_hlo *hlo, const tm_assignment *assignment, int64_t own);

/** All devices of a module, ascending. False when memory is out. */
bool tm_assignment_all(const tm_assignment *assignment, tm_vec *out) TM_MUST_CHECK;

/** Name id of a group, the same on all of its members: "cores 0-3,8", "devices 0,1 of node7".
 * TM_NAME_FAILED when memory is out.
 * @param members  of int64_t, ascending
 * @param host     whose numbers those are; empty where they are the job's */
uint32_t tm_hlo_group_name(tm_names *names, const char *what, const tm_vec *members, tm_text host);

#endif
