#include "kineto_devices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sorted.h"
#include "kineto_category.h"
#include "kineto_flows.h"
#include "kineto_processes.h"
#include "timeline/classify.h"

static bool holds_ccl(const char *bytes, size_t size) {
    for (size_t i = 0; i + 3 <= size; i++)
        if (strncasecmp(bytes + i, "ccl", 3) == 0)
            return true;
    return false;
}

bool tm_kineto_may_communicate(const char *bytes, size_t size) {
    return tm_collective_kind_of_kernel(bytes, size) != TM_COLL_OTHER || holds_ccl(bytes, size);
}

/* Returns whether a kernel certainly communicates, whichever operator launched it. A name with
 * "reduce" or "broadcast" proves nothing, because computations also have such names. The name of a
 * fused kernel proves nothing either. It lists everything that was fused, including the wait for a
 * collective. */
static bool communicates(const char *bytes, size_t size) {
    if (holds_ccl(bytes, size))
        return true;
    if (size >= 7 && memcmp(bytes, "triton_", 7) == 0)
        return false;
    switch (tm_collective_kind_of_kernel(bytes, size)) {
    case TM_COLL_ALLREDUCE:
    case TM_COLL_ALLGATHER:
    case TM_COLL_REDUCESCATTER:
    case TM_COLL_ALLTOALL:
        return true;
    default:
        return false;
    }
}

/* A trace whose marked events are being judged. */
typedef struct judge {
    tm_part *whole;
    tm_trace *trace;
    tm_names *names;
    tm_vec pending;   /* vector of tm_mark: the marked events, grouped by category and process */
    tm_vec processes; /* vector of uint32_t: name ids of processes that have operators, ascending */
    tm_vec unknown;   /* vector of struct seen: categories that may be device work or not */
    tm_kineto_flows flows;
} judge;

typedef struct seen {
    uint32_t category; /* name id */
    int64_t n;
} seen;

