#include "timeline_plan.h"

#include <stdlib.h>

#include "base/sorted.h"

enum {
    N_SLICES = 32,   /* number of slices of a job without steps */
    EVENT_BYTES = 8, /* assumed size of an event in the page [B], encoded in base64; measured sizes
                        are 2.7 to 7.9 */
    MEMBER_BYTES = 12, /* assumed size of a participation [B]; measured: 11.4 */
    EVENTS_LEAST = 20000,
    TEXT_LEAST = 32,
    TEXTS_SHRINK = 8
};

/* Safety margin. A reduced budget is also multiplied by this factor, because events differ in
 * size. */
static const double EVENTS_SHRINK = 0.8;

tm_timeline_budget tm_timeline_budget_of(size_t n_ranks, size_t left_bytes) {
    tm_timeline_budget budget = {.n_buckets = 8192, .n_events = 600000, .n_members = 200000};
    if (n_ranks > 16)
        budget = (tm_timeline_budget){.n_buckets = 4096, .n_events = 1000000, .n_members = 200000};
    if (n_ranks > 256)
        budget = (tm_timeline_budget){.n_buckets = 1024, .n_events = 1800000, .n_members = 200000};
    budget.text_bytes = TM_BYTES_TEXT_MAX;
    tm_timeline_leave(&budget, left_bytes);
    return budget;
}

void tm_timeline_shrink(tm_timeline_budget *budget, size_t size, size_t room) {
    size_t texts = budget->text_bytes / TEXTS_SHRINK;
    double fits = (double)tm_timeline_events(budget, 0) * (double)room / (double)size;
    budget->text_bytes = texts > TEXT_LEAST ? texts : TEXT_LEAST;
    budget->n_events = (size_t)(fits * EVENTS_SHRINK);
    budget->few_marks = true;
}

void tm_timeline_leave(tm_timeline_budget *budget, size_t left_bytes) {
    size_t most = left_bytes / 3 / MEMBER_BYTES;
    budget->n_members = budget->n_members < most ? budget->n_members : most;
    budget->left_bytes = left_bytes;
}

size_t tm_timeline_events(const tm_timeline_budget *budget, size_t n_members) {
    size_t members = n_members * MEMBER_BYTES;
    size_t left = members < budget->left_bytes ? budget->left_bytes - members : 0;
    size_t most = left / EVENT_BYTES > EVENTS_LEAST ? left / EVENT_BYTES : EVENTS_LEAST;
    return budget->n_events < most || budget->left_bytes == 0 ? budget->n_events : most;
}

void tm_plan_init(tm_plan *plan, bool steps) {
    *plan = (tm_plan){.cards = TM_VEC(tm_card),
                      .parts = TM_VEC(tm_plan_part),
                      .spans = TM_VEC(tm_span),
                      .steps = steps};
}

void tm_plan_free(tm_plan *plan) {
    TM_VECS_FREE(&plan->cards, &plan->parts, &plan->spans);
}

static tm_plan_part *parts_of(const tm_plan *plan, const tm_card *card) {
    return (tm_plan_part *)plan->parts.data + card->first_part;
}

/* Returns the index of the first part that ends after a time; n if there is none. */
static size_t part_ending_after(const tm_plan_part *parts, size_t n, int64_t begin_ns) {
    return TM_FIRST_AFTER(tm_plan_part, end_ns, parts, n, begin_ns);
}

/* Returns the same as part_ending_after, but searches forwards from part @p i. Part @p i must be
 * the result for an earlier or equal time. */
static size_t next_part_ending_after(const tm_plan_part *parts, size_t n, size_t i,
                                     int64_t begin_ns) {
    while (i < n && parts[i].end_ns <= begin_ns)
        i++;
    return i;
}

static tm_plan_part *part_at(const tm_plan *plan, const tm_card *card, int64_t begin_ns) {
    tm_plan_part *parts = parts_of(plan, card);
    size_t i = part_ending_after(parts, card->n_parts, begin_ns);
    return i < card->n_parts && parts[i].begin_ns <= begin_ns ? &parts[i] : NULL;
}

static bool add_parts(tm_plan *plan, const tm_timeline *timeline, const tm_buckets *job) {
    tm_buckets slices = {job->begin_ns, job->duration_ns, N_SLICES};
    size_t n = plan->steps ? timeline->n_steps : N_SLICES;
    for (size_t i = 0; i < n; i++) {
        tm_plan_part part = {.number = (int64_t)i};
        if (plan->steps) {
            const tm_step *step = &timeline->steps[i];
            part.number = step->number;
            part.begin_ns = tm_rank_clock_true(&timeline->clock, step->begin_ns);
            part.end_ns = tm_rank_clock_true(&timeline->clock, step->end_ns);
        } else {
            part.begin_ns = job->begin_ns + tm_bucket_begin(&slices, i);
            part.end_ns = job->begin_ns + tm_bucket_begin(&slices, i + 1);
        }
        if (!tm_vec_append(&plan->parts, &part, 1))
            return false;
    }
    return true;
}

