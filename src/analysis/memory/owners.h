/* Which operators, or modules, take memory and give it back. */
#ifndef TMERGE_MEMORY_OWNERS_H
#define TMERGE_MEMORY_OWNERS_H

#include "base/keys.h"
#include "tmerge/analysis.h"

struct tm_blocks;
struct tm_device_levels;

/** Larger numbers of bytes are cut to it: then their differences do not overflow. */
#define TM_BYTES_MAX (INT64_C(1) << 60)

static inline int64_t tm_bytes_cut(int64_t bytes) {
    return bytes > TM_BYTES_MAX ? TM_BYTES_MAX : bytes < -TM_BYTES_MAX ? -TM_BYTES_MAX : bytes;
}

/** An operator and a type of device. */
typedef struct tm_owner_key {
    uint32_t name;       /* TM_NO_NAME: outside of all operators */
    int32_t device_type; /* as in tm_memory_attr */
} tm_owner_key;

/** What an operator took; with what it called, and alone (self). */
typedef struct tm_owner {
    int64_t calls; /* of the operator, also those that took nothing */
    int64_t self_allocations, self_bytes, self_increase;
    int64_t allocations, bytes, increase; /* increase: less what was given back */
    int64_t peak_bytes; /* what it took itself, of what was there when a device had most */
    bool peak_told;     /* of one of its devices, at least */
} tm_owner;

/** Whether a row, on whatever track, can own memory. */
typedef bool tm_owner_class(const tm_rank_view *view, uint32_t row);
tm_owner_class tm_is_owning_operator, tm_is_owning_module;

typedef struct tm_owners {
    uint32_t *of;  /* [memory records] owned; name of the innermost operator that holds each */
    tm_keys keys;  /* of tm_owner_key, and */
    tm_vec owners; /* of tm_owner */
} tm_owners;

/** Free it with tm_owners_free, whatever comes of the call. TM_OK; TM_ERR_FAULT. */
tm_status tm_owners_find(const tm_rank_view *view, tm_owner_class *is_owner, tm_owners *out,
                         tm_error *err) TM_MUST_CHECK;

/** Counts what lives at the peak of a device. @param blocks  the device's */
void tm_owners_count_peak(const tm_timeline *timeline, const struct tm_device_levels *d,
                          const struct tm_blocks *blocks, tm_owners *owners);
void tm_owners_free(tm_owners *owners);

#endif
