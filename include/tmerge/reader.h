/* Trace formats: a registry of readers, and the telling of what a file is. */
#ifndef TMERGE_READER_H
#define TMERGE_READER_H

#include <stdbool.h>

#include "tmerge/names.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

struct tm_child_watch;
struct tm_part;
struct tm_trace;
struct tm_vec;

/**
 * What is a trace of its own in a file that can hold several: a process, and those of its devices
 * that are one rank. Numbers alone, so that it can be sent.
 */
typedef struct tm_unit {
    int64_t process; /* as the format numbers them */
    int64_t devices; /* bit d: device d; bit 63: all from there on */
    int64_t rank;    /* what the file says, -1 where it does not */
    int64_t host;    /* hash of the host's name, 0 where the file does not say */
    int64_t told; /* where a file of several is a copy of theirs: what its process groups call it,
                     which is another number than its rank in one of several replicas */
    int64_t clock_ns; /* what its times need for the epoch is this plus a monotonic clock of its
                         host, -1 where the file does not say: of one host they should be equal */
} tm_unit;

enum { TM_UNIT_DEVICES_MAX = 63 };

/** The bit of a device in tm_unit's devices. */
static inline uint64_t tm_unit_device(int64_t device) {
    return UINT64_C(1) << (device < 0 || device > TM_UNIT_DEVICES_MAX ? TM_UNIT_DEVICES_MAX
                                                                      : device);
}

/**
 * Makes traces of a profiler's reports, which no reader takes, by the profiler's own program. That
 * of a report lies in a temporary folder, or beside it where somebody made it before.
 */
typedef struct tm_converter {
    const char *program;    /* its name, looked for on the PATH */
    const char *report_end; /* how the names of reports end: ".nsys-rep" */
    const char *trace_end;  /* what stands there in the names of their traces: ".sqlite" */

    /** Writes what to do with a report: a message with the command that converts it. */
    void (*advise)(const char *report, char *out, size_t size);

    /**
     * Runs the program and waits for it, as long as it takes.
     * @param program  its path
     * @param trace    the file to make, which must not exist; whatever the program leaves there,
     *                 and beside it, is the caller's to remove
     * @return         TM_OK: a file of the right kind lies there; TM_ERR_INPUT: it could not be
     * run, or failed, with the report's path and what it said
     */
    tm_status (*convert)(const char *program, const char *report, const char *trace,
                         const struct tm_child_watch *watch, tm_error *err);
} tm_converter;

/**
 * One trace format: one folder in src/readers, one row in formats.def. Everything but name,
 * summary, sniff and read may be NULL.
 */
