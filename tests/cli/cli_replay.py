"""Savings of fixes, and the critical path, compared with the same jobs after the fix: simulated
jobs, a real one with an added stall, and a small one worked out by hand."""
import glob
import json
import os
import re

from cli_reference import read
from common import (SHARED, Skip, content, equal, event, holds, kernel, main, nanogpt, put,
                    sampled, seldom, some, synth, tables, tests_of, tmerge, trace)
from jobs import real_store

PARTS = ('compute_ns', 'copy_ns', 'comm_ns', 'transfer_ns', 'launch_ns', 'gap_ns', 'wait_ns',
         'host_ns', 'call_ns', 'sync_ns', 'before_ns')
TABLES = ('whatif.job', 'whatif.item', 'whatif.step', 'criticalpath.step', 'criticalpath.rank',
          'criticalpath.piece', 'stragglers.extra', 'overview.rank')

# Name: slow rank, its minimum share of the path, tolerance of the slowdown in per cent,
# tmerge-synth options. The path of a pipeline is on every stage; of two ranks in a stage, each is
# only compared with the other.
PAIRS = {
    'with data parallelism': (3, 0.9, 1, {}),
    'on two hosts whose clocks differ': (
        5, 0.9, 1, dict(ranks_per_host=4, offset_us=500, drift_ppb=500)),
    'in tensor groups': (3, 0.9, 1, dict(tp=2)),
    'where sequences are parallel': (3, 0.9, 1, dict(tp=4, sequence_parallel=True)),
    'in a pipeline': (3, 0.6, 2, dict(pp=4, microbatches=4)),
    # Kernels of one name and number have different roles in different stages.
    'in a pipeline whose stages differ': (3, 0.6, 2, dict(pp=4, microbatches=4, seed=4)),
    'in tensor and pipeline groups': (3, 0.6, 1, dict(tp=2, pp=2, microbatches=4)),
    'where data is sharded': (3, 0.9, 1, dict(sharded=True)),
    'whose host is slow': (3, 0.9, 1, dict(slow_kind='host', slow_factor=3)),
    'without metadata': (3, 0.9, 1, dict(no_metadata=True)),
    'where kernels are missing': (3, 0.9, 1, dict(lost_percent=2)),
}


def query(store, statement):
    return json.loads(tmerge('query', store, statement, '--json').expect(0).out)[
        'tables']['query']['rows']


def replayed(*arguments, store='job.h5', **more):
    tmerge(*arguments, '-o', store, '--force', **more).expect(0)
    return tables(store, *TABLES)


def item(result, what, name):
    """Returns the row of an item; a change not worth trying saves nothing."""
    found = [row for row in result['whatif.item'] if (row['what'], row['name']) == (what, name)]
    equal(len(found), 1, f'rows of {what} {name}')
    return {**found[0], 'saved_ns': found[0]['saved_ns'] or 0}


def near(found, expected, percent, what):
    holds(abs(found - expected) <= percent / 100 * expected,
          f'{what}: {found} is not within {percent} % of {expected}')


def check_sums(result):
    """Pieces are contiguous; they and the parts sum to steps."""
    steps, pieces = result['criticalpath.step'], result['criticalpath.piece']
    for step in steps:
        equal(sum(step[part] for part in PARTS), step['step_ns'], f'parts of {step["step"]}')
        equal(sum(p['duration_ns'] for p in pieces if p['step'] == step['step']), step['step_ns'],
              f'pieces of step {step["step"]}')
    for before, piece in zip(pieces, pieces[1:]):
        equal(before['begin_ns'] + before['duration_ns'], piece['begin_ns'], piece)
    equal(sum(rank['path_ns'] for rank in result['criticalpath.rank']),
          sum(step['step_ns'] for step in steps), 'paths of ranks')
    equal([(row['step'], row['step_ns']) for row in result['whatif.step']],
          [(row['step'], row['step_ns']) for row in steps], 'steps')


