#include "pickle.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of values in all containers, and maximum number of containers. A value has 16
 * bytes, so the values take at most half a gigabyte. */
enum { VALUES_MAX = 1 << 25, CONTAINERS_MAX = 1 << 25, BUFFER = 1 << 16 };

/* Length [bytes] of the longest opcode with its argument: the opcode, a length, and an integer of 8
 * bytes. */
enum { LONGEST = 10 };

#define ARGUMENT (m->op + 1)

/* The opcodes that plain data needs: byte, name, size of the argument that follows [bytes], and
 * what the opcode does. */
#define OPCODES(X)                                                                                 \
    X(0x80, PROTO, 1, *ARGUMENT <= 5 ? NULL : "the protocol of this pickle is unknown")            \
    X(0x95, FRAME, 8, NULL) /* has no effect, because frames only help readers to prefetch */      \
    X(0x2e, STOP, 0, stop(m))                                                                      \
    X(0x28, MARK, 0, push_row(m))                                                                  \
    X(0x4e, NONE, 0, push_row(m))                                                                  \
    X(0x88, NEWTRUE, 0, push_row(m))                                                               \
    X(0x89, NEWFALSE, 0, push_row(m))                                                              \
    X(0x4a, BININT, 4, push_row(m))                                                                \
    X(0x4b, BININT1, 1, push_row(m))                                                               \
    X(0x4d, BININT2, 2, push_row(m))                                                               \
    X(0x8a, LONG1, 1, push_long(m, *ARGUMENT))                                                     \
    X(0x47, BINFLOAT, 8, push_row(m))                                                              \
    X(0x8c, SHORT_BINUNICODE, 1, push_text(m, *ARGUMENT))                                          \
    X(0x58, BINUNICODE, 4, push_text(m, number(ARGUMENT, 4)))                                      \
    X(0x8d, BINUNICODE8, 8, push_text(m, number(ARGUMENT, 8)))                                     \
    X(0x5d, EMPTY_LIST, 0, push_row(m))                                                            \
    X(0x61, APPEND, 0, add_top(m, 1, TM_PICKLE_LIST))                                              \
    X(0x65, APPENDS, 0, add_marked(m, TM_PICKLE_LIST))                                             \
    X(0x29, EMPTY_TUPLE, 0, push_row(m))                                                           \
    X(0x85, TUPLE1, 0, make_tuple(m, 1))                                                           \
    X(0x86, TUPLE2, 0, make_tuple(m, 2))                                                           \
    X(0x87, TUPLE3, 0, make_tuple(m, 3))                                                           \
    X(0x74, TUPLE, 0, make_marked_tuple(m))                                                        \
    X(0x7d, EMPTY_DICT, 0, push_row(m))                                                            \
    X(0x73, SETITEM, 0, add_top(m, 2, TM_PICKLE_DICT))                                             \
    X(0x75, SETITEMS, 0, add_marked(m, TM_PICKLE_DICT))                                            \
    X(0x68, BINGET, 1, push_row(m))                                                                \
    X(0x6a, LONG_BINGET, 4, push_row(m))                                                           \
    X(0x71, BINPUT, 1, put(m, *ARGUMENT))                                                          \
    X(0x72, LONG_BINPUT, 4, put(m, number(ARGUMENT, 4)))                                           \
    X(0x94, MEMOIZE, 0, put(m, m->out->memo.n))

#define OPCODE_ENUM(byte, name, size, does) OP_##name = (byte),
enum { OPCODES(OPCODE_ENUM) };

#define OPCODE_SIZE(byte, name, size, does) [byte] = 1 + (size),
static const unsigned char sizes[256] = {OPCODES(OPCODE_SIZE)};

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

typedef struct machine {
    tm_source *source;
    tm_pickle *out;
    tm_error *err;
    unsigned char *buffer;           /* [BUFFER + 8] owned */
    const unsigned char *next, *end; /* the bytes of the buffer that are not read yet */
    /* each opcode that starts before `safe` is in the buffer with its whole argument */
    const unsigned char *safe;
    const unsigned char *op; /* the current opcode; NULL if the buffer has moved past it */
    /* If `op` is NULL: the offset of the current opcode in the file. */
    int64_t at;
    int64_t start;                /* offset of the buffer's first byte in the file */
    tm_pickle_value *stack, *top; /* the first value in out->stack, and the end of the values */
    /* The first value above the last mark. The mark itself is the value below it, and contains the
     * index of the previous floor. */
    tm_pickle_value *floor;
    tm_vec text;      /* vector of char */
    size_t values;    /* number of values ever put into containers */
    tm_status status; /* not TM_OK if reading failed; err is then set */
    bool ended;       /* the file ended inside the pickle */
} machine;

