"""Output of tmerge export, compared with the store as read by h5py, using other decoders:
perfetto_trace.py for Perfetto's trace, tmerge itself for Chrome's JSON, Python's csv for CSV,
tarfile for the archive."""
import collections
import csv
import decimal
import gzip
import io
import itertools
import json
import os
import shutil
import signal
import tarfile

from common import (BASE_NS, SHARED, TMERGE, Skip, content, equal, event, files, full, gzipped,
                    has_line, holds, kernel, limited, main, merged, nanogpt, put, rows, run,
                    same_bytes, seal, seldom, small_trace, synth, tables, tmerge, trace)
from jobs import real_store
from perfetto_trace import Trace, one
from watching import NAMED, NAMELESS, sends, while_writing

import h5py
import numpy
import stores

ENDINGS = {'perfetto': '.perfetto-trace', 'chrome': '.json', 'csv': '.csv', 'archive': '.tar'}
DURATION, INSTANT, COUNTER = range(3)
GPU = 0
JOB = {'ranks': 8, 'ranks_per_host': 4, 'steps': 3, 'tp': 2, 'offset_us': 500, 'comms_id': True,
       'seq': True, 'fault': 'leak'}


def made(drift_ppb=50000, **options):
    """Makes the store of a job whose clocks differ; its traces are in job. They are too short to
    show a drift, so the drift of the second host is written into the store."""
    synth('job', **{**JOB, **options})
    merged('job', '-o', 'job.h5', '--no-compress')
    with h5py.File('job.h5', 'r+') as file:
        file['clock/drift_ppb'][4:] = drift_ppb
    seal('job.h5')
    return 'job.h5'


def export(store, form, *arguments, **more):
    if form in ENDINGS and '-o' not in arguments:
        arguments = ('-o', 'tmerge' + ENDINGS[form], *arguments)
    done = tmerge('export', store, '--format', form, *arguments, **more).expect(0)
    equal(done.err, '', 'standard error')
    return done


class Store(stores.Store):
    """A store with times on the job's clock."""

    def __init__(self, path):
        super().__init__(path)
        self.begin_ns = rows(path, 'job.job')[0]['begin_ns']
        self.hosts = {row['rank']: row['host'] for row in rows(path, 'job.rank')}

    def times(self):
        """Returns begins and ends of all events; an end is the recorded one, on the job's clock."""
        begins, ends = [], []
        for i in range(len(self.ranks)):
            a, b = self.range(i)
            begin, duration = self['events/begin_ns'][a:b], self['events/duration_ns'][a:b]
            begins.append(self.on_the_jobs_clock(i, begin))
            ends.append(self.on_the_jobs_clock(i, begin + duration))
        return numpy.concatenate(begins), numpy.concatenate(ends)

    def tracks(self):
        """Yields (rank, name, first row, row after last) of each track, named as in the export."""
        threads, tids = self.texts('tracks/thread_name'), self.texts('tracks/tid')
        for t, rank in enumerate(self['tracks/rank'].tolist()):
            stream, device = int(self['tracks/stream'][t]), int(self['tracks/device'][t])
            if self['tracks/kind'][t] == GPU:
                name = f'stream {stream} of GPU {device}'
            else:
                name = threads[t] or f'thread {tids[t]}'
            first = int(self['tracks/first'][t])
            yield rank, name, first, first + int(self['tracks/count'][t])


# Perfetto -------------------------------------------------------------------------------------------


def check_tracks(found, store):
    """One process per rank, in order, with its host; below it steps, counters, streams, threads."""
    equal(found.process_order, 'PROCESS_ORDERING_EXPLICIT')
    processes = [t for t in found.tracks.values() if t.process]
    equal([t.name for t in processes], [f'rank {r} ({store.hosts[r]})' for r in store.ranks])
    for place, (rank, track) in enumerate(zip(store.ranks, processes)):
        equal(one(track.process, 'pid'), rank + 1)
        equal(track.process['process_labels'], [store.hosts[rank]])
        equal((track.place, track.order), (place, 'EXPLICIT'))
    for track in found.tracks.values():
        if not track.process:
            holds(track.parent in {t.id for t in processes}, f'{track.name} is below no rank')
            equal(track.place == 0, track.name == 'steps', 'the first place')


