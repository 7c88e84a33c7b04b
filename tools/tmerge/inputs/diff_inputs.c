#include "diff_inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/csv_folder.h"
#include "tmerge/analysis.h"
#include "tmerge/diff.h"
#include "tmerge/store.h"

tm_status tm_diff_input_read(const char *path, tm_tables *tables, tm_error *err) {
    tm_store *store;
    TM_TRY(tm_store_open(path, &store, err));
    tm_status status = TM_OK;
    for (size_t t = 0; t < tables->n_tables && status == TM_OK; t++) {
        const char *name = tables->tables[t].def->name;
        if (tm_diff_reads(name) && tm_store_has_table(store, name))
            status = tm_store_read_table(store, &tables->tables[t], err);
    }
    tm_store_close(store);
    return status;
}

tm_status tm_diff_inputs_read(char *const *paths, tm_tables out[2], tm_error *err) {
    tm_tables sides[2] = {{0}, {0}};
    tm_status status = TM_OK;
    for (int side = 0; side < 2 && status == TM_OK; side++)
        status = tm_analysis_tables(&sides[side], err);
    for (int side = 0; side < 2 && status == TM_OK; side++)
        status = tm_diff_input_read(paths[side], &sides[side], err);
    if (status == TM_OK)
        memcpy(out, sides, sizeof sides);
    else
        tm_diff_inputs_destroy(sides);
    return status;
}

void tm_diff_inputs_destroy(tm_tables sides[2]) {
    tm_tables_destroy(&sides[0]);
    tm_tables_destroy(&sides[1]);
}

/* Returns pointers to the tables, [n_tables], freed by the caller; NULL when out of memory. */
static const tm_table **tables_of(const tm_tables *found) {
    const tm_table **tables = calloc(found->n_tables, sizeof *tables);
    for (size_t t = 0; tables && t < found->n_tables; t++)
        tables[t] = &found->tables[t];
    return tables;
}

tm_status tm_diff_inputs_print(const tm_tables *found, bool json, tm_error *err) {
    const tm_table **tables = tables_of(found);
    char *text = NULL;
    if (!tables)
        return tm_fail_memory(err);
    tm_status status = json ? tm_tables_json(tables, found->n_tables, NULL, &text, err)
                            : tm_table_csv(tables[0], &text, err);
    if (status == TM_OK)
        fputs(text, stdout);
    free(text);
    free(tables);
    return status;
}

tm_status tm_diff_inputs_write(const tm_tables *found, const char *folder, tm_error *err) {
    const tm_table **tables = tables_of(found);
    tm_status status =
        tables ? tm_csv_folder_write(folder, tables, found->n_tables, err) : tm_fail_memory(err);
    free(tables);
    return status;
}