static bool add_spans(tm_plan *plan, const tm_timeline *timeline) {
    for (size_t i = 0; i < timeline->n_spans; i++) {
        tm_span span = timeline->spans[i];
        if (span.n_durations == 0)
            continue;
        span.begin_ns = tm_rank_clock_true(&timeline->clock, span.begin_ns);
        span.end_ns = tm_rank_clock_true(&timeline->clock, span.end_ns);
        span.gpu_end_ns = tm_rank_clock_true(&timeline->clock, span.gpu_end_ns);
        if (!tm_vec_append(&plan->spans, &span, 1))
            return false;
    }
    return true;
}

static void count_events(const tm_plan *plan, const tm_timeline *timeline, tm_card *card) {
    tm_plan_part *parts = parts_of(plan, card);
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        size_t at = 0;
        for (size_t row = track->first; row < track->first + track->count; row++) {
            tm_shown shown = tm_shown_as(timeline, track, row);
            if (shown == TM_SHOWN_NOT)
                continue;
            int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]);
            bool gpu = shown == TM_SHOWN_GPU;
            card->n_gpu += gpu;
            card->n_host += !gpu;
            at = next_part_ending_after(parts, card->n_parts, at, begin);
            if (at < card->n_parts && parts[at].begin_ns <= begin) {
                parts[at].n_gpu += gpu;
                parts[at].n_host += !gpu;
            }
        }
    }
}

static void sum_waits(const tm_plan *plan, const tm_timeline *timeline, const tm_card *card) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        int64_t begin = tm_rank_clock_true(&timeline->clock, timeline->begin_ns[attrs[i].event]);
        tm_plan_part *part = attrs[i].wait_ns > 0 ? part_at(plan, card, begin) : NULL;
        if (part)
            part->wait_ns += attrs[i].wait_ns;
    }
}

tm_status tm_plan_add(tm_plan *plan, const tm_timeline *timeline, const tm_buckets *job,
                      tm_error *err) {
    tm_card card = {.rank = timeline->rank,
                    .clock = timeline->clock,
                    .world_size = timeline->world_size,
                    .first_part = plan->parts.n,
                    .first_span = plan->spans.n,
                    .truncated = timeline->truncated,
                    .shown = !plan->ranks || tm_page_keeps(plan->ranks, timeline->rank),
                    .place = (uint32_t)plan->n_shown};
    plan->n_shown += card.shown;
    if (!card.shown)
        return tm_vec_append(&plan->cards, &card, 1) ? TM_OK : tm_fail_memory(err);
    if (!add_parts(plan, timeline, job) || !add_spans(plan, timeline))
        return tm_fail_memory(err);
    card.n_parts = plan->parts.n - card.first_part;
    card.n_spans = plan->spans.n - card.first_span;
    count_events(plan, timeline, &card);
    sum_waits(plan, timeline, &card);
    return tm_vec_append(&plan->cards, &card, 1) ? TM_OK : tm_fail_memory(err);
}

typedef struct step_sum {
    int64_t number, wait_ns, longest_ns;
    size_t n_gpu;
} step_sum;

typedef struct chooser {
    tm_plan *plan;
    const tm_plan_wishes *wishes;
    step_sum *steps; /* owned; sorted by wait, largest first */
    size_t n_steps;
    size_t left; /* number of events that still fit */
} chooser;

TM_ORDER_BY(by_number, step_sum, number);

static int by_wait(const void *a, const void *b) {
    const step_sum *x = a, *y = b;
    int order = tm_order_i64(y->wait_ns, x->wait_ns);
    return order ? order : by_number(a, b);
}

static int by_length(const void *a, const void *b) {
    const step_sum *x = a, *y = b;
    int order = tm_order_i64(x->longest_ns, y->longest_ns);
    return order ? order : by_number(a, b);
}

static bool sum_steps(chooser *c) {
    const tm_plan_part *parts = c->plan->parts.data;
    size_t n = 0;
    c->steps = calloc(c->plan->parts.n + 1, sizeof *c->steps);
    if (!c->steps)
        return false;
    for (size_t i = 0; i < c->plan->parts.n; i++)
        c->steps[i] = (step_sum){parts[i].number, parts[i].wait_ns,
                                 parts[i].end_ns - parts[i].begin_ns, parts[i].n_gpu};
    qsort(c->steps, c->plan->parts.n, sizeof *c->steps, by_number);
    for (size_t i = 0; i < c->plan->parts.n; i++) {
        step_sum *into =
            n > 0 && c->steps[n - 1].number == c->steps[i].number ? &c->steps[n - 1] : NULL;
        if (!into) {
            c->steps[n++] = c->steps[i];
            continue;
        }
        into->wait_ns += c->steps[i].wait_ns;
        into->n_gpu += c->steps[i].n_gpu;
        into->longest_ns =
            c->steps[i].longest_ns > into->longest_ns ? c->steps[i].longest_ns : into->longest_ns;
    }
    c->n_steps = n;
    return true;
}

