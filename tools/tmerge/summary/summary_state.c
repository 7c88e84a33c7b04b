/* Lines about load balance and clocks: one line if neither has a problem. */
#include "summary/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "analysis/shared/fixes.h"
#include "analysis/shared/savings.h"
#include "analysis/shared/uneven.h"
#include "analysis/shared/words.h"
#include "summary/summary_text.h"

enum { TEXT_MAX = 320, LINE_MAX = 2 * TEXT_MAX + 8 };

/* Compute times that differ by less than this [%] are even. The page has the same limit. */
static const double EVEN_PCT = 2.0;

/* Returns whether the compute times in the table by rank, which are sums over whole recordings, are
 * uneven. */
static bool differs_in_all(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, "overlap.rank");
    int64_t most = 0;
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const int64_t own = number(ranks, i, "compute_ns");
        most = own > most ? own : most;
    }
    return (double)most * (double)ranks->n_rows >
           (1.0 + EVEN_PCT / 100.0) * (double)sum_column(ranks, "compute_ns");
}

/* Writes on which steps the comparison is based, such as " in the 3 steps that all ranks recorded
 * completely (the table also has parts of other steps; 1 rank not compared)". If whole recordings
 * are uneven, but the compared steps are even, writes " in whole steps". */
static void write_compared(const tm_tables *tables, char *out, size_t size) {
    const tm_table *job = tm_tables_find(tables, "imbalance.job");
    const int64_t ranks = (int64_t)tm_tables_find(tables, "overlap.rank")->n_rows;
    const int64_t left = ranks - number(job, 0, "ranks"), steps = number(job, 0, "steps");
    const bool some = number(tm_tables_find(tables, "job.job"), 0, "steps") > steps && steps > 0;
    const bool even = tm_table_cell(job, 0, "imbalance_pct")->value.r < EVEN_PCT;
    char apart[48] = "";
    if (left > 0)
        snprintf(apart, sizeof apart, "%" PRId64 " rank%s not compared", left,
                 left == 1 ? "" : "s");
    if (some)
        snprintf(out, size,
                 " in the %" PRId64 " step%s that all ranks recorded completely (the table also "
                 "has parts of other steps%s%s)",
                 steps, steps == 1 ? "" : "s", *apart ? "; " : "", apart);
    else if (steps > 0 && even && differs_in_all(tables))
        snprintf(out, size, " in whole steps%s%s%s", *apart ? " (" : "", apart, *apart ? ")" : "");
    else if (*apart)
        snprintf(out, size, " (%s)", apart);
    else
        *out = '\0';
}

/* Writes the line about load balance; "" if there is nothing to compare. Returns false only if the
 * line says that the load is uneven. */
static bool write_load(const tm_tables *tables, char out[TEXT_MAX]) {
    const tm_table *job = tm_tables_find(tables, "imbalance.job");
    const tm_cell *over = job->n_rows ? tm_table_cell(job, 0, "imbalance_pct") : NULL;
    char apart[160], time[32], stages[TM_UNEVEN_MAX];
    *out = '\0';
    if (tm_tables_find(tables, "job.rank")->n_rows < 2 ||
        sum_column(tm_tables_find(tables, "overlap.rank"), "compute_ns") == 0)
        return true;
    if (!over || over->null) {
        bool marked = number(tm_tables_find(tables, "job.job"), 0, "steps") > 0;
        snprintf(out, TEXT_MAX, "Imbalance: unknown, because no two ranks have %s%s events %s",
                 marked ? "a whole step with " : "", tm_words_device(tables),
                 marked ? "in common" : "over similar times");
        return false;
    }
    if (tm_doubt_between_of_rank(tables, number(job, 0, "max_rank"))) {
        snprintf(out, TEXT_MAX,
                 "Imbalance: unknown, because too little of the computation was recorded");
        return false;
    }
    write_compared(tables, apart, sizeof apart);
    if (over->value.r < EVEN_PCT) {
        const int64_t ranks = number(job, 0, "ranks");
        char of[32] = "";
        if (ranks < (int64_t)tm_tables_find(tables, "overlap.rank")->n_rows)
            snprintf(of, sizeof of, " of %" PRId64 " ranks", ranks);
        snprintf(out, TEXT_MAX, "Compute%s even within %.1f %%%s", of,
                 over->value.r < 0.1 ? 0.1 : over->value.r, apart);
        return true;
    }
    tm_uneven_text(tables, stages);
    const tm_table *verdict = tm_tables_find(tables, "stragglers.job");
    if (*stages && strstr(tm_table_cell(verdict, 0, "headline")->value.text, stages))
        return true; /* The headline already says that the load is uneven. */
    if (*stages) { /* Names the stages, but no rank: which rank of a stage computes most is a matter
                      of chance. */
        snprintf(out, TEXT_MAX, "Imbalance between stages: %s", stages);
        return false;
    }
    tm_shown_duration(number(job, 0, "imbalance_ns"), time, sizeof time);
    const tm_table *items = tm_tables_find(tables, "whatif.item");
    const size_t plan = tm_savings_plan(tables), stage = tm_fixes_stage_of(items, plan);
    if (stage < items->n_rows && tm_fixes_lists(items, plan, number(job, 0, "max_rank")))
        snprintf(apart, sizeof apart, ", like all of stage %.16s",
                 tm_table_cell(items, stage, "name")->value.text);
    snprintf(out, TEXT_MAX, "Imbalance: rank %" PRId64 " computes %s (%.1f %%) over the mean%s",
             number(job, 0, "max_rank"), time, over->value.r, apart);
    return false;
}

/* The two lines; the second may be "". */
typedef struct state {
    char first[LINE_MAX], second[TEXT_MAX];
} state;

static state read_state(const tm_tables *tables) {
    state s = {"", ""};
    char load[TEXT_MAX], clocks[TEXT_MAX];
    const bool even = write_load(tables, load);
    const bool agree = tm_summary_agreement(tables, clocks, sizeof clocks);
    if (!*clocks || !*load || (even && agree)) {
        snprintf(s.first, sizeof s.first, "%s%s%s", load, *load && *clocks ? ", " : "", clocks);
        if (!*load && s.first[0] >= 'a')
            s.first[0] = (char)(s.first[0] - 'a' + 'A');
        return s;
    }
    snprintf(s.first, sizeof s.first, "%s", load);
    snprintf(s.second, sizeof s.second, "%s", clocks);
    if (s.second[0] >= 'a')
        s.second[0] = (char)(s.second[0] - 'a' + 'A');
    return s;
}

int tm_summary_state_lines(const tm_tables *tables) {
    const state s = read_state(tables);
    return margin_lines(s.first) + margin_lines(s.second);
}

void tm_summary_state(const tm_tables *tables) {
    const state s = read_state(tables);
    if (*s.first)
        print_margin(s.first);
    if (*s.second)
        print_margin(s.second);
}
