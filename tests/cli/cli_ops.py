"""Operation-level traces: a real one, 8 ranks in one file, compared with sums over it."""
import collections
import gzip
import json
import os

from common import (SHARED, SOURCE, Skip, equal, has_line, holds, lacks, main, merged, put, tables,
                    tmerge)

TRACE = os.path.join(SHARED, 'traces', 'bytedance-st', 'timeline-ST.json.gz')
NO_WAITS = ('  The traces record only the transfer of communication, after the last rank',
            '  arrived: they do not show who waited for whom')


def trace():
    if not os.path.exists(TRACE):
        raise Skip('the real traces are not here')
    return TRACE


def operations():
    with gzip.open(trace()) as file:
        return [event for event in json.load(file) if event['ph'] == 'X']


def test_a_file_holds_all_ranks_of_a_job():
    found = operations()
    text = merged(trace(), '-o', 'x.h5').out
    # 6784 operations, and a mark of each of the 32 steps on each of the 8 ranks.
    has_line(text, '8 ranks, 32 steps of .* events')
    result = tables('x.h5', 'overlap.rank', 'job.job', 'job.rank', 'overlap.step')
    job, = result['job.job']
    equal((job['hosts'], job['collectives']), (None, 2144))
    # A rank's compute is the sum of its operations, which hardly overlap.
    compute = collections.Counter()
    steps = {}
    for event in found:
        begin, end, number = event['ts'], event['ts'] + event['dur'], event['args']['step']
        if event['tid'] % 5 == 0:
            compute[event['tid'] // 5] += event['dur']
        known = steps.get(number, (begin, end))
        steps[number] = (min(begin, known[0]), max(end, known[1]))
    for row in result['overlap.rank']:
        holds(abs(row['compute_ns'] / 1000 - compute[row['rank']]) < 100, f'{row}')
        # Gaps that the exporter put between the steps do not count.
        holds(abs(row['window_ns'] / 1000 - sum(b - a for a, b in steps.values())) < 60000, f'{row}')
    for row in result['overlap.step']:
        begin, end = steps[row['step']]
        holds(abs(row['window_ns'] / 1000 - (end - begin)) < 0.01, f'{row}')


def test_what_the_trace_does_not_tell_is_not_said():
    text = merged(trace(), '-o', 'x.h5').out
    has_line(text, 'No verdict: the traces do not show who waits for whom')
    for line in NO_WAITS:
        has_line(text, line)
    lacks(text, ' on 1 host')
    lacks(text, 'no rank holds')
    holds('copies 0.0 %, idle or waits ' in text, text)
    result = tables('x.h5')
    for row in result['overlap.rank'] + result['stragglers.rank']:
        equal(row.get('wait_ns'), None)
    equal({row['wait_ns'] for row in result['groups.group']}, {None})
    equal({row['transfer_ns'] for row in result['collectives.worst']}, set())
    # Both ranks of the last stage are slow, and either alone saves under 1 % (ByteDance's M_w).
    equal([(row['rule'], row['ranks'], round(row['saved_pct'], 1)) for row in result['advice.item']],
          [('imbalance', '6-7', 18.1)])
    equal(result['phases.step'], [])
    equal(result['kernels.kernel'], [])


def test_groups_are_those_of_the_parallel_dimensions():
    merged(trace(), '-o', 'x.h5')
    groups = tables('x.h5', 'groups.group')['groups.group']
    members = collections.defaultdict(set)
    for row in groups:
        members[row['dimension'] or row['description']].add((row['members'], row['complete']))
    # A step has a gather and a scatter per stage, 4 micro-batches both ways between 4 stages.
    equal(dict(members), {
        'data': {(f'{i}-{i + 1}', 64) for i in range(0, 8, 2)},
        'pipeline': {('0-6:2', 32 * 4 * 2 * 3), ('1-7:2', 32 * 4 * 2 * 3)},
        'tensor': {(str(i), 32) for i in range(8)},
        'embeddings': {('0,6', 32), ('1,7', 32)},
        'all ranks': {('0-7', 32)},
    })


def near(found, expected, most, what):
    holds(abs(found - expected) <= most, f'{what} is {found}, not {expected}')


def test_the_replay_gives_the_published_figures():
    text = merged(trace(), '-o', 'x.h5').out
    has_line(text, r'^  Fixing pipeline stage 3 \(ranks 7, 6\) saves 18\.1 % of a step \(40[12]\.. ms\)$')
    folder = os.path.dirname(TRACE)
    published = {}
    for name in ('mw', 'ms'):
        with open(f'{folder}/{name}-ST.json') as file:
            published[name] = json.load(file)
    with open(f'{folder}/result-ST.json') as file:
        result = json.load(file)
    shown = tables('x.h5', 'whatif', 'criticalpath')
    job, = shown['whatif.job']
    original, ideal = published['mw']['tori'], published['mw']['tideal']
    near(job['slowdown'], original / ideal, 0.0002, 'S')
    near(job['worker_share'], published['mw']['Mw'], 0.0002, 'M_w')
    near(job['stage_share'], published['ms']['Ms'], 0.0002, 'M_s')
    near(job['ideal_ns'] / 1e9, ideal, 1e-5, 'T_ideal')
    base = sum(result['step_t_base'].values()) / len(result['step_t_base'])
    # The begin of a step's first operation is cut off if it waited for others: up to 1 ms.
    near(job['step_ns'] / 1e9, base, 0.0003, 'T')
    near(job['replay_error_pct'], 100 * (original / base - 1), 0.02, 'replay error')
    equal(job['sure'], True)
    # A rank's S_w is the lower value of its data rank and its stage in the paper's decompositions.
    by_data = [result['blocking_decompose_by_dp_rank'][f'{i}'] for i in range(2)]
    by_stage = [result['blocking_decompose_by_stage'][f'{i}'] for i in range(4)]
    items = {(row['what'], row['name']): row for row in shown['whatif.item']}
    for rank in range(8):
        near(items['rank', str(rank)]['slowdown'], min(by_data[rank % 2], by_stage[rank // 2]),
             0.0002, f'S_w of rank {rank}')
    for stage in range(4):
        near(items['stage', str(stage)]['slowdown'], by_stage[stage], 0.0002, f'S of stage {stage}')
    # The saving is the paper's, which includes transfers, too.
    near(items['stage', '3']['saved_ns'] / 1e9, original - published['ms']['trem'], 0.001, 'saved')
    near(items['rank', '7']['saved_ns'] / 1e9, original - published['mw']['trem'], 0.001, 'saved')
    for row in shown['whatif.step']:
        number = str(row['step'])
        near(row['step_ns'] / 1e9, result['step_t_base'][number], 0.001, f'step {number}')
        near(row['ideal_ns'] / 1e9, result['step_t_noblk'][number], 1e-4, f'ideal {number}')
        near(row['slowdown'], result['step_t_nodelay'][number] / ideal, 0.0002, f'S of {number}')
    some = json.loads(tmerge('whatif', 'x.h5', '--step', '23', '--json').out)
    near(some['tables']['whatif.job']['rows'][0]['slowdown'],
         result['blocking_step_slowdown']['23'], 0.0002, 'S of step 23')
    steps = {row['step']: row['step_ns'] for row in shown['criticalpath.step']}
    pieces = collections.Counter()
    for row in shown['criticalpath.piece']:
        pieces[row['step']] += row['duration_ns']
    equal(dict(pieces), steps)


def test_neither_ranks_nor_steps_need_follow_one_another():
    """A job that has only every fourth rank and was sampled at intervals: its two steps are those
    of testdata/ok_operations.json, whose figures test_ops_replay.c works out."""
    with open(os.path.join(SOURCE, 'testdata/ok_operations.json')) as file:
        events = json.load(file)
    for event in events:
        if event.get('tid', 0) >= 5:
            event['tid'] += 15  # rank 1 becomes rank 4
        if event['args'].get('step') == 9:
            event['ts'] += 10e6
            event['args']['step'] = 16
    put('x.json', json.dumps(events))
    has_line(merged('x.json', '-o', 'x.h5').out, 'one clock; ')
    found = tables('x.h5', 'whatif.job', 'whatif.step', 'overlap.rank')
    job, = found['whatif.job']
    near(job['slowdown'], 800 / 790, 1e-6, 'S')
    near(job['worker_share'], 0.5, 1e-6, 'M_w')
    near(job['stage_share'], 0.5, 1e-6, 'M_s')
    equal([(row['step'], row['step_ns']) for row in found['whatif.step']],
          [(7, 990000), (16, 990000)])
    equal([row['rank'] for row in found['overlap.rank']], [0, 4])


def test_an_analysis_gives_the_results_of_the_merge():
    merged(trace(), '-o', 'one.h5')
    tmerge('analyze', 'one.h5', '-o', 'again.h5')
    for name in ('stragglers.job', 'overlap.rank', 'groups.group', 'clock.check'):
        equal(tables('again.h5', name)[name], tables('one.h5', name)[name])


if __name__ == '__main__':
    main()
