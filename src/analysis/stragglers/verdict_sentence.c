#include "verdict_sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/doubt.h"
#include "analysis/shared/late_cause.h"
#include "analysis/shared/savings.h"
#include "bubble_sentence.h"
#include "extra_work.h"
#include "no_devices.h"
#include "no_waits.h"
#include "table/shown.h"

/* Writes a share in percent. Shares below 1 % get one decimal. */
static void share_text(double share, char *out, size_t size) {
    double percent = 100.0 * share;
    if (percent > 0.0 && percent < 0.05)
        snprintf(out, size, "< 0.1 %%");
    else
        snprintf(out, size, "%.*f %%", percent > 0.0 && percent < 0.95 ? 1 : 0, percent);
}

/* Returns a rank's cell in a table that has a row per rank. */
static const tm_cell *cell_of(const tm_table *table, int64_t rank, const char *column) {
    return tm_table_cell(table, tm_table_find_row(table, &rank, 1), column);
}

/* Returns whether the window of a finding is in steps, not in operations. */
static bool is_of_steps(const tm_finding *f) {
    return f->unit == TM_UNIT_STEP || f->unit == TM_UNIT_PART;
}

static tm_late_cause cause_of(const tm_tables *tables, const tm_finding *f) {
    return tm_late_cause_of(tables, &(tm_late_window){f->rank, f->excess_ns,
                                                      f->shape == TM_SHAPE_THROUGHOUT,
                                                      is_of_steps(f), f->from, f->to,
                                                      tm_suspect_word((tm_suspect_work)f->work)});
}

enum { IDLE_MAX = 128, THAN_MAX = 32 };

/* Writes the reference of a speed: "rank 1's" or, for several ranks, "the median". */
static const char *than_text(const tm_late_cause *c, char out[THAN_MAX]) {
    snprintf(out, THAN_MAX, "the median");
    if (c->peer >= 0)
        snprintf(out, THAN_MAX, "rank %" PRId64 "'s", c->peer);
    return out;
}

static void idle_text(const tm_late_cause *c, char out[IDLE_MAX]) {
    tm_shown_text times[2];
    tm_shown_durations((const int64_t[]){c->idle_ns, c->median_idle_ns}, 2, times);
    if (c->peer >= 0)
        snprintf(out, IDLE_MAX, "its GPU idles %s (the GPU of rank %" PRId64 ": %s)", times[0].text,
                 c->peer, times[1].text);
    else
        snprintf(out, IDLE_MAX, "its GPU idles %s against a median of %s", times[0].text,
                 times[1].text);
}

/* Appends the host's call: " (in the GPU's longest gaps, 9 ms, the host was in f for 8 ms)". */
static void call_text(const tm_late_cause *c, char *out, size_t size) {
    tm_shown_text times[2];
    size_t used = strlen(out);
    if (!c->call)
        return;
    tm_shown_durations((const int64_t[]){c->gaps_ns, c->call_ns}, 2, times);
    snprintf(out + used, size - used,
             " (in the GPU's longest gaps, %s, the host was in %.48s%s for %s)", times[0].text,
             c->call, strlen(c->call) > 48 ? "..." : "", times[1].text);
}

static void host_text(const tm_tables *tables, const tm_finding *f, const tm_late_cause *c,
                      const char *when, char *out, size_t size) {
    char idle[IDLE_MAX], than[THAN_MAX];
    idle_text(c, idle);
    const bool throughout = f->shape == TM_SHAPE_THROUGHOUT;
    const bool normal = c->speed >= TM_LATE_NORMAL_SPEED;
    const bool input = tm_late_for_input(tables, c, f->rank, throughout ? INT64_MIN : f->from,
                                         throughout ? INT64_MAX : f->to);
    const char *look = input    ? "it waits for its batches, so look at its data loading"
                       : normal ? "look at its host, not at its GPU"
                                : "look at its host first";
    if (normal)
        snprintf(out, size, "%sits kernels run at normal speed (%.2fx), but %s: %s", when, c->speed,
                 idle, look);
    else
        snprintf(out, size, "%s%s, far more than its slower kernels (%.2fx %s speed) explain: %s",
                 when, idle, c->speed, than_text(c, than), look);
    if (!input)
        call_text(c, out, size);
}