def check_events(found, store):
    """Each event occurs once with its times, name, category and step, in row order. Returns the
    slices by row."""
    begins, ends = store.times()
    names, categories = store.texts('events/name'), store.words('events/category')
    kinds, steps = store['events/kind'].tolist(), store['events/step'].tolist()
    numbers = [n if marked else None for n, marked in
               zip(store['steps/number'].tolist(), store['steps/annotated'].tolist())]
    by_row, at = {}, collections.Counter()
    for rank, track, first, end in store.tracks():
        key = (rank + 1, track)
        for row in range(first, end):
            if kinds[row] == COUNTER:
                continue
            item = found.items[key][at[key]]
            at[key] += 1
            finish = int(ends[row]) if kinds[row] == DURATION else None
            equal(item[:4], (int(begins[row]), finish, names[row], categories[row]), f'row {row}')
            equal(item.notes.get('step'), numbers[steps[row]] if steps[row] >= 0 else None)
            by_row[row] = item
    left = {key: len(items) for key, items in found.items.items() if at[key] != len(items)}
    equal(left, {key: n for key, n in left.items() if key[1] == 'steps'}, 'events too many')
    return by_row


def check_steps(found, store):
    for i, rank in enumerate(store.ranks):
        mine = (store['steps/rank'] == rank) & (store['steps/annotated'] != 0)
        begin = store.on_the_jobs_clock(i, store['steps/begin_ns'][mine]).tolist()
        end = store.on_the_jobs_clock(i, store['steps/end_ns'][mine]).tolist()
        names = [f'step {n}' for n in store['steps/number'][mine].tolist()]
        items = found.items[rank + 1, 'steps'] if names else []
        equal([item[:3] for item in items], list(zip(begin, end, names)))


def sharing(by_row):
    """Returns the rows of each flow."""
    flows = collections.defaultdict(set)
    for row, item in by_row.items():
        for flow in item.flows:
            flows[flow].add(row)
    return sorted(sorted(members) for members in flows.values())


def check_flows(by_row, store):
    """One flow for each launch, from the call, and one for each operation, through its kernels."""
    launches = store['events/launch'].tolist()
    expected = [sorted((launches[row], row)) for row in by_row if launches[row] >= 0]
    operations = collections.defaultdict(list)
    first_of = dict(zip(store.ranks, store['ranks/first_event'].tolist()))
    columns = [store['collective_events/' + c].tolist()
               for c in ('event', 'first_rank', 'first_event')]
    for row, rank, first in zip(*columns):
        if rank >= 0:
            operations[first_of[rank] + first].append(row)
    equal(sharing(by_row), sorted(expected + sorted(operations.values())), 'flows')
    return len(expected), len(operations)


def check_notes(by_row, store):
    """Launch shapes, copies and collectives."""
    for n, row in enumerate(store['kernels/event'].tolist()):
        grid = [int(store['kernels/grid_' + a][n]) for a in 'xyz']
        equal(by_row[row].notes.get('grid'), grid if grid[0] >= 0 else None)
        registers = int(store['kernels/registers'][n])
        equal(by_row[row].notes.get('registers'), registers if registers >= 0 else None)
    for row, size in zip(store['copies/event'].tolist(), store['copies/bytes'].tolist()):
        equal(by_row[row].notes.get('bytes'), size if size >= 0 else None)
    texts = {key: store.texts('collective_events/' + key) for key in ('dtype', 'group')}
    kinds = store.words('collective_events/kind')
    for n, row in enumerate(store['collective_events/event'].tolist()):
        notes = by_row[row].notes
        equal(notes['kind'], kinds[n])
        equal((notes.get('dtype', ''), notes.get('group', '')), (texts['dtype'][n],
                                                                 texts['group'][n]))
        for key in ('wait_ns', 'seq', 'group_size'):
            value = int(store['collective_events/' + key][n])
            equal(notes.get(key), value if value >= 0 else None, key)


def check_memory(found, store):
    """Totals of each device, at the times of the events that report them."""
    begins, _ = store.times()
    expected = collections.defaultdict(list)
    events = store['memory/event'].tolist()
    owners = numpy.searchsorted(store['ranks/first_event'], events, 'right') - 1
    for n, row in enumerate(events):
        kind, device = int(store['memory/device_type'][n]), int(store['memory/device'][n])
        place = 'the CPU' if kind == 0 else f'GPU {device}'
        for what in ('allocated', 'reserved'):
            total = int(store[f'memory/{what}_bytes'][n])
            if total >= 0:
                key = (store.ranks[owners[n]] + 1, f'memory {what} on {place}')
                expected[key].append((int(begins[row]), total))
    for key, values in expected.items():
        equal(found.values[key], sorted(values, key=lambda v: v[0]), key)
    equal({k for k in found.values if k[1].startswith('memory ')}, set(expected))
    return len(expected)


def check_perfetto(path, trace_path):
    store, found = Store(path), Trace(trace_path)
    equal(found.primary, 1, 'the clock of the trace: REALTIME')
    equal(found.clocks, {1: store.begin_ns, 6: store.begin_ns})
    equal({s.clock for s in found.sequences.values()}, {1}, 'clocks of the sequences')
    check_tracks(found, store)
    by_row = check_events(found, store)
    check_steps(found, store)
    check_notes(by_row, store)
    return check_flows(by_row, store), check_memory(found, store)


