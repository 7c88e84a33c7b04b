/* Reads this process's traces, whole or in parts, and reports progress. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/limits.h"
#include "loader.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/backoff.h"
#include "tmerge/reader.h"

void tm_loader_drop_trace(tm_loader *l, size_t i) {
    if (l->traces[i])
        tm_trace_free(l->traces[i]);
    free(l->traces[i]);
    l->traces[i] = NULL;
}

/* What this process reads at the moment (whole traces, or a part of a trace), and the progress that
 * it has reported so far. */
typedef struct reading {
    tm_progress *progress;
    /* [n] traces that are being read: one for each unit of the file that this process reads. The
     * size of the file counts once for each of them in the progress. */
    tm_trace *const *traces;
    int64_t n;
    int64_t most; /* size of the part that is read; at most this many bytes are reported */
    int64_t bytes, events;
} reading;

static void tell_progress(void *context, int64_t consumed_bytes) {
    reading *r = context;
    int64_t events = 0;
    for (int64_t k = 0; k < r->n; k++)
        events += (int64_t)r->traces[k]->events.n;
    consumed_bytes = consumed_bytes < r->most ? consumed_bytes : r->most;
    tm_progress_add(r->progress, (consumed_bytes - r->bytes) * r->n, events - r->events);
    r->bytes = consumed_bytes;
    r->events = events;
}

/* Fails if a trace has events but none of them can be used. A trace without any events is valid if
 * other traces have events: its rank did nothing. */
static tm_status check_kept(const tm_loader *l, size_t i, tm_error *err) {
    const tm_trace *trace = l->traces[i];
    int64_t skipped = tm_trace_skipped(trace);
    if (trace->events.n > 0 || skipped == 0)
        return TM_OK;
    return tm_fail(err, TM_ERR_INPUT, tm_loader_path(l, i), -1,
                   "its %" PRId64 " timed events cannot be used: %" PRId64
                   " have no valid time, %" PRId64 " have a kind (ph) that is not read",
                   skipped, skipped - trace->counts[TM_COUNT_OTHER_PHASE],
                   trace->counts[TM_COUNT_OTHER_PHASE]);
}

static tm_status drop_empty(tm_loader *l, size_t i, tm_error *err) {
    tm_status status = check_kept(l, i, err);
    if (status == TM_OK)
        return TM_OK;
    tm_loader_drop_trace(l, i);
    return tm_loader_bad_input(l, &l->entries[i], status, err);
}

/* Minimum size [B] of a file that a second thread helps to decode; smaller files are decoded too
 * fast. */
enum { AHEAD_MIN_BYTES = 256 * 1024 };

static bool is_packed(const tm_entry *entry) {
    return entry->weight > entry->size && entry->size >= AHEAD_MIN_BYTES;
}

/* Returns whether the host has enough usable cores for a second core for this process. */
static bool has_spare_core(const tm_loader *l) {
    const tm_hosts *hosts = l->options->hosts;
    bool *reads = calloc((size_t)l->n_processes, sizeof *reads), packed = false;
    int before = 0, all = 0;
    for (size_t i = 0; reads && i < l->n; i++)
        if (l->entries[i].kind == TM_FILE_TRACE) {
            reads[l->items[i].owner] = true;
            packed = packed || (l->items[i].owner == l->self && is_packed(&l->entries[i]));
        }
    const tm_mpi_part *parts = l->parts.data;
    for (size_t k = 0; reads && k < l->parts.n; k++)
        reads[parts[k].reader] = true;
    for (int p = 0; packed && p < l->n_processes; p++) {
        bool here = reads[p] && (!hosts || hosts->of[p] == hosts->self);
        all += here;
        before += here && p < l->self;
    }
    free(reads);
    return packed && tm_cores("") - all > before;
}

/* Entries that are read from a file in one pass: one entry, or all units of the file that this
 * process reads. */
typedef struct batch {
    size_t *entries;   /* [n] */
    tm_trace **traces; /* [n] traces of the entries */
    tm_unit *units;    /* [n] used only if the entries are units */
    size_t n;
} batch;

