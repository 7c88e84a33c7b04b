#include "ascend_peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/sorted.h"

/* Kinds of tasks, in the order in which an operation starts them. */
enum { SIGNALS, WAITS, COPIES, SENDS, N_SORTS };

/* Minimum number of peers of a mesh: a mesh of two ranks looks like a ring. */
enum { PEERS_LEAST = 2 };

typedef struct task {
    int64_t begin_ns;
    uint32_t track;
    int sort;
} task;

bool tm_ascend_is_mesh(const tm_json_text *word) {
    return tm_json_begins(word, "MESH");
}

static int sort_of(const tm_names *names, const tm_raw_event *event) {
    static const char *const words[N_SORTS] = {"Write Value", "Notify Wait", "SDMA", "RDMASend"};
    int sort = 0;
    if (event->kind != TM_DURATION || event->category != TM_CAT_GPU_ANNOTATION)
        return N_SORTS;
    const tm_text name = tm_names_text(names, event->name);
    while (sort < N_SORTS && !tm_text_is(name, words[sort]))
        sort++;
    return sort;
}

static int by_place(const void *a, const void *b) {
    const task *x = a, *y = b;
    int order = tm_order_i64(x->track, y->track);
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    return order ? order : x->sort - y->sort;
}

static bool list_tasks(const tm_trace *trace, const tm_names *names, tm_vec *out) {
    const tm_raw_event *events = trace->events.data;
    for (size_t i = 0; i < trace->events.n; i++) {
        const task t = {events[i].begin_ns, events[i].track, sort_of(names, &events[i])};
        if (t.sort < N_SORTS && !tm_vec_append(out, &t, 1))
            return false;
    }
    tm_vec_sort(out, by_place);
    return true;
}

/* Returns how many tasks at the start of the list [n] are of kind `sort`. Moves *v past these
 * tasks. */
static int32_t pass(const task **v, size_t *n, int sort) {
    int32_t passed = 0;
    for (; *n > 0 && (*v)->sort == sort; ++*v, --*n)
        passed++;
    return passed;
}

/* Returns the number of peers that an operation's first tasks on a stream show. Returns 0 if the
 * tasks are not those of a mesh, or if the operation also sends to other hosts. */
static int32_t peers_of(const task *v, size_t n) {
    int32_t counts[N_SORTS] = {0};
    for (size_t i = 0; i < n; i++)
        counts[v[i].sort]++;
    (void)pass(&v, &n, COPIES); /* These are the copies of the rank's own part. */
    const int32_t peers = pass(&v, &n, SIGNALS);
    return peers >= PEERS_LEAST && pass(&v, &n, WAITS) == peers && pass(&v, &n, COPIES) == peers &&
                   counts[WAITS] % peers == 0 && counts[SENDS] == 0
               ? peers
               : 0;
}

static bool is_before(const void *value, const void *key) {
    return by_place(value, key) < 0;
}

/* Returns the index of the first task that begins at `from_ns` or later on this track. If there is
 * none, returns the index of the first task of the next track, or tasks->n. */
static size_t first_at(const tm_vec *tasks, int64_t track, int64_t from_ns) {
    const task key = {from_ns, (uint32_t)track, 0};
    return track > UINT32_MAX ? tasks->n
                              : tm_bisect(tasks->data, tasks->n, tasks->size, &key, is_before);
}

/* Returns the largest number of peers that any stream shows for an operation. */
static int32_t peers_in(const tm_vec *tasks, const tm_raw_event *operation) {
    const task *v = tasks->data;
    const int64_t from = operation->begin_ns, to = from + operation->duration_ns;
    int32_t most = 0;
    for (size_t i = 0; i < tasks->n; i = first_at(tasks, (int64_t)v[i].track + 1, INT64_MIN)) {
        const size_t begin = first_at(tasks, v[i].track, from);
        const int32_t found = peers_of(v + begin, first_at(tasks, v[i].track, to) - begin);
        most = found > most ? found : most;
    }
    return most;
}

static void raise(tm_trace *trace, uint32_t name, int32_t peers) {
    tm_communicator *v = trace->communicators.data;
    for (size_t i = 0; i < trace->communicators.n; i++)
        if (v[i].name == name && v[i].n_ranks < 0 && peers > 0 && -v[i].n_ranks < peers + 1)
            v[i].n_ranks = -(peers + 1);
}

tm_status tm_ascend_count_peers(tm_trace *trace, const tm_names *names, const tm_vec *mesh,
                                tm_error *err) {
    const tm_collective_attr *attrs = trace->attrs[TM_ATTR_COLLECTIVE].data;
    const tm_raw_event *events = trace->events.data;
    const uint32_t *rows = mesh->data;
    tm_vec tasks = TM_VEC(task);
    if (mesh->n > 0 && !list_tasks(trace, names, &tasks)) {
        tm_vec_free(&tasks);
        return tm_fail_memory(err);
    }
    /* Both lists are sorted by row. */
    for (size_t i = 0, k = 0; i < trace->attrs[TM_ATTR_COLLECTIVE].n && k < mesh->n; i++)
        if (attrs[i].event == rows[k])
            raise(trace, attrs[i].group, peers_in(&tasks, &events[rows[k++]]));
    tm_vec_free(&tasks);
    return TM_OK;
}
