#include "hash.h"

uint64_t tm_hash(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

uint64_t tm_hash_mixed(uint64_t hash, const void *bytes, size_t size) {
    hash = tm_hash(hash ? hash : TM_HASH_BEGIN, bytes, size);
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}
