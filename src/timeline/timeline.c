#include "tmerge/timeline.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/packed_numbers.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "packed_events.h"

void tm_timeline_destroy(tm_timeline *timeline) {
    if (!timeline)
        return;
    free(timeline->begin_ns);
    free(timeline->duration_ns);
    free(timeline->name);
    free(timeline->step);
    free(timeline->launch);
    free(timeline->category);
    free(timeline->kind);
    free(timeline->role);
    free(timeline->tracks);
    free(timeline->steps);
    free(timeline->step_marks);
    free(timeline->spans);
    free(timeline->metadata);
    free(timeline->metadata_lists);
    free(timeline->communicators);
    free(timeline->answers);
    free(timeline->packed);
    free(timeline->levels);
    free(timeline->shapes);
    for (int i = 0; i < TM_N_ATTRS; i++)
        free(timeline->attrs[i]);
    *timeline = (tm_timeline){.rank = -1};
}

tm_status tm_event_rows_next(const tm_event_rows *rows, const tm_timeline *timeline, unsigned what,
                             size_t *first, const tm_timeline **piece, tm_error *err) {
    *first = *piece ? *first + (*piece)->n_events : 0;
    if (rows)
        return rows->read(rows->context, *first, what, piece, err);
    *piece = timeline;
    return TM_OK;
}

int64_t tm_timeline_count(const tm_timeline *timeline, tm_diagnostic diagnostic) {
    int64_t sum = 0;
    for (int i = 0; i < TM_N_COUNTS; i++)
        if (tm_count_info((tm_count)i)->diagnostic == diagnostic)
            sum += timeline->counts[i];
    return sum;
}

size_t tm_timeline_n_names(const tm_timeline *timeline) {
    uint32_t most = 0;
    for (size_t row = 0; row < timeline->n_events; row++)
        most = timeline->name[row] > most ? timeline->name[row] : most;
    return (size_t)most + 1;
}

bool tm_timeline_range(const tm_timeline *timeline, int64_t *begin_ns, int64_t *end_ns) {
    bool any = false;
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        if (span->n_durations == 0)
            continue;
        *begin_ns = any && *begin_ns < span->begin_ns ? *begin_ns : span->begin_ns;
        *end_ns = any && *end_ns > span->end_ns ? *end_ns : span->end_ns;
        any = true;
    }
    return any;
}

const tm_span *tm_timeline_span(const tm_timeline *timeline, int64_t recorded_ns) {
    const tm_span *found = NULL; /* spans without a recorded time come last */
    for (size_t i = 0; i < timeline->n_spans && timeline->spans[i].n_durations > 0; i++)
        if (timeline->spans[i].begin_ns <= recorded_ns)
            found = &timeline->spans[i];
    return found;
}

static bool ends_by(const void *track, const void *row) {
    const tm_track *t = track;
    return t->first + t->count <= *(const uint32_t *)row;
}

const tm_track *tm_timeline_track(const tm_timeline *timeline, uint32_t row) {
    const tm_track *tracks = timeline->tracks;
    return tracks + tm_bisect(tracks, timeline->n_tracks, sizeof *tracks, &row, ends_by);
}

size_t tm_timeline_collectives_from(const tm_timeline *timeline, uint32_t row) {
    return TM_FIRST_FROM(tm_collective_attr, event, timeline->attrs[TM_ATTR_COLLECTIVE],
                         timeline->n_attrs[TM_ATTR_COLLECTIVE], row);
}

const tm_collective_attr *tm_timeline_collective(const tm_timeline *timeline, uint32_t row) {
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t i = tm_timeline_collectives_from(timeline, row);
    bool found = i < timeline->n_attrs[TM_ATTR_COLLECTIVE] && attrs[i].event == row;
    return found ? &attrs[i] : NULL;
}

