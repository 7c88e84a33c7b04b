#include "no_devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/kinds_of_steps.h"
#include "analysis/shared/words.h"
#include "tmerge/timeline.h"

/* Reasons why device work is missing. `error` is a word in the profiler's error. The last row is
 * for all other errors. */
static const struct {
    const char *error, *what;
} causes[] = {
    {"INSUFFICIENT_PRIVILEGES", "the driver lets only administrators record GPUs. Load it with "
                                "NVreg_RestrictProfilingToAdminUsers=0, or run as administrator "
                                "(in a container with --cap-add=SYS_ADMIN)"},
    {"MULTIPLE_SUBSCRIBERS", "another profiler (nsys, ncu, a debugger, a monitor in the process) "
                             "was already using CUPTI. Run without it"},
    {"MAX_LIMIT_REACHED", "another profiler (nsys, ncu, a debugger, a monitor in the process) was "
                          "already using CUPTI. Run without it"},
    {"", "CUPTI did not start: permission is missing (NVreg_RestrictProfilingToAdminUsers), or "
         "another profiler was using it"},
};

/* Returns the first text in a column of job.rank; NULL if all are null. */
static const char *first_text(const tm_table *ranks, const char *column) {
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(ranks, i, column);
        if (!cell->null)
            return cell->value.text;
    }
    return NULL;
}

/* Returns the number of GPU events that were dropped because they have no recorded time. */
static int64_t count_unknown(const tm_table *diagnostics) {
    const char *word = tm_count_info(TM_COUNT_UNKNOWN_WORK_TIME)->word;
    int64_t n = 0;
    for (size_t i = 0; i < diagnostics->n_rows; i++)
        if (strcmp(tm_table_cell(diagnostics, i, "remark")->value.text, word) == 0)
            n += tm_table_cell(diagnostics, i, "count")->value.i;
    return n;
}

static bool has_events(const tm_table *overlap) {
    for (size_t i = 0; i < overlap->n_rows; i++)
        if (tm_table_cell(overlap, i, "window_ns")->value.i > 0)
            return true;
    return overlap->n_rows == 0;
}

static const char *cause_of(const char *error) {
    size_t i = 0;
    while (!strstr(error, causes[i].error))
        i++;
    return causes[i].what;
}

/* Writes how many distinct graphs the ranks captured: "20 graphs (batch 1 to 16)". */
static void graphs_text(const tm_tables *tables, char *out, size_t size) {
    const tm_table *marks = tm_tables_find(tables, "steps.mark");
    const int64_t n = tm_table_cell(tm_tables_find(tables, "job.job"), 0, "steps")->value.i;
    int64_t low = INT64_MAX, high = INT64_MIN;
    char batch[64] = "";
    for (size_t i = 0; i < marks->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(marks, i, "batch");
        low = !cell->null && cell->value.i < low ? cell->value.i : low;
        high = !cell->null && cell->value.i > high ? cell->value.i : high;
    }
    if (low < high)
        snprintf(batch, sizeof batch, " (batch %" PRId64 " to %" PRId64 ")", low, high);
    else if (low == high)
        snprintf(batch, sizeof batch, " (batch %" PRId64 ")", low);
    snprintf(out, size, "%" PRId64 " graph%s%s", n, n == 1 ? "" : "s", batch);
}

static void captures_text(const tm_tables *tables, char headline[TM_SENTENCE_MAX],
                          char evidence[TM_SENTENCE_MAX]) {
    char graphs[128];
    graphs_text(tables, graphs, sizeof graphs);
    snprintf(headline, TM_SENTENCE_MAX,
             "The traces hold the capture of %s, which happens before the engine serves requests",
             graphs);
    snprintf(evidence, TM_SENTENCE_MAX,
             "Kernels do not run while a graph captures them, and the few other kernels say "
             "nothing about a run: record steps that serve requests");
}

static bool any_is_cut(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    for (size_t i = 0; i < ranks->n_rows; i++)
        if (tm_table_cell(ranks, i, "truncated")->value.i != 0)
            return true;
    return false;
}

bool tm_no_devices_text(const tm_tables *tables, char headline[TM_SENTENCE_MAX],
                        char evidence[TM_SENTENCE_MAX]) {
    char unwanted[TM_SENTENCE_MAX];
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    const char *error = first_text(ranks, "profiler_error");
    const char *categories = first_text(ranks, "unrecognised");
    int64_t unknown = count_unknown(tm_tables_find(tables, "job.remark"));
    headline = headline ? headline : unwanted;
    evidence = evidence ? evidence : unwanted;
    if (tm_steps_capture(tables)) {
        captures_text(tables, headline, evidence);
        return true;
    }
    if (has_events(tm_tables_find(tables, "overlap.rank")))
        return false;
    if (error) {
        snprintf(headline, TM_SENTENCE_MAX, "No GPU events: the profiler could not record them");
        snprintf(evidence, TM_SENTENCE_MAX, "Its log says %.80s: %s", error, cause_of(error));
    } else if (unknown > 0) {
        snprintf(headline, TM_SENTENCE_MAX, "No GPU events: no event has a valid time");
        snprintf(evidence, TM_SENTENCE_MAX,
                 "All %" PRId64
                 " kernels, copies and sets were left out: the profiler wrote 0 or an impossible "
                 "time; record them again with another profiler version",
                 unknown);
    } else if (categories) {
        snprintf(headline, TM_SENTENCE_MAX,
                 "No GPU events: tmerge recognises no event as device work");
        snprintf(evidence, TM_SENTENCE_MAX,
                 "It is unknown whether events of these categories are device work: %.600s (name "
                 "the categories that are: merge --device-categories NAME,...)",
                 categories);
    } else {
        bool gpu = strcmp(tm_words_device(tables), "GPU") == 0;
        const char *format = first_text(tm_tables_find(tables, "job.format"), "format");
        bool jax = format && strcmp(format, "xplane") == 0;
        snprintf(headline, TM_SENTENCE_MAX, "No GPU events: only the work of hosts is known");
        if (any_is_cut(tables))
            snprintf(
                evidence, TM_SENTENCE_MAX,
                "The traces hold no GPU events, but one trace is cut short: if it was copied, copy "
                "it again");
        else
            snprintf(evidence, TM_SENTENCE_MAX,
                     "The traces hold no GPU events: if the job has GPUs, let the profiler record "
                     "them%s",
                     jax   ? "; JAX 0.8 and later record the work of XLA on CPUs"
                     : gpu ? " (of PyTorch: ProfilerActivity.CUDA)"
                           : "");
    }
    return true;
}
