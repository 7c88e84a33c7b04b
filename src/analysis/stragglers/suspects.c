#include "suspects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/median.h"
#include "base/sums.h"
#include "p_values.h"

enum {
    DRAWS_SURE = 2999, /* enough draws for one test; the smallest p is then 1 / 3000 */
    /* maximum number of draws if there are many groups; WORK_MAX may limit it further */
    DRAWS_MAX = 400000,
    WORK_MAX = 300000000, /* maximum work: draws x members x (units + windows) */
    WORK_NEAR = 30000000, /* maximum work if p is near TM_CHANCE_MOST */
    NEAR_TIMES = 10,      /* WORK_NEAR changes the usual number of draws by at most this factor */
    WORK_FEW = 2000000,   /* maximum work if p is only for display */
    UNITS_LEAST = 4       /* minimum number of units that are no steps */
};

/* The smallest p for display. */
static const double LEAST_P = 1.0 / (1 + DRAWS_SURE);
/* Minimum excess of a suspect / the slowest member's time. It is below the 1 % of the steps that
 * findings need, because own times are shorter than steps. */
static const double EXCESS_LEAST = 0.005;
/* The same for ranks that are compared with other stages, which do different work. */
static const double ACROSS_LEAST = 0.05;
/* More draws are needed unless p is this many standard errors away from a limit. */
static const double ERRORS_LEAST = 3.0;

/* State of the test at a level: ranks, hosts or stages. */
typedef struct level {
    tm_own_times units;
    tm_unit_kind unit;
    double n_tests, least; /* `least`: minimum excess / slowest time */
    bool hosts;
    double *sums; /* [n_rows + 1][n] prefix sums of scores */
    /* [n_rows][n] scores; for stages: [n_rows][all.n] scores of the stages' members */
    double *scores;
    tm_window *windows; /* [n_windows] */
    size_t n_windows;
    double largest;   /* largest magnitude of a score */
    tm_own_times all; /* for stages: the units of all members of all stages */
    size_t *class_of; /* for stages: [all.n] stage of each member */
    int64_t *excess;  /* [n_rows][n] excess of each member in each unit */
    int64_t *scratch; /* [n] in the allocation of `excess` */
    tm_chance chance;
} level;

static void close_level(level *l) {
    tm_own_times_free(&l->units);
    free(l->sums);
    free(l->scores);
    free(l->windows);
    tm_own_times_free(&l->all);
    free(l->class_of);
    free(l->excess);
    tm_chance_free(&l->chance);
}

/* Allocates the buffers that the level's units need. */
static tm_status make_room(level *l, tm_error *err) {
    size_t cells = (l->units.n_rows + 1) * l->units.n;
    l->n_windows = tm_windows(l->units.n_rows, NULL);
    l->windows = malloc((l->n_windows + 1) * sizeof *l->windows);
    l->excess = malloc((cells + 1) * sizeof *l->excess);
    l->sums = malloc((cells + 1) * sizeof *l->sums);
    l->scores = malloc((cells + l->all.n * l->all.n_rows + 1) * sizeof *l->scores);
    if (!l->windows || !l->excess || !l->sums || !l->scores)
        return tm_fail_memory(err);
    l->scratch = l->excess + cells - l->units.n;
    tm_windows(l->units.n_rows, l->windows);
    return TM_OK;
}

static tm_status open_level(const tm_own_times *stretches, const int64_t *steps, level *l,
                            tm_error *err) {
    TM_TRY(tm_own_times_units(stretches, steps, &l->units, &l->unit, err));
    return make_room(l, err);
}

static tm_trial trial_of(const level *l) {
    size_t n = l->class_of ? l->all.n : l->units.n;
    return (tm_trial){n,          l->units.n_rows, l->scores,   l->class_of,
                      l->units.n, l->windows,      l->n_windows};
}

/* Computes the scores of the units (for stages: of the stages' members), prefix sums and
 * excesses. */
static tm_status score(level *l, tm_error *err) {
    tm_trial trial = trial_of(l);
    TM_TRY(tm_scores_rows(l->class_of ? &l->all : &l->units, l->scores, err));
    TM_TRY(tm_scores_sums(&trial, l->sums, err));
    l->largest = tm_windows_scale(&trial);
    for (size_t row = 0; row < l->units.n_rows; row++)
        tm_own_times_excess(&l->units, row, l->scratch, l->excess + row * l->units.n);
    return TM_OK;
}

static double height_in(const level *l, size_t member, const tm_window *w) {
    return tm_window_height(w, l->sums, l->units.n, member);
}

