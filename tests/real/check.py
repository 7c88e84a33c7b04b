"""Compares tmerge's results with recorded jobs whose culprit is known: check.py FOLDER...

FOLDER has the jobs of record.py. One row each: the slowdown and its cost, found without tmerge; the
named ranks, and the first sentence. The cost is the time in which operations waited only for the
slowed rank, beyond the median of the other ranks, which come last now and then without a reason; as
a share of the steps, from the traces and their order only. A rank that was not slowed is a true
positive if the kernel recorded that its thread ran and waited for a core longer than the others' by
3 % of the steps: the machine slowed it. If the machine slowed another rank by more than the slowed
rank cost, no rank need be named. A rank is named by the verdict or, if it names nobody, by the sentence
on waiting ("50 % of it for rank 1"; the largest share). Exits with 1 if a name is wrong or missing, or
if the cause is wrong in more than 10 % of the jobs.
"""
import gzip
import json
import os
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import common  # noqa: E402

COSTS = 3.0  # per cent of the steps: a rank that costs this much must be named
# Cause: words, one of which must be in tmerge's output.
WORDS = {'none': [''], 'loader': ['data loading'], 'loader-all': ['Load data', 'batch'],
         'sleep': ['between them', 'host of'], 'gc': ['between them', 'host of'],
         'neighbour': ['its CPU', 'CPU of', 'for rank'], 'work': ['what only'],
         'uneven': ['its CPU', 'CPU of', 'more work'], 'gc-turns': ['host stalls'],
         'uneven-turns': ['Balance', 'compute operators']}


def operations(folder, rank):
    """Returns the begins [us] of the rank's communication operations, in order."""
    with gzip.open(f'{folder}/profile_rank_{rank}.json.gz', 'rt', encoding='utf-8') as file:
        trace = json.load(file)
    return sorted(event['ts'] for event in trace['traceEvents']
                  if event.get('name', '').startswith('gloo:all') and event.get('ph') == 'X')


def alone(begins, rank):
    """Returns the time [us] in which an operation waited only for a rank. Some operations overlap."""
    late, reach = 0, float('-inf')
    for at in sorted(zip(*begins), key=lambda at: max(at[:rank] + at[rank + 1:])):
        since = max(reach, *at[:rank], *at[rank + 1:])
        late += max(0, at[rank] - since)
        reach = max(reach, at[rank])
    return late


def cost(folder, truth):
    """Returns the time that the slowed rank cost, in per cent of the steps. If ranks communicate in
    several groups, its excess time before training counts."""
    steps = truth['step_before_ran_waited_ns']
    whole = statistics.mean(sum(step[0] for step in rank) for rank in steps)
    slow = set(truth['slow'])
    if len(slow) != 1:
        return 0.0
    begins = [operations(folder, rank) for rank in range(len(steps))]
    late = [1000 * alone(begins, rank) for rank in range(len(steps))]
    if truth['shape'] in ('hybrid', 'pp') or len({len(each) for each in begins}) != 1:
        late = [sum(step[1] for step in rank) for rank in steps]
    others = statistics.median(ns for rank, ns in enumerate(late) if rank not in slow)
    return 100 * (late[min(slow)] - others) / whole


def slowed(truth):
    """Returns how long each rank ran and waited for a core beyond the minimum, in per cent of the
    steps. Waiting for other ranks takes no time of a core."""
    steps = truth['step_before_ran_waited_ns']
    whole = statistics.mean(sum(step[0] for step in rank) for rank in steps)
    took = [sum(step[2] + step[3] for step in rank) for rank in steps]
    return [100 * (ns - min(took)) / whole for ns in took]


def waited_for(text):
    """Returns the rank for which the other ranks wait most, if the first screen says so: a set."""
    shares = re.findall(r'(\d+) % (?:of it )?for rank (\d+)', text)
    return {int(max(shares, key=lambda share: int(share[0]))[1])} if shares else set()


def judge(folder):
    """Returns a judgement, right or the error, and the row."""
    with open(os.path.join(folder, 'truth.json'), encoding='utf-8') as file:
        truth = json.load(file)
    done = common.tmerge(folder, '-o', 'real.h5', '--force').expect(0)
    tables = common.tables('real.h5', 'stragglers.rank', 'stragglers.job')
    text = ' '.join(done.out.split())
    named = {row['rank'] for row in tables['stragglers.rank'] if row['verdict'] == 'straggler'}
    named = named or waited_for(text)
    slow, costs, took = set(truth['slow']), cost(folder, truth), slowed(truth)
    one = 0 < len(slow) < len(took)
    others = named - slow if one else named
    wrong = []
    machine = max(ns for rank, ns in enumerate(took) if rank not in slow) if one else 0.0
    if one and costs >= max(COSTS, machine) and not slow & named:
        wrong.append('not named')
    wrong += [f'rank {rank} named' for rank in sorted(others) if took[rank] < COSTS]
    word = not one or slow & named
    if word and not any(each in text for each in WORDS[truth['cause']]):
        wrong.append('cause')
    first = tables['stragglers.job'][0]['headline']
    cores = ' '.join(f'{share:.0f}' for share in took)
    return wrong, [os.path.basename(folder), truth['version'], ','.join(map(str, slow)) if one else '-',
                   f'{costs:.1f}', cores, ','.join(map(str, sorted(named))) or '-',
                   ', '.join(wrong) or 'right', first]


def main(folders):
    errors = []
    print('| job | PyTorch | slowed | cost % | on a core % | named | | first sentence |')
    print('|---|---|---|---|---|---|---|---|')
    for folder in folders:
        for name in sorted(os.listdir(folder)):
            if os.path.exists(os.path.join(folder, name, 'truth.json')):
                wrong, row = judge(os.path.join(folder, name))
                print('| ' + ' | '.join(row) + ' |', flush=True)
                errors.append(wrong)
    names, causes = sum(wrong not in ([], ['cause']) for wrong in errors), errors.count(['cause'])
    print(f'{len(errors)} jobs, {names} with wrong or missing names, {causes} more with a wrong cause')
    return names > 0 or 10 * causes > len(errors)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
