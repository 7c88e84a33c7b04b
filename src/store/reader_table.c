/* Reads result tables back into cells. */
#include <stdlib.h>
#include <string.h>

#include "h5.h"
#include "reader.h"
#include "table/rows.h"

/* Layout of a record in memory. It contains the columns of the definition, except those that the
 * store lacks. */
typedef struct record {
    size_t *at; /* owned; [n_columns] offset of each column; SIZE_MAX: the store does not have it */
    size_t *size; /* owned; [n_columns] size of each column [B] */
    size_t bytes; /* size of a record [B] */
    hid_t type;
} record;

static H5T_class_t stored_class(tm_type type) {
    switch (type) {
    case TM_REAL:
        return H5T_FLOAT;
    case TM_TEXT:
        return H5T_STRING;
    default:
        return H5T_INTEGER;
    }
}

/* Returns the type of a member in memory. A text has the same size as in the file, so that it is
 * not cut. */
static hid_t member_type(hid_t stored, tm_type type) {
    if (H5Tget_class(stored) != stored_class(type) || H5Tis_variable_str(stored) > 0)
        return H5I_INVALID_HID;
    return H5Tcopy(type == TM_TEXT ? stored : tm_h5_cell(type));
}

/* Returns a column's name in the store. In a store of the previous version, this may be a former
 * name, or the name that the column had in a former table. */
static const char *stored_name(const tm_table_def *def, const tm_renamed *source, hid_t stored,
                               int column) {
    const char *name = tm_renamed_column(source, def->columns[column].name);
    const tm_former_column *former = NULL;
    for (int i = 0; (former = tm_former_column_of(def, i)); i++)
        if (strcmp(former->column, name) == 0 && H5Tget_member_index(stored, name) < 0)
            return former->was;
    return name;
}

/* Finds the offset of every column. Returns the index of the first column whose type does not
 * match, or -1. */
static int place_columns(const tm_table_def *def, const tm_renamed *source, hid_t stored,
                         record *made, hid_t *types) {
    for (int i = 0; i < def->n_columns; i++) {
        made->at[i] = SIZE_MAX;
        int member = H5Tget_member_index(stored, stored_name(def, source, stored, i));
        if (member < 0)
            continue;
        hid_t found = H5Tget_member_type(stored, (unsigned)member);
        types[i] = found >= 0 ? member_type(found, def->columns[i].type) : H5I_INVALID_HID;
        tm_h5_close(found);
        if (types[i] < 0)
            return i;
        made->at[i] = made->bytes;
        made->size[i] = H5Tget_size(types[i]);
        made->bytes += made->size[i];
    }
    return -1;
}

/* Adds the columns to the record type. HDF5 finds members by name, and skips members that only the
 * store has. */
static bool insert_columns(const tm_table_def *def, const tm_renamed *source, hid_t stored,
                           const hid_t *types, record *made) {
    if (made->bytes == 0)
        return true;
    made->type = H5Tcreate(H5T_COMPOUND, made->bytes);
    bool done = made->type >= 0;
    for (int i = 0; done && i < def->n_columns; i++)
        if (made->at[i] != SIZE_MAX)
            done = H5Tinsert(made->type, stored_name(def, source, stored, i), made->at[i],
                             types[i]) >= 0;
    return done;
}

/* Builds the type of a record in memory: those columns of the definition that the store has, in the
 * definition's order. */
static tm_status make_record(const tm_store *store, const tm_table_def *def,
                             const tm_renamed *source, hid_t dataset, record *made, tm_error *err) {
    size_t n = (size_t)def->n_columns;
    hid_t stored = H5Dget_type(dataset);
    hid_t *types = malloc(n * sizeof *types);
    made->at = calloc(n, sizeof *made->at);
    made->size = calloc(n, sizeof *made->size);
    tm_status status = TM_OK;
    if (!types || !made->at || !made->size) {
        status = tm_fail_memory(err);
    } else if (H5Tget_class(stored) != H5T_COMPOUND) {
        status = tm_store_damaged(store, def->name, err);
    } else {
        for (size_t i = 0; i < n; i++)
            types[i] = H5I_INVALID_HID;
        int misfit = place_columns(def, source, stored, made, types);
        if (misfit >= 0)
            status = tm_fail(err, TM_ERR_INPUT, store->path, -1,
                             "the store's table %s has an unexpected type in column %s", def->name,
                             def->columns[misfit].name);
        else if (!insert_columns(def, source, stored, types, made))
            status = tm_fail_memory(err);
        /* H5Tinsert copies the types. */
        for (size_t i = 0; i < n; i++)
            tm_h5_close(types[i]);
    }
    free(types);
    tm_h5_close(stored);
    return status;
}