/* The functions of opcodes return NULL, or a text with the reason why reading ends, such as one of
 * these texts. They do not call fail(), because they would then have to save registers. */
static const char stopped[] = "the pickle has ended", unread[] = "the file cannot be read",
                  no_memory[] = "out of memory", no_mark[] = "an instruction has no mark",
                  no_container[] = "values have no list or dict to go into",
                  many_values[] = "the pickle has too many values";

/* Returns the offset of the current opcode in the file. */
static int64_t offset(const machine *m) {
    return m->op ? m->start + (m->op - m->buffer) : m->at;
}

static tm_status fail(const machine *m, const char *why) {
    return tm_fail(m->err, TM_ERR_INPUT, tm_source_path(m->source), offset(m), "as a pickle: %s",
                   why);
}

/* Reserves room for what @p n opcodes may push, store in the memo and create. The opcodes
 * themselves do not check for room. */
static tm_status make_room(machine *m, size_t n) {
    tm_pickle *out = m->out;
    const ptrdiff_t height = m->top - m->stack, floor = m->floor - m->stack;
    if (height > VALUES_MAX || out->containers.n > CONTAINERS_MAX)
        return fail(m, many_values);
    if (!tm_vec_reserve(&out->stack, (size_t)height + n + 1) ||
        !tm_vec_reserve(&out->memo, out->memo.n + n) ||
        !tm_vec_reserve(&out->containers, out->containers.n + n))
        return tm_fail_memory(m->err);
    m->stack = out->stack.data;
    m->top = m->stack + height;
    m->floor = m->stack + floor;
    return TM_OK;
}

/* Moves the unread bytes to the start of the buffer, and reads more bytes after them. */
static tm_status refill(machine *m) {
    const size_t kept = (size_t)(m->end - m->next);
    size_t n = 0;
    m->at = offset(m);
    m->op = NULL;
    m->start += m->next - m->buffer;
    memmove(m->buffer, m->next, kept);
    m->next = m->buffer;
    m->end = m->safe = m->buffer + kept;
    tm_status status = tm_source_read(m->source, m->buffer + kept, BUFFER - kept, &n, m->err);
    m->ended = status == TM_OK ? n == 0 : tm_source_cut_short(m->source);
    TM_TRY(status);
    m->end += n;
    m->safe = kept + n < LONGEST ? m->buffer : m->end - LONGEST + 1;
    return n > 0 ? make_room(m, kept + n) : fail(m, "the file ends inside the pickle");
}

/* Reads until the buffer has @p n unread bytes. If this is not possible, sets the status and
 * returns false. */
static bool have(machine *m, size_t n) {
    while ((size_t)(m->end - m->next) < n && m->status == TM_OK)
        m->status = refill(m);
    return m->status == TM_OK;
}

/* Reads a little-endian number. @p size [bytes] is a constant. The machine is little-endian, too:
 * see src/store/schema.c. */
static inline uint64_t number(const unsigned char *from, size_t size) {
    uint64_t value = 0;
    memcpy(&value, from, size);
    return value;
}

static inline tm_pickle_value of_int(int64_t value, tm_pickle_type type) {
    return (tm_pickle_value){.as.i = value, .type = type};
}

static inline const char *push(machine *m, tm_pickle_value value) {
    *m->top++ = value;
    return NULL;
}

/* Moves the items of a container to the end of out->items, so that there is room for @p n more
 * items. */
