#!/usr/bin/env bash
# MPICH 4.0.2 and UCX 1.13.1 (Debian 12: mpich, libmpich-dev) on x86-64
#
# Expected: MPI_Init, MPI_Barrier, MPI_Finalize end, however the processes reach one another.
# Seen: over TCP, which is what processes of different hosts have without InfiniBand, about every second
# run of four processes hangs in MPI_Finalize. Three wait for the process manager in its barrier, and
# no longer answer; the fourth waits in ucp_worker_progress until they let its connections end
# (MPIDI_UCX_mpi_finalize_hook, which asks for the barrier last; newer ones ask for it first).
# Between processes of one host, over shared memory, it ends.
#
# Output: how many of 10 runs do not end within 10 seconds though all four reached MPI_Finalize.
set -euo pipefail

if ! command -v mpicc.mpich mpiexec.mpich >/dev/null; then
    echo "mpich and libmpich-dev are not installed"
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >ends.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "finalizes\n");
    return MPI_Finalize();
}
C
mpicc.mpich -o ends ends.c

# over TRANSPORTS  Prints how many runs of 10 hang at their end.
over() {
    local hang=0
    for _ in {1..10}; do
        UCX_TLS=$1 timeout -k 2 10 mpiexec.mpich -n 4 ./ends >said 2>&1 ||
            [[ $(grep -c finalizes said) != 4 ]] || hang=$((hang + 1))
    done
    echo "$hang"
}
tcp=$(over tcp,self)
memory=$(over sysv,self)
echo "TCP: $tcp of 10 runs hang, shared memory: $memory"
[[ $tcp -gt 0 && $memory -eq 0 ]]