/* Sets a text cell. Adjacent rows often have the same text, which is then stored once. */
static tm_status get_text(tm_table *table, tm_cell *cell, const char *from, size_t size,
                          tm_error *err) {
    const tm_cell *above =
        cell - table->cells >= table->def->n_columns ? cell - table->def->n_columns : NULL;
    if (above && !above->null && strlen(above->value.text) == size &&
        memcmp(above->value.text, from, size) == 0) {
        *cell = *above;
        return TM_OK;
    }
    return tm_table_set_bytes(table, cell, from, size, err);
}

/* Sets a cell, which must be null. If the stored value is null, the cell stays null. */
static tm_status get_cell(tm_table *table, tm_cell *cell, tm_type type, const char *from,
                          size_t size, tm_error *err) {
    int64_t number;
    double real;
    size_t length = 0;
    switch (type) {
    case TM_INT:
        memcpy(&number, from, sizeof number);
        if (number != TM_NULL_INT)
            tm_cell_set_int(cell, number);
        return TM_OK;
    case TM_REAL:
        memcpy(&real, from, sizeof real);
        tm_cell_set_real(cell, real); /* sets null if the value is NaN */
        return TM_OK;
    case TM_BOOL:
        /* Any other byte than 0 and 1 means null. */
        if (*from == 0 || *from == 1)
            tm_cell_set_bool(cell, *from == 1);
        return TM_OK;
    default:
        /* Texts are padded with zeros. A text that fills the column has no terminator. */
        while (length < size && from[length] != '\0')
            length++;
        return length > 0 ? get_text(table, cell, from, length, err) : TM_OK;
    }
}

static tm_status add_rows(tm_table *table, const tm_renamed *source, const record *made,
                          const char *rows, size_t n, tm_error *err) {
    int level = source->level ? tm_table_column(table->def, "level") : -1;
    if (!tm_rows_reserve(table, table->n_rows + n))
        return tm_fail_memory(err);
    for (size_t row = 0; row < n; row++) {
        tm_cell *cells = tm_table_add_row(table);
        for (int i = 0; i < table->def->n_columns; i++)
            if (made->at[i] != SIZE_MAX)
                TM_TRY(get_cell(table, &cells[i], table->def->columns[i].type,
                                rows + row * made->bytes + made->at[i], made->size[i], err));
        if (level >= 0)
            TM_TRY(get_text(table, &cells[level], source->level, strlen(source->level), err));
    }
    return TM_OK;
}

typedef struct reading {
    const tm_store *store;
    const tm_table_def *def;
    tm_renamed source; /* name of the dataset that has the rows */
    hid_t dataset;
    record made;
    size_t n_rows, slice_rows;
    char *rows; /* owned; [slice_rows] records */
} reading;

static void end_reading(reading *r) {
    tm_h5_close(r->made.type);
    tm_h5_close(r->dataset);
    free(r->made.at);
    free(r->made.size);
    free(r->rows);
}

/* Allocates a slice. Its number of rows depends on the size of a record: long texts make records of
 * a few thousand bytes. */
static tm_status make_slice(reading *r, tm_error *err) {
    enum { SLICE_BYTES = 1 << 21 };
    size_t bytes = r->made.bytes > 0 ? r->made.bytes : 1;
    r->slice_rows = bytes < SLICE_BYTES ? SLICE_BYTES / bytes : 1;
    r->slice_rows = r->slice_rows < r->n_rows ? r->slice_rows : r->n_rows;
    r->rows = calloc(r->slice_rows * bytes + 1, 1);
    return r->rows ? TM_OK : tm_fail_memory(err);
}

static tm_status no_table(const tm_store *store, const char *name, tm_error *err) {
    return tm_fail(err, TM_ERR_INPUT, store->path, -1, "the store has no table %s", name);
}

/* Opens the dataset of a table; the caller closes it. */
static tm_status open_table(const tm_store *store, const char *name, hid_t *dataset, size_t *n,
                            tm_error *err) {
    char path[TM_TABLE_PATH_MAX];
    if (tm_h5_table_path(name, path) == 0)
        return no_table(store, name, err);
    *dataset = tm_store_open_dataset(store, path, n);
    return *dataset < 0 ? tm_store_damaged(store, name, err) : TM_OK;
}

