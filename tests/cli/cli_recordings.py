"""Jobs of several recordings: a profile every so many steps, a restarted run, profilers that were
opened one after another."""
import json
import os

from common import (contains, content, equal, event, holds, kernel, main, merged, put, rows,
                    same_bytes, sampled, seldom, tables, tests_of, tmerge, trace, without)

RANKS, STEP_US, COMPUTE_US, LATE_US, SEND_US = 4, 20000, 6000, 1500, 1500


def computes(rank, number):
    """Returns a rank's compute time in a step: 6 ms, rank 1 7.5 ms, and up to 9 us more."""
    return COMPUTE_US + (LATE_US if rank == 1 else 0) + (7 * rank + 3 * number) % 10


def step(rank, number, begins, seq):
    """Returns a step of 20 ms from the last rank's begin on. 100 us after its begin a rank launches
    its compute, which begins 10 us later, and an all-reduce, which ends 1.5 ms after the last
    arrival."""
    metadata = {'Collective name': 'allreduce', 'In msg nelems': 1024, 'Out msg nelems': 1024,
                'Group size': RANKS, 'dtype': 'Float', 'Process Group Name': '0',
                'Process Group Ranks': str(list(range(RANKS))), 'Seq': seq}
    came = [at + 110 + computes(r, number) for r, at in enumerate(begins)]
    at, end = begins[rank], max(came) + SEND_US
    return [event(f'ProfilerStep#{number}', 'user_annotation', at, max(begins) + STEP_US - at),
            event('cudaLaunchKernel', 'cuda_runtime', at + 100, 5, correlation=2 * seq),
            event('cudaLaunchKernel', 'cuda_runtime', at + 106, 5, correlation=2 * seq + 1),
            kernel('gemm', at + 110, computes(rank, number), correlation=2 * seq),
            kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', came[rank], end - came[rank],
                   stream=20, correlation=2 * seq + 1, **metadata)]


def record(folder, part, numbers, at, seqs, first=(0,) * RANKS):
    """Writes a recording of consecutive steps, from a time [us] on; `first` is how much earlier
    each rank begins the first step."""
    for rank in range(RANKS):
        begins = [[at + i * STEP_US - (early if i == 0 else 0) for early in first]
                  for i in range(len(numbers))]
        put(f'{folder}/rank{rank}.{part}.json',
            trace([e for number, each, seq in zip(numbers, begins, seqs)
                   for e in step(rank, number, each, seq)], rank, RANKS))


def judged(folder, says=''):
    contains(merged(folder, '-o', f'{folder}.h5').out, says)
    return tables(f'{folder}.h5', 'stragglers.job', 'whatif.step', 'advice.item')


# Name: seconds between the begins of recordings of six steps of 20 ms, number of recordings, and
# the expected text.
SEVERAL = {
    'two': (20, 2, '240.0 ms recorded in 2 recordings over 20.1 s'),
    'two that touch': (6 * STEP_US / 1e6, 2, ', 240.0 ms from 2023'),
    'three hours apart': (3600, 3, '360.0 ms recorded in 3 recordings over 7200.1 s'),
}


def check_several(apart_s, n, says):
    """The time between two recordings is unknown, so it belongs to no step; all else is as in one
    recording with as many steps."""
    steps = 6 * n
    record('one', 0, range(5, 5 + steps), 0, range(1, 1 + steps))
    for part in range(n):
        record('several', part, range(5 + 6 * part, 11 + 6 * part), part * apart_s * 1e6,
               range(1 + 100 * part, 7 + 100 * part))
    one, several = judged('one'), judged('several', says)
    for row, expected in zip(several['stragglers.job'], one['stragglers.job']):
        equal((row['verdict'], row['rank']), ('persistent', 1))
        holds(expected['p'] / 3 <= row['p'] <= 3 * expected['p'], (row['p'], expected['p']))
    # From the end of a step to that of the next: 20 ms, and up to 9 us, the difference between
    # their longest computations.
    equal([row['step'] for row in several['whatif.step']], list(range(5, 5 + steps)))
    for row in several['whatif.step'][1:]:
        holds(abs(row['step_ns'] - STEP_US * 1000) <= 9000, row)
    equal([row['rule'] for row in several['advice.item']],
          [row['rule'] for row in one['advice.item']])


@seldom
def test_a_pause_inside_of_a_trace_counts_as_one_between_two():
    """The profiler skips 14 steps: in one trace, and with a trace for each part."""
    for part, numbers, seqs in ((0, range(5, 11), range(1, 7)), (1, range(25, 31), range(21, 27))):
        record('two', part, numbers, part * 20 * STEP_US, seqs)
    for rank in range(RANKS):
        first, second = (json.loads(content(f'two/rank{rank}.{part}.json')) for part in range(2))
        first['traceEvents'] += second['traceEvents']
        put(f'one/rank{rank}.json', json.dumps(first))
    names = ('stragglers.job', 'stragglers.finding', 'whatif.job', 'whatif.step',
             'criticalpath.step', 'overlap.rank', 'overlap.step', 'advice.item')
    found = []
    for folder in ('one', 'two'):
        merged(folder, '-o', f'{folder}.h5')
        found.append(tables(f'{folder}.h5', *names))
    for name in names:
        equal(found[0][name], found[1][name])
    # As in check_several; a rank's window has 12 steps, without the wait of its last transfer.
    for row in found[0]['whatif.step'][1:]:
        holds(abs(row['step_ns'] - STEP_US * 1000) <= 9000, row)
    merged('one', '-o', 'three.h5', n=3)
    same_bytes('one.h5', 'three.h5')
    tmerge('analyze', 'one.h5', '-o', 'again.h5').expect(0)
    same_bytes('one.h5', 'again.h5')
    equal([row['source'] for row in rows('one.h5', 'job.rank')],
          [f'one/rank{rank}.json' for rank in range(RANKS)])


