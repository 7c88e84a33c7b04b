#include "load.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "communicators.h"
#include "entries.h"
#include "exports.h"
#include "parts.h"
#include "readers/converter.h"
#include "share.h"
#include "timeline/build.h"
#include "tmerge/reader.h"
#include "tmerge/store.h"

typedef struct loader {
    MPI_Comm comm;
    int self, n_processes;
    const tm_load_options *options;
    tm_table *left_out;
    tm_exports exports;
    tm_entry *entries; /* [n] the same on every process: of all inputs and their units */
    size_t n;
    tm_share_item *items; /* [n + parts.n] */
    tm_vec parts;         /* of tm_mpi_part: of the traces that several processes read */
    tm_trace **traces;    /* [n] read here, NULL elsewhere */
    tm_classifier *classifier;
    tm_step_names *step_names;
    tm_loaded *out;
} loader;

static const char *path_of(const loader *l, size_t i) {
    return l->options->inputs[l->entries[i].input].path;
}

/* The file that is read for an input: itself, or its export. */
static const char *file_of(const loader *l, size_t input) {
    const char *export = l->exports.paths[input];
    return export ? export : l->options->inputs[input].path;
}

static tm_status leave_out(loader *l, const char *path, const char *reason, const char *message,
                           tm_error *err) {
    return tm_entries_leave_out(l->left_out, path, reason, message, err);
}

/* A file that cannot be used: an error, or a row where --skip-bad allows it. Of a report it is
 * the report that the message names. */
static tm_status bad_input(loader *l, tm_entry *entry, tm_status status, tm_error *err) {
    char text[TM_PATH_MAX + TM_MESSAGE_MAX + 64];
    tm_error failure = *err;
    if (l->exports.paths[entry->input] && status == TM_ERR_INPUT)
        status = tm_fail(err, status, l->options->inputs[entry->input].path, failure.offset,
                         "in its export: %.480s", failure.message);
    if (status != TM_ERR_INPUT || !l->options->skip_bad)
        return status;
    tm_error_text(err, text, sizeof text);
    entry->kind = TM_ENTRY_BAD;
    return leave_out(l, l->options->inputs[entry->input].path, "unreadable", text, err);
}

/* A file that is read by another name, or that could not be exported. */
static tm_status pass_over(loader *l, size_t i, tm_vec *found, tm_error *err) {
    const char *path = l->options->inputs[i].path;
    int state = l->exports.states[i];
    tm_entry entry = {.input = (int64_t)i, .kind = TM_FILE_OTHER};
    tm_status status = TM_OK;
    if (state == TM_EXPORT_BAD)
        entry.kind = TM_ENTRY_BAD;
    else if (state == TM_EXPORT_GIVEN)
        status = leave_out(l, path, "exported", "its export beside it is read", err);
    else
        status = leave_out(l, path, "outdated",
                           "this export is older than the report beside it, which is read", err);
    TM_TRY(status);
    return tm_vec_append(found, &entry, 1) ? TM_OK : tm_fail_memory(err);
}

