#include "set_exposed.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "waits/exposed.h"
#include "waits/most_exposed.h"

/* A kernel of an operation. The process that matched the operation sends it to the process that
 * holds the kernel's rank, which sets exposed_ns and sends it back. Sent as bytes. */
typedef struct asked {
    int64_t rank;
    int64_t record; /* index into the records of the process that asks */
    int64_t exposed_ns;
    uint32_t event;
    int32_t origin, asker; /* process that holds the rank; process that has the record */
    int32_t none;          /* padding, 0 */
} asked;

static int to_rank(const void *record, int n_processes) {
    (void)n_processes;
    return ((const asked *)record)->origin;
}

static int to_asker(const void *record, int n_processes) {
    (void)n_processes;
    return ((const asked *)record)->asker;
}

static bool ask(const tm_collectives *collectives, int self, tm_vec *out) {
    const tm_comm_record *records = collectives->records.data;
    bool ok = true;
    for (size_t i = 0; i < collectives->records.n && ok; i++) {
        const asked kernel = {.rank = records[i].rank,
                              .record = (int64_t)i,
                              .event = records[i].event,
                              .origin = records[i].origin,
                              .asker = self};
        ok = tm_vec_append(out, &kernel, 1) != NULL;
    }
    return ok;
}

static void answer(const tm_timeline *timelines, size_t n, asked *kernel) {
    const size_t at = TM_FIRST_FROM(tm_timeline, rank, timelines, n, kernel->rank);
    kernel->exposed_ns = tm_timeline_collective(&timelines[at], kernel->event)->exposed_ns;
}

static tm_status set_records(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                             tm_collectives *collectives, tm_error *err) {
    tm_vec out = TM_VEC(asked), here = TM_VEC(asked), back = TM_VEC(asked);
    int self;
    MPI_Comm_rank(comm, &self);
    const bool ok = ask(collectives, self, &out);
    tm_status status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &out, to_rank, &here, err);
    for (size_t i = 0; i < here.n && status == TM_OK; i++)
        answer(timelines, n, (asked *)here.data + i);
    if (status == TM_OK)
        status = tm_mpi_shuffle(comm, &here, to_asker, &back, err);
    const asked *answered = back.data;
    for (size_t i = 0; i < back.n && status == TM_OK; i++)
        ((tm_comm_record *)collectives->records.data)[answered[i].record].exposed_ns =
            answered[i].exposed_ns;
    TM_VECS_FREE(&out, &here, &back);
    return status;
}

static tm_status find_most(MPI_Comm comm, tm_collectives *collectives, tm_error *err) {
    tm_vec own = TM_VEC(tm_exposed_key), all = TM_VEC(tm_exposed_key);
    tm_status status = tm_mpi_agree(comm, tm_exposed_find(collectives, &own, err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, &all, err);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, tm_exposed_keep(&all, collectives, err), err);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}

tm_status tm_mpi_exposed(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) {
    tm_status status = TM_OK;
    for (size_t i = 0; i < n && status == TM_OK; i++)
        status = tm_exposed_set(&timelines[i], err);
    TM_TRY(tm_mpi_agree(comm, status, err));
    TM_TRY(set_records(comm, timelines, n, collectives, err));
    return find_most(comm, collectives, err);
}
