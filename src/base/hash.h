/* Hashes of bytes, equal on every process and machine: they can identify ranks and tables. */
#ifndef TMERGE_HASH_H
#define TMERGE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TM_HASH_BEGIN UINT64_C(14695981039346656037)

/** Computes 64-bit FNV-1a, continuing from @p hash (start with TM_HASH_BEGIN). */
uint64_t tm_hash(uint64_t hash, const void *bytes, size_t size);

/** Computes a hash with final mixing, so that the low bits and parts of the hash are well
 * distributed. Start with 0. */
uint64_t tm_hash_mixed(uint64_t hash, const void *bytes, size_t size);

/** Hashes words of eight bytes; fast. Two single words never collide. Begin with 0. */
static inline uint64_t tm_hash_words(uint64_t hash, const uint64_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) { /* finaliser of SplitMix64 */
        hash = (hash ^ words[i]) + UINT64_C(0x9E3779B97F4A7C15);
        hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
        hash ^= hash >> 31;
    }
    return hash;
}

#endif
