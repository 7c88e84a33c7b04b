#include "host_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"

TM_ORDER_BY(by_rank, tm_host_rank, rank);

tm_status tm_mpi_host_ranks(MPI_Comm comm, const tm_names *names, const tm_timeline *timelines,
                            size_t n, tm_vec *all, tm_error *err) {
    tm_vec own = TM_VEC(tm_host_rank);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const tm_timeline *t = &timelines[i];
        const tm_host_rank rank = {t->rank, t->device, t->host,
                                   tm_host_number_of(tm_names_text(names, t->host).bytes)};
        ok = tm_vec_append(&own, &rank, 1) != NULL;
    }
    tm_status status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, all, err);
    if (status == TM_OK && all->n > 1)
        qsort(all->data, all->n, all->size, by_rank);
    tm_vec_free(&own);
    return status;
}

const tm_host_rank *tm_host_rank_find(const tm_vec *all, int64_t rank) {
    const tm_host_rank wanted = {.rank = rank};
    return all->n > 0 ? bsearch(&wanted, all->data, all->n, all->size, by_rank) : NULL;
}

static bool set_host(tm_names *names, int32_t number, tm_timeline *timeline) {
    char name[32];
    snprintf(name, sizeof name, "host%" PRId32, number);
    if (number >= 0)
        timeline->inferred_host = tm_names_intern_string(names, name);
    return timeline->inferred_host != TM_NAME_FAILED;
}

tm_status tm_mpi_infer_hosts(MPI_Comm comm, tm_names *names, tm_timeline *timelines, size_t n,
                             tm_error *err) {
    tm_vec all = TM_VEC(tm_host_rank);
    TM_TRY(tm_mpi_host_ranks(comm, names, timelines, n, &all, err));
    tm_status status = tm_hosts_infer(all.data, all.n, err);
    bool ok = true;
    for (size_t i = 0; i < n && status == TM_OK && ok; i++)
        ok = set_host(names, tm_host_rank_find(&all, timelines[i].rank)->number, &timelines[i]);
    tm_vec_free(&all);
    return tm_mpi_agree(comm, ok ? status : tm_fail_memory(err), err);
}