def check_pair(rank, share, within, options):
    """The job with the slow rank fixed takes as long as the same job without a slow rank."""
    synth('slow', ranks=8, steps=3, slow_rank=rank, **options)
    synth('healthy', ranks=8, steps=3,
          **{name: value for name, value in options.items() if not name.startswith('slow_')})
    healthy, result = replayed('healthy')['whatif.job'][0]['step_ns'], replayed('slow')
    job, fixed = result['whatif.job'][0], item(result, 'rank', str(rank))
    holds(job['sure'] and fixed['sure'], (job, fixed))
    near(job['step_ns'] - fixed['saved_ns'], healthy, 0.5, 'a step with the rank fixed')
    near(job['slowdown'], job['step_ns'] / healthy, within, 'slowdown')
    holds(fixed['path_ns'] > share * job['step_ns'], fixed)
    equal(item(result, 'plan', str(rank))['saved_ns'], fixed['saved_ns'], 'first in the plan')
    check_sums(result)
    for other in result['whatif.item']:
        holds(other['what'] != 'rank' or other['name'] == str(rank) or
              (other['saved_ns'] or 0) < 0.05 * fixed['saved_ns'], other)


globals().update(sampled(tests_of(PAIRS, check_pair,
                                  'fixing_a_slow_rank_gives_the_healthy_job_')))


@seldom
def test_a_kernel_that_takes_its_slack_longer_makes_no_step_longer():
    """One that takes 1 us more than that makes the job longer by exactly this: replay runs forward,
    slack is computed backwards."""
    synth('slow', ranks=4, steps=3, slow_rank=3)
    tmerge('slow', '-o', 'job.h5').expect(0)
    once = query('job.h5', 'SELECT rank, step, stream, min(name) AS name, min(begin_ns) AS begin, '
                 "min(duration_ns) AS ns FROM events WHERE role = 'compute' "
                 'GROUP BY name, rank, step HAVING count(*) = 1 AND rank > 1')
    runs = tables('job.h5', 'criticalpath.slack')['criticalpath.slack']
    equal(sum(run['events'] for run in runs), query('job.h5', 'SELECT count(*) AS n FROM events '
                                                    'WHERE role IS NOT NULL')[0]['n'], 'events')
    equal(len(once), 6, 'kernels that run once a step')
    for kernel_ in once:
        slack = max((run for run in runs if (run['rank'], run['stream']) ==
                     (kernel_['rank'], kernel_['stream']) and run['begin_ns'] <= kernel_['begin']),
                    key=lambda run: run['begin_ns'])['slack_ns']
        equal(slack == 0, kernel_['rank'] == 3, f'slack on {kernel_}: {slack}')
        name = re.sub(r'\W', '.', kernel_['name'])
        for more, longer in ((0, 0), (3000, 1000)):  # of an average step
            shown = json.loads(tmerge(
                'whatif', 'job.h5', '--json', '--scale',
                f'rank={kernel_["rank"]}+step={kernel_["step"]}+kernel=^{name}$:'
                f'{1 + (slack + more) / kernel_["ns"]:.12f}').expect(0).out)
            found = [row for row in shown['tables']['whatif.item']['rows'] if row['what'] == 'scenario']
            equal(found[0]['saved_ns'], -longer, f'{kernel_} by {slack + more} ns')


@seldom
def test_where_no_call_that_waits_is_recorded_it_is_right_or_not_sure():
    for fault in ('pageable', 'slow-loader'):
        synth('slow', ranks=8, steps=3, fault=fault, slow_rank=3)
        synth('healthy', ranks=8, steps=3, fault=fault)
        lost = 0
        for path in glob.glob('slow/profile_rank_*'):
            whole = json.loads(content(path))
            kept = [e for e in whole['traceEvents'] if 'Synchronize' not in e['name']]
            lost += len(whole['traceEvents']) - len(kept)
            put(path, json.dumps({**whole, 'traceEvents': kept}))
        holds(lost >= 8, 'calls wait')
        healthy, result = replayed('healthy')['whatif.job'][0]['step_ns'], replayed('slow')
        job, fixed = result['whatif.job'][0], item(result, 'rank', '3')
        holds(not fixed['sure'] or
              abs(job['step_ns'] - fixed['saved_ns'] - healthy) < 0.05 * healthy, (job, fixed))
        check_sums(result)


# A real job --------------------------------------------------------------------------------------

GPU = ('kernel', 'gpu_memcpy', 'gpu_memset')
STALL_US = 20000.0


def stop_host(events, at):
    """Delays all host events from a time on by the stall; extends those that span it."""
    for e in events:
        if e.get('cat') in GPU or e.get('cat') == 'gpu_user_annotation':
            continue
        if e['ts'] >= at:
            e['ts'] += STALL_US
        elif e['ts'] + e['dur'] > at:
            e['dur'] += STALL_US


