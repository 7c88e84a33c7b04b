#include "kineto_fused.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/export_mark.h"
#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "identity/rank_numbers.h"
#include "kineto_named.h"
#include "readers/chrome.h"
#include "readers/number.h"
#include "tmerge/reader.h"

static void drop(tm_json_text *text, size_t size) {
    text->bytes += size;
    text->size -= size;
}

static int64_t owner_by_export(tm_json_text *pid) {
    static const char begin[] = "rank ", end[] = ": ";
    size_t n = strlen(begin), digits = 0;
    int64_t rank;
    if (pid->size < n || memcmp(pid->bytes, begin, n) != 0)
        return -1;
    while (n + digits < pid->size && pid->bytes[n + digits] >= '0' && pid->bytes[n + digits] <= '9')
        digits++;
    if (digits == 0 || digits > 9 || pid->size < n + digits + strlen(end) ||
        memcmp(pid->bytes + n + digits, end, strlen(end)) != 0 ||
        !tm_number_int(pid->bytes + n, digits, &rank))
        return -1;
    drop(pid, n + digits + strlen(end));
    return rank;
}

/* Returns whether a blank and a process number are at a position, as in "[TP01 83]". */
static bool number_follows(const tm_json_text *pid, size_t at) {
    return pid->bytes[at] == ' ' && at + 1 < pid->size && pid->bytes[at + 1] >= '0' &&
           pid->bytes[at + 1] <= '9';
}

/* Returns the label in brackets at the start of a process id; size 0 if there is none. */
static tm_json_text label_of(const tm_json_text *pid) {
    tm_json_text label = {.bytes = ""};
    if (pid->size == 0 || *pid->bytes != '[')
        return label;
    label.bytes = pid->bytes + 1;
    while (label.size + 1 < pid->size && label.bytes[label.size] != ']' &&
           !number_follows(pid, label.size + 1))
        label.size++;
    return label;
}

static int64_t owner_by_pid(tm_json_text *pid) {
    const tm_json_text label = label_of(pid);
    if (label.size == 0)
        return -1;
    bool inside = label.size + 1 < pid->size && label.bytes[label.size] == ' ';
    uint64_t hash = tm_hash_mixed(0, label.bytes, label.size);
    drop(pid, label.size + 1);
    while (pid->size > 0 && (*pid->bytes == ']' || *pid->bytes == ' '))
        drop(pid, 1);
    pid->size -= inside && pid->size > 0; /* drop the closing bracket */
    return (int64_t)(hash >> 1);
}

static int64_t owner_by_arg(const tm_kineto_event *event) {
    int64_t rank;
    const tm_json_text *text = &event->fields[F_RANK].text;
    bool reported = tm_kineto_has(event, F_RANK) && tm_number_int(text->bytes, text->size, &rank);
    return reported && rank >= 0 && rank <= TM_RANK_MAX ? rank : -1;
}

int64_t tm_kineto_owner(tm_kineto_way way, tm_kineto_event *event) {
    switch (way) {
    case TM_KINETO_EXPORT:
        return owner_by_export(&event->pid);
    case TM_KINETO_PID:
        return owner_by_pid(&event->pid);
    case TM_KINETO_ARG:
        return owner_by_arg(event);
    case TM_KINETO_NAME: /* see kineto_named.h */
    case TM_KINETO_ALONE:
        break;
    }
    return -1;
}

static bool is_labelled(const tm_json_text *pid) {
    const tm_json_text text = label_of(pid);
    const tm_rank_label label = tm_rank_label_of(text.bytes, text.size);
    return !tm_rank_label_is_empty(&label);
}

/* Returns the start of the first event of a document. Returns NULL if it is not in the head. */
static const char *first_event(const char *head) {
    const char *events = strstr(head, "\"traceEvents\"");
    events = events                        ? strchr(events, '[')
             : *tm_json_space(head) == '[' ? tm_json_space(head)
                                           : NULL;
    events = events ? tm_json_space(events + 1) : NULL;
    return events && *events == '{' ? events : NULL;
}

static tm_kineto_way way_of(const tm_kineto_event *event) {
    return is_labelled(&event->pid)                                     ? TM_KINETO_PID
           : owner_by_arg(event) >= 0                                   ? TM_KINETO_ARG
           : tm_rank_of_process(event->pid.bytes, event->pid.size) >= 0 ? TM_KINETO_NAME
                                                                        : TM_KINETO_ALONE;
}

tm_kineto_way tm_kineto_way_of(const char *head, size_t size, bool whole) {
    static const char export[] = TM_EXPORT_FIRST "\"" TM_EXPORT_RANKS "\": [";
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    tm_chrome_keys *keys;
    tm_kineto_event event = {0};
    tm_kineto_way way = TM_KINETO_ALONE;
    if (strncmp(head, export, strlen(export)) == 0)
        return TM_KINETO_EXPORT;
    const char *p = first_event(head);
    keys = p ? malloc(sizeof *keys) : NULL;
    if (!keys)
        return way;
    tm_chrome_keys_init(keys, tm_kineto_fields, N_FIELDS);
    while (p && *p == '{' && way == TM_KINETO_ALONE && event.phase != 'X') {
        p = tm_chrome_event_parse(&cursor, keys, p, &event);
        way = p ? way_of(&event) : way;
        p = p ? tm_json_space(p) : NULL;
        p = p && *p == ',' ? tm_json_space(p + 1) : NULL;
    }
    free(keys);
    return way;
}

