/* Rules on steps, memory, clocks and missing data. */
#include "advice_rules.h"
#include "analysis/shared/doubt.h"
#include "analysis/shared/kinds_of_steps.h"
#include "table/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the latest step that is the first step of a rank. Work from before the recording may
 * lengthen first steps. */
static int64_t last_begun(const tm_facts *f) {
    const tm_table *steps = tm_tables_find(f->tables, "overlap.step");
    int64_t last = INT64_MIN, rank = -1;
    for (size_t i = 0; i < steps->n_rows; i++) {
        bool is_first = tm_facts_int(f, "overlap.step", i, "rank") != rank;
        int64_t step = tm_facts_int(f, "overlap.step", i, "step");
        rank = tm_facts_int(f, "overlap.step", i, "rank");
        last = is_first && step > last ? step : last;
    }
    return last;
}

/* Selects the steps to compare: those after `begun` (from last_begun) that fit `which`. */
typedef struct choice {
    int64_t begun;
    tm_facts_steps which;
} choice;

static bool in_episode(const tm_facts *f, int64_t step) {
    const tm_table *findings = tm_tables_find(f->tables, "stragglers.finding");
    for (size_t i = 0; i < findings->n_rows; i++) {
        const tm_cell *unit = tm_table_cell(findings, i, "unit");
        const tm_cell *shape = tm_table_cell(findings, i, "shape");
        if (!unit->null && strcmp(unit->value.text, "step") == 0 && !shape->null &&
            strcmp(shape->value.text, "throughout") != 0 &&
            !tm_table_cell(findings, i, "from")->null &&
            step >= tm_facts_int(f, "stragglers.finding", i, "from") &&
            step <= tm_facts_int(f, "stragglers.finding", i, "to"))
            return true;
    }
    return false;
}

/* Returns the duration of a step on the rank where it takes longest [ns]; -1 if the step is not
 * compared. */
static int64_t step_time(const tm_facts *f, size_t row, choice by) {
    const tm_table *steps = tm_tables_find(f->tables, "imbalance.step");
    int64_t step = tm_facts_int(f, "imbalance.step", row, "step");
    const tm_cell *time = tm_table_cell(steps, row, "step_ns");
    const tm_cell *above = tm_table_cell(steps, row, "imbalance_ns");
    if (step <= by.begun || !tm_facts_is_whole(f, step) || time->null ||
        (by.which == TM_STEPS_CALM && in_episode(f, step)))
        return -1;
    return time->value.i - (by.which == TM_STEPS_BALANCED && !above->null ? above->value.i : 0);
}

/* Sets the variation of the steps of a kind, or of all steps if there is only one kind. Returns
 * false for fewer than three steps, which cannot show an outlier. */
static bool kind_varies(const tm_facts *f, const int *kinds, int kind, choice by,
                        tm_facts_variation *out) {
    size_t rows = tm_tables_find(f->tables, "imbalance.step")->n_rows;
    double sum = 0.0, squares = 0.0, n = 0.0;
    *out = (tm_facts_variation){.shortest_ns = INT64_MAX, .longest_ns = -1};
    for (size_t i = 0; i < rows; i++) {
        int64_t time = kinds[i] == kind ? step_time(f, i, by) : -1;
        if (time < 0)
            continue;
        if (time > out->longest_ns)
            out->longest_step = tm_facts_int(f, "imbalance.step", i, "step");
        out->longest_ns = time > out->longest_ns ? time : out->longest_ns;
        out->shortest_ns = time < out->shortest_ns ? time : out->shortest_ns;
        sum += (double)time;
        n++;
    }
    if (n < 3.0 || sum <= 0.0)
        return false;
    for (size_t i = 0; i < rows; i++) {
        int64_t time = kinds[i] == kind ? step_time(f, i, by) : -1;
        double apart = (double)time - sum / n;
        if (time < 0)
            continue;
        squares += apart * apart;
        out->above_ns += fmax(apart, 0.0);
    }
    out->percent = 100.0 * sqrt(squares / n) / (sum / n);
    return true;
}

