/* Renderers for rows that come in slices, so that a table need not be in memory as a whole. */
#ifndef TMERGE_TABLE_STREAM_H
#define TMERGE_TABLE_STREAM_H

#include "table/out.h"
#include "tmerge/table.h"

/** Function that is called with a slice of rows. It must not keep anything of the slice. */
typedef tm_status tm_rows_visitor(void *context, const tm_table *slice, tm_error *err);

/** The rows of a table. They can be read several times, with the same result. */
typedef struct tm_rows {
    const tm_table_def *def;
    tm_status (*each)(const struct tm_rows *rows, tm_rows_visitor *visitor, void *context,
                      tm_error *err);
    const void *source; /* data for `each` */
} tm_rows;

/** Destination of text. */
typedef struct tm_sink_out {
    tm_out *out;
    /* Called after each slice. It writes the text and empties it. NULL: the text stays in
     * memory. */
    tm_status (*spill)(tm_out *out, tm_error *err);
} tm_sink_out;

/** Layout of rows for a terminal. */
typedef struct tm_text_style {
    int width;         /* columns of the terminal; 0: no limit */
    bool bars;         /* draw a bar after each share, unless the table then needs more blocks of
                          columns */
    int64_t origin_ns; /* times since the epoch are shown relative to this; 0: unchanged */
} tm_text_style;

/** Provides the rows of a table in memory. The table must outlive the result. */
tm_rows tm_rows_of(const tm_table *table);

/* These functions render like the functions of tmerge/table.h, but pass the output to a sink in
 * pieces. They do not hold all of it in memory. */

tm_status tm_stream_text(const tm_rows *rows, const tm_text_style *style, const tm_sink_out *sink,
                         tm_error *err) TM_MUST_CHECK;
tm_status tm_stream_csv(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) TM_MUST_CHECK;

/** Prints a member of "tables": its name, columns and rows. */
tm_status tm_stream_json(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) TM_MUST_CHECK;

/** Print the parts of the document before its tables, between two tables, and after the last one.
 */
void tm_json_begin(tm_out *out, const char *store);
void tm_json_between(tm_out *out, size_t table);
void tm_json_end(tm_out *out, size_t n_tables);

/** Calls the sink's function, if it has one. Call it after each slice. */
tm_status tm_sink_spill(const tm_sink_out *sink, tm_error *err) TM_MUST_CHECK;

#endif
