/* Reads Perfetto's own traces: .pftrace, .perfetto-trace. PyTorch writes such a file, with all data
 * of its JSON, if export_chrome_trace gets a name with this ending. ROCm's profilers and others
 * write Perfetto traces, too. This reader converts a trace to Kineto's JSON, which the Kineto
 * reader reads. */
#include "perfetto_convert.h"
#include "perfetto_packet.h"
#include "readers/formats.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

static tm_status read_json(tm_pf_convert *convert, const char *path, tm_names *names, tm_trace *out,
                           tm_error *err) {
    tm_source *json;
    TM_TRY(tm_source_open_made(tm_pf_convert_make, convert, path, &json, err));
    tm_status status = tm_format_find("kineto")->read(json, names, out, err);
    tm_source_close(json);
    const tm_error *failure = tm_pf_convert_failure(convert);
    /* report the error in the trace, not the error in the JSON that it caused */
    if (failure->status != TM_OK) {
        *err = *failure;
        status = failure->status;
    }
    return status;
}

static tm_status read_unit(tm_source *source, const tm_unit *unit, tm_names *names, tm_trace *out,
                           tm_error *err) {
    tm_pf_convert *convert;
    TM_TRY(tm_pf_convert_open(source, unit, &convert, err));
    tm_status status = read_json(convert, tm_source_path(source), names, out, err);
    out->truncated = tm_pf_convert_cut(convert);
    out->counts[TM_COUNT_OTHER_PHASE] += tm_pf_convert_lost(convert);
    tm_pf_convert_close(convert);
    if (status == TM_OK && out->is_fused)
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                       "this Perfetto trace contains several ranks, which tmerge cannot separate: "
                       "give the traces that it was made from");
    if (status == TM_OK && out->truncated && out->events.n == 0)
        return tm_fail_nothing(err, tm_source_path(source), -1,
                               "the file ends before its first event");
    return status;
}

static tm_status perfetto_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return read_unit(source, NULL, names, out, err);
}

static tm_status list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                            tm_error *err) {
    (void)known;
    (void)foreign;
    return tm_pf_list_ranks(source, units, err);
}

const tm_format tm_format_perfetto = {
    .name = "perfetto",
    .summary =
        "Perfetto traces (.pftrace, .perfetto-trace) of PyTorch, rocprofv3, rocprof-sys, tmerge",
    .cannot_tell = "PyTorch's .pftrace does not have ranks, the job's size or tensor memory, but "
                   "its JSON does. Ranks come from file names.",
    .by_path = true,
    .sniff = tm_pf_sniff,
    .read = perfetto_read,
    .has_units = tm_pf_is_export, /* only exports of tmerge have several ranks */
    .list_units = list_units,
    .read_unit = read_unit,
    .units_are_copies = true,
    .richer = "PyTorch's JSON (export_chrome_trace without .pftrace)",
};
