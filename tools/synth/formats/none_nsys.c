/* Replaces the format nsys if TMERGE_SQLITE is OFF. */
#include "synth/formats/writer.h"

static tms_status refuse(tms_writer **writer, const tms_plan *plan, int64_t rank, const char *path,
                         tms_error *err) {
    (void)writer;
    (void)plan;
    (void)rank;
    return tms_fail(err, TMS_ERR_OUTPUT,
                    "%s: this tmerge-synth was built without SQLite (TMERGE_SQLITE=OFF)", path);
}

const tms_format tms_format_nsys = {.ending = "sqlite", .open = refuse};
