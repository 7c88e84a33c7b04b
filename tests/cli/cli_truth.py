"""Synthetic jobs with known truth: last arrivals, waits, and blame."""
import glob
import json
import os
import resource
import sys
from decimal import Decimal

from common import (FULL, contains, content, equal, files, full, holds, is_sanitized, lacks, main,
                    put, rows, same_bytes, sampled, synth, tables, tests_of, tmerge)

PROCESSES = 3 if FULL else 0  # cli.processes shows that the number makes no difference

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'statistics'))
import simulate  # pylint: disable=wrong-import-position

# Name: tmerge-synth options, verdict, and planted straggler. The truth gives the rank that came last
# to an operation: in jobs with one group this rank has the cost. In others, a straggler also makes the
# ranks of its own group late for other groups, so the planted rank is the straggler.
JOBS = {
    'a healthy job has no straggler': (dict(ranks=8, steps=6, jitter=0), 'none', None),
    'a slow GPU is found': (dict(ranks=8, steps=6, slow_rank=5, slow_factor=1.3), 'persistent', 5),
    'a slow host is found': (dict(ranks=8, steps=6, slow_rank=2, slow_kind='host', slow_factor=3),
                             'persistent', 2),
    'a different slow rank in each step is told from one': (
        dict(ranks=16, steps=12, rotating=1, slow_factor=1.4, jitter=0), 'inconclusive', None),
    'a slow rank is found behind its tensor parallel group': (
        dict(ranks=16, tp=4, steps=5, slow_rank=9, slow_factor=1.4), 'persistent', 9),
    'a slow host is found behind its tensor parallel group': (
        dict(ranks=16, tp=2, steps=6, slow_rank=2, slow_kind='host', slow_factor=3),
        'persistent', 2),
    'a slow stage is found behind its pipeline': (
        dict(ranks=8, pp=4, steps=8, microbatches=8, slow_rank=5, slow_factor=1.4),
        'persistent', 5),
    'a slow last stage is found behind its pipeline': (
        dict(ranks=8, pp=4, steps=8, microbatches=8, slow_rank=7, slow_factor=1.4),
        'persistent', 7),
    'nobody is named in a pipeline of one rank a stage, which may have more to do': (
        dict(ranks=4, pp=4, steps=6, microbatches=4, slow_rank=1, slow_factor=1.5),
        'bubble', None),
    'a slow rank is found behind tensor, data and pipeline groups': (
        dict(ranks=32, tp=4, pp=2, steps=4, microbatches=4, slow_rank=21, slow_factor=1.4),
        'persistent', 21),
    'a slow rank is found where data is sharded and sequences are parallel': (
        dict(ranks=16, tp=2, steps=4, sharded=1, sequence_parallel=1, slow_rank=6,
             slow_factor=1.4), 'persistent', 6),
    'a job of 64 ranks with lists that the profiler cuts': (
        dict(ranks=64, steps=4, layers=4, slow_rank=33, slow_factor=1.5), 'persistent', 33),
    'Seq is used where it is there': (dict(ranks=8, steps=4, tp=2, seq=1), None, None),
    'Comms Id is used where it is there': (dict(ranks=8, steps=4, tp=2, comms_id=1), None, None),
    'one group without any metadata is matched by order': (
        dict(ranks=8, steps=4, no_metadata=1, slow_rank=1, slow_factor=1.3), 'persistent', 1),
}


def check_rank(row, truth, one_group):
    for key in ('collectives', 'last_arrivals', 'tied', 'wait_ns'):
        equal((key, row[key]), (key, truth[key]))
    if one_group:
        equal((row['steps_led'], row['direct_ns'], row['indirect_ns']),
              (truth['steps_led'], row['caused_wait_ns'], 0))
    holds(abs(row['caused_wait_ns'] - Decimal(truth['caused_wait_ns'])) <= 1, row)


def check_sums(result):
    """Caused wait equals wait, and the pairs add up to both; each row is rounded once."""
    ranks = [r for r in result['stragglers.rank'] if r['wait_ns'] is not None]
    waited, n = sum(r['wait_ns'] for r in ranks), len(ranks)
    holds(abs(sum(r['caused_wait_ns'] for r in ranks) - waited) <= n, waited)
    holds(abs(sum(r['direct_ns'] + r['indirect_ns'] for r in ranks) - waited) <= n, waited)
    holds(all(-1 <= r['direct_ns'] <= r['caused_wait_ns'] for r in ranks), ranks)
    for r in ranks:
        for key, column in (('rank', 'caused_wait_ns'), ('for_rank', 'wait_ns')):
            pairs = sum(p['wait_ns'] for p in result['stragglers.pair'] if p[key] == r['rank'])
            holds(abs(pairs - r[column]) <= n, r)


