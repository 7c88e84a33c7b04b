/* Which rows and columns of tables the user wants, and in which order. */
#ifndef TMERGE_SHOW_SHOW_OPTIONS_H
#define TMERGE_SHOW_SHOW_OPTIONS_H

#include "arguments/command.h"
#include "base/list.h"
#include "base/vec.h"
#include "show/where.h"
#include "tmerge/store.h"

typedef struct tm_show_options {
    const tm_arguments *arguments; /* borrowed */
    tm_list ranks, steps;
    int64_t top;             /* -1: all */
    const char *sort_column; /* NULL: the table's own order */
    bool descending;         /* true: largest first, and texts from Z to A */
    char *text;              /* owned; the names in `columns` point into it */
    tm_vec columns;          /* vector of const char *; empty: all */
    tm_where where;
    bool is_given; /* at least one option of this struct is given */
} tm_show_options;

/** Parses the options. TM_OK; TM_ERR_USAGE; TM_ERR_FAULT. @param out  freed by the caller, also
 * after a failure */
tm_status tm_show_options_parse(const tm_arguments *arguments, tm_show_options *out,
                                tm_error *err) TM_MUST_CHECK;
void tm_show_options_free(tm_show_options *options);

/** Returns the first of the user's columns that the table does not have; NULL if it has all of
 * them. */
const char *tm_show_options_lacks(const tm_show_options *options, const tm_table_def *def);

/** Returns whether the user asked for the rows of @p def that have @p level in the column `level`:
 * by naming no table, this table, or the table that formerly had only these rows. */
bool tm_show_options_has_level(const tm_show_options *options, const tm_table_def *def,
                               const char *level);

/** Checks that the store has the ranks and steps of the lists. Fails if it has none of them, and
 * warns if some are missing.
 * @return  TM_OK; TM_ERR_USAGE; the reader's status */
tm_status tm_show_options_check(const tm_show_options *options, const tm_store *store,
                                tm_error *err) TM_MUST_CHECK;

#endif
