/* Analysis `overlap`: how much communication is hidden by computation. */
#include "tmerge/analysis.h"

#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "base/median.h"
#include "base/sorted.h"

/* Columns with times in overlap.rank and overlap.step, relative to the first such column. */
enum {
    T_WINDOW,
    T_COMPUTE,
    T_COMM,
    T_MEMORY,
    T_OVERLAP,
    T_OVERLAP_PCT,
    T_EXPOSED_COMM,
    T_EXPOSED_MEMORY,
    T_BUSY,
    T_IDLE,
    T_WAIT,
    T_TRANSFER,
    T_EXPOSED_WAIT,
    T_EXPOSED_TRANSFER,
    T_EXPOSED_UNMATCHED,
    T_EXPOSED_LEAST,
    T_COMM_TO_COMPUTE,
    T_EXPOSED_TO_WINDOW,
    N_TIMES
};

#define TIME_COLUMNS                                                                               \
    {"window_ns", TM_INT, "ns",                                                                    \
     "Length of the window. In overlap.step: duration of the step; 0 without GPU events. In the "  \
     "other tables: time from the first start to the last end of the GPU events, summed over "     \
     "separate recordings. If the rank recorded only communication, the columns on computation, "  \
     "copies, busy and idle time, and exposed time are null."},                                    \
        {"compute_ns", TM_INT, "ns", "Time in which at least one compute kernel runs."},           \
        {"comm_ns", TM_INT, "ns", "Time in which at least one communication kernel runs."},        \
        {"memory_ns", TM_INT, "ns", "Time in which at least one copy or set runs."},               \
        {"overlap_ns", TM_INT, "ns",                                                               \
         "Time in which communication kernels and compute kernels run at once: communication "     \
         "hidden by computation."},                                                                \
        {"overlap_pct", TM_REAL, "%",                                                              \
         "Share of the communication time in which compute kernels also run: 100 overlap_ns / "    \
         "comm_ns."},                                                                              \
        {"exposed_comm_ns", TM_INT, "ns",                                                          \
         "Time in which communication kernels but no compute kernels run."},                       \
        {"exposed_memory_ns", TM_INT, "ns", "Time in which copies or sets run, but no kernels."},  \
        {"busy_ns", TM_INT, "ns", "Time in which at least one kernel, copy or set runs."},         \
        {"idle_ns", TM_INT, "ns",                                                                  \
         "Time in which no kernel, copy or set runs: window_ns - busy_ns. The window consists of " \
         "compute_ns, exposed_comm_ns, exposed_memory_ns and idle_ns."},                           \
        {"wait_ns", TM_INT, "ns",                                                                  \
         "Time of the rank's communication kernels before the last rank arrived: sum over the "    \
         "rank's complete, synchronising collectives (stragglers.rank). Null if there are none."}, \
        {"transfer_ns", TM_INT, "ns",                                                              \
         "Time of the rank's communication kernels after the last rank arrived: sum over the "     \
         "rank's complete, synchronising collectives. Null if there are none."},                   \
        {"exposed_wait_ns", TM_INT, "ns",                                                          \
         "Part of exposed_comm_ns in which the rank only waits for other ranks, i.e. none of its " \
         "communication kernels transfers. Null if the rank has no complete, synchronising "       \
         "collective."},                                                                           \
        {"exposed_transfer_ns", TM_INT, "ns",                                                      \
         "Part of exposed_comm_ns in which a communication kernel of the rank transfers, after "   \
         "the last rank arrived. Null if the rank has no complete, synchronising collective."},    \
        {"exposed_unmatched_ns", TM_INT, "ns",                                                     \
         "Rest of exposed_comm_ns: communication of which it is unknown how much is waiting and "  \
         "how much is transfer."},                                                                 \
        {"exposed_least_wait_ns", TM_INT, "ns",                                                    \
         "Part of exposed_unmatched_ns that is certainly waiting: in collectives that lack "       \
         "ranks, the time until the last of the recorded ranks arrived."},                         \
        {"comm_to_compute", TM_REAL, "",                                                           \
         "Ratio of communication to computation: comm_ns / compute_ns."},                          \
    {                                                                                              \
        "exposed_to_window", TM_REAL, "",                                                          \
            "Share of the window in exposed communication: exposed_comm_ns / window_ns."           \
    }

