#include "shift.h"

#include <math.h>
#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

enum {
    SECTION = 512, /* number of marks of the reference, around a centre, that are compared */
    SAMPLES = 64,  /* samples per section */
    /* number of changes of the rhythm (ends of steps, or wide gaps); each gets a sample before and
     * a sample after it */
    EDGES = 10,
    RARE = 16,  /* number of samples with rare signatures */
    ROUGH = 16, /* number of samples for the quick test */
    CENTRES = 5,
    ANCHORS = 4,  /* number of marks of a section for which partners are guessed */
    SHIFTS = 512, /* maximum shift in each direction */
    GUESSES = 3,
    FINALISTS = 16,
    /* Minimum number of matching kernels. If more shifts are tried, more kernels match by
     * chance. */
    LEAST = 12,
    LEAST_WITH_STEPS = 8, /* minimum if step numbers leave only few shifts */
    /* In a run of less than 16 kernels, half of the kernels must match, but at least this many. */
    LEAST_OF_SHORT_RUN = 4
};

static const double drift_limit = 100e-6;
/* Lower limit of a spread: every profiler's ends have at least this noise. */
static const int64_t least_spread_ns = 1000;
/* Factor by which the second-best offset must be worse than the best. */
static const double confidence = 5.0;

/* Kinds of samples. A shift by one operation shows only at a rare operation or where the rhythm
 * changes. So enough samples of each kind must match. */
typedef enum sort_of_sample { ANY, SCARCE, BEFORE, AFTER, N_SORTS } sort_of_sample;

typedef struct sample {
    size_t mark;
    sort_of_sample sort;
} sample;

typedef struct search {
    const tm_run *ref, *other;
    size_t from, n; /* section: marks [from, from + n) of the reference */
    size_t centre;
    size_t least; /* minimum number of matching kernels */
    /* number of samples whose kernels synchronise, so that all ranks leave them together */
    size_t n_met;
    sample samples[SAMPLES]; /* ascending */
    size_t n_samples;
    int64_t tried[GUESSES * (2 * SHIFTS + 1)]; /* [n_tried] offsets guessed from the first anchor */
    size_t n_tried;
} search;

typedef struct candidate {
    int64_t offset_ns; /* at the centre */
    double drift;
    int64_t spread_ns;
    /* The spread divided by sqrt(n), where n is the number of matching kernels minus those that
     * match by chance. With more kernels, the spread of a wrong offset grows like a random walk,
     * but the spread of the true offset does not grow. */
    double badness;
    bool has_drift; /* drift is removed */
    bool coherent;  /* at least half of the samples match within the noise */
} candidate;

static int64_t gap_after(const tm_run *run, size_t i) {
    return run->marks[i + 1].end_ns - run->marks[i].end_ns;
}

static bool ends_step(const tm_run *run, size_t i) {
    const tm_mark *a = &run->marks[i], *b = a + 1;
    return a->step >= 0 && b->step >= 0 && a->step != b->step;
}

static void choose_edge(size_t i, uint8_t *chosen) {
    chosen[i] = 1 + BEFORE;
    chosen[i + 1] = 1 + AFTER;
}

/* Chooses the marks around changes of the rhythm. These are the ends of steps or, if steps are
 * unknown, the widest gaps. At most one gap in 16 marks is chosen, so that only real changes are
 * chosen. */
static void choose_edges(const tm_run *run, size_t from, size_t n, uint8_t *chosen) {
    size_t found = 0;
    for (size_t i = 0; i + 1 < n && found < EDGES; i++)
        if (ends_step(run, from + i)) {
            choose_edge(i, chosen);
            found++;
        }
    const size_t n_steps = found;
    for (; n_steps < 2 && found < EDGES && (found + 1) * 16 <= n; found++) {
        size_t widest = n;
        for (size_t i = 0; i + 1 < n; i++)
            if (chosen[i] != 1 + BEFORE && chosen[i + 1] != 1 + AFTER &&
                (widest == n || gap_after(run, from + i) > gap_after(run, from + widest)))
                widest = i;
        if (widest == n)
            return;
        choose_edge(widest, chosen);
    }
}

