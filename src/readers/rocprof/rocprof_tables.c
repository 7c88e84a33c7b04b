#include "rocprof_tables.h"

#include <stdlib.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "base/utf8.h"
#include "rocprof_record.h"

enum { MEMBERS = 5 };

/* The members of an item that are read: keys of numbers and keys of texts. */
typedef struct item_def {
    const char *numbers[MEMBERS], *texts[MEMBERS];
    /* key of an object whose members are treated like members of the item itself; NULL: none */
    const char *inside;
} item_def;

/* The members of an item after parsing. Texts point into the window, or into the repaired text. */
typedef struct item {
    const item_def *def;
    uint64_t numbers[MEMBERS];
    bool has[MEMBERS];
    tm_json_text texts[MEMBERS];
    const char *list; /* position of the opening bracket of the item's first array */
    int64_t bytes;    /* sum of size_in_bytes */
} item;

static const item_def metadata_def = {{"pid"}, {"hostname"}, "node"};
static const item_def agent_def = {
    {"type", "logical_node_type_id", "cu_count", "wave_front_size", "handle"},
    {"product_name", "name"},
    "id"};
static const item_def kernel_def = {
    {"kernel_id", "arch_vgpr_count", "accum_vgpr_count"},
    {"formatted_kernel_name", "truncated_kernel_name", "kernel_name"},
    NULL};
static const item_def kind_def = {{NULL}, {"kind"}, NULL};
static const item_def marker_def = {{"key"}, {"value"}, NULL};
static const item_def bank_def = {{"size_in_bytes", "heap_type"}, {NULL}, NULL};

void tm_rocprof_tables_init(tm_rocprof_tables *t) {
    *t = (tm_rocprof_tables){.texts = TM_VEC(char),
                             .agents = TM_VEC(tm_rocprof_agent),
                             .kinds = TM_VEC(tm_rocprof_kind),
                             .operations = TM_VEC(tm_rocprof_text),
                             .pid = -1,
                             .rank = -1,
                             .world_size = -1};
    t->kernels.entries = t->markers.entries = TM_VEC(tm_rocprof_entry);
}

void tm_rocprof_tables_free(tm_rocprof_tables *t) {
    TM_VECS_FREE(&t->texts, &t->agents, &t->kinds, &t->operations, &t->kernels.entries,
                 &t->markers.entries);
}

void tm_rocprof_tables_clear(tm_rocprof_tables *t) {
    tm_rocprof_tables_free(t);
    tm_rocprof_tables_init(t);
}

static int place_of(const char *const *keys, const tm_json_text *key) {
    for (int i = 0; i < MEMBERS && keys[i]; i++)
        if (tm_walk_is(key, keys[i]))
            return i;
    return -1;
}

static const char *read_object(tm_json_cursor *cursor, const char *p, bool outer, item *out);

/* Sums a GPU's own memory: its public and private frame buffer heaps. */
static const char *read_banks(tm_json_cursor *cursor, const char *p, item *out) {
    enum { FRAME_BUFFER_PUBLIC = 1, FRAME_BUFFER_PRIVATE = 2 };
    for (p = tm_json_space(p + 1); p && *p == '{';) {
        item bank = {.def = &bank_def};
        p = read_object(cursor, p, false, &bank);
        if (p && bank.has[0] && bank.numbers[0] < INT64_C(1) << 50 && bank.has[1] &&
            (bank.numbers[1] == FRAME_BUFFER_PUBLIC || bank.numbers[1] == FRAME_BUFFER_PRIVATE))
            out->bytes += (int64_t)bank.numbers[0];
        p = p ? tm_json_space(p) : NULL;
        if (p && *p == ',')
            p = tm_json_space(p + 1);
    }
    return p;
}

static const char *read_member(tm_json_cursor *cursor, const char *p, const tm_json_text *key,
                               bool outer, item *out) {
    int number = place_of(out->def->numbers, key), text = place_of(out->def->texts, key);
    if (number >= 0)
        return tm_rocprof_number(cursor, p, &out->numbers[number], &out->has[number]);
    if (text >= 0 && *p == '"')
        return tm_json_string(cursor, p + 1, &out->texts[text]);
    if (outer && out->def->inside && *p == '{' && tm_walk_is(key, out->def->inside))
        return read_object(cursor, p, false, out);
    const char *start = p;
    p = tm_json_skip_value(cursor, p);
    if (p && outer && *start == '[' && tm_walk_is(key, "mem_banks"))
        (void)read_banks(cursor, start, out);
    if (p && outer && *start == '[' && tm_walk_is(key, "operations"))
        out->list = start;
    return p;
}

