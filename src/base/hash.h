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

#endif
