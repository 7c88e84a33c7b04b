"""How often is the verdict right? verdict.py [--jobs N] [--seed N] [--parallel N]

Simulates whole jobs with complete traces over a grid of shapes, and compares whom tmerge names with
the truth. A job depends only on the seed and its number. Exits with 1 if a figure of LIMITS does
not hold; prints every miss with the command that makes its traces again. First proves with made-up
answers that each figure can fail.
"""
import argparse
import collections
import concurrent.futures
import itertools
import math
import os
import random
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import common  # noqa: E402

# Figure: minimum or maximum share. Its parts (shapes, noises, sizes) may miss the limit by chance.
LIMITS = {
    'a nobody is slow: somebody is named': ('<=', 0.01),
    'b confident namings that are right': ('>=', 0.99),
    'b likely namings that are right': ('>=', 0.90),
    'c 10 % slower, named': ('>=', 0.99),
    'c 5 % slower, named': ('>=', 0.97),
    'c 3 % slower, named': ('>=', 0.90),
    'c 10 % slower in one step of 16 blocking stretches, named': ('>=', 0.95),
    'd two culprits, both named and nobody else': ('>=', 0.95),
    'd a slow host, named as a host': ('>=', 0.95),
    'd an episode of 10 steps, named as one': ('>=', 0.95),
    'd overlap of episodes with the truth': ('>=', 0.75),
    'd an event reported as one, and nobody named': ('>=', 0.90),
}

# Name: minimum number of ranks, options. 'all' stands for the number of ranks. Stages of two ranks
# are too small: the chance that the same one is later in all 7 whole stretches of 8 steps is 2^-6.
SHAPES = {
    'overlapped': (2, {}),
    'blocking': (2, {'blocking': 1}),
    'sharded': (2, {'sharded': 1}),
    'tensor': (2, {'tp': 'all'}),
    'tensor x data': (4, {'tp': 2}),
    'pipeline': (2, {'pp': 'all', 'microbatches': 4}),
    'pipeline x data': (8, {'pp': 2, 'microbatches': 4}),
    'tensor x pipeline x data': (16, {'tp': 2, 'pp': 2, 'microbatches': 4}),
}
# Of these kinds a job counts if fixing the culprit saves 1 %; a culprit of less need not be named.
SAVES = ('slow 3', 'slow 5', 'slow 10', 'host', 'episode')
# In 'pipeline' each rank is a stage of its own, and stages are not comparable.
COMPARABLE = [name for name in SHAPES if name != 'pipeline']
SIMPLE = ['overlapped', 'blocking', 'sharded', 'tensor']
NOISES = [1, 3, 5, 10]  # standard deviation of each kernel's duration [%]
FIRST_STEP = 3

# Kinds of 20 consecutive jobs.
CYCLE = (['nobody'] * 7 + ['shares'] + ['slow 10', 'slow 5', 'slow 3'] * 2 +
         ['few', 'one', 'two', 'host', 'episode', 'event'])


def some_rank(draw, ranks, but=()):
    return draw.choice([r for r in range(ranks) if r not in but])


def job(seed, number):
    """Returns the kind of a job, the name of its shape, and its options, by random draws only."""
    draw = random.Random(f'{seed} {number}')
    kind = CYCLE[number % len(CYCLE)]
    shapes = {'nobody': list(SHAPES), 'shares': list(SHAPES), 'one': ['blocking', 'tensor'],
              'two': SIMPLE, 'host': SIMPLE, 'episode': SIMPLE, 'event': SIMPLE}
    shape = draw.choice(shapes.get(kind, COMPARABLE))
    least, more = SHAPES[shape]
    sizes = {'two': [4, 8, 16, 64], 'host': [16, 32, 64], 'episode': [4, 8, 16],
             'event': [4, 8, 16]}.get(kind, [2, 4, 8, 16, 32, 64])
    if shape == 'pipeline':
        sizes = [2, 4, 8]
    ranks = draw.choice([n for n in sizes if n >= least])
    options = {name: ranks if value == 'all' else value for name, value in more.items()}
    # In few steps, uneven shares of data look like a slow GPU, so 'shares' has no such jobs.
    steps = {'nobody': [1, 2, 4, 6, 8, 12], 'shares': [6, 8, 12], 'few': [1, 2, 4, 6], 'one': [1],
             'host': [4, 8], 'episode': [30, 40], 'event': [4, 8]}.get(kind, [8, 12])
    layers = 4 * options.get('pp', 1)
    if kind == 'one':
        layers = 16 if shape == 'blocking' else 8
    options.update(ranks=ranks, steps=draw.choice(steps), layers=layers, buckets=layers,
                   compute_us=400, bytes_per_bucket=2000000, cpu_ops=0, end_jitter_ns=2000,
                   jitter=draw.choice(NOISES), first_step=FIRST_STEP, seed=seed * 1000003 + number,
                   ranks_per_host=draw.choice([4, 8]), offset_us=draw.choice([0, 500]),
                   no_instances=1)
    if kind == 'nobody':
        options.update(draw.choice([{}, {}, {'hiccup_percent': 1}, {'host_jitter': 5}]))
    elif kind == 'shares':
        options.update(share_jitter=5)
    elif kind == 'event':
        options['jitter'] = draw.choice([1, 3])
    options['slow'] = slowness(draw, kind, options)
    return kind, shape, options


