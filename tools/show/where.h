/* What --where asks of a row: COLUMN OP VALUE, joined by "and" and "or"; "and" binds first. */
#ifndef TMERGE_SHOW_WHERE_H
#define TMERGE_SHOW_WHERE_H

#include "base/vec.h"
#include "tmerge/table.h"

typedef struct tm_where {
    char *text;        /* owned; the words of it stand in it, each terminated */
    tm_vec asked;      /* of conditions as typed */
    int64_t origin_ns; /* what moments count from that are told with a unit */
    bool is_given;
} tm_where;

/**
 * @param text  as typed; NULL: nothing is asked
 * @param out   freed whatever comes of it
 * @return      TM_OK; TM_ERR_USAGE with the character at which it goes wrong; TM_ERR_FAULT
 */
tm_status tm_where_parse(const char *text, tm_where *out, tm_error *err) TM_MUST_CHECK;
void tm_where_free(tm_where *where);

/** The columns that it names. */
size_t tm_where_n(const tm_where *where);
const char *tm_where_column(const tm_where *where, size_t i);

/** The same for one table. */
typedef struct tm_where_table {
    tm_vec conditions;
} tm_where_table;

/** @param def  has all of the columns. @param out  freed whatever comes of it. TM_OK; TM_ERR_USAGE:
 * a value is none of its column's; TM_ERR_FAULT */
tm_status tm_where_bind(const tm_where *where, const tm_table_def *def, tm_where_table *out,
                        tm_error *err) TM_MUST_CHECK;
void tm_where_unbind(tm_where_table *table);

/** What does not exist is neither equal to anything nor different from it, but for null. */
bool tm_where_takes(const tm_where_table *table, const tm_cell *row);

#endif