/* Returns the probability that the smallest of n_tests independent p is at most @p p. */
static double corrected(double p, double n_tests) {
    return p >= 1.0 ? 1.0 : -expm1(n_tests * log1p(-p));
}

/* Returns the number of tests by which p is corrected. It is doubled for blocks, because their
 * estimated length may be too short by chance. */
static double tests_of(const level *l) {
    return l->unit == TM_UNIT_BLOCK ? 2.0 * l->n_tests : l->n_tests;
}

/* Returns a member's largest height, and sets its window. */
static double height_of(const level *l, size_t member, tm_window *window) {
    const tm_window *best = l->windows;
    for (size_t i = 1; i < l->n_windows; i++)
        if (height_in(l, member, &l->windows[i]) > height_in(l, member, best) + 1e-9)
            best = &l->windows[i];
    *window = *best;
    return height_in(l, member, best);
}

/* Returns the corrected p of a member: the smaller of an estimate from draws and an upper bound.
 * The bound counts as at least LEAST_P. */
static double p_of(const level *l, size_t member, tm_window *window) {
    const tm_trial trial = trial_of(l);
    const double height = height_of(l, member, window);
    const double reach = (double)tm_chance_reach(&l->chance, height);
    const double bound = tm_height_bound(&trial, l->largest, height);
    return fmin(corrected((1.0 + reach) / (1.0 + (double)l->chance.n_draws), tests_of(l)),
                fmax(corrected(bound, tests_of(l)), LEAST_P));
}

static int64_t excess_in(const level *l, size_t member, tm_window w) {
    int64_t sum = 0;
    for (size_t u = w.first; u < w.end; u++)
        sum = tm_sum(sum, l->excess[u * l->units.n + member]);
    return sum;
}

/* Returns whether a window counts as the whole recording: it has 80 % of the units, or the member
 * is at least half as late outside of the window as within. */
static bool is_throughout(const level *l, size_t member, tm_window w) {
    size_t n = l->units.n_rows, inside = w.end - w.first;
    if (5 * inside >= 4 * n)
        return true;
    double all = (double)excess_in(l, member, l->windows[0]);
    double in = (double)excess_in(l, member, w);
    return (all - in) / (double)(n - inside) >= 0.5 * in / (double)inside;
}

/* Moves both ends of a window to units in which the member's excess is at least half of its mean
 * excess in the window. This is needed because tested windows start and end only at certain
 * units. */
static tm_window fitted(const level *l, size_t member, tm_window w) {
    double half = 0.5 * (double)excess_in(l, member, w) / (double)(w.end - w.first);
    const int64_t *excess = l->excess + member;
    size_t n = l->units.n;
    while (w.end - w.first > 1 && (double)excess[w.first * n] < half)
        w.first++;
    while (w.end - w.first > 1 && (double)excess[(w.end - 1) * n] < half)
        w.end--;
    while (w.first > 0 && (double)excess[(w.first - 1) * n] >= half)
        w.first--;
    while (w.end < l->units.n_rows && (double)excess[w.end * n] >= half)
        w.end++;
    return w;
}

/* Returns a member's data as a suspect, even if the member is none. */
static tm_suspect as_suspect(const level *l, size_t member) {
    tm_window w;
    const double p = p_of(l, member, &w);
    bool throughout = is_throughout(l, member, w);
    w = throughout ? w : fitted(l, member, w);
    throughout = throughout || is_throughout(l, member, w);
    w = throughout ? l->windows[0] : w;
    return (tm_suspect){.member = l->units.members[member],
                        .from = l->units.from[w.first],
                        .to = l->units.to[w.end - 1],
                        .units = (int64_t)(w.end - w.first) * l->units.each,
                        .excess_ns = excess_in(l, member, w),
                        .p = p,
                        .unit = l->unit,
                        .host = l->hosts,
                        .throughout = throughout};
}

/* Finds the suspect with the largest excess. Returns false if there is none. */
static bool next_suspect(const level *l, double least_ns, tm_suspect *out, size_t *place) {
    bool found = false;
    for (size_t i = 0; i < l->units.n; i++) {
        const tm_suspect s = as_suspect(l, i);
        if (s.p > TM_CHANCE_MOST || (double)s.excess_ns < least_ns ||
            (found && s.excess_ns <= out->excess_ns))
            continue;
        found = true;
        *place = i;
        *out = s;
    }
    return found;
}

