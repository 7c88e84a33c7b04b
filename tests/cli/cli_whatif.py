"""tmerge whatif: scenarios compared with jobs made that way, items of the stored tables, and wrong
usage."""
import json
import re

from common import (contains, equal, event, has_line, holds, kernel, main, merged, put,
                    rows, seldom, small_trace, synth, tables, tmerge, trace)
from jobs import real_store, store


def made(name, **options):
    """Makes the store of a job, without its truth: another job is the reference."""
    synth(name, **options)
    merged(name, '-o', f'{name}.h5')
    return f'{name}.h5'


def whatif(path, *options, **more):
    done = tmerge('whatif', path, *options, **more).expect(0)
    equal(done.ours, [], 'messages')
    return done.out


def asked(path, *options):
    """Returns the job's row and the items of a query."""
    found = json.loads(whatif(path, *options, '--json'))['tables']
    return found['whatif.job']['rows'][0], found['whatif.item']['rows']


def scenario(path, *options):
    """Returns the row of a scenario, and the step time it predicts."""
    job, items = asked(path, *options)
    equal([item['what'] for item in items], ['scenario'])
    equal(items[0]['name'], ' '.join(options).partition(' --step')[0])
    return items[0], job['step_ns'] - items[0]['saved_ns']


def step_ns(path):
    """Returns the recorded step time, which needs no replay."""
    return rows(path, 'whatif.job')[0]['step_ns']


def near(found, expected, pct, what):
    holds(abs(found / expected - 1) <= pct / 100,
          f'{what}: {found} and not {expected}, {100 * (found / expected - 1):.3f} % off')


# Predictions compared with jobs made that way -----------------------------------------------------

# Job without, job with, scenario for the job without, tolerance of the step time in per cent.
MADE = {
    'a slow rank': ({}, {'slow_rank': 3}, 'rank=3+kind=compute:1.5', 0.1),
    'a slow rank of a pipeline': ({'pp': 4, 'microbatches': 4},
                                  {'pp': 4, 'microbatches': 4, 'slow_rank': 3},
                                  'rank=3+kind=compute:1.5', 0.1),
    'a slow rank, twice as fast': ({'slow_rank': 3, 'slow_factor': 2}, {},
                                   'rank=3+kind=compute:0.5', 0.1),
    'half the bandwidth': ({'latency_us': 0}, {'latency_us': 0, 'bandwidth_gbps': 50},
                           'transfer:2', 0.1),
}


@seldom
def test_a_scaled_job_takes_what_the_job_takes_that_was_made_so():
    for name, (without, other, text, pct) in MADE.items():
        row, found = scenario(made('without', **without), '--scale', text)
        expected = step_ns(made('other', **other))
        near(found, expected, pct, name)
        holds(abs(row['saved_pct']) > 2, f'{name}: nothing is tested by {row["saved_pct"]} %')


def test_a_loader_that_takes_no_time_leaves_what_a_job_takes_without_one():
    # Both without a loader: the usual one takes 0.1 ms of a step of 15.5 ms.
    _, slow = scenario(made('slow', fault='slow-loader'), '--scale', 'input:0')
    _, usual = scenario(made('usual'), '--scale', 'input:0')
    near(slow, usual, 1, 'a slow loader')
    holds(step_ns('slow.h5') > 1.3 * slow, 'the loader is not slow')


# One rank: calls of 10 us at 0 and 100 us that launch 5 us each; 90 us lie in between, 85 of them
# after the begin of the first event at 15 us, and only the host determines when the second begins.
# Name, begin and length of host events; saving without this kind, None: under half of the 90 us.
LOADER = 'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__'
BETWEEN = [
    ('input', [(LOADER, 10, 45)], 85),
    ('input', [(LOADER, 10, 44)], None),
    ('input', [('enumerate(DataPipe)#Shuffler', 50, 50)], 85),
    ('input', [('enumerate(DataLoader)#_SingleProcessDataLoaderIter.__init__', 10, 80)], None),
    ('input', [(LOADER, 12, 30), (LOADER, 20, 20), (LOADER, 60, 15)], 85),  # 30 + 15, not 65
    ('input', [(LOADER, 12, 30), (LOADER, 20, 20), (LOADER, 60, 14)], None),
    ('input', [(LOADER, -40, 95)], 85),  # 45 of it are between the calls
    ('input', [('Python GC', 10, 90)], None),
    ('gc', [('Python GC', 30, 60)], 85),
    ('gc', [(LOADER, 10, 90), ('Python GC', 30, 45)], 85),
    ('gc', [(LOADER, 10, 90)], None),
]


