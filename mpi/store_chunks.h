/* Chunks of a store in file order, with the processes that hold their rows and that pack them. */
#ifndef TMERGE_MPI_STORE_CHUNKS_H
#define TMERGE_MPI_STORE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/chunk_pack.h"
#include "store_layout.h"

typedef struct tm_store_chunk {
    int table, column;
    tm_chunk_shape shape;
    size_t slot;        /* first slot (rank) with rows in the chunk */
    int64_t first, end; /* the chunk has rows [first, end) of the column */
    int owner;          /* process that packs the chunk */
} tm_store_chunk;

/** A position in the walk through all chunks, in file order. */
typedef struct tm_store_walk {
    const tm_store_layout *layout; /* borrowed */
    size_t chunk_rows;             /* number of rows of the store's chunks */
    size_t most_bytes; /* maximum size [B] of chunks that are taken together; a larger chunk is
                          taken by itself */
    int table, column;
    size_t slot;
    int64_t end; /* end row of the column's previous chunk */
} tm_store_walk;

/** Returns the size of a chunk before packing [bytes]. */
static inline size_t tm_store_chunk_bytes(const tm_store_chunk *chunk) {
    return chunk->shape.chunk_rows * chunk->shape.element_bytes;
}

/** The rows of one slot (rank) in a chunk. */
typedef struct tm_store_piece {
    const tm_store_slot *slot;
    size_t from;  /* first row of the piece, counted from the slot's first row */
    size_t place; /* first row of the piece, counted from the chunk's first row */
    size_t n;     /* number of rows, not 0 */
} tm_store_piece;

/** Returns the size of all chunks of the store before packing [bytes]. Collective: no. */
size_t tm_store_all_bytes(const tm_store_layout *layout, size_t chunk_rows);

/** Reserves memory for the largest number of chunks that can be taken together; false when out of
 * memory. Collective: no. */
bool tm_store_chunks_reserve(const tm_store_walk *walk, tm_vec *chunks) TM_MUST_CHECK;

/**
 * Takes the next chunks and assigns them to processes: a chunk to the holder of its first row or,
 * if the holder already has its share, to another process. Collective: no, but the result is the
 * same on all processes.
 * @param load    [n_processes] scratch
 * @param chunks  gets the chunks; empty after the last chunk. Memory for them must be reserved.
 */
void tm_store_next_chunks(tm_store_walk *walk, size_t *load, int n_processes, tm_vec *chunks);

/**
 * Sets @p out to the next piece of a chunk. Returns false if there is none. Collective: no.
 * @param slot  the slot from which to search; chunk->slot before the first call. The call advances
 *              it.
 */
bool tm_store_next_piece(const tm_store_layout *layout, const tm_store_chunk *chunk, size_t *slot,
                         tm_store_piece *out);

#endif
