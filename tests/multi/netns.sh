#!/usr/bin/env bash
# netns.sh: makes "hosts" on one machine to test MPI programs over TCP between them, as root; only
# needs the packages iproute2 and util-linux.
#
#   netns.sh up [N]             makes h1 ... hN (3), replacing existing ones
#   netns.sh exec HOST CMD...   runs a command on a host, like ssh, in the current folder
#   netns.sh mpirun ARG...      mpirun on h1 that starts its daemons with nsenter instead of ssh;
#                               requires --host h1:2,h2:2 etc.; HOSTS_FROM=h2 starts it on h2
#   netns.sh cut|mend HOST      takes the host's link down or up (a partition: packets vanish)
#   netns.sh crash HOST         loses the host: takes its link down, then kills its processes
#   netns.sh ps [HOST]          lists processes on the hosts, without their init
#   netns.sh down               ends all hosts with everything on them, and nothing else
#
# Each host has its own network (eth0 10.77.0.N, a bridge between them), host name, IPC, mounts:
# /tmp and /dev/shm are its own, /mnt/local is its own disk, /mnt/shared is shared by all.
# All are in one PID namespace: when its first process ends, so do all, however this script ended.
# The machine's own network and mounts stay unchanged.
#   HOSTS_DIR    state, disks and the shared folder (/tmp/hosts)
#   HOSTS_KEEP   folders under /tmp that hosts see too, at the same path (none)
#   HOSTS_LOCAL  size of /mnt/local: a tmpfs, "64m"; unset: a folder of HOSTS_DIR
# shellcheck disable=SC2016 # scripts for other shells stand in single quotes
set -euo pipefail
dir=${HOSTS_DIR:-/tmp/hosts}
keep="${HOSTS_KEEP:-} $dir"
self=$(realpath "${BASH_SOURCE[0]}")

die() { echo "netns.sh: $*" >&2; exit 2; }
# PIDs in the namespace of the hosts, and in the machine's.
inner() { cat "$dir/pids/$1" 2>/dev/null || die "there is no host $1; netns.sh up"; }
init() { cat "$dir/init" 2>/dev/null || die "there are no hosts; netns.sh up"; }
inside() { [[ -n ${IN_HOSTS:-} ]]; } # in the PID namespace of the hosts

# enter HOST CMD...: from the machine through the first process, from a host directly.
enter() {
    local host=$1 pid; shift
    pid=$(inner "$host")
    local wd=$PWD
    if inside; then
        exec nsenter -t "$pid" -n -u -i -m --wdns="$wd" -- env IN_HOSTS="$host" "$@"
    fi
    exec nsenter -t "$(init)" -p -m -- nsenter -t "$pid" -n -u -i -m --wdns="$wd" -- \
        env IN_HOSTS="$host" "$@"
}

# The first process of the PID namespace: the switch, then each host's own first process.
first() {
    local n=$1 i
    mount -t proc proc /proc
    mkdir -p "$dir/pids"
    ip link add br0 type bridge
    ip link set br0 up
    ip link set lo up
    for ((i = 1; i <= n; i++)); do
        unshare --net --uts --ipc --mount --propagation private "$self" _host "$i" &
        echo $! >"$dir/pids/h$i" # unshare and its successors are one process: they exec
    done
    for ((i = 1; i <= n; i++)); do
        until [[ -e $dir/h$i/ready ]]; do sleep 0.02; done
        ip link add "p$i" type veth peer name eth0 netns "$(inner "h$i")"
        ip link set "p$i" master br0 up
        nsenter -t "$(inner "h$i")" -n sh -c "ip addr add 10.77.0.$i/24 dev eth0; ip link set eth0 up; ip link set lo up"
    done
    touch "$dir/ready"
    while :; do sleep 1000 & wait -n || true; done # reaps orphans
}

