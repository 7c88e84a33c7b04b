#include "ascend_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "tmerge/source.h"

enum { ROOM = 1 << 16, KEY_MAX = 256 };

typedef struct operation {
    uint64_t name; /* hash of the operation's name */
    uint32_t group;
} operation;

TM_ORDER_BY(by_name, operation, name, group);

/* Adds an operation and its communicator from a key such as "hcom_allReduce__868_0_1@175...". Keys
 * of another form are ignored. p is after the opening quote. */
static bool take(tm_ascend_groups *groups, tm_names *names, const char *p) {
    size_t name = strcspn(p, "@\""),
           digits = p[name] == '@' ? strspn(p + name + 1, "0123456789") : 0;
    if (digits == 0 || p[name + 1 + digits] != '"')
        return true;
    const operation added = {tm_hash_mixed(0, p, name),
                             tm_names_intern(names, p + name + 1, digits)};
    return added.group != TM_NAME_FAILED && tm_vec_append(&groups->known, &added, 1);
}

/* Adds the operations of all keys that start in [0, size) of a zero-terminated text. */
static bool scan(tm_ascend_groups *groups, tm_names *names, const char *text, size_t size) {
    static const char start[] = "\"hcom_";
    bool ok = true;
    for (const char *p = text; ok && (p = memchr(p, '"', (size_t)(text + size - p))); p++)
        if (strncmp(p, start, sizeof start - 1) == 0)
            ok = take(groups, names, p + 1);
    return ok;
}

/* Reads a file in pieces. Keys that start in the last KEY_MAX bytes of a piece are read with the
 * next piece, so that no key is cut. */
static bool read_keys(tm_source *source, char *text, tm_names *names, tm_ascend_groups *out) {
    size_t held = 0, n = 1;
    tm_error unread;
    bool ok = true;
    while (n > 0 && ok) {
        if (tm_source_read(source, text + held, ROOM - held, &n, &unread) != TM_OK)
            n = 0;
        text[held + n] = '\0';
        size_t all = held + n, done = n > 0 && all > KEY_MAX ? all - KEY_MAX : n > 0 ? 0 : all;
        ok = scan(out, names, text, done);
        held = all - done;
        memmove(text, text + done, held);
    }
    return ok;
}

/* Sets the communicator to unknown for operations whose name occurs with two communicators. */
static void settle(tm_ascend_groups *groups) {
    operation *v = groups->known.data;
    tm_vec_sort(&groups->known, by_name);
    for (size_t i = 1; i < groups->known.n; i++)
        if (v[i].name == v[i - 1].name && v[i].group != v[i - 1].group)
            v[i].group = v[i - 1].group = TM_NO_NAME;
}

tm_status tm_ascend_groups_read(const char *trace, tm_names *names, tm_ascend_groups *out,
                                tm_error *err) {
    static const char file[] = "communication.json";
    const char *slash = strrchr(trace, '/');
    size_t folder = slash ? (size_t)(slash - trace) + 1 : 0;
    char *path = malloc(folder + sizeof file), *text = malloc(ROOM + 1);
    tm_source *source;
    tm_error unread;
    bool ok = path && text;
    *out = (tm_ascend_groups){.known = TM_VEC(operation)};
    if (ok) {
        memcpy(path, trace, folder);
        memcpy(path + folder, file, sizeof file);
        if (tm_source_open(path, &source, &unread) == TM_OK) {
            ok = read_keys(source, text, names, out);
            tm_source_close(source);
        }
        settle(out);
    }
    free(path);
    free(text);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_ascend_groups_free(tm_ascend_groups *groups) {
    tm_vec_free(&groups->known);
}

uint32_t tm_ascend_groups_find(const tm_ascend_groups *groups, const tm_json_text *name) {
    const operation *v = groups->known.data;
    if (groups->known.n == 0 || name->escaped)
        return TM_NO_NAME;
    uint64_t key = tm_hash_mixed(0, name->bytes, name->size);
    size_t i = TM_FIRST_FROM(operation, name, v, groups->known.n, key);
    return i < groups->known.n && v[i].name == key ? v[i].group : TM_NO_NAME;
}
