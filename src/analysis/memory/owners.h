/* Finds the operators or modules that allocate and free memory. */
#ifndef TMERGE_MEMORY_OWNERS_H
#define TMERGE_MEMORY_OWNERS_H

#include "base/keys.h"
#include "tmerge/analysis.h"

struct tm_blocks;
struct tm_device_levels;

/** Limit of byte counts, so that differences do not overflow. */
#define TM_BYTES_MAX (INT64_C(1) << 60)

static inline int64_t tm_bytes_cut(int64_t bytes) {
    return bytes > TM_BYTES_MAX ? TM_BYTES_MAX : bytes < -TM_BYTES_MAX ? -TM_BYTES_MAX : bytes;
}

/** An operator or module, with a type of device. */
typedef struct tm_owner_key {
    uint32_t name;       /* TM_NO_NAME: memory outside of all operators */
    int32_t device_type; /* as in tm_memory_attr */
} tm_owner_key;

/** Memory allocated in the calls of an operator. Members with `self` leave out nested operators. */
typedef struct tm_owner {
    int64_t calls; /* number of calls of the operator, including calls that allocated nothing */
    int64_t self_allocations, self_bytes, self_increase;
    int64_t allocations, bytes, increase; /* increase: bytes allocated minus bytes freed */
    int64_t peak_bytes; /* part of self_bytes that is still allocated at a device's peak */
    bool peak_reported; /* whether peak_bytes is known for any device */
} tm_owner;

/** Returns whether the event of a row, on any track, can own memory. */
typedef bool tm_owner_class(const tm_rank_view *view, uint32_t row);
tm_owner_class tm_is_owning_operator, tm_is_owning_module;

typedef struct tm_owners {
    uint32_t *of;  /* [memory records] name id of the innermost owner; owned */
    tm_keys keys;  /* keys of tm_owner_key */
    tm_vec owners; /* [keys] vector of tm_owner */
} tm_owners;

/** Finds the owner of each record. The caller calls tm_owners_free, also on failure. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_owners_find(const tm_rank_view *view, tm_owner_class *is_owner, tm_owners *out,
                         tm_error *err) TM_MUST_CHECK;

/** Sums each owner's blocks that are allocated at a device's peak.
 * @param blocks  of the device */
void tm_owners_count_peak(const tm_timeline *timeline, const struct tm_device_levels *d,
                          const struct tm_blocks *blocks, tm_owners *owners);
void tm_owners_free(tm_owners *owners);

#endif