def launches(*begins, took):
    """Returns calls at these times [us]; each launches 5 us of work, 5 us after its end."""
    return [e for i, at in enumerate(begins) for e in (
        event('cudaLaunchKernel', 'cuda_runtime', at, took, pid=1, tid=1, correlation=i + 1),
        kernel('gemm', at + took + 5, 5, correlation=i + 1))]


@seldom
def test_host_time_before_the_first_gpu_event_is_saved_by_nothing():
    # A context is created for 500 ms, then two kernels of 10 ms are launched 20.01 ms apart: 30.01
    # ms from the first begin to the last end. Between the launches the host may have waited for the
    # first kernel, so a factor only changes its other 10 ms there and the 10 us of a launch.
    events = [event('cudaFree', 'cuda_runtime', 1_000_000, 500_000, pid=1, tid=1, correlation=9)]
    for i, at in enumerate((1_500_000, 1_520_010)):
        events += [event('cudaLaunchKernel', 'cuda_runtime', at, 10, pid=1, tid=1,
                         correlation=i + 1), kernel('gemm', at + 10, 10_000, correlation=i + 1)]
    put('rank0.json', trace(events, 0))
    merged('rank0.json', '-o', 'one.h5')
    for factor, step_us in (('0.999', 30_000), ('0.9', 29_010), ('0.5', 25_010), ('0', 20_010)):
        equal(scenario('one.h5', '--scale', f'kind=host:{factor}')[1], 1000 * step_us, factor)


def test_a_call_that_synchronises_implicitly_waits_only_for_the_device():
    # The first kernel ends at 1,010,010; the next 490,090 us of the call, until 1,500,100, are the
    # host's own, as are the 100 us until the next launch: a tenth of them is 49,019 us.
    for name in ('cudaFree', 'cudaMallocHost', 'hipHostFree', 'cuModuleLoadData'):
        events = [event(name, 'cuda_runtime', 1_000_100, 500_000, pid=1, tid=1, correlation=9)]
        for i, at in enumerate((1_000_000, 1_500_200)):
            events += [event('cudaLaunchKernel', 'cuda_runtime', at, 5, pid=1, tid=1,
                             correlation=i + 1), kernel('gemm', at + 10, 10_000, correlation=i + 1)]
        put('rank0.json', trace(events, 0))
        merged('rank0.json', '-o', 'one.h5')
        equal(scenario('one.h5', '--scale', 'kind=host:0.9')[0]['saved_ns'], 49_019_000, name)


@seldom
def test_host_time_is_of_the_loader_or_of_gc_where_half_of_it_is():
    for kind, spans, saved_us in BETWEEN:
        events = [event(name, 'user_annotation', 1000 + at, us, pid=1, tid=1)
                  for name, at, us in spans]
        put('rank0.json', trace(events + launches(1000, 1100, took=10), 0))
        merged('rank0.json', '-o', 'one.h5')
        done = tmerge('whatif', 'one.h5', '--scale', f'{kind}:0', '--json')
        what = f'{kind} of {spans}'
        if saved_us is None:
            equal(done.status, 2, what)
        else:
            item = json.loads(done.expect(0).out)['tables']['whatif.item']['rows'][0]
            equal(item['saved_ns'], 1000 * saved_us, what)


def test_figures_hold_where_the_marked_steps_are_replayed():
    # From the first kernel's begin, 1015, to the last one's end, 1120: 105 us, nine tenths of 116.7.
    for begin, sure in ((1004, True), (1003, False)):
        step = event('ProfilerStep#1', 'user_annotation', begin, 1120 - begin, pid=1, tid=1)
        put('rank0.json', trace([step] + launches(1005, 1105, took=5), 0))
        merged('rank0.json', '-o', 'part.h5')
        job = rows('part.h5', 'whatif.job')[0]
        equal((job['sure'], 'is replayed' in job['evidence']), (sure, not sure), begin)


# Consistency --------------------------------------------------------------------------------------


def saved(row):
    return {name: row[name] for name in ('saved_ns', 'saved_most_ns', 'path_ns', 'sure', 'ranks')}


