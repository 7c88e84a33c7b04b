#include "show_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "output/console.h"
#include "table/renamed.h"

/* Splits a list at its commas into words, in place. */
static tm_status split_columns(const char *list, tm_show_options *out, tm_error *err) {
    out->text = strdup(list);
    if (!out->text)
        return tm_fail_memory(err);
    for (char *word = out->text, *end; word; word = end) {
        end = strchr(word, ',');
        if (end)
            *end++ = '\0';
        if (*word == '\0')
            return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                           "--columns takes names of columns such as rank,wait_ns, not '%s'", list);
        if (!tm_vec_append(&out->columns, &word, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_show_options_parse(const tm_arguments *arguments, tm_show_options *out,
                                tm_error *err) {
    const char *columns = tm_argument(arguments, "columns"), *sort = tm_argument(arguments, "sort");
    *out = (tm_show_options){.arguments = arguments, .columns = TM_VEC(const char *)};
    TM_TRY(tm_count_parse(tm_argument(arguments, "top"), "top", &out->top, err));
    TM_TRY(tm_list_parse(tm_argument(arguments, "rank"), "rank", &out->ranks, err));
    TM_TRY(tm_list_parse(tm_argument(arguments, "step"), "step", &out->steps, err));
    TM_TRY(tm_where_parse(tm_argument(arguments, "where"), &out->where, err));
    out->descending = sort && *sort == '-';
    out->sort_column = out->descending ? sort + 1 : sort;
    if (sort && *out->sort_column == '\0')
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--sort takes a column, or -COLUMN for the largest first");
    if (columns)
        TM_TRY(split_columns(columns, out, err));
    out->is_given = out->top >= 0 || out->ranks.n > 0 || out->steps.n > 0 || sort || columns ||
                    out->where.is_given;
    return TM_OK;
}

void tm_show_options_free(tm_show_options *options) {
    tm_where_free(&options->where);
    tm_vec_free(&options->columns);
    free(options->text);
}

bool tm_show_options_has_level(const tm_show_options *options, const tm_table_def *def,
                               const char *level) {
    bool has = options->arguments->n_operands == 1;
    for (size_t i = 1; i < options->arguments->n_operands && !has; i++) {
        const char *text = options->arguments->operands[i];
        const tm_renamed *renamed = tm_renamed_find(text);
        has = tm_table_is_meant(def, text) &&
              (!renamed || !renamed->level || strcmp(renamed->level, level) == 0);
    }
    return has;
}

/* Returns whether a table has a column. Warns if @p column is a former name. */
static bool has_column(const tm_table_def *def, const char *column) {
    int at = tm_table_column(def, column);
    if (at >= 0 && strcmp(def->columns[at].name, column) != 0)
        tm_console_warn("%s.%s is now %s; the next version will not know the old name", def->name,
                        column, def->columns[at].name);
    return at >= 0;
}

const char *tm_show_options_lacks(const tm_show_options *options, const tm_table_def *def) {
    const char *const *columns = options->columns.data;
    for (size_t i = 0; i < options->columns.n; i++)
        if (!has_column(def, columns[i]))
            return columns[i];
    for (size_t i = 0; i < tm_where_n(&options->where); i++)
        if (!has_column(def, tm_where_column(&options->where, i)))
            return tm_where_column(&options->where, i);
    const char *column = options->sort_column;
    return column && !has_column(def, column) ? column : NULL;
}

/* Reads the different numbers in a column, ascending. */
static tm_status read_numbers(const tm_store *store, const char *path, tm_vec *out, tm_error *err) {
    tm_store_column *column = NULL;
    enum { PIECE = 4096, LIMIT = 1 << 16 };
    TM_TRY(tm_store_open_column(store, path, TM_I64, &column, err));
    size_t n_rows = tm_store_column_rows(column), limit = LIMIT;
    tm_status status = TM_OK;
    for (size_t first = 0; first < n_rows && status == TM_OK; first += PIECE) {
        size_t n = n_rows - first < PIECE ? n_rows - first : PIECE;
        int64_t *to = tm_vec_append(out, NULL, n);
        status = to ? tm_store_read_rows(column, first, n, to, err) : tm_fail_memory(err);
        if (status != TM_OK || (out->n < limit && first + n < n_rows))
            continue;
        int64_t *v = out->data;
        size_t kept = 0;
        tm_sort(v, out->n, sizeof *v, tm_compare_i64);
        for (size_t i = 0; i < out->n; i++)
            if (kept == 0 || v[kept - 1] != v[i])
                v[kept++] = v[i];
        out->n = kept;
        limit = 2 * kept + LIMIT;
    }
    tm_store_close_column(column);
    return status;
}

static bool has_any(const tm_vec *numbers, int64_t first, int64_t last) {
    size_t i = tm_lower_bound(numbers->data, numbers->n, first);
    return i < numbers->n && ((const int64_t *)numbers->data)[i] <= last;
}

/* Compares the numbers that the user asked for with those in the store. Fails if the store has none
 * of them, and warns if it lacks some. */
static tm_status compare(const tm_list *list, const tm_vec *numbers, const char *what,
                         tm_error *err) {
    enum { SHOWN = 100 };
    char there[SHOWN + 1], missing[SHOWN + 1] = "";
    size_t found = 0, used = 0;
    tm_list_write(numbers->data, numbers->n, there, sizeof there);
    for (size_t i = 0; i < list->n; i++) {
        int64_t first = list->ranges[i].first, last = list->ranges[i].last;
        if (has_any(numbers, first, last)) {
            found++;
            continue;
        }
        if (used < SHOWN)
            used += (size_t)snprintf(missing + used, sizeof missing - used,
                                     first < last ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64,
                                     used > 0 ? "," : "", first, last);
    }
    if (numbers->n == 0 && list->n > 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s: the store has no %ss", what, what);
    const char *more = strlen(there) + 1 >= sizeof there ? "..." : "";
    if (list->n > 0 && found == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--%s: the store has no %s %s, but %s%s", what,
                       what, missing, there, more);
    if (found < list->n && tm_console_speaks())
        tm_console_warn("the store has no %s %s, but %s%s", what, missing, there, more);
    return TM_OK;
}

static tm_status check(const tm_list *list, const tm_store *store, const char *path,
                       const char *what, tm_error *err) {
    tm_vec numbers = TM_VEC(int64_t);
    if (list->n == 0)
        return TM_OK;
    tm_status status = read_numbers(store, path, &numbers, err);
    if (status == TM_OK)
        status = compare(list, &numbers, what, err);
    tm_vec_free(&numbers);
    return status;
}

tm_status tm_show_options_check(const tm_show_options *options, const tm_store *store,
                                tm_error *err) {
    TM_TRY(check(&options->ranks, store, "/ranks/rank", "rank", err));
    return check(&options->steps, store, "/steps/number", "step", err);
}
