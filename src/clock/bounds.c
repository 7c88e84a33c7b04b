/* What causality alone says: the fit is moved where it breaks it, and each clock gets the interval
 * in which nothing is broken. */
#include "clock/work.h"

enum { MAX_SWEEPS = 50 };
#define PROJECT_SIGMAS 3.0 /* no clock is moved further than so many of its uncertainties */

/* The two outermost values of an event, of different domains: whoever is bounded by an event is
 * bounded by the others in it, never by itself. Values are to be maximal. */
typedef struct outermost {
    double first, second;
    int32_t domain; /* of the first; -1 without */
} outermost;

static void push_out(outermost *most, int32_t domain, double value) {
    if (most->domain < 0 || value > most->first) {
        most->second = most->first;
        most->first = value;
        most->domain = domain;
    } else if (value > most->second) {
        most->second = value;
    }
}

static double other_than(const outermost *most, int32_t domain) {
    return most->domain == domain ? most->second : most->first;
}

/* Last begins and first ends (negated) of an event by the present fit, within a component; how much
 * of each each domain's own clock still adds stands in `give` and `take` (both may be NULL). */
static void find_outermost(const tm_work *work, const tm_work_event *event, const double *give,
                           const double *take, outermost out[2]) {
    out[0] = out[1] = (outermost){.first = -HUGE_VAL, .second = -HUGE_VAL, .domain = -1};
    for (size_t i = 0; i < event->n; i++) {
        const tm_work_row *row = work->rows + event->first + i;
        int32_t h = row->domain;
        if (row->flags & TM_CLOCK_GIVES)
            push_out(&out[0], h, rint(tm_work_true(work, h, row->begin)) + (give ? give[h] : 0.0));
        if (row->flags & TM_CLOCK_TAKES)
            push_out(&out[1], h,
                     -rint(tm_work_true(work, h, row->end_min)) + (take ? take[h] : 0.0));
    }
}

static bool usable(const tm_work *work, const tm_work_event *event) {
    if (event->suspect || event->n < 2)
        return false;
    for (size_t i = 1; i < event->n; i++)
        if (work->component[work->rows[event->first + i].domain] !=
            work->component[work->rows[event->first].domain])
            return false;
    return true;
}

/* For each domain, by how much it begins too late (first half) and ends too early (second half) for
 * another of its component. Those are positive; all others 0. */
static tm_status find_breaches(tm_work *work, int64_t *worst, tm_error *err) {
    size_t n = (size_t)work->n_domains;
    memset(work->counts, 0, 2 * n * sizeof *work->counts);
    for (size_t k = 0; k < work->n_events; k++) {
        const tm_work_event *event = work->events + k;
        outermost most[2];
        if (!usable(work, event))
            continue;
        find_outermost(work, event, NULL, NULL, most);
        for (size_t i = 0; i < event->n; i++) {
            const tm_work_row *row = work->rows + event->first + i;
            size_t h = (size_t)row->domain;
            double late = rint(tm_work_true(work, row->domain, row->begin)) +
                          other_than(&most[1], row->domain);
            double early = other_than(&most[0], row->domain) -
                           rint(tm_work_true(work, row->domain, row->end_min));
            if (row->flags & TM_CLOCK_GIVES && late > (double)work->counts[h])
                work->counts[h] = (int64_t)late;
            if (row->flags & TM_CLOCK_TAKES && early > (double)work->counts[n + h])
                work->counts[n + h] = (int64_t)early;
        }
    }
    TM_TRY(tm_work_max(work, work->counts, 2 * n, err));
    *worst = 0;
    for (size_t i = 0; i < n; i++)
        *worst = work->counts[i] > *worst ? work->counts[i] : *worst;
    return TM_OK;
}

/**
 * Moves clocks until no event of a component is broken any more: each breach by half of it from
 * either side, the largest first. Where that does not succeed, or would move a clock further than
 * its uncertainty allows, the fit stays as it was.
 * @param models  the uncertainties
 * @param moved   whether the fit has changed
 */
