/* Repeats the events of a Kineto trace, so that a small real trace becomes a large one.
 *
 *   scale_trace [-b BYTES | -n TIMES] [-p MICROSECONDS] < trace.json > larger.json
 *
 * Only times, ids and step numbers differ between repetitions. All other bytes, including white
 * space and the order of keys, stay as the profiler wrote them. Metadata records (phase M) are
 * written only once. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_EVENT = 1, DEPTH_ARGS = 2, NUMBER_MAX = 24 };

/* Kinds of numbers that differ between repetitions. */
typedef enum edit_kind { EDIT_TIME, EDIT_ID, EDIT_STEP, N_EDIT_KINDS } edit_kind;

/* The digits of a number that differs between repetitions, up to its decimal point. */
typedef struct edit {
    size_t at, size; /* position in the text */
    int64_t value;
    edit_kind kind;
} edit;

typedef struct event {
    size_t begin, end; /* position in the text, including the braces */
    size_t first_edit, edits;
    bool once; /* true: a metadata record, which is written only once */
} event;

typedef struct trace {
    char *text;
    size_t size;
    event *events;
    size_t n_events, events_cap;
    edit *edits;
    size_t n_edits, edits_cap;
    int64_t low[N_EDIT_KINDS], high[N_EDIT_KINDS];
} trace;

_Noreturn static void die(const char *what) {
    fprintf(stderr, "scale_trace: %s\n", what);
    exit(1);
}

/* Makes room for one more element if the array is full. Returns the array. */
static void *grown(void *array, size_t n, size_t *cap, size_t size) {
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 4096;
    array = realloc(array, *cap * size);
    if (!array)
        die("out of memory");
    return array;
}

static void read_input(trace *t) {
    size_t cap = 0;
    ssize_t got;
    do {
        if (t->size + 1 >= cap) {
            cap = cap ? cap * 2 : (size_t)1 << 20;
            t->text = realloc(t->text, cap);
            if (!t->text)
                die("out of memory");
        }
        got = read(STDIN_FILENO, t->text + t->size, cap - t->size - 1);
        if (got > 0)
            t->size += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0)
        die("standard input cannot be read");
    t->text[t->size] = '\0';
}

/* Returns the position after the string whose opening quote is at p. */
static size_t string_end(const trace *t, size_t p) {
    for (p++; p < t->size && t->text[p] != '"'; p++)
        p += t->text[p] == '\\';
    if (p >= t->size)
        die("a string does not end");
    return p + 1;
}

static size_t space_end(const trace *t, size_t p) {
    return p + strspn(t->text + p, " \t\r\n");
}

static bool is_key(const trace *t, size_t at, const char *key) {
    size_t size = strlen(key);
    return strncmp(t->text + at + 1, key, size) == 0 && t->text[at + 1 + size] == '"';
}

static void add_edit(trace *t, size_t at, edit_kind kind) {
    size_t size = strspn(t->text + at, "0123456789");
    if (size == 0 || size > 18)
        return; /* null, a negative number or a string, which stays unchanged */
    t->edits = grown(t->edits, t->n_edits, &t->edits_cap, sizeof *t->edits);
    edit *e = &t->edits[t->n_edits];
    *e = (edit){.at = at, .size = size, .kind = kind, .value = strtoll(t->text + at, NULL, 10)};
    if (kind == EDIT_ID && e->value == 0)
        return; /* 0 is ROCm's value for no id */
    t->n_edits++;
    if (e->value < t->low[kind])
        t->low[kind] = e->value;
    if (e->value > t->high[kind])
        t->high[kind] = e->value;
}

/* Handles a member of an event or of its args; `key` and `value` are positions in the text. */
static void look_at_member(trace *t, event *e, int depth, size_t key, size_t value) {
    static const char *const ids[] = {"correlation", "External id",      "external id",    "Ev Idx",
                                      "Python id",   "Python parent id", "Sequence number"};
    static const char step[] = "\"ProfilerStep#";
    if (depth == DEPTH_EVENT && is_key(t, key, "ts"))
        add_edit(t, value, EDIT_TIME);
    else if (depth == DEPTH_EVENT && is_key(t, key, "id"))
        add_edit(t, value + (t->text[value] == '"'), EDIT_ID);
    else if (depth == DEPTH_EVENT && is_key(t, key, "ph"))
        e->once = t->text[value + 1] == 'M';
    else if (depth == DEPTH_EVENT && is_key(t, key, "name") &&
             strncmp(t->text + value, step, sizeof step - 1) == 0)
        add_edit(t, value + sizeof step - 1, EDIT_STEP);
    for (size_t i = 0; depth == DEPTH_ARGS && i < sizeof ids / sizeof *ids; i++)
        if (is_key(t, key, ids[i]))
            add_edit(t, value + (t->text[value] == '"'), EDIT_ID);
}

/* Reads the event whose opening brace is at position p. Returns the position after the event. Takes
 * any object directly in the event for its args, because profilers write no other objects there. */
