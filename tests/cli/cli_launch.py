"""One process and several: launchers and their requirements."""
import concurrent.futures
import os
import signal
import socket
import time

from common import (FULL, TMERGE, command, contains, equal, files, holds, main, merged, put, run,
                    same_bytes, seldom, small_trace, tmerge)
from jobs import use
from watching import (children_of, ends, is_open, on_terminal, ours, over, started,
                      wait_until)

SLURM = {'SLURM_JOB_ID': 7, 'SLURM_STEPID': 0, 'SLURM_STEP_ID': 0, 'SLURM_NODEID': 0,
         'SLURM_STEP_NODELIST': 'h1', 'SLURM_NODELIST': 'h1', 'SLURM_STEP_TASKS_PER_NODE': 1}


def test_many_runs_at_once_without_mpirun_do_not_meet():
    n = 300 if FULL else 16
    put('rank0.json', small_trace(0))
    alone = [TMERGE, 'rank0.json', '--no-html', '-o']
    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        done = pool.map(lambda i: run(alone + [f'{i}.h5'], env={'TMPDIR': os.getcwd()}), range(n))
        equal({(run.status, run.err) for run in done}, {(0, '')})
    equal(len(files()), n + 1, 'files')


def test_one_process_of_any_launcher_is_alone_and_needs_no_folder_for_mpi():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'a.h5')
    merged('rank0.json', '-o', 'b.h5', n=1)
    same_bytes('a.h5', 'b.h5')
    one = dict(SLURM, SLURM_PROCID=0, SLURM_STEP_NUM_TASKS=1)
    for env in (one, dict(one, PMI_RANK=0, PMI_SIZE=1, PMI_FD=11),
                dict(one, PMIX_RANK=0, PMIX_NAMESPACE='slurm.pmix.7.0',
                     PMIX_SERVER_URI2='pmix-server.1;tcp4://127.0.0.1:1'),
                {'OMPI_MCA_pml': 'ucx', 'OMPI_MCA_btl': 'tcp', 'OMPI_MCA_ess': '^singleton'},
                {'TMPDIR': os.path.abspath('rank0.json')}):
        merged('rank0.json', '-o', 'b.h5', env=env)
        same_bytes('a.h5', 'b.h5')


def test_processes_that_nothing_joins_are_reported_once():
    put('rank0.json', small_trace(0))
    for rank, said in ((0, 1), (1, 0)):
        env = dict(SLURM, SLURM_PROCID=rank, SLURM_STEP_NUM_TASKS=2, SLURM_STEP_TASKS_PER_NODE=2)
        done = tmerge('rank0.json', env=env).expect(2)
        equal(done.err, 'tmerge: srun started 2 processes that cannot reach one another: use '
                        'srun --mpi=pmix or mpirun\n' * said)
        # As another MPI's mpiexec, which this MPI does not support.
        done = tmerge('rank0.json', env={'PMI_RANK': rank, 'PMI_SIZE': 3}).expect(5)
        equal(done.err, 'tmerge: 3 processes were started, but MPI connects 1: start them with '
                        'the MPI that tmerge was built with\n' * said)
    equal(files(), ['rank0.json'])


# On several cores ----------------------------------------------------------------------------------


def large_json(path, megabytes):
    """Writes a trace that is mostly blanks."""
    blanks = b' ' * (1 << 20)
    with open(path, 'wb') as file:
        file.write(small_trace(0)[:-1])
        for _ in range(megabytes):
            file.write(blanks)
        file.write(b'}')


def most_processes(*arguments, **more):
    """Runs tmerge without mpirun; returns its maximum of processes, status and output."""
    most = 1
    with started(0, *arguments, **more) as (launched, _):
        while launched.poll() is None:
            most = max(most, len(children_of(launched)))
            time.sleep(0.002)
        said = over(launched)
    return most, launched.returncode, said


def on_cores(n):
    return {'preexec_fn': lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])}


