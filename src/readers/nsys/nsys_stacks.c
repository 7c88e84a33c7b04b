#include "nsys_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"

/* A call's correlation id and its call chain. */
typedef struct chained {
    int64_t correlation, chain;
} chained;

/* A function of a call chain; depth 0 is the innermost. */
typedef struct frame {
    int64_t chain, depth;
    /* Name id of the function. If the function has no symbol, name id of its module. */
    uint32_t name;
    bool is_module;
} frame;

bool tm_nsys_note_chain(tm_nsys_emitter *e, int64_t correlation, int64_t chain) {
    const chained added = {correlation, chain};
    if (e->chains.size == 0)
        e->chains = TM_VEC(chained);
    return tm_vec_append(&e->chains, &added, 1) != NULL;
}

TM_ORDER_BY(by_correlation, chained, correlation, chain);

TM_ORDER_BY(by_place, frame, chain, depth);

static bool is_before(const void *element, const void *key) {
    return by_place(element, key) < 0;
}

static bool is_lower(const void *element, const void *key) {
    return by_correlation(element, key) < 0;
}

typedef struct frame_scan {
    tm_nsys_emitter *e;
    tm_vec frames; /* vector of frame */
} frame_scan;

/* Adds a frame. A frame without a symbol gets its module's name, because its address says nothing
 * and differs between ranks. */
static tm_status frame_row(void *context, sqlite3_value **values, tm_error *err) {
    enum { ID, SYMBOL, MODULE, UNRESOLVED, DEPTH };
    frame_scan *s = context;
    bool is_module = tm_db_int(values, UNRESOLVED, 0) != 0;
    frame added = {.chain = tm_db_int(values, ID, -1),
                   .depth = tm_db_int(values, DEPTH, 0),
                   .is_module = is_module};
    TM_TRY(tm_nsys_string(s->e, tm_db_int(values, is_module ? MODULE : SYMBOL, -1), false,
                          &added.name, err));
    return tm_vec_append(&s->frames, &added, 1) ? TM_OK : tm_fail_memory(err);
}

/* Appends a frame. Several adjacent frames without symbols become one frame, such as
 * [libcuda.so.1], if they are of the same module. */
static bool put_frame(tm_vec *out, const tm_names *names, const frame *f, const frame *before) {
    tm_text text = tm_names_text(names, f->name);
    if (f->is_module && before && before->is_module && before->name == f->name)
        return true;
    const char *slash = strrchr(text.bytes, '/');
    if (f->is_module && slash)
        text = (tm_text){slash + 1, text.size - (size_t)(slash + 1 - text.bytes)};
    bool ok = (out->n == 0 || tm_vec_append(out, ";", 1)) &&
              (!f->is_module || tm_vec_append(out, "[", 1)) &&
              tm_vec_append(out, text.bytes, text.size) &&
              (!f->is_module || tm_vec_append(out, "]", 1));
    for (size_t i = out->n - (ok ? text.size + f->is_module : 0); ok && i < out->n; i++)
        /* A semicolon separates functions, so it must not occur in a name. */
        if (((char *)out->data)[i] == ';')
            ((char *)out->data)[i] = ':';
    return ok;
}

/* Returns the id of a name that lists the functions of a chain. Returns TM_NO_NAME if the chain has
 * no functions, and TM_NAME_FAILED if out of memory. */
static uint32_t stack_of(const frame_scan *s, int64_t chain) {
    const frame *v = s->frames.data, key = {.chain = chain, .depth = INT64_MIN};
    tm_vec text = TM_VEC(char);
    size_t first = tm_bisect(v, s->frames.n, sizeof *v, &key, is_before);
    bool ok = true;
    for (size_t i = first; i < s->frames.n && v[i].chain == chain && ok; i++)
        ok = put_frame(&text, s->e->names, &v[i], i > first ? &v[i - 1] : NULL);
    uint32_t id = ok && text.n > 0 ? tm_names_intern(s->e->names, text.data, text.n) : TM_NO_NAME;
    tm_vec_free(&text);
    return ok ? id : TM_NAME_FAILED;
}

static tm_status add_stacks(const frame_scan *s, tm_error *err) {
    const chained *chains = s->e->chains.data;
    size_t n = s->e->chains.n;
    tm_trace *trace = s->e->trace;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_LAUNCH].n; i++) {
        const tm_launch_attr *call = (const tm_launch_attr *)trace->attrs[TM_ATTR_LAUNCH].data + i;
        const chained key = {call->correlation, INT64_MIN};
        size_t at = tm_bisect(chains, n, sizeof key, &key, is_lower);
        if (at == n || chains[at].correlation != call->correlation)
            continue;
        const tm_operator_attr added = {.sequence = -1,
                                        .event = call->event,
                                        .forward = TM_NO_EVENT,
                                        .stack = stack_of(s, chains[at].chain)};
        if (added.stack == TM_NAME_FAILED ||
            (added.stack != TM_NO_NAME &&
             !tm_vec_append(&trace->attrs[TM_ATTR_OPERATOR], &added, 1)))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_nsys_add_stacks(tm_nsys_emitter *e, tm_error *err) {
    static const char *const columns[] = {"id", "symbol", "module", "unresolved", "stackDepth"};
    const tm_db_query query = {.table = "CUDA_CALLCHAINS", .columns = columns, .n_columns = 5};
    frame_scan s = {e, TM_VEC(frame)};
    if (e->chains.n == 0)
        return TM_OK;
    tm_status status = tm_db_scan(e->db, &query, 0, frame_row, &s, err);
    tm_vec_sort(&s.frames, by_place);
    qsort(e->chains.data, e->chains.n, sizeof(chained), by_correlation);
    if (status == TM_OK)
        status = add_stacks(&s, err);
    tm_vec_free(&s.frames);
    return status;
}
