#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/busy.h"
#include "base/sums.h"

/* Minimum coverage for an MFU [%]. With less coverage, the MFU depends on work that is not
 * counted. */
#define LEAST_COVERAGE 20.0
/* Maximum window / step time for an MFU. Above it, devices work outside of the marked steps. */
#define MOST_AHEAD 1.5
/* No MFU if the peak is unknown for a larger share of operations: the MFU leaves these out. */
#define MOST_WITHOUT_PEAK 0.01

enum { N_RANK, N_STEP, N_NUMBER, N_PEAK, N_COUNTED, N_FLOP, N_CAUSAL, N_AT_MOST, N_RECOMPUTED };

static const tm_column number_columns[] = {
    [N_RANK] = {"rank", TM_INT, "", "Global rank."},
    [N_STEP] = {"step", TM_INT, "", "Number of the step."},
    [N_NUMBER] = {"number", TM_INT, "", "Number type (tm_number)."},
    [N_PEAK] = {"peak_tflops", TM_REAL, "TFLOP/s", "Peak rate of the rank's device; 0 if unknown."},
    [N_COUNTED] = {"counted_ns", TM_INT, "ns",
                   "Duration of the kernels whose number of operations is known."},
    [N_FLOP] = {"flop", TM_INT, "FLOP",
                "Number of operations of the kernels that counted_ns covers."},
    [N_CAUSAL] = {"causal_flop", TM_INT, "FLOP",
                  "Like flop, but without recomputation, and with only half of the operations of "
                  "causal attention."},
    [N_AT_MOST] =
        {"at_most_flop", TM_INT, "FLOP",
         "Operations of calls for which only an upper bound is known. flop does not include them."},
    [N_RECOMPUTED] = {"recomputed_flop", TM_INT, "FLOP", "Part of flop that is recomputation."},
};

const tm_table_def tm_efficiency_number_part = TM_INTERNAL_TABLE(
    "efficiency.number", "A row for each rank, step and type of numbers.", number_columns, 3);

/* Columns that the table of ranks and the table of steps have in common. They come after the keys.
 */
enum {
    E_STEP,
    E_WINDOW,
    E_COMPUTE,
    E_COUNTED,
    E_COVERAGE,
    E_FLOP,
    E_AT_MOST,
    E_RECOMPUTED,
    E_RATE,
    E_KERNEL_RATE,
    E_IDEAL,
    E_MFU,
    E_MFU_WINDOW,
    E_MFU_AT_MOST,
    E_MFU_CAUSAL,
    E_HFU,
    N_FIGURES
};

