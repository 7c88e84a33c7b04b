/* The error between the clocks of a rank's device and of its host. */
#ifndef TMERGE_REPLAY_HOST_SHIFT_H
#define TMERGE_REPLAY_HOST_SHIFT_H

#include "call_class.h"
#include "tmerge/timeline.h"

/**
 * Returns the time [ns] to add to the times of a rank's host so that causes precede effects: no
 * event starts before its launch, and no wait of the host ends before the event that it waited for.
 * Profilers convert times of the device to the clock of the host, with errors of up to 100 us.
 * Returns 0 if the recorded times need no shift, or if too few of them show the error.
 *
 * @param classes  cache for the names of the timeline
 */
int64_t tm_host_shift(const tm_timeline *timeline, tm_call_classes *classes);

#endif