static void cause_text(const tm_tables *tables, const tm_finding *f, char *out, size_t size) {
    bool throughout = f->shape == TM_SHAPE_THROUGHOUT, steps = is_of_steps(f);
    tm_late_cause c = cause_of(tables, f);
    const char *when = throughout ? "" : steps ? "there " : "over the whole recording ";
    bool known = c.idle_ns > 0 || c.median_idle_ns > 0;
    char idle[IDLE_MAX], than[THAN_MAX];
    idle_text(&c, idle);
    than_text(&c, than);
    if (c.kind == TM_LATE_GPU)
        snprintf(out, size,
                 "%s%s at %.2fx %s speed: look at its GPU (clock, heat, other processes)%s", when,
                 c.same_kernels ? "nearly all its kernels run" : "it computes", c.speed, than,
                 c.same_kernels ? "" : " or its share of the work");
    else if (c.kind == TM_LATE_WORK)
        snprintf(out, size,
                 "%sit computes at %.2fx %s speed because it runs other or more kernels "
                 "(the same kernels take no longer): look at its share of the work (tokens, "
                 "lengths, experts)",
                 when, c.speed, than);
    else if (c.kind == TM_LATE_QUEUE)
        snprintf(out, size,
                 "%s%s; for most of the difference, kernels that were launched in time wait in its "
                 "queue: look at what else uses that GPU (nvidia-smi or rocm-smi lists processes)",
                 when, idle);
    else if (c.kind == TM_LATE_EXTRA)
        tm_extras_text(&c, when, out, size);
    else if (c.kind == TM_LATE_HOST)
        host_text(tables, f, &c, when, out, size);
    else if (c.speed >= 0.0)
        snprintf(out, size, "%sits speed is %.2fx %s, %s: the traces do not show why it is late",
                 when, c.speed, than, idle);
    else
        snprintf(out, size, "%s%s", known ? when : "", known ? idle : "");
}

/* limits that keep sentences readable */
enum { WHO_MAX = 200, RANGES_MAX = 6, NAMED_MAX = 4 };