bool tm_facts_vary(const tm_facts *f, tm_facts_steps which, tm_facts_variation *out) {
    const tm_table *steps = tm_tables_find(f->tables, "imbalance.step");
    const tm_step_kinds kinds = tm_step_kinds_find(f->tables);
    const choice by = {last_begun(f), which};
    int *of = calloc(steps->n_rows + 1, sizeof *of);
    double above_ns = 0.0;
    bool found = false;
    for (size_t i = 0; of && kinds.n > 1 && i < steps->n_rows; i++)
        of[i] = tm_step_kind(&kinds, -1, tm_table_cell(steps, i, "step")->value.i);
    for (int k = 0; of && (k == 0 || k < kinds.n); k++) {
        tm_facts_variation own;
        if (!kind_varies(f, of, k, by, &own))
            continue;
        own.kind = kinds.n > 1 ? kinds.names[k] : NULL;
        above_ns += own.above_ns;
        if (!found || own.above_ns > out->above_ns)
            *out = own;
        found = true;
    }
    free(of);
    if (found)
        out->above_ns = above_ns;
    return found;
}

void tm_look_step_variation(const tm_facts *f, tm_advice *out) {
    tm_facts_variation v;
    if (!tm_facts_vary(f, TM_STEPS_ALL, &v))
        return;
    /* Subtracts the variation that other rules explain: late ranks, uneven work, input. */
    int64_t rest = llround(v.above_ns * (double)f->n_gpu) - f->costs[TM_RULE_STRAGGLER] -
                   tm_facts_uneven(f) - f->costs[TM_RULE_INPUT];
    /* If steps take little of the GPU time, even a large variation costs little. */
    if (tm_facts_percent(rest, f->window_ns) < 1.0)
        return;
    tm_shown_text lengths[2];
    out->measure = v.percent;
    out->cost_ns = rest;
    tm_shown_durations((const int64_t[]){v.shortest_ns, v.longest_ns}, 2, lengths);
    snprintf(out->text, sizeof out->text,
             "Find what else the long steps do: %slogging, garbage collection, batches of other "
             "sizes%s.",
             f->trains ? "checkpoints, evaluation, " : "",
             f->serves ? ", or of sizes without a graph" : "");
    snprintf(out->evidence, sizeof out->evidence,
             "%s%s take from %s to %s (standard deviation %.0f %% of the mean); the longest is "
             "step %" PRId64 ".",
             v.kind ? v.kind : "Steps", v.kind ? " steps" : "", lengths[0].text, lengths[1].text,
             out->measure, v.longest_step);
}

/* Returns how many times a rank returns memory to its device during steps. */
static int64_t given_back(const tm_facts *f, int64_t rank) {
    static const char *const calls[] = {"cudaFree", "cuMemRelease", "hipFree", "hipMemRelease"};
    const tm_table *table = tm_tables_find(f->tables, "transfers.allocation");
    int64_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
            if (tm_facts_int(f, "transfers.allocation", i, "rank") == rank &&
                strcmp(tm_table_cell(table, i, "call")->value.text, calls[c]) == 0)
                n += tm_facts_int(f, "transfers.allocation", i, "step_calls");
    return n;
}

/* Returns how full a device is [%]. Guides call 85 to 95 % ideal and over 98 % about to fail. Above
 * 95 % there is no room for memory outside of the allocator, such as NCCL's buffers and the context
 * (a GiB or two). If the device is at least 85 % full and its allocator returns memory during
 * steps, the result is at least `crowded`: PyTorch's allocator returns memory only when an
 * allocation failed, and then tries again. */
static double crowding(const tm_facts *f, size_t row, double crowded) {
    double used = tm_facts_real(f, "memory.device", row, "capacity_pct");
    bool retries = used >= 85.0 && given_back(f, tm_facts_int(f, "memory.device", row, "rank")) > 0;
    return retries ? fmax(used, crowded) : used;
}

