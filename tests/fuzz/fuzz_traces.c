/* The input is used as a trace of each JSON format that recognises it, or else of one chosen by its
 * size. Reads all ranks or the whole trace, and builds timelines. Each read must
 * give a valid timeline, or an error whose offset is at most the number of bytes read. */
#include "timeline.h"

static void list(const uint8_t *data, size_t size, const tm_format *format, tm_vec *units) {
    tm_source *source;
    tm_error err;
    bool foreign;
    require(tm_source_open_memory(data, size, "fuzz.json", &source, &err) == TM_OK);
    tm_status status = format->list_units(source, false, units, &foreign, &err);
    require(status == TM_OK || status == TM_ERR_INPUT);
    tm_source_close(source);
}

static void try_format(const uint8_t *data, size_t size, const tm_format *format) {
    enum { UNITS_MAX = 8 }; /* few bytes can list thousands */
    tm_vec units = TM_VEC(tm_unit);
    if (size == 0) /* an empty source cannot be opened */
        return;
    if (format->list_units)
        list(data, size, format, &units);
    /* Files with several units, and all operation-level traces, are read only unit by unit. */
    if (units.n <= 1 && format != &tm_format_ops)
        require(try_read(data, size, format, NULL));
    for (size_t i = 0; i < units.n && i < UNITS_MAX; i++)
        require(try_read(data, size, format, (const tm_unit *)units.data + i));
    tm_vec_free(&units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const tm_format *const formats[] = {&tm_format_kineto,       &tm_format_ops,
                                               &tm_format_ascend,       &tm_format_rocprof,
                                               &tm_format_trace_viewer, &tm_format_inspector};
    const size_t n = sizeof formats / sizeof *formats;
    bool known = false;
    for (size_t i = 0; i < n; i++)
        if (tell(data, size, formats[i])) {
            try_format(data, size, formats[i]);
            known = true;
        }
    if (!known)
        try_format(data, size, formats[size % n]);
    return 0;
}