/* Returns the minimum excess of a suspect [ns]. */
static double least_excess(const level *l) {
    double whole = 0.0;
    for (size_t u = 0; u < l->units.n_rows; u++) {
        int64_t most = 0;
        for (size_t i = 0; i < l->units.n; i++)
            most = l->units.ns[u * l->units.n + i] > most ? l->units.ns[u * l->units.n + i] : most;
        whole += (double)most;
    }
    return l->least * whole;
}

/* Converts a corrected p to the p of a single test. */
static double uncorrected(const level *l, double p) {
    return -expm1(log1p(-p) / tests_of(l));
}

/* Returns the maximum number of draws for a p near @p limit. */
static double draws_most(const level *l, double limit) {
    const tm_trial trial = trial_of(l);
    const double work = (double)trial.n * (double)(trial.n_units + l->n_windows);
    const double usual = DRAWS_SURE * tests_of(l);
    double n = fmin(usual, WORK_MAX / work);
    if (limit == TM_CHANCE_MOST)
        n = fmax(usual / NEAR_TIMES, fmin(usual * NEAR_TIMES, WORK_NEAR / work));
    return floor(fmax(DRAWS_SURE, fmin(n, DRAWS_MAX)));
}

/* Returns whether more draws may move a member's p across a limit. */
static bool is_open(const level *l, size_t member, double limit) {
    tm_window w;
    const double drawn = (double)l->chance.n_draws;
    const double reach = (double)tm_chance_reach(&l->chance, height_of(l, member, &w));
    const double at_limit = uncorrected(l, limit) * drawn;
    return drawn < draws_most(l, limit) &&
           pow(reach - at_limit, 2.0) <= pow(ERRORS_LEAST, 2.0) * fmax(reach, at_limit);
}

/* Returns whether more draws can no longer change which suspect is next, and how certain it is. */
static bool is_next_decided(const level *l, double least_ns) {
    tm_suspect next = {.excess_ns = (int64_t)ceil(least_ns)};
    size_t place = l->units.n;
    if (next_suspect(l, least_ns, &next, &place) && next.p > LEAST_P &&
        (l->chance.n_draws < DRAWS_SURE || is_open(l, place, TM_CHANCE_MOST) ||
         (next.p > TM_CHANCE_SURE && is_open(l, place, TM_CHANCE_SURE))))
        return false;
    for (size_t i = 0; i < l->units.n; i++)
        if (i != place && as_suspect(l, i).excess_ns >= next.excess_ns &&
            is_open(l, i, TM_CHANCE_MOST))
            return false;
    return true;
}

/* Draws in growing batches until the next suspect is decided. Usually few draws suffice. */
static tm_status draw(level *l, double least_ns, tm_error *err) {
    const tm_trial trial = trial_of(l);
    const double most = fmax(draws_most(l, TM_CHANCE_MOST), draws_most(l, TM_CHANCE_SURE));
    double n = DRAWS_SURE / 16.0;
    while (!is_next_decided(l, least_ns)) {
        while ((size_t)n <= l->chance.n_draws)
            n *= 2.0;
        TM_TRY(tm_chance_draw(&l->chance, &trial, (size_t)fmin(n, most), err));
    }
    return TM_OK;
}

/* Returns whether there is enough data for a test. */
static bool is_testable(const level *l) {
    return l->units.n >= 2 && l->units.n_rows >= (l->unit == TM_UNIT_BLOCK ? UNITS_LEAST : 1);
}

/* Draws often enough to display the p of all members. With DRAWS_SURE / 4 draws, p is accurate to
 * 0.02. With many ranks, there are DRAWS_SURE / 16 draws, and p is accurate to 0.04. */
static tm_status draw_shown(level *l, tm_error *err) {
    const tm_trial trial = trial_of(l);
    const double work = (double)trial.n * (double)trial.n_units;
    double n = DRAWS_SURE / 16.0;
    while (n < DRAWS_SURE / 4.0 && 2.0 * n * work <= WORK_FEW)
        n *= 2.0;
    TM_TRY(tm_chance_draw(&l->chance, &trial, (size_t)n, err));
    return draw(l, least_excess(l), err);
}