int64_t tm_timeline_middle(const tm_timeline *timeline) {
    int64_t begin = 0, end = 0;
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        begin = i == 0 || span->begin_ns < begin ? span->begin_ns : begin;
        end = i == 0 || span->end_ns > end ? span->end_ns : end;
    }
    /* unsigned, because the distance of two int64 can be above INT64_MAX */
    uint64_t half = end > begin ? ((uint64_t)end - (uint64_t)begin) / 2 : 0;
    return (int64_t)((uint64_t)begin + half);
}

static const struct {
    const char *word, *alias;
} categories[TM_N_CATEGORIES] = {
#define CATEGORY_ROW(id, value, word, alias) [id] = {word, alias},
    TM_CATEGORY_LIST(CATEGORY_ROW)
#undef CATEGORY_ROW
};

static const char *const collectives[TM_N_COLLECTIVE_KINDS] = {
#define COLLECTIVE_ROW(id, value, word) [id] = word,
    TM_COLLECTIVE_LIST(COLLECTIVE_ROW)
#undef COLLECTIVE_ROW
};

static const char *const waits[TM_N_WAIT_KINDS] = {
#define WAIT_ROW(id, value, word, kineto) [id] = kineto,
    TM_WAIT_LIST(WAIT_ROW)
#undef WAIT_ROW
};

static const tm_count_def counts[TM_N_COUNTS] = {
#define COUNT_ROW(id, word, diagnostic, doc) [id] = {word, diagnostic, doc},
    TM_COUNT_LIST(COUNT_ROW)
#undef COUNT_ROW
};

static bool same_word(const char *bytes, size_t size, const char *word) {
    if (!word || strlen(word) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        char c = bytes[i] >= 'A' && bytes[i] <= 'Z' ? (char)(bytes[i] - 'A' + 'a') : bytes[i];
        if (c != word[i])
            return false;
    }
    return true;
}

const char *tm_category_word(tm_category category) {
    return categories[category].word;
}

tm_category tm_category_of(const char *bytes, size_t size) {
    for (int i = 0; i < TM_N_CATEGORIES; i++)
        if (same_word(bytes, size, categories[i].word) ||
            same_word(bytes, size, categories[i].alias))
            return (tm_category)i;
    return TM_CAT_OTHER;
}

const char *tm_collective_word(tm_collective_kind kind) {
    return collectives[kind];
}

const char *tm_wait_text(tm_wait_kind kind) {
    return waits[kind];
}

const tm_count_def *tm_count_info(tm_count count) {
    return &counts[count];
}

typedef struct column {
    size_t at;    /* offset of the column's pointer in tm_timeline */
    size_t size;  /* size of an element [B] */
    size_t lanes; /* see tm_number_array */
    int attr;     /* tm_attr of the attribute; -1 for a column that all events have */
} column;

#define COLUMN(name, bytes)                                                                        \
    { offsetof(tm_timeline, name), bytes, (bytes) / sizeof(uint32_t), -1 }
/* Padding after the last member is not packed. */
#define ATTR(attr, type, last)                                                                     \
    {                                                                                              \
        offsetof(tm_timeline, attrs) + (attr) * sizeof(void *), sizeof(type),                      \
            offsetof(type, last) / sizeof(uint32_t) + 1, attr                                      \
    }

static const column columns[] = {COLUMN(begin_ns, sizeof(int64_t)),
                                 COLUMN(duration_ns, sizeof(int64_t)),
                                 COLUMN(step, sizeof(int32_t)),
                                 COLUMN(launch, sizeof(uint32_t)),
                                 ATTR(TM_ATTR_LAUNCH, tm_launch_attr, event),
                                 ATTR(TM_ATTR_KERNEL, tm_kernel_attr, shape),
                                 ATTR(TM_ATTR_COPY, tm_copy_attr, event),
                                 ATTR(TM_ATTR_MEMORY, tm_memory_attr, device),
                                 ATTR(TM_ATTR_COUNTER, tm_counter_attr, series),
                                 ATTR(TM_ATTR_SHAPES, tm_shapes_attr, shapes),
                                 ATTR(TM_ATTR_INPUTS, tm_inputs_attr, concrete),
                                 ATTR(TM_ATTR_OPERATOR, tm_operator_attr, thread),
                                 ATTR(TM_ATTR_XLA, tm_xla_attr, shape)};