@seldom
def test_the_scenario_of_an_item_saves_what_the_item_does():
    path = made('job', ranks=16, tp=2, pp=2, steps=3, slow_rank=5)
    items = [item for item in rows(path, 'whatif.item') if item['saved_ns'] is not None]
    tried = set()
    for item in sorted(items, key=lambda item: -item['saved_ns']):
        what, name = item['what'], item['name']
        if what in tried or what == 'even':
            continue
        tried.add(what)
        options = {'kernel': ('--fix', f'kernel=^{re.escape(name)}$+kind=compute'),
                   'limit': ('--scale', f'{name}:0'),
                   'plan': ('--fix', f'rank={name.replace(", ", ",")}'),
                   }.get(what, ('--fix', f'{what}={name}'))
        found, expected = saved(scenario(path, *options)[0]), saved(item)
        if what in ('plan', 'rank', 'host', 'stage'):
            # The path of a rank includes transfers, which no rank can fix; that of a plan is what
            # its last rank takes off the rest.
            paths = found.pop('path_ns'), expected.pop('path_ns')
            holds(what == 'plan' or 0 < paths[0] < paths[1], f'{what} {name}: {paths}')
        if what == 'kernel':  # an item counts all ranks, a scenario those that run it
            del found['ranks'], expected['ranks']
        equal(found, expected, ' '.join(options))
    equal(tried, {'plan', 'rank', 'host', 'stage', 'kind', 'kernel', 'limit'})
    equal(scenario(path, '--fix', 'stage=last')[0]['saved_ns'],
          scenario(path, '--fix', 'stage=1')[0]['saved_ns'])


def test_parts_hold_together_and_the_last_counts():
    path = real_store()
    plan = [item for item in rows(path, 'whatif.item') if item['what'] == 'plan'][-1]
    equal(plan['name'], '1, 2, 0')
    together = scenario(path, '--fix', 'rank=1', '--fix', 'rank=2', '--fix', 'rank=0')[0]
    equal(together['saved_ns'], plan['saved_ns'])
    same = scenario(path, '--fix', 'rank=1-2', '--scale', 'rank=1:1')[0]
    equal(same['saved_ns'], scenario(path, '--fix', 'rank=2')[0]['saved_ns'])
    # A factor of 1 changes nothing, so the text says that the time is the same.
    equal(scenario(path, '--scale', 'rank=0-7:1')[0]['saved_ns'], 0)
    contains(whatif(path, '--scale', 'rank=0-7:1'), 'it would take as long\n')