static bool make_place(tm_pickle *p, tm_pickle_run *run, size_t n) {
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

/* Appends @p n items, at least one, to a container. Copies one or two items, the usual number,
 * without a function call. */
static inline bool extend(tm_pickle *p, tm_pickle_run *run, const tm_pickle_value *items,
                          size_t n) {
    const size_t first = p->items.n;
    if (run->n == 0 && p->items.cap - first >= n) {
        *run = (tm_pickle_run){first, 0, n};
        p->items.n = first + n;
    } else if (run->room - run->n < n && !make_place(p, run, n)) {
        return false;
    }
    tm_pickle_value *to = (tm_pickle_value *)p->items.data + run->first + run->n;
    run->n += n;
    if (n > 2)
        memcpy(to, items, n * sizeof *items);
    to[0] = items[0];
    to[n - 1] = items[n - 1];
    return true;
}

static inline tm_pickle_value new_container(machine *m, tm_pickle_type type) {
    tm_vec *containers = &m->out->containers;
    ((tm_pickle_run *)containers->data)[containers->n] = (tm_pickle_run){.n = 0};
    return (tm_pickle_value){.as.id = (uint32_t)containers->n++, .type = type};
}

static const char *push_bytes(machine *m, const void *bytes, size_t size) {
    const uint32_t id = tm_names_intern(m->out->texts, bytes, size);
    return id == TM_NAME_FAILED ? no_memory
                                : push(m, (tm_pickle_value){.as.id = id, .type = TM_PICKLE_TEXT});
}

/* Reads a text in pieces. If its length is beyond the end of the file, memory is allocated only for
 * the part that exists. */
static const char *push_long_text(machine *m, uint64_t size) {
    m->text.n = 0;
    while (size > 0) {
        if (!have(m, 1))
            return unread;
        const size_t held = (size_t)(m->end - m->next), n = held < size ? held : (size_t)size;
        if (!tm_vec_append(&m->text, m->next, n))
            return no_memory;
        m->next += n;
        size -= n;
    }
    return push_bytes(m, m->text.data, m->text.n);
}

static const char *push_text(machine *m, uint64_t size) {
    const unsigned char *bytes = m->next;
    if (size > (size_t)(m->end - bytes))
        return push_long_text(m, size);
    m->next += (size_t)size;
    return push_bytes(m, bytes, (size_t)size);
}

/* Reads a two's complement integer of up to 8 bytes. For speed, always reads 8 bytes, which is
 * possible because the buffer has extra room. Then shifts out the surplus bytes. */
static inline tm_pickle_value long_of(const unsigned char *from, size_t size) {
    const size_t more = size > 0 ? 64 - 8 * size : 0;
    uint64_t value = size > 0 ? number(from, 8) << more : 0;
    value = value >> more | (value >> 63 ? ~(UINT64_MAX >> more) : 0);
    int64_t whole;
    memcpy(&whole, &value, sizeof whole);
    return of_int(whole, TM_PICKLE_INT);
}

static const char *push_long(machine *m, size_t size) {
    if (size > 8)
        return "an integer has more than 64 bits";
    if (!have(m, size))
        return unread;
    m->next += size;
    return push(m, long_of(m->next - size, size));
}

/* Reads a big-endian double. */
static inline tm_pickle_value real_of(const unsigned char *from) {
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | from[i];
    tm_pickle_value value = {.type = TM_PICKLE_REAL};
    memcpy(&value.as.r, &bits, sizeof bits);
    return value;
}

/* Pushes the value at an index of the memo. Returns false if the memo has no value there. */
static inline bool get(const machine *m, uint64_t index, tm_pickle_value **top) {
    const tm_vec *memo = &m->out->memo;
    if (index >= memo->n)
        return false;
    *(*top)++ = ((const tm_pickle_value *)memo->data)[index];
    return true;
}

/* Stores the top value in the memo. Returns false if @p index is not the next free index, or if
 * there is no value above the last mark. */
static inline bool put_next(machine *m, uint64_t index, const tm_pickle_value *top) {
    tm_vec *memo = &m->out->memo;
    if (index != memo->n || top == m->floor)
        return false;
    ((tm_pickle_value *)memo->data)[memo->n++] = top[-1];
    return true;
}

/* Runs an opcode that only pushes a value or stores it in the memo, and returns the position of the
 * next opcode. Returns NULL without doing anything for other opcodes and for special cases. */
static inline const unsigned char *push_one(machine *m, const unsigned char *op,
                                            tm_pickle_value **top) {
    switch (*op) {
    case OP_BINGET:
        return get(m, op[1], top) ? op + 2 : NULL;
    case OP_LONG_BINGET:
        return get(m, number(op + 1, 4), top) ? op + 5 : NULL;
    case OP_BINPUT:
        return put_next(m, op[1], *top) ? op + 2 : NULL;
    case OP_LONG_BINPUT:
        return put_next(m, number(op + 1, 4), *top) ? op + 5 : NULL;
    case OP_MARK:
        *(*top)++ = of_int(m->floor - m->stack, TM_PICKLE_NONE);
        m->floor = *top;
        return op + 1;
    case OP_EMPTY_LIST:
    case OP_EMPTY_TUPLE:
        *(*top)++ = new_container(m, TM_PICKLE_LIST);
        return op + 1;
    case OP_EMPTY_DICT:
        *(*top)++ = new_container(m, TM_PICKLE_DICT);
        return op + 1;
    case OP_NONE:
        *(*top)++ = of_int(0, TM_PICKLE_NONE);
        return op + 1;
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        *(*top)++ = of_int(*op == OP_NEWTRUE, TM_PICKLE_BOOL);
        return op + 1;
    case OP_BININT1:
        *(*top)++ = of_int(op[1], TM_PICKLE_INT);
        return op + 2;
    case OP_BININT2:
        *(*top)++ = of_int((int64_t)number(op + 1, 2), TM_PICKLE_INT);
        return op + 3;
    case OP_BININT:
        *(*top)++ = of_int((int32_t)number(op + 1, 4), TM_PICKLE_INT);
        return op + 5;
    case OP_LONG1:
        if (op[1] > 8)
            return NULL;
        *(*top)++ = long_of(op + 2, op[1]);
        return op + 2 + op[1];
    case OP_BINFLOAT:
        *(*top)++ = real_of(op + 1);
        return op + 9;
    default:
        return NULL;
    }
}

/* Runs opcodes as long as push_one handles them. This is the case for nine of ten opcodes, because
 * half of all opcodes only fetch keys and texts from the memo. */
static const char *push_row(machine *m) {
    const unsigned char *op = m->op, *next, *safe = m->safe;
    tm_pickle_value *top = m->top;
    do {
        next = *op == OP_BINGET && get(m, op[1], &top) ? op + 2 : push_one(m, op, &top);
        op = next ? next : op;
    } while (next && op < safe);
    const bool any = op > m->op;
    m->op = m->next = op;
    m->top = top;
    return any ? NULL : "a memo index has no value";
}

static inline size_t above_mark(const machine *m) {
    return (size_t)(m->top - m->floor);
}

/* Pushes a tuple of @p n values that were just removed from the stack. */
static inline const char *push_tuple(machine *m, const tm_pickle_value *items, size_t n) {
    const tm_pickle_value made = new_container(m, TM_PICKLE_LIST);
    tm_pickle_run *run = (tm_pickle_run *)m->out->containers.data + made.as.id;
    m->values += n;
    if (m->values > VALUES_MAX)
        return many_values;
    return n == 0 || extend(m->out, run, items, n) ? push(m, made) : no_memory;
}

static inline const char *make_tuple(machine *m, size_t n) {
    if (above_mark(m) < n)
        return "a tuple has more values than the stack";
    m->top -= n;
    return push_tuple(m, m->top, n);
}

/* Adds @p n values that were just removed from the stack to the container that is now on top. */
static inline const char *add_items(machine *m, const tm_pickle_value *items, size_t n,
                                    tm_pickle_type type) {
    if (m->top == m->floor)
        return no_container;
    if (m->top[-1].type != type || (type == TM_PICKLE_DICT && n % 2 != 0))
        return "values do not fit their list or dict";
    m->values += n;
    if (m->values > VALUES_MAX)
        return many_values;
    tm_pickle_run *run = (tm_pickle_run *)m->out->containers.data + m->top[-1].as.id;
    return n == 0 || extend(m->out, run, items, n) ? NULL : no_memory;
}

/* Adds the top @p n values to the container below them. */
static inline const char *add_top(machine *m, size_t n, tm_pickle_type type) {
    if (above_mark(m) <= n)
        return no_container;
    m->top -= n;
    return add_items(m, m->top, n, type);
}

/* Removes the last mark and the values above it. Returns the address of these values, whose memory
 * stays unchanged until the next push. Returns NULL if there is no mark. */
static inline const tm_pickle_value *leave_mark(machine *m, size_t *n) {
    const tm_pickle_value *items = m->floor;
    if (items == m->stack)
        return NULL;
    *n = above_mark(m);
    m->top = m->floor - 1;
    m->floor = m->stack + m->top->as.i;
    return items;
}

/* Adds the values above the last mark to the container below it. */
static inline const char *add_marked(machine *m, tm_pickle_type type) {
    size_t n = 0;
    const tm_pickle_value *items = leave_mark(m, &n);
    return items ? add_items(m, items, n, type) : no_mark;
}

static inline const char *make_marked_tuple(machine *m) {
    size_t n = 0;
    const tm_pickle_value *items = leave_mark(m, &n);
    return items ? push_tuple(m, items, n) : no_mark;
}

/* Adds empty values to the memo until it has @p n of them. Writers use the indices 0, 1, 2, ... in
 * turn, and each index takes at least one byte of the file, so an index greater than the offset is
 * invalid. */
static const char *skip_in_memo(machine *m, uint64_t n) {
    tm_vec *memo = &m->out->memo;
    if (n > (uint64_t)offset(m) || n >= VALUES_MAX)
        return "a memo index is impossible";
    if (!tm_vec_reserve(memo, (size_t)n + 1 + (size_t)(m->end - m->next)))
        return no_memory;
    while (memo->n < n)
        ((tm_pickle_value *)memo->data)[memo->n++] = (tm_pickle_value){.type = TM_PICKLE_NONE};
    return NULL;
}

static inline const char *put(machine *m, uint64_t index) {
    tm_vec *memo = &m->out->memo;
    if (m->top == m->floor)
        return "there is no value to store in the memo";
    const char *why = index > memo->n ? skip_in_memo(m, index) : NULL;
    if (why)
        return why;
    ((tm_pickle_value *)memo->data)[index] = m->top[-1];
    memo->n += index == memo->n;
    return NULL;
}

static const char *stop(machine *m) {
    if (m->top - m->stack != 1 || m->floor != m->stack)
        return "the pickle does not end with exactly one value";
    m->out->root = *m->stack;
    return stopped;
}

#define OPCODE_FUNCTION(byte, name, size, does)                                                    \
    static const char *run_##name(machine *m) {                                                    \
        m->next += 1 + (size);                                                                     \
        return does;                                                                               \
    }
