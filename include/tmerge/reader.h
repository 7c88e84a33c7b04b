/* Trace formats: a registry of readers, and the telling of what a file is. */
#ifndef TMERGE_READER_H
#define TMERGE_READER_H

#include <stdbool.h>

#include "tmerge/names.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

struct tm_trace;

/** One trace format: one file in src/readers, one row in the registry. */
typedef struct tm_format {
    const char *name;    /* as stored and shown in job.rank */
    const char *summary; /* one line for `tmerge list` */

    /** Tells from the first decoded bytes (at most TM_SNIFF_BYTES) whether a file has this
     * format. @p whole: they are all of it. */
    bool (*sniff)(const char *head, size_t size, bool whole);

    /**
     * Reads a source from its start to its end.
     * @param names  texts are interned here
     * @param out    initialised by the caller; its content counts only on TM_OK
     * @return       TM_OK; TM_ERR_INPUT with path and decoded byte offset; TM_ERR_FAULT
     */
    tm_status (*read)(tm_source *source, tm_names *names, struct tm_trace *out, tm_error *err);

    /**
     * The rank that the first decoded bytes name, -1 where they do not: a hint for sharing only.
     */
    int64_t (*peek_rank)(const char *head, size_t size);
} tm_format;

enum { TM_SNIFF_BYTES = 64 * 1024 };

/** All formats; @p n is set to their number. */
const tm_format *const *tm_formats(size_t *n);

/** What a file turned out to be. */
typedef enum tm_file_kind {
    TM_FILE_TRACE, /* format is set */
    TM_FILE_STORE, /* a tmerge store (HDF5) */
    TM_FILE_PAGE,  /* a tmerge report page */
    TM_FILE_OTHER
} tm_file_kind;

typedef struct tm_file_info {
    tm_file_kind kind;
    const tm_format *format; /* NULL unless kind is TM_FILE_TRACE */
    int64_t size_bytes;      /* of the file as it lies on disk */
    int64_t weight;          /* estimated decoded bytes: what reading it costs */
    int64_t rank;            /* what its first bytes say, -1 if nothing */
} tm_file_info;

/** Opens a file, looks at its first decoded bytes and closes it. TM_OK also for TM_FILE_OTHER;
 * TM_ERR_INPUT where it cannot be read. */
tm_status tm_file_sniff(const char *path, tm_file_info *out, tm_error *err) TM_MUST_CHECK;

/** Reads one trace with its format. @p out is initialised by the call and needs tm_trace_free
 * whatever comes of it; @p watch is told how far the reading has come (NULL: nobody).
 * TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_trace_read(const char *path, tm_names *names, const tm_source_watch *watch,
                        struct tm_trace *out, tm_error *err) TM_MUST_CHECK;

/** The same for an open source of which nothing was read, with a known format. */
tm_status tm_trace_read_source(const tm_format *format, tm_source *source, tm_names *names,
                               struct tm_trace *out, tm_error *err) TM_MUST_CHECK;

#endif
