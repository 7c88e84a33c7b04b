#include "viewer_programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "viewer_wire.h"

typedef struct run {
    int64_t process, begin_ps, end_ps;
    uint32_t name;
    /* number of devices in the group of the run's collectives; 0: the run has no collective; -1:
     * uncertain */
    int32_t size;
} run;

typedef struct collective {
    int64_t process, begin_ps;
    int32_t size; /* as in run, but never 0 */
} collective;

void tm_viewer_programs_init(tm_viewer_programs *programs) {
    *programs = (tm_viewer_programs){TM_VEC(run), TM_VEC(collective)};
}

void tm_viewer_programs_free(tm_viewer_programs *programs) {
    tm_vec_free(&programs->runs);
    tm_vec_free(&programs->collectives);
}

bool tm_viewer_programs_run(tm_viewer_programs *programs, int64_t process, uint32_t name,
                            int64_t begin_ps, int64_t end_ps) {
    const run found = {process, begin_ps, end_ps, name, 0};
    return tm_vec_append(&programs->runs, &found, 1) != NULL;
}

/* Returns the text after @p word; empty if the word is absent. */
static tm_text after(tm_text text, const char *word) {
    for (size_t i = 0; i < text.size; i++) {
        const tm_text rest = {text.bytes + i, text.size - i};
        if (tm_text_begins(rest, word))
            return (tm_text){rest.bytes + strlen(word), rest.size - strlen(word)};
    }
    return (tm_text){"", 0};
}

/* Whether a name is the name of a collective. False for an operation ("-done") that waits for a
 * collective. */
static bool communicates(tm_text name) {
    static const char *const words[] = {
        "all-reduce",         "all-gather",           "reduce-scatter",   "all-to-all",
        "collective-permute", "collective-broadcast", "ragged-all-to-all"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tm_text_begins(name, words[i]))
            return after(name, "-done").size == 0 &&
                   !tm_text_begins(after(name, words[i]), "-done");
    return false;
}

static int32_t number_at(const char **p, const char *end) {
    int32_t value = 0, digits = 0;
    for (; *p < end && **p >= '0' && **p <= '9' && digits < 7; (*p)++, digits++)
        value = value * 10 + (**p - '0');
    return digits > 0 ? value : -1;
}

/* Returns the number of devices in the group of a collective: 4 for "{{0,1,2,3}}" or "[1,4]<=[4]".
 * Returns -1 if there are several groups or none, or if the numbers are not device ids. */
static int32_t group_size(tm_text text) {
    tm_text groups = after(text, "replica_groups=");
    const char *p = groups.bytes, *end = p + groups.size;
    int32_t size = 0;
    if (!tm_text_begins(after(text, "use_global_device_ids="), "true"))
        return -1;
    if (tm_text_begins(groups, "[1,")) {
        p += 3;
        size = number_at(&p, end);
        return size > 0 && tm_text_begins((tm_text){p, (size_t)(end - p)}, "]<=") ? size : -1;
    }
    if (!tm_text_begins(groups, "{{"))
        return -1;
    for (p += 2; number_at(&p, end) >= 0; p++) {
        size++;
        if (p == end || *p != ',')
            break;
    }
    return size > 0 && tm_text_begins((tm_text){p, (size_t)(end - p)}, "}}") ? size : -1;
}

bool tm_viewer_programs_take(tm_viewer_programs *programs, int64_t process, tm_text name,
                             tm_text text, int64_t begin_ps) {
    if (!communicates(name))
        return true;
    const collective found = {process, begin_ps, group_size(text)};
    return tm_vec_append(&programs->collectives, &found, 1) != NULL;
}

TM_ORDER_BY(by_begin, run, process, begin_ps);

static bool begins_by(const void *element, const void *key) {
    return by_begin(element, key) <= 0;
}

/* Sets the group size of each run from its collectives. */
static void find_sizes(tm_viewer_programs *programs) {
    run *runs = programs->runs.data;
    const collective *v = programs->collectives.data;
    for (size_t i = 0; i < programs->collectives.n; i++) {
        const run key = {.process = v[i].process, .begin_ps = v[i].begin_ps};
        size_t at = tm_bisect(runs, programs->runs.n, sizeof *runs, &key, begins_by);
        run *found = at > 0 ? &runs[at - 1] : NULL;
        if (!found || found->process != v[i].process || found->end_ps < v[i].begin_ps)
            continue;
        found->size = found->size == 0 || found->size == v[i].size ? v[i].size : -1;
    }
}

TM_ORDER_BY(by_name, run, name, process);

/* Returns the group size of the runs [first, end) of a program. Sets *n_devices to the number of
 * devices that ran the program. */