OPCODES(OPCODE_FUNCTION)

#define OPCODE_RUN(byte, name, size, does) [byte] = run_##name,
static const char *(*const opcodes[256])(machine *m) = {OPCODES(OPCODE_RUN)};

static tm_status refuse(const machine *m, unsigned char opcode) {
#define REFUSED(byte, name)                                                                        \
    if (opcode == (byte))                                                                          \
        return fail(m, "the pickle calls code (" #name "), which plain data never does: refused");
    HOSTILE(REFUSED)
#undef REFUSED
    return tm_fail(m->err, TM_ERR_INPUT, tm_source_path(m->source), offset(m),
                   "not an instruction of a pickle of plain data (0x%02x)", opcode);
}

/* Reads until the buffer has the next opcode with its whole argument. */
static bool have_opcode(machine *m) {
    const bool had = have(m, 1) && have(m, sizes[*m->next]);
    m->op = had ? m->next : m->op;
    return had;
}

static tm_status run(machine *m) {
    const char *why = NULL;
    while (!why) {
        m->op = m->next;
        if (m->next >= m->safe && !have_opcode(m))
            return m->status;
        if (!opcodes[*m->next])
            return refuse(m, *m->next);
        why = opcodes[*m->next](m);
    }
    if (why != stopped)
        return why == unread ? m->status : why == no_memory ? tm_fail_memory(m->err) : fail(m, why);
    m->op = m->next;
    size_t n = (size_t)(m->end - m->next);
    if (n == 0)
        TM_TRY(tm_source_read(m->source, m->buffer, BUFFER, &n, m->err));
    return n == 0 ? TM_OK : fail(m, "something follows the pickle");
}

/* If the file ended early, puts the items read so far into the containers that were open. A key
 * without a value is not added to a dict. */
static tm_status close_open(machine *m) {
    m->ended = false;
    while (m->floor > m->stack) {
        size_t n = 0;
        const tm_pickle_value *items = leave_mark(m, &n);
        const tm_pickle_type type = above_mark(m) > 0 ? m->top[-1].type : TM_PICKLE_NONE;
        const size_t odd = type == TM_PICKLE_DICT ? n % 2 : 0;
        if ((type == TM_PICKLE_LIST || type == TM_PICKLE_DICT) &&
            add_items(m, items, n - odd, type))
            return tm_fail_memory(m->err);
    }
    if (m->top == m->stack)
        return fail(m, "the file ends before the first value of the pickle");
    m->out->root = *m->stack;
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
    *run = (tm_pickle_run){.n = 0};
    *out = (tm_pickle_value){.as.id = (uint32_t)pickle->containers.n - 1, .type = type};
    return n == 0 || extend(pickle, run, items, n);
}

tm_status tm_pickle_read_cut(tm_source *source, tm_pickle *out, bool *cut, tm_error *err) {
    machine m = {.source = source, .out = out, .err = err, .buffer = malloc(BUFFER + 8)};
    m.text = TM_VEC(char);
    m.next = m.end = m.safe = m.buffer;
    const bool ready = tm_pickle_clear(out) && m.buffer && tm_vec_reserve(&out->stack, 1);
    m.stack = m.top = m.floor = out->stack.data;
    tm_status status = ready ? run(&m) : tm_fail_memory(err);
    if (cut && (*cut = status == TM_ERR_INPUT && m.ended))
        status = close_open(&m);
    free(m.buffer);
    tm_vec_free(&m.text);
    return status;
}

tm_status tm_pickle_read(tm_source *source, tm_pickle *out, tm_error *err) {
    return tm_pickle_read_cut(source, out, NULL, err);
}

void tm_pickle_free(tm_pickle *pickle) {
    TM_VECS_FREE(&pickle->containers, &pickle->items, &pickle->stack, &pickle->memo);
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
