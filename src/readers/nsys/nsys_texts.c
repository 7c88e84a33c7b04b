#include "nsys_emit.h"

#include <string.h>

#include "base/utf8.h"

/* A cached name for an id of StringIds. Ids are looked up on demand, because most texts of a file
 * are not names of events. */
typedef struct slot {
    int64_t id;
    uint32_t name; /* TM_NAME_FAILED: free */
    bool call;
} slot;

tm_status tm_nsys_prepare_texts(const tm_db *db, sqlite3_stmt **out, tm_error *err) {
    bool has = false;
    *out = NULL;
    TM_TRY(tm_db_has_table(db, "StringIds", &has, err));
    return has ? tm_db_prepare(db, "SELECT value FROM StringIds WHERE id = ?1", out, err) : TM_OK;
}

static bool is_plain(tm_text text) {
    unsigned char all = 0, zero = 0;
    for (size_t i = 0; i < text.size; i++) {
        all |= (unsigned char)text.bytes[i];
        zero |= text.bytes[i] == '\0';
    }
    return all < 0x80 && !zero;
}

uint32_t tm_nsys_intern(tm_nsys_emitter *e, tm_text text) {
    if (is_plain(text))
        return tm_names_intern(e->names, text.bytes, text.size);
    if (!tm_vec_reserve(&e->scratch, 3 * text.size + 1))
        return TM_NAME_FAILED;
    size_t size = tm_utf8_repair(text.bytes, text.size, e->scratch.data);
    e->trace->counts[TM_COUNT_INVALID_UTF8] +=
        size != text.size || memcmp(text.bytes, e->scratch.data, size) != 0;
    return tm_names_intern(e->names, e->scratch.data, size);
}

static slot *find_slot(const tm_vec *texts, int64_t id, bool call) {
    slot *v = texts->data;
    size_t mask = texts->n - 1;
    size_t at = (size_t)(((uint64_t)id * 2 + call) * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (v[at].name != TM_NAME_FAILED && (v[at].id != id || v[at].call != call))
        at = (at + 1) & mask;
    return &v[at];
}

/* Grows the table if needed, so that at least half of its slots are free. The number of slots is
 * always a power of two. */
static bool grow(tm_nsys_emitter *e) {
    enum { FIRST = 1024 };
    tm_vec larger = TM_VEC(slot);
    const slot *old = e->texts.data;
    size_t n = e->texts.n > 0 ? 2 * e->texts.n : FIRST;
    if (e->texts.n > 0 && 2 * (e->n_texts + 1) <= e->texts.n)
        return true;
    slot *v = tm_vec_append(&larger, NULL, n);
    if (!v)
        return false;
    for (size_t i = 0; i < n; i++)
        v[i] = (slot){.name = TM_NAME_FAILED};
    for (size_t i = 0; i < e->texts.n; i++)
        if (old[i].name != TM_NAME_FAILED)
            *find_slot(&larger, old[i].id, old[i].call) = old[i];
    tm_vec_free(&e->texts);
    e->texts = larger;
    return true;
}

/* Cuts "_v3020" and similar suffixes; "_v2" belongs to the name. */
static tm_text without_version(tm_text text) {
    size_t n = text.size;
    while (n > 0 && text.bytes[n - 1] >= '0' && text.bytes[n - 1] <= '9')
        n--;
    if (text.size - n >= 4 && n > 2 && text.bytes[n - 1] == 'v' && text.bytes[n - 2] == '_')
        text.size = n - 2;
    return text;
}

static tm_status look_up(tm_nsys_emitter *e, int64_t id, bool call, uint32_t *out, tm_error *err) {
    bool row = false;
    *out = TM_NO_NAME;
    if (!e->find_text)
        return TM_OK;
    if (sqlite3_bind_int64(e->find_text, 1, id) != SQLITE_OK)
        return tm_fail_memory(err);
    tm_status status = tm_db_step(e->db, e->find_text, &row, err);
    if (status == TM_OK && row) {
        tm_text text = tm_db_text(sqlite3_column_value(e->find_text, 0));
        *out = tm_nsys_intern(e, call ? without_version(text) : text);
        if (*out == TM_NAME_FAILED)
            status = tm_fail_memory(err);
    }
    /* The return value is ignored, because it is the error of the last step again. */
    (void)sqlite3_reset(e->find_text);
    return status;
}

tm_status tm_nsys_string(tm_nsys_emitter *e, int64_t id, bool call, uint32_t *out, tm_error *err) {
    if (!grow(e))
        return tm_fail_memory(err);
    slot *s = find_slot(&e->texts, id, call);
    if (s->name == TM_NAME_FAILED) {
        uint32_t name;
        TM_TRY(look_up(e, id, call, &name, err));
        *s = (slot){id, name, call};
        e->n_texts++;
    }
    *out = s->name;
    return TM_OK;
}
