#include "classify.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "base/vec.h"

struct tm_classifier {
    regex_t extra;
    bool has_extra;
    tm_vec known; /* vector of looked_up: the kind of each name, indexed by name id */
    tm_vec text;  /* vector of char: terminated copy of the current name */
};

typedef struct looked_up {
    bool done;
    tm_kernel_kind kind;
} looked_up;

tm_status tm_classifier_create(const char *extra, tm_classifier **out, tm_error *err) {
    tm_classifier *c = calloc(1, sizeof *c);
    if (!c)
        return tm_fail_memory(err);
    c->known = TM_VEC(looked_up);
    c->text = TM_VEC(char);
    tm_status status = extra ? tm_pattern_compile(extra, REG_NOSUB, &c->extra, err) : TM_OK;
    if (status != TM_OK) {
        free(c);
        return status;
    }
    c->has_extra = extra != NULL;
    *out = c;
    return TM_OK;
}

void tm_classifier_destroy(tm_classifier *c) {
    if (!c)
        return;
    if (c->has_extra)
        regfree(&c->extra);
    tm_vec_free(&c->known);
    tm_vec_free(&c->text);
    free(c);
}

static bool user_means(tm_classifier *c, tm_text name) {
    c->text.n = 0;
    if (!c->has_extra || !tm_vec_append(&c->text, name.bytes, name.size) ||
        !tm_vec_append(&c->text, "", 1))
        return false;
    return regexec(&c->extra, c->text.data, 0, NULL, 0) == 0;
}

/* Guesses the kind from the words of a kernel's name, for kernels that the table does not have. */
static tm_collective_kind kind_by_words(const char *bytes, size_t size) {
    char letters[TM_LETTERS];
    tm_letters_of(bytes, size, letters);
    if (memchr(bytes, ':', size) && (strstr(letters, "dispatch") || strstr(letters, "combine")))
        return TM_COLL_ALLTOALL;
    return tm_collective_kind_in(letters);
}

static tm_kernel_kind look_up(tm_classifier *c, tm_text name) {
    tm_kernel_kind kernel = tm_kernel_kind_of(name.bytes, name.size);
    if (!tm_kernel_communicates(kernel) && user_means(c, name))
        return (tm_kernel_kind){TM_KERNEL_COLLECTIVE, kind_by_words(name.bytes, name.size)};
    return kernel;
}

tm_kernel_kind tm_classifier_kind(tm_classifier *c, const tm_names *names, uint32_t name) {
    if (name >= c->known.n) {
        size_t more = tm_names_count(names) - c->known.n;
        looked_up *added = tm_vec_append(&c->known, NULL, more);
        if (!added)
            return look_up(c, tm_names_text(names, name));
        memset(added, 0, more * sizeof *added);
    }
    looked_up *known = (looked_up *)c->known.data + name;
    if (!known->done)
        *known = (looked_up){true, look_up(c, tm_names_text(names, name))};
    return known->kind;
}

tm_collective_kind tm_collective_kind_of_name(const char *bytes, size_t size) {
    char letters[TM_LETTERS];
    tm_letters_of(bytes, size, letters);
    const char *name = strncmp(letters, "nccl", 4) == 0 ? letters + 4 : letters;
    return strcmp(name, "coalesced") == 0 ? TM_COLL_COALESCED : tm_collective_kind_in(name);
}

tm_collective_kind tm_collective_kind_of_kernel(const char *bytes, size_t size) {
    tm_kernel_kind kernel = tm_kernel_kind_of(bytes, size);
    if (kernel.class == TM_KERNEL_UNKNOWN || kernel.class == TM_KERNEL_SUSPECT)
        return kind_by_words(bytes, size);
    return kernel.kind;
}
