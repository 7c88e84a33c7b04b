/* ROCm traces as databases: rocprofv3's default output, and rocprof-sys. The databases hold the
 * same records as rocprofv3's JSON. This reader passes them through the same tables. */
#include "readers/formats.h"
#include "readers/rocprof/rocprof_units.h"
#include "rocpd_document.h"

static tm_status rocpd_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                  tm_error *err) {
    (void)known;
    *foreign = false;
    return tm_rocprof_list_units(tm_rocpd_document_read, source, units, err);
}

static tm_status rocpd_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                 tm_trace *out, tm_error *err) {
    return tm_rocprof_read_unit(tm_rocpd_document_read, source, unit, names, out, err);
}

static tm_status rocpd_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return rocpd_read_unit(source, NULL, names, out, err);
}

/* rocprofv3 -d FOLDER writes FOLDER/HOST/PID_results.db. */
static const char *const places[] = {"*/*_results.db", NULL};

const tm_format tm_format_rocpd = {
    .name = "rocpd",
    .summary = "ROCm profiler databases (rocprofv3's default, .db; rocprof-sys)",
    .cannot_tell = "Times count from the start of each host, so hosts are aligned only by "
                   "collectives. The group and size of collectives are not recorded.",
    .in_folders = places,
    .by_path = true,
    .sniff = tm_db_sniff,
    .accepts = tm_rocpd_accepts,
    .read = rocpd_read,
    .list_units = rocpd_list_units,
    .read_unit = rocpd_read_unit,
    .richer = "torch.profiler",
};