def edited(change, ranks=range(8)):
    """Returns the traces of nanogpt8, with change(rank, events, calls by correlation, GPU events)
    applied to these ranks."""
    paths = sorted(glob.glob(os.path.join(nanogpt(), '*.json.gz')))
    for rank in ranks:
        whole = read(paths[rank])
        events = [e for e in whole['traceEvents'] if e.get('ph') == 'X']
        calls = {e['args']['correlation']: e for e in events
                 if e.get('cat') in ('cuda_runtime', 'cuda_driver') and 'correlation' in e['args']}
        change(rank, events, calls, [e for e in events if e.get('cat') in GPU])
        paths[rank] = put(f'rank{rank}.json', json.dumps(whole))
    return paths


def joined_late(gpu):
    """Returns the communication kernel in which all wait for rank 1: the 28th from the end."""
    return sorted((e for e in gpu if 'nccl' in e['name']), key=lambda e: e['ts'])[-28]


def stall_rank_1(rank, events, calls, gpu):
    """The host of rank 1 stops for 20 ms. Its GPU only has work that this host launches, and the
    other ranks only wait for it in a kernel: all that rank 1 launches after the stall is 20 ms
    later, as is all that the others run after that kernel. Their hosts are ahead, and only wait in
    their last call."""
    joined = joined_late(gpu)
    end = joined['ts'] + joined['dur']
    if rank != 1:
        joined['dur'] += STALL_US
        for e in gpu:
            e['ts'] += STALL_US if e['ts'] >= end else 0
        last, = (e for e in events if e['name'] == 'cudaDeviceSynchronize')
        stop_host(events, last['ts'] + last['dur'] - 0.001)
        return
    launched = {e['args']['correlation']: e for e in gpu if e['args']['correlation'] in calls}
    at = max(calls[k]['ts'] for k, e in launched.items()
             if e['ts'] < joined['ts'] and e['ts'] - calls[k]['ts'] < 10)
    behind = [k for k in launched if calls[k]['ts'] >= at]
    stop_host(events, at)
    for k in behind:
        launched[k]['ts'] += STALL_US


def stall_rank_5(rank, events, calls, gpu):
    """The host of rank 5 stops for 20 ms, is still ahead of its GPU, and waits less at the end."""
    last, = (e for e in events if e['name'] == 'cudaDeviceSynchronize')
    stop_host(events, calls[joined_late(gpu)['args']['correlation']]['ts'])
    last['dur'] -= STALL_US


def step_times(result):
    return [row['step_ns'] for row in result['whatif.step']]


@seldom
def test_a_stall_put_into_a_real_job_is_what_fixing_it_saves():
    before = tables(real_store(), *TABLES)
    after = replayed(*edited(stall_rank_1))
    equal([b - a for a, b in zip(step_times(before), step_times(after))], [0, 0, 20_000_000, 0])
    for what, name in (('kind', 'stall'), ('kind', 'host'), ('rank', '1'), ('plan', '1, 2, 0')):
        was, now = item(before, what, name), item(after, what, name)
        near(4 * (now['saved_ns'] - was['saved_ns']), 20_000_000, 0.01, f'{what} {name}')
        holds(now['sure'], now)


@seldom
def test_a_stall_that_a_real_job_is_not_late_for_saves_nothing():
    before = tables(real_store(), *TABLES)
    after = replayed(*edited(stall_rank_5, [5]))
    equal(step_times(after), step_times(before))
    for row in before['whatif.item']:
        if row['what'] == 'plan' and row['ranks'] > 1:
            continue  # if the late ranks were as fast as rank 5, the job would wait for it
        now = item(after, row['what'], row['name'])
        holds(abs(now['saved_ns'] - (row['saved_ns'] or 0)) <= 2000, (row, now))


