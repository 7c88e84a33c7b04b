/* Columns of record tables and the dictionary: datasets of packed chunks. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

/* Returns HDF5's creation properties for a column in chunks. They declare the filters that
 * tm_pack_chunk applies. */
static hid_t chunked_layout(const tm_store_writer *writer) {
    hid_t layout = H5Pcopy(writer->plain);
    hsize_t chunk = writer->shape.chunk_rows;
    const unsigned level[] = {TM_STORE_ZSTD_LEVEL};
    bool done = layout >= 0 && H5Pset_chunk(layout, 1, &chunk) >= 0;
    if (done && writer->compress)
        done = H5Pset_shuffle(layout) >= 0 &&
               H5Pset_filter(layout, TM_STORE_ZSTD_FILTER, H5Z_FLAG_MANDATORY, 1, level) >= 0;
    if (done)
        return layout;
    tm_h5_close(layout);
    return H5I_INVALID_HID;
}

/* Returns the column's creation properties, owned by the writer. A dataset without rows is
 * contiguous, because every reader accepts that. */
static hid_t column_layout(tm_store_writer *writer) {
    if (writer->shape.chunk_rows == 0)
        return writer->plain;
    if (writer->chunked < 0 || writer->chunked_rows != writer->shape.chunk_rows) {
        tm_h5_close(writer->chunked);
        writer->chunked = chunked_layout(writer);
        writer->chunked_rows = writer->shape.chunk_rows;
    }
    return writer->chunked;
}

/* Makes the type of a column of words: an enumeration, so that every HDF5 program shows the words.
 */
static hid_t words_type(const tm_record_column *column) {
    hid_t type = H5Tenum_create(tm_h5_element(column->element));
    for (int i = 0; type >= 0 && i < column->words->n; i++) {
        uint8_t value = (uint8_t)i;
        if (H5Tenum_insert(type, column->words->words[i], &value) < 0) {
            tm_h5_close(type);
            type = H5I_INVALID_HID;
        }
    }
    return type;
}

