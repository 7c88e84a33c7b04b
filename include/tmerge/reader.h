/* Trace formats: the registry of readers, and detection of file formats. */
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

/** A trace in a file that may contain several traces: the events of one process and of the devices
 * that belong to its rank. Contains no pointers, so that it can be sent to other processes. */
typedef struct tm_unit {
    int64_t process; /* number of the process in the file */
    int64_t devices; /* bit d: device d; bit 63: all devices from 63 on */
    int64_t rank;    /* rank recorded in the file, -1 if none */
    int64_t host;    /* hash of the host's name, 0 if not recorded */
    /* for a file that was merged from several files: the number of the rank in its process groups.
     * It differs from `rank` if the job has several replicas. */
    int64_t reported;
    /* start of the host's monotonic clock [ns since the epoch], -1 if not recorded. All files of a
     * host have the same value, up to measurement errors. */
    int64_t clock_ns;
} tm_unit;

enum { TM_UNIT_DEVICES_MAX = 63 };

/** Returns the bit of a device in tm_unit's devices. */
static inline uint64_t tm_unit_device(int64_t device) {
    return UINT64_C(1) << (device < 0 || device > TM_UNIT_DEVICES_MAX ? TM_UNIT_DEVICES_MAX
                                                                      : device);
}

/** Converts a profiler's reports, which no reader accepts, to traces: runs the profiler's own
 * program and writes into a temporary folder. If a trace is already next to the report, tmerge
 * reads that trace instead. */
typedef struct tm_converter {
    const char *program;    /* file name, searched for on the PATH */
    const char *report_end; /* file name suffix of reports: ".nsys-rep" */
    const char *trace_end;  /* file name suffix of the traces made from reports: ".sqlite" */

    /** Writes advice for a report: a message with the command that converts it. */
    void (*advise)(const char *report, char *out, size_t size);

    /**
     * Runs the program and waits until it ends, without a time limit.
     * @param program  path of the program
     * @param trace    file to make, which must not exist; the caller removes it and any file that
     *                 the program leaves next to it
     * @return         TM_OK: the file exists and is of the right kind; TM_ERR_INPUT: the program
     *                 could not be run or failed, with the report's path and the program's output
     */
    tm_status (*convert)(const char *program, const char *report, const char *trace,
                         const struct tm_child_watch *watch, tm_error *err);
} tm_converter;

/** A trace format. Each format has one folder in src/readers and one row in formats.def. All
 * members except name, summary, sniff and read may be NULL. */
