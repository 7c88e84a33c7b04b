#include "findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"

/* Minimum excess of a finding [% of the steps]. */
static const double EXCESS_LEAST_PCT = 1.0;
/* Minimum excess of a finding from comparing stages [% of the steps]. Small differences between
 * stages are normal. */
static const double STAGE_LEAST_PCT = 5.0;

const char *tm_shape_word(tm_shape shape) {
    static const char *const words[] = {
        [TM_SHAPE_THROUGHOUT] = "throughout",   [TM_SHAPE_EPISODE] = "episode",
        [TM_SHAPE_ALTERNATION] = "alternation", [TM_SHAPE_EVENT] = "event",
        [TM_SHAPE_BUBBLE] = "bubble",
    };
    return words[shape];
}

const char *tm_certainty_word(tm_certainty certainty) {
    return certainty == TM_CERTAINTY_CONFIDENT ? "confident" : "likely";
}

/* Returns the index of the first place of a rank's host; n_places if unknown. */
static size_t host_place(const tm_blames *t, int64_t rank) {
    size_t index = tm_blames_index(t, rank), at = t->n_places;
    for (size_t i = 0; i < t->n_places && at == t->n_places; i++)
        if (t->places[i].level == TM_CULPRIT_HOST && t->places[i].rank == index)
            at = i;
    while (at > 0 && at < t->n_places && tm_places_share(&t->places[at - 1], &t->places[at]))
        at--;
    return at;
}

/* Returns the end of the places with the same host or group as place @p first. */
static size_t place_end(const tm_blames *t, size_t first) {
    size_t end = first + 1;
    while (end < t->n_places && tm_places_share(&t->places[first], &t->places[end]))
        end++;
    return end;
}

void tm_finding_members(const tm_blames *t, const tm_finding *f, bool *members) {
    for (size_t i = 0; i < t->n_ranks; i++)
        members[i] = members[i] || (f->level == TM_CULPRIT_RANK && t->ranks[i].rank == f->rank);
    if (f->level == TM_CULPRIT_RANK)
        return;
    for (size_t i = f->place; i < place_end(t, f->place); i++)
        members[t->places[i].rank] = true;
}

static double percent(const tm_findings_input *in, int64_t ns) {
    return in->steps_ns > 0 ? 100.0 * (double)ns / (double)in->steps_ns : 0.0;
}

static tm_finding finding_of(const tm_findings_input *in, const tm_suspect *s) {
    tm_finding f = {.level = s->host ? TM_CULPRIT_HOST : TM_CULPRIT_RANK,
                    .shape = s->throughout ? TM_SHAPE_THROUGHOUT : TM_SHAPE_EPISODE,
                    .rank = s->member,
                    .n_members = 1,
                    .from = s->from,
                    .to = s->to,
                    .units = s->units,
                    .unit = s->unit,
                    .p = s->p,
                    .excess_ns = s->excess_ns,
                    .of_stage = s->of_stage,
                    .work = s->work,
                    .saved_pct = (double)NAN};
    if (s->host) {
        f.place = host_place(in->blames, s->member);
        f.n_members = f.place < in->blames->n_places ? place_end(in->blames, f.place) - f.place : 1;
    }
    return f;
}

static bool same_culprit(const tm_finding *a, const tm_finding *b) {
    return a->level == b->level &&
           (a->level == TM_CULPRIT_RANK ? a->rank == b->rank : a->place == b->place);
}

/* Makes findings from suspects. If several findings are on the same rank or host, keeps the one
 * with the largest excess, and gives it the smallest p. */
