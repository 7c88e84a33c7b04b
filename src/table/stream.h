/* Renderers of rows that come in slices, so that a table need not be in memory as a whole. */
#ifndef TMERGE_TABLE_STREAM_H
#define TMERGE_TABLE_STREAM_H

#include "table/out.h"
#include "tmerge/table.h"

/** What is done with a slice; nothing of it may be kept. */
typedef tm_status tm_rows_visitor(void *context, const tm_table *slice, tm_error *err);

/** The rows of a table, the same ones as often as they are asked for. */
typedef struct tm_rows {
    const tm_table_def *def;
    tm_status (*each)(const struct tm_rows *rows, tm_rows_visitor *visitor, void *context,
                      tm_error *err);
    const void *source; /* of who gives them */
} tm_rows;

/** Where text goes. */
typedef struct tm_sink_out {
    tm_out *out;
    tm_status (*spill)(tm_out *out,
                       tm_error *err); /* after each slice, to empty it; NULL: it grows */
} tm_sink_out;

/** How rows are laid out for the eye. */
typedef struct tm_text_style {
    int width;         /* columns of the terminal; 0: no limit */
    bool bars;         /* behind shares, where that takes no further block */
    int64_t origin_ns; /* times since the epoch are shown from here on; 0: as they are */
} tm_text_style;

/** The rows of a table that is in memory, which outlives them. */
tm_rows tm_rows_of(const tm_table *table);

/* As the functions in tmerge/table.h say that put all of it in memory. All give TM_OK; what the
 * rows or the sink answer; TM_ERR_FAULT where memory is out. */

tm_status tm_stream_text(const tm_rows *rows, const tm_text_style *style, const tm_sink_out *sink,
                         tm_error *err) TM_MUST_CHECK;
tm_status tm_stream_csv(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) TM_MUST_CHECK;

/** The member of "tables": its name and its columns and rows. */
tm_status tm_stream_json(const tm_rows *rows, const tm_sink_out *sink, tm_error *err) TM_MUST_CHECK;

/** What stands in front of the tables of the document, between two of them, and behind. */
void tm_json_begin(tm_out *out, const char *store);
void tm_json_between(tm_out *out, size_t table);
void tm_json_end(tm_out *out, size_t n_tables);

/** After a slice. */
tm_status tm_sink_spill(const tm_sink_out *sink, tm_error *err) TM_MUST_CHECK;

#endif
