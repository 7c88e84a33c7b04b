/* Export: the events of a job, or of a window of it, in the formats of other programs. */
#ifndef TMERGE_EXPORT_H
#define TMERGE_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"
#include "tmerge/timeline.h"

/** What is exported: shared by all formats, and outlives the export. */
typedef struct tm_export_job {
    const tm_names *names;
    const tm_timeline *ranks; /* [n_ranks] of the whole job, ascending in rank; their arrays may be
                                 absent */
    const char *const *hosts; /* [n_ranks] the host of each; "" where none is known */
    size_t n_ranks;
    const bool *wanted;     /* [n_ranks] which of them are exported */
    int64_t begin_ns;       /* of the job, on its clock */
    int64_t from_ns, to_ns; /* the window [from, to) on the job's clock; the whole job: INT64_MIN
                               and INT64_MAX */
    const char *tool_version;
    const struct tm_table *stacks; /* stacks.frame of the job, for formats of stacks, and */
    bool of_devices;               /* whether these tell the time of devices, else of the host */
} tm_export_job;

/** A file is known by no more bytes than these. */
enum { TM_EXPORT_BEGINS_MAX = 64 };

typedef struct tm_export tm_export;

/** An export format: one file in src/export, one row in the registry. */
typedef struct tm_export_format {
    const char *name;    /* as typed after --format */
    const char *file;    /* the name of its file where none is given; "-" for standard output */
    const char *summary; /* one line for --help */
    const char *begins;  /* the bytes with which each of its files begins, and */
    size_t begins_size;  /* how many they are; 0: nothing tells them from other files */
    size_t begins_at;    /* behind this many others */
    bool of_stacks;      /* it holds call stacks of all ranks and no events: no rank, no window */
    bool needs_file;     /* it goes back in its output, which must be a regular file */
    bool is_database;    /* it holds the store's tables too, and is written from the store: it has
                            no callbacks, and tm_export_create is not for it */
    size_t state_size;   /* bytes of its state, which begin as zeros */
    unsigned attrs;      /* bits 1 << tm_attr of what it tells of events */
    bool metadata;       /* it tells what the ranks' traces say of themselves */
    bool spans_alone;    /* it tells nothing of events */

    tm_status (*begin)(tm_export *x, tm_error *err);

    /** The wanted ranks come in ascending order; their events by tm_export_walk. */
    tm_status (*rank)(tm_export *x, const tm_timeline *timeline, tm_error *err);

    tm_status (*end)(tm_export *x, tm_error *err);

    /** Frees what the state owns, also after a failure; NULL for nothing. */
    void (*destroy)(tm_export *x);
} tm_export_format;

/** All formats; @p n is set to their number. */
const tm_export_format *const *tm_export_formats(size_t *n);

/** The format of this name, or NULL. */
const tm_export_format *tm_export_format_find(const char *name);

/** Whether a file begins as those of the format do: then it is taken for an earlier export. False
 * also where it cannot be read. */
bool tm_export_is_one(const tm_export_format *format, const char *path);

/**
 * Begins an export. Memory does not grow with the job: a buffer, and what a format keeps of a rank.
 *
 * @param fd    open to be written, and to be read where the format needs a file; stays the caller's
 * @param path  for errors
 * @param out   set only on TM_OK; ended by tm_export_destroy
 * @return      TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT
 */
tm_status tm_export_create(const tm_export_format *format, const tm_export_job *job, int fd,
                           const char *path, tm_export **out, tm_error *err) TM_MUST_CHECK;

/**
 * Writes one rank's events in the window. An event that straddles one of its borders is in it, and
 * written whole.
 *
 * @param timeline  of a wanted rank, its events and attributes only where @p rows is NULL; nothing
 *                  of it is kept
 * @param rows      its events
 * @return          TM_OK; TM_ERR_USAGE: more than the format can hold; TM_ERR_INPUT: a trace that
 *                  it needs is missing; TM_ERR_OUTPUT; TM_ERR_FAULT
 */
tm_status tm_export_rank(tm_export *x, const tm_timeline *timeline, const tm_event_rows *rows,
                         tm_error *err) TM_MUST_CHECK;

/** Writes what stands at the end. TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT. */
tm_status tm_export_end(tm_export *x, tm_error *err) TM_MUST_CHECK;

/** Events written so far, counters and instants among them. */
int64_t tm_export_events(const tm_export *x);

/** NULL is allowed. */
void tm_export_destroy(tm_export *x);

#endif
