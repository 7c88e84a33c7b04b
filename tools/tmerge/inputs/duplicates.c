#include "duplicates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sorted.h"
#include "base/vec.h"
#include "identity/file.h"
#include "output/console.h"

/* Minimum size [B] of files that are compared: different traces of only a few events may have the
 * same bytes. */
enum { RECORDING_LEAST = 4096 };

typedef struct trace {
    int64_t size;
    uint64_t digest; /* of the file's first bytes; computed only if another trace has the same size
                        and digest so far */
    size_t place;    /* row of job.rank */
    const char *path;
} trace;

TM_ORDER_BY(by_bytes, trace, size, digest, place);

static bool alike(const trace *a, const trace *b) {
    return a->size == b->size && a->digest == b->digest;
}

/* Computes a digest of the first @p bytes of traces. Leaves out traces that already differ from all
 * others in size or in the previous digest. In most jobs, these are nearly all traces. */
static void set_digests(trace *v, size_t n, size_t bytes) {
    qsort(v, n, sizeof *v, by_bytes);
    bool before = false; /* whether v[i] equals v[i - 1] in size and in the digest so far */
    for (size_t i = 0; i < n; i++) {
        const bool next = i + 1 < n && alike(&v[i], &v[i + 1]);
        if ((before || next) && tm_identity_digest(v[i].path, bytes, &v[i].digest, NULL) != TM_OK)
            v[i].digest = 0;
        before = next;
    }
    qsort(v, n, sizeof *v, by_bytes);
}

/* Compares two whole files. Different recordings of the same size differ near the start, so only
 * copies are read to the end. */
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

/* Returns the first trace in [first, i) that has the same bytes as trace i; NULL if there is none.
 */
static const trace *original_of(const trace *v, size_t first, size_t i) {
    for (size_t k = first; k < i; k++)
        if (same_bytes(v[i].path, v[k].path))
            return &v[k];
    return NULL;
}

void tm_warn_of_duplicates(const tm_table *ranks) {
    tm_vec traces = TM_VEC(trace);
    for (size_t row = 0; row < ranks->n_rows; row++) {
        struct stat info;
        trace found = {.place = row, .path = tm_table_cell(ranks, row, "source")->value.text};
        const trace *last = (const trace *)traces.data + traces.n;
        if ((traces.n > 0 && strcmp(last[-1].path, found.path) == 0) ||
            stat(found.path, &info) != 0 || info.st_size < RECORDING_LEAST)
            continue; /* a pipe has no size and cannot be read again */
        found.size = info.st_size;
        if (!tm_vec_append(&traces, &found, 1))
            break; /* out of memory: only the traces listed so far are compared */
    }
    trace *v = traces.data;
    if (traces.n > 1) {
        set_digests(v, traces.n, TM_IDENTITY_SHORT);
        set_digests(v, traces.n, TM_IDENTITY_LONG);
    }
    for (size_t first = 0, i = 1; i < traces.n; i++) {
        first = alike(&v[i], &v[first]) ? first : i;
        const trace *original = original_of(v, first, i);
        if (original)
            tm_console_warn("%s has the same content as %s, so one recording counts twice",
                            v[i].path, original->path);
    }
    tm_vec_free(&traces);
}
