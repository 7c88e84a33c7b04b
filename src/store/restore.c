/* Reads timelines back from the record tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "h5.h"
#include "reader.h"
#include "timeline/metadata.h"
#include "timeline/sanity_check.h"

enum { PIECE_ROWS = TM_STORE_CHUNK_ROWS, PIECE_ELEMENT = sizeof(int64_t) };

typedef struct restorer {
    const tm_store *store;
    tm_timeline *ranks;
    size_t n;
    const bool *wanted; /* [n] true for the ranks whose rows are read; NULL: all ranks */
    tm_row_base *bases; /* owned; [n + 1] first row of each rank, in each table */
    char *rows;         /* owned; buffer for a piece of a column */
    tm_error *err;
} restorer;

tm_status tm_store_lay_out(const tm_store *store, const tm_timeline *ranks, size_t n,
                           tm_row_base *bases, tm_error *err) {
    for (size_t i = 0; i < n; i++)
        for (int t = 0; t < TM_N_RECORDS; t++) {
            size_t rows = tm_record_rows(&tm_record_tables[t], &ranks[i]);
            /* Rows of a rank have 32-bit numbers, and TM_NO_EVENT means no row. TM_RANK_MAX ranks
             * with that many rows fit an int64, so the sums do not overflow. */
            if (rows >= TM_NO_EVENT)
                return tm_store_damaged(store, "/ranks has impossible row counts", err);
            bases[i + 1].first[t] = bases[i].first[t] + (int64_t)rows;
        }
    return TM_OK;
}

static tm_status begin(restorer *r) {
    r->bases = calloc(r->n + 1, sizeof *r->bases);
    r->rows = malloc((size_t)PIECE_ROWS * PIECE_ELEMENT);
    return r->bases && r->rows ? tm_store_lay_out(r->store, r->ranks, r->n, r->bases, r->err)
                               : tm_fail_memory(r->err);
}

static void end(restorer *r) {
    free(r->bases);
    free(r->rows);
}

/* Sets the pointer to a column's array. Copies the pointer's bytes, because arrays have many types.
 * Returns false if the array could not be allocated. */
static bool set_array(const tm_record_column *column, tm_timeline *timeline, void *array) {
    memcpy((char *)timeline + column->array_at, &array, sizeof array);
    return array != NULL;
}

/* Makes the array for a column's values, unless an earlier column that shares the array made it. */
static tm_status make_array(const restorer *r, const tm_record_column *column,
                            tm_timeline *timeline, size_t n) {
    void *array = NULL;
    if (column->stride > 0)
        memcpy(&array, (const char *)timeline + column->array_at, sizeof array);
    if (column->stride == 0 || array)
        return TM_OK;
    /* n + 1, because calloc may return NULL for 0 */
    return set_array(column, timeline, calloc(n + 1, column->stride)) ? TM_OK
                                                                      : tm_fail_memory(r->err);
}

static tm_status read_part(const restorer *r, int table, const tm_record_column *column,
                           tm_store_column *opened, size_t i) {
    size_t n_rows = tm_record_rows(&tm_record_tables[table], &r->ranks[i]);
    TM_TRY(make_array(r, column, &r->ranks[i], n_rows));
    for (size_t first = 0; first < n_rows; first += PIECE_ROWS) {
        size_t n = n_rows - first < PIECE_ROWS ? n_rows - first : PIECE_ROWS;
        size_t from = (size_t)r->bases[i].first[table] + first;
        TM_TRY(tm_store_read_rows(opened, from, n, r->rows, r->err));
        if (!column->take(column, &r->ranks[i], &r->bases[i], first, n, r->rows))
            return tm_store_bad_value(r->store, table, column, r->err);
    }
    return TM_OK;
}