static int by_value(const void *a, const void *b) {
    return tm_order_u64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static bool list_processes(judge *j) {
    const tm_raw_event *events = j->trace->events.data;
    const tm_track *tracks = j->trace->tracks.data;
    for (size_t i = 0; i < j->trace->events.n; i++) {
        uint32_t *last =
            j->processes.n > 0 ? (uint32_t *)j->processes.data + j->processes.n - 1 : NULL;
        if (events[i].category != TM_CAT_CPU_OP)
            continue;
        uint32_t pid = tracks[events[i].track].pid;
        if ((!last || *last != pid) && !tm_vec_append(&j->processes, &pid, 1))
            return false;
    }
    tm_vec_sort(&j->processes, by_value);
    return true;
}

/* Returns whether a process is a device. A label as GPU is not enough. Without a plugin that names
 * devices, the profiler labels processes 0 to 15 as GPUs, even if these GPUs do not exist. In a
 * container, the host process may have such a number. So the process must not have operators. */
static bool is_labelled(const judge *j, uint32_t pid) {
    const tm_label *labels = j->whole->labels.data;
    bool labelled = false;
    for (size_t i = 0; i < j->whole->labels.n && !labelled; i++) {
        tm_text text = tm_names_text(j->names, labels[i].text);
        labelled = labels[i].pid == pid && (labels[i].process || labels[i].tid == TM_NO_NAME) &&
                   tm_kineto_is_device_label(text.bytes, text.size);
    }
    return labelled && (j->processes.n == 0 ||
                        !bsearch(&pid, j->processes.data, j->processes.n, sizeof pid, by_value));
}

TM_ORDER_BY(by_category, tm_mark, text, pid, event);

static bool is_text(const judge *j, uint32_t id, const char *text) {
    return strcmp(tm_names_text(j->names, id).bytes, text) == 0;
}

/* Puts an event on its track, and adds the attributes of device work or of a call. */
static bool settle(judge *j, const tm_mark *mark, bool device) {
    tm_trace *trace = j->trace;
    tm_raw_event *event = (tm_raw_event *)trace->events.data + mark->event;
    size_t known = trace->tracks.n;
    bool call = !device && is_text(j, mark->text, "hpu_op");
    uint32_t index =
        tm_trace_track(trace, device ? TM_TRACK_GPU : TM_TRACK_CPU, mark->pid, mark->tid);
    if (index == UINT32_MAX)
        return false;
    tm_track *track = (tm_track *)trace->tracks.data + index;
    if (device && trace->tracks.n > known) {
        track->device = mark->device;
        track->stream = mark->stream;
    }
    event->track = index;
    event->category = device ? mark->category : call ? TM_CAT_RUNTIME : TM_CAT_OTHER;
    trace->counts[TM_COUNT_OTHER_CATEGORY] -= device || call;
    if (call && mark->value != 0) {
        const tm_launch_attr launch = {.correlation = mark->value, .event = mark->event};
        return tm_vec_append(&trace->attrs[TM_ATTR_LAUNCH], &launch, 1);
    }
    if (device && mark->category == TM_CAT_KERNEL)
        return tm_trace_add_kernel(trace, mark->event, mark->value, NULL);
    const tm_copy_attr copy = {.correlation = mark->value,
                               .bytes = mark->bytes,
                               .bandwidth_gbps = NAN,
                               .event = mark->event};
    return !device || tm_vec_append(&trace->attrs[TM_ATTR_COPY], &copy, 1);
}

static bool judge_group(judge *j, const tm_mark *marks, size_t n) {
    const tm_raw_event *events = j->trace->events.data;
    bool device = is_labelled(j, marks->pid);
    for (size_t i = 0; i < n && !device; i++)
        device =
            tm_kineto_flow_ends(&j->flows, j->names, &marks[i], events[marks[i].event].begin_ns);
    for (size_t i = 0; i < n; i++)
        if (!settle(j, &marks[i], device))
            return false;
    if (device || is_text(j, marks->text, "hpu_op"))
        return true;
    seen *last = j->unknown.n > 0 ? (seen *)j->unknown.data + j->unknown.n - 1 : NULL;
    if (last && last->category == marks->text)
        last->n += (int64_t)n;
    else if (!tm_vec_append(&j->unknown, &(seen){marks->text, (int64_t)n}, 1))
        return false;
    return true;
}

#define BY_EVENT(function, type)                                                                   \
    static int function(const void *a, const void *b) {                                            \
        return tm_order_u64(((const type *)a)->event, ((const type *)b)->event);                   \
    }
BY_EVENT(by_launch, tm_launch_attr)
BY_EVENT(by_kernel, tm_kernel_attr)
BY_EVENT(by_copy, tm_copy_attr)
BY_EVENT(by_collective, tm_collective_attr)
#undef BY_EVENT

static void sort_rows(tm_trace *trace, tm_attr attr, int (*compare)(const void *, const void *)) {
    tm_vec *rows = &trace->attrs[attr];
    tm_vec_sort(rows, compare);
}

static bool judge_pending(judge *j) {
    const tm_mark *marks = j->pending.data;
    size_t n = j->pending.n;
    if (n == 0)
        return true;
    if (!tm_kineto_flows_sort(&j->flows, j->whole) || !list_processes(j))
        return false;
    qsort(j->pending.data, n, sizeof *marks, by_category);
    for (size_t first = 0, i = 0; first < n; first = i) {
        while (i < n && marks[i].text == marks[first].text && marks[i].pid == marks[first].pid)
            i++;
        if (!judge_group(j, marks + first, i - first))
            return false;
    }
    sort_rows(j->trace, TM_ATTR_LAUNCH, by_launch);
    sort_rows(j->trace, TM_ATTR_KERNEL, by_kernel);
    sort_rows(j->trace, TM_ATTR_COPY, by_copy);
    return true;
}

/* An operator's id, and the collective that it requested. */
typedef struct asked {
    int64_t id;
    const tm_collective_attr *attr;
} asked;

TM_ORDER_BY(by_asked, asked, id);

static bool list_asked(const judge *j, const tm_vec *rows, tm_vec *out) {
    const tm_mark *marks = j->whole->marks.data;
    const tm_collective_attr *attrs = rows->data;
    const tm_raw_event *events = j->trace->events.data;
    for (size_t i = 0, r = 0; i < j->whole->marks.n; i++) {
        if (marks[i].kind != TM_MARK_LINK || events[marks[i].event].category != TM_CAT_CPU_OP)
            continue;
        while (r < rows->n && attrs[r].event < marks[i].event)
            r++;
        if (r < rows->n && attrs[r].event == marks[i].event && marks[i].value >= 0 &&
            !tm_vec_append(out, &(asked){marks[i].value, &attrs[r]}, 1))
            return false;
    }
    tm_vec_sort(out, by_asked);
    return true;
}

/* Sets the data about a collective that the name of its kernel contains. Returns false if the
 * kernel does not communicate. */
static bool by_name(const judge *j, uint32_t event, tm_collective_attr *out) {
    tm_text name = tm_names_text(j->names, ((tm_raw_event *)j->trace->events.data)[event].name);
    if (!communicates(name.bytes, name.size))
        return false;
    *out = tm_collective_bare(event);
    out->name = tm_names_intern_string(
        j->names, tm_collective_word(tm_collective_kind_of_kernel(name.bytes, name.size)));
    return true;
}

/* Copies the data about collectives from the operators that requested them to the kernels, because
 * kernels of an XPU have no such data. */
static bool link_collectives(judge *j) {
    tm_vec *rows = &j->trace->attrs[TM_ATTR_COLLECTIVE];
    tm_vec all = TM_VEC(asked), added = TM_VEC(tm_collective_attr);
    const tm_mark *marks = j->whole->marks.data;
    const tm_raw_event *events = j->trace->events.data;
    bool ok = list_asked(j, rows, &all);
    for (size_t i = 0; i < j->whole->marks.n && ok; i++) {
        tm_collective_attr attr;
        const asked key = {.id = marks[i].value};
        if (marks[i].kind != TM_MARK_LINK || events[marks[i].event].category != TM_CAT_KERNEL)
            continue;
        const asked *by = all.n > 0 ? bsearch(&key, all.data, all.n, sizeof key, by_asked) : NULL;
        if (by)
            attr = *by->attr;
        else if (!by_name(j, marks[i].event, &attr))
            continue;
        attr.event = marks[i].event;
        ok = attr.name != TM_NAME_FAILED && tm_vec_append(&added, &attr, 1);
    }
    ok = ok && tm_vec_append(rows, added.data, added.n);
    if (added.n > 0)
        sort_rows(j->trace, TM_ATTR_COLLECTIVE, by_collective);
    tm_vec_free(&all);
    tm_vec_free(&added);
    return ok;
}

/* Sets the stream of each GPU track: the first stream that an event on the track has. */
static void set_streams(judge *j) {
    const tm_mark *marks = j->whole->marks.data;
    tm_track *tracks = j->trace->tracks.data;
    for (size_t i = j->whole->marks.n; i-- > 0;)
        for (size_t t = 0; t < j->trace->tracks.n && marks[i].kind == TM_MARK_STREAM; t++)
            if (tracks[t].kind == TM_TRACK_GPU && tracks[t].pid == marks[i].pid &&
                tracks[t].tid == marks[i].tid)
                tracks[t].stream = marks[i].stream;
}

/* Removes the launch ids of events that MTIA's profiler puts on the device's process. Such an event
 * marks the end of a call and has the call's id. But the call itself launched the work, and is in
 * the host's process. */
static void keep_calls_of_hosts(judge *j) {
    tm_vec *rows = &j->trace->attrs[TM_ATTR_LAUNCH];
    tm_launch_attr *launches = rows->data;
    const tm_raw_event *events = j->trace->events.data;
    const tm_track *tracks = j->trace->tracks.data;
    const tm_mark *marks = j->whole->marks.data;
    size_t kept = 0, m = 0;
    while (m < j->whole->marks.n && marks[m].kind != TM_MARK_STREAM)
        m++;
    /* Only MTIA's profiler writes such events. Traces of other profilers are not changed. */
    if (m == j->whole->marks.n)
        return;
    for (size_t i = 0; i < rows->n; i++)
        if (!tm_kineto_is_of_device(j->trace, tracks[events[launches[i].event].track].pid))
            launches[kept++] = launches[i];
    rows->n = kept;
}

/* Appends a member to the metadata: a key, colon and quote, then a text that needs no escapes. Does
 * nothing if the metadata already has the member, as in an export of tmerge. */
static bool add_member(judge *j, const char *key, const char *text) {
    tm_vec *metadata = &j->whole->metadata;
    size_t n = strcspn(key, ":");
    for (size_t i = 0; i + n <= metadata->n; i++)
        if (memcmp((const char *)metadata->data + i, key, n) == 0)
            return true;
    return tm_vec_append(metadata, ",", 1) && tm_vec_append(metadata, key, strlen(key)) &&
           tm_vec_append(metadata, text, strlen(text)) && tm_vec_append(metadata, "\"", 1);
}

static bool name_devices(judge *j) {
    const tm_mark *marks = j->whole->marks.data;
    for (size_t i = 0; i < j->whole->marks.n; i++) {
        if (marks[i].kind != TM_MARK_DEVICES)
            continue;
        tm_text category = tm_names_text(j->names, marks[i].text);
        return add_member(j, TM_DEVICE_KIND, tm_kineto_device_word(category.bytes, category.size));
    }
    return true;
}

TM_ORDER_FALLING(most_first, seen, n, category);

/* Lists the unknown categories: "npu_op 1313, other_op 12". */
static bool name_unknown(judge *j) {
    enum { SHOWN_MAX = 6 };
    char text[512] = "";
    const seen *v = j->unknown.data;
    if (j->unknown.n == 0)
        return true;
    qsort(j->unknown.data, j->unknown.n, j->unknown.size, most_first);
    for (size_t i = 0; i < j->unknown.n && i < SHOWN_MAX; i++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%.48s %lld", i > 0 ? ", " : "",
                 tm_names_text(j->names, v[i].category).bytes, (long long)v[i].n);
        for (char *c = text + at; *c; c++)
            if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ' || (unsigned char)*c > '~')
                *c = '?';
    }
    size_t at = strlen(text);
    if (j->unknown.n > SHOWN_MAX)
        snprintf(text + at, sizeof text - at, ", and %zu more", j->unknown.n - SHOWN_MAX);
    return add_member(j, TM_OTHER_CATEGORIES, text);
}

static bool judge_all(judge *j) {
    const tm_mark *marks = j->whole->marks.data;
    for (size_t i = 0; i < j->whole->marks.n; i++)
        if (marks[i].kind == TM_MARK_PENDING && !tm_vec_append(&j->pending, &marks[i], 1))
            return false;
    set_streams(j);
    keep_calls_of_hosts(j);
    return judge_pending(j) && link_collectives(j) && name_devices(j) && name_unknown(j);
}

tm_status tm_kineto_judge_devices(tm_part *whole, tm_names *names, tm_error *err) {
    judge j = {
        .whole = whole,
        .trace = whole->trace,
        .names = names,
        .pending = TM_VEC(tm_mark),
        .processes = TM_VEC(uint32_t),
        .unknown = TM_VEC(seen),
    };
    tm_status status = judge_all(&j) ? TM_OK : tm_fail_memory(err);
    TM_VECS_FREE(&j.pending, &j.processes, &j.unknown);
    tm_kineto_flows_free(&j.flows);
    return status;
}
