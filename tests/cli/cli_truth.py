"""Synthetic jobs whose truth is known: who came last, who waited, who is to blame."""
import json
import resource
from decimal import Decimal

from common import equal, holds, main, synth, tmerge

# Name: options of tmerge-synth, the verdict, and the straggler that was put in.
JOBS = {
    'a healthy job has no straggler': (dict(ranks=8, steps=6, jitter=0), 'none', None),
    'a slow GPU is found': (dict(ranks=8, steps=6, slow_rank=5, slow_factor=1.3), 'persistent', 5),
    'a slow host is found': (dict(ranks=8, steps=6, slow_rank=2, slow_kind='host', slow_factor=3),
                             'persistent', 2),
    'a different slow rank in each step is told from one': (
        dict(ranks=16, steps=12, rotating=1, slow_factor=1.4, jitter=0), 'rotating', None),
    'tensor parallel groups are matched': (
        dict(ranks=16, tp=4, steps=5, slow_rank=9, slow_factor=1.4), None, None),
    'tensor, data and pipeline groups are matched': (
        dict(ranks=32, tp=4, pp=2, steps=4, microbatches=4), None, None),
    'sharded data and sequence parallelism are matched': (
        dict(ranks=16, tp=2, steps=4, sharded=1, sequence_parallel=1), None, None),
    'a job of 64 ranks with lists that the profiler cuts': (
        dict(ranks=64, steps=4, layers=4, slow_rank=33, slow_factor=1.5), 'persistent', 33),
    'Seq is used where it is there': (dict(ranks=8, steps=4, tp=2, seq=1), None, None),
    'Comms Id is used where it is there': (dict(ranks=8, steps=4, tp=2, comms_id=1), None, None),
    'one group without any metadata is matched by order': (
        dict(ranks=8, steps=4, no_metadata=1, slow_rank=1, slow_factor=1.3), 'persistent', 1),
}


def tables(store):
    shown = tmerge('show', store, '--json').expect(0).out
    return {name: table['rows'] for name, table in json.loads(shown)['tables'].items()}


def check_rank(row, truth):
    for key in ('collectives', 'last_arrivals', 'tied', 'wait_ns', 'steps_led'):
        equal((key, row[key]), (key, truth[key]))
    holds(abs(row['caused_wait_ns'] - Decimal(truth['caused_wait_ns'])) <= 1, row)


def check_sums(result):
    ranks = result['stragglers.rank']
    waited, n = sum(r['wait_ns'] for r in ranks), len(ranks)
    holds(abs(sum(r['caused_wait_ns'] for r in ranks) - waited) <= n, waited)
    for r in ranks:
        rows = [p['wait_ns'] for p in result['stragglers.pair'] if p['rank'] == r['rank']]
        columns = [p['wait_ns'] for p in result['stragglers.pair'] if p['for_rank'] == r['rank']]
        holds(abs(sum(rows) - r['caused_wait_ns']) <= n, r)
        holds(abs(sum(columns) - r['wait_ns']) <= n, r)


def check_job(name, options, verdict, straggler):
    folder = f'job{sorted(JOBS).index(name)}'
    synth(folder, **options)
    tmerge(folder, '-o', f'{folder}.h5', n=3).expect(0)
    result = tables(f'{folder}.h5')
    with open(f'{folder}/truth.json') as f:
        truth = json.load(f)
    for row, expected in zip(result['stragglers.rank'], truth['ranks']):
        check_rank(row, expected)
    check_sums(result)
    job, expected = result['stragglers.job'][0], truth['expected']
    equal(job['verdict'], expected['verdict'])
    if verdict:
        equal(job['verdict'], verdict)
    if straggler is not None:
        equal(job['rank'], straggler)
        equal([r['verdict'] for r in result['stragglers.rank'] if r['rank'] == straggler],
              ['straggler'])
    leaders = {s['step']: s['rank'] for s in result['stragglers.step']}
    equal(leaders, {s['step']: s['rank'] for s in expected['steps'] if s['wait_ns'] > 0})


def make(name):
    def test():
        check_job(name, *JOBS[name])
    test.__name__ = 'test_' + name.replace(' ', '_').replace(',', '')
    return test


def test_a_thousand_ranks_on_two_processes_take_bounded_memory():
    synth('job', ranks=1024, tp=8, pp=2, layers=4, steps=2, slow_rank=700, slow_factor=1.5)
    tmerge('job', '-o', 'two.h5', n=2).expect(0)
    # The largest of all processes so far, which mpirun waited for; in kB.
    holds(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 400_000, 'memory')
    tmerge('job', '-o', 'one.h5').expect(0)
    with open('one.h5', 'rb') as one, open('two.h5', 'rb') as two:
        holds(one.read() == two.read(), 'the store depends on the number of processes')


for job_name in JOBS:
    globals()[f"test_{job_name.replace(' ', '_').replace(',', '')}"] = make(job_name)

if __name__ == '__main__':
    main()
