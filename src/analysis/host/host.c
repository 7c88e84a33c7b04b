/* Analysis `host`: how long a rank's threads run on cores and wait; sampled counters; unified
 * memory. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/named.h"
#include "base/intervals.h"
#include "base/letters.h"
#include "counters.h"
#include "timeline/trace.h"
#include "unified.h"

/* Maximum number of threads of a rank in the table. */
#define LISTED 16

enum {
    RANK,
    PROCESS,
    THREAD,
    NAME,
    RUNNING,
    RUNNING_PCT,
    TIMES,
    MIGRATIONS,
    CORES,
    OS_CALLS,
    OS_TIME,
    OFF_TIME
};

static const tm_column columns[] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [PROCESS] = {"process", TM_TEXT, "", "Process id."},
    [THREAD] = {"thread", TM_TEXT, "", "Thread id."},
    [NAME] = {"name", TM_TEXT, "", "Name of the thread; null if it has no name."},
    [RUNNING] = {"running_ns", TM_INT, "ns",
                 "Time that the thread was on a core. Null if its scheduling was not recorded; the "
                 "columns running_pct to cores are then null, too."},
    [RUNNING_PCT] =
        {"running_pct", TM_REAL, "%",
         "Share of time that the thread was on a core: 100 running_ns / the time between the first "
         "and the last moment at which any thread of the rank was on a core."},
    [TIMES] = {"times", TM_INT, "", "Number of times the thread was scheduled onto a core."},
    [MIGRATIONS] =
        {"migrations", TM_INT, "",
         "Number of times the thread was scheduled onto a different core than the time before."},
    [CORES] = {"cores", TM_INT, "", "Number of distinct cores on which the thread ran."},
    [OS_CALLS] = {"os_calls", TM_INT, "",
                  "Number of recorded calls into the OS: OS runtime calls (poll, sem_timedwait, "
                  "read, ...) and system calls. Null if there are none; os_ns is then null, too."},
    [OS_TIME] =
        {"os_ns", TM_INT, "ns",
         "Time that the thread spent in the calls counted by os_calls; nested calls count once."},
    [OFF_TIME] = {"os_wait_ns", TM_INT, "ns",
                  "Part of os_ns in which the thread was on no core, i.e. waited in the call. Null "
                  "unless both calls and scheduling are recorded."},
};

static const tm_table_def thread_def = {
    .name = "host.thread",
    .doc = "A row for each thread of a rank whose scheduling or OS calls were recorded. Limited to "
           "16 threads of each rank: those with the largest running_ns, then os_ns.",
    TM_ARRAY(columns, columns),
    .n_keys = 3,
    .top = RUNNING,
};

static const tm_table_def *const defs[] = {&thread_def, &tm_counters_table, &tm_unified_table};

typedef struct thread {
    uint32_t process, number, name; /* name ids */
    size_t size;                    /* length of `number` without the suffix TM_ON_CPU */
    size_t place;                   /* position in the order of the threads' first occurrences */
    tm_intervals running, os;
    int64_t times, migrations, os_calls;
    uint32_t last; /* name id of the last core */
    /* vector of uint32_t: name ids of the cores on which the thread ran, in any order */
    tm_vec cores;
} thread;

/* Returns the length of a track's number without the suffix TM_ON_CPU. */
static size_t thread_size(tm_text number) {
    const size_t end = sizeof TM_ON_CPU - 1;
    return tm_ends_with(number.bytes, number.size, TM_ON_CPU) ? number.size - end : number.size;
}

/* Finds or adds a track's thread; NULL if out of memory. A rank has few threads. */
static thread *find_thread(const tm_names *names, tm_vec *threads, const tm_track *track) {
    const tm_text number = tm_names_text(names, track->tid);
    const size_t size = thread_size(number);
    for (size_t i = 0; i < threads->n; i++) {
        thread *t = (thread *)threads->data + i;
        if (t->process == track->pid && t->size == size &&
            memcmp(tm_names_text(names, t->number).bytes, number.bytes, size) == 0)
            return t;
    }
    thread *t = tm_vec_push(threads);
    if (t)
        *t = (thread){.process = track->pid,
                      .number = track->tid,
                      .size = size,
                      .place = threads->n,
                      .name = TM_NO_NAME,
                      .running = TM_INTERVALS(),
                      .os = TM_INTERVALS(),
                      .last = TM_NO_NAME,
                      .cores = TM_VEC(uint32_t)};
    return t;
}

static bool note_core(thread *t, uint32_t core) {
    t->times++;
    t->migrations += t->last != TM_NO_NAME && t->last != core;
    t->last = core;
    for (size_t i = 0; i < t->cores.n; i++)
        if (((const uint32_t *)t->cores.data)[i] == core)
            return true;
    return tm_vec_append(&t->cores, &core, 1) != NULL;
}

static bool is_os(uint8_t category) {
    return category == TM_CAT_OS_RUNTIME || category == TM_CAT_SYSCALL;
}

static bool take_row(const tm_timeline *timeline, uint32_t row, thread *t) {
    const int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
    if (timeline->category[row] == TM_CAT_ON_CPU)
        return note_core(t, timeline->name[row]) && tm_intervals_add(&t->running, begin, end);
    t->os_calls++;
    return tm_intervals_add(&t->os, begin, end);
}

