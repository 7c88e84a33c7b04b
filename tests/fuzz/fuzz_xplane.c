/* The input is used as a profile of TensorFlow or JAX. Lists its ranks, reads each of them, and
 * builds its timeline. The outcome must be an error or a valid timeline. */
#include "timeline.h"

/* Reads a rank; if @p unit is NULL, reads the whole input. */
static void read_one(const uint8_t *data, size_t size, const tm_unit *unit) {
    tm_source *source;
    tm_error err = {.offset = -1};
    require(tm_source_open_memory(data, size, "fuzz.xplane.pb", &source, &err) == TM_OK);
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    tm_status status = tm_trace_read_source(&tm_format_xplane, source, unit, names, &trace, &err);
    end_reading(status, &err, &trace, names);
    tm_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    tm_error err;
    bool foreign;
    if (tm_source_open_memory(data, size, "fuzz.xplane.pb", &source, &err) != TM_OK)
        return 0;
    tell(data, size, &tm_format_xplane);
    tm_status status = tm_format_xplane.list_units(source, false, &units, &foreign, &err);
    require(status == TM_OK || (status == TM_ERR_INPUT && err.offset >= -1));
    tm_source_close(source);
    for (size_t i = 0; i < units.n && status == TM_OK; i++)
        read_one(data, size, (const tm_unit *)units.data + i);
    if (units.n == 0)
        read_one(data, size, NULL);
    tm_vec_free(&units);
    return 0;
}