enum { R_TIMES = 1, R_BEFORE = R_TIMES + N_TIMES, N_RANK_COLUMNS };

static const tm_column rank_columns[N_RANK_COLUMNS] = {
    {"rank", TM_INT, "", "Global rank."},
    TIME_COLUMNS,
    {"before_ns", TM_INT, "ns",
     "Time from the start of the first step to the first GPU work, which is the start of the "
     "window. Null if the trace marks no steps."},
};

enum { S_RANK, S_STEP, S_BEGIN, S_PARTIAL, S_TIMES };

static const tm_column step_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    {"begin_ns", TM_INT, tm_epoch_ns,
     "Start of the step's window, since the epoch: the end of the previous step, or the start of "
     "the step if that is later."},
    {"partial", TM_BOOL, "",
     "Whether the recording started or ended within the step. True in three cases: the rank's "
     "trace was cut short before the step's end; or the start of the step was left out "
     "(job.rank.opening_ns); or the step is the first or last of a trace, and its window is under "
     "80 % of the median over the ranks in this step, both with and without waits "
     "(exposed_wait_ns). False without GPU events. If no trace marks steps, the median is over the "
     "windows in overlap.rank."},
    TIME_COLUMNS,
};

enum { K_RANK, K_KIND, K_COUNT, K_COMM, K_OVERLAP, K_OVERLAP_PCT, K_EXPOSED, N_KIND_COLUMNS };

static const tm_column kind_columns[N_KIND_COLUMNS] = {
    [K_RANK] = {"rank", TM_INT, "", "Global rank."},
    [K_KIND] = {"kind", TM_TEXT, "", "Kind of collective, such as allreduce or allgather."},
    [K_COUNT] = {"count", TM_INT, "", "Number of communication kernels of this kind."},
    [K_COMM] = {"comm_ns", TM_INT, "ns",
                "Time in which at least one communication kernel of this kind runs."},
    [K_OVERLAP] =
        {"overlap_ns", TM_INT, "ns",
         "Time in which both communication kernels of this kind and compute kernels run."},
    [K_OVERLAP_PCT] = {"overlap_pct", TM_REAL, "%",
                       "Share of the time of this communication in which compute kernels also run: "
                       "100 overlap_ns / comm_ns."},
    [K_EXPOSED] = {"exposed_comm_ns", TM_INT, "ns",
                   "Time in which communication kernels of this kind run, but no compute kernels."},
};

static const tm_table_def rank_def = {
    .name = "overlap.rank",
    .doc =
        "A row for each rank: its GPU time, and how much of its communication, computation and "
        "copies overlap. All devices of the rank are combined; overlap.device has them one by one.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_TIMES + T_EXPOSED_COMM,
    .form = TM_FORM_BARS,
};

static const tm_table_def step_def = {
    .name = "overlap.step",
    .doc = "A row for each rank and step: the columns of overlap.rank for the step's window. Ranks "
           "with only communication recorded have no rows.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 2,
    .top = S_TIMES + T_EXPOSED_COMM,
    .form = TM_FORM_MAP,
};

static const tm_table_def kind_def = {
    .name = "overlap.kind",
    .doc = "A row for each rank and kind of collective: how much of the communication overlaps "
           "computation.",
    TM_ARRAY(columns, kind_columns),
    .n_keys = 2,
    .top = K_EXPOSED,
};

enum { D_RANK, D_DEVICE, D_WORKS, D_TIMES, N_DEVICE_TIMES = T_IDLE + 1 };

static const tm_column device_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"device", TM_INT, "", "Number of the device on its host, as the profiler counts."},
    {"works", TM_BOOL, "",
     "Whether the device works: it is busy for over 1 % of the busy time of the rank's busiest "
     "device. A device that does not work has a row only in two cases: several devices of the rank "
     "work, and the rank is the whole job; or one of these two is true, and the device computes in "
     "at least five of ten equal parts of the recording."},
    TIME_COLUMNS,
};

