#include "savings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixes.h"
#include "kinds_of_steps.h"
#include "table/shown.h"
#include "uneven.h"
#include "words.h"

enum { PHRASE_MAX = 320 };

/* The topic of the sentences. All pointers are borrowed. */
typedef struct topic {
    const tm_tables *tables;
    const tm_table *items, *findings, *job;
    const char *whole; /* noun that percentages refer to */
    bool alone; /* whether the job has one rank, whose steps are then compared with one another */
    bool operations; /* whether the traces contain operations, not kernels */
} topic;

static bool is_text(const tm_table *table, size_t row, const char *column, const char *word) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return !cell->null && strcmp(cell->value.text, word) == 0;
}

static double saved_pct(const topic *t, size_t item) {
    return tm_fixes_saved_pct(t->items, item);
}

static bool is_sure(const topic *t, size_t item) {
    const tm_cell *cell = tm_table_cell(t->items, item, "sure");
    return !cell->null && cell->value.i != 0;
}

/* Writes a text such as "1.2 % of a step (0.64 ms)". Chooses a unit of time that also suits row @p
 * beside, unless that is n_rows. */
static void amount_text(const topic *t, size_t item, size_t beside, char *out, size_t size) {
    tm_shown_text times[2];
    double percent = saved_pct(t, item);
    if (tm_table_cell(t->items, item, "saved_ns")->null || percent < 0.05) {
        snprintf(out, size, "under 0.1 %% of %s", t->whole);
        return;
    }
    const int64_t saved = tm_table_cell(t->items, item, "saved_ns")->value.i;
    const int64_t other =
        beside < t->items->n_rows ? tm_table_cell(t->items, beside, "saved_ns")->value.i : saved;
    tm_shown_durations((const int64_t[]){saved, other}, 2, times);
    snprintf(out, size, "%s of %s (%s)", tm_shown_percent(percent, 1).text, t->whole,
             times[0].text);
}

/* Returns whether waits between ranks are known: some rank took part in a complete operation. */
static bool any_compared(const tm_tables *tables) {
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    bool any = false;
    for (size_t i = 0; i < ranks->n_rows && !any; i++)
        any = tm_table_cell(ranks, i, "collectives")->value.i > 0;
    return any;
}

/* Returns whether it is safe to state that nothing helps: neither unmatched communication nor time
 * without a cause may hide savings. */
static bool is_known(const topic *t) {
    const double most_unmatched_pct = 5.0; /* one rank that is not matched may hide any saving */
    const tm_cell *unmatched = tm_table_cell(t->job, 0, "unmatched_pct");
    return tm_table_cell(t->job, 0, "sure")->value.i != 0 &&
           (unmatched->null || unmatched->value.r <= most_unmatched_pct);
}

/* Writes a text such as ", or more: 18.8 ms have no recorded cause" if such time makes the saving
 * doubtful. Otherwise writes "". */
static void unexplained_text(const topic *t, char *out, size_t size) {
    const tm_cell *error = tm_table_cell(t->job, 0, "replay_error_pct");
    const double step_ns = (double)tm_table_cell(t->job, 0, "step_ns")->value.i;
    char time[32];
    *out = '\0';
    if (!is_text(t->job, 0, "doubt", "unexplained") || error->null || error->value.r >= 0.0)
        return;
    tm_shown_duration(llround(-error->value.r / 100.0 * step_ns), time, sizeof time);
    snprintf(out, size, ", or more: %s have no recorded cause", time);
}

/* Writes "saves 3.1 % of a step (310 us)". If the fix may also save time without a recorded cause,
 * writes "saves 3.1 to 8.2 % of a step (310 us to 820 us)". If there is another doubt, writes "may
 * save ...". */
