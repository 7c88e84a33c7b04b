#include "integrity.h"

#include "analysis/shared/busy.h"
#include "analysis/shared/lost.h"
#include "serial.h"

enum {
    RANK,
    STEPS,
    STEPS_LOST,
    LAUNCHES,
    LAUNCHES_LOST,
    GRAPHS_LOST,
    RECORDED_PCT,
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
    N_COLUMNS
};

static const tm_column columns[N_COLUMNS] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [STEPS] = {"steps", TM_INT, "",
               "Steps that its trace marks; null, as the columns up to recorded_pct, where it has "
               "no launches."},
    [STEPS_LOST] = {"steps_lost", TM_INT, "",
                    "Of these, in which kernels were launched and none was recorded."},
    [LAUNCHES] = {"launches", TM_INT, "",
                  "Calls that launch a kernel or a graph, without those that a graph's capture "
                  "recorded."},
    [LAUNCHES_LOST] =
        {"launches_lost", TM_INT, "",
         "Those of which no GPU event was recorded; of a graph, too, those of which only copies "
         "were, or only communication and from the launch to its end the GPU did nothing for over "
         "200 us and half of that time. Where under 1 % of the launches are lost between recorded "
         "ones, it leaves out the first and the last tenth of the recording."},
    [GRAPHS_LOST] = {"graphs_lost", TM_INT, "", "Of launches_lost, launches of graphs."},
    [RECORDED_PCT] = {"recorded_pct", TM_REAL, "%", "100 (launches - launches_lost) / launches."},
    [DEVICE] = {"device_ns", TM_INT, "ns", "Time in which a GPU event was recorded: |P u C u M|."},
    [HIDDEN] = {"hidden_ns", TM_INT, "ns",
                "Time without a recorded GPU event from a launch of launches_lost until the host "
                "had waited for the GPU, or the next kernel began: the GPU may have worked. Of a "
                "rank with several devices (overlap.device) that of each, by the device that the "
                "launches before and after it on its thread were for."},
    [COMPUTE] = {"compute_pct", TM_REAL, "%",
                 "100 compute_ns / the rank's window, of several devices their mean, as the five "
                 "that follow; null, as these, without GPU events."},
    [COMPUTE_LEAST] = {"compute_least_pct", TM_REAL, "%",
                       "The same, were hidden_ns idle and impossible_ns too, of a window that has "
                       "all of hidden_ns."},
    [COMPUTE_MOST] = {"compute_most_pct", TM_REAL, "%", "The same, were all of hidden_ns compute."},
    [IDLE] = {"idle_pct", TM_REAL, "%", "100 idle_ns of overlap.rank / the window, likewise."},
    [IDLE_LEAST] = {"idle_least_pct", TM_REAL, "%", "The same, were the GPU at work in hidden_ns."},
    [IDLE_MOST] = {"idle_most_pct", TM_REAL, "%",
                   "The same, were it idle then and in impossible_ns."},
    [MOVES] = {"moves_pct", TM_REAL, "%",
               "By how much figures of the rank could be off: the largest of 100 - recorded_pct, "
               "what the shares above could move by, and 100 (compute_ns - compute_least_ns) / "
               "compute_ns. Above 5 nothing is concluded from them."},
    [BETWEEN] = {"between_pct", TM_REAL, "%",
                 "The larger of the last of these and, of the launches from the first to the last "
                 "of which a GPU event was recorded, 100 lost / launches. Up to 5 that stretch is "
                 "whole, and who made others wait in it can be said."},
    [IMPOSSIBLE] =
        {"impossible_kernels", TM_INT, "",
         "Kernels whose ends are wrong. 3 or more that follow them on their stream began "
         "and ended before: a stream is serial, but for those of one graph. Or the host "
         "had waited for its device in the first half of what they take. "
         "Or all else of the recording was over, and they last for longer than that "
         "took: profilers stop when the device has."},
    [IMPOSSIBLE_KERNEL] = {"impossible_kernel", TM_TEXT, "",
                           "The one of which most is in doubt; null, as what follows it, where "
                           "there is none."},
    [IMPOSSIBLE_BEGIN] = {"begin_ns", TM_INT, "ns",
                          "Aligned begin of that kernel since the epoch."},
    [FOLLOWERS] = {"followers", TM_INT, "", "How many began and ended before its end."},
    [IMPOSSIBLE_NS] = {"impossible_ns", TM_INT, "ns",
                       "Of all these kernels, the busy time that only what follows the begin of "
                       "their next makes; all of theirs where none follows."},
    [COMPUTE_NS] = {"compute_ns", TM_INT, "ns", "|P| as recorded."},
    [COMPUTE_LEAST_NS] =
        {"compute_least_ns", TM_INT, "ns",
         "|P| with each of these kernels ended where its next begins, without those "
         "that none follows."},
    [LATE] = {"late_kernels", TM_INT, "",
              "Other kernels that end after a call that waited for their device, made after their "
              "launch, had returned; 0 where the rank has several devices."},
    [LATEST] = {"latest_ns", TM_INT, "ns",
                "How long after it the latest of them ends; null without any. By more than some "
                "30 us, the GPU's clock is wrong against its host's, or these ends are."},
};

const tm_table_def tm_integrity_table = {
    .name = "job.integrity",
    .doc = "A row for each rank: what of its work was recorded, what is in doubt, and by how much "
           "its figures could be off.",
    .columns = columns,
    .n_columns = N_COLUMNS,
    .n_keys = 1,
    .top = MOVES,
};

/* What was found of a rank. */
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
}

/* What the devices of a rank did, together. */
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

/* The shares as recorded, and the bounds that what is in doubt gives them. */
static void set_shares(tm_cell *row, const state *s, int64_t whole_ns) {
    const tm_busy_times t = tm_busy_rank(s->view->busy);
    bool odd = s->serial.kernels > 0;
    int64_t compute = odd ? tm_intervals_length(&s->serial.compute) : t.compute_ns;
    int64_t busy = odd ? tm_intervals_length(&s->serial.busy) : t.busy_ns;
    const device_times d = devices_of(s->view);
    const int64_t late_ns = t.compute_ns - compute, odd_ns = t.busy_ns - busy;
    const int64_t window = d.n * t.window_ns, whole = d.n * whole_ns;
    /* what may be of any device counts beside what is of each */
    const int64_t room = whole - d.busy_ns;
    const int64_t hidden = s->lost->hidden_ns < room ? s->lost->hidden_ns : room;
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
    double lost = s->lost->between > 0 ? share(s->lost->lost_between, s->lost->between) : moves;
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