@seldom
def test_perfetto_holds_every_event_of_a_made_job():
    store = made()
    export(store, 'perfetto')
    (launches, operations), counters = check_perfetto(store, 'tmerge.perfetto-trace')
    holds(launches > 1000 and operations > 50 and counters >= 16, 'too little to show anything')


@full
def test_perfetto_holds_every_event_of_a_real_job():
    store = real_store()
    export(store, 'perfetto', '-o', 'real')
    (launches, operations), _ = check_perfetto(store, 'real')
    holds(launches > 10000 and operations > 50, 'too little to show anything')


def one_rank(*events):
    put('rank0.json', trace(list(events), 0))
    merged('rank0.json', '--force')
    return 'tmerge.h5'


def test_perfetto_puts_events_that_cross_on_lanes_of_one_name():
    # a [0, 10) contains b [2, 6); c [5, 12) crosses both; d [6, 8) fits on the first sub-track
    # again; e [10, 11) begins when a ends.
    spans = {'a': (0, 10), 'b': (2, 4), 'c': (5, 7), 'd': (6, 2), 'e': (10, 1)}
    store = one_rank(*[kernel(name, 100 + at, dur) for name, (at, dur) in spans.items()])
    export(store, 'perfetto')
    check_perfetto(store, 'tmerge.perfetto-trace')
    found = Trace('tmerge.perfetto-trace')
    lanes = [t for t in found.tracks.values() if t.name == 'stream 7 of GPU 0']
    equal(len(lanes), 2)
    equal(len({lane.place for lane in lanes}), 1)


@seldom
def test_perfetto_holds_the_series_of_counters():
    def counter(ts, **values):
        return {'ph': 'C', 'name': 'power', 'pid': 0, 'tid': 0, 'ts': ts, 'args': values}
    store = one_rank(kernel('k', 100, 10), counter(100, watts=250.5, limit=300),
                     counter(105, watts=260))
    export(store, 'perfetto')
    found = Trace('tmerge.perfetto-trace')
    at = BASE_NS + 100000
    equal(dict(found.values), {(1, 'power watts'): [(at, 250.5), (at + 5000, 260)],
                               (1, 'power limit'): [(at, 300)]})


def test_names_of_any_bytes_leave_as_they_are():
    names = ['', 'ä€😀', 'tab\tquote"back\\slash', 'nul\0', '\x7f\x1b[31m', 'x' * 300000]
    store = one_rank(*[kernel(name, 100 + 10 * i, 5) for i, name in enumerate(names)])
    export(store, 'perfetto')
    shown = [n.replace('\0', '\ufffd') for n in names]
    found = Trace('tmerge.perfetto-trace').items[1, 'stream 7 of GPU 0']
    equal([item.name for item in found], shown)
    export(store, 'chrome')
    with open('tmerge.json', encoding='utf-8') as file:
        found = [e for e in json.load(file)['traceEvents'] if e['ph'] == 'X']
    equal([e['name'] for e in found], names)


# Chrome ---------------------------------------------------------------------------------------------

TEXTS = {'name', 'dtype', 'group', 'group_description', 'group_ranks', 'in_split', 'out_split',
         'series', 'shapes', 'types', 'concrete', 'stack'}
ATTRIBUTES = ('launches', 'kernels', 'copies', 'collective_events', 'memory', 'counters', 'shapes',
              'waits', 'inputs', 'operators')
# Attributes of collectives that only a job has; exposed time is on the rank's clock, not the job's.
OF_THE_JOB = {'wait_ns', 'first_rank', 'first_event', 'exposed_ns'}


def attributes(store, table, a, b):
    """Returns rows of an attribute table whose events are in [a, b), counted from a."""
    event = store[f'{table}/event']
    mine = (event >= a) & (event < b)
    if table == 'shapes':  # shapes that the store has truncated end in dots, and are no JSON
        whole = [not text.endswith('...') for text in store.texts('shapes/shapes')]
        mine &= numpy.array(whole, bool)
    result = {'event': (event[mine] - a).tolist()}
    for column in store.file[table]:
        if column in OF_THE_JOB or column == 'event':
            continue
        values = store[f'{table}/{column}'][mine]
        if column in ('call', 'record', 'forward'):
            values = numpy.where(values < 0, -1, values - a)
        values = values.tolist()
        result[column] = [store.names[v] for v in values] if column in TEXTS else \
            [None if v != v else v for v in values]
    return result