/* Adds what an input holds to `found`: one entry, or one for each unit. */
static tm_status sniff_one(loader *l, size_t i, tm_vec *found, tm_error *err) {
    const tm_input *input = &l->options->inputs[i];
    tm_file_info info = {.kind = TM_FILE_OTHER};
    tm_entry entry = {.input = (int64_t)i, .kind = TM_FILE_OTHER};
    bool foreign = false;
    size_t before = found->n;
    int state = l->exports.states[i];
    if (state != TM_EXPORT_NONE && state != TM_EXPORT_DONE && state != TM_EXPORT_KEPT)
        return pass_over(l, i, found, err);
    tm_status status = tm_file_sniff(file_of(l, i), &info, err);
    if (status == TM_OK && info.kind == TM_FILE_TRACE)
        status = tm_entries_of_trace(input, &info, &entry, found, &foreign, err);
    if (status == TM_OK && info.kind == TM_FILE_STORE && tm_store_is_store(input->path))
        status = leave_out(l, input->path, "store", "a tmerge store", err);
    else if (status == TM_OK && info.kind == TM_FILE_PAGE)
        status = leave_out(l, input->path, "page", "a page that tmerge wrote", err);
    else if ((status == TM_OK && info.kind != TM_FILE_TRACE) || foreign) {
        const tm_converter *report = l->exports.paths[i] ? NULL : tm_converter_of(input->path);
        char advice[TM_MESSAGE_MAX];
        if (report)
            report->advise(input->path, advice, sizeof advice);
        if (input->from_folder && !l->exports.paths[i])
            status = leave_out(l, input->path, "other", report ? advice : "not a trace", err);
        else if (!foreign)
            status = tm_fail(err, TM_ERR_INPUT, input->path, -1, "%s",
                             report ? advice : "this is not a trace of a known format");
    }
    if (status != TM_OK)
        TM_TRY(bad_input(l, &entry, status, err));
    return found->n > before || tm_vec_append(found, &entry, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status sniff_all(loader *l, tm_error *err) {
    tm_status status = TM_OK;
    size_t n_traces = 0;
    tm_vec found = TM_VEC(tm_entry);
    for (size_t i = (size_t)l->self; i < l->options->n_inputs && status == TM_OK;
         i += (size_t)l->n_processes)
        status = sniff_one(l, i, &found, err);
    status = tm_mpi_agree(l->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_entries_gather(l->comm, &found, &l->entries, &l->n, err);
    tm_vec_free(&found);
    TM_TRY(status);
    tm_entries_tie_clocks(l->entries, l->n);
    l->traces = calloc(l->n + 1, sizeof *l->traces);
    TM_TRY(tm_mpi_agree(l->comm, l->traces ? TM_OK : tm_fail_memory(err), err));
    for (size_t i = 0; i < l->n; i++)
        n_traces += l->entries[i].kind == TM_FILE_TRACE;
    l->out->n_traces = (int64_t)n_traces;
    return n_traces > 0 ? TM_OK : tm_fail(err, TM_ERR_INPUT, NULL, -1, "there is no trace to read");
}

/* Cuts what is too large for one process. */
static tm_status list_parts(loader *l, tm_error *err) {
    int64_t least = l->options->split_min_bytes, total = 0;
    least = least > 0 ? least : TM_SPLIT_MIN_BYTES;
    for (size_t i = 0; i < l->n; i++)
        total += l->entries[i].kind == TM_FILE_TRACE ? l->entries[i].weight : 0;
    for (size_t i = 0; i < l->n; i++) {
        const tm_entry *e = &l->entries[i];
        if (e->kind != TM_FILE_TRACE || !e->has_parts || e->size < least)
            continue;
        int n = tm_share_parts(e->weight, total, l->n_processes);
        tm_mpi_part *parts = n > 1 ? tm_vec_append(&l->parts, NULL, (size_t)n) : NULL;
        if (n > 1 && !parts)
            return tm_fail_memory(err);
        for (int k = 0; k < n && parts; k++)
            tm_mpi_part_init(&parts[k], i, k, n);
    }
    return TM_OK;
}

/* Bytes of the file that a part stands for. */
static int64_t part_size(const loader *l, const tm_mpi_part *part) {
    int64_t size = l->entries[part->input].size;
    int index = part->part.index, n = part->part.n;
    return tm_part_cut(size, index + 1, n) - tm_part_cut(size, index, n);
}

/* Shares out the traces by the ranks known so far; on what they know all processes agree. The
 * first part of a trace stands for it: its reader owns the trace. The others go to anyone. */
static tm_status plan(loader *l, tm_error *err) {
    size_t n = l->n, n_parts = l->parts.n;
    tm_mpi_part *parts = l->parts.data;
    tm_share_item *items = realloc(l->items, (n + n_parts + 1) * sizeof *items);
    if (!items)
        return tm_fail_memory(err);
    l->items = items;
    for (size_t i = 0; i < n; i++) {
        bool trace = l->entries[i].kind == TM_FILE_TRACE;
        items[i] = (tm_share_item){.rank = trace ? l->entries[i].rank : -1,
                                   .weight = trace ? l->entries[i].weight : 0};
    }
    for (size_t k = 0; k < n_parts; k++) {
        bool first = parts[k].part.index == 0;
        items[n + k] = (tm_share_item){.rank = -1, .weight = first ? 0 : part_size(l, &parts[k])};
        if (first)
            items[parts[k].input].weight = part_size(l, &parts[k]);
    }
    TM_TRY(tm_share_plan(items, n + n_parts, l->n_processes, err));
    for (size_t k = 0; k < n_parts; k++)
        parts[k].reader = items[parts[k].part.index == 0 ? parts[k].input : n + k].owner;
    return TM_OK;
}

static void drop_trace(loader *l, size_t i) {
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

static tm_status read_one(loader *l, size_t i, tm_progress *progress, tm_error *err) {
    tm_trace *trace = malloc(sizeof *trace);
    if (!trace)
        return tm_fail_memory(err);
    reading context = {.progress = progress, .trace = &l->traces[i], .most = INT64_MAX};
    const tm_source_watch watch = {tell_progress, &context};
    l->traces[i] = trace;
    const tm_unit *unit = l->entries[i].has_unit ? &l->entries[i].unit : NULL;
    const tm_trace_file file = {file_of(l, (size_t)l->entries[i].input), path_of(l, i), unit};
    tm_status status = tm_trace_read(&file, l->out->names, progress ? &watch : NULL, trace, err);
    if (status != TM_OK)
        drop_trace(l, i);
    return status == TM_OK ? TM_OK : bad_input(l, &l->entries[i], status, err);
}

static tm_status read_part(loader *l, tm_mpi_part *part, tm_progress *progress, tm_error *err) {
    reading context = {progress, &part->part.trace, part_size(l, part), 0, 0};
    const tm_source_watch watch = {tell_progress, &context};
    const char *path = path_of(l, part->input);
    TM_TRY(tm_mpi_part_read(part, path, l->out->names, progress ? &watch : NULL, err));
    if (part->read) /* the part before it read what lies between the cut and the first event */
        tell_progress(&context, context.most);
    return TM_OK;
}

static bool is_in_parts(const loader *l, size_t i) {
    const tm_mpi_part *parts = l->parts.data;
    for (size_t k = 0; k < l->parts.n; k++)
        if (parts[k].input == i)
            return true;
    return false;
}

/* Reads what is this process's by the plan and was not read yet, and drops what is not. */
static tm_status read_own(loader *l, int64_t total_bytes, tm_error *err) {
    tm_progress *progress;
    TM_TRY(
        tm_progress_begin(l->comm, l->options->progress, "reading", total_bytes, &progress, err));
    tm_status status = TM_OK;
    for (size_t i = 0; i < l->n && status == TM_OK; i++) {
        bool own = l->entries[i].kind == TM_FILE_TRACE && l->items[i].owner == l->self;
        if (!own)
            drop_trace(l, i);
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

static void drop_parts(loader *l) {
    tm_mpi_part *parts = l->parts.data;
    for (size_t k = 0; k < l->parts.n; k++)
        tm_mpi_part_free(&parts[k]);
    tm_vec_free(&l->parts);
}

/* Joins what was read in parts. A trace whose parts are not the whole is read again by its owner:
 * it is malformed, truncated, or was cut where no event begins, and one reading tells which. */
static tm_status join_parts(loader *l, tm_error *err) {
    const tm_mpi_part *parts = l->parts.data;
    int64_t again = 0;
    if (l->parts.n == 0)
        return TM_OK;
    TM_TRY(tm_mpi_parts_join(l->comm, l->parts.data, l->parts.n, l->out->names, l->traces, err));
    for (size_t k = 0; k < l->parts.n; k += (size_t)parts[k].part.n) {
        l->out->n_in_parts += parts[k].joined;
        again += parts[k].joined ? 0 : l->entries[parts[k].input].size;
    }
    drop_parts(l);
    return again > 0 ? read_own(l, again, err) : TM_OK;
}

static int64_t size_of_all(const loader *l) {
    int64_t sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += l->entries[i].kind == TM_FILE_TRACE ? l->entries[i].size : 0;
    return sum;
}

/* The rank of each trace, now that all of its metadata was seen: the map, the metadata, the file's
 * name, or its place among the traces. */
static tm_status resolve_ranks(loader *l, tm_error *err) {
    int64_t position = -1, by_position = 0;
    for (size_t i = 0; i < l->n; i++) {
        tm_entry *e = &l->entries[i];
        /* Only its owner knows that a trace turned out bad, so bad ones count on every process. */
        position += e->kind == TM_FILE_TRACE || e->kind == TM_ENTRY_BAD;
        if (l->items[i].owner != l->self)
            *e = (tm_entry){0};
        if (!l->traces[i])
            continue;
        const tm_input *input = &l->options->inputs[e->input];
        int64_t rank = e->has_unit               ? e->rank /* nothing more is known by now */
                       : input->mapped_rank >= 0 ? input->mapped_rank
                       : l->traces[i]->rank >= 0 ? l->traces[i]->rank
                                                 : tm_rank_of_path(input->path);
        by_position += rank < 0;
        e->rank = rank >= 0 ? rank : position;
        if (l->traces[i]->world_size > l->out->world_size)
            l->out->world_size = l->traces[i]->world_size;
    }
    TM_TRY(tm_mpi_entries_sum(l->comm, l->entries, l->n, err));
    MPI_Allreduce(MPI_IN_PLACE, &l->out->world_size, 1, MPI_INT64_T, MPI_MAX, l->comm);
    MPI_Allreduce(&by_position, &l->out->n_by_position, 1, MPI_INT64_T, MPI_SUM, l->comm);
    return TM_OK;
}

/* Truncated traces that lost their base time take that of the others, which are of the same job;
 * the latest, where those differ. */
static void adopt_bases(loader *l) {
    int64_t base_ns = -1;
    for (size_t i = 0; i < l->n; i++)
        if (l->traces[i] && l->traces[i]->base_ns > base_ns)
            base_ns = l->traces[i]->base_ns;
    MPI_Allreduce(MPI_IN_PLACE, &base_ns, 1, MPI_INT64_T, MPI_MAX, l->comm);
    for (size_t i = 0; i < l->n && base_ns >= 0; i++)
        if (l->traces[i] && tm_trace_lacks_base(l->traces[i]))
            tm_trace_adopt_base(l->traces[i], base_ns);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static tm_status list_ranks(loader *l, tm_error *err) {
    size_t n = 0;
    l->out->ranks = malloc((l->n + 1) * sizeof *l->out->ranks);
    if (!l->out->ranks)
        return tm_fail_memory(err);
    for (size_t i = 0; i < l->n; i++)
        if (l->entries[i].kind == TM_FILE_TRACE)
            l->out->ranks[n++] = l->entries[i].rank;
    qsort(l->out->ranks, n, sizeof *l->out->ranks, by_value);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || l->out->ranks[i] != l->out->ranks[i - 1])
            l->out->ranks[l->out->n_ranks++] = l->out->ranks[i];
    return n > 0 ? TM_OK : tm_fail(err, TM_ERR_INPUT, NULL, -1, "no trace could be read");
}

/* Builds the timeline of one rank from its traces here, in the order of the arguments. */
static tm_status build_rank(loader *l, int64_t rank, tm_error *err) {
    const tm_build_context context = {l->out->names, l->classifier, l->options->skip_bad,
                                      l->step_names};
    size_t n = 0;
    tm_trace **own = malloc(l->n * sizeof *own);
    size_t *input = malloc(l->n * sizeof *input);
    tm_status status = own && input ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < l->n && own && input; i++)
        if (l->traces[i] && l->entries[i].rank == rank) {
            input[n] = i;
            own[n++] = l->traces[i];
        }
    if (status == TM_OK && n > 0) {
        tm_timeline *timeline = &l->out->timelines[l->out->n_timelines];
        status = tm_timeline_build(own, n, rank, &context, timeline, err);
        l->out->n_timelines += status == TM_OK;
    }
    for (size_t k = 0; k < n && status == TM_OK; k++)
        if (own[k]->left_out)
            status = leave_out(l, path_of(l, input[k]), "overlapping",
                               "covers the same time as another trace of its rank", err);
    free(own);
    free(input);
    return status;
}

static tm_status build_all(loader *l, tm_error *err) {
    tm_status status = TM_OK;
    l->out->timelines = calloc(l->out->n_ranks, sizeof *l->out->timelines);
    if (!l->out->timelines)
        status = tm_fail_memory(err);
    for (size_t r = 0; r < l->out->n_ranks && status == TM_OK; r++)
        status = build_rank(l, l->out->ranks[r], err);
    return tm_mpi_agree(l->comm, status, err);
}

static tm_status prepare(loader *l, tm_error *err) {
    l->out->names = tm_names_create();
    tm_status status = l->out->names ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_classifier_create(l->options->comm_pattern, &l->classifier, err);
    if (status == TM_OK)
        status = tm_step_names_create(l->options->step_pattern, &l->step_names, err);
    return tm_mpi_agree(l->comm, status, err);
}

/* Traces of one rank may have been read on several processes where the rank became known only
 * behind the events; then the plan is made again with what is known now, and their new owner reads
 * them once more. */
static tm_status run(loader *l, tm_error *err) {
    TM_TRY(prepare(l, err));
    TM_TRY(tm_mpi_exports_make(l->comm, l->options, l->left_out, &l->exports, err));
    TM_TRY(sniff_all(l, err));
    tm_status status = list_parts(l, err);
    TM_TRY(tm_mpi_agree(l->comm, status == TM_OK ? plan(l, err) : status, err));
    TM_TRY(read_own(l, size_of_all(l), err));
    TM_TRY(join_parts(l, err));
    TM_TRY(tm_mpi_agree(l->comm, resolve_ranks(l, err), err));
    bool split = false;
    for (size_t i = 0; i < l->n; i++)
        for (size_t k = 0; k < i && !split; k++)
            split = l->entries[i].kind == TM_FILE_TRACE && l->entries[k].kind == TM_FILE_TRACE &&
                    l->entries[i].rank == l->entries[k].rank &&
                    l->items[i].owner != l->items[k].owner;
    if (split) {
        TM_TRY(tm_mpi_agree(l->comm, plan(l, err), err));
        TM_TRY(read_own(l, size_of_all(l), err));
    }
    adopt_bases(l);
    TM_TRY(tm_mpi_agree(l->comm, list_ranks(l, err), err));
    TM_TRY(build_all(l, err));
    return tm_mpi_find_communicators(l->comm, l->out, err);
}

tm_status tm_mpi_load(MPI_Comm comm, const tm_load_options *options, tm_table *left_out,
                      tm_loaded *out, tm_error *err) {
    tm_loaded loaded = {.world_size = -1};
    loader l = {.comm = comm, .options = options, .left_out = left_out, .out = &loaded};
    l.parts = TM_VEC(tm_mpi_part);
    MPI_Comm_rank(comm, &l.self);
    MPI_Comm_size(comm, &l.n_processes);
    tm_status status = run(&l, err);
    for (size_t i = 0; l.traces && i < l.n; i++)
        drop_trace(&l, i);
    drop_parts(&l);
    tm_exports_remove(&l.exports, l.self == 0); /* all have agreed that the reading is over */
    free(l.entries);
    free(l.items);
    free(l.traces);
    tm_classifier_destroy(l.classifier);
    tm_step_names_destroy(l.step_names);
    if (status == TM_OK)
        *out = loaded;
    else
        tm_loaded_free(&loaded);
    return status;
}

void tm_loaded_free(tm_loaded *loaded) {
    for (size_t i = 0; loaded->timelines && i < loaded->n_timelines; i++)
        tm_timeline_destroy(&loaded->timelines[i]);
    free(loaded->timelines);
    free(loaded->ranks);
    tm_names_destroy(loaded->names);
    *loaded = (tm_loaded){.world_size = -1};
}
