#include "tmerge/names.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "vec.h"

typedef struct entry {
    const char *bytes; /* in the arena */
    uint32_t size;
    uint32_t hash;
} entry;

/* Open addressing with linear probing; a slot holds id + 1, 0 is free. */
struct tm_names {
    tm_arena arena;
    tm_vec entries;  /* vector of entry, in the order of ids */
    uint32_t *slots; /* owned */
    size_t mask;     /* number of slots - 1; the number of slots is a power of two */
};

static inline uint64_t load(const char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Packs up to eight bytes into a word. */
static inline uint64_t load_few(const char *bytes, size_t size) {
    uint32_t first, last;
    if (size < sizeof first)
        return size == 0 ? 0
                         : (uint64_t)(unsigned char)bytes[0] << 16 |
                               (uint64_t)(unsigned char)bytes[size / 2] << 8 |
                               (unsigned char)bytes[size - 1];
    memcpy(&first, bytes, sizeof first);
    memcpy(&last, bytes + size - sizeof last, sizeof last);
    return (uint64_t)first << 32 | last;
}

/* Hashes a text. For each word of eight bytes, rotates the hash, combines it with the word, and
 * multiplies it. The last eight bytes follow in the same way. Then folds the result. Names are
 * short, so this hash function was chosen because it needs no set-up. */
static uint32_t hash_of(const char *bytes, size_t size) {
    const uint64_t k = 0x9E3779B97F4A7C15u;
    uint64_t h = size * k;
    size_t left = size;
    for (; left > 8; left -= 8, bytes += 8)
        h = ((h << 29 | h >> 35) ^ load(bytes)) * k;
    h = ((h << 29 | h >> 35) ^ (size > 8 ? load(bytes + left - 8) : load_few(bytes, size))) * k;
    h = (h ^ h >> 32) * k;
    return (uint32_t)(h >> 32);
}

tm_names *tm_names_create(void) {
    tm_names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->entries = TM_VEC(entry);
    names->mask = 1023;
    names->slots = calloc(names->mask + 1, sizeof *names->slots);
    if (!names->slots || tm_names_intern(names, "", 0) != TM_NO_NAME) {
        tm_names_destroy(names);
        return NULL;
    }
    return names;
}

void tm_names_destroy(tm_names *names) {
    if (!names)
        return;
    tm_arena_free(&names->arena);
    tm_vec_free(&names->entries);
    free(names->slots);
    free(names);
}

static int grow(tm_names *names) {
    size_t mask = names->mask * 2 + 1;
    uint32_t *slots = calloc(mask + 1, sizeof *slots);
    if (!slots)
        return -1;
    const entry *entries = names->entries.data;
    for (size_t id = 0; id < names->entries.n; id++) {
        size_t at = entries[id].hash & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)id + 1;
    }
    free(names->slots);
    names->slots = slots;
    names->mask = mask;
    return 0;
}

static uint32_t add(tm_names *names, size_t slot, const char *bytes, size_t size, uint32_t hash) {
    if (size > UINT32_MAX || names->entries.n >= UINT32_MAX - 1)
        return TM_NAME_FAILED;
    char *copy = tm_arena_copy(&names->arena, bytes, size);
    entry *added = copy ? tm_vec_push(&names->entries) : NULL;
    if (!added)
        return TM_NAME_FAILED;
    *added = (entry){.bytes = copy, .size = (uint32_t)size, .hash = hash};
    uint32_t id = (uint32_t)(names->entries.n - 1);
    names->slots[slot] = id + 1;
    if (names->entries.n * 2 > names->mask && grow(names) != 0 &&
        names->entries.n * 8 > names->mask * 7)
        /* The table could not grow, and is nearly full. In a full table, a search would never
         * end. */
        return TM_NAME_FAILED;
    return id;
}

uint32_t tm_names_intern(tm_names *names, const char *bytes, size_t size) {
    uint32_t hash = hash_of(bytes, size);
    size_t at = hash & names->mask;
    const entry *entries = names->entries.data;
    while (names->slots[at]) {
        const entry *known = &entries[names->slots[at] - 1];
        if (known->hash == hash && known->size == size &&
            /* the bytes of an empty text may be NULL */
            (size == 0 || memcmp(known->bytes, bytes, size) == 0))
            return names->slots[at] - 1;
        at = (at + 1) & names->mask;
    }
    return add(names, at, bytes, size, hash);
}

uint32_t tm_names_intern_string(tm_names *names, const char *string) {
    return string ? tm_names_intern(names, string, strlen(string)) : TM_NO_NAME;
}

tm_text tm_names_text(const tm_names *names, uint32_t id) {
    const entry *entries = names->entries.data;
    return (tm_text){.bytes = entries[id].bytes, .size = entries[id].size};
}

size_t tm_names_count(const tm_names *names) {
    return names->entries.n;
}