tm_status tm_work_project(tm_work *work, const tm_clock_model *models, bool *moved, tm_error *err) {
    int32_t n = work->n_domains;
    double *before = work->sorted;
    int64_t worst = 0;
    bool allowed = true;
    memcpy(before, work->middle, (size_t)n * sizeof *before);
    TM_TRY(find_breaches(work, &worst, err));
    *moved = worst > 0;
    for (int i = 0; i < MAX_SWEEPS && worst > 0; i++) {
        for (int32_t h = 0; h < n; h++)
            work->middle[h] +=
                ceil((double)work->counts[n + h] / 2.0) - ceil((double)work->counts[h] / 2.0);
        TM_TRY(find_breaches(work, &worst, err));
    }
    for (int32_t h = 0; h < n; h++)
        allowed = allowed &&
                  fabs(work->middle[h] - before[h]) <= PROJECT_SIGMAS * models[h].uncertainty_ns;
    if (worst > 0 || !allowed) {
        memcpy(work->middle, before, (size_t)n * sizeof *before);
        *moved = false;
    }
    return TM_OK;
}

/* The domain of a component that its events pin best. */
static void find_references(const tm_work *work, const tm_clock_model *models, int32_t *reference) {
    for (int32_t h = 0; h < work->n_domains; h++)
        reference[h] = -1;
    for (int32_t h = 0; h < work->n_domains; h++) {
        int32_t *best = &reference[work->component[h]];
        if (*best < 0 || models[h].anchors > models[*best].anchors)
            *best = h;
    }
}

/* One round of Bellman and Ford over all events: tightens how far each clock can be moved up
 * (`up`) and down (`down`, positive) while the reference stays. `counts` has both, negated, so that
 * the tightest is the largest. */
static void tighten(tm_work *work, const double *up, const double *down, double slack) {
    size_t n = (size_t)work->n_domains;
    for (size_t k = 0; k < work->n_events; k++) {
        const tm_work_event *event = work->events + k;
        outermost most[2];
        if (!usable(work, event))
            continue;
        /* Latest that the last begin can get down to; earliest, negated, that the first end can
         * get up to. */
        find_outermost(work, event, down, up, most);
        for (size_t i = 0; i < event->n; i++) {
            const tm_work_row *row = work->rows + event->first + i;
            size_t h = (size_t)row->domain;
            double raise = rint(tm_work_true(work, row->domain, row->begin)) +
                           other_than(&most[1], row->domain) - slack;
            double lower = other_than(&most[0], row->domain) -
                           rint(tm_work_true(work, row->domain, row->end_min)) - slack;
            if (row->flags & TM_CLOCK_GIVES && raise > (double)work->counts[h])
                work->counts[h] = (int64_t)raise;
            if (row->flags & TM_CLOCK_TAKES && lower > (double)work->counts[n + h])
                work->counts[n + h] = (int64_t)lower;
        }
    }
}

/* No bound yet: so large that sums of it stay whole in a double and in an integer. */
#define FAR_NS 0x1p52

/**
 * Sets the interval of each clock in which, with the clock of its component's reference as it is,
 * no event is broken worse than by the fit as it stands (so that the fit itself is always within).
 * @param models  anchors; low, high (from the fit's offset, to which they are added) and bounded
 */
tm_status tm_work_bound(tm_work *work, tm_clock_model *models, tm_error *err) {
    size_t n = (size_t)work->n_domains;
    int32_t *reference = work->parent;
    double *up = work->normal.column, *down = up + n; /* negated: at most 0 */
    int64_t slack = 0;
    bool changed = true;
    find_references(work, models, reference);
    TM_TRY(find_breaches(work, &slack, err));
    for (size_t h = 0; h < n; h++) {
        bool still = reference[work->component[h]] == (int32_t)h;
        up[h] = down[h] = still ? 0.0 : -FAR_NS;
    }
    for (size_t round = 0; round < n + 1 && changed; round++) {
        for (size_t h = 0; h < n; h++) {
            work->counts[h] = (int64_t)up[h];
            work->counts[n + h] = (int64_t)down[h];
        }
        tighten(work, up, down, (double)slack);
        TM_TRY(tm_work_max(work, work->counts, 2 * n, err));
        changed = false;
        for (size_t h = 0; h < n; h++) {
            changed = changed || (double)work->counts[h] != up[h] ||
                      (double)work->counts[n + h] != down[h];
            up[h] = (double)work->counts[h];
            down[h] = (double)work->counts[n + h];
        }
    }
    for (size_t h = 0; h < n; h++) {
        /* Half of the range: whatever was reached from the reference is far below it. */
        models[h].bounded =
            up[h] > -FAR_NS / 2 && down[h] > -FAR_NS / 2 && models[h].method == TM_CLOCK_FIT;
        models[h].low_ns = models[h].bounded ? (int64_t)down[h] : 0;
        models[h].high_ns = models[h].bounded ? (int64_t)-up[h] : 0;
    }
    return TM_OK;
}
