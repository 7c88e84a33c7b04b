"""Advice: a planted fault comes first, a healthy job gets none, and the text reads well."""
import os
import re

from common import (SHARED, SYNTH, contains, equal, has_line, holds, lacks, main, merged, rows, run,
                    seldom, synth, tmerge)
from jobs import real_store, store


def advise(**options):
    """Returns the advice on a job of tmerge-synth, and its first screen."""
    synth('job', **options)
    text = merged('job/profile_rank_*', '-o', 'job.h5').out
    return rows('job.h5', 'advice.item'), text


def boxes():
    """Returns the checklist boxes that fail on their own, those with unknown values, and the cause
    of each failing box that has one."""
    found = rows('job.h5', 'checklist.box')
    for box in found:
        value, least, most = box['value'], box['least'], box['most']
        expected = ('unknown' if value is None else 'fail' if least is not None and value < least
                    or most is not None and value > most else 'pass')
        equal(box['result'], expected, box['box'])
        holds(box['because'] is None or box['result'] == 'fail', box)
    own, unknown = ([box['box'] for box in found if box['result'] == what and not box['because']]
                    for what in ('fail', 'unknown'))
    because = {box['box']: re.match(r'fails because of (\w+):', box['because']).group(1)
               for box in found if box['because']}
    # A straggler also fails `waits` and `exposed_communication`; their cause is the same fault.
    return own, unknown, {box: because.get(cause, cause) for box, cause in because.items()
                          if box not in ('waits', 'exposed_communication') and cause != 'waits'}


def planted(rule, ranks='all', fails=None, by_it=None, unknown=(), **options):
    """Expects this rule first, with a cost that no later item exceeds, and only this box to fail on
    its own; box by_it fails because of it."""
    items, text = advise(**options)
    if fails:
        equal(boxes(), ([fails], list(unknown), {by_it: fails} if by_it else {}), 'boxes')
    holds(items, f'{rule} is not found')
    equal(items[0]['rule'], rule, 'first item')
    equal(items[0]['ranks'], ranks, 'ranks')
    costs = [item['cost_ns'] for item in items if item['cost_ns'] is not None]
    equal(costs, sorted(costs, reverse=True), 'costs')
    return items, text


def test_a_healthy_job_gets_no_advice():
    for options in ({'ranks': 1}, {}, {'seed': 7},
                    {'ranks': 16, 'ranks_per_host': 4, 'offset_us': 500, 'drift_ppb': 2000}):
        items, text = advise(**options)
        equal(items, [], f'advice on a healthy job {options}')
        lacks(text, 'Advice')
        alone = ['balance', 'stragglers'] if options.get('ranks') == 1 else []
        equal(boxes(), ([], alone, {}), f'boxes of a healthy job {options}')
        # All boxes that pass share one line; a job of one rank has no such line.
        equal(len(re.findall(r'^Compute even within 0\.\d %, .*; \d+\s+collectives\s+complete$', text, re.M)),
              int(options.get('ranks') != 1), text)
        lacks(text, 'Imbalance')


def test_a_slow_rank_is_the_one_item():
    for kind in ('gpu', 'host'):
        items, text = planted('straggler', '3', slow_rank=3, slow_kind=kind, fails='stragglers',
                              by_it='balance' if kind == 'gpu' else None)
        # Waits that the rank causes, and communication that these expose, are no separate items.
        equal([item['rule'] for item in items], ['straggler'], 'items')
        contains(items[0]['text'], f'the {kind.upper() if kind == "gpu" else kind} of rank 3')
        lacks(text, 'Advice')  # already said by the verdict above


def test_the_cost_of_a_straggler_is_about_what_it_costs():
    well = store('plain')
    items, _ = planted('straggler', '3', slow_rank=3)
    # All eight ranks take as long as the slow one, and so does the job.
    longer = (sum(row['window_ns'] for row in rows('job.h5', 'overlap.rank')) -
              sum(row['window_ns'] for row in rows(well, 'overlap.rank'))) / 8
    share = items[0]['cost_ns'] / longer
    holds(0.7 < share <= 1.05, f'{share} of the true cost')