def all_of(store, rank):
    """Returns all stored data of a rank's events, with times on the job's clock."""
    a, b = store.range(store.ranks.index(rank))
    mine, steps = store['tracks/rank'] == rank, store['steps/rank'] == rank
    begins, ends = (times[a:b] for times in store.times())
    launch = store['events/launch'][a:b]
    found = {'begins': begins.tolist(), 'durations': (ends - begins).tolist(),
             'launches': numpy.where(launch < 0, -1, launch - a).tolist(),
             'names': store.texts('events/name')[a:b], 'steps': store['steps/number'][steps].tolist()}
    for column in ('category', 'kind', 'role'):
        found[column] = store['events/' + column][a:b].tolist()
    for column in ('kind', 'device', 'stream'):
        found['track ' + column] = store['tracks/' + column][mine].tolist()
    for column in ('pid', 'tid', 'process_name', 'thread_name'):
        found[column] = list(itertools.compress(store.texts('tracks/' + column), mine))
    return found | {name: attributes(store, name, a, b) for name in ATTRIBUTES}


def check_read_back(path, exported, *ranks):
    """Ranks that are exported and merged again have the same stored data of events."""
    merged(exported, '-o', 'back.h5', '--force', '--align=utc')
    store, back = Store(path), Store('back.h5')
    equal(back.ranks, list(ranks))
    for rank in ranks:
        found, expected = all_of(back, rank), all_of(store, rank)
        if len(ranks) > 1 and exported.endswith('.json'):  # then processes belong to a rank
            equal(set(found['process_name']), {f'rank {rank} ({store.hosts[rank]})'})
            for what in ('pid', 'process_name', 'tid'):
                expected[what] = found[what]
        for what, own in expected.items():
            equal(found[what], own, f'{what} of rank {rank}')


BOTH = (('chrome', 'json'), ('perfetto', 'pftrace'))


def test_exports_are_read_back_by_tmerge():
    store = made()
    for form, end in BOTH:
        export(store, form, '--rank', '5', '-o', f'rank.{end}')
        check_read_back(store, f'rank.{end}', 5)
        export(store, form, '--rank', '1,4,7', '-o', f'ranks.{end}')
        check_read_back(store, f'ranks.{end}', 1, 4, 7)


def test_perfetto_of_recorded_jobs_is_read_back_by_tmerge():
    """GPUs with NCCL groups; gloo, whose operations run on host threads; and 2 NPUs whose operations
    tell that there are 8. Their planes, which have no stream, become streams."""
    for folder, ranks in (('nanogpt8', 8), ('gloo/2.14-ddp4slow', 4), ('ascend/job586', 0)):
        path = os.path.join(SHARED, 'traces', folder)
        if not os.path.exists(path):
            raise Skip('the real traces are not here')
        merged(path, '-o', 'real.h5', '--force')
        export('real.h5', 'perfetto', '-o', 'real.pftrace', '--force')
        if ranks > 0:
            check_read_back('real.h5', 'real.pftrace', *range(ranks))
        else:
            merged('real.pftrace', '-o', 'back.h5', '--force')
            equal(int(Store('back.h5').file.attrs['world_size']), 8, 'ranks of the job')


@seldom
def test_chrome_json_of_a_real_job_is_read_back_by_tmerge():
    store = real_store()
    export(store, 'chrome', '--rank', '3', '-o', 'rank.json')
    check_read_back(store, 'rank.json', 3)
    with open('rank.json', encoding='utf-8') as file:
        again = json.load(file)
    with gzip.open(os.path.join(nanogpt(), 'rank3-chrome-trace.json.gz')) as file:
        first = json.load(file)
    for key in ('deviceProperties', 'distributedInfo'):
        equal(again.get(key), first.get(key), key)


def test_exports_of_waits_are_read_back_by_tmerge():
    for name in ('event_sync_trace', 'simple_add_cuda_sync'):
        path = os.path.join(SHARED, f'traces/single/{name}.json.gz')
        if not os.path.exists(path):
            raise Skip('the real traces are not here')
        merged(path, '-o', 'waits.h5', '--force')
        for form, end in BOTH:
            export('waits.h5', form, '-o', f'rank.{end}', '--force')
            check_read_back('waits.h5', f'rank.{end}', 0)


