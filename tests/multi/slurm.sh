#!/usr/bin/env bash
# slurm.sh: a Slurm cluster of three nodes on one machine, as root, on the hosts of netns.sh
# (in the same folder): slurmctld on h1, slurmd and munged on each.
#
#   slurm.sh up [N]      starts it; requires Debian's packages slurm-wlm and munge, or similar
#   slurm.sh run CMD...  runs a command on h1, the login node, with Slurm's environment
#   slurm.sh down        ends it with everything on it
#
# All daemons run in the hosts' PID namespace and write below their hosts' own /tmp, nothing to
# /etc, /run or /var. HOSTS_DIR: as for netns.sh (/tmp/slurm-hosts). CPUS: per node (4).
# shellcheck disable=SC2016 # scripts for other shells stand in single quotes
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
export HOSTS_DIR=${HOSTS_DIR:-/tmp/slurm-hosts}
hosts=$here/netns.sh n=${2:-3}

conf() {
    mkdir -p "$HOSTS_DIR/slurm"
    dd if=/dev/urandom of="$HOSTS_DIR/slurm/munge.key" bs=1024 count=1 status=none
    chmod 400 "$HOSTS_DIR/slurm/munge.key"
    # From 23.11 on cgroups must be disabled by an option that older versions reject.
    local plugin=CgroupPlugin=disabled
    grep -qras "$plugin" /usr/lib*/{,*/}slurm* || plugin=
    echo "$plugin" >"$HOSTS_DIR/slurm/cgroup.conf"
    cat >"$HOSTS_DIR/slurm/slurm.conf" <<END
ClusterName=tmerge
SlurmctldHost=h1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=/tmp/munge/socket
CredType=cred/munge
StateSaveLocation=/tmp/slurmctld
SlurmdSpoolDir=/tmp/slurmd
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile=/tmp/slurmctld.log
SlurmdLogFile=/tmp/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
PropagateResourceLimits=NONE
NodeName=h[1-$n] CPUs=${CPUS:-4} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=INFINITE
END
}

up() {
    "$hosts" up "$n"
    conf
    export SLURM_CONF=$HOSTS_DIR/slurm/slurm.conf
    local i
    for ((i = 1; i <= n; i++)); do
        "$hosts" exec "h$i" bash -c 'mkdir -p -m 755 /tmp/munge /tmp/slurmd /tmp/slurmctld
            cp "$1/munge.key" /tmp/munge/key; chmod 400 /tmp/munge/key
            munged --force --key-file=/tmp/munge/key --socket=/tmp/munge/socket \
                --pid-file=/tmp/munge/pid --seed-file=/tmp/munge/seed --log-file=/tmp/munge/log
            [[ $2 != 1 ]] || slurmctld
            slurmd -N "h$2"' _ "$HOSTS_DIR/slurm" "$i" </dev/null >>"$HOSTS_DIR/slurm/start.log" 2>&1 ||
            { cat "$HOSTS_DIR/slurm/start.log" >&2; exit 1; }
    done
    for ((i = 0; i < 100; i++)); do
        [[ $(run sinfo -h -t idle -o %D 2>/dev/null) != "$n" ]] || return 0
        sleep 0.1
    done
    run sinfo >&2 || true
    "$hosts" exec h1 tail -n 20 /tmp/slurmctld.log /tmp/slurmd.log >&2
    exit 1
}

run() { SLURM_CONF=$HOSTS_DIR/slurm/slurm.conf "$hosts" exec h1 "$@"; }

case ${1:-} in
up) up ;;
run) shift; SLURM_CONF=$HOSTS_DIR/slurm/slurm.conf exec "$hosts" exec h1 "$@" ;;
down) rm -rf "$HOSTS_DIR/slurm"; "$hosts" down ;;
*) sed -n '2,/^# shellcheck/p' "$0" | sed '$d' | cut -c3- >&2; exit 2 ;;
esac
