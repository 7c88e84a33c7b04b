/* Hashes of bytes: the same wherever they are made, so that ranks and tables can be told by them.
 */
#ifndef TMERGE_HASH_H
#define TMERGE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TM_HASH_BEGIN UINT64_C(14695981039346656037)

/** FNV-1a, 64 bits, going on from @p hash (begin with TM_HASH_BEGIN). */
uint64_t tm_hash(uint64_t hash, const void *bytes, size_t size);

/** The same, mixed so that its low bits are good, too: for what is dealt out by a remainder, or
 * told apart by a part of the hash. Begin with 0. */
uint64_t tm_hash_mixed(uint64_t hash, const void *bytes, size_t size);

/** The same of whole words, eight bytes at a time: for what is hashed by the million. No two single
 * words have one hash. Begin with 0. */
static inline uint64_t tm_hash_words(uint64_t hash, const uint64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) { /* the finaliser of SplitMix64 */
        hash = (hash ^ words[i]) + UINT64_C(0x9E3779B97F4A7C15);
        hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
        hash ^= hash >> 31;
    }
    return hash;
}

#endif
