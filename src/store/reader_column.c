/* Reads ranges of record columns, and the dictionary. */
#include <stdlib.h>
#include <string.h>

#include "chunk_pack.h"
#include "h5.h"
#include "reader.h"

struct tm_store_column {
    /* borrowed */
    const tm_store *store;
    char path[TM_TABLE_PATH_MAX];
    hid_t dataset;
    hid_t type; /* type of the rows in memory; never closed */
    size_t n_rows;
    tm_chunk_shape shape;    /* chunk_rows is 0 if HDF5 unpacks this column's chunks */
    size_t packed_bytes;     /* maximum size of a packed chunk */
    char *packed, *shuffled; /* owned; each has room for one chunk */
    size_t chunk;            /* index of the chunk that `shuffled` holds; SIZE_MAX: none */
};

/* Returns the number of rows of a chunk if this file unpacks the column's chunks; 0 if HDF5 does.
 * HDF5 1.10 reads past the end of a damaged chunk that unpacks to less than a full chunk. So this
 * file unpacks all chunks that tmerge packed. HDF5 unpacks only chunks that another program packed
 * in another way. */
static size_t own_chunk_rows(hid_t dataset, size_t n_rows) {
    hid_t layout = H5Dget_create_plist(dataset);
    hsize_t rows = 0;
    unsigned flags = 0;
    bool own = layout >= 0 && H5Pget_layout(layout) == H5D_CHUNKED &&
               H5Pget_chunk(layout, 1, &rows) == 1 && H5Pget_nfilters(layout) == 2 &&
               H5Pget_filter2(layout, 0, &flags, NULL, NULL, 0, NULL, NULL) == H5Z_FILTER_SHUFFLE &&
               H5Pget_filter2(layout, 1, &flags, NULL, NULL, 0, NULL, NULL) == TM_STORE_ZSTD_FILTER;
    tm_h5_close(layout);
    return own && rows <= n_rows ? (size_t)rows : 0;
}

/* Returns whether a column has this element type. A u8 column may be an enumeration of u8. */
static bool has_element(hid_t dataset, tm_element element) {
    hid_t type = H5Dget_type(dataset);
    hid_t base = H5Tget_class(type) == H5T_ENUM ? H5Tget_super(type) : H5I_INVALID_HID;
    bool is = H5Tequal(base >= 0 ? base : type, tm_h5_element(element)) > 0;
    tm_h5_close(base);
    tm_h5_close(type);
    return is;
}

static bool make_chunk_room(tm_store_column *column) {
    size_t rows = column->shape.chunk_rows, bytes = column->shape.element_bytes;
    if (rows == 0)
        return true;
    column->packed_bytes = tm_pack_bound(rows * bytes);
    column->packed = malloc(column->packed_bytes);
    column->shuffled = malloc(rows * bytes);
    return column->packed && column->shuffled;
}

tm_status tm_store_open_column(const tm_store *store, const char *path, tm_element element,
                               tm_store_column **out, tm_error *err) {
    tm_store_column *column = calloc(1, sizeof *column);
    if (!column)
        return tm_fail_memory(err);
    column->store = store;
    strncpy(column->path, path, sizeof column->path - 1);
    column->chunk = SIZE_MAX;
    column->type = tm_h5_element(element);
    column->dataset = tm_store_open_dataset(store, path, &column->n_rows);
    tm_status status = TM_OK;
    if (column->dataset < 0)
        status = tm_fail(err, TM_ERR_INPUT, store->path, -1,
                         "the store has no column %s: merge its traces again", path);
    else if (!has_element(column->dataset, element))
        status = tm_fail(err, TM_ERR_INPUT, store->path, -1,
                         "the store's column %s has an unexpected type", path);
    else {
        column->shape.element_bytes = tm_element_size(element);
        column->shape.chunk_rows = own_chunk_rows(column->dataset, column->n_rows);
        if (!make_chunk_room(column))
            status = tm_fail_memory(err);
    }
    if (status != TM_OK) {
        tm_store_close_column(column);
        return status;
    }
    *out = column;
    return TM_OK;
}

void tm_store_close_column(tm_store_column *column) {
    if (!column)
        return;
    tm_h5_close(column->dataset);
    free(column->packed);
    free(column->shuffled);
    free(column);
}

size_t tm_store_column_rows(const tm_store_column *column) {
    return column->n_rows;
}

/* Loads a chunk. First checks its size, because HDF5 writes the whole chunk into the buffer. */
static bool load_chunk(tm_store_column *column, size_t chunk) {
    hsize_t at = chunk * column->shape.chunk_rows, size = 0;
    uint32_t left_out = 0; /* bit i: filter i was not applied to this chunk */
    if (column->chunk == chunk)
        return true;
    column->chunk = SIZE_MAX;
    if (H5Dget_chunk_storage_size(column->dataset, &at, &size) < 0 || size == 0 ||
        size > column->packed_bytes ||
        H5Dread_chunk(column->dataset, H5P_DEFAULT, &at, &left_out, column->packed) < 0 ||
        left_out != 0 ||
        !tm_unpack_chunk(column->packed, (size_t)size, column->shape, column->shuffled))
        return false;
    column->chunk = chunk;
    return true;
}