/* Returns whether only the limit of a device's allocator is known, but not how much it reserves. */
static bool is_limited(const tm_facts *f, size_t row) {
    return tm_facts_int(f, "memory.device", row, "limit_bytes") > 0 &&
           tm_facts_int(f, "memory.device", row, "peak_reserved_bytes") == 0;
}

/* Memory in use, and its limit [GiB]. Their ratio is memory.device.capacity_pct. */
static double held_gib(const tm_facts *f, size_t row) {
    const char *column = is_limited(f, row) ? "peak_bytes" : "peak_reserved_bytes";
    return (double)tm_facts_int(f, "memory.device", row, column) / 0x1p30;
}
static double room_gib(const tm_facts *f, size_t row) {
    const char *column = is_limited(f, row) ? "limit_bytes" : "capacity_bytes";
    return (double)tm_facts_int(f, "memory.device", row, column) / 0x1p30;
}

static void write_memory(const tm_facts *f, size_t row, tm_advice *out) {
    const tm_cell *taker =
        tm_table_cell(tm_tables_find(f->tables, "memory.device"), row, "peak_operator");
    int64_t rank = tm_facts_int(f, "memory.device", row, "rank"), retries = given_back(f, rank);
    char back[96] = "";
    if (retries > 0)
        snprintf(back, sizeof back,
                 "; in its steps the rank returns memory to the device %" PRId64
                 " times (cudaFree, ...)",
                 retries);
    if (is_limited(f, row)) {
        snprintf(
            out->evidence, sizeof out->evidence,
            "Rank %" PRId64
            " allocates %.1f of the %.1f GiB that its allocator may use (%s) at its peak%s%.64s%s.",
            rank, held_gib(f, row), room_gib(f, row),
            tm_shown_percent(tm_facts_real(f, "memory.device", row, "capacity_pct"), 0).text,
            taker->null ? "" : " in ", taker->null ? "" : taker->value.text, back);
        return;
    }
    snprintf(
        out->evidence, sizeof out->evidence,
        "Rank %" PRId64 " holds %.1f of %.1f GiB (%s), allocates %.1f GiB at its peak%s"
        "%.64s; fragmentation %s%s.",
        rank, held_gib(f, row), room_gib(f, row),
        tm_shown_percent(tm_facts_real(f, "memory.device", row, "capacity_pct"), 0).text,
        (double)tm_facts_int(f, "memory.device", row, "peak_bytes") / 0x1p30,
        taker->null ? "" : " in ", taker->null ? "" : taker->value.text,
        tm_shown_percent(fmax(0.0, tm_facts_real(f, "memory.device", row, "fragmentation_pct")), 0)
            .text,
        back);
}

/* Compares the peak of memory in use with the memory of the device, because a step runs out of
 * memory at its peak. */
void tm_look_memory(const tm_facts *f, tm_advice *out) {
    /* Percentage from which the rule warns and names ranks. It is higher for inference engines,
     * because they fill a configured share of the device with the KV cache. */
    const double crowded = f->serves || f->captures ? 98.0 : 95.0;
    const tm_table *devices = tm_tables_find(f->tables, "memory.device");
    tm_rank_text ranks = tm_rank_text_begin(out->ranks);
    int64_t before = -1;
    size_t worst = 0;
    for (size_t i = 0; i < devices->n_rows; i++) {
        double used = crowding(f, i, crowded);
        int64_t rank = tm_facts_int(f, "memory.device", i, "rank");
        if (used >= crowded && rank != before) {
            tm_rank_text_add(&ranks, rank);
            before = rank;
        }
        worst = used > out->measure ? i : worst;
        out->measure = fmax(used, out->measure);
    }
    tm_rank_text_end(&ranks, f->job->n_ranks);
    if (out->measure < crowded)
        return;
    snprintf(out->text, sizeof out->text,
             "Free device memory before a step fails: %slower precision, a smaller batch.",
             f->trains ? "activation checkpointing, sharded states, " : "smaller caches, ");
    write_memory(f, worst, out);
}

