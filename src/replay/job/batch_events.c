#include "batch_events.h"

#include <stdlib.h>
#include <string.h>

bool tm_drafts_open(tm_drafts *drafts, const tm_timeline *timelines, size_t n,
                    const tm_timebase *base, const tm_names *names) {
    *drafts =
        (tm_drafts){.timelines = timelines, .n = n, .base = base, .most_bytes = TM_DRAFTS_BYTES};
    drafts->own = calloc(n + 1, sizeof *drafts->own);
    drafts->ranks = calloc(n + 1, sizeof *drafts->ranks);
    return tm_call_classes_init(&drafts->classes, names) && drafts->own && drafts->ranks;
}

void tm_drafts_free(tm_drafts *drafts) {
    for (size_t i = 0; i < drafts->n && drafts->own; i++)
        tm_draft_free(&drafts->own[i]);
    free(drafts->own);
    free(drafts->ranks);
    tm_call_classes_free(&drafts->classes);
    *drafts = (tm_drafts){0};
}

static bool same_tracks(const tm_timeline *a, const tm_timeline *b) {
    for (size_t k = 0; k < a->n_tracks; k++)
        if (a->tracks[k].kind != b->tracks[k].kind || a->tracks[k].first != b->tracks[k].first ||
            a->tracks[k].count != b->tracks[k].count)
            return false;
    for (size_t k = 0; k < a->n_steps; k++)
        if (a->steps[k].number != b->steps[k].number ||
            a->steps[k].annotated != b->steps[k].annotated)
            return false;
    return true;
}

/* Returns whether two ranks have equal columns. Compares all columns on which a tm_draft depends,
 * except times. */
static bool same_columns(const tm_timeline *a, const tm_timeline *b) {
    const size_t n = a->n_events;
    return n == b->n_events && a->n_tracks == b->n_tracks && a->n_steps == b->n_steps &&
           same_tracks(a, b) && memcmp(a->name, b->name, n * sizeof *a->name) == 0 &&
           memcmp(a->launch, b->launch, n * sizeof *a->launch) == 0 &&
           memcmp(a->step, b->step, n * sizeof *a->step) == 0 &&
           memcmp(a->category, b->category, n) == 0 && memcmp(a->kind, b->kind, n) == 0 &&
           memcmp(a->role, b->role, n) == 0;
}

/* Sets the times in a leader's draft to those of rank i. Returns whether the draft is then valid
 * for rank i. */
static bool take(tm_drafts *d, uint32_t leader, size_t i) {
    tm_draft *draft = &d->own[leader];
    if (draft->timeline != &d->timelines[i] && !tm_draft_take(draft, &d->timelines[i], d->base))
        draft->timeline = NULL;
    return draft->timeline != NULL;
}

/* Returns the leader of rank i: a rank whose draft is valid for rank i, or i itself. */
static uint32_t find_leader(tm_drafts *d, size_t i, int64_t stage) {
    for (size_t k = 0; k < d->n_latest; k++) {
        const uint32_t leader = d->latest[k];
        if (d->own[leader].stage == stage &&
            same_columns(&d->timelines[leader], &d->timelines[i]) && take(d, leader, i))
            return leader;
    }
    return (uint32_t)i;
}

static size_t bytes_of(const tm_draft *draft) {
    return draft->events.n * draft->events.size + draft->calls.n * draft->calls.size +
           draft->stream_waits.n * draft->stream_waits.size + draft->spans.n * draft->spans.size;
}

static tm_status make(tm_drafts *d, size_t i, int64_t stage, tm_error *err) {
    tm_draft *draft = &d->own[i];
    TM_TRY(tm_draft_make(&d->timelines[i], &d->classes, d->base, draft, err));
    draft->stage = stage;
    d->ranks[i].kept = true;
    d->bytes += bytes_of(draft);
    return TM_OK;
}

static void drop(tm_drafts *d, size_t i) {
    d->bytes -= d->ranks[i].kept ? bytes_of(&d->own[i]) : 0;
    d->ranks[i].kept = false;
    tm_draft_free(&d->own[i]);
}

static void add_leader(tm_drafts *d, uint32_t i) {
    /* `past` leaves `latest`, so later ranks are not compared with it */
    const uint32_t past = d->latest[TM_DRAFTS_LATEST - 1];
    if (d->n_latest == TM_DRAFTS_LATEST && d->bytes > d->most_bytes && !d->ranks[past].leads)
        drop(d, past);
    d->n_latest += d->n_latest < TM_DRAFTS_LATEST;
    memmove(d->latest + 1, d->latest, (d->n_latest - 1) * sizeof *d->latest);
    d->latest[0] = i;
}

tm_status tm_drafts_make(tm_drafts *drafts, size_t i, int64_t stage, const tm_draft **out,
                         tm_error *err) {
    const uint32_t leader = find_leader(drafts, i, stage);
    tm_draft *draft = &drafts->own[leader];
    if (leader == i) {
        TM_TRY(make(drafts, i, stage, err));
        add_leader(drafts, leader);
    }
    drafts->ranks[leader].leads = leader != i;
    drafts->ranks[i].leader = leader;
    drafts->ranks[i].before = draft->before;
    *out = draft;
    return TM_OK;
}

tm_status tm_drafts_at(tm_drafts *drafts, size_t i, const tm_draft **out, tm_error *err) {
    const tm_drafts_rank *rank = &drafts->ranks[i];
    tm_draft *draft = &drafts->own[rank->leader];
    if (!drafts->ranks[rank->leader].kept)
        TM_TRY(make(drafts, rank->leader, draft->stage, err));
    if (draft->timeline != &drafts->timelines[i])
        tm_draft_take_again(draft, &drafts->timelines[i], drafts->base, rank->before);
    draft->warm_up = rank->warm_up;
    *out = draft;
    return TM_OK;
}

void tm_drafts_done(tm_drafts *drafts, size_t i) {
    if (!drafts->ranks[i].leads)
        drop(drafts, i);
}
