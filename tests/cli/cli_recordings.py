"""Jobs of several recordings: a profile every so many steps, a run that was started again, profilers
that were opened one after the other."""
import os

from common import (equal, event, holds, kernel, main, merged, put, same_bytes, tables, tests_of, tmerge,
                    trace)

RANKS, STEP_US, COMPUTE_US, LATE_US, SEND_US = 4, 20000, 6000, 1500, 1500


def step(rank, number, at, seq):
    """A step of 20 ms, given when the rank begins it: 100 us later it launches 6 ms of computing,
    rank 1 one of 7.5 ms, both up to 9 us longer, and an all-reduce that ends 1.5 ms after rank 1
    came."""
    computes = [COMPUTE_US + (LATE_US if r == 1 else 0) + (7 * r + 3 * number) % 10
                for r in range(RANKS)]
    metadata = {'Collective name': 'allreduce', 'In msg nelems': 1024, 'Out msg nelems': 1024,
                'Group size': RANKS, 'dtype': 'Float', 'Process Group Name': '0',
                'Process Group Ranks': str(list(range(RANKS))), 'Seq': seq}
    begin, end = at + 110 + computes[rank], at + 110 + max(computes) + SEND_US
    return [event(f'ProfilerStep#{number}', 'user_annotation', at, STEP_US),
            event('cudaLaunchKernel', 'cuda_runtime', at + 100, 5, correlation=2 * seq),
            event('cudaLaunchKernel', 'cuda_runtime', at + 106, 5, correlation=2 * seq + 1),
            kernel('gemm', at + 110, computes[rank], correlation=2 * seq),
            kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', begin, end - begin, stream=20,
                   correlation=2 * seq + 1, **metadata)]


def record(folder, part, numbers, at, seqs, ranks=range(RANKS)):
    """A recording of steps that follow one another, from a moment [us] on."""
    for rank in ranks:
        put(f'{folder}/rank{rank}.{part}.json',
            trace([e for i, (number, seq) in enumerate(zip(numbers, seqs))
                   for e in step(rank, number, at + i * STEP_US, seq)], rank, RANKS))


def judged(folder):
    merged(folder, '-o', f'{folder}.h5')
    return tables(f'{folder}.h5', 'stragglers.job', 'whatif.step', 'advice.item')


# Name: seconds from the begin of one recording of six steps to that of the next, how many there are.
SEVERAL = {
    'two': (20, 2),
    'two that touch': (6 * STEP_US / 1e6, 2),
    'three hours apart': (3600, 3),
}


def check_several(apart_s, n):
    """Nobody knows what happened between two recordings, so it is no step's time; all else is as in
    one recording of as many steps."""
    steps = 6 * n
    record('one', 0, range(5, 5 + steps), 0, range(1, 1 + steps))
    for part in range(n):
        record('several', part, range(5 + 6 * part, 11 + 6 * part), part * apart_s * 1e6,
               range(1 + 100 * part, 7 + 100 * part))
    one, several = judged('one'), judged('several')
    for row, expected in zip(several['stragglers.job'], one['stragglers.job']):
        equal((row['verdict'], row['rank']), ('persistent', 1))
        holds(expected['p'] / 3 <= row['p'] <= 3 * expected['p'], (row['p'], expected['p']))
    # From the end of a step to that of the next: 20 ms, and up to 9 us by which their longest
    # computation differs.
    equal([row['step'] for row in several['whatif.step']], list(range(5, 5 + steps)))
    for row in several['whatif.step'][1:]:
        holds(abs(row['step_ns'] - STEP_US * 1000) <= 9000, row)
    equal([row['rule'] for row in several['advice.item']],
          [row['rule'] for row in one['advice.item']])


# Name: of how many collectives nothing contradicts, how many lack ranks, traces that are not there.
# Collectives of both runs have the same numbers, and so have their steps.
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


globals().update(tests_of(RESTARTED, check_restarted, 'restarted_'))
globals().update(tests_of(SEVERAL, check_several, 'recordings_'))

if __name__ == '__main__':
    main()