@seldom
def test_jobs_says_how_many_processes_there_are():
    use('three')
    merged('job', '-o', 'a.h5')
    for arguments, n in ((['-j', '3'], 3), (['--jobs=2'], 2), (['-j1'], 1), ([], 1)):
        found = most_processes('job', '-o', 'b.h5', *arguments)
        equal((found[:2], ours(found[2])), ((n, 0), []), arguments)
        same_bytes('a.h5', 'b.h5')
    equal(most_processes('analyze', 'a.h5', '-o', 'b.h5', '-j2')[:2], (2, 0))
    same_bytes('a.h5', 'b.h5')


@seldom
def test_large_jobs_take_the_cores_that_they_may_use():
    # From 256 MB on two processes are used; with one core, with -j 1, or for half of that, one.
    large_json('large.json', 258)
    large_json('half.json', 127)
    two = 2 if len(os.sched_getaffinity(0)) > 1 else 1
    for arguments, n, more in ((['large.json'], two, on_cores(2)), (['large.json'], 1, on_cores(1)),
                               (['large.json', '-j1'], 1, {}), (['half.json'], 1, {})):
        equal(most_processes(*arguments, **more)[:2], (n, 0), arguments)
    for name in ('large.json', 'half.json'):
        os.unlink(name)


@seldom
def test_processes_of_jobs_end_as_those_of_mpirun():
    use('three')
    merged('job')
    tmerge('missing.json', '-j', '2').fails(3, 'missing.json: No such file or directory')
    contains(on_terminal(command('job', '-j', '2')), '\033[1m')
    err = tmerge('job', '-j', '2', '--times', '--progress=always').expect(0).err
    holds('tmerge: times: starting ' in err and 'reading [' in err, err)
    os.mkfifo('rank5.json')
    pipe = os.open('rank5.json', os.O_RDWR)  # so that it can be opened and never ends
    try:
        with started(0, 'rank5.json', 'job', '-j', '3') as (launched, _):
            wait_until(lambda: len(children_of(launched)) == 3, 'the processes to start')
            pids = children_of(launched).values()
            wait_until(lambda: any(is_open('rank5.json', pid) for pid in pids), 'reading')
            os.kill(launched.pid, signal.SIGTERM)
            ends(launched)
    finally:
        os.close(pipe)
    equal(files(), ['job', 'rank5.json', 'tmerge.h5', 'tmerge.html'][:len(files())])


@seldom
def test_processes_of_jobs_need_nothing_that_another_run_may_remove():
    put('rank0.json', small_trace(0))
    os.mkdir('tmp')
    # Open MPI 4 puts all runs of a user here.
    put(f'tmp/ompi.{socket.gethostname()}.{os.geteuid()}', '')
    before = files()
    merged('rank0.json', '-j', '2', '--no-html', env={'TMPDIR': os.path.abspath('tmp')})
    equal(files(), sorted([*before, 'tmerge.h5']))


def test_wrong_numbers_of_jobs_are_reported():
    put('rank0.json', small_trace(0))
    tmerge('rank0.json', '-j', '0').fails(2, '--jobs 0: at least one process is needed')
    tmerge('rank0.json', '-j', 'all').fails(2, "--jobs takes one number, not 'all'")
    tmerge('rank0.json', '-j', '2', n=3).fails(
        2, '--jobs 2, but 3 processes were started already: --jobs is for tmerge without mpirun or '
        'srun')
    merged('rank0.json', '-j', '3', n=3)


def test_where_mpirun_cannot_start_processes_one_does_it_all():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'a.h5')
    one = 'tmerge: warning: running in one process, not 2: '
    folder = os.path.abspath('rank0.json')
    cases = [([], {'TMPDIR': folder}, 'mpirun needs a folder that it may write to: TMPDIR is '
              + folder)]
    if os.geteuid() == 0:
        cases.append(([], {'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': ''}, 'as root mpirun needs '
                      'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1'))
        cases.append((['unshare', '--net'], {}, 'mpirun needs a network interface that is up'))
    for before, env, why in cases:
        done = run(before + command('rank0.json', '-j', '2', '-o', 'b.h5'), env=env).expect(0)
        equal(done.err, f'{one}{why}\n')
        same_bytes('a.h5', 'b.h5')


main()
