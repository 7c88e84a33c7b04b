/* Analysis `overview`: how the time of a step is spent, and how well the GPU is used. */
#include "tmerge/analysis.h"

#include "analysis/shared/busy.h"
#include "analysis/shared/host_time.h"
#include "analysis/shared/kinds_of_steps.h"
#include "base/median.h"
#include "base/sums.h"
#include "gpu_use.h"
#include "one_rank_job.h"
#include "timeline/host_comm.h"

/* Parts of a step's time. If several activities run at the same time, the time counts for the first
 * part in this order. */
enum { KERNEL, COMM, MEMCPY, MEMSET, RUNTIME, INPUT, CPU, OTHER, N_PARTS };

#define PART_COLUMNS                                                                               \
    {"kernel_ns", TM_INT, "ns",                                                                    \
     "Time in which compute kernels run on the GPU. The eight parts from kernel_ns to other_ns "   \
     "add up to step_ns, because each part excludes the time of the parts before it."},            \
        {"comm_ns", TM_INT, "ns",                                                                  \
         "Time of communication (kernels, and gloo and MPI on the host) while no compute kernel "  \
         "runs. On ranks whose device is the CPU, only the part that the calling thread waits "    \
         "for."},                                                                                  \
        {"memcpy_ns", TM_INT, "ns", "Time in which copies run on the GPU, but no kernels."},       \
        {"memset_ns", TM_INT, "ns",                                                                \
         "Time in which sets run on the GPU, but no kernels or copies."},                          \
        {"runtime_ns", TM_INT, "ns",                                                               \
         "Time in calls of the CUDA or HIP runtime and driver while the GPU is idle."},            \
        {"input_ns", TM_INT, "ns",                                                                 \
         "Time in which the host waits for the next batch, the GPU is idle, and the host makes "   \
         "no runtime or driver calls."},                                                           \
        {"cpu_ns", TM_INT, "ns",                                                                   \
         "Time in operators and annotations on the CPU while the GPU is idle and the host "        \
         "neither makes runtime or driver calls nor waits for a batch."},                          \
    {                                                                                              \
        "other_ns", TM_INT, "ns", "Rest of the step: time without recorded activity."              \
    }

/* Columns on how well the GPU is used in steps. */
enum { UTILIZATION, SM_EFFICIENCY, OCCUPANCY, KNOWN, TENSOR, N_USES };

#define USE_COLUMNS                                                                                \
    {"gpu_utilization_pct", TM_REAL, "%",                                                          \
     "Percentage of step_ns in which a kernel ran, including communication; if the rank has "      \
     "several devices, the mean over them. Null without GPU events."},                             \
        {"sm_efficiency_pct", TM_REAL, "%",                                                        \
         "Estimated share of the multiprocessors that are used: mean over step_ns of min(1, "      \
         "blocks per multiprocessor of the running kernels). Null if this number is not recorded " \
         "for any kernel in the steps."},                                                          \
        {"occupancy_pct", TM_REAL, "%",                                                            \
         "Occupancy of kernels, as the profiler estimated: mean over the kernels with a value, "   \
         "weighted by time."},                                                                     \
        {"occupancy_known_pct", TM_REAL, "%",                                                      \
         "Share of kernel time in kernels whose occupancy is known. Profilers do not know the "    \
         "occupancy of kernels with much shared memory, such as many of cuBLAS, CUTLASS and "      \
         "flash attention."},                                                                      \
    {                                                                                              \
        "tensor_core_pct", TM_REAL, "%",                                                           \
            "Share of compute kernel time in kernels that use tensor cores, judged by their "      \
            "names."                                                                               \
    }

enum { S_RANK, S_STEP, S_LENGTH, S_PARTS, S_UTILIZATION = S_PARTS + N_PARTS };

static const tm_column step_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    {"step_ns", TM_INT, "ns", "Duration of the step's window."},
    PART_COLUMNS,
    {"gpu_utilization_pct", TM_REAL, "%",
     "Share of step_ns in which a kernel runs, including communication. If the rank has several "
     "devices, the mean over them. Null without GPU events."},
};

enum { R_RANK, R_STEPS, R_LENGTH, R_PARTS, R_USES = R_PARTS + N_PARTS };

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"steps", TM_INT, "", "Number of steps of the rank."},
    {"step_ns", TM_INT, "ns",
     "Sum of the durations of the rank's steps. The columns kernel_ns to other_ns are also sums "
     "over these steps."},
    PART_COLUMNS,
    USE_COLUMNS,
};