static const tm_table_def device_def = {
    .name = "overlap.device",
    .doc = "A row for each device of a rank that has several devices: the columns of overlap.rank "
           "for the device. In overlap.rank the rank is busy while any device is busy; to average "
           "over devices, use the rows with works = true.",
    .columns = device_columns,
    .n_columns = D_TIMES + N_DEVICE_TIMES,
    .n_keys = 2,
    .top = D_TIMES + T_IDLE,
};

static const tm_column unmarked_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"window_ns", TM_INT, "ns", "As in overlap.rank."},
};

static const tm_table_def unmarked_def = TM_INTERNAL_TABLE(
    "overlap.unmarked",
    "A row for each rank whose trace marks no steps: the window by which its only step is "
    "compared.",
    unmarked_columns, 1);

static const tm_table_def *const defs[] = {&rank_def, &step_def, &kind_def, &device_def,
                                           &unmarked_def};

/* Sets the times. If only communication was recorded, sets only the window and comm_ns. */
static void set_times(tm_cell *cells, const tm_busy *busy, const tm_busy_times *t) {
    tm_cell_set_int(&cells[T_WINDOW], t->window_ns);
    tm_cell_set_int(&cells[T_COMM], t->comm_ns);
    if (busy->comm_alone)
        return;
    tm_cell_set_int(&cells[T_COMPUTE], t->compute_ns);
    tm_cell_set_int(&cells[T_MEMORY], t->memory_ns);
    tm_cell_set_int(&cells[T_OVERLAP], t->overlap_ns);
    tm_cell_set_ratio(&cells[T_OVERLAP_PCT], 100.0, t->overlap_ns, t->comm_ns);
    tm_cell_set_int(&cells[T_EXPOSED_COMM], t->exposed_comm_ns);
    tm_cell_set_int(&cells[T_EXPOSED_MEMORY], t->exposed_memory_ns);
    tm_cell_set_int(&cells[T_BUSY], t->busy_ns);
    tm_cell_set_int(&cells[T_IDLE], t->idle_ns);
}

static void set_ratios(tm_cell *cells, const tm_busy *busy, const tm_busy_times *t) {
    if (busy->comm_alone)
        return;
    tm_cell_set_ratio(&cells[T_COMM_TO_COMPUTE], 1.0, t->comm_ns, t->compute_ns);
    tm_cell_set_ratio(&cells[T_EXPOSED_TO_WINDOW], 1.0, t->exposed_comm_ns, t->window_ns);
}

/* Sums over the communication kernels of a rank, or of a rank in one step, whose wait is known. */
typedef struct wait_sum {
    int64_t step; /* step of the operation; the rank's own kernel may be in another step */
    int64_t wait_ns, transfer_ns, n;
} wait_sum;

TM_ORDER_BY(by_step, wait_sum, step);

/* Returns the sum of a step among n sums that are sorted by step, or the place to insert it. */
static wait_sum *sum_of(wait_sum *sums, size_t n, int64_t step) {
    return sums + TM_FIRST_FROM(wait_sum, step, sums, n, step);
}

/* Returns the time of a kernel, without the time before all profilers of the job were running. Busy
 * time also leaves this time out. */
static tm_interval opened(const tm_timeline *timeline, uint32_t row) {
    const int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
    const int64_t from = tm_opened(timeline, begin);
    return (tm_interval){from < end ? from : end, end};
}

/* Adds each kernel to the first sum, which covers all kernels, and to the sum of its step. The n
 * sums of steps come after the first sum. */
static void add_waits(const tm_timeline *timeline, wait_sum *all, size_t n) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE] && timeline->answers; i++) {
        const tm_comm_answer *answer = &timeline->answers[i];
        wait_sum *of_step = sum_of(all + 1, n, answer->step), *sums[2] = {all, of_step};
        bool known = of_step < all + 1 + n && of_step->step == answer->step;
        const tm_interval kernel = opened(timeline, attrs[i].event);
        const int64_t lasts_ns = kernel.end_ns - kernel.begin_ns;
        for (int k = 0; k < 1 + known && answer->wait_ns >= 0; k++) {
            sums[k]->n++;
            sums[k]->wait_ns += answer->wait_ns;
            sums[k]->transfer_ns += lasts_ns > answer->wait_ns ? lasts_ns - answer->wait_ns : 0;
        }
    }
}

/* Returns the sum of the rank, followed by the sums of its steps, ascending; NULL if out of
 * memory. */