def check_straggler(result, straggler, most):
    """The straggler leads every step, and its cost is nearly all of the wait that it causes."""
    equal(result['stragglers.job'][0]['rank'], straggler)
    equal(result['stragglers.job'][0]['level'], 'rank')
    equal([r['rank'] for r in result['stragglers.rank'] if r['verdict'] == 'straggler'],
          [straggler])
    equal({s['rank'] for s in result['stragglers.step']}, {straggler})
    costs = [r['direct_ns'] + r['indirect_ns'] for r in result['stragglers.rank']]
    holds(sorted(costs)[-2] <= most * costs[straggler], costs)


def check_job(options, verdict, straggler):
    truth = synth('job', **options)
    tmerge('job', '-o', 'job.h5', '--align=utc', n=PROCESSES).expect(0)
    result = tables('job.h5', 'stragglers')
    one_group = not {'tp', 'pp', 'sharded'} & set(options)
    for row, expected in zip(result['stragglers.rank'], truth['ranks']):
        check_rank(row, expected, one_group)
    check_sums(result)
    check_ranks_in_steps(result)
    lacks(result['stragglers.job'][0]['headline'], 'unevenly')
    if verdict:
        equal(result['stragglers.job'][0]['verdict'], verdict)
    if straggler is not None:
        # A pipeline also waits without stragglers while it fills and drains.
        check_straggler(result, straggler, 0.2)
    if one_group:
        leaders = {s['step']: s['rank'] for s in result['stragglers.step']}
        equal(leaders,
              {s['step']: s['rank'] for s in truth['expected']['steps'] if s['wait_ns'] > 0})


def check_ranks_in_steps(result):
    """Every operation of these jobs is in a step: a rank's steps sum to its total, except for
    rounding in each; and the rank with the highest cost leads the step."""
    cells = result['stragglers.rank_step']
    for rank in result['stragglers.rank']:
        own = [c for c in cells if c['rank'] == rank['rank']]
        equal(sum(c['wait_ns'] for c in own), rank['wait_ns'] or 0)
        for column in ('caused_wait_ns', 'direct_ns', 'indirect_ns'):
            holds(abs(sum(c[column] for c in own) - (rank[column] or 0)) <= len(own), column)
    for step in result['stragglers.step']:
        most = max((c['direct_ns'] + c['indirect_ns'], -c['rank'])
                   for c in cells if c['step'] == step['step'])
        equal(most, (step['direct_ns'] + step['indirect_ns'], -step['rank']))


# Name: options of a pipeline, the differing stages and their difference, and the number and length
# of layers that make the same job even.
UNEVEN = {
    # The last stage's own kernels take 160 us, two layers 9.6 ms: 3 / 2 + 0.016.
    'the last of two stages has three of five layers': (
        dict(ranks=8, pp=2, layers=5, microbatches=4), '1', '1.52 times the work of the other '
        '(3 layers in a pass, not 2)', 4, 500),
    'the first of four stages, each of one rank, has one of seven layers': (
        dict(ranks=4, pp=4, layers=7, microbatches=8), '0', '0.50 times the work of the others', 4,
        700),
}


def check_uneven(options, stages, says, layers, compute_us):
    options = dict(options, steps=5, jitter=0)
    synth('even', **{**options, 'layers': layers, 'compute_us': compute_us})
    synth('job', **options)
    for folder in ('even', 'job'):
        tmerge(folder, '-o', folder + '.h5').expect(0)
    even, job = tables('even.h5'), tables('job.h5')
    lacks(even['stragglers.job'][0]['headline'], 'unevenly')
    row, = [row for row in job['whatif.item'] if row['what'] == 'split']
    # Gradients are reduced per layer in the replay, and per bucket in the even job.
    true_ns = job['whatif.job'][0]['step_ns'] - even['whatif.job'][0]['step_ns']
    holds(.7 * true_ns < row['saved_ns'] < 1.05 * true_ns, (row['saved_ns'], true_ns))
    verdict, = job['stragglers.job']
    equal((row['name'], verdict['verdict'], verdict['rank']), (stages, 'bubble', None))
    contains(verdict['headline'], f'split unevenly: stage {stages} has {says}')
    contains(verdict['headline'], f'an even split saves {row["saved_pct"]:.1f} % of a step')
    equal(job['advice.item'][0]['rule'], 'uneven_stages')
    equal(job['stragglers.finding'][0]['rank'], None)


