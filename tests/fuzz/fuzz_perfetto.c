/* The input is used as a Perfetto trace, and a timeline is built from it. An export of tmerge may
 * have several ranks; each of them is read. The outcome must be an error or a valid timeline. */
#include "timeline.h"

/* Does not check an error's offset, which may be in the JSON to which the trace is converted. */
static void read_one(tm_source *source, const tm_unit *unit) {
    tm_error err = {.offset = -1};
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    tm_status status = tm_trace_read_source(&tm_format_perfetto, source, unit, names, &trace, &err);
    end_reading(status, &err, &trace, names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { UNITS_MAX = 4 };
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    tm_error err;
    bool foreign;
    if (tm_source_open_memory(data, size, "fuzz.pftrace", &source, &err) != TM_OK)
        return 0;
    tell(data, size, &tm_format_perfetto);
    if (tm_format_perfetto.has_units((const char *)data, size))
        require(tm_format_perfetto.list_units(source, false, &units, &foreign, &err) == TM_OK &&
                tm_source_rewind(source, &err) == TM_OK);
    if (units.n == 0)
        read_one(source, NULL);
    for (size_t i = 0; i < units.n && i < UNITS_MAX; i++) {
        require(i == 0 || tm_source_rewind(source, &err) == TM_OK);
        read_one(source, (const tm_unit *)units.data + i);
    }
    tm_vec_free(&units);
    tm_source_close(source);
    return 0;
}
