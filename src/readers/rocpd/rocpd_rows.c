#include "rocpd_rows.h"

#include <string.h>

static tm_status each_string(void *context, sqlite3_value **values, tm_error *err) {
    tm_rocpd_strings *s = context;
    int64_t id = tm_db_int(values, 0, -1);
    tm_text text = tm_db_text(values[1]);
    tm_rocprof_text kept;
    return tm_rocprof_keep(s->tables, text.bytes, text.size, &kept) &&
                   tm_vec_append(&s->tables->operations, &kept, 1) && tm_vec_append(&s->ids, &id, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

static void set_size(const tm_rocpd_strings *s) {
    ((tm_rocprof_kind *)s->tables->kinds.data)->n = (uint32_t)s->tables->operations.n;
}

tm_status tm_rocpd_read_strings(const tm_db *db, const char *sql, tm_rocprof_tables *tables,
                                tm_rocpd_strings *out, tm_error *err) {
    const tm_rocprof_kind all = {.first = 0};
    *out = (tm_rocpd_strings){.ids = TM_VEC(int64_t), .tables = tables};
    if (!tm_vec_append(&tables->kinds, &all, 1))
        return tm_fail_memory(err);
    TM_TRY(tm_db_select(db, &(tm_db_statement){sql, 2, 0}, each_string, out, err));
    set_size(out);
    return TM_OK;
}

void tm_rocpd_strings_free(tm_rocpd_strings *s) {
    tm_vec_free(&s->ids);
}

int64_t tm_rocpd_add_string(tm_rocpd_strings *s, const char *text) {
    tm_rocprof_text kept;
    if (!tm_rocprof_keep(s->tables, text, strlen(text), &kept) ||
        !tm_vec_append(&s->tables->operations, &kept, 1))
        return -1;
    set_size(s);
    return (int64_t)s->tables->operations.n - 1;
}

int64_t tm_rocpd_string(const tm_rocpd_strings *s, int64_t id) {
    const int64_t *v = s->ids.data;
    size_t low = 0, high = s->ids.n;
    if (high > 0 && id >= v[0] && (uint64_t)id - (uint64_t)v[0] < high &&
        v[id - v[0]] == id) /* the usual case: ids have no gaps */
        return id - v[0];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v[middle] == id)
            return (int64_t)middle;
        if (v[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

tm_rocprof_text *tm_rocpd_text(const tm_rocpd_strings *s, int64_t number) {
    return number < 0 ? NULL : (tm_rocprof_text *)s->tables->operations.data + number;
}

void tm_rocpd_put_name(tm_rocprof_record *record, int64_t number) {
    if (number < 0)
        return;
    tm_rocpd_put(record, R_KIND, 0);
    tm_rocpd_put(record, R_OPERATION, (uint64_t)number);
}

void tm_rocpd_record(const tm_rocpd_strings *strings, const uint8_t *fields, int n,
                     sqlite3_value **values, tm_rocprof_record *out) {
    *out = (tm_rocprof_record){.present = 0};
    for (int i = 0; i < n; i++) {
        int type = sqlite3_value_type(values[i]);
        if (fields[i] >= TM_ROCPD_EXTRA || type == SQLITE_NULL)
            continue;
        if (type != SQLITE_INTEGER)
            out->bad_values++;
        else if (fields[i] == TM_ROCPD_NAME)
            tm_rocpd_put_name(out, tm_rocpd_string(strings, sqlite3_value_int64(values[i])));
        else
            tm_rocpd_put(out, (tm_rocprof_field)fields[i],
                         (uint64_t)sqlite3_value_int64(values[i]));
    }
}

bool tm_rocpd_put_marker(tm_rocprof_tables *t, const tm_rocprof_record *record, const char *text,
                         size_t size) {
    tm_rocprof_entry entry = {.id = record->fields[R_CORRELATION], .registers = -1};
    const tm_rocprof_entry *last = t->markers.entries.data;
    if (t->markers.entries.n > 0) /* the texts of markers come after all other texts */
        t->texts.n = last->text.at;
    t->markers.entries.n = 0;
    t->markers.sorted = true;
    return size == 0 || (tm_rocprof_keep(t, text, size, &entry.text) &&
                         tm_vec_append(&t->markers.entries, &entry, 1));
}
