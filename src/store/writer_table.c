/* Result tables, each as one compound dataset. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/deflate.h"
#include "base/vec.h"
#include "writer.h"

typedef struct record {
    size_t *at; /* owned; [n_columns + 1] offset of each column in a record; the last element is the
                   size of a record */
    hid_t type;
    size_t in_chunk; /* number of records of a chunk; 0 if the table is small and therefore stored
                        in one piece */
    char *rows;      /* owned; buffer for the records of a chunk, or of the single piece */
} record;

/* Returns the size of a column. A text column is as wide as its longest text, because HDF5 stores
 * texts of variable length in a heap and not in the rows. */
static size_t cell_size(const tm_table *table, int column) {
    size_t longest = 1; /* at least 1, because HDF5 has no texts of size 0 */
    switch (table->def->columns[column].type) {
    case TM_BOOL:
        return 1;
    case TM_TEXT:
        for (size_t row = 0; row < table->n_rows; row++) {
            const tm_cell *cell = tm_table_row(table, row) + column;
            size_t size = cell->null ? 0 : strlen(cell->value.text);
            longest = size > longest ? size : longest;
        }
        return longest;
    default:
        return 8;
    }
}

static hid_t text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0 ||
                      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)) {
        tm_h5_close(type);
        type = H5I_INVALID_HID;
    }
    return type;
}

/* Sets all bytes of the cell, so that equal tables have equal bytes. */
static void put_cell(const tm_cell *cell, tm_type type, size_t size, char *out) {
    int64_t number = cell->null ? TM_NULL_INT : cell->value.i;
    double real = cell->null ? (double)NAN : cell->value.r;
    switch (type) {
    case TM_INT:
        memcpy(out, &number, sizeof number);
        break;
    case TM_REAL:
        memcpy(out, &real, sizeof real);
        break;
    case TM_BOOL:
        *out = (char)(cell->null ? TM_NULL_BOOL : cell->value.i != 0);
        break;
    default:
        memset(out, 0, size);
        if (!cell->null)
            memcpy(out, cell->value.text, strlen(cell->value.text));
    }
}

/* Makes the type of a record, which is the same in memory and in the file, so that HDF5 converts
 * nothing. */
static bool make_type(const tm_table_def *def, record *made) {
    made->type = H5Tcreate(H5T_COMPOUND, made->at[def->n_columns]);
    bool done = made->type >= 0;
    for (int i = 0; done && i < def->n_columns; i++) {
        const bool is_text = def->columns[i].type == TM_TEXT;
        hid_t text = is_text ? text_type(made->at[i + 1] - made->at[i]) : H5I_INVALID_HID;
        hid_t type = is_text ? text : tm_h5_cell(def->columns[i].type);
        done = type >= 0 && H5Tinsert(made->type, def->columns[i].name, made->at[i], type) >= 0;
        tm_h5_close(text);
    }
    return done;
}

static void put_rows(const tm_table *table, const record *made, size_t first, size_t n) {
    int columns = table->def->n_columns;
    char *out = made->rows;
    for (size_t row = first; row < first + n; row++, out += made->at[columns]) {
        const tm_cell *cells = tm_table_row(table, row);
        for (int i = 0; i < columns; i++)
            put_cell(&cells[i], table->def->columns[i].type, made->at[i + 1] - made->at[i],
                     out + made->at[i]);
    }
}

/* Returns the number of records of a chunk; 0 if the table is small: it is then stored uncompressed
 * in one piece. Records with long texts are mostly zeros, so they are always compressed. */
static size_t chunk_rows(size_t record_bytes, size_t n_rows) {
    enum { PLAIN = 1 << 16, CHUNK = 1 << 20 };
    if (n_rows <= PLAIN / record_bytes)
        return 0;
    size_t rows = record_bytes < CHUNK ? CHUNK / record_bytes : 1;
    return rows < n_rows ? rows : n_rows;
}

/* Places the cells without padding, so that every byte of a record belongs to a cell. */
static bool make_record(const tm_table *table, record *made) {
    int n = table->def->n_columns;
    made->at = calloc((size_t)n + 1, sizeof *made->at);
    if (!made->at)
        return false;
    for (int i = 0; i < n; i++)
        made->at[i + 1] = made->at[i] + cell_size(table, i);
    made->in_chunk = chunk_rows(made->at[n], table->n_rows);
    /* 1 is added so that malloc returns NULL only when out of memory, even for an empty table. */
    made->rows = malloc((made->in_chunk > 0 ? made->in_chunk : table->n_rows) * made->at[n] + 1);
    return made->rows != NULL;
}

/* Writes an attribute that has one line per column: the docs of the columns if @p docs is set,
 * otherwise their units. */
static bool put_lines(const tm_store_writer *writer, hid_t dataset, const tm_table_def *def,
                      bool docs, bool *no_memory) {
    tm_vec lines = TM_VEC(char);
    bool done = true;
    for (int i = 0; done && i < def->n_columns; i++) {
        const char *text = docs ? def->columns[i].doc : def->columns[i].unit;
        done = tm_vec_append(&lines, text, strlen(text)) &&
               tm_vec_append(&lines, i + 1 < def->n_columns ? "\n" : "", 1);
    }
    *no_memory = *no_memory || !done;
    done = done && tm_store_put_text(writer, dataset, docs ? "docs" : "units", lines.data);
    tm_vec_free(&lines);
    return done;
}

/* Writes the units and docs of all columns as two attributes of the dataset. An attribute per
 * column would take more space than most tables. */