enum {
    J_RANKS,
    J_STEPS,
    J_MEAN,
    J_LENGTH,
    J_PARTS,
    J_SHARES = J_PARTS + N_PARTS,
    J_USES = J_SHARES + N_PARTS,
    J_PARTIAL = J_USES + N_USES,
    J_SAMPLES,
    J_TOKENS,
    J_SAMPLE_RATE,
    J_TOKEN_RATE,
    J_DEVICE_SAMPLE_RATE,
    J_DEVICE_TOKEN_RATE,
    J_HEADLINE,
    J_EVIDENCE
};

static const tm_column job_columns[] = {
    {"ranks", TM_INT, "", "Number of ranks that have steps."},
    {"steps", TM_INT, "", "Number of steps, summed over all ranks."},
    {"mean_step_ns", TM_INT, "ns",
     "Mean of overview.step.step_ns over the steps that are not partial; if all are partial, over "
     "all steps. Null if there are several kinds of steps; steps.kind has the mean of each kind."},
    {"step_ns", TM_INT, "ns",
     "Sum of the durations of all steps of all ranks. The columns kernel_ns to other_ns are also "
     "sums over ranks and steps."},
    PART_COLUMNS,
    {"kernel_pct", TM_REAL, "%", "Share of the steps in compute kernels: 100 kernel_ns / step_ns."},
    {"comm_pct", TM_REAL, "%",
     "Share of the steps in exposed communication: 100 comm_ns / step_ns."},
    {"memcpy_pct", TM_REAL, "%",
     "Share of the steps in which copies run on the GPU, but no kernels: 100 memcpy_ns / step_ns."},
    {"memset_pct", TM_REAL, "%",
     "Share of the steps in which sets run on the GPU, but no kernels or copies: 100 memset_ns / "
     "step_ns."},
    {"runtime_pct", TM_REAL, "%",
     "Share of the steps in runtime and driver calls while the GPU is idle: 100 runtime_ns / "
     "step_ns."},
    {"input_pct", TM_REAL, "%",
     "Share of the steps in waits for a batch while the GPU is idle: 100 input_ns / step_ns."},
    {"cpu_pct", TM_REAL, "%",
     "Share of the steps in work on the CPU while the GPU is idle: 100 cpu_ns / step_ns."},
    {"other_pct", TM_REAL, "%",
     "Share of the steps without recorded activity: 100 other_ns / step_ns."},
    USE_COLUMNS,
    {"partial_steps", TM_INT, "",
     "Number of partial steps, summed over all ranks (overlap.step.partial)."},
    {"samples_per_step", TM_INT, "",
     "Number of samples in a step of the whole job, as given by --samples-per-step. Null if not "
     "given; the columns derived from it are then null, too."},
    {"tokens_per_step", TM_INT, "",
     "Number of tokens in a step of the whole job, as given by --tokens-per-step. Null if not "
     "given; the columns derived from it are then null, too."},
    {"samples_per_s", TM_REAL, "",
     "Throughput of the job: samples_per_step / mean_step_ns. Null if no step is marked, if all "
     "steps are partial, or if there are several kinds of steps."},
    {"tokens_per_s", TM_REAL, "",
     "Throughput of the job: tokens_per_step / mean_step_ns. Null if no step is marked, if all "
     "steps are partial, or if there are several kinds of steps."},
    {"device_samples_per_s", TM_REAL, "",
     "Throughput per rank: samples_per_s / number of ranks of the job, including ranks without a "
     "trace."},
    {"device_tokens_per_s", TM_REAL, "",
     "Throughput per rank: tokens_per_s / number of ranks of the job, including ranks without a "
     "trace."},
    {"headline", TM_TEXT, "",
     "Sentence on how the device spends its time, for a job of one rank. Null for several ranks, "
     "or without device events."},
    {"evidence", TM_TEXT, "",
     "Sentence on why the device idles, and on how much of the steps is before the device's first "
     "recorded work or after its last."},
};

static const tm_table_def step_def = {
    .name = "overview.step",
    .doc = "A row for each step of a rank: where its time goes, as in TensorBoard's overview.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 2,
    .top = S_LENGTH,
    .form = TM_FORM_MAP,
};

static const tm_table_def rank_def = {
    .name = "overview.rank",
    .doc = "A row for each rank: sums over its steps, and how well its GPU was used.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_LENGTH,
    .form = TM_FORM_BARS,
};

static const tm_table_def job_def = {
    .name = "overview.job",
    .doc = "One row: sums over all ranks. Figures of GPU use are means over the ranks, weighted by "
           "step_ns.",
    TM_ARRAY(columns, job_columns),
    .n_keys = 0,
    .top = -1,
    .n_prose = 2,
};

