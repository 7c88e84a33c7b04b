#include "agree.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "backoff.h"
#include "base/hash.h"

bool tm_mpi_is_one(MPI_Comm comm, uint64_t value, bool counts) {
    /* The maximum is the complement of the minimum of the complements, so that one reduction finds
     * minimum and maximum. */
    uint64_t ends[2] = {counts ? value : UINT64_MAX, counts ? ~value : UINT64_MAX};
    tm_mpi_reduce(comm, ends, 2, MPI_UINT64_T, MPI_MIN);
    return ends[0] >= ~ends[1];
}

/* Gets this process's host name. Returns whether an error should name the host: the job runs on
 * several hosts and only some processes failed. */
static bool find_host(MPI_Comm comm, bool failed, char host[TM_HOST_MAX]) {
    (void)gethostname(host, TM_HOST_MAX - 1);
    bool one = tm_mpi_is_one(comm, tm_hash(TM_HASH_BEGIN, host, strlen(host)), true);
    return !tm_mpi_is_one(comm, failed, true) && !one;
}

tm_status tm_mpi_agree(MPI_Comm comm, tm_status status, tm_error *err) {
    int self, lowest;
    MPI_Comm_rank(comm, &self);
    lowest = status == TM_OK ? INT_MAX : self;
    tm_mpi_reduce(comm, &lowest, 1, MPI_INT, MPI_MIN);
    if (lowest == INT_MAX)
        return TM_OK;
    char host[TM_HOST_MAX] = "";
    bool several = find_host(comm, status != TM_OK, host);
    tm_error reported = {.status = status, .offset = -1};
    if (self == lowest && err) {
        reported = *err;
        reported.status = status;
        if (several && !reported.host[0]) /* an earlier agreement may have set the host */
            memcpy(reported.host, host, sizeof host);
    }
    MPI_Bcast(&reported, (int)sizeof reported, MPI_BYTE, lowest, comm);
    if (err)
        *err = reported;
    return reported.status;
}