static size_t read_event(trace *t, size_t p) {
    t->events = grown(t->events, t->n_events, &t->events_cap, sizeof *t->events);
    event *e = &t->events[t->n_events++];
    *e = (event){.begin = p, .first_edit = t->n_edits};
    int depth = 0, arrays = 0;
    do {
        char c = t->text[p];
        if (c == '"') {
            size_t key = p;
            p = string_end(t, p);
            size_t colon = space_end(t, p);
            if (t->text[colon] == ':' && arrays == 0) {
                p = space_end(t, colon + 1);
                look_at_member(t, e, depth, key, p);
            }
            continue;
        }
        if (p >= t->size)
            die("an event does not end");
        depth += (c == '{') - (c == '}');
        arrays += (c == '[') - (c == ']');
        p++;
    } while (depth > 0);
    e->end = p;
    e->edits = t->n_edits - e->first_edit;
    return p;
}

/* Returns the position of the opening bracket of the array of events. This array is the value of
 * traceEvents in the outermost object, or the outermost value itself. */
static size_t find_events(const trace *t) {
    int depth = 0;
    size_t p = space_end(t, 0);
    if (t->text[p] == '[')
        return p;
    while (p < t->size) {
        char c = t->text[p];
        if (c == '"') {
            size_t key = p;
            p = string_end(t, p);
            size_t colon = space_end(t, p);
            if (depth == 1 && t->text[colon] == ':' && is_key(t, key, "traceEvents"))
                return space_end(t, colon + 1);
            continue;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        p++;
    }
    die("there is no traceEvents");
}

static void read_events(trace *t) {
    for (int k = 0; k < N_EDIT_KINDS; k++) {
        t->low[k] = INT64_MAX;
        t->high[k] = 0;
    }
    size_t p = find_events(t);
    if (t->text[p] != '[')
        die("traceEvents is no array");
    p = space_end(t, p + 1);
    while (t->text[p] == '{') {
        p = space_end(t, read_event(t, p));
        if (t->text[p] == ',')
            p = space_end(t, p + 1);
    }
    if (t->text[p] != ']' || t->n_events < 2)
        die("traceEvents does not hold two events or more");
    if (!t->edits)
        die("no event has a time");
}

static void put(const char *bytes, size_t size) {
    if (fwrite(bytes, 1, size, stdout) != size)
        die("standard output cannot be written");
}

static void put_event(const trace *t, const event *e, const int64_t shift[N_EDIT_KINDS]) {
    size_t done = e->begin;
    for (size_t i = e->first_edit; i < e->first_edit + e->edits; i++) {
        const edit *change = &t->edits[i];
        char digits[NUMBER_MAX];
        int n = snprintf(digits, sizeof digits, "%" PRId64, change->value + shift[change->kind]);
        put(t->text + done, change->at - done);
        put(digits, (size_t)n);
        done = change->at + change->size;
    }
    put(t->text + done, e->end - done);
}

static void put_all(const trace *t, int64_t times, int64_t period_us) {
    const event *first = t->events, *last = t->events + t->n_events - 1;
    int64_t steps = t->high[EDIT_STEP] - t->low[EDIT_STEP] + 1;
    put(t->text, first->begin);
    for (int64_t k = 0; k < times; k++) {
        const int64_t shift[N_EDIT_KINDS] = {
            [EDIT_TIME] = k * period_us,
            [EDIT_ID] = k * (t->high[EDIT_ID] + 1),
            [EDIT_STEP] = t->high[EDIT_STEP] ? k * steps : 0,
        };
        for (const event *e = first; e <= last; e++) {
            if (k > 0 && e->once)
                continue;
            if (k > 0 && e == first)
                put(e->end + t->text, e[1].begin - e->end);
            else if (e > first)
                put(e[-1].end + t->text, e->begin - e[-1].end);
            put_event(t, e, shift);
        }
    }
    put(t->text + last->end, t->size - last->end);
}

static int64_t number(const char *text) {
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (errno || *end || end == text || value <= 0)
        die("an option needs a number above 0");
    return value;
}

int main(int argc, char **argv) {
    int64_t bytes = 0, times = 1, period_us = 0;
    int option;
    while ((option = getopt(argc, argv, "b:n:p:")) != -1) {
        if (option == 'b')
            bytes = number(optarg);
        else if (option == 'n')
            times = number(optarg);
        else if (option == 'p')
            period_us = number(optarg);
        else
            die("usage: scale_trace [-b BYTES | -n TIMES] [-p MICROSECONDS]");
    }
    trace t = {0};
    read_input(&t);
    read_events(&t);
    int64_t size = (int64_t)t.size, least_us = t.high[EDIT_TIME] - t.low[EDIT_TIME] + 1;
    if (bytes > 0) /* rounds to whole repetitions */
        times = bytes < size ? 1 : (bytes + size / 2) / size;
    if (period_us > 0 && period_us < least_us)
        die("the trace covers more time than -p allows");
    put_all(&t, times, period_us > 0 ? period_us : least_us);
    if (fflush(stdout) != 0)
        die("standard output cannot be written");
    free(t.text);
    free(t.events);
    free(t.edits);
    return 0;
}
