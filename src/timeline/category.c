#include "tmerge/timeline.h"

#include <string.h>

static const struct {
    const char *word, *alias;
} categories[TM_N_CATEGORIES] = {
#define CATEGORY_ROW(id, value, word, alias) [id] = {word, alias},
    TM_CATEGORY_LIST(CATEGORY_ROW)
#undef CATEGORY_ROW
};

static const char *const collectives[TM_N_COLLECTIVE_KINDS] = {
#define COLLECTIVE_ROW(id, value, word) [id] = word,
    TM_COLLECTIVE_LIST(COLLECTIVE_ROW)
#undef COLLECTIVE_ROW
};

static const char *const waits[TM_N_WAIT_KINDS] = {
#define WAIT_ROW(id, value, word, kineto) [id] = kineto,
    TM_WAIT_LIST(WAIT_ROW)
#undef WAIT_ROW
};

static const tm_count_def counts[TM_N_COUNTS] = {
#define COUNT_ROW(id, word, remark, doc) [id] = {word, remark, doc},
    TM_COUNT_LIST(COUNT_ROW)
#undef COUNT_ROW
};

static bool same_word(const char *bytes, size_t size, const char *word) {
    if (!word || strlen(word) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i] >= 'A' && bytes[i] <= 'Z' ? (char)(bytes[i] - 'A' + 'a') : bytes[i];
        if (c != word[i])
            return false;
    }
    return true;
}

const char *tm_category_word(tm_category category) {
    return categories[category].word;
}

tm_category tm_category_of(const char *bytes, size_t size) {
    for (int i = 0; i < TM_N_CATEGORIES; i++)
        if (same_word(bytes, size, categories[i].word) ||
            same_word(bytes, size, categories[i].alias))
            return (tm_category)i;
    return TM_CAT_OTHER;
}

const char *tm_collective_word(tm_collective_kind kind) {
    return collectives[kind];
}

const char *tm_wait_text(tm_wait_kind kind) {
    return waits[kind];
}

const tm_count_def *tm_count_info(tm_count count) {
    return &counts[count];
}
