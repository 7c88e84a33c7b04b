/* Conditions of --where: COLUMN OP VALUE, joined by "and" and "or". "and" binds more tightly. */
#ifndef TMERGE_SHOW_WHERE_H
#define TMERGE_SHOW_WHERE_H

#include "base/vec.h"
#include "tmerge/table.h"

typedef struct tm_where {
    char *text;        /* owned; the columns and values, each terminated */
    tm_vec asked;      /* the conditions, as typed */
    int64_t origin_ns; /* in columns of times since the epoch, the time from which values with a
                          unit count [ns since the epoch] */
    bool is_given;
} tm_where;

/** Parses the conditions.
 * @param text  as typed; NULL: none
 * @param out   freed by the caller, also after a failure
 * @return      TM_OK; TM_ERR_USAGE with the position of the error; TM_ERR_FAULT */
tm_status tm_where_parse(const char *text, tm_where *out, tm_error *err) TM_MUST_CHECK;
void tm_where_free(tm_where *where);

/** tm_where_n returns the number of conditions, tm_where_column the column of the i-th condition.
 */
size_t tm_where_n(const tm_where *where);
const char *tm_where_column(const tm_where *where, size_t i);

/** Returns the value of the i-th condition if its operator is = or ~; otherwise NULL. */
const char *tm_where_sought(const tm_where *where, size_t i);

/** Returns whether a cell of a text column meets the i-th condition. */
bool tm_where_meets(const tm_where *where, size_t i, const tm_cell *cell);

/** The conditions converted for one table. */
typedef struct tm_where_table {
    tm_vec conditions;
} tm_where_table;

/** Converts the conditions. TM_OK; TM_ERR_USAGE: a value does not suit its column; TM_ERR_FAULT.
 * @param def has all columns of the conditions
 * @param out freed by the caller, also after a failure */
tm_status tm_where_bind(const tm_where *where, const tm_table_def *def, tm_where_table *out,
                        tm_error *err) TM_MUST_CHECK;
void tm_where_unbind(tm_where_table *table);

/** Returns whether a row meets the conditions. Null is equal to null. A value is neither equal to
 * null nor different from it. */
bool tm_where_takes(const tm_where_table *table, const tm_cell *row);

#endif
