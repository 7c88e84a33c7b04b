"""Trace viewer JSON of a real program on two TPU cores, compared with plain sums over the same
file; and files next to the profile they were made from."""
import collections
import glob
import gzip
import json
import os

from common import (SHARED, Skip, equal, gzipped, holds, main, put, rows, seldom, synth, tables,
                    tmerge, without)
from xspace import message


def real():
    """Returns the path, its operations by device as (name, category, begin, duration) in
    picoseconds of the core, and the begins of its barriers."""
    found = glob.glob(os.path.join(SHARED, 'traces', 'jax-json', '*.trace.json.gz'))
    if not found:
        raise Skip('the real file is not here')
    with gzip.open(found[0]) as file:
        events = json.load(file)['traceEvents']
    names = {(e['pid'], e.get('tid')): e['args']['name'] for e in events
             if e.get('ph') == 'M' and e['name'] in ('process_name', 'thread_name')}
    lines = collections.defaultdict(list)
    for e in events:
        device, line = names.get((e.get('pid'), None), ''), names.get((e.get('pid'), e.get('tid')))
        if e.get('ph') == 'X' and device.startswith('/device:') and 'device_offset_ps' in e['args']:
            lines[int(device[-1]), line].append(
                (e['name'], e['args'].get('hlo_category'), int(e['args']['device_offset_ps']),
                 int(e['args']['device_duration_ps'])))
    return found[0], lines


@seldom
def test_the_real_file_has_the_sums_of_its_operations():
    path, lines = real()
    out = ' '.join(tmerge(path, '-o', 't.h5').expect(0).out.split())
    # Both cores compute 63.7 ms; host events belong to the first core, and are not compared.
    holds('Compute even within 0.1 %, ' in out, out)
    shown = {(row['rank'], row['kind']): row for row in rows('t.h5', 'overlap.kind')}
    overlap = {row['rank']: row for row in rows('t.h5', 'overlap.rank')}
    for rank in 0, 1:
        ops = lines[rank, 'XLA Ops']
        sums, counts = collections.Counter(), collections.Counter()
        for _, category, _, duration in ops:
            sums[category] += duration
            counts[category] += 1
        # Begins and ends are rounded to nanoseconds and moved to a clock within 15 ppm.
        for kind, category in ('allreduce', 'all-reduce'), ('allgather', 'all-gather'):
            equal(shown[rank, kind]['count'], counts[category], f'{category} of rank {rank}')
            apart = abs(shown[rank, kind]['comm_ns'] - sums[category] / 1000)
            holds(apart <= counts[category] + 15e-9 * sums[category], f'{category}: {apart} ns apart')
        equal(shown[rank, 'barrier']['count'], len(lines[rank, 'XLA TraceMe']), 'barriers')
        # Asynchronous copies and slices only issue or wait; all else computes, one at a time.
        waits = ('all-reduce', 'all-gather', 'copy-start', 'copy-done', 'async-start', 'async-done')
        computed = sum(sums[category] for category in sums if category not in waits)
        apart = abs(overlap[rank]['compute_ns'] - computed / 1000)
        holds(apart <= len(ops) + 15e-9 * computed, f'computation: {apart} ns apart')
    equal({row['group']: row['ranks'] for row in rows('t.h5', 'groups.group')}, {'cores 0-1': 2})
    equal(rows('t.h5', 'job.rank')[0]['host'], '2026_01_11_21_26_41__t1v-n-9eb622fc-w-0', 'host')


@seldom
def test_the_real_file_has_the_waits_of_its_operations():
    """The core that begins an operation first waits for the other. Both clocks have the same offset
    to the host's: 402 075.73 us behind by the file."""
    path, lines = real()
    tmerge(path, '-o', 't.h5').expect(0)
    runs = {rank: [(begin, begin + duration, name)
                   for name, _, begin, duration in lines[rank, 'XLA Modules']] for rank in (0, 1)}
    waited = collections.Counter()
    # The program whose collectives give its devices runs once, and its barrier lasts until the
    # second core's: 61.7 us, plus 3.6 us of its own.
    communicating = [name for begin, end, name in runs[0]
                     if any(begin <= at <= end and category in ('all-reduce', 'all-gather')
                            for _, category, at, _ in lines[0, 'XLA Ops'])]
    for line in 'XLA Ops', 'XLA TraceMe':
        both = [[op for op in lines[rank, line]
                 if op[1] in ('all-reduce', 'all-gather') or op[0] == 'barrier-cores'
                 if any(begin <= op[2] <= end and name in communicating
                        for begin, end, name in runs[rank])] for rank in (0, 1)]
        equal([op[0] for op in both[0]], [op[0] for op in both[1]], 'order of operations')
        for first, second in zip(*both):
            last = max(first[2], second[2])
            for rank, op in enumerate((first, second)):
                waited[rank] += max(0, min(last, op[2] + op[3]) - op[2]) / 1000
    for row in rows('t.h5', 'overlap.rank'):
        apart = abs(row['wait_ns'] - waited[row['rank']])
        holds(apart <= 150, f'rank {row["rank"]} waits {row["wait_ns"]} ns, {apart} ns off')


