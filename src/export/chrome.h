/* Chrome's JSON, with the members that Kineto writes. */
#ifndef TMERGE_EXPORT_CHROME_H
#define TMERGE_EXPORT_CHROME_H

#include "export.h"
#include "json_text.h"

/** Appends the members of an event's args, as Kineto names them, without the braces. */
void tm_chrome_args(tm_export *x, const tm_track *track, const tm_export_event *event);

#endif
