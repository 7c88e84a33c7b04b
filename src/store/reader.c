/* Opens a store and reads its format, version, attributes and list of tables. */
#include "reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"

tm_status tm_store_damaged(const tm_store *store, const char *what, tm_error *err) {
    if (tm_verified_file_memory_out(store->verified)) /* HDF5 failed because memory ran out */
        return tm_fail_memory(err);
    return tm_fail(err, TM_ERR_INPUT, store->path, -1, "the store is damaged: %s", what);
}

/* Opens an attribute that has one value of a class. Returns H5I_INVALID_HID if there is no such
 * attribute. */
static hid_t open_attribute(hid_t object, const char *name, H5T_class_t class) {
    hid_t attribute =
        H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    /* HDF5's calls fail for an invalid id, so ids are checked only at the end. */
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool fits = attribute >= 0 && type >= 0 && space >= 0 && H5Tget_class(type) == class &&
                H5Sget_simple_extent_npoints(space) == 1;
    tm_h5_close(type);
    tm_h5_close(space);
    if (fits)
        return attribute;
    tm_h5_close(attribute);
    return H5I_INVALID_HID;
}

/* Reads the text of an attribute. This program writes texts of variable length; another program may
 * have rewritten it with fixed length. Sets NULL if the text cannot be read. Returns false when out
 * of memory. */
static bool attribute_text(hid_t attribute, char **out) {
    char *copy = NULL, *text = NULL;
    bool memory_out = false, done = false;
    hid_t type = H5Aget_type(attribute);
    hid_t memory = H5Tcopy(H5T_C_S1);
    bool variable = H5Tis_variable_str(type) > 0;
    size_t size = H5Tget_size(type);
    /* 1 is added, because a text of fixed length may lack the terminator. */
    if (H5Tset_size(memory, variable ? H5T_VARIABLE : size + 1) >= 0 &&
        H5Tset_cset(memory, H5Tget_cset(type)) >= 0) {
        if (variable && H5Aread(attribute, memory, &text) >= 0) {
            /* Copies the text, because the caller uses free(), which HDF5's memory does not allow.
             */
            copy = calloc(1, text ? strlen(text) + 1 : 1);
            if (copy && text)
                memcpy(copy, text, strlen(text));
            memory_out = !copy;
            done = !memory_out;
            H5free_memory(text);
        } else if (!variable) {
            copy = calloc(1, size + 1);
            memory_out = !copy;
            done = copy && H5Aread(attribute, memory, copy) >= 0;
        }
    }
    tm_h5_close(memory);
    tm_h5_close(type);
    if (!done)
        free(copy);
    *out = done ? copy : NULL;
    return !memory_out;
}

bool tm_store_text_of(hid_t object, const char *name, char **out) {
    hid_t attribute = open_attribute(object, name, H5T_STRING);
    *out = NULL;
    bool done = attribute < 0 || attribute_text(attribute, out);
    tm_h5_close(attribute);
    return done;
}

static tm_status check_format(const tm_store *store, tm_error *err) {
    char *text = NULL;
    if (!tm_store_text_of(store->file, "format", &text))
        return tm_fail_memory(err);
    bool is = text && strcmp(text, "tmerge") == 0;
    free(text);
    return is ? TM_OK : tm_fail(err, TM_ERR_INPUT, store->path, -1, "not a tmerge store");
}

bool tm_store_is_store(const char *path) {
    return tm_verified_file_is_store(path);
}

tm_status tm_store_read_text(const tm_store *store, const char *name, char **out, tm_error *err) {
    char *text = NULL;
    if (H5Aexists(store->file, name) > 0) {
        if (!tm_store_text_of(store->file, name, &text))
            return tm_fail_memory(err);
        if (!text)
            return tm_fail(err, TM_ERR_INPUT, store->path, -1,
                           "the store's attribute '%s' cannot be read as text", name);
    }
    *out = text;
    return TM_OK;
}

tm_status tm_store_read_number(const tm_store *store, const char *name, int64_t fallback,
                               int64_t *out, tm_error *err) {
    int64_t number = fallback;
    if (H5Aexists(store->file, name) > 0) {
        hid_t attribute = open_attribute(store->file, name, H5T_INTEGER);
        bool done = attribute >= 0 && H5Aread(attribute, H5T_STD_I64LE, &number) >= 0;
        tm_h5_close(attribute);
        if (!done)
            return tm_fail(err, TM_ERR_INPUT, store->path, -1,
                           "the store's attribute '%s' cannot be read as a number", name);
    }
    *out = number;
    return TM_OK;
}

/* Returns whether the file can hold the stated number of rows, for which memory will be allocated.
 * Compares the number of chunks: each chunk has to be in the file, but compressed it may be much
 * smaller than its rows. */
