/* Finds the devices that participate in an XLA collective. */
#ifndef TMERGE_XPLANE_HLO_GROUPS_H
#define TMERGE_XPLANE_HLO_GROUPS_H

#include "hlo_text.h"

/** The devices of a module. Partition p of replica r runs on devices[r * n_parts + p]. */
typedef struct tm_assignment {
    const int64_t *devices; /* borrowed */
    size_t n_replicas, n_parts;
} tm_assignment;

/**
 * Finds the devices of a collective's group from its text: replica_groups as "{{0,1},{2,3}}", as
 * "[4,2]<=[2,4]T(1,0)" (numbers from 0, reshaped, transposed, reshaped again), or missing, which
 * means all. For source_target_pairs, the group is all devices that are linked by chains of pairs.
 * The numbers stand for replicas, partitions or both, depending on channel_id and
 * use_global_device_ids as XLA defines it.
 *
 * @param own  the device whose group is wanted
 * @param out  of int64_t: ascending devices including @p own; empty if unknown
 * @return     false if out of memory
 */
bool tm_hlo_group(const tm_hlo *hlo, const tm_assignment *assignment, int64_t own,
                  tm_vec *out) TM_MUST_CHECK;

/** Roles of a device in a collective-permute, as bits. */
enum { TM_HLO_SENDS = 1, TM_HLO_RECEIVES = 2 };

/** Returns the roles of @p own according to source_target_pairs; 0 if no pair contains it. A pair
 * of a device with itself does not count. */
int tm_hlo_ends(const tm_hlo *hlo, const tm_assignment *assignment, int64_t own);

/** Lists all devices of a module, ascending. Returns false if out of memory. */
bool tm_assignment_all(const tm_assignment *assignment, tm_vec *out) TM_MUST_CHECK;

/**
 * Returns the name id of a group: "cores 0-3,8", "devices 0,1 of node7". All members of the group
 * get the same name. TM_NAME_FAILED if out of memory.
 * @param members  of int64_t, ascending
 * @param host     the host if the numbers are those of the host's devices; empty if they are the
 *                 job's
 */
uint32_t tm_hlo_group_name(tm_names *names, const char *what, const tm_vec *members, tm_text host);

#endif