def slowness(draw, kind, options):
    """Returns the values of --slow: RANKS:FACTOR[:STEPS[:KERNELS]]."""
    ranks, steps = options['ranks'], options['steps']
    one = some_rank(draw, ranks)
    if kind in ('slow 10', 'slow 5', 'slow 3', 'one', 'few'):
        percent = {'one': 10, 'few': draw.choice([5, 10, 20])}.get(kind) or int(kind.split()[1])
        return [f'{one}:{1 + percent / 100}']
    if kind == 'two':
        return [f'{one}:1.1', f'{some_rank(draw, ranks, [one])}:1.15']
    if kind == 'host':
        first = one - one % options['ranks_per_host']
        return [f'{first}-{first + options["ranks_per_host"] - 1}:1.05']
    if kind == 'episode':
        first = FIRST_STEP + draw.randrange(5, steps - 14)
        # tmerge names nobody who costs under 1 % of the job, as 5 % in 10 of 40 steps would.
        return [f'{one}:{draw.choice([1.05, 1.1, 1.15] if steps == 30 else [1.1, 1.15])}:'
                f'{first}-{first + 9}']
    if kind == 'event':
        step, kernel = FIRST_STEP + draw.randrange(1, steps), draw.randrange(2, 16)
        return [f'{one}:60:{step}:{kernel}-{kernel + 2}']
    return []


def is_wanted(kind, _, options, only_kind, only_noise):
    return only_kind in (None, kind) and only_noise in (None, options['jitter'])


# Truth --------------------------------------------------------------------------------------------


def span(text):
    """Returns the numbers in '4', '0-3' or '0-6:2'."""
    text, _, stride = text.partition(':')
    first, _, last = text.partition('-')
    return range(int(first), int(last or first) + 1, int(stride or 1))


def culprits(config):
    """Returns (ranks, steps or None for all) of each slowdown in truth.json, except those of single
    kernels."""
    fields = [text.split(':') for text in config['slow']]
    return [(set(span(f[0])), set(span(f[2])) if len(f) > 2 else None) for f in fields if len(f) < 4]


def members(text):
    """Returns the ranks in '0-3,8'."""
    return {rank for part in text.split(',') for rank in span(part)}


def ranks_of(row, config, groups):
    if row['level'] == 'rank':
        return {row['rank']}
    if row['level'] == 'host':
        return {r for r in range(config['ranks'])
                if f'host{r // config["ranks_per_host"]}' == row['host']}
    found = [members(g['members']) for g in groups]
    return next((g for g in found if min(g) == row['rank'] and len(g) == row['ranks']), set())


def is_naming(row):
    return (row['shape'] in ('throughout', 'episode', 'alternation') and
            row['level'] in ('rank', 'host', 'group'))


# Judging ------------------------------------------------------------------------------------------