static bool rows_fit(const tm_store *store, hid_t dataset, hid_t space, uint64_t n_rows) {
    uint64_t bytes = tm_verified_file_content_bytes(store->verified);
    hid_t type = H5Dget_type(dataset), layout = H5Dget_create_plist(dataset);
    size_t row_bytes = H5Tget_size(type);
    hsize_t chunk = 0, n_chunks = 0;
    bool fits = layout >= 0 && row_bytes > 0;
    if (fits && H5Pget_layout(layout) == H5D_CHUNKED)
        fits = H5Pget_chunk(layout, 1, &chunk) == 1 && chunk > 0 && chunk <= TM_STORE_CHUNK_MAX &&
               H5Dget_num_chunks(dataset, space, &n_chunks) >= 0 &&
               n_rows / chunk + (n_rows % chunk > 0) == n_chunks;
    else
        fits = fits && H5Pget_layout(layout) == H5D_CONTIGUOUS && n_rows <= bytes / row_bytes;
    tm_h5_close(layout);
    tm_h5_close(type);
    return fits;
}

static bool is_there(const tm_store *store, const char *table, const char *prefix,
                     const char *dataset) {
    char path[TM_TABLE_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s", table, prefix, dataset);
    return H5Lexists(store->file, table, H5P_DEFAULT) > 0 &&
           H5Lexists(store->file, path, H5P_DEFAULT) > 0;
}

static bool lacks_table(const tm_store *store, int table) {
    const tm_record_table *own = &tm_record_tables[table];
    return !is_there(store, own->path, "", own->columns[0].name) &&
           !is_there(store, tm_record_tables[TM_RECORD_RANKS].path, "n_", own->path + 1);
}

/* Returns whether a column of /ranks or /spans is a count that stores of an older tmerge lack. */
static bool lacks_count(const tm_store *store, const tm_record_column *column) {
    for (int c = 0; c < TM_N_COUNTS; c++) {
        const char *word = tm_count_info((tm_count)c)->word;
        if (strncmp(column->name, "n_", 2) == 0 && strcmp(column->name + 2, word) == 0)
            return !is_there(store, tm_record_tables[TM_RECORD_RANKS].path, "n_", word) &&
                   !is_there(store, tm_record_tables[TM_RECORD_SPANS].path, "n_", word);
    }
    return false;
}

bool tm_store_is_later(const tm_store *store, int table, const tm_record_column *column) {
    if (column->later && !is_there(store, tm_record_tables[table].path, "", column->name))
        return true;
    if (table >= TM_RECORD_LAUNCHES)
        return lacks_table(store, table);
    if ((table == TM_RECORD_RANKS || table == TM_RECORD_SPANS) && lacks_count(store, column))
        return true;
    for (int t = TM_RECORD_LAUNCHES; t < TM_N_RECORDS && table == TM_RECORD_RANKS; t++)
        if (strncmp(column->name, "n_", 2) == 0 &&
            strcmp(tm_record_tables[t].path + 1, column->name + 2) == 0)
            return lacks_table(store, t);
    return false;
}

hid_t tm_store_open_dataset(const tm_store *store, const char *path, size_t *rows) {
    hid_t dataset = H5Dopen2(store->file, path, H5P_DEFAULT);
    hid_t space = dataset >= 0 ? H5Dget_space(dataset) : H5I_INVALID_HID;
    hsize_t extent = 0;
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &extent, NULL) == 1 &&
                rows_fit(store, dataset, space, extent);
    tm_h5_close(space);
    if (!fits) {
        tm_h5_close(dataset);
        return H5I_INVALID_HID;
    }
    *rows = (size_t)extent;
    return dataset;
}

bool tm_store_is_compressed(const tm_store *store) {
    /* Either all columns of a store are compressed, or none. This column always has rows. */
    size_t rows;
    hid_t dataset = tm_store_open_dataset(store, "/ranks/rank", &rows);
    hid_t layout = dataset >= 0 ? H5Dget_create_plist(dataset) : H5I_INVALID_HID;
    bool compressed = layout >= 0 && H5Pget_nfilters(layout) > 0;
    tm_h5_close(layout);
    tm_h5_close(dataset);
    return compressed;
}

/* Checks the version. Accepts a higher minor version: it only adds objects, which this reader
 * ignores. */
static tm_status check_version(const tm_store *store, tm_error *err) {
    int64_t major = 0, minor = 0;
    TM_TRY(tm_store_read_number(store, "schema_major", -1, &major, err));
    TM_TRY(tm_store_read_number(store, "schema_minor", 0, &minor, err));
    if (major < 1)
        return tm_store_damaged(store, "it does not have a schema version", err);
    if (major > TM_STORE_MAJOR)
        return tm_fail(err, TM_ERR_INPUT, store->path, -1,
                       "the store has schema version %" PRId64 ".%" PRId64
                       ", but this tmerge reads only %d.%d and older: use a newer tmerge",
                       major, minor, TM_STORE_MAJOR, TM_STORE_MINOR);
    return TM_OK;
}

