#include "comm_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "counted.h"

/* Beginnings of names of calls and ranges. The rest of the name gives the kind of collective. */
static const char *const beginnings[] = {
    "nccl",   /* NCCL's and RCCL's calls, and PyTorch's ranges around them (ncclAllToAll,
                 nccl:all_to_all) */
    "rccl",   /* RCCL's own: rcclAllToAllv */
    "c10d::", /* PyTorch's operators: c10d::alltoall_base_ */
    "_c10d_functional::", /* operators of PyTorch's compiled programs:
                             _c10d_functional::all_to_all_single */
};

tm_collective_kind tm_comm_call_kind(const char *bytes, size_t size) {
    char letters[TM_LETTERS];
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        size_t n = strlen(beginnings[i]);
        if (size <= n || memcmp(bytes, beginnings[i], n) != 0)
            continue;
        tm_letters_of(bytes + n, size - n, letters);
        return tm_collective_kind_in(letters);
    }
    return TM_COLL_OTHER;
}

/* Returns the size [B] of an element if the type of an operator's input is known, else -1. */
static int64_t type_bytes(tm_text type) {
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {
        {"float", 4},       {"double", 8},   {"c10::Half", 2}, {"c10::BFloat16", 2},
        {"int", 4},         {"long int", 8}, {"long", 8},      {"unsigned char", 1},
        {"signed char", 1}, {"bool", 1},     {"short int", 2}, {"c10::complex<float>", 8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == type.size && memcmp(types[i].name, type.bytes, type.size) == 0)
            return types[i].bytes;
    return type.size > 12 && tm_text_begins(type, "c10::Float8_") ? 1 : -1;
}

/* Returns the next text of a list without its quotes, and removes it from the list; empty if there
 * is none. */
static tm_text next_type(tm_text *list) {
    const char *end = list->bytes + list->size;
    const char *begin = memchr(list->bytes, '"', list->size);
    const char *stop = begin ? memchr(begin + 1, '"', (size_t)(end - begin - 1)) : NULL;
    if (!stop)
        return (tm_text){.bytes = "", .size = 0};
    *list = (tm_text){.bytes = stop + 1, .size = (size_t)(end - stop - 1)};
    return (tm_text){.bytes = begin + 1, .size = (size_t)(stop - begin - 1)};
}

/* Reads the dimensions of a tensor at *at, for example "8, 16]". Returns the number of elements
 * (here 128), and moves *at to the character after the bracket. Returns -1 if the text is invalid
 * or the number is huge. */
static int64_t next_elements(const char **at, const char *end) {
    enum { MOST_DIGITS = 15 };
    const int64_t most = INT64_C(1) << 50;
    int64_t product = 1, number = 0;
    int digits = 0;
    for (; *at < end; ++*at) {
        const char c = **at;
        if (c >= '0' && c <= '9' && digits < MOST_DIGITS) {
            number = 10 * number + (c - '0');
            digits++;
            continue;
        }
        if ((c != ',' && c != ' ' && c != ']') ||
            (digits > 0 && number > 0 && product > most / number))
            return -1;
        product *= digits > 0 ? number : 1;
        number = digits = 0;
        if (c == ']') {
            ++*at;
            return product;
        }
    }
    return -1;
}

int64_t tm_comm_call_bytes(tm_text dimensions, tm_text types) {
    const char *at = dimensions.bytes, *end = at + dimensions.size;
    int64_t sum = 0;
    if (at == end || *at++ != '[')
        return -1;
    while (at < end && *at != ']') {
        if (*at == ',' || *at == ' ') {
            at++;
            continue;
        }
        if (*at++ != '[')
            return -1;
        const bool scalar = at < end && *at == ']';
        const int64_t n = next_elements(&at, end), bytes = type_bytes(next_type(&types));
        if (scalar && bytes < 0) /* such a scalar is an option of the call, not a tensor */
            continue;
        if (n < 0 || bytes < 0 || sum > INT64_MAX / 2)
            return -1;
        sum += n * bytes;
    }
    return at < end && sum > 0 ? sum : -1;
}

/* A call whose name gives a kind. */
typedef struct call {
    int64_t begin_ns, end_ns;
    int64_t reach_ns; /* latest end of this call and of all earlier calls of its thread */
    size_t track;
    uint32_t row, n_kernels; /* row of the call, and number of communication kernels that the call
                                launched */
    uint8_t kind;
} call;

/* The kind of collective that each name gives. A kind is found when it is first needed. */
typedef struct known {
    const tm_names *names;
    uint8_t *kinds; /* owned; [n] kind by name id; UNSEEN if the name was not looked up yet */
    size_t n;
} known;

enum { UNSEEN = 0xff };

static uint8_t kind_of(known *k, uint32_t name) {
    if (name >= k->n)
        return TM_COLL_OTHER;
    if (k->kinds[name] == UNSEEN) {
        tm_text text = tm_names_text(k->names, name);
        k->kinds[name] = (uint8_t)tm_comm_call_kind(text.bytes, text.size);
    }
    return k->kinds[name];
}

static bool add_calls(const tm_timeline *timeline, size_t at, known *k, tm_vec *out) {
    const tm_track *track = &timeline->tracks[at];
    int64_t reach = INT64_MIN;
    for (size_t row = track->first; row < (size_t)track->first + track->count; row++) {
        const uint8_t kind =
            timeline->kind[row] == TM_DURATION ? kind_of(k, timeline->name[row]) : TM_COLL_OTHER;
        if (kind == TM_COLL_OTHER)
            continue;
        call added = {.begin_ns = timeline->begin_ns[row],
                      .end_ns = timeline->begin_ns[row] + timeline->duration_ns[row],
                      .track = at,
                      .row = (uint32_t)row,
                      .kind = kind};
        reach = added.reach_ns = added.end_ns > reach ? added.end_ns : reach;
        if (!tm_vec_append(out, &added, 1))
            return false;
    }
    return true;
}

static bool has_begun(const void *element, const void *key) {
    const call *x = element, *y = key;
    return x->track < y->track || (x->track == y->track && x->begin_ns <= y->begin_ns);
}

/* Returns the innermost call in which the row's kernel was launched; NULL if there is none. */
static call *call_of(const tm_timeline *timeline, const tm_vec *calls,
                     const tm_collective_attr *row) {
    const uint32_t asked = timeline->role[row->event] == TM_ROLE_COMMUNICATION
                               ? tm_timeline_asked(timeline, row->event)
                               : TM_NO_EVENT;
    if (asked == TM_NO_EVENT)
        return NULL;
    const size_t track = (size_t)(tm_timeline_track(timeline, asked) - timeline->tracks);
    const int64_t time_ns = timeline->begin_ns[asked];
    const call key = {.track = track, .begin_ns = time_ns};
    call *v = calls->data;
    size_t i = tm_bisect(v, calls->n, sizeof *v, &key, has_begun);
    while (i-- > 0 && v[i].track == track && v[i].reach_ns > time_ns)
        if (v[i].end_ns > time_ns)
            return &v[i];
    return NULL;
}

/* Returns whether the kind of a kernel must be taken from its call. */
static bool is_open(const tm_timeline *timeline, const tm_names *names, tm_classifier *classifier,
                    const tm_collective_attr *row) {
    return row->name == TM_NO_NAME && timeline->role[row->event] == TM_ROLE_COMMUNICATION &&
           (row->kind == TM_COLL_SENDRECV || row->kind == TM_COLL_OTHER) &&
           tm_classifier_kind(classifier, names, timeline->name[row->event]).class ==
               TM_KERNEL_COLLECTIVE;
}

/* Returns whether the size of a kernel is unknown, and its call may give the size. */
static bool is_unsized(const tm_timeline *timeline, const tm_collective_attr *row) {
    return timeline->n_attrs[TM_ATTR_INPUTS] > 0 && row->in_elements < 0 && row->out_elements < 0 &&
           timeline->role[row->event] == TM_ROLE_COMMUNICATION;
}

/* Returns the bytes of a call's inputs; -1 if they are not recorded or if the call launched several
 * kernels. */
static int64_t bytes_of(const tm_timeline *timeline, const tm_names *names, const call *c) {
    const tm_shapes_attr *shapes = timeline->attrs[TM_ATTR_SHAPES];
    const tm_inputs_attr *inputs = timeline->attrs[TM_ATTR_INPUTS];
    const size_t n_shapes = timeline->n_attrs[TM_ATTR_SHAPES];
    const size_t n_inputs = timeline->n_attrs[TM_ATTR_INPUTS];
    const tm_text name = tm_names_text(names, timeline->name[c->row]);
    if (c->n_kernels != 1 || name.size < sizeof TM_NCCL_RANGE ||
        memcmp(name.bytes, TM_NCCL_RANGE, sizeof TM_NCCL_RANGE - 1) != 0)
        return -1;
    const size_t s = TM_FIRST_FROM(tm_shapes_attr, event, shapes, n_shapes, c->row);
    const size_t i = TM_FIRST_FROM(tm_inputs_attr, event, inputs, n_inputs, c->row);
    if (s == n_shapes || i == n_inputs || shapes[s].event != c->row || inputs[i].event != c->row ||
        inputs[i].types == TM_NO_NAME)
        return -1;
    return tm_comm_call_bytes(tm_names_text(names, shapes[s].shapes),
                              tm_names_text(names, inputs[i].types));
}

static tm_status find_calls(const tm_timeline *timeline, const tm_names *names, tm_vec *calls,
                            tm_error *err) {
    known k = {names, NULL, tm_names_count(names)};
    k.kinds = malloc(k.n + 1);
    bool ok = k.kinds != NULL;
    if (ok)
        memset(k.kinds, UNSEEN, k.n);
    for (size_t i = 0; i < timeline->n_tracks && ok; i++)
        ok = timeline->tracks[i].kind != TM_TRACK_CPU || add_calls(timeline, i, &k, calls);
    free(k.kinds);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_comm_calls_ask(const tm_timeline *timeline, const tm_names *names,
                            tm_classifier *classifier, tm_collective_attr *rows, size_t n,
                            tm_error *err) {
    tm_vec calls = TM_VEC(call);
    tm_status status = TM_OK;
    bool asks = false;
    for (size_t i = 0; i < n; i++) {
        rows[i].call_bytes = -1;
        asks = asks || is_unsized(timeline, &rows[i]) ||
               is_open(timeline, names, classifier, &rows[i]);
    }
    if (asks)
        status = find_calls(timeline, names, &calls, err);
    for (size_t i = 0; i < n && calls.n > 0; i++) {
        call *found = call_of(timeline, &calls, &rows[i]);
        if (found)
            found->n_kernels++;
    }
    for (size_t i = 0; i < n && status == TM_OK && calls.n > 0; i++) {
        const call *found = call_of(timeline, &calls, &rows[i]);
        if (!found)
            continue;
        if (is_unsized(timeline, &rows[i]))
            rows[i].call_bytes = bytes_of(timeline, names, found);
        if (!tm_collective_is_one_way(found->kind) &&
            is_open(timeline, names, classifier, &rows[i]))
            rows[i].kind = found->kind;
    }
    tm_vec_free(&calls);
    return status;
}