static wait_sum *sum_waits(const tm_timeline *timeline) {
    size_t n = timeline->n_steps;
    wait_sum *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; i < n && all; i++)
        all[i + 1].step = timeline->steps[i].number;
    if (all && n > 1)
        qsort(all + 1, n, sizeof *all, by_step);
    if (all)
        add_waits(timeline, all, n);
    return all;
}

/* Sets the waits; null if no kernel has a known wait. */
static void set_waits(tm_cell *cells, const tm_rank_view *view, const wait_sum *sum,
                      const tm_busy_times *t) {
    if (!view->timeline->answers)
        return;
    if (sum->n > 0) {
        tm_cell_set_int(&cells[T_WAIT], sum->wait_ns);
        tm_cell_set_int(&cells[T_TRANSFER], sum->transfer_ns);
    }
    if (view->busy->any_wait) {
        tm_cell_set_int(&cells[T_EXPOSED_WAIT], t->exposed_wait_ns);
        tm_cell_set_int(&cells[T_EXPOSED_TRANSFER], t->exposed_transfer_ns);
    }
    if (view->busy->comm_alone)
        return;
    tm_cell_set_int(&cells[T_EXPOSED_UNMATCHED],
                    t->exposed_comm_ns - t->exposed_wait_ns - t->exposed_transfer_ns);
    tm_cell_set_int(&cells[T_EXPOSED_LEAST], t->exposed_least_ns);
}

/* Returns whether a recording may start or end within a step, because the step is the first or last
 * of a span. */
static bool is_at_border(const tm_timeline *timeline, size_t i) {
    const tm_step *step = &timeline->steps[i];
    bool border = i == 0 || i + 1 == timeline->n_steps;
    for (size_t k = 0; k < timeline->n_spans && !border; k++) {
        const tm_span *span = &timeline->spans[k];
        border = (step[-1].begin_ns < span->begin_ns && span->begin_ns < step->end_ns) ||
                 (step->begin_ns < span->end_ns && span->end_ns <= step[1].begin_ns);
    }
    return border;
}

/* Returns whether a step is cut: a trace of the rank ended within it, or the step is marked and the
 * profilers of other ranks started within it. The last GPU event shows where a trace ends, because
 * profilers write the events of the host before those of the GPU. */
static bool is_cut(const tm_timeline *timeline, size_t i) {
    const tm_step *step = &timeline->steps[i];
    bool cut = false;
    for (size_t k = 0; k < timeline->n_spans && !cut; k++) {
        const tm_span *span = &timeline->spans[k];
        int64_t end_ns = span->n_gpu_events > 0 ? span->gpu_end_ns : span->end_ns;
        cut =
            (span->truncated && step->begin_ns < span->end_ns && step->end_ns >= end_ns) ||
            (step->annotated && span->open_ns > span->begin_ns && step->begin_ns == span->open_ns);
    }
    return cut;
}

/* Adds the rows of the steps. Until overlap_job, `partial` is true if the trace was cut in the
 * step, false if the window must be compared with other ranks, and otherwise null. */
static tm_status overlap_steps(const tm_rank_view *view, wait_sum *waits, tm_tables *out,
                               tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, step_def.name);
    if (view->busy->comm_alone) /* an unmarked recording must not count as a step */
        return TM_OK;
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        tm_busy_times t = tm_busy_step(view->busy, timeline, step);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[S_RANK], timeline->rank);
        tm_cell_set_int(&row[S_STEP], step->number);
        tm_cell_set_int(&row[S_BEGIN], tm_rank_clock_true(&timeline->clock, step->begin_ns));
        if (is_cut(timeline, i) || is_at_border(timeline, i))
            tm_cell_set_bool(&row[S_PARTIAL], is_cut(timeline, i));
        set_times(row + S_TIMES, view->busy, &t);
        set_ratios(row + S_TIMES, view->busy, &t);
        set_waits(row + S_TIMES, view, sum_of(waits, timeline->n_steps, step->number), &t);
    }
    return TM_OK;
}