/* Appends PREFIX + name for each member of a group, in the order of the names. Returns TM_ERR_INPUT
 * if the group is damaged, and TM_ERR_FAULT when out of memory. */
static tm_status list_members(hid_t file, const char *path, const char *prefix, tm_arena *arena,
                              tm_vec *out) {
    hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
    H5G_info_t info = {0};
    tm_status status = group >= 0 && H5Gget_info(group, &info) >= 0 ? TM_OK : TM_ERR_INPUT;
    for (hsize_t i = 0; status == TM_OK && i < info.nlinks; i++) {
        char name[TM_TABLE_PATH_MAX], full[2 * TM_TABLE_PATH_MAX];
        /* HDF5 returns the names sorted, not in the order in which they were written. */
        ssize_t size = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                          sizeof name, H5P_DEFAULT);
        if (size <= 0 || (size_t)size >= sizeof name) {
            status = TM_ERR_INPUT;
            break;
        }
        int n = snprintf(full, sizeof full, "%s%s", prefix, name);
        const char **added = tm_vec_push(out);
        const char *kept = tm_arena_copy(arena, full, (size_t)n);
        if (added)
            *added = kept;
        status = added && kept ? TM_OK : TM_ERR_FAULT;
    }
    tm_h5_close(group);
    return status;
}

/* Lists the result tables. A store without results does not have the group /analysis. */
static tm_status list_tables(tm_store *store) {
    if (H5Lexists(store->file, "/analysis", H5P_DEFAULT) <= 0)
        return TM_OK;
    tm_vec groups = TM_VEC(const char *);
    tm_status status = list_members(store->file, "/analysis", "", &store->arena, &groups);
    for (size_t i = 0; status == TM_OK && i < groups.n; i++) {
        char path[2 * TM_TABLE_PATH_MAX], prefix[2 * TM_TABLE_PATH_MAX];
        const char *name = ((const char **)groups.data)[i];
        snprintf(path, sizeof path, "/analysis/%s", name);
        snprintf(prefix, sizeof prefix, "%s.", name);
        status = list_members(store->file, path, prefix, &store->arena, &store->tables);
    }
    tm_vec_free(&groups);
    return status;
}

/* Opens the HDF5 file. Checks format and version first: a file of another program or a newer store
 * may contain anything. */
static tm_status open_store(tm_store *store, tm_error *err) {
    store->file = tm_verified_file_h5(store->verified, store->path);
    if (store->file < 0)
        return tm_store_damaged(store, "HDF5 cannot open it", err);
    TM_TRY(check_format(store, err));
    TM_TRY(check_version(store, err));
    tm_status status = list_tables(store);
    if (status == TM_ERR_FAULT)
        return tm_fail_memory(err);
    return status == TM_OK ? TM_OK : tm_store_damaged(store, "its tables cannot be listed", err);
}

tm_status tm_store_open(const char *path, tm_store **out, tm_error *err) {
    tm_store *store = calloc(1, sizeof *store);
    if (!store)
        return tm_fail_memory(err);
    *store = (tm_store){.file = H5I_INVALID_HID, .tables = TM_VEC(const char *)};
    tm_status status = tm_verified_file_open(path, &store->verified, err);
    if (status == TM_OK &&
        !((store->path = tm_arena_copy(&store->arena, path, strlen(path))) && tm_h5_start()))
        status = tm_fail_memory(err);
    if (status == TM_OK)
        status = open_store(store, err);
    if (status != TM_OK) {
        tm_store_close(store);
        return status;
    }
    *out = store;
    return TM_OK;
}

void tm_store_close(tm_store *store) {
    if (!store)
        return;
    /* HDF5 reads through the verified file, so HDF5's file is closed first. */
    if (store->file >= 0)
        H5Fclose(store->file);
    tm_verified_file_close(store->verified);
    tm_vec_free(&store->tables);
    tm_arena_free(&store->arena);
    free(store);
}

const char *const *tm_store_tables(const tm_store *store, size_t *n) {
    *n = store->tables.n;
    return store->tables.data;
}

static bool lists(const tm_store *store, const char *name) {
    const char *const *names = store->tables.data;
    for (size_t i = 0; i < store->tables.n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

size_t tm_store_sources(const tm_store *store, const char *name, tm_renamed *out) {
    size_t n = 0;
    if (lists(store, name)) {
        out[n++] = (tm_renamed){.was = name};
        return n;
    }
    for (size_t i = 0; i < tm_n_renames && n < TM_STORE_SOURCES; i++)
        if (tm_renames[i].level && strcmp(tm_renames[i].now, name) == 0 &&
            lists(store, tm_renames[i].was))
            out[n++] = tm_renames[i];
    return n;
}

bool tm_store_has_table(const tm_store *store, const char *name) {
    tm_renamed sources[TM_STORE_SOURCES];
    return tm_store_sources(store, name, sources) > 0;
}