@seldom
def test_figures_of_some_steps_are_theirs():
    path = made('job', slow_rank=3, slow_steps='4-5', steps=4)
    steps = {row['step']: row for row in rows(path, 'whatif.step')}
    job, _ = asked(path, '--step', '4,6')
    for name in ('step_ns', 'ideal_ns'):
        equal(job[name], (steps[4][name] + steps[6][name] + 1) // 2, name)
    whole = json.loads(whatif(path, '--step', '4,6', '--json'))['tables']
    equal(whole['whatif.step']['rows'], [steps[4], steps[6]])
    each = [scenario(path, '--fix', 'rank=3', '--step', str(step))[0] for step in steps]
    of_all = scenario(path, '--fix', 'rank=3')[0]
    equal((sum(row['saved_ns'] for row in each) + 2) // 4, of_all['saved_ns'])
    for step, row in zip(steps, each):
        if steps[step]['best_rank'] == 3:
            equal(row['saved_ns'], steps[step]['saved_ns'], f'step {step}')
    holds(each[1]['saved_pct'] > 25 > 1 > each[3]['saved_pct'], 'steps 4 and 6 differ')
    # Only work of these steps is fixed, but the result counts all steps.
    in_step = scenario(path, '--fix', 'rank=3+step=4')[0]
    holds(abs(in_step['saved_ns'] - each[1]['saved_ns'] / len(steps)) < 2e4, in_step)
    near(asked(path, '--step', '3-6')[0]['step_ns'], step_ns(path), 0, 'all steps')


# Outputs ------------------------------------------------------------------------------------------


def test_the_text_says_what_helps_most():
    path = made('job', slow_rank=3)
    text = whatif(path)
    has_line(text, r'^A step takes 22\.\d ms; 15\.\d ms if everything took its usual time in this job')
    has_line(text, r'^  rank 3  +7\.\d\d ms  31\.\d %$')
    has_line(text, r'^  kind compute  +7\.\d\d ms  31\.\d %$')
    equal(len(whatif(path, '--top', '2').splitlines()), len(text.splitlines()) - 8, 'lines')
    ranks = [line.split() for line in whatif(path, '--each', 'rank').splitlines()[1:9]]
    equal(ranks[0][:2], ['rank', '3'])
    equal(sorted(line[1] for line in ranks), [str(i) for i in range(8)])
    found = whatif(path, '--fix', 'rank=3')
    has_line(found, r'^  a step takes 22\.\d ms; it would take 15\.\d ms: 7\.\d\d ms shorter')
    contains(whatif(path, '--scale', 'rank=3:1.1'), ' longer (')
    # The host of step 1 of 3 works 300 us longer; then its GPU waits 5 ms without a recorded cause.
    events = [event(f'ProfilerStep#{s}', 'user_annotation', 10_000 * s, (10_000, 10_000, 310)[s], pid=1, tid=1)
              for s in range(3)]
    for s, host, gap in ((0, 0, 0), (1, 300, 5000), (2, 0, 0)):
        for i, at in enumerate((0, 10 + host, 20 + host)):
            events += [event('cudaLaunchKernel', 'cuda_runtime', 10_000 * s + at + 1, 2, pid=1, tid=1, correlation=3 * s + i),
                       kernel('gemm', 10_000 * s + 7 + 101 * i + (host + gap) * (i > 0), 100, correlation=3 * s + i)]
    put('rank0.json', trace(events, 0))
    merged('rank0.json', '-o', 'one.h5')
    has_line(whatif('one.h5'), r'^  kind host +0\.10 ms +1\.5 %  to 1\.\d\d ms$')


def test_json_of_a_plain_question_is_what_the_store_has():
    path = store('groups')
    found = json.loads(whatif(path, '--json'))['tables']
    equal({name: table['rows'] for name, table in found.items()}, tables(path, 'whatif'))
    top = asked(path, '--each', 'kernel', '--top', '2')[1]
    every = [item for item in rows(path, 'whatif.item') if item['what'] == 'kernel']
    equal(top, sorted(every, key=lambda item: -(item['saved_ns'] or 0))[:2])


def test_what_matches_nothing_is_wrong_usage_and_says_what_there_is():
    path = made('job', ranks=4, ranks_per_host=2, pp=2, steps=2, first_step=7)
    for options, message in (
            (('--fix', 'rank=4-9'), 'rank=4-9: the job has ranks 0-3'),
            (('--fix', 'rank=1', '--fix', 'rank=4+kind=host'), 'rank=4: the job has ranks 0-3'),
            (('--fix', 'stage=2'), 'stage=2: the job has stages 0-1'),
            (('--fix', 'step=9'), 'step=9: the job has steps 7-8'),
            (('--fix', 'gc'),
             'kind=gc: the kinds are compute, copy, host, launch, transfer, input'),
            (('--fix', 'kernel=^none$'), 'kernel=^none$: no GPU event has such a name; tmerge show '
                                         'STORE kernels lists the names'),
            (('--fix', 'operator=^none$'), 'operator=^none$: no such operator launched anything; '
                                           'tmerge show STORE operators lists the names'),
            (('--fix', 'rank=0+stage=1'),
             'rank=0+stage=1: no recorded work matches all of these conditions'),
            (('--step', '1-6'), '--step: the job has none of these steps; it has 7-8'),
            (('--fix', 'rank=1', '--each', 'rank'),
             '--fix and --scale make one scenario: leave out --each and --top'),
            (('--each', 'node'), "--each takes rank, host, stage, kind or kernel, not 'node'"),
            (('--json', '--csv-dir=x'), '--json and --csv-dir exclude each other'),
            (('--scale', 'rank=1'), '--scale takes a factor up to 1000 after the last colon, such '
                                    "as rank=3:1.5, not 'rank=1'")):
        tmerge('whatif', path, *options).fails(2, message)
    # Rank 1 belongs to the job but did nothing on a GPU, or no rank did.
    for gpus, message in (((0,), 'only ranks with GPU events are replayed: ranks 0'),
                          ((), 'no rank has GPU events, which a replay needs')):
        for rank in (0, 1):
            put(f'part/{rank}.json', small_trace(rank) if rank in gpus else
                trace([event('aten::mm', 'cpu_op', 100, 50)], rank))
        merged('part', '-o', 'part.h5')
        tmerge('whatif', 'part.h5', '--fix', 'rank=1').fails(2, 'rank=1: ' + message)
    hosts = tmerge('whatif', path, '--fix', 'host=none').expect(2).errors[0]
    has_line(hosts, r'^tmerge: host=none: the job has hosts \S+, \S+$')
    tmerge('whatif').fails(2, 'tmerge whatif needs one store; see --help')
    put('rank0.json', trace([kernel('gemm', 100, 50)], 0))
    merged('rank0.json', '-o', 'one.h5')
    tmerge('whatif', 'one.h5', '--each', 'rank', n=2).fails(
        2, '--each rank: the job does not have two of them to compare')


def test_where_clocks_are_not_compared_nothing_is_known():
    path = store('two')
    tmerge('analyze', path, '--align=none', '-o', 'none.h5').expect(0)
    for options in ((), ('--fix', 'rank=1'), ('--step', '3')):
        contains(whatif('none.h5', *options), 'No figure is known: ')


main()
