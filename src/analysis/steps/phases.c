/* Analysis `phases`: forward, backward, optimizer and data loading of each step. */
#include "tmerge/analysis.h"

#include "analysis/shared/busy.h"
#include "analysis/shared/xla.h"
#include "phase_time.h"

/* Parts of each of three times (step, host, GPU): the phases, then "other". */
enum { N_PARTS = TM_N_PHASES + 1 };

enum { RANK, STEP, LENGTH, BOTH, SHARE = BOTH + N_PARTS, HOST = SHARE + N_PARTS };
enum { GPU = HOST + N_PARTS, IDLE = GPU + N_PARTS, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [STEP] = {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    [LENGTH] = {"step_ns", TM_INT, "ns", "Duration of the step's window."},
    [BOTH + TM_PHASE_FORWARD] =
        {"forward_ns", TM_INT, "ns",
         "Time in the forward phase. While the GPU is busy: it runs work that was launched in this "
         "phase. While the GPU is idle: the host is in this phase. The five phases forward, "
         "backward, optimizer, data and other add up to step_ns."},
    [BOTH + TM_PHASE_BACKWARD] =
        {"backward_ns", TM_INT, "ns",
         "Time in the backward phase. While the GPU is busy: it runs work that was launched in "
         "this phase. While the GPU is idle: the host is in this phase."},
    [BOTH + TM_PHASE_OPTIMIZER] =
        {"optimizer_ns", TM_INT, "ns",
         "Time in the optimizer phase (Optimizer.step and Optimizer.zero_grad). While the GPU is "
         "busy: it runs work that was launched in this phase. While the GPU is idle: the host is "
         "in this phase."},
    [BOTH + TM_PHASE_DATA] =
        {"data_ns", TM_INT, "ns",
         "Time in waits for a batch. While the GPU is busy: it runs work that was launched during "
         "such a wait. While the GPU is idle: the host waits for a batch."},
    [BOTH + TM_N_PHASES] = {"other_ns", TM_INT, "ns", "Rest of the step."},
    [SHARE + TM_PHASE_FORWARD] =
        {"forward_pct", TM_REAL, "%",
         "Share of the step in the forward phase: 100 forward_ns / step_ns. 35 to 40 % is usual."},
    [SHARE + TM_PHASE_BACKWARD] = {"backward_pct", TM_REAL, "%",
                                   "Share of the step in the backward phase: 100 backward_ns / "
                                   "step_ns. 40 to 45 % is usual."},
    [SHARE + TM_PHASE_OPTIMIZER] = {"optimizer_pct", TM_REAL, "%",
                                    "Share of the step in the optimizer phase: 100 optimizer_ns / "
                                    "step_ns. Under 15 % is healthy."},
    [SHARE + TM_PHASE_DATA] =
        {"data_pct", TM_REAL, "%",
         "Share of the step in waits for a batch: 100 data_ns / step_ns. Under 10 % is healthy."},
    [SHARE + TM_N_PHASES] =
        {"other_pct", TM_REAL, "%",
         "Share of the step in no phase: 100 other_ns / step_ns. Under 10 % is healthy."},
    [HOST + TM_PHASE_FORWARD] =
        {"host_forward_ns", TM_INT, "ns",
         "Host time of the forward phase: from the main thread's first call to its last call "
         "before the backward phase, without the time of other phases. If there is no backward "
         "phase: from the main thread's first call to its last. The five host columns (forward, "
         "backward, optimizer, data, other) add up to step_ns."},
    [HOST +
        TM_PHASE_BACKWARD] = {"host_backward_ns", TM_INT, "ns",
                              "Host time of the backward phase: autograd's threads work, or the "
                              "main thread makes no calls between two pieces of their work."},
    [HOST + TM_PHASE_OPTIMIZER] = {"host_optimizer_ns", TM_INT, "ns",
                                   "Host time in Optimizer.step and Optimizer.zero_grad."},
    [HOST + TM_PHASE_DATA] =
        {"host_data_ns", TM_INT, "ns",
         "Host time in waits for a batch: enumerate(DataLoader), enumerate(DataPipe)."},
    [HOST + TM_N_PHASES] = {"host_other_ns", TM_INT, "ns", "Host time of the step in no phase."},
    [GPU + TM_PHASE_FORWARD] =
        {"gpu_forward_ns", TM_INT, "ns",
         "Time in which the GPU runs work launched in the forward phase. If work of several phases "
         "runs at the same time, the time counts for the first of forward, backward, optimizer, "
         "data and other. The five GPU columns and gpu_idle_ns add up to step_ns."},
    [GPU + TM_PHASE_BACKWARD] = {"gpu_backward_ns", TM_INT, "ns",
                                 "GPU time of work launched in the backward phase."},
    [GPU + TM_PHASE_OPTIMIZER] = {"gpu_optimizer_ns", TM_INT, "ns",
                                  "GPU time of work launched in the optimizer phase."},
    [GPU + TM_PHASE_DATA] = {"gpu_data_ns", TM_INT, "ns",
                             "GPU time of work launched in waits for a batch."},
    [GPU + TM_N_PHASES] =
        {"gpu_other_ns", TM_INT, "ns",
         "GPU time of work launched in no phase, or by a call that is not in the trace."},
    [IDLE] = {"gpu_idle_ns", TM_INT, "ns", "Time in which the GPU is idle."},
};

static const tm_table_def step_def = {
    .name = "phases.step",
    .doc = "A row for each step of a rank: the time of its phases, from what its threads do and "
           "from the work that they launch. Ranks whose trace shows no phase have no rows; nor "
           "have ranks with an XSpace, because XLA compiles all phases into one program (hlo.work "
           "and pod.step show its work).",
    TM_ARRAY(columns, columns),
    .n_keys = 2,
    .top = LENGTH,
    .form = TM_FORM_MAP,
};

static const tm_table_def *const defs[] = {&step_def};

/* The sets that are measured in each step. */
typedef struct phase_sets {
    tm_phase_time phases;
    const tm_intervals *busy; /* busy time of the rank */
} phase_sets;

static void set_step(tm_cell *row, const phase_sets *s, const tm_step *step, int64_t window_ns) {
    int64_t begin = step->begin_ns, end = step->end_ns;
    int64_t busy = tm_intervals_length_in(s->busy, begin, end);
    /* the time that has no phase yet */
    int64_t both = window_ns, host = window_ns, gpu = busy;
    for (int p = 0; p < TM_N_PHASES; p++) {
        int64_t in_host = tm_intervals_length_in(&s->phases.host[p], begin, end);
        int64_t in_gpu = tm_intervals_length_in(&s->phases.gpu[p], begin, end);
        /* While the GPU is busy, the phase is that of the GPU's work. While it is idle, the phase
         * is that of the host's work. */
        int64_t in_both =
            in_gpu + in_host - tm_intervals_common_in(&s->phases.host[p], s->busy, begin, end);
        tm_cell_set_int(&row[BOTH + p], in_both);
        tm_cell_set_ratio(&row[SHARE + p], 100, in_both, window_ns);
        tm_cell_set_int(&row[HOST + p], in_host);
        tm_cell_set_int(&row[GPU + p], in_gpu);
        both -= in_both;
        host -= in_host;
        gpu -= in_gpu;
    }
    /* The rest is "other". Thus the parts of each of the three times add up. */
    tm_cell_set_int(&row[BOTH + TM_N_PHASES], both);
    tm_cell_set_ratio(&row[SHARE + TM_N_PHASES], 100, both, window_ns);
    tm_cell_set_int(&row[HOST + TM_N_PHASES], host);
    tm_cell_set_int(&row[GPU + TM_N_PHASES], gpu);
    tm_cell_set_int(&row[IDLE], window_ns - busy);
}

static tm_status add_steps(const tm_rank_view *view, const phase_sets *s, tm_tables *out,
                           tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, step_def.name);
    for (size_t i = 0; i < timeline->n_steps; i++) {
        tm_cell *row = tm_table_add_row(table);
        int64_t window = tm_step_window(timeline, &timeline->steps[i]);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[RANK], timeline->rank);
        tm_cell_set_int(&row[STEP], timeline->steps[i].number);
        tm_cell_set_int(&row[LENGTH], window);
        set_step(row, s, &timeline->steps[i], window);
    }
    return TM_OK;
}

static bool any_found(const tm_phase_time *phases) {
    bool reported = false;
    for (int p = 0; p < TM_N_PHASES; p++)
        reported = reported || phases->host[p].n > 0;
    return reported;
}

static tm_status phases_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    phase_sets s = {.busy = &view->busy->busy};
    if (tm_xla_is(view))
        return TM_OK;
    tm_status status = tm_phase_time_find(view, &s.phases, err);
    if (status == TM_OK && any_found(&s.phases))
        status = add_steps(view, &s, out, err);
    tm_phase_time_free(&s.phases);
    return status;
}

const tm_analysis tm_analysis_phases = {
    .name = "phases",
    .summary = "forward, backward, optimizer and data loading of each step",
    TM_ARRAY(tables, defs),
    .rank = phases_rank,
};