/* Applies only to training, because a server may need its free memory for later requests. Guides
 * advise a larger batch if less than 50 % is used. */
void tm_look_memory_room(const tm_facts *f, tm_advice *out) {
    const tm_table *devices = tm_tables_find(f->tables, "memory.device");
    double most = -1.0;
    size_t fullest = 0;
    for (size_t i = 0; i < devices->n_rows; i++) {
        double used = tm_facts_real(f, "memory.device", i, "capacity_pct");
        fullest = used > most ? i : fullest;
        most = fmax(used, most);
    }
    if (!f->trains || most < 0.0 || most >= 50.0)
        return;
    out->measure = 100.0 - most;
    snprintf(out->text, sizeof out->text,
             "Try a larger batch, or less recomputation or sharding: over half of each device's "
             "memory was never %s.",
             is_limited(f, fullest) ? "allocated" : "held by the allocator");
    snprintf(out->evidence, sizeof out->evidence,
             "The fullest device, of rank %" PRId64
             ", held %.1f of %.1f GiB at most (%s) while it was recorded; 85 to 95 %% is ideal. A "
             "trace does not show whether a larger batch is faster or trains as well.",
             tm_facts_int(f, "memory.device", fullest, "rank"), held_gib(f, fullest),
             room_gib(f, fullest), tm_shown_percent(most, 0).text);
}

/* Returns the number of recorded steps of a rank's device. Advances *at in memory.step past these
 * steps. */
static int64_t steps_of(const tm_table *steps, const tm_cell *rank, const tm_cell *device,
                        size_t *at) {
    int64_t n = 0;
    for (; *at < steps->n_rows; ++*at) {
        int64_t here = tm_table_cell(steps, *at, "rank")->value.i;
        int order = strcmp(tm_table_cell(steps, *at, "device")->value.text, device->value.text);
        if (here > rank->value.i || (here == rank->value.i && order > 0))
            break;
        n += here == rank->value.i && order == 0;
    }
    return n;
}

void tm_look_memory_growth(const tm_facts *f, tm_advice *out) {
    const tm_table *devices = tm_tables_find(f->tables, "memory.device");
    const tm_table *steps = tm_tables_find(f->tables, "memory.step");
    tm_rank_text ranks = tm_rank_text_begin(out->ranks);
    int64_t before = -1;
    size_t worst = 0, at = 0;
    for (size_t i = 0; i < devices->n_rows; i++) {
        const tm_cell *rank = tm_table_cell(devices, i, "rank");
        int64_t n = steps_of(steps, rank, tm_table_cell(devices, i, "device"), &at);
        int64_t growth = tm_facts_int(f, "memory.device", i, "growth_bytes");
        int64_t growing = tm_facts_int(f, "memory.device", i, "growing_steps");
        int64_t limit = tm_facts_int(f, "memory.device", i, "limit_bytes");
        int64_t capacity =
            limit > 0 ? limit : tm_facts_int(f, "memory.device", i, "capacity_bytes");
        int64_t held = tm_facts_int(f, "memory.device", i, "end_bytes");
        /* Memory must grow in every step after the first. If it shrinks in a step, that step frees
         * memory that earlier steps kept. */
        if (growth <= 0 || growing < 3 || growing < n - 1)
            continue;
        /* share of free memory that 1,000 steps use up [%]; if the capacity is unknown, 1 % (a
         * warning) */
        double taken = capacity > held ? 1e5 * (double)growth / (double)(capacity - held) : 1.0;
        /* names a rank with several devices once */
        if (rank->value.i != before)
            tm_rank_text_add(&ranks, rank->value.i);
        before = rank->value.i;
        worst = taken > out->measure ? i : worst;
        out->measure = fmax(taken, out->measure);
    }
    tm_rank_text_end(&ranks, f->job->n_ranks);
    if (out->measure < 0.0)
        return;
    char until[96] = "";
    int64_t growth = tm_facts_int(f, "memory.device", worst, "growth_bytes");
    const tm_cell *left = tm_table_cell(devices, worst, "steps_left");
    if (!left->null)
        snprintf(until, sizeof until,
                 "; at this rate the device is out of memory in about %" PRId64 " steps, or sooner",
                 left->value.i);
    snprintf(out->text, sizeof out->text,
             "Find what keeps memory from step to step: %slists and caches that only grow%s.",
             f->trains && !tm_facts_speaks_xla(f)
                 ? "losses summed with their graph (use .item() or .detach()), "
                 : "",
             f->trains ? "" : ", unless they are meant to");
    snprintf(out->evidence, sizeof out->evidence,
             "Rank %" PRId64 " has %.2f MB more allocated after each step, for %" PRId64
             " steps in a row%s.",
             tm_facts_int(f, "memory.device", worst, "rank"), (double)growth / 1e6,
             tm_facts_int(f, "memory.device", worst, "growing_steps"), until);
}

