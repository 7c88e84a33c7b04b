#include "integrity.h"

#include <stdlib.h>

#include "analysis/shared/busy.h"
#include "analysis/shared/lost.h"
#include "base/median.h"
#include "serial.h"

enum {
    RANK,
    STEPS,
    STEPS_LOST,
    LAUNCHES,
    LAUNCHES_LOST,
    GRAPHS_LOST,
    RECORDED_PCT,
    SAMPLED,
    DEVICE,
    HIDDEN,
    COMPUTE,
    COMPUTE_LEAST,
    COMPUTE_MOST,
    IDLE,
    IDLE_LEAST,
    IDLE_MOST,
    MOVES,
    BETWEEN,
    IMPOSSIBLE,
    IMPOSSIBLE_KERNEL,
    IMPOSSIBLE_BEGIN,
    FOLLOWERS,
    IMPOSSIBLE_NS,
    COMPUTE_NS,
    COMPUTE_LEAST_NS,
    LATE,
    LATEST,
    CUT
};

static const tm_column columns[] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [STEPS] = {"steps", TM_INT, "",
               "Number of steps that the rank's trace marks. Null if the trace has no launches; "
               "the columns steps_lost to sampled are then null, too."},
    [STEPS_LOST] = {"steps_lost", TM_INT, "",
                    "Number of marked steps that have a lost launch (see launches_lost) and no "
                    "recorded kernel."},
    [LAUNCHES] = {"launches", TM_INT, "",
                  "Number of calls that launch a kernel or a graph, except calls that were "
                  "captured into a graph."},
    [LAUNCHES_LOST] =
        {"launches_lost", TM_INT, "",
         "Number of launches whose GPU events were not recorded. Kernels without a known launch "
         "are subtracted, because they may belong to such launches. A graph launch without a "
         "recorded compute kernel counts as lost in two cases: only copies of the graph were "
         "recorded; or the GPU was idle for over 200 us, and for over half of the time from the "
         "launch to the end of the graph's communication. Losses before the first and after the "
         "last launch with recorded GPU events (at each end, at most a tenth of the recording) "
         "count only if at least 1 % of all launches are lost elsewhere."},
    [GRAPHS_LOST] = {"graphs_lost", TM_INT, "",
                     "Number of graph launches that launches_lost counts."},
    [RECORDED_PCT] = {"recorded_pct", TM_REAL, "%",
                      "Share of launches whose GPU events were recorded: 100 (launches - "
                      "launches_lost) / launches."},
    [SAMPLED] = {"sampled", TM_BOOL, "",
                 "Whether the trace is only a sample, so that it is unknown what ran between "
                 "recorded events. CUPTI numbers all calls of a process. In a sample, under 2 % of "
                 "the numbers from the first to the last are recorded, and half of the distances "
                 "between recorded numbers exceed 20."},
    [DEVICE] = {"device_ns", TM_INT, "ns",
                "Time in which the rank's devices ran recorded kernels, copies or sets; "
                "overlapping events count once."},
    [HIDDEN] = {"hidden_ns", TM_INT, "ns",
                "Time in which the GPU may have been busy although no GPU event was recorded: from "
                "a lost launch until the host has waited for the GPU, or until the kernel of a "
                "later launch starts. With several devices, the sum over devices; a lost launch "
                "counts for the device of the launches before and after it on its thread."},
    [COMPUTE] = {"compute_pct", TM_REAL, "%",
                 "Share of the rank's window in which compute kernels run: 100 compute_ns / "
                 "window. With several devices, the mean over them. Null without GPU events."},
    [COMPUTE_LEAST] =
        {"compute_least_pct", TM_REAL, "%",
         "Lower bound of compute_pct: the value if the GPU was idle during hidden_ns and "
         "impossible_ns, over a window that is extended to include all of hidden_ns. With several "
         "devices, the mean over them. Null without GPU events."},
    [COMPUTE_MOST] =
        {"compute_most_pct", TM_REAL, "%",
         "Upper bound of compute_pct: the value if the GPU computed during all of hidden_ns. If "
         "sampled is true: the value if the GPU computed whenever no GPU event was recorded. With "
         "several devices, the mean over them. Null without GPU events."},
    [IDLE] = {"idle_pct", TM_REAL, "%",
              "Share of the rank's window in which the GPU is idle: 100 overlap.rank.idle_ns / "
              "window. With several devices, the mean over them. Null without GPU events."},
    [IDLE_LEAST] =
        {"idle_least_pct", TM_REAL, "%",
         "Lower bound of idle_pct: its value if the GPU was busy during hidden_ns; 0 if sampled is "
         "true. With several devices, the mean over them. Null without GPU events."},
    [IDLE_MOST] =
        {"idle_most_pct", TM_REAL, "%",
         "Upper bound of idle_pct: its value if the GPU was idle during hidden_ns and "
         "impossible_ns. With several devices, the mean over them. Null without GPU events."},
    [MOVES] = {"moves_pct", TM_REAL, "%",
               "How far the rank's results may be off: the largest of 100 - recorded_pct, cut_pct, "
               "the distances of compute_pct and idle_pct from their bounds, and 100 (compute_ns - "
               "compute_least_ns) / compute_ns. If above 5, tmerge draws no conclusions from the "
               "rank. Null without GPU events, unless launches were lost."},
    [BETWEEN] =
        {"between_pct", TM_REAL, "%",
         "How incomplete the recording is between the first and the last launch with a recorded "
         "GPU event: the largest of cut_pct, 100 (compute_ns - compute_least_ns) / compute_ns, and "
         "the percentage of lost launches among the launches in this time. For a sample, and if no "
         "launch has a recorded GPU event: moves_pct. If at most 5, the recording counts as "
         "complete in this time, so that ranks can be blamed for waits."},
    [IMPOSSIBLE] = {"impossible_kernels", TM_INT, "",
                    "Number of kernels whose recorded end must be wrong, for one of three reasons. "
                    "(1) A stream runs one kernel at a time, but at least three later kernels of "
                    "the same stream, from other launches, started and ended before the recorded "
                    "end. (2) The host had already waited for the device to finish before half of "
                    "the kernel's duration was over. (3) The kernel ends after everything else in "
                    "the recording, by more than the length of everything else."},
    [IMPOSSIBLE_KERNEL] = {"impossible_kernel", TM_TEXT, "",
                           "Name of the kernel with the largest part of impossible_ns. Null if "
                           "impossible_kernels is 0."},
    [IMPOSSIBLE_BEGIN] = {"begin_ns", TM_INT, tm_epoch_ns,
                          "Aligned start of the kernel named in impossible_kernel, since the "
                          "epoch; null if none is named."},
    [FOLLOWERS] = {"followers", TM_INT, "",
                   "Number of later kernels on the same stream that started and ended before the "
                   "recorded end of the kernel named in impossible_kernel; null if none is named."},
    [IMPOSSIBLE_NS] = {"impossible_ns", TM_INT, "ns",
                       "Busy time in which nothing runs except doubtful parts of the kernels that "
                       "impossible_kernels counts. The doubtful part of a kernel begins when the "
                       "next kernel on its stream starts. If there is no next kernel, the whole "
                       "kernel is doubtful. Null without GPU events."},
    [COMPUTE_NS] = {"compute_ns", TM_INT, "ns",
                    "Time in which at least one compute kernel runs, as recorded."},
    [COMPUTE_LEAST_NS] = {"compute_least_ns", TM_INT, "ns",
                          "compute_ns without the doubtful parts of kernels (see impossible_ns). "
                          "Null without GPU events."},
    [LATE] = {"late_kernels", TM_INT, "",
              "Number of kernels that were launched before a device synchronisation, but end after "
              "the synchronisation returned. Kernels that impossible_kernels counts are left out. "
              "0 if the rank has several devices."},
    [LATEST] = {"latest_ns", TM_INT, "ns",
                "Largest time from the return of a device synchronisation to the end of a kernel "
                "that late_kernels counts; null if late_kernels is 0. If it is above some 30 us, "
                "the clocks of GPU and host differ, or recorded ends of kernels are wrong."},
    [CUT] = {"cut_pct", TM_REAL, "%",
             "For a trace that is cut short: share of the launches, or share of device_ns, that "
             "the trace lacks, whichever is larger. The trace is compared with the median of the "
             "ranks whose traces are whole. Null for whole traces, and if no trace is whole."},
};

