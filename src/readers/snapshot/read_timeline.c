/* Reads memory timelines that PyTorch exports: records (.raw.json), or sizes over time (.json). */
#include <string.h>

#include "base/sums.h"
#include "files.h"
#include "readers/json_walk.h"
#include "readers/number.h"

/* Contents of the inner lists. A row of sizes contains a 0 and then the size of each category. A
 * record contains a time, an action, a number of bytes and a category. */
enum { ROW = TM_N_TIMELINE_CATEGORIES + 1, RECORD = 4, TIME = 0, BYTES = 2, CATEGORY = 3 };

typedef struct reading {
    tm_walk walk;
    tm_memory_timeline found;
    int64_t now[TM_N_TIMELINE_CATEGORIES], peak;
    int64_t elements;  /* number of elements of the outer list so far */
    bool sized;        /* the file has two lists: times [us] and sizes */
    tm_vec times;      /* vector of int64_t [ns]: the elements of the first list */
    int64_t list[ROW]; /* the current list */
    size_t n; /* number of elements of the current list so far; in a list of rows, number of rows */
    bool whole; /* whether all numbers of the current list are integers that fit int64 */
} reading;

static const char *parse_number(void *context, tm_json_cursor *cursor, const char *p) {
    reading *r = context;
    int64_t value = 0;
    if (*p != '-' && (*p < '0' || *p > '9'))
        return tm_json_fail(cursor, p, "a number is expected here");
    const char *end = tm_json_number(cursor, p);
    if (!end || (end == cursor->end && !cursor->final))
        return end ? tm_json_fail(cursor, end, "the number continues") : NULL;
    if (!tm_number_scaled(p, (size_t)(end - p), 0, &value))
        return tm_json_fail(cursor, p, "a number does not fit 64 bits");
    if (r->n < ROW)
        r->list[r->n] = value;
    return end;
}

/* Reads a time [us] that may have a fraction. */
static const char *parse_time(void *context, tm_json_cursor *cursor, const char *p) {
    reading *r = context;
    const char *end = parse_number(context, cursor, p);
    int64_t ns = 0;
    if (end && !tm_number_scaled(p, (size_t)(end - p), 3, &ns))
        /* a number this large is the time of a record [ns], so this is not a list of times [us] */
        ns = INT64_MAX;
    if (end && r->n == r->times.n && !tm_vec_append(&r->times, &ns, 1))
        return tm_json_fail(cursor, p, "out of memory");
    return end;
}

/* Updates the maxima after all changes of one moment. */
static void count_moment(reading *r, int64_t time_ns) {
    int64_t sum = 0;
    for (int c = 0; c < TM_N_TIMELINE_CATEGORIES; c++) {
        int64_t *most = &r->found.most_bytes[c];
        sum = tm_sum(sum, r->now[c]);
        *most = r->now[c] > *most ? r->now[c] : *most;
    }
    if (r->found.moments++ > 0 && sum <= r->peak)
        return;
    r->peak = sum;
    r->found.peak_time_ns = time_ns;
    memcpy(r->found.peak_bytes, r->now, sizeof r->now);
}

static tm_status fail(reading *r, const char *why, tm_error *err) {
    return tm_window_fail(&r->walk.window, r->walk.window.p, why, err);
}

static tm_status add_record(reading *r, tm_error *err) {
    if (r->n != RECORD || r->list[CATEGORY] < 0 || r->list[CATEGORY] >= TM_N_TIMELINE_CATEGORIES)
        return fail(
            r,
            "the record of a memory timeline that ends here is not [ns, action, bytes, category]",
            err);
    int64_t *now = &r->now[r->list[CATEGORY]];
    *now = tm_sum(*now, r->list[BYTES]);
    count_moment(r, r->list[TIME]);
    return TM_OK;
}

static tm_status each_size(void *context, const tm_json_text *key, tm_error *err) {
    reading *r = context;
    (void)key;
    TM_TRY(tm_walk_item(&r->walk, parse_number, r, err));
    r->n++;
    return TM_OK;
}

static tm_status read_row(reading *r, size_t row, tm_error *err) {
    r->n = 0;
    TM_TRY(tm_walk_list(&r->walk, each_size, r, err));
    if (r->n != ROW || row >= r->times.n)
        return fail(
            r, "the row of a memory timeline that ends here does not have 9 sizes, or has no time",
            err);
    memcpy(r->now, r->list + 1, sizeof r->now);
    count_moment(r, ((const int64_t *)r->times.data)[row]);
    r->n = row;
    return TM_OK;
}

/* Reads an element of an inner list: a number, or a row of sizes. */
static tm_status each_inner(void *context, const tm_json_text *key, tm_error *err) {
    reading *r = context;
    (void)key;
    if (tm_walk_at(&r->walk) == '[') {
        if (r->elements != 1)
            return fail(r, "a memory timeline cannot have a list here", err);
        r->sized = true;
        TM_TRY(read_row(r, r->n, err));
    } else {
        TM_TRY(tm_walk_item(&r->walk, r->elements == 0 ? parse_time : parse_number, r, err));
    }
    r->n++;
    return TM_OK;
}

/* Reads an inner list. Whether the first list contains times is known only after the second list
 * was read. */
static tm_status each_outer(void *context, const tm_json_text *key, tm_error *err) {
    reading *r = context;
    int64_t first[ROW];
    size_t n = r->n;
    (void)key;
    memcpy(first, r->list, sizeof first);
    r->n = 0;
    TM_TRY(tm_walk_list(&r->walk, each_inner, r, err));
    if (r->elements == 1 && !r->sized) {
        int64_t second[ROW];
        size_t n_second = r->n;
        memcpy(second, r->list, sizeof second);
        memcpy(r->list, first, sizeof first);
        r->n = n;
        TM_TRY(add_record(r, err));
        memcpy(r->list, second, sizeof second);
        r->n = n_second;
    }
    if (r->sized && (r->elements != 1 || r->n != r->times.n))
        return fail(r, "a memory timeline of sizes must have exactly one row for each time", err);
    if (r->elements > 0 && !r->sized)
        TM_TRY(add_record(r, err));
    r->elements++;
    return TM_OK;
}

static tm_status read_timeline(reading *r, tm_error *err) {
    TM_TRY(tm_walk_list(&r->walk, each_outer, r, err));
    if (r->elements == 1) /* a single record */
        TM_TRY(add_record(r, err));
    if (r->found.moments == 0)
        return fail(r, "the memory timeline has no records", err);
    memcpy(r->found.end_bytes, r->now, sizeof r->now);
    return tm_walk_end(&r->walk, err);
}

tm_status tm_snapshot_read_timeline(tm_snapshots *snapshots, tm_source *source, tm_error *err) {
    reading r = {.times = TM_VEC(int64_t)};
    r.found.file = tm_snapshots_text(snapshots, tm_source_path(source));
    if (!r.found.file)
        return tm_fail_memory(err);
    tm_status status = tm_walk_open(source, NULL, &r.walk, err);
    if (status == TM_OK)
        status = read_timeline(&r, err);
    tm_walk_close(&r.walk);
    tm_vec_free(&r.times);
    if (status == TM_OK && !tm_vec_append(&snapshots->timelines, &r.found, 1))
        return tm_fail_memory(err);
    return status;
}