static void choose_rare(const tm_run *run, size_t from, size_t n, uint8_t *chosen) {
    size_t rare[SECTION], n_rare = 0;
    for (size_t i = 0; i < n; i++) {
        size_t equal = 0;
        for (size_t k = 0; k < n && equal * 16 <= n; k++)
            equal += run->marks[from + k].signature == run->marks[from + i].signature;
        if (equal * 16 <= n)
            rare[n_rare++] = i;
    }
    size_t wanted = n_rare < RARE ? n_rare : RARE;
    for (size_t k = 0; k < wanted; k++)
        if (chosen[rare[k * n_rare / wanted]] == 0)
            chosen[rare[k * n_rare / wanted]] = 1 + SCARCE;
}

static void choose_any(size_t n, uint8_t *chosen) {
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += chosen[i] != 0;
    for (size_t k = 0; used < SAMPLES && used < n; k++) {
        size_t i = tm_run_sample(k, n);
        for (; chosen[i] != 0; i = (i + 1) % n)
            ;
        chosen[i] = 1 + ANY;
        used++;
    }
}

static void choose_samples(search *s) {
    uint8_t chosen[SECTION] = {0};
    choose_edges(s->ref, s->from, s->n, chosen);
    choose_rare(s->ref, s->from, s->n, chosen);
    choose_any(s->n, chosen);
    for (size_t i = 0; i < s->n && s->n_samples < SAMPLES; i++)
        if (chosen[i] != 0)
            s->samples[s->n_samples++] = (sample){s->from + i, (sort_of_sample)(chosen[i] - 1)};
    for (size_t i = 0; i < s->n_samples; i++)
        s->n_met += s->ref->marks[s->samples[i].mark].synchronises;
}

/* Returns the time [ns] from the centre to a sample, on the reference's clock. */
static int64_t distance(const search *s, size_t i) {
    return s->ref->marks[s->samples[i].mark].end_ns - s->ref->marks[s->centre].end_ns;
}

static int64_t offset_at(const search *s, const candidate *c, size_t i) {
    return c->offset_ns + llround(c->drift * (double)distance(s, i));
}

static int64_t drift_slack(const search *s, const candidate *c, size_t i) {
    return c->has_drift ? 0 : llround(drift_limit * (double)llabs(distance(s, i)));
}

/* Returns whether the sample's time is inside the other run's recording. */
static bool in_range(const search *s, const candidate *c, size_t i) {
    int64_t at = s->ref->marks[s->samples[i].mark].end_ns + offset_at(s, c, i);
    return at >= s->other->marks[0].end_ns && at <= s->other->marks[s->other->n - 1].end_ns;
}

/* Sets *out to the end of a sample's partner minus the sample's end. Returns false if the sample
 * has no partner. */
static bool difference(const search *s, const candidate *c, size_t i, size_t *partner,
                       int64_t *out) {
    size_t mark = s->samples[i].mark;
    if (!tm_run_partner(s->ref, mark, s->other, offset_at(s, c, i), partner))
        return false;
    *out = s->other->marks[*partner].end_ns - s->ref->marks[mark].end_ns;
    return true;
}

/* Returns whether a sample's end should agree with its partner's end. In kernels that do not
 * synchronise, such as broadcasts, ranks do not wait for each other. So these samples count only if
 * fewer than @p enough samples synchronise. */
static bool is_telling(const search *s, size_t i, size_t enough) {
    return s->n_met < enough || s->ref->marks[s->samples[i].mark].synchronises;
}

/* Tests an offset quickly, with few samples. Returns whether at least half of the end differences
 * are about equal. If they are not, the offset can be neither the best nor the second best. */
static bool is_worth_judging(const search *s, const candidate *c) {
    int64_t off[ROUGH] = {0}, sorted[ROUGH] = {0}, slack[ROUGH] = {0};
    size_t n = 0, n_in = 0, near = 0, partner;
    size_t wanted = s->n_samples < ROUGH ? s->n_samples : ROUGH;
    for (size_t k = 0; k < wanted; k++) {
        size_t i = k * s->n_samples / wanted;
        if (!in_range(s, c, i) || !is_telling(s, i, s->least))
            continue;
        n_in++;
        if (!difference(s, c, i, &partner, &off[n]))
            continue;
        slack[n] = drift_slack(s, c, i) +
                   (int64_t)confidence *
                       tm_mark_noise(&s->ref->marks[s->samples[i].mark], &s->other->marks[partner]);
        sorted[n] = off[n];
        n++;
    }
    int64_t median = tm_run_median(sorted, n);
    for (size_t k = 0; k < n; k++)
        near += llabs(off[k] - median) <= slack[k];
    return n_in < ROUGH / 4 || near * 2 >= n_in;
}

