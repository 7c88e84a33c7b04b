/* Shared by the fuzz targets for databases. Lists the ranks of a database, reads each of them, and
 * builds its timeline. */
#ifndef TMERGE_FUZZ_DATABASE_H
#define TMERGE_FUZZ_DATABASE_H

#include "timeline.h"

static inline void read_rank(const char *path, const tm_format *format, const tm_unit *unit) {
    tm_error err = {.offset = -1};
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    const tm_trace_file file = {.path = path, .unit = unit, .format = format};
    tm_status status = tm_trace_read(&file, names, NULL, &trace, &err);
    end_reading(status, &err, &trace, names);
}

/* Reads all ranks of a file. Does nothing if the format does not claim the file. */
static inline void read_database(const char *path, const tm_format *format) {
    enum { UNITS_MAX = 8 };
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    tm_error err;
    bool foreign;
    if (!format->accepts(path) || tm_source_open(path, &source, &err) != TM_OK)
        return;
    tm_status status =
        format->list_units ? format->list_units(source, false, &units, &foreign, &err) : TM_OK;
    require(status == TM_OK || status == TM_ERR_INPUT);
    tm_source_close(source);
    for (size_t i = 0; i < units.n && i < UNITS_MAX && status == TM_OK; i++)
        read_rank(path, format, (const tm_unit *)units.data + i);
    if (units.n == 0)
        read_rank(path, format, NULL);
    tm_vec_free(&units);
}

#endif
