#include "fixes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum share of unmatched communication for a sure result [% of communication]. The replay does
 * not change the recorded durations of unmatched communication, although they include waits. */
static const double UNMATCHED_MOST_PCT = 10.0;

bool tm_fixes_is(const tm_table *items, size_t row, const char *what) {
    return strcmp(tm_table_cell(items, row, "what")->value.text, what) == 0;
}

double tm_fixes_saved_pct(const tm_table *items, size_t row) {
    const tm_cell *cell = tm_table_cell(items, row, "saved_pct");
    return cell->null ? 0.0 : cell->value.r;
}

size_t tm_fixes_plan(const tm_table *items) {
    size_t found = items->n_rows, n_ranks = 0;
    for (size_t i = 0; i < items->n_rows; i++)
        n_ranks += tm_fixes_is(items, i, "rank");
    for (size_t i = 0; i < items->n_rows; i++) {
        const size_t held = (size_t)tm_table_cell(items, i, "ranks")->value.i;
        if (tm_fixes_is(items, i, "plan") && (held <= 1 || n_ranks == 0 || 2 * held <= n_ranks))
            found = i;
    }
    return found;
}

tm_fixes tm_fixes_read(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "whatif.job");
    tm_fixes f = {.items = tm_tables_find(tables, "whatif.item"),
                  .ranks = tm_tables_find(tables, "job.rank")};
    f.known = job && job->n_rows > 0 && f.ranks->n_rows > 1 &&
              !tm_table_cell(job, 0, "slowdown")->null &&
              tm_table_cell(job, 0, "unmatched_pct")->value.r <= UNMATCHED_MOST_PCT;
    f.sure = f.known && tm_table_cell(job, 0, "sure")->value.i != 0;
    for (size_t i = 0; f.known && i < f.items->n_rows; i++) {
        bool one = tm_fixes_is(f.items, i, "rank") || tm_fixes_is(f.items, i, "host");
        if (one)
            f.most_pct = fmax(f.most_pct, tm_fixes_saved_pct(f.items, i));
        if (one || tm_fixes_is(f.items, i, "plan"))
            f.stake_pct = fmax(f.stake_pct, tm_fixes_saved_pct(f.items, i));
    }
    const size_t plan = f.known ? tm_fixes_plan(f.items) : 0;
    if (f.known && plan < f.items->n_rows)
        f.plan_pct = tm_fixes_saved_pct(f.items, plan);
    return f;
}

size_t tm_fixes_find(const tm_table *items, const char *what, const char *name) {
    size_t i = 0;
    while (i < items->n_rows &&
           !(tm_fixes_is(items, i, what) &&
             (!name || strcmp(tm_table_cell(items, i, "name")->value.text, name) == 0)))
        i++;
    return i;
}

bool tm_fixes_lists_name(const tm_table *items, size_t row, const char *name) {
    char listed[320], wanted[320];
    if (row >= items->n_rows)
        return false;
    snprintf(listed, sizeof listed, ", %.280s,", tm_table_cell(items, row, "name")->value.text);
    snprintf(wanted, sizeof wanted, ", %.280s,", name);
    return strstr(listed, wanted) != NULL;
}

bool tm_fixes_lists(const tm_table *items, size_t row, int64_t rank) {
    char name[32];
    snprintf(name, sizeof name, "%" PRId64, rank);
    return tm_fixes_lists_name(items, row, name);
}

static int64_t saved_ns(const tm_table *items, size_t row) {
    return tm_table_cell(items, row, "saved_ns")->value.i;
}

/* Finds the stage that has exactly the ranks of a plan. It has the same number of ranks and the
 * same saving as the plan, because replays with the same ranks fixed save exactly the same time. */
size_t tm_fixes_stage_of(const tm_table *items, size_t plan) {
    const int64_t ranks = plan < items->n_rows ? tm_table_cell(items, plan, "ranks")->value.i : 0;
    size_t i = ranks < 2 ? items->n_rows : 0;
    while (i < items->n_rows &&
           !(tm_fixes_is(items, i, "stage") && tm_table_cell(items, i, "ranks")->value.i == ranks &&
             saved_ns(items, i) > 0 && saved_ns(items, i) == saved_ns(items, plan)))
        i++;
    return i;
}

static double saved_by(const tm_fixes *f, const char *what, const char *name) {
    const size_t row = tm_fixes_find(f->items, what, name);
    return row < f->items->n_rows ? tm_fixes_saved_pct(f->items, row) : 0.0;
}

double tm_fixes_of_rank(const tm_fixes *f, int64_t rank) {
    char name[32];
    snprintf(name, sizeof name, "%" PRId64, rank);
    return saved_by(f, "rank", name);
}

double tm_fixes_of_host(const tm_fixes *f, int64_t rank) {
    const tm_cell *host = tm_table_cell(f->ranks, tm_table_find_row(f->ranks, &rank, 1), "host");
    return host->null ? 0.0 : saved_by(f, "host", host->value.text);
}

bool tm_fixes_planned(const tm_fixes *f, size_t place, int64_t *rank, double *saved) {
    for (size_t i = 0; i < f->items->n_rows; i++) {
        if (!tm_fixes_is(f->items, i, "plan") || place-- > 0)
            continue;
        const char *names = tm_table_cell(f->items, i, "name")->value.text;
        const char *last = strrchr(names, ' ');
        *rank = strtoll(last ? last + 1 : names, NULL, 10);
        *saved = tm_fixes_saved_pct(f->items, i);
        return true;
    }
    return false;
}
