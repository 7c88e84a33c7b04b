/* Analysis `ratio`: communication relative to computation. */
#include "tmerge/analysis.h"

#include "analysis/shared/busy.h"

/* Columns shared by both tables, as offsets after the keys. */
enum { R_COMM, R_COMPUTE, R_RATIO, R_EXPOSED, N_RATIOS };

#define RATIO_COLUMNS                                                                              \
    {"comm_ns", TM_INT, "ns", "|C|: time with a communication kernel running (union)."},           \
        {"compute_ns", TM_INT, "ns", "|P|: time with a compute kernel running (union)."},          \
        {"comm_to_compute", TM_REAL, "", "comm_ns / compute_ns."}, {                               \
        "exposed_to_window", TM_REAL, "", "exposed_comm_ns / window_ns, as in `overlap`."          \
    }

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    RATIO_COLUMNS,
};

static const tm_column step_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"step", TM_INT, "", "Number of the step; 0 if the trace marks none."},
    RATIO_COLUMNS,
};

static const tm_table_def rank_def = {
    .name = "ratio.rank",
    .doc = "A row for each rank: its communication relative to its computation.",
    .columns = rank_columns,
    .n_columns = 1 + N_RATIOS,
    .n_keys = 1,
    .top = 1 + R_RATIO,
    .form = TM_FORM_BARS,
};

static const tm_table_def step_def = {
    .name = "ratio.step",
    .doc = "A row for each rank and step: the columns of ratio.rank, clipped to the step's window.",
    .columns = step_columns,
    .n_columns = 2 + N_RATIOS,
    .n_keys = 2,
    .top = 2 + R_RATIO,
    .form = TM_FORM_MAP,
};

static const tm_table_def *const defs[] = {&rank_def, &step_def};

static void set_ratios(tm_cell *cells, const tm_busy *busy, const tm_busy_times *t) {
    tm_cell_set_int(&cells[R_COMM], t->comm_ns);
    if (busy->comm_alone)
        return;
    tm_cell_set_int(&cells[R_COMPUTE], t->compute_ns);
    tm_cell_set_ratio(&cells[R_RATIO], 1.0, t->comm_ns, t->compute_ns);
    tm_cell_set_ratio(&cells[R_EXPOSED], 1.0, t->exposed_comm_ns, t->window_ns);
}

static tm_status ratio_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_busy_times t = tm_busy_rank(view->busy);
    tm_cell *row = tm_table_add_row(tm_tables_find(out, rank_def.name));
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[0], timeline->rank);
    set_ratios(row + 1, view->busy, &t);
    tm_table *steps = tm_tables_find(out, step_def.name);
    for (size_t i = 0; i < timeline->n_steps && !view->busy->comm_alone; i++) {
        t = tm_busy_step(view->busy, timeline, &timeline->steps[i]);
        row = tm_table_add_row(steps);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[0], timeline->rank);
        tm_cell_set_int(&row[1], timeline->steps[i].number);
        set_ratios(row + 2, view->busy, &t);
    }
    return TM_OK;
}

const tm_analysis tm_analysis_ratio = {
    .name = "ratio",
    .summary = "ratio of communication to computation, and how much of the window it is exposed",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = ratio_rank,
};
