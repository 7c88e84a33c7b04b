#include "whatif_sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/shared/words.h"
#include "table/shown.h"

/* What saves less of a step is not worth the trouble. */
static const double WORTH_PCT = 1.0;

enum { PHRASE_MAX = 288 };

/* What is said of it. All borrowed. */
typedef struct topic {
    const tm_table *items, *findings, *job;
    const char *whole; /* what shares are of */
    bool alone;        /* the job is of one rank: its steps are compared */
    bool operations;   /* the traces hold operations, not kernels */
} topic;

static bool is_text(const tm_table *table, size_t row, const char *column, const char *word) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return !cell->null && strcmp(cell->value.text, word) == 0;
}

/* Of an item, 0 where it was not worth trying. */
static double saved_pct(const topic *t, size_t item) {
    const tm_cell *cell = tm_table_cell(t->items, item, "saved_pct");
    return cell->null ? 0.0 : cell->value.r;
}

static bool is_sure(const topic *t, size_t item) {
    const tm_cell *cell = tm_table_cell(t->items, item, "sure");
    return !cell->null && cell->value.i != 0;
}

/* The item of this name; n_rows for none. */
static size_t find_item(const topic *t, const char *what, const char *name) {
    for (size_t i = 0; i < t->items->n_rows; i++)
        if (is_text(t->items, i, "what", what) && is_text(t->items, i, "name", name))
            return i;
    return t->items->n_rows;
}

/* The last place of the plan; n_rows without a plan. */
static size_t find_plan(const topic *t) {
    size_t found = t->items->n_rows;
    for (size_t i = 0; i < t->items->n_rows; i++)
        found = is_text(t->items, i, "what", "plan") ? i : found;
    return found;
}

/* "1.2 % of a step (640 us)"; " to 3 % (...)" where more may be saved. */
static void amount_text(const topic *t, size_t item, char *out, size_t size) {
    char time[32];
    double percent = saved_pct(t, item);
    if (tm_table_cell(t->items, item, "saved_ns")->null || percent < 0.05) {
        snprintf(out, size, "under 0.1 %% of %s", t->whole);
        return;
    }
    tm_shown_duration(tm_table_cell(t->items, item, "saved_ns")->value.i, time, sizeof time);
    snprintf(out, size, "%s of %s (%s)", tm_shown_percent(percent, 1).text, t->whole, time);
}

/* Whether what the figures lack may be told too: that nothing helps. What was not matched, or came
 * at times that are not known, might. */
static bool is_known(const topic *t) {
    return tm_table_cell(t->job, 0, "sure")->value.i != 0;
}

/* "saves ...", or "may save ... to ..." where the figures are not sure. */
static void saves_text(const topic *t, size_t item, char *out, size_t size) {
    char amount[128], most[32];
    amount_text(t, item, amount, sizeof amount);
    const tm_cell *cell = tm_table_cell(t->items, item, "saved_most_ns");
    if (cell->null || is_sure(t, item)) {
        snprintf(out, size, "saves %s", amount);
        return;
    }
    tm_shown_duration(cell->value.i, most, sizeof most);
    if (cell->value.i > tm_table_cell(t->items, item, "saved_ns")->value.i)
        snprintf(out, size, "may save %s, or up to %s", amount, most);
    else
        snprintf(out, size, "may save %s", amount);
}

/* What would have to be done with operations, which have an ideal that all ranks share. */
static void operations_text(const topic *t, size_t item, char *out, size_t size) {
    const char *name = tm_table_cell(t->items, item, "name")->value.text;
    const char *what = strcmp(name, "compute") == 0    ? "computation"
                       : strcmp(name, "transfer") == 0 ? "transfers"
                       : strcmp(name, "host") == 0     ? "host work"
                                                       : name;
    snprintf(out, size, "Bringing %.60s to what is usual for its type in this job", what);
}