def test_a_real_job_is_replayed_as_worked_out_before():
    # Figures of another program, a prototype with the whole graph in memory. It counts from the
    # first kernel; step 10 begins 38.6 ms later, after the work queued before the recording.
    result = tables(real_store(), *TABLES)
    equal([row['step_ns'] // 1000 for row in result['whatif.step']], [36316, 48101, 42794, 41138])
    total = sum(row['step_ns'] for row in result['whatif.step']) + 38.6e6
    # It did not know of kernels that only rank 0 runs (20 of XXT_kernel a step, 10 or 15 others,
    # ...).
    extra = sum(row['extra_ns'] + row['host_ns'] for row in result['stragglers.extra'] if row['rank'] == 0)
    for ranks, fixed, less in (('1', 204.4, 0), ('1, 2', 194.8, 0), ('1, 2, 0', 184.4, extra)):
        found = total - 4 * item(result, 'plan', ranks)['saved_ns'] - fixed * 1e6
        holds(-1e6 - less < found < 1e6, (ranks, found, less))
    for step in result['criticalpath.step'][1:]:
        equal((step['rank'], step['rank_share']), (1, 1))
        holds(step['host_ns'] + step['call_ns'] > 0.99 * step['step_ns'], step)
    check_sums(result)


@seldom
def test_paths_of_real_traces_sum_to_their_steps():
    jobs = [sorted(glob.glob(os.path.join(SHARED, 'traces', folder, '*.json*')))
            for folder in ('hta2', 'dlrm8', 'megatron2', 'lightllm8')]
    for pattern in ('single/*.json.gz', 'kineto-samples/*.json.gz', 'nsys/*.sqlite'):
        jobs += [[path] for path in sorted(glob.glob(os.path.join(SHARED, 'traces', pattern)))]
    if not any(jobs):
        raise Skip('the real traces are not here')
    for paths in some(filter(None, jobs)):
        check_sums(replayed(*paths))


# By hand -----------------------------------------------------------------------------------------

STREAM = 7


def call(begin, number, name='cudaLaunchKernel', took=5):
    return event(name, 'cuda_runtime', begin, took, pid=1, tid=7, correlation=number)


def gpu(name, begin, end, number):
    return kernel(name, begin, end - begin, stream=STREAM, correlation=number)


def reduced(begin, end, number):
    """Returns an all-reduce of three ranks."""
    work = gpu('ncclDevKernel_AllReduce_Sum_f32_RING_LL', begin, end, number)
    work['args'] |= {'Collective name': 'allreduce', 'In msg nelems': 1000, 'Out msg nelems': 1000,
                     'Group size': 3, 'dtype': 'Float', 'Process Group Name': '0',
                     'Process Group Ranks': '[0, 1, 2]'}
    return work


def marked(number, begin, end):
    return event(f'ProfilerStep#{number}', 'user_annotation', begin, end - begin, pid=1)


def three_ranks(events_of):
    for rank in range(3):
        put(f'job/rank{rank}.json', trace(events_of(rank), rank=rank, world=3))
    return replayed('job')


def stalled(stall, synced):
    """Each rank launches a, b, an all-reduce and c, of 100 us each, 10 us apart; a kernel begins 6
    us after its launch or 1 us after the one before. The host of rank 1 stops before b."""
    def events_of(rank):
        own, reduce_at = stall if rank == 1 else 0, max(stall + 16, 107) + 101
        b, end = max(own + 16, 107), reduce_at + 100
        last = [call(own + 40, 5, 'cudaDeviceSynchronize', end + 103 - own - 40)] if synced else []
        return [marked(1, -1, end + 200), call(0, 1), call(own + 10, 2), call(own + 20, 3),
                call(own + 30, 4), gpu('a', 6, 106, 1), gpu('b', b, b + 100, 2),
                reduced(b + 101, end, 3), gpu('c', end + 1, end + 101, 4)] + last
    return events_of


def test_a_stall_by_hand():
    # b begins 6 us after the stall, at 10,016; the all-reduce runs from 10,117 to 10,217, and c
    # ends at 10,318; all counts from the step's start at -1. Without the stall b begins at 107,
    # 9,909 us earlier. If no call waits for the GPU, the host may have waited for a, which ended
    # in the stall: then the 9,904 us after that become the usual 5 between launches, b's launch
    # begins at 111 and b at 117.
    for synced, saved in ((True, 9909), (False, 9899)):
        equal(step_times(three_ranks(stalled(0, synced))), [410_000])
        result = three_ranks(stalled(10_000, synced))
        equal(step_times(result), [10_319_000])
        for what, name in (('rank', '1'), ('plan', '1'), ('kind', 'stall'), ('kind', 'host')):
            row = item(result, what, name)
            equal((row['saved_ns'], row['saved_most_ns']), (saved * 1000, 9_909_000), (what, name))
        # After rank 1's begin of the all-reduce the path is on the lowest rank.
        equal([(r['rank'], r['path_ns']) for r in result['criticalpath.rank']],
              [(0, 201_000), (1, 10_118_000), (2, 0)])
        check_sums(result)


def test_a_slow_transfer_by_hand():
    # Three all-reduces of one size take 100, 10,000 and 100 us: the median saves 9,900 us.
    result = three_ranks(lambda rank: [
        marked(1, -1, 10_300), call(0, 1), call(10, 2), call(20, 3),
        reduced(6, 106, 1), reduced(107, 10_107, 2), reduced(10_108, 10_208, 3)])
    equal(step_times(result), [10_209_000])
    equal(item(result, 'kind', 'transfer')['saved_ns'], 9_900_000)


def test_a_rank_without_marked_steps_is_compared_but_has_no_steps():
    """Rank 1 takes 300 us for `a`, the others 100, which saves 200 us of each step. The steps last from
    -1 to 407 and from 407 to 1407 us. Of rank 1 no steps are marked: its 1407 us are no step."""
    def events_of(rank):
        end, events = 106 + 200 * (rank == 1), []
        for step in range(2):
            own = [call(0, 2 * step + 1), call(10, 2 * step + 2),
                   call(20, 2 * step + 9, 'cudaDeviceSynchronize', 390),
                   gpu('a', 6, end, 2 * step + 1), reduced(end + 1, 407, 2 * step + 2)]
            for one in own + [marked(step, -1, 500)] * (rank != 1):
                events.append({**one, 'ts': one['ts'] + 1000 * step})
        return events
    result = three_ranks(events_of)
    equal(step_times(result), [408_000, 1_000_000])
    equal(item(result, 'rank', '1')['saved_ns'], 200_000)
    equal([r['steps'] for r in result['overview.rank']], [2, 0, 2])


def hosts_ahead(stall):
    """Four steps of three ranks: a is launched, 3,990 us later b, then an all-reduce. Before a the
    host works for 205 us, on rank 1 from the second step on for `stall`. GPUs take 10 us for a,
    8,000 for b and 100 for the all-reduce. Returns the events of each rank."""
    calls = [[], [], []]  # by rank and step: begins of both launches
    for rank, own in enumerate(calls):
        for step in range(4):
            a = own[-1][1] + 5 + (stall if rank == 1 else 205) if step else 100
            own.append((a, a + 3990))
    events, free = [[], [], []], 0
    for step in range(4):
        begins = []
        for rank, own in enumerate(events):
            (a, b), number = calls[rank][step], 3 * step
            a_begin = max(a + 6, free + 1)
            b_begin = max(b + 6, a_begin + 11)
            begins.append(b_begin + 8001)
            own += [marked(step, a - 1, b + 20), call(a, number + 1), call(b, number + 2),
                    call(b + 7, number + 3), gpu('a', a_begin, a_begin + 10, number + 1),
                    gpu('b', b_begin, b_begin + 8000, number + 2)]
        free = max(begins) + 100
        for begin, own in zip(begins, events):
            own.append(reduced(begin, free, 3 * step + 3))
    for (*_, (_, last)), own in zip(calls, events):
        own.append(call(last + 50, 13, 'cudaDeviceSynchronize', free + 3 - last - 50))
    return events


def test_a_stall_while_the_gpus_still_end_the_step_before():
    # With stalls of 5,995 us b begins at 4,096, 14,086, 24,076 and 34,066, and the last all-reduce
    # ends at 42,167: 42,068 from the first step's start at 99. Without stalls, GPUs have 8,113 us of
    # work a step: 36,437. Each stall is over before the step before has ended, so no step's path
    # contains it.
    steps = step_times(three_ranks(hosts_ahead(205).__getitem__))
    equal(sum(steps), 36_437_000)
    result = three_ranks(hosts_ahead(5995).__getitem__)
    equal(sum(step_times(result)), 42_068_000)
    holds(all(p['duration_ns'] < 5_000_000 for p in result['criticalpath.piece']
              if p['kind'] == 'host'), 'no stall is on the path')
    saved = round((42_068_000 - 36_437_000) / 4)
    for what, name in (('rank', '1'), ('kind', 'stall'), ('kind', 'host')):
        equal(item(result, what, name)['saved_ns'], saved, (what, name))


main()