static void free_batch(batch *b) {
    free(b->entries);
    free(b->traces);
    free(b->units);
}

static bool is_unread(const tm_loader *l, size_t i) {
    return l->entries[i].kind == TM_FILE_TRACE && l->items[i].owner == l->self && !l->traces[i];
}

static tm_status make_batch(tm_loader *l, size_t i, bool alone, batch *b, tm_error *err) {
    const tm_entry *first = &l->entries[i];
    bool several = !alone && first->has_unit && tm_entry_format(first)->read_units;
    size_t end = several ? l->n : i + 1;
    *b = (batch){calloc(end - i, sizeof *b->entries), calloc(end - i, sizeof(tm_trace *)),
                 calloc(end - i, sizeof *b->units), 0};
    bool ok = b->entries && b->traces && b->units;
    for (size_t k = i; k < end && ok; k++) {
        if (l->entries[k].input != first->input || !is_unread(l, k))
            continue;
        tm_trace *trace = malloc(sizeof *trace);
        ok = trace != NULL;
        if (!ok)
            break;
        tm_trace_init(trace);
        l->traces[k] = trace;
        b->entries[b->n] = k;
        b->traces[b->n] = trace;
        b->units[b->n++] = l->entries[k].unit;
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Estimates how many rows a trace has, as a multiple of the rows of the trace that was read last.
 * Traces of one job have about the same number of events per byte. Returns 0 if the sizes of the
 * files differ too much for an estimate. */
static double times_last(const tm_loader *l, const tm_entry *e) {
    const double most = 2, slack = 1.03;
    const double size = (double)e->weight, last = (double)l->entries[l->last].weight;
    return last > 0 && size * most > last && size < last * most ? slack * size / last : 0;
}

static tm_status read_batch(tm_loader *l, const batch *b, tm_progress *progress, bool spare_core,
                            tm_error *err) {
    const tm_entry *e = &l->entries[*b->entries];
    reading context = {progress, b->traces, (int64_t)b->n, INT64_MAX, 0, 0};
    const tm_source_watch reported = {tell_progress, &context},
                          *watch = progress ? &reported : NULL;
    const tm_trace_file file = {tm_loader_file(l, (size_t)e->input),
                                tm_loader_path(l, *b->entries),
                                e->has_unit ? b->units : NULL,
                                b->n,
                                l->options->device_categories,
                                spare_core && is_packed(e),
                                tm_entry_format(e),
                                l->traces[l->last],
                                times_last(l, e)};
    l->last = *b->entries;
    return b->n > 1 ? tm_trace_read_units(&file, l->out->names, watch, b->traces, err)
                    : tm_trace_read(&file, l->out->names, watch, *b->traces, err);
}

static void drop_batch(tm_loader *l, const batch *b) {
    for (size_t k = 0; k < b->n; k++)
        tm_loader_drop_trace(l, b->entries[k]);
}

static tm_status read_alone(tm_loader *l, size_t i, tm_progress *progress, bool spare_core,
                            tm_error *err) {
    batch b;
    tm_status status = make_batch(l, i, true, &b, err);
    if (status == TM_OK)
        status = read_batch(l, &b, progress, spare_core, err);
    if (status != TM_OK)
        drop_batch(l, &b);
    free_batch(&b);
    return status == TM_OK ? drop_empty(l, i, err)
                           : tm_loader_bad_input(l, &l->entries[i], status, err);
}

/* Reads an entry together with all entries of its file that are read in one pass. If this fails,
 * reads each unit separately, to find out which of them are bad. */
static tm_status read_one(tm_loader *l, size_t i, tm_progress *progress, bool spare_core,
                          tm_error *err) {
    batch b;
    tm_error unread;
    tm_status status = make_batch(l, i, false, &b, err);
    bool read =
        status == TM_OK && b.n > 1 && read_batch(l, &b, progress, spare_core, &unread) == TM_OK;
    if (!read)
        drop_batch(l, &b);
    for (size_t k = 0; k < b.n && status == TM_OK; k++)
        status = read ? drop_empty(l, b.entries[k], err)
                      : read_alone(l, b.entries[k], progress, spare_core, err);
    free_batch(&b);
    return status;
}

static tm_status read_part(tm_loader *l, tm_mpi_part *part, tm_progress *progress, tm_error *err) {
    reading context = {progress, &part->part.trace, 1, tm_loader_part_size(l, part), 0, 0};
    const tm_source_watch watch = {tell_progress, &context};
    const tm_trace_file file = {.path = tm_loader_path(l, part->input),
                                .device_categories = l->options->device_categories};
    TM_TRY(tm_mpi_part_read(part, &file, l->out->names, progress ? &watch : NULL, err));
    if (part->read) /* report all bytes of the part, although those before its first event were read
                       with the previous part */
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

/* Reads the traces that the plan assigns to this process and that it has not read yet; frees traces
 * that the plan assigns to others. */
static tm_status read_own(tm_loader *l, int64_t total_bytes, tm_error *err) {
    tm_progress *progress;
    const tm_progress_work work = {"reading", "B", total_bytes};
    TM_TRY(tm_progress_begin(l->comm, l->options->progress, &work, &progress, err));
    bool spare_core = has_spare_core(l);
    tm_status status = TM_OK;
    l->last = 0; /* the calls above may have moved l->entries */
    for (size_t i = 0; i < l->n && status == TM_OK; i++) {
        bool own = l->entries[i].kind == TM_FILE_TRACE && l->items[i].owner == l->self;
        if (!own)
            tm_loader_drop_trace(l, i);
        else if (!l->traces[i] && !is_in_parts(l, i))
            status = read_one(l, i, progress, spare_core, err);
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

/* Joins the parts of traces. If the parts do not form the whole trace, its owner reads the whole
 * trace, to find out whether it is malformed or truncated, or was only split at a wrong place. */
static tm_status join_parts(tm_loader *l, tm_error *err) {
    const tm_mpi_part *parts = l->parts.data;
    int64_t again = 0;
    if (l->parts.n == 0)
        return TM_OK;
    TM_TRY(tm_mpi_parts_join(l->comm, l->parts.data, l->parts.n, l->out->names, l->traces, err));
    tm_status status = TM_OK;
    for (size_t k = 0; k < l->parts.n; k += (size_t)parts[k].part.n) {
        size_t i = parts[k].input;
        if (status == TM_OK && l->traces[i])
            status = drop_empty(l, i, err);
        l->out->n_in_parts += parts[k].joined;
        again += parts[k].joined ? 0 : l->entries[parts[k].input].size;
    }
    tm_loader_drop_parts(l);
    TM_TRY(tm_mpi_agree(l->comm, status, err));
    return again > 0 ? read_own(l, again, err) : TM_OK;
}

static int64_t size_of_all(const tm_loader *l) {
    int64_t sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += l->entries[i].kind == TM_FILE_TRACE ? l->entries[i].size : 0;
    return sum;
}

static tm_status check_any(const tm_loader *l, tm_error *err) {
    int64_t sums[2] = {0, 0}; /* number of traces, number of events */
    for (size_t i = 0; i < l->n; i++)
        if (l->traces[i]) {
            sums[0]++;
            sums[1] += (int64_t)l->traces[i]->events.n + l->traces[i]->is_fused;
        }
    if (tm_mpi_reduce(l->comm, sums, 2, MPI_INT64_T, MPI_SUM) != MPI_SUCCESS)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI_Allreduce failed");
    if (sums[0] == 0 || sums[1] > 0) /* if no trace was read, tm_loader_list_ranks reports that */
        return TM_OK;
    return tm_fail(err, TM_ERR_INPUT, NULL, -1,
                   sums[0] == 1 ? "the trace has no events" : "no trace has events");
}

tm_status tm_mpi_read_traces(tm_loader *l, tm_error *err) {
    TM_TRY(read_own(l, size_of_all(l), err));
    TM_TRY(join_parts(l, err));
    return check_any(l, err);
}