@seldom
def test_chrome_json_of_several_ranks_is_read_back_as_these_ranks():
    """With any reader: one process or several, the whole file or the rest of it. Only the paths of
    the traces differ, which an export does not keep."""
    synth('job', ranks=4, ranks_per_host=2, no_instances=True)
    os.unlink('job/truth.json')
    merged('job', '-o', 'job.h5')
    wanted = ('overlap.rank', 'overlap.kind', 'imbalance.job', 'collectives.kind', 'kernels.kernel')
    first = tables('job.h5', 'job.rank', *wanted)
    for chosen in ([0, 1, 2, 3], [1, 3]):
        export('job.h5', 'chrome', '--rank', ','.join(map(str, chosen)), '-o', 'ranks.json')
        merged('ranks.json', '-o', 'back.h5')
        back = tables('back.h5', 'job.rank', *wanted)
        equal([(row['rank'], row['host'], row['device'], row['source'])
               for row in back.pop('job.rank')],
              [(row['rank'], row['host'], row['device'], 'ranks.json')
               for row in first['job.rank'] if row['rank'] in chosen])
        if len(chosen) == 4:
            equal(back, {name: first[name] for name in wanted})
    merged('ranks.json', '-o', 'back3.h5', n=3)
    same_bytes('back.h5', 'back3.h5')
    text = content('ranks.json')
    put('cut.json', text[:len(text) * 3 // 4])
    done = tmerge('cut.json').expect(0)
    has_line(done.out, 'truncated', 'ranks? 1, 3')
    equal([row['rank'] for row in rows('tmerge.h5', 'job.rank')], [1, 3])
    put('odd.json', text.replace(b'[1, 3]', b'[1, x]', 1))
    tmerge('odd.json').fails(
        3, 'odd.json: byte 41: the list tmerge_ranks is damaged: a rank should be here')


# CSV ------------------------------------------------------------------------------------------------


def lines_of(path):
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file, strict=True))


def known(value):
    return str(value) if value >= 0 else ''


def expected_rows(store):
    begins, _ = store.times()
    names, categories = store.texts('events/name'), store.words('events/category')
    roles, steps = store.words('events/role'), store['events/step'].tolist()
    durations = store['events/duration_ns'].tolist()
    first_of = dict(zip(store.ranks, store['ranks/first_event'].tolist()))
    kinds = store.words('collective_events/kind')
    groups = store.texts('collective_events/group')
    at = {row: n for n, row in enumerate(store['collective_events/event'].tolist())}
    threads, tids = store.texts('tracks/thread_name'), store.texts('tracks/tid')
    for t, (rank, _, first, end) in enumerate(store.tracks()):
        gpu = store['tracks/kind'][t] == GPU
        head = [str(rank), store.hosts[rank], 'gpu' if gpu else 'cpu',
                known(store['tracks/device'][t]), known(store['tracks/stream'][t]),
                '' if gpu else threads[t] or tids[t]]
        for row in range(first, end):
            n = at.get(row)
            operation = wait = -1
            exposed = -1 if n is None else int(store['collective_events/exposed_ns'][n])
            if n is not None and store['collective_events/first_rank'][n] >= 0:
                operation = (first_of[int(store['collective_events/first_rank'][n])] +
                             int(store['collective_events/first_event'][n]))
                wait = int(store['collective_events/wait_ns'][n])
            number = int(store['steps/number'][steps[row]]) if steps[row] >= 0 else -1
            yield head + [categories[row], '' if roles[row] == 'none' else roles[row],
                          known(number), str(begins[row]), str(durations[row]),
                          names[row], '' if n is None else kinds[n],
                          '' if n is None else groups[n], known(operation), known(wait),
                          known(exposed)]


def test_csv_holds_every_event():
    path = made(steps=1)
    export(path, 'csv')
    found = [list(row.values()) for row in lines_of('tmerge.csv')]
    expected = list(expected_rows(Store(path)))
    for mine, theirs in zip(found, expected):
        equal(mine, theirs)
    equal(len(found), len(expected))
    equal(export(path, 'csv', '-o', '-').out.encode(), content('tmerge.csv'))


def test_csv_cells_are_no_formulas_and_keep_their_text():
    names = ['=1+1', '+x', '-y', '@z', 'a,b "c"\r\nd', '#e', "'f", ' =g', 'ü']
    store = one_rank(*[kernel(name, 100 + 10 * i, 5) for i, name in enumerate(names)])
    export(store, 'csv')
    shown = [("'" if name[0] in '=+-@' else '') + name for name in names]
    equal([row['name'] for row in lines_of('tmerge.csv')], shown)


# Windows --------------------------------------------------------------------------------------------


def window(*arguments):
    """Returns names of events."""
    done = tmerge('export', 'w.h5', '--format', 'csv', '-o', '-', *arguments).expect(0)
    equal(done.err, '')
    return [row['name'] for row in csv.DictReader(io.StringIO(done.out))]


