#include "pickle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A gigabyte of values at 16 bytes each; fewer containers because each costs more. */
enum { VALUES_MAX = 1 << 26, CONTAINERS_MAX = 1 << 25, BUFFER = 1 << 16 };

/* The opcodes that plain data need: byte, name. */
#define OPCODES(X)                                                                                 \
    X(0x80, PROTO)                                                                                 \
    X(0x95, FRAME)                                                                                 \
    X(0x2e, STOP)                                                                                  \
    X(0x28, MARK)                                                                                  \
    X(0x4e, NONE)                                                                                  \
    X(0x88, NEWTRUE)                                                                               \
    X(0x89, NEWFALSE)                                                                              \
    X(0x4a, BININT)                                                                                \
    X(0x4b, BININT1)                                                                               \
    X(0x4d, BININT2)                                                                               \
    X(0x8a, LONG1)                                                                                 \
    X(0x47, BINFLOAT)                                                                              \
    X(0x8c, SHORT_BINUNICODE)                                                                      \
    X(0x58, BINUNICODE)                                                                            \
    X(0x8d, BINUNICODE8)                                                                           \
    X(0x5d, EMPTY_LIST)                                                                            \
    X(0x61, APPEND)                                                                                \
    X(0x65, APPENDS)                                                                               \
    X(0x29, EMPTY_TUPLE)                                                                           \
    X(0x74, TUPLE)                                                                                 \
    X(0x85, TUPLE1)                                                                                \
    X(0x86, TUPLE2)                                                                                \
    X(0x87, TUPLE3)                                                                                \
    X(0x7d, EMPTY_DICT)                                                                            \
    X(0x73, SETITEM)                                                                               \
    X(0x75, SETITEMS)                                                                              \
    X(0x68, BINGET)                                                                                \
    X(0x6a, LONG_BINGET)                                                                           \
    X(0x71, BINPUT)                                                                                \
    X(0x72, LONG_BINPUT)                                                                           \
    X(0x94, MEMOIZE)

/* Opcodes that call functions or create objects. */
#define HOSTILE(X)                                                                                 \
    X(0x63, GLOBAL)                                                                                \
    X(0x93, STACK_GLOBAL)                                                                          \
    X(0x69, INST)                                                                                  \
    X(0x6f, OBJ)                                                                                   \
    X(0x81, NEWOBJ)                                                                                \
    X(0x92, NEWOBJ_EX)                                                                             \
    X(0x52, REDUCE)                                                                                \
    X(0x62, BUILD)                                                                                 \
    X(0x82, EXT1)                                                                                  \
    X(0x83, EXT2)                                                                                  \
    X(0x84, EXT4)                                                                                  \
    X(0x50, PERSID)                                                                                \
    X(0x51, BINPERSID)

#define OPCODE_ENUM(byte, name) OP_##name = (byte),
enum { OPCODES(OPCODE_ENUM) };

/* State of the pickle machine. */
typedef struct machine {
    tm_source *source;
    tm_pickle *out;
    tm_error *err;
    unsigned char *buffer; /* [BUFFER] owned */
    size_t next, held;     /* position and fill level of buffer */
    int64_t start;         /* offset of the buffer's first byte */
    int64_t at;            /* of the current opcode */
    tm_vec marks;          /* of size_t: the stack's height at each mark */
    tm_vec text;           /* of char */
    size_t values;         /* number of values ever pushed or memoised */
    bool stopped;
    bool ended; /* the file ended inside the pickle */
} machine;

static tm_status fail(const machine *m, const char *why) {
    return tm_fail(m->err, TM_ERR_INPUT, tm_source_path(m->source), m->at, "as a pickle: %s", why);
}

static tm_status refill(machine *m) {
    m->start += (int64_t)m->held;
    m->next = m->held = 0;
    tm_status status = tm_source_read(m->source, m->buffer, BUFFER, &m->held, m->err);
    m->ended = status == TM_OK ? m->held == 0 : tm_source_cut_short(m->source);
    TM_TRY(status);
    return m->held > 0 ? TM_OK : fail(m, "the file ends inside the pickle");
}

/* Like take, across the end of the buffer. */
static tm_status take_slowly(machine *m, int size, uint64_t *out) {
    uint64_t value = 0;
    for (int i = 0; i < size; i++) {
        if (m->next == m->held)
            TM_TRY(refill(m));
        value |= (uint64_t)m->buffer[m->next++] << (8 * i);
    }
    *out = value;
    return TM_OK;
}

