/* What one rank alone can tell: how its device's time went, and why it idles. */
#include "summary/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/words.h"
#include "summary/summary_text.h"

/* A part of the device's time, or of its idle time. */
typedef struct part {
    const char *column, *what;
} part;

static const part besides[] = {
    {"exposed_comm_ns", "communicates with no computation beside it"},
    {"exposed_memory_ns", "only copies"},
    {"idle_ns", "idles"},
};

/* Columns of idle.rank. */
static const part causes[] = {
    {"input_ns", "the host waited for its next batch"},
    {"host_comm_ns", "the host was in a call that communicates"},
    {"sync_ns", "the host had waited for the device, whose queue was empty then"},
    {"host_work_ns", "the host was at other work and launched too late"},
    {"kernel_wait_ns", "it is the device's own time between kernels"},
    {"other_ns", "what came next was queued, or its launch is not recorded"},
};

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

static void print_idle(const tm_table *idle) {
    char text[256], all[32], most[32];
    int64_t ns, idle_ns = number(idle, 0, "idle_ns");
    const part *cause = largest_of(causes, sizeof causes / sizeof *causes, idle, &ns);
    if (ns <= 0)
        return;
    tm_shown_duration(idle_ns, all, sizeof all);
    tm_shown_duration(ns, most, sizeof most);
    snprintf(text, sizeof text, "It idles %s; for %s of them (%s) %s", all, most,
             share(ns, idle_ns).text, cause->what);
    tm_console_wrap(text, 0, tm_console_width());
}

bool tm_summary_alone(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const tm_table *idle = tm_tables_find(tables, "idle.rank");
    const char *device = tm_words_device(tables);
    int64_t window_ns = overlap->n_rows == 1 ? number(overlap, 0, "window_ns") : 0, ns;
    if (tm_tables_find(tables, "job.rank")->n_rows != 1 || window_ns <= 0)
        return false;
    const part *rest = largest_of(besides, sizeof besides / sizeof *besides, overlap, &ns);
    char text[320], beside[128] = "", window[32];
    tm_shown_duration(window_ns, window, sizeof window);
    if (ns > 0)
        snprintf(beside, sizeof beside, ", and %s it %s", share(ns, window_ns).text, rest->what);
    snprintf(text, sizeof text,
             "rank: its %.32s computes %s of the %s from its first work to its last%s", device,
             share(number(overlap, 0, "compute_ns"), window_ns).text, window, beside);
    printf("%sOne", colors->strong);
    tm_console_wrap(text, (int)strlen("One"), tm_console_width());
    fputs(colors->off, stdout);
    if (idle->n_rows == 1 && number(idle, 0, "idle_ns") > window_ns / 50)
        print_idle(idle);
    return true;
}
