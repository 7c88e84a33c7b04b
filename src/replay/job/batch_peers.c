/* Compares the items of batches with the items of other ranks. */
#include <stdlib.h>
#include <string.h>

#include "batch_loops.h"
#include "replay/job/peers.h"

/* Items are prefetched this many items ahead. */
enum { AHEAD = 8 };

/* The items whose places are in a slice. They are kept for the latest model, because the batches of
 * a model are consecutive. */
typedef struct slice_items {
    const tm_batch_places *of;
    const tm_batch_items *items;
    tm_vec list; /* vector of uint32_t */
} slice_items;

static bool list_items(slice_items *s, const tm_batch_items *items) {
    const uint64_t *hashes = s->of->places->keys.keys.data;
    if (s->items == items)
        return true;
    s->items = items;
    s->list.n = 0;
    for (uint32_t i = 0; i < items->n; i++)
        if (tm_peer_slice_has(s->of->slice, hashes[items->places[i]]) &&
            !tm_vec_append(&s->list, &i, 1))
            return false;
    return true;
}

/* First part of a counting sort of rows by place. Returns an array in which element p + 1 is the
 * index of the first row of place p. add_rows advances these elements while it places the rows.
 * NULL when out of memory. */
static size_t *count_rows(const tm_batch *batches, size_t n, slice_items *s) {
    const size_t n_places = s->of->places->keys.keys.n;
    size_t *first = calloc(n_places + 2, sizeof *first);
    bool ok = first != NULL;
    for (size_t c = 0; c < n && ok; c++) {
        ok = list_items(s, batches[c].items);
        for (size_t i = 0; i < s->list.n && ok && batches[c].n > 0; i++)
            first[batches[c].items->places[((const uint32_t *)s->list.data)[i]] + 2]++;
    }
    for (size_t p = 0; p < n_places && ok; p++)
        first[p + 2] += first[p + 1];
    if (!ok) {
        free(first);
        return NULL;
    }
    return first;
}

/* Prefetches the rows of an item, because processors cannot predict their addresses. */
static void fetch_item(const tm_batch *batch, size_t item) {
    const tm_batch_items *items = batch->items;
    for (uint32_t i = items->first[item]; i < items->first[item + 1]; i++) {
        const uint32_t edge = items->edges[i].edge;
        if (items->edges[i].tells == TM_TELLS_OVER)
            __builtin_prefetch(&batch->over[items->slots[edge]]);
        else if (items->edges[i].tells != TM_TELLS_NONE)
            __builtin_prefetch(&batch->recorded[edge]);
    }
}

static void add_row(const tm_batch *batch, const tm_batch_loops *loops, size_t item,
                    tm_peer_row *row) {
    const bool always = batch->items->always[item];
    tm_batch_row first, second;
    loops->weigh_item(batch, item, &first, &second);
    if (always) {
        memcpy(row->first_ns, first.ns, sizeof row->first_ns);
        memcpy(row->second_ns, second.ns, sizeof row->second_ns);
        row->n = (int64_t)batch->n;
        return;
    }
    row->n = 0;
    for (size_t k = 0; k < batch->n; k++) {
        row->first_ns[row->n] = first.ns[k];
        row->second_ns[row->n] = second.ns[k];
        row->n += second.ns[k] > 0;
    }
}

static void add_rows(const tm_batch *batch, const slice_items *s, size_t *first,
                     tm_peer_row *rows) {
    const uint64_t *hashes = s->of->places->keys.keys.data;
    const tm_batch_loops *loops = tm_batch_loops_of(s->of->loops);
    const uint32_t *list = s->list.data;
    for (size_t i = 0; i < s->list.n; i++) {
        if (i + AHEAD < s->list.n)
            fetch_item(batch, list[i + AHEAD]);
        const uint32_t p = batch->items->places[list[i]];
        tm_peer_row *row = &rows[first[p + 1]++];
        row->place = hashes[p];
        row->origin = s->of->slice->origin;
        add_row(batch, loops, list[i], row);
    }
}

tm_status tm_batch_rows(const tm_batch *batches, size_t n, const tm_batch_places *of, tm_vec *rows,
                        tm_error *err) {
    slice_items s = {.of = of, .list = TM_VEC(uint32_t)};
    size_t *first = count_rows(batches, n, &s);
    const size_t n_rows = first ? first[of->places->keys.keys.n + 1] : 0;
    bool ok = first && (n_rows == 0 || tm_vec_append(rows, NULL, n_rows));
    for (size_t c = 0; c < n && ok && n_rows > 0; c++) {
        ok = list_items(&s, batches[c].items);
        if (ok && batches[c].n > 0)
            add_rows(&batches[c], &s, first, rows->data);
    }
    free(first);
    tm_vec_free(&s.list);
    return ok ? TM_OK : tm_fail_memory(err);
}

bool tm_batch_peers(const tm_batch *batch, const tm_peer_places *places,
                    tm_batch_workspace *workspace) {
    const tm_batch_items *items = batch->items;
    if (!tm_batch_workspace_fit(workspace, batch))
        return false;
    memset(workspace->known, 0, tm_batch_edges(batch));
    memset(workspace->stall, 0, tm_batch_edges(batch));
    tm_batch_loops_of(workspace->loops)->peers(batch, places, workspace);
    for (uint32_t i = items->first[items->n]; i < items->first[items->n + 1]; i++) {
        const uint32_t e = items->edges[i].edge; /* the edge is a transfer */
        const uint32_t participant = batch->like->edges[e].from & ~TM_FROM_OPERATION;
        memcpy(workspace->peer[e].ns, batch->participants[participant].usual_ns,
               sizeof workspace->peer[e].ns);
        workspace->known[e] = TM_WORKSPACE_PEER;
    }
    return true;
}