/* Appends a text, truncated if there is too little room. */
static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* Appends the ranks whose flags are set: " 8-15", " 1, 4-6". */
static void append_ranks(const tm_blames *t, const bool *among, char who[WHO_MAX]) {
    int n_ranges = 0;
    for (size_t i = 0, end; i < t->n_ranks; i = end) {
        char range[64];
        int64_t first = t->ranks[i].rank, last = first;
        for (end = i + 1;
             end < t->n_ranks && among[i] && among[end] && t->ranks[end].rank == last + 1; end++)
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

/* Returns whether the job has several hosts, so that texts name them. */
static bool several_hosts(const tm_blames *t) {
    for (size_t i = 1; i < t->n_places && t->places[i].level == TM_CULPRIT_HOST; i++)
        if (!tm_places_share(&t->places[i - 1], &t->places[i]))
            return true;
    return false;
}

/* Writes "rank 5 (host1)", "ranks 8-15 (host1, by device numbers)", "... (one process group)". */
static void who_text(const tm_tables *tables, const tm_blames *t, const tm_finding *f,
                     char out[WHO_MAX]) {
    const tm_table *ranks = tm_tables_find(tables, "job.rank");
    const tm_cell *host = cell_of(ranks, f->rank, "host");
    const char *where = host->null || !several_hosts(t) ? NULL : host->value.text;
    const bool inferred = where && cell_of(ranks, f->rank, "host_inferred")->value.i;
    bool *members = calloc(t->n_ranks + 1, sizeof *members);
    snprintf(out, WHO_MAX, "ranks");
    if (f->level == TM_CULPRIT_RANK) {
        snprintf(out, WHO_MAX, "rank %" PRId64, f->rank);
    } else if (members) {
        tm_finding_members(t, f, members);
        append_ranks(t, members, out);
    }
    if (f->level == TM_CULPRIT_GROUP)
        where = "one process group";
    const size_t used = strlen(out);
    if (where && strlen(where) < WHO_MAX / 2) /* omits long host names */
        snprintf(out + used, WHO_MAX - used, " (%s%s)", where,
                 f->level == TM_CULPRIT_HOST && inferred ? ", by device numbers" : "");
    free(members);
}

/* Returns whether a finding is on few steps or on stretches. Then a slow GPU looks the same as a
 * larger share of the work. */
static bool is_of_few_steps(const tm_finding *f) {
    enum { STEPS_FEW = 6 };
    return f->unit != TM_UNIT_STEP || f->units < STEPS_FEW;
}

/* Writes " in steps 20 to 30", " in operations 130 to 663 of its group", or "". */
static void when_text(const tm_finding *f, char *out, size_t size) {
    const char *unit = is_of_steps(f) ? "step" : "operation";
    out[0] = '\0';
    if (f->shape == TM_SHAPE_THROUGHOUT)
        return;
    if (f->from == f->to)
        snprintf(out, size, " in %s %" PRId64, unit, f->from);
    else
        snprintf(out, size, " in %ss %" PRId64 " to %" PRId64, unit, f->from, f->to);
    if (!is_of_steps(f))
        append(out, size, " of its group");
}

/* Returns whether steps are marked. If not, the whole recording counts as a step, but texts do not
 * call it a step. */
static bool marks_steps(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "job.job");
    return job->n_rows == 0 || tm_table_cell(job, 0, "steps")->value.i > 0;
}

/* Writes " in these 4 steps", " in 3 of these 4 steps", " in this one step", or " in this
 * recording". Counts all recorded steps, like the first line of the summary, although a test may
 * leave out the first step. If another rank has the largest cost in some steps, these steps do not
 * count. */
static void these_text(const tm_tables *tables, const tm_blames *t, const tm_finding *f, char *out,
                       size_t size) {
    size_t led = 0;
    for (size_t i = 0; i < t->n_leaders && f->level == TM_CULPRIT_RANK; i++)
        led += t->leaders[i].rank == f->rank;
    if (led > 0 && led < t->n_leaders)
        snprintf(out, size, " in %zu of these %zu steps", led, t->n_leaders);
    else if (t->n_leaders > 1)
        snprintf(out, size, " in these %zu steps", t->n_leaders);
    else
        snprintf(out, size, " in this %s",
                 t->n_leaders == 1 && marks_steps(tables) ? "one step" : "recording");
}

/* Writes all named ranks, such as "rank 5 (host1)" or "rank 1 and ranks 8-15 (host1)". */
static void names_text(const tm_tables *tables, const tm_verdict_topic *e,
                       char out[TM_SENTENCE_MAX]) {
    const tm_vec *all = &e->judgement->found.all;
    const tm_finding *v = all->data;
    out[0] = '\0';
    for (size_t i = 0; i < all->n; i++) {
        char who[WHO_MAX];
        bool rest = i + 1 == NAMED_MAX && all->n > NAMED_MAX;
        snprintf(who, sizeof who, "%zu more", all->n - i);
        if (!rest)
            who_text(tables, e->blames, &v[i], who);
        append(out, TM_SENTENCE_MAX, i == 0 ? "" : rest || i + 1 == all->n ? " and " : ", ");
        append(out, TM_SENTENCE_MAX, who);
        if (rest)
            break;
    }
}

static void event_headline(const tm_blames *t, const tm_finding *f, char out[TM_SENTENCE_MAX]) {
    char share[32], last[64] = "", when[80] = "";
    share_text(f->caused_share, share, sizeof share);
    if (f->rank >= 0)
        snprintf(last, sizeof last, "; rank %" PRId64 " came last in %s", f->rank,
                 f->units == 1 ? "it" : "each");
    /* If there is only one leader, no steps are marked. */
    bool steps = t->n_leaders > 1 && f->from >= 0;
    if (steps && f->from == f->to)
        snprintf(when, sizeof when, " in step %" PRId64, f->from);
    else if (steps)
        snprintf(when, sizeof when, " in steps %" PRId64 " to %" PRId64, f->from, f->to);
    if (f->units == 1)
        snprintf(out, TM_SENTENCE_MAX, "one operation%s holds %s of the waiting%s", when, share,
                 last);
    else
        snprintf(out, TM_SENTENCE_MAX, "%" PRId64 " operations%s hold %s of the waiting%s",
                 f->units, when, share, last);
}

/* Writes "the pipeline's bubble: GPUs wait 31 % of the time (its schedule explains 27 %)". */
static void bubble_headline(const tm_findings *found, char out[TM_SENTENCE_MAX]) {
    char share[32], ideal[32];
    share_text(found->bubble, share, sizeof share);
    share_text(found->ideal, ideal, sizeof ideal);
    snprintf(out, TM_SENTENCE_MAX,
             "the pipeline's bubble: GPUs wait %s of the time (its schedule explains %s)", share,
             ideal);
}

static void named_headline(const tm_tables *tables, const tm_verdict_topic *e,
                           char out[TM_SENTENCE_MAX]) {
    const tm_vec *all = &e->judgement->found.all;
    const tm_finding *f = all->data;
    char who[TM_SENTENCE_MAX], when[96] = "", few[64] = "";
    bool one = all->n == 1 && f->level == TM_CULPRIT_RANK;
    names_text(tables, e, who);
    if (all->n == 1)
        when_text(f, when, sizeof when);
    else if (f->shape == TM_SHAPE_ALTERNATION)
        snprintf(when, sizeof when, " in turn");
    /* If there are few steps, the headline has their number: their data may be the reason. */
    if (all->n == 1 && f->shape == TM_SHAPE_THROUGHOUT && is_of_few_steps(f))
        these_text(tables, e->blames, f, when, sizeof when);
    if (e->judgement->found.few > 0)
        snprintf(few, sizeof few, ", mostly in %" PRId64 " operation%s", e->judgement->found.few,
                 e->judgement->found.few == 1 ? "" : "s");
    snprintf(out, TM_SENTENCE_MAX, "%s%.1000s make%s the other rank%s wait%s%s",
             f->certainty == TM_CERTAINTY_LIKELY ? "likely, " : "", who, one ? "s" : "",
             e->blames->n_ranks == 2 ? "" : "s", when, few);
}

static void waited_text(const tm_blames *t, const tm_judgement *j, char *out, size_t size) {
    share_text(j->window_ns > 0 ? (double)t->wait_ns / (double)j->window_ns : 0.0, out, size);
}

/* Returns whether much exposed communication may contain waits that are not known. */
static bool has_unknown(const tm_judgement *j) {
    return j->unknown_ns > 0 && !tm_waits_little(j->unknown_ns, j->window_ns);
}

/* Writes the headline if no rank is named. It says how long ranks wait. */
static void inconclusive_headline(const tm_verdict_topic *e, char out[TM_SENTENCE_MAX]) {
    char share[32];
    waited_text(e->blames, e->judgement, share, sizeof share);
    snprintf(out, TM_SENTENCE_MAX, "%s; ranks wait %s%s of the time",
             e->judgement->found.tested
                 ? "the traces do not prove who is late"
                 : "it may be chance who is late: too little is recorded to know",
             has_unknown(e->judgement) || e->judgement->open_share > 0.0 ? "at least " : "", share);
}

enum { MOSTLY_MAX = 256 };

/* Writes ", 50 % of it for rank 1 and 39 % for rank 0". Names ranks that caused at least a third of
 * all waiting, 1.5 times their equal share, and 3 % of all ranks' time. Writes nothing if there are
 * none. */
static void concentrated_text(const tm_blames *t, const tm_judgement *j, char *out, size_t size) {
    const double wait_ns = fmax(1.0, (double)t->wait_ns);
    const double least = fmax(1.5 / (double)t->n_ranks, 0.03 * (double)j->window_ns / wait_ns);
    bool first = true;
    out[0] = '\0';
    for (size_t i = 0; i < t->n_ranks; i++) {
        const double caused = (double)tm_share_round(tm_blame_cost(&t->ranks[i])) / wait_ns;
        char share[32], text[96];
        if (caused < fmax(1.0 / 3.0, least))
            continue;
        share_text(caused, share, sizeof share);
        snprintf(text, sizeof text, "%s%s%s for rank %" PRId64, first ? ", " : " and ", share,
                 first ? " of it" : "", t->ranks[i].rank);
        append(out, size, text);
        first = false;
    }
}

void tm_verdict_headline(const tm_tables *tables, const tm_verdict_topic *e,
                         char out[TM_SENTENCE_MAX]) {
    const tm_judgement *j = e->judgement;
    char text[TM_SENTENCE_MAX], share[32], before[96] = "", mostly[MOSTLY_MAX];
    if (tm_no_devices_text(tables, out, NULL))
        return;
    if (e->blames->n_parts == 0) {
        snprintf(out, TM_SENTENCE_MAX, "No verdict: the traces do not show who waits for whom");
        return;
    }
    if (j->withheld) {
        snprintf(out, TM_SENTENCE_MAX, "No verdict: too much of the recording is in doubt");
        return;
    }
    concentrated_text(e->blames, j, mostly, sizeof mostly);
    if (j->kind == TM_VERDICT_NONE)
        snprintf(text, sizeof text, "%s",
                 e->sized && mostly[0] != '\0' ? "no rank's recorded work holds the job up"
                 : e->sized                    ? "no rank holds the job up"
                            : "no recorded rank holds the others up; the traces do not say whether "
                              "the job has more ranks");
    else if (j->kind == TM_VERDICT_INCONCLUSIVE && j->matched_share < TM_MATCHED_CLEARED)
        snprintf(text, sizeof text, "too little to name a rank or to clear it");
    else if (j->kind == TM_VERDICT_INCONCLUSIVE)
        inconclusive_headline(e, text);
    else if (j->kind == TM_VERDICT_BUBBLE)
        bubble_headline(&j->found, text);
    else if (j->kind == TM_VERDICT_EVENT)
        event_headline(e->blames, j->found.all.data, text);
    else
        named_headline(tables, e, text);
    share_text(j->matched_share, share, sizeof share);
    if (j->matched_share < TM_MATCHED_CLEARED)
        snprintf(before, sizeof before, "only %s of the communication could be compared: ", share);
    snprintf(out, TM_SENTENCE_MAX, "%s%.1400s", before, text);
    out[0] = (char)(out[0] >= 'a' && out[0] <= 'z' ? out[0] - 'a' + 'A' : out[0]);
}

/* Returns why the ranks of a host are late, if all are late for the same reason. */
static tm_late_kind cause_of_host(const tm_tables *tables, const tm_blames *t,
                                  const tm_finding *f) {
    bool *members = calloc(t->n_ranks + 1, sizeof *members);
    tm_late_kind kind = TM_LATE_UNKNOWN;
    if (members)
        tm_finding_members(t, f, members);
    for (size_t i = 0, n = 0; i < t->n_ranks && members; i++) {
        if (!members[i])
            continue;
        tm_finding one = *f;
        one.rank = t->ranks[i].rank;
        const tm_late_cause c = cause_of(tables, &one);
        kind = n++ == 0 || c.kind == kind ? c.kind : TM_LATE_UNKNOWN;
    }
    free(members);
    return kind;
}

static const char *look_at_host(tm_late_kind kind) {
    return kind == TM_LATE_GPU ? "all of these ranks compute longer than the others: look at what "
                                 "their GPUs share (power, cooling) or at their share of the work"
           : kind == TM_LATE_WORK ? "all of these ranks have more work than the others, and the "
                                    "same kernels take no longer: look at their share of the work"
           : kind == TM_LATE_EXTRA
               ? "all of these ranks run work that the other ranks do not run (tmerge show "
                 "stragglers.extra): look at what only this host does"
           : kind == TM_LATE_HOST
               ? "the GPUs of all these ranks idle while their kernels run at normal speed: look "
                 "at their host (load, memory, other programs)"
               : "look at what these ranks share: their host and its network";
}

/* Writes where to look: at what several ranks share, or at why a single rank is late. */
static void look_text(const tm_tables *tables, const tm_blames *t, const tm_finding *f, char *out,
                      size_t size) {
    if (f->level == TM_CULPRIT_HOST)
        snprintf(out, size, "%s", look_at_host(cause_of_host(tables, t, f)));
    else if (f->of_stage)
        snprintf(out, size,
                 "stages need not be equal: look at how the layers are divided among the stages, "
                 "then at %s",
                 f->level == TM_CULPRIT_GROUP ? "these GPUs" : "this GPU");
    else if (f->level == TM_CULPRIT_GROUP)
        snprintf(out, size,
                 "look at what these ranks share: their part of the model or of the "
                 "work, and the links between them");
    else
        cause_text(tables, f, out, size);
}

static const char *others_text(const tm_blames *t, const tm_finding *f) {
    if (t->n_ranks == 2)
        return "the other rank";
    return f->of_stage ? "the median of the other stages" : "the median of the others";
}

/* Returns whether a rank is late mainly because its GPU idles longer while work is queued, not
 * because of its own work. */
static bool is_held(const tm_finding *f, const tm_late_cause *c) {
    return c->kind == TM_LATE_QUEUE && f->work != TM_SUSPECT_HOST &&
           c->idle_ns - c->median_idle_ns > 2 * f->excess_ns;
}

/* Writes by how much a finding's ranks take longer than the others: "by itself it takes 8.10 ms
 * (4.1 % of the time of all steps) longer than the median of the others, 810 us in each of 10 steps
 * (p 0.0005)". */
static void excess_text(const tm_blames *t, const tm_finding *f, const tm_late_cause *c, char *out,
                        size_t size) {
    char each[96] = "", when[96], share[64] = "";
    tm_shown_text times[2]; /* times[0] is the total, and times[1] is the time per unit */
    bool some = f->shape == TM_SHAPE_THROUGHOUT && f->units < (int64_t)t->n_leaders;
    tm_shown_durations((const int64_t[]){f->excess_ns, f->units > 0 ? f->excess_ns / f->units : 0},
                       2, times);
    when_text(f, when, sizeof when);
    if (f->unit == TM_UNIT_STEP && f->units > 1)
        snprintf(each, sizeof each, ", %s in each of %s%" PRId64 " steps%s", times[1].text,
                 some ? "the " : "", f->units, some ? " compared" : "");
    const bool one = f->level == TM_CULPRIT_RANK;
    /* A host also works while its device does, so host work gets no share of the steps. Neither
     * does work that is mostly outside of them. */
    const bool beside = f->work == TM_SUSPECT_HOST;
    if (!beside && f->excess_pct <= 100.0)
        snprintf(share, sizeof share, " (%.1f %% of %s)", f->excess_pct,
                 t->n_leaders > 1 ? "the time of all steps" : "the time");
    /* Device work hides most of the host's excess if the device idles for less than half of it. */
    const bool hidden = beside && c->idle_ns > 0 && 2 * c->idle_ns < f->excess_ns;
    snprintf(out, size, "%s%sby %s%s %s%s longer than %s%s (p %.2g)%s", when[0] ? when + 1 : "",
             when[0] ? " " : "",
             one      ? beside ? "itself its host takes" : "itself it takes"
             : beside ? "themselves their hosts each take"
                      : "themselves they each take",
             is_held(f, c) ? " only" : "", times[0].text, share, others_text(t, f), each, f->p,
             hidden ? ", most of it while its GPU is busy" : "");
}

/* Returns the sums over all steps and all ranks of a finding. */
static tm_blame blame_of(const tm_blames *t, const tm_finding *f) {
    tm_blame sum = {.rank = f->rank};
    bool *members = calloc(t->n_ranks + 1, sizeof *members);
    if (members)
        tm_finding_members(t, f, members);
    for (size_t i = 0; i < t->n_ranks && members; i++)
        if (members[i])
            tm_blame_add(&sum, &t->ranks[i]);
    free(members);
    return sum;
}

/* Writes "caused 78 % of all waiting (205 ms of 263 ms of GPU time, 30 ms of it through ...)". */
static void cost_text(const tm_blames *t, const tm_blame *blame, bool one, char *out, size_t size) {
    const int64_t little = 20; /* parts below 1 / 20 are not mentioned, as in the report */
    int64_t cost_ns = tm_share_round(tm_blame_cost(blame));
    char share[32], through[96] = "";
    tm_shown_text times[3]; /* the cost, all waiting, and waits caused through other ranks */
    share_text(t->wait_ns > 0 ? (double)cost_ns / (double)t->wait_ns : 0.0, share, sizeof share);
    const bool passed = blame->indirect_ns > cost_ns / little;
    tm_shown_durations((const int64_t[]){cost_ns, t->wait_ns, blame->indirect_ns}, passed ? 3 : 2,
                       times);
    if (passed)
        snprintf(through, sizeof through, ", %s of it through other ranks that waited for %s",
                 times[2].text, one ? "it" : "them");
    snprintf(out, size, "caused %s of all waiting (%s of %s of GPU time%s)", share, times[0].text,
             times[1].text, through);
}

/* Writes "; it came last in 9 of 10 collectives (2.5 expected by chance)"; "" if it never came
 * last. If at least half of the collectives do not show which rank came last, only the others
 * count. */
static void last_text(const tm_blame *blame, char *out, size_t size) {
    char expected[32], apart[64] = "";
    const bool tied = blame->untied > 0 && 2 * blame->untied <= blame->collectives;
    const int64_t n = tied ? blame->untied : blame->collectives;
    snprintf(expected, sizeof expected, "%.*f", blame->expected < 9.5 ? 1 : 0, blame->expected);
    if (tied)
        snprintf(apart, sizeof apart, "; %" PRId64 " more collectives are too close to tell",
                 blame->collectives - n);
    out[0] = '\0';
    if (blame->last > 0)
        snprintf(out, size,
                 "; it came last in %" PRId64 " of %" PRId64
                 " collectives (%s expected by chance%s)",
                 blame->last, n, blame->expected < 0.05 ? "< 0.1" : expected, apart);
}

/* Writes the evidence for a finding. Only the first finding gets the number of last arrivals,
 * because ranks that are less late than another rank seldom come last. */
static void finding_text(const tm_tables *tables, const tm_blames *t, const tm_finding *f,
                         bool first, char out[TM_SENTENCE_MAX]) {
    char who[WHO_MAX], excess[512], cost[256], last[160], look[448] = "";
    bool reported = first && f->level == TM_CULPRIT_RANK;
    tm_blame blame = blame_of(t, f);
    const tm_late_cause c = f->level == TM_CULPRIT_RANK ? cause_of(tables, f) : (tm_late_cause){0};
    who_text(tables, t, f, who);
    who[0] = 'R';
    excess_text(t, f, &c, excess, sizeof excess);
    cost_text(t, &blame, f->level == TM_CULPRIT_RANK, cost, sizeof cost);
    last_text(&blame, last, sizeof last);
    look_text(tables, t, f, look, sizeof look);
    snprintf(out, TM_SENTENCE_MAX, "%s %s%s; %s%s%s", who, cost, reported ? last : "", excess,
             is_held(f, &c) ? ", but "
             : look[0]      ? "; "
                            : "",
             look);
}

static void named_evidence(const tm_tables *tables, const tm_verdict_topic *e,
                           char out[TM_SENTENCE_MAX]) {
    enum { REPORTED_MAX = 3 }; /* maximum in the text; stragglers.finding has all */
    const tm_vec *all = &e->judgement->found.all;
    const tm_finding *v = all->data;
    out[0] = '\0';
    for (size_t i = 0; i < all->n && i < REPORTED_MAX; i++) {
        char text[TM_SENTENCE_MAX];
        finding_text(tables, e->blames, &v[i], i == 0, text);
        append(out, TM_SENTENCE_MAX, i > 0 ? ". " : "");
        append(out, TM_SENTENCE_MAX, text);
    }
    if (all->n > REPORTED_MAX)
        append(out, TM_SENTENCE_MAX, ". tmerge show stragglers lists the others");
    const tm_late_cause cause =
        v->level == TM_CULPRIT_RANK ? cause_of(tables, v) : (tm_late_cause){0};
    const tm_late_kind kind =
        v->level == TM_CULPRIT_HOST ? cause_of_host(tables, e->blames, v) : cause.kind;
    /* Data is not the reason if the rank idles longer, or if its kernels are slower than the same
     * kernels on other ranks. */
    if (is_of_few_steps(v) && kind == TM_LATE_HOST)
        append(out, TM_SENTENCE_MAX,
               v->level == TM_CULPRIT_HOST
                   ? ". A passing disturbance of that host would look the same"
                   : ". A passing disturbance of its host would look the same");
    else if (is_of_few_steps(v) && kind != TM_LATE_WORK && kind != TM_LATE_QUEUE &&
             kind != TM_LATE_EXTRA && !cause.same_kernels)
        append(out, TM_SENTENCE_MAX,
               ". A larger share of the data in this recording would look the same");
}

/* Returns the index of the rank with the largest cost; n_ranks if no rank has a cost. */
static size_t costliest(const tm_blames *t) {
    size_t most = t->n_ranks;
    int64_t cost = 0;
    for (size_t i = 0; i < t->n_ranks; i++)
        if (tm_share_round(tm_blame_cost(&t->ranks[i])) > cost) {
            cost = tm_share_round(tm_blame_cost(&t->ranks[i]));
            most = i;
        }
    return most;
}

/* Returns the index of the rank with the largest cost, or of the first listed rank if no rank is
 * named and the sentence on savings lists ranks. */
static size_t first_of(const tm_tables *tables, const tm_verdict_topic *e, size_t costly) {
    const int64_t planned = tm_savings_first(tables);
    const size_t at = tm_blames_index(e->blames, planned);
    const bool waited = costly < e->blames->n_ranks && at < e->blames->n_ranks;
    return waited && e->blames->ranks[at].rank == planned ? at : costly;
}

/* Writes the conclusion if no rank is named. */
static void unnamed_text(const tm_tables *tables, const tm_judgement *j, char *out, size_t size) {
    const tm_finding *event = j->found.all.data;
    char cost[32];
    if (j->kind == TM_VERDICT_EVENT) {
        tm_shown_duration(event->caused_ns, cost, sizeof cost);
        snprintf(
            out, size,
            "%s of the waiting is in %" PRId64
            " operation%s (tmerge show collectives): something happened there%s",
            cost, event->units, event->units == 1 ? "" : "s",
            j->found.tested
                ? "; over the whole recording, no rank by itself takes longer than chance explains"
                : "");
    } else if (!j->found.tested) {
        snprintf(out, size, "record %s chance from cause",
                 marks_steps(tables) ? "more steps to tell" : "for longer to tell");
    } else if (j->found.least_p <= TM_CHANCE_MOST) {
        snprintf(out, size,
                 "but a rank that by itself takes longer than chance explains (p %.2g) %s",
                 j->found.least_p,
                 j->found.spared     ? "would save under 1 % of a step if fixed"
                 : j->found.unsteady ? "does so in some steps and not in others, as with unequal "
                                       "shares of data: more steps may show the cause"
                 : j->found.replayed ? "does so by too little to be named"
                                     : "does so by under 1 % of the steps");
    } else {
        /* above this p, which is far above TM_CHANCE_MOST, more data would not help */
        const double hint = 0.1;
        snprintf(out, size,
                 "but no rank by itself takes longer than chance explains (smallest p %.2g): %s",
                 j->found.least_p,
                 j->found.open && j->found.least_p >= hint
                     ? "work that was not recorded may be the reason"
                 : j->found.least_p >= hint
                     ? "different ranks are late at different times, or too little is recorded"
                 : marks_steps(tables) ? "more steps may show the cause"
                                       : "a longer recording may show the cause");
    }
}

/* Writes that known waits are little, and how much time may contain other waits. */
static void little_text(const tm_judgement *j, const char *share, const char *time,
                        char out[TM_SENTENCE_MAX]) {
    char unknown[32];
    share_text((double)j->unknown_ns / (double)j->window_ns, unknown, sizeof unknown);
    if (!has_unknown(j))
        snprintf(out, TM_SENTENCE_MAX, "Ranks wait only %s of the time (%s of GPU time)", share,
                 time);
    else
        snprintf(out, TM_SENTENCE_MAX,
                 "Ranks certainly wait %s of the time (%s of GPU time). Another %s is exposed "
                 "communication of which it is unknown how much is waiting",
                 share, time, unknown);
}

static void none_text(const tm_tables *tables, const tm_blames *t, const tm_judgement *j,
                      char out[TM_SENTENCE_MAX]) {
    char share[32], time[32], mostly[MOSTLY_MAX];
    waited_text(t, j, share, sizeof share);
    tm_shown_duration(t->wait_ns, time, sizeof time);
    if (j->matched_share < TM_MATCHED_CLEARED) {
        char rest[32];
        share_text(1.0 - j->matched_share, rest, sizeof rest);
        snprintf(out, TM_SENTENCE_MAX,
                 "In the part that could be compared, ranks wait %s of the time (%s of GPU "
                 "time). %s of the communication is not matched between ranks, so it is unknown "
                 "who waits there",
                 share, time, rest);
    } else if (tm_waits_little(t->wait_ns, j->window_ns))
        little_text(j, share, time, out);
    else if (j->found.spared) {
        char who[WHO_MAX], excess[448];
        who_text(tables, t, &j->found.spared_of, who);
        excess_text(t, &j->found.spared_of, &(tm_late_cause){0}, excess, sizeof excess);
        snprintf(out, TM_SENTENCE_MAX,
                 "Ranks wait %s of the time (%s of GPU time). R%s stands out: %s. But fixing %s "
                 "saves under 1 %% of a step",
                 share, time, who + 1, excess,
                 j->found.spared_of.level == TM_CULPRIT_RANK ? "it" : "them");
    } else {
        concentrated_text(t, j, mostly, sizeof mostly);
        /* With a replay, another sentence says that fixing a single rank saves nothing. */
        const bool mostly_for = mostly[0] != '\0';
        const bool even = !j->found.replayed || (mostly_for && j->found.most_pct < 1.0);
        snprintf(out, TM_SENTENCE_MAX, "Ranks wait %s of the time (%s of GPU time)%s%s%s", share,
                 time, mostly,
                 even ? ", but no rank by itself takes 1 % longer than the others" : "",
                 even && !mostly_for ? ": different ranks are late at different times" : "");
    }
}

/* Returns whether ranks hardly wait, so that the only reason not to clear them is that too little
 * could be compared. */
static bool is_quiet(const tm_verdict_topic *e) {
    const tm_judgement *j = e->judgement;
    return j->kind == TM_VERDICT_INCONCLUSIVE && j->matched_share >= TM_MATCHED_LEAST &&
           j->matched_share < TM_MATCHED_CLEARED &&
           tm_waits_little(e->blames->wait_ns, j->window_ns);
}

void tm_verdict_evidence(const tm_tables *tables, const tm_verdict_topic *e,
                         char out[TM_SENTENCE_MAX]) {
    const tm_table *ranks = tm_tables_find(tables, "stragglers.rank");
    const tm_judgement *j = e->judgement;
    const tm_finding *first = j->found.all.data;
    int64_t collectives = 0;
    for (size_t i = 0; i < ranks->n_rows; i++)
        collectives += tm_table_cell(ranks, i, "collectives")->value.i;
    if (collectives == 0) {
        tm_no_waits_text(tables, e, out);
        return;
    }
    if (j->withheld) {
        char missing[TM_DOUBT_TEXT];
        if (tm_doubt_text(tables, missing))
            snprintf(out, TM_SENTENCE_MAX, "In doubt: %s", missing);
        return;
    }
    if (j->kind == TM_VERDICT_NONE || is_quiet(e)) {
        none_text(tables, e->blames, j, out);
        return;
    }
    if (j->kind == TM_VERDICT_BUBBLE) {
        tm_bubble_evidence(tables, e, out);
        return;
    }
    if (j->found.all.n > 0 && tm_finding_names(first)) {
        named_evidence(tables, e, out);
        return;
    }
    bool last = j->kind == TM_VERDICT_EVENT && first->rank >= 0;
    const size_t costly = costliest(e->blames);
    const size_t most =
        last ? tm_blames_index(e->blames, first->rank) : first_of(tables, e, costly);
    if (most == e->blames->n_ranks) {
        snprintf(out, TM_SENTENCE_MAX, "No rank waited for another");
        return;
    }
    char cost[256], came[160], conclusion[256];
    const tm_blame *blame = &e->blames->ranks[most];
    cost_text(e->blames, blame, true, cost, sizeof cost);
    last_text(blame, came, sizeof came);
    unnamed_text(tables, j, conclusion, sizeof conclusion);
    snprintf(out, TM_SENTENCE_MAX, "Rank %" PRId64 "%s %s%s; %s", blame->rank,
             last || most != costly ? "" : " costs most: it", cost, came, conclusion);
}
