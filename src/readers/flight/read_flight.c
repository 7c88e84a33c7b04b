/* Converts the values of a dump to its groups and calls. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/letters.h"
#include "readers/json_values.h"
#include "tmerge/flight.h"

/* Keys of an entry. Before version 2.1 the sequence number was called seq_id. */
#define FIELDS(X)                                                                                  \
    X(RECORD, "record_id")                                                                         \
    X(GROUP, "process_group")                                                                      \
    X(SEQ, "collective_seq_id")                                                                    \
    X(P2P_SEQ, "p2p_seq_id")                                                                       \
    X(OLD_SEQ, "seq_id")                                                                           \
    X(IS_P2P, "is_p2p")                                                                            \
    X(NAME, "profiling_name")                                                                      \
    X(RETIRED, "retired")                                                                          \
    X(STATE, "state")                                                                              \
    X(CREATED, "time_created_ns")                                                                  \
    X(STARTED, "time_discovered_started_ns")                                                       \
    X(COMPLETED, "time_discovered_completed_ns")                                                   \
    X(TIMEOUT, "timeout_ms")                                                                       \
    X(INPUTS, "input_sizes")                                                                       \
    X(INPUT_TYPES, "input_dtypes")                                                                 \
    X(OUTPUTS, "output_sizes")                                                                     \
    X(OUTPUT_TYPES, "output_dtypes")                                                               \
    X(FRAMES, "frames")

#define FIELD_ENUM(id, word) F_##id,
enum { FIELDS(FIELD_ENUM) N_FIELDS };

/* Positions of the fields among the members of an entry. Most entries of a dump have the same keys
 * in the same order. */
typedef struct layout {
    tm_vec keys; /* vector of uint32_t: ids of the keys' texts; TM_NAME_FAILED: the key is not a
                    text */
    size_t at[N_FIELDS]; /* index of the field's value among the entry's members; 0: none */
} layout;

typedef struct entry {
    const tm_pickle_value *members;
    const size_t *at; /* layout.at */
} entry;

/* The longest text so far that is a list of ranks, and its ranks. Kept for the next dumps: they all
 * list the job's ranks. */
typedef struct long_list {
    tm_vec text, ranks; /* vectors of char and of int64_t */
    uint64_t hash;      /* hash of the ranks */
} long_list;

/* Cached facts about a text. */
typedef struct known_text {
    uint64_t hash; /* 0: not computed */
    /* 1 + the field whose key is this text; 0 if there is none; UNKNOWN if it was not looked up
     * yet */
    uint8_t field;
} known_text;

/* A parsed profiling_name. All entries with this name share it. */
typedef struct op_name {
    uint32_t text, backend, op; /* text ids */
    uint64_t hash;              /* hash of `op` */
    /* whether ranks must agree on the operation's input tensors, and on its output tensors */
    bool inputs, outputs;
    bool is_p2p, gathers; /* `gathers` is set for an all_gather */
    bool ends_batch;      /* the name is like "coalesced" or "ALLGATHER_coalesced" */
} op_name;

struct tm_flight {
    tm_pickle values;
    tm_vec groups, ranks; /* vectors of tm_flight_group and of int64_t */
    tm_vec calls;         /* vector of tm_flight_call */
    tm_vec texts;         /* vector of known_text, by the text's id */
    layout layout;        /* layout of the entry that was read last */
    long_list list;
    tm_vec ops; /* vector of op_name */
    int64_t rank, left_out;
    const char *version;
    bool cut;
};

enum { UNKNOWN = 255 };

tm_flight *tm_flight_create(void) {
    tm_flight *f = malloc(sizeof *f);
    if (f)
        *f = (tm_flight){.values = TM_PICKLE,
                         .groups = TM_VEC(tm_flight_group),
                         .ranks = TM_VEC(int64_t),
                         .calls = TM_VEC(tm_flight_call),
                         .texts = TM_VEC(known_text),
                         .layout.keys = TM_VEC(uint32_t),
                         .list = {.text = TM_VEC(char), .ranks = TM_VEC(int64_t)},
                         .ops = TM_VEC(op_name)};
    return f;
}

static void forget(tm_flight *f) {
    f->cut = false;
    f->groups.n = f->ranks.n = f->calls.n = f->texts.n = f->ops.n = 0;
    f->layout = (layout){.keys = f->layout.keys};
    f->layout.keys.n = 0;
    f->rank = -1;
    f->left_out = 0;
    f->version = "";
}

