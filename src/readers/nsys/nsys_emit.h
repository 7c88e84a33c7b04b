/* Converts the tables of an export to the rows of a trace. Private to the reader of Nsight Systems
 * exports. */
#ifndef TMERGE_NSYS_EMIT_H
#define TMERGE_NSYS_EMIT_H

#include "base/keys.h"
#include "base/vec.h"
#include "readers/sqlite/profiler_database.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

enum { TM_NSYS_TRACK_CACHE = 64 };

/** A cached track of a thread or stream, so that its name need not be formatted again. */
typedef struct tm_nsys_track {
    int64_t first, second; /* process and thread, or device and stream */
    uint32_t track;
    uint8_t kind; /* tm_track_kind; UINT8_MAX: free */
} tm_nsys_track;

/** A device (CUDA ordinal) and its number of multiprocessors. */
typedef struct tm_nsys_device {
    int64_t device, sms;
} tm_nsys_device;

typedef struct tm_nsys_domain {
    int64_t id;
    uint32_t name;
} tm_nsys_domain;

/** What is known while a unit is read. The caller sets the members up to `devices`. */
typedef struct tm_nsys_emitter {
    const tm_db *db;         /* borrowed, like the other pointers here */
    const tm_unit *unit;     /* the unit being read */
    const tm_source *source; /* the unit's source, to which progress is reported */
    tm_names *names;
    tm_trace *trace;
    int64_t base_ns; /* added to every time */
    tm_vec devices;  /* vector of tm_nsys_device */

    int64_t n_rows, n_done; /* approximate number of rows in all tables, and rows read so far */
    /* statement that looks up a text in StringIds; NULL if there is no such table */
    sqlite3_stmt *find_text;
    tm_vec texts;         /* hash table from ids of StringIds to name ids */
    size_t n_texts;       /* entries in `texts` */
    tm_vec scratch;       /* vector of char */
    tm_vec domains;       /* vector of tm_nsys_domain: the domains found so far */
    bool has_all_domains; /* whether all rows have been searched for domains */
    tm_vec fields;        /* fields in payloads of each schema; for nsys_nccl.c */
    tm_vec ranges;        /* vector of tm_nsys_range */
    tm_vec records;       /* calls of cudaEventRecord; for nsys_waits.c */
    bool has_sorted_records;
    uint8_t category;   /* tm_category of the ranges in the current table */
    tm_keys blocks;     /* addresses of allocations; for nsys_memory.c */
    tm_vec block_bytes; /* vector of int64_t: size of each allocation in `blocks` [bytes]; 0 after
                           its release */
    tm_vec switchings;  /* context switches of threads; for nsys_sched.c */
    tm_vec mpi_rows;    /* MPI calls; for nsys_mpi.c */
    tm_vec chains;      /* calls with a recorded stack; for nsys_stacks.c */
    tm_nsys_track tracks[TM_NSYS_TRACK_CACHE];
} tm_nsys_emitter;

/** The first columns of every query. TM_NSYS_AT is globalPid or globalTid. */
enum { TM_NSYS_START, TM_NSYS_END, TM_NSYS_AT, TM_NSYS_REST };

/** Returns the track of a thread (process and thread number) or stream (device and stream number),
 * creating it if needed; UINT32_MAX if out of memory. */
uint32_t tm_nsys_track_of(tm_nsys_emitter *e, tm_track_kind kind, int64_t first, int64_t second);

/**
 * Adds an event with the times of a row, or counts why it was rejected.
 *
 * @param event  has the name, track, category and kind; the call fails if the name or the track is
 *               the failure value
 * @param row    set to the index of the event; TM_NO_EVENT if the event was rejected
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_add(tm_nsys_emitter *e, sqlite3_value **values, tm_raw_event event, uint32_t *row,
                      tm_error *err) TM_MUST_CHECK;

/** Like tm_nsys_add, but the arguments have the times [ns] in the export. INT64_MIN stands for a
 * time that is not recorded. */
tm_status tm_nsys_add_at(tm_nsys_emitter *e, int64_t start, int64_t end, tm_raw_event event,
                         uint32_t *row, tm_error *err) TM_MUST_CHECK;

/** Like tm_nsys_add, for an event on a stream. The row must have the device and the stream after
 * TM_NSYS_AT. *row is also set to TM_NO_EVENT if the device belongs to another unit. */
tm_status tm_nsys_add_on_stream(tm_nsys_emitter *e, sqlite3_value **values, tm_category category,
                                uint32_t name, uint32_t *row, tm_error *err) TM_MUST_CHECK;

/**
 * Adds a counter value to an event, unless the event was rejected.
 * @return TM_OK; TM_ERR_FAULT, also if the series is TM_NAME_FAILED
 */
tm_status tm_nsys_add_counter(tm_nsys_emitter *e, const tm_counter_attr *attr,
                              tm_error *err) TM_MUST_CHECK;

/**
 * Initialises the emitter. Free it with tm_nsys_emitter_free even after a failure.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_emitter_init(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;
void tm_nsys_emitter_free(tm_nsys_emitter *e);

/**
 * Reads all tables whose rows become events.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_emit_all(tm_nsys_emitter *e, tm_error *err) TM_MUST_CHECK;

/** Prepares `SELECT value FROM StringIds WHERE id = ?1`; NULL if there is no such table.
 * @param out  end it with sqlite3_finalize  @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_nsys_prepare_texts(const tm_db *db, sqlite3_stmt **out, tm_error *err) TM_MUST_CHECK;

/** Returns the name id of a text from the file, which need not be UTF-8; TM_NAME_FAILED if out of
 * memory. */
uint32_t tm_nsys_intern(tm_nsys_emitter *e, tm_text text);

/** Sets *out to the name id of a text in StringIds, or to TM_NO_NAME if there is no such text. If
 * @p call is set, the text is the name of a function. The version of its interface
 * (cudaMalloc_v3020) is then removed. */
tm_status tm_nsys_string(tm_nsys_emitter *e, int64_t id, bool call, uint32_t *out,
                         tm_error *err) TM_MUST_CHECK;

#endif