static bool put_docs(const tm_store_writer *writer, hid_t dataset, const tm_table_def *def,
                     bool *no_memory) {
    return tm_store_put_text(writer, dataset, "doc", def->doc) &&
           put_lines(writer, dataset, def, false, no_memory) &&
           put_lines(writer, dataset, def, true, no_memory);
}

static bool put_null_values(const tm_store_writer *writer, hid_t group) {
    const int64_t null_int = TM_NULL_INT;
    const double null_real = (double)NAN;
    const int8_t null_bool = TM_NULL_BOOL;
    return tm_store_put_text(writer, group, "doc",
                             "result tables; the attributes null_int, null_real, null_bool and "
                             "null_text are the values that mean null") &&
           tm_h5_put_number(group, "null_int", H5T_STD_I64LE, &null_int) &&
           tm_h5_put_number(group, "null_real", H5T_IEEE_F64LE, &null_real) &&
           tm_h5_put_number(group, "null_bool", H5T_STD_I8LE, &null_bool) &&
           tm_store_put_text(writer, group, "null_text", "");
}

static bool need_analysis(const tm_store_writer *writer) {
    const htri_t there = H5Lexists(writer->file, "/analysis", H5P_DEFAULT);
    hid_t group = there == 0 ? tm_h5_make_group(writer->file, "/analysis") : H5I_INVALID_HID;
    bool done = there > 0 || (group >= 0 && put_null_values(writer, group));
    tm_h5_close(group);
    return done;
}

/* Opens the group of an analysis, or makes it for the analysis's first table. */
static bool need_group(tm_store_writer *writer, const char *path) {
    if (tm_store_uses_group(writer, path))
        return true;
    if (!need_analysis(writer))
        return false;
    const htri_t there = H5Lexists(writer->file, path, H5P_DEFAULT);
    return tm_store_use_group(writer, path,
                              there == 0 ? tm_h5_make_group(writer->file, path)
                                         : H5Gopen2(writer->file, path, H5P_DEFAULT));
}

/* Uses HDF5's built-in filter, so that every HDF5 program can read the table without a plugin. */
static bool compress(hid_t layout, size_t n_rows) {
    hsize_t rows = n_rows;
    return n_rows == 0 || (H5Pset_chunk(layout, 1, &rows) >= 0 && H5Pset_deflate(layout, 1) >= 0);
}

/* Compresses with ISA-L, several times as fast as HDF5's built-in filter, which can read the
 * result. Holds only one chunk in memory, because every text takes the width of the longest. Pads
 * the last chunk with zeros. */
static bool put_chunks(hid_t dataset, const tm_table *table, const record *made, bool *no_memory) {
    size_t record_bytes = made->at[table->def->n_columns], chunk = made->in_chunk * record_bytes;
    size_t room = chunk + chunk / 1024 + 1024; /* enough even for data that cannot be compressed */
    tm_deflate *deflate = tm_deflate_create();
    char *packed = malloc(room);
    bool done = deflate && packed;
    *no_memory = !done;
    for (size_t row = 0; done && row < table->n_rows; row += made->in_chunk) {
        size_t left = table->n_rows - row, n = left < made->in_chunk ? left : made->in_chunk;
        const hsize_t at = row;
        put_rows(table, made, row, n);
        memset(made->rows + n * record_bytes, 0, chunk - n * record_bytes);
        size_t size = tm_deflate_all(deflate, made->rows, chunk, packed, room);
        done = size > 0 && H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &at, size, packed) >= 0;
    }
    free(packed);
    tm_deflate_destroy(deflate);
    return done;
}

static bool put_piece(hid_t dataset, const tm_table *table, const record *made) {
    put_rows(table, made, 0, table->n_rows);
    return H5Dwrite(dataset, made->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, made->rows) >= 0;
}

static bool put_dataset(const tm_store_writer *writer, const char *name, const tm_table *table,
                        const record *made, bool *no_memory) {
    hsize_t rows = table->n_rows;
    hid_t dataset = H5I_INVALID_HID, space = H5Screate_simple(1, &rows, NULL);
    hid_t chunked = made->in_chunk > 0 ? H5Pcopy(writer->plain) : H5I_INVALID_HID;
    hid_t layout = made->in_chunk > 0 ? chunked : writer->plain;
    if (space >= 0 && layout >= 0 && compress(layout, made->in_chunk))
        dataset =
            H5Dcreate2(writer->group, name, made->type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    bool done = dataset >= 0 && put_docs(writer, dataset, table->def, no_memory);
    if (done && made->in_chunk > 0)
        done = put_chunks(dataset, table, made, no_memory);
    else if (done && rows > 0)
        done = put_piece(dataset, table, made);
    tm_h5_close(dataset);
    tm_h5_close(chunked);
    tm_h5_close(space);
    return done;
}

tm_status tm_store_put_table(tm_store_writer *writer, const tm_table *table, tm_error *err) {
    char path[TM_TABLE_PATH_MAX], group[TM_TABLE_PATH_MAX];
    assert(table->def->n_columns > 0);
    size_t length = tm_h5_table_path(table->def->name, path);
    if (length == 0)
        return tm_fail(err, TM_ERR_FAULT, writer->temp.path, -1,
                       "a result table has the bad name '%s'", table->def->name);
    memcpy(group, path, length);
    group[length] = '\0';
    record made = {.type = H5I_INVALID_HID};
    tm_status status = make_record(table, &made) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        bool no_memory = false;
        bool done = need_group(writer, group) && make_type(table->def, &made) &&
                    put_dataset(writer, path + length + 1, table, &made, &no_memory);
        status = no_memory ? tm_fail_memory(err)
                           : tm_store_done(writer, done, "write a result table", err);
    }
    tm_h5_close(made.type);
    free(made.rows);
    free(made.at);
    return status;
}