def judge(kind, shape, config, answer):
    """Yields (figure, part of it or '' for all, share) of a job."""
    slow = culprits(config)
    all_slow = set().union(*[ranks for ranks, _ in slow])
    named = [(row, ranks_of(row, config, answer['groups.group']))
             for row in answer['stragglers.finding'] if is_naming(row)]
    found = [ranks for _, ranks in named]
    whole = [ranks in found for ranks, _ in slow]
    for row, ranks in named:
        yield f'b {row["certainty"]} namings that are right', '', bool(ranks) and ranks <= all_slow
    if kind in ('nobody', 'shares'):
        noise = [what for what in ('hiccup_percent', 'host_jitter', 'share_jitter') if config[what]]
        for part in ('', shape, (noise + ['plain'])[0].split('_')[0] + ' noise'):
            yield 'a nobody is slow: somebody is named', part, bool(named)
    elif kind in SAVES and answer['saved'] < 0.01:  # no naming is required
        return
    elif kind.startswith('slow '):
        for part in ('', shape, f'{config["ranks"]:2} ranks'):
            yield f'c {kind[5:]} % slower, named', part, whole[0]
    elif kind == 'one':
        yield 'c 10 % slower in one step of 16 blocking stretches, named', '', whole[0]
    elif kind == 'two':
        both = all(whole) and all(ranks <= all_slow for ranks in found)
        yield 'd two culprits, both named and nobody else', '', both
    elif kind == 'host':
        hosts = [ranks for row, ranks in named if row['level'] == 'host']
        yield 'd a slow host, named as a host', '', slow[0][0] in hosts
    elif kind == 'episode':
        rows = [row for row, ranks in named if ranks == slow[0][0] and row['shape'] == 'episode']
        yield 'd an episode of 10 steps, named as one', '', bool(rows)
        for row in rows:
            steps = set(range(row['from'], row['to'] + 1))
            share = len(steps & slow[0][1]) / len(steps | slow[0][1])
            yield 'd overlap of episodes with the truth', '', share
    elif kind == 'event':
        reported = answer['stragglers.job'][0]['verdict'] == 'event' and not named
        yield 'd an event reported as one, and nobody named', '', reported


def figures(seed, numbers, answers):
    """Returns {(figure, part): shares}, and the misses as (number, figure)."""
    shares, misses = collections.defaultdict(list), []
    for number, (config, answer) in zip(numbers, answers):
        for figure, part, share in judge(*job(seed, number)[:2], config, answer):
            shares[figure, part].append(float(share))
            if not part and share == (LIMITS[figure][0] == '<='):
                misses.append((number, figure))
    return shares, misses


def chance(k, n, share):
    """Returns the probability of k or more in n."""
    return sum(math.comb(n, i) * share**i * (1 - share)**(n - i) for i in range(k, n + 1))


def holds(figure, part, shares):
    """Returns whether the mean is within the limit, or for a part beyond it only by chance."""
    sense, limit = LIMITS[figure]
    mean, n = sum(shares) / len(shares), len(shares)
    if sense == '>=':
        mean, limit = 1 - mean, 1 - limit
    return mean <= limit + 1e-12 or (part != '' and chance(round(mean * n), n, limit) >= 0.001)


def wilson(share, n):
    """Returns the 95 % (Wilson) interval of a share."""
    z = 1.959964
    middle, width = share + z * z / 2 / n, z * math.sqrt(share * (1 - share) / n + (z / 2 / n)**2)
    return max(0, middle - width) / (1 + z * z / n), min(1, (middle + width) / (1 + z * z / n))


# Running ------------------------------------------------------------------------------------------


def simulate(place, seed, number):
    """Makes and merges a job; returns its configuration and tmerge's tables."""
    folder = os.path.join(place, str(number))
    os.makedirs(folder)
    store = os.path.join(folder, 'job.h5')
    truth = common.synth(os.path.join(folder, 'job'), **job(seed, number)[2])
    # A TMPDIR per job, because Open MPI runs started at once may choose the same session folder.
    env = {'TMPDIR': folder}
    common.tmerge(os.path.join(folder, 'job'), '-o', store, env=env).expect(0)
    found = common.tables(store, 'stragglers.finding', 'stragglers.job', 'groups.group', env=env)
    found['saved'] = 1.0
    if job(seed, number)[0] in SAVES:  # relative to the same job without a slow rank
        healthy = common.synth(os.path.join(folder, 'job'), **{**job(seed, number)[2], 'slow': []})
        us, without = (max(rank['window_ns'] for rank in each['ranks']) for each in (truth, healthy))
        found['saved'] = 1 - without / us
    shutil.rmtree(folder)
    return truth['config'], found


