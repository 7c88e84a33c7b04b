/* The chunks of a store in the order in which they stand in it: whose rows they hold, and which
 * process packs them. */
#ifndef TMERGE_MPI_STORE_CHUNKS_H
#define TMERGE_MPI_STORE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/pack.h"
#include "store_layout.h"

typedef struct tm_store_chunk {
    int table, column;
    tm_chunk_shape shape;
    size_t slot;        /* the first one that has rows in it */
    int64_t first, end; /* its rows */
    int owner;          /* the process that packs it */
} tm_store_chunk;

/** Where a walk along all chunks has come to. */
typedef struct tm_store_walk {
    const tm_store_layout *layout; /* borrowed */
    size_t chunk_rows;             /* of the store */
    size_t most_bytes;             /* of chunks that are taken together; at least of one */
    int table, column;
    size_t slot;
    int64_t end; /* of the chunk before, in this column */
} tm_store_walk;

/** Bytes that it has before it is packed. */
static inline size_t tm_store_chunk_bytes(const tm_store_chunk *chunk) {
    return chunk->shape.chunk_rows * chunk->shape.element_bytes;
}

/** The rows of one slot that lie in a chunk. */
typedef struct tm_store_piece {
    const tm_store_slot *slot;
    size_t from;  /* in the slot */
    size_t place; /* in the chunk */
    size_t n;     /* not 0 */
} tm_store_piece;

/** Bytes of all chunks of the store. Collective: no. */
size_t tm_store_all_bytes(const tm_store_layout *layout, size_t chunk_rows);

/** Makes room for as many as can be taken together; false: memory is out. Collective: no. */
bool tm_store_chunks_reserve(const tm_store_walk *walk, tm_vec *chunks) TM_MUST_CHECK;

/**
 * Takes the next chunks, with the processes that pack them: of each the one that holds its first
 * row, as long as that has no more to do than the others.
 *
 * Collective: no; gives the same on all processes.
 * @param load    [n_processes] working memory
 * @param chunks  replaced, by none at the end; with room
 */
void tm_store_next_chunks(tm_store_walk *walk, size_t *load, int n_processes, tm_vec *chunks);

/** The next piece of a chunk; false: there is none. Collective: no.
 * @param slot  where to look, chunk->slot at first; moved on */
bool tm_store_next_piece(const tm_store_layout *layout, const tm_store_chunk *chunk, size_t *slot,
                         tm_store_piece *out);

#endif
