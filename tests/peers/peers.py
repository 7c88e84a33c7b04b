"""What the scripts of this folder share: an environment for a peer, both programs on the same files with
their time and memory, and the table of figures.

A script is two programs. Started by a test, it gives `main` what to compare. Inside of the peer's own
environment it is started again, with --peer OUT FILE..., and writes a list of [figure, key, value] to
OUT; times are in nanoseconds there.
"""
import collections
import csv
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
from common import PLUGIN, SHARED, SKIPPED, SYNTH, TMERGE  # noqa: E402, sets the environment of tmerge, too

CACHE = os.path.abspath(os.environ.get('TMERGE_PEERS') or os.path.expanduser('~/.cache/tmerge-peers'))
# Jobs that tmerge-synth makes: their kernels end to the nanosecond.
MADE = {
    'made8': '--ranks 8 --steps 3 --slow-rank 5',
    'made-tp-pp': '--ranks 8 --steps 2 --tp 2 --pp 2 --microbatches 2 --seed 7',
}
# The kernels of each rank by name, communication included.
KERNELS = """SELECT rank, name, count(*) AS calls, sum(duration_ns) AS sum, max(duration_ns) AS max,
                    min(duration_ns) AS min FROM events
             WHERE track = 'gpu' AND role IN ('compute', 'communication') GROUP BY rank, name"""


def skip(why):
    print(f'skipped: {why}')
    sys.exit(SKIPPED)


def environment(name, packages):
    """The Python of a venv that has these packages; of an earlier run where there is one."""
    venv = os.path.join(CACHE, name)
    wanted = '\n'.join(packages)
    done = os.path.join(venv, 'packages')
    python = os.path.join(venv, 'bin', 'python')
    if not os.path.exists(done) or open(done).read() != wanted:
        shutil.rmtree(venv, ignore_errors=True)
        os.makedirs(venv)
        room = {**os.environ, 'TMPDIR': venv}  # tests have a TMPDIR of little room
        for command in (['python3', '-m', 'venv', venv], [python, '-m', 'pip', '-q', 'install', *packages]):
            if shutil.which(command[0]) and subprocess.run(command, env=room).returncode == 0:
                continue
            skip(f'no Python with {packages[0]}: is there a network, and venv?')
        with open(done, 'w') as out:
            out.write(wanted)
    return python


# A small Python between: a process begins with the memory of the one that started it as its peak.
MEASURE = """import os, resource, sys
status = os.spawnvp(os.P_WAIT, sys.argv[1], sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open('measured', 'w').write(f'{used.ru_utime + used.ru_stime} {used.ru_maxrss / 1024}')
sys.exit(status)"""


def measured(command):
    """CPU seconds and peak memory in MB of a command that must succeed; its output goes to a log."""
    with open('peers.log', 'a') as log:
        status = subprocess.run([sys.executable, '-c', MEASURE, *command], stdout=log, stderr=log).returncode
    if status:
        sys.stdout.write(open('peers.log').read()[-4000:])
        raise SystemExit(f'{" ".join(command[:4])} ... ended with {status}')
    return [float(value) for value in open('measured').read().split()]


def job(name):
    """The files of a job: of the real traces beside the project, or made by tmerge-synth; None: absent."""
    if name in MADE:
        if not os.path.exists(name):
            measured([SYNTH, '-o', name, *MADE[name].split()])
        return name
    path = os.path.join(SHARED, 'traces', name)
    return path if os.path.exists(path) else None


def read(path):
    """A trace as Python reads it."""
    program = {'.zst': ['zstd', '-qdc'], '.gz': ['gzip', '-dc']}.get(os.path.splitext(path)[1], ['cat'])
    return json.loads(subprocess.run([*program, path], check=True, capture_output=True).stdout)


def written(folder, files):
    """A folder made anew, with these traces as plain JSON."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, told in files.items():
        with open(os.path.join(folder, name.split('.json')[0] + '.json'), 'w') as out:
            json.dump(told, out)
    return os.path.abspath(folder)


def tables(store, *names):
    """Tables of a store as lists of rows, by name."""
    told = subprocess.run([TMERGE, 'show', store, *names, '--json'], check=True, capture_output=True).stdout
    return {name: table['rows'] for name, table in json.loads(told)['tables'].items()}


def query(store, statement):
    told = subprocess.run([TMERGE, 'query', store, statement, '--json'], check=True, capture_output=True)
    return json.loads(told.stdout)['tables']['query']['rows']


class Table:
    """All figures, as a file of comma-separated values, and what they come to by file and figure."""

    def __init__(self, peer, version):
        self.peer, self.version, self.sums, self.failed = peer, version, {}, 0
        self.file = open(f'{peer}.csv', 'w')
        self.out = csv.writer(self.file)
        self.out.writerow('figure peer version file key theirs ours difference verdict'.split())

    def add(self, figure, file, key, theirs, ours, within, explained, in_words):
        """One figure. `explained` is the value by the peer's rule and whose the difference is, or None."""
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
        """All of the peer's figures of one file. What tmerge has beyond them is no difference."""
        for figure, key, value in theirs:
            at = figure, tuple(key) if isinstance(key, list) else key
            self.add(figure + kind, file + kind, key, value, ours.get(at), within(figure, value or 0),
                     by_their_rule.get(at), in_words)

    def finish(self, costs):
        """Prints a row for each file, and whose the differences are; fails where one is not explained."""
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
    """The union of [begin, end] as intervals that do not touch."""
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
    by_their_rule(store)  where the peer's rule is another: {(figure, key): (tmerge's value by it, whose
                  the difference is and why)}
    within(figure, value)  the difference that the peer's arithmetic or its output's digits make
    prepared(path)  the job as the peer reads it, or several ways of it: [(what is said of it, path)]
    in_words(figure, file, key)  whose a difference is that remains, where no arithmetic can show it; or None
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
            with open(out) as told:
                table.compare(name, kind, json.load(told), ours(store), by_their_rule(store), within, in_words)
    if not costs:
        skip('no traces')
    table.finish(costs)


def inside(figures):
    """In the peer's environment: writes the figures of the path that was given."""
    out, path = sys.argv[2:4]
    told = [[figure, key, None if value != value else value] for figure, key, value in figures(path)]
    with open(out, 'w') as file:
        json.dump(told, file)
