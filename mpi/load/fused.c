/* In some files, the data that show how many ranks the file holds come at the end. Such a file is
 * first read as one trace. If it turns out to hold several ranks, its units are listed here, and
 * then read. */
#include <stdlib.h>

#include "loader.h"
#include "mpi/exchange/agree.h"

static tm_status list_own(tm_loader *l, tm_vec *found, tm_error *err) {
    for (size_t i = 0; i < l->n; i++)
        if (l->traces[i] && l->traces[i]->is_fused) {
            tm_loader_drop_trace(l, i);
            TM_TRY(tm_loader_list_units(l, (size_t)l->entries[i].input, found, err));
        }
    return TM_OK;
}

/*
 * Replaces the entry of each input that has units by the entries of these units. Entries and units
 * are in the order of the inputs.
 * @param units  [n] entries of the units
 */
static tm_status replace(tm_loader *l, const tm_entry *units, size_t n, tm_error *err) {
    tm_entry *entries = calloc(l->n + n + 1, sizeof *entries);
    tm_trace **traces = calloc(l->n + n + 1, sizeof *traces);
    size_t to = 0;
    for (size_t i = 0; i < l->n && entries && traces; i++) {
        size_t first = to;
        for (size_t k = 0; k < n; k++)
            if (units[k].input == l->entries[i].input)
                entries[to++] = units[k];
        if (to > first)
            continue;
        entries[to] = l->entries[i];
        traces[to++] = l->traces[i];
    }
    if (!entries || !traces) {
        free(entries);
        free(traces);
        return tm_fail_memory(err);
    }
    free(l->entries);
    free(l->traces);
    l->entries = entries;
    l->traces = traces;
    l->n = to;
    return TM_OK;
}

tm_status tm_mpi_list_fused(tm_loader *l, bool *any, tm_error *err) {
    tm_vec found = TM_VEC(tm_entry);
    tm_entry *units = NULL;
    size_t n = 0;
    tm_status status = tm_mpi_agree(l->comm, list_own(l, &found, err), err);
    if (status == TM_OK)
        status = tm_mpi_entries_gather(l->comm, &found, &units, &n, err);
    tm_vec_free(&found);
    *any = n > 0;
    if (status == TM_OK && n > 0) {
        status = tm_mpi_agree(l->comm, tm_loader_spread(l, err), err);
        if (status == TM_OK)
            status = tm_mpi_agree(l->comm, replace(l, units, n, err), err);
        if (status == TM_OK)
            status = tm_mpi_agree(l->comm, tm_loader_decide_ranks(l, false, err), err);
    }
    free(units);
    return status;
}
