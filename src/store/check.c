/* Checks that a store is complete and conforms to its schema. */
#include "tmerge/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_levels.h"
#include "check_rows.h"
#include "h5.h"

/* Returns a text attribute, freed by the caller; NULL if there is none. If out of memory, returns
 * NULL and ends the check without reporting a fault of the store. */
static char *text_of(tm_check *check, hid_t object, const char *name) {
    char *text;
    tm_error err;
    if (!tm_store_text_of(object, name, &text))
        (void)tm_check_call(check, tm_fail_memory(&err), &err);
    return text;
}

static bool lacks_text(tm_check *check, hid_t object, const char *name, const char *expected) {
    char *text = text_of(check, object, name);
    bool lacks = check->status == TM_OK && (!text || strcmp(text, expected) != 0);
    free(text);
    return lacks;
}

/* Returns whether an enumeration type has the words of a column, in order. New versions add words
 * only at the end, so in an older store the last words may be missing. */
static bool has_words(hid_t type, const tm_word_list *words) {
    if (!words)
        return H5Tget_class(type) != H5T_ENUM;
    int n = H5Tget_class(type) == H5T_ENUM ? H5Tget_nmembers(type) : 0;
    bool same = n > 0 && n <= words->n;
    for (int i = 0; same && i < n; i++) {
        uint8_t value = 0;
        same = H5Tenum_valueof(type, words->words[i], &value) >= 0 && value == i;
    }
    return same;
}

/* Checks a column's type, length and unit. Returns whether its rows can be checked. */
static bool check_column(tm_check *check, tm_record table, const tm_record_column *column) {
    char path[TM_TABLE_PATH_MAX];
    size_t n_rows = 0;
    tm_store_column *open = NULL;
    tm_error err = {0};
    snprintf(path, sizeof path, "%s/%s", tm_record_tables[table].path, column->name);
    if (!tm_check_call(
            check, tm_store_open_column(check->store, path, column->element, &open, &err), &err))
        return false;
    tm_store_close_column(open);
    check->n_datasets++;
    hid_t dataset = tm_store_open_dataset(check->store, path, &n_rows);
    hid_t type = H5Dget_type(dataset);
    size_t before = check->n_faults;
    /* All columns of a table must have as many rows as the first. */
    if (column == tm_record_tables[table].columns)
        check->n_rows[table] = n_rows;
    if (n_rows != check->n_rows[table])
        tm_check_fault(check, "%s has %zu rows, its table %zu", path, n_rows, check->n_rows[table]);
    else if (!has_words(type, column->words))
        tm_check_fault(check, "%s has an unexpected type", path);
    else if (lacks_text(check, dataset, "unit", column->unit))
        tm_check_fault(check, "%s does not have the unit '%s'", path, column->unit);
    tm_h5_close(type);
    tm_h5_close(dataset);
    return check->n_faults == before;
}

/* Returns whether every column of every table is valid. If not, numbers of rows cannot be relied
 * on. */
static bool check_columns(tm_check *check) {
    bool good = true;
    for (int t = 0; t < TM_N_RECORDS; t++)
        for (int i = 0; i < tm_record_tables[t].n_columns; i++)
            /* if memory ran out, the column counts as not valid */
            good = check->status == TM_OK &&
                   (tm_store_is_later(check->store, t, &tm_record_tables[t].columns[i]) ||
                    check_column(check, (tm_record)t, &tm_record_tables[t].columns[i])) &&
                   good;
    return good;
}

static bool check_names(tm_check *check) {
    tm_names *names = NULL;
    tm_error err = {0};
    if (!tm_check_call(check, tm_store_read_names(check->store, &names, &err), &err))
        return false;
    /* counts the two datasets of names: bytes and offsets */
    check->n_datasets += 2;
    check->n_names = tm_names_count(names);
    tm_names_destroy(names);
    return true;
}

static void check_rows(tm_check *check) {
    tm_check_tracks(check);
    for (int t = 0; t < TM_N_RECORDS; t++)
        for (int i = 0; i < tm_record_tables[t].n_columns && check->status == TM_OK; i++)
            if (!tm_store_is_later(check->store, t, &tm_record_tables[t].columns[i]))
                tm_check_column_rows(check, (tm_record)t, &tm_record_tables[t].columns[i]);
}

