/* Finds device work that the category does not identify. Flows from calls and labels of processes
 * identify it, but may be anywhere in a file. So candidates are marked while reading and judged at
 * the end. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_DEVICES_H
#define TMERGE_KINETO_DEVICES_H

#include "timeline/part.h"
#include "tmerge/names.h"

/** Whether a kernel's name has a word of communication; the word may also denote computation. */
bool tm_kineto_may_communicate(const char *bytes, size_t size);

/** Judges all marked events of a trace whose parts are joined: whether they are device work, which
 * operators requested an XPU's collectives, and the name of the devices. */
tm_status tm_kineto_judge_devices(tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif
