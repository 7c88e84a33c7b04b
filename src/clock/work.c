#include "work.h"

#include <stdlib.h>

/* A time further from its window than this (13 days) is a wrong record, not an event. */
#define FARTHEST_NS ((int64_t)1 << 50)

void tm_work_destroy(tm_work *work) {
    if (!work)
        return;
    free(work->rows);
    free(work->events);
    free(work->middle);
    free(work->rate);
    free(work->wall);
    free(work->sigma);
    free(work->steady);
    free(work->strong);
    free(work->component);
    free(work->tied);
    free(work->noise);
    free(work->n_of_class);
    free(work->anchors);
    free(work->sorted);
    free(work->votes);
    free(work->parent);
    free(work->step_bin);
    free(work->counts);
    tm_normal_free(&work->normal);
    tm_select_free(&work->select);
    free(work);
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static bool take_domains(tm_work *work, size_t n) {
    work->middle = calloc(n + 1, sizeof *work->middle);
    work->rate = calloc(n + 1, sizeof *work->rate);
    work->wall = calloc(n + 1, sizeof *work->wall);
    work->sigma = calloc(n + 1, sizeof *work->sigma);
    work->steady = calloc(n + 1, sizeof *work->steady);
    work->strong = calloc(n + 1, sizeof *work->strong);
    work->component = calloc(n + 1, sizeof *work->component);
    work->tied = calloc(n + 1, sizeof *work->tied);
    work->anchors = calloc(n + 1, sizeof *work->anchors);
    work->sorted = calloc(n + 1, sizeof *work->sorted);
    work->votes = calloc(n + 1, sizeof *work->votes);
    work->parent = calloc(n + 1, sizeof *work->parent);
    work->step_bin = calloc(n + 1, sizeof *work->step_bin);
    return work->middle && work->rate && work->wall && work->sigma && work->steady &&
           work->strong && work->component && work->tied && work->anchors && work->sorted &&
           work->votes && work->parent && work->step_bin;
}

static bool take_memory(tm_work *work) {
    size_t n = (size_t)work->n_domains, classes = (size_t)work->n_classes;
    size_t by_domain = larger(2 * TM_WORK_BINS, 2 * (size_t)TM_CLOCK_STRATA + 1);
    work->n_counts = larger(larger(classes, 1) * TM_SPREAD_BINS, n * by_domain + 8);
    work->rows = calloc(work->input->n_ends + 1, sizeof *work->rows);
    work->events = calloc(work->input->n_ends + 1, sizeof *work->events);
    work->noise = calloc(classes + 1, sizeof *work->noise);
    work->n_of_class = calloc(classes + 1, sizeof *work->n_of_class);
    work->counts = calloc(work->n_counts, sizeof *work->counts);
    return work->rows && work->events && work->noise && work->n_of_class && work->counts &&
           take_domains(work, n) && tm_normal_create(&work->normal, work->n_domains) &&
           tm_select_create(&work->select, 2 * n);
}

static bool near(int64_t time, int64_t middle) {
    return time > middle - FARTHEST_NS && time < middle + FARTHEST_NS;
}

/* Copies a row; false where its times cannot be meant. What it does not do has no time. */
static bool copy_row(const tm_clock_input *input, size_t i, tm_work_row *out) {
    const tm_clock_end *end = input->ends + i;
    assert(end->domain >= 0 && end->domain < input->n_domains && end->n_ranks > 0);
    assert(end->noise_class < input->n_classes && end->stratum < TM_CLOCK_STRATA);
    int64_t middle = input->domains[end->domain].middle_ns;
    bool gives = end->flags & TM_CLOCK_GIVES, takes = end->flags & TM_CLOCK_TAKES;
    bool anchor = end->flags & TM_CLOCK_ANCHOR;
    if ((gives && !near(end->begin_max_ns, middle)) || (takes && !near(end->end_min_ns, middle)) ||
        (anchor && !near(end->end_ns, middle)))
        return false;
    *out = (tm_work_row){.begin = gives ? (double)(end->begin_max_ns - middle) : 0.0,
                         .end_min = takes ? (double)(end->end_min_ns - middle) : 0.0,
                         .end = anchor ? (double)(end->end_ns - middle) : 0.0,
                         .root = sqrt((double)end->n_ranks),
                         .input = i,
                         .domain = end->domain,
                         .n_ranks = end->n_ranks,
                         .noise_class = end->noise_class,
                         .flags = end->flags,
                         .stratum = end->stratum};
    return true;
}

static void copy_rows(tm_work *work) {
    const tm_clock_input *input = work->input;
    for (size_t i = 0; i < input->n_ends; i++) {
        bool begins = i == 0 || input->ends[i].event != input->ends[i - 1].event;
        assert(begins || input->ends[i].domain > input->ends[i - 1].domain);
        if (begins)
            work->events[work->n_events++] = (tm_work_event){.first = work->n_rows};
        tm_work_event *event = &work->events[work->n_events - 1];
        if (!copy_row(input, i, &work->rows[work->n_rows]))
            continue;
        event->n_anchors += (work->rows[work->n_rows].flags & TM_CLOCK_ANCHOR) != 0;
        event->n++;
        work->n_rows++;
    }
}

/* The domain from whose window true times count, and where each wall clock puts each window. */
static void place_windows(tm_work *work) {
    const tm_clock_domain *domains = work->input->domains;
    while (work->lead < work->n_domains && !isfinite(domains[work->lead].wall_ns))
        work->lead++;
    work->lead = work->lead < work->n_domains ? work->lead : 0;
    for (int32_t h = 0; h < work->n_domains; h++) {
        int64_t from_lead = domains[h].middle_ns - domains[work->lead].middle_ns;
        bool known = near(from_lead, 0);
        work->wall[h] = known ? (double)from_lead : 0.0;
        work->sigma[h] = known && isfinite(domains[h].wall_ns) ? domains[h].wall_ns : HUGE_VAL;
        work->middle[h] = work->wall[h];
        work->component[h] = work->strong[h] = h;
    }
}

/* What bounds the sums over events: how many anchors each class has, and how far out they lie. */
static tm_status count_anchors(tm_work *work, tm_error *err) {
    int64_t farthest = 1;
    for (size_t k = 0; k < work->n_events; k++) {
        const tm_work_event *event = work->events + k;
        for (size_t i = 0; i < event->n && event->n_anchors > 1; i++) {
            const tm_work_row *row = work->rows + event->first + i;
            if (!(row->flags & TM_CLOCK_ANCHOR))
                continue;
            int64_t distance = (int64_t)fabs(row->end);
            farthest = distance > farthest ? distance : farthest;
            work->n_of_class[row->noise_class] += (int64_t)ceil(row->root);
        }
    }
    TM_TRY(tm_work_max(work, &farthest, 1, err));
    work->reach = (double)farthest;
    return tm_work_sum(work, work->n_of_class, (size_t)work->n_classes, err);
}

tm_status tm_work_create(const tm_clock_input *input, const tm_clock_reducer *reducer, bool ready,
                         tm_work **out, tm_error *err) {
    tm_work *work = calloc(1, sizeof *work);
    if (work)
        *work = (tm_work){.input = input,
                          .reducer = reducer,
                          .n_domains = input->n_domains,
                          .n_classes = input->n_classes};
    int64_t failed = !ready || !work || !take_memory(work);
    bool own = failed != 0;
    tm_status status = reducer->max(reducer->context, &failed, 1, err);
    if (status == TM_OK && (own || failed))
        status = own ? tm_fail_memory(err)
                     : tm_fail(err, TM_ERR_FAULT, NULL, -1, "another process is out of memory");
    if (status == TM_OK) {
        copy_rows(work);
        place_windows(work);
        status = count_anchors(work, err);
    }
    if (status != TM_OK) {
        tm_work_destroy(work);
        return status;
    }
    *out = work;
    return TM_OK;
}

size_t tm_work_gather(tm_work *work, const tm_work_event *event, double *middle) {
    size_t n = 0;
    if (event->n_anchors < 2)
        return 0;
    for (size_t i = event->first; i < event->first + event->n; i++) {
        const tm_work_row *row = work->rows + i;
        if (!(row->flags & TM_CLOCK_ANCHOR))
            continue;
        double y = tm_work_true(work, row->domain, row->end);
        work->anchors[n] =
            (tm_anchor){.row = i, .domain = row->domain, .x = row->end / work->reach, .y = y};
        work->sorted[n++] = y;
    }
    double upper = tm_kth(work->sorted, n, n / 2);
    *middle = n % 2 ? upper : (upper + tm_kth(work->sorted, n, n / 2 - 1)) / 2.0;
    return n;
}
