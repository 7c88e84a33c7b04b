#include "keys.h"

#include <stdlib.h>
#include <string.h>

static inline uint64_t load(const char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Loads a key of less than 8 bytes. */
static inline uint64_t load_few(const char *key, size_t size) {
    uint64_t word = 0;
    uint32_t half;
    if (size != sizeof half) {
        memcpy(&word, key, size);
        return word;
    }
    memcpy(&half, key, sizeof half);
    return half;
}

static inline uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* Hashes a key of a few words. Multiplies each word and folds it into the hash. The last word is
 * the last eight bytes of the key, which may overlap the word before. */
static inline size_t hash_of(const char *key, size_t size) {
    uint64_t hash = size;
    if (size == sizeof hash) { /* fast path: a key of one word */
        hash = load(key) * 0x9E3779B97F4A7C15u;
    } else if (size < sizeof hash) {
        hash = mix(hash, load_few(key, size));
    } else {
        for (size_t at = 0; at + sizeof hash < size; at += sizeof hash)
            hash = mix(hash, load(key + at));
        hash = mix(hash, load(key + size - sizeof hash));
    }
    return (size_t)(hash ^ hash >> 32);
}

static inline bool same_key(const char *a, const char *b, size_t size) {
    const size_t word = sizeof(uint64_t);
    if (size == word)
        return load(a) == load(b);
    if (size < word)
        return load_few(a, size) == load_few(b, size);
    for (size_t at = 0; at + word < size; at += word)
        if (load(a + at) != load(b + at))
            return false;
    return load(a + size - word) == load(b + size - word);
}

static bool grow(tm_keys *keys) {
    size_t mask = keys->slots ? keys->mask * 2 + 1 : 63;
    uint32_t *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < keys->keys.n; i++) {
        const char *key = (const char *)keys->keys.data + i * keys->keys.size;
        size_t at = hash_of(key, keys->keys.size) & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)i + 1;
    }
    free(keys->slots);
    keys->slots = slots;
    keys->mask = mask;
    return true;
}

/* Returns the slot of a key's number, or the free slot for it. */
static inline uint32_t *slot_of(const tm_keys *keys, const void *key) {
    size_t size = keys->keys.size, at = hash_of(key, size) & keys->mask;
    while (keys->slots[at] &&
           !same_key((const char *)keys->keys.data + (keys->slots[at] - 1) * size, key, size))
        at = (at + 1) & keys->mask;
    return &keys->slots[at];
}

uint32_t tm_keys_find(const tm_keys *keys, const void *key) {
    return keys->slots ? *slot_of(keys, key) - 1 : TM_NO_KEY; /* for a free slot, 0 - 1 is
                                                                 TM_NO_KEY */
}

uint32_t tm_keys_add(tm_keys *keys, const void *key) {
    if (keys->keys.n * 2 >= (keys->slots ? keys->mask + 1 : 0) && !grow(keys))
        return TM_NO_KEY;
    uint32_t *slot = slot_of(keys, key);
    if (*slot)
        return *slot - 1;
    if (keys->keys.n >= TM_NO_KEY - 1 || !tm_vec_append(&keys->keys, key, 1))
        return TM_NO_KEY;
    return (*slot = (uint32_t)keys->keys.n) - 1;
}

void *tm_keys_value(tm_keys *keys, tm_vec *values, const void *key) {
    uint32_t number = tm_keys_add(keys, key);
    if (number == TM_NO_KEY)
        return NULL;
    if (number < values->n)
        return (char *)values->data + number * values->size;
    void *value = tm_vec_push(values);
    return value ? memset(value, 0, values->size) : NULL;
}

void tm_keys_free(tm_keys *keys) {
    tm_vec_free(&keys->keys);
    free(keys->slots);
    keys->slots = NULL;
    keys->mask = 0;
}
