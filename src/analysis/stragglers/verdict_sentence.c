#include "verdict_sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "table/shown.h"

static void share_text(double share, char *out, size_t size) {
    double percent = 100.0 * share;
    snprintf(out, size, percent > 0.0 && percent < 0.1 ? "< 0.1 %%" : "%.0f %%", percent);
}

/* What a table by rank, which has a row for each, tells of one. */
static const tm_cell *cell_of(const tm_table *table, int64_t rank, const char *column) {
    return tm_table_cell(table, tm_table_find_row(table, &rank, 1), column);
}

/* The median idle time of the ranks with GPU events. */
static int64_t median_idle(const tm_table *overlap) {
    int64_t *idle = malloc((overlap->n_rows + 1) * sizeof *idle);
    size_t n = 0;
    if (!idle)
        return 0;
    for (size_t i = 0; i < overlap->n_rows; i++)
        if (tm_table_cell(overlap, i, "window_ns")->value.i > 0)
            idle[n++] = tm_table_cell(overlap, i, "idle_ns")->value.i;
    tm_sort_values(idle, n);
    int64_t median = n > 0 ? tm_median(idle, n) : 0;
    free(idle);
    return median;
}

/* Why a rank comes late, as far as its kernels and its idle time tell. */
static void cause_text(const tm_tables *tables, int64_t rank, char *out, size_t size) {
    const tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    const tm_cell *speed = cell_of(ranks, rank, "relative_speed");
    int64_t idle = cell_of(overlap, rank, "idle_ns")->value.i;
    int64_t median = median_idle(overlap);
    char own[32], others[32];
    tm_shown_duration(idle, own, sizeof own);
    tm_shown_duration(median, others, sizeof others);
    /* Between the two limits, 0.95 and 0.97, the speed neither accuses the GPU nor clears it. */
    if (!speed->null && speed->value.r < 0.95)
        snprintf(out, size,
                 "it computes at %.2fx the median speed: look at its GPU (clock, heat, neighbours) "
                 "or its share of the work",
                 speed->value.r);
    else if (!speed->null && speed->value.r >= 0.97 && idle > 2 * median)
        snprintf(out, size,
                 "its kernels run at normal speed (%.2fx) while its GPU idles %s against a median "
                 "of %s: look at its host, not at its GPU",
                 speed->value.r, own, others);
    else if (!speed->null)
        snprintf(out, size,
                 "its speed is %.2fx the median, its GPU idles %s against a median of %s",
                 speed->value.r, own, others);
    else
        snprintf(out, size, "its GPU idles %s against a median of %s", own, others);
}

/* A count of clock.check; 0 where there is no row. */
static int64_t count_of(const tm_table *check, const char *column) {
    return check->n_rows > 0 ? tm_table_cell(check, 0, column)->value.i : 0;
}

/* Why nobody waited for anybody, where no operation has a wait. */
static void unmatched_text(const tm_tables *tables, bool aligned, char out[TM_SENTENCE_MAX]) {
    const tm_table *check = tm_tables_find(tables, "clock.check");
    int64_t unmatched = count_of(check, "unmatched");
    if (!aligned)
        snprintf(out, TM_SENTENCE_MAX, "Clocks are not compared (--align=none)");
    else if (count_of(check, "collectives") == 0 && unmatched == 0)
        snprintf(out, TM_SENTENCE_MAX, "The traces hold no communication kernels");
    else if (count_of(check, "matched") > 0)
        snprintf(out, TM_SENTENCE_MAX,
                 "The complete collectives are of one rank each, or of kinds that wait for nobody");
    else
        snprintf(out, TM_SENTENCE_MAX,
                 "No collective is complete: %" PRId64 " lack ranks, %" PRId64
                 " contradict themselves, %" PRId64 " communication kernels could not be matched",
                 count_of(check, "incomplete"), count_of(check, "suspect"), unmatched);
}

/* As much as a sentence bears. */
enum { WHO_MAX = 160, RANGES_MAX = 6 };

/* Cut where there is no room. */
static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* The ranks that are meant: " 8-15", " 1, 4-6". */
static void append_ranks(const tm_table *ranks, const bool *among, char who[WHO_MAX]) {
    int n_ranges = 0;
    for (size_t i = 0, end; i < ranks->n_rows; i = end) {
        char range[64];
        int64_t first = tm_table_row(ranks, i)[0].value.i, last = first;
        for (end = i + 1; end < ranks->n_rows && among[i] && among[end] &&
                          tm_table_row(ranks, end)[0].value.i == last + 1;
             end++)
            last++;
        if (!among[i])
            continue;
        snprintf(range, sizeof range, last > first ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64,
                 n_ranges > 0 ? ", " : " ", first, last);
        append(who, WHO_MAX, n_ranges < RANGES_MAX ? range : ", ...");
        if (n_ranges++ == RANGES_MAX)
            break;
    }
}