static const char *read_object(tm_json_cursor *cursor, const char *p, bool outer, item *out) {
    bool more = true;
    tm_json_text key;
    p++;
    for (bool first = true;; first = false) {
        p = tm_json_member(cursor, p, first, &key, &more);
        if (!p || !more)
            return p;
        p = read_member(cursor, p, &key, outer, out);
        if (!p)
            return NULL;
    }
}

static const char *parse_item(void *context, tm_json_cursor *cursor, const char *p) {
    item *out = context;
    *out = (item){.def = out->def};
    return *p == '{' ? read_object(cursor, p, true, out) : tm_json_skip_value(cursor, p);
}

static int64_t number(const item *from, int i) {
    return from->has[i] && from->numbers[i] <= INT64_MAX ? (int64_t)from->numbers[i] : -1;
}

bool tm_rocprof_keep(tm_rocprof_tables *t, const char *bytes, size_t size, tm_rocprof_text *out) {
    *out = (tm_rocprof_text){.at = (uint32_t)t->texts.n};
    if (size > UINT32_MAX / 4 || t->texts.n + 3 * size >= UINT32_MAX ||
        !tm_vec_reserve(&t->texts, t->texts.n + 3 * size + 1))
        return false;
    out->size = (uint32_t)tm_utf8_repair(bytes, size, (char *)t->texts.data + t->texts.n);
    t->texts.n += out->size;
    return true;
}

/* Keeps the first nonempty text of an item. */
static bool keep_text(tm_rocprof_tables *t, const item *from, tm_rocprof_text *out) {
    int i = 0;
    while (i < MEMBERS && from->texts[i].size == 0)
        i++;
    *out = (tm_rocprof_text){.at = (uint32_t)t->texts.n};
    if (i == MEMBERS)
        return true;
    const tm_json_text *text = &from->texts[i];
    if (t->texts.n + text->size > UINT32_MAX || !tm_vec_append(&t->texts, NULL, text->size))
        return false;
    char *bytes = (char *)t->texts.data + out->at;
    out->size = (uint32_t)text->size;
    if (text->escaped)
        out->size = (uint32_t)tm_json_decode(text, bytes);
    else
        memcpy(bytes, text->bytes, text->size);
    return true;
}