def test_a_window_holds_what_touches_it_whole():
    # gemm [0, 50) us, the all-reduce [50, 60) us, an instant at 55 us, from the job's begin.
    os.rename(one_rank(kernel('gemm', 100, 50), kernel('ncclDevKernel_AllReduce', 150, 10),
                       {'ph': 'i', 'name': 'now', 'pid': 1, 'tid': 1, 'ts': 155, 's': 't'}), 'w.h5')
    both = ['gemm', 'ncclDevKernel_AllReduce']
    for arguments, names in [
            ([], both + ['now']), (['--from', '0'], both + ['now']),
            (['--from', '0.00005'], both[1:] + ['now']),
            (['--from', '0.000049999'], both + ['now']),
            (['--to', '0.00005'], both[:1]),
            (['--to', '0.000050001'], both), (['--from', '0.00002', '--to', '0.00003'], both[:1]),
            (['--from', '0.000055', '--to', '0.000055001'], both[1:] + ['now']),
            (['--from', '0.000055001'], both[1:]), (['--to', '0.000055'], both),
            (['--from', '0.000059999'], both[1:]), (['--to', '0.000000001'], both[:1])]:
        equal(window(*arguments), names, arguments)
    export('w.h5', 'perfetto', '--from', '0.00002', '--to', '0.00003')
    found = Trace('tmerge.perfetto-trace').items
    at = BASE_NS + 100000
    equal([item[:3] for item in found[1, 'stream 7 of GPU 0']], [(at, at + 50000, 'gemm')])
    # Before and after the job is an error, and nothing is written; a window in a gap is none.
    for arguments, option in ((['--from', '-1', '--to', '0'], 'to'), (['--from', '1'], 'from'),
                              (['--from', '0.00006'], 'from')):
        for output in ('-', 'none'):
            done = tmerge('export', 'w.h5', '--format', 'csv', '-o', output, *arguments)
            done.fails(2, f'--{option}: the job lasts from 0 to 60.0 us')
            equal((done.out, os.path.exists('none')), ('', False))
    gap = one_rank(kernel('gemm', 100, 10), kernel('gemm', 150, 10))
    done = tmerge('export', gap, '--format', 'chrome', '--from', '0.00002', '--to',
                  '0.00003').expect(0)
    equal(done.err, 'tmerge: warning: there is no event between --from and --to: the job lasts from 0 '
                    'to 60.0 us\n')
    with open('tmerge.json', encoding='utf-8') as file:
        equal([e for e in json.load(file)['traceEvents'] if e['ph'] != 'M'], [])


def test_arrows_of_a_window_have_both_ends_in_it():
    launch = event('cudaLaunchKernel', 'cuda_runtime', 100, 5, pid=9, tid=9, correlation=1)
    store = one_rank(launch, kernel('k', 200, 10, correlation=1))
    for arguments, flows in [([], 1), (['--from', '0.00005'], 0), (['--to', '0.00005'], 0)]:
        export(store, 'perfetto', *arguments)
        found = [item for items in Trace('tmerge.perfetto-trace').items.values() for item in items]
        equal(len({flow for item in found for flow in item.flows}), flows)
        export(store, 'chrome', *arguments)
        with open('tmerge.json', encoding='utf-8') as file:
            equal(sum(e['ph'] in 'sf' for e in json.load(file)['traceEvents']), 2 * flows)


# Archive --------------------------------------------------------------------------------------------


def time_of_step(data):
    """Returns when step 4 begins on the CPU in a trace [ns], relative to its base."""
    found, = [e for e in json.loads(data, parse_float=decimal.Decimal)['traceEvents']
              if (e.get('name'), e.get('cat')) == ('ProfilerStep#4', 'user_annotation')]
    return int(found['ts'] * 1000)


def test_the_archive_holds_the_traces_and_puts_them_on_one_clock():
    path = made(steps=2, drift_ppb=0)
    put('job/profile_rank_3.json', gzipped(content('job/profile_rank_3.json')))
    export(path, 'archive')
    with tarfile.open('tmerge.tar') as archive:
        held = {m.name: archive.extractfile(m).read() for m in archive.getmembers()}
    manifest = held.pop('perfetto_manifest.json')
    equal(manifest.replace(b' ', b'').replace(b'\n', b'')[:20], b'{"perfetto_manifest"')
    manifest = json.loads(manifest)['perfetto_manifest']
    equal(manifest['version'], 1)
    equal([f['path'] for f in manifest['files']], sorted(held))
    store = Store(path)
    equal([f['machine']['name'] for f in manifest['files']],
          [f'rank {r} ({store.hosts[r]})' for r in store.ranks])
    begins, _ = store.times()
    names, categories = store.texts('events/name'), store.words('events/category')
    reference, = [f['path'] for f in manifest['files'] if 'clocks' not in f]
    zeros = {}  # time 0 of each file on the job's clock, derived from one of its events
    for i, (rank, file) in enumerate(zip(store.ranks, manifest['files'])):
        data = held[file['path']]
        given = content(f'job/profile_rank_{rank}.json')
        equal(data, gzip.decompress(given) if rank == 3 else given)
        a, b = store.range(i)
        row, = [r for r in range(a, b) if names[r] == 'ProfilerStep#4' and
                categories[r] == 'user_annotation']
        zeros[file['path']] = int(begins[row]) - time_of_step(data)
    for file in manifest['files']:
        if file['path'] != reference:
            equal(file['clocks'], {'sync_to': {'file': reference},
                                   'offset_ns': zeros[file['path']] - zeros[reference]})
            holds(file['clocks']['offset_ns'] >= 0, 'moved below 0')
    holds(len(set(zeros.values())) > 1, 'clocks that differ are needed')


