/* Events of a window as comma-separated values. */
#include "table/table_csv.h"

#include <string.h>

#include "base/utf8.h"
#include "export.h"
#include "table/digits.h"

#define HEADER                                                                                     \
    "rank,host,track,device,stream,thread,category,role,step,begin_ns,duration_ns,name,"           \
    "collective,group,operation,wait_ns,exposed_ns"

/* The word for each role. TM_ROLE_NONE has an empty word, so that a spreadsheet can filter by empty
 * cells. */
static const char *const roles[] = {
    [TM_ROLE_NONE] = "",
    [TM_ROLE_COMPUTE] = "compute",
    [TM_ROLE_COMMUNICATION] = "communication",
    [TM_ROLE_MEMORY] = "memory",
};

typedef struct csv {
    tm_vec text; /* buffer of char for the text of one cell */
    /* Vector of char: the cells from rank to thread, with their commas. They are the same for all
     * events of a track. */
    tm_vec shared;
} csv;

static tm_status begin(tm_export *x, tm_error *err) {
    (void)err;
    *(csv *)x->state = (csv){.text = TM_VEC(char), .shared = TM_VEC(char)};
    tm_out_string(&x->out, HEADER TM_CSV_LINE_END);
    return TM_OK;
}

/* Returns whether a spreadsheet would evaluate a cell as a formula. Text from a trace must not be
 * evaluated. */
static bool looks_like_formula(const char *text, size_t size) {
    return size > 0 && strchr("=+-@\t\r", text[0]) != NULL && text[0] != '\0';
}

/* Writes a text from a trace. Writes nothing if the text is empty. */
static void put_text(tm_export *x, tm_text text) {
    csv *c = x->state;
    if (text.size == 0)
        return;
    bool guarded = looks_like_formula(text.bytes, text.size);
    if (!guarded && tm_export_is_ascii(text)) {
        tm_csv_text(&x->out, text.bytes, text.size);
        return;
    }
    c->text.n = 0;
    size_t size = tm_utf8_repair(text.bytes, text.size, NULL);
    char *cell = tm_vec_append(&c->text, NULL, size + 2);
    if (!cell) {
        x->out.failed = true;
        return;
    }
    if (guarded)
        *cell = '\'';
    tm_utf8_repair(text.bytes, text.size, cell + guarded);
    tm_csv_text(&x->out, cell, size + guarded);
}

static void put_word(tm_export *x, const char *word) {
    tm_out_char(&x->out, ',');
    tm_out_string(&x->out, word);
}

static void put_int(tm_export *x, int64_t value) {
    char digits[TM_DIGITS_MAX];
    tm_digits_int(value, digits);
    put_word(x, digits);
}

/* Writes a number. Writes an empty cell if the number is negative, which means that it is unknown
 * or missing. */
static void put_known(tm_export *x, int64_t value) {
    if (value >= 0)
        put_int(x, value);
    else
        tm_out_char(&x->out, ',');
}

static void put_name(tm_export *x, uint32_t id) {
    tm_out_char(&x->out, ',');
    put_text(x, tm_names_text(x->job->names, id));
}

/* Builds the cells rank,host,track,device,stream,thread once for all events of a track. */
static bool share_track(tm_export *x, const tm_timeline *timeline, const tm_track *track) {
    csv *c = x->state;
    char digits[TM_DIGITS_MAX];
    const char *host = x->job->hosts[tm_export_rank_index(x->job, timeline->rank)];
    size_t at = x->out.bytes.n;
    tm_digits_int(timeline->rank, digits);
    tm_out_string(&x->out, digits);
    tm_out_char(&x->out, ',');
    put_text(x, (tm_text){host, strlen(host)});
    put_word(x, track->kind == TM_TRACK_GPU ? "gpu" : "cpu");
    put_known(x, track->device);
    put_known(x, track->stream);
    put_name(x, track->kind == TM_TRACK_GPU ? TM_NO_NAME
                : track->thread_name        ? track->thread_name
                                            : track->tid);
    if (x->out.failed)
        return false;
    c->shared.n = 0;
    bool ok =
        tm_vec_append(&c->shared, (char *)x->out.bytes.data + at, x->out.bytes.n - at) != NULL;
    x->out.bytes.n = at;
    return ok;
}

static void put_collective(tm_export *x, const tm_collective_attr *c) {
    if (!c) {
        tm_out_string(&x->out, ",,,,,");
        return;
    }
    put_word(x, tm_collective_word((tm_collective_kind)c->kind));
    put_name(x, c->group);
    put_known(x, c->first_rank >= 0 ? tm_export_operation(x, c) : -1);
    put_known(x, c->wait_ns);
    put_known(x, c->exposed_ns);
}

/* Writes an event. The start is on the job's clock; the duration is as recorded, as in every table.
 */
static void put_row(tm_export *x, const tm_timeline *timeline, const tm_export_event *event) {
    const csv *c = x->state;
    int32_t step = event->step;
    tm_out_bytes(&x->out, c->shared.data, c->shared.n);
    put_word(x, tm_category_word((tm_category)event->category));
    put_word(x, event->role <= TM_ROLE_MEMORY ? roles[event->role] : "");
    put_known(x, step == TM_NO_STEP ? -1 : timeline->steps[step].number);
    put_int(x, event->begin_ns);
    put_int(x, event->duration_ns);
    put_name(x, event->name);
    put_collective(x, event->collective);
    tm_out_string(&x->out, TM_CSV_LINE_END);
}

static tm_status rank(tm_export *x, const tm_timeline *timeline, tm_error *err) {
    tm_export_walk walk;
    tm_export_walk_begin(&walk, x, timeline, err);
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        if (!share_track(x, timeline, track))
            return tm_fail_memory(err);
        while (tm_export_walk_next(&walk, (size_t)track->first + track->count)) {
            put_row(x, timeline, &walk.event);
            x->n_events++;
            TM_TRY(tm_export_spill(x, err));
        }
        TM_TRY(walk.status);
    }
    return TM_OK;
}

static tm_status end(tm_export *x, tm_error *err) {
    (void)x;
    (void)err;
    return TM_OK;
}

static void destroy(tm_export *x) {
    csv *c = x->state;
    tm_vec_free(&c->text);
    tm_vec_free(&c->shared);
}

const tm_export_format tm_export_csv = {
    .name = "csv",
    .ending = ".csv",
    .summary = "one line per event, comma-separated (RFC 4180)",
    .begins = HEADER,
    .begins_size = 48,
    .state_size = sizeof(csv),
    .attrs = 1u << TM_ATTR_COLLECTIVE,
    .begin = begin,
    .rank = rank,
    .end = end,
    .destroy = destroy,
};
