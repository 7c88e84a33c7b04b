/* Arbitrary bytes as JSON of formats whose files hold several ranks: rocprofv3's, and that for the
 * trace viewer of TensorFlow and JAX. Told, their ranks listed, and each of them read, linked and
 * built to a timeline. Whatever they are, the outcome is an error inside the content or a timeline
 * that keeps its promises. */
#include <string.h>

#include "base/vec.h"
#include "readers/json.h"
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
    enum { UNITS_MAX = 8 }; /* bytes are quick to list thousands of processes */
    size_t held = size < TM_SNIFF_BYTES ? size : TM_SNIFF_BYTES;
    char *head = calloc(1, held + TM_JSON_PADDING);
    tm_vec units = TM_VEC(tm_unit);
    require(head != NULL);
    memcpy(head, data, held);
    (void)format->sniff(head, held, held == size);
    free(head);
    if (size == 0) /* nothing can be opened */
        return;
    list(data, size, format, &units);
    if (units.n <= 1) /* several are read one by one */
        require(try_read(data, size, format, NULL));
    for (size_t i = 0; i < units.n && i < UNITS_MAX; i++)
        require(try_read(data, size, format, (const tm_unit *)units.data + i));
    tm_vec_free(&units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try_format(data, size, &tm_format_rocprof);
    try_format(data, size, &tm_format_trace_viewer);
    return 0;
}
