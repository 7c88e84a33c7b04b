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
 * Finds the devices of a collective's group from the collective's text. The attribute
 * replica_groups has one of these forms:
 * - "{{0,1},{2,3}}": a list of groups;
 * - "[4,2]<=[2,4]T(1,0)": the numbers from 0 on, reshaped, transposed, and reshaped again;
 * - missing: a single group of all devices.
 *
 * The attribute source_target_pairs has pairs instead. Then the group is all devices that chains of
 * pairs link to @p own.
 *
 * Whether the numbers are replicas, partitions or devices depends on channel_id and
 * use_global_device_ids, as XLA defines it.
 *
 * @param own  the device whose group is found
 * @param out  vector of int64_t: ascending devices including @p own; empty if unknown
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
 *
 * @param members  vector of int64_t, ascending
 * @param host     name of the host if @p members are numbers of the host's devices; empty if they
 *                 are ids in the job
 */
uint32_t tm_hlo_group_name(tm_names *names, const char *what, const tm_vec *members, tm_text host);

#endif
