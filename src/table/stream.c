#include "table/stream.h"

static tm_status each_of_table(const tm_rows *rows, tm_rows_visitor *visitor, void *context,
                               tm_error *err) {
    return visitor(context, rows->source, err);
}

tm_rows tm_rows_of(const tm_table *table) {
    return (tm_rows){table->def, each_of_table, table};
}

tm_status tm_sink_spill(const tm_sink_out *sink, tm_error *err) {
    if (sink->out->failed)
        return tm_fail_memory(err);
    return sink->spill ? sink->spill(sink->out, err) : TM_OK;
}