/* Sets *high to a device's peak in the step of its spike, and *other to its highest peak in other
 * steps. */
static void compare_steps(const tm_facts *f, size_t device, int64_t *high, int64_t *other) {
    const tm_table *devices = tm_tables_find(f->tables, "memory.device");
    const tm_table *steps = tm_tables_find(f->tables, "memory.step");
    const char *name = tm_table_cell(devices, device, "device")->value.text;
    int64_t rank = tm_facts_int(f, "memory.device", device, "rank");
    int64_t step = tm_facts_int(f, "memory.device", device, "spike_step");
    for (size_t i = 0; i < steps->n_rows; i++) {
        int64_t peak = tm_facts_int(f, "memory.step", i, "peak_bytes");
        int64_t *which = tm_facts_int(f, "memory.step", i, "step") == step ? high : other;
        if (tm_facts_int(f, "memory.step", i, "rank") == rank &&
            strcmp(tm_table_cell(steps, i, "device")->value.text, name) == 0)
            *which = peak > *which ? peak : *which;
    }
}

/* Returns whether a step is of a rare kind: another kind of step is more frequent. A rare kind may
 * need more memory. */
static bool is_of_rare_kind(const tm_facts *f, int64_t rank, int64_t step) {
    const tm_step_kinds kinds = tm_step_kinds_find(f->tables);
    const tm_table *table = tm_tables_find(f->tables, "steps.kind");
    int64_t own = 0, most = 0;
    int kind = kinds.n > 1 ? tm_step_kind(&kinds, rank, step) : -1;
    for (size_t i = 0; kind >= 0 && i < table->n_rows; i++) {
        int64_t n = tm_facts_int(f, "steps.kind", i, "steps");
        most = n > most ? n : most;
        if (strcmp(tm_table_cell(table, i, "kind")->value.text, kinds.names[kind]) == 0)
            own = n;
    }
    return own < most;
}

/* Finds a step that needs far more memory than the other steps, so that it limits the batch size.
 * Ignores host memory, because traces record only a small part of it. */
