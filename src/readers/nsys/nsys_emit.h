/* From the tables of an export to the rows of a trace. Private to the reader of Nsight Systems
 * exports. */
#ifndef TMERGE_NSYS_EMIT_H
#define TMERGE_NSYS_EMIT_H

#include "base/keys.h"
#include "base/vec.h"
#include "readers/sqlite/database.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

enum { TM_NSYS_TRACK_CACHE = 64 };

/** A thread or stream that was met, to know it again without its texts. */
typedef struct tm_nsys_track {
    int64_t first, second; /* process and thread, device and stream */
    uint32_t track;
    uint8_t kind; /* tm_track_kind; UINT8_MAX: free */
} tm_nsys_track;

/** A device's multiprocessors, by its number in CUDA. */
typedef struct tm_nsys_device {
    int64_t device, sms;
} tm_nsys_device;

/** An NVTX domain of the process. */
typedef struct tm_nsys_domain {
    int64_t id;
    uint32_t name;
} tm_nsys_domain;

/** What is known while a unit is read. The first fields are set by the reader. */
typedef struct tm_nsys_emitter {
    const tm_db *db;         /* borrowed, as all pointers here */
    const tm_unit *unit;     /* what is read */
    const tm_source *source; /* of it, which is told how far the reading has come */
    tm_names *names;
    tm_trace *trace;
    int64_t base_ns; /* added to every time */
    tm_vec devices;  /* of tm_nsys_device */

    int64_t n_rows, n_done;  /* of all tables, about; for the source */
    sqlite3_stmt *find_text; /* of StringIds, NULL without the table */
    tm_vec texts;            /* what ids of StringIds became: a hash table */
    size_t n_texts;          /* in it */
    tm_vec scratch;          /* of char */
    tm_vec domains;          /* of tm_nsys_domain: those met so far */
    bool has_all_domains;    /* all rows were looked through for them */
    tm_vec fields;           /* of payload schemas */
    tm_vec ranges;           /* of tm_nsys_range */
    tm_vec records;          /* of CUDA events, by nsys_waits.c */
    bool has_sorted_records;
    uint8_t category;   /* tm_category, of the rows of the table under way that are ranges alone */
    tm_keys blocks;     /* addresses of memory, by nsys_memory.c, and */
    tm_vec block_bytes; /* of int64_t: how large they are; 0 once released */
    tm_vec switchings;  /* of threads on and off cores, by nsys_sched.c */
    tm_vec mpi_rows;    /* of calls of MPI, by nsys_mpi.c */
    tm_vec chains;      /* of calls whose stacks are recorded, by nsys_stacks.c */
    tm_nsys_track tracks[TM_NSYS_TRACK_CACHE];
} tm_nsys_emitter;

/** Every table begins with these columns: start, end, and globalPid or globalTid. */
enum { TM_NSYS_START, TM_NSYS_END, TM_NSYS_AT, TM_NSYS_REST };

/** The track of a thread (process and thread number) or stream (device and stream number), new or
 * known; UINT32_MAX when memory is out. */
uint32_t tm_nsys_track_of(tm_nsys_emitter *e, tm_track_kind kind, int64_t first, int64_t second);

/**
 * Adds an event with the times of a row, or counts why not.
 *
 * @param event  its name, track, category and kind; failed where one of them is the sign of it
 * @param row    its index, TM_NO_EVENT where it was not kept
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_add(tm_nsys_emitter *e, sqlite3_value **values, tm_raw_event event, uint32_t *row,
                      tm_error *err) TM_MUST_CHECK;

/** The same with times of the recording; INT64_MIN for what is not told. */
tm_status tm_nsys_add_at(tm_nsys_emitter *e, int64_t start, int64_t end, tm_raw_event event,
                         uint32_t *row, tm_error *err) TM_MUST_CHECK;

/** The same for an event on a stream: the row's columns behind TM_NSYS_AT are device and stream.
 * *row is TM_NO_EVENT too where the device is another unit's. */
tm_status tm_nsys_add_on_stream(tm_nsys_emitter *e, sqlite3_value **values, tm_category category,
                                uint32_t name, uint32_t *row, tm_error *err) TM_MUST_CHECK;

/** Adds what a counter says at an event, unless that was not kept. TM_OK; TM_ERR_FAULT, also where
 * its series is TM_NAME_FAILED. */
tm_status tm_nsys_add_counter(tm_nsys_emitter *e, const tm_counter_attr *attr,
                              tm_error *err) TM_MUST_CHECK;

/** Free it with tm_nsys_emitter_free, whatever comes of the call. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT. */
tm_status tm_nsys_emitter_init(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;
void tm_nsys_emitter_free(tm_nsys_emitter *e);

/** Reads all tables whose rows become events. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_nsys_emit_all(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/** Prepares `SELECT value FROM StringIds WHERE id = ?1`; NULL where there is no such table.
 * @param out  end it with sqlite3_finalize  @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_nsys_prepare_texts(const tm_db *db, sqlite3_stmt **out, tm_error *err) TM_MUST_CHECK;

/** Name id of a text as it stands in the file, which need not be UTF-8; TM_NAME_FAILED when memory
 * is out. */
uint32_t tm_nsys_intern(tm_nsys_emitter *e, tm_text text);

/** Name id of a text in StringIds; TM_NO_NAME where there is none. @p call: the name of a function,
 * which the profiler writes with the version of its interface: cudaMalloc_v3020. */
tm_status tm_nsys_string(tm_nsys_emitter *e, int64_t id, bool call, uint32_t *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