void tm_flight_destroy(tm_flight *f) {
    if (!f)
        return;
    tm_pickle_free(&f->values);
    TM_VECS_FREE(&f->groups, &f->ranks, &f->calls, &f->texts, &f->layout.keys, &f->list.text,
                 &f->list.ranks, &f->ops);
    free(f);
}

static tm_text whole_text_of(const tm_flight *f, const tm_pickle_value *value) {
    return tm_names_text(f->values.texts,
                         value && value->type == TM_PICKLE_TEXT ? value->as.id : TM_NO_NAME);
}

static const char *text_of(const tm_flight *f, const tm_pickle_value *value) {
    return whole_text_of(f, value).bytes;
}

/* Reads an integer, or a text that is an integer. */
static int64_t number_of(const tm_flight *f, const tm_pickle_value *value, int64_t missing) {
    if (!value || value->type == TM_PICKLE_INT)
        return value ? value->as.i : missing;
    const char *text = text_of(f, value);
    char *end;
    const long long number = strtoll(text, &end, 10);
    return *text && !*end ? number : missing;
}

/* Returns what is known of a text, valid until the next call; NULL if out of memory. */
static known_text *known_of(tm_flight *f, uint32_t text) {
    if (text >= f->texts.n) {
        const size_t n = f->texts.n, more = tm_names_count(f->values.texts) - n;
        known_text *fresh = tm_vec_append(&f->texts, NULL, more);
        for (size_t i = 0; fresh && i < more; i++)
            fresh[i] = (known_text){.field = UNKNOWN};
        if (!fresh)
            return NULL;
    }
    return (known_text *)f->texts.data + text;
}

/* Returns the field whose key is this text, or -1 if there is none. Each text is looked up only
 * once. */
static int field_of(tm_flight *f, uint32_t text) {
#define FIELD_WORD(id, word) word,
    static const char *const words[] = {FIELDS(FIELD_WORD)};
    known_text *known = known_of(f, text);
    if (known && known->field == UNKNOWN) {
        known->field = 0;
        for (int i = 0; i < N_FIELDS; i++)
            if (strcmp(tm_names_text(f->values.texts, text).bytes, words[i]) == 0)
                known->field = (uint8_t)(i + 1);
    }
    return known ? known->field - 1 : -1;
}

static uint32_t key_of(const tm_pickle_value *key) {
    return key->type == TM_PICKLE_TEXT ? key->as.id : TM_NAME_FAILED;
}

static bool has_layout(const layout *l, const tm_pickle_value *members, size_t n) {
    const uint32_t *keys = l->keys.data;
    size_t i = 0;
    if (2 * l->keys.n != n)
        return false;
    while (i < l->keys.n && key_of(&members[2 * i]) == keys[i])
        i++;
    return i == l->keys.n;
}

/* Learns the layout from an entry. If a key is repeated, its last value is used. */
static bool learn_layout(tm_flight *f, const tm_pickle_value *members, size_t n) {
    layout *l = &f->layout;
    *l = (layout){.keys = l->keys};
    l->keys.n = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        const uint32_t key = key_of(&members[i]);
        const int which = key != TM_NAME_FAILED ? field_of(f, key) : -1;
        if (which >= 0)
            l->at[which] = i + 1;
        if (!tm_vec_append(&l->keys, &key, 1))
            return false;
    }
    return true;
}

/* Finds where the fields of an entry are. Returns false if out of memory. */
static bool take_entry(tm_flight *f, const tm_pickle_value *value, entry *out) {
    size_t n;
    out->members = tm_pickle_members(&f->values, value, &n);
    out->at = f->layout.at;
    return has_layout(&f->layout, out->members, n) || learn_layout(f, out->members, n);
}

static const tm_pickle_value *field(const entry *e, int which) {
    return e->at[which] > 0 ? &e->members[e->at[which]] : NULL;
}

/* Appends all numbers that a text contains. */
static bool parse_ranks(const char *p, tm_vec *out) {
    while (*p) {
        int64_t rank = 0;
        if (*p < '0' || *p > '9') {
            p++;
            continue;
        }
        for (; *p >= '0' && *p <= '9'; p++)
            rank = rank < INT32_MAX ? 10 * rank + (*p - '0') : rank;
        if (!tm_vec_append(out, &rank, 1))
            return false;
    }
    return true;
}

