/* Numbers keys of a few bytes: each new key gets the next number. */
#ifndef TMERGE_KEYS_H
#define TMERGE_KEYS_H

#include <stdint.h>

#include "vec.h"

/** Keys must not have padding, because all of their bytes are compared. */
typedef struct tm_keys {
    tm_vec keys;     /* the keys by number; an element has the size of a key */
    uint32_t *slots; /* owned; [mask + 1] slots of the hash table: number of a key + 1; 0: free */
    size_t mask;     /* number of slots - 1; the number of slots is a power of two */
} tm_keys;

#define TM_KEYS(type) ((tm_keys){.keys = TM_VEC(type)})

/** A value that is never the number of a key. */
#define TM_NO_KEY UINT32_MAX

/** Returns the number of a key, new or known; numbers start at 0. TM_NO_KEY when out of memory. */
uint32_t tm_keys_add(tm_keys *keys, const void *key);

/** Returns the number of a key, TM_NO_KEY if it was not added. */
uint32_t tm_keys_find(const tm_keys *keys, const void *key);

/**
 * Returns the value of a key. The value of a new key is zeroed.
 * @param values  vector of any type: element i is the value of key i; freed by the caller
 * @return        borrowed, valid until the next key is added; NULL when out of memory
 */
void *tm_keys_value(tm_keys *keys, tm_vec *values, const void *key);

void tm_keys_free(tm_keys *keys);

#endif
