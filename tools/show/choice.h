/* Which rows and columns of the tables are shown, and in which order. */
#ifndef TMERGE_SHOW_CHOICE_H
#define TMERGE_SHOW_CHOICE_H

#include "base/list.h"
#include "base/vec.h"
#include "command.h"
#include "show/where.h"
#include "tmerge/store.h"

typedef struct tm_choice {
    tm_list ranks, steps;
    int64_t top;             /* -1: all */
    const char *sort_column; /* NULL: the table's own order */
    bool descending;         /* by it: largest first, and texts from Z to A */
    char *text;              /* owned; of the columns */
    tm_vec columns;          /* of const char *; none: all */
    tm_where where;
    bool is_given; /* any of it */
} tm_choice;

/** @param out  freed whatever comes of it. TM_OK; TM_ERR_USAGE; TM_ERR_FAULT */
tm_status tm_choice_parse(const tm_arguments *arguments, tm_choice *out,
                          tm_error *err) TM_MUST_CHECK;
void tm_choice_free(tm_choice *choice);

/** The first column that is asked for by name and that the table does not have; NULL: it has all.
 */
const char *tm_choice_lacks(const tm_choice *choice, const tm_table_def *def);

/**
 * Whether the store has the ranks and steps of the lists: one that has none of those asked for is
 * an error, what of them it does not have is warned of.
 * @return  TM_OK; TM_ERR_USAGE; as the reader
 */
tm_status tm_choice_check(const tm_choice *choice, const tm_store *store,
                          tm_error *err) TM_MUST_CHECK;

#endif
