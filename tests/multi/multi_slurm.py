"""tmerge in jobs of Slurm: three nodes of four processors each."""
import os
import time

import common_multi
from common import TMERGE, content, equal, files, holds, main, merged, put, run, same_bytes, \
    small_trace, synth, tmerge
from watching import FAULTS, is_open, ours, strays, wait_until

SLURM = common_multi.up('slurm.sh', ('ip', 'unshare', 'srun', 'slurmctld', 'slurmd', 'munged'))
ALL = ('--mpi=pmix', '-N3', '-n6')


def srun(*arguments, **more):
    """A run that crashes or hangs begins once more: where hosts are very busy, MPI_Init of Open MPI
    4.1.4 over TCP may, of any program, when a message comes before who takes it."""
    for _ in range(4):
        done = run(['timeout', '25', SLURM, 'run', 'srun', *arguments], **more)
        if done.status != 124 and 'tmerge: crashed' not in done.err:
            break
        run([SLURM, 'run', 'scancel', '--user=root'])
    return done


def batch(*lines):
    """Submits a job of all nodes and waits for its end. Returns its status and what it printed."""
    put('job.sh', '\n'.join(('#!/bin/bash', '#SBATCH -N3 -n6 -o job.out', 'set -e', *lines, '')))
    for _ in range(3):
        done = run(['timeout', '40', SLURM, 'run', 'sbatch', '--wait', 'job.sh'])
        if done.status != 124:
            break
        run([SLURM, 'run', 'scancel', '--user=root'])
    return done.status, content('job.out').decode()


def test_every_way_to_start_gives_the_store_of_one_process():
    synth('job', ranks=6, steps=2)
    merged('job', '-o', 'a.h5')
    for how in (ALL, ('--mpi=pmix', '-N1', '-n4'), ('--mpi=pmix', '-n1'), ('--mpi=pmi2', '-n1'),
                ('--mpi=none', '-n1')):
        done = srun(*how, TMERGE, 'job', '--no-html', '-o', 'b.h5').expect(0)
        equal((done.ours, done.out.count('Stored in')), ([], 1), ' '.join(how))
        same_bytes('a.h5', 'b.h5')
    for how in ('mpirun', 'srun --mpi=pmix', ''):
        os.unlink('b.h5')
        status, said = batch(f'{how} {TMERGE} job --no-html -o b.h5')
        equal((status, said.count('Stored in'), ours(said)), (0, 1, []), said)
        same_bytes('a.h5', 'b.h5')


def test_one_process_speaks_for_all():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    for arguments, status, said in (
            (['--bogus'], 2, ['--bogus is no option of tmerge merge; see tmerge merge --help']),
            (['missing.json'], 3, ['missing.json: No such file or directory']),
            (['show', 'missing.h5'], 3, ['missing.h5: cannot be read: No such file or directory']),
            ([], 2, [])):
        done = srun(*ALL, TMERGE, *arguments).expect(status)
        equal((done.ours, done.out), ([f'tmerge: {line}' for line in said], ''))
        equal(done.err.count('mpirun -n 8 tmerge'), 0 if arguments else 1, 'usage')
    for arguments in (['--version'], ['check', 'tmerge.h5'], ['report', 'tmerge.h5']):
        equal(srun(*ALL, TMERGE, *arguments).expect(0).out, tmerge(*arguments).out)
    done = srun('--mpi=none', '-N3', '-n6', TMERGE, 'rank0.json').expect(2)
    equal(done.ours, ['tmerge: srun started 6 processes that cannot reach one another: srun '
                      '--mpi=pmix or mpirun joins them'])


def test_a_failure_inside_mpi_names_the_host():
    put('rank0.json', small_trace(0))
    done = srun('--kill-on-bad-exit', *ALL, TMERGE, 'rank0.json',
                env={'LD_PRELOAD': FAULTS, 'TMERGE_FAULT': 'mpi'})
    holds(done.status != 0, done.out)
    equal(done.errors[:1], ['tmerge: MPI failed on h1: MPI_ERR_INTERN: internal error'])
    equal(files(), ['rank0.json'])


def test_a_job_that_is_cancelled_ends_at_once_and_leaves_nothing():
    for rank in range(6):
        put(f'rank{rank}.json', small_trace(rank))
    os.unlink('rank5.json')
    os.mkfifo('rank5.json')
    pipe = os.open('rank5.json', os.O_RDWR)  # so that it can be opened and never ends
    try:
        for how in ('srun --mpi=pmix', 'mpirun'):
            # No dump: mpirun of Open MPI 4.1.4 may crash where it is told to end.
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