def texts(plane, field):
    """Returns names by number: of events (4) or of stats (5)."""
    return {entry[1][0]: message(entry[2][0])[2][0].decode()
            for entry in map(message, plane[field])}


def arguments(event, names):
    """Returns the stats of an event as texts, except for those that the viewer does not get."""
    found = {}
    for stat in map(message, event[4]):
        key, (kind, (value, *_)) = names[stat[1][0]], next(of for of in stat.items() if of[0] != 1)
        value = names[value] if kind == 7 else value
        if not key.startswith('_'):
            found[key] = value.decode() if isinstance(value, bytes) else str(value)
    return found


def viewer_json(profile):
    """Converts a profile to the profiler's JSON for its viewer: no flows, properties or dates."""
    events = []
    for pid, plane in enumerate(map(message, message(profile)[1]), 1):
        names, stats, title = texts(plane, 4), texts(plane, 5), plane[2][0].decode()
        of = {'pid': 701 if title == '/host:CPU' else pid}
        events.append({'ph': 'M', **of, 'name': 'process_name', 'args': {'name': title}})
        for line in map(message, plane[3]):
            of['tid'], start = sum(line[1]) & 0xffffffff, sum(line[3]) * 1000
            events.append({'ph': 'M', **of, 'name': 'thread_name',
                           'args': {'name': b''.join(line[2]).decode()}})
            events += [{'ph': 'X', **of, 'ts': (start + sum(event[2])) / 1e6,
                        'dur': sum(event[3]) / 1e6, 'name': names[event[1][0]],
                        'args': arguments(event, stats)} for event in map(message, line[4])]
    return json.dumps({'displayTimeUnit': 'ns', 'metadata': {'highres-ticks': True},
                       'traceEvents': events + [{}]})


def say_the_same(profile, *names):
    """Compares tables of a profile and its JSON, without times of day and device properties."""
    with open(profile, 'rb') as file:
        put('host0.trace.json', viewer_json(file.read()))
    tmerge(profile, '-o', 'x.h5').expect(0)
    tmerge('host0.trace.json', '-o', 'v.h5').expect(0)
    expected, found = tables('x.h5', *names), tables('v.h5', *names)
    facts = ('begin_ns', 'blocks_per_sm')
    for name in names:
        equal([without(row, facts) for row in found[name]],
              [without(row, facts) for row in expected[name]], name)
    equal([row['events'] for row in rows('v.h5', 'job.rank')],
          [row['events'] for row in rows('x.h5', 'job.rank')], 'events')


TABLES = ('overlap.kind', 'kernels.kernel', 'launches.rank', 'idle.rank', 'transfers.kind',
          'calls.call/operator')


def test_a_profile_and_its_json_say_the_same():
    synth('job', ranks=4, steps=3, layers=4, format='xplane', slow_rank=2)
    profile, = glob.glob('job/**/*.xplane.pb', recursive=True)
    say_the_same(profile, 'overlap.rank', 'overlap.step', 'stragglers.rank', *TABLES)


@seldom
def test_real_profiles_and_their_json_say_the_same():
    """Four of eight TPU cores, whose groups are not in the JSON, and an AMD GPU."""
    found = [os.path.join(SHARED, 'traces', 'xplane', path) for path in
             ('tpu-v6e/tpu_inference.xplane.pb', 'jax-mi300-gemm/tw003.xplane.pb')]
    if not all(os.path.isfile(path) for path in found):
        raise Skip('the real profiles are not here')
    for path in found:
        say_the_same(path, *TABLES)


def test_a_file_beside_its_profile_is_left_out():
    synth('job', ranks=2, steps=1, layers=4, format='xplane')
    profile, = glob.glob('job/**/*.xplane.pb', recursive=True)
    folder = os.path.dirname(profile)
    host = os.path.basename(profile)[:-len('.xplane.pb')]
    event = {'ph': 'X', 'pid': 1, 'tid': 2, 'ts': 1, 'dur': 2, 'name': 'k'}
    process = {'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': '/device:GPU:0'}}
    text = gzipped(json.dumps({'traceEvents': [process, event, {}]}).encode())
    for name in f'{host}.trace.json.gz', 'perfetto_trace.json.gz':
        put(os.path.join(folder, name), text)
    done = tmerge(folder, '-o', 't.h5').expect(0)
    equal({row['format'] for row in rows('t.h5', 'job.rank')}, {'xplane'}, 'formats')
    left = {os.path.basename(row['source']): row['reason'] for row in rows('t.h5', 'job.left_out')}
    equal(left.get(f'{host}.trace.json.gz'), 'covered', 'the JSON')
    equal(left.get('perfetto_trace.json.gz'), 'covered', 'the JSON for Perfetto')
    holds(any('of the same recording, is read instead' in line for line in done.warnings), done.err)
    put('alone/host.trace.json.gz', text)  # by itself it is read
    tmerge('alone', '-o', 'a.h5').expect(0)
    equal([(row['format'], row['host']) for row in rows('a.h5', 'job.rank')],
          [('trace_viewer', 'host')], 'the JSON alone')


main()
