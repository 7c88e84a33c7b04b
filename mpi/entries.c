#include "entries.h"

#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "share.h"
#include "tmerge/timeline.h"

enum { NUMBERS = sizeof(tm_entry) / sizeof(int64_t) };

static tm_status add_units(const tm_input *input, const tm_vec *units, const tm_entry *file,
                           tm_vec *found, tm_error *err) {
    const tm_unit *v = units->data;
    int64_t n = (int64_t)units->n;
    for (int64_t k = 0; k < n; k++) {
        tm_entry entry = *file;
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

tm_status tm_entries_of_trace(const tm_input *input, const tm_file_info *info, tm_entry *entry,
                              tm_vec *found, bool *foreign, tm_error *err) {
    tm_entry file = {
        .input = entry->input,
        .kind = TM_FILE_TRACE,
        .weight = info->weight,
        .size = info->size_bytes,
        .has_parts = info->has_parts,
        .rank = input->mapped_rank >= 0 ? input->mapped_rank
                : info->rank >= 0       ? info->rank
                                        : tm_rank_of_path(input->path),
    };
    *foreign = false;
    if (!info->format->list_units) {
        *entry = file;
        return tm_vec_append(found, entry, 1) ? TM_OK : tm_fail_memory(err);
    }
    tm_vec units = TM_VEC(tm_unit);
    bool known = input->mapped_rank >= 0 || tm_rank_of_path(input->path) >= 0;
    tm_status status = tm_file_list_units(info, known, &units, foreign, err);
    if (status == TM_OK)
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

/* Of one input the entries come from one process, side by side and in their order. Returns them by
 * input; NULL when memory is out. */
static tm_entry *sort(const tm_entry *all, size_t n, size_t n_inputs) {
    size_t *place = calloc(n_inputs + 1, sizeof *place);
    tm_entry *sorted = malloc((n + 1) * sizeof *sorted);
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

/* Numbers that each process has, and where they go in those of all; false where they are too many
 * for one message. */
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

void tm_entries_tie_clocks(tm_entry *entries, size_t n) {
    const int64_t apart_ns = 1000000000;
    for (size_t i = 0; i < n; i++) {
        tm_unit *own = &entries[i].unit;
        int64_t lowest = own->clock_ns;
        for (size_t k = 0; k < n && entries[i].has_unit && own->host != 0 && lowest >= 0; k++) {
            const tm_unit *other = &entries[k].unit;
            /* What was set before was lowered by less than a second, so it may end a chain here. */
            if (entries[k].has_unit && other->host == own->host && other->clock_ns >= 0 &&
                other->clock_ns < lowest && own->clock_ns - other->clock_ns < apart_ns)
                lowest = other->clock_ns;
        }
        own->clock_ns = lowest;
    }
}
