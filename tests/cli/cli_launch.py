"""One process and several: what starts them, and what they need."""
import concurrent.futures
import os

from common import TMERGE, equal, files, main, merged, put, run, same_bytes, small_trace, tmerge

SLURM = {'SLURM_JOB_ID': 7, 'SLURM_STEPID': 0, 'SLURM_STEP_ID': 0, 'SLURM_NODEID': 0,
         'SLURM_STEP_NODELIST': 'h1', 'SLURM_NODELIST': 'h1', 'SLURM_STEP_TASKS_PER_NODE': 1}


def test_one_process_needs_no_folder_for_mpi():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'a.h5')
    merged('rank0.json', '-o', 'b.h5', env={'TMPDIR': os.path.abspath('rank0.json')})
    same_bytes('a.h5', 'b.h5')
    merged('rank0.json', '-o', 'b.h5', n=1)
    same_bytes('a.h5', 'b.h5')


def test_300_runs_at_once_without_mpirun_do_not_meet():
    put('rank0.json', small_trace(0))
    command = [TMERGE, 'rank0.json', '--no-html', '-o']
    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        done = pool.map(lambda i: run(command + [f'{i}.h5'], env={'TMPDIR': os.getcwd()}),
                        range(300))
        equal({(run.status, run.err) for run in done}, {(0, '')})
    equal(len(files()), 301, 'files')


def test_one_process_of_any_launcher_is_alone():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'a.h5')
    one = dict(SLURM, SLURM_PROCID=0, SLURM_STEP_NUM_TASKS=1)
    for env in (one, dict(one, PMI_RANK=0, PMI_SIZE=1, PMI_FD=11),
                dict(one, PMIX_RANK=0, PMIX_NAMESPACE='slurm.pmix.7.0',
                     PMIX_SERVER_URI2='pmix-server.1;tcp4://127.0.0.1:1'),
                {'OMPI_MCA_pml': 'ucx', 'OMPI_MCA_btl': 'tcp', 'OMPI_MCA_ess': '^singleton'}):
        merged('rank0.json', '-o', 'b.h5', env=env)
        same_bytes('a.h5', 'b.h5')


def test_processes_that_nothing_joins_are_told_once():
    put('rank0.json', small_trace(0))
    for rank, said in ((0, 1), (1, 0)):
        env = dict(SLURM, SLURM_PROCID=rank, SLURM_STEP_NUM_TASKS=2, SLURM_STEP_TASKS_PER_NODE=2)
        done = tmerge('rank0.json', env=env).expect(2)
        equal(done.err, 'tmerge: srun started 2 processes that cannot reach one another: srun '
                        '--mpi=pmix or mpirun joins them\n' * said)
        # As another MPI's mpiexec does, which this one knows nothing of.
        done = tmerge('rank0.json', env={'PMI_RANK': rank, 'PMI_SIZE': 3}).expect(5)
        equal(done.err, 'tmerge: 3 processes were started, but MPI joins 1: what started them has '
                        'to be of the MPI that tmerge was built with\n' * said)
    equal(files(), ['rank0.json'])


main()