static tm_status open_column(const tm_store *store, int table, const tm_record_column *column,
                             tm_store_column **out, tm_error *err) {
    char path[TM_TABLE_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", tm_record_tables[table].path, column->name);
    return tm_store_open_column(store, path, column->element, out, err);
}

tm_status tm_store_bad_value(const tm_store *store, int table, const tm_record_column *column,
                             tm_error *err) {
    return tm_fail(err, TM_ERR_INPUT, store->path, -1,
                   "the store is damaged: column %s/%s has an impossible value",
                   tm_record_tables[table].path, column->name);
}

tm_status tm_store_bad_rank(const tm_store *store, int64_t rank, const char *fault, tm_error *err) {
    return tm_fail(err, TM_ERR_INPUT, store->path, -1, "the store is damaged: rank %" PRId64 ": %s",
                   rank, fault);
}

tm_status tm_store_open_record(const tm_store *store, int table, const tm_record_column *column,
                               size_t n_rows, tm_store_column **out, tm_error *err) {
    tm_store_column *opened = NULL;
    TM_TRY(open_column(store, table, column, &opened, err));
    if (tm_store_column_rows(opened) == n_rows) {
        *out = opened;
        return TM_OK;
    }
    tm_status status =
        tm_fail(err, TM_ERR_INPUT, store->path, -1,
                "the store is damaged: column %s/%s has %zu rows, not %zu",
                tm_record_tables[table].path, column->name, tm_store_column_rows(opened), n_rows);
    tm_store_close_column(opened);
    return status;
}

/* Reads column by column, and each column rank by rank in ascending rows, so that each chunk is
 * unpacked once. */
static tm_status read_column(const restorer *r, int table, const tm_record_column *column) {
    tm_store_column *opened = NULL;
    TM_TRY(tm_store_open_record(r->store, table, column, (size_t)r->bases[r->n].first[table],
                                &opened, r->err));
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->n && status == TM_OK; i++)
        if (!r->wanted || r->wanted[i])
            status = read_part(r, table, column, opened, i);
    tm_store_close_column(opened);
    return status;
}

/* Sets a column that an older store lacks to -1, in the array that an earlier column of the table
 * made. */
static void set_unknown(const restorer *r, int table, const tm_record_column *column) {
    const size_t size = tm_element_size(column->element);
    for (size_t i = 0; i < r->n; i++) {
        const size_t n = tm_record_rows(&tm_record_tables[table], &r->ranks[i]);
        char *array;
        memcpy(&array, (const char *)&r->ranks[i] + column->array_at, sizeof array);
        for (size_t row = 0; array && row < n; row++)
            memset(array + row * column->stride + column->field_at, 0xff, size);
    }
}

static tm_status read_columns(const restorer *r, int table) {
    const tm_record_table *record = &tm_record_tables[table];
    for (int c = 0; c < record->n_columns; c++)
        if (record->columns[c].take && !tm_store_is_later(r->store, table, &record->columns[c]))
            TM_TRY(read_column(r, table, &record->columns[c]));
        else if (record->columns[c].later)
            set_unknown(r, table, &record->columns[c]);
    return TM_OK;
}

/* Sets the number of ranks, which is the number of rows of /ranks. */
static tm_status count_ranks(restorer *r) {
    tm_store_column *column = NULL;
    TM_TRY(open_column(r->store, TM_RECORD_RANKS, &tm_record_tables[TM_RECORD_RANKS].columns[0],
                       &column, r->err));
    r->n = tm_store_column_rows(column);
    tm_store_close_column(column);
    if (r->n == 0)
        return tm_fail(r->err, TM_ERR_INPUT, r->store->path, -1,
                       "the store has no events, only tables (tmerge show, tmerge report)");
    return r->n <= TM_RANK_MAX
               ? TM_OK
               : tm_store_damaged(r->store, "its number of ranks is impossible", r->err);
}

/* Reads /ranks, which states each rank's number of rows in every other table. */
static tm_status read_ranks(restorer *r) {
    TM_TRY(count_ranks(r));
    r->ranks = calloc(r->n, sizeof *r->ranks);
    if (!r->ranks)
        return tm_fail_memory(r->err);
    /* The row counts are still 0, so begin() finds only tables with one row per rank, such as
     * /ranks. */
    TM_TRY(begin(r));
    TM_TRY(read_columns(r, TM_RECORD_RANKS));
    for (size_t i = 1; i < r->n; i++)
        if (r->ranks[i].rank <= r->ranks[i - 1].rank)
            return tm_store_damaged(r->store, "/ranks/rank is not ascending", r->err);
    return TM_OK;
}

tm_status tm_store_read_ranks(const tm_store *store, tm_timeline **out, size_t *n, tm_error *err) {
    restorer r = {.store = store, .err = err};
    tm_status status = read_ranks(&r);
    end(&r);
    if (status != TM_OK) {
        free(r.ranks);
        return status;
    }
    *out = r.ranks;
    *n = r.n;
    return TM_OK;
}