typedef struct tm_format {
    const char *name;        /* as stored and shown in job.rank */
    const char *summary;     /* one line for `tmerge list` */
    const char *cannot_tell; /* what its traces never hold and another format's do, as a sentence:
                                which results are missing for its ranks; NULL: nothing */

    /** Where its profiler leaves traces below a folder that somebody names: patterns of paths, as
     * glob takes them, ended by NULL. Files that lie in the folder itself are tried in any case. */
    const char *const *in_folders;
    bool by_path;    /* traces that tell no rank are numbered in the order of their paths (9 before
                        10),    of a file in that of its units; false: in that of the arguments */
    bool one_folder; /* what lies in several folders then is several jobs, of which one has to be
                        named */

    /** Tells from the first decoded bytes (at most TM_SNIFF_BYTES) whether a file has this
     * format. @p whole: they are all of it. Zero bytes follow them (TM_JSON_PADDING). */
    bool (*sniff)(const char *head, size_t size, bool whole);

    /** Where files of several formats begin with the same bytes, as databases do: whether a file
     * that @p sniff knew is of this one. A file that cannot be opened is of none; the last of these
     * formats has none of this, and says what is wrong. */
    bool (*claims)(const char *path);

    /**
     * Reads a source from its start to its end.
     * @param names  texts are interned here
     * @param out    initialised by the caller; its content counts only on TM_OK
     * @return       TM_OK; TM_ERR_INPUT with path and decoded byte offset; TM_ERR_FAULT
     */
    tm_status (*read)(tm_source *source, tm_names *names, struct tm_trace *out, tm_error *err);

    /**
     * Looks for an event at or soon behind the place where a source stands that was not read yet.
     * The answer may be wrong: only tm_part_read's parts, if they fit, show that it is right.
     * NULL, and the next two then, where a format cannot be read in parts.
     *
     * @param offset  the event's first byte; -1 where none is seen
     * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
     */
    tm_status (*find_event)(tm_source *source, int64_t *offset, tm_error *err);

    /**
     * Reads a source from where it stands, its start or an event, to the event that begins at byte
     * @p stop; to the end of the content where that is -1.
     * @param out  initialised by the caller; its content counts only on TM_OK
     * @return     TM_OK; TM_ERR_INPUT, also where it does not arrive exactly at the stop between
     *             two events, or is truncated; TM_ERR_FAULT
     */
    tm_status (*read_part)(tm_source *source, int64_t stop, tm_names *names, struct tm_part *out,
                           tm_error *err);

    /** Makes of all parts, joined, what `read` makes of the whole. TM_OK; TM_ERR_FAULT. */
    tm_status (*finish)(struct tm_part *whole, tm_names *names, tm_error *err);

    /**
     * The rank that the first decoded bytes name, -1 where they do not: a hint for sharing only.
     */
    int64_t (*peek_rank)(const char *head, size_t size);

    /** Whether the first decoded bytes tell that the file holds several units: else it is one
     * trace, and is not opened again to list them, unless all of it was read and is_fused. NULL:
     * they do not tell. */
    bool (*has_units)(const char *head, size_t size);

    /**
     * Lists the units of a source that @p sniff knew and that was not read yet. NULL, and the next
     * then, where a file is one trace.
     *
     * @param known    the rank is known from elsewhere where the file is one unit: then it is not
     *                 looked for, and -1 in the unit
     * @param units    of tm_unit, appended to, in an order that the content decides; none where the
     *                 file is one trace
     * @param foreign  set with TM_ERR_INPUT: the file is sound and of another kind
     * @return         TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
     */
    tm_status (*list_units)(tm_source *source, bool known, struct tm_vec *units, bool *foreign,
                            tm_error *err);

    bool of_communicator; /* Its traces hold only communication. Where another format has a trace of
                             the same rank, which holds more, they are left out. The rank that a
                             trace gives is its place in its largest communicator, and the job's
                             size is that communicator's. */

    bool units_are_copies; /* a file of several units was made of the units' own, beside which it
                              is left out */

    /** Reads one unit, as `read` does all. The rank is that of the unit alone. */
    tm_status (*read_unit)(tm_source *source, const tm_unit *unit, tm_names *names,
                           struct tm_trace *out, tm_error *err);

    /** Reads several units in one reading of the file. The caller initialises the traces; if it
     * fails, none of them is valid. NULL: units are read one by one. */
    tm_status (*read_units)(tm_source *source, const tm_unit *units, size_t n, tm_names *names,
                            struct tm_trace *const *out, tm_error *err);

    /** Whether another input is a better file of the same recording, by their paths: then this one
     * is left out. */
    bool (*is_covered)(const char *path, const char *other);

    const tm_converter *converter; /* of reports that become traces of this format */

    const char *richer; /* who writes more metadata of collectives than some of its traces hold:
                           "a newer PyTorch"; NULL: all of its versions tell the same */

    /* Advice for collectives that stay unmatched as nothing tells their process group: where not
     * even a name of it is known, and where only that is. Printed in brackets; a line has at most
     * 76 characters, and two blanks before it if it is not the first. */
    const char *advice_unnamed_group, *advice_unknown_group;
} tm_format;

enum { TM_SNIFF_BYTES = 64 * 1024 };

/** All formats; @p n is set to their number. */
const tm_format *const *tm_formats(size_t *n);

/** The format of a name; NULL where there is none. */
const tm_format *tm_format_find(const char *name);

/** Fails with TM_ERR_INPUT for a file that is a trace of none, and names them. */
tm_status tm_format_fail_unknown(const char *path, tm_error *err) TM_MUST_CHECK;

