/* Chrome JSON with Kineto's members. */
#ifndef TMERGE_EXPORT_EXPORT_CHROME_H
#define TMERGE_EXPORT_EXPORT_CHROME_H

#include "export.h"
#include "json_text.h"

/** Appends the content of an event's args, without the braces, under Kineto's names. */
void tm_chrome_args(tm_export *x, const tm_track *track, const tm_export_event *event);

/** Appends the trace's metadata about the rank's place in the job and its GPUs, as members of
 * Kineto's JSON with commas after them. */
void tm_chrome_members(const tm_export *x, const tm_timeline *timeline, tm_out *out);

/** Appends the rank's host, if known, as a member with a comma after it. */
void tm_chrome_host(const tm_export *x, const tm_timeline *timeline, tm_out *out);

#endif
