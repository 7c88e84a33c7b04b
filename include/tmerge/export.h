/* Export: writes the events of a job, or of a window of it, in formats of other programs. */
#ifndef TMERGE_EXPORT_H
#define TMERGE_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

/** The job to export, for any format. Must outlive the export. */
typedef struct tm_export_job {
    const tm_names *names;
    const tm_timeline *ranks; /* [n_ranks] all ranks of the job, ascending; their arrays may be
                                 empty */
    const char *const *hosts; /* [n_ranks] host of each rank, "" if unknown */
    size_t n_ranks;
    const bool *wanted;     /* [n_ranks] whether the rank is exported */
    int64_t world_size;     /* number of ranks of the job, including those without a trace; <= 0:
                               unknown */
    int64_t begin_ns;       /* start of the job on its clock */
    int64_t from_ns, to_ns; /* window [from, to) on the job's clock; INT64_MIN and INT64_MAX for
                               the whole job */
    const char *tool_version;
    const struct tm_table *stacks; /* for formats of stacks: the job's table `calls.tree` */
    bool of_devices; /* for formats of stacks: whether to write device time; if not, host time is
                        written */
} tm_export_job;

/** Maximum size [B] of a format's signature, the bytes that identify its files. */
enum { TM_EXPORT_BEGINS_MAX = 64 };

typedef struct tm_export tm_export;

/** An export format. Each format has one file in src/export and one row in the registry. */
typedef struct tm_export_format {
    const char *name;    /* as typed after --format */
    const char *ending;  /* file name extension of the output, which replaces .h5 in the store's
                            name; NULL: the output goes to standard output by default */
    const char *summary; /* one line for --help */
    const char *begins;  /* signature: the bytes at offset begins_at of every file of this format */
    size_t begins_size;  /* length [B] of begins; 0: the files have no signature */
    size_t begins_at;    /* offset [B] of begins in the file */
    bool of_stacks;    /* the format contains call stacks that are summed over all ranks, so a user
                          cannot export single ranks or a window */
    bool needs_file;   /* the format seeks in its output, which must be a regular file */
    bool is_database;  /* the format also contains the store's tables. tmerge writes it directly
                          from the store: the format has no callbacks and cannot be used with
                          tm_export_create */
    size_t state_size; /* size of the format's state [B], which is zeroed at the start */
    unsigned attrs;    /* bits 1 << tm_attr of the attributes that the format contains */
    bool metadata;     /* the format contains the metadata of the traces */
    bool spans_alone;  /* the format does not need events, only spans */

    tm_status (*begin)(tm_export *x, tm_error *err);

    /** Called for each wanted rank in ascending order. The format reads the rank's events with
     * tm_export_walk. */
    tm_status (*rank)(tm_export *x, const tm_timeline *timeline, tm_error *err);

    tm_status (*end)(tm_export *x, tm_error *err);

    /** Frees what the state owns, also after a failure. NULL if there is nothing to free. */
    void (*destroy)(tm_export *x);
} tm_export_format;

/** Returns all formats and sets @p n to their number. */
const tm_export_format *const *tm_export_formats(size_t *n);

/** Returns the format of this name, or NULL. */
const tm_export_format *tm_export_format_find(const char *name);

/** Returns whether a file has the signature of the format, so that it may be overwritten. Returns
 * false also if the file cannot be read. */
bool tm_export_is_one(const tm_export_format *format, const char *path);

/**
 * Begins an export. Memory does not grow with the job.
 * @param fd    file that is open for writing, and also for reading if the format has needs_file.
 *              The caller closes it.
 * @param path  path that error messages show
 * @param out   set only on TM_OK; free it with tm_export_destroy
 * @return      TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT
 */
tm_status tm_export_create(const tm_export_format *format, const tm_export_job *job, int fd,
                           const char *path, tm_export **out, tm_error *err) TM_MUST_CHECK;

/**
 * Writes one rank's events in the window. An event that lies partly in the window is written with
 * its full duration.
 * @param timeline  timeline of a wanted rank. It has events and attributes only if @p rows is NULL.
 *                  It is not used after the call.
 * @param rows      source of the rank's events; NULL: they are in @p timeline
 * @return          TM_OK; TM_ERR_USAGE: more data than the format can hold; TM_ERR_INPUT: a trace
 *                  that the format needs is missing; TM_ERR_OUTPUT; TM_ERR_FAULT
 */
tm_status tm_export_rank(tm_export *x, const tm_timeline *timeline, const tm_event_rows *rows,
                         tm_error *err) TM_MUST_CHECK;

/** Writes the end of the file. Returns TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT. */
tm_status tm_export_end(tm_export *x, tm_error *err) TM_MUST_CHECK;

/** Returns the number of events written so far, including counters and instants. */
int64_t tm_export_events(const tm_export *x);

/** Frees an export. NULL is allowed. */
void tm_export_destroy(tm_export *x);

#endif
