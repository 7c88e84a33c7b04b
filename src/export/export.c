#include "export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sorted.h"

static const tm_export_format *const formats[] = {
    &tm_export_perfetto, &tm_export_chrome,     &tm_export_csv,    &tm_export_archive,
    &tm_export_folded,   &tm_export_speedscope, &tm_export_sqlite,
};

enum { N_FORMATS = sizeof formats / sizeof *formats };

const tm_export_format *const *tm_export_formats(size_t *n) {
    *n = N_FORMATS;
    return formats;
}

const tm_export_format *tm_export_format_find(const char *name) {
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    return NULL;
}

/* The path may be a pipe to which nobody writes, so the file is opened without blocking. */
bool tm_export_is_one(const tm_export_format *format, const char *path) {
    char head[TM_EXPORT_BEGINS_MAX];
    int fd = format->begins_size == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, head, format->begins_size, (off_t)format->begins_at);
    close(fd);
    return n == (ssize_t)format->begins_size &&
           memcmp(head, format->begins, format->begins_size) == 0;
}

/* Writes all bytes, in several calls: one call writes at most 2 GiB, and a signal may interrupt it.
 */
static tm_status write_all(const tm_export *x, const char *bytes, size_t size, tm_error *err) {
    while (size > 0) {
        ssize_t n = write(x->fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tm_fail(err, TM_ERR_OUTPUT, x->path, -1, "cannot be written: %s",
                           strerror(errno));
        bytes += n;
        size -= (size_t)n;
    }
    return TM_OK;
}

tm_status tm_export_flush(tm_export *x, tm_error *err) {
    if (x->out.failed)
        return tm_fail_memory(err);
    TM_TRY(write_all(x, x->out.bytes.data, x->out.bytes.n, err));
    x->written += (int64_t)x->out.bytes.n;
    x->out.bytes.n = 0;
    return TM_OK;
}

tm_status tm_export_patch(const tm_export *x, int64_t at, const void *bytes, size_t size,
                          tm_error *err) {
    const char *from = bytes;
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(x->fd, from + done, size - done, (off_t)at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tm_fail(err, TM_ERR_OUTPUT, x->path, -1, "cannot be written: %s",
                           strerror(errno));
        done += (size_t)n;
    }
    return TM_OK;
}

size_t tm_export_rank_index(const tm_export_job *job, int64_t rank) {
    size_t i = TM_FIRST_FROM(tm_timeline, rank, job->ranks, job->n_ranks, rank);
    return i < job->n_ranks && job->ranks[i].rank == rank ? i : job->n_ranks;
}

void tm_export_rank_name(const tm_export_job *job, int64_t rank, char *out, size_t size) {
    size_t i = tm_export_rank_index(job, rank);
    if (i < job->n_ranks && job->hosts[i][0] != '\0')
        snprintf(out, size, "rank %" PRId64 " (%s)", rank, job->hosts[i]);
    else
        snprintf(out, size, "rank %" PRId64, rank);
}

void tm_export_walk_begin(tm_export_walk *walk, const tm_export *x, const tm_timeline *timeline,
                          tm_error *err) {
    *walk = (tm_export_walk){.x = x, .timeline = timeline, .err = err};
}

static void set_event(tm_export_walk *walk) {
    const tm_timeline *piece = walk->piece;
    size_t i = walk->row - walk->first;
    tm_export_event *event = &walk->event;
    int64_t begin_ns = piece->begin_ns[i], duration_ns = piece->duration_ns[i];
    const tm_rank_clock *clock = &walk->timeline->clock;
    event->row = (uint32_t)walk->row;
    event->begin_ns = tm_rank_clock_true(clock, begin_ns);
    event->end_ns =
        duration_ns == 0 ? event->begin_ns : tm_export_end_of(clock, begin_ns, duration_ns);
    event->duration_ns = duration_ns;
    event->name = piece->name[i];
    event->call = piece->launch[i];
    event->step = piece->step[i];
    event->category = piece->category[i];
    event->kind = piece->kind[i];
    event->role = piece->role[i];
}

/* Returns the current row's first attribute of a kind; NULL if it has none. */
#define ATTR_OF(walk, kind, type)                                                                  \
    ((const type *)attr_of(walk, kind, sizeof(type), offsetof(type, event)))

/* Returns the current row's attribute, or NULL. Attributes are sorted by event row. The walk skips
 * the attributes of earlier rows, so it passes each attribute only once. @p event_at is the offset
 * of the member `event` in the attribute's type. */
static const void *attr_of(tm_export_walk *walk, tm_attr kind, size_t size, size_t event_at) {
    const tm_timeline *piece = walk->piece;
    const char *rows = piece->attrs[kind];
    for (size_t *i = &walk->at[kind]; *i < piece->n_attrs[kind]; (*i)++) {
        const char *attr = rows + *i * size;
        uint32_t event;
        memcpy(&event, attr + event_at, sizeof event);
        if (event >= walk->event.row)
            return event == walk->event.row ? attr : NULL;
    }
    return NULL;
}

static void find_attrs(tm_export_walk *walk) {
    tm_export_event *event = &walk->event;
    event->launch = ATTR_OF(walk, TM_ATTR_LAUNCH, tm_launch_attr);
    event->kernel = ATTR_OF(walk, TM_ATTR_KERNEL, tm_kernel_attr);
    event->shape = event->kernel ? tm_kernel_shape(walk->piece, event->kernel) : NULL;
    event->copy = ATTR_OF(walk, TM_ATTR_COPY, tm_copy_attr);
    event->collective = ATTR_OF(walk, TM_ATTR_COLLECTIVE, tm_collective_attr);
    event->memory = ATTR_OF(walk, TM_ATTR_MEMORY, tm_memory_attr);
    event->shapes = ATTR_OF(walk, TM_ATTR_SHAPES, tm_shapes_attr);
    event->inputs = ATTR_OF(walk, TM_ATTR_INPUTS, tm_inputs_attr);
    event->wait = ATTR_OF(walk, TM_ATTR_WAIT, tm_wait_attr);
    event->operator= ATTR_OF(walk, TM_ATTR_OPERATOR, tm_operator_attr);
    event->counters = ATTR_OF(walk, TM_ATTR_COUNTER, tm_counter_attr);
    event->n_counters = 0;
    size_t left = walk->piece->n_attrs[TM_ATTR_COUNTER] - walk->at[TM_ATTR_COUNTER];
    while (event->counters && event->n_counters < left &&
           event->counters[event->n_counters].event == event->row)
        event->n_counters++;
}

/* Returns whether there is a next row. Reads the next piece if the current one ends. */
static bool has_piece(tm_export_walk *walk) {
    while (!walk->piece || walk->row >= walk->first + walk->piece->n_events) {
        walk->status = tm_event_rows_next(walk->x->rows, walk->timeline, TM_ROWS_ALL, &walk->first,
                                          &walk->piece, walk->err);
        if (walk->status != TM_OK)
            return false;
        memset(walk->at, 0, sizeof walk->at);
    }
    return true;
}

bool tm_export_walk_next(tm_export_walk *walk, size_t end) {
    while (walk->row < end && has_piece(walk)) {
        set_event(walk);
        walk->row++;
        if (!tm_export_in_window(walk->x->job, walk->event.begin_ns, walk->event.end_ns))
            continue;
        find_attrs(walk);
        return true;
    }
    return false;
}

tm_status tm_export_create(const tm_export_format *format, const tm_export_job *job, int fd,
                           const char *path, tm_export **out, tm_error *err) {
    tm_export *x = calloc(1, sizeof *x);
    if (!x)
        return tm_fail_memory(err);
    *x = (tm_export){.format = format,
                     .job = job,
                     .fd = fd,
                     .path = path,
                     .out = TM_OUT(),
                     .state = calloc(1, format->state_size + 1),
                     .first_row = calloc(job->n_ranks + 1, sizeof *x->first_row)};
    for (size_t i = 0; x->first_row && i < job->n_ranks; i++)
        x->first_row[i + 1] = x->first_row[i] + (int64_t)job->ranks[i].n_events;
    tm_status status = x->state && x->first_row ? format->begin(x, err) : tm_fail_memory(err);
    if (status != TM_OK) {
        tm_export_destroy(x);
        return status;
    }
    *out = x;
    return TM_OK;
}

tm_status tm_export_rank(tm_export *x, const tm_timeline *timeline, const tm_event_rows *rows,
                         tm_error *err) {
    x->rows = rows;
    return x->format->rank(x, timeline, err);
}

tm_status tm_export_end(tm_export *x, tm_error *err) {
    TM_TRY(x->format->end(x, err));
    return tm_export_flush(x, err);
}

int64_t tm_export_events(const tm_export *x) {
    return x->n_events;
}

void tm_export_destroy(tm_export *x) {
    if (!x)
        return;
    if (x->format->destroy && x->state)
        x->format->destroy(x);
    tm_vec_free(&x->out.bytes);
    free(x->first_row);
    free(x->state);
    free(x);
}