/* Collects the times of the kernels of a kind, and counts them. Returns false if out of memory. */
static bool collect_kind(const tm_timeline *timeline, int kind, tm_intervals *out, int64_t *n) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    *n = 0;
    out->n = 0;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        uint32_t row = attrs[i].event;
        if (attrs[i].kind != kind || timeline->role[row] != TM_ROLE_COMMUNICATION)
            continue;
        ++*n;
        const tm_interval kernel = opened(timeline, row);
        if (!tm_intervals_add(out, kernel.begin_ns, kernel.end_ns))
            return false;
    }
    tm_intervals_normalise(out);
    return true;
}

/* Adds a row if the rank has collectives of this kind. `kernels` is scratch space. */
static tm_status add_kind(const tm_rank_view *view, int kind, tm_intervals *kernels,
                          tm_table *table, tm_error *err) {
    int64_t n;
    tm_intervals overlap = TM_INTERVALS();
    if (!collect_kind(view->timeline, kind, kernels, &n) ||
        !tm_intervals_intersect(kernels, &view->busy->compute, &overlap)) {
        tm_vec_free(&overlap);
        return tm_fail_memory(err);
    }
    int64_t comm_ns = tm_intervals_length(kernels), overlap_ns = tm_intervals_length(&overlap);
    tm_vec_free(&overlap);
    if (n == 0)
        return TM_OK;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[K_RANK], view->timeline->rank);
    tm_cell_set_int(&row[K_COUNT], n);
    tm_cell_set_int(&row[K_COMM], comm_ns);
    if (!view->busy->comm_alone) {
        tm_cell_set_int(&row[K_OVERLAP], overlap_ns);
        tm_cell_set_ratio(&row[K_OVERLAP_PCT], 100.0, overlap_ns, comm_ns);
        tm_cell_set_int(&row[K_EXPOSED], comm_ns - overlap_ns);
    }
    return tm_table_set_text(table, &row[K_KIND], tm_collective_word((tm_collective_kind)kind),
                             err);
}

static tm_status overlap_kinds(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, kind_def.name);
    tm_intervals kernels = TM_INTERVALS();
    tm_status status = TM_OK;
    for (int kind = 0; kind < TM_N_COLLECTIVE_KINDS && status == TM_OK; kind++)
        status = add_kind(view, kind, &kernels, table, err);
    tm_vec_free(&kernels);
    return status;
}

/* Adds the rank's window if the rank's trace marks no steps. */
static tm_status add_unmarked(const tm_rank_view *view, const tm_busy_times *t, tm_table *table,
                              tm_error *err) {
    if (view->timeline->n_steps == 0 || view->timeline->steps[0].annotated)
        return TM_OK;
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], view->timeline->rank);
    tm_cell_set_int(&row[1], t->window_ns);
    return TM_OK;
}

static tm_status overlap_devices(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, device_def.name);
    const tm_device_busy *v = view->devices->data;
    for (size_t i = 0; i < view->devices->n; i++) {
        const tm_busy_times t = tm_busy_rank(&v[i].busy);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[D_RANK], view->timeline->rank);
        tm_cell_set_int(&row[D_DEVICE], v[i].device);
        tm_cell_set_bool(&row[D_WORKS], v[i].works);
        set_times(row + D_TIMES, &v[i].busy, &t);
    }
    return TM_OK;
}

static void set_before(tm_cell *cell, const tm_rank_view *view) {
    const tm_timeline *timeline = view->timeline;
    const tm_interval *window = view->busy->window.data;
    if (timeline->n_steps == 0 || !timeline->steps[0].annotated || view->busy->window.n == 0)
        return;
    const int64_t ns = window[0].begin_ns - timeline->steps[0].begin_ns;
    tm_cell_set_int(cell, ns > 0 ? ns : 0);
}

static tm_status overlap_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_cell *row = tm_table_add_row(tm_tables_find(out, rank_def.name));
    wait_sum *waits = sum_waits(view->timeline);
    tm_status status = row && waits ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        tm_busy_times t = tm_busy_rank(view->busy);
        tm_cell_set_int(&row[0], view->timeline->rank);
        set_times(row + R_TIMES, view->busy, &t);
        set_ratios(row + R_TIMES, view->busy, &t);
        set_waits(row + R_TIMES, view, waits, &t);
        set_before(&row[R_BEFORE], view);
        status = add_unmarked(view, &t, tm_tables_find(out, unmarked_def.name), err);
    }
    if (status == TM_OK)
        status = overlap_devices(view, out, err);
    if (status == TM_OK)
        status = overlap_steps(view, waits + 1, out, err);
    free(waits);
    return status == TM_OK ? overlap_kinds(view, out, err) : status;
}

