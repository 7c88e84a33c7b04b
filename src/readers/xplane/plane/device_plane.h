/* A plane of an XSpace that contains what ran on a device. Some of its lines are device work;
 * others are derived from them. */
#ifndef TMERGE_XPLANE_DEVICE_PLANE_H
#define TMERGE_XPLANE_DEVICE_PLANE_H

#include "space.h"

typedef enum tm_xkind { TM_X_GPU, TM_X_TPU, TM_X_CPU } tm_xkind;

/** A device of the file on which something ran. */
typedef struct tm_xdevice {
    const tm_xplane *plane; /* borrowed from the space */
    int64_t plane_index;    /* index of the plane in the file */
    int64_t number;         /* number in the plane's name; for a CPU, number in the job */
    tm_xkind kind;
} tm_xdevice;

/** Whether the events of a line are device work. Events of a derived line are not. */
bool tm_xline_counts(tm_xkind kind, const tm_xline *line);

/** Returns the process number of a device's unit. It is the index of the device's plane. CPUs share
 * a plane, so for a CPU the index is combined with the number of the device. */
static inline int64_t tm_xdevice_key(const tm_xdevice *device) {
    return device->kind == TM_X_CPU ? device->plane_index + ((device->number + 1) << 32)
                                    : device->plane_index;
}

#endif