static void saves_text(const topic *t, size_t item, size_t beside, char *out, size_t size) {
    const tm_cell *least = tm_table_cell(t->items, item, "saved_ns");
    const tm_cell *most = tm_table_cell(t->items, item, "saved_most_ns");
    char amount[128];
    tm_shown_text times[2];
    double step_ns = (double)tm_table_cell(t->job, 0, "step_ns")->value.i;
    amount_text(t, item, beside, amount, sizeof amount);
    if (most->null || is_sure(t, item)) {
        snprintf(out, size, "saves %s", amount);
        return;
    }
    double most_pct = step_ns > 0.0 ? 100.0 * (double)most->value.i / step_ns : 0.0;
    /* no range if `most` hardly exceeds `least`: then it is in doubt whether the fix saves time */
    if (most->value.i <= least->value.i ||
        most_pct < saved_pct(t, item) + fmax(0.1, 0.02 * saved_pct(t, item))) {
        char more[96];
        unexplained_text(t, more, sizeof more);
        snprintf(out, size, "may save %s%s", amount, more);
        return;
    }
    tm_shown_durations((const int64_t[]){least->value.i, most->value.i}, 2, times);
    const bool holds = is_known(t) || is_text(t->job, 0, "doubt", "unexplained");
    snprintf(out, size, "%s %.1f to %.1f %% of %s (%s to %s)", holds ? "saves" : "may save",
             fmax(saved_pct(t, item), 0.0), most_pct, t->whole,
             least->value.i > 0 ? times[0].text : "0", times[1].text);
}

/* Names the work to improve in traces of operations, where the ideal time of a kind of work is the
 * same on all ranks. */
static void operations_text(const topic *t, size_t item, char *out, size_t size) {
    const char *name = tm_table_cell(t->items, item, "name")->value.text;
    const char *what = strcmp(name, "compute") == 0    ? "computation"
                       : strcmp(name, "transfer") == 0 ? "transfers"
                       : strcmp(name, "host") == 0     ? "host work"
                                                       : name;
    snprintf(out, size, "Bringing %.60s to the usual time of its type in this job", what);
}

/* Describes an uneven split of a pipeline and its remedy. Neither a rank nor a kind of work is its
 * cause. */
static void split_text(const topic *t, char *out, size_t size) {
    char stages[TM_UNEVEN_MAX], remedy[TM_UNEVEN_MAX];
    tm_uneven_text(t->tables, stages);
    tm_uneven_remedy(t->tables, remedy);
    snprintf(out, size, "The pipeline is split unevenly: %.220s; %.48s", stages, remedy);
}

static void network_text(const topic *t, char *out, size_t size) {
    char transfers[TM_NETWORK_TEXT_MAX];
    tm_network_text(t->tables, transfers);
    snprintf(out, size, "%.260s; %s", transfers,
             tm_fixes_find(t->items, "link", NULL) < t->items->n_rows
                 ? "the same bandwidth as the others"
                 : "a network as fast as that of the other hosts");
}

/* Returns words for the rank or step whose time a fix aims at, such as "on the median rank" (see
 * replay/job/peers.h). With two other ranks or steps, this is the quicker one. */
static const char *usual_text(const topic *t) {
    static const char *const of[][2] = {{"on the median rank", "in the median step"},
                                        {"on the other rank", "in the other step"},
                                        {"on the quickest rank", "in the quickest step"}};
    const int64_t steps = (int64_t)tm_tables_find(t->tables, "whatif.step")->n_rows;
    const tm_table *job = tm_tables_find(t->tables, "job.job");
    const int64_t ranks = job->n_rows > 0 ? tm_table_cell(job, 0, "ranks")->value.i : 0;
    const int64_t n = t->alone ? steps : ranks;
    return of[n == 2 ? 1 : n == 3 ? 2 : 0][t->alone];
}

/* Writes the remedy for a kind of work or a kernel as the subject of a sentence. */
static void subject_text(const topic *t, size_t item, char *out, size_t size) {
    static const struct {
        const char *kind, *text;
    } kinds[] = {
        {"compute", "compute kernels"},         {"copy", "copies"},
        {"host", "host work between launches"}, {"launch", "launch latency"},
        {"input", "waiting for batches"},       {"gc", "Python's garbage collection"},
    };
    const char *where = usual_text(t);
    const char *name = tm_table_cell(t->items, item, "name")->value.text;
    if (is_text(t->items, item, "what", "split"))
        split_text(t, out, size);
    else if (item == tm_network_item(t->items))
        network_text(t, out, size);
    else if (is_text(t->items, item, "what", "kernel"))
        snprintf(out, size, "Making kernel %.60s%s as short as %s", name,
                 strlen(name) > 60 ? "..." : "", where);
    else if (strcmp(name, "stall") == 0)
        snprintf(out, size, "Removing host stalls that do not occur %s",
                 t->alone ? "in the other steps" : "on the other ranks");
    else
        snprintf(out, size, "Bringing transfers to the usual time of their group and size");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (is_text(t->items, item, "what", "kind") && strcmp(name, kinds[k].kind) == 0)
            snprintf(out, size, "Making %s as short as %s", kinds[k].text, where);
}

/* Returns whether an item is about no rank's work, but about an uneven split or slow transfers. */
static bool is_nobody(const topic *t, size_t item) {
    return is_text(t->items, item, "what", "split") || item == tm_network_item(t->items);
}

static bool is_kind(const topic *t, size_t item) {
    return is_text(t->items, item, "what", "kind") || is_text(t->items, item, "what", "kernel");
}

/* Returns a more specific item if there is one. If @p item is host work of all kinds (kind host),
 * and one kind of host work saves nearly as much, returns the item of that kind. Otherwise returns
 * @p item. */
static size_t narrowed(const topic *t, size_t item) {
    static const char *const parts[] = {"input", "gc", "stall"};
    const double nearly = 0.9;
    if (item != tm_fixes_find(t->items, "kind", "host"))
        return item;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const size_t part = tm_fixes_find(t->items, "kind", parts[k]);
        if (part < t->items->n_rows && saved_pct(t, part) >= nearly * saved_pct(t, item))
            return part;
    }
    return item;
}

/* Returns the item that saves most, if it is worth fixing; n_rows if there is none. */
static size_t best_of(const topic *t, bool (*is)(const topic *, size_t)) {
    size_t best = t->items->n_rows;
    double most = TM_FIX_LEAST_PCT;
    for (size_t i = 0; i < t->items->n_rows; i++)
        if (is(t, i) && saved_pct(t, i) >= most) {
            /* if two rows save the same, the later row counts: a kernel comes after its kind of
             * work, and is more specific */
            most = saved_pct(t, i);
            best = i;
        }
    return narrowed(t, best);
}

/* Returns the item that saves most among the kinds of work, an uneven split, and the network. */
static size_t best_kind(const topic *t) {
    const size_t kind = best_of(t, is_kind), nobody = best_of(t, is_nobody);
    const size_t none = t->items->n_rows;
    return nobody == none || (kind < none && saved_pct(t, kind) > saved_pct(t, nobody)) ? kind
                                                                                        : nobody;
}

/* Returns the row of the plan if it saves enough; otherwise n_rows. Also returns n_rows if ranks
 * are missing, because these may be as late as the ranks of the plan. */
static size_t worth_plan(const topic *t) {
    const size_t plan = tm_fixes_plan(t->items), none = t->items->n_rows;
    return plan < none && !is_text(t->job, 0, "doubt", "missing_ranks") &&
                   saved_pct(t, plan) >= TM_FIX_LEAST_PCT
               ? plan
               : none;
}

/* Writes what fixing all ranks of the plan saves. Writes nothing if the plan is not worth
 * naming. */
static void plan_text(const topic *t, char *out, size_t size) {
    const size_t plan = worth_plan(t);
    char saves[192];
    out[0] = '\0';
    if (plan == t->items->n_rows)
        return;
    bool several = tm_table_cell(t->items, plan, "ranks")->value.i > 1;
    const char *ranks = tm_table_cell(t->items, plan, "name")->value.text;
    const size_t stage = tm_fixes_stage_of(t->items, plan);
    saves_text(t, plan, t->items->n_rows, saves, sizeof saves);
    if (stage < t->items->n_rows)
        snprintf(out, size, "Fixing pipeline stage %s (ranks %.80s) %s",
                 tm_table_cell(t->items, stage, "name")->value.text, ranks, saves);
    else
        snprintf(out, size, "Fixing rank%s %.80s %s%s", several ? "s" : "", ranks,
                 several ? "together " : "", saves);
}

/* Returns whether a plan saves at least as much as every kind of work. */
static bool plan_is_more(const topic *t, size_t plan) {
    const size_t kind = best_kind(t), none = t->items->n_rows;
    return !t->alone && plan < none &&
           saved_pct(t, plan) >= (kind < none ? saved_pct(t, kind) : TM_FIX_LEAST_PCT);
}

/* Returns whether every pipeline stage has one rank. Such ranks have no peers. */
static bool lacks_peers(const topic *t) {
    size_t stages = 0, single = 0;
    for (size_t i = 0; i < t->items->n_rows; i++)
        if (is_text(t->items, i, "what", "stage")) {
            stages++;
            single += tm_table_cell(t->items, i, "ranks")->value.i == 1;
        }
    return stages > 0 && single == stages;
}

/* Writes which other fix is worth it, or that no fix is.
 * @param rank_tried  whether the previous sentence was about fixing ranks */
static void instead_text(const topic *t, bool rank_tried, char *out, size_t size) {
    size_t kind = best_kind(t), plan = tm_fixes_plan(t->items);
    /* In traces of operations, waits are unknown, so only the plan shows which ranks to look at. */
    rank_tried =
        rank_tried || (t->operations && plan < t->items->n_rows &&
                       (kind == t->items->n_rows || saved_pct(t, plan) >= saved_pct(t, kind)));
    char subject[PHRASE_MAX], saves[192];
    if (rank_tried && plan_is_more(t, plan)) {
        plan_text(t, out, size);
    } else if (kind < t->items->n_rows) {
        if (t->operations)
            operations_text(t, kind, subject, sizeof subject);
        else
            subject_text(t, kind, subject, sizeof subject);
        saves_text(t, kind, t->items->n_rows, saves, sizeof saves);
        snprintf(out, size, "%s %s", subject, saves);
    } else if (!is_known(t) || !(t->alone || t->operations || any_compared(t->tables))) {
        out[0] = '\0';
    } else if (lacks_peers(t)) {
        snprintf(out, size,
                 "Each pipeline stage has one rank, so no other rank does the same work: it is "
                 "unknown how much fixing a rank would save");
    } else {
        double waste = tm_table_cell(t->job, 0, "waste_pct")->value.r;
        char all[128] = "";
        if (waste >= TM_FIX_LEAST_PCT)
            snprintf(all, sizeof all, "; all work together saves %s",
                     tm_shown_percent(waste, 1).text);
        snprintf(out, size, "Making any one kind of work%s as short as %s saves under 1 %% of %s%s",
                 t->alone ? "" : ", or all work of one rank,", usual_text(t), t->whole, all);
    }
}

/* Returns the row of whatif.item on the subject of the findings: a host, one rank, or several ranks
 * (a plan); n_rows if there is none. Sets *it to the pronoun for this subject. */
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
        for (size_t f = 0; f < t->findings->n_rows; f++)
            if (!tm_fixes_lists(t->items, plan, tm_table_cell(t->findings, f, "rank")->value.i))
                plan = none;
        return plan;
    }
    if (is_text(t->findings, 0, "level", "host")) {
        const tm_cell *host = tm_table_cell(t->findings, 0, "host");
        *it = "them";
        return host->null ? none : tm_fixes_find(t->items, "host", host->value.text);
    }
    if (!is_text(t->findings, 0, "level", "rank"))
        return none;
    snprintf(name, sizeof name, "%" PRId64, tm_table_cell(t->findings, 0, "rank")->value.i);
    return tm_fixes_find(t->items, "rank", name);
}

static bool names_nobody(const topic *t) {
    return t->findings->n_rows == 0 || is_text(t->findings, 0, "level", "job");
}