/* What is done about a kind of work or a kernel, as a subject. */
static void subject_text(const topic *t, size_t item, char *out, size_t size) {
    static const struct {
        const char *kind, *text;
    } kinds[] = {
        {"compute", "compute kernels"},
        {"copy", "copies"},
        {"host", "the work of hosts between launches"},
        {"launch", "the lags before kernels"},
        {"input", "the waiting for batches"},
        {"gc", "Python's garbage collection"},
    };
    const char *where = t->alone ? "the median step's" : "the median rank's";
    const char *name = tm_table_cell(t->items, item, "name")->value.text;
    if (is_text(t->items, item, "what", "kernel"))
        snprintf(out, size, "Bringing kernel %.60s%s to %s", name, strlen(name) > 60 ? "..." : "",
                 where);
    else if (strcmp(name, "stall") == 0)
        snprintf(out, size, "Removing stalls of hosts that %s have not",
                 t->alone ? "the other steps" : "the other ranks");
    else
        snprintf(out, size, "Bringing transfers to what is usual for their group and size");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (is_text(t->items, item, "what", "kind") && strcmp(name, kinds[k].kind) == 0)
            snprintf(out, size, "Bringing %s to %s", kinds[k].text, where);
}

/* What saves most by itself of kinds and kernels, of those that are worth it; n_rows for none. */
static size_t best_kind(const topic *t) {
    size_t best = t->items->n_rows;
    double most = WORTH_PCT;
    for (size_t i = 0; i < t->items->n_rows; i++) {
        bool kind = is_text(t->items, i, "what", "kind") || is_text(t->items, i, "what", "kernel");
        if (kind && saved_pct(t, i) >= most) {
            /* A kernel that saves as much as its kind says more. */
            most = saved_pct(t, i);
            best = i;
        }
    }
    return best;
}

/* What is worth it instead, or that nothing is. */
static void instead_text(const topic *t, bool rank_tried, char *out, size_t size) {
    size_t kind = best_kind(t), plan = find_plan(t);
    /* Of operations nobody's wait is known, so that the plan alone says whom to look at. */
    rank_tried =
        rank_tried || (t->operations && plan < t->items->n_rows &&
                       (kind == t->items->n_rows || saved_pct(t, plan) >= saved_pct(t, kind)));
    char subject[PHRASE_MAX], saves[192];
    double of_kind = kind < t->items->n_rows ? saved_pct(t, kind) : WORTH_PCT;
    if (rank_tried && !t->alone && plan < t->items->n_rows && saved_pct(t, plan) >= of_kind) {
        bool several = tm_table_cell(t->items, plan, "ranks")->value.i > 1;
        saves_text(t, plan, saves, sizeof saves);
        snprintf(out, size, "Mending rank%s %.80s %s%s", several ? "s" : "",
                 tm_table_cell(t->items, plan, "name")->value.text, several ? "together " : "",
                 saves);
    } else if (kind < t->items->n_rows) {
        if (t->operations)
            operations_text(t, kind, subject, sizeof subject);
        else
            subject_text(t, kind, subject, sizeof subject);
        saves_text(t, kind, saves, sizeof saves);
        snprintf(out, size, "%s %s", subject, saves);
    } else if (!is_known(t)) {
        out[0] = '\0';
    } else {
        double waste = tm_table_cell(t->job, 0, "waste_pct")->value.r;
        char all[128] = "";
        if (waste >= WORTH_PCT)
            snprintf(all, sizeof all, "; all of it together saves %s",
                     tm_shown_percent(waste, 1).text);
        snprintf(out, size,
                 "Bringing any one %skind of work to %s saves under 1 %% of "
                 "%s%s",
                 t->alone ? "" : "rank or ", t->alone ? "the median step's" : "the median rank's",
                 t->whole, all);
    }
}

/* Who the verdict is about, as "it" and as an item: a host, the plan that holds all who are named,
 * or the rank. */
