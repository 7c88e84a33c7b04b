/* Determines the rank of each trace and the ranks of the job. */
#include <stdlib.h>

#include "base/keys.h"
#include "base/median.h"
#include "loader.h"
#include "mpi/exchange/agree.h"

static bool may_have_rank(const tm_entry *e) {
    return e->kind == TM_FILE_TRACE || e->kind == TM_ENTRY_BAD;
}

/* Returns what is known of an entry's rank. A unit's rank is known before reading or never. */
static tm_trace_rank trace_rank_of(const tm_loader *l, size_t i) {
    const tm_entry *e = &l->entries[i];
    const tm_input *input = &l->options->inputs[e->input];
    const tm_format *format = tm_entry_format(e);
    bool of_communicator = format && format->of_communicator;
    bool is_copy = e->has_unit && format && format->units_are_copies;
    tm_trace_rank trace = {.mapped = e->has_unit ? e->rank : input->mapped_rank,
                           .reported = is_copy       ? e->unit.reported
                                       : e->has_unit ? -1
                                                     : e->reported,
                           .world_size = e->world_size,
                           .begin_ns = e->begin_ns,
                           .end_ns = e->end_ns,
                           .label =
                               tm_rank_label_of_path(e->has_unit ? "" : input->path, input->below),
                           .is_bad = e->kind == TM_ENTRY_BAD,
                           .is_copy = is_copy || of_communicator,
                           .of_communicator = of_communicator,
                           .has_device = e->has_device != 0};
    return trace;
}

/* Leaves out an entry that is not a rank's trace. If a file has several such entries, reports the
 * file once. */
static tm_status leave_out(tm_loader *l, size_t i, const tm_trace_rank *trace, tm_error *err) {
    static const struct {
        const char *reason, *message;
    } why[] = {
        [TM_RANK_HELPER] = {"helper", "a helper process without device work and without a rank of "
                                      "the job (--rank-map can give it a rank)"},
        [TM_RANK_COVERED] =
            {"covered",
             "contains only ranks that have traces of their own, which are read instead"},
        [TM_RANK_NO_RANK] = {"unranked",
                             "does not give its rank, and other traces cover every rank of the "
                             "job; assign a rank with --rank-map, or leave it out"},
        [TM_RANK_NO_WORLD] =
            {"unranked",
             "its rank of the job is unknown, because the trace gives only its rank in one of "
             "several communicators; assign a rank with --rank-map, or leave it out"},
        [TM_RANK_SMALLER] = {"unranked",
                             "its rank of the job is unknown: another trace's communicator has "
                             "more ranks, so this trace belongs to a part of that job, or to "
                             "another run; assign a rank with --rank-map, or leave it out"},
        [TM_RANK_TWICE] =
            {"unranked", "another trace has the same rank in its communicator at the same time: "
                         "one is a copy, or the communicators are parts of the job, or the traces "
                         "belong to two jobs; assign a rank with --rank-map, or leave it out"},
    };
    const char *path = tm_loader_path(l, i), *message = why[trace->fate].message;
    bool said = false;
    l->entries[i].kind = TM_FILE_OTHER;
    if (l->traces[i])
        tm_loader_drop_trace(l, i);
    if (trace->fate >= TM_RANK_NO_RANK && !l->options->skip_bad)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "%s", message);
    for (size_t k = i; k-- > 0 && l->entries[k].input == l->entries[i].input;)
        said = said || l->entries[k].kind == TM_FILE_OTHER;
    return l->self != 0 || said
               ? TM_OK
               : tm_entries_leave_out(l->left_out, path, why[trace->fate].reason, message, err);
}

/* Applies the decision on an entry's rank. All processes make the same decision. */
static tm_status take(tm_loader *l, size_t i, const tm_trace_rank *trace, bool were_read,
                      tm_error *err) {
    tm_entry *e = &l->entries[i];
    if (trace->is_bad)
        return TM_OK;
    if (trace->fate == TM_RANK_COVERED || (trace->fate != TM_RANK_KEPT && were_read))
        return leave_out(l, i, trace, err);
    if (were_read || !trace->by_place)
        e->rank = trace->rank;
    e->replica = trace->replica;
    l->out->n_traces++;
    l->out->n_by_position += trace->by_place;
    l->out->n_by_path += trace->by_place && tm_entry_is_by_path(e);
    return TM_OK;
}