/* Returns by how much a step is longer on average if only this rank is slow [ns]; 0 if unknown. */
static int64_t delay_of(const topic *t, size_t item) {
    const tm_cell *slowdown = tm_table_cell(t->items, item, "slowdown");
    const tm_cell *ideal = tm_table_cell(t->job, 0, "ideal_ns");
    const bool known = is_text(t->items, item, "what", "rank") && !slowdown->null && !ideal->null;
    return known ? llround((slowdown->value.r - 1.0) * (double)ideal->value.i) : 0;
}

/* If fixing a rank saves less than half of the time by which the rank delays a step, writes why: ":
 * rank 2 then delays a step by 5.91 ms (rank 1: 6.54 ms)". Fixing a rank saves only the time in
 * which no other rank is late. Writes nothing if another reason applies, or if the reason is in
 * doubt. */
static void because_text(const topic *t, size_t item, char *out, size_t size) {
    const tm_cell *saved = tm_table_cell(t->items, item, "saved_ns");
    const int64_t own = delay_of(t, item);
    size_t other = item;
    int64_t most = 0;
    tm_shown_text times[2];
    for (size_t i = 0; i < t->items->n_rows; i++)
        if (i != item && delay_of(t, i) > most) {
            most = delay_of(t, i);
            other = i;
        }
    *out = '\0';
    if (!is_known(t) || !is_sure(t, item) || own <= 0 || 2 * most < own ||
        2 * (saved->null ? 0 : saved->value.i) >= own)
        return;
    tm_shown_durations((const int64_t[]){most, own}, 2, times);
    snprintf(out, size, ": rank %.24s then delays a step by %s (rank %.24s: %s)",
             tm_table_cell(t->items, other, "name")->value.text, times[0].text,
             tm_table_cell(t->items, item, "name")->value.text, times[1].text);
}

/* Writes that fixing a named rank or host saves little, the reason, and which fix helps instead. */
static void little_text(const topic *t, size_t item, const char *it, const char *instead, char *out,
                        size_t size) {
    char amount[128], because[160];
    amount_text(t, item, t->items->n_rows, amount, sizeof amount);
    because_text(t, item, because, sizeof because);
    snprintf(out, size, "Fixing only %s saves %s%s%s%s", it, amount, because,
             instead[0] ? ". " : "", instead);
}

/* Opens the tables. Returns false if it is unknown how ranks delay one another, or if nothing can
 * be compared. */
static bool open_topic(const tm_tables *tables, topic *t) {
    const tm_table *whole = tm_tables_find(tables, "job.job");
    const tm_table *check = tm_tables_find(tables, "clock.check");
    *t = (topic){.tables = tables,
                 .items = tm_tables_find(tables, "whatif.item"),
                 .findings = tm_tables_find(tables, "stragglers.finding"),
                 .job = tm_tables_find(tables, "whatif.job"),
                 .whole = tm_words_whole(tables),
                 .alone = whole->n_rows > 0 && tm_table_cell(whole, 0, "ranks")->value.i < 2};
    t->operations = check->n_rows > 0 && tm_table_cell(check, 0, "transfers_alone")->value.i > 0;
    return t->items->n_rows > 0 && t->job->n_rows > 0 &&
           !tm_table_cell(t->job, 0, "slowdown")->null && !tm_steps_capture(tables) &&
           !(t->alone && tm_tables_find(tables, "whatif.step")->n_rows < 2);
}

void tm_savings_why(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]) {
    out[0] = '\0';
    if (tm_fixes_is(tm_tables_find(tables, "whatif.item"), item, "split"))
        tm_uneven_why(tables, out);
    if (item == tm_network_item(tm_tables_find(tables, "whatif.item")))
        tm_network_look(tables, out);
}

void tm_savings_kind(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]) {
    char subject[PHRASE_MAX], saves[192];
    topic t;
    (void)open_topic(tables, &t);
    if (t.operations)
        operations_text(&t, item, subject, sizeof subject);
    else
        subject_text(&t, item, subject, sizeof subject);
    saves_text(&t, item, t.items->n_rows, saves, sizeof saves);
    snprintf(out, TM_SAVINGS_MAX, "%s %s", subject, saves);
}