# Name: shape in simulate.SHAPES, ranks per host, named hosts, and expected text.
SLOW_LINKS = {
    'of four hosts, of which each shares groups with two others': (
        'tp2 x pp2', 2, {'host1'}, 'that cross host1'),
    'in rings of two hosts': ('cp4', 2, {'host0', 'host1'}, 'between host0 and host1'),
    'of the one of two hosts that has no other to be compared with': ('tp2', 4, None, None),
    'inside one of two hosts': ('tp2', 2, {'host1'}, 'within host1'),
}


def check_slow_link(shape, per_host, hosts, says):
    """A host's transfers take 2.5 times as long: 14 us, and 1e11 or 0.4e11 bytes per second. Within
    hosts, it is twice the bandwidth."""
    inside = says and says.startswith('within')
    job = {'shape': shape, 'culprit': 'inside' if inside else 'link', 'members': [], 'steps': 4, 'amount': 2.5,
           'per_host': per_host, 'slow_host': 1, 'slow_call': False, 'noise': 1, 'size': 1.,
           'elements': 2 << 20, 'gap': 4, 'queue': 1000, 'sync': True, 'norm': False, 'seq': True,
           'flows': False, 'seed': 1, 'layers': 3, 'more_layers': 3, 'microbatches': 4,
           'clocks': [(1000., 0.)] * 4}
    world, us = simulate.simulate(job)
    simulate.write(world, 'job')
    _, without = simulate.simulate({**job, 'culprit': 'none'})
    tmerge('job', '-o', 'job.h5').expect(0)
    found = tables('job.h5')
    verdict, = found['stragglers.job']
    equal(verdict['rank'], None)
    items = [row for row in found['whatif.item'] if row['what'] in ('network', 'link')]
    equal([set(row['name'].split(', ')) for row in items], [hosts] if hosts else [])
    if not hosts:
        lacks(verdict['headline'], 'bandwidth')
        return
    # All-reduces of all hosts are compared with no others, so in a ring they stay unchanged.
    holds(.5 < items[0]['saved_ns'] / 1e3 / (us - without) < 1.1, (items, us - without))
    for sends in found['whatif.network']:
        # Sends of 4 MiB take 14 + 41.9 us at 100 GB/s, not 14 + 104.9 us at 40 GB/s.
        if sends['kind'] == 'sendrecv':
            holds(abs(sends['busbw_gbps'] - 4.194 / .1189) < 1, sends)
            holds(abs(sends['others_busbw_gbps'] - 4.194 / .0559) < 2, sends)
    contains(verdict['headline'], f'Transfers {says} run at ')
    contains(verdict['evidence'],
             f'Look at {"what connects the GPUs of" if inside else "the network of"} ')
    equal(found['whatif.job'][0]['headline'], verdict['headline'])  # not about ranks
    advice, = [row for row in found['advice.item']
               if row['rule'] == ('slow_link' if inside else 'slow_network')]
    of = [row['rank'] for row in found['job.rank'] if row['host'] in hosts]  # ranks in one range
    equal(advice['ranks'], 'all' if len(of) == len(found['job.rank']) else f'{of[0]}-{of[-1]}')
    for rank, name in enumerate(files('job')):  # in the order of ranks; without the host's name
        os.renames('job/' + name, f'bare/profile_rank_{rank}.json')
    tmerge('bare', '-o', 'bare.h5', n=3).expect(0)  # the operations of a group are on all processes
    for name in ('whatif.item', 'whatif.network'):
        equal(rows('bare.h5', name), found[name], name)
    headline = rows('bare.h5', 'stragglers.job')[0]['headline']
    contains(headline, f'Transfers {says} (hosts by device numbers) run at ')


def test_steps_of_another_name_are_the_same_steps():
    synth('job', ranks=2, steps=3, fault='leak')
    for path in glob.glob('job/profile_rank_*'):
        text = content(path).decode()
        holds(text.count('ProfilerStep#') >= 6, 'the host and the GPU mark three steps')
        put('renamed/' + os.path.basename(path), text.replace('ProfilerStep#', 'train_iteration '))
    for folder in ('job', 'renamed'):
        tmerge(folder, '-o', folder + '.h5').expect(0)
    job, renamed = (tables(folder + '.h5') for folder in ('job', 'renamed'))
    holds(job['memory.owner'] and job['calls.call'] and job['idle.gap'], 'have rows')
    for name, found in job.items():
        # These contain names of files and marks.
        if name not in ('job.rank', 'job.remark', 'job.left_out', 'steps.kind', 'steps.mark'):
            equal(renamed[name], found, name)