tm_status tm_loader_decide_ranks(tm_loader *l, bool were_read, tm_error *err) {
    tm_trace_rank *traces = malloc((l->n + 1) * sizeof *traces);
    size_t n = 0;
    if (!traces)
        return tm_fail_memory(err);
    for (size_t i = 0; i < l->n; i++)
        if (may_have_rank(&l->entries[i]))
            traces[n++] = trace_rank_of(l, i);
    l->moves.n = 0;
    l->out->n_traces = l->out->n_by_position = l->out->n_by_path = 0;
    tm_status status = tm_ranks_decide(traces, n, &l->moves, &l->out->world_size, err);
    for (size_t i = 0, k = 0; i < l->n && status == TM_OK; i++)
        if (may_have_rank(&l->entries[i]))
            status = take(l, i, &traces[k++], were_read, err);
    free(traces);
    return status;
}

static bool has_device(const tm_trace *trace) {
    const tm_track *tracks = trace->tracks.data;
    for (size_t t = 0; t < trace->tracks.n; t++)
        if (tracks[t].kind == TM_TRACK_GPU)
            return true;
    return false;
}

/* Sets in the entry what the trace records about its rank. The trace must have been read
 * completely. */
static void tell(const tm_trace *trace, tm_entry *e) {
    tm_span span;
    tm_trace_range(trace, &span);
    e->reported = trace->rank;
    e->world_size = trace->world_size;
    e->begin_ns = span.begin_ns;
    e->end_ns = span.end_ns;
    e->has_device = e->has_unit || has_device(trace);
}

tm_status tm_loader_spread(tm_loader *l, tm_error *err) {
    for (size_t i = 0; i < l->n; i++) {
        /* Only the process that read a trace knows its data and whether it is bad. */
        if (l->items[i].owner != l->self)
            l->entries[i] = (tm_entry){0};
        if (l->traces[i])
            tell(l->traces[i], &l->entries[i]);
    }
    return tm_mpi_entries_sum(l->comm, l->entries, l->n, err);
}

tm_status tm_loader_list_ranks(tm_loader *l, tm_error *err) {
    size_t n = 0;
    l->out->ranks = malloc((l->n + 1) * sizeof *l->out->ranks);
    if (!l->out->ranks)
        return tm_fail_memory(err);
    for (size_t i = 0; i < l->n; i++)
        if (l->entries[i].kind == TM_FILE_TRACE)
            l->out->ranks[n++] = l->entries[i].rank;
    tm_sort_values(l->out->ranks, n);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || l->out->ranks[i] != l->out->ranks[i - 1])
            l->out->ranks[l->out->n_ranks++] = l->out->ranks[i];
    return n > 0 ? TM_OK : tm_fail(err, TM_ERR_INPUT, NULL, -1, "no trace could be read");
}

/* Sets *split to whether different processes hold traces of the same rank. */
static tm_status find_split(const tm_loader *l, bool *split, tm_error *err) {
    tm_keys ranks = TM_KEYS(int64_t);
    tm_vec owners = TM_VEC(int); /* [rank] 1 + the process that holds the rank's first trace */
    bool ok = true;
    *split = false;
    for (size_t i = 0; i < l->n && ok; i++) {
        if (l->entries[i].kind != TM_FILE_TRACE)
            continue;
        int *owner = tm_keys_value(&ranks, &owners, &l->entries[i].rank);
        ok = owner != NULL;
        *split = *split || (ok && *owner != 0 && *owner != l->items[i].owner + 1);
        if (ok && *owner == 0)
            *owner = l->items[i].owner + 1;
    }
    tm_keys_free(&ranks);
    tm_vec_free(&owners);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_mpi_find_ranks(tm_loader *l, bool *split, tm_error *err) {
    TM_TRY(tm_mpi_agree(l->comm, tm_loader_spread(l, err), err));
    TM_TRY(tm_mpi_agree(l->comm, tm_loader_decide_ranks(l, true, err), err));
    return tm_mpi_agree(l->comm, find_split(l, split, err), err);
}