void tm_look_memory_spike(const tm_facts *f, tm_advice *out) {
    const tm_table *devices = tm_tables_find(f->tables, "memory.device");
    tm_rank_text ranks = tm_rank_text_begin(out->ranks);
    int64_t before = -1, most = 0, high = 0, other = 0;
    size_t worst = 0;
    for (size_t i = 0; i < devices->n_rows; i++) {
        int64_t rank = tm_facts_int(f, "memory.device", i, "rank");
        int64_t peak = tm_facts_int(f, "memory.device", i, "peak_bytes");
        if (tm_table_cell(devices, i, "spike_step")->null ||
            is_of_rare_kind(f, rank, tm_facts_int(f, "memory.device", i, "spike_step")) ||
            strcmp(tm_table_cell(devices, i, "device")->value.text, "cpu") == 0)
            continue;
        if (rank != before)
            tm_rank_text_add(&ranks, rank);
        before = rank;
        worst = peak > most ? i : worst;
        most = peak > most ? peak : most;
    }
    tm_rank_text_end(&ranks, f->job->n_ranks);
    if (most == 0)
        return;
    compare_steps(f, worst, &high, &other);
    out->measure = tm_facts_percent(high - other, other);
    snprintf(out->text, sizeof out->text,
             "Find out why step %" PRId64
             " needs more memory, because the job must fit into memory in this step too: a longer "
             "sequence or larger batch, %smemory that is gathered or copied.",
             tm_facts_int(f, "memory.device", worst, "spike_step"),
             f->trains ? "an evaluation, a checkpoint, " : "");
    snprintf(out->evidence, sizeof out->evidence,
             "Rank %" PRId64 " allocates up to %.2f GB in step %" PRId64
             ", but at most %.2f GB in the other steps.",
             tm_facts_int(f, "memory.device", worst, "rank"), (double)high / 1e9,
             tm_facts_int(f, "memory.device", worst, "spike_step"), (double)other / 1e9);
}

/* Returns the largest uncertainty of any clock [ns]. Sets *set if a clock was set during the
 * recording, and *several if there are several clocks. */
static int64_t worst_clock(const tm_facts *f, bool *set, bool *several) {
    size_t n = tm_tables_find(f->tables, "clock.rank")->n_rows;
    int64_t worst = 0;
    *set = *several = false;
    for (size_t i = 0; i < n; i++) {
        int64_t own = tm_facts_int(f, "clock.rank", i, "uncertainty_ns");
        worst = own > worst ? own : worst;
        *set = *set || tm_facts_int(f, "clock.rank", i, "set_ns") != 0;
        *several = *several || tm_facts_int(f, "clock.rank", i, "domain") > 0;
    }
    return worst;
}

void tm_look_clock_quality(const tm_facts *f, tm_advice *out) {
    /* measure for problems other than violations of causality; high enough for a warning */
    const double poor = 1.0;
    const int64_t noise_ns = 10000; /* even with good clocks, a rank may seem to end a collective
                                       this long before another rank starts it */
    size_t kinds = tm_tables_find(f->tables, "collectives.kind")->n_rows;
    int64_t matched = tm_facts_int(f, "clock.check", 0, "matched"), skew = -1;
    int64_t broken = tm_facts_int(f, "clock.check", 0, "violations_after");
    int64_t lead = tm_facts_int(f, "clock.check", 0, "worst_after_ns");
    bool set, several;
    int64_t worst = worst_clock(f, &set, &several);
    for (size_t i = 0; i < kinds; i++) {
        int64_t own = tm_facts_int(f, "collectives.kind", i, "median_skew_ns");
        skew = own > skew ? own : skew;
    }
    if (lead >= noise_ns)
        out->measure = tm_facts_percent(broken, matched);
    /* If arrivals differ by less than the joint uncertainty of two clocks, it is unknown which rank
     * came last. */
    bool blind = several && skew >= 0 && 2.0 * sqrt(2.0) * (double)worst > (double)skew;
    if (set || blind)
        out->measure = fmax(out->measure, poor);
    tm_shown_text times[2];
    tm_shown_durations((const int64_t[]){worst, skew < 0 ? 0 : skew}, 2, times);
    if (several || set)
        snprintf(out->text, sizeof out->text,
                 "Do not yet trust the findings on who came last: synchronise the hosts' clocks "
                 "(PTP, chrony), or record %s, so that more collectives link the clocks.",
                 tm_facts_marks_steps(f) ? "more steps" : "for longer");
    else
        snprintf(out->text, sizeof out->text,
                 "Do not trust the findings on who came last: on one clock, no rank can leave a "
                 "collective before another enters it. The traces are of several runs, or their "
                 "collectives are numbered differently. Merge only the traces of one run.");
    snprintf(out->evidence, sizeof out->evidence,
             "Clocks are aligned to %s while arrivals differ by %s; in %" PRId64 " of %" PRId64
             " collectives a rank still ends before another starts%s.",
             times[0].text, times[1].text, broken, matched,
             set ? "; a clock was changed during the recording" : "");
}

