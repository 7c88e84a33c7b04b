#include "differs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/keys.h"
#include "base/sorted.h"
#include "timeline/metadata.h"

enum {
    KERNELS_MIN = 10, /* with fewer names, programs cannot be distinguished */
    COMMON_PART = 10  /* programs differ if they share less than 1/COMMON_PART of their names */
};

enum { WHAT, VALUE, N_RANKS, RANKS, N_COLUMNS };

/* columns of job.place: first start of a rank, aligned and as recorded */
enum { ALIGNED = 2, RECORDED = 4 };

/* Recordings of ranks of one host may be this far apart, because the profilers of a host start and
 * stop one after the other [ns]. */
static const int64_t SAME_HOST_NS = 1000000000;

static const tm_column columns[N_COLUMNS] = {
    [WHAT] =
        {"what", TM_TEXT, "",
         "Property that differs between ranks. time: the recordings do not overlap in time. world "
         "size: traces report different numbers of ranks. process group: traces disagree on the "
         "ranks of a process group (only the first such group is listed). kernels: ranks run "
         "different programs, with under a tenth of their kernel names in common."},
    [VALUE] = {"value", TM_TEXT, "",
               "Value of the property on these ranks (column ranks). For time: start of these "
               "recordings. For kernels: a number that is the same for all ranks that run the same "
               "program."},
    [N_RANKS] = {"n_ranks", TM_INT, "", "Number of ranks with this value."},
    [RANKS] = {"ranks", TM_TEXT, "", "Ranks with this value, such as 0-3,8."},
};

const tm_table_def tm_differs_table = {
    .name = "job.differs",
    .doc = "A row for each value of a property that should be equal on all ranks of a job but is "
           "not. There are no rows if all ranks agree. Pipeline stages share kernels, but ranks of "
           "a service with separate prefill and decode may share none.",
    TM_ARRAY(columns, columns),
    .n_keys = 0,
    .top = -1,
};

/* A rank and the number (from 0) of the value that it reports. */
typedef struct said {
    int64_t rank, value;
} said;

TM_ORDER_BY(by_value, said, value, rank);

/* Appends the ranks of elements [first, end), such as "0-3,8". Ranks ascend. */
static bool put_ranks(const said *v, size_t first, size_t end, tm_vec *text) {
    for (size_t i = first, k; i < end; i = k) {
        char range[48];
        for (k = i + 1; k < end && v[k].rank == v[k - 1].rank + 1;)
            k++;
        int size = snprintf(range, sizeof range, "%s%" PRId64, i > first ? "," : "", v[i].rank);
        if (k - i > 1)
            size += snprintf(range + size, sizeof range - (size_t)size, "%c%" PRId64,
                             k - i > 2 ? '-' : ',', v[k - 1].rank);
        if (!tm_vec_append(text, range, (size_t)size))
            return false;
    }
    return true;
}

typedef tm_status value_writer(const void *context, int64_t value, tm_table *table, tm_cell *cell,
                               tm_error *err);

/* Adds a row for each value, if there are several values. */
static tm_status add_rows(tm_tables *out, const char *what, tm_vec *list, value_writer *write,
                          const void *context, tm_error *err) {
    tm_table *table = tm_tables_find(out, tm_differs_table.name);
    said *v = list->data;
    tm_status status = TM_OK;
    tm_vec_sort(list, by_value);
    if (list->n == 0 || v[0].value == v[list->n - 1].value)
        return TM_OK;
    tm_vec text = TM_VEC(char);
    for (size_t first = 0, end; first < list->n && status == TM_OK; first = end) {
        for (end = first + 1; end < list->n && v[end].value == v[first].value;)
            end++;
        text.n = 0;
        tm_cell *row = tm_table_add_row(table);
        if (!row || !put_ranks(v, first, end, &text)) {
            status = tm_fail_memory(err);
            break;
        }
        tm_cell_set_int(&row[N_RANKS], (int64_t)(end - first));
        status = tm_table_set_text(table, &row[WHAT], what, err);
        if (status == TM_OK)
            status = write(context, v[first].value, table, &row[VALUE], err);
        if (status == TM_OK)
            status = tm_table_set_bytes(table, &row[RANKS], text.data, text.n, err);
    }
    tm_vec_free(&text);
    return status;
}

static tm_status write_number(const void *context, int64_t value, tm_table *table, tm_cell *cell,
                              tm_error *err) {
    char text[24];
    (void)context;
    snprintf(text, sizeof text, "%" PRId64, value);
    return tm_table_set_text(table, cell, text, err);
}

