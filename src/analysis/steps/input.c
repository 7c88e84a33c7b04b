/* Analysis `input`: how long the program waits for data, and whether the GPU idles during these
 * waits. */
#include "tmerge/analysis.h"

#include "analysis/shared/busy.h"
#include "analysis/shared/host_time.h"

/* Columns with times in input.step and input.rank, relative to the first such column. */
enum { T_STEP, T_LOAD, T_LOAD_PCT, T_STALL, T_STALL_PCT, N_TIMES };

#define TIME_COLUMNS                                                                               \
    {"step_ns", TM_INT, "ns",                                                                      \
     "Duration of the step's window; for a rank, the sum over its steps."},                        \
        {"load_ns", TM_INT, "ns",                                                                  \
         "Time in which a thread waits for the next batch (enumerate(DataLoader), "                \
         "enumerate(DataPipe))."},                                                                 \
        {"load_pct", TM_REAL, "%",                                                                 \
         "Share of the step in which the rank waits for a batch: 100 load_ns / step_ns."},         \
        {"stall_ns", TM_INT, "ns",                                                                 \
         "Part of load_ns in which the GPU is idle: an upper bound of the cost of loading. 0 "     \
         "without GPU events."},                                                                   \
    {                                                                                              \
        "stall_pct", TM_REAL, "%",                                                                 \
            "Share of the step in which the GPU is idle while the rank waits for a batch: 100 "    \
            "stall_ns / step_ns. Null without GPU events."                                         \
    }

enum { S_RANK, S_STEP, S_TIMES };

static const tm_column step_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    TIME_COLUMNS,
};

enum { R_RANK, R_WAITS, R_TIMES, R_SLOWEST_STEP = R_TIMES + N_TIMES, R_SLOWEST_NS, R_SLOWEST };

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"waits", TM_INT, "", "Number of waits for a batch in the whole trace."},
    TIME_COLUMNS,
    {"slowest_step", TM_INT, "",
     "Step with the largest load_ns; the first if there are several. Null if the rank waits for no "
     "batch in its steps."},
    {"slowest_step_load_ns", TM_INT, "ns",
     "Time that the rank waits for a batch in slowest_step (load_ns)."},
    {"slowest", TM_BOOL, "",
     "Whether the rank has the largest load_ns of all ranks; only the lowest if there are "
     "several."},
};

static const tm_table_def step_def = {
    .name = "input.step",
    .doc = "A row for each step of a rank: how long it waited for the next batch.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 2,
    .top = S_TIMES + T_LOAD,
    .form = TM_FORM_MAP,
};

static const tm_table_def rank_def = {
    .name = "input.rank",
    .doc = "A row for each rank: how long it waited for batches.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_TIMES + T_LOAD,
    .form = TM_FORM_BARS,
};

static const tm_table_def *const defs[] = {&rank_def, &step_def};

typedef struct load_times {
    int64_t step_ns, load_ns, stall_ns;
} load_times;

static void set_times(tm_cell *cells, const load_times *t, bool gpu) {
    tm_cell_set_int(&cells[T_STEP], t->step_ns);
    tm_cell_set_int(&cells[T_LOAD], t->load_ns);
    tm_cell_set_ratio(&cells[T_LOAD_PCT], 100, t->load_ns, t->step_ns);
    tm_cell_set_int(&cells[T_STALL], t->stall_ns);
    if (gpu)
        tm_cell_set_ratio(&cells[T_STALL_PCT], 100, t->stall_ns, t->step_ns);
}

/* Computes the time in which the host waits for input while the GPU is idle. The result is empty if
 * there is no GPU. */
static bool find_stalls(const tm_rank_view *view, tm_intervals *out) {
    tm_intervals a = TM_INTERVALS(), b = TM_INTERVALS();
    const tm_busy *busy = view->busy;
    bool ok = !busy->any || (tm_intervals_subtract(&view->host->input, &busy->compute, &a) &&
                             tm_intervals_subtract(&a, &busy->communication, &b) &&
                             tm_intervals_subtract(&b, &busy->memory, out));
    tm_vec_free(&a);
    tm_vec_free(&b);
    return ok;
}

static bool add_rows(const tm_rank_view *view, const tm_intervals *stalls, tm_tables *out) {
    const tm_timeline *timeline = view->timeline;
    load_times sum = {0}, slowest = {.load_ns = 0};
    int64_t slowest_step = 0;
    tm_table *table = tm_tables_find(out, step_def.name);
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        load_times t = {
            .step_ns = tm_step_window(timeline, step),
            .load_ns = tm_intervals_length_in(&view->host->input, step->begin_ns, step->end_ns),
            .stall_ns = tm_intervals_length_in(stalls, step->begin_ns, step->end_ns),
        };
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return false;
        tm_cell_set_int(&row[S_RANK], timeline->rank);
        tm_cell_set_int(&row[S_STEP], step->number);
        set_times(&row[S_TIMES], &t, view->busy->any && !view->busy->comm_alone);
        /* If several steps have the maximum, the first stays. If no step loads data, none is
         * kept. */
        if (t.load_ns > slowest.load_ns) {
            slowest = t;
            slowest_step = step->number;
        }
        sum.step_ns += t.step_ns;
        sum.load_ns += t.load_ns;
        sum.stall_ns += t.stall_ns;
    }
    tm_cell *row = tm_table_add_row(tm_tables_find(out, rank_def.name));
    if (!row)
        return false;
    tm_cell_set_int(&row[R_RANK], timeline->rank);
    tm_cell_set_int(&row[R_WAITS], view->host->n_inputs);
    set_times(&row[R_TIMES], &sum, view->busy->any && !view->busy->comm_alone);
    if (slowest.load_ns > 0) {
        tm_cell_set_int(&row[R_SLOWEST_STEP], slowest_step);
        tm_cell_set_int(&row[R_SLOWEST_NS], slowest.load_ns);
    }
    return true;
}

static tm_status input_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_intervals stalls = TM_INTERVALS();
    bool ok = find_stalls(view, &stalls) && add_rows(view, &stalls, out);
    tm_vec_free(&stalls);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Marks the slowest rank of the job. */
static tm_status input_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    (void)err;
    const tm_table *ranks = tm_tables_find(out, rank_def.name);
    /* Rows are sorted by rank. If values are equal, the lowest rank stays. */
    size_t slowest = 0;
    for (size_t i = 1; i < ranks->n_rows; i++)
        if (tm_table_row(ranks, i)[R_TIMES + T_LOAD].value.i >
            tm_table_row(ranks, slowest)[R_TIMES + T_LOAD].value.i)
            slowest = i;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        tm_cell *row = tm_table_row(ranks, i);
        tm_cell_set_bool(&row[R_SLOWEST], i == slowest && row[R_TIMES + T_LOAD].value.i > 0);
    }
    return TM_OK;
}

const tm_analysis tm_analysis_input = {
    .name = "input",
    .summary = "how long each rank waits for its data, and how long its GPU waits too",
    TM_ARRAY(tables, defs),
    .rank = input_rank,
    .job = input_job,
};