/* A row of overlap.step, and the times by which partial steps are recognised. A rank that makes
 * others wait has a shorter window than they do, but as much work. */
typedef struct compared {
    tm_cell *row;
    int64_t step, window_ns;
    int64_t work_ns; /* the window without waits */
} compared;

TM_ORDER_BY(by_compared_step, compared, step);

/* Returns twice the median of a time of the rows [0, n), of those in which it is not 0: the sum of
 * the middle two times, or twice the middle time. 0 if there are none.
 * @param work  the time is work_ns instead of window_ns
 * @param room  [n] scratch */
static int64_t twice_median(const compared *rows, size_t n, bool work, int64_t *room) {
    size_t counted = 0;
    for (size_t i = 0; i < n; i++) {
        room[counted] = work ? rows[i].work_ns : rows[i].window_ns;
        counted += room[counted] != 0;
    }
    if (counted == 0)
        return 0;
    tm_sort_values(room, counted);
    return room[(counted - 1) / 2] + room[counted / 2];
}

/* Returns whether a time is under 0.8 times the median, which is 5 * ns < 2 * twice. To avoid
 * overflow, `over` is ns - 0.4 * twice, rounded. If `over` is 0 or 1, the remainder of twice / 5
 * decides. */
static bool is_under(int64_t ns, int64_t twice) {
    const int64_t over = ns - twice / 5 * 2;
    return over < 0 || (over < 2 && 5 * over < 2 * (twice % 5));
}

/* Marks the partial rows among the rows [0, n) of a step. Both times of a partial row are much
 * shorter than their medians. Rows of ranks without GPU events have no window, so they do not
 * count. */
static void mark_partial(const compared *rows, size_t n, int64_t *room) {
    const int64_t window = twice_median(rows, n, false, room);
    const int64_t work = twice_median(rows, n, true, room);
    for (size_t i = 0; i < n; i++) {
        tm_cell *partial = &rows[i].row[S_PARTIAL];
        const bool border = !partial->null, cut = border && partial->value.i;
        const bool under = is_under(rows[i].window_ns, window) && is_under(rows[i].work_ns, work);
        tm_cell_set_bool(partial, rows[i].window_ns != 0 && (cut || (border && under)));
    }
}

/* Sets `partial`. Sorts pointers to the rows, so that the table keeps its order. */
static tm_status overlap_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    tm_table *table = tm_tables_find(out, step_def.name);
    const tm_table *unmarked = tm_tables_find(out, unmarked_def.name);
    compared *rows = calloc(table->n_rows + 1, sizeof *rows);
    int64_t *room = malloc((table->n_rows + 1) * sizeof *room);
    for (size_t i = 0; i < table->n_rows && rows; i++) {
        tm_cell *row = tm_table_row(table, i), *times = row + S_TIMES;
        const int64_t window_ns =
            tm_busy_compared(unmarked, row[S_RANK].value.i, times[T_WINDOW].value.i);
        const tm_cell *wait = &times[T_EXPOSED_WAIT];
        rows[i] = (compared){row, row[S_STEP].value.i, window_ns,
                             window_ns - (wait->null ? 0 : wait->value.i)};
    }
    if (rows && room)
        qsort(rows, table->n_rows, sizeof *rows, by_compared_step);
    for (size_t first = 0, i; first < table->n_rows && rows && room; first = i) {
        for (i = first + 1; i < table->n_rows && rows[i].step == rows[first].step;)
            i++;
        mark_partial(rows + first, i - first, room);
    }
    const bool ok = rows && room;
    free(rows);
    free(room);
    return ok ? TM_OK : tm_fail_memory(err);
}

const tm_analysis tm_analysis_overlap = {
    .name = "overlap",
    .summary =
        "how much communication is hidden by computation, in total and by kind of collective",
    TM_ARRAY(tables, defs),
    .rank = overlap_rank,
    .job = overlap_job,
};
