/* Rule on steps that wait for their input. */
#include <inttypes.h>
#include <stdio.h>

#include "advice_rules.h"
#include "table/shown.h"

/* Counts only waits during which the GPU is idle: loading during computation costs nothing. */
void tm_look_input(const tm_facts *f, tm_advice *out) {
    const tm_table *ranks = tm_tables_find(f->tables, "input.rank");
    int64_t stall = tm_facts_sum_others(f, "input.rank", "stall_ns");
    int64_t steps = tm_facts_sum(f, "input.rank", "step_ns");
    int64_t waits = tm_facts_sum_others(f, "input.rank", "waits");
    const int64_t mean = waits > 0 ? stall / waits : 0;
    char time[TM_ADVICE_TIME], each[32];
    out->cost_ns = stall;
    out->measure = tm_facts_percent(stall, steps);
    tm_facts_by_rank(f, stall, time);
    tm_shown_duration(mean, each, sizeof each);
    int64_t slowest = -1, most = 0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const int64_t ns = tm_facts_int(f, "input.rank", i, "slowest_step_load_ns");
        most = ns > most ? ns : most;
        if (tm_table_cell(ranks, i, "slowest")->value.i)
            slowest = tm_table_cell(ranks, i, "rank")->value.i;
    }
    snprintf(out->text, sizeof out->text,
             "Load data faster: more DataLoader workers, prefetching, quicker storage or decoding, "
             "preprocessing ahead of the run.");
    char longest[48] = "", odd[96] = "", step[32];
    tm_shown_duration(most, step, sizeof step);
    if (most > 2 * mean) /* the mean is misleading, because only a few steps wait long */
        snprintf(odd, sizeof odd, " on average, %s in the slowest step", step);
    if (f->job->n_ranks > 1)
        snprintf(longest, sizeof longest, "; rank %" PRId64 " waits longest", slowest);
    snprintf(out->evidence, sizeof out->evidence,
             "GPUs idle for %s of the %s (%s) while their rank waits for the next batch: %s for "
             "each batch%s%s.",
             tm_shown_percent(out->measure, 1).text, tm_facts_whole(f), time, each, odd, longest);
}
