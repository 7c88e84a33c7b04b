"""Compares nsys-ai with tmerge (peers.py): times of each GPU, kernels, collectives and copies of exports of
Nsight Systems. Then checks nsys-ai's labels, which say what an analysis of an export must find and must not
find. Labels and their exports are on GitHub, not in the package; TMERGE_NSYS_AI may name a local clone.
"""
import glob
import json
import os
import shutil
import sys

import peers

VERSION, COMMIT = '0.3.0', 'd6c1d62fa8a54ae65dffced526af43e3c06ba701'
TESTS = 'nsys_ai_tests'  # a link to the clone's tests
JOBS = (*(f'nsys/{name}.sqlite' for name in ('h100_2gpu_1s', 'mfu_2gpu_before', 'perlmutter-cloverleaf-cuda')),
        'made-nsys', *(f'{TESTS}/fixtures/{name}.sqlite' for name in ('mfu_2gpu_after', 'healthy_1pct',
                                                                      'healthy_judged_1pct', 'mock')))
MS = 10**6
EXTREMES = {'total_ms': 'sum', 'min_ms': 'min', 'max_ms': 'max'}
COPIES = {1: 'htod', 2: 'dtoh', 8: 'dtod', 10: 'ptop', 11: 'htod', 12: 'dtoh'}  # 11, 12: migrations
# Advice that is about what nsys-ai's labels call so.
RULES = {'idle': ('gpu_utilization', 'small_kernels', 'input'),
         'communication': ('exposed_communication', 'communication', 'late_ranks', 'slow_network')}


def labels(path):
    """Yields [category, whether it must be found] of the labels of an export."""
    for name in os.listdir(f'{TESTS}/eval/labels') if os.path.exists(TESTS) else ():
        with open(f'{TESTS}/eval/labels/{name}') as file:
            label = json.load(file)
        if os.path.basename(label['profile']) == os.path.basename(path):
            for found, rules in ((True, label['expect']), (False, label['must_not'])):
                yield from ((rule['category'], found) for rule in rules if rule['category'] in RULES)


def theirs(path):
    from nsys_ai import overlap
    from nsys_ai.profile import Profile
    from nsys_ai.skills import registry
    for category, found in labels(path):
        yield 'label', category, found
    shutil.copyfile(path, 'copy.sqlite')  # nsys-ai writes indexes into it
    with Profile('copy.sqlite') as profile:
        for device in profile.meta.devices:
            times = overlap.overlap_analysis(profile, device)
            if 'error' in times:
                continue
            for name in ('compute_only', 'nccl_only', 'overlap', 'idle', 'total'):
                yield 'time', [device, name], times[f'{name}_ms'] * MS
            yield 'kernels', device, times['compute_kernels'] + times['nccl_kernels']
            for row in overlap.nccl_breakdown(profile, device):
                yield 'calls', [device, row['stream_id']], row['count']
                for name, figure in EXTREMES.items():
                    yield 'collective', [device, row['stream_id'], figure], row[name] * MS
        for row in registry.get_skill('top_kernels').execute(profile.conn, device=0, limit=10**6):
            yield 'calls', row['kernel_name'], row['invocations']
            for name, figure in EXTREMES.items():
                yield 'kernel', [row['kernel_name'], figure], row[name] * MS
        copies = [row for row in registry.get_skill('memory_transfers').execute(profile.conn, device=0)
                  if 'copyKind' in row]
        for kind in {COPIES[row['copyKind']] for row in copies}:
            of = [row for row in copies if COPIES[row['copyKind']] == kind]
            yield 'calls', kind, sum(row['count'] for row in of)
            yield 'kernel', [kind, 'sum'], sum(row['total_ms'] for row in of) * MS


SUMS = """SELECT {}, count(*) AS calls, sum(duration_ns) AS sum, min(duration_ns) AS min, max(duration_ns) AS max
    FROM events WHERE track = 'gpu' AND role IN ({}) GROUP BY {}"""


def ours(store):
    found, tables = {}, peers.tables(store, 'overlap.rank', 'transfers.kind', 'advice.item')
    for row in tables['overlap.rank']:
        shared = row['overlap_ns']
        for name, value in {'compute_only': row['compute_ns'] - shared, 'nccl_only': row['comm_ns'] - shared,
                            'overlap': shared, 'idle': row['idle_ns'], 'total': row['window_ns']}.items():
            found['time', (row['rank'], name)] = value
    for row in peers.query(store, SUMS.format('rank', "'compute', 'communication'", 1)):
        found['kernels', row['rank']] = row['calls']
    for row in peers.query(store, SUMS.format('rank, stream', "'communication'", '1, 2')):
        found['calls', (row['rank'], row['stream'])] = row['calls']
        for figure in EXTREMES.values():
            found['collective', (row['rank'], row['stream'], figure)] = row[figure]
    for row in peers.query(store, SUMS.format('name', "'compute', 'communication'", 1)):
        found['calls', row['name']] = row['calls']
        for figure in EXTREMES.values():
            found['kernel', (row['name'], figure)] = row[figure]
    for row in tables['transfers.kind']:
        at = row['kind']
        found['calls', at] = found.get(('calls', at), 0) + row['count']
        found['kernel', (at, 'sum')] = found.get(('kernel', (at, 'sum')), 0) + row['total_ns']
    advice = {row['rule'] for row in tables['advice.item'] if row['severity'] != 'note'}
    return found | {('label', category): bool(advice & {*rules}) for category, rules in RULES.items()}


def by_their_rule(store):
    """Returns nsys-ai's times, which are of kernels only: copies are neither in the window nor busy."""
    why, found = "nsys-ai's times of a GPU are of kernels only, tmerge's also of copies", {}
    rows = peers.query(store, "SELECT rank, max(begin_ns + duration_ns) - min(begin_ns) AS span FROM events WHERE "
                       "track = 'gpu' AND role IN ('compute', 'communication') GROUP BY 1")
    window = {row['rank']: row['span'] for row in rows}
    for row in peers.tables(store, 'overlap.rank')['overlap.rank']:
        of, busy = window.get(row['rank'], 0), row['compute_ns'] + row['comm_ns'] - row['overlap_ns']
        found |= {('time', (row['rank'], 'total')): (of, why), ('time', (row['rank'], 'idle')): (of - busy, why)}
    return found


def within(figure, _):
    return {'label': 0, 'calls': 0, 'kernels': 0}.get(figure, 10**4)  # of 0.01 ms


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    clone = os.path.join(peers.CACHE, 'nsys_ai_clone')
    if peers.clone(clone, 'TMERGE_NSYS_AI', 'https://github.com/GindaChen/nsys-ai', COMMIT,
                   ('tests/fixtures', 'tests/eval/labels')) and not os.path.exists(TESTS):
        os.symlink(os.path.join(clone, 'tests'), TESTS)
    peers.main('nsys_ai', VERSION, [f'nsys-ai=={VERSION}'], JOBS, ours, by_their_rule, within,
               prepared=lambda path: [('', (glob.glob(f'{path}/*.sqlite') or [path])[0])])
