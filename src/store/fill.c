#include "fill.h"

#include <string.h>

/* The values are in arrays of many types behind pointers of many types; reading the pointer's
 * bytes is what keeps one function enough for all of them. */
static const char *values(const tm_record_column *column, const tm_timeline *timeline,
                          size_t first) {
    const char *array;
    memcpy(&array, (const char *)timeline + column->array_at, sizeof array);
    return array + first * column->stride + column->field_at;
}

/* Called with a constant size, which makes each copy one load and one store. */
static inline void copy_strided(const char *from, size_t stride, size_t n, size_t size, char *out) {
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * size, from + i * stride, size);
}

void tm_fill_field(const tm_record_column *column, const tm_timeline *timeline,
                   const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)base;
    if (n == 0)
        return;
    size_t size = tm_element_size(column->element);
    const char *from = values(column, timeline, first);
    if (column->stride == size)
        memcpy(out, from, n * size);
    else if (size == 8)
        copy_strided(from, column->stride, n, 8, out);
    else if (size == 4)
        copy_strided(from, column->stride, n, 4, out);
    else
        copy_strided(from, column->stride, n, 1, out);
}

void tm_fill_own(const tm_record_column *column, const tm_timeline *timeline,
                 const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)base;
    (void)first;
    if (n > 0)
        memcpy(out, (const char *)timeline + column->field_at, tm_element_size(column->element));
}

static void fill_number(int64_t number, size_t n, void *out) {
    for (size_t i = 0; i < n; i++)
        memcpy((char *)out + i * sizeof number, &number, sizeof number);
}

void tm_fill_rank(const tm_record_column *column, const tm_timeline *timeline,
                  const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)column;
    (void)base;
    (void)first;
    fill_number(timeline->rank, n, out);
}

void tm_fill_event(const tm_record_column *column, const tm_timeline *timeline,
                   const tm_row_base *base, size_t first, size_t n, void *out) {
    const char *from = n > 0 ? values(column, timeline, first) : NULL;
    for (size_t i = 0; i < n; i++) {
        uint32_t event;
        memcpy(&event, from + i * column->stride, sizeof event);
        int64_t row = event == TM_NO_EVENT ? -1 : base->first[TM_RECORD_EVENTS] + event;
        memcpy((char *)out + i * sizeof row, &row, sizeof row);
    }
}

void tm_fill_step(const tm_record_column *column, const tm_timeline *timeline,
                  const tm_row_base *base, size_t first, size_t n, void *out) {
    const char *from = n > 0 ? values(column, timeline, first) : NULL;
    int32_t first_step = (int32_t)base->first[TM_RECORD_STEPS];
    for (size_t i = 0; i < n; i++) {
        int32_t step;
        memcpy(&step, from + i * column->stride, sizeof step);
        int32_t row = step == TM_NO_STEP ? -1 : first_step + step;
        memcpy((char *)out + i * sizeof row, &row, sizeof row);
    }
}

void tm_fill_first_event(const tm_record_column *column, const tm_timeline *timeline,
                         const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)column;
    (void)timeline;
    (void)first;
    fill_number(base->first[TM_RECORD_EVENTS], n, out);
}

void tm_fill_n_events(const tm_record_column *column, const tm_timeline *timeline,
                      const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)column;
    (void)base;
    (void)first;
    fill_number((int64_t)timeline->n_events, n, out);
}

void tm_fill_zero(const tm_record_column *column, const tm_timeline *timeline,
                  const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)timeline;
    (void)base;
    (void)first;
    memset(out, 0, n * tm_element_size(column->element));
}

void tm_fill_middle(const tm_record_column *column, const tm_timeline *timeline,
                    const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)column;
    (void)base;
    (void)first;
    int64_t begin = 0, end = 0;
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        begin = i == 0 || span->begin_ns < begin ? span->begin_ns : begin;
        end = i == 0 || span->end_ns > end ? span->end_ns : end;
    }
    /* unsigned: the distance of two int64 may be more than an int64 holds */
    uint64_t half = end > begin ? ((uint64_t)end - (uint64_t)begin) / 2 : 0;
    fill_number((int64_t)((uint64_t)begin + half), n, out);
}