typedef struct tm_format {
    const char *name;        /* name of the format, as it is stored and shown in job.rank */
    const char *summary;     /* one line for `tmerge list` */
    const char *cannot_tell; /* what traces of this format lack compared with other formats, and
                                which results are therefore missing, as a sentence; NULL: nothing */

    /** Where the profiler leaves traces in a folder that the user gives: glob patterns relative to
     * the folder; NULL ends the list. Files directly in the folder are always tried. */
    const char *const *in_folders;
    bool by_path; /* How to number traces without a rank. True: in the order of their paths, where
                     trace9 comes before trace10, and within a file in the order of its units.
                     False: in the order of the arguments. */
    bool one_folder; /* each folder with traces is a job of its own, and the user must name one of
                        them */

    /** Returns whether a file has this format, from its first decoded bytes (at most
     * TM_SNIFF_BYTES). @p whole: these bytes are the whole file. Zero bytes follow them
     * (TM_JSON_PADDING). */
    bool (*sniff)(const char *head, size_t size, bool whole);

    /** For formats that start with the same bytes, such as databases: returns whether a file that
     * @p sniff accepted has this format. False if the file cannot be opened. For the last of
     * these formats, this is NULL: its reader then opens the file and reports the error. */
    bool (*accepts)(const char *path);

    /**
     * Reads a source from start to end.
     * @param names  texts are interned here
     * @param out    initialised by the caller; valid only on TM_OK
     * @return       TM_OK; TM_ERR_INPUT with path and decoded byte offset; TM_ERR_FAULT
     */
    tm_status (*read)(tm_source *source, tm_names *names, struct tm_trace *out, tm_error *err);

    /**
     * Finds an event at or soon after the current position of an unread source. If the result is
     * wrong, the parts that tm_part_read reads do not fit together, and the file is read as a
     * whole. If the format cannot be read in parts, find_event, read_part and finish are NULL.
     * @param offset  first byte of the event; -1 if no event is found
     * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
     */
    tm_status (*find_event)(tm_source *source, int64_t *offset, tm_error *err);

    /**
     * Reads a source from its current position, which is its start or an event, to the event that
     * starts at byte @p stop, or to the end of the content if @p stop is -1.
     * @param out  initialised by the caller; valid only on TM_OK
     * @return     TM_OK; TM_ERR_INPUT, also if no event starts exactly at @p stop, or the content
     *             is truncated; TM_ERR_FAULT
     */
    tm_status (*read_part)(tm_source *source, int64_t stop, tm_names *names, struct tm_part *out,
                           tm_error *err);

    /** Completes the joined parts, so that they equal the trace that `read` would make of the whole
     * file. Returns TM_OK or TM_ERR_FAULT. */
    tm_status (*finish)(struct tm_part *whole, tm_names *names, tm_error *err);

    /** Returns the rank named in the first decoded bytes, -1 if they name no rank. Used only as a
     * hint for distributing work. */
    int64_t (*peek_rank)(const char *head, size_t size);

    /** Returns whether the first decoded bytes show that the file holds several units. If false,
     * the file is read as one trace, and list_units is called only if the complete read sets
     * is_fused. NULL: list_units decides. */
    bool (*has_units)(const char *head, size_t size);

    /**
     * Lists the units of an unread source that @p sniff accepted. If every file of the format is
     * one trace, list_units and read_unit are NULL.
     * @param known    true: if the file has only one unit, the caller knows its rank, so the
     *                 function need not find it and may return -1
     * @param units    vector of tm_unit to which the units are appended. Their order depends only
     *                 on the content of the file. If the file is one trace, nothing is appended.
     * @param foreign  set with TM_ERR_INPUT: the file is valid but of another kind
     * @return         TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
     */
    tm_status (*list_units)(tm_source *source, bool known, struct tm_vec *units, bool *foreign,
                            tm_error *err);

    bool of_communicator; /* Traces of this format contain only communication. A trace is left out
                             if another format has a richer trace of the same rank. The rank that a
                             trace records is the number of the process in the largest communicator
                             that the process has. The size of that communicator is taken as the
                             size of the job. */

    bool units_are_copies; /* a file with several units was made by merging files with one unit
                              each; it is left out if those files are also among the inputs */

    /** Reads one unit as `read` reads a whole file. Sets the trace's rank to the unit's rank. */
    tm_status (*read_unit)(tm_source *source, const tm_unit *unit, tm_names *names,
                           struct tm_trace *out, tm_error *err);

    /** Reads several units in one pass over the file. The caller initialises the traces; on failure
     * none of them is valid. NULL: units are read one by one. */
    tm_status (*read_units)(tm_source *source, const tm_unit *units, size_t n, tm_names *names,
                            struct tm_trace *const *out, tm_error *err);

    /** Returns whether the path @p other names a better file of the recording that is in the file
     * @p path. If so, @p path is left out. */
    bool (*is_covered)(const char *path, const char *other);

    /** Returns whether a file that is no trace was written next to the trace @p other by a tool
     * that shows such traces. If so, @p path is left out. */
    bool (*is_result)(const char *path, const char *other);

    const tm_converter *converter; /* converts a profiler's reports to this format; NULL: the
                                      profiler has no reports */

    const char *richer; /* newer version of the profiler that records more about collectives, such
                           as "a newer PyTorch"; NULL if there is none */

    /* Advice on collectives that stay unmatched, printed in brackets. The first text is for traces
     * that do not name the process group of a collective. The second text is for traces that name
     * the group but do not list its ranks. A line has at most 76 characters. Each line except the
     * first starts with two blanks. */
    const char *advice_unnamed_group, *advice_unknown_group;
} tm_format;

enum { TM_SNIFF_BYTES = 64 * 1024 };

/** Returns all formats and sets @p n to their number. */
const tm_format *const *tm_formats(size_t *n);

/** Returns the format of a name; NULL if there is none. */
const tm_format *tm_format_find(const char *name);

/** Returns TM_ERR_INPUT for a file of an unknown format, with a message that lists the formats. */
tm_status tm_format_fail_unknown(const char *path, tm_error *err) TM_MUST_CHECK;

