"""Is the verdict right in jobs of any parallelism? parallel.py [--jobs N] [--seed N]

Two generators simulate jobs, each with and without its culprit, so that the saving from fixing the
culprit is known. Every other job is from tmerge-synth, the others are from simulate.py. A job
depends only on the seed and its number. Exits with 1 if a figure of LIMITS does not hold; prints
every miss with the command that makes its traces again.
"""
import argparse
import collections
import concurrent.futures
import gc
import itertools
import os
import random
import re
import shutil
import statistics
import sys
import tempfile

import simulate
import verdict

common = verdict.common

# Figure: minimum or maximum share.
LIMITS = {
    'saves 1 % or more: named right': ('>=', 0.97),
    'named wrongly, or at the wrong level': ('<=', 0.005),
    'confident namings that are right': ('>=', 0.995),
    'none, stage, link, skew: somebody named': ('<=', 0.005),
    'who is first is the same everywhere': ('>=', 0.995),
    'who is first saves 1 % or more, replayed': ('>=', 0.995),
    'uneven stages that save 1 %: said so': ('>=', 0.90),
    'others said to be uneven stages': ('<=', 0.005),
    'slow links that save 1 % and can be reported: said so': ('>=', 0.90),
    'others said to be slow links': ('<=', 0.005),
}
SAMPLE = 500  # with fewer jobs, chance may explain a value beyond a limit

NOBODY = ['none', 'stage', 'link', 'skew']
OF_ONE = ['gpu 10', 'gpu 20', 'gpu 50', 'launch', 'launch 20', 'stall', 'gc', 'extra', 'shared',
          'gaps']
SYNTH_SHAPES = ['overlapped', 'blocking', 'sharded', 'tensor', 'tensor x data', 'pipeline x data',
                'tensor x pipeline x data']
CELLS = {  # shape, culprit and number of steps, by generator
    'simulate': [(shape, culprit, steps) for shape in simulate.SHAPES
                 for culprit in [*OF_ONE, 'host', 'none', *NOBODY] for steps in (4, 8)
                 if culprit != 'stage' or 'pp' in shape],
    'synth': list(itertools.product(SYNTH_SHAPES, [*OF_ONE[:4], 'host', 'none', 'none', 'skew'],
                                    (4, 8)))}


