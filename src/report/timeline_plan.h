/* Which events of a job go into the page: all of them, or those of the windows that tell most. */
#ifndef TMERGE_REPORT_TIMELINE_PLAN_H
#define TMERGE_REPORT_TIMELINE_PLAN_H

#include <stdbool.h>

#include "choice.h"
#include "timeline_coverage.h"

/** What a page may hold. */
typedef struct tm_timeline_budget {
    size_t n_buckets; /* of each lane */
    size_t n_events;
    size_t n_members;          /* of matched operations */
    size_t left_bytes;         /* of the page, for both; 0: no matter */
    const tm_page_kept *ranks; /* borrowed; who has lanes; NULL: all */
    const tm_page_kept *steps; /* borrowed; those that are marked besides the chosen ones; NULL: all
                                */
    size_t text_bytes;         /* of a name, at most */
    bool few_marks;            /* none but the chosen ones are marked */
} tm_timeline_budget;

/** By the number of ranks that have lanes, and by how much of the page is left. */
tm_timeline_budget tm_timeline_budget_of(size_t n_ranks, size_t left_bytes);

/** No more than so many bytes are left. */
void tm_timeline_leave(tm_timeline_budget *budget, size_t left_bytes);

/** The blocks took @p size bytes where there is room for less: what made them so large becomes
 * less, texts, events and marks of steps. */
void tm_timeline_shrink(tm_timeline_budget *budget, size_t size, size_t room);

/** How many events fit beside so many members. */
size_t tm_timeline_events(const tm_timeline_budget *budget, size_t n_members);

/** What a timeline's event is drawn as; not drawn are instants, counters and the profiler's own. */
typedef enum tm_shown { TM_SHOWN_NOT, TM_SHOWN_GPU, TM_SHOWN_HOST } tm_shown;

static inline tm_shown tm_shown_as(const tm_timeline *timeline, const tm_track *track, size_t row) {
    if (timeline->kind[row] != TM_DURATION || timeline->category[row] == TM_CAT_TRACE)
        return TM_SHOWN_NOT;
    return track->kind == TM_TRACK_GPU ? TM_SHOWN_GPU : TM_SHOWN_HOST;
}

/** A part of a rank's time that is shown in detail or not: a step, or where there are none a slice
 * of the job. */
typedef struct tm_plan_part {
    int64_t number;           /* of the step or the slice */
    int64_t begin_ns, end_ns; /* on the job's clock, since the epoch */
    int64_t wait_ns;          /* of its operations */
    size_t n_gpu, n_host;     /* events that begin in it */
    bool gpu, host;           /* chosen */
} tm_plan_part;

/** What is known of a rank once its timeline was read. */
typedef struct tm_card {
    int64_t rank;
    tm_rank_clock clock;
    int64_t world_size;
    size_t first_part, n_parts; /* in the plan, ascending in time */
    size_t first_span, n_spans;
    size_t n_gpu, n_host; /* events that can be shown, in a part or not */
    bool truncated;
    bool shown;     /* it has lanes in the page; the others are known by their clocks alone */
    uint32_t place; /* among those that have lanes */
} tm_card;

typedef struct tm_plan {
    tm_vec cards;              /* of tm_card, ascending in rank */
    tm_vec parts;              /* of tm_plan_part */
    tm_vec spans;              /* of tm_span, on the job's clock */
    bool all;                  /* every event is chosen */
    bool steps;                /* parts are steps */
    const tm_page_kept *ranks; /* borrowed; who has lanes; NULL: all */
    size_t n_shown;            /* ranks that have */
} tm_plan;

void tm_plan_init(tm_plan *plan, bool steps);
void tm_plan_free(tm_plan *plan);

/** Adds the next rank. @p job is what slices are of. */
tm_status tm_plan_add(tm_plan *plan, const tm_timeline *timeline, const tm_buckets *job,
                      tm_error *err) TM_MUST_CHECK;

/** Who and what comes first. */
typedef struct tm_plan_wishes {
    int64_t rank;        /* the blamed one; -1: none */
    const int64_t *near; /* [n_near] other ranks of its host, ascending */
    size_t n_near;
    int64_t step; /* the worst; -1: that of most wait */
    size_t n_events;
} tm_plan_wishes;

/**
 * Chooses parts until the budget is full: the worst step on all ranks, the blamed rank's host
 * first; a median step; the blamed rank's host threads in both; further steps by wait; then host
 * threads of the worst step. What does not fit is passed over.
 * @return  TM_OK; TM_ERR_FAULT
 */
tm_status tm_plan_choose(tm_plan *plan, const tm_plan_wishes *wishes, tm_error *err) TM_MUST_CHECK;

/** A track's events on their way through the parts of their rank. */
typedef struct tm_plan_walk {
    const tm_plan *plan;
    const tm_card *card;
    size_t part; /* the first that may end behind the next event's begin */
} tm_plan_walk;

/** Whether the next event, which begins no earlier than the one before, was chosen: any of it lies
 * in a chosen part.
 * @param begin_ns  on the job's clock, since the epoch */
bool tm_plan_has(tm_plan_walk *walk, tm_shown shown, int64_t begin_ns, int64_t duration_ns);

#endif