@full
def test_a_thousand_ranks_on_two_processes_take_bounded_memory():
    synth('job', ranks=1024, tp=8, pp=2, layers=4, steps=2, slow_rank=700, slow_factor=1.5)
    tmerge('job', '-o', 'two.h5', n=2).expect(0)
    # Maximum of all processes that mpirun waited for so far, in kB.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    holds(peak < 400_000 or is_sanitized(), 'memory')
    tmerge('job', '-o', 'one.h5').expect(0)
    same_bytes('one.h5', 'two.h5')


# Name: tmerge-synth options for jobs without `Seq`, and whether traces keep their step numbers. At
# most 100 operations are complete, so that the store has the ranks of each.
SMALL = dict(ranks=8, ranks_per_host=2, steps=5)
LAYERS = dict(ranks=4, ranks_per_host=2, tp=4, steps=8, layers=4)
UNNUMBERED = {
    'equal counts on clocks 5 s apart': (dict(SMALL, offset_us=5000000), True),
    'kernels are lost': (dict(SMALL, steps=12, lost_percent=7.5, offset_us=5000), True),
    'kernels are lost in small groups': (
        dict(ranks=4, tp=2, steps=10, layers=1, buckets=1, lost_percent=7.5), True),
    'recordings begin at different steps': (
        dict(SMALL, window_skew=3, offset_us=5000000), True),
    'recordings begin at different steps that have no numbers': (
        dict(SMALL, steps=8, window_skew=3, jitter=10, offset_us=5000000), False),
    'equal layers with kernels lost': (
        dict(LAYERS, lost_percent=7.5, window_skew=2, offset_us=5000000), True),
    'equal layers whose steps have no numbers': (
        dict(LAYERS, steps=10, jitter=10, lost_percent=7.5, offset_us=5000000), False),
    'ends are biased and clocks of GPUs err': (
        dict(SMALL, steps=12, lost_percent=7.5, end_bias_ns=8000, gpu_error_ns=3000,
             end_jitter_ns=3000, offset_us=5000), True),
    'kernels carry no metadata': (
        dict(SMALL, steps=12, no_metadata=1, lost_percent=7.5, offset_us=5000), True),
}


def forget_steps(folder):
    for path in glob.glob(f'{folder}/*.json'):
        trace = json.loads(content(path))
        if 'traceEvents' in trace:
            trace['traceEvents'] = [e for e in trace['traceEvents']
                                    if not e.get('name', '').startswith('ProfilerStep')]
            put(path, json.dumps(trace))


def check_pairing(truth, result):
    """Every operation that tmerge shows is a true one. Returns their numbers."""
    offsets = {host['host']: host['offset_ns'] for host in truth['hosts']}
    clocks = {r['rank']: offsets[r['host']] + r['gpu_error_ns'] for r in truth['ranks']}
    of_kernel = {(rank, begin + clocks[rank]): i
                 for i, c in enumerate(truth['collectives'])
                 for rank, begin in zip(c['ranks'], c['begin_ns'])}
    shown = {}
    for a in result['collectives.arrival']:
        shown.setdefault(a['instance'], set()).add(of_kernel[a['rank'], a['begin_ns']])
    holds(all(len(found) == 1 for found in shown.values()), shown)
    return set().union(*shown.values())


def check_unnumbered(options, knows_steps):
    truth = synth('job', **options)
    if not knows_steps:
        forget_steps('job')
    tmerge('job', '-o', 'job.h5', '--align=utc', n=PROCESSES).expect(0)
    result = tables('job.h5', 'collectives', 'clock')
    whole = {i for i, c in enumerate(truth['collectives']) if c['complete'] and 'last_rank' in c}
    holds(0 < len(whole) <= 100, len(whole))
    found = check_pairing(truth, result)
    holds(found <= whole, found - whole)
    # Whether all ranks waited in a broadcast is known only if it exceeds the noise of the clocks.
    certain = {i for i in whole if truth['collectives'][i]['kind'] != 'broadcast'}
    holds(len(found & certain) >= 0.99 * len(certain), f'{len(found)} of {len(certain)} found')
    unmatched = sum(row['count'] for row in result['collectives.unmatched'])
    equal(unmatched, result['clock.check'][0]['unmatched'])


globals().update(sampled(tests_of(UNNUMBERED, check_unnumbered, 'matched_where_')))
globals().update(tests_of(UNEVEN, check_uneven, 'nobody_is_named_where_'))
globals().update(sampled(tests_of(SLOW_LINKS, check_slow_link, 'slow_transfers_')))
globals().update(sampled(tests_of(JOBS, check_job, '')))

if __name__ == '__main__':
    main()
