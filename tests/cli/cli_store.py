"""The store as read by others: the HDF5 tools with the plugin, h5py, and Python's json module as
the reference for its content."""
import glob
import gzip
import json
import os
import re
import shutil
import tarfile
from decimal import ROUND_HALF_UP, Decimal

from common import (BASE_NS, SHARED, SOURCE, Skip, contains, content, equal, event, files, holds, kernel,
                    lacks, main, merged, put, rows, run, seal, seldom, small_trace, synth, tables,
                    tmerge, trace)
from jobs import real_store, store as shared_store, use
from stores import Store
import h5py
import numpy

RECORDS = {'ranks', 'clock', 'spans', 'steps', 'tracks', 'events', 'launches', 'kernels', 'copies',
           'collective_events', 'memory', 'counters', 'shapes', 'waits', 'inputs', 'operators',
           'xla', 'unified', 'levels', 'metadata_text', 'metadata_lists', 'names'}
ALIASES = {'operator': 'cpu_op', 'python': 'python_function', 'runtime': 'cuda_runtime',
           'memcpy': 'gpu_memcpy', 'memset': 'gpu_memset', '': 'none'}
KINDS = {'X': 'duration', 'i': 'instant', 'I': 'instant', 'C': 'counter'}

# Reading ------------------------------------------------------------------------------------------


def stored_events(path):
    """Returns (process, thread, name, category, kind, begin, duration) of every event."""
    store = Store(path)
    found, first = [], 0
    rows_of = list(zip(store.texts('events/name'), store.words('events/category'),
                       store.words('events/kind'), store['events/begin_ns'].tolist(),
                       store['events/duration_ns'].tolist()))
    for count, *ids in zip(store['tracks/count'].tolist(), store.texts('tracks/pid'),
                           store.texts('tracks/tid')):
        found += [(*ids, *row) for row in rows_of[first:first + count]]
        first += count
    return sorted(found)


def nanoseconds(value):
    """Converts microseconds to exact nanoseconds, half away from zero; None for non-numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        return None
    return int((Decimal(value) * 1000).quantize(Decimal(1), ROUND_HALF_UP))


def expected_events(path, known):
    """Returns the same, read by Python's json module. known: the categories of the store."""
    opened = gzip.open if content(path)[:2] == b'\x1f\x8b' else open
    with opened(path, 'rt', encoding='utf-8') as file:
        document = json.load(file, parse_float=Decimal)
    events = document if isinstance(document, list) else document['traceEvents']
    base = 0 if isinstance(document, list) else document.get('baseTimeNanoseconds', 0)
    found = []
    for e in events:
        begin, duration = nanoseconds(e.get('ts')), nanoseconds(e.get('dur'))
        kind = KINDS.get(e.get('ph'))
        if kind is None or begin is None or (
                kind == 'duration' and (duration is None or duration < 0)):
            continue
        category = e['cat'].lower() if 'cat' in e else ''
        category = ALIASES.get(category, category)
        found.append((str(e.get('pid', '')), str(e.get('tid', '')), e.get('name', ''),
                      category if category in known else 'other', kind, begin + base,
                      duration if kind == 'duration' else 0))
    return sorted(found)


def same_events(path):
    """Merges one trace and compares it event by event with the json module."""
    tmerge(path, '-o', 'one.h5').expect(0)
    with h5py.File('one.h5') as store:
        known = set(h5py.check_enum_dtype(store['events/category'].dtype)) - {'other'}
    found, expected = stored_events('one.h5'), expected_events(path, known)
    for a, b in zip(found, expected):
        equal(a, b, f'an event of {path}')
    equal(len(found), len(expected), f'events of {path}')
    return len(found)


# Tests --------------------------------------------------------------------------------------------


@seldom
def test_every_event_of_real_traces_is_what_json_reads():
    found = sorted(glob.glob(os.path.join(SHARED, 'traces/kineto-tests/*/worker0.pt.trace.json')))
    for name in ('single/amd_mi250', 'single/mi210', 'single/cpu_only', 'single/rank_not_found',
                 'hta2/'):
        found += glob.glob(os.path.join(SHARED, 'traces', name + '*'))
    if not found:
        raise Skip('the real traces are not here')
    holds(sum(same_events(path) for path in found) > 1000, 'too few events')


def stored_waits(path):
    """Returns (event, kind, stream, on_stream, call, record) of waits, rows as (begin, name)."""
    store = Store(path)
    place = dict(enumerate(zip(store['events/begin_ns'].tolist(), store.texts('events/name'))))
    columns = ('event', 'stream', 'on_stream', 'call', 'record')
    return sorted(((place[event], kind, *streams, place.get(call), place.get(record))
                   for kind, (event, *streams, call, record) in
                   zip(store.words('waits/kind'), store.rows('waits', *columns))), key=str)