static bool has_line(const char *lines, int line, const char *expected) {
    while (lines && line-- > 0) {
        lines = strchr(lines, '\n');
        lines = lines ? lines + 1 : NULL;
    }
    size_t size = lines ? strcspn(lines, "\n") : 0;
    return lines && size == strlen(expected) && memcmp(lines, expected, size) == 0;
}

/* Checks the units in the store. Does nothing for an older store without the attribute "units", or
 * for a column that the store lacks. */
static void check_units(tm_check *check, hid_t dataset, const tm_table_def *def) {
    char *units = text_of(check, dataset, "units");
    hid_t type = H5Dget_type(dataset);
    for (int i = 0; i < def->n_columns && units; i++) {
        int member = H5Tget_member_index(type, def->columns[i].name);
        if (member >= 0 && !has_line(units, member, def->columns[i].unit))
            tm_check_fault(check, "table %s: column %s does not have the unit '%s'", def->name,
                           def->columns[i].name, def->columns[i].unit);
    }
    tm_h5_close(type);
    free(units);
}

/* Checks a result table. If this program does not know the table, which a newer version may have
 * added, only opens it. */
static void check_table(tm_check *check, const tm_tables *known, const char *name) {
    char path[TM_TABLE_PATH_MAX];
    size_t n_rows = 0;
    tm_error err = {0};
    const tm_table *table = tm_tables_look_up(known, name);
    hid_t dataset = tm_h5_table_path(name, path) > 0
                        ? tm_store_open_dataset(check->store, path, &n_rows)
                        : H5I_INVALID_HID;
    check->n_datasets++;
    if (dataset < 0)
        tm_check_fault(check, "table %s cannot be opened", name);
    else if (table &&
             tm_check_call(check, tm_store_verify_table(check->store, table->def, &n_rows, &err),
                           &err))
        check_units(check, dataset, table->def);
    tm_h5_close(dataset);
}

/* Checks the columns, the references in their rows, and the result tables. Then verifies the
 * checksums of the remaining data, which belong to datasets that this program does not know. */
static void check_all(tm_check *check, const tm_tables *known) {
    size_t n_tables;
    uint64_t bad = 0;
    const char *const *tables = tm_store_tables(check->store, &n_tables);
    bool columns = check_columns(check), names = check_names(check);
    if (columns && names) { /* If columns or names are damaged, references to rows cannot be
                               checked. */
        check_rows(check);
        tm_check_levels(check);
    }
    for (size_t i = 0; i < n_tables && check->status == TM_OK; i++)
        check_table(check, known, tables[i]);
    if (check->status == TM_OK && check->n_faults == 0 &&
        !tm_verified_file_verify_rest(check->store->verified, &bad)) {
        tm_error err;
        if (tm_verified_file_memory_out(check->store->verified))
            (void)tm_check_call(check, tm_fail_memory(&err), &err);
        else
            tm_check_fault(check, "the store is damaged at byte %llu, in an unknown dataset",
                           (unsigned long long)bad);
    }
}

tm_status tm_store_check(const char *path, const tm_tables *known, const tm_fault_sink *sink,
                         tm_store_contents *out, tm_error *err) {
    tm_store *store = NULL;
    tm_error fault = {0};
    tm_check check = {.sink = sink, .err = err};
    if (!tm_check_call(&check, tm_store_open(path, &store, &fault), &fault))
        return check.status == TM_OK ? TM_ERR_INPUT : check.status;
    check.store = store;
    check.rows = malloc((size_t)TM_CHECK_ROWS * TM_CHECK_ELEMENT_MAX);
    if (check.rows)
        check_all(&check, known);
    else
        check.status = tm_fail_memory(err);
    if (check.status == TM_OK && check.n_faults == 0)
        *out = (tm_store_contents){
            .n_datasets = check.n_datasets,
            .n_events = (int64_t)check.n_rows[TM_RECORD_EVENTS],
            .bytes = (int64_t)tm_verified_file_bytes(store->verified),
        };
    tm_store_close(store);
    free(check.track_ends);
    free(check.rows);
    return check.status == TM_OK && check.n_faults > 0 ? TM_ERR_INPUT : check.status;
}
