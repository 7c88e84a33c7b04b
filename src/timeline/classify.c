#include "classify.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/vec.h"

enum { UNKNOWN, NO, YES };

struct tm_classifier {
    regex_t builtin, extra;
    bool has_extra;
    tm_vec known; /* of uint8_t, by name id */
    tm_vec text;  /* of char: a terminated copy of the name at hand */
};

tm_status tm_classifier_create(const char *extra, tm_classifier **out, tm_error *err) {
    tm_classifier *c = calloc(1, sizeof *c);
    if (!c)
        return tm_fail_memory(err);
    c->known = TM_VEC(uint8_t);
    c->text = TM_VEC(char);
    tm_status status = tm_pattern_compile(TM_COMM_PATTERN, REG_NOSUB, &c->builtin, err);
    if (status != TM_OK) {
        free(c);
        return status;
    }
    if (extra && (status = tm_pattern_compile(extra, REG_NOSUB, &c->extra, err)) != TM_OK) {
        tm_classifier_destroy(c);
        return status;
    }
    c->has_extra = extra != NULL;
    *out = c;
    return TM_OK;
}

void tm_classifier_destroy(tm_classifier *c) {
    if (!c)
        return;
    regfree(&c->builtin);
    if (c->has_extra)
        regfree(&c->extra);
    tm_vec_free(&c->known);
    tm_vec_free(&c->text);
    free(c);
}

static bool matches(tm_classifier *c, tm_text name) {
    c->text.n = 0;
    if (!tm_vec_append(&c->text, name.bytes, name.size) || !tm_vec_append(&c->text, "", 1))
        return false;
    const char *text = c->text.data;
    return regexec(&c->builtin, text, 0, NULL, 0) == 0 ||
           (c->has_extra && regexec(&c->extra, text, 0, NULL, 0) == 0);
}

bool tm_classifier_is_communication(tm_classifier *c, const tm_names *names, uint32_t name) {
    if (name >= c->known.n) {
        size_t more = tm_names_count(names) - c->known.n;
        uint8_t *added = tm_vec_append(&c->known, NULL, more);
        if (!added)
            return matches(c, tm_names_text(names, name));
        memset(added, UNKNOWN, more);
    }
    uint8_t *known = (uint8_t *)c->known.data + name;
    if (*known == UNKNOWN)
        *known = matches(c, tm_names_text(names, name)) ? YES : NO;
    return *known == YES;
}

/* Copies the letters in lower case: spelling differs in underscores and capitals alone. */
static void letters_of(const char *bytes, size_t size, char *out, size_t room) {
    size_t n = 0;
    for (size_t i = 0; i < size && n + 1 < room; i++) {
        char c = bytes[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c >= 'a' && c <= 'z')
            out[n++] = c;
    }
    out[n] = '\0';
}

/* In this order: a word stands before those that it contains. */
static tm_collective_kind kind_in(const char *letters) {
    static const struct {
        const char *word;
        tm_collective_kind kind;
    } words[] = {
        {"sendrecv", TM_COLL_SENDRECV},   {"collectivepermute", TM_COLL_SENDRECV},
        {"allreduce", TM_COLL_ALLREDUCE}, {"reducescatter", TM_COLL_REDUCESCATTER},
        {"allgather", TM_COLL_ALLGATHER}, {"alltoall", TM_COLL_ALLTOALL},
        {"broadcast", TM_COLL_BROADCAST}, {"barrier", TM_COLL_BARRIER},
        {"gather", TM_COLL_GATHER},       {"scatter", TM_COLL_SCATTER},
        {"reduce", TM_COLL_REDUCE},       {"send", TM_COLL_SEND},
        {"recv", TM_COLL_RECV},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(letters, words[i].word))
            return words[i].kind;
    return TM_COLL_OTHER;
}

tm_collective_kind tm_collective_kind_of_name(const char *bytes, size_t size) {
    char letters[64];
    letters_of(bytes, size, letters, sizeof letters);
    const char *name = strncmp(letters, "nccl", 4) == 0 ? letters + 4 : letters;
    return strcmp(name, "coalesced") == 0 ? TM_COLL_COALESCED : kind_in(name);
}

tm_collective_kind tm_collective_kind_of_kernel(const char *bytes, size_t size) {
    char letters[256];
    letters_of(bytes, size, letters, sizeof letters);
    if (strstr(letters, "nvshmem") || strstr(letters, "mscclpp"))
        return TM_COLL_OTHER;
    if (strstr(letters, "crossdevicereduce"))
        return TM_COLL_ALLREDUCE;
    bool expert = strstr(letters, "deepep") || memchr(bytes, ':', size);
    if (expert && (strstr(letters, "dispatch") || strstr(letters, "combine")))
        return TM_COLL_ALLTOALL;
    return kind_in(letters);
}

bool tm_kernel_is_one_sided(const char *bytes, size_t size) {
    char letters[256];
    letters_of(bytes, size, letters, sizeof letters);
    if (strstr(letters, "nvshmem") || strstr(letters, "mscclpp") || strstr(letters, "deepep"))
        return true;
    for (size_t i = 0; i + 6 <= size; i++)
        if (memcmp(bytes + i, "::ep::", 6) == 0)
            return true;
    return false;
}