#define FIGURE_COLUMNS                                                                             \
    {"step_ns", TM_INT, "ns",                                                                      \
     "Duration of the step's mark on the host; for a rank, the sum over its steps. Duration of "   \
     "the whole trace if it marks no steps. For XLA profiles it equals window_ns, because the "    \
     "host only queues work."},                                                                    \
        {"window_ns", TM_INT, "ns",                                                                \
         "Duration of the step's window, as in overlap.step; for a rank, the sum over its steps. " \
         "A window ends with the last device event of its step at the earliest."},                 \
        {"compute_ns", TM_INT, "ns",                                                               \
         "Sum of the durations of the step's kernels, except communication kernels; for a rank, "  \
         "over all its steps."},                                                                   \
        {"counted_ns", TM_INT, "ns",                                                               \
         "Part of compute_ns in kernels of operators whose FLOP can be computed from the "         \
         "recorded inputs."},                                                                      \
        {"coverage_pct", TM_REAL, "%",                                                             \
         "Share of compute time whose operations are counted: 100 counted_ns / compute_ns."},      \
        {"flop", TM_INT, "FLOP",                                                                   \
         "Floating-point operations of the operators that counted_ns covers (see "                 \
         "efficiency.work); other work is missing. For XLA on TPUs, all operations, not only "     \
         "matrix products."},                                                                      \
        {"at_most_flop", TM_INT, "FLOP",                                                           \
         "Upper bound of FLOP that flop does not contain: attention on packed sequences, whose "   \
         "lengths are not recorded."},                                                             \
        {"recomputed_flop", TM_INT, "FLOP",                                                        \
         "Part of flop that is recomputation: forward operators that run inside the backward "     \
         "pass."},                                                                                 \
        {"achieved_tflops", TM_REAL, "TFLOP/s", "Rate that the rank achieves: flop / step_ns."},   \
        {"kernel_tflops", TM_REAL, "TFLOP/s",                                                      \
         "Rate during the kernels whose operations are counted: flop / counted_ns."},              \
        {"ideal_ns", TM_INT, "ns",                                                                 \
         "Minimum time that flop (without recomputed_flop) takes at peak rates: sum over number "  \
         "types of FLOP / peak."},                                                                 \
        {"mfu_pct", TM_REAL, "%",                                                                  \
         "Model FLOP utilisation: 100 ideal_ns / (step_ns x devices). A lower bound, because "     \
         "flop covers only coverage_pct of the compute time. Null if coverage_pct is under 20, "   \
         "if the peaks for over 1 % of flop are unknown, or if the host ran so far ahead that "    \
         "window_ns is over 1.5 step_ns."},                                                        \
        {"mfu_window_pct", TM_REAL, "%",                                                           \
         "Model FLOP utilisation over window_ns, the devices' time: 100 ideal_ns / (window_ns x "  \
         "devices). In a short recording it differs from mfu_pct."},                               \
        {"mfu_at_most_pct", TM_REAL, "%",                                                          \
         "Like mfu_pct, including the operations of at_most_flop."},                               \
        {"mfu_causal_pct", TM_REAL, "%",                                                           \
         "Like mfu_pct, with only half of the operations of causal attention, because half of "    \
         "its scores are masked."},                                                                \
    {                                                                                              \
        "hfu_pct", TM_REAL, "%",                                                                   \
            "Hardware FLOP utilisation: like mfu_pct, including recomputed_flop."                  \
    }

enum { R_RANK, R_DEVICE, R_DEVICES, R_TYPE, R_PEAK, R_FIGURES, R_REASON = R_FIGURES + N_FIGURES };

static const tm_column rank_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"device", TM_TEXT, "", "Name of the rank's device according to the trace."},
    {"devices", TM_INT, "", "Number of devices on which the rank computes."},
    {"type", TM_TEXT, "", "Number type in which the rank computes the most FLOP."},
    {"peak_tflops", TM_REAL, "TFLOP/s",
     "Peak rate of a device for this number type, without sparsity: from --peak, or else by device "
     "name (for mixed, i.e. XLA's work without recorded types: the 16-bit peak that the trace "
     "reports). Null if unknown."},
    FIGURE_COLUMNS,
    {"reason", TM_TEXT, "", "Why mfu_pct is null. Null if mfu_pct has a value."},
};

const tm_table_def tm_efficiency_rank_table = {
    .name = "efficiency.rank",
    .doc = "A row for each rank, over its steps: the share of its devices' peak rate that it "
           "achieves. The trace must have the inputs of matrix multiplications, convolutions or "
           "attention (record_shapes), or FLOP of XLA operations.",
    TM_ARRAY(columns, rank_columns),
    .n_keys = 1,
    .top = R_FIGURES + E_MFU,
    .n_prose = 1,
    .form = TM_FORM_BARS,
};

enum { T_RANK, T_STEP, T_FIGURES };

static const tm_column step_columns[] = {
    {"rank", TM_INT, "", "Global rank."},
    {"step", TM_INT, "", "Number of the step; 0 if the trace marks no steps."},
    FIGURE_COLUMNS,
};

const tm_table_def tm_efficiency_step_table = {
    .name = "efficiency.step",
    .doc = "A row for each rank of efficiency.rank and each step: the share of its devices' peak "
           "rate that the rank achieves.",
    TM_ARRAY(columns, step_columns),
    .n_keys = 2,
    .top = T_FIGURES + E_MFU,
    .form = TM_FORM_MAP,
};

/* Key of a sum: a step index and a number type. */
typedef struct number_key {
    uint32_t step, number;
} number_key;

typedef struct number_sum {
    int64_t counted_ns, flop, causal_flop, at_most_flop, recomputed_flop;
} number_sum;