/* Reads an unsigned little-endian number of @p size bytes, a constant where it has to be fast. */
static inline tm_status take(machine *m, int size, uint64_t *out) {
    uint64_t value = 0;
    const unsigned char *from = m->buffer + m->next;
    if (m->held - m->next < (size_t)size)
        return take_slowly(m, size, out);
    for (int i = 0; i < size; i++)
        value |= (uint64_t)from[i] << (8 * i);
    m->next += (size_t)size;
    *out = value;
    return TM_OK;
}

static inline tm_status push(machine *m, tm_pickle_value value) {
    if (++m->values > VALUES_MAX)
        return fail(m, "the pickle has too many values");
    tm_pickle_value *top = tm_vec_push(&m->out->stack);
    if (!top)
        return tm_fail_memory(m->err);
    *top = value;
    return TM_OK;
}

static tm_status push_int(machine *m, int64_t value, tm_pickle_type type) {
    return push(m, (tm_pickle_value){.as.i = value, .type = type});
}

static tm_status push_container(machine *m, tm_pickle_type type, const tm_pickle_value *items,
                                size_t n) {
    tm_pickle_value value;
    if (m->out->containers.n >= CONTAINERS_MAX)
        return fail(m, "the pickle has too many lists");
    return tm_pickle_make(m->out, type, items, n, &value) ? push(m, value) : tm_fail_memory(m->err);
}

static tm_status push_bytes(machine *m, const char *bytes, size_t size) {
    const uint32_t id = tm_names_intern(m->out->texts, bytes, size);
    if (id == TM_NAME_FAILED)
        return tm_fail_memory(m->err);
    return push(m, (tm_pickle_value){.as.id = id, .type = TM_PICKLE_TEXT});
}

/* Reads a text in pieces, so that a length beyond the end of the file allocates nothing. */
static tm_status push_long_text(machine *m, uint64_t size) {
    m->text.n = 0;
    while (size > 0) {
        if (m->next == m->held)
            TM_TRY(refill(m));
        size_t n = m->held - m->next < size ? m->held - m->next : (size_t)size;
        if (!tm_vec_append(&m->text, m->buffer + m->next, n))
            return tm_fail_memory(m->err);
        m->next += n;
        size -= n;
    }
    return push_bytes(m, m->text.data, m->text.n);
}

static tm_status push_text(machine *m, int size_of_size) {
    uint64_t size;
    TM_TRY(take(m, size_of_size, &size));
    if (size > m->held - m->next)
        return push_long_text(m, size);
    m->next += (size_t)size;
    return push_bytes(m, (const char *)m->buffer + m->next - size, (size_t)size);
}

/* Reads two's complement of up to 8 bytes. */
static tm_status push_long(machine *m) {
    uint64_t size, value = 0;
    TM_TRY(take(m, 1, &size));
    if (size > 8)
        return fail(m, "an integer has more than 64 bits");
    TM_TRY(size == 8 ? take(m, 8, &value) : take(m, (int)size, &value));
    if (size > 0 && size < 8 && value >> (8 * size - 1))
        value |= UINT64_MAX << (8 * size);
    int64_t whole;
    memcpy(&whole, &value, sizeof whole);
    return push_int(m, whole, TM_PICKLE_INT);
}

/* Reads a big-endian double. */
static tm_status push_real(machine *m) {
    uint64_t bits = 0, byte = 0;
    for (int i = 0; i < 8; i++) {
        TM_TRY(take(m, 1, &byte));
        bits = bits << 8 | byte;
    }
    tm_pickle_value value = {.type = TM_PICKLE_REAL};
    memcpy(&value.as.r, &bits, sizeof bits);
    return push(m, value);
}

/* Returns the number of values on the stack above the last mark. */
static size_t above_mark(const machine *m) {
    return m->out->stack.n - (m->marks.n > 0 ? ((const size_t *)m->marks.data)[m->marks.n - 1] : 0);
}

/* Makes a tuple of the top @p n values. */
static tm_status make_tuple(machine *m, size_t n) {
    if (above_mark(m) < n)
        return fail(m, "a tuple has more values than the stack");
    m->out->stack.n -= n;
    return push_container(
        m, TM_PICKLE_LIST,
        n > 0 ? (const tm_pickle_value *)m->out->stack.data + m->out->stack.n : NULL, n);
}