def test_the_archive_adds_the_base_of_each_trace():
    # Rank 1 begins 1 s later by its base, which follows its events in the file.
    put('rank0.json', small_trace(0, base=BASE_NS))
    put('rank1.json', small_trace(1, base=BASE_NS + 10**9, behind=True))
    tmerge('rank0.json', 'rank1.json', '--align=utc').expect(0)
    export('tmerge.h5', 'archive')
    with tarfile.open('tmerge.tar') as archive:
        manifest = json.load(archive.extractfile('perfetto_manifest.json'))
    equal(manifest['perfetto_manifest']['files'][1]['clocks'],
          {'sync_to': {'file': 'rank_00000.json'}, 'offset_ns': 10**9})


# Call stacks ----------------------------------------------------------------------------------------

# run [0, 100) us contains "f;g" [10, 40), which launches 7 us, and f [50, 60), which launches 5 us
# and contains run [52, 55); 2 us were launched outside.
STACKED = [('python_function', 'run', 1, 0, 100, 0), ('python_function', 'f;g', 1, 10, 30, 0),
           ('cuda_runtime', 'cudaLaunchKernel', 1, 20, 1, 11),
           ('python_function', 'f\n', 1, 50, 10, 0), ('python_function', 'run', 1, 52, 3, 0),
           ('cuda_runtime', 'cudaLaunchKernel', 1, 58, 1, 12),
           ('cuda_runtime', 'cudaLaunchKernel', 2, 20, 1, 13), ('kernel', 'k', 7, 200, 7, 11),
           ('kernel', 'k', 7, 210, 5, 12), ('kernel', 'k', 7, 220, 2, 13)]


def stacked_ranks():
    events = [event(name, category, begin, length, 0 if category == 'kernel' else 9, thread,
                    correlation=correlation)
              for category, name, thread, begin, length, correlation in STACKED]
    merged(*(put(f'rank{rank}.json', trace(events, rank, 2)) for rank in (0, 1)))
    return 'tmerge.h5'


def test_stacks_of_all_ranks_are_folded():
    equal(export(stacked_ranks(), 'folded').out.splitlines(),
          ['run 120000', 'run;f:g 60000', 'run;f  14000', 'run;f ;run 6000'])
    equal(sorted(export('tmerge.h5', 'folded', '--time', 'device').out.splitlines()),
          ['(outside of any function) 4000', 'run;f  10000', 'run;f:g 14000'])
    export('tmerge.h5', 'folded', '-o', 'x')
    tmerge('export', 'tmerge.h5', '--format', 'folded', '-o', 'x').fails(
        4, 'x: this file is not recognised as an earlier export; --force overwrites it')


def test_speedscope_has_the_stacks_with_both_times():
    equal(export(stacked_ranks(), 'speedscope').out, 'tmerge.speedscope.json: 5 stacks\n')
    export('tmerge.h5', 'speedscope', '--time', 'device')  # replaces the earlier one
    found = json.loads(content('tmerge.speedscope.json'))
    equal((found['$schema'], found['activeProfileIndex']),
          ('https://www.speedscope.app/file-format-schema.json', 1))
    frames = [frame['name'] for frame in found['shared']['frames']]
    equal(len(set(frames)), len(frames), 'a function is one frame')
    times = [{'run': 120000, 'run|f;g': 60000, 'run|f\n': 14000, 'run|f\n|run': 6000},
             {'run|f;g': 14000, 'run|f\n': 10000, '(outside of any function)': 4000}]
    for profile, expected in zip(found['profiles'], times, strict=True):
        stacks = ['|'.join(frames[i] for i in stack) for stack in profile['samples']]
        equal(dict(zip(stacks, profile['weights'], strict=True)), expected)
        equal((profile['type'], profile['unit'], profile['startValue'], profile['endValue']),
              ('sampled', 'nanoseconds', 0, sum(expected.values())))


def test_without_stacks_there_is_nothing_to_fold():
    merged(put('rank0.json', small_trace(0)))
    for form in ('folded', 'speedscope'):
        tmerge('export', 'tmerge.h5', '--format', form).fails(
            3, "no rank has call stacks; PyTorch's profiler records them with with_stack=True")


# Failures -----------------------------------------------------------------------------------------