typedef struct step_sum {
    int64_t marked_ns, compute_ns;
} step_sum;

enum { DEVICES_MAX = 64 };

typedef struct rank_sums {
    const tm_timeline *timeline;
    tm_keys keys;
    tm_vec numbers; /* vector of number_sum */
    step_sum *steps;
    int32_t devices[DEVICES_MAX];
    int n_devices;
} rank_sums;

static void note_device(rank_sums *s, int32_t device) {
    int i = 0;
    while (i < s->n_devices && s->devices[i] != device)
        i++;
    if (i == s->n_devices && i < DEVICES_MAX)
        s->devices[s->n_devices++] = device;
}

static void sum_compute(rank_sums *s) {
    const tm_timeline *timeline = s->timeline;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        bool computes = false;
        for (uint32_t row = track->first;
             row < track->first + track->count && track->kind == TM_TRACK_GPU; row++) {
            if (timeline->role[row] != TM_ROLE_COMPUTE || timeline->step[row] == TM_NO_STEP)
                continue;
            step_sum *step = &s->steps[timeline->step[row]];
            step->compute_ns = tm_sum(step->compute_ns, timeline->duration_ns[row]);
            computes = true;
        }
        if (computes)
            note_device(s, track->device);
    }
}

/* Sets the marked_ns of each step to the duration of its longest mark. step_marks has one bit per
 * event. Bytes that are zero, as most are, are skipped. */
static void sum_marks(rank_sums *s) {
    const tm_timeline *timeline = s->timeline;
    for (size_t row = 0; timeline->step_marks && row < timeline->n_events; row++) {
        if (row % 8 == 0 && timeline->step_marks[row / 8] == 0) {
            row += 7;
            continue;
        }
        int32_t step = timeline->step[row];
        if (!tm_timeline_is_step(timeline, (uint32_t)row) || step == TM_NO_STEP)
            continue;
        int64_t duration = timeline->duration_ns[row];
        if (duration > s->steps[step].marked_ns)
            s->steps[step].marked_ns = duration;
    }
}

static bool sum_calls(rank_sums *s, const tm_counted_calls *calls) {
    for (size_t i = 0; i < calls->n; i++) {
        const tm_counted_call *own = &calls->list[i];
        int32_t step = own->first == TM_NO_EVENT ? TM_NO_STEP : s->timeline->step[own->first];
        if (step == TM_NO_STEP)
            continue;
        number_sum *sum =
            tm_keys_value(&s->keys, &s->numbers, &(number_key){(uint32_t)step, own->number});
        if (!sum)
            return false;
        if (own->work->at_most) {
            sum->at_most_flop = tm_sum(sum->at_most_flop, own->work->flop);
            continue;
        }
        sum->counted_ns = tm_sum(sum->counted_ns, own->kernel_ns);
        sum->flop = tm_sum(sum->flop, own->work->flop);
        if (own->recomputed)
            sum->recomputed_flop = tm_sum(sum->recomputed_flop, own->work->flop);
        else
            sum->causal_flop = tm_sum(sum->causal_flop, own->work->causal_flop);
    }
    return true;
}

static bool add_numbers(const rank_sums *s, const tm_peaks *peaks, tm_table *part) {
    for (size_t i = 0; i < s->numbers.n; i++) {
        const number_key *key = (const number_key *)s->keys.keys.data + i;
        const number_sum *sum = (const number_sum *)s->numbers.data + i;
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return false;
        tm_cell_set_int(&row[N_RANK], s->timeline->rank);
        tm_cell_set_int(&row[N_STEP], s->timeline->steps[key->step].number);
        tm_cell_set_int(&row[N_NUMBER], key->number);
        tm_cell_set_real(&row[N_PEAK], peaks->tflops[key->number]);
        tm_cell_set_int(&row[N_COUNTED], sum->counted_ns);
        tm_cell_set_int(&row[N_FLOP], sum->flop);
        tm_cell_set_int(&row[N_CAUSAL], sum->causal_flop);
        tm_cell_set_int(&row[N_AT_MOST], sum->at_most_flop);
        tm_cell_set_int(&row[N_RECOMPUTED], sum->recomputed_flop);
    }
    return true;
}

