/* Arbitrary bytes as a Perfetto trace: told, read, linked and built to a timeline. Whatever they
 * are, the outcome is an error or a timeline that keeps its promises. */
#include "timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tm_source *source;
    tm_error err = {.offset = -1};
    if (tm_source_open_memory(data, size, "fuzz.pftrace", &source, &err) != TM_OK)
        return 0;
    tell(data, size, &tm_format_perfetto);
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    tm_status status = tm_trace_read_source(&tm_format_perfetto, source, NULL, names, &trace, &err);
    if (status == TM_OK)
        build(&trace, names);
    else
        require(status == TM_ERR_INPUT && err.status == status && err.message[0] != '\0');
    tm_trace_free(&trace);
    tm_names_destroy(names);
    tm_source_close(source);
    return 0;
}