def made_up(kind, config, right):
    """Returns a correct answer, or one that is wrong in everything."""
    likely = 'likely' if config['seed'] % 2 else 'confident'
    rows = []
    for ranks, steps in culprits(config) if right else [({0, 1}, None)] * (kind == 'nobody'):
        first = min(ranks)
        rows.append({'level': 'rank' if len(ranks) == 1 else 'host', 'rank': first,
                     'host': f'host{first // config["ranks_per_host"]}', 'group': None,
                     'shape': 'episode' if steps else 'throughout', 'certainty': likely,
                     'from': min(steps or [0]), 'to': max(steps or [0])})
    verdict = 'event' if right and kind == 'event' else 'none'
    return config, {'stragglers.finding': rows, 'stragglers.job': [{'verdict': verdict}],
                    'groups.group': [], 'saved': 1.0}


def prove_that_it_fails():
    """Exits unless right answers meet all figures, and wrong ones miss them."""
    numbers = range(400)
    for right in (True, False):
        jobs = [job(1, number) for number in numbers]
        noises = {'hiccup_percent': 0, 'host_jitter': 0, 'share_jitter': 0}
        shares, _ = figures(1, numbers, [made_up(kind, {**noises, **options}, right)
                                         for kind, _, options in jobs])
        broken = {figure for (figure, part), values in shares.items()
                  if not part and not holds(figure, part, values)}
        # An answer that names nobody has no episode whose steps could be wrong.
        expected = set() if right else set(LIMITS) - {'d overlap of episodes with the truth'}
        if broken != expected:
            sys.exit(f'the check itself is broken: {sorted(broken ^ expected)}')


def show(shares):
    """Prints the table; returns how many of its rows do not hold."""
    bad = 0
    print(f'{"":62}{"jobs":>6}{"share":>8}  {"95 % interval":16}{"limit":>8}')
    for (figure, part), values in sorted(shares.items()):
        n, mean = len(values), sum(values) / len(values)
        low, high = wilson(mean, n)
        good = holds(figure, part, values)
        limit = '' if part else f'{LIMITS[figure][0]} {100 * LIMITS[figure][1]:g} %'
        name = f'    {part}' if part else figure
        interval = f'{100 * low:.2f} to {100 * high:.2f} %'
        print(f'{name:62}{n:6}{100 * mean:7.2f}%  {interval:16}{limit:>8}' +
              ('' if good else '  NOT HELD'))
        bad += not good
    return bad


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    options.add_argument('--jobs', type=int, help='unless given, the first cycle of kinds; in the '
                         'landing set every other of it, by TMERGE_SEED')
    options.add_argument('--first', type=int, default=0, help='number of the first job')
    options.add_argument('--seed', type=int, default=1)
    options.add_argument('--kind', help=f'only jobs of this kind: {", ".join(sorted(set(CYCLE)))}')
    options.add_argument('--noise', type=int, help=f'only jobs of this kernel noise: {NOISES}')
    options.add_argument('--parallel', type=int, default=2)
    options.add_argument('--tmerge', default=common.TMERGE)
    options.add_argument('--synth', default=common.SYNTH)
    given = options.parse_args()
    common.TMERGE, common.SYNTH = (os.path.abspath(p) if os.sep in p else p
                                   for p in (given.tmerge, given.synth))
    prove_that_it_fails()
    numbers = list(itertools.islice((n for n in itertools.count(given.first) if is_wanted(
        *job(given.seed, n), given.kind, given.noise)), given.jobs or len(CYCLE)))
    if given.jobs is None and not common.FULL:
        numbers = numbers[common.SEED % 2::2]
    with tempfile.TemporaryDirectory() as place, \
            concurrent.futures.ThreadPoolExecutor(given.parallel) as pool:
        answers = list(pool.map(lambda number: simulate(place, given.seed, number), numbers))
    shares, misses = figures(given.seed, numbers, answers)
    bad = show(shares)
    words = collections.Counter((job(given.seed, number)[0],
                                 answer['stragglers.job'][0]['verdict'])
                                for number, (_, answer) in zip(numbers, answers))
    for (kind, verdict), n in sorted(words.items(), key=str):
        print(f'verdict of {kind}: {verdict} {n}')
    for number, figure in misses:
        kind, shape, drawn = job(given.seed, number)
        flags = ' '.join(f'--{k.replace("_", "-")}={v}' for k, values in drawn.items()
                         for v in (values if isinstance(values, list) else [values]))
        print(f'miss: job {number} ({kind}, {shape}): {figure}\n    tmerge-synth -o job {flags}')
    print(f'{len(answers)} jobs, {len(shares)} figures, {bad} do not hold')
    sys.exit(1 if bad or not shares else 0)


if __name__ == '__main__':
    main()
