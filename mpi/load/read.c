/* Reads the traces of this process, whole or in parts, and tells how far it has come. */
#include <stdlib.h>

#include "loader.h"
#include "mpi/agree.h"
#include "tmerge/reader.h"

void tm_loader_drop_trace(tm_loader *l, size_t i) {
    if (l->traces[i])
        tm_trace_free(l->traces[i]);
    free(l->traces[i]);
    l->traces[i] = NULL;
}

/* A trace or part in the reading, and how much of it was told of. */
typedef struct reading {
    tm_progress *progress;
    tm_trace *const *trace;
    int64_t most; /* bytes in all: a part reads a little further */
    int64_t bytes, events;
} reading;

static void tell_progress(void *context, int64_t consumed_bytes) {
    reading *r = context;
    int64_t events = (int64_t)(*r->trace)->events.n;
    consumed_bytes = consumed_bytes < r->most ? consumed_bytes : r->most;
    tm_progress_add(r->progress, consumed_bytes - r->bytes, events - r->events);
    r->bytes = consumed_bytes;
    r->events = events;
}

static tm_status read_one(tm_loader *l, size_t i, tm_progress *progress, tm_error *err) {
    tm_trace *trace = malloc(sizeof *trace);
    if (!trace)
        return tm_fail_memory(err);
    reading context = {.progress = progress, .trace = &l->traces[i], .most = INT64_MAX};
    const tm_source_watch watch = {tell_progress, &context};
    l->traces[i] = trace;
    const tm_unit *unit = l->entries[i].has_unit ? &l->entries[i].unit : NULL;
    const tm_trace_file file = {tm_loader_file(l, (size_t)l->entries[i].input),
                                tm_loader_path(l, i), unit, l->options->device_categories};
    tm_status status = tm_trace_read(&file, l->out->names, progress ? &watch : NULL, trace, err);
    if (status != TM_OK)
        tm_loader_drop_trace(l, i);
    return status == TM_OK ? TM_OK : tm_loader_bad_input(l, &l->entries[i], status, err);
}

static tm_status read_part(tm_loader *l, tm_mpi_part *part, tm_progress *progress, tm_error *err) {
    reading context = {progress, &part->part.trace, tm_loader_part_size(l, part), 0, 0};
    const tm_source_watch watch = {tell_progress, &context};
    const tm_trace_file file = {.path = tm_loader_path(l, part->input),
                                .device_categories = l->options->device_categories};
    TM_TRY(tm_mpi_part_read(part, &file, l->out->names, progress ? &watch : NULL, err));
    if (part->read) /* the part before it read what lies between the cut and the first event */
        tell_progress(&context, context.most);
    return TM_OK;
}

static bool is_in_parts(const tm_loader *l, size_t i) {
    const tm_mpi_part *parts = l->parts.data;
    for (size_t k = 0; k < l->parts.n; k++)
        if (parts[k].input == i)
            return true;
    return false;
}

/* Reads what is this process's by the plan and was not read yet, and drops what is not. */
static tm_status read_own(tm_loader *l, int64_t total_bytes, tm_error *err) {
    tm_progress *progress;
    TM_TRY(
        tm_progress_begin(l->comm, l->options->progress, "reading", total_bytes, &progress, err));
    tm_status status = TM_OK;
    for (size_t i = 0; i < l->n && status == TM_OK; i++) {
        bool own = l->entries[i].kind == TM_FILE_TRACE && l->items[i].owner == l->self;
        if (!own)
            tm_loader_drop_trace(l, i);
        else if (!l->traces[i] && !is_in_parts(l, i))
            status = read_one(l, i, progress, err);
    }
    tm_mpi_part *parts = l->parts.data;
    for (size_t k = 0; k < l->parts.n && status == TM_OK; k++)
        if (parts[k].reader == l->self)
            status = read_part(l, &parts[k], progress, err);
    tm_progress_end(progress);
    return tm_mpi_agree(l->comm, status, err);
}

void tm_loader_drop_parts(tm_loader *l) {
    tm_mpi_part *parts = l->parts.data;
    for (size_t k = 0; k < l->parts.n; k++)
        tm_mpi_part_free(&parts[k]);
    tm_vec_free(&l->parts);
}

/* Joins what was read in parts. A trace whose parts are not the whole is read again by its owner:
 * it is malformed, truncated, or was cut where no event begins, and one reading tells which. */
static tm_status join_parts(tm_loader *l, tm_error *err) {
    const tm_mpi_part *parts = l->parts.data;
    int64_t again = 0;
    if (l->parts.n == 0)
        return TM_OK;
    TM_TRY(tm_mpi_parts_join(l->comm, l->parts.data, l->parts.n, l->out->names, l->traces, err));
    for (size_t k = 0; k < l->parts.n; k += (size_t)parts[k].part.n) {
        l->out->n_in_parts += parts[k].joined;
        again += parts[k].joined ? 0 : l->entries[parts[k].input].size;
    }
    tm_loader_drop_parts(l);
    return again > 0 ? read_own(l, again, err) : TM_OK;
}

static int64_t size_of_all(const tm_loader *l) {
    int64_t sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += l->entries[i].kind == TM_FILE_TRACE ? l->entries[i].size : 0;
    return sum;
}

tm_status tm_mpi_read_traces(tm_loader *l, tm_error *err) {
    TM_TRY(read_own(l, size_of_all(l), err));
    return join_parts(l, err);
}