/* Returns the drift by Theil and Sen: the median slope over all pairs. */
static double median_slope(const int64_t *x, const int64_t *y, size_t n) {
    double slopes[SAMPLES * (SAMPLES - 1) / 2];
    size_t n_slopes = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (x[k] != x[i])
                slopes[n_slopes++] = (double)(y[k] - y[i]) / (double)(x[k] - x[i]);
    if (n_slopes == 0)
        return 0.0;
    double middle = tm_select_real(slopes, n_slopes, (n_slopes - 1) / 2);
    return fmin(fmax(middle, -drift_limit), drift_limit);
}

/* Sets the offset to the median end difference, and measures the median deviation from it. Returns
 * false if fewer than half of the samples inside the other recording have a partner. */
static bool measure(const search *s, candidate *c, bool with_drift) {
    int64_t x[SAMPLES], y[SAMPLES], sorted[SAMPLES];
    size_t n = 0, n_in = 0, partner;
    for (size_t i = 0; i < s->n_samples; i++) {
        if (!in_range(s, c, i) || !is_telling(s, i, s->least))
            continue;
        n_in++;
        x[n] = distance(s, i);
        n += difference(s, c, i, &partner, &y[n]);
    }
    if (n_in < s->least || n * 2 < n_in + 1)
        return false;
    c->has_drift = with_drift;
    c->drift = with_drift ? median_slope(x, y, n) : 0.0;
    for (size_t k = 0; k < n; k++)
        sorted[k] = y[k] -= llround(c->drift * (double)x[k]);
    c->offset_ns = tm_run_median(sorted, n);
    for (size_t k = 0; k < n; k++)
        sorted[k] = llabs(y[k] - c->offset_ns);
    tm_sort_values(sorted, n);
    /* Samples without a partner count as far away. If there are few samples, their largest distance
     * counts, because two samples always fit some offset and drift. */
    c->spread_ns = n_in < LEAST_WITH_STEPS ? sorted[n - 1] : sorted[(n_in - 1) / 2];
    int64_t spread = c->spread_ns > least_spread_ns ? c->spread_ns : least_spread_ns;
    double telling = (double)n - (double)s->least / 2.0;
    c->badness = (double)spread / sqrt(fmax(telling, 1.0));
    return true;
}

/* Tests an offset against the samples. Returns TM_UNMATCHED_NOT if the offset is possible.
 * Otherwise, returns TM_UNMATCHED_SIGNATURES or TM_UNMATCHED_INCOHERENT as the reason. */
static tm_unmatched judge(const search *s, candidate *c) {
    size_t n_in[N_SORTS] = {0}, n_meet[N_SORTS] = {0}, n = 0, all = 0, wrong = 0;
    for (size_t i = 0; i < s->n_samples; i++) {
        if (!in_range(s, c, i) || !is_telling(s, i, 1))
            continue;
        tm_meeting found = tm_run_meet(s->ref, s->samples[i].mark, s->other, offset_at(s, c, i),
                                       drift_slack(s, c, i));
        n_in[s->samples[i].sort]++;
        n_meet[s->samples[i].sort] += found == TM_MEETS;
        wrong += found == TM_ANOTHER;
        all += found == TM_MEETS;
        n++;
    }
    c->coherent = all * 2 >= n;
    if (wrong > 1 && wrong * 50 > n)
        return TM_UNMATCHED_SIGNATURES;
    if (wrong > 0) /* prefer an offset without wrong signatures */
        c->badness *= confidence;
    for (int sort = SCARCE; sort < N_SORTS; sort++)
        if (n_in[sort] > 1 && n_meet[sort] * 4 < n_in[sort] && c->coherent)
            return TM_UNMATCHED_INCOHERENT; /* the samples that would show a shift do not match */
    return TM_UNMATCHED_NOT;
}

