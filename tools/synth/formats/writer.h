/* What every trace format does: the interface between a simulated job and its files. */
#ifndef TMERGE_SYNTH_WRITER_H
#define TMERGE_SYNTH_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/error.h"
#include "synth/base/events.h"
#include "synth/sim/plan.h"

typedef struct tms_writer tms_writer;

/* A format: a name's ending, and how a file is opened. */
typedef struct tms_format {
    const char *ending; /* of file names, without the point; NULL where name_file gives them */

    /* The name of the file that begins with a rank, below the job's folder; NULL:
     * profile_rank_R.ending. */
    void (*name_file)(char *name, size_t size, const tms_config *config, int64_t rank);

    /**
     * Opens a file, under a temporary name beside @p path.
     *
     * @param plan    kept by reference until the writer ends
     * @param rank    the first of the file
     * @param writer  set only on TMS_OK; end it with commit or abandon
     * @return        TMS_OK; TMS_ERR_OUTPUT; TMS_ERR_FAULT
     */
    tms_status (*open)(tms_writer **writer, const tms_plan *plan, int64_t rank, const char *path,
                       tms_error *err);

    /* Begins a rank's trace. TMS_OK; TMS_ERR_FAULT out of memory. */
    tms_status (*begin)(tms_writer *writer, int64_t rank, tms_error *err);

    /* Writes the events of one section. Sections come in the order of tms_section, each from the
     * first step to the last. */
    void (*events)(tms_writer *writer, const tms_events *events, tms_section section);

    /* Ends the rank's trace: the profiler starts and stops then [recorded ns since the epoch]. */
    void (*end)(tms_writer *writer, int64_t begin_ns, int64_t end_ns);

    /* Whether something could not be written: the rest may be saved the trouble. */
    bool (*failed)(const tms_writer *writer);

    /* Gives the file its final name and frees the writer in any case; when it fails no file is
     * left behind. TMS_OK; TMS_ERR_OUTPUT with the file and the reason; TMS_ERR_FAULT. */
    tms_status (*commit)(tms_writer *writer, tms_error *err);

    /* Removes the temporary file and frees the writer; NULL is fine. */
    void (*abandon)(tms_writer *writer);
} tms_format;

/* A file being written; the first member of each format's own. */
struct tms_writer {
    const tms_format *format; /* static */
    int64_t count;            /* events of the present rank that a reader has to count */
};

extern const tms_format tms_format_kineto; /* one rank a file */
extern const tms_format tms_format_nsys;   /* one or more */
extern const tms_format tms_format_xplane; /* all of a host */
extern const tms_format tms_format_ascend; /* one */

#endif
