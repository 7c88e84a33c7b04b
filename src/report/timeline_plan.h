/* Chooses the events for a job's page: all of them or, if they are too many, the events of the most
 * informative windows. */
#ifndef TMERGE_REPORT_TIMELINE_PLAN_H
#define TMERGE_REPORT_TIMELINE_PLAN_H

#include <stdbool.h>

#include "page_selection.h"
#include "timeline_coverage.h"

/** Limits of a page's timeline. */
typedef struct tm_timeline_budget {
    size_t n_buckets; /* number of buckets of coverage per lane */
    size_t n_events;
    size_t n_members;          /* number of participations in matched operations */
    size_t left_bytes;         /* room in the page for events and participations [B]; 0: no limit */
    const tm_page_kept *ranks; /* ranks that have lanes; NULL: all ranks; borrowed */
    const tm_page_kept *steps; /* steps that are marked even if none of their events is chosen;
                                  NULL: all steps; borrowed */
    size_t text_bytes;         /* maximum size of a name [B] */
    bool few_marks;            /* mark only steps that have chosen events, and ignore `steps` */
} tm_timeline_budget;

/** Returns the budget for @p n_ranks ranks with lanes, if @p left_bytes are left in the page. */
tm_timeline_budget tm_timeline_budget_of(size_t n_ranks, size_t left_bytes);

/** Limits the budget to @p left_bytes. */
void tm_timeline_leave(tm_timeline_budget *budget, size_t left_bytes);

/** Reduces the budget for texts, events and marks of steps. Call it if the encoded blocks need @p
 * size bytes, but only @p room bytes are left. */
void tm_timeline_shrink(tm_timeline_budget *budget, size_t size, size_t room);

/** Returns how many events fit if @p n_members participations are written. */
size_t tm_timeline_events(const tm_timeline_budget *budget, size_t n_members);

/** How the timeline draws an event. Instants, counters and profiler events are not drawn. */
typedef enum tm_shown { TM_SHOWN_NOT, TM_SHOWN_GPU, TM_SHOWN_HOST } tm_shown;

static inline tm_shown tm_shown_as(const tm_timeline *timeline, const tm_track *track, size_t row) {
    if (timeline->kind[row] != TM_DURATION || timeline->category[row] == TM_CAT_TRACE)
        return TM_SHOWN_NOT;
    return track->kind == TM_TRACK_GPU ? TM_SHOWN_GPU : TM_SHOWN_HOST;
}

/** A part of a rank's time whose events are chosen together: a step, or a slice of a job without
 * steps. */
typedef struct tm_plan_part {
    int64_t number;           /* number of the step or slice */
    int64_t begin_ns, end_ns; /* start and end on the job's clock, since the epoch */
    int64_t wait_ns;          /* sum of the rank's waits in this part [ns] */
    size_t n_gpu, n_host;     /* number of events that start in this part */
    bool gpu, host;           /* whether GPU and host events are chosen */
} tm_plan_part;

/** A rank in the plan. */
typedef struct tm_card {
    int64_t rank;
    tm_rank_clock clock;
    int64_t world_size;
    size_t first_part, n_parts; /* the rank's parts in tm_plan.parts, ascending by time */
    size_t first_span, n_spans;
    size_t n_gpu, n_host; /* number of drawn events, also those outside of all parts */
    bool truncated;
    bool shown;     /* the rank has lanes in the page. If not, only `clock` is set */
    uint32_t place; /* index among ranks with lanes */
} tm_card;

typedef struct tm_plan {
    tm_vec cards;              /* vector of tm_card, ascending by rank */
    tm_vec parts;              /* vector of tm_plan_part */
    tm_vec spans;              /* vector of tm_span: the spans of all ranks, on the job's clock */
    bool all;                  /* all events are chosen */
    bool steps;                /* parts are steps */
    const tm_page_kept *ranks; /* ranks that have lanes; NULL: all ranks; borrowed */
    size_t n_shown;            /* number of ranks with lanes */
} tm_plan;

void tm_plan_init(tm_plan *plan, bool steps);
void tm_plan_free(tm_plan *plan);

/** Adds the next rank. If it has no steps, divides the time of @p job into slices. */
tm_status tm_plan_add(tm_plan *plan, const tm_timeline *timeline, const tm_buckets *job,
                      tm_error *err) TM_MUST_CHECK;

/** The rank and the step whose events are chosen first. */
typedef struct tm_plan_wishes {
    int64_t rank;        /* rank to which most wait is attributed, "the blamed rank"; -1: none */
    const int64_t *near; /* [n_near] the other ranks on the host of `rank`, ascending */
    size_t n_near;
    int64_t step; /* the worst step; -1: the step with the most wait */
    size_t n_events;
} tm_plan_wishes;

/** Chooses parts until the budget is used up, in this order:
 * - the worst step on all ranks, first on the blamed rank and its host;
 * - the step of median length;
 * - the blamed rank's host threads in both steps;
 * - further steps, longest wait first;
 * - the host threads of the worst step.
 *
 * Parts that do not fit are skipped.
 * @return  TM_OK; TM_ERR_FAULT */
tm_status tm_plan_choose(tm_plan *plan, const tm_plan_wishes *wishes, tm_error *err) TM_MUST_CHECK;

/** Cursor over a rank's parts, for the events of a track. */
typedef struct tm_plan_walk {
    const tm_plan *plan;
    const tm_card *card;
    size_t part; /* first part that may end after the start of the next event */
} tm_plan_walk;

/** Returns whether an event of the track overlaps a chosen part. Call this for the track's events
 * in ascending order of start.
 * @param begin_ns on the job's clock, since the epoch */
bool tm_plan_has(tm_plan_walk *walk, tm_shown shown, int64_t begin_ns, int64_t duration_ns);

#endif