static bool add_steps(const rank_sums *s, tm_table *table) {
    for (size_t i = 0; i < s->timeline->n_steps; i++) {
        const tm_step *step = &s->timeline->steps[i];
        int64_t marked = s->steps[i].marked_ns;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return false;
        tm_cell_set_int(&row[T_RANK], s->timeline->rank);
        tm_cell_set_int(&row[T_STEP], step->number);
        int64_t window = tm_step_window(s->timeline, step);
        tm_cell_set_int(&row[T_FIGURES + E_STEP], marked > 0 ? marked : window);
        tm_cell_set_int(&row[T_FIGURES + E_WINDOW], window);
        tm_cell_set_int(&row[T_FIGURES + E_COMPUTE], s->steps[i].compute_ns);
    }
    return true;
}

static tm_status add_rows(const rank_sums *s, const tm_names *names, tm_tables *out,
                          tm_error *err) {
    tm_table *ranks = tm_tables_find(out, tm_efficiency_rank_table.name);
    tm_device device;
    tm_device_find(s->timeline, names, s->timeline->device, &device);
    tm_peaks peaks = tm_peaks_of(&device);
    tm_cell *row = tm_table_add_row(ranks);
    if (!row || !add_numbers(s, &peaks, tm_tables_find(out, tm_efficiency_number_part.name)) ||
        !add_steps(s, tm_tables_find(out, tm_efficiency_step_table.name)))
        return tm_fail_memory(err);
    tm_cell_set_int(&row[R_RANK], s->timeline->rank);
    tm_cell_set_int(&row[R_DEVICES], s->n_devices);
    return tm_table_set_text(ranks, &row[R_DEVICE], *device.name ? device.name : NULL, err);
}

tm_status tm_efficiency_rows(const tm_rank_view *view, const tm_counted_calls *calls,
                             tm_tables *out, tm_error *err) {
    rank_sums s = {.timeline = view->timeline,
                   .keys = TM_KEYS(number_key),
                   .numbers = TM_VEC(number_sum),
                   .steps = calloc(view->timeline->n_steps + 1, sizeof *s.steps)};
    tm_status status = s.steps && sum_calls(&s, calls) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && s.numbers.n > 0) {
        sum_compute(&s);
        if (calls->of_operator)
            sum_marks(&s);
        status = add_rows(&s, view->names, out, err);
    }
    tm_keys_free(&s.keys);
    tm_vec_free(&s.numbers);
    free(s.steps);
    return status;
}

/* Totals of a rank, or of a rank in a step. */
typedef struct figures {
    int64_t step_ns, window_ns, compute_ns, counted_ns, flop, at_most_flop, recomputed_flop;
    int64_t by_number[TM_N_NUMBERS];
    double peaks[TM_N_NUMBERS];
    /* times that operations take at the peak rates [ns] */
    double ideal_ns, at_most_ns, causal_ns, recomputed_ns;
    double without_peak; /* number of operations whose type has no known peak */
} figures;

/* Returns the time that operations take at the peak rate [ns]. 10^12 operations/s are 10^3
 * operations/ns. */
static double at_peak(int64_t flop, double tflops) {
    return tflops > 0.0 ? (double)flop / (tflops * 1e3) : 0.0;
}

static void add_number(figures *f, const tm_cell *row, const tm_peaks *given) {
    int64_t number = row[N_NUMBER].value.i, flop = row[N_FLOP].value.i;
    int64_t recomputed = row[N_RECOMPUTED].value.i;
    double peak =
        given && given->tflops[number] > 0.0 ? given->tflops[number] : row[N_PEAK].value.r;
    f->peaks[number] = peak;
    f->by_number[number] = tm_sum(f->by_number[number], flop);
    f->counted_ns = tm_sum(f->counted_ns, row[N_COUNTED].value.i);
    f->flop = tm_sum(f->flop, flop);
    f->at_most_flop = tm_sum(f->at_most_flop, row[N_AT_MOST].value.i);
    f->recomputed_flop = tm_sum(f->recomputed_flop, recomputed);
    f->ideal_ns += at_peak(flop - recomputed, peak);
    f->causal_ns += at_peak(row[N_CAUSAL].value.i, peak);
    f->at_most_ns += at_peak(row[N_AT_MOST].value.i, peak);
    f->recomputed_ns += at_peak(recomputed, peak);
    f->without_peak += peak > 0.0 ? 0.0 : (double)flop;
}

