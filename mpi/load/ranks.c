/* Which rank each trace is of, and which ranks the job has. */
#include <stdlib.h>

#include "base/keys.h"
#include "base/median.h"
#include "identity/names.h"
#include "loader.h"
#include "mpi/agree.h"

static tm_status resolve_ranks(tm_loader *l, tm_error *err) {
    int64_t position = -1, counts[2] = {0}; /* by position, and of these by path */
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
        counts[0] += rank < 0;
        counts[1] += rank < 0 && tm_entry_is_by_path(e);
        e->rank = rank >= 0 ? rank : position;
        if (l->traces[i]->world_size > l->out->world_size)
            l->out->world_size = l->traces[i]->world_size;
    }
    TM_TRY(tm_mpi_entries_sum(l->comm, l->entries, l->n, err));
    MPI_Allreduce(MPI_IN_PLACE, &l->out->world_size, 1, MPI_INT64_T, MPI_MAX, l->comm);
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, l->comm);
    l->out->n_by_position = counts[0];
    l->out->n_by_path = counts[1];
    return TM_OK;
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

/* Whether traces of one rank are of several processes. */
static tm_status find_split(const tm_loader *l, bool *split, tm_error *err) {
    tm_keys ranks = TM_KEYS(int64_t);
    tm_vec owners = TM_VEC(int); /* of the first trace of each, + 1 */
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
    TM_TRY(tm_mpi_agree(l->comm, resolve_ranks(l, err), err));
    return tm_mpi_agree(l->comm, find_split(l, split, err), err);
}
