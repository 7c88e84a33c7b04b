/* Chrome's JSON, with the members that Kineto writes. */
#ifndef TMERGE_EXPORT_CHROME_H
#define TMERGE_EXPORT_CHROME_H

#include "export.h"
#include "json_text.h"

/** Appends the members of an event's args, as Kineto names them, without the braces. */
void tm_chrome_args(tm_export *x, const tm_track *track, const tm_export_event *event);

/** Appends what the rank's trace says of its place in the job and of its GPUs, as members of
 * Kineto's JSON with commas after them. */
void tm_chrome_members(const tm_export *x, const tm_timeline *timeline, tm_out *out);

/** The same of its host, where that is known. */
void tm_chrome_host(const tm_export *x, const tm_timeline *timeline, tm_out *out);

#endif