/** What a file turned out to be. */
typedef enum tm_file_kind {
    TM_FILE_TRACE, /* format is set */
    TM_FILE_STORE, /* a tmerge store (HDF5) */
    TM_FILE_PAGE,  /* a tmerge report page */
    TM_FILE_OTHER
} tm_file_kind;

typedef struct tm_file_info {
    const char *path; /* as given, borrowed */
    tm_file_kind kind;
    const tm_format *format; /* NULL unless kind is TM_FILE_TRACE */
    int64_t size_bytes;      /* of the file as it lies on disk */
    int64_t weight;          /* estimated decoded bytes: what reading it costs */
    int64_t rank;            /* what its first bytes say, -1 if nothing */
    bool has_units;          /* it may hold several: list_units tells */
    bool has_parts;          /* it can be read in parts: plain text, of a format that allows it */
} tm_file_info;

/** Opens a file, looks at its first decoded bytes and closes it. TM_OK also for TM_FILE_OTHER;
 * TM_ERR_INPUT where it cannot be read. */
tm_status tm_file_sniff(const char *path, tm_file_info *out, tm_error *err) TM_MUST_CHECK;

/** The format's list_units of a file that holds a trace; none where a file of it is one trace. */
tm_status tm_file_list_units(const tm_file_info *info, bool known, struct tm_vec *units,
                             bool *foreign, tm_error *err) TM_MUST_CHECK;

/** Which trace is read. */
typedef struct tm_trace_file {
    const char *path;
    const char *name;              /* of its source, where that is not the path; else NULL */
    const tm_unit *unit;           /* which of the file; NULL: the one that it holds */
    size_t n_units;                /* how many of these, for tm_trace_read_units */
    const char *device_categories; /* names of categories that are work of a device besides those
                                    * that a format knows, with commas between them; or NULL */
    bool spare_core;               /* what is compressed may be decoded beside the reading */
    const tm_format *format;       /* as tm_file_sniff told it; NULL: it is yet to be told */
} tm_trace_file;

/**
 * Reads one trace with its format.
 *
 * @param watch  is told how far the reading has come (NULL: nobody)
 * @param out    is initialised by the call and needs tm_trace_free whatever comes of it
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_trace_read(const tm_trace_file *file, tm_names *names, const tm_source_watch *watch,
                        struct tm_trace *out, tm_error *err) TM_MUST_CHECK;

/**
 * The same of several units of a file at once, with a format that has read_units.
 *
 * @param file  with its format
 * @param out   [n_units] as of tm_trace_read
 */
tm_status tm_trace_read_units(const tm_trace_file *file, tm_names *names,
                              const tm_source_watch *watch, struct tm_trace *const *out,
                              tm_error *err) TM_MUST_CHECK;

/** The first byte at which part @p index of @p n may begin in a file of @p size bytes: its cut.
 * Part n would begin at the end. */
int64_t tm_part_cut(int64_t size, int index, int n);

/**
 * Reads one part of a trace that can be read in parts, independent of the others: it begins with
 * the first event that is seen behind its cut, and ends where the next part does so.
 * The parts are the trace where all were read with TM_OK and each follows (tm_part_follows).
 *
 * @param file   that holds one trace
 * @param watch  is told of the bytes consumed of this part (NULL: nobody)
 * @param out    initialised by the caller, which part it is too; the call initialises its trace
 * @return       TM_OK; TM_ERR_INPUT: read the trace as a whole, which tells what is wrong, if
 *               anything is; TM_ERR_FAULT
 */
tm_status tm_part_read(const tm_trace_file *file, tm_names *names, const tm_source_watch *watch,
                       struct tm_part *out, tm_error *err) TM_MUST_CHECK;

/** Makes a trace of all its parts, joined into the first, which was read in this process.
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_parts_finish(struct tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

/** tm_trace_read for an open source of which nothing was read, with a known format.
 * @param unit  NULL: the one that it holds */
tm_status tm_trace_read_source(const tm_format *format, tm_source *source, const tm_unit *unit,
                               tm_names *names, struct tm_trace *out, tm_error *err) TM_MUST_CHECK;

#endif