const tm_table_def tm_integrity_table = {
    .name = "job.integrity",
    .doc = "A row for each rank: how much of its work was recorded, what is in doubt, and how far "
           "its figures may be off.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = MOVES,
};

typedef struct state {
    const tm_rank_view *view;
    const tm_lost *lost;
    tm_serial serial;
} state;

static double share(int64_t part_ns, int64_t whole_ns) {
    return 100.0 * (double)part_ns / (double)whole_ns;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

static void set_lost(tm_cell *row, const tm_lost *l) {
    if (!l->known)
        return;
    tm_cell_set_int(&row[STEPS], l->steps);
    tm_cell_set_int(&row[STEPS_LOST], l->steps_lost);
    tm_cell_set_int(&row[LAUNCHES], l->launches);
    tm_cell_set_int(&row[LAUNCHES_LOST], l->lost);
    tm_cell_set_int(&row[GRAPHS_LOST], l->graphs);
    tm_cell_set_ratio(&row[RECORDED_PCT], 100.0, l->launches - l->lost, l->launches);
    tm_cell_set_bool(&row[SAMPLED], l->sampled);
}

/* A rank's number of devices, and its times summed over devices. */
typedef struct device_times {
    int64_t n, compute_ns, busy_ns;
} device_times;

static device_times devices_of(const tm_rank_view *view) {
    const tm_device_busy *v = view->devices->data;
    const tm_busy_times t = tm_busy_rank(view->busy);
    device_times sum = {0};
    for (size_t i = 0; i < view->devices->n; i++) {
        sum.n++;
        sum.compute_ns += tm_intervals_length(&v[i].busy.compute);
        sum.busy_ns += tm_intervals_length(&v[i].busy.busy);
    }
    return sum.n > 0 ? sum : (device_times){1, t.compute_ns, t.busy_ns};
}

/* Sets the recorded shares, and their bounds, which follow from the time in doubt. */
static void set_shares(tm_cell *row, const state *s, int64_t whole_ns) {
    const tm_busy_times t = tm_busy_rank(s->view->busy);
    bool odd = s->serial.kernels > 0;
    int64_t compute = odd ? tm_intervals_length(&s->serial.compute) : t.compute_ns;
    int64_t busy = odd ? tm_intervals_length(&s->serial.busy) : t.busy_ns;
    const device_times d = devices_of(s->view);
    const int64_t late_ns = t.compute_ns - compute, odd_ns = t.busy_ns - busy;
    const int64_t window = d.n * t.window_ns, whole = d.n * whole_ns;
    /* Hidden work may have run on any device. So hidden time is at most the idle time of all
     * devices together. */
    const int64_t room = whole - d.busy_ns;
    const bool sampled = s->lost->sampled; /* if so, any idle time may hide work */
    const int64_t hidden = s->lost->hidden_ns < room && !sampled ? s->lost->hidden_ns : room;
    double shown[] = {share(d.compute_ns, window), share(window - d.busy_ns, window)};
    double least[] = {share(d.compute_ns - late_ns, whole),
                      share(whole - d.busy_ns - hidden, whole)};
    double most[] = {share(d.compute_ns + hidden, whole), share(whole - d.busy_ns + odd_ns, whole)};
    double moves = s->lost->known ? share(s->lost->lost, s->lost->launches) : 0.0;
    for (int i = 0; i < 2; i++) {
        tm_cell *cells = &row[i == 0 ? COMPUTE : IDLE];
        tm_cell_set_real(&cells[0], shown[i]);
        tm_cell_set_real(&cells[1], least[i]);
        tm_cell_set_real(&cells[2], most[i]);
        moves = larger(moves, larger(shown[i] - least[i], most[i] - shown[i]));
    }
    double late = t.compute_ns > 0 ? share(t.compute_ns - compute, t.compute_ns) : 0.0;
    double lost =
        !sampled && s->lost->between > 0 ? share(s->lost->lost_between, s->lost->between) : moves;
    tm_cell_set_real(&row[MOVES], larger(moves, late));
    tm_cell_set_real(&row[BETWEEN], larger(lost, late));
    tm_cell_set_int(&row[IMPOSSIBLE_NS], t.busy_ns - busy);
    tm_cell_set_int(&row[COMPUTE_LEAST_NS], compute);
}

static tm_status set_serial(tm_table *table, tm_cell *row, const state *s, tm_error *err) {
    const tm_timeline *timeline = s->view->timeline;
    tm_text name = tm_names_text(s->view->names, s->serial.name);
    tm_cell_set_int(&row[IMPOSSIBLE], s->serial.kernels);
    tm_cell_set_int(&row[LATE], s->serial.late);
    if (s->serial.late > 0)
        tm_cell_set_int(&row[LATEST], s->serial.latest_ns);
    if (s->serial.kernels == 0)
        return TM_OK;
    tm_cell_set_int(&row[IMPOSSIBLE_BEGIN],
                    tm_rank_clock_true(&timeline->clock, s->serial.begin_ns));
    tm_cell_set_int(&row[FOLLOWERS], s->serial.followers);
    return tm_table_set_bytes(table, &row[IMPOSSIBLE_KERNEL], name.bytes, name.size, err);
}

static tm_status add_row(const state *s, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, tm_integrity_table.name);
    tm_cell *row = tm_table_add_row(table);
    const tm_busy_times t = tm_busy_rank(s->view->busy);
    tm_intervals whole = TM_INTERVALS();
    if (!row || !tm_intervals_unite(&s->view->busy->window, &s->lost->hidden, &whole)) {
        tm_vec_free(&whole);
        return tm_fail_memory(err);
    }
    tm_cell_set_int(&row[RANK], s->view->timeline->rank);
    set_lost(row, s->lost);
    tm_cell_set_int(&row[DEVICE], t.busy_ns);
    tm_cell_set_int(&row[HIDDEN], s->lost->hidden_ns);
    tm_cell_set_int(&row[COMPUTE_NS], t.compute_ns);
    if (t.window_ns > 0)
        set_shares(row, s, tm_intervals_length(&whole));
    else if (s->lost->lost > 0) {
        tm_cell_set_ratio(&row[MOVES], 100.0, s->lost->lost, s->lost->launches);
        row[BETWEEN] = row[MOVES];
    }
    tm_vec_free(&whole);
    return set_serial(table, row, s, err);
}

