#include "one_rank_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/device_means.h"
#include "analysis/shared/doubt.h"
#include "analysis/shared/kinds_of_steps.h"
#include "analysis/shared/words.h"
#include "table/shown.h"

/* A column with a part of the device's busy or idle time, and the words for it. */
typedef struct part {
    const char *column, *what;
} part;

static const part besides[] = {
    {"exposed_comm_ns", "communicates without concurrent computation"},
    {"exposed_memory_ns", "only copies"},
    {"idle_ns", "idles"},
};
static const part besides_of_several[] = {
    {"exposed_comm_ns", "they communicate without concurrent computation"},
    {"exposed_memory_ns", "they only copy"},
    {"idle_ns", "they idle"},
};
enum { N_BESIDES = sizeof besides / sizeof *besides };

/* Columns of idle.rank. */
static const part causes[] = {
    {"input_ns", "the host waited for its next batch"},
    {"host_comm_ns", "the host was in a call that communicates"},
    {"alloc_ns", "the host allocated or freed memory, or loaded code"},
    {"sync_ns", "the host had waited for the device, and the device's queue was empty"},
    {"host_work_ns", "the host launched too late"},
    {"kernel_wait_ns", "it is the device's own time between kernels"},
    {"turns_ns", "another device of the rank was busy"},
    {"other_ns", "the next work was already queued and waited for something else, or its launch is "
                 "not recorded"},
};

/* Replaces other_ns if nearly all of other_ns is queued_ns. */
static const part queued = {"queued_ns",
                            "the next work was already queued and waited for something else"};
enum { QUEUED_PCT = 95 };

/* Causes of the time between operators, if the CPU is the device. */
static const part cpu_causes[] = {
    {"input_ns", "it waited for its next batch"},
    {"host_comm_ns", "it was in a call that communicates"},
    {"host_work_ns", "it did other work between operators"},
    {"other_ns", "it did other work"},
};

/* Returns an integer of a table; 0 if it is null. */
static int64_t number(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? 0 : cell->value.i;
}

static const part *largest_of(const part *parts, size_t n, const tm_table *table, int64_t *ns) {
    const part *found = &parts[0];
    *ns = -1;
    for (size_t i = 0; i < n; i++) {
        const char *own_column = parts[i].column;
        if (number(table, 0, own_column) <= *ns)
            continue;
        *ns = number(table, 0, own_column);
        found = &parts[i];
    }
    return found;
}

static tm_shown_text share(int64_t part_ns, int64_t whole_ns) {
    return tm_shown_percent(100.0 * (double)part_ns / (double)whole_ns, 1);
}

static void add_idle(const tm_table *idle, bool several, bool of_cpu, char out[TM_ALONE_MAX]) {
    tm_shown_text times[3];
    char gap[64] = "";
    int64_t ns, idle_ns = number(idle, 0, "idle_ns") + number(idle, 0, "turns_ns");
    const part *cause =
        of_cpu ? largest_of(cpu_causes, sizeof cpu_causes / sizeof *cpu_causes, idle, &ns)
               : largest_of(causes, sizeof causes / sizeof *causes, idle, &ns);
    if (ns <= 0)
        return;
    if (strcmp(cause->column, "other_ns") == 0 && !of_cpu &&
        number(idle, 0, queued.column) >= ns / 100 * QUEUED_PCT)
        cause = &queued;
    const int64_t longest = number(idle, 0, "longest_ns");
    tm_shown_durations((const int64_t[]){idle_ns, ns, longest}, longest > idle_ns / 2 ? 3 : 2,
                       times);
    if (longest > idle_ns / 2)
        snprintf(gap, sizeof gap, "; the longest gap takes %s", times[2].text);
    snprintf(out + strlen(out), TM_ALONE_MAX - strlen(out), "%s%s %s; for %s of that (%s) %s%s",
             *out ? ". " : "",
             of_cpu    ? "It runs no operator for"
             : several ? "On average each idles"
                       : "It idles",
             times[0].text, times[1].text, share(ns, idle_ns).text, cause->what, gap);
}

/* Returns the largest part except computation, and sets *ns to its time; -1 if there is none. */
static const part *largest_beside(const tm_tables *tables, bool several, int64_t *ns) {
    const part *parts = several ? besides_of_several : besides, *found = parts;
    *ns = -1;
    for (size_t i = 0; i < N_BESIDES; i++) {
        const int64_t own = tm_device_mean(tables, 0, parts[i].column);
        found = own > *ns ? &parts[i] : found;
        *ns = own > *ns ? own : *ns;
    }
    return found;
}

/* Writes the share of the window in which each of n devices computes: " on average (device 0: 30.0
 * %, 1: 20.0 %, 2: idle except for 0.1 %)". If there are many devices, lists mainly those that
 * hardly work. */
static void devices_text(const tm_tables *tables, size_t first, size_t n, size_t n_working,
                         char *out, size_t size) {
    enum { SHOWN = 8 };
    const tm_table *devices = tm_tables_find(tables, "overlap.device");
    size_t at = (size_t)snprintf(out, size, "%s", n_working > 1 ? " on average" : "");
    size_t shown = 0, left = n - n_working < SHOWN ? SHOWN - (n - n_working) : 0;
    for (size_t i = 0; i < n && shown < SHOWN && at < size; i++) {
        const bool works = tm_device_works(tables, first + i);
        const int64_t ns = number(devices, first + i, works ? "compute_ns" : "busy_ns");
        if (works && left == 0)
            continue;
        at += (size_t)snprintf(out + at, size - at, "%s%" PRId64 ": %s%s",
                               shown++ ? ", " : " (device ", number(devices, first + i, "device"),
                               works ? "" : "idle except for ",
                               share(ns, number(devices, first + i, "window_ns")).text);
        left -= works;
    }
    if (at < size)
        snprintf(out + at, size - at, n > SHOWN ? ", ...)" : ")");
}