def expected_waits(path):
    """Returns the same, read from the trace by Python's json module."""
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        events = json.load(file, parse_float=Decimal)['traceEvents']
    calls = {e['args']['correlation']: (nanoseconds(e['ts']), e['name']) for e in events
             if e.get('cat') == 'cuda_runtime'}
    found = []
    for e in (e for e in events if e.get('cat') == 'cuda_sync'):
        args = e['args']
        kind = args['cuda_sync_kind'].lower().replace(' ', '_').replace('wait_event', 'wait')
        stream = -1 if args['stream'] == 2**32 - 1 else args['stream']
        pair = (-1, stream) if kind == 'stream_sync' else (stream, args.get('wait_on_stream', -1))
        found.append(((nanoseconds(e['ts']), e['name']), kind, *pair, *(
            calls.get(args.get(key)) for key in
            ('correlation', 'wait_on_cuda_event_record_corr_id'))))
    return sorted(found, key=str)


@seldom
def test_waits_of_real_traces_are_what_json_reads():
    for name, n in (('event_sync_trace', 5), ('simple_add_cuda_sync', 41)):
        path = os.path.join(SHARED, f'traces/single/{name}.json.gz')
        if not os.path.exists(path):
            raise Skip('the real traces are not here')
        merged(path, '-o', 'one.h5', '--force')
        found = stored_waits('one.h5')
        equal(len(found), n)
        equal(found, expected_waits(path), name)
        tmerge('check', 'one.h5').expect(0)
        merged(path, '-o', 'again.h5', '--force')
        tmerge('analyze', 'again.h5').expect(0)
        equal(stored_waits('again.h5'), found)


def test_h5dump_lists_the_groups_and_prints_values_with_the_plugin():
    for rank in (3, 5):
        put(f'rank{rank}.json', small_trace(rank))
    merged('rank3.json', 'rank5.json')
    listed = run(['h5dump', '-H', 'tmerge.h5']).expect(0).out
    equal(set(re.findall(r'^   GROUP "(\w+)"', listed, re.M)), RECORDS | {'analysis'})
    found = re.findall(r'^ {6}GROUP "(\w+)"', listed[listed.index('"analysis"'):], re.M)
    holds({'job', 'overlap', 'imbalance'} <= set(found), str(found))
    dump = ['h5dump', '-d', '/ranks/rank', '-d', '/events/duration_ns', 'tmerge.h5']
    done = run(dump)  # only its output counts, as its status is 0 even if it could not read
    contains(done.out, '(0): 3, 5\n')
    contains(done.out, '(0): 50000, 10000, 50000, 10000\n')
    os.mkdir('nothing')
    lacks(run(dump, env={'HDF5_PLUGIN_PATH': os.path.abspath('nothing')}).out, '50000')


def test_h5py_reads_events_names_and_tracks():
    of_rank = trace([kernel('gemm', 100, 50),
                     event('aten::mm', 'cpu_op', 90, 20, pid=77, tid=78),
                     {'ph': 'M', 'name': 'thread_name', 'pid': 77, 'tid': 78,
                      'args': {'name': 'main'}}], 4, world=9)
    put('rank4.json', json.dumps({**json.loads(of_rank), 'ids': [4, 5]}))
    merged('rank4.json')
    store = Store('tmerge.h5')
    equal(store.names[0], '')
    equal([event[:5] for event in store.events()[4]],
          [('kernel', BASE_NS + 100000, 50000, 'gemm', '7'),
           ('cpu_op', BASE_NS + 90000, 20000, 'aten::mm', '78')])
    equal(store.words('events/role'), ['compute', 'none'])
    equal(list(zip(store.words('tracks/kind'), store.rows('tracks', 'rank', 'device', 'stream'))),
          [('gpu', (4, 0, 7)), ('cpu', (4, -1, -1))])
    equal(store.texts('tracks/thread_name'), ['', 'main'])
    equal(store.rows('ranks', 'rank', 'world_size'), [(4, 9)])
    metadata = json.loads(bytes(store['metadata_text/bytes']))
    equal(metadata['distributedInfo'], {'rank': 4, 'world_size': 9})
    equal((metadata['ids'], store.texts('metadata_lists/list')), ('@list 0', ['[4, 5]']))


