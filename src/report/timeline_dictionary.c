#include "timeline_dictionary.h"

#include <stdlib.h>

tm_status tm_dictionary_make(const tm_names *names, tm_dictionary *out, tm_error *err) {
    *out = (tm_dictionary){
        .names = names, .used = TM_VEC(uint32_t), .room = SIZE_MAX, .cut = TM_BYTES_TEXT_MAX};
    out->number = calloc(tm_names_count(names) + 1, sizeof *out->number);
    if (!out->number)
        return tm_fail_memory(err);
    tm_dictionary_number(out, TM_NO_NAME);
    return TM_OK;
}

void tm_dictionary_free(tm_dictionary *dictionary) {
    free(dictionary->number);
    dictionary->number = NULL;
    tm_vec_free(&dictionary->used);
}

uint32_t tm_dictionary_number(tm_dictionary *dictionary, uint32_t id) {
    uint32_t *number = &dictionary->number[id];
    size_t size = *number == 0 ? tm_names_text(dictionary->names, id).size : 0;
    if (*number == 0 && size <= dictionary->room && tm_vec_append(&dictionary->used, &id, 1)) {
        dictionary->room -= dictionary->room == SIZE_MAX ? 0 : size;
        *number = (uint32_t)dictionary->used.n;
    }
    return *number > 0 ? *number - 1 : 0;
}

void tm_dictionary_put(const tm_dictionary *dictionary, tm_bytes *out) {
    const uint32_t *used = dictionary->used.data;
    tm_bytes_put(out, dictionary->used.n);
    for (size_t i = 0; i < dictionary->used.n; i++)
        tm_bytes_put_cut(out, tm_names_text(dictionary->names, used[i]), dictionary->cut);
}
