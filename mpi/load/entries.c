#include "entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "identity/rank_from_path.h"
#include "inputs_merge.h"
#include "loader.h"
#include "mpi/exchange/agree.h"
#include "readers/converter.h"
#include "tmerge/store.h"
#include "tmerge/timeline.h"

enum { NUMBERS = sizeof(tm_entry) / sizeof(int64_t) };

static tm_status add_units(const tm_input *input, const tm_vec *units, const tm_entry *file,
                           tm_vec *found, tm_error *err) {
    const tm_unit *v = units->data;
    int64_t n = (int64_t)units->n;
    for (int64_t k = 0; k < n; k++) {
        tm_entry entry = *file;
        entry.has_parts = false;
        entry.has_unit = true;
        entry.unit = v[k];
        entry.weight = file->weight / n;
        entry.rank = v[k].rank;
        if (input->mapped_rank >= 0 && input->mapped_rank <= TM_RANK_MAX - k)
            entry.rank = input->mapped_rank + k;
        else if (n == 1 && tm_rank_of_path(input->path) >= 0)
            entry.rank = tm_rank_of_path(input->path);
        if (!tm_vec_append(found, &entry, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static int64_t number_of(const tm_format *format) {
    size_t n, i = 0;
    const tm_format *const *all = tm_formats(&n);
    while (i < n && all[i] != format)
        i++;
    return i < n ? (int64_t)i + 1 : 0;
}

const tm_format *tm_entry_format(const tm_entry *entry) {
    size_t n;
    const tm_format *const *all = tm_formats(&n);
    return entry->format > 0 ? all[entry->format - 1] : NULL;
}

/* Adds entries for a trace file: one for each unit, or one for a file without units. Also sets the
 * kind in `entry`. The first of these that has a rank gives it: the rank map, the content, the
 * file's name. For a file with one unit, the name comes before the content; for several units, the
 * name does not count. The rank map gives the rank of the first unit; the other units get the ranks
 * that follow. */
static tm_status add_trace(const tm_input *input, const tm_file_info *info, tm_entry *entry,
                           tm_vec *found, bool *foreign, tm_error *err) {
    tm_entry file = {
        .input = entry->input,
        .kind = TM_FILE_TRACE,
        .weight = info->weight,
        .size = info->size_bytes,
        .has_parts = info->has_parts,
        .format = number_of(info->format),
        .rank = input->mapped_rank >= 0 ? input->mapped_rank
                : info->rank >= 0       ? info->rank
                                        : tm_rank_of_path(input->path),
        .reported = info->rank,
        .world_size = -1,
        .has_device = true,
        .replica = -1,
    };
    *foreign = false;
    tm_vec units = TM_VEC(tm_unit);
    bool known = input->mapped_rank >= 0 || tm_rank_of_path(input->path) >= 0;
    tm_status status = tm_file_list_units(info, known, &units, foreign, err);
    if (status == TM_OK && units.n == 0) { /* the file is one trace */
        *entry = file;
        status = tm_vec_append(found, entry, 1) ? TM_OK : tm_fail_memory(err);
    } else if (status == TM_OK)
        status = add_units(input, &units, &file, found, err);
    tm_vec_free(&units);
    return status;
}

tm_status tm_entries_leave_out(tm_table *left_out, const char *path, const char *reason,
                               const char *message, tm_error *err) {
    tm_cell *row = tm_table_add_row(left_out);
    if (!row)
        return tm_fail_memory(err);
    TM_TRY(tm_table_set_text(left_out, &row[0], path, err));
    TM_TRY(tm_table_set_text(left_out, &row[1], reason, err));
    return tm_table_set_text(left_out, &row[2], message, err);
}

/* Sorts entries by input. Entries of the same input keep their order. Returns NULL when out of
 * memory. */
static tm_entry *sort(const tm_entry *all, size_t n, size_t n_inputs) {
    size_t *place = calloc(n_inputs + 1, sizeof *place);
    tm_entry *sorted = calloc(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n && place; i++)
        place[all[i].input + 1]++;
    for (size_t i = 0; i < n_inputs && place; i++)
        place[i + 1] += place[i];
    for (size_t i = 0; i < n && place && sorted; i++)
        sorted[place[all[i].input]++] = all[i];
    if (!place) {
        free(sorted);
        sorted = NULL;
    }
    free(place);
    return sorted;
}

/* Computes how many int64 numbers each process sends, and where they go in the gathered array.
 * Returns false if they are too many for one message. */
static bool lay_out(MPI_Comm comm, size_t n_own, int *counts, int *places, int64_t *total) {
    int n_processes;
    int64_t own = (int64_t)n_own * NUMBERS, most;
    MPI_Comm_size(comm, &n_processes);
    MPI_Allreduce(&own, total, 1, MPI_INT64_T, MPI_SUM, comm);
    most = *total;
    int count = most <= INT32_MAX ? (int)own : 0;
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, comm);
    for (int p = 0, at = 0; p < n_processes; p++) {
        places[p] = at;
        at += counts[p];
    }
    return most <= INT32_MAX;
}

static tm_status too_many(tm_error *err) {
    return tm_fail(err, TM_ERR_USAGE, NULL, -1, "more files than one run can take");
}

tm_status tm_mpi_entries_gather(MPI_Comm comm, const tm_vec *found, tm_entry **out, size_t *n,
                                tm_error *err) {
    int n_processes;
    int64_t total = 0;
    size_t n_inputs = 0;
    MPI_Comm_size(comm, &n_processes);
    int *counts = malloc(2 * (size_t)n_processes * sizeof *counts);
    tm_status status = tm_mpi_agree(comm, counts ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK && counts && !lay_out(comm, found->n, counts, counts + n_processes, &total))
        status = too_many(err);
    tm_entry *all = malloc((size_t)total * sizeof(int64_t) + 1);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, all ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK && counts && all) {
        MPI_Allgatherv(found->data, (int)found->n * NUMBERS, MPI_INT64_T, all, counts,
                       counts + n_processes, MPI_INT64_T, comm);
        *n = (size_t)total / NUMBERS;
        for (size_t i = 0; i < *n; i++)
            n_inputs = (size_t)all[i].input >= n_inputs ? (size_t)all[i].input + 1 : n_inputs;
        *out = sort(all, *n, n_inputs);
        status = tm_mpi_agree(comm, *out ? TM_OK : tm_fail_memory(err), err);
    }
    free(counts);
    free(all);
    return status;
}

tm_status tm_mpi_entries_sum(MPI_Comm comm, tm_entry *entries, size_t n, tm_error *err) {
    if (n > INT32_MAX / NUMBERS)
        return too_many(err);
    if (MPI_Allreduce(MPI_IN_PLACE, entries, (int)n * NUMBERS, MPI_INT64_T, MPI_SUM, comm) !=
        MPI_SUCCESS)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI_Allreduce failed");
    return TM_OK;
}

/* The sessions of a host share its monotonic clock. But each session records its start only to a
 * second, so the epochs that follow from these starts differ. If epochs of a host differ by less
 * than a second, sets them to the lowest of them. */
static void tie_clocks(tm_entry *entries, size_t n) {
    const int64_t apart_ns = 1000000000;
    for (size_t i = 0; i < n; i++) {
        tm_unit *own = &entries[i].unit;
        int64_t lowest = own->clock_ns;
        for (size_t k = 0; k < n && entries[i].has_unit && own->host != 0 && lowest >= 0; k++) {
            const tm_unit *other = &entries[k].unit;
            /* entries before i already have the lowest epoch near theirs */
            if (entries[k].has_unit && other->host == own->host && other->clock_ns >= 0 &&
                other->clock_ns < lowest && own->clock_ns - other->clock_ns < apart_ns)
                lowest = other->clock_ns;
        }
        own->clock_ns = lowest;
    }
}

/* An entry, with the path by which order_by_path sorts it. */
typedef struct by_path {
    const char *path;
    size_t place;
    tm_entry entry;
} by_path;

static int in_order(const void *a, const void *b) {
    const by_path *x = a, *y = b;
    int order = tm_natural_order(x->path, y->path);
    order = order ? order : strcmp(x->path, y->path);
    return order ? order : tm_order_u64(x->place, y->place);
}

/* Sorts by path the entries that have no rank and whose format has by_path. Other entries keep
 * their places. */
static tm_status order_by_path(tm_loader *l, tm_error *err) {
    tm_vec found = TM_VEC(by_path);
    bool ok = true;
    for (size_t i = 0; i < l->n && ok; i++) {
        const by_path at = {tm_loader_path(l, i), i, l->entries[i]};
        ok = !tm_entry_is_by_path(&at.entry) || at.entry.rank >= 0 || tm_vec_append(&found, &at, 1);
    }
    by_path *v = found.data;
    if (ok && found.n > 1) {
        size_t n = 0;
        qsort(v, found.n, found.size, in_order);
        for (size_t i = 0; i < l->n; i++)
            if (tm_entry_is_by_path(&l->entries[i]) && l->entries[i].rank < 0)
                l->entries[i] = v[n++].entry;
    }
    tm_vec_free(&found);
    return ok ? TM_OK : tm_fail_memory(err);
}

const char *tm_loader_path(const tm_loader *l, size_t i) {
    return l->options->inputs[l->entries[i].input].path;
}

const char *tm_loader_file(const tm_loader *l, size_t input) {
    const char *export = l->exports.paths[input];
    return export ? export : l->options->inputs[input].path;
}

const uint64_t *tm_loader_seen(const tm_loader *l, size_t input) {
    const uint64_t *export = l->exports.seen[input];
    return export ? export : l->options->inputs[input].seen;
}

tm_status tm_loader_bad_input(const tm_loader *l, tm_entry *entry, tm_status status,
                              tm_error *err) {
    char text[TM_PATH_MAX + TM_MESSAGE_MAX + 64];
    const tm_input *input = &l->options->inputs[entry->input];
    tm_error failure = *err;
    if (l->exports.paths[entry->input] && status == TM_ERR_INPUT)
        status = tm_fail(err, status, input->path, failure.offset, "in its export: %.480s",
                         failure.message);
    if (status != TM_ERR_INPUT ||
        !(l->options->skip_bad || (failure.nothing && input->from_folder)))
        return status;
    tm_error_text(err, text, sizeof text);
    entry->kind = TM_ENTRY_BAD;
    return tm_entries_leave_out(l->left_out, input->path, "unreadable", text, err);
}

/* Adds an entry for an input that is not read: an export or a report for which another file is
 * read, or a report that could not be exported. */
static tm_status pass_over(tm_loader *l, size_t i, tm_vec *found, tm_error *err) {
    const char *path = l->options->inputs[i].path;
    int state = l->exports.states[i];
    tm_entry entry = {.input = (int64_t)i, .kind = TM_FILE_OTHER, .reported = -1};
    tm_status status = TM_OK;
    if (state == TM_EXPORT_BAD)
        entry.kind = TM_ENTRY_BAD;
    else if (state == TM_EXPORT_GIVEN)
        status = tm_entries_leave_out(l->left_out, path, "exported",
                                      "its export in the same folder is read instead", err);
    else
        status = tm_entries_leave_out(l->left_out, path, "outdated",
                                      "this export is older than its report, which is read instead",
                                      err);
    TM_TRY(status);
    return tm_vec_append(found, &entry, 1) ? TM_OK : tm_fail_memory(err);
}

/* Returns the path of another input that is a better file of the same recording; NULL if there is
 * none. */
static const char *covering(const tm_loader *l, size_t i, const tm_format *format) {
    const tm_input *inputs = l->options->inputs;
    for (size_t k = 0; k < l->options->n_inputs && format->is_covered; k++)
        if (k != i && format->is_covered(inputs[i].path, inputs[k].path))
            return inputs[k].path;
    return NULL;
}

/* Returns the path of another input that a tool read to write this input, which is no trace; NULL
 * if there is none. */
static const char *result_of(const tm_loader *l, size_t i) {
    const tm_input *inputs = l->options->inputs;
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    for (size_t f = 0; f < n; f++)
        for (size_t k = 0; k < l->options->n_inputs && formats[f]->is_result; k++)
            if (k != i && formats[f]->is_result(inputs[i].path, inputs[k].path))
                return inputs[k].path;
    return NULL;
}

static tm_status leave_covered(tm_loader *l, size_t i, const char *other, tm_error *err) {
    char text[TM_MESSAGE_MAX];
    snprintf(text, sizeof text, "%s, of the same recording, is read instead", other);
    return tm_entries_leave_out(l->left_out, l->options->inputs[i].path, "covered", text, err);
}

static const char not_a_trace[] = "not a trace";

/* Appends the content of an input to `found`: one entry, or one per unit. */
static tm_status sniff_one(tm_loader *l, size_t i, tm_vec *found, tm_error *err) {
    const tm_input *input = &l->options->inputs[i];
    tm_file_info info = {.kind = TM_FILE_OTHER};
    tm_entry entry = {.input = (int64_t)i, .kind = TM_FILE_OTHER, .reported = -1};
    bool foreign = false;
    size_t before = found->n;
    int state = l->exports.states[i];
    if (state != TM_EXPORT_NONE && state != TM_EXPORT_DONE && state != TM_EXPORT_KEPT)
        return pass_over(l, i, found, err);
    tm_status status = tm_file_sniff(tm_loader_file(l, i), &info, err);
    const char *other = status == TM_OK && info.format ? covering(l, i, info.format) : NULL;
    if (status == TM_OK && info.kind == TM_FILE_OTHER && !input->from_folder)
        other = result_of(l, i);
    if (other)
        status = leave_covered(l, i, other, err);
    else if (status == TM_OK && info.kind == TM_FILE_TRACE)
        status = add_trace(input, &info, &entry, found, &foreign, err);
    if (status == TM_OK && info.kind == TM_FILE_STORE && tm_store_is_store(input->path))
        status = tm_entries_leave_out(l->left_out, input->path, "store", "a tmerge store", err);
    else if (status == TM_OK && info.kind == TM_FILE_PAGE)
        status =
            tm_entries_leave_out(l->left_out, input->path, "page", "a page that tmerge wrote", err);
    else if ((status == TM_OK && info.kind != TM_FILE_TRACE && !other) || foreign) {
        const tm_converter *report = l->exports.paths[i] ? NULL : tm_converter_of(input->path);
        char advice[TM_MESSAGE_MAX];
        if (report)
            report->advise(input->path, advice, sizeof advice);
        if (input->from_folder && !l->exports.paths[i])
            status =
                tm_entries_leave_out(l->left_out, input->path, "other",
                                     report ? advice : (foreign ? err->message : not_a_trace), err);
        else if (!foreign)
            status = report ? tm_fail(err, TM_ERR_INPUT, input->path, -1, "%s", advice)
                            : tm_format_fail_unknown(input->path, err);
    }
    if (status != TM_OK)
        TM_TRY(tm_loader_bad_input(l, &entry, status, err));
    return found->n > before || tm_vec_append(found, &entry, 1) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_loader_list_units(tm_loader *l, size_t i, tm_vec *found, tm_error *err) {
    tm_file_info info;
    tm_entry entry = {.input = (int64_t)i, .kind = TM_FILE_OTHER, .reported = -1};
    bool foreign;
    size_t before = found->n;
    tm_status status = tm_file_sniff(tm_loader_file(l, i), &info, err);
    info.has_units = true;
    if (status == TM_OK)
        status = add_trace(&l->options->inputs[i], &info, &entry, found, &foreign, err);
    if (status == TM_OK && !((const tm_entry *)found->data)[before].has_unit) {
        found->n = before;
        status = tm_fail(err, TM_ERR_INPUT, l->options->inputs[i].path, -1,
                         "contains the traces of several ranks, which cannot be separated; give "
                         "the ranks' own traces");
    }
    if (status != TM_OK)
        TM_TRY(tm_loader_bad_input(l, &entry, status, err));
    return found->n > before || tm_vec_append(found, &entry, 1) ? TM_OK : tm_fail_memory(err);
}

/* Reports that there is no trace. If a file was left out, says why. */
static tm_status fail_without_traces(const tm_loader *l, tm_error *err) {
    tm_status status = TM_OK;
    for (size_t i = 0; i < l->left_out->n_rows && status == TM_OK; i++) {
        const tm_cell *row = tm_table_row(l->left_out, i);
        if (strcmp(row[1].value.text, "other") == 0 && strcmp(row[2].value.text, not_a_trace) != 0)
            status = tm_fail(err, TM_ERR_INPUT, row[0].value.text, -1, "%s", row[2].value.text);
    }
    TM_TRY(tm_mpi_agree(l->comm, status, err));
    return tm_fail(err, TM_ERR_INPUT, NULL, -1, "there is no trace to read");
}

tm_status tm_mpi_list_entries(tm_loader *l, tm_error *err) {
    tm_status status = TM_OK;
    tm_vec found = TM_VEC(tm_entry);
    for (size_t i = 0; i < l->options->n_inputs && status == TM_OK; i++)
        if (tm_share_reader(&l->readers, tm_loader_seen(l, i), i) == l->self)
            status = sniff_one(l, i, &found, err);
    status = tm_mpi_agree(l->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_entries_gather(l->comm, &found, &l->entries, &l->n, err);
    tm_vec_free(&found);
    TM_TRY(status);
    TM_TRY(tm_mpi_agree(l->comm, order_by_path(l, err), err));
    tie_clocks(l->entries, l->n);
    l->traces = calloc(l->n + 1, sizeof *l->traces);
    TM_TRY(tm_mpi_agree(l->comm, l->traces ? TM_OK : tm_fail_memory(err), err));
    TM_TRY(tm_mpi_agree(l->comm, tm_loader_decide_ranks(l, false, err), err));
    return l->out->n_traces > 0 ? TM_OK : fail_without_traces(l, err);
}
