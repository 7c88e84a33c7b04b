"""Output of tmerge diff for two jobs: numbers worked out from the truth of made jobs; planted
changes are found, and no others."""
import json
import os
import re
import statistics

import jobs
from common import (FULL, Skip, contains, content, equal, files, has_line, holds, kernel, lacks,
                    limited, main, merged, put, same_bytes, seldom, split_page, synth, tmerge,
                    trace)

NONE = ('same', 'unclear', 'too few steps')
SAME = 'No difference: everything that was compared is the same'
TABLES = ['diff.remark', 'diff.side', 'diff.job', 'diff.step', 'diff.rank', 'diff.kernel',
          'diff.operator']


def store(name, **options):
    """Makes a store NAME.h5 of a made job; returns its truth."""
    truth = synth(name, **options)
    merged(name, '-o', f'{name}.h5')
    return truth


def shared():
    """Links two different jobs as a.h5 and b.h5."""
    for name, job in (('a.h5', 'two'), ('b.h5', 'three')):
        os.symlink(jobs.store(job), name)


def diff(*arguments):
    done = tmerge('diff', 'a.h5', 'b.h5', *arguments).expect(0)
    equal(done.err, '', 'standard error')
    return done.out


def found(*arguments):
    """Returns the rows of a comparison's tables by name."""
    tables = json.loads(diff('--json', *arguments))['tables']
    equal(list(tables), TABLES)
    return {name: table['rows'] for name, table in tables.items()}


def figures(tables):
    return {row['figure']: row for row in tables['diff.job']}


def named(rows):
    return {row['name']: row for row in rows}


def changes(tables):
    """Returns (table, figure or name, verdict) of everything that changed."""
    return [(name, row.get('figure') or row['name'], row['verdict']) for name, rows in tables.items()
            for row in rows if row.get('verdict', 'same') not in NONE]


def of_steps(truth, column):
    """Returns the mean over ranks in each step."""
    ranks = truth['ranks']
    return [sum(rank['steps'][i][column] for rank in ranks) / len(ranks)
            for i in range(len(ranks[0]['steps']))]


