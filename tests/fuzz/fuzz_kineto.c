/* Arbitrary bytes as a trace, of the profiler or of operations: told, decoded, read, linked and
 * built to a timeline. Whatever they are, the outcome is an error inside the content or a timeline
 * that keeps its promises. */
#include <string.h>

#include "readers/json.h"
#include "timeline.h"

/* What tells a format looks at the first bytes of any file: here, of these. */
static void tell(const uint8_t *data, size_t size) {
    size_t held = size < TM_SNIFF_BYTES ? size : TM_SNIFF_BYTES;
    char *head = calloc(1, held + TM_JSON_PADDING);
    require(head != NULL);
    memcpy(head, data, held);
    if (tm_format_kineto.sniff(head, held, held == size))
        require(tm_format_kineto.peek_rank(head, held) >= -1);
    (void)tm_format_ops.sniff(head, held, held == size);
    free(head);
}

/* Each rank that the bytes hold as operations of a job. */
static void try_ranks(const uint8_t *data, size_t size) {
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    tm_error err;
    bool foreign;
    require(tm_source_open_memory(data, size, "fuzz.json", &source, &err) == TM_OK);
    tm_status status = tm_format_ops.list_units(source, false, &units, &foreign, &err);
    require(status == TM_OK || status == TM_ERR_INPUT);
    tm_source_close(source);
    for (size_t i = 0; i < units.n; i++)
        require(try_read(data, size, &tm_format_ops, (const tm_unit *)units.data + i));
    tm_vec_free(&units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tell(data, size);
    if (try_read(data, size, &tm_format_kineto, NULL))
        try_ranks(data, size);
    return 0;
}
