#include "check_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"

/* This function is inlined with a constant @p element, so that the callers' loops contain no
 * switch. */
static inline int64_t number_at(const void *rows, tm_element element, size_t i) {
    switch (element) {
    case TM_U8:
        return ((const uint8_t *)rows)[i];
    case TM_I32:
        return ((const int32_t *)rows)[i];
    case TM_U32:
        return ((const uint32_t *)rows)[i];
    default:
        return ((const int64_t *)rows)[i];
    }
}

static inline size_t outside(const void *rows, tm_element element, size_t n, int64_t low,
                             int64_t end) {
    size_t i = 0;
    while (i < n && number_at(rows, element, i) >= low && number_at(rows, element, i) < end)
        i++;
    return i;
}

/* Returns the index of the first row that is not in [low, end); n if there is none. */
static size_t first_outside(const void *rows, tm_element element, size_t n, int64_t low,
                            int64_t end) {
    switch (element) {
    case TM_U8:
        return outside(rows, TM_U8, n, low, end);
    case TM_I32:
        return outside(rows, TM_I32, n, low, end);
    case TM_U32:
        return outside(rows, TM_U32, n, low, end);
    default:
        return outside(rows, TM_I64, n, low, end);
    }
}

/* A rule for the numbers in a column, and the state of the check. */
typedef struct rule {
    const tm_record_column *column;
    /* bounded: numbers are in [low, end); ascends: numbers never decrease */
    bool bounded, ascends;
    bool by_track; /* numbers never decrease within a track */
    int64_t low, end;
    const char *what; /* what the numbers refer to; used in messages */
    int64_t last;     /* value of the previous row */
    size_t track;     /* index of the track of the next row */
} rule;

static rule make_rule(const tm_check *check, tm_record table, const tm_record_column *column) {
    rule made = {.column = column, .bounded = true, .last = INT64_MIN};
    switch (column->refers) {
    case TM_REFERS_NAME:
        made.end = (int64_t)check->n_names;
        made.what = "name";
        break;
    case TM_REFERS_EVENT:
        made.ascends = true;
        made.end = (int64_t)check->n_rows[TM_RECORD_EVENTS];
        made.what = "event";
        break;
    case TM_REFERS_LAUNCH:
        made.low = -1;
        made.end = (int64_t)check->n_rows[TM_RECORD_EVENTS];
        made.what = "event";
        break;
    case TM_REFERS_STEP:
        made.low = -1;
        made.end = (int64_t)check->n_rows[TM_RECORD_STEPS];
        made.what = "step";
        break;
    default:
        made.bounded = column->words != NULL;
        made.end = column->words ? column->words->n : 0;
        made.what = "word";
        /* begin_ns of events is the only column that ascends within each track but not over the
         * table. */
        made.by_track = table == TM_RECORD_EVENTS && strcmp(column->name, "begin_ns") == 0;
    }
    return made;
}

/* Returns the index of the first row that is less than the previous row; n if there is none. */
static size_t first_descent(rule *r, const int64_t *rows, size_t n) {
    int64_t last = r->last;
    size_t i = 0;
    while (i < n && rows[i] >= last)
        last = rows[i++];
    r->last = last;
    return i;
}

/* Returns the index of the first row that is less than the previous row on the same track; n if
 * there is none. @p first is the number of row 0. */
static size_t first_descent_in_track(const tm_check *check, rule *r, size_t first,
                                     const int64_t *rows, size_t n) {
    size_t done = 0;
    while (done < n) {
        /* Earlier tracks were skipped, so r->track ends at row `first` or later. */
        size_t end = check->track_ends[r->track] - first;
        size_t until = end < n ? end : n;
        size_t descent = done + first_descent(r, rows + done, until - done);
        if (descent < until)
            return descent;
        done = until;
        if (until == end) {
            r->track++;
            r->last = INT64_MIN;
        }
    }
    return n;
}

static bool rows_are_good(tm_check *check, const char *path, rule *r, size_t first, size_t n) {
    size_t bad = n;
    if (r->bounded)
        bad = first_outside(check->rows, r->column->element, n, r->low, r->end);
    if (bad < n) {
        tm_check_fault(check, "%s: row %zu is %" PRId64 ", which is not a valid %s", path,
                       first + bad, number_at(check->rows, r->column->element, bad), r->what);
        return false;
    }
    if (r->ascends)
        bad = first_descent(r, (const int64_t *)(const void *)check->rows, n);
    else if (r->by_track && check->track_ends)
        bad =
            first_descent_in_track(check, r, first, (const int64_t *)(const void *)check->rows, n);
    if (bad < n)
        tm_check_fault(check, "%s: row %zu is less than the row before", path, first + bad);
    return bad == n;
}