static void add_figures(figures *sum, const figures *f) {
    sum->step_ns = tm_sum(sum->step_ns, f->step_ns);
    sum->window_ns = tm_sum(sum->window_ns, f->window_ns);
    sum->compute_ns = tm_sum(sum->compute_ns, f->compute_ns);
    sum->counted_ns = tm_sum(sum->counted_ns, f->counted_ns);
    sum->flop = tm_sum(sum->flop, f->flop);
    sum->at_most_flop = tm_sum(sum->at_most_flop, f->at_most_flop);
    sum->recomputed_flop = tm_sum(sum->recomputed_flop, f->recomputed_flop);
    for (int n = 0; n < TM_N_NUMBERS; n++) {
        sum->by_number[n] = tm_sum(sum->by_number[n], f->by_number[n]);
        sum->peaks[n] = f->peaks[n] > 0.0 ? f->peaks[n] : sum->peaks[n];
    }
    sum->ideal_ns += f->ideal_ns;
    sum->at_most_ns += f->at_most_ns;
    sum->causal_ns += f->causal_ns;
    sum->recomputed_ns += f->recomputed_ns;
    sum->without_peak += f->without_peak;
}

static bool is_covered(const figures *f) {
    return (double)f->counted_ns * 100.0 >= LEAST_COVERAGE * (double)f->compute_ns;
}

static bool has_peaks(const figures *f) {
    return f->without_peak <= MOST_WITHOUT_PEAK * (double)f->flop;
}

static bool is_ahead(const figures *f) {
    return (double)f->window_ns > MOST_AHEAD * (double)f->step_ns;
}

static void set_figures(const figures *f, int64_t devices, tm_cell *row) {
    /* device time of the steps / 100, so that quotients are percentages */
    double all = (double)f->step_ns * (double)devices / 100.0;
    tm_cell_set_int(&row[E_STEP], f->step_ns);
    tm_cell_set_int(&row[E_WINDOW], f->window_ns);
    tm_cell_set_int(&row[E_COMPUTE], f->compute_ns);
    tm_cell_set_int(&row[E_COUNTED], f->counted_ns);
    tm_cell_set_ratio(&row[E_COVERAGE], 100.0, f->counted_ns, f->compute_ns);
    tm_cell_set_int(&row[E_FLOP], f->flop);
    tm_cell_set_int(&row[E_AT_MOST], f->at_most_flop);
    tm_cell_set_int(&row[E_RECOMPUTED], f->recomputed_flop);
    tm_cell_set_ratio(&row[E_RATE], 1e-3, f->flop, f->step_ns);
    tm_cell_set_ratio(&row[E_KERNEL_RATE], 1e-3, f->flop, f->counted_ns);
    if (!has_peaks(f) || f->flop == 0)
        return;
    tm_cell_set_int(&row[E_IDEAL], llround(f->ideal_ns));
    if (!is_covered(f))
        return;
    tm_cell_set_real(&row[E_MFU_WINDOW],
                     100.0 * f->ideal_ns / ((double)f->window_ns * (double)devices));
    if (is_ahead(f))
        return;
    tm_cell_set_real(&row[E_MFU], f->ideal_ns / all);
    tm_cell_set_real(&row[E_MFU_AT_MOST], (f->ideal_ns + f->at_most_ns) / all);
    tm_cell_set_real(&row[E_MFU_CAUSAL], f->causal_ns / all);
    tm_cell_set_real(&row[E_HFU], (f->ideal_ns + f->recomputed_ns) / all);
}

static tm_number most_used(const figures *f, bool without_peak) {
    int most = 0;
    for (int n = 1; n < TM_N_NUMBERS; n++)
        if (f->by_number[n] > (most ? f->by_number[most] : 0) &&
            (!without_peak || !(f->peaks[n] > 0.0)))
            most = n;
    return (tm_number)most;
}