static bool take_track(const tm_rank_view *view, const tm_track *track, tm_vec *threads) {
    const tm_timeline *timeline = view->timeline;
    thread *t = NULL;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        if (timeline->category[row] != TM_CAT_ON_CPU && !is_os(timeline->category[row]))
            continue;
        if (!t && !(t = find_thread(view->names, threads, track)))
            return false;
        t->name = track->thread_name != TM_NO_NAME ? track->thread_name : t->name;
        if (!take_row(timeline, row, t))
            return false;
    }
    return true;
}

/* Returns the time from the first to the last moment at which any thread ran; 0 if no scheduling
 * was recorded. */
static int64_t recorded_ns(const tm_vec *threads) {
    int64_t begin = INT64_MAX, end = INT64_MIN;
    for (size_t i = 0; i < threads->n; i++) {
        const tm_intervals *running = &((const thread *)threads->data)[i].running;
        const tm_interval *v = running->data;
        if (running->n == 0)
            continue;
        begin = v[0].begin_ns < begin ? v[0].begin_ns : begin;
        end = v[running->n - 1].end_ns > end ? v[running->n - 1].end_ns : end;
    }
    return end > begin ? end - begin : 0;
}

/* Sorts by time on a core (longest first), then by time in the OS, then by first occurrence. */
static int by_time(const void *a, const void *b) {
    const thread *x = a, *y = b;
    const int64_t on = tm_intervals_length(&x->running), other = tm_intervals_length(&y->running);
    const int64_t os = tm_intervals_length(&x->os), other_os = tm_intervals_length(&y->os);
    if (on != other)
        return on > other ? -1 : 1;
    if (os != other_os)
        return os > other_os ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static tm_status set_texts(const tm_names *names, const thread *t, tm_table *table, tm_cell *row,
                           tm_error *err) {
    const tm_text number = tm_names_text(names, t->number);
    TM_TRY(tm_set_named(names, t->process, table, &row[PROCESS], err));
    TM_TRY(tm_table_set_bytes(table, &row[THREAD], number.bytes, t->size, err));
    return tm_set_named(names, t->name, table, &row[NAME], err);
}

static tm_status add_row(const tm_rank_view *view, const thread *t, int64_t recorded,
                         tm_table *table, tm_error *err) {
    tm_intervals off = TM_INTERVALS();
    tm_cell *row = tm_table_add_row(table);
    if (!row || !tm_intervals_subtract(&t->os, &t->running, &off)) {
        tm_vec_free(&off);
        return tm_fail_memory(err);
    }
    tm_cell_set_int(&row[RANK], view->timeline->rank);
    if (t->times > 0) {
        tm_cell_set_int(&row[RUNNING], tm_intervals_length(&t->running));
        tm_cell_set_ratio(&row[RUNNING_PCT], 100.0, row[RUNNING].value.i, recorded);
        tm_cell_set_int(&row[TIMES], t->times);
        tm_cell_set_int(&row[MIGRATIONS], t->migrations);
        tm_cell_set_int(&row[CORES], (int64_t)t->cores.n);
    }
    if (t->os_calls > 0) {
        tm_cell_set_int(&row[OS_CALLS], t->os_calls);
        tm_cell_set_int(&row[OS_TIME], tm_intervals_length(&t->os));
    }
    if (t->times > 0 && t->os_calls > 0)
        tm_cell_set_int(&row[OFF_TIME], tm_intervals_length(&off));
    tm_vec_free(&off);
    return set_texts(view->names, t, table, row, err);
}

static tm_status add_rows(const tm_rank_view *view, tm_vec *threads, tm_table *table,
                          tm_error *err) {
    const int64_t recorded = recorded_ns(threads);
    const thread *v = threads->data;
    tm_vec_sort(threads, by_time);
    for (size_t i = 0; i < threads->n && i < LISTED; i++)
        TM_TRY(add_row(view, &v[i], recorded, table, err));
    return TM_OK;
}

/* Returns whether the trace has thread events. Most traces have none. */
static bool tells_any(const tm_timeline *timeline) {
    static const uint8_t categories[] = {TM_CAT_ON_CPU, TM_CAT_OS_RUNTIME, TM_CAT_SYSCALL};
    for (size_t i = 0; i < sizeof categories && timeline->n_events > 0; i++)
        if (memchr(timeline->category, categories[i], timeline->n_events))
            return true;
    return false;
}

static tm_status threads_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_vec threads = TM_VEC(thread);
    if (!tells_any(timeline))
        return TM_OK;
    bool ok = true;
    for (size_t i = 0; i < timeline->n_tracks && ok; i++)
        if (timeline->tracks[i].kind == TM_TRACK_CPU)
            ok = take_track(view, &timeline->tracks[i], &threads);
    for (size_t i = 0; i < threads.n; i++) {
        tm_intervals_normalise(&((thread *)threads.data)[i].running);
        tm_intervals_normalise(&((thread *)threads.data)[i].os);
    }
    tm_status status = ok ? add_rows(view, &threads, tm_tables_find(out, thread_def.name), err)
                          : tm_fail_memory(err);
    for (size_t i = 0; i < threads.n; i++) {
        tm_vec_free(&((thread *)threads.data)[i].running);
        tm_vec_free(&((thread *)threads.data)[i].os);
        tm_vec_free(&((thread *)threads.data)[i].cores);
    }
    tm_vec_free(&threads);
    return status;
}

static tm_status host_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    TM_TRY(threads_rank(view, out, err));
    TM_TRY(tm_counters_rank(view, out, err));
    return tm_unified_rank(view, out, err);
}

const tm_analysis tm_analysis_host = {
    .name = "host",
    .summary = "threads on cores and their waits in the OS, sampled counters, unified memory",
    TM_ARRAY(tables, defs),
    .rank = host_rank,
};