/* Reads chunk by chunk. Keeps the last chunk, because the next range often starts in the same
 * chunk. */
static bool read_own(tm_store_column *column, size_t first, size_t n, char *out) {
    size_t rows = column->shape.chunk_rows, bytes = column->shape.element_bytes;
    while (n > 0) {
        size_t skipped = first % rows, taken = rows - skipped < n ? rows - skipped : n;
        if (!load_chunk(column, first / rows))
            return false;
        tm_unpack_rows(column->shuffled, column->shape, skipped, taken, out);
        out += taken * bytes;
        first += taken;
        n -= taken;
    }
    return true;
}

/* Reads a column for which own_chunk_rows returns 0: it has no chunks, has no rows, or was packed
 * by another program. */
static bool read_with_hdf5(const tm_store_column *column, size_t first, size_t n, void *out) {
    hsize_t at = first, rows = n;
    hid_t file_space = H5Dget_space(column->dataset), space = H5Screate_simple(1, &rows, NULL);
    hid_t type = H5Dget_type(column->dataset); /* the type in the file, so that HDF5 converts
                                                  nothing, not even an enumeration */
    bool done = file_space >= 0 && space >= 0 && type >= 0 &&
                H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &at, NULL, &rows, NULL) >= 0 &&
                H5Dread(column->dataset, type, space, file_space, H5P_DEFAULT, out) >= 0;
    tm_h5_close(type);
    tm_h5_close(space);
    tm_h5_close(file_space);
    return done;
}

tm_status tm_store_read_rows(tm_store_column *column, size_t first, size_t n, void *out,
                             tm_error *err) {
    if (first > column->n_rows || n > column->n_rows - first)
        return tm_fail(err, TM_ERR_INPUT, column->store->path, -1,
                       "the store's column %s has %zu rows, not %zu", column->path, column->n_rows,
                       first + n);
    bool done = n == 0 || (column->shape.chunk_rows > 0 ? read_own(column, first, n, out)
                                                        : read_with_hdf5(column, first, n, out));
    return done ? TM_OK
                : tm_fail(err, TM_ERR_INPUT, column->store->path, -1,
                          "the store is damaged: column %s cannot be read", column->path);
}

tm_status tm_store_read_all(const tm_store *store, const char *path, tm_element element, void **out,
                            size_t *n, tm_error *err) {
    tm_store_column *column = NULL;
    TM_TRY(tm_store_open_column(store, path, element, &column, err));
    *n = tm_store_column_rows(column);
    size_t bytes = tm_element_size(element);
    *out = *n < SIZE_MAX / bytes ? malloc(*n * bytes + 1) : NULL;
    tm_status status = *out ? tm_store_read_rows(column, 0, *n, *out, err) : tm_fail_memory(err);
    tm_store_close_column(column);
    if (status != TM_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/* Interns the texts. A text that occurs twice means damage, because it would shift the ids after
 * it. */
static tm_status intern_all(const tm_store *store, tm_names *names, const tm_text *bytes,
                            const int64_t *offsets, size_t n, tm_error *err) {
    for (size_t id = 0; id + 1 < n; id++) {
        int64_t begin = offsets[id], end = offsets[id + 1];
        if (begin < 0 || end < begin || (uint64_t)end > bytes->size)
            return tm_store_damaged(store, "/names/offsets is not ascending", err);
        uint32_t got = tm_names_intern(names, bytes->bytes + begin, (size_t)(end - begin));
        if (got == TM_NAME_FAILED)
            return tm_fail_memory(err);
        if (got != id)
            return tm_store_damaged(store, "/names has the same text twice", err);
    }
    return TM_OK;
}

tm_status tm_store_read_names(const tm_store *store, tm_names **out, tm_error *err) {
    void *bytes = NULL, *offsets = NULL;
    size_t n_bytes = 0, n_offsets = 0;
    tm_names *names = tm_names_create();
    tm_status status = names ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_store_read_all(store, "/names/bytes", TM_U8, &bytes, &n_bytes, err);
    if (status == TM_OK)
        status = tm_store_read_all(store, "/names/offsets", TM_I64, &offsets, &n_offsets, err);
    if (status == TM_OK) {
        tm_text text = {.bytes = bytes, .size = n_bytes};
        status = intern_all(store, names, &text, offsets, n_offsets, err);
    }
    free(bytes);
    free(offsets);
    if (status != TM_OK) {
        tm_names_destroy(names);
        return status;
    }
    *out = names;
    return TM_OK;
}
