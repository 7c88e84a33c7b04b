/* Lists the ranks of an XSpace: its devices on which something ran. */
#ifndef TMERGE_XPLANE_UNITS_H
#define TMERGE_XPLANE_UNITS_H

#include "space.h"
#include "tmerge/reader.h"

typedef enum tm_xkind { TM_X_GPU, TM_X_TPU, TM_X_CPU } tm_xkind;

/** A device of the file on which something ran. */
typedef struct tm_xdevice {
    const tm_xplane *plane; /* borrowed from the space */
    int64_t plane_index;    /* index of the plane in the file */
    int64_t number;         /* number in its name; of a CPU, its number in the job */
    tm_xkind kind;
} tm_xdevice;

/** Whether a line's events are device work, and not derived from another line. */
bool tm_xline_counts(tm_xkind kind, const tm_xline *line);

/** Appends the devices, of tm_xdevice, ascending by number: GPUs and TPUs, else XLA's devices on
 * CPUs. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_xspace_devices(tm_space *space, tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Returns the host's name: the part of the file's name before ".xplane.pb", else the name that the
 * file contains; empty if there is neither. Borrowed from @p path and @p space. */
tm_text tm_xspace_host(const tm_space *space, const char *path);

/** Returns the process number of a device's unit: the index of its plane. For CPUs, which share a
 * plane, it is combined with the device number. */
static inline int64_t tm_xdevice_key(const tm_xdevice *device) {
    return device->kind == TM_X_CPU ? device->plane_index + ((device->number + 1) << 32)
                                    : device->plane_index;
}

/** tm_format.list_units: one unit per device, with tm_xdevice_key as its process. */
tm_status tm_xplane_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                               tm_error *err) TM_MUST_CHECK;

#endif
