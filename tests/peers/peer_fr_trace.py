"""Compares PyTorch's fr_trace with tmerge hang on the same dumps: the cases of cli/hang_cases.py and the
real jobs of real/hangs.py. Prints the table of docs/compared.md. Fails if an answer of tmerge is wrong, or
if a row is not in docs/compared.md.
"""
import json
import os
import pickle
import re
import subprocess
import sys
import types

import peers
from common import SOURCE, TMERGE
from hang_cases import CASES, dump, is_right, ranks_of, real

VERSION = '2.15.0'
# Installed without PyTorch's dependencies, such as CUDA's libraries: fr_trace needs none of them.
PACKAGES = (f'torch=={VERSION}', 'tabulate==0.10.0', '--no-deps')
ANSWER = 'state', 'reason', 'confidence', 'culprits'
REASONS = {'not issued': 'not arrived', 'mismatch': 'differs', 'no dump': 'no dump', 'circle': 'circle'}


def inside(folder):
    """Runs fr_trace in its own environment, without importing the rest of PyTorch."""
    site = next(path for path in sys.path if path.endswith('site-packages'))
    for name in 'torch', 'torch.distributed':
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [os.path.join(site, *name.split('.'))]
    walk = os.walk  # fr_trace compares all files with the first file that it reads
    os.walk = lambda top: ((root, folders, sorted(files)) for root, folders, files in walk(top))
    from torch.distributed.flight_recorder.fr_trace import main
    main([folder, '-p', 'trace_rank_'])


def of_kinds(line):
    """Returns the ranks that an error line names, by kind of error."""
    kinds = {}
    for rank, kind in sorted(re.findall(r'Culprit rank (\d+); Error type: (\w+)', line)):
        kinds.setdefault(kind, []).append(int(rank))
    return kinds


def theirs(python, folder):
    """Returns a summary of fr_trace's answer, and the ranks that it names."""
    run = subprocess.run([python, os.path.abspath(__file__), '--peer', folder], capture_output=True, text=True)
    lines, words, named = (run.stdout + run.stderr).splitlines(), [], set()
    group = ''
    for line in lines:
        group = line.split(':')[-1].strip() if line.startswith('group info') else group
        for kind, ranks in of_kinds(line).items():
            words.append(f'{kind} of {",".join(map(str, ranks))}')
            named.update(ranks)
        if line.startswith('missing ranks'):
            ranks = sorted(int(rank) for rank in re.findall(r'\d+', line))
            words.append(f'missing {",".join(map(str, ranks))}' + f' in {group}' * (group != 'default_pg'))
            named.update(ranks)
        if line.startswith('MISMATCH'):
            words.append('MISMATCH, no rank')
        if line.startswith(('Input/output mismatch', 'We cannot decide')):
            words.append(line.split(' in the collective')[0].split(' because')[0])
    if run.returncode:
        word, _, rest = lines[-1].partition(': ')
        missing = rest.partition('Missing dump files from ranks')[2]
        words = [f'fails: missing dump files {missing.strip()}' if missing else f'fails: {word}']
        named = {int(rank) for rank in re.findall(r'\d+', missing)}
    words = [part for i, part in enumerate(words) if part not in words[:i]]
    return '; '.join(words[:3]) + '; ...' * (len(words) > 3) or 'nothing', named


def ours(folder):
    """Returns a summary of tmerge's answer, and the row of hang.job."""
    run = subprocess.run([TMERGE, 'hang', folder, '--json'], check=True, capture_output=True)
    job = json.loads(run.stdout)['tables']['hang.job']['rows'][0]
    if job['culprits']:
        return f'{job["culprits"]}: {REASONS[job["reason"]]}', job
    return 'nobody waits' if job['state'] == 'clear' else 'nobody named', job


def cases():
    """Yields the name and folder of each job, and a function that checks tmerge's answer."""
    for i, (name, (ranks, groups, expected)) in enumerate(CASES.items()):
        folder = f'case{i}'
        os.makedirs(folder, exist_ok=True)
        for rank, calls in enumerate(ranks):
            if calls is not None:
                with open(f'{folder}/trace_rank_{rank}', 'wb') as out:
                    pickle.dump(dump(calls, groups[rank] if isinstance(groups, list) else groups, len(ranks)), out, 2)
        yield name, folder, lambda job, e=expected: tuple(job[k] for k in ANSWER) == e[:4]
    for folder, truth in real('.'):
        yield 'gloo: ' + truth['what'], folder, lambda job, t=truth: is_right(job, t)


def compare():
    python = peers.environment('fr_trace', PACKAGES)
    with open(os.path.join(SOURCE, 'docs/compared.md'), encoding='utf-8') as file:
        page, wrong, same, n = file.read(), 0, 0, 0
    for name, folder, is_ours_right in cases():
        answer, job = ours(folder)
        said, named = theirs(python, folder)
        agree = sorted(named) == ranks_of(job['culprits']) and (named != set() or said == 'nothing')
        row = f'| {name} | {answer} | {said} | {"yes" if agree else "no"} |'
        n, same, wrong = n + 1, same + agree, wrong + (row not in page or not is_ours_right(job))
        print(row, '' if is_ours_right(job) else 'NOT RIGHT', '' if row in page else 'NOT IN docs/compared.md')
    print(f'fr_trace {VERSION} names the same ranks in {same} of {n} jobs')
    sys.exit(1 if wrong else 0)


if sys.argv[1:2] == ['--peer']:
    inside(sys.argv[2])
else:
    compare()
