"""tmerge in Slurm jobs: three nodes of four processors each."""
import atexit
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time

import common_multi
from common import TMERGE, Skip, content, equal, files, holds, main, merged, put, run, same_bytes, \
    small_trace, synth, tmerge
from watching import PRELOADED, fault, is_open, ours, strays, wait_until

SLURM = common_multi.up('slurm.sh', ('ip', 'unshare', 'srun', 'slurmctld', 'slurmd', 'munged'))
# Slurm's plugin that joins processes of tmerge's MPI, and that MPI's own launcher; nodes claim more
# processors than the machine has.
PMI, MPIRUN = (('pmi2', 'mpiexec.mpich') if 'MPICH' in tmerge('--version').out else
               ('pmix', 'mpirun --bind-to none'))
HAS_PMI = re.search(fr'\b{PMI}\b', run([SLURM, 'run', 'srun', '--mpi=list']).out)
JOINED = f'--mpi={PMI}'
ALL = (JOINED, '-N3', '-n6')


STARTED = os.path.abspath('started')
atexit.register(shutil.rmtree, STARTED, ignore_errors=True)
# Marks each process that has left MPI_Init.
TELLS = {**PRELOADED, 'TMERGE_STARTED': f'{STARTED}/'}


def crashed(said):
    """With UCX its handler reports instead of tmerge's."""
    return 'tmerge: crashed' in said or 'Segmentation fault' in said


def at_start(attempt, n):
    """Makes an attempt, and repeats it if it fails before all n processes have left MPI_Init: on
    very busy hosts, Open MPI 4.1.4 over TCP may crash or hang there in any program, if a message
    comes before its receiver is ready. Later failures are tmerge's own."""
    for _ in range(4):
        shutil.rmtree(STARTED, ignore_errors=True)
        os.makedirs(STARTED)
        done, failed = attempt()
        if not failed:
            return done
        began = len(files(STARTED))
        run([SLURM, 'run', 'scancel', '--user=root'])
        holds(began < n, f'crashed or hangs after MPI_Init:\n{done}')
        print(f'MPI_Init of {n - began} of {n} processes failed; once more')
    return done


def needs_pmi():
    if not HAS_PMI:
        raise Skip(f'srun --mpi=list has no {PMI} here')


def srun(*arguments, env=None, n=6, **more):
    """Runs n processes."""
    def attempt():
        done = run(['timeout', '25', SLURM, 'run', 'srun', *arguments],
                   env={**TELLS, **(env or {})}, **more)
        return done, done.status == 124 or crashed(done.err)
    return at_start(attempt, n)


def batch(n, *lines):
    """Submits a job on all nodes, which starts n processes, and waits for its end. Returns its
    status and its output."""
    put('job.sh', '\n'.join(('#!/bin/bash', '#SBATCH -N3 -n6 -o job.out',
                             "trap 'echo $? > status; mv status job.status' EXIT", 'set -e',
                             *lines, '')))

    def attempt():
        with contextlib.suppress(FileNotFoundError):
            os.unlink('job.status')
        run([SLURM, 'run', 'sbatch', 'job.sh'], env=TELLS).expect(0)
        deadline = time.monotonic() + 40  # sbatch --wait polls less and less often
        while not os.path.exists('job.status') and time.monotonic() < deadline:
            time.sleep(0.1)
        hangs = not os.path.exists('job.status')
        said = content('job.out').decode() if os.path.exists('job.out') else ''
        status = None if hangs else int(content('job.status'))
        return (status, said), hangs or crashed(said)
    return at_start(attempt, n)


def test_every_way_to_start_gives_the_store_of_one_process():
    synth('job', ranks=6, steps=2)
    merged('job', '-o', 'a.h5')
    joined = ((6, ALL), (4, (JOINED, '-N1', '-n4')), (1, (JOINED, '-n1'))) if HAS_PMI else ()
    for n, how in (*joined, (1, ('--mpi=pmi2', '-n1')), (1, ('--mpi=none', '-n1'))):
        done = srun(*how, TMERGE, 'job', '--no-html', '-o', 'b.h5', n=n).expect(0)
        equal((done.ours, done.out.count('Stored in')), ([], 1), ' '.join(how))
        same_bytes('a.h5', 'b.h5')
    joined = ((6, f'srun {JOINED}', ''),) if HAS_PMI else ()
    jobs = ((2, '', '-j 2'),) if PMI == 'pmix' else ()  # tmerge does not start MPICH's launcher
    for n, how, more in ((6, MPIRUN, ''), *joined, (1, '', ''), *jobs):
        os.unlink('b.h5')
        status, said = batch(n, f'{how} {TMERGE} job --no-html -o b.h5 {more}')
        equal((status, said.count('Stored in'), ours(said)), (0, 1, []), said)
        same_bytes('a.h5', 'b.h5')