def job(seed, number):
    """Returns generator, shape, culprit and options, which depend only on random draws; cycles
    through all cells in random order."""
    generator = ('simulate', 'synth')[number % 2]
    cells, draw = CELLS[generator], random.Random(f'{seed} {number}')
    order = random.Random(f'{seed} {generator}').sample(range(len(cells)), len(cells))
    cell = cells[order[number // 2 % len(cells)]]
    options = {'simulate': for_simulate, 'synth': for_synth}[generator]
    return generator, *cell[:2], options(draw, *cell, seed * 1000003 + number)


def for_simulate(draw, shape, culprit, steps, seed):
    hosts = culprit in ('host', 'link')
    per_host = {'tp=host': 4, 'tp4': 2 if hosts else 8}.get(
        shape, 4 if hosts else draw.choice([4, 8]))
    if culprit == 'link' and shape != 'tp=host':  # of two, either may be the slow one
        per_host = 2
    tensor, stages = (simulate.SHAPES[shape].get(name, 1) for name in ('tp', 'pp'))
    slow, size = draw.randrange(simulate.RANKS), simulate.RANKS // stages
    amounts = {'extra': 4, 'gpu 10': 1.1, 'gpu 20': 1.2, 'gpu 50': 1.5, 'launch 20': 20,
               'launch': draw.uniform(250, 400), 'host': draw.uniform(150, 400),
               'link': draw.uniform(2, 3), 'gaps': draw.uniform(10, 60)}
    together = {'host': per_host, 'stage': size, 'none': 0, 'link': 0, 'skew': 0}.get(culprit, 1)
    members = [r for r in range(simulate.RANKS) if together and r // together == slow // together]
    offsets = [0.] + [10 ** draw.uniform(1.3, 3.3) * draw.choice([-1, 1]) for _ in range(3)]
    drifts = [0.] + [draw.choice([0, 0, draw.uniform(-1e-5, 1e-5)]) for _ in range(3)]
    return {'shape': shape, 'culprit': culprit.split()[0], 'members': members, 'steps': steps,
            'amount': amounts.get(culprit, 1), 'per_host': per_host, 'slow_host': slow // per_host,
            'slow_call': draw.random() < .5, 'noise': draw.choice([1, 2, 3, 5]),
            'size': draw.uniform(.6, 1.5), 'elements': draw.choice([1, 2, 3]) << 20,
            'gap': draw.choice([2, 4, 8]), 'queue': draw.choice([60, 200, 1000]),
            'sync': draw.random() < .6, 'norm': tensor * stages > 1 and draw.random() < .6,
            'seq': draw.random() < .5, 'flows': draw.random() < .5, 'seed': seed,
            'layers': 3 if stages > 1 else 5, 'more_layers': 4, 'microbatches': 4,
            'clocks': list(zip([1000 + offset for offset in offsets], drifts))}


def for_synth(draw, shape, culprit, steps, seed):
    least, more = verdict.SHAPES[shape]
    ranks = max(8, least)
    options = {name: ranks if value == 'all' else value for name, value in more.items()}
    layers = 4 * options.get('pp', 1)
    per_host = 4 if culprit == 'host' else draw.choice([4, 8])
    slow = draw.randrange(ranks)
    options.update(ranks=ranks, steps=steps, layers=layers, buckets=layers, compute_us=400,
                   bytes_per_bucket=2000000, cpu_ops=0, end_jitter_ns=2000, first_step=3, seed=seed,
                   jitter=draw.choice([1, 2, 3, 5]), ranks_per_host=per_host, no_instances=1,
                   offset_us=draw.choice([0, 500]))
    first = slow - slow % per_host
    members = f'{first}-{first + per_host - 1}' if culprit == 'host' else slow
    if culprit.startswith('gpu'):
        options['slow'] = [f'{members}:{1 + int(culprit[4:]) / 100}']
    elif culprit in ('launch', 'host'):  # launches take about as long as kernels
        options.update(slow=[f'{members}:{draw.uniform(1.3, 2):.3f}'], slow_kind='host')
    elif culprit == 'skew':
        options['share_jitter'] = 3
    return options


# Running ------------------------------------------------------------------------------------------


def by_simulate(options, folder):
    """Makes the traces; returns (culprits, share of a step that fixing them saves, configuration of
    the job)."""
    world, us = simulate.simulate(options)
    simulate.write(world, folder)
    even = {**options, 'culprit': 'none'}
    if options['culprit'] == 'stage':  # the saving: all stages have the mean number of layers
        more = options['more_layers'] / options['layers'] - 1
        even['size'] *= 1 + more / simulate.SHAPES[options['shape']]['pp']
    _, without = simulate.simulate(even)
    config = {'ranks': simulate.RANKS, 'ranks_per_host': options['per_host']}
    return set(options['members']), 1 - without / us, config


def by_synth(options, folder):
    """The same with tmerge-synth."""
    healthy = {name: value for name, value in options.items() if name not in ('slow', 'slow_kind')}
    truths = [common.synth(folder, **options), common.synth(folder + '.healthy', **healthy)]
    shutil.rmtree(folder + '.healthy')
    us, without = (max(rank['window_ns'] for rank in truth['ranks']) for truth in truths)
    slow = verdict.culprits(truths[0]['config'])
    return slow[0][0] if slow else set(), 1 - without / us, truths[0]['config']


def run(given, number):
    """Makes a job and merges it; returns its truth and tmerge's tables."""
    common.TMERGE, common.SYNTH = given.tmerge, given.synth
    generator, shape, culprit, options = job(given.seed, number)
    with tempfile.TemporaryDirectory() as place:
        store, env = os.path.join(place, 'job.h5'), {'TMPDIR': place}
        folder = os.path.join(given.keep or place, f'{given.seed}-{number}')
        os.makedirs(given.keep or place, exist_ok=True)
        make = {'simulate': by_simulate, 'synth': by_synth}[generator]
        members, saved, config = make(options, folder)
        screen = common.tmerge(folder, '-o', store, env=env).expect(0).out
        tables = common.tables(store, 'stragglers.finding', 'stragglers.job', 'groups.group',
                               'whatif.job', 'whatif.item', 'whatif.split', 'advice.item', env=env)
    gc.collect()
    return {'number': number, 'shape': shape, 'culprit': culprit, 'members': members, 'saved': saved,
            'slow_host': options.get('slow_host'), 'uneven': members if culprit == 'stage' else set(),
            'config': config, 'screen': screen, **tables}


# Judging ------------------------------------------------------------------------------------------


def namings(a):
    """Returns (certainty, ranks) of each naming."""
    job_row = a['stragglers.job'][0]
    return [(row['certainty'], verdict.ranks_of(row, a['config'], a['groups.group']))
            for row in a['stragglers.finding'] if verdict.is_naming(row)] or \
        [(job_row['certainty'], {job_row['rank']})] * (job_row['rank'] is not None)


def outcome(a):
    """Returns right, level (named at the wrong level), wrong, or nobody (named)."""
    found, members = [ranks for _, ranks in namings(a)], a['members']
    if not found or a['culprit'] in NOBODY:
        return 'wrong' if found else 'nobody'
    together = set().union(*found)
    return 'right' if found == [members] else \
        'level' if together == members or len(found) == 1 and members < together else 'wrong'


def first(text, config):
    """Returns the ranks that a text names first: one, a range, or those of a host; or None."""
    at = re.search(r'\b[Rr]anks? (\d+(?:-\d+)?)|\bhost(\d+)\b', text)
    if not at or re.match(r'Fixing (only )?(it|these|them)\b', text):  # named by the verdict
        return None
    if at[1]:
        return frozenset(verdict.span(at[1]))
    return frozenset(r for r in range(config['ranks']) if r // config['ranks_per_host'] == int(at[2]))


def firsts(a):
    """Returns the ranks named first, by place: headlines, screen, first advice with ranks."""
    texts = {'job': a['stragglers.job'][0]['headline'] or '',
             'whatif': (a['whatif.job'][0]['headline'] or '').split(';')[0],
             'screen': a['screen'].split('window')[0].split(' UTC\n', 1)[1]}
    found = {place: first(text, a['config']) for place, text in texts.items()}
    found['advice'] = next((frozenset(verdict.members(row['ranks'])) for row in a['advice.item']
                            if row['ranks'] not in (None, 'all')), None)
    return {place: ranks for place, ranks in found.items() if ranks}


def replayed(a, ranks):
    """Returns the saving [%] from fixing these ranks in whatif.item; None if it has no such row."""
    name = f'host{min(ranks, default=0) // a["config"]["ranks_per_host"]}'
    wanted = ('rank', str(*ranks)) if len(ranks) == 1 else ('host', name)
    return next((row['saved_pct'] or 0. for row in a['whatif.item']
                 if (row['what'], row['name']) == wanted), None)


def uneven(a):
    """Returns the ranks of the stages that have more work according to the headline."""
    if 'split unevenly' not in (a['stragglers.job'][0]['headline'] or ''):
        return set()
    stages = [row['differs'] for row in a['whatif.split']]
    return {rank for rank in range(a['config']['ranks'])
            if stages[rank * len(stages) // a['config']['ranks']]}


# Maximum number of hosts named, by shape in which some operations cross only other hosts, so that
# the slow one can be determined; in a ring of two hosts both are named.
REPORTED = {'tp4': 1, 'pp4': 1, 'pp4 interleaved': 1, 'tp2 x pp2': 1, 'tp2 x pp4': 1, 'cp4': 2}


def linked(a):
    """Returns the numbers of the hosts whose transfers are slow according to the headline."""
    said = re.match(r'Transfers (.*) run at', a['stragglers.job'][0]['headline'] or '')
    return {int(number) for number in re.findall(r'host(\d+)', said[1])} if said else set()


def judge(a):
    """Yields (figure, share) of a job."""
    found, named = outcome(a), namings(a)
    if a['culprit'] != 'link':
        yield 'others said to be slow links', bool(linked(a))
    elif a['saved'] >= .01 and a['shape'] in REPORTED:
        yield ('slow links that save 1 % and can be reported: said so',
               a['slow_host'] in linked(a) and len(linked(a)) <= REPORTED[a['shape']])
    elif a['shape'] not in REPORTED:
        yield 'others said to be slow links', bool(linked(a))
    if a['culprit'] != 'stage':
        yield 'others said to be uneven stages', bool(uneven(a))
    elif a['saved'] >= .01:
        yield 'uneven stages that save 1 %: said so', uneven(a) == a['uneven']
    if a['culprit'] in NOBODY:
        yield 'none, stage, link, skew: somebody named', bool(named)
    elif a['saved'] >= .01:
        yield 'saves 1 % or more: named right', found == 'right'
    yield 'named wrongly, or at the wrong level', found in ('level', 'wrong')
    for certainty, ranks in named:
        if certainty == 'confident':
            yield 'confident namings that are right', ranks == a['members'] and found != 'nobody'
    places, said = list(firsts(a).values()), a['stragglers.job'][0]['headline'] or ''
    same = not places or bool(places[0].intersection(*places))
    if re.match('(Making|Bringing|Removing|Transfers|The pipeline is split) ', said):  # is the headline
        same = same and (a['whatif.job'][0]['headline'] or '').startswith(said)
    yield 'who is first is the same everywhere', same
    saved = replayed(a, named[0][1]) if named else None
    if saved is not None:
        yield 'who is first saves 1 % or more, replayed', saved >= 1


def holds(figure, shares):
    """Returns whether the mean is within the limit, or in a sample beyond it only by chance."""
    sense, limit = LIMITS[figure]
    bad = sum(shares) if sense == '<=' else len(shares) - sum(shares)
    limit = limit if sense == '<=' else 1 - limit
    return bad <= limit * len(shares) + 1e-9 or \
        (len(shares) < SAMPLE and verdict.chance(bad, len(shares), limit) >= .001)


def show_cells(answers):
    """Prints the table of shape x culprit."""
    columns = [*OF_ONE, 'host', *NOBODY]
    counts = collections.Counter((a['shape'], a['culprit'], outcome(a)) for a in answers
                                 if a['culprit'] in NOBODY or a['saved'] >= .01)
    print('right / wrong level / wrong / nobody named, of culprits that save 1 % or more; of the '
          'last four nobody / somebody named')
    print(f'{"":25}' + ''.join(f'{column:>11}' for column in columns))
    for shape in [*simulate.SHAPES, *SYNTH_SHAPES]:
        line = f'{shape:25}'
        for column in columns:
            kinds = ['nobody', 'wrong'] if column in NOBODY else ['right', 'level', 'wrong', 'nobody']
            cell = [counts[shape, column, kind] for kind in kinds]
            line += f'{"/".join(map(str, cell)) if any(cell) else "":>11}'
        print(line)


def show(answers):
    """Prints all figures; returns how many of them do not hold."""
    show_cells(answers)
    shares = collections.defaultdict(list)
    for figure, share in itertools.chain(*map(judge, answers)):
        shares[figure].append(share)
    for figure, values in sorted(shares.items()):
        low, high = verdict.wilson(sum(values) / len(values), len(values))
        print(f'{figure:42}{sum(values):5} of {len(values):4}, {100 * low:6.2f} to '
              f'{100 * high:6.2f} %, {LIMITS[figure][0]} {100 * LIMITS[figure][1]:g} %' +
              ('' if holds(figure, values) else '  NOT HELD'))
    guilty = [a for a in answers if a['culprit'] not in NOBODY]
    print('culprits that save less:',
          dict(collections.Counter(outcome(a) for a in guilty if a['saved'] < .01)))
    errors = sorted((abs(found - 100 * a['saved']), a['number'], found, 100 * a['saved'])
                    for a in guilty for found in [replayed(a, a['members'])] if found is not None)
    if errors:
        print(f'whatif.item of {len(errors)} culprits is off by '
              f'{statistics.median(error[0] for error in errors):.2f} points (median); most in ' +
              ', '.join(f'job {n}: {found:.1f} % of {truth:.1f} %'
                        for _, n, found, truth in errors[:-6:-1]))
    return sum(not holds(figure, values) for figure, values in shares.items())


def tell(a, seed):
    """Prints the figures that a job misses, if any, and the command that makes its traces again."""
    bad = [figure for figure, share in judge(a) if share == (LIMITS[figure][0] == '<=')]
    if not bad:
        return
    found = replayed(a, a['members'])
    print(f'miss: job {a["number"]} ({a["shape"]}, {a["culprit"]}): {"; ".join(bad)}\n'
          f'    truth: {sorted(a["members"])} {100 * a["saved"]:.1f} %, by whatif.item '
          f'{"null" if found is None else f"{found:.1f} %"}; named '
          f'{[(certainty, sorted(ranks)) for certainty, ranks in namings(a)]}; first '
          f'{ {place: sorted(ranks) for place, ranks in firsts(a).items()} }\n'
          f'    says: {a["stragglers.job"][0]["headline"]} | {a["whatif.job"][0]["headline"]}\n'
          f'    {sys.argv[0]} --seed {seed} --first {a["number"]} --jobs 1 --keep traces')


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    options.add_argument('--jobs', type=int, default=10)
    options.add_argument('--first', type=int, default=0, help='number of the first job')
    options.add_argument('--seed', type=int, default=int(os.environ.get('TMERGE_SEED', '1')))
    options.add_argument('--only', help='only jobs of this culprit, such as "gpu 10"')
    options.add_argument('--shape', help='only jobs of this shape')
    options.add_argument('--keep', help='the folder in which traces are kept')
    options.add_argument('--parallel', type=int, default=2)
    options.add_argument('--tmerge', default=common.TMERGE)
    options.add_argument('--synth', default=common.SYNTH)
    given = options.parse_args()
    given.tmerge, given.synth = (os.path.abspath(path) if os.sep in path else path
                                 for path in (given.tmerge, given.synth))
    wanted = (number for number in itertools.count(given.first)
              for _, shape, culprit, _ in [job(given.seed, number)]
              if given.only in (None, culprit) and given.shape in (None, shape))
    with concurrent.futures.ProcessPoolExecutor(given.parallel) as pool:
        answers = list(pool.map(run, itertools.repeat(given), itertools.islice(wanted, given.jobs)))
    for a in answers:
        tell(a, given.seed)
    bad = show(answers)
    print(f'{len(answers)} jobs, {bad} figures do not hold')
    sys.exit(1 if bad or not answers else 0)


if __name__ == '__main__':
    main()