static bool make_column(tm_store_writer *writer, const char *group_path,
                        const tm_record_column *column) {
    hsize_t rows = writer->n_rows;
    bool there =
        tm_store_uses_group(writer, group_path) ||
        tm_store_use_group(writer, group_path, H5Gopen2(writer->file, group_path, H5P_DEFAULT));
    hid_t space = H5Screate_simple(1, &rows, NULL);
    hid_t words = column->words ? words_type(column) : H5I_INVALID_HID;
    hid_t type = column->words ? words : tm_h5_element(column->element);
    hid_t layout = column_layout(writer);
    if (there && space >= 0 && type >= 0 && layout >= 0)
        writer->column =
            H5Dcreate2(writer->group, column->name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    tm_h5_close(words);
    tm_h5_close(space);
    return writer->column >= 0 && tm_store_put_text(writer, writer->column, "unit", column->unit) &&
           tm_store_put_text(writer, writer->column, "doc", column->doc);
}

tm_status tm_store_begin_column(tm_store_writer *writer, const char *group,
                                const tm_record_column *column, size_t n_rows, tm_error *err) {
    assert(writer->column < 0);
    writer->n_rows = n_rows;
    writer->next_row = 0;
    writer->n_pending = 0;
    writer->shape.element_bytes = tm_element_size(column->element);
    writer->shape.chunk_rows = tm_store_chunk_rows(writer->chunk_rows, n_rows);
    bool done = make_column(writer, group, column);
    return tm_store_done(writer, done, "make a dataset", err);
}

/* Writes a packed chunk unchanged. If HDF5 packed the chunks, it would pack the chunks of all
 * processes one after another in this process. */
tm_status tm_store_put_chunk(tm_store_writer *writer, const void *packed, size_t size,
                             tm_error *err) {
    hsize_t at = writer->next_row;
    if (at >= writer->n_rows)
        return tm_fail(err, TM_ERR_FAULT, writer->temp.path, -1, "a column got too many chunks");
    /* The last chunk is padded, so next_row may become larger than n_rows. */
    writer->next_row += writer->shape.chunk_rows;
    /* mask 0: all filters were applied to the chunk */
    bool done = H5Dwrite_chunk(writer->column, H5P_DEFAULT, 0, &at, size, packed) >= 0;
    return tm_store_done(writer, done, "write a chunk", err);
}

static tm_status put_pending(tm_store_writer *writer, tm_error *err) {
    size_t size;
    const void *packed =
        tm_pack_chunk(writer->packer, writer->shape, writer->pending, writer->n_pending, &size);
    writer->n_pending = 0;
    return packed ? tm_store_put_chunk(writer, packed, size, err) : tm_fail_memory(err);
}

/* Makes the packer, and the buffer for pending rows. The buffer has room for chunk_rows elements of
 * up to 8 bytes. */
static bool make_room(tm_store_writer *writer) {
    enum { ELEMENT_MAX = 8 };
    assert(writer->chunk_rows > 0);
    if (!writer->packer)
        writer->packer = tm_packer_create(writer->compress);
    if (!writer->pending)
        writer->pending = malloc(writer->chunk_rows * ELEMENT_MAX);
    return writer->packer && writer->pending;
}

tm_status tm_store_put_rows(tm_store_writer *writer, const void *rows, size_t n, tm_error *err) {
    if (!make_room(writer))
        return tm_fail_memory(err);
    const char *from = rows;
    size_t element = writer->shape.element_bytes;
    while (n > 0) {
        /* Number of rows of the column that are not yet written in chunks. */
        size_t left = writer->n_rows - writer->next_row;
        size_t room = writer->shape.chunk_rows - writer->n_pending;
        if (writer->next_row >= writer->n_rows || writer->n_pending == left)
            return tm_fail(err, TM_ERR_FAULT, writer->temp.path, -1, "a column got too many rows");
        size_t taken = n < room ? n : room;
        taken = taken < left - writer->n_pending ? taken : left - writer->n_pending;
        memcpy(writer->pending + writer->n_pending * element, from, taken * element);
        writer->n_pending += taken;
        from += taken * element;
        n -= taken;
        if (writer->n_pending == writer->shape.chunk_rows || writer->n_pending == left)
            TM_TRY(put_pending(writer, err));
    }
    return TM_OK;
}

tm_status tm_store_end_column(tm_store_writer *writer, tm_error *err) {
    bool complete = writer->next_row >= writer->n_rows;
    bool done = writer->column >= 0 && H5Dclose(writer->column) >= 0;
    writer->column = H5I_INVALID_HID;
    TM_TRY(tm_store_done(writer, done, "close a dataset", err));
    return complete ? TM_OK
                    : tm_fail(err, TM_ERR_FAULT, writer->temp.path, -1, "a column lacks rows");
}

static const tm_record_column name_bytes = {
    .name = "bytes", .unit = "B", .doc = "the texts one after another, UTF-8", .element = TM_U8};
static const tm_record_column name_offsets = {.name = "offsets",
                                              .unit = "B",
                                              .doc =
                                                  "id n is the bytes [offsets[n], offsets[n + 1])",
                                              .element = TM_I64};

static tm_status put_name_bytes(tm_store_writer *writer, const tm_names *names, tm_error *err) {
    size_t n = tm_names_count(names), size = 0;
    for (size_t id = 0; id < n; id++)
        size += tm_names_text(names, (uint32_t)id).size;
    TM_TRY(tm_store_begin_column(writer, "/names", &name_bytes, size, err));
    for (size_t id = 0; id < n; id++) {
        tm_text text = tm_names_text(names, (uint32_t)id);
        TM_TRY(tm_store_put_rows(writer, text.bytes, text.size, err));
    }
    return tm_store_end_column(writer, err);
}

static tm_status put_name_offsets(tm_store_writer *writer, const tm_names *names, tm_error *err) {
    size_t n = tm_names_count(names);
    int64_t offset = 0;
    TM_TRY(tm_store_begin_column(writer, "/names", &name_offsets, n + 1, err));
    for (size_t id = 0; id < n; id++) {
        TM_TRY(tm_store_put_rows(writer, &offset, 1, err));
        offset += (int64_t)tm_names_text(names, (uint32_t)id).size;
    }
    TM_TRY(tm_store_put_rows(writer, &offset, 1, err));
    return tm_store_end_column(writer, err);
}

tm_status tm_store_put_names(tm_store_writer *writer, const tm_names *names, tm_error *err) {
    TM_TRY(tm_store_put_group(writer, "/names", "the dictionary of texts: id, from 0", err));
    TM_TRY(put_name_bytes(writer, names, err));
    return put_name_offsets(writer, names, err);
}
