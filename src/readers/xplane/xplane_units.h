/* Lists the ranks of an XSpace: its devices on which something ran. */
#ifndef TMERGE_XPLANE_UNITS_H
#define TMERGE_XPLANE_UNITS_H

#include "readers/xplane/plane/device_plane.h"
#include "tmerge/reader.h"

/** Appends the devices, of tm_xdevice, ascending by number: GPUs and TPUs, else XLA's devices on
 * CPUs. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_xspace_devices(tm_space *space, tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Returns the host's name: the part of the file's name before ".xplane.pb", else the name that the
 * file contains; empty if there is neither. Borrowed from @p path and @p space. */
tm_text tm_xspace_host(const tm_space *space, const char *path);

/** tm_format.list_units: one unit per device, with tm_xdevice_key as its process. */
tm_status tm_xplane_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                               tm_error *err) TM_MUST_CHECK;

#endif