tm_status tm_rocprof_read_metadata(tm_rocprof_tables *t, tm_walk *walk, tm_error *err) {
    item found = {.def = &metadata_def};
    TM_TRY(tm_walk_item(walk, parse_item, &found, err));
    t->pid = number(&found, 0);
    return keep_text(t, &found, &t->host) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_rocprof_read_agent(tm_rocprof_tables *t, tm_walk *walk, tm_error *err) {
    enum { TYPE, DEVICE, UNITS, WAVE, HANDLE };
    enum { GPU = 2 };
    item found = {.def = &agent_def};
    TM_TRY(tm_walk_item(walk, parse_item, &found, err));
    tm_rocprof_agent agent = {.handle = found.numbers[HANDLE],
                              .gpu = found.has[TYPE] && found.numbers[TYPE] == GPU,
                              .device = -1,
                              .units = number(&found, UNITS),
                              .wave = number(&found, WAVE),
                              .bytes = found.bytes > 0 ? found.bytes : -1};
    if (!found.has[HANDLE])
        return TM_OK;
    if (agent.gpu)
        agent.device = number(&found, DEVICE);
    return keep_text(t, &found, &agent.name) && tm_vec_append(&t->agents, &agent, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status add_entry(tm_rocprof_tables *t, tm_rocprof_table *table, const item *from,
                           int64_t registers, tm_error *err) {
    tm_rocprof_entry entry = {.id = from->numbers[0], .registers = tm_narrow_i32(registers)};
    if (!from->has[0])
        return TM_OK;
    table->sorted = false;
    return keep_text(t, from, &entry.text) && tm_vec_append(&table->entries, &entry, 1)
               ? TM_OK
               : tm_fail_memory(err);
}

tm_status tm_rocprof_read_kernel(tm_rocprof_tables *t, tm_walk *walk, tm_error *err) {
    enum { VGPRS = 1, ACCUMULATION };
    item found = {.def = &kernel_def};
    TM_TRY(tm_walk_item(walk, parse_item, &found, err));
    int64_t vgprs = number(&found, VGPRS), more = number(&found, ACCUMULATION);
    vgprs = vgprs < 0 || vgprs > INT32_MAX ? -1 : vgprs;
    return add_entry(t, &t->kernels, &found,
                     vgprs > 0 && more > 0 && more < INT32_MAX ? vgprs + more : vgprs, err);
}

tm_status tm_rocprof_read_marker(tm_rocprof_tables *t, tm_walk *walk, tm_error *err) {
    item found = {.def = &marker_def};
    TM_TRY(tm_walk_item(walk, parse_item, &found, err));
    return add_entry(t, &t->markers, &found, -1, err);
}

/* Adds the texts of an array that was already parsed once. A value that is not a text becomes an
 * empty text. */
static bool add_operations(tm_rocprof_tables *t, const char *p, tm_rocprof_kind *kind) {
    tm_json_cursor cursor = {.end = p}; /* this cannot fail, because the array was parsed before */
    p = tm_json_space(p + 1);
    while (p && *p != ']') {
        item one = {.def = NULL};
        tm_rocprof_text text;
        p = *p == '"' ? tm_json_string(&cursor, p + 1, &one.texts[0])
                      : tm_json_skip_value(&cursor, p);
        if (!keep_text(t, &one, &text) || !tm_vec_append(&t->operations, &text, 1))
            return false;
        kind->n++;
        p = p ? tm_json_space(p) : NULL;
        if (p && *p == ',')
            p = tm_json_space(p + 1);
    }
    return true;
}

tm_status tm_rocprof_read_kind(tm_rocprof_tables *t, tm_walk *walk, tm_error *err) {
    item found = {.def = &kind_def};
    TM_TRY(tm_walk_item(walk, parse_item, &found, err));
    tm_rocprof_kind kind = {.first = (uint32_t)t->operations.n};
    bool ok = keep_text(t, &found, &kind.name);
    if (ok && found.list)
        ok = add_operations(t, found.list, &kind);
    return ok && tm_vec_append(&t->kinds, &kind, 1) ? TM_OK : tm_fail_memory(err);
}

const tm_rocprof_agent *tm_rocprof_agent_of(const tm_rocprof_tables *t, uint64_t handle) {
    const tm_rocprof_agent *v = t->agents.data;
    for (size_t i = 0; i < t->agents.n; i++)
        if (v[i].handle == handle)
            return &v[i];
    return NULL;
}

TM_ORDER_BY(by_id, tm_rocprof_entry, id, text.at);

/* First tries the index (id - lowest id), because ids usually increase without gaps. */
tm_rocprof_entry *tm_rocprof_find(tm_rocprof_table *table, uint64_t id) {
    tm_rocprof_entry *v = table->entries.data;
    size_t n = table->entries.n;
    if (!table->sorted && n > 1)
        qsort(v, n, sizeof *v, by_id);
    table->sorted = true;
    if (n > 0 && id - v->id < n && v[id - v->id].id == id)
        return &v[id - v->id];
    for (size_t low = 0; n > low;) {
        size_t middle = low + (n - low) / 2;
        if (v[middle].id == id)
            return &v[middle];
        if (v[middle].id < id)
            low = middle + 1;
        else
            n = middle;
    }
    return NULL;
}

tm_rocprof_kind *tm_rocprof_kind_of(const tm_rocprof_tables *t, int64_t kind) {
    bool known = kind >= 0 && (uint64_t)kind < t->kinds.n;
    return known ? (tm_rocprof_kind *)t->kinds.data + kind : NULL;
}

tm_rocprof_text *tm_rocprof_operation_of(const tm_rocprof_tables *t, int64_t kind,
                                         int64_t operation) {
    const tm_rocprof_kind *k = tm_rocprof_kind_of(t, kind);
    bool known = k && operation >= 0 && operation < k->n;
    return known ? (tm_rocprof_text *)t->operations.data + k->first + operation : NULL;
}

bool tm_rocprof_holds(const tm_rocprof_tables *t, const tm_rocprof_text *text, const char *word) {
    return text && tm_holds((const char *)t->texts.data + text->at, text->size, word);
}

bool tm_rocprof_is(const tm_rocprof_tables *t, const tm_rocprof_text *text, const char *word) {
    return text && text->size == strlen(word) && tm_rocprof_begins(t, text, word);
}

bool tm_rocprof_begins(const tm_rocprof_tables *t, const tm_rocprof_text *text, const char *word) {
    return text && tm_begins_with((const char *)t->texts.data + text->at, text->size, word);
}

uint32_t tm_rocprof_name(const tm_rocprof_tables *t, tm_rocprof_text *text, tm_names *names) {
    if (!text || text->size == 0)
        return TM_NO_NAME;
    if (text->name == TM_NO_NAME)
        text->name = tm_names_intern(names, (const char *)t->texts.data + text->at, text->size);
    return text->name;
}
