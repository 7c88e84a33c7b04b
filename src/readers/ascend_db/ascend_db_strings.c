#include "ascend_db_strings.h"

#include "base/sorted.h"
#include "tmerge/timeline.h"

typedef struct string {
    int64_t id;
    size_t at;     /* offset in texts */
    uint32_t size; /* bytes */
    uint32_t name; /* TM_NO_NAME until the text is requested */
} string;

void tm_ascend_db_strings_init(tm_ascend_db_strings *s, tm_names *names) {
    *s = (tm_ascend_db_strings){.texts = TM_VEC(char), .ids = TM_VEC(string), .names = names};
}

void tm_ascend_db_strings_free(tm_ascend_db_strings *s) {
    tm_vec_free(&s->texts);
    tm_vec_free(&s->ids);
}

static tm_status each_string(void *context, sqlite3_value **values, tm_error *err) {
    tm_ascend_db_strings *s = context;
    tm_text text = tm_db_text(values[1]);
    const string added = {tm_db_int(values, 0, -1), s->texts.n, (uint32_t)text.size, TM_NO_NAME};
    bool ok = tm_vec_append(&s->ids, &added, 1) &&
              (text.size == 0 || tm_vec_append(&s->texts, text.bytes, text.size));
    return ok ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_BY(by_id, string, id, at, size);

tm_status tm_ascend_db_strings_read(tm_ascend_db_strings *s, const tm_db *db, tm_error *err) {
    static const char *const columns[] = {"id", "value"};
    const tm_db_query query = {.table = "STRING_IDS", .columns = columns, .n_columns = 2};
    TM_TRY(tm_db_scan(db, &query, 0, each_string, s, err));
    tm_sort(s->ids.data, s->ids.n, sizeof(string), by_id);
    return TM_OK;
}

static string *find(const tm_ascend_db_strings *s, int64_t id) {
    string *v = s->ids.data;
    size_t i = TM_FIRST_FROM(string, id, v, s->ids.n, id);
    return id >= 0 && i < s->ids.n && v[i].id == id ? &v[i] : NULL;
}

tm_json_text tm_ascend_db_text(const tm_ascend_db_strings *s, int64_t id) {
    const string *found = find(s, id);
    if (!found || found->size == 0)
        return (tm_json_text){.bytes = ""};
    return (tm_json_text){.bytes = (const char *)s->texts.data + found->at, .size = found->size};
}

uint32_t tm_ascend_db_name(tm_ascend_db_strings *s, int64_t id) {
    string *found = find(s, id);
    if (!found)
        return TM_NO_NAME;
    if (found->name == TM_NO_NAME && found->size > 0)
        found->name =
            tm_names_intern(s->names, (const char *)s->texts.data + found->at, found->size);
    return found->name;
}
