#!/usr/bin/env bash
# Open MPI 4.1.4 and hwloc 2.9.0 (Debian 12: libopenmpi-dev, openmpi-bin, which depend on
# libhwloc-plugins), and strace, on x86-64
#
# Expected: MPI_Init looks for cores and networks, and asks no display.
# Seen: hwloc's plugin "gl" looks for NVIDIA GPUs that drive a screen. Without DISPLAY it asks each X
# server from :0 to :9, by two Unix sockets and by TCP to ports 6000 to 6009 of this host. Of a program
# that starts without mpirun this happens three times: once in the program, twice in the daemon orted
# that it starts. HWLOC_COMPONENTS=-gl turns it off.
#
# Output: how many TCP connections to X servers MPI_Init and MPI_Finalize try, as they come and with
# HWLOC_COMPONENTS=-gl.
set -euo pipefail

for program in mpicc.openmpi strace; do
    command -v "$program" >/dev/null || {
        echo "libopenmpi-dev, openmpi-bin or strace is not installed"
        exit 1
    }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >starts.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
C
mpicc.openmpi -o starts starts.c

# asked COMPONENTS  Prints how often ports of X servers are connected to.
asked() {
    env -u DISPLAY -u HWLOC_PLUGINS_PATH HWLOC_COMPONENTS="$1" \
        strace -f -qq -e trace=connect -o calls ./starts
    grep -c 'sin_port=htons(600[0-9]).*127\.0\.0\.1' calls || true
}
as_it_comes=$(asked "")
without_gl=$(asked -gl)
echo "as it comes: $as_it_comes connections to X servers, with HWLOC_COMPONENTS=-gl: $without_gl"
[[ $as_it_comes -ge 10 && $without_gl -eq 0 ]]