static int32_t size_of(const run *runs, size_t first, size_t end, int32_t *n_devices) {
    int32_t size = 0;
    *n_devices = 0;
    for (size_t i = first; i < end; i++) {
        *n_devices += i == first || runs[i].process != runs[i - 1].process;
        if (runs[i].size != 0)
            size = size == 0 || size == runs[i].size ? runs[i].size : -1;
    }
    return size;
}

/* The runs of a program, and its number of devices. */
typedef struct program {
    const run *first, *end;
    int32_t size;
} program;

/* Writes a DeviceAssignmentProto with a single replica. The replica has one partition for each
 * device. */
static bool add_assignment(const program *p, const tm_viewer_devices *devices, tm_vec *out) {
    enum { REPLICAS = 1, PARTS, DEVICES, REPLICA = 1 };
    bool ok = tm_viewer_add_varint(out, REPLICAS, 1) &&
              tm_viewer_add_varint(out, PARTS, (uint64_t)p->size);
    for (const run *r = p->first; r < p->end && ok; r++) {
        uint8_t device[TM_VIEWER_FIELD_MAX];
        if (r > p->first && r->process == r[-1].process)
            continue;
        size_t n = tm_viewer_put_varint(device, REPLICA << 3 | TM_VIEWER_VARINT);
        n += tm_viewer_put_varint(device + n,
                                  (uint64_t)devices->number_of(devices->context, r->process));
        ok = tm_viewer_add_bytes(out, DEVICES, device, n);
    }
    return ok;
}

/* Replaces a message by another message that contains it in a field. */
static bool wrap(tm_vec *message, uint32_t field, tm_vec *scratch) {
    scratch->n = 0;
    if (!tm_viewer_add_bytes(scratch, field, message->data, message->n))
        return false;
    const tm_vec swapped = *message;
    *message = *scratch;
    *scratch = swapped;
    return true;
}

/* Writes a module in the form that an XSpace has: an entry of the plane's metadata that contains
 * the program's HLO. The HLO contains only the device assignment. */
static bool add_program(uint64_t id, tm_text name, tm_vec *assignment, tm_vec *scratch,
                        tm_vec *plane) {
    enum { META_ID = 1, META_NAME, META_STAT = 5, STAT_BYTES = 6 };
    enum { HLO_MODULE = 1, MODULE_ASSIGNMENT = 15, ENTRY_KEY = 1, ENTRY_VALUE, PLANE_META = 4 };
    tm_vec *m = assignment;
    bool ok = wrap(m, MODULE_ASSIGNMENT, scratch) && wrap(m, HLO_MODULE, scratch) &&
              wrap(m, STAT_BYTES, scratch) && wrap(m, META_STAT, scratch) &&
              tm_viewer_add_varint(m, META_ID, id) &&
              tm_viewer_add_bytes(m, META_NAME, name.bytes, name.size) &&
              wrap(m, ENTRY_VALUE, scratch) && tm_viewer_add_varint(m, ENTRY_KEY, id);
    return ok && tm_viewer_add_bytes(plane, PLANE_META, m->data, m->n);
}

bool tm_viewer_programs_write(tm_viewer_programs *programs, const tm_names *texts,
                              const tm_viewer_devices *devices, tm_vec *out) {
    enum { SPACE_PLANE = 1, PLANE_NAME };
    static const char name[] = "/host:metadata";
    tm_vec message = TM_VEC(uint8_t), scratch = TM_VEC(uint8_t), plane = TM_VEC(uint8_t);
    run *runs = programs->runs.data;
    size_t n = programs->runs.n;
    bool ok = tm_viewer_add_bytes(&plane, PLANE_NAME, name, sizeof name - 1);
    if (n > 1)
        qsort(runs, n, sizeof *runs, by_begin);
    find_sizes(programs);
    if (n > 1)
        qsort(runs, n, sizeof *runs, by_name);
    for (size_t first = 0, end = 0; first < n && ok; first = end) {
        while (end < n && runs[end].name == runs[first].name)
            end++;
        int32_t n_devices;
        const program p = {runs + first, runs + end, size_of(runs, first, end, &n_devices)};
        message.n = 0;
        if (p.size > 0 && p.size == n_devices)
            ok = add_assignment(&p, devices, &message) &&
                 add_program(first + 1, tm_names_text(texts, p.first->name), &message, &scratch,
                             &plane);
    }
    ok = ok && tm_viewer_add_bytes(out, SPACE_PLANE, plane.data, plane.n);
    TM_VECS_FREE(&message, &scratch, &plane);
    return ok;
}