static uint64_t hash_ranks(const tm_vec *ranks, size_t first) {
    uint64_t hash = 0;
    for (size_t i = first; i < ranks->n; i++)
        hash = tm_hash_words(hash, (const uint64_t *)ranks->data + i, 1);
    return hash;
}

static bool take_text(tm_flight *f, tm_text text, uint64_t *hash) {
    long_list *l = &f->list;
    const size_t first = f->ranks.n;
    if (text.size == l->text.n && text.size > 0 &&
        memcmp(text.bytes, l->text.data, text.size) == 0) {
        *hash = l->hash;
        return tm_vec_append(&f->ranks, l->ranks.data, l->ranks.n);
    }
    if (!parse_ranks(text.bytes, &f->ranks))
        return false;
    *hash = hash_ranks(&f->ranks, first);
    const size_t n = f->ranks.n - first;
    if (n == 0 || text.size <= l->text.n)
        return true;
    l->text.n = l->ranks.n = 0;
    l->hash = *hash;
    return tm_vec_append(&l->ranks, (const int64_t *)f->ranks.data + first, n) &&
           tm_vec_append(&l->text, text.bytes, text.size);
}

/* Appends the ranks of a list, or of a text that is a list. */
static bool take_ranks(tm_flight *f, const tm_pickle_value *value, uint64_t *hash) {
    size_t n;
    const size_t first = f->ranks.n;
    if (value && value->type == TM_PICKLE_TEXT)
        return take_text(f, whole_text_of(f, value), hash);
    const tm_pickle_value *items = tm_pickle_items(&f->values, value, &n);
    for (size_t i = 0; i < n; i++)
        if (items[i].type == TM_PICKLE_INT && !tm_vec_append(&f->ranks, &items[i].as.i, 1))
            return false;
    *hash = hash_ranks(&f->ranks, first);
    return true;
}

/* Groups are identified by name and ranks, because all parts of a split communicator have the same
 * name. Damaged names may contain zero bytes. */
static bool add_group(tm_flight *f, tm_text name, const char *desc, const tm_pickle_value *ranks) {
    tm_flight_group g = {.name = name.bytes, .desc = strcmp(desc, "undefined") == 0 ? "" : desc};
    const size_t first = f->ranks.n;
    uint64_t hash;
    if (!take_ranks(f, ranks, &hash))
        return false;
    g.n_ranks = f->ranks.n - first;
    g.key = tm_hash_words(tm_hash_mixed(1, name.bytes, name.size), &hash, 1);
    return tm_vec_append(&f->groups, &g, 1) != NULL;
}

static bool take_groups(tm_flight *f, const tm_pickle_value *config) {
    size_t n;
    const tm_pickle_value *v = tm_pickle_members(&f->values, config, &n);
    for (size_t i = 0; i + 1 < n; i += 2) {
        const tm_pickle_value *ranks = tm_pickle_get(&f->values, &v[i + 1], "ranks");
        if (!add_group(f, whole_text_of(f, &v[i]), tm_pickle_text(&f->values, &v[i + 1], "desc"),
                       ranks ? ranks : &v[i + 1]))
            return false;
    }
    return true;
}

/* Sets the groups' pointers into `ranks`, to which nothing is added any more. */
static void point_at_ranks(tm_flight *f) {
    tm_flight_group *g = f->groups.data;
    size_t at = 0;
    for (size_t i = 0; i < f->groups.n; i++) {
        g[i].ranks = g[i].n_ranks > 0 ? (const int64_t *)f->ranks.data + at : NULL;
        at += g[i].n_ranks;
    }
}

/* Finds the group of an entry, which the entry gives as (name, description) or only as a name. A
 * group that the dump does not list is added without ranks. */
static bool find_group(tm_flight *f, const entry *e, size_t *out) {
    size_t n;
    const tm_pickle_value *value = field(e, F_GROUP);
    const tm_pickle_value *v = tm_pickle_items(&f->values, value, &n);
    const tm_text name = whole_text_of(f, n > 0 ? &v[0] : value);
    const tm_flight_group *g = f->groups.data;
    for (*out = 0; *out < f->groups.n; ++*out)
        if (g[*out].name == name.bytes) /* equal texts have equal pointers */
            return true;
    return add_group(f, name, n > 1 ? text_of(f, &v[1]) : "", NULL);
}