/* If the recordings of a job are in doubt, the job gets no other advice on device events. */
void tm_look_recording(const tm_facts *f, tm_advice *out) {
    const tm_table *table = tm_tables_find(f->tables, "job.integrity");
    char what[TM_DOUBT_TEXT];
    for (size_t i = 0; i < table->n_rows; i++)
        out->measure = fmax(out->measure, tm_facts_real(f, "job.integrity", i, "moves_pct"));
    out->measure = tm_doubt_of_job(f->tables) ? 100.0 : fmin(out->measure, 99.0);
    if (!tm_doubt_text(f->tables, what))
        return;
    bool lost = tm_facts_sum(f, "job.integrity", "launches_lost") > 0;
    bool sampled = tm_facts_sum(f, "job.integrity", "sampled") > 0;
    bool cut = tm_doubt_is_cut(f->tables);
    snprintf(
        out->text, sizeof out->text, "%s%s%s.",
        cut       ? "Copy the traces that are cut short again, or record again"
        : sampled ? "Give the whole traces"
                  : "Record again",
        sampled || cut ? ""
        : lost ? ", so that each launch has its kernel: record fewer steps, use larger profiler "
                 "buffers, or record each kernel of CUDA graphs"
               : ": no kernel can have lasted that long",
        out->measure < 100.0 ? "" : ". Any other advice would rest on figures that may be wrong");
    snprintf(out->evidence, sizeof out->evidence, "In doubt: %s.", what);
}

void tm_look_missing_ranks(const tm_facts *f, tm_advice *out) {
    const tm_table *given = tm_tables_find(f->tables, "job.rank");
    /* If no trace contains the number of ranks, the largest rank with a trace counts as the last
     * rank. */
    size_t n = given->n_rows;
    int64_t least = n > 0 ? tm_table_cell(given, n - 1, "rank")->value.i + 1 : 0;
    bool reported = f->job->world_size >= least;
    int64_t world = reported ? f->job->world_size : least;
    int64_t missing = world - (int64_t)f->job->n_ranks;
    if (missing <= 0)
        return;
    tm_rank_text ranks = tm_rank_text_begin(out->ranks);
    size_t next = 0;
    /* stops early, because a damaged trace may claim a billion ranks */
    for (int64_t rank = 0; rank < world && !ranks.full; rank++) {
        while (next < given->n_rows && tm_table_cell(given, next, "rank")->value.i < rank)
            next++;
        if (next == given->n_rows || tm_table_cell(given, next, "rank")->value.i != rank)
            tm_rank_text_add(&ranks, rank);
    }
    tm_rank_text_end(&ranks, SIZE_MAX);
    out->measure = tm_facts_percent(missing, world);
    snprintf(out->text, sizeof out->text,
             "Add the traces of the missing ranks. Without them, waits between ranks are unknown, "
             "except at barriers.");
    int used = snprintf(out->evidence, sizeof out->evidence,
                        "%" PRId64 " of %s%" PRId64 " ranks %s no trace", missing,
                        reported ? "" : "at least ", world, missing == 1 ? "has" : "have");
    int64_t found = tm_facts_int(f, "clock.check", 0, "collectives");
    snprintf(out->evidence + used, sizeof out->evidence - (size_t)used,
             found > 0 ? "; %" PRId64 " of %" PRId64 " collectives lack ranks." : ".",
             tm_facts_int(f, "clock.check", 0, "incomplete"), found);
}