void tm_savings_head(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]) {
    const tm_table *verdict = tm_tables_find(tables, "stragglers.job");
    tm_savings_kind(tables, item, out);
    if (verdict->n_rows == 0 || !is_text(verdict, 0, "headline", out))
        out[0] = '\0';
}

/* Returns whether a kind of work includes the work that makes the ranks of a finding late. */
static bool holds(const topic *t, size_t kind, size_t finding) {
    bool compute = is_text(t->items, kind, "what", "kernel") ||
                   is_text(t->items, kind, "name", "compute") ||
                   is_text(t->items, kind, "name", "copy");
    bool transfer = is_text(t->items, kind, "name", "transfer");
    return is_text(t->findings, finding, "work", "device") ? compute
           : is_text(t->findings, finding, "work", "host") ? !compute && !transfer
                                                           : true;
}

tm_lead tm_savings_lead(const tm_tables *tables) {
    const double alone_pct = 5.0, times = 3.0;
    tm_lead lead = {0};
    topic t;
    double most = 0.0;
    bool held = false, named = false;
    bool known = open_topic(tables, &t) && !t.alone && !t.operations && any_compared(tables);
    lead.kind = t.items->n_rows;
    if (!known)
        return lead;
    const size_t kinds[] = {best_of(&t, is_nobody), best_of(&t, is_kind)};
    for (size_t f = 0; f < t.findings->n_rows; f++) {
        const tm_cell *saved = tm_table_cell(t.findings, f, "saved_pct");
        if (is_text(t.findings, f, "level", "job") || saved->null)
            continue;
        named = true;
        lead.named_pct += fmax(saved->value.r, 0.0);
        most = fmax(most, saved->value.r);
        held = held || (kinds[1] < t.items->n_rows && holds(&t, kinds[1], f));
    }
    lead.named_pct = fmax(most, fmin(lead.named_pct, tm_fixes_read(tables).stake_pct));
    const double least[] = {named ? lead.named_pct : 0.0,
                            !named ? alone_pct : (held ? times : 1.0) * lead.named_pct};
    for (size_t k = 0; k < 2; k++)
        /* Uneven splits and slow networks (k = 0) do not depend on clocks, so they need not be
         * sure. */
        if (kinds[k] < t.items->n_rows && (k == 0 ? is_known(&t) : is_sure(&t, kinds[k])) &&
            saved_pct(&t, kinds[k]) > least[k] &&
            (lead.kind == t.items->n_rows || saved_pct(&t, kinds[k]) > saved_pct(&t, lead.kind)))
            lead.kind = kinds[k];
    return lead;
}

int64_t tm_savings_first(const tm_tables *tables) {
    topic t;
    if (!open_topic(tables, &t))
        return -1;
    const size_t plan = tm_fixes_plan(t.items), lead = tm_savings_lead(tables).kind,
                 none = t.items->n_rows;
    const bool said =
        lead < none ? !is_nobody(&t, lead) && worth_plan(&t) < none : plan_is_more(&t, plan);
    return said ? strtoll(tm_table_cell(t.items, plan, "name")->value.text, NULL, 10) : -1;
}

size_t tm_savings_plan(const tm_tables *tables) {
    topic t;
    return open_topic(tables, &t) ? worth_plan(&t) : t.items->n_rows;
}

const char *tm_savings_ranks(const tm_tables *tables) {
    const tm_table *items = tm_tables_find(tables, "whatif.item");
    const size_t plan = tm_savings_plan(tables);
    return plan < items->n_rows ? tm_table_cell(items, plan, "name")->value.text : "";
}

/* Returns whether fixing all ranks of a plan clearly saves more than the maximum saving of an
 * item. */
