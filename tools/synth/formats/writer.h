/* What every trace format implements: how a simulated job writes its files. */
#ifndef TMERGE_SYNTH_WRITER_H
#define TMERGE_SYNTH_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "synth/base/error.h"
#include "synth/base/event_list.h"
#include "synth/sim/sim_plan.h"

typedef struct tms_writer tms_writer;

/* A format: its file names and the functions that write a file. */
typedef struct tms_format {
    const char *ending; /* file name extension, without the point; NULL if name_file is set */

    /* Writes the name of a file, within the job's folder. @p rank is the first rank in the file. If
     * this function is NULL, the name is profile_rank_R.ending. */
    void (*name_file)(char *name, size_t size, const tms_config *config, int64_t rank);

    /** Opens a file, under a temporary name in the folder of @p path.
     *
     * @param plan must outlive the writer
     * @param rank the first rank of the file
     * @param writer  set only on TMS_OK; end it with commit or abandon
     * @return        TMS_OK; TMS_ERR_OUTPUT; TMS_ERR_FAULT */
    tms_status (*open)(tms_writer **writer, const tms_plan *plan, int64_t rank, const char *path,
                       tms_error *err);

    /* Starts a rank's trace. TMS_OK; TMS_ERR_FAULT out of memory. */
    tms_status (*begin)(tms_writer *writer, int64_t rank, tms_error *err);

    /* Writes the events of one section of a step. Called section by section, in the order of
     * tms_section, and in each section from the first step to the last. */
    void (*events)(tms_writer *writer, const tms_events *events, tms_section section);

    /* Ends the rank's trace. @p begin_ns and @p end_ns are the times at which the profiler started
     * and stopped [recorded ns since the epoch]. */
    void (*end)(tms_writer *writer, int64_t begin_ns, int64_t end_ns);

    /* Returns whether a write failed, so that the caller can stop early. */
    bool (*failed)(const tms_writer *writer);

    /* Gives the file its final name, and frees the writer, also after a failure. After a failure
     * there is no file. TMS_OK; TMS_ERR_OUTPUT with the file and the reason; TMS_ERR_FAULT. */
    tms_status (*commit)(tms_writer *writer, tms_error *err);

    /* Removes the temporary file and frees the writer. @p writer may be NULL. */
    void (*abandon)(tms_writer *writer);
} tms_format;

/* A file that is being written. Each format's own struct starts with a tms_writer. */
struct tms_writer {
    const tms_format *format; /* static */
    int64_t count;            /* number of duration and instant events of the current rank so far */
};

extern const tms_format tms_format_kineto; /* one rank per file */
extern const tms_format tms_format_nsys;   /* one or more ranks per file */
extern const tms_format tms_format_xplane; /* all ranks of a host */
extern const tms_format tms_format_ascend; /* one rank per file */

#endif
