#include "store_chunks.h"

#include <assert.h>
#include <string.h>

static void next_column(tm_store_walk *walk) {
    walk->slot = 0;
    walk->end = 0;
    if (++walk->column < tm_record_tables[walk->table].n_columns)
        return;
    walk->column = 0;
    walk->table++;
}

/* Finds the next chunk with rows, in this column or a later one. */
static bool next_chunk(tm_store_walk *walk, tm_store_chunk *out) {
    const tm_store_layout *layout = walk->layout;
    while (walk->table < TM_N_RECORDS && walk->end >= layout->n_rows[walk->table])
        next_column(walk);
    if (walk->table == TM_N_RECORDS)
        return false;
    int t = walk->table;
    tm_element element = tm_record_tables[t].columns[walk->column].element;
    size_t rows = tm_store_chunk_rows(walk->chunk_rows, (size_t)layout->n_rows[t]);
    int64_t first = walk->end, end = first + (int64_t)rows;
    walk->end = end < layout->n_rows[t] ? end : layout->n_rows[t];
    while (layout->slots[walk->slot].base.first[t] + layout->slots[walk->slot].n_rows[t] <= first)
        walk->slot++;
    *out = (tm_store_chunk){.table = t,
                            .column = walk->column,
                            .shape = {tm_element_size(element), rows},
                            .slot = walk->slot,
                            .first = first,
                            .end = walk->end,
                            .owner = layout->slots[walk->slot].process};
    return true;
}

/* Chooses the process that packs each chunk, so that all processes pack about the same number of
 * bytes. The rows of a column are stored rank after rank, so the chunks of a long column that
 * belong to one process are next to one another. Other processes then pack some of these chunks. */
static void share_out(tm_vec *chunks, size_t bytes, size_t *load, int n_processes) {
    tm_store_chunk *v = chunks->data;
    size_t share = bytes / (size_t)n_processes + 1;
    memset(load, 0, (size_t)n_processes * sizeof *load);
    for (size_t i = 0; i < chunks->n; i++) {
        for (int p = 0; load[v[i].owner] >= share; p++)
            v[i].owner = p;
        load[v[i].owner] += tm_store_chunk_bytes(&v[i]);
    }
}

size_t tm_store_all_bytes(const tm_store_layout *layout, size_t chunk_rows) {
    size_t bytes = 0;
    for (int t = 0; t < TM_N_RECORDS; t++) {
        size_t n = (size_t)layout->n_rows[t], rows = tm_store_chunk_rows(chunk_rows, n);
        for (int c = 0; n > 0 && c < tm_record_tables[t].n_columns; c++)
            bytes += (n + rows - 1) / rows * rows *
                     tm_element_size(tm_record_tables[t].columns[c].element);
    }
    return bytes;
}

bool tm_store_chunks_reserve(const tm_store_walk *walk, tm_vec *chunks) {
    size_t n = walk->most_bytes / walk->chunk_rows +
               1; /* an element has at least one byte, so a chunk has at least chunk_rows bytes */
    for (int t = 0; t < TM_N_RECORDS; t++) /* the last chunk of a column is shorter */
        n += (size_t)tm_record_tables[t].n_columns;
    return tm_vec_reserve(chunks, n);
}

void tm_store_next_chunks(tm_store_walk *walk, size_t *load, int n_processes, tm_vec *chunks) {
    size_t bytes = 0;
    tm_store_walk next = *walk;
    chunks->n = 0;
    for (tm_store_chunk chunk; next_chunk(&next, &chunk); *walk = next) {
        if (bytes > 0 && bytes + tm_store_chunk_bytes(&chunk) > walk->most_bytes)
            break;
        bytes += tm_store_chunk_bytes(&chunk);
        tm_store_chunk *added = tm_vec_push(chunks);
        assert(added);
        *added = chunk;
    }
    share_out(chunks, bytes, load, n_processes);
}

bool tm_store_next_piece(const tm_store_layout *layout, const tm_store_chunk *chunk, size_t *slot,
                         tm_store_piece *out) {
    int t = chunk->table;
    while (*slot < layout->n_slots && layout->slots[*slot].base.first[t] < chunk->end) {
        const tm_store_slot *at = &layout->slots[(*slot)++];
        int64_t base = at->base.first[t], first = base > chunk->first ? base : chunk->first;
        int64_t end = base + at->n_rows[t];
        end = end < chunk->end ? end : chunk->end;
        if (first >= end)
            continue;
        *out = (tm_store_piece){at, (size_t)(first - base), (size_t)(first - chunk->first),
                                (size_t)(end - first)};
        return true;
    }
    return false;
}