/* Evaluates an offset. If the offset is wrong, updates *reason. */
static bool try_offset(const search *s, candidate *c, bool with_drift, tm_unmatched *reason) {
    tm_unmatched verdict = measure(s, c, with_drift) ? judge(s, c) : TM_UNMATCHED_INCOHERENT;
    tm_unmatched failed = verdict == TM_UNMATCHED_NOT ? TM_UNMATCHED_INCOHERENT : verdict;
    *reason = failed > *reason ? failed : *reason;
    return verdict == TM_UNMATCHED_NOT;
}

/* Returns whether two candidates have the same offset. Correct guesses from different anchors
 * do. */
static bool is_same(const candidate *a, const candidate *b) {
    return llabs(a->offset_ns - b->offset_ns) <= a->spread_ns + b->spread_ns + least_spread_ns;
}

/* Adds a candidate to the best candidates. These are in order, and each offset occurs only once.
 * Returns the number of candidates. */
static size_t keep(const candidate *c, candidate *best, size_t n) {
    size_t kept = 0, place = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_same(&best[i], c) && best[i].badness <= c->badness)
            return n;
        if (!is_same(&best[i], c))
            best[kept++] = best[i];
    }
    while (place < kept && best[place].badness <= c->badness)
        place++;
    if (place == FINALISTS)
        return kept;
    kept += kept < FINALISTS;
    for (size_t i = kept - 1; i > place; i--)
        best[i] = best[i - 1];
    best[place] = *c;
    return kept;
}

/* Returns the index of the first mark of a step; n if there is none. */
static size_t first_of_step(const tm_run *run, int64_t step) {
    size_t i = 0;
    while (i < run->n && run->marks[i].step != step)
        i++;
    return i;
}

/* Guesses the anchor's partner in three ways: the mark with the same index in the run, the mark at
 * the same time of day, and the mark with the same index in its step. */
static void guess_partners(const search *s, size_t anchor, size_t guesses[GUESSES]) {
    const tm_mark *mark = &s->ref->marks[anchor];
    guesses[0] = anchor;
    guesses[1] = tm_run_nearest(s->other, mark->end_ns);
    size_t first = mark->step < 0 ? s->other->n : first_of_step(s->other, mark->step);
    guesses[2] = first == s->other->n ? anchor : first + anchor - first_of_step(s->ref, mark->step);
}

/* Returns whether mark j is within SHIFTS places of an earlier guess, so that it was already
 * tried. */
static bool is_tried(const size_t *guesses, size_t which, size_t j) {
    for (size_t k = 0; k < which; k++)
        if (j + SHIFTS >= guesses[k] && j <= guesses[k] + SHIFTS)
            return true;
    return false;
}

/* Returns whether an offset near this one was already tried with the first anchor. The offset need
 * not be the same, because a tried offset is replaced by the median difference. */
static bool is_guessed(const search *s, int64_t offset_ns, int64_t apart_ns) {
    size_t next = tm_lower_bound(s->tried, s->n_tried, offset_ns);
    return (next < s->n_tried && s->tried[next] - offset_ns < apart_ns / 4) ||
           (next > 0 && offset_ns - s->tried[next - 1] < apart_ns / 4);
}

static size_t try_guess(search *s, int64_t offset_ns, candidate *best, size_t n,
                        tm_unmatched *reason) {
    candidate c = {.offset_ns = offset_ns};
    if (!is_worth_judging(s, &c))
        *reason = *reason > TM_UNMATCHED_INCOHERENT ? *reason : TM_UNMATCHED_INCOHERENT;
    else if (try_offset(s, &c, false, reason))
        return keep(&c, best, n);
    return n;
}