static tm_status compare_worlds(tm_tables *out, tm_error *err) {
    const tm_table *places = tm_tables_find(out, tm_differs_place.name);
    tm_vec list = TM_VEC(said);
    tm_status status = TM_OK;
    for (size_t i = 0; i < places->n_rows && status == TM_OK; i++) {
        const tm_cell *row = tm_table_row(places, i);
        said s = {row[0].value.i, row[1].value.i};
        if (!row[1].null && !tm_vec_append(&list, &s, 1))
            status = tm_fail_memory(err);
    }
    if (status == TM_OK)
        status = add_rows(out, "world size", &list, write_number, NULL, err);
    tm_vec_free(&list);
    return status;
}

/* The recording of a rank. `host` is NULL if the ranks of all hosts are compared. */
typedef struct window {
    const char *host;
    int64_t begin_ns, end_ns, rank;
} window;

static int by_host_and_begin(const void *a, const void *b) {
    const window *x = a, *y = b;
    int order = x->host && y->host ? strcmp(x->host, y->host) : 0;
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

/* Writes the start of a period. @param context windows; @param value index of the period's first
 * window */
static tm_status write_time(const void *context, int64_t value, tm_table *table, tm_cell *cell,
                            tm_error *err) {
    const window *w = (const window *)context + value;
    const int64_t second_ns = 1000000000, year_s = INT64_C(366) * 86400;
    time_t seconds = (time_t)(w->begin_ns / second_ns);
    struct tm utc;
    char text[64];
    if (seconds > year_s && gmtime_r(&seconds, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) > 0)
        snprintf(text + strlen(text), 16, ".%03d UTC", (int)(w->begin_ns % second_ns / 1000000));
    else
        snprintf(text, sizeof text, "%.6f s", (double)w->begin_ns / 1e9);
    return tm_table_set_text(table, cell, text, err);
}

/* Adds a row for each period in which ranks were recorded, if there are several. If each recording
 * in a sequence overlaps the next one, the whole sequence is one period. */
static tm_status add_times(tm_tables *out, const window *w, size_t n, int64_t slack_ns,
                           tm_error *err) {
    tm_vec list = TM_VEC(said);
    tm_status status = TM_OK;
    int64_t first = 0, end = n > 0 ? w[0].end_ns : 0;
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        if (w[i].begin_ns - end > slack_ns)
            first = (int64_t)i;
        end = w[i].end_ns > end ? w[i].end_ns : end;
        said s = {w[i].rank, first};
        if (!tm_vec_append(&list, &s, 1))
            status = tm_fail_memory(err);
    }
    if (status == TM_OK)
        status = add_rows(out, "time", &list, write_time, w, err);
    tm_vec_free(&list);
    return status;
}

/* Returns the name of a rank's host; NULL if it is unknown. */
static const char *host_of(const tm_table *ranks, int64_t rank) {
    const size_t row = tm_table_find_row(ranks, &rank, 1);
    const tm_cell *host = row < ranks->n_rows ? tm_table_cell(ranks, row, "host") : NULL;
    return host && !host->null ? host->value.text : NULL;
}

/* Lists the recordings, by host and start. Returns their number.
 * @param column  column of job.place with the start; the end is in the next column
 * @param ranks   job.rank, to list only ranks of known hosts; NULL: lists all ranks, by start
 * @param out     [rows of job.place] */
static size_t list_windows(const tm_table *places, int column, const tm_table *ranks, window *out) {
    size_t n = 0;
    for (size_t i = 0; i < places->n_rows; i++) {
        const tm_cell *row = tm_table_row(places, i);
        const char *host = ranks ? host_of(ranks, row[0].value.i) : NULL;
        if (!row[column].null && (host || !ranks))
            out[n++] = (window){host, row[column].value.i, row[column + 1].value.i, row[0].value.i};
    }
    if (n > 1)
        qsort(out, n, sizeof *out, by_host_and_begin);
    return n;
}

/* Adds the periods of the first host whose ranks were recorded in several; of all ranks if @p ranks
 * is NULL. The parameters are those of list_windows and add_times. */
