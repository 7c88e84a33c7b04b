/* rocmProfileData (RPD): the databases of rpd_tracer, on ROCm or CUDA. The databases hold a subset
 * of rocprofv3's records. This reader passes them through the same tables. */
#include "readers/formats.h"
#include "readers/rocprof/rocprof_units.h"
#include "rpd_document.h"

static tm_status rpd_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                tm_error *err) {
    (void)known;
    *foreign = false;
    return tm_rocprof_list_units(tm_rpd_document_read, source, units, err);
}

static tm_status rpd_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                               tm_trace *out, tm_error *err) {
    return tm_rocprof_read_unit(tm_rpd_document_read, source, unit, names, out, err);
}

static tm_status rpd_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return rpd_read_unit(source, NULL, names, out, err);
}

const tm_format tm_format_rpd = {
    .name = "rpd",
    .summary = "rocmProfileData databases (rpd_tracer, runTracer.sh; .rpd)",
    .cannot_tell = "Times count from the start of each host. Hosts are not named: give --host-map "
                   "if the job has several. The group and size of collectives are not recorded; "
                   "sizes of copies are recorded modulo 4 GiB.",
    .by_path = true,
    .sniff = tm_db_sniff,
    .accepts = tm_rpd_accepts,
    .read = rpd_read,
    .list_units = rpd_list_units,
    .read_unit = rpd_read_unit,
    .richer = "torch.profiler",
};
