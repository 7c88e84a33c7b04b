/* Rules on inference engines, which mark the content of each step. */
#include "advice_rules.h"
#include "table/shown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns the gap between two steps of a rank [ns]; 0 for gaps of ten steps or more, because the
 * engine may have had no requests. */
static int64_t gap_after(const tm_table *steps, size_t i) {
    const int64_t begin = tm_table_cell(steps, i, "begin_ns")->value.i;
    const int64_t window = tm_table_cell(steps, i, "window_ns")->value.i;
    if (i + 1 == steps->n_rows ||
        tm_table_cell(steps, i, "rank")->value.i != tm_table_cell(steps, i + 1, "rank")->value.i)
        return 0;
    const int64_t gap = tm_table_cell(steps, i + 1, "begin_ns")->value.i - begin - window;
    return gap > 0 && gap / 10 < window ? gap : 0;
}

/* Finds the time that the scheduler takes between steps. The GPUs are idle in this time, unless the
 * scheduler prepares the next step while they work. */
void tm_look_scheduler_gaps(const tm_facts *f, tm_advice *out) {
    const tm_table *steps = tm_tables_find(f->tables, "overlap.step");
    int64_t sum = 0, n = 0, idle = tm_facts_sum(f, "idle.rank", "idle_ns");
    for (size_t i = 0; f->serves && i < steps->n_rows; i++) {
        int64_t gap = gap_after(steps, i);
        sum += gap;
        n += gap > 0;
    }
    if (n == 0)
        return;
    char time[TM_ADVICE_TIME], mean[32];
    out->cost_ns = sum < idle ? sum : idle;
    out->measure = tm_facts_percent(out->cost_ns, f->window_ns);
    tm_facts_by_rank(f, out->cost_ns, time);
    tm_shown_duration(sum / n, mean, sizeof mean);
    snprintf(out->text, sizeof out->text,
             "Shorten what the engine does between steps: schedule the next step while the current "
             "one runs (asynchronous or overlapped scheduling), sample on the GPU, and move "
             "tokenizing and the sending of answers out of the loop.");
    snprintf(out->evidence, sizeof out->evidence,
             "GPUs idle for up to %s of their time (%s) between the end of a step and the start of "
             "the next: %s on average.",
             tm_shown_percent(out->measure, 1).text, time, mean);
}

/* Means over the decodes with smaller batches, or over those with larger batches. */
typedef struct half {
    double n, batch, ns;
} half;

static bool is_decode(const tm_table *marks, size_t i) {
    const tm_cell *phase = tm_table_cell(marks, i, "phase");
    return !phase->null && strcmp(phase->value.text, "decode") == 0 &&
           !tm_table_cell(marks, i, "batch")->null;
}

/* Splits the decodes at the middle of the range of batch sizes, and sets the means of both
 * halves. */
static void find_halves(const tm_facts *f, half halves[2]) {
    const tm_table *marks = tm_tables_find(f->tables, "steps.mark");
    const tm_table *steps = tm_tables_find(f->tables, "overview.step");
    double low = HUGE_VAL, high = 0.0;
    for (size_t i = 0; i < marks->n_rows; i++) {
        double batch = (double)tm_facts_int(f, "steps.mark", i, "batch");
        low = is_decode(marks, i) ? fmin(low, batch) : low;
        high = is_decode(marks, i) ? fmax(high, batch) : high;
    }
    for (size_t i = 0; i < marks->n_rows; i++) {
        const int64_t keys[] = {tm_facts_int(f, "steps.mark", i, "rank"),
                                tm_facts_int(f, "steps.mark", i, "step")};
        size_t row = tm_table_find_row(steps, keys, 2);
        double batch = (double)tm_facts_int(f, "steps.mark", i, "batch");
        if (!is_decode(marks, i) || row == steps->n_rows)
            continue;
        half *h = &halves[batch > (low + high) / 2.0];
        h->n++;
        h->batch += batch;
        h->ns += (double)tm_facts_int(f, "overview.step", row, "step_ns");
    }
    for (int k = 0; k < 2; k++)
        if (halves[k].n > 0.0) {
            halves[k].batch /= halves[k].n;
            halves[k].ns /= halves[k].n;
        }
}

/* Compares decodes of small and of large batches. Every decode reads all weights, so a larger batch
 * often takes hardly longer. */
void tm_look_decode_batch(const tm_facts *f, tm_advice *out) {
    enum { STEPS_MIN = 5 };
    half h[2] = {{.n = 0}, {.n = 0}};
    tm_shown_text times[2];
    if (f->serves)
        find_halves(f, h);
    if (h[0].n < STEPS_MIN || h[1].n < STEPS_MIN || h[1].batch < 1.5 * h[0].batch ||
        !(h[0].batch > 0.0) || !(h[0].ns > 0.0))
        return;
    out->measure = 100.0 * (1.0 - h[1].ns / h[1].batch / (h[0].ns / h[0].batch));
    tm_shown_durations((const int64_t[]){llround(h[0].ns), llround(h[1].ns)}, 2, times);
    snprintf(out->text, sizeof out->text,
             "Decode more requests in a step: a higher limit of running requests, more room for "
             "the KV cache, fewer replicas.");
    snprintf(out->evidence, sizeof out->evidence,
             "Decodes of %.0f requests take %s and decodes of %.0f requests take %s: %s less for "
             "each request.",
             h[0].batch, times[0].text, h[1].batch, times[1].text,
             tm_shown_percent(out->measure, 0).text);
}