enum { WHOSE_TEXT = 128 };

/* Writes "its GPU computes" or "3 of its 4 GPUs compute" to @p whose. If there are several devices,
 * writes the share of each device to @p each. Returns whether several devices work. */
static bool whose_text(const tm_tables *tables, char whose[WHOSE_TEXT], char *each, size_t size) {
    const int64_t rank = number(tm_tables_find(tables, "overlap.rank"), 0, "rank");
    const char *device = tm_words_device(tables);
    size_t first, n = tm_devices_of(tables, rank, &first), working = 0;
    for (size_t i = 0; i < n; i++)
        working += tm_device_works(tables, first + i);
    *each = '\0';
    if (n == 0)
        snprintf(whose, WHOSE_TEXT, "its %.32s computes", device);
    else if (working == n)
        snprintf(whose, WHOSE_TEXT, "its %zu %.32ss compute", n, device);
    else
        snprintf(whose, WHOSE_TEXT, "%zu of its %zu %.32ss compute%s", working, n, device,
                 working == 1 ? "s" : "");
    if (n > 0)
        devices_text(tables, first, n, working, each, size);
    return working > 1;
}

/* Writes how much of the steps is before the device's first work or after its last. Shares do not
 * refer to this time, because it is outside of the window. Writes nothing if there is little of
 * it. */
static void outside_text(const tm_tables *tables, int64_t window_ns, char *out, size_t size) {
    const tm_table *job = tm_tables_find(tables, "overview.job");
    const int64_t steps_ns = number(job, 0, "step_ns"), outside_ns = steps_ns - window_ns;
    const int64_t before_ns = number(tm_tables_find(tables, "overlap.rank"), 0, "before_ns");
    const int64_t after_ns = outside_ns - before_ns;
    const char *device = tm_words_device(tables);
    tm_shown_text t[4];
    char where[192];
    *out = '\0';
    if (number(tm_tables_find(tables, "job.job"), 0, "steps") == 0 || outside_ns < steps_ns / 10)
        return;
    tm_shown_durations((const int64_t[]){steps_ns, outside_ns, before_ns, after_ns}, 4, t);
    if (after_ns < outside_ns / 10)
        snprintf(where, sizeof where, "before its first recorded %s work", device);
    else if (before_ns < outside_ns / 10)
        snprintf(where, sizeof where, "after its last recorded %s work", device);
    else
        snprintf(where, sizeof where,
                 "before its first recorded %s work (%s) or after its last (%s)", device, t[2].text,
                 t[3].text);
    snprintf(out, size, "%s of the step%s %s (%s) is %s", t[1].text,
             number(job, 0, "steps") == 1 ? "'s" : "s'", t[0].text,
             share(outside_ns, steps_ns).text, where);
}

bool tm_alone_text(const tm_tables *tables, char headline[TM_ALONE_MAX],
                   char evidence[TM_ALONE_MAX]) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const tm_table *idle = tm_tables_find(tables, "idle.rank");
    int64_t window_ns = overlap->n_rows == 1 ? number(overlap, 0, "window_ns") : 0, ns;
    *headline = *evidence = '\0';
    if (tm_tables_find(tables, "job.rank")->n_rows != 1 || window_ns <= 0 ||
        tm_steps_all_capture(tm_tables_find(tables, "steps.mark")))
        return false;
    char beside[128] = "", window[32], whose[WHOSE_TEXT], each[256], outside[384];
    char inside[TM_ALONE_MAX];
    const bool several = whose_text(tables, whose, each, sizeof each);
    const part *rest = largest_beside(tables, several, &ns);
    const bool of_cpu = strcmp(tm_words_device(tables), "CPU") == 0;
    const bool no_work = of_cpu && strcmp(rest->column, "idle_ns") == 0;
    tm_shown_duration(window_ns, window, sizeof window);
    if (ns > 0)
        snprintf(beside, sizeof beside, ", and for %s %s%s", share(ns, window_ns).text,
                 several ? "" : "it ", no_work ? "runs no operator" : rest->what);
    bool doubted = tm_doubt_of_job(tables);
    outside_text(tables, window_ns, outside, sizeof outside);
    snprintf(inside, sizeof inside, "%s%s for %s of the %s from its first work to its last%s%s",
             doubted ? "in what was recorded, " : "", whose,
             share(tm_device_mean(tables, 0, "compute_ns"), window_ns).text, window, each, beside);
    snprintf(headline, TM_ALONE_MAX, "One rank: %.700s", *outside ? outside : inside);
    if (*outside)
        snprintf(evidence, TM_ALONE_MAX, "In between, %.600s", inside);
    if (!doubted && idle->n_rows == 1 && tm_device_mean(tables, 0, "idle_ns") > window_ns / 50)
        add_idle(idle, several, of_cpu, evidence);
    return true;
}