typedef struct owners {
    tm_kineto_way way;
    tm_keys known; /* keys of type int64_t: owners */
    tm_vec labels; /* vector of tm_rank_label */
    int64_t n_reported, n_unreported;
} owners;

static bool note_owner(void *context, tm_json_cursor *cursor, tm_chrome_event *event) {
    owners *o = context;
    const tm_json_text label = label_of(&event->pid);
    int64_t owner = tm_kineto_owner(o->way, event);
    (void)cursor;
    o->n_reported += owner >= 0;
    o->n_unreported += owner < 0 && event->phase == 'X';
    if (owner < 0)
        return true;
    uint32_t number = tm_keys_add(&o->known, &owner);
    if (number == TM_NO_KEY || number < o->labels.n)
        return number != TM_NO_KEY;
    const tm_rank_label added = tm_rank_label_of(label.bytes, label.size);
    return tm_vec_append(&o->labels, &added, 1) != NULL;
}

static tm_status number_owners(const owners *o, int64_t *ranks, int64_t *reported, tm_error *err) {
    const int64_t *known = o->known.keys.data;
    tm_rank_label *labels = o->labels.data;
    size_t n = o->labels.n;
    for (size_t i = 0; i < n && o->way == TM_KINETO_ARG; i++)
        ranks[i] = reported[i] = known[i];
    if (o->way == TM_KINETO_ARG)
        return TM_OK;
    TM_TRY(tm_rank_labels_number(labels, n, 0, ranks, err));
    /* The reported rank is the rank within the replica, because each replica numbers its ranks from
     * 0. */
    for (size_t i = 0; i < n; i++)
        labels[i].of[TM_WORD_DP] = -1;
    return tm_rank_labels_number(labels, n, 0, reported, err);
}

TM_ORDER_BY(by_rank, tm_unit, rank, process);

static tm_status add_owners(const owners *o, tm_vec *units, tm_error *err) {
    size_t n = o->labels.n, first = units->n;
    const int64_t *known = o->known.keys.data;
    int64_t *numbers = malloc((2 * n + 1) * sizeof *numbers);
    tm_status status = numbers ? number_owners(o, numbers, numbers + n, err) : tm_fail_memory(err);
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        const tm_unit unit = {.process = known[i],
                              .devices = o->way,
                              .rank = numbers[i],
                              .reported = numbers[n + i],
                              .clock_ns = -1};
        status = tm_vec_append(units, &unit, 1) ? TM_OK : tm_fail_memory(err);
    }
    if (status == TM_OK && n > 1)
        qsort((tm_unit *)units->data + first, n, units->size, by_rank);
    free(numbers);
    return status;
}

tm_status tm_kineto_scan(const char *path,
                         bool (*emit)(void *context, tm_json_cursor *cursor,
                                      tm_chrome_event *event),
                         void *context, tm_error *err) {
    const tm_chrome_form form = {.fields = tm_kineto_fields, .n_fields = N_FIELDS, .emit = emit};
    tm_source *source;
    tm_trace trace;
    tm_part part;
    tm_error unread;
    if (tm_source_open(path, &source, &unread) != TM_OK)
        return TM_OK; /* the reader will report this error */
    tm_trace_init(&trace);
    tm_part_init(&part, &trace);
    tm_status status = tm_chrome_read_part(source, &form, -1, context, &part, &unread);
    tm_part_free(&part);
    tm_trace_free(&trace);
    tm_source_close(source);
    return status == TM_ERR_FAULT ? tm_fail_memory(err) : TM_OK;
}

static tm_status fail_unreported(const char *path, int64_t n_unreported, tm_error *err) {
    return tm_fail(
        err, TM_ERR_INPUT, path, -1,
        "contains the traces of several ranks, but %" PRId64
        " of its events do not say to which rank they belong; give the ranks' own traces",
        n_unreported);
}

/* Lists the ranks of a file in which only the names of processes show the ranks. */
static tm_status list_named(const char *path, tm_vec *units, tm_error *err) {
    tm_kineto_named named;
    tm_status status = tm_kineto_named_read(path, &named, err);
    const int64_t *reported = named.reported.data;
    size_t n = named.n_unreported == 0 ? named.reported.n : 0;
    if (status == TM_OK && named.reported.n > 1 && n == 0)
        status = fail_unreported(path, named.n_unreported, err);
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        const tm_unit unit = {.process = reported[i],
                              .devices = TM_KINETO_NAME,
                              .rank = reported[i],
                              .reported = reported[i],
                              .clock_ns = -1};
        status = tm_vec_append(units, &unit, 1) ? TM_OK : tm_fail_memory(err);
    }
    tm_kineto_named_free(&named);
    return status;
}

tm_status tm_kineto_list_fused(const char *path, tm_kineto_way way, tm_vec *units, tm_error *err) {
    owners o = {.way = way, .known = TM_KEYS(int64_t), .labels = TM_VEC(tm_rank_label)};
    if (way == TM_KINETO_ALONE || way == TM_KINETO_NAME)
        return list_named(path, units, err);
    tm_status status = tm_kineto_scan(path, note_owner, &o, err);
    if (status == TM_OK && o.n_unreported == 0)
        status = add_owners(&o, units, err);
    else if (status == TM_OK && o.n_unreported < o.n_reported && o.labels.n > 1)
        status = fail_unreported(path, o.n_unreported, err);
    tm_keys_free(&o.known);
    tm_vec_free(&o.labels);
    return status;
}