static tm_status gather(const tm_findings_input *in, tm_vec *all, tm_error *err) {
    for (size_t i = 0; i < in->n_suspects; i++) {
        if (in->suspects[i].unsteady)
            continue;
        tm_finding f = finding_of(in, &in->suspects[i]), *known = NULL;
        if (f.level == TM_CULPRIT_HOST && f.place == in->blames->n_places)
            continue;
        /* This check must come before findings on the same rank are merged. */
        if (f.of_stage && percent(in, f.excess_ns) < STAGE_LEAST_PCT)
            continue;
        /* Unexplained starts count only if they are long, because they may be chance. The saving is
         * no evidence: fixing the rank may save time for another reason. */
        if (f.work == TM_SUSPECT_LAG &&
            percent(in, f.excess_ns) <
                fmax(EXCESS_LEAST_PCT, TM_FIX_LEAST_SHARE * in->fixes.stake_pct))
            continue;
        for (size_t k = 0; k < all->n && !known; k++)
            if (same_culprit((tm_finding *)all->data + k, &f))
                known = (tm_finding *)all->data + k;
        if (!known) {
            if (!tm_vec_append(all, &f, 1))
                return tm_fail_memory(err);
            continue;
        }
        f.p = known->p < f.p ? known->p : f.p;
        if (f.excess_ns > known->excess_ns)
            *known = f;
        known->p = f.p;
    }
    return TM_OK;
}

/* Keeps the findings whose flag is set. */
static void keep_if(tm_vec *all, const bool *wanted) {
    tm_finding *v = all->data;
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (wanted[i])
            v[n++] = v[i];
    all->n = n;
}

/* Merges the findings on the ranks of a host or group into one finding. These ranks are entries
 * [first, end) of tm_blames.places. */
static tm_finding merged(const tm_findings_input *in, const tm_vec *all, size_t first, size_t end,
                         int64_t *excess, bool *wanted) {
    const tm_finding *v = all->data;
    const tm_blames *t = in->blames;
    tm_finding out = {.level = t->places[first].level, .place = first, .p = 1.0};
    double saved = (double)NAN;
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        bool of_place = false;
        for (size_t k = first; k < end && v[i].level == TM_CULPRIT_RANK; k++)
            of_place = of_place || t->ranks[t->places[k].rank].rank == v[i].rank;
        wanted[i] = !of_place;
        if (!of_place)
            continue;
        /* If any of the ranks is late throughout, so is the merged finding. */
        if (n == 0 || (v[i].shape == TM_SHAPE_THROUGHOUT && out.shape != TM_SHAPE_THROUGHOUT)) {
            double p = out.p;
            int64_t rank = n == 0 || v[i].rank < out.rank ? v[i].rank : out.rank;
            out = v[i];
            out.rank = rank;
            out.p = p;
        }
        out.rank = v[i].rank < out.rank ? v[i].rank : out.rank;
        out.p = v[i].p < out.p ? v[i].p : out.p;
        saved = fmax(saved, v[i].saved_pct);
        excess[n++] = v[i].excess_ns;
    }
    out.level = t->places[first].level;
    out.place = first;
    out.n_members = end - first;
    out.excess_ns = n > 0 ? tm_median_any(excess, n) : 0;
    /* the ranks of a host may be equally late, so that fixing one of them saves little */
    const double together = out.level == TM_CULPRIT_HOST && saved == saved
                                ? tm_fixes_of_host(&in->fixes, out.rank)
                                : 0.0;
    out.saved_pct = together > 0.0 ? together : saved;
    return out;
}

/* Returns how many ranks of a host or group have findings. Returns 0 if the excesses of these
 * findings differ too much for a common cause. */
static size_t count_found(const tm_blames *t, const tm_vec *all, size_t first, size_t end) {
    enum { ALIKE = 3 };
    int64_t least_ns = INT64_MAX, most_ns = 0;
    size_t found = 0;
    for (size_t k = first; k < end; k++)
        for (size_t i = 0; i < all->n; i++) {
            const tm_finding *f = (const tm_finding *)all->data + i;
            if (f->level != TM_CULPRIT_RANK || f->rank != t->ranks[t->places[k].rank].rank)
                continue;
            least_ns = f->excess_ns < least_ns ? f->excess_ns : least_ns;
            most_ns = f->excess_ns > most_ns ? f->excess_ns : most_ns;
            found++;
        }
    return found > 0 && most_ns / ALIKE > least_ns ? 0 : found;
}

/* Finds the host or group with the most ranks that have findings. Hosts come before groups. */
static bool find_place(const tm_blames *t, const tm_vec *all, size_t *first, size_t *end) {
    size_t most = 0;
    for (size_t i = 0, e; i < t->n_places; i = e) {
        e = place_end(t, i);
        size_t n = e - i, found = count_found(t, all, i, e);
        /* Hosts are sorted before groups. If a host qualifies, groups are not looked at. */
        if (most > 0 && t->places[*first].level != t->places[i].level)
            break;
        if (found >= 2 && 5 * found >= 4 * n && 2 * n <= t->n_ranks && found > most) {
            most = found;
            *first = i;
            *end = e;
        }
    }
    return most > 0;
}

/* Removes findings on ranks whose host has a finding. */
static tm_status leave_hosts(const tm_findings_input *in, tm_vec *all, tm_error *err) {
    const tm_finding *v = all->data;
    bool *wanted = malloc((all->n + 1) * sizeof *wanted);
    bool *of_hosts = calloc(in->blames->n_ranks + 1, sizeof *of_hosts);
    bool ok = wanted && of_hosts;
    for (size_t i = 0; i < all->n && ok; i++)
        if (v[i].level == TM_CULPRIT_HOST)
            tm_finding_members(in->blames, &v[i], of_hosts);
    for (size_t i = 0; i < all->n && ok; i++)
        wanted[i] =
            v[i].level != TM_CULPRIT_RANK || !of_hosts[tm_blames_index(in->blames, v[i].rank)];
    if (ok)
        keep_if(all, wanted);
    free(wanted);
    free(of_hosts);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Merges findings on ranks into findings on their host or group. */
static tm_status raise_levels(const tm_findings_input *in, tm_vec *all, tm_error *err) {
    size_t first = 0, end = 0;
    bool *wanted = malloc((all->n + 1) * sizeof *wanted);
    int64_t *excess = malloc((all->n + 1) * sizeof *excess);
    bool ok = wanted && excess;
    while (ok && find_place(in->blames, all, &first, &end)) {
        tm_finding f = merged(in, all, first, end, excess, wanted);
        keep_if(all, wanted);
        ok = tm_vec_append(all, &f, 1) != NULL;
    }
    free(wanted);
    free(excess);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the index of the finding on a rank; all->n if there is none. */
static size_t finding_of_rank(const tm_blames *t, const tm_vec *all, int64_t rank, bool *members) {
    size_t found = all->n;
    for (size_t i = 0; i < all->n && found == all->n; i++) {
        memset(members, 0, t->n_ranks * sizeof *members);
        tm_finding_members(t, (const tm_finding *)all->data + i, members);
        if (members[tm_blames_index(t, rank)])
            found = i;
    }
    return found;
}

/* Goes through the ranks of the plan, and adds the saving of fixing each rank to the finding on it.
 * If fixing a rank saves nothing until the next rank of the plan is also fixed, both are equally
 * late, and worth fixing together.
 * @param seen, worth  [all->n] output */
static void follow_plan(const tm_findings_input *in, tm_vec *all, bool *members, bool *seen,
                        bool *worth) {
    tm_finding *v = all->data;
    double before = 0.0, saved, least = TM_FIX_LEAST_PCT;
    int64_t rank;
    for (size_t place = 0; tm_fixes_planned(&in->fixes, place, &rank, &saved); place++) {
        const double adds = saved - before;
        const size_t i = finding_of_rank(in->blames, all, rank, members);
        before = saved;
        if (i == all->n)
            continue;
        seen[i] = true;
        v[i].saved_pct += adds;
        if (v[i].saved_pct < least)
            continue;
        for (size_t k = 0; k < all->n; k++) {
            if (!seen[k] || worth[k])
                continue;
            worth[k] = true;
            v[k].saved_pct = k == i ? v[k].saved_pct : saved;
        }
        least = fmax(TM_FIX_LEAST_PCT, TM_FIX_LEAST_SHARE * in->fixes.stake_pct);
    }
}

static int by_saving(const void *a, const void *b) {
    const tm_finding *x = a, *y = b;
    if (x->saved_pct != y->saved_pct)
        return x->saved_pct > y->saved_pct ? -1 : 1;
    int order = tm_order_i64(y->excess_ns, x->excess_ns);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

/* Returns the saving from fixing only the finding's ranks [% of a step]. */
static double saved_alone(const tm_findings_input *in, const tm_finding *f) {
    if (f->level == TM_CULPRIT_HOST)
        return tm_fixes_of_host(&in->fixes, f->rank);
    return f->level == TM_CULPRIT_RANK ? tm_fixes_of_rank(&in->fixes, f->rank) : 0.0;
}

/* Returns the waits that the ranks of a finding caused [ns]. If the finding's window is in steps,
 * only waits within the window count. */
static int64_t cost_of(const tm_blames *t, const tm_finding *f, const bool *members) {
    int64_t sum = 0;
    bool window =
        f->shape != TM_SHAPE_THROUGHOUT && (f->unit == TM_UNIT_STEP || f->unit == TM_UNIT_PART);
    for (size_t i = 0; i < t->n_parts; i++) {
        const tm_blame *part = &t->parts[i];
        if (window && (part->step < f->from || part->step > f->to))
            continue;
        if (members[tm_blames_index(t, part->rank)])
            sum = tm_sum(sum, tm_share_round(tm_blame_cost(part)));
    }
    return sum;
}

/* Keeps the first finding whose ranks caused half of all waiting, and sets its saving to unknown.
 * Does nothing if the replay is sure about savings. Returns whether a finding was kept. */
static bool keep_waited_for(const tm_findings_input *in, tm_vec *all, bool *members, bool *worth) {
    tm_finding *v = all->data;
    for (size_t i = 0; i < all->n && !in->fixes.sure; i++) {
        memset(members, 0, in->blames->n_ranks * sizeof *members);
        tm_finding_members(in->blames, &v[i], members);
        const int64_t cost_ns = cost_of(in->blames, &v[i], members);
        if (cost_ns <= 0 || cost_ns < in->blames->wait_ns - cost_ns)
            continue;
        v[i].saved_pct = (double)NAN;
        worth[i] = true;
        return true;
    }
    return false;
}

static tm_status keep_worth(const tm_findings_input *in, tm_findings *out, tm_error *err) {
    tm_vec *all = &out->all;
    tm_finding *v = all->data;
    const size_t n = all->n;
    bool *flags = calloc(2 * n + in->blames->n_ranks + 1, sizeof *flags);
    if (!flags)
        return tm_fail_memory(err);
    bool *seen = flags, *worth = flags + n, any = false;
    size_t best = 0;
    for (size_t i = 0; i < n; i++)
        v[i].saved_pct = 0.0;
    follow_plan(in, all, flags + 2 * n, seen, worth);
    for (size_t i = 0; i < n; i++) {
        const double alone = saved_alone(in, &v[i]);
        worth[i] = worth[i] || (v[i].level == TM_CULPRIT_HOST && alone >= TM_FIX_LEAST_PCT);
        v[i].saved_pct = worth[i] ? fmax(v[i].saved_pct, alone) : alone;
        any = any || worth[i];
        best = v[i].saved_pct > v[best].saved_pct ? i : best;
    }
    if (n > 0 && !any)
        worth[best] = any = v[best].saved_pct >= TM_FIX_LEAST_PCT;
    out->spared = n > 0 && !any && !keep_waited_for(in, all, flags + 2 * n, worth);
    out->spared_of = out->spared ? v[best] : (tm_finding){0};
    out->spared_of.excess_pct = percent(in, out->spared_of.excess_ns);
    keep_if(all, worth);
    /* merged() starts with the first finding, which therefore must save most */
    tm_vec_sort(all, by_saving);
    free(flags);
    return TM_OK;
}

static tm_status complete(const tm_findings_input *in, tm_vec *all, tm_error *err) {
    tm_finding *v = all->data;
    size_t n = 0;
    bool *members = malloc((in->blames->n_ranks + 1) * sizeof *members);
    for (size_t i = 0; i < all->n && members; i++) {
        v[i].excess_pct = percent(in, v[i].excess_ns);
        if (!in->fixes.known && v[i].excess_pct < EXCESS_LEAST_PCT)
            continue;
        /* in a single step, a slow rank looks like a rank with more data */
        bool one_step = v[i].unit == TM_UNIT_PART && in->n_steps < 2;
        bool sure =
            v[i].p <= TM_CHANCE_SURE + 1e-9 && in->matched_share >= TM_MATCHED_LEAST && !one_step;
        v[i].certainty = sure ? TM_CERTAINTY_CONFIDENT : TM_CERTAINTY_LIKELY;
        memset(members, 0, in->blames->n_ranks * sizeof *members);
        tm_finding_members(in->blames, &v[i], members);
        v[i].caused_ns = cost_of(in->blames, &v[i], members);
        v[i].caused_share =
            in->blames->wait_ns > 0 ? (double)v[i].caused_ns / (double)in->blames->wait_ns : 0.0;
        v[n++] = v[i];
    }
    all->n = n;
    free(members);
    return members ? TM_OK : tm_fail_memory(err);
}

TM_ORDER_FALLING(by_excess, tm_finding, excess_ns, rank);

/* If there are two episodes that do not overlap, marks both as alternating. */
static void find_alternation(tm_vec *all) {
    tm_finding *v = all->data;
    if (all->n != 2 || v[0].shape != TM_SHAPE_EPISODE || v[1].shape != TM_SHAPE_EPISODE ||
        v[0].unit != v[1].unit)
        return;
    if (v[0].to < v[1].from || v[1].to < v[0].from)
        v[0].shape = v[1].shape = TM_SHAPE_ALTERNATION;
}

/* Adds an operation to an event. */
static void add_heavy(tm_finding *f, const tm_heavy *h) {
    f->rank = f->units == 0 || f->rank == h->last_rank ? h->last_rank : -1;
    f->from = f->units == 0 || h->step < f->from ? h->step : f->from;
    f->to = f->units == 0 || h->step > f->to ? h->step : f->to;
    f->caused_ns = tm_sum(f->caused_ns, h->wait_ns);
    f->units++;
}

/* Returns whether an operation waits at most a fifth less than the mean of an event. Then it is as
 * unusual. */
static bool is_as_heavy(const tm_heavy *h, const tm_finding *event) {
    const int64_t mean_ns = event->caused_ns / event->units;
    return h->wait_ns >= mean_ns - mean_ns / 5;
}

/* Finds the smallest number of operations that have half of all waiting, and the others that wait
 * about as long. These operations are an event if they are at most 5, and at most a tenth of all
 * operations. */
static bool find_event(const tm_findings_input *in, tm_finding *out) {
    tm_finding f = {.shape = TM_SHAPE_EVENT, .rank = -1, .n_members = 1, .p = 1.0};
    const int64_t all_ns = in->blames->wait_ns;
    const int64_t most =
        in->n_waits / 10 < TM_EVENT_MOST ? in->n_waits / 10 : (int64_t)TM_EVENT_MOST;
    bool half = false;
    if (tm_waits_little(all_ns, in->window_ns))
        return false;
    for (size_t i = 0; i < in->n_heavy && !(half && !is_as_heavy(&in->heavy[i], &f)); i++) {
        add_heavy(&f, &in->heavy[i]);
        half = all_ns > 0 && f.caused_ns >= all_ns - f.caused_ns;
    }
    if (!half || f.units > most)
        return false;
    f.caused_share = (double)f.caused_ns / (double)all_ns;
    *out = f;
    return true;
}

/* Computes the pipeline's bubble and its ideal. Rounds the number of micro-batches, because a
 * recorded step may be cut. */
static void look_at_pipeline(const tm_findings_input *in, tm_findings *out) {
    const tm_pipeline_use *p = &in->pipeline;
    int64_t sends = p->senders * in->n_steps;
    if (p->stages < 2 || sends == 0 || in->window_ns <= 0)
        return;
    out->stages = p->stages;
    out->micro_batches = tm_round_ratio(p->transfers, sends);
    out->bubble = (double)p->kept_ns / (double)in->window_ns;
    out->transfers = (double)p->wait_ns / (double)in->window_ns;
    out->ideal = (double)(p->stages - 1) / (double)(out->micro_batches + p->stages - 1);
}

static bool is_bubble(const tm_findings *found) {
    return found->transfers >= 0.01;
}

/* Returns whether half of all waiting was for one rank, and the replay is not sure about the saving
 * of fixing it. */
static bool is_open(const tm_findings_input *in) {
    const tm_blames *t = in->blames;
    bool half = false;
    for (size_t i = 0; i < t->n_ranks && in->fixes.known && !in->fixes.sure && !half; i++) {
        const int64_t cost_ns = tm_share_round(tm_blame_cost(&t->ranks[i]));
        half = cost_ns > 0 && cost_ns >= t->wait_ns - cost_ns;
    }
    return half;
}

tm_status tm_findings_find(const tm_findings_input *in, tm_findings *out, tm_error *err) {
    out->steps_ns = in->steps_ns;
    out->least_p = 1.0;
    for (size_t i = 0; i < in->n_standings; i++) {
        out->most_pct = fmax(out->most_pct, percent(in, in->standings[i].excess_ns));
        out->least_p = fmin(out->least_p, in->standings[i].p);
        out->tested = out->tested || !isnan(in->standings[i].p);
    }
    for (size_t i = 0; i < in->n_suspects; i++)
        out->unsteady = out->unsteady || in->suspects[i].unsteady;
    out->replayed = in->fixes.known;
    out->open = is_open(in);
    look_at_pipeline(in, out);
    const bool clear = tm_waits_clear(in->blames->wait_ns, in->unknown_ns, in->window_ns);
    if ((clear || in->blames->n_parts == 0) && !is_bubble(out))
        return TM_OK;
    TM_TRY(gather(in, &out->all, err));
    TM_TRY(leave_hosts(in, &out->all, err));
    if (in->fixes.known)
        TM_TRY(keep_worth(in, out, err));
    TM_TRY(raise_levels(in, &out->all, err));
    TM_TRY(complete(in, &out->all, err));
    tm_vec_sort(&out->all, in->fixes.known ? by_saving : by_excess);
    find_alternation(&out->all);
    tm_finding event;
    if (out->all.n == 0 && is_bubble(out)) {
        event = (tm_finding){.shape = TM_SHAPE_BUBBLE,
                             .rank = -1,
                             .p = 1.0,
                             .units = in->n_steps,
                             .caused_ns = in->pipeline.kept_ns};
        return tm_vec_append(&out->all, &event, 1) ? TM_OK : tm_fail_memory(err);
    }
    if (!find_event(in, &event))
        return TM_OK;
    out->few = event.units;
    return out->all.n > 0 || tm_vec_append(&out->all, &event, 1) ? TM_OK : tm_fail_memory(err);
}

/* Returns whether fixing a rank, a host, or a plan of at most half of the ranks saves little. */
static bool fixes_little(const tm_fixes *fixes) {
    return fmax(fixes->most_pct, fixes->plan_pct) < TM_FIX_LEAST_PCT;
}

tm_verdict_kind tm_findings_verdict(const tm_findings_input *in, const tm_findings *found) {
    static const tm_verdict_kind one[] = {
        [TM_SHAPE_THROUGHOUT] = TM_VERDICT_PERSISTENT,   [TM_SHAPE_EPISODE] = TM_VERDICT_EPISODE,
        [TM_SHAPE_ALTERNATION] = TM_VERDICT_ALTERNATING, [TM_SHAPE_EVENT] = TM_VERDICT_EVENT,
        [TM_SHAPE_BUBBLE] = TM_VERDICT_BUBBLE,
    };
    const tm_finding *first = found->all.data;
    if (found->all.n > 1 && first->shape != TM_SHAPE_ALTERNATION)
        return TM_VERDICT_SEVERAL;
    if (found->all.n > 0)
        return one[first->shape];
    /* Ranks are cleared only if nearly all communication was compared, and at least half was in
     * groups that cannot have more ranks. */
    bool cleared = tm_waits_clear(in->blames->wait_ns, in->unknown_ns, in->window_ns) ||
                   (found->tested && (in->fixes.known ? fixes_little(&in->fixes) && !found->open
                                                      : found->most_pct < EXCESS_LEAST_PCT));
    cleared = cleared && in->matched_share >= TM_MATCHED_CLEARED &&
              in->matched_share - in->open_share >= TM_MATCHED_LEAST;
    return cleared ? TM_VERDICT_NONE : TM_VERDICT_INCONCLUSIVE;
}
