/* Arbitrary bytes as a trace of an Ascend NPU: told, decoded, read, linked and built to a timeline.
 * Whatever they are, the outcome is an error inside the content or a timeline that keeps its
 * promises. */
#include <string.h>

#include "readers/json.h"
#include "timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t held = size < TM_SNIFF_BYTES ? size : TM_SNIFF_BYTES;
    char *head = calloc(1, held + TM_JSON_PADDING);
    require(head != NULL);
    memcpy(head, data, held);
    (void)tm_format_ascend.sniff(head, held, held == size);
    free(head);
    (void)try_read(data, size, &tm_format_ascend, NULL);
    return 0;
}
