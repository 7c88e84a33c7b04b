/* Lists the ranks of an XSpace: its devices on which something ran. */
#ifndef TMERGE_XPLANE_UNITS_H
#define TMERGE_XPLANE_UNITS_H

#include "readers/xplane/plane/device_plane.h"
#include "tmerge/reader.h"

/**
 * Appends the devices of the file, ascending by number: GPUs and TPUs or, if there are none, XLA's
 * devices on CPUs. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT.
 *
 * @param out  vector of tm_xdevice
 */
tm_status tm_xspace_devices(tm_space *space, tm_vec *out, tm_error *err) TM_MUST_CHECK;

/** Returns the name of the host: the part of the file's name before ".xplane.pb" or, if there is
 * none, the name in the content. Returns an empty text if there is neither. Borrowed from @p path
 * and @p space. */
tm_text tm_xspace_host(const tm_space *space, const char *path);

/** Implements tm_format.list_units. There is one unit for each device, with tm_xdevice_key as its
 * process. */
tm_status tm_xplane_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                               tm_error *err) TM_MUST_CHECK;

#endif