/* Moves a container's items to the end of the vector, with room for @p n more. */
static bool move_to_end(tm_pickle *p, tm_pickle_run *run, size_t n) {
    const size_t first = p->items.n, room = run->n == 0 ? n : 2 * (run->n + n);
    if (!tm_vec_reserve(&p->items, first + room))
        return false;
    p->items.n += room;
    tm_pickle_value *v = p->items.data;
    if (run->n > 0)
        memcpy(v + first, v + run->first, run->n * sizeof *v);
    *run = (tm_pickle_run){first, run->n, room};
    return true;
}

/* Appends @p n items to a container. */
static bool extend(tm_pickle *p, uint32_t id, const tm_pickle_value *items, size_t n) {
    tm_pickle_run *run = (tm_pickle_run *)p->containers.data + id;
    if (run->room - run->n < n && !move_to_end(p, run, n))
        return false;
    memcpy((tm_pickle_value *)p->items.data + run->first + run->n, items, n * sizeof *items);
    run->n += n;
    return true;
}

/* Adds the top @p n values to the container below them. */
static tm_status add_items(machine *m, size_t n, tm_pickle_type type) {
    if (above_mark(m) <= n)
        return fail(m, "values have no list or dict to go into");
    const tm_pickle_value *top = (tm_pickle_value *)m->out->stack.data + m->out->stack.n - n;
    if (top[-1].type != type || (type == TM_PICKLE_DICT && n % 2 != 0))
        return fail(m, "values do not fit their list or dict");
    m->values += n;
    if (m->values > VALUES_MAX)
        return fail(m, "the pickle has too many values");
    if (n > 0 && !extend(m->out, top[-1].as.id, top, n))
        return tm_fail_memory(m->err);
    m->out->stack.n -= n;
    return TM_OK;
}

/* Removes the last mark; *n is the number of values above it. */
static tm_status leave_mark(machine *m, size_t *n) {
    if (m->marks.n == 0)
        return fail(m, "an instruction has no mark");
    *n = above_mark(m);
    m->marks.n--;
    return TM_OK;
}

static tm_status put(machine *m, uint64_t index) {
    const tm_pickle_value none = {.type = TM_PICKLE_NONE};
    if (above_mark(m) == 0)
        return fail(m, "there is no value to store in the memo");
    /* Writers count indices up, so a valid index cannot exceed the current offset. */
    if (index > (uint64_t)m->at || index >= VALUES_MAX)
        return fail(m, "a memo index is impossible");
    while (m->out->memo.n <= index)
        if (!tm_vec_append(&m->out->memo, &none, 1))
            return tm_fail_memory(m->err);
    ((tm_pickle_value *)m->out->memo.data)[index] =
        ((const tm_pickle_value *)m->out->stack.data)[m->out->stack.n - 1];
    return TM_OK;
}

static inline tm_status get(machine *m, int size) {
    uint64_t index;
    TM_TRY(take(m, size, &index));
    if (index >= m->out->memo.n)
        return fail(m, "a memo index has no value");
    return push(m, ((const tm_pickle_value *)m->out->memo.data)[index]);
}