static const tm_table_def *const defs[] = {&job_def, &rank_def, &step_def};

typedef struct part_sets {
    tm_intervals comm, copies, sets, none;
    const tm_intervals *raw[OTHER]; /* the set of each part, in the order of the columns */
    const tm_busy *busy;            /* busy time of the rank */
    bool of_cpu;                    /* whether the rank's device is the CPU */
    /* vector of tm_device_busy: the rank's devices, if there are several */
    const tm_vec *devices;
    tm_intervals steps; /* windows of the steps */
    /* [0]: union of the parts so far; [1]: the same with the next part */
    tm_intervals up_to[2];
} part_sets;

static void open_sets(part_sets *s, const tm_rank_view *view) {
    const tm_busy *busy = view->busy;
    const tm_host_time *host = view->host;
    *s = (part_sets){
        .comm = TM_INTERVALS(),
        .copies = TM_INTERVALS(),
        .sets = TM_INTERVALS(),
        .none = TM_INTERVALS(),
        .of_cpu = tm_timeline_is_of_cpu(view->timeline),
        .raw = {[KERNEL] = &busy->compute,
                [COMM] = &s->comm,
                [MEMCPY] = &s->copies,
                [MEMSET] = &s->sets,
                [RUNTIME] = &view->work->runtime,
                [INPUT] = &host->input,
                [CPU] = &view->work->cpu},
        .busy = busy,
        .devices = view->devices,
        .steps = TM_INTERVALS(),
        .up_to = {TM_INTERVALS(), TM_INTERVALS()},
    };
    if (s->of_cpu)
        s->raw[KERNEL] = &s->none; /* If the device is the CPU, there are no kernels, and operators
                                      on the CPU are computation. */
}

static void close_sets(part_sets *s) {
    TM_VECS_FREE(&s->comm, &s->copies, &s->sets, &s->steps, &s->up_to[0], &s->up_to[1]);
}

/* Separates copies from memory sets, because tm_busy has both in one set. */
static bool split_memory(const tm_timeline *timeline, tm_intervals *copies, tm_intervals *sets) {
    const tm_copy_attr *attrs = timeline->attrs[TM_ATTR_COPY];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COPY]; i++) {
        uint32_t row = attrs[i].event;
        int64_t begin = timeline->begin_ns[row];
        if (timeline->role[row] == TM_ROLE_MEMORY &&
            !tm_intervals_add(timeline->category[row] == TM_CAT_MEMSET ? sets : copies, begin,
                              begin + timeline->duration_ns[row]))
            return false;
    }
    tm_intervals_normalise(copies);
    tm_intervals_normalise(sets);
    return true;
}

static bool find_sets(const tm_rank_view *view, part_sets *s) {
    const tm_busy *busy = view->busy;
    bool ok = split_memory(view->timeline, &s->copies, &s->sets) &&
              (s->of_cpu ? tm_intervals_unite(&busy->exposed_comm, &s->none, &s->comm)
                         : tm_intervals_unite(&busy->communication, &view->host->communication,
                                              &s->comm));
    for (size_t i = 0; i < view->timeline->n_steps && ok; i++)
        ok = tm_intervals_add(&s->steps, view->timeline->steps[i].begin_ns,
                              view->timeline->steps[i].end_ns);
    tm_intervals_normalise(&s->steps);
    return ok;
}

/* Returns the intervals of a set that overlap a step. Borrowed. */
static tm_intervals near_step(const tm_intervals *set, const tm_step *step) {
    size_t first = tm_intervals_first_after(set, step->begin_ns), end = first;
    tm_interval *v = set->data;
    while (end < set->n && v[end].begin_ns < step->end_ns)
        end++;
    return (tm_intervals){
        .data = set->n > 0 ? v + first : NULL, .n = end - first, .size = set->size};
}

/* Sets the parts of a step, and adds them to the rank's sums. Each part gets only the time that no
 * earlier part has. */
static bool add_parts(part_sets *s, const tm_step *step, int64_t window_ns, int64_t *sums,
                      tm_cell *cells) {
    int64_t before = 0;
    s->up_to[1].n = 0;
    for (int p = 0; p < N_PARTS; p++) {
        int64_t up_to = window_ns;
        if (p != OTHER) {
            const tm_intervals part = near_step(s->raw[p], step);
            if (!tm_intervals_unite(&s->up_to[(p + 1) % 2], &part, &s->up_to[p % 2]))
                return false;
            up_to = tm_intervals_length_in(&s->up_to[p % 2], step->begin_ns, step->end_ns);
        }
        tm_cell_set_int(&cells[p], up_to - before);
        sums[p] += up_to - before;
        before = up_to;
    }
    return true;
}