# Name: number of consistent collectives, number that lack ranks, missing traces. Collectives of
# both runs have the same numbers, and so do their steps.
RESTARTED = {
    'with all traces': (12, 0, []),
    'where one crashed before it wrote its first': (12, 6, ['rank2.0.json']),
    'where one did not come back': (12, 6, ['rank2.1.json']),
}


def check_restarted(n, n_incomplete, missing):
    for part in range(2):
        record('job', part, range(5, 11), 1000 + part * 20e6, range(1, 7))
    for name in missing:
        os.remove(f'job/{name}')
    merged('job', '-o', 'job.h5')
    found = tables('job.h5', 'clock.check', 'whatif.step', 'job.remark', 'stragglers.job')
    check, = found['clock.check']
    equal([check[k] for k in ('collectives', 'matched', 'incomplete', 'suspect')],
          [n, n - n_incomplete, n_incomplete, 0])
    equal([row['step'] for row in found['whatif.step']],
          [run * 1000000 + step for run in (0, 1) for step in range(5, 11)])
    equal({(row['remark'], row['rank']) for row in found['job.remark']},
          {('restart', rank) for rank in range(RANKS) if f'rank{rank}.1.json' not in missing})
    equal(found['stragglers.job'][0]['rank'], 1)
    merged('job', '-o', 'three.h5', n=3)
    same_bytes('job.h5', 'three.h5')
    tmerge('analyze', 'job.h5', '-o', 'again.h5').expect(0)
    same_bytes('job.h5', 'again.h5')


# Name: how much earlier [us] than the last each rank begins its first step, whether rank 3's
# profiler, too, was opened just then and not long before, and whether the opening is set apart. If
# it is not, rank 3 was really late, or the others waited for less than 5 % of the 131 ms that they
# recorded until its profiler was open: 11 ms less the 6.1 ms before they began to wait.
OPENED = {
    'one after the other': ((30e6, 20e6, 10e6, 0), True, True),
    'the second half of the ranks later': ((50e3, 50e3, 0, 0), True, True),
    'together where one is late': ((30e6, 30e6, 30e6, 0), False, False),
    'nearly together': ((11e3, 11e3, 11e3, 0), True, False),
}


def check_opened(first, own, apart):
    record('together', 0, range(5, 13), 40e6, range(1, 9))
    record('job', 0, range(5, 13), 40e6, range(1, 9), first)
    if not own:
        whole = json.loads(content('job/rank3.0.json'))
        whole['traceEvents'].append(event('open', 'cpu_op', 40e6 - max(first), 1))
        put('job/rank3.0.json', json.dumps(whole))
    done = merged('job', '-o', 'job.h5')
    merged('together', '-o', 'together.h5')
    found = [tables(store, 'job.rank', 'overlap.step', 'stragglers.job', 'advice.item')
             for store in ('together.h5', 'job.h5')]
    # Arrival of the last: 110 us after its begin, plus its compute; the recording began with the
    # step.
    came = max(40e6 - early + 110 + computes(rank, 5) for rank, early in enumerate(first))
    equal([row['opening_ns'] for row in found[1]['job.rank']],
          [round((came - 40e6 + early) * 1000) if apart else None for early in first])
    equal('profilers started up to' in done.out, apart)
    if apart:
        steps = [[without(row, ['begin_ns', 'partial']) for row in each['overlap.step']
                  if row['step'] > 5] for each in found]
        equal(steps[1], steps[0])
        equal([each['stragglers.job'][0]['rank'] for each in found], [1, 1])
        equal(*([row['rule'] for row in each['advice.item']] for each in found))
        merged('job', '-o', 'three.h5', n=3)
        same_bytes('job.h5', 'three.h5')
        tmerge('analyze', 'job.h5', '-o', 'again.h5').expect(0)
        same_bytes('job.h5', 'again.h5')
        for rank in range(RANKS):  # without marked steps
            whole = json.loads(content(f'job/rank{rank}.0.json'))
            whole['traceEvents'] = [e for e in whole['traceEvents']
                                    if not e['name'].startswith('ProfilerStep')]
            put(f'job/rank{rank}.0.json', json.dumps(whole))
        merged('job', '-o', 'job.h5')
        load, = rows('job.h5', 'imbalance.job')
        equal((load['ranks'], load['max_rank']), (RANKS, 1))


globals().update(sampled(tests_of(OPENED, check_opened, 'opened_')))
globals().update(sampled(tests_of(RESTARTED, check_restarted, 'restarted_')))
globals().update(tests_of(SEVERAL, check_several, 'recordings_'))

if __name__ == '__main__':
    main()