static bool saves_more(const topic *t, size_t plan, size_t item) {
    const double least = fmax(TM_FIX_LEAST_PCT, saved_pct(t, plan) / 10.0);
    const tm_cell *most = tm_table_cell(t->items, item, "saved_most_ns");
    return tm_table_cell(t->items, plan, "ranks")->value.i > 1 &&
           saved_pct(t, plan) - saved_pct(t, item) >= least &&
           (most->null || tm_table_cell(t->items, plan, "saved_ns")->value.i > most->value.i);
}

/* Writes what fixing the named ranks saves.
 * @param item  row of whatif.item on the named ranks
 * @param it    name of these ranks in the sentence */
static void named_text(const topic *t, size_t item, const char *it, char *out, size_t size) {
    char saves[192], because[160], more[224] = "";
    const size_t plan = tm_fixes_plan(t->items);
    const bool nearly = plan < t->items->n_rows && saves_more(t, plan, item);
    because_text(t, item, because, sizeof because);
    saves_text(t, item, nearly ? plan : t->items->n_rows, saves, sizeof saves);
    if (nearly) {
        char all[128];
        amount_text(t, plan, item, all, sizeof all);
        snprintf(more, sizeof more, "; ranks %.60s together %s",
                 tm_table_cell(t->items, plan, "name")->value.text, all);
    }
    snprintf(out, size, "Fixing %s %s%s%s", it, saves, because, more);
}

/* Writes the sentences that follow the sentence on the leading kind of work: on the named ranks,
 * and on the plan. If an uneven split or a slow network leads, there is no sentence on the plan,
 * because no rank is the cause. */
static void after_kind(const topic *t, size_t lead, size_t item, char *out, size_t size) {
    char whose[96], plan[PHRASE_MAX] = "";
    if (!is_nobody(t, lead))
        plan_text(t, plan, sizeof plan);
    if (item == t->items->n_rows) {
        snprintf(out, size, "%s", names_nobody(t) ? plan : "");
        return;
    }
    /* words for the host or rank, not for the kind of work */
    const bool several = tm_table_cell(t->items, item, "ranks")->value.i > 1;
    snprintf(whose, sizeof whose, "%s %.64s",
             is_text(t->items, item, "what", "host") ? "the ranks of"
             : several                               ? "ranks"
                                                     : "rank",
             tm_table_cell(t->items, item, "name")->value.text);
    if (saved_pct(t, item) >= TM_FIX_LEAST_PCT)
        named_text(t, item, whose, out, size);
    else if (is_known(t))
        little_text(t, item, whose, plan, out, size);
}

size_t tm_savings_sentence(const tm_tables *tables, char out[TM_SAVINGS_MAX]) {
    const tm_table *verdict = tm_tables_find(tables, "stragglers.job");
    char more[TM_SAVINGS_MAX] = "";
    topic t;
    const char *it;
    out[0] = '\0';
    if (!open_topic(tables, &t) || verdict->n_rows == 0)
        return t.items->n_rows;
    const size_t item = named_item(&t, &it), lead = tm_savings_lead(tables).kind;
    char whose[48];
    if (item < t.items->n_rows && is_text(t.findings, 0, "shape", "event")) {
        /* The headline for the shape "event" is about operations, so "it" would not mean the
         * rank. */
        snprintf(whose, sizeof whose, "rank %.32s",
                 tm_table_cell(t.items, item, "name")->value.text);
        it = whose;
    }
    if (lead < t.items->n_rows) {
        after_kind(&t, lead, item, more, sizeof more);
        tm_savings_head(tables, lead, out);
        const size_t used = strlen(out);
        snprintf(out + used, TM_SAVINGS_MAX - used, "%s%s", used > 0 && more[0] ? ". " : "", more);
        return item;
    }
    instead_text(&t, !is_text(verdict, 0, "verdict", "none"), more, sizeof more);
    if (item == t.items->n_rows)
        snprintf(out, TM_SAVINGS_MAX, "%s", names_nobody(&t) ? more : "");
    else if (saved_pct(&t, item) >= TM_FIX_LEAST_PCT)
        named_text(&t, item, it, out, TM_SAVINGS_MAX);
    else if (is_known(&t))
        little_text(&t, item, it, more, out, TM_SAVINGS_MAX);
    return item;
}