static tm_status refuse(const machine *m, uint64_t opcode) {
#define REFUSED(byte, name)                                                                        \
    if (opcode == (byte))                                                                          \
        return fail(m, "the pickle calls code (" #name "), which plain data never does: refused");
    HOSTILE(REFUSED)
#undef REFUSED
    return tm_fail(m->err, TM_ERR_INPUT, tm_source_path(m->source), m->at,
                   "not an instruction of a pickle of plain data (0x%02" PRIx64 ")", opcode);
}

static tm_status check_protocol(machine *m) {
    uint64_t version;
    TM_TRY(take(m, 1, &version));
    return version <= 5 ? TM_OK : fail(m, "the protocol of this pickle is unknown");
}

/* Frames only help readers of files. */
static tm_status pass_frame(machine *m) {
    uint64_t length;
    return take(m, 8, &length);
}

static tm_status mark(machine *m) {
    return tm_vec_append(&m->marks, &m->out->stack.n, 1) ? TM_OK : tm_fail_memory(m->err);
}

static tm_status stop(machine *m) {
    if (m->out->stack.n != 1 || m->marks.n > 0)
        return fail(m, "the pickle does not end with exactly one value");
    m->out->root = *(const tm_pickle_value *)m->out->stack.data;
    m->stopped = true;
    return TM_OK;
}

static inline tm_status push_number(machine *m, int size) {
    uint64_t value;
    TM_TRY(take(m, size, &value));
    return push_int(
        m, size == 4 && value > INT32_MAX ? (int64_t)value - (INT64_C(1) << 32) : (int64_t)value,
        TM_PICKLE_INT);
}

static tm_status run_on_marked(machine *m, uint64_t opcode) {
    size_t n = 0;
    TM_TRY(leave_mark(m, &n));
    return opcode == OP_TUPLE     ? make_tuple(m, n)
           : opcode == OP_APPENDS ? add_items(m, n, TM_PICKLE_LIST)
                                  : add_items(m, n, TM_PICKLE_DICT);
}

static inline tm_status put_at(machine *m, int size) {
    uint64_t index;
    TM_TRY(take(m, size, &index));
    return put(m, index);
}

static tm_status run_one(machine *m, uint64_t opcode) {
    switch (opcode) {
    case OP_PROTO:
        return check_protocol(m);
    case OP_FRAME:
        return pass_frame(m);
    case OP_STOP:
        return stop(m);
    case OP_MARK:
        return mark(m);
    case OP_NONE:
        return push_int(m, 0, TM_PICKLE_NONE);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return push_int(m, opcode == OP_NEWTRUE, TM_PICKLE_BOOL);
    case OP_BININT:
        return push_number(m, 4);
    case OP_BININT1:
        return push_number(m, 1);
    case OP_BININT2:
        return push_number(m, 2);
    case OP_LONG1:
        return push_long(m);
    case OP_BINFLOAT:
        return push_real(m);
    case OP_SHORT_BINUNICODE:
        return push_text(m, 1);
    case OP_BINUNICODE:
        return push_text(m, 4);
    case OP_BINUNICODE8:
        return push_text(m, 8);
    case OP_EMPTY_LIST:
        return push_container(m, TM_PICKLE_LIST, NULL, 0);
    case OP_EMPTY_DICT:
        return push_container(m, TM_PICKLE_DICT, NULL, 0);
    case OP_EMPTY_TUPLE:
        return make_tuple(m, 0);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return make_tuple(m, (size_t)(opcode - OP_TUPLE1 + 1));
    case OP_TUPLE:
    case OP_APPENDS:
    case OP_SETITEMS:
        return run_on_marked(m, opcode);
    case OP_APPEND:
        return add_items(m, 1, TM_PICKLE_LIST);
    case OP_SETITEM:
        return add_items(m, 2, TM_PICKLE_DICT);
    case OP_BINGET:
        return get(m, 1);
    case OP_LONG_BINGET:
        return get(m, 4);
    case OP_BINPUT:
        return put_at(m, 1);
    case OP_LONG_BINPUT:
        return put_at(m, 4);
    case OP_MEMOIZE:
        return put(m, m->out->memo.n);
    default:
        return refuse(m, opcode);
    }
}

static tm_status run(machine *m) {
    uint64_t opcode;
    while (!m->stopped) {
        m->at = m->start + (int64_t)m->next;
        TM_TRY(take(m, 1, &opcode));
        TM_TRY(run_one(m, opcode));
    }
    m->at = m->start + (int64_t)m->next;
    if (m->next == m->held)
        TM_TRY(tm_source_read(m->source, m->buffer, BUFFER, &m->held, m->err));
    else
        m->held -= m->next;
    return m->held == 0 ? TM_OK : fail(m, "something follows the pickle");
}

/* Completes the containers that were open when the file ended with the items read so far; a dict
 * gets no key without a value. */
static tm_status close_open(machine *m) {
    m->ended = false;
    while (m->marks.n > 0) {
        size_t n = above_mark(m);
        m->marks.n--;
        const bool inside = above_mark(m) > n;
        const tm_pickle_type type =
            inside ? ((const tm_pickle_value *)m->out->stack.data + m->out->stack.n - n)[-1].type
                   : TM_PICKLE_NONE;
        const size_t odd = type == TM_PICKLE_DICT ? n % 2 : 0;
        m->out->stack.n -= odd;
        if (type == TM_PICKLE_LIST || type == TM_PICKLE_DICT)
            TM_TRY(add_items(m, n - odd, type));
        else
            m->out->stack.n -= n;
    }
    if (m->out->stack.n == 0)
        return fail(m, "the file ends before the first value of the pickle");
    m->out->root = *(const tm_pickle_value *)m->out->stack.data;
    return TM_OK;
}

bool tm_pickle_clear(tm_pickle *out) {
    tm_names_destroy(out->texts);
    out->texts = tm_names_create();
    out->containers.n = out->items.n = out->stack.n = out->memo.n = 0;
    return out->texts != NULL;
}

bool tm_pickle_make(tm_pickle *pickle, tm_pickle_type type, const tm_pickle_value *items, size_t n,
                    tm_pickle_value *out) {
    tm_pickle_run *run = tm_vec_push(&pickle->containers);
    if (!run)
        return false;
    *run = (tm_pickle_run){pickle->items.n, n, n};
    *out = (tm_pickle_value){.as.id = (uint32_t)pickle->containers.n - 1, .type = type};
    return n == 0 || tm_vec_append(&pickle->items, items, n);
}

tm_status tm_pickle_read_cut(tm_source *source, tm_pickle *out, bool *cut, tm_error *err) {
    machine m = {.source = source, .out = out, .err = err, .buffer = malloc(BUFFER)};
    m.marks = TM_VEC(size_t);
    m.text = TM_VEC(char);
    tm_status status = tm_pickle_clear(out) && m.buffer ? run(&m) : tm_fail_memory(err);
    if (cut && (*cut = status == TM_ERR_INPUT && m.ended))
        status = close_open(&m);
    free(m.buffer);
    tm_vec_free(&m.marks);
    tm_vec_free(&m.text);
    return status;
}

tm_status tm_pickle_read(tm_source *source, tm_pickle *out, tm_error *err) {
    return tm_pickle_read_cut(source, out, NULL, err);
}

void tm_pickle_free(tm_pickle *pickle) {
    tm_vec_free(&pickle->containers);
    tm_vec_free(&pickle->items);
    tm_vec_free(&pickle->stack);
    tm_vec_free(&pickle->memo);
    tm_names_destroy(pickle->texts);
    pickle->texts = NULL;
}

static const tm_pickle_value *contents(const tm_pickle *pickle, const tm_pickle_value *value,
                                       tm_pickle_type type, size_t *n) {
    *n = 0;
    if (!value || value->type != type)
        return NULL;
    const tm_pickle_run *run = (const tm_pickle_run *)pickle->containers.data + value->as.id;
    *n = run->n;
    return run->n > 0 ? (const tm_pickle_value *)pickle->items.data + run->first : NULL;
}

const tm_pickle_value *tm_pickle_items(const tm_pickle *pickle, const tm_pickle_value *value,
                                       size_t *n) {
    return contents(pickle, value, TM_PICKLE_LIST, n);
}

const tm_pickle_value *tm_pickle_members(const tm_pickle *pickle, const tm_pickle_value *value,
                                         size_t *n) {
    return contents(pickle, value, TM_PICKLE_DICT, n);
}

const tm_pickle_value *tm_pickle_get(const tm_pickle *pickle, const tm_pickle_value *value,
                                     const char *key) {
    size_t n;
    const tm_pickle_value *v = contents(pickle, value, TM_PICKLE_DICT, &n);
    for (size_t i = n; i >= 2; i -= 2)
        if (v[i - 2].type == TM_PICKLE_TEXT &&
            strcmp(tm_names_text(pickle->texts, v[i - 2].as.id).bytes, key) == 0)
            return &v[i - 1];
    return NULL;
}

int64_t tm_pickle_int(const tm_pickle *pickle, const tm_pickle_value *value, const char *key,
                      int64_t missing) {
    const tm_pickle_value *found = tm_pickle_get(pickle, value, key);
    return found && found->type == TM_PICKLE_INT ? found->as.i : missing;
}

const char *tm_pickle_text(const tm_pickle *pickle, const tm_pickle_value *value, const char *key) {
    const tm_pickle_value *found = tm_pickle_get(pickle, value, key);
    return found && found->type == TM_PICKLE_TEXT ? tm_names_text(pickle->texts, found->as.id).bytes
                                                  : "";
}
