#include "finder.h"

#include <string.h>

typedef struct word {
    const char *bytes;
    /* `next` is the index + 1 of the next word whose first two bytes have the same hash; 0 if there
     * is none */
    uint16_t size, next;
    uint8_t list;
    bool at_begin;
} word;

static uint32_t head_of(const char *bytes) {
    uint32_t two = (unsigned char)bytes[0] | (uint32_t)(unsigned char)bytes[1] << 8;
    return two * UINT32_C(2654435761) >> 22; /* the upper 10 bits of a multiplicative hash */
}

void tm_finder_init(tm_finder *finder) {
    *finder = (tm_finder){.words = TM_VEC(word)};
}

void tm_finder_free(tm_finder *finder) {
    tm_vec_free(&finder->words);
}

bool tm_finder_add(tm_finder *finder, int list, const char *words) {
    while (*words) {
        word w = {.list = (uint8_t)list, .at_begin = *words == '^'};
        w.bytes = words + w.at_begin;
        w.size = (uint16_t)strcspn(w.bytes, " ");
        uint16_t *head = &finder->heads[head_of(w.bytes)];
        w.next = *head;
        if (!tm_vec_append(&finder->words, &w, 1))
            return false;
        *head = (uint16_t)finder->words.n;
        words = w.bytes + w.size;
        words += strspn(words, " ");
    }
    return true;
}

uint64_t tm_finder_lists(const tm_finder *finder, const char *text) {
    const word *words = finder->words.data;
    uint64_t found = 0;
    /* Every word has at least two bytes, so none starts at the last byte of a text. */
    for (const char *at = text; at[0] && at[1]; at++)
        for (uint16_t next = finder->heads[head_of(at)]; next > 0;) {
            const word *w = &words[next - 1];
            next = w->next;
            uint64_t bit = UINT64_C(1) << w->list;
            if (!(found & bit) && strncmp(at, w->bytes, w->size) == 0 &&
                (!w->at_begin || at == text))
                found |= bit;
        }
    return found;
}