static tm_status compare_windows(tm_tables *out, int column, const tm_table *ranks,
                                 int64_t slack_ns, tm_error *err) {
    const tm_table *places = tm_tables_find(out, tm_differs_place.name);
    const tm_table *found = tm_tables_find(out, tm_differs_table.name);
    window *w = calloc(places->n_rows + 1, sizeof *w);
    tm_status status = w ? TM_OK : tm_fail_memory(err);
    const size_t n = w ? list_windows(places, column, ranks, w) : 0;
    for (size_t first = 0, end; first < n && status == TM_OK && found->n_rows == 0; first = end) {
        for (end = first + 1; end < n && (!ranks || strcmp(w[end].host, w[first].host) == 0);)
            end++;
        status = add_times(out, w + first, end - first, slack_ns, err);
    }
    free(w);
    return status;
}

/* Compares the recorded times first, because times on fitted clocks may overlap even if recordings
 * were far apart. The clocks of hosts may differ by minutes, those of ranks on one host do not. */
static tm_status compare_times(tm_tables *out, tm_error *err) {
    TM_TRY(compare_windows(out, RECORDED, NULL, TM_FAR_APART_NS, err));
    TM_TRY(compare_windows(out, RECORDED, tm_tables_find(out, "job.rank"), SAME_HOST_NS, err));
    return compare_windows(out, ALIGNED, NULL, 0, err);
}

/* The kernels of a rank: rows of job.kernel, ascending in hash. */
typedef struct program {
    int64_t rank;
    size_t first, n;
    /* index of an earlier program of the same set; the program's own index if it is the set's
     * first */
    size_t like;
    /* In element i of the array: index of the first program of set i (from 0). It is unrelated to
     * program i. */
    size_t opened;
    int64_t set; /* number of the program's set, from 1 */
} program;

static int64_t hash_at(const tm_table *kernels, size_t row) {
    return tm_table_row(kernels, row)[1].value.i;
}

/* Counts the kernels with hashes up to @p last. If a list is truncated, it lacks only kernels with
 * larger hashes. */
static size_t known_below(const tm_table *kernels, const program *p, int64_t last) {
    size_t n = 0;
    while (n < p->n && hash_at(kernels, p->first + n) <= last)
        n++;
    return n;
}

static bool differ(const tm_table *kernels, const program *a, const program *b) {
    int64_t last = INT64_MAX;
    last = a->n == TM_DIFFERS_KERNELS ? hash_at(kernels, a->first + a->n - 1) : last;
    int64_t end_b = b->n == TM_DIFFERS_KERNELS ? hash_at(kernels, b->first + b->n - 1) : last;
    last = end_b < last ? end_b : last;
    size_t n = known_below(kernels, a, last), m = known_below(kernels, b, last), common = 0;
    for (size_t i = 0, k = 0; i < n && k < m;) {
        int64_t x = hash_at(kernels, a->first + i), y = hash_at(kernels, b->first + k);
        common += x == y;
        i += x <= y;
        k += y <= x;
    }
    size_t least = n < m ? n : m;
    return least >= KERNELS_MIN && common * COMMON_PART < least;
}

static size_t root_of(const program *v, size_t i) {
    while (v[i].like != i)
        i = v[i].like;
    return i;
}

/* Puts two programs into one set, unless they differ. */
static void join(const tm_table *kernels, program *v, size_t k, size_t i) {
    size_t own = root_of(v, i), other = root_of(v, k);
    if (own != other && !differ(kernels, &v[k], &v[i]))
        v[own > other ? own : other].like = own > other ? other : own;
}

/* Puts programs that share kernels into one set. Compares each program with the first program of
 * every set. If the program shares kernels with none of them, compares it with all earlier
 * programs. This is needed for pipeline stages, which may share kernels only with the next
 * stage. */
static void join_programs(const tm_table *kernels, program *v, size_t n) {
    size_t n_opened = 0;
    for (size_t i = 0; i < n; i++) {
        v[i].like = i;
        for (size_t s = 0; s < n_opened; s++)
            if (v[v[s].opened].like == v[s].opened)
                join(kernels, v, v[s].opened, i);
        for (size_t k = 0, alone = v[i].like == i; k < i && alone; k++)
            join(kernels, v, k, i);
        if (v[i].like == i)
            v[n_opened++].opened = i;
    }
}

static tm_status add_programs(tm_tables *out, program *v, size_t n, tm_error *err) {
    tm_vec list = TM_VEC(said);
    tm_status status = TM_OK;
    int64_t n_sets = 0;
    join_programs(tm_tables_find(out, tm_differs_kernel.name), v, n);
    for (size_t i = 0; i < n; i++)
        v[i].set = v[i].like == i ? ++n_sets : v[root_of(v, i)].set;
    for (size_t i = 0; i < n && status == TM_OK; i++) {
        said s = {v[i].rank, v[i].set};
        status = tm_vec_append(&list, &s, 1) ? TM_OK : tm_fail_memory(err);
    }
    if (status == TM_OK)
        status = add_rows(out, "kernels", &list, write_number, NULL, err);
    tm_vec_free(&list);
    return status;
}