/* Returns the duration of P u C in a step, which is the duration of P plus that of C \ P. */
static int64_t kernels_in(const tm_busy *busy, const tm_step *step) {
    return tm_intervals_length_in(&busy->compute, step->begin_ns, step->end_ns) +
           tm_intervals_length_in(&busy->exposed_comm, step->begin_ns, step->end_ns);
}

/* Returns the duration of P u C in a step. If several devices work, returns the mean over these
 * devices. */
static int64_t kernels_of_devices(const part_sets *s, const tm_step *step) {
    const tm_device_busy *v = s->devices->data;
    int64_t sum = 0, n = 0;
    for (size_t i = 0; i < s->devices->n; i++) {
        sum += v[i].works ? kernels_in(&v[i].busy, step) : 0;
        n += v[i].works;
    }
    return n > 0 ? sum / n : kernels_in(s->busy, step);
}

/* Adds the rows of the steps. Sets `sums` [N_PARTS] and `length` to the rank's sums over steps. */
static bool add_steps(const tm_rank_view *view, part_sets *s, tm_table *table, int64_t *sums,
                      int64_t *length) {
    const tm_timeline *timeline = view->timeline;
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        int64_t window = tm_step_window(timeline, step);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return false;
        tm_cell_set_int(&row[S_RANK], timeline->rank);
        tm_cell_set_int(&row[S_STEP], step->number);
        tm_cell_set_int(&row[S_LENGTH], window);
        if (!add_parts(s, step, window, sums, row + S_PARTS))
            return false;
        if (view->busy->any && !s->of_cpu)
            tm_cell_set_ratio(&row[S_UTILIZATION], 100, kernels_of_devices(s, step), window);
        *length += window;
    }
    return true;
}

/* Adds the row of the rank, which covers only time within steps. */
static bool add_rank(const tm_rank_view *view, const part_sets *s, const int64_t *sums,
                     int64_t length, tm_table *table) {
    tm_cell *row = tm_table_add_row(table);
    tm_gpu_use use;
    if (!row || !tm_gpu_use_find(view, &s->steps, &use))
        return false;
    tm_cell_set_int(&row[R_RANK], view->timeline->rank);
    tm_cell_set_int(&row[R_STEPS], (int64_t)view->timeline->n_steps);
    tm_cell_set_int(&row[R_LENGTH], length);
    for (int p = 0; p < N_PARTS; p++)
        tm_cell_set_int(&row[R_PARTS + p], sums[p]);
    int64_t kernels = 0;
    for (size_t i = 0; i < view->timeline->n_steps; i++)
        kernels += kernels_of_devices(s, &view->timeline->steps[i]);
    if (view->busy->any && !s->of_cpu)
        tm_cell_set_ratio(&row[R_USES + UTILIZATION], 100, kernels, length);
    if (use.has_blocks && length > 0)
        tm_cell_set_real(&row[R_USES + SM_EFFICIENCY], 100 * use.filled_ns / (double)length);
    if (use.occupied_ns > 0)
        tm_cell_set_real(&row[R_USES + OCCUPANCY], use.occupancy / (double)use.occupied_ns);
    tm_cell_set_ratio(&row[R_USES + KNOWN], 100, use.occupied_ns, use.kernel_ns);
    tm_cell_set_ratio(&row[R_USES + TENSOR], 100, use.tensor_ns, use.compute_ns);
    return true;
}

static tm_status overview_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    part_sets s;
    int64_t sums[N_PARTS] = {0}, length = 0;
    open_sets(&s, view);
    bool ok = find_sets(view, &s) &&
              add_steps(view, &s, tm_tables_find(out, step_def.name), sums, &length) &&
              add_rank(view, &s, sums, length, tm_tables_find(out, rank_def.name));
    close_sets(&s);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Sets the mean of a column over the ranks that have a value, weighted by the duration of their
 * steps. */
static void set_mean(const tm_table *ranks, int column, tm_cell *cell) {
    double sum = 0, length = 0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *row = tm_table_row(ranks, i);
        if (row[column].null)
            continue;
        sum += row[column].value.r * (double)row[R_LENGTH].value.i;
        length += (double)row[R_LENGTH].value.i;
    }
    if (length > 0)
        tm_cell_set_real(cell, sum / length);
}