/* "Rank 5 (host1)", "Ranks 8-15 (host1)", "Ranks 1, 4-6 (one process group)". */
static void who_text(const tm_table *ranks, const tm_verdict_topic *e, char out[WHO_MAX]) {
    const tm_verdict *v = e->verdict;
    const char *where = v->level == TM_CULPRIT_GROUP ? "one process group" : e->host;
    snprintf(out, WHO_MAX, "Ranks");
    if (v->level == TM_CULPRIT_RANK)
        snprintf(out, WHO_MAX, "Rank %" PRId64, v->rank);
    else
        append_ranks(ranks, e->among, out);
    /* A host's name may be of any length. */
    if (where && strlen(where) < WHO_MAX / 2) {
        append(out, WHO_MAX, " (");
        append(out, WHO_MAX, where);
        append(out, WHO_MAX, ")");
    }
}

/* What is to be concluded, by verdict: only a persistent one sends somebody to look at
 * something. */
static void conclusion_text(const tm_tables *tables, const tm_verdict *v, char *out, size_t size) {
    double even = 100.0 / (double)tm_tables_find(tables, "stragglers.rank")->n_rows;
    if (v->kind == TM_VERDICT_NONE)
        snprintf(out, size,
                 "but all waiting is under 1 %% of the ranks' windows (an even share is %.1f %%)",
                 even);
    else if (v->kind == TM_VERDICT_ROTATING)
        snprintf(out, size, "a different rank leads in each step: data or chance, not hardware");
    else if (v->unsure)
        snprintf(out, size, "that is no more than their clocks may be wrong by");
    else if (v->kind == TM_VERDICT_INCONCLUSIVE)
        snprintf(out, size, "too few steps or no clear lead to tell chance from cause");
    else if (v->level == TM_CULPRIT_HOST)
        snprintf(out, size, "look at what these ranks share: their host and its network");
    else if (v->level == TM_CULPRIT_GROUP)
        snprintf(out, size,
                 "look at what these ranks share: their part of the model or of the "
                 "work, and the links between them");
    else
        cause_text(tables, v->rank, out, size);
}

/* In how many steps and collectives. Those of several ranks are not counted: they share them. */
static void persistence_text(const tm_verdict *v, char *out, size_t size) {
    bool one = v->level == TM_CULPRIT_RANK;
    char last[64];
    if (one)
        snprintf(last, sizeof last, "in %" PRId64 " of %" PRId64 " collectives", v->toll.last,
                 v->toll.collectives);
    else
        snprintf(last, sizeof last, "%" PRId64 " times", v->toll.last);
    snprintf(out, size,
             "%s %" PRId64 " of %" PRId64 " steps and came last %s (%.0f expected by chance)",
             one ? "it leads" : "they lead", v->led, v->steps, last, v->toll.expected);
}

void tm_verdict_sentence(const tm_tables *tables, const tm_verdict_topic *evidence,
                         char out[TM_SENTENCE_MAX]) {
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    const tm_verdict *v = evidence->verdict;
    int64_t collectives = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        collectives += tm_table_cell(ranks, i, "collectives")->value.i;
    if (collectives == 0) {
        unmatched_text(tables, evidence->aligned, out);
        return;
    }
    /* There are collectives with waits, and every one of them is 0. */
    if (v->rank < 0) {
        snprintf(out, TM_SENTENCE_MAX, "No rank waited for another");
        return;
    }
    bool one = v->level == TM_CULPRIT_RANK;
    int64_t cost_ns = tm_share_round(tm_toll_cost(&v->toll));
    char who[WHO_MAX], share[32], cost[32], total[32], through[96] = "", indirect[32];
    char persistence[160], conclusion[256];
    who_text(ranks, evidence, who);
    share_text((double)cost_ns / (double)v->wait_ns, share, sizeof share);
    tm_shown_duration(cost_ns, cost, sizeof cost);
    tm_shown_duration(v->wait_ns, total, sizeof total);
    tm_shown_duration(v->toll.indirect_ns, indirect, sizeof indirect);
    if (v->toll.indirect_ns > 0)
        snprintf(through, sizeof through, ", %s of it through other ranks that waited for %s",
                 indirect, one ? "it" : "them");
    persistence_text(v, persistence, sizeof persistence);
    conclusion_text(tables, v, conclusion, sizeof conclusion);
    snprintf(out, TM_SENTENCE_MAX, "%s %s behind %s of all waiting: %s of %s of GPU time%s; %s; %s",
             who, one ? "is" : "are", share, cost, total, through, persistence, conclusion);
}