static bool is_p2p_op(const char *op) {
    return strncmp(op, "send", 4) == 0 || strncmp(op, "recv", 4) == 0;
}

/* Sets whether ranks must agree on an operation's input tensors, and on its output tensors. */
static void agreed_parts(const char *op, bool *inputs, bool *outputs) {
    const bool any = strstr(op, "all_to_all") || strstr(op, "alltoall") ||
                     tm_ends_with(op, strlen(op), "_v") || strstr(op, "coalesced") ||
                     strstr(op, "barrier");
    *inputs = !any && strncmp(op, "scatter", 7) != 0;
    *outputs = !any && strncmp(op, "gather", 6) != 0;
}

/* Parses a name such as "nccl:all_reduce". The backend is the part before the last colon; it may
 * contain colons itself. */
static const op_name *find_op(tm_flight *f, uint32_t text) {
    const op_name *known = f->ops.data;
    for (size_t i = f->ops.n; i-- > 0;)
        if (known[i].text == text)
            return &known[i];
    const char *whole = tm_names_text(f->values.texts, text).bytes;
    const char *colon = strrchr(whole, ':');
    op_name made = {
        .text = text,
        .backend = tm_names_intern(f->values.texts, whole, colon ? (size_t)(colon - whole) : 0),
        .op = tm_names_intern_string(f->values.texts, colon ? colon + 1 : whole)};
    if (made.backend == TM_NAME_FAILED || made.op == TM_NAME_FAILED)
        return NULL;
    const char *op = tm_names_text(f->values.texts, made.op).bytes;
    made.is_p2p = is_p2p_op(op);
    made.hash = made.is_p2p ? 7 : tm_hash_mixed(7, op, strlen(op));
    made.gathers = strcmp(op, "all_gather") == 0 || strcmp(op, "_all_gather_base") == 0;
    made.ends_batch = tm_ends_with(op, strlen(op), "coalesced");
    agreed_parts(op, &made.inputs, &made.outputs);
    return tm_vec_append(&f->ops, &made, 1);
}

/* Hashes the number of elements of each tensor, which is what libraries compare. Sizes are a list
 * of lists of numbers. */