tm_status tm_integrity_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    state s = {.view = view, .lost = view->lost};
    tm_status status = tm_serial_find(view, &s.serial, err);
    if (status == TM_OK)
        status = add_row(&s, out, err);
    tm_serial_free(&s.serial);
    return status;
}

/* Returns whether a rank's trace is cut short. @p row is the rank's row in job.integrity. */
static bool is_cut(const tm_table *ranks, const tm_table *table, size_t row) {
    const size_t at = tm_table_find_row(ranks, &tm_table_row(table, row)[RANK].value.i, 1);
    return at < ranks->n_rows && tm_table_cell(ranks, at, "truncated")->value.i != 0;
}

static int64_t amount(const tm_table *table, size_t row, int column) {
    const tm_cell *cell = &tm_table_row(table, row)[column];
    return cell->null ? 0 : cell->value.i;
}

/* Compares a column of each trace that is cut short with the median of the whole traces. Raises
 * cut_pct to the share that the trace lacks. Raises moves_pct and between_pct to at least cut_pct.
 * @param room  scratch [ranks] */
static void compare_cut(const tm_table *ranks, tm_table *table, int column, int64_t *room) {
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (!is_cut(ranks, table, i))
            room[n++] = amount(table, i, column);
    const int64_t usual = n > 0 ? tm_median_any(room, n) : 0;
    for (size_t i = 0; i < table->n_rows && usual > 0; i++) {
        tm_cell *row = tm_table_row(table, i);
        if (!is_cut(ranks, table, i))
            continue;
        const double lacks = larger(0.0, 100.0 - share(amount(table, i, column), usual));
        tm_cell_set_real(&row[CUT], larger(lacks, row[CUT].null ? 0.0 : row[CUT].value.r));
        for (int k = MOVES; k <= BETWEEN; k++)
            tm_cell_set_real(&row[k], larger(row[CUT].value.r, row[k].null ? 0.0 : row[k].value.r));
    }
}

tm_status tm_integrity_job(tm_tables *out, tm_error *err) {
    const tm_table *ranks = tm_tables_find(out, "job.rank");
    tm_table *table = tm_tables_find(out, tm_integrity_table.name);
    int64_t *room = malloc((table->n_rows + 1) * sizeof *room);
    if (!room)
        return tm_fail_memory(err);
    compare_cut(ranks, table, LAUNCHES, room);
    compare_cut(ranks, table, DEVICE, room);
    free(room);
    return TM_OK;
}