static tm_status compare_programs(tm_tables *out, tm_error *err) {
    const tm_table *kernels = tm_tables_find(out, tm_differs_kernel.name);
    const tm_table *places = tm_tables_find(out, tm_differs_place.name);
    program *v = calloc(places->n_rows + 1, sizeof *v);
    size_t n = 0;
    if (!v)
        return tm_fail_memory(err);
    for (size_t first = 0, end; first < kernels->n_rows; first = end) {
        int64_t rank = tm_table_row(kernels, first)[0].value.i;
        for (end = first + 1;
             end < kernels->n_rows && tm_table_row(kernels, end)[0].value.i == rank;)
            end++;
        if (end - first >= KERNELS_MIN) {
            v[n] = (program){.rank = rank, .first = first, .n = end - first};
            n++;
        }
    }
    tm_status status = add_programs(out, v, n, err);
    free(v);
    return status;
}

/* A rank's list of a group's members. */
typedef struct listing {
    size_t row; /* row of the table of groups, which has the group's name */
    int64_t rank;
    uint32_t members; /* number of the list; lists with the same ranks share a number */
} listing;

typedef struct group_lists {
    const tm_table *groups;
    const tm_names *names;
    /* `keys`: name ids of lists (uint32_t). `contents`: hashes of the ranks in a list
     * (uint64_t). */
    tm_keys keys, contents;
    tm_vec lists; /* [keys] vector of tm_rank_list */
    tm_vec same;  /* [keys] vector of uint32_t: 1 + number of the first list with the same ranks */
    /* [contents] vector of uint32_t: 1 + number of the first list with the same hash */
    tm_vec first;
    tm_vec rows; /* vector of listing: lists of the current group, ascending in rank */
} group_lists;

static const tm_vec *members_of(const group_lists *g, uint32_t number) {
    return &((const tm_rank_list *)g->lists.data)[number].ranks;
}

static bool has_member(const tm_vec *members, int64_t rank) {
    size_t at = tm_lower_bound(members->data, members->n, rank);
    return at < members->n && ((const int64_t *)members->data)[at] == rank;
}

/* Parses a list. Returns 1 + the number of the first list with the same ranks; 0 if out of memory.
 */
static uint32_t seek_same(group_lists *g, uint32_t list) {
    tm_rank_list *found = tm_keys_value(&g->keys, &g->lists, &list);
    if (!found || !tm_rank_list_read(tm_names_text(g->names, list), found))
        return 0;
    uint64_t hash = tm_hash_words(found->ranks.n, found->ranks.data, found->ranks.n);
    uint32_t *first = tm_keys_value(&g->contents, &g->first, &hash);
    if (first && *first == 0)
        *first = tm_keys_find(&g->keys, &list) + 1;
    return first ? *first : 0;
}

/* Finds the number of the first list with the same ranks. Parses each list once. */
static bool find_members(group_lists *g, uint32_t list, uint32_t *out) {
    uint32_t *same = tm_keys_value(&g->keys, &g->same, &list);
    if (same && *same == 0)
        *same = seek_same(g, list);
    *out = same ? *same - 1 : 0;
    return same && *same > 0;
}

/* Collects the lists in rows [first, end) that contain their own rank and another rank. Truncated
 * lists are left out, because their members are unknown. */
static bool collect_group(group_lists *g, size_t first, size_t end) {
    bool ok = true;
    g->rows.n = 0;
    for (size_t i = first; i < end && ok; i++) {
        const tm_cell *row = tm_table_row(g->groups, i);
        uint32_t list = (uint32_t)row[2].value.i;
        listing made = {.row = i, .rank = row[1].value.i};
        if (*tm_names_text(g->names, list).bytes != '[')
            continue;
        ok = find_members(g, list, &made.members);
        const tm_vec *members = ok ? members_of(g, made.members) : NULL;
        if (ok && members->n > 1 && has_member(members, made.rank))
            ok = tm_vec_append(&g->rows, &made, 1);
    }
    return ok;
}

/* Returns whether a rank that is in a row's list has a different list. If several rows have the
 * same list, only the first of them is checked. */