def test_wrong_usage_is_reported():
    merged(put('rank0.json', small_trace(0)))
    for arguments, message in [
            ([], 'tmerge export needs one store; see --help'),
            (['tmerge.h5', 'x'], 'tmerge export needs one store; see --help'),
            (['tmerge.h5', '--format', 'xml'],
             "--format takes perfetto, chrome, csv, archive, folded, speedscope or sqlite, not 'xml'"),
            (['tmerge.h5', '--format', 'folded', '--from', '1'],
             '--format folded writes the stacks of all ranks and times: leave out --rank, --from '
             'and --to'),
            (['tmerge.h5', '--format', 'speedscope', '--rank', '0'],
             '--format speedscope writes the stacks of all ranks and times: leave out --rank, --from '
             'and --to'),
            (['tmerge.h5', '--time', 'host'], '--time is only for folded and speedscope'),
            (['tmerge.h5', '--format', 'folded', '--time', 'all'],
             "--time takes host or device, not 'all'"),
            (['tmerge.h5', '--rank', '7'], '--rank: the store has no rank 7, but 0'),
            (['tmerge.h5', '--from', '2', '--to', '1'], '--from must be before --to'),
            (['tmerge.h5', '--from', '1', '--to', '1'], '--from must be before --to'),
            (['tmerge.h5', '--format', 'archive', '--to', '1'],
             '--format archive writes whole traces to a file: leave out --from, --to and -o -'),
            (['tmerge.h5', '--format', 'archive', '-o', '-'],
             '--format archive writes whole traces to a file: leave out --from, --to and -o -')]:
        tmerge('export', *arguments).fails(2, message)
    for form, ending in ENDINGS.items():  # the ending decides
        tmerge('export', 'tmerge.h5', '-o', 'x' + ending).expect(0)
        tmerge('export', 'tmerge.h5', '--format', form, '-o', 'y' + ending).expect(0)
        equal(content('x' + ending), content('y' + ending))
        os.unlink('x' + ending), os.unlink('y' + ending)
    for text in ('', '-', '1e3', '1.0000000001', '.5', '9999999999'):
        tmerge('export', 'tmerge.h5', '--from', text).fails(
            2, f"--from takes seconds from the job's start, such as 1.5, not '{text}'")
    tmerge('export', 'none.h5').expect(3)
    os.unlink('rank0.json')
    tmerge('export', 'tmerge.h5', '--format', 'archive').fails(
        3, 'rank0.json: cannot be opened: No such file or directory')
    equal(files(), ['tmerge.h5'])


def test_what_is_no_earlier_export_is_not_overwritten():
    os.mkdir('a')
    merged(put('rank0.json', small_trace(0)), '-o', 'a/b.h5')
    for form, ending in ENDINGS.items():
        name = 'a/b' + ending
        for other in (b'mine\n', b''):
            put(name, other)
            tmerge('export', 'a/b.h5', '--format', form).fails(
                4, f'{name}: this file is not an earlier export of this format; --force overwrites it')
            equal(content(name), other)
        tmerge('export', 'a/b.h5', '--format', form, '--force').expect(0)
        first = content(name)
        holds(first != other, 'written')
        tmerge('export', 'a/b.h5', '--format', form).expect(0)
        equal(content(name), first, 'an earlier export')
    for form in ENDINGS:
        tmerge('export', 'a/b.h5', '--format', form, '-o', 'a/b.h5', '--force').fails(
            4, 'a/b.h5: this file is the store')
    os.mkdir('folder')
    tmerge('export', 'a/b.h5', '-o', 'folder').fails(4, 'folder: this is a folder')
    tmerge('export', 'a/b.h5', '-o', 'none/x').fails(
        4, 'none/x: no file can be made in its folder: No such file or directory')


def test_a_disk_that_is_full_leaves_nothing():
    store = made(steps=1)
    before = files()
    for form in ('perfetto', 'chrome', 'csv', 'archive'):
        for env in (NAMELESS, NAMED):
            done = tmerge('export', store, '--format', form, '-o', 'x', env=env,
                          before=limited(20000))
            done.fails(4, 'x: cannot be written: File too large')
            equal(files(), before)
    done = run(['sh', '-c', f'"$0" export {store} --format csv -o - >/dev/full', TMERGE])
    done.fails(4, 'standard output: cannot be written: No space left on device')


@seldom
def test_an_export_that_is_interrupted_leaves_nothing():
    store = made(steps=12)
    shutil.copy(store, 'tmerge.h5')
    os.mkdir('out')
    for number, env in ((signal.SIGINT, NAMELESS), (signal.SIGTERM, NAMED)):
        launched, _ = while_writing(0, sends(number, 0), 'export', store, '--format', 'csv',
                                    '-o', 'out/tmerge.h5', env=env)
        equal(launched.returncode in (-number, 128 + number), True, launched.returncode)
        equal(files('out'), [])


if __name__ == '__main__':
    main()
