#include "format_limits.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "tmerge/reader.h"

enum { FORMAT, RANKS, CANNOT_TELL, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [FORMAT] = {"format", TM_TEXT, "", "Trace format, as in job.rank."},
    [RANKS] = {"ranks", TM_INT, "", "Number of ranks with traces of this format."},
    [CANNOT_TELL] = {"cannot_tell", TM_TEXT, "",
                     "Data that no trace of this format contains, although traces of some other "
                     "formats do; null if there is no such data."},
};

const tm_table_def tm_job_format_table = {
    .name = "job.format",
    .doc = "A row for each format of the job's traces, with the data that it cannot contain.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = RANKS,
    .n_prose = 1,
};

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tm_status add_format(tm_table *table, const char *name, size_t n_ranks, tm_error *err) {
    const tm_format *format = tm_format_find(name);
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[RANKS], (int64_t)n_ranks);
    TM_TRY(tm_table_set_text(table, &row[FORMAT], name, err));
    return tm_table_set_text(table, &row[CANNOT_TELL], format ? format->cannot_tell : NULL, err);
}

tm_status tm_job_formats(tm_tables *out, tm_error *err) {
    const tm_table *ranks = tm_tables_find(out, "job.rank");
    tm_vec names = TM_VEC(const char *);
    tm_status status = TM_OK;
    for (size_t i = 0; i < ranks->n_rows && status == TM_OK; i++) {
        const tm_cell *format = tm_table_cell(ranks, i, "format");
        if (!format->null && !tm_vec_append(&names, &format->value.text, 1))
            status = tm_fail_memory(err);
    }
    tm_vec_sort(&names, by_text);
    const char *const *v = names.data;
    for (size_t first = 0, i = 0; first < names.n && status == TM_OK; first = i) {
        while (i < names.n && strcmp(v[i], v[first]) == 0)
            i++;
        status =
            add_format(tm_tables_find(out, tm_job_format_table.name), v[first], i - first, err);
    }
    tm_vec_free(&names);
    return status;
}