host() {
    local i=$1 k
    hostname "h$i"
    mkdir -p "$dir/h$i/local" "$dir/shared"
    mount --bind "$dir/hosts" /etc/hosts
    # Debian installs Open MPI 6 so that it only uses lo, which the administrator has to change.
    if grep -qs '^btl_tcp_if_include=lo' /etc/openmpi/openmpi-mca-params.conf; then
        sed '/^btl_tcp_if_include/d' /etc/openmpi/openmpi-mca-params.conf >"$dir/h$i/openmpi"
        mount --bind "$dir/h$i/openmpi" /etc/openmpi/openmpi-mca-params.conf
    fi
    mount -t tmpfs tmpfs /mnt
    mkdir /mnt/local /mnt/shared /mnt/tmp
    if [[ -n ${HOSTS_LOCAL:-} ]]; then
        mount -t tmpfs -o "size=$HOSTS_LOCAL" tmpfs /mnt/local
    else
        mount --bind "$dir/h$i/local" /mnt/local
    fi
    mount --bind "$dir/shared" /mnt/shared
    mount --rbind /tmp /mnt/tmp
    mount -t tmpfs -o mode=1777 tmpfs /tmp
    for k in $keep; do
        [[ $k == /tmp/* && -d /mnt/tmp/${k#/tmp/} ]] || continue
        mkdir -p "$k"
        [[ $k -ef /mnt/tmp/${k#/tmp/} ]] || mount --rbind "/mnt/tmp/${k#/tmp/}" "$k"
    done
    umount -l /mnt/tmp
    mount -t tmpfs -o mode=1777,size="${HOSTS_SHM:-512m}" tmpfs /dev/shm
    touch "$dir/h$i/ready"
    exec sleep infinity
}

up() {
    local n=${1:-3} i pid
    [[ $EUID -eq 0 ]] || die "this wants root"
    down
    mkdir -p "$dir"
    printf '127.0.0.1 localhost\n' >"$dir/hosts"
    for ((i = 1; i <= n; i++)); do printf '10.77.0.%d h%d\n' "$i" "$i" >>"$dir/hosts"; done
    printf '#!/bin/sh\nh=$1; shift\nexec "%s" _rsh "$h" "$*"\n' "$self" >"$dir/rsh"
    chmod +x "$dir/rsh"
    # setsid: the hosts outlive this script; --kill-child: they end with the unshare
    HOSTS_DIR=$dir setsid unshare --pid --fork --kill-child --net --mount --propagation private \
        "$self" _first "$n" </dev/null >"$dir/log" 2>&1 &
    pid=$!
    for ((i = 0; i < 500; i++)); do
        [[ -e $dir/ready ]] && break
        kill -0 $pid 2>/dev/null || { cat "$dir/log" >&2; die "the hosts could not be made"; }
        sleep 0.02
    done
    [[ -e $dir/ready ]] || { cat "$dir/log" >&2; die "the hosts do not get ready"; }
    echo $pid >"$dir/outer"
    read -r first_pid _ <"/proc/$pid/task/$pid/children" || true; echo "$first_pid" >"$dir/init"
    for ((i = 1; i <= n; i++)); do # a closed port: even a refusal is an answer
        [[ $(enter h1 timeout 5 bash -c "exec 3<>/dev/tcp/h$i/1" 2>&1) == *refused* ]] ||
            { down; die "h1 does not reach h$i"; }
    done
}

down() {
    local pid
    inside && die "this is a host"
    if [[ -s $dir/init ]]; then
        pid=$(<"$dir/init")
        # only if it is still ours: its command line names this script
        if grep -qa _first "/proc/$pid/cmdline" 2>/dev/null; then
            kill -9 "$pid"
            while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
        fi
    fi
    rm -rf "$dir"/{pids,init,outer,ready,log,rsh,hosts} "$dir"/h[0-9]* "$dir/shared"
    rmdir "$dir" 2>/dev/null || true
}

case ${1:-} in
up) up "${2:-3}" ;;
down) down ;;
exec) shift; enter "$@" ;;
mpirun)
    shift
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    enter "${HOSTS_FROM:-h1}" env OMPI_MCA_plm_rsh_agent="$dir/rsh" \
        PRTE_MCA_plm_ssh_agent="$dir/rsh" mpirun --oversubscribe --bind-to none "$@"
    ;;
cut) pid=$(inner "$2"); nsenter -t "$(init)" -p -m -- nsenter -t "$pid" -n ip link set eth0 down ;;
mend) pid=$(inner "$2"); nsenter -t "$(init)" -p -m -- nsenter -t "$pid" -n ip link set eth0 up ;;
crash)
    pid=$(inner "$2")
    nsenter -t "$(init)" -p -m -- bash -c 'nsenter -t $1 -n ip link set eth0 down
        net=$(readlink /proc/$1/ns/net)
        for p in /proc/[0-9]*; do [[ $(readlink $p/ns/net) != "$net" || ${p##*/} == $1 ]] || kill -9 ${p##*/}; done' _ "$pid"
    ;;
ps)
    nsenter -t "$(init)" -p -m -- bash -c 'for h in ${2:-$(ls "$1/pids")}; do
        i=$(<"$1/pids/$h"); net=$(readlink /proc/$i/ns/net)
        for p in /proc/[0-9]*; do [[ $(readlink $p/ns/net) == "$net" && ${p##*/} != $i ]] &&
            echo "$h ${p##*/} $(grep -a State: $p/status | cut -f2) $(tr "\0" " " <$p/cmdline | cut -c1-90)"; done; done; true' _ "$dir" "${2:-}"
    ;;
_first) shift; first "$@" ;;
_host) shift; host "$@" ;;
_rsh)
    IN_HOSTS=${IN_HOSTS:-x}
    cd /
    (enter "$2" bash -c "$3") && exit
    status=$?
    # Like ssh, which does not notice the end of a host that is cut off.
    pid=$(inner "$2")
    while kill -0 $PPID 2>/dev/null && nsenter -t "$pid" -n ip link show eth0 | grep -q 'state DOWN'; do
        sleep 0.2
    done
    exit "$status"
    ;;
*) sed -n '2,/^# shellcheck/p' "$self" | sed '$d' | cut -c3- >&2; exit 2 ;;
esac