/** Kind of an input file. */
typedef enum tm_file_kind {
    TM_FILE_TRACE, /* format is set */
    TM_FILE_STORE, /* a tmerge store (HDF5) */
    TM_FILE_PAGE,  /* a tmerge report page */
    TM_FILE_OTHER
} tm_file_kind;

typedef struct tm_file_info {
    const char *path; /* as given, borrowed */
    tm_file_kind kind;
    const tm_format *format; /* set only if kind is TM_FILE_TRACE */
    int64_t size_bytes;      /* size on disk */
    int64_t weight;          /* estimated decoded size [B], a measure of the cost of reading the
                                file */
    int64_t rank;            /* rank named in the first bytes, -1 if none */
    bool has_units;          /* the file may hold several units (see list_units) */
    bool has_parts; /* the file can be read in parts: plain text, in a format that supports parts */
} tm_file_info;

/** Opens a file, determines its kind from the first decoded bytes and closes it. Returns TM_OK also
 * for TM_FILE_OTHER; TM_ERR_INPUT if the file cannot be read. */
tm_status tm_file_sniff(const char *path, tm_file_info *out, tm_error *err) TM_MUST_CHECK;

/** Calls the format's list_units for a trace file; lists nothing if the format has no units. */
tm_status tm_file_list_units(const tm_file_info *info, bool known, struct tm_vec *units,
                             bool *foreign, tm_error *err) TM_MUST_CHECK;

/** Selects a trace to read. */
typedef struct tm_trace_file {
    const char *path;
    const char *name;              /* path that the results show for the trace; NULL: `path` */
    const tm_unit *unit;           /* unit to read; NULL: the only one in the file */
    size_t n_units;                /* number of units, for tm_trace_read_units */
    const char *device_categories; /* comma-separated event categories that also count as device
                                      work; or NULL */
    /* whether a core is free for a second thread that decodes compressed content */
    bool spare_core;
    const tm_format *format;     /* format from tm_file_sniff; NULL: not yet known */
    const struct tm_trace *like; /* a similar trace that was already read, or NULL */
    double factor;               /* memory is reserved for this many times the rows of `like` */
} tm_trace_file;

/**
 * Reads one trace with its format.
 * @param watch  receives the reading progress (NULL: none)
 * @param out    initialised by the call; needs tm_trace_free even after a failure
 * @return       TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_trace_read(const tm_trace_file *file, tm_names *names, const tm_source_watch *watch,
                        struct tm_trace *out, tm_error *err) TM_MUST_CHECK;

/**
 * Reads several units of a file in one pass, with the format's read_units.
 * @param file  file whose `format` is set and has read_units
 * @param out   [n_units] as for tm_trace_read
 */
tm_status tm_trace_read_units(const tm_trace_file *file, tm_names *names,
                              const tm_source_watch *watch, struct tm_trace *const *out,
                              tm_error *err) TM_MUST_CHECK;

/** Returns the cut of part @p index of @p n in a file of @p size bytes: the first byte at which the
 * part may start. The cut of part n is the end of the file. */
int64_t tm_part_cut(int64_t size, int index, int n);

/**
 * Reads one part of a trace, independently of the other parts. A part starts with the first event
 * found after its cut and ends where the next part starts. The parts form the trace if all were
 * read with TM_OK and each follows the previous one (tm_part_follows).
 * @param file   holds one trace
 * @param watch  receives the bytes consumed of this part (NULL: none)
 * @param out    initialised by the caller, including its part number; the call initialises its
 *               trace
 * @return       TM_OK; TM_ERR_INPUT: read the trace as a whole, which reports the error if there is
 *               one; TM_ERR_FAULT
 */
tm_status tm_part_read(const tm_trace_file *file, tm_names *names, const tm_source_watch *watch,
                       struct tm_part *out, tm_error *err) TM_MUST_CHECK;

/** Completes a trace whose parts have been joined into the first part, which this process read.
 * Returns TM_OK or TM_ERR_FAULT. */
tm_status tm_parts_finish(struct tm_part *whole, tm_names *names, tm_error *err) TM_MUST_CHECK;

/**
 * Reads a trace like tm_trace_read, but from an open, unread source whose format is known.
 * @param unit  unit to read; NULL: the only unit in the file
 */
tm_status tm_trace_read_source(const tm_format *format, tm_source *source, const tm_unit *unit,
                               tm_names *names, struct tm_trace *out, tm_error *err) TM_MUST_CHECK;

#endif
