/* A source without a file. A callback produces the content while it is read. */
#include <stdlib.h>

#include "input/decoder.h"

typedef struct made {
    tm_decoder base;
    tm_source_make *make;
    void *context;
} made;

static tm_status read_made(tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                           tm_error *err) {
    made *m = (made *)decoder;
    return m->make(m->context, buffer, capacity, n, err);
}

static void close_made(tm_decoder *decoder) {
    free(decoder);
}

tm_status tm_source_open_made(tm_source_make *make, void *context, const char *name,
                              tm_source **out, tm_error *err) {
    made *m = malloc(sizeof *m);
    if (!m)
        return tm_fail_memory(err);
    *m = (made){.base = {.read = read_made, .close = close_made}, .make = make, .context = context};
    return tm_source_of_decoder(&m->base, name, out, err);
}
