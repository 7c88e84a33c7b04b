"""Shared by the scripts of this folder: an environment for a peer, runs of both programs on the same
files with their time and memory, and the table of figures.

A script runs in two roles. Started by a test, it tells `main` what to compare. It is then started
again in the peer's own environment, with --peer OUT FILE, and writes a list of [figure, key, value]
to OUT, with times in nanoseconds.
"""
import collections
import csv
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
from common import PLUGIN, SHARED, SKIPPED, SYNTH, TMERGE  # noqa: E402, also sets the environment of tmerge

CACHE = os.path.abspath(os.environ.get('TMERGE_PEERS') or os.path.expanduser('~/.cache/tmerge-peers'))
# Jobs made by tmerge-synth; their kernels end at whole nanoseconds.
MADE = {
    'made8': '--ranks 8 --steps 3 --slow-rank 5',
    'made-tp-pp': '--ranks 8 --steps 2 --tp 2 --pp 2 --microbatches 2 --seed 7',
}
SYNTHETIC = {**MADE, 'made-nsys': '--ranks 2 --steps 2 --ranks-per-file 2 --format nsys --host-tables'}
# The kernels of each rank by name, including communication.
KERNELS = """SELECT rank, name, count(*) AS calls, sum(duration_ns) AS sum, max(duration_ns) AS max,
                    min(duration_ns) AS min FROM events
             WHERE track = 'gpu' AND role IN ('compute', 'communication') GROUP BY rank, name"""


def skip(why):
    print(f'skipped: {why}')
    sys.exit(SKIPPED)


def environment(name, packages):
    """Returns the Python of a venv with these packages; reuses that of an earlier run."""
    venv = os.path.join(CACHE, name)
    wanted = '\n'.join(packages)
    done = os.path.join(venv, 'packages')
    python = os.path.join(venv, 'bin', 'python')
    if not os.path.exists(done) or open(done).read() != wanted:
        shutil.rmtree(venv, ignore_errors=True)
        os.makedirs(venv)
        room = {**os.environ, 'TMPDIR': venv}  # the tests' TMPDIR is small
        install = [python, '-m', 'pip', '-q', 'install', *packages]
        for command in (['python3', '-m', 'venv', venv], *([install] if packages else [])):
            if shutil.which(command[0]) and subprocess.run(command, env=room).returncode == 0:
                continue
            skip(f'no Python with {packages[:1]}: is there a network, and venv?')
        with open(done, 'w') as out:
            out.write(wanted)
    return python


def clone(folder, variable, source, commit, paths):
    """Checks these paths of a public repository out; returns whether the last is there. The environment's
    variable may name a local clone.
    """
    where = os.environ.get(variable, source)
    for command in (['clone', '-q', '--no-checkout', where, folder], ['-C', folder, 'checkout', '-q', commit, '--',
                                                                     *paths]):
        if not os.path.exists(os.path.join(folder, paths[-1])):
            subprocess.run(['git', *command])
    return os.path.exists(os.path.join(folder, paths[-1]))


# Runs the command from a small Python, because a process's peak memory starts at its parent's memory.
MEASURE = """import os, resource, sys
status = os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open('measured', 'w').write(f'{used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}')
sys.exit(status)"""


def measured(command):
    """Returns CPU seconds and peak memory [MB] of a command that must succeed; logs its output."""
    with open('peers.log', 'a') as log:
        status = subprocess.run([sys.executable, '-c', MEASURE, *command], stdout=log, stderr=log).returncode
    if status:
        sys.stdout.write(open('peers.log').read()[-4000:])
        raise SystemExit(f'{" ".join(command[:4])} ... ended with {status}')
    return [float(value) for value in open('measured').read().split()]


def job(name):
    """Returns the path of a job: real traces next to the project, or made by tmerge-synth, or in this
    folder; None if absent."""
    if name in SYNTHETIC:
        if not os.path.exists(name):
            measured([SYNTH, '-o', name, *SYNTHETIC[name].split()])
    if os.path.exists(name):
        return name
    path = os.path.join(SHARED, 'traces', name)
    return path if os.path.exists(path) else None


def read(path):
    """Returns the parsed JSON of a trace, which may be compressed."""
    program = {'.zst': ['zstd', '-qdc'], '.gz': ['gzip', '-dc']}.get(os.path.splitext(path)[1], ['cat'])
    return json.loads(subprocess.run([*program, path], check=True, capture_output=True).stdout)