def check_structure(path):
    """Checks beyond tmerge check: of equal begins the longer event is first; a launch is a runtime
    event of the same rank and correlation; steps belong to the rank; names are unique."""
    tmerge('check', path).expect(0)
    store = Store(path)
    begin, duration = store['events/begin_ns'], store['events/duration_ns']
    for first, n in store.rows('tracks', 'first', 'count'):
        own, lasts = begin[first:first + n], duration[first:first + n]
        holds((lasts[:-1] >= lasts[1:])[own[1:] == own[:-1]].all(), 'the longer is not first')
    equal([row['events'] for row in rows(path, 'job.rank')], store['ranks/n_events'].tolist())
    equal(rows(path, 'job.job')[0]['events'], len(begin))
    launch, category = store['events/launch'], numpy.array(store.words('events/category'))
    linked = numpy.flatnonzero(launch >= 0)
    owner = numpy.repeat(store['ranks/rank'], store['ranks/n_events'])
    holds((owner[linked] == owner[launch[linked]]).all(), 'a launch is of another rank')
    holds(set(category[launch[linked]]) <= {'cuda_runtime', 'cuda_driver'}, 'no runtime event')
    correlation = numpy.zeros(len(begin), numpy.int64)
    for table in ('launches', 'kernels', 'copies'):
        correlation[store[f'{table}/event']] = store[f'{table}/correlation']
    gpu = linked[numpy.isin(category[linked], ('kernel', 'gpu_memcpy', 'gpu_memset'))]
    holds((correlation[gpu] == correlation[launch[gpu]]).all(), 'correlations differ')
    step = store['events/step']
    holds((owner[step >= 0] == store['steps/rank'][step[step >= 0]]).all(), 'steps')
    equal(len(set(store.names)), len(store.names), 'different names')
    return len(linked), int((begin[launch[linked]] > begin[linked]).sum())


def test_tracks_launches_and_counts_agree():
    for store, most in ((shared_store('plain'), 0), (real_store(), 0.01)):
        linked, early = check_structure(store)
        holds(linked > 1000 and early <= most * linked, f'{early} of {linked} before their launch')


def test_a_store_without_compression_has_the_same_values():
    use('two')
    merged('job', '-o', 'packed.h5')
    merged('job', '-o', 'plain.h5', '--no-compress')
    with h5py.File('packed.h5') as packed, h5py.File('plain.h5') as plain:
        values = {}
        for store in (packed, plain):
            store.visititems(lambda name, thing: values.setdefault(name, []).append(
                thing[()].tobytes() if isinstance(thing, h5py.Dataset) else ''))
        for name, pair in values.items():
            holds(len(pair) == 2 and pair[0] == pair[1], f'/{name} differs')
        for store, filters in ((packed, [2, 32015]), (plain, [])):
            made = store['events/begin_ns'].id.get_create_plist()
            equal([made.get_filter(i)[0] for i in range(made.get_nfilters())], filters)
        equal(dict(packed.attrs), dict(plain.attrs))
    holds(os.stat('packed.h5').st_size < os.stat('plain.h5').st_size, 'nothing was compressed')


def test_the_schema_says_what_everything_is():
    put('rank0.json', small_trace(0, world=2))
    merged('rank0.json')
    version = tmerge('--version').out.split()[1]
    with h5py.File('tmerge.h5') as store:
        attributes = dict(store.attrs)
        equal((attributes['format'], attributes['schema_major'], attributes['tool_version'],
               attributes['ranks'], attributes['world_size']), ('tmerge', 1, version, 1, 2))
        contains(attributes['command'], 'rank0.json')
        nulls = dict(store['analysis'].attrs)
        equal((nulls['null_int'], nulls['null_bool'], nulls['null_text']), (-2**63, -1, ''))
        holds(numpy.isnan(nulls['null_real']), 'null_real')
        for group in RECORDS:
            holds(store[group].attrs['doc'], f'/{group} has no doc')
            for name, column in store[group].items():
                holds(column.attrs['doc'], f'/{group}/{name} has no doc')
                equal(column.attrs['unit'], 'ns' if name.endswith('_ns') else
                      column.attrs['unit'], f'unit of /{group}/{name}')
        for analysis in store['analysis'].values():
            for table in analysis.values():
                docs, units = (table.attrs[name].split('\n') for name in ('docs', 'units'))
                equal((len(docs), len(units)), (len(table.dtype.names),) * 2, table.name)
                for column, doc, unit in zip(table.dtype.names, docs, units):
                    holds(doc, f'{table.name} {column} has no doc')
                    equal(unit == 'ns', column.endswith('_ns'), column)