static size_t named_item(const topic *t, const char **it) {
    const size_t none = t->items->n_rows;
    size_t named = 0, plan = none;
    char name[32];
    *it = "it";
    for (size_t f = 0; f < t->findings->n_rows; f++)
        named += !tm_table_cell(t->findings, f, "rank")->null &&
                 !is_text(t->findings, f, "shape", "bubble");
    if (named == 0)
        return none;
    if (named > 1 && is_text(t->findings, 0, "level", "rank")) {
        *it = "these ranks";
        for (size_t i = 0; i < none && plan == none; i++)
            if (is_text(t->items, i, "what", "plan") &&
                tm_table_cell(t->items, i, "ranks")->value.i == (int64_t)named)
                plan = i;
        for (size_t f = 0; f < t->findings->n_rows && plan < none; f++) {
            char listed[320], wanted[40];
            snprintf(listed, sizeof listed, ", %.280s,",
                     tm_table_cell(t->items, plan, "name")->value.text);
            snprintf(wanted, sizeof wanted, ", %" PRId64 ",",
                     tm_table_cell(t->findings, f, "rank")->value.i);
            plan = strstr(listed, wanted) ? plan : none;
        }
        return plan;
    }
    if (is_text(t->findings, 0, "level", "host")) {
        const tm_cell *host = tm_table_cell(t->findings, 0, "host");
        return host->null ? none : find_item(t, "host", host->value.text);
    }
    if (!is_text(t->findings, 0, "level", "rank"))
        return none;
    snprintf(name, sizeof name, "%" PRId64, tm_table_cell(t->findings, 0, "rank")->value.i);
    return find_item(t, "rank", name);
}

static bool names_nobody(const topic *t) {
    return t->findings->n_rows == 0 || is_text(t->findings, 0, "level", "job");
}

/* Of one who is named and alone saves little: who is nearly as late. */
static void little_text(const topic *t, size_t item, const char *it, char *out, size_t size) {
    char amount[128], instead[PHRASE_MAX], next[64] = "";
    const tm_cell *after = tm_table_cell(t->items, item, "next_rank");
    amount_text(t, item, amount, sizeof amount);
    instead_text(t, true, instead, sizeof instead);
    if (!after->null)
        snprintf(next, sizeof next, ", for rank %" PRId64 " is nearly as late", after->value.i);
    snprintf(out, size, "Mending %s alone saves %s%s. %s", it, amount, next, instead);
}

size_t tm_whatif_sentence(const tm_tables *tables, char out[TM_WHATIF_SENTENCE_MAX]) {
    const tm_table *whole = tm_tables_find(tables, "job.job");
    const tm_table *verdict = tm_tables_find(tables, "stragglers.job");
    topic t = {.items = tm_tables_find(tables, "whatif.item"),
               .findings = tm_tables_find(tables, "stragglers.finding"),
               .job = tm_tables_find(tables, "whatif.job"),
               .whole = tm_words_whole(tables),
               .alone = whole->n_rows > 0 && tm_table_cell(whole, 0, "ranks")->value.i < 2};
    const char *it;
    out[0] = '\0';
    /* Where nothing can be told of what ranks do to one another, or there is nothing to compare. */
    if (t.items->n_rows == 0 || tm_table_cell(t.job, 0, "slowdown")->null ||
        (t.alone && tm_tables_find(tables, "whatif.step")->n_rows < 2))
        return t.items->n_rows;
    const tm_table *check = tm_tables_find(tables, "clock.check");
    t.operations = check->n_rows > 0 && tm_table_cell(check, 0, "transfers_alone")->value.i > 0;
    size_t item = named_item(&t, &it);
    if (item == t.items->n_rows) {
        if (names_nobody(&t))
            instead_text(&t, verdict->n_rows > 0 && !is_text(verdict, 0, "verdict", "none"), out,
                         TM_WHATIF_SENTENCE_MAX);
        return item;
    }
    if (saved_pct(&t, item) < WORTH_PCT) {
        if (is_known(&t))
            little_text(&t, item, it, out, TM_WHATIF_SENTENCE_MAX);
        return item;
    }
    char saves[192], more[224] = "";
    size_t plan = find_plan(&t);
    saves_text(&t, item, saves, sizeof saves);
    if (plan < t.items->n_rows && saved_pct(&t, plan) >= saved_pct(&t, item) + WORTH_PCT &&
        tm_table_cell(t.items, plan, "ranks")->value.i > 1) {
        char all[128];
        amount_text(&t, plan, all, sizeof all);
        snprintf(more, sizeof more, "; ranks %.60s together %s",
                 tm_table_cell(t.items, plan, "name")->value.text, all);
    }
    snprintf(out, TM_WHATIF_SENTENCE_MAX, "Mending %s %s%s", it, saves, more);
    return item;
}
