#include "timeline_scan.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "timeline_details.h"

tm_status tm_scan_begin(const tm_page_frame *frame, tm_scan *out, tm_error *err) {
    *out = (tm_scan){.coverage = tm_bytes_make()};
    tm_plan_init(&out->plan, frame->steps);
    tm_operations_init(&out->operations);
    out->plan.ranks = out->operations.ranks = frame->ranks;
    out->strip_sums = calloc(TM_N_LANE_KINDS * frame->strip.n, sizeof *out->strip_sums);
    return out->strip_sums ? TM_OK : tm_fail_memory(err);
}

void tm_scan_free(tm_scan *scan) {
    tm_plan_free(&scan->plan);
    tm_operations_free(&scan->operations);
    tm_bytes_free(&scan->coverage);
    free(scan->strip_sums);
    scan->strip_sums = NULL;
}

/* Returns a copy of a timeline with the times that the page draws. If the times of a rank count
 * from 0, the page draws them from the start of the job, and says that the rank's clock cannot be
 * compared with other clocks. */
static tm_timeline drawn(const tm_page_frame *frame, const tm_timeline *timeline) {
    tm_timeline copy = *timeline;
    size_t i = tm_lower_bound(frame->from_0, frame->n_from_0, timeline->rank);
    if (i < frame->n_from_0 && frame->from_0[i] == timeline->rank)
        copy.clock.offset_ns += frame->lanes.begin_ns;
    return copy;
}

tm_status tm_scan_add(tm_scan *scan, const tm_page_frame *frame, const tm_timeline *timeline,
                      tm_error *err) {
    const tm_timeline rank = drawn(frame, timeline);
    tm_lanes lanes;
    bool shown = !frame->ranks || tm_page_keeps(frame->ranks, rank.rank);
    tm_status status = tm_lanes_make(&rank, NULL, &lanes, err);
    if (status == TM_OK && shown)
        status = tm_coverage_put(&frame->lanes, &lanes, &scan->coverage, err);
    if (status == TM_OK)
        status = tm_strip_add(&frame->strip, &lanes, scan->strip_sums, err);
    tm_lanes_free(&lanes);
    if (status == TM_OK)
        status = tm_plan_add(&scan->plan, &rank, &frame->lanes, err);
    return status == TM_OK ? tm_operations_add(&scan->operations, &rank, frame->names, err)
                           : status;
}

/* Position in one of the scans that are joined: the index of the next rank in each of its
 * lists. */
typedef struct cursor {
    size_t card, shown;
} cursor;

static const tm_card *card_at(const tm_scan *part, const cursor *at) {
    return at->card < part->plan.cards.n ? (const tm_card *)part->plan.cards.data + at->card : NULL;
}

/* Returns the index of the scan whose next rank is the lowest; n if no scan has a next rank. */
static size_t lowest(const tm_scan *parts, const cursor *at, size_t n) {
    size_t found = n;
    for (size_t p = 0; p < n; p++) {
        const tm_card *card = card_at(&parts[p], &at[p]);
        if (card && (found == n || card->rank < card_at(&parts[found], &at[found])->rank))
            found = p;
    }
    return found;
}

static bool join_rank(const tm_page_frame *frame, const tm_scan *part, cursor *at, tm_scan *out) {
    tm_card card = *card_at(part, at);
    const tm_plan_part *parts = (const tm_plan_part *)part->plan.parts.data + card.first_part;
    const tm_span *spans = (const tm_span *)part->plan.spans.data + card.first_span;
    size_t bytes = TM_N_LANE_KINDS * frame->lanes.n;
    const uint8_t *coverage = (const uint8_t *)part->coverage.bytes.data + at->shown * bytes;
    card.first_part = out->plan.parts.n;
    card.first_span = out->plan.spans.n;
    card.place = (uint32_t)out->plan.n_shown;
    out->plan.n_shown += card.shown;
    at->card++;
    at->shown += card.shown;
    return tm_vec_append(&out->plan.cards, &card, 1) &&
           tm_vec_append(&out->plan.parts, parts, card.n_parts) &&
           tm_vec_append(&out->plan.spans, spans, card.n_spans) &&
           (!card.shown || tm_bytes_put_raw(&out->coverage, coverage, bytes));
}

tm_status tm_scan_join(const tm_page_frame *frame, const tm_scan *parts, size_t n, tm_scan *out,
                       tm_error *err) {
    cursor *at = calloc(n + 1, sizeof *at);
    bool ok = at != NULL;
    for (size_t p; ok && (p = lowest(parts, at, n)) < n;)
        ok = join_rank(frame, &parts[p], &at[p], out);
    free(at);
    if (!ok)
        return tm_fail_memory(err);
    for (size_t p = 0; p < n; p++) {
        const tm_operation *operations = parts[p].operations.all.data;
        for (size_t i = 0; i < parts[p].operations.all.n; i++)
            TM_TRY(tm_operations_join(&out->operations, &operations[i], err));
        for (size_t i = 0; i < TM_N_LANE_KINDS * frame->strip.n; i++)
            out->strip_sums[i] += parts[p].strip_sums[i];
    }
    return TM_OK;
}

tm_status tm_scan_collect(tm_scan *scan, const tm_page_frame *frame, const tm_timeline *timeline,
                          size_t at, tm_page_encoding *out, tm_error *err) {
    const tm_timeline rank = drawn(frame, timeline);
    const tm_card *card = (const tm_card *)scan->plan.cards.data + at;
    tm_event_writer writer = tm_event_writer_make();
    writer.plan = &scan->plan;
    writer.operations = &scan->operations;
    writer.job_begin_ns = frame->lanes.begin_ns;
    writer.out = &out->events;
    tm_status status = tm_operations_gather(&scan->operations, &rank, at, err);
    if (status == TM_OK && card->shown)
        status = tm_events_put(&writer, &rank, at, err);
    if (status == TM_OK && card->shown)
        status = tm_details_put(&writer, &rank, at, &out->details, err);
    tm_event_writer_free(&writer);
    return status;
}
