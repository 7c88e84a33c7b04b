#include "kineto_named.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"
#include "base/sorted.h"
#include "identity/rank_from_path.h"
#include "kineto_fused.h"

enum { NONE = -1, SEVERAL = -2 };

/* Combines two ranks. If one of them is NONE, the result is the other one. Two different ranks give
 * SEVERAL. */
static void combine(int64_t *rank, int64_t other) {
    if (other != NONE)
        *rank = *rank == NONE || *rank == other ? other : SEVERAL;
}

/* Returns whether an event is a span of PyTorch's profiler itself. Such a span is not a rank's
 * work, and spans of several ranks may be in one process. */
static bool is_span(const char *category, size_t size) {
    return size == 5 && memcmp(category, "Trace", size) == 0;
}

static bool has_events(const tm_part *whole, const tm_names *names, uint32_t pid) {
    const tm_track *tracks = whole->trace->tracks.data;
    const tm_mark *marks = whole->marks.data;
    bool has = false;
    for (size_t t = 0; t < whole->trace->tracks.n && !has; t++)
        has = tracks[t].pid == pid;
    for (size_t m = 0; m < whole->marks.n && !has; m++) {
        tm_text category = tm_names_text(names, marks[m].text);
        has = marks[m].kind == TM_MARK_PENDING && marks[m].pid == pid &&
              !is_span(category.bytes, category.size);
    }
    return has;
}

bool tm_kineto_names_ranks(const tm_part *whole, const tm_names *names) {
    const tm_label *labels = whole->labels.data;
    const tm_track *tracks = whole->trace->tracks.data;
    int64_t found = NONE;
    for (size_t i = 0; i < whole->labels.n; i++) {
        tm_text name = tm_names_text(names, labels[i].text);
        int64_t rank = labels[i].process ? tm_rank_of_process(name.bytes, name.size) : NONE;
        if (rank != NONE && has_events(whole, names, labels[i].pid))
            combine(&found, rank);
    }
    for (size_t t = 0; t < whole->trace->tracks.n; t++) {
        tm_text pid = tm_names_text(names, tracks[t].pid);
        combine(&found, tm_rank_of_process(pid.bytes, pid.size));
    }
    return found == SEVERAL;
}

typedef struct process {
    int64_t rank, n_events;
} process;

typedef struct link {
    int64_t correlation;
    uint32_t process, unused;
} link;

typedef struct reading {
    tm_keys *ids;
    tm_vec processes; /* vector of process */
    tm_vec links;     /* vector of link */
} reading;

static uint64_t id_of(const tm_kineto_event *event) {
    return tm_hash_mixed(0, event->pid.bytes, event->pid.size);
}

static process *process_of(reading *r, const tm_kineto_event *event, uint32_t *number) {
    const uint64_t id = id_of(event);
    *number = tm_keys_add(r->ids, &id);
    if (*number == TM_NO_KEY || *number < r->processes.n)
        return *number == TM_NO_KEY ? NULL : (process *)r->processes.data + *number;
    const process added = {.rank = tm_rank_of_process(event->pid.bytes, event->pid.size)};
    return tm_vec_append(&r->processes, &added, 1);
}

static bool note(void *context, tm_json_cursor *cursor, tm_chrome_event *event) {
    reading *r = context;
    uint32_t number;
    process *p = process_of(r, event, &number);
    (void)cursor;
    if (!p)
        return false;
    if (event->phase == 'M' && event->has_name && tm_json_is(&event->name, "process_name") &&
        tm_kineto_has(event, F_NAME)) {
        const tm_json_text *name = &event->fields[F_NAME].text;
        combine(&p->rank, tm_rank_of_process(name->bytes, name->size));
    }
    if (event->phase != 'X' ||
        (event->has_category && is_span(event->category.bytes, event->category.size)))
        return true;
    p->n_events++;
    const link added = {.correlation = tm_kineto_int(event, F_CORRELATION, 0), .process = number};
    return added.correlation <= 0 || tm_vec_append(&r->links, &added, 1);
}

TM_ORDER_BY(by_correlation, link, correlation);

/* If a process without a rank shares correlation ids with exactly one rank, gives it this rank. */
static bool adopt(reading *r) {
    process *processes = r->processes.data;
    link *links = r->links.data;
    int64_t *ranks = malloc((r->processes.n + 1) * sizeof *ranks);
    for (size_t i = 0; ranks && i < r->processes.n; i++)
        ranks[i] = processes[i].rank;
    tm_vec_sort(&r->links, by_correlation);
    for (size_t i = 0, end; ranks && i < r->links.n; i = end) {
        int64_t rank = NONE;
        for (end = i; end < r->links.n && links[end].correlation == links[i].correlation; end++)
            combine(&rank, processes[links[end].process].rank);
        for (size_t k = i; k < end; k++)
            if (processes[links[k].process].rank == NONE)
                combine(&ranks[links[k].process], rank);
    }
    for (size_t i = 0; ranks && i < r->processes.n; i++)
        processes[i].rank = ranks[i];
    free(ranks);
    return ranks != NULL;
}

/* Stores the rank of each process, the ranks that have durations, and the number of durations
 * without a rank. Returns false if out of memory. */
static bool conclude(const reading *r, tm_kineto_named *out) {
    const process *v = r->processes.data;
    bool ok = true;
    for (size_t i = 0; i < r->processes.n && ok; i++) {
        int64_t rank = v[i].rank >= 0 ? v[i].rank : -1;
        out->n_unreported += rank < 0 ? v[i].n_events : 0;
        ok = tm_vec_append(&out->ranks, &rank, 1) &&
             (rank < 0 || v[i].n_events == 0 || tm_vec_append(&out->reported, &rank, 1));
    }
    int64_t *reported = out->reported.data;
    size_t n = out->reported.n;
    tm_sort_values(reported, n);
    out->reported.n = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || reported[i] != reported[i - 1])
            reported[out->reported.n++] = reported[i];
    return ok;
}

tm_status tm_kineto_named_read(const char *path, tm_kineto_named *out, tm_error *err) {
    *out = (tm_kineto_named){TM_KEYS(uint64_t), TM_VEC(int64_t), TM_VEC(int64_t), 0};
    reading r = {&out->processes, TM_VEC(process), TM_VEC(link)};
    tm_status status = tm_kineto_scan(path, note, &r, err);
    bool unnamed = false;
    const process *v = r.processes.data;
    for (size_t i = 0; i < r.processes.n; i++)
        unnamed = unnamed || (v[i].rank == NONE && v[i].n_events > 0);
    if (status == TM_OK && ((unnamed && !adopt(&r)) || !conclude(&r, out)))
        status = tm_fail_memory(err);
    tm_vec_free(&r.processes);
    tm_vec_free(&r.links);
    return status;
}

void tm_kineto_named_free(tm_kineto_named *named) {
    tm_keys_free(&named->processes);
    tm_vec_free(&named->ranks);
    tm_vec_free(&named->reported);
}

int64_t tm_kineto_named_owner(const tm_kineto_named *named, const tm_kineto_event *event) {
    const uint64_t id = id_of(event);
    uint32_t number = tm_keys_find(&named->processes, &id);
    return number == TM_NO_KEY ? -1 : ((const int64_t *)named->ranks.data)[number];
}
