/* Work of devices that the category does not tell: flows from calls to it and the labels of
 * processes do, which may stand anywhere in a file. So events that may be such work are marked
 * while they are read, and judged when all is known. Private to the Kineto reader. */
#ifndef TMERGE_KINETO_DEVICES_H
#define TMERGE_KINETO_DEVICES_H

#include "timeline/part.h"
#include "tmerge/names.h"

/** Whether a kernel's name has a word of communication, which may also stand for computation. */
bool tm_kineto_may_communicate(const char *bytes, size_t size);

/**
 * Judges all that is marked in a trace whose parts are joined: whether it is work of a device,
 * which operators asked for the collectives of an XPU, and what its devices are called.
 */
tm_status tm_kineto_judge_devices(tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

#endif