static size_t try_anchor(search *s, size_t anchor, candidate *best, size_t n,
                         tm_unmatched *reason) {
    const tm_mark *mark = &s->ref->marks[anchor];
    size_t guesses[GUESSES], n_tried = s->n_tried;
    guess_partners(s, anchor, guesses);
    for (size_t which = 0; which < GUESSES; which++) {
        size_t from = guesses[which] > SHIFTS ? guesses[which] - SHIFTS : 0;
        for (size_t j = from; j <= guesses[which] + SHIFTS && j < s->other->n; j++) {
            int64_t offset = s->other->marks[j].end_ns - mark->end_ns;
            if (is_tried(guesses, which, j) || !tm_mark_fits(mark, &s->other->marks[j]))
                continue;
            if (s->n_tried == 0)
                s->tried[n_tried++] = offset;
            else if (is_guessed(s, offset, mark->apart_ns))
                continue;
            n = try_guess(s, offset, best, n, reason);
        }
    }
    if (s->n_tried == 0)
        tm_sort_values(s->tried, n_tried);
    s->n_tried = n_tried;
    return n;
}

/* Returns the most isolated mark in the k-th part of the section. If possible, this is a mark that
 * synchronises. An isolated mark is unlikely to be paired with a neighbour of its partner. */
static size_t choose_anchor(const search *s, size_t k) {
    size_t from = s->from + s->n * k / ANCHORS, to = s->from + s->n * (k + 1) / ANCHORS;
    size_t best = from;
    for (size_t i = from; i < to; i++) {
        const tm_mark *a = &s->ref->marks[i], *b = &s->ref->marks[best];
        if (a->synchronises != b->synchronises ? a->synchronises : a->apart_ns > b->apart_ns)
            best = i;
    }
    return best;
}

static tm_unmatched try_section(search *s, tm_shift *out) {
    candidate found[FINALISTS], best[FINALISTS] = {{0}};
    size_t n_found = 0, n = 0;
    tm_unmatched reason = TM_UNMATCHED_SIGNATURES;
    for (size_t k = 0; k < ANCHORS; k++)
        n_found = try_anchor(s, choose_anchor(s, k), found, n_found, &reason);
    for (size_t i = 0; i < n_found; i++)
        if (try_offset(s, &found[i], true, &reason))
            n = keep(&found[i], best, n);
    if (n == 0 || !best[0].coherent)
        return reason;
    if (n > 1 && best[1].badness < confidence * best[0].badness)
        return TM_UNMATCHED_AMBIGUOUS;
    *out = (tm_shift){s->centre, best[0].offset_ns, best[0].drift, s->least};
    return TM_UNMATCHED_NOT;
}

/* Makes the section around the k-th centre. The first centre is the middle of the run. */
static search make_section(const tm_run *ref, const tm_run *other, size_t k) {
    static const size_t tenths[CENTRES] = {5, 3, 7, 1, 9};
    search s = {.ref = ref, .other = other, .centre = ref->n * tenths[k] / 10};
    s.least = tm_shift_least(ref, other);
    s.from = s.centre > SECTION / 2 ? s.centre - SECTION / 2 : 0;
    s.n = ref->n - s.from < SECTION ? ref->n - s.from : SECTION;
    choose_samples(&s);
    return s;
}

static bool knows_steps(const tm_run *run) {
    for (size_t i = 0; i < run->n; i++)
        if (run->marks[i].step < 0)
            return false;
    return true;
}

size_t tm_shift_least(const tm_run *ref, const tm_run *other) {
    size_t n = ref->n < other->n ? ref->n : other->n;
    if (!knows_steps(ref) || !knows_steps(other))
        return LEAST;
    if (n / 2 >= LEAST_WITH_STEPS)
        return LEAST_WITH_STEPS;
    return n / 2 > LEAST_OF_SHORT_RUN ? n / 2 : LEAST_OF_SHORT_RUN;
}

tm_unmatched tm_shift_find(const tm_run *ref, const tm_run *other, tm_shift *out) {
    tm_unmatched reason = TM_UNMATCHED_TOO_FEW;
    size_t least = tm_shift_least(ref, other);
    if (ref->n < least || other->n < least)
        return reason;
    for (size_t k = 0; k < CENTRES; k++) {
        search s = make_section(ref, other, k);
        tm_unmatched failed = try_section(&s, out);
        if (failed == TM_UNMATCHED_NOT)
            return failed;
        reason = failed > reason ? failed : reason;
        if (s.n == ref->n) /* the section was the whole run: other sections would be the same */
            break;
    }
    return reason;
}