def noise(a, b):
    """diff.job.noise, computed from its definition."""
    spreads = []
    for steps in (a, b):
        off = sorted(abs(step - statistics.median(steps)) for step in steps)
        spreads.append(off[-(-3 * len(off) // 4) - 1])
    errors = [1.2533 / 1.1503 * max(spreads) / len(steps)**0.5 for steps in (a, b)]
    return 3 * (1 + 4 / min(len(a), len(b))) * (errors[0]**2 + errors[1]**2)**0.5


def near(value, expected, what):
    holds(abs(value - expected) <= 1e-9 * abs(expected), f'{what}: {value}, not {expected}')


def test_two_identical_stores_have_no_difference():
    for name in ('a.h5', 'b.h5'):
        os.symlink(jobs.store('plain'), name)
    equal(diff(), f'{SAME}\n  A: a.h5, 8 ranks, 5 steps\n  B: b.h5, 8 ranks, 5 steps\n')
    tables = found()
    equal(tables['diff.remark'], [{'place': 0, 'text': SAME}])
    equal({row['verdict'] for name in ('diff.job', 'diff.kernel', 'diff.operator')
           for row in tables[name]}, {'same'})


def test_a_slow_rank_gives_the_numbers_of_the_truth():
    truth = (store('a', ranks=4, steps=5), store('b', ranks=4, steps=6, slow_rank=1, slow_factor=1.5))
    tables = found()
    rows = figures(tables)
    for column in ('compute_ns', 'comm_ns', 'overlap_ns', 'exposed_comm_ns', 'idle_ns'):
        row = rows[f'overlap.step.{column}']
        a, b = (of_steps(t, column) for t in truth)
        near(row['a'], statistics.median(a), column)
        near(row['b'], statistics.median(b), column)
        near(row['change'], statistics.median(b) - statistics.median(a), column)
        near(row['change_pct'], 100 * (statistics.median(b) / statistics.median(a) - 1), column)
        near(row['noise'], noise(a, b), column)
        beyond = abs(row['change']) > row['noise']
        equal(row['verdict'], 'unclear' if not beyond else 'higher' if row['change'] > 0 else 'lower')
    a, b = (statistics.median(of_steps(t, 'window_ns')) for t in truth)
    near(rows['overview.step.step_ns']['b'], b, 'step')
    text = diff()
    has_line(text, rf'^B is {100 * (b / a - 1):.1f} % slower a step: {a / 1e6:.1f} ms -> '
                   rf'{b / 1e6:.1f} ms \(noise ')
    contains(text, '\n! Rank 1 makes the other ranks wait in B, not in A\n')
    # Fixing rank 1 saves what it costs: the difference to A, which has no slow rank.
    saved = next(row['plan_pct'] for row in tables['diff.side'] if row['side'] == 'B')
    holds(abs(saved - 100 * (1 - a / b)) < 0.5, f'saved {saved} of {100 * (1 - a / b)} %')
    contains(' '.join(text.split()), f'in B fixing rank 1 saves {saved:.1f} % of a step')
    contains(text, '\nKernels, of a rank in a step\n')
    # A quarter of the ranks computes 1.5 times as long: 12.5 % more on average.
    holds(11.5 < rows['overlap.step.compute_ns']['change_pct'] < 13.5, 'compute')
    equal({row['verdict'] for row in tables['diff.kernel'] if row['a_ns'] > 100000}, {'slower'})
    # Five steps are compared with six.
    equal([(row['a_step'], row['b_step']) for row in tables['diff.step']],
          [(i, i) for i in range(3, 8)] + [(None, 8)])
    for i, row in enumerate(tables['diff.step']):
        equal(row['b_ns'], int(of_steps(truth[1], 'window_ns')[i] + 0.5), 'step')


def test_jobs_that_differ_in_jitter_alone_do_not_change():
    store('a', ranks=4, steps=8, seed=1)
    for seed in (2, 3, 4) if FULL else (2,):
        store('b', ranks=4, steps=8, seed=seed)
        equal(changes(found()), [], f'seed {seed}')
        lines = diff().splitlines()
        holds(lines[0].startswith('No change of the step time beyond noise: '), lines[0])
        equal(len(lines), 3, 'lines')


def test_pipeline_stages_are_compared_by_role():
    store('a', ranks=8, steps=5, pp=4, tp=2)
    store('b', ranks=8, steps=5, pp=4, tp=2, slow_rank=5, slow_factor=1.3)
    rows = found()['diff.rank']
    # The two ends of the pipeline have one neighbour, the middle stages have two.
    equal({(row['role'], row['a_ranks'], row['b_ranks']) for row in rows},
          {(0, '0-1,6-7', '0-1,6-7'), (1, '2-5', '2-5')})
    compute = {row['role']: row['verdict'] for row in rows
               if row['figure'] == 'overlap.step.compute_ns'}
    equal(compute, {0: 'same', 1: 'higher'})
    contains(diff(), '\nRanks 2-5\n')


def test_traces_of_one_step_compare_by_the_time_of_a_call():
    """A has one gemm of 50 us; B, recorded for longer, three of 70, 80 and 60 us: 70 on average, 40
    % more. A has two copies of 30 us, B four: the same per call, although there are more."""
    put('a.json', trace([kernel('gemm', 100, 50), kernel('ncclDevKernel_AllReduce_Sum', 160, 10),
                         kernel('twice', 300, 30), kernel('twice', 400, 30)], 0))
    put('b.json', trace([kernel('gemm', 100, 70), kernel('gemm', 300, 80), kernel('gemm', 400, 60),
                         kernel('other', 200, 10)] +
                        [kernel('twice', 500 + 50 * i, 30) for i in range(4)], 0))
    merged('a.json', '-o', 'a.h5')
    merged('b.json', '-o', 'b.h5')
    rows = named(found()['diff.kernel'])
    equal({name: (row['a_ns'], row['b_ns'], row['verdict'], row['per']) for name, row in rows.items()},
          {'gemm': (50000, 70000, 'differs', 'call'), 'other': (None, 10000, 'added', 'call'),
           'ncclDevKernel_AllReduce_Sum': (10000, None, 'removed', 'call'),
           'twice': (30000, 30000, 'same', 'call')})
    # Counts over the whole recording are not compared: 4 kernels and 8.
    equal({row['verdict'] for name, row in figures(found()).items() if name == 'kernels.kernel.calls'},
          {'too few steps'})
    text = diff()
    holds(text.startswith('A and B mark no steps: recordings of '), text)
    contains(text, 'a.h5, 1 rank, no whole step marked\n')
    contains(' '.join(text.split()), '! Under 2 whole steps in A or B (0, 0): kernels and operators are '
                                     'compared by their time per call; no change of a time is judged')
    contains(text, '\nKernels, mean time of a call; calls of a rank in the whole recording\n')
    has_line(text, r'^  differs +50\.000 +70\.000 +\+20\.000 +1->3  gemm$')
    # A kernel in only one of the two is not a change per call.
    has_line(text[text.index('Kernels of only A or only B'):], r'^  added +- +10\.000 +0->1  other$')
    # Figures that only a job with steps has are counted, not all printed.
    store('a', ranks=2, steps=5)
    holds(6 < diff().count('\n  only A ') <= 12, diff())


def test_top_keeps_the_kernels_and_operators_that_changed_most():
    store('a', ranks=2, steps=5)
    store('b', ranks=2, steps=5, slow_rank=1)
    whole, top = found(), found('--top', '2')
    for name in TABLES:
        cut = name in ('diff.kernel', 'diff.operator')
        equal(top[name], whole[name][:2] if cut else whole[name], name)
    moved = [abs(row['change_ns']) for row in whole['diff.kernel']]
    equal(moved, sorted(moved, reverse=True))
    equal(len([line for line in diff('--top', '2').splitlines() if line.startswith('  slower ')]), 4)
    has_line(diff('--top=2'), r'^  and \d+ more: --top \d+$')


def test_names_cannot_steer_a_terminal_and_are_cut_at_whole_characters():
    put('a.json', trace([kernel('gemm', 100, 50)], 0))
    put('b.json', trace([kernel('\033[31m' + 'ü' * 60, 100, 50)], 0))
    merged('a.json', '-o', 'a.h5')
    merged('b.json', '-o', 'b.h5')
    text = diff()
    lacks(text, '\033')
    has_line(text, r'^  added .*  \?\[31m' + 'ü+' + r'\.\.\.' + 'ü+$')


def test_under_mpirun_one_process_prints_and_the_stores_stay_as_they_are():
    shared()
    before = content('a.h5')
    equal(tmerge('diff', 'a.h5', 'b.h5', n=2).expect(0).out, diff())
    equal(content('a.h5') == before, True, 'the store as it was')


def page_tables(path):
    """Returns the rows of the page's tables: lists in column order. Skips if no page is built
    in."""
    if tmerge('diff', 'a.h5', 'b.h5', '--html', path).err.startswith(
            'tmerge: this tmerge was built without the report page'):
        raise Skip('no page is built in')
    page = json.loads(split_page(content(path))[1])
    equal((page['tmerge'], page['kind']), (1, 'diff'))
    return {name: [dict(zip([column[0] for column in table['columns']], row))
                   for row in zip(*table['cells'])] for name, table in page['tables'].items()}


def test_a_page_has_the_rows_of_json_whatever_is_printed():
    shared()
    whole = found()
    equal(page_tables('page.html'), whole)
    text = diff('--html', 'again.html')
    equal(text, diff() + '\nReport in again.html: open it in a browser, or send it.\n')
    same_bytes('page.html', 'again.html')
    equal(json.loads(diff('--json', '--top=1', '--html', 'top.html'))['tables']['diff.kernel']['rows'],
          whole['diff.kernel'][:1])
    same_bytes('page.html', 'top.html')
    tmerge('diff', 'a.h5', 'b.h5', '--html', 'two.html', n=2).expect(0)
    same_bytes('page.html', 'two.html')


def test_a_page_replaces_a_page_and_nothing_else_without_force():
    shared()
    page_tables('page.html')
    put('page.html', content('page.html') + b'old')
    diff('--html', 'page.html')
    holds(not content('page.html').endswith(b'old'), 'not written again')
    for path in ('notes.html', 'a.h5'):
        put('notes.html', '<p>mine')
        before = content(path)
        done = tmerge('diff', 'a.h5', 'b.h5', '--html', path).expect(4)
        equal((done.out, content(path)), ('', before))
    tmerge('diff', 'a.h5', 'b.h5', '--html', 'notes.html', '--force').expect(0)
    same_bytes('notes.html', 'page.html')
    tmerge('diff', 'a.h5', 'b.h5', '--html', 'nowhere/page.html').expect(4)
    tmerge('diff', 'a.h5', 'missing.h5', '--html', 'none.html').expect(3)
    # Complete or not written: files are limited to 4 kB.
    tmerge('diff', 'a.h5', 'b.h5', '--html', 'none.html', before=limited(4096)).expect(4)
    equal(files(), ['a.h5', 'b.h5', 'notes.html', 'page.html'])


@seldom
def test_a_gate_passes_fails_or_cannot_decide():
    """Steps vary by well under 1 %; rank 0's kernels, 1.2 times as long, exceed that."""
    store('a', ranks=2, steps=12, seed=1)
    store('b', ranks=2, steps=12, seed=2)
    store('slow', ranks=2, steps=12, seed=3, slow_rank=0, slow_factor=1.2)
    store('few', ranks=2, steps=3, seed=4)
    for after, limits, status, verdicts in (
            ('b', ['step=+2%'], 0, ['pass']),
            ('slow', ['step=+2%'], 6, ['fail']),
            ('slow', ['memory=+1%', 'step=+2%'], 6, ['pass', 'fail']),
            ('few', ['step=+2%'], 7, ['undecided']),
            ('b', ['step=+0.01%', 'memory=+1%'], 7, ['undecided', 'pass'])):
        arguments = ['gate', 'a.h5', f'{after}.h5'] + [f'--max={limit}' for limit in limits]
        done = tmerge(*arguments, n=2 if status == 6 and len(limits) > 1 else 0).expect(status)
        equal(re.findall(r'^\w+', done.out, re.M), verdicts, after)
        holds(max(map(len, done.out.splitlines())) <= 80, done.out)
        rows = json.loads(tmerge(*arguments, '--json').expect(status).out)['tables']['diff.gate']
        equal([row['verdict'] for row in rows['rows']], verdicts)
    tmerge('gate', 'a.h5', 'b.h5').expect(2)
    tmerge('gate', 'a.h5', '--max=step=+2%').expect(2)
    tmerge('gate', 'a.h5', 'missing.h5', '--max=step=+2%').expect(3)


def test_missing_damaged_and_foreign_stores_are_errors_of_the_input():
    shared()
    put('cut.h5', content('a.h5')[:-100])
    for arguments in (['a.h5', 'missing.h5'], ['missing.h5', 'a.h5'], ['a.h5', 'cut.h5'],
                      ['a.h5', 'text'], [put('text', 'no store'), 'a.h5']):
        bad = next(name for name in arguments if name != 'a.h5')
        done, shown = tmerge('diff', *arguments).expect(3), tmerge('show', bad).expect(3)
        equal((done.out, done.err), ('', shown.err), bad)


def test_what_so_few_steps_cannot_judge_is_listed_by_its_size():
    """A slow loader makes GPUs idle; with two steps it may be chance."""
    store('a', ranks=2, steps=2)
    store('b', ranks=2, steps=2, fault='slow-loader')
    text = diff()
    job, kernels = text[text.index('\nChanged, but too few steps to judge'):].split('\nKernels')[:2]
    idle = figures(found())['overlap.step.idle_ns']
    has_line(job, rf"^ +{1 + idle['change_pct'] / 100:.1f} times .* overlap.step.idle_ns$")
    contains(kernels, ', changed, but too few steps to judge\n')
    sizes = [abs(float(change)) for change in re.findall(
        r'^ +[\d.]+ +[\d.]+ +([+-][\d.]+)', kernels.split('\nOperators')[0], re.M)]
    holds(len(sizes) > 3, kernels)
    equal(sizes, sorted(sizes, reverse=True))


main()