static tm_status keep_standings(level *l, tm_vec *out, tm_error *err) {
    bool tested = is_testable(l);
    if (l->units.n_rows > 0)
        TM_TRY(score(l, err));
    if (tested)
        TM_TRY(draw_shown(l, err));
    for (size_t i = 0; i < l->units.n; i++) {
        tm_window w;
        tm_standing s = {l->units.members[i], excess_in(l, i, (tm_window){.end = l->units.n_rows}),
                         tested ? p_of(l, i, &w) : (double)NAN};
        if (!tm_vec_append(out, &s, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Removes a member, or a stage with its members. The caller makes new draws for the others. */
static void drop(level *l, size_t place) {
    tm_own_times_drop(&l->units, place);
    for (size_t i = l->class_of ? l->all.n : 0; i-- > 0;) {
        size_t class = l->class_of[i];
        l->class_of[i] -= class > place;
        if (class != place)
            continue;
        tm_own_times_drop(&l->all, i);
        memmove(l->class_of + i, l->class_of + i + 1, (l->all.n - i) * sizeof *l->class_of);
    }
    tm_chance_free(&l->chance);
}

static tm_status test_level(level *l, tm_vec *suspects, tm_error *err) {
    const double least_ns = least_excess(l);
    while (is_testable(l)) {
        tm_suspect s;
        size_t place = 0;
        TM_TRY(score(l, err));
        TM_TRY(draw(l, least_ns, err));
        if (!next_suspect(l, least_ns, &s, &place))
            break;
        if (!tm_vec_append(suspects, &s, 1))
            return tm_fail_memory(err);
        drop(l, place);
    }
    return TM_OK;
}

/* Members by class (host or stage). Classes are in the order of their lowest members. */
typedef struct class_list {
    size_t n;      /* number of classes */
    size_t *first; /* [n + 1] index in `listed` of the class's first member */
    size_t *listed;
    uint32_t *class_of; /* [members] */
} class_list;

static void free_classes(class_list *c) {
    free(c->first);
    free(c->listed);
    free(c->class_of);
}

/* Lists the members by class. Returns false if out of memory; the caller frees the list in either
 * case. */
static bool list_classes(const int64_t *classes, size_t n, class_list *out) {
    tm_keys known = TM_KEYS(int64_t);
    *out = (class_list){.first = calloc(n + 2, sizeof *out->first),
                        .listed = malloc((n + 1) * sizeof *out->listed),
                        .class_of = malloc((n + 1) * sizeof *out->class_of)};
    bool ok = out->first && out->listed && out->class_of;
    for (size_t i = 0; i < n && ok; i++) {
        out->class_of[i] = tm_keys_add(&known, &classes[i]);
        ok = out->class_of[i] != TM_NO_KEY;
        if (ok)
            out->first[out->class_of[i] + 2]++;
    }
    out->n = known.keys.n;
    tm_keys_free(&known);
    for (size_t k = 1; k < out->n && ok; k++)
        out->first[k + 1] += out->first[k];
    for (size_t i = 0; i < n && ok; i++)
        out->listed[out->first[out->class_of[i] + 1]++] = i;
    return ok;
}

/* Computes the median over the members of each class. A class is identified by its lowest member.
 * @p out stays empty if there is only one class, if a member's class is unknown, or if a class has
 * fewer members than `least`. */
static tm_status by_class(const tm_own_times *t, const int64_t *classes, size_t least,
                          tm_own_times *out, tm_error *err) {
    class_list c;
    int64_t *values = malloc((t->n + 1) * sizeof *values);
    bool fit = list_classes(classes, t->n, &c) && values;
    tm_status status = fit ? TM_OK : tm_fail_memory(err);
    for (size_t k = 0; k < c.n && fit; k++)
        fit = classes[c.listed[c.first[k]]] >= 0 && c.first[k + 1] - c.first[k] >= least;
    if (fit && c.n >= 2)
        status = tm_own_times_create(c.n, t->n_rows, out, err);
    out->parts = t->parts;
    for (size_t row = 0; row < t->n_rows && out->n > 0 && status == TM_OK; row++) {
        for (size_t k = 0; k < c.n; k++) {
            const size_t *own = c.listed + c.first[k];
            size_t n = c.first[k + 1] - c.first[k];
            for (size_t i = 0; i < n; i++)
                values[i] = t->ns[row * t->n + own[i]];
            out->ns[row * c.n + k] = tm_median_any(values, n);
            out->members[k] = t->members[own[0]];
        }
        out->from[row] = t->from[row];
        out->to[row] = t->to[row];
    }
    out->each = t->each;
    free_classes(&c);
    free(values);
    return status;
}

static size_t place_of(const tm_own_times *times, int64_t member) {
    size_t i = 0;
    while (i < times->n && times->members[i] != member)
        i++;
    return i;
}

/* Returns whether the members of a suspect class (host or stage) are late together: 80 % of them
 * have at least half of their median excess, and none has more than 3 times as much. If so, removes
 * them from the test of ranks. */
static bool take_class(const tm_compared *c, const int64_t *classes, const tm_suspect *s,
                       level *ranks, int64_t *values) {
    const tm_own_times *all = c->stretches;
    int64_t class = classes[place_of(all, s->member)], most = 0;
    tm_window whole = {.end = ranks->units.n_rows};
    size_t n = 0, late = 0;
    for (size_t i = 0; i < all->n; i++)
        if (classes[i] == class)
            values[n++] = excess_in(ranks, place_of(&ranks->units, all->members[i]), whole);
    int64_t median = tm_median_any(values, n);
    for (size_t i = 0; i < n; i++) {
        late += 2 * values[i] >= median;
        most = values[i] > most ? values[i] : most;
    }
    /* If the members are not late together, the test of ranks may find a single slow rank, which
     * hardly changes the median of its class. */
    if (median <= 0 || 5 * late < 4 * n || most / 3 > median)
        return false;
    for (size_t i = 0; i < all->n; i++)
        if (classes[i] == class)
            drop(ranks, place_of(&ranks->units, all->members[i]));
    return true;
}

/* From `first` on, keeps only the suspects whose ranks are late together. Removes these ranks from
 * the test of ranks. */
static tm_status keep_classes(const tm_compared *c, const int64_t *classes, size_t first,
                              level *ranks, tm_vec *suspects, tm_error *err) {
    size_t kept = first;
    tm_suspect *v = suspects->data;
    int64_t *values = malloc((c->stretches->n + 1) * sizeof *values);
    tm_status status = values ? TM_OK : tm_fail_memory(err);
    for (size_t i = first; i < suspects->n && status == TM_OK && ranks->units.n >= 2; i++) {
        status = score(ranks, err); /* scores of the remaining ranks */
        if (status == TM_OK && take_class(c, classes, &v[i], ranks, values))
            v[kept++] = v[i];
    }
    suspects->n = kept;
    free(values);
    return status;
}

/* Returns the hosts' share of the significance level. Hosts need little, because they are few, and
 * each is the median of several ranks, so slow hosts stand out clearly. */
static double share_of_hosts(const tm_compared *c) {
    return c->hosts_only ? 1.0 : 0.05;
}

static tm_status find_hosts(const tm_compared *c, const tm_own_times *medians, level *ranks,
                            tm_vec *suspects, tm_error *err) {
    level hosts = {.hosts = true,
                   .chance = {.orders = c->orders ? &c->orders[1] : NULL},
                   .n_tests = c->n_tests / share_of_hosts(c),
                   .least = EXCESS_LEAST};
    size_t first = suspects->n;
    tm_status status = open_level(medians, c->steps, &hosts, err);
    if (status == TM_OK)
        status = test_level(&hosts, suspects, err);
    close_level(&hosts);
    return status == TM_OK ? keep_classes(c, c->hosts, first, ranks, suspects, err) : status;
}

/* Tests members that all have the same work. */
static tm_status find_among(const tm_compared *compared, tm_vec *suspects, tm_vec *standings,
                            tm_error *err) {
    tm_own_times medians = {0};
    level ranks = {.chance = {.orders = compared->orders},
                   .n_tests = compared->n_tests,
                   .least = EXCESS_LEAST};
    tm_status status = by_class(compared->stretches, compared->hosts, 2, &medians, err);
    if (medians.n > 0 && !compared->hosts_only)
        ranks.n_tests /= 1.0 - share_of_hosts(compared);
    if (status == TM_OK)
        status = open_level(compared->stretches, compared->steps, &ranks, err);
    if (status == TM_OK)
        status = keep_standings(&ranks, standings, err);
    if (status == TM_OK && medians.n > 0)
        status = find_hosts(compared, &medians, &ranks, suspects, err);
    if (status == TM_OK && !compared->hosts_only)
        status = test_level(&ranks, suspects, err);
    close_level(&ranks);
    tm_own_times_free(&medians);
    return status;
}

/* Returns how many members are in a member's stage. */
static size_t members_of(const tm_compared *c, size_t member) {
    size_t n = 0;
    for (size_t i = 0; i < c->stretches->n; i++)
        n += c->stages[i] == c->stages[member];
    return n;
}

static bool is_first_of_stage(const tm_compared *c, size_t member) {
    for (size_t i = 0; i < member; i++)
        if (c->stages[i] == c->stages[member])
            return false;
    return true;
}

/* Tests the members of a stage against one another, if there are several.
 * @param first  first member of the stage */
static tm_status find_in_stage(const tm_compared *c, size_t first, double n_tests, tm_vec *suspects,
                               tm_vec *standings, tm_error *err) {
    const tm_own_times *all = c->stretches;
    tm_own_times own = {0};
    int64_t *hosts = malloc((all->n + 1) * sizeof *hosts);
    size_t n = members_of(c, first);
    tm_status status = hosts ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && n >= 2)
        status = tm_own_times_create(n, all->n_rows, &own, err);
    if (own.n > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < all->n; i++) {
            if (c->stages[i] != c->stages[first])
                continue;
            for (size_t row = 0; row < all->n_rows; row++)
                own.ns[row * n + kept] = all->ns[row * all->n + i];
            own.members[kept] = all->members[i];
            hosts[kept++] = c->hosts[i];
        }
        memcpy(own.from, all->from, all->n_rows * sizeof *own.from);
        memcpy(own.to, all->to, all->n_rows * sizeof *own.to);
        tm_compared compared = {
            .stretches = &own, .steps = c->steps, .hosts = hosts, .n_tests = n_tests};
        status = find_among(&compared, suspects, standings, err);
    }
    tm_own_times_free(&own);
    free(hosts);
    return status;
}

/* Opens the level of stages. Its units are made from the times of all members. */
static tm_status open_stages(const tm_compared *c, level *l, tm_error *err) {
    TM_TRY(tm_own_times_units(c->stretches, c->steps, &l->all, &l->unit, err));
    TM_TRY(by_class(&l->all, c->stages, 1, &l->units, err));
    l->class_of = calloc(l->all.n + 1, sizeof *l->class_of);
    if (!l->class_of)
        return tm_fail_memory(err);
    for (size_t i = 0; i < l->all.n; i++)
        while (c->stages[place_of(&l->all, l->units.members[l->class_of[i]])] != c->stages[i])
            l->class_of[i]++;
    return make_room(l, err);
}

/* Tests stages against one another, as if all ranks had the same work. All members of a suspect
 * stage are suspects. Then tests all ranks together, because the few ranks of one stage prove
 * little. */
static tm_status find_across(const tm_compared *c, double n_tests, tm_vec *suspects,
                             tm_error *err) {
    level stages = {.n_tests = n_tests, .least = EXCESS_LEAST};
    level ranks = {.n_tests = n_tests, .least = ACROSS_LEAST};
    tm_vec found = TM_VEC(tm_suspect);
    tm_status status = open_stages(c, &stages, err);
    if (status == TM_OK)
        status = test_level(&stages, &found, err);
    if (status == TM_OK)
        status = open_level(c->stretches, c->steps, &ranks, err);
    if (status == TM_OK)
        status = keep_classes(c, c->stages, 0, &ranks, &found, err);
    for (size_t i = 0; i < found.n && status == TM_OK; i++) {
        tm_suspect s = ((tm_suspect *)found.data)[i];
        int64_t stage = c->stages[place_of(c->stretches, s.member)];
        s.of_stage = true;
        for (size_t k = 0; k < c->stretches->n && status == TM_OK; k++) {
            s.member = c->stretches->members[k];
            if (c->stages[k] == stage && !tm_vec_append(suspects, &s, 1))
                status = tm_fail_memory(err);
        }
    }
    if (status == TM_OK)
        status = test_level(&ranks, suspects, err);
    tm_vec_free(&found);
    close_level(&stages);
    close_level(&ranks);
    return status;
}

static bool has_stages(const tm_compared *c) {
    bool several = false, known = c->stages != NULL;
    for (size_t i = 0; i < c->stretches->n && known; i++) {
        several = several || c->stages[i] != c->stages[0];
        known = c->stages[i] >= 0;
    }
    return several && known;
}

tm_status tm_suspects_find(const tm_compared *c, tm_vec *suspects, tm_vec *standings,
                           tm_error *err) {
    if (!has_stages(c))
        return find_among(c, suspects, standings, err);
    /* There is a test of stages, a test of all ranks, and a test for each stage that has several
     * members. */
    double n_tests = 2.0;
    for (size_t i = 0; i < c->stretches->n; i++)
        n_tests += is_first_of_stage(c, i) && members_of(c, i) >= 2;
    n_tests *= c->n_tests;
    for (size_t i = 0; i < c->stretches->n; i++)
        if (is_first_of_stage(c, i))
            TM_TRY(find_in_stage(c, i, n_tests, suspects, standings, err));
    return find_across(c, n_tests, suspects, err);
}