static uint64_t hash_sizes(const tm_flight *f, const tm_pickle_value *sizes, uint64_t hash) {
    size_t n, n_dims;
    const tm_pickle_value *v = tm_pickle_items(&f->values, sizes, &n);
    for (size_t i = 0; i < n; i++) {
        const tm_pickle_value *dims = tm_pickle_items(&f->values, &v[i], &n_dims);
        uint64_t elements = 1;
        for (size_t k = 0; k < n_dims; k++)
            elements *= (uint64_t)(dims[k].type == TM_PICKLE_INT ? dims[k].as.i : 0);
        hash = (hash ^ elements) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Hashes the types: a list of texts, or one text. Returns false if out of memory. */
static bool hash_types(tm_flight *f, const tm_pickle_value *types, uint64_t *hash) {
    size_t n;
    const tm_pickle_value *v = tm_pickle_items(&f->values, types, &n);
    if (n == 0 && types && types->type == TM_PICKLE_TEXT) {
        v = types;
        n = 1;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t text = v[i].type == TM_PICKLE_TEXT ? v[i].as.id : TM_NO_NAME;
        known_text *known = known_of(f, text);
        if (!known)
            return false;
        if (known->hash == 0) {
            const tm_text t = tm_names_text(f->values.texts, text);
            known->hash = tm_hash_mixed(0, t.bytes, t.size);
        }
        *hash = tm_hash_words(*hash, &known->hash, 1);
    }
    return true;
}

/* Computes the form of a call: a hash of the operation and the tensors on which ranks must agree.
 * Returns false if out of memory. */
static bool form_of(tm_flight *f, const entry *e, const op_name *op, uint64_t *out) {
    uint64_t hash = op->hash;
    bool ok = true;
    if (op->inputs) {
        hash = hash_sizes(f, field(e, F_INPUTS), hash);
        ok = hash_types(f, field(e, F_INPUT_TYPES), &hash);
    }
    if (op->outputs && ok) {
        hash = hash_sizes(f, field(e, F_OUTPUTS), hash + 1);
        ok = hash_types(f, field(e, F_OUTPUT_TYPES), &hash);
    }
    *out = hash | 2; /* the values 0 and 1 have other meanings */
    return ok;
}

/* Returns the number of elements of all tensors; 0 if unknown. */
static int64_t elements_of(const tm_flight *f, const tm_pickle_value *sizes) {
    size_t n, n_dims;
    int64_t sum = 0;
    const tm_pickle_value *v = tm_pickle_items(&f->values, sizes, &n);
    for (size_t i = 0; i < n; i++) {
        const tm_pickle_value *dims = tm_pickle_items(&f->values, &v[i], &n_dims);
        int64_t elements = 1;
        for (size_t k = 0; k < n_dims && elements < INT32_MAX; k++)
            elements *=
                dims[k].type == TM_PICKLE_INT && dims[k].as.i >= 0 && dims[k].as.i < INT32_MAX
                    ? dims[k].as.i
                    : 0;
        sum += elements < INT32_MAX ? elements : 0;
    }
    return sum;
}

/* Returns the number of ranks in the group of an all_gather, or 0 if it is unknown. This is the
 * output's size divided by the input's size. Gloo's recorder says nothing else about a group's
 * members. */
static int64_t size_of_group(const tm_flight *f, const entry *e, const op_name *op) {
    if (!op->gathers)
        return 0;
    const int64_t in = elements_of(f, field(e, F_INPUTS)),
                  out = elements_of(f, field(e, F_OUTPUTS));
    return in > 0 && out % in == 0 ? out / in : 0;
}

static tm_flight_state state_of(const tm_flight *f, const entry *e, const tm_flight_call *c) {
    const char *state = text_of(f, field(e, F_STATE));
    return strcmp(state, "completed") == 0 || c->completed_ns > 0 ? TM_FLIGHT_COMPLETED
           : strcmp(state, "started") == 0                        ? TM_FLIGHT_STARTED
                                                                  : TM_FLIGHT_SCHEDULED;
}

static int64_t time_of(const tm_flight *f, const entry *e, int which) {
    const int64_t ns = number_of(f, field(e, which), 0);
    return ns > 0 ? ns : 0;
}

static void take_times(const tm_flight *f, const entry *e, tm_flight_call *c) {
    const int64_t timeout_ms = time_of(f, e, F_TIMEOUT);
    c->created_ns = time_of(f, e, F_CREATED);
    c->started_ns = time_of(f, e, F_STARTED);
    c->completed_ns = time_of(f, e, F_COMPLETED);
    c->timeout_ns = timeout_ms < INT64_MAX / 1000000 ? timeout_ms * 1000000 : 0;
}

/* Sends and receives have sequence numbers of their own, except in dumps that number all operations
 * together. */
static int64_t seq_of(const tm_flight *f, const entry *e, bool is_p2p) {
    const int64_t old = number_of(f, field(e, F_OLD_SEQ), -1);
    return number_of(f, field(e, is_p2p ? F_P2P_SEQ : F_SEQ), old);
}

/* Adds a call; an incomplete entry is only counted. Returns false if out of memory. */
static bool add_call(tm_flight *f, const tm_pickle_value *value) {
    entry e;
    tm_flight_call c = {.record = (int64_t)f->calls.n};
    if (!take_entry(f, value, &e))
        return false;
    const tm_pickle_value *name = field(&e, F_NAME);
    if (!name || name->type != TM_PICKLE_TEXT || !field(&e, F_GROUP) || !field(&e, F_STATE)) {
        f->left_out++;
        return true;
    }
    const op_name *op = find_op(f, name->as.id);
    if (!op || !find_group(f, &e, &c.group))
        return false;
    const tm_pickle_value *p2p = field(&e, F_IS_P2P);
    c.backend = tm_names_text(f->values.texts, op->backend).bytes;
    c.op = tm_names_text(f->values.texts, op->op).bytes;
    c.is_p2p = p2p && p2p->type == TM_PICKLE_BOOL ? p2p->as.i != 0 : op->is_p2p;
    c.seq = seq_of(f, &e, c.is_p2p);
    c.other_seq = number_of(f, field(&e, c.is_p2p ? F_SEQ : F_P2P_SEQ), -1);
    c.ends_batch = op->ends_batch;
    c.record = number_of(f, field(&e, F_RECORD), c.record);
    if (c.seq < 0) {
        f->left_out++;
        return true;
    }
    take_times(f, &e, &c);
    c.state = state_of(f, &e, &c);
    c.group_size = size_of_group(f, &e, op);
    c.is_retired = field(&e, F_RETIRED) && field(&e, F_RETIRED)->as.i != 0 &&
                   field(&e, F_RETIRED)->type == TM_PICKLE_BOOL;
    c.values = value->as.id;
    return form_of(f, &e, op, &c.form) && tm_vec_append(&f->calls, &c, 1);
}

/* Sets the state of the members of a batch. The library runs a batch as one operation, so recorders
 * register its end only in an entry that follows the members and has the same numbers. */
static void settle_batches(tm_flight *f) {
    tm_flight_call *v = f->calls.data;
    for (size_t i = 0; i < f->calls.n; i++) {
        const tm_flight_call *end = &v[i];
        for (size_t k = i; end->ends_batch && k-- > 0;) {
            if (v[k].group != end->group)
                continue;
            if (v[k].ends_batch || v[k].is_p2p != end->is_p2p || v[k].seq != end->seq ||
                v[k].other_seq != end->other_seq)
                break;
            v[k].state = end->state > v[k].state ? end->state : v[k].state;
            v[k].is_retired = v[k].is_retired || end->is_retired;
        }
    }
}

static tm_status take_dump(tm_flight *f, tm_source *source, tm_error *err) {
    size_t n;
    const tm_pickle_value *root = &f->values.root;
    const tm_pickle_value *entries = tm_pickle_get(&f->values, root, "entries");
    const tm_pickle_value *config = tm_pickle_get(&f->values, root, "pg_config");
    f->version = tm_pickle_text(&f->values, root, "version");
    f->rank = number_of(f, tm_pickle_get(&f->values, root, "rank"), -1);
    const bool reported = *f->version && (config || entries);
    if (root->type == TM_PICKLE_DICT && !reported && !f->cut)
        return tm_fail(
            err, TM_ERR_INPUT, tm_source_path(source), -1,
            "not a flight recorder dump: it lacks a version, or it has neither entries nor groups");
    if (root->type != TM_PICKLE_DICT)
        return tm_fail(
            err, TM_ERR_INPUT, tm_source_path(source), -1,
            "not a flight recorder dump, which would be a dict with version and entries");
    const tm_pickle_value *v = tm_pickle_items(&f->values, entries, &n);
    bool ok = take_groups(f, config);
    n -= f->cut && n > 0; /* the last entry of a truncated dump may be incomplete */
    for (size_t i = 0; i < n && ok; i++)
        ok = add_call(f, &v[i]);
    settle_batches(f);
    point_at_ranks(f);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_flight_guess tm_flight_is_dump(const char *head, size_t size) {
    static const char *const words[] = {"\"comm_lib_version\"", "\"process_group\"",
                                        "\"profiling_name\""};
    size_t first = 0;
    while (first < size && isspace((unsigned char)head[first]))
        first++;
    if (first == size || head[first] == '{') {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (tm_holds(head, size, words[w]))
                return TM_FLIGHT_YES;
        return TM_FLIGHT_MAYBE;
    }
    return (unsigned char)head[first] == 0x80 ? TM_FLIGHT_YES : TM_FLIGHT_NO;
}

tm_status tm_flight_read(tm_flight *f, tm_source *source, tm_error *err) {
    enum { HEAD = 64 };
    char head[HEAD + 1] = "";
    size_t n;
    forget(f);
    TM_TRY(tm_source_read(source, head, HEAD, &n, err));
    TM_TRY(tm_source_rewind(source, err));
    const bool json = head[strspn(head, " \t\r\n")] == '{';
    if (json) {
        tm_json_lapses lapses = {.cut = false};
        TM_TRY(tm_json_values_read(source, false, &f->values, &lapses, err));
        f->cut = lapses.cut;
    } else {
        TM_TRY(tm_pickle_read_cut(source, &f->values, &f->cut, err));
    }
    return take_dump(f, source, err);
}

const tm_flight_group *tm_flight_groups(const tm_flight *flight, size_t *n) {
    *n = flight->groups.n;
    return flight->groups.data;
}

const tm_flight_call *tm_flight_calls(const tm_flight *flight, size_t *n) {
    *n = flight->calls.n;
    return flight->calls.data;
}

const char *tm_flight_version(const tm_flight *flight) {
    return flight->version;
}

int64_t tm_flight_rank(const tm_flight *flight) {
    return flight->rank;
}

bool tm_flight_is_cut(const tm_flight *flight) {
    return flight->cut;
}

int64_t tm_flight_left_out(const tm_flight *flight) {
    return flight->left_out;
}

/* The rest of the file writes a call as text. */

typedef struct line {
    char *out;
    size_t size, n;
} line;

static void put(line *l, const char *text) {
    const size_t n = strlen(text), room = l->size - 1 - l->n;
    const size_t taken = n < room ? n : room;
    memcpy(l->out + l->n, text, taken);
    l->n += taken;
    l->out[l->n] = '\0';
}

static void put_sizes(line *l, const tm_flight *f, const tm_pickle_value *sizes) {
    size_t n, n_dims;
    char number[24];
    const tm_pickle_value *v = tm_pickle_items(&f->values, sizes, &n);
    put(l, "[");
    for (size_t i = 0; i < n; i++) {
        const tm_pickle_value *dims = tm_pickle_items(&f->values, &v[i], &n_dims);
        put(l, i > 0 ? ", [" : "[");
        for (size_t k = 0; k < n_dims; k++) {
            snprintf(number, sizeof number, "%s%" PRId64, k > 0 ? ", " : "",
                     dims[k].type == TM_PICKLE_INT ? dims[k].as.i : 0);
            put(l, number);
        }
        put(l, "]");
    }
    put(l, "]");
}

/* Writes the types; equal types in a row appear once. */
static void put_types(line *l, const tm_flight *f, const tm_pickle_value *types) {
    size_t n;
    const char *last = "";
    const tm_pickle_value *v = tm_pickle_items(&f->values, types, &n);
    if (n == 0) {
        v = types;
        n = types && types->type == TM_PICKLE_TEXT;
    }
    for (size_t i = 0; i < n; i++) {
        const char *type = text_of(f, &v[i]);
        if (!*type || strcmp(type, last) == 0)
            continue;
        put(l, " ");
        put(l, type);
        last = type;
    }
}

/* Returns whether a file belongs to the user's program rather than to a library, judging by its
 * path. */
static bool is_own(const char *path) {
    return tm_ends_with(path, strlen(path), ".py") && !strstr(path, "/torch/") &&
           !strstr(path, "site-packages/") && !strstr(path, "dist-packages/") &&
           !strstr(path, "/lib/python");
}

static void put_frame(line *l, const tm_flight *f, const tm_pickle_value *frame) {
    char number[24];
    const char *path = tm_pickle_text(&f->values, frame, "filename");
    const char *slash = strrchr(path, '/');
    snprintf(number, sizeof number, ":%" PRId64,
             number_of(f, tm_pickle_get(&f->values, frame, "line"), 0));
    put(l, l->n > 0 ? " < " : "");
    put(l, tm_pickle_text(&f->values, frame, "name"));
    put(l, " ");
    put(l, slash ? slash + 1 : path);
    put(l, number);
}

static void put_frames(line *l, const tm_flight *f, const tm_pickle_value *frames) {
    enum { SHOWN = 4 };
    size_t n, shown = 0;
    const tm_pickle_value *v = tm_pickle_items(&f->values, frames, &n);
    for (size_t i = 0; i < n && shown < SHOWN; i++)
        if (is_own(tm_pickle_text(&f->values, &v[i], "filename"))) {
            put_frame(l, f, &v[i]);
            shown++;
        }
    if (shown == 0 && n > 0)
        put_frame(l, f, &v[0]);
}

void tm_flight_text(const tm_flight *flight, const tm_flight_call *call, tm_flight_part part,
                    char *out, size_t size) {
    line l = {out, size, 0};
    const tm_pickle_value value = {.as.id = call->values, .type = TM_PICKLE_DICT};
    const bool inputs = part == TM_FLIGHT_INPUTS;
    out[0] = '\0';
    if (part == TM_FLIGHT_FRAMES) {
        put_frames(&l, flight, tm_pickle_get(&flight->values, &value, "frames"));
        return;
    }
    const tm_pickle_value *sizes =
        tm_pickle_get(&flight->values, &value, inputs ? "input_sizes" : "output_sizes");
    const tm_pickle_value *types =
        tm_pickle_get(&flight->values, &value, inputs ? "input_dtypes" : "output_dtypes");
    if (sizes)
        put_sizes(&l, flight, sizes);
    put_types(&l, flight, types);
}
