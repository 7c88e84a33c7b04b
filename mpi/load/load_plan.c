/* Distributes reading over processes: whole traces, and parts of traces that are too large for one
 * process. */
#include <stdlib.h>

#include "loader.h"
#include "tmerge/reader.h"

tm_status tm_loader_cut(tm_loader *l, tm_error *err) {
    int64_t least = l->options->split_min_bytes, total = 0;
    least = least > 0 ? least : TM_SPLIT_MIN_BYTES;
    for (size_t i = 0; i < l->n; i++)
        total += l->entries[i].kind == TM_FILE_TRACE ? l->entries[i].weight : 0;
    for (size_t i = 0; i < l->n; i++) {
        const tm_entry *e = &l->entries[i];
        if (e->kind != TM_FILE_TRACE || !e->has_parts || e->size < least)
            continue;
        int n_readers = tm_share_n_readers(&l->readers, tm_loader_seen(l, (size_t)e->input));
        int n = tm_share_parts(e->weight, total, l->n_processes);
        n = n < n_readers ? n : n_readers;
        tm_mpi_part *parts = n > 1 ? tm_vec_append(&l->parts, NULL, (size_t)n) : NULL;
        if (n > 1 && !parts)
            return tm_fail_memory(err);
        for (int k = 0; k < n && parts; k++)
            tm_mpi_part_init(&parts[k], i, k, n);
    }
    return TM_OK;
}

int64_t tm_loader_part_size(const tm_loader *l, const tm_mpi_part *part) {
    int64_t size = l->entries[part->input].size;
    int index = part->part.index, n = part->part.n;
    return tm_part_cut(size, index + 1, n) - tm_part_cut(size, index, n);
}

tm_status tm_loader_plan(tm_loader *l, tm_error *err) {
    size_t n = l->n, n_parts = l->parts.n;
    tm_mpi_part *parts = l->parts.data;
    tm_share_item *items = realloc(l->items, (n + n_parts + 1) * sizeof *items);
    if (!items)
        return tm_fail_memory(err);
    l->items = items;
    for (size_t i = 0; i < n; i++) {
        bool trace = l->entries[i].kind == TM_FILE_TRACE;
        items[i] = (tm_share_item){.rank = trace ? l->entries[i].rank : -1,
                                   .weight = trace ? l->entries[i].weight : 0,
                                   .seen = tm_loader_seen(l, (size_t)l->entries[i].input)};
    }
    for (size_t k = 0; k < n_parts; k++) {
        bool first = parts[k].part.index == 0;
        items[n + k] = (tm_share_item){.rank = -1,
                                       .weight = first ? 0 : tm_loader_part_size(l, &parts[k]),
                                       .seen = items[parts[k].input].seen};
        if (first)
            items[parts[k].input].weight = tm_loader_part_size(l, &parts[k]);
    }
    TM_TRY(tm_share_plan(items, n + n_parts, &l->readers, err));
    for (size_t k = 0; k < n_parts; k++)
        parts[k].reader = items[parts[k].part.index == 0 ? parts[k].input : n + k].owner;
    return TM_OK;
}