static bool is_denied(const group_lists *g, size_t row) {
    const listing *rows = g->rows.data, *own = &rows[row];
    const tm_vec *members = members_of(g, own->members);
    for (size_t i = 0; i < members->n; i++) {
        int64_t rank = ((const int64_t *)members->data)[i];
        size_t other = TM_FIRST_FROM(listing, rank, rows, g->rows.n, rank);
        bool there = other < g->rows.n && rows[other].rank == rank;
        if (there && rows[other].members != own->members)
            return true;
        if (there && i == 0 && other < row)
            return false;
    }
    return false;
}

static const char *group_name(const group_lists *g, size_t row) {
    return tm_table_row(g->groups, row)[0].value.text;
}

/* Writes a group and its members. @param context group_lists; @param value index into its rows */
static tm_status write_group(const void *context, int64_t value, tm_table *table, tm_cell *cell,
                             tm_error *err) {
    const group_lists *g = context;
    const listing *row = (const listing *)g->rows.data + value;
    const char *name = group_name(g, row->row);
    const tm_vec *members = members_of(g, row->members);
    tm_vec text = TM_VEC(char);
    bool ok = tm_vec_append(&text, name, strlen(name)) && tm_vec_append(&text, ": ", 2);
    for (size_t i = 0; i < members->n && ok; i++) {
        char number[24];
        int size = snprintf(number, sizeof number, "%s%" PRId64, i ? "," : "",
                            ((const int64_t *)members->data)[i]);
        ok = tm_vec_append(&text, number, (size_t)size);
    }
    tm_status status =
        ok ? tm_table_set_bytes(table, cell, text.data, text.n, err) : tm_fail_memory(err);
    tm_vec_free(&text);
    return status;
}

/* Adds a row for each distinct list of the current group's members. The row also has the ranks that
 * have this list. */
static tm_status add_group(tm_tables *out, const group_lists *g, tm_error *err) {
    const listing *rows = g->rows.data;
    tm_vec list = TM_VEC(said);
    tm_status status = TM_OK;
    for (size_t i = 0; i < g->rows.n && status == TM_OK; i++) {
        size_t same = 0;
        while (rows[same].members != rows[i].members)
            same++;
        said s = {rows[i].rank, (int64_t)same};
        status = tm_vec_append(&list, &s, 1) ? TM_OK : tm_fail_memory(err);
    }
    if (status == TM_OK)
        status = add_rows(out, "process group", &list, write_group, g, err);
    tm_vec_free(&list);
    return status;
}

/* Reports only the first group whose members differ between ranks. */
static tm_status find_disagreement(group_lists *g, tm_tables *out, tm_error *err) {
    for (size_t first = 0, end; first < g->groups->n_rows; first = end) {
        for (end = first + 1;
             end < g->groups->n_rows && strcmp(group_name(g, end), group_name(g, first)) == 0;)
            end++;
        if (!collect_group(g, first, end))
            return tm_fail_memory(err);
        for (size_t row = 0; row < g->rows.n; row++)
            if (is_denied(g, row))
                return add_group(out, g, err);
    }
    return TM_OK;
}

static tm_status compare_groups(const tm_job *job, tm_tables *out, tm_error *err) {
    group_lists g = {.groups = tm_tables_find(out, tm_differs_group.name),
                     .names = job->names,
                     .keys = TM_KEYS(uint32_t),
                     .contents = TM_KEYS(uint64_t),
                     .lists = TM_VEC(tm_rank_list),
                     .same = TM_VEC(uint32_t),
                     .first = TM_VEC(uint32_t),
                     .rows = TM_VEC(listing)};
    tm_status status = find_disagreement(&g, out, err);
    tm_rank_list *lists = g.lists.data;
    for (size_t i = 0; i < g.lists.n; i++)
        tm_vec_free(&lists[i].ranks);
    tm_keys_free(&g.keys);
    tm_keys_free(&g.contents);
    TM_VECS_FREE(&g.lists, &g.same, &g.first, &g.rows);
    return status;
}

/* Groups are compared only if all ranks have the same world size, because groups always differ if
 * world sizes differ. */
tm_status tm_differs_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const tm_table *table = tm_tables_find(out, tm_differs_table.name);
    TM_TRY(compare_times(out, err));
    size_t n_times = table->n_rows;
    TM_TRY(compare_worlds(out, err));
    if (table->n_rows == n_times)
        TM_TRY(compare_groups(job, out, err));
    return compare_programs(out, err);
}
