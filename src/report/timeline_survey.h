/* What the timeline of a page asks of ranks: of all of them in one place, or of those of each
 * process, put together then. */
#ifndef TMERGE_REPORT_TIMELINE_SURVEY_H
#define TMERGE_REPORT_TIMELINE_SURVEY_H

#include "timeline_coverage.h"
#include "timeline_events.h"

/** What ranks are looked at by. */
typedef struct tm_page_frame {
    const tm_names *names;     /* borrowed */
    const tm_page_kept *ranks; /* borrowed; who has lanes; NULL: all */
    const int64_t *from_0;     /* borrowed; [n_from_0] ascending: ranks whose times count from 0 in
                                  a job of which others tell the day */
    size_t n_from_0;
    tm_buckets lanes, strip;
    bool steps; /* parts are steps */
} tm_page_frame;

/** What came of it. */
typedef struct tm_survey {
    tm_plan plan;
    tm_operations operations;
    tm_bytes coverage;   /* of ranks with lanes, one behind another */
    int64_t *strip_sums; /* owned; [TM_N_LANE_KINDS * strip.n] */
} tm_survey;

/** @param out  freed by tm_survey_free whatever comes of it. TM_OK; TM_ERR_FAULT. */
tm_status tm_survey_begin(const tm_page_frame *frame, tm_survey *out, tm_error *err) TM_MUST_CHECK;
void tm_survey_free(tm_survey *survey);

/** Adds the next rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_survey_add(tm_survey *survey, const tm_page_frame *frame, const tm_timeline *timeline,
                        tm_error *err) TM_MUST_CHECK;

/**
 * Puts together what is known of different ranks: the same comes of it as if one had looked at all.
 * @param parts  [n] each ascending in rank
 * @param out    just begun
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_survey_join(const tm_page_frame *frame, const tm_survey *parts, size_t n,
                         tm_survey *out, tm_error *err) TM_MUST_CHECK;

/**
 * Takes what was chosen of the next rank: members of operations, and events.
 * @param survey  with the plan of all ranks
 * @param at      the rank's place among them
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_survey_collect(tm_survey *survey, const tm_page_frame *frame,
                            const tm_timeline *timeline, size_t at, tm_page_draft *out,
                            tm_error *err) TM_MUST_CHECK;

/** Where a job's timelines are. Its calls give what their functions do, and may give TM_ERR_INPUT.
 */
typedef struct tm_page_source {
    void *context;
    /* Surveys all ranks. */
    tm_status (*survey)(void *context, const tm_page_frame *frame, tm_survey *out, tm_error *err);
    /* Collects of all, by the plan and the operations that were chosen: members are added to
     * these, and drafts (of tm_page_draft, the caller's) hold each rank once. */
    tm_status (*collect)(void *context, const tm_page_frame *frame, tm_survey *chosen,
                         tm_vec *drafts, tm_error *err);
} tm_page_source;

#endif