tm_status tm_store_table_rows(const tm_store *store, const char *name, size_t *n, tm_error *err) {
    tm_renamed sources[TM_STORE_SOURCES];
    size_t n_sources = tm_store_sources(store, name, sources), rows = 0;
    *n = 0;
    for (size_t i = 0; i < n_sources; i++) {
        hid_t dataset = H5I_INVALID_HID;
        TM_TRY(open_table(store, sources[i].was, &dataset, &rows, err));
        tm_h5_close(dataset);
        *n += rows;
    }
    return n_sources > 0 ? TM_OK : no_table(store, name, err);
}

/* Begins reading. The caller must call end_reading, also after a failure. */
static tm_status begin_reading(reading *r, tm_error *err) {
    TM_TRY(open_table(r->store, r->source.was, &r->dataset, &r->n_rows, err));
    TM_TRY(make_record(r->store, r->def, &r->source, r->dataset, &r->made, err));
    return make_slice(r, err);
}

static tm_status fetch(const reading *r, size_t first, size_t n, tm_error *err) {
    hsize_t at = first, rows = n;
    if (r->made.bytes == 0)
        return TM_OK;
    hid_t file_space = H5Dget_space(r->dataset), space = H5Screate_simple(1, &rows, NULL);
    bool done = file_space >= 0 && space >= 0 &&
                H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &at, NULL, &rows, NULL) >= 0 &&
                H5Dread(r->dataset, r->made.type, space, file_space, H5P_DEFAULT, r->rows) >= 0;
    tm_h5_close(space);
    tm_h5_close(file_space);
    if (done)
        return TM_OK;
    return tm_verified_file_memory_out(r->store->verified)
               ? tm_fail_memory(err)
               : tm_fail(err, TM_ERR_INPUT, r->store->path, -1,
                         "the store is damaged: table %s cannot be read", r->source.was);
}

typedef struct reader {
    tm_table *table; /* table to which the rows are added; NULL: the rows are read but not kept */
    tm_store_slice_visitor *visitor;
    void *context;
    size_t first, end; /* rows to read */
    size_t n_rows;     /* number of rows read */
} reader;

static tm_status read_slices(reading *r, reader *to, tm_error *err) {
    TM_TRY(begin_reading(r, err));
    size_t skipped = to->first < to->n_rows ? 0 : to->first - to->n_rows;
    size_t wanted = to->end < to->n_rows ? 0 : to->end - to->n_rows;
    size_t end = wanted < r->n_rows ? wanted : r->n_rows;
    for (size_t at = skipped, n; at < end; at += n) {
        n = end - at < r->slice_rows ? end - at : r->slice_rows;
        TM_TRY(fetch(r, at, n, err));
        if (to->table)
            TM_TRY(add_rows(to->table, &r->source, &r->made, r->rows, n, err));
        if (to->visitor)
            TM_TRY(to->visitor(to->context, to->table, err));
    }
    to->n_rows += r->n_rows;
    return TM_OK;
}

static tm_status read_sources(const tm_store *store, const tm_table_def *def, reader *to,
                              tm_error *err) {
    tm_renamed sources[TM_STORE_SOURCES];
    size_t n = tm_store_sources(store, def->name, sources);
    tm_status status = n > 0 ? TM_OK : no_table(store, def->name, err);
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        reading r = {.store = store,
                     .def = def,
                     .source = sources[i],
                     .dataset = H5I_INVALID_HID,
                     .made = {.type = H5I_INVALID_HID}};
        status = read_slices(&r, to, err);
        end_reading(&r);
    }
    return status;
}

tm_status tm_store_visit_table(const tm_store *store, tm_table *table,
                               tm_store_slice_visitor *visitor, void *context, tm_error *err) {
    reader to = {.table = table, .visitor = visitor, .context = context, .end = SIZE_MAX};
    return read_sources(store, table->def, &to, err);
}

tm_status tm_store_read_table(const tm_store *store, tm_table *table, tm_error *err) {
    return tm_store_visit_table(store, table, NULL, NULL, err);
}

tm_status tm_store_verify_table(const tm_store *store, const tm_table_def *def, size_t *n_rows,
                                tm_error *err) {
    reader to = {.end = SIZE_MAX};
    TM_TRY(read_sources(store, def, &to, err));
    *n_rows = to.n_rows;
    return TM_OK;
}

tm_status tm_store_read_slice(const tm_store *store, tm_table *table, size_t first, size_t n,
                              tm_error *err) {
    reader to = {
        .table = table, .first = first, .end = n < SIZE_MAX - first ? first + n : SIZE_MAX};
    return read_sources(store, table->def, &to, err);
}
