#include "twins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"
#include "console.h"
#include "input/identity.h"

/* Smaller ones hold a few events, and may well be alike. */
enum { RECORDING_LEAST = 4096 };

typedef struct trace {
    tm_identity is;
    size_t place; /* among the ranks */
    const char *path;
} trace;

static int by_identity(const void *a, const void *b) {
    const trace *x = a, *y = b;
    int order = tm_order_i64(x->is.size, y->is.size);
    order = order ? order : tm_order_u64(x->is.digest, y->is.digest);
    return order ? order : tm_order_u64(x->place, y->place);
}

/* Two recordings of one size differ in their first bytes: only copies are read to their end. */
static bool same_bytes(const char *a, const char *b) {
    enum { PIECE = 1 << 16 };
    static const size_t both = 2 * (size_t)PIECE;
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    char *bytes = malloc(both);
    bool same = x && y && bytes;
    for (size_t n = PIECE; same && n == PIECE;) {
        n = fread(bytes, 1, PIECE, x);
        same = fread(bytes + PIECE, 1, PIECE, y) == n && memcmp(bytes, bytes + PIECE, n) == 0;
    }
    if (x)
        (void)fclose(x);
    if (y)
        (void)fclose(y);
    free(bytes);
    return same;
}

void tm_warn_of_twins(const tm_table *ranks) {
    tm_vec traces = TM_VEC(trace);
    for (size_t row = 0; row < ranks->n_rows; row++) {
        tm_error ignored;
        trace found = {.place = row, .path = tm_table_cell(ranks, row, "source")->value.text};
        const trace *last = (const trace *)traces.data + traces.n;
        if ((traces.n > 0 && strcmp(last[-1].path, found.path) == 0) ||
            tm_identity_of(found.path, &found.is, &ignored) != TM_OK ||
            found.is.size < RECORDING_LEAST)
            continue; /* a pipe has no size, and its bytes are gone */
        if (!tm_vec_append(&traces, &found, 1))
            break; /* without memory there is no warning */
    }
    trace *v = traces.data;
    if (traces.n > 1)
        qsort(v, traces.n, sizeof *v, by_identity);
    for (size_t first = 0, i = 1; i < traces.n; i++) {
        if (v[i].is.size != v[first].is.size || v[i].is.digest != v[first].is.digest)
            first = i;
        else if (same_bytes(v[i].path, v[first].path))
            tm_console_warn("%s holds the same bytes as %s: one recording stands for two",
                            v[i].path, v[first].path);
    }
    tm_vec_free(&traces);
}