void tm_check_column_rows(tm_check *check, tm_record table, const tm_record_column *column) {
    char path[TM_TABLE_PATH_MAX];
    tm_store_column *open = NULL;
    tm_error err = {0};
    rule r = make_rule(check, table, column);
    snprintf(path, sizeof path, "%s/%s", tm_record_tables[table].path, column->name);
    if (!tm_check_call(
            check, tm_store_open_column(check->store, path, column->element, &open, &err), &err))
        return;
    size_t n_rows = tm_store_column_rows(open);
    for (size_t first = 0; first < n_rows; first += TM_CHECK_ROWS) {
        size_t n = n_rows - first < TM_CHECK_ROWS ? n_rows - first : TM_CHECK_ROWS;
        if (!tm_check_call(check, tm_store_read_rows(open, first, n, check->rows, &err), &err) ||
            !rows_are_good(check, path, &r, first, n))
            break;
    }
    tm_store_close_column(open);
}

/* Columns of /ranks [n_ranks] (first line) and of /tracks [n_tracks] (the other lines). */
typedef struct owners {
    int64_t *rank, *first_event, *n_events;
    int64_t *track_rank, *first;
    uint32_t *count;
} owners;

static bool read_column(tm_check *check, tm_record table, const char *name, tm_element element,
                        void **out) {
    char path[TM_TABLE_PATH_MAX];
    size_t n = 0;
    tm_error err = {0};
    snprintf(path, sizeof path, "%s/%s", tm_record_tables[table].path, name);
    tm_status status = tm_store_read_all(check->store, path, element, out, &n, &err);
    if (status != TM_ERR_INPUT) /* if the column has a fault, the check of the column reports it */
        return tm_check_call(check, status, &err);
    return false;
}

static bool read_owners(tm_check *check, owners *out) {
    void *columns[6] = {NULL};
    bool done = read_column(check, TM_RECORD_RANKS, "rank", TM_I64, &columns[0]) &&
                read_column(check, TM_RECORD_RANKS, "first_event", TM_I64, &columns[1]) &&
                read_column(check, TM_RECORD_RANKS, "n_events", TM_I64, &columns[2]) &&
                read_column(check, TM_RECORD_TRACKS, "rank", TM_I64, &columns[3]) &&
                read_column(check, TM_RECORD_TRACKS, "first", TM_I64, &columns[4]) &&
                read_column(check, TM_RECORD_TRACKS, "count", TM_U32, &columns[5]);
    *out = (owners){columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]};
    return done;
}

static void free_owners(owners *o) {
    free(o->rank);
    free(o->first_event);
    free(o->n_events);
    free(o->track_rank);
    free(o->first);
    free(o->count);
}

/* Checks that the tracks of a rank start at track *track, and their events at row *row. Then moves
 * *track and *row to where the next rank must start. */
static bool check_rank(tm_check *check, const owners *o, size_t rank, size_t *track, size_t *row) {
    size_t begin = *row, n_events = check->n_rows[TM_RECORD_EVENTS];
    for (; *track < check->n_tracks && o->track_rank[*track] == o->rank[rank]; ++*track) {
        if (o->first[*track] != (int64_t)*row || o->count[*track] > n_events - *row) {
            tm_check_fault(check,
                           "/tracks: row %zu does not start at the end of the row before, or ends "
                           "after the events",
                           *track);
            return false;
        }
        *row += o->count[*track];
        check->track_ends[*track] = *row;
    }
    if (o->first_event[rank] != (int64_t)begin || o->n_events[rank] != (int64_t)(*row - begin)) {
        tm_check_fault(check, "/ranks: row %zu has different events than its tracks", rank);
        return false;
    }
    return true;
}

/* Checks that each rank's tracks start where the previous rank's tracks end, and each track's
 * events where the previous track's events end. So each event is on exactly one track, and each
 * track belongs to exactly one rank. */
static bool check_cover(tm_check *check, const owners *o) {
    size_t track = 0, row = 0, n_ranks = check->n_rows[TM_RECORD_RANKS];
    for (size_t rank = 1; rank < n_ranks; rank++) {
        if (o->rank[rank] > o->rank[rank - 1])
            continue;
        tm_check_fault(check, "/ranks/rank: row %zu is not larger than the row before", rank);
        return false;
    }
    for (size_t rank = 0; rank < n_ranks; rank++)
        if (!check_rank(check, o, rank, &track, &row))
            return false;
    if (track < check->n_tracks)
        tm_check_fault(check,
                       "/tracks: row %zu belongs to a rank that does not exist, or is out of order",
                       track);
    else if (row < check->n_rows[TM_RECORD_EVENTS])
        tm_check_fault(check, "/events: row %zu is on no track", row);
    return track == check->n_tracks && row == check->n_rows[TM_RECORD_EVENTS];
}

void tm_check_tracks(tm_check *check) {
    owners o;
    check->n_tracks = check->n_rows[TM_RECORD_TRACKS];
    bool read = read_owners(check, &o);
    if (read && !(check->track_ends = calloc(check->n_tracks + 1, sizeof *check->track_ends)))
        check->status = tm_fail_memory(check->err);
    if (read && check->track_ends && !check_cover(check, &o)) {
        free(check->track_ends);
        check->track_ends = NULL;
    }
    free_owners(&o);
}