static tm_status set_rank(const figures *f, tm_table *table, tm_cell *row, tm_error *err) {
    char reason[256] = "";
    tm_number most = most_used(f, false);
    set_figures(f, row[R_DEVICES].value.i, row + R_FIGURES);
    if (f->peaks[most] > 0.0)
        tm_cell_set_real(&row[R_PEAK], f->peaks[most]);
    const char *lacks = tm_number_word(most_used(f, true));
    if (!is_covered(f))
        snprintf(reason, sizeof reason, "FLOP are known for under %.0f %% of the compute time.",
                 LEAST_COVERAGE);
    else if (!has_peaks(f))
        snprintf(reason, sizeof reason,
                 "The peak rate of %s in %s is unknown: give it as --peak TYPE=TFLOPS.",
                 row[R_DEVICE].null ? "the device" : row[R_DEVICE].value.text, lacks);
    else if (is_ahead(f))
        snprintf(reason, sizeof reason,
                 "The host ran ahead of its devices, so the host's steps do not cover the devices' "
                 "time: the utilisation is known only over the whole time of the devices.");
    TM_TRY(tm_table_set_text(table, &row[R_REASON], *reason ? reason : NULL, err));
    return tm_table_set_text(table, &row[R_TYPE], tm_number_word(most), err);
}

/* Finds the peaks that are equal on all ranks; 0 for types whose peaks differ. */
static void find_common(const tm_table *part, const tm_peaks *given, tm_peaks *common) {
    bool seen[TM_N_NUMBERS] = {false}, differ[TM_N_NUMBERS] = {false};
    *common = (tm_peaks){{0}};
    for (size_t i = 0; i < part->n_rows; i++) {
        const tm_cell *row = tm_table_row(part, i);
        int64_t number = row[N_NUMBER].value.i;
        double peak = row[N_PEAK].value.r, known = common->tflops[number];
        differ[number] = differ[number] || (seen[number] && (known < peak || known > peak));
        seen[number] = true;
        common->tflops[number] = peak;
    }
    for (int n = 0; n < TM_N_NUMBERS; n++) {
        common->tflops[n] = differ[n] ? 0.0 : common->tflops[n];
        if (given && given->tflops[n] > 0.0)
            common->tflops[n] = given->tflops[n];
    }
}

/* All tables are sorted by rank. Within a rank, the part table and the table of steps are sorted by
 * step. */
tm_status tm_efficiency_complete(const tm_peaks *given, tm_tables *out, tm_peaks *common,
                                 tm_error *err) {
    const tm_table *part = tm_tables_find(out, tm_efficiency_number_part.name);
    tm_table *ranks = tm_tables_find(out, tm_efficiency_rank_table.name);
    tm_table *steps = tm_tables_find(out, tm_efficiency_step_table.name);
    size_t step = 0, number = 0;
    find_common(part, given, common);
    for (size_t i = 0; i < ranks->n_rows; i++) {
        tm_cell *rank = tm_table_row(ranks, i);
        figures sum = {0};
        for (; step < steps->n_rows; step++) {
            tm_cell *row = tm_table_row(steps, step);
            if (row[T_RANK].value.i != rank[R_RANK].value.i)
                break;
            figures own = {.step_ns = row[T_FIGURES + E_STEP].value.i,
                           .window_ns = row[T_FIGURES + E_WINDOW].value.i,
                           .compute_ns = row[T_FIGURES + E_COMPUTE].value.i};
            for (; number < part->n_rows; number++) {
                const tm_cell *cells = tm_table_row(part, number);
                if (cells[N_RANK].value.i != row[T_RANK].value.i ||
                    cells[N_STEP].value.i != row[T_STEP].value.i)
                    break;
                add_number(&own, cells, given);
            }
            set_figures(&own, rank[R_DEVICES].value.i, row + T_FIGURES);
            add_figures(&sum, &own);
        }
        TM_TRY(set_rank(&sum, ranks, rank, err));
    }
    return TM_OK;
}
