/* A sample of the flows from calls to device work. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_FLOWS_H
#define TMERGE_KINETO_FLOWS_H

#include "kineto_event.h"
#include "timeline/part.h"
#include "tmerge/names.h"

/** Records a flow's start or end if it is in the sample. Returns false if out of memory. */
bool tm_kineto_note_flow(tm_part *part, const tm_kineto_event *event);

/** The flows of a trace that are in the sample, sorted. */
typedef struct tm_kineto_flows {
    /* Owned. Ends are sorted by process, thread and time. Starts are sorted by id. */
    const tm_flow **ends, **starts;
    size_t n_ends, n_starts;
} tm_kineto_flows;

/**
 * Sorts the flows of a trace that are in the sample.
 * @param whole  all parts of the trace, joined; its flows are reduced to the sample, and borrowed
 * @param out    zeroed before the call; the caller must free it, also on failure
 * @return       false if out of memory
 */
bool tm_kineto_flows_sort(tm_kineto_flows *out, tm_part *whole);
void tm_kineto_flows_free(tm_kineto_flows *flows);

/** Returns whether a flow ends at @p begin_ns on the track of this mark, after starting in another
 * process. */
bool tm_kineto_flow_ends(const tm_kineto_flows *flows, const tm_names *names, const tm_mark *mark,
                         int64_t begin_ns);

#endif
