/* Finds device work whose category does not identify it as such. Flows from calls and labels of
 * processes identify device work, but they may be anywhere in a file. So events are marked while
 * reading, and judged at the end. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_DEVICES_H
#define TMERGE_KINETO_DEVICES_H

#include "timeline/part.h"
#include "tmerge/names.h"

/** Returns whether a kernel's name has a word for communication. (The same word may mean a
 * computation.) */
bool tm_kineto_may_communicate(const char *bytes, size_t size);

/** Judges the marked events of a trace whose parts have been joined. Decides which of them are
 * device work, and finds the operators that requested the collectives of an XPU. Also sets the name
 * of the devices. */
tm_status tm_kineto_judge_devices(tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif
