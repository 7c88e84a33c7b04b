#include "fill.h"

#include <string.h>

/* Returns the array of a column's values, from element @p first on. Copies the bytes of the array's
 * pointer, so that one function serves arrays of all types. */
static char *values(const tm_record_column *column, const tm_timeline *timeline, size_t first) {
    char *array;
    memcpy(&array, (const char *)timeline + column->array_at, sizeof array);
    return array + first * column->stride + column->field_at;
}

/* Copies numbers between arrays with different strides [B]. A constant `size` makes each copy one
 * load and one store. */
static inline void copy_each(const char *from, size_t from_stride, size_t n, size_t size, char *to,
                             size_t to_stride) {
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * to_stride, from + i * from_stride, size);
}

/* Elements have 1, 4 or 8 bytes. */
static void copy_strided(const char *from, size_t from_stride, size_t n, size_t size, char *to,
                         size_t to_stride) {
    if (from_stride == size && to_stride == size)
        memcpy(to, from, n * size);
    else if (size == 8)
        copy_each(from, from_stride, n, 8, to, to_stride);
    else if (size == 4)
        copy_each(from, from_stride, n, 4, to, to_stride);
    else
        copy_each(from, from_stride, n, 1, to, to_stride);
}

void tm_fill_field(const tm_record_column *column, const tm_timeline *timeline,
                   const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)base;
    if (n == 0)
        return;
    size_t size = tm_element_size(column->element);
    copy_strided(values(column, timeline, first), column->stride, n, size, out, size);
}

/* All fields of a launch shape have 4 bytes. */
void tm_fill_shape(const tm_record_column *column, const tm_timeline *timeline,
                   const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)base;
    const tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    for (size_t i = 0; i < n; i++) {
        const tm_launch_shape *shape = tm_kernel_shape(timeline, &kernels[first + i]);
        memcpy((char *)out + i * sizeof(int32_t), (const char *)shape + column->field_at,
               sizeof(int32_t));
    }
}

/* Returns whether every number of a column has a word. Also returns true if the column has no
 * words. */
static bool has_words(const tm_record_column *column, const void *rows, size_t n) {
    const uint8_t *numbers = rows;
    for (size_t i = 0; column->words && i < n; i++)
        if (numbers[i] >= column->words->n)
            return false;
    return true;
}

bool tm_take_field(const tm_record_column *column, tm_timeline *timeline, const tm_row_base *base,
                   size_t first, size_t n, const void *rows) {
    (void)base;
    /* If n is 0, the array may not exist. */
    if (n == 0 || !has_words(column, rows, n))
        return n == 0;
    size_t size = tm_element_size(column->element);
    copy_strided(rows, size, n, size, values(column, timeline, first), column->stride);
    return true;
}

void tm_fill_own(const tm_record_column *column, const tm_timeline *timeline,
                 const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)base;
    (void)first;
    if (n > 0)
        memcpy(out, (const char *)timeline + column->field_at, tm_element_size(column->element));
}

bool tm_take_own(const tm_record_column *column, tm_timeline *timeline, const tm_row_base *base,
                 size_t first, size_t n, const void *rows) {
    (void)base;
    (void)first;
    if (n == 0 || !has_words(column, rows, n))
        return n == 0;
    memcpy((char *)timeline + column->field_at, rows, tm_element_size(column->element));
    return true;
}

/* The functions below use memcpy, because rows are untyped and unaligned bytes. */
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

bool tm_take_rank(const tm_record_column *column, tm_timeline *timeline, const tm_row_base *base,
                  size_t first, size_t n, const void *rows) {
    (void)column;
    (void)base;
    (void)first;
    for (size_t i = 0; i < n; i++)
        if (memcmp((const char *)rows + i * sizeof timeline->rank, &timeline->rank,
                   sizeof timeline->rank) != 0)
            return false;
    return true;
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

/* Also accepts the row after the rank's last event: an empty track may start there. */
bool tm_take_event(const tm_record_column *column, tm_timeline *timeline, const tm_row_base *base,
                   size_t first, size_t n, const void *rows) {
    char *to = n > 0 ? values(column, timeline, first) : NULL;
    for (size_t i = 0; i < n; i++) {
        int64_t row;
        memcpy(&row, (const char *)rows + i * sizeof row, sizeof row);
        /* The subtraction is unsigned. So a row before the rank's first event becomes a large
         * number, which is refused. */
        uint64_t local = (uint64_t)row - (uint64_t)base->first[TM_RECORD_EVENTS];
        if (row != -1 && (row < 0 || local > timeline->n_events))
            return false;
        uint32_t event = row == -1 ? TM_NO_EVENT : (uint32_t)local;
        memcpy(to + i * column->stride, &event, sizeof event);
    }
    return true;
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

bool tm_take_step(const tm_record_column *column, tm_timeline *timeline, const tm_row_base *base,
                  size_t first, size_t n, const void *rows) {
    char *to = n > 0 ? values(column, timeline, first) : NULL;
    for (size_t i = 0; i < n; i++) {
        int32_t row;
        memcpy(&row, (const char *)rows + i * sizeof row, sizeof row);
        int64_t local = row - base->first[TM_RECORD_STEPS];
        if (row != -1 && (local < 0 || (uint64_t)local >= timeline->n_steps))
            return false;
        int32_t step = row == -1 ? TM_NO_STEP : (int32_t)local;
        memcpy(to + i * column->stride, &step, sizeof step);
    }
    return true;
}

void tm_fill_first_event(const tm_record_column *column, const tm_timeline *timeline,
                         const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)column;
    (void)timeline;
    (void)first;
    fill_number(base->first[TM_RECORD_EVENTS], n, out);
}

void tm_fill_middle(const tm_record_column *column, const tm_timeline *timeline,
                    const tm_row_base *base, size_t first, size_t n, void *out) {
    (void)column;
    (void)base;
    (void)first;
    fill_number(tm_timeline_middle(timeline), n, out);
}
