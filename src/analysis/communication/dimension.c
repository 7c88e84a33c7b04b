#include "dimension.h"

#include <stddef.h>
#include <string.h>

#include "base/letters.h"

/* Names that frameworks use (PyTorch's device meshes, Megatron, DeepSpeed). They match whole words:
 * "dp" matches in "mesh_dp", not in "endpoint". */
static const struct {
    const char *word; /* in lower case */
    int dimension;
} words[] = {
    {"data", 0}, {"dp", 0},       {"ddp", 0},     {"fsdp", 0}, {"hsdp", 0},     {"tensor", 1},
    {"tp", 1},   {"pipeline", 2}, {"pipe", 2},    {"pp", 2},   {"expert", 3},   {"ep", 3},
    {"moe", 3},  {"cp", 4},       {"context", 4}, {"sp", 5},   {"sequence", 5}, {"ulysses", 5},
};

static const char *const dimensions[] = {"data",   "tensor",  "pipeline",
                                         "expert", "context", "sequence"};

enum {
    N_WORDS = sizeof words / sizeof *words,
    N_DIMENSIONS = sizeof dimensions / sizeof *dimensions
};

static bool is_word(const char *text, size_t size, const char *word) {
    if (strlen(word) != size)
        return false;
    while (size > 0 && tm_lower(text[size - 1]) == word[size - 1])
        size--;
    return size == 0;
}

bool tm_dimension_of(const char *text, char out[TM_DIMENSION_MAX]) {
    bool named[N_DIMENSIONS] = {false}, any = false;
    while (*text) {
        size_t size = 0;
        while (tm_is_letter(text[size]))
            size++;
        for (size_t w = 0; w < N_WORDS; w++)
            if (is_word(text, size, words[w].word))
                any = named[words[w].dimension] = true;
        /* Words are runs of letters, separated by digits, underscores and the like. */
        text += size > 0 ? size : 1;
    }
    char *end = out;
    for (size_t d = 0; d < N_DIMENSIONS && any; d++) {
        if (!named[d])
            continue;
        if (end > out)
            *end++ = '+';
        size_t size = strlen(dimensions[d]);
        memcpy(end, dimensions[d], size + 1);
        end += size;
    }
    return any;
}