static bool is_near(const tm_plan_wishes *wishes, int64_t rank) {
    for (size_t i = 0; i < wishes->n_near; i++)
        if (wishes->near[i] == rank)
            return true;
    return false;
}

/* Returns the turn in which a rank's events are chosen: 0 for the blamed rank, 1 for the other
 * ranks of its host, 2 for all other ranks. */
static int turn_of(const tm_plan_wishes *wishes, int64_t rank) {
    return rank == wishes->rank ? 0 : is_near(wishes, rank) ? 1 : 2;
}

static void take(chooser *c, const tm_card *card, int64_t number, tm_shown shown) {
    tm_plan_part *parts = parts_of(c->plan, card);
    for (size_t i = 0; i < card->n_parts; i++) {
        bool *chosen = shown == TM_SHOWN_GPU ? &parts[i].gpu : &parts[i].host;
        size_t n = shown == TM_SHOWN_GPU ? parts[i].n_gpu : parts[i].n_host;
        if (parts[i].number != number || *chosen || n > c->left)
            continue;
        *chosen = true;
        c->left -= n;
    }
}

/* Chooses the events of a step on all ranks, most informative ranks first: the budget may not
 * suffice for all. */
static void take_step(chooser *c, int64_t number, tm_shown shown) {
    const tm_card *cards = c->plan->cards.data;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < c->plan->cards.n; i++)
            if (turn_of(c->wishes, cards[i].rank) == turn)
                take(c, &cards[i], number, shown);
}

static void take_host(chooser *c, int64_t number) {
    const tm_card *cards = c->plan->cards.data;
    for (size_t i = 0; i < c->plan->cards.n; i++)
        if (cards[i].rank == c->wishes->rank)
            take(c, &cards[i], number, TM_SHOWN_HOST);
}

static void choose_parts(chooser *c) {
    int64_t worst = c->wishes->step >= 0 ? c->wishes->step : c->steps[0].number;
    qsort(c->steps, c->n_steps, sizeof *c->steps, by_length);
    int64_t median = c->steps[(c->n_steps - 1) / 2].number;
    take_step(c, worst, TM_SHOWN_GPU);
    take_step(c, median, TM_SHOWN_GPU);
    take_host(c, worst);
    take_host(c, median);
    qsort(c->steps, c->n_steps, sizeof *c->steps, by_wait);
    /* Chooses a further step only if its events fit on all ranks. */
    for (size_t i = 0; i < c->n_steps; i++)
        if (c->steps[i].n_gpu <= c->left)
            take_step(c, c->steps[i].number, TM_SHOWN_GPU);
    for (size_t i = 0; i < c->n_steps; i++)
        take_host(c, c->steps[i].number);
    take_step(c, worst, TM_SHOWN_HOST);
}

tm_status tm_plan_choose(tm_plan *plan, const tm_plan_wishes *wishes, tm_error *err) {
    const tm_card *cards = plan->cards.data;
    chooser c = {.plan = plan, .wishes = wishes, .left = wishes->n_events};
    size_t n = 0;
    for (size_t i = 0; i < plan->cards.n; i++)
        n += cards[i].n_gpu + cards[i].n_host;
    plan->all = n <= wishes->n_events;
    if (plan->all)
        return TM_OK;
    if (!sum_steps(&c))
        return tm_fail_memory(err);
    if (c.n_steps > 0) {
        qsort(c.steps, c.n_steps, sizeof *c.steps, by_wait);
        choose_parts(&c);
    }
    free(c.steps);
    return TM_OK;
}

bool tm_plan_has(tm_plan_walk *walk, tm_shown shown, int64_t begin_ns, int64_t duration_ns) {
    if (walk->plan->all)
        return true;
    const tm_plan_part *parts = parts_of(walk->plan, walk->card);
    size_t n = walk->card->n_parts;
    int64_t end = begin_ns + (duration_ns > 0 ? duration_ns : 1);
    walk->part = next_part_ending_after(parts, n, walk->part, begin_ns);
    for (size_t i = walk->part; i < n && parts[i].begin_ns < end; i++)
        if (shown == TM_SHOWN_GPU ? parts[i].gpu : parts[i].host)
            return true;
    return false;
}