enum { N_COLUMNS = sizeof columns / sizeof *columns };

static size_t rows_of(const tm_timeline *t, const column *c) {
    return c->attr < 0 ? t->n_events : t->n_attrs[c->attr];
}

static void *data_of(const tm_timeline *t, const column *c) {
    void *data;
    memcpy(&data, (const char *)t + c->at, sizeof data);
    return data;
}

static void set_data(tm_timeline *t, const column *c, void *data) {
    memcpy((char *)t + c->at, &data, sizeof data);
}

static tm_number_array array_of(const tm_timeline *t, const column *c) {
    return (tm_number_array){data_of(t, c), rows_of(t, c), c->size, c->lanes};
}

/* The packed bytes begin with the offset of each column. */
enum { PLACES = N_COLUMNS * sizeof(size_t) };

static size_t place_of(const tm_timeline *t, size_t c) {
    size_t place;
    memcpy(&place, t->packed + c * sizeof place, sizeof place);
    return place;
}

static bool pack_columns(const tm_timeline *t, tm_vec *out) {
    size_t places[N_COLUMNS];
    bool ok = tm_vec_append(out, NULL, PLACES) != NULL;
    for (size_t c = 0; c < N_COLUMNS && ok; c++) {
        const tm_number_array array = array_of(t, &columns[c]);
        places[c] = out->n;
        ok = tm_numbers_pack(&array, out);
    }
    if (ok)
        memcpy(out->data, places, PLACES);
    return ok && tm_numbers_end(out);
}

tm_status tm_timeline_pack(tm_timeline *timeline, tm_error *err) {
    enum { USUAL = 12 }; /* usual size of a packed event [B] */
    if (!timeline->packed) {
        tm_vec out = TM_VEC(uint8_t);
        if (!tm_vec_reserve(&out, PLACES + USUAL * timeline->n_events) ||
            !pack_columns(timeline, &out)) {
            tm_vec_free(&out);
            return tm_fail_memory(err);
        }
        timeline->packed = out.data;
    }
    tm_timeline_close(timeline);
    return TM_OK;
}

void tm_timeline_close_others(tm_timeline *timeline, size_t array) {
    for (size_t c = 0; c < N_COLUMNS && timeline->packed; c++) {
        if (columns[c].at == array)
            continue;
        free(data_of(timeline, &columns[c]));
        set_data(timeline, &columns[c], NULL);
    }
}

void tm_timeline_close(tm_timeline *timeline) {
    tm_timeline_close_others(timeline, SIZE_MAX);
}

static tm_status open_column(tm_timeline *t, size_t c, tm_error *err) {
    const size_t n = rows_of(t, &columns[c]) + 1, size = columns[c].size;
    if (!t->packed || data_of(t, &columns[c]))
        return TM_OK;
    set_data(t, &columns[c],
             columns[c].lanes * sizeof(uint32_t) < size ? calloc(n, size) : malloc(n * size));
    if (!data_of(t, &columns[c]))
        return tm_fail_memory(err);
    const tm_number_array array = array_of(t, &columns[c]);
    (void)tm_numbers_unpack(t->packed + place_of(t, c), &array);
    return TM_OK;
}

tm_status tm_timeline_open(tm_timeline *timeline, tm_error *err) {
    for (size_t c = 0; c < N_COLUMNS; c++)
        TM_TRY(open_column(timeline, c, err));
    return TM_OK;
}

tm_status tm_timeline_open_array(tm_timeline *timeline, size_t array, tm_error *err) {
    for (size_t c = 0; c < N_COLUMNS; c++)
        if (columns[c].at == array)
            return open_column(timeline, c, err);
    return TM_OK;
}