def written(folder, files):
    """Writes these traces as plain JSON into a new folder; returns its path."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, reported in files.items():
        with open(os.path.join(folder, name.split('.json')[0] + '.json'), 'w') as out:
            json.dump(reported, out)
    return os.path.abspath(folder)


def tables(store, *names):
    """Returns tables of a store as lists of rows, by name."""
    reported = subprocess.run([TMERGE, 'show', store, *names, '--json'], check=True, capture_output=True).stdout
    return {name: table['rows'] for name, table in json.loads(reported)['tables'].items()}


def query(store, statement):
    reported = subprocess.run([TMERGE, 'query', store, statement, '--json'], check=True, capture_output=True)
    return json.loads(reported.stdout)['tables']['query']['rows']


class Table:
    """Writes all figures to a CSV file, and counts the verdicts by file and figure."""

    def __init__(self, peer, version):
        self.peer, self.version, self.sums, self.failed = peer, version, {}, 0
        self.file = open(f'{peer}.csv', 'w')
        self.out = csv.writer(self.file)
        self.out.writerow('figure peer version file key theirs ours difference verdict'.split())

    def add(self, figure, file, key, theirs, ours, within, explained, in_words):
        """Adds a figure. `explained` is (value by the peer's rule, cause of the difference), or None."""
        def same(value):
            return theirs == value or None not in (theirs, value) and abs(value - theirs) <= within
        verdict = ('equal' if same(ours) else explained[1] if explained and same(explained[0]) else
                   in_words(figure, file.split(',')[0], key))
        if not verdict:
            verdict, self.failed = 'NOT EXPLAINED', self.failed + 1
        self.sums.setdefault((file, figure), collections.Counter())[verdict] += 1
        difference = '' if None in (theirs, ours) else ours - theirs
        self.out.writerow([figure, self.peer, self.version, file, key, theirs, ours, difference, verdict])

    def compare(self, file, kind, theirs, ours, by_their_rule, within, in_words):
        """Adds all of the peer's figures of a file. Figures that only tmerge has do not count."""
        for figure, key, value in theirs:
            at = figure, tuple(key) if isinstance(key, list) else key
            self.add(figure + kind, file + kind, key, value, ours.get(at), within(figure, value or 0),
                     by_their_rule.get(at), in_words)

    def finish(self, costs):
        """Prints a row per file and the causes of differences; exits with 1 if one is not explained."""
        self.file.close()
        print(f'{self.peer} {self.version}\n\n| file | figures | equal | else by definition | wrong there | '
              'CPU s, theirs | ours | MB, theirs | ours |\n|---|---|---|---|---|---|---|---|---|')
        reasons = collections.Counter()
        for file, (theirs, ours) in costs.items():
            verdicts = sum((count for (of, _), count in self.sums.items() if of == file), collections.Counter())
            wrong = sum(count for verdict, count in verdicts.items() if verdict.startswith('wrong there'))
            n, equal = sum(verdicts.values()), verdicts.pop('equal', 0)
            print(f'| {file} | {n} | {equal} | {n - equal - wrong} | {wrong} | {theirs[0]:.1f} | {ours[0]:.1f} | '
                  f'{theirs[1]:.0f} | {ours[1]:.0f} |')
            reasons.update(verdicts)
        print(f'\n{sum(map(sum, (c.values() for c in self.sums.values())))} figures, {self.failed} not explained\n')
        for reason, count in reasons.most_common():
            print(f'- {count}: {reason}')
        sys.exit(1 if self.failed else 0)


def merged(intervals):
    """Returns the union of [begin, end] as disjoint intervals that do not touch."""
    union = []
    for begin, end in sorted(intervals):
        if union and begin <= union[-1][1]:
            union[-1][1] = max(union[-1][1], end)
        else:
            union.append([begin, end])
    return union


def union(events):
    return merged([e['begin_ns'], e['begin_ns'] + e['duration_ns']] for e in events)


def length(union):
    return sum(end - begin for begin, end in union)


def main(peer, version, packages, jobs, ours, by_their_rule, within, in_words=lambda *_: None,
         prepared=lambda path: [('', path)]):
    """Compares a peer with tmerge on jobs.

    ours(store)   tmerge's figures as {(figure, key): value}
    by_their_rule(store)  figures with another rule in the peer: {(figure, key): (value by that rule from
                  tmerge's events, cause of the difference)}
    within(figure, value)  tolerance for the peer's arithmetic and the digits of its output
    prepared(path)  the job as the peer reads it, possibly in variants: [(suffix, path)]
    in_words(figure, file, key)  cause of a remaining difference that cannot be computed; or None
    """
    python = environment(peer, packages)
    script = os.path.abspath(sys.argv[0])
    table, costs = Table(peer, version), {}
    for name in jobs:
        path = job(name)
        if not path:
            print(f'{name}: not here')
            continue
        store, out = 'peer.h5', os.path.abspath('peer.json')
        cost = measured([TMERGE, path, '-o', store, '--no-html', '--progress=never'])
        for kind, given in prepared(path):
            costs[name + kind] = measured([python, script, '--peer', out, given]), cost
            with open(out) as reported:
                table.compare(name, kind, json.load(reported), ours(store), by_their_rule(store), within, in_words)
    if not costs:
        skip('no traces')
    table.finish(costs)


def inside(figures):
    """Runs in the peer's environment: writes the figures of the given path."""
    out, path = sys.argv[2:4]
    reported = [[figure, key, None if value != value else value] for figure, key, value in figures(path)]
    with open(out, 'w') as file:
        json.dump(reported, file, default=float)  # numbers of numpy
