/* Result tables, read back into the cells that they were written from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"
#include "reader.h"

/* The columns that the definition and the store share, as records in memory. */
typedef struct record {
    size_t *at;   /* owned; [n_columns] where a column stands, SIZE_MAX: the store has it not */
    size_t *size; /* owned; [n_columns] bytes */
    size_t bytes; /* of a record */
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

/* The type in memory of one member; texts keep their size, which no conversion could cut. */
static hid_t member_type(hid_t stored, tm_type type) {
    if (H5Tget_class(stored) != stored_class(type) || H5Tis_variable_str(stored) > 0)
        return H5I_INVALID_HID;
    return H5Tcopy(type == TM_TEXT ? stored : tm_h5_cell(type));
}

/* Places every column; returns the first one whose type does not fit, or -1. */
static int place_columns(const tm_table_def *def, hid_t stored, record *made, hid_t *types) {
    for (int i = 0; i < def->n_columns; i++) {
        made->at[i] = SIZE_MAX;
        int member = H5Tget_member_index(stored, def->columns[i].name);
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

/* HDF5 finds members by their names: what the store has and the record has not, it passes over. */
static bool insert_columns(const tm_table_def *def, const hid_t *types, record *made) {
    if (made->bytes == 0)
        return true;
    made->type = H5Tcreate(H5T_COMPOUND, made->bytes);
    bool done = made->type >= 0;
    for (int i = 0; done && i < def->n_columns; i++)
        if (made->at[i] != SIZE_MAX)
            done = H5Tinsert(made->type, def->columns[i].name, made->at[i], types[i]) >= 0;
    return done;
}

/* The record in memory: the columns of the definition, in its order, as far as the store has
 * them. */
static tm_status make_record(const tm_store *store, const tm_table_def *def, hid_t dataset,
                             record *made, tm_error *err) {
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
        int misfit = place_columns(def, stored, made, types);
        if (misfit >= 0)
            status = tm_fail(err, TM_ERR_INPUT, store->path, -1,
                             "the store's table %s has an unexpected type in column %s", def->name,
                             def->columns[misfit].name);
        else if (!insert_columns(def, types, made))
            status = tm_fail_memory(err);
        /* The record has taken copies of them. */
        for (size_t i = 0; i < n; i++)
            tm_h5_close(types[i]);
    }
    free(types);
    tm_h5_close(stored);
    return status;
}

/* Cells are null from the beginning: what stands for null is left as it is. */
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
        tm_cell_set_real(cell, real); /* NaN is null there too */
        return TM_OK;
    case TM_BOOL:
        /* Any other byte is null, not just the one that is written for it. */
        if (*from == 0 || *from == 1)
            tm_cell_set_bool(cell, *from == 1);
        return TM_OK;
    default:
        /* Padded with zeros, and without one where the text is as long as the column. */
        while (length < size && from[length] != '\0')
            length++;
        return length > 0 ? tm_table_set_bytes(table, cell, from, length, err) : TM_OK;
    }
}

static tm_status add_rows(tm_table *table, const record *made, const char *rows, size_t n,
                          tm_error *err) {
    for (size_t row = 0; row < n; row++) {
        tm_cell *cells = tm_table_add_row(table);
        if (!cells)
            return tm_fail_memory(err);
        for (int i = 0; i < table->def->n_columns; i++)
            if (made->at[i] != SIZE_MAX)
                TM_TRY(get_cell(table, &cells[i], table->def->columns[i].type,
                                rows + row * made->bytes + made->at[i], made->size[i], err));
    }
    return TM_OK;
}

static tm_status read_rows(const tm_store *store, hid_t dataset, size_t n, const record *made,
                           tm_table *table, tm_error *err) {
    if (made->bytes > 0 && n > (SIZE_MAX - 1) / made->bytes)
        return tm_store_damaged(store, table->def->name, err);
    char *rows = calloc(n * made->bytes + 1, 1);
    if (!rows)
        return tm_fail_memory(err);
    tm_status status = TM_OK;
    if (n > 0 && made->bytes > 0 &&
        H5Dread(dataset, made->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0)
        status = tm_intake_memory_out(store->intake)
                     ? tm_fail_memory(err)
                     : tm_fail(err, TM_ERR_INPUT, store->path, -1,
                               "the store is damaged: table %s cannot be read", table->def->name);
    if (status == TM_OK)
        status = add_rows(table, made, rows, n, err);
    free(rows);
    return status;
}

tm_status tm_store_read_table(const tm_store *store, tm_table *table, tm_error *err) {
    char path[TM_TABLE_PATH_MAX];
    size_t n = 0;
    if (!tm_store_has_table(store, table->def->name) ||
        tm_h5_table_path(table->def->name, path) == 0)
        return tm_fail(err, TM_ERR_INPUT, store->path, -1, "the store has no table %s",
                       table->def->name);
    hid_t dataset = tm_store_open_dataset(store, path, &n);
    if (dataset < 0)
        return tm_store_damaged(store, table->def->name, err);
    record made = {.type = H5I_INVALID_HID};
    tm_status status = make_record(store, table->def, dataset, &made, err);
    if (status == TM_OK)
        status = read_rows(store, dataset, n, &made, table, err);
    tm_h5_close(made.type);
    tm_h5_close(dataset);
    free(made.at);
    free(made.size);
    return status;
}