def test_result_tables_in_the_store_are_what_show_tells():
    path = shared_store('three')
    with h5py.File(path) as store:
        for name in ('overlap.rank', 'overlap.step', 'job.rank'):
            table = store['analysis/' + name.replace('.', '/')][()]
            shown = rows(path, name)
            equal(len(table), len(shown), name)
            for column in table.dtype.names:
                for value, row in zip(table[column].tolist(), shown):
                    null = value in (-2**63, b'') or value != value
                    expected = None if null else value.decode() if isinstance(
                        value, bytes) else bool(value) if isinstance(row[column], bool) else value
                    equal(row[column], expected, f'{name} {column}')


def test_kernels_name_the_operation_that_they_are_matched_to():
    synth('job', ranks=8, steps=3, seed=5)
    merged('job', '--align=utc')  # so that recorded times are the job's
    store = Store('tmerge.h5')
    row, first_event = store['collective_events/event'], store['ranks/first_event']
    rank = store['ranks/rank'][numpy.searchsorted(first_event, row, 'right') - 1]
    begin, wait = store['events/begin_ns'][row], store['collective_events/wait_ns']
    operations = {}
    for i, place in enumerate(store.rows('collective_events', 'first_rank', 'first_event')):
        if place[0] >= 0:
            operations.setdefault(place, []).append(i)
    job, = rows('tmerge.h5', 'job.job')
    equal(len(operations), job['collectives'])
    waited, arrivals = [], {}
    for (first, event), members in operations.items():
        equal(rank[members].min(), first, 'the lowest rank')
        equal([row[i] for i in members if rank[i] == first], [first_event[first] + event])
        last = {begin[i] + wait[i] for i in members if wait[i] >= 0}
        if last:
            equal(last, {max(begin[i] for i in members)}, 'the last arrival')
            waited.append(sum(wait[i] for i in members))
            arrivals[min(begin[members])] = sorted(begin[members].tolist())
    worst = rows('tmerge.h5', 'collectives.worst')
    equal([w['wait_ns'] for w in worst], sorted(waited, reverse=True)[:100])
    shown = {}
    for a in rows('tmerge.h5', 'collectives.arrival'):
        shown.setdefault(a['instance'], []).append(a['begin_ns'])
    for w in worst:
        equal(sorted(shown[w['instance']]), arrivals[w['begin_ns']])


def test_stores_of_earlier_versions_are_read_or_refused_with_what_to_do():
    """Written by the last tmerge of each version, and by the first one of 1.0."""
    with tarfile.open(f'{SOURCE}/testdata/stores.tar.xz') as archive:
        archive.extractall()
    for rank in range(2):
        shutil.copy(f'{SOURCE}/testdata/odd_job_rank_{rank}.json', '.')
    tmerge('odd_job_rank_0.json', 'odd_job_rank_1.json', '-o', 'now.h5').expect(0)
    names = ('overlap', 'stragglers', 'collectives', 'clock', 'whatif', 'kernels', 'calls')
    for version in ('1_0', '1_1', '1_2', '1_3'):
        tmerge('check', f'store_{version}.h5').expect(0)
        tmerge('analyze', f'store_{version}.h5', '-o', 'new.h5').expect(0)
        equal(tables('new.h5', *names), tables('now.h5', *names), version)
    # Tables that became levels of another are read as these.
    equal(tables('store_1_3.h5', 'calls', 'kernels.launched'), tables('now.h5', 'calls', 'kernels.launched'))
    tmerge('show', 'store_1_0_first.h5').expect(0)
    tmerge('analyze', 'store_1_0_first.h5').fails(
        3, 'store_1_0_first.h5: the store has no column /ranks/n_spans: merge its traces again')


def test_a_newer_or_damaged_store_is_refused_by_name():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    shutil.copy('tmerge.h5', 'newer.h5')
    with h5py.File('newer.h5', 'r+') as store:
        store.attrs.modify('schema_major', 2)
    seal('newer.h5')
    tmerge('show', 'newer.h5').fails(
        3, 'newer.h5: the store has schema version 2.3, but this tmerge reads only 1.3 and older: '
        'use a newer tmerge')
    put('cut.h5', content('tmerge.h5')[:10000])
    tmerge('show', 'cut.h5').fails(3, 'cut.h5: the file is damaged: it was cut short')
    put('text.h5', 'no store')
    tmerge('show', 'text.h5').fails(3, 'text.h5: not a tmerge store')
    tmerge('show', 'missing.h5').fails(3, 'missing.h5: cannot be read: No such file or directory')
    tmerge('show', '.').fails(3, '.: not a tmerge store')
    tmerge('rank0.json', '-o', 'newer.h5').expect(0)  # a newer store may be replaced
    equal(files(), ['cut.h5', 'newer.h5', 'rank0.json', 'text.h5', 'tmerge.h5'])


main()
