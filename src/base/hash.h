/* Hashes of bytes: the same wherever they are made, so that ranks and tables can be told by them.
 */
#ifndef TMERGE_HASH_H
#define TMERGE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TM_HASH_BEGIN UINT64_C(14695981039346656037)

/** FNV-1a, 64 bits, going on from @p hash (begin with TM_HASH_BEGIN). */
static inline uint64_t tm_hash(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

/** The same, mixed so that its low bits are good, too: for what is dealt out by a remainder, or
 * told apart by a part of the hash. Begin with 0. */
static inline uint64_t tm_hash_mixed(uint64_t hash, const void *bytes, size_t size) {
    hash = tm_hash(hash ? hash : TM_HASH_BEGIN, bytes, size);
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#endif