static int64_t sum_of(const tm_table *ranks, int column) {
    int64_t sum = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        sum = tm_sum(sum, tm_table_row(ranks, i)[column].value.i);
    return sum;
}

/* Sets the mean duration of a step (null if there are several kinds), and the number of partial
 * steps. Both tables have a row for each step and rank, in the same order. */
static void set_mean_step(const tm_tables *tables, tm_cell *row) {
    const tm_table *steps = tm_tables_find(tables, step_def.name);
    const tm_table *windows = tm_tables_find(tables, "overlap.step");
    int64_t all = 0, whole = 0, n_whole = 0, n = (int64_t)steps->n_rows;
    for (size_t i = 0; i < steps->n_rows; i++) {
        int64_t length = tm_table_row(steps, i)[S_LENGTH].value.i;
        bool partial = i < windows->n_rows && tm_table_cell(windows, i, "partial")->value.i;
        all = tm_sum(all, length);
        whole = partial ? whole : tm_sum(whole, length);
        n_whole += !partial;
    }
    tm_cell_set_int(&row[J_PARTIAL], n - n_whole);
    if (n > 0 && tm_step_kinds_find(tables).n < 2)
        tm_cell_set_int(&row[J_MEAN],
                        n_whole > 0 ? tm_round_ratio(whole, n_whole) : tm_round_ratio(all, n));
}

/* Sets the samples and tokens per second: the given numbers / the mean duration of a whole marked
 * step. */
static void set_rates(const tm_job *job, const tm_tables *tables, tm_cell *row) {
    const int64_t given[2] = {job->samples, job->tokens};
    const tm_table *jobs = tm_tables_find(tables, "job.job");
    int64_t marked = jobs->n_rows > 0 ? tm_table_cell(jobs, 0, "steps")->value.i : 0;
    int64_t whole = row[J_STEPS].value.i - row[J_PARTIAL].value.i;
    int64_t ranks =
        (int64_t)job->n_ranks > job->world_size ? (int64_t)job->n_ranks : job->world_size;
    for (int i = 0; i < 2; i++) {
        if (given[i] <= 0)
            continue;
        tm_cell_set_int(&row[J_SAMPLES + i], given[i]);
        if (marked == 0 || whole <= 0 || row[J_MEAN].null || row[J_MEAN].value.i <= 0)
            continue;
        double rate = (double)given[i] * 1e9 / (double)row[J_MEAN].value.i;
        tm_cell_set_real(&row[J_SAMPLE_RATE + i], rate);
        tm_cell_set_real(&row[J_DEVICE_SAMPLE_RATE + i], rate / (double)ranks);
    }
}

static tm_status set_alone(tm_tables *out, tm_cell *row, tm_error *err) {
    tm_table *table = tm_tables_find(out, job_def.name);
    char headline[TM_ALONE_MAX], evidence[TM_ALONE_MAX];
    if (tm_alone_text(out, headline, evidence))
        TM_TRY(tm_table_set_text(table, &row[J_HEADLINE], headline, err));
    if (*evidence)
        TM_TRY(tm_table_set_text(table, &row[J_EVIDENCE], evidence, err));
    return TM_OK;
}

static tm_status overview_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const tm_table *ranks = tm_tables_find(out, rank_def.name);
    int64_t n = 0, steps = sum_of(ranks, R_STEPS), length = sum_of(ranks, R_LENGTH);
    tm_cell *row = tm_table_add_row(tm_tables_find(out, job_def.name));
    if (!row)
        return tm_fail_memory(err);
    for (size_t i = 0; i < ranks->n_rows; i++)
        n += tm_table_row(ranks, i)[R_STEPS].value.i > 0;
    tm_cell_set_int(&row[J_RANKS], n);
    tm_cell_set_int(&row[J_STEPS], steps);
    set_mean_step(out, row);
    set_rates(job, out, row);
    tm_cell_set_int(&row[J_LENGTH], length);
    for (int p = 0; p < N_PARTS; p++) {
        int64_t sum = sum_of(ranks, R_PARTS + p);
        tm_cell_set_int(&row[J_PARTS + p], sum);
        tm_cell_set_ratio(&row[J_SHARES + p], 100, sum, length);
    }
    /* The weights make ranks with few steps count less. */
    for (int u = 0; u < N_USES; u++)
        set_mean(ranks, R_USES + u, &row[J_USES + u]);
    return set_alone(out, row, err);
}

const tm_analysis tm_analysis_overview = {
    .name = "overview",
    .summary = "where a step's time goes, and how well the GPUs are used",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_WORK,
    .rank = overview_rank,
    .job = overview_job,
};
