/* Arbitrary bytes as a database of AMD's or Ascend's profilers: recognized, its ranks listed, and
 * each of them read, linked and built to a timeline. The outcome is an error or a valid timeline.
 */
#include <stdlib.h>
#include <unistd.h>

#include "timeline.h"

static char path[] = "/dev/shm/fuzz_database_XXXXXX";

static void remove_file(void) {
    (void)unlink(path);
}

/* SQLite only reads files: this one is in memory. */
static void write_file(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        file = mkstemp(path);
        require(file >= 0 && atexit(remove_file) == 0);
    }
    require(ftruncate(file, 0) == 0);
    require(pwrite(file, data, size, 0) == (ssize_t)size);
}

static void read_one(const tm_format *format, const tm_unit *unit) {
    tm_error err = {.offset = -1};
    tm_names *names = tm_names_create();
    tm_trace trace;
    require(names != NULL);
    const tm_trace_file file = {.path = path, .unit = unit, .format = format};
    tm_status status = tm_trace_read(&file, names, NULL, &trace, &err);
    if (status == TM_OK)
        build(&trace, names);
    else
        require(status == TM_ERR_INPUT && err.status == status && err.message[0] != '\0');
    tm_trace_free(&trace);
    tm_names_destroy(names);
}

static void try_format(const tm_format *format) {
    enum { UNITS_MAX = 8 };
    tm_vec units = TM_VEC(tm_unit);
    tm_source *source;
    tm_error err;
    bool foreign;
    if (tm_source_open(path, &source, &err) != TM_OK)
        return;
    tm_status status =
        format->list_units ? format->list_units(source, false, &units, &foreign, &err) : TM_OK;
    require(status == TM_OK || status == TM_ERR_INPUT);
    tm_source_close(source);
    for (size_t i = 0; i < units.n && i < UNITS_MAX && status == TM_OK; i++)
        read_one(format, (const tm_unit *)units.data + i);
    if (units.n == 0)
        read_one(format, NULL);
    tm_vec_free(&units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const tm_format *const formats[] = {&tm_format_ascend_db, &tm_format_rocpd,
                                               &tm_format_rpd};
    write_file(data, size);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        tell(data, size, formats[i]);
        if (formats[i]->claims(path)) /* other formats never get the file */
            try_format(formats[i]);
    }
    return 0;
}