def test_a_slow_loader_comes_first():
    items, text = planted('input', fails='data_loading', by_it='gpu_utilization',
                          fault='slow-loader')
    equal(items[0]['severity'], 'critical', 'severity')
    stalls = sum(row['stall_ns'] for row in rows('job.h5', 'input.rank'))
    equal(items[0]['cost_ns'], stalls // len(rows('job.h5', 'input.rank')), 'cost of a rank')
    has_line(text, '^Advice: Load data faster')
    # "At most", because loading always takes some time.
    contains(re.sub(r'\s+', ' ', text),
             f"ahead of the run. Saves at most {items[0]['saved_pct']:.1f} % of a step (")
    contains(text, 'more: tmerge show job.h5 [advice]')


def test_communication_that_is_not_hidden_comes_first():
    items, _ = planted('exposed_communication', fails='exposed_communication',
                       fault='no-overlap')
    exposed = sum(row['exposed_comm_ns'] for row in rows('job.h5', 'overlap.rank'))
    equal(items[0]['cost_ns'], exposed // len(rows('job.h5', 'overlap.rank')), 'cost of a rank')
    contains(items[0]['evidence'], 'AllReduce')


def test_a_planted_fault_comes_first_and_fails_its_box():
    # In a job of the usual size kernels take about 100 us, so shorter ones fail a box, too.
    nobody = {'fails': 'balance', 'unknown': ['stragglers']}
    for rule, options in (
            ('small_kernels', {'fails': 'short_kernels', 'fault': 'small-kernels'}),
            ('pageable_copies', {'fails': 'copies', 'fault': 'pageable'}),
            ('imbalance', {'share_jitter': 10, 'compute_us': 800, **nobody}),
            # A rank that is slow in some steps is uneven work.
            ('imbalance', {'by_it': 'step_variation', 'slow_rank': 3, 'slow_steps': '5-6',
                           **nobody}),
            # An episode of a slow host is one fault.
            ('straggler', {'ranks': '3', 'fails': 'stragglers', 'by_it': 'step_variation',
                           'slow_rank': 3, 'slow_kind': 'host', 'slow_steps': '8-13',
                           'steps': 20})):
        planted(rule, **options)
    items, text = planted('imbalance', rotating=True, **nobody)
    contains(re.sub(r'\s+', ' ', text), f" Saves at most {items[0]['saved_pct']:.1f} % of a step (")
    even, = [row for row in rows('job.h5', 'whatif.item') if row['what'] == 'even']
    equal((items[0]['saved_ns'], items[0]['at_most']), (even['saved_ns'], True))
    items, _ = planted('memory_growth', fails='memory_growth', fault='leak')
    equal(items[0]['cost_ns'], None, 'cost')


def test_several_faults_are_reported_apart():
    flags = [f'--fault={word}' for word in ('slow-loader', 'no-overlap', 'pageable', 'leak',
                                            'small-kernels')]
    run([SYNTH, '-o', 'job', *flags]).expect(0)
    merged('job/profile_rank_*', '-o', 'job.h5')
    equal({item['rule'] for item in rows('job.h5', 'advice.item')},
          {'input', 'exposed_communication', 'pageable_copies', 'memory_growth', 'small_kernels'},
          'items')


@seldom
def test_a_job_of_8_ranks_is_on_a_screen_of_24_lines_of_80_columns():
    for options in ({}, {'slow_rank': 3}, {'slow_rank': 3, 'slow_kind': 'host'}, {'rotating': True},
                    {'fault': 'small-kernels'}, {'lost_percent': 3}, {'tp': 2, 'ranks_per_host': 4},
                    {'pp': 4, 'microbatches': 4}, 'nanogpt8', 'parallel/pp4-gc', 'parallel/pp4-gpu',
                    'parallel/tp2pp2-stage'):
        folder = '' if isinstance(options, dict) else os.path.join(SHARED, 'traces', options)
        text = (merged(folder).out if os.path.isdir(folder) else
                advise(**options)[1] if isinstance(options, dict) else '')
        holds(len(text.splitlines()) <= 24, text)
        holds(max(map(len, text.splitlines()), default=0) <= 80, text)
        # Its truth.json: rank 0 is slow, and no other.
        holds(options != 'parallel/pp4-gc' or 'caused most waits, but is not slow' in text or not text, text)
    _, text = advise(slow_rank=3, slow_kind='host', fault='no-overlap')
    # Text that does not fit is cut after a clause, but not before what to look at; show has all.
    contains(' '.join(text.split()), 'Look at the host of rank 3: it launches its kernels too late')
    has_line(text, r'^  .*\) \.\.\.$')
    lacks(' '.join(text.split()), 'look at its host')
    contains(' '.join(tmerge('show', 'job.h5').expect(0).out.split()), 'look at its host')


def test_nanogpt8_has_first_what_shortens_its_steps_most():
    # Gaps between kernels delay nothing, and communication is not on the path: no advice on these.
    # Without rank 1's delay, steps take 165.8 instead of 168.3 ms (what-if prototype): 1.5 % less;
    # without the delays of ranks 1, 2 and 0, a tenth less.
    items = rows(real_store(), 'advice.item')
    equal([item['rule'] for item in items], ['late_ranks', 'optimizer'], 'items')
    # The advice concerns the ranks named in the headline, and saves as much as it says.
    contains(items[0]['text'], 'the hosts of ranks 1, 2, 0 do between launches')
    host, = [item for item in rows(real_store(), 'whatif.item')
             if (item['what'], item['name']) == ('kind', 'host')]
    equal(items[0]['saved_ns'], host['saved_ns'], 'saved')
    job, = rows(real_store(), 'stragglers.job')
    contains(job['headline'], "Making host work between launches as short as on the median rank")
    contains(rows(real_store(), 'whatif.job')[0]['headline'],
             f'{job["headline"]}. Fixing rank 1 saves 1.5 % of a step')
    holds(all(item['saved_pct'] != 0 for item in items), 'what saves nothing is no advice')
    # In whole steps rank 2 computes most: 117.8 ms, a mean of 117.4. In all steps it is rank 6, with 149.
    has_line(tmerge('show', real_store()).out, r'^Compute even within 0\.3 % in whole steps, one clock;')


def test_sentences_are_shown_whole_and_wrapped():
    advise(fault='slow-loader')
    item = rows('job.h5', 'advice.item')[0]
    shown = tmerge('show', 'job.h5', 'advice', env={'COLUMNS': 100}).expect(0).out
    holds(max(map(len, shown.splitlines())) <= 100, shown)
    flat = re.sub(r'\s+', ' ', shown)
    for column in ('text', 'evidence', 'look_at'):
        contains(flat, f'{column.replace("_", " ")} {item[column]}')


main()