def test_one_process_speaks_for_all():
    needs_pmi()
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    for arguments, status, said in (
            (['--bogus'], 2, ['--bogus is not an option of tmerge merge; see tmerge merge --help']),
            (['missing.json'], 3, ['missing.json: No such file or directory']),
            (['show', 'missing.h5'], 3, ['missing.h5: cannot be read: No such file or directory']),
            ([], 2, [])):
        done = srun(*ALL, TMERGE, *arguments).expect(status)
        equal((done.ours, done.out), ([f'tmerge: {line}' for line in said], ''))
        equal(done.err.count('tmerge profile_rank_*'), 0 if arguments else 1, 'usage')
    for arguments in (['--version'], ['check', 'tmerge.h5'], ['show', 'tmerge.h5']):
        equal(srun(*ALL, TMERGE, *arguments).expect(0).out, tmerge(*arguments).out)
    done = srun('--mpi=none', '-N3', '-n6', TMERGE, 'rank0.json').expect(2)
    equal(done.ours, ['tmerge: srun started 6 processes that cannot reach one another: use srun '
                      f'{JOINED} or mpirun'])


def test_a_failure_inside_mpi_names_the_host():
    needs_pmi()
    put('rank0.json', small_trace(0))
    done = srun('--kill-on-bad-exit', *ALL, TMERGE, 'rank0.json', env=fault('mpi'))
    holds(done.status != 0, done.out)
    holds(re.match('tmerge: MPI failed on h1: .*[Ii]nternal', done.errors[0]), done.err)
    equal(files(), ['rank0.json'])


def test_a_task_that_is_killed_ends_the_run_without_kill_on_bad_exit():
    needs_pmi()
    for rank in range(5):
        put(f'rank{rank}.json', small_trace(rank))
    os.mkfifo('rank5.json')
    pipe = os.open('rank5.json', os.O_RDWR)

    def attempt(killed):
        with open('said', 'wb') as said, subprocess.Popen(
                [SLURM, 'run', 'srun', '--kill-on-bad-exit=0', *ALL, TMERGE,
                 *(f'rank{rank}.json' for rank in range(6))], stdin=subprocess.DEVNULL,
                stdout=said, stderr=said, env=dict(os.environ, **TELLS)) as launched:
            try:
                deadline = time.monotonic() + 20
                while not any(is_open('rank5.json', pid) for pid in strays()):
                    if launched.poll() is not None or time.monotonic() > deadline:
                        return content('said').decode(), True
                    time.sleep(0.01)
                for pid in strays():
                    if b'SLURM_PROCID=%d' % killed in content(f'/proc/{pid}/environ').split(b'\0'):
                        os.kill(pid, signal.SIGKILL)  # like the kernel when out of memory
                wait_until(lambda: launched.poll() is not None and not strays(), 'the end', 15)
            finally:
                if launched.poll() is None:
                    run([SLURM, 'run', 'scancel', '--user=root'])
        holds(launched.returncode != 0, 'status 0')
        reported = content('said').decode()
        return reported, crashed(reported)

    for killed in (0, 5):
        reported = at_start(lambda killed=killed: attempt(killed), 6)
        holds(re.search(fr'h\d: tasks? ([-,\d]*[-,])?{killed}([-,][-,\d]*)?: Killed', reported), reported)
        holds(len(ours(reported)) <= 1, reported)
        equal([name for name in files() if name.endswith('.h5')], [])
    os.close(pipe)


def test_a_job_that_is_cancelled_ends_at_once_and_leaves_nothing():
    for rank in range(6):
        put(f'rank{rank}.json', small_trace(rank))
    os.unlink('rank5.json')
    os.mkfifo('rank5.json')
    pipe = os.open('rank5.json', os.O_RDWR)  # so that it can be opened and never ends
    try:
        for how in (*([f'srun {JOINED}'] if HAS_PMI else []), MPIRUN):
            # No core dump: Open MPI 4.1.4's mpirun may crash when told to end.
            put('job.sh', '#!/bin/bash\n#SBATCH -N3 -n6 -o job.out\nulimit -c 0\n'
                          f'{how} {TMERGE} rank*.json\n')
            done = run([SLURM, 'run', 'sbatch', '--parsable', 'job.sh']).expect(0)
            wait_until(lambda: any(is_open('rank5.json', pid) for pid in strays()), how)
            began = time.monotonic()
            run([SLURM, 'run', 'scancel', done.out.strip()]).expect(0)
            wait_until(lambda: not strays(), f'the end of {how}')
            holds(time.monotonic() - began < 10, 'it took too long')
            os.unlink('job.out')
            equal(files(), ['job.sh', *(f'rank{rank}.json' for rank in range(6))])
    finally:
        os.close(pipe)


main()
