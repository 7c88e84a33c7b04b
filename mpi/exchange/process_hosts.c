#include "process_hosts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agree.h"
#include "identity/file.h"

/* A process's host. */
typedef struct reported {
    int first; /* lowest process on the host */
    char name[TM_HOST_MAX];
} reported;

/* Numbers the hosts in the order of their lowest processes. The loop reaches a host's lowest
 * process first, so that the host already has its number when the loop reaches its other
 * processes. */
static bool number_hosts(const reported *all, int n_processes, tm_hosts *out) {
    out->of = malloc((size_t)n_processes * sizeof *out->of);
    out->names = malloc((size_t)n_processes * sizeof *out->names);
    for (int p = 0; p < n_processes && out->of && out->names; p++) {
        if (all[p].first == p)
            memcpy(out->names[out->n], all[p].name, sizeof all[p].name);
        out->of[p] = all[p].first == p ? out->n++ : out->of[all[p].first];
    }
    return out->of && out->names;
}

tm_status tm_mpi_hosts_find(MPI_Comm comm, tm_hosts *out, tm_error *err) {
    int self, n_processes;
    reported own = {0};
    *out = (tm_hosts){.node = MPI_COMM_NULL};
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, self, MPI_INFO_NULL, &out->node);
    MPI_Allreduce(&self, &own.first, 1, MPI_INT, MPI_MIN, out->node);
    (void)gethostname(own.name, sizeof own.name - 1);
    reported *all = malloc((size_t)n_processes * sizeof *all);
    tm_status status = tm_mpi_agree(comm, all ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK) {
        MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, comm);
        bool ok = all && number_hosts(all, n_processes, out);
        status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    }
    free(all);
    if (status == TM_OK)
        out->self = out->of[self];
    out->leads = own.first == self;
    return status;
}

tm_status tm_mpi_same_file(MPI_Comm comm, const char *path, tm_error *err) {
    tm_identity own, first;
    TM_TRY(tm_mpi_agree(comm, tm_identity_of(path, &own, err), err));
    first = own;
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, comm);
    tm_status status = TM_OK;
    if (!tm_identity_is(&own, &first))
        status = tm_fail(err, TM_ERR_INPUT, path, -1,
                         "this file differs from the file on the first process's host: name a file "
                         "that all hosts share, or run on one host");
    return tm_mpi_agree(comm, status, err);
}

void tm_mpi_hosts_free(tm_hosts *hosts) {
    free(hosts->of);
    free(hosts->names);
    if (hosts->node &&
        hosts->node != MPI_COMM_NULL) /* if tm_mpi_hosts_find was not called, `node` is 0 */
        MPI_Comm_free(&hosts->node);
    *hosts = (tm_hosts){.node = MPI_COMM_NULL};
}