/* Merges equal launch shapes, because each kernel was read with a separate shape. */
static bool share_shapes(tm_timeline *timeline) {
    tm_keys shapes = TM_KEYS(tm_launch_shape);
    tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    bool ok = true;
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_KERNEL] && ok; i++) {
        kernels[i].shape = tm_keys_add(&shapes, &timeline->shapes[i]);
        ok = kernels[i].shape != TM_NO_KEY;
    }
    free(timeline->shapes);
    tm_vec_trim(&shapes.keys);
    timeline->shapes = shapes.keys.data;
    timeline->n_shapes = shapes.keys.n;
    shapes.keys = TM_VEC(tm_launch_shape);
    tm_keys_free(&shapes);
    return ok;
}

static tm_status read_kernels(const restorer *r) {
    TM_TRY(read_columns(r, TM_RECORD_KERNELS));
    for (size_t i = 0; i < r->n; i++)
        if ((!r->wanted || r->wanted[i]) && !share_shapes(&r->ranks[i]))
            return tm_fail_memory(r->err);
    return TM_OK;
}

/* Checks what depends on more than one column: whether the parts of a timeline are consistent. */
static tm_status check(const restorer *r, size_t n_names, bool no_events) {
    for (size_t i = 0; i < r->n; i++) {
        if (!r->wanted[i])
            continue;
        const char *fault = no_events ? tm_timeline_frame_fault(&r->ranks[i], n_names)
                                      : tm_timeline_fault(&r->ranks[i], n_names);
        r->ranks[i].clock.middle_ns = tm_timeline_middle(&r->ranks[i]);
        if (fault)
            return tm_store_bad_rank(r->store, r->ranks[i].rank, fault, r->err);
    }
    return TM_OK;
}

/* Sets the row count of a table that is not read to 0, because the ranks have no array for the
 * table. Call it after begin(), which needs the row counts. */
static void leave_out(const restorer *r, int table) {
    const size_t none = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->wanted[i])
            memcpy((char *)&r->ranks[i] + tm_record_tables[table].rows_at, &none, sizeof none);
}

tm_status tm_store_read_timelines(const tm_store *store, const tm_names *names, tm_timeline *ranks,
                                  const tm_store_selection *selection, size_t n, tm_error *err) {
    restorer r = {.store = store, .ranks = ranks, .n = n, .wanted = selection->ranks, .err = err};
    tm_status status = begin(&r);
    for (int t = 0; t < TM_N_RECORDS && status == TM_OK; t++) {
        /* Tables before /steps are always read. `selection` decides about the others. */
        bool attrs = t >= TM_RECORD_LAUNCHES, rest = attrs || t >= TM_RECORD_STEPS;
        bool of_events = tm_record_is_of_events(t);
        if ((attrs && !(selection->records >> t & 1)) || (rest && selection->spans_alone) ||
            (attrs && of_events && selection->no_events))
            leave_out(&r, t);
        else if (t != TM_RECORD_RANKS && !(of_events && selection->no_events))
            status = t == TM_RECORD_KERNELS ? read_kernels(&r) : read_columns(&r, t);
    }
    if (status == TM_OK)
        status = check(&r, tm_names_count(names), selection->no_events);
    end(&r);
    return status;
}

static bool take_metadata(tm_text text, tm_names *names, tm_timeline *rank) {
    tm_vec own = TM_VEC(char), lists = TM_VEC(uint32_t);
    bool ok =
        tm_metadata_cut(text.bytes, text.size, names, &own, &lists) && tm_vec_append(&own, "", 1);
    rank->metadata = own.data;
    rank->n_metadata = ok ? own.n - 1 : 0;
    rank->metadata_lists = lists.data;
    rank->n_metadata_lists = lists.n;
    return ok;
}

tm_status tm_store_read_older_metadata(const tm_store *store, tm_names *names, tm_timeline *ranks,
                                       const bool *wanted, size_t n, tm_error *err) {
    void *ids = NULL;
    size_t n_ids = 0, n_names = tm_names_count(names);
    const tm_record_table *table = &tm_record_tables[TM_RECORD_METADATA];
    if (!tm_store_is_later(store, TM_RECORD_METADATA, table->columns))
        return TM_OK;
    TM_TRY(tm_store_read_all(store, "/ranks/metadata", TM_U32, &ids, &n_ids, err));
    tm_status status = n_ids == n ? TM_OK : tm_store_damaged(store, "/ranks/metadata", err);
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        uint32_t id = ((const uint32_t *)ids)[i];
        if (id >= n_names)
            status = tm_store_damaged(store, "the id of a text is not in the names", err);
        else if ((!wanted || wanted[i]) && id != TM_NO_NAME &&
                 !take_metadata(tm_names_text(names, id), names, &ranks[i]))
            status = tm_fail_memory(err);
    }
    free(ids);
    return status;
}
