/* Converts the tables of an Ascend database to the rows of a trace. Private to this reader. */
#ifndef TMERGE_ASCEND_DB_READER_H
#define TMERGE_ASCEND_DB_READER_H

#include "ascend_db_groups.h"
#include "ascend_db_strings.h"
#include "readers/ascend/ascend_flows.h"
#include "readers/ascend/ascend_overlap.h"
#include "timeline/trace.h"
#include "tmerge/source.h"

/** A cached track, found by process and thread, so that its names need not be interned again. */
typedef struct tm_ascend_db_place {
    int64_t process, thread; /* for a stream: device and stream */
    uint32_t track;
    uint8_t kind; /* tm_track_kind; UINT8_MAX: empty */
} tm_ascend_db_place;

enum { TM_ASCEND_DB_PLACES = 64, TM_ASCEND_DB_SEVERAL = -2 };

typedef struct tm_ascend_db {
    tm_db db;
    tm_source *source; /* borrowed, like `names` and `trace` */
    tm_names *names;
    tm_trace *trace;
    tm_ascend_db_strings strings;
    tm_vec groups; /* vector of tm_ascend_db_group */
    /* Descriptions of tasks. Only ascend_db_tasks.c uses this member and the next two. */
    tm_vec infos;
    tm_vec copies; /* sizes and directions of copies, by task */
    tm_vec types;  /* element types */
    tm_vec mesh;   /* vector of uint32_t: rows of operations that ran as a mesh */
    /* Every kernel has a description, so a task without a description is not a kernel. */
    bool describes_all;
    /* Lists of connections. Only ascend_db_calls.c uses this member and the next two. */
    tm_vec connections;
    tm_vec stacks;
    tm_vec scratch; /* vector of char */
    tm_ascend_flows flows;
    tm_ascend_overlap overlap; /* the profiler's own sums */
    /* device of the tasks; -1 if unknown; TM_ASCEND_DB_SEVERAL if there are several */
    int32_t device;
    int64_t n_rows, n_done; /* approximate number of rows, and rows read so far */
    tm_ascend_db_place places[TM_ASCEND_DB_PLACES];
} tm_ascend_db;

/** Like tm_db_scan, with @p d as the context of @p each. */
tm_status tm_ascend_db_scan(tm_ascend_db *d, const tm_db_query *query, tm_db_each *each,
                            tm_error *err) TM_MUST_CHECK;

/** Reports progress to the source. Call it for each row of the large tables. */
void tm_ascend_db_tell(tm_ascend_db *d);

/** Returns the track of a thread given by its globalTid; UINT32_MAX if out of memory. */
uint32_t tm_ascend_db_thread(tm_ascend_db *d, int64_t thread);

/** Returns the track of a stream; UINT32_MAX if out of memory. */
uint32_t tm_ascend_db_stream(tm_ascend_db *d, int64_t device, int64_t stream);

/** Returns the track with a name (instead of a number) on a device or in a process; UINT32_MAX if
 * out of memory. */
uint32_t tm_ascend_db_track(tm_ascend_db *d, tm_track_kind kind, int64_t process, tm_text thread);

/**
 * Adds an event, or counts why it was rejected.
 *
 * @param values  column 0 is the start of the event; for durations, column 1 is the end [ns since
 *                1970]
 * @param event   everything except the times
 * @param row     set to the row of the event, or to TM_NO_EVENT if the event was rejected
 * @return        TM_OK, also if the event was rejected; TM_ERR_FAULT
 */
tm_status tm_ascend_db_add(tm_ascend_db *d, sqlite3_value **values, tm_raw_event event,
                           uint32_t *row, tm_error *err) TM_MUST_CHECK;

/** These functions initialise and free the members that belong to ascend_db_tasks.c and to
 * ascend_db_calls.c. */
void tm_ascend_db_tasks_init(tm_ascend_db *d);
void tm_ascend_db_tasks_free(tm_ascend_db *d);
void tm_ascend_db_calls_init(tm_ascend_db *d);
void tm_ascend_db_calls_free(tm_ascend_db *d);

/**
 * Reads device activity: tasks, and HCCL operations.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_ascend_db_read_tasks(tm_ascend_db *d, tm_error *err) TM_MUST_CHECK;

/** Reads what threads did. The return values are those of tm_ascend_db_read_tasks. */
tm_status tm_ascend_db_read_calls(tm_ascend_db *d, tm_error *err) TM_MUST_CHECK;

/** Reads memory and counters. Returns like tm_ascend_db_read_tasks. */
tm_status tm_ascend_db_read_samples(tm_ascend_db *d, tm_error *err) TM_MUST_CHECK;

#endif
