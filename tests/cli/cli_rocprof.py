"""rocprofv3 traces, JSON and databases (rocpd): processes and GPUs as ranks, their data, and
messages if collectives cannot be matched."""
import glob
import gzip
import json
import os
import sqlite3

import rocpd
from common import (SHARED, Skip, contains, content, equal, gzipped, holds, lacks, main, merged,
                    put, rows, same_bytes, seldom, tables, tmerge, unranked)

GPU = 71  # handle of the host's first GPU
SECRET = 'hunter2'
STRINGS = {'buffer_records': [{'kind': 'NONE', 'operations': []},
                              {'kind': 'KERNEL_DISPATCH', 'operations': ['NONE', 'COMPLETE']},
                              {'kind': 'HIP_RUNTIME_API_EXT', 'operations': ['hipLaunchKernel',
                                                                             'hipMemcpyAsync']},
                              {'kind': 'MARKER_CORE_RANGE_API', 'operations': ['roctxMarkA',
                                                                               'roctxThreadRangeA']},
                              {'kind': 'RCCL_API', 'operations': ['ncclAllReduce']},
                              {'kind': 'MEMORY_COPY', 'operations': [
                                  f'MEMORY_COPY_{way}' for way in (
                                      'NONE', 'HOST_TO_DEVICE', 'DEVICE_TO_HOST', 'DEVICE_TO_DEVICE')]},
                              {'kind': 'MEMORY_ALLOCATION', 'operations': ['MEMORY_ALLOCATION_ALLOCATE',
                                                                           'MEMORY_ALLOCATION_FREE']},
                              {'kind': 'SCRATCH_MEMORY', 'operations': ['SCRATCH_MEMORY_ALLOC']}],
           'marker_api': []}
DISPATCH, HIP, MARKER, RCCL, COPY, MEMORY, SCRATCH = range(1, 8)  # indices of these kinds
NAMES = ['gemm', 'ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)']


def dispatch(gpu, name, begin, end, stream=0):
    return {'kind': 1, 'operation': 1, 'thread_id': 9,
            'correlation_id': {'internal': begin, 'external': 0},
            'start_timestamp': begin, 'end_timestamp': end, 'stream_id': {'handle': stream},
            'dispatch_info': {'agent_id': {'handle': GPU + gpu}, 'queue_id': {'handle': 1},
                              'kernel_id': NAMES.index(name), 'workgroup_size': {'x': 64, 'y': 1, 'z': 1},
                              'grid_size': {'x': 64, 'y': 1, 'z': 1}}}


def process(pid, dispatches):
    return {'metadata': {'node': {'hostname': 'node1'}, 'pid': pid, 'command': ['train', SECRET],
                         'config': {'extra': SECRET}},
            'agents': [{'id': {'handle': GPU + i}, 'type': 2, 'product_name': 'AMD Instinct MI350X',
                        'logical_node_type_id': i} for i in range(4)],
            'strings': STRINGS,
            'kernel_symbols': [{'kernel_id': i, 'formatted_kernel_name': name}
                               for i, name in enumerate(NAMES)],
            'buffer_records': {'kernel_dispatch': dispatches}}


def record(kind, operation, begin, end, cause=None, **more):
    """Returns any record but a dispatch; cause: its correlation id, if that is another record's."""
    return {'kind': kind, 'operation': operation, 'thread_id': 9, 'start_timestamp': begin,
            'end_timestamp': end, 'correlation_id': {'internal': cause or begin, 'external': 0}, **more}


def a_rank(rank, steps=3):
    """Returns a process with one GPU: each step of 1000 ns copies, launches and communicates."""
    made = process(40 + rank, [])
    made['agents'].append({'id': {'handle': GPU - 1}, 'type': 1, 'name': 'EPYC'})
    made['agents'][rank].update(cu_count=256, wave_front_size=64, mem_banks=[
        {'heap_type': 1, 'size_in_bytes': 309220868096}, {'heap_type': 0, 'size_in_bytes': 5}])
    made['strings'] = dict(STRINGS, marker_api=[])
    made['kernel_symbols'][0].update(kernel_name='gemm.kd', arch_vgpr_count=128, accum_vgpr_count=4)
    lists = made['buffer_records'] = {name: [] for name in (
        'kernel_dispatch', 'memory_copy', 'hip_api', 'marker_api', 'rccl_api', 'memory_allocation',
        'scratch_memory')}
    ends = {1: ('dst_agent_id', 'src_agent_id'), 2: ('src_agent_id', 'dst_agent_id')}
    for at in range(10000, 10000 + 1000 * steps, 1000):
        lists['marker_api'] += [record(MARKER, 1, at, at + 990), record(MARKER, 0, at + 5, at + 5)]
        made['strings']['marker_api'] += [{'key': at, 'value': f'train step {at // 1000}'},
                                          {'key': at + 5, 'value': 'begun'}]
        lists['hip_api'] += [record(HIP, 0, at + 10, at + 20), record(HIP, 0, at + 30, at + 40),
                             record(HIP, 1, at + 50, at + 60), record(HIP, 1, at + 70, at + 80)]
        lists['rccl_api'].append(record(RCCL, 0, at + 25, at + 45))
        for cause, name, begin, end in ((10, NAMES[0], 100, 300 + 50 * rank), (30, NAMES[1], 400, 600)):
            one = dispatch(rank, name, at + begin, at + end, stream=2)
            one['correlation_id']['internal'] = at + cause
            lists['kernel_dispatch'].append(one)
        for cause, way in ((50, 1), (70, 2)):
            lists['memory_copy'].append(record(
                COPY, way, at + 500 + cause, at + 520 + cause, cause=at + cause, bytes=4096,
                stream_id={'handle': 0}, **{ends[way][0]: {'handle': GPU + rank},
                                            ends[way][1]: {'handle': GPU - 1}}))
        lists['memory_allocation'] += [
            record(MEMORY, 0, at + 81, at + 83, address='0x7f0000', allocation_size=1 << 20,
                   agent_id={'handle': GPU + rank}),
            record(MEMORY, 1, at + 950, at + 952, address='0x7f0000', agent_id={'handle': 0})]
        lists['scratch_memory'].append(record(SCRATCH, 0, at + 85, at + 87,
                                              agent_id={'handle': GPU + rank}))
    return made


def trace(*processes):
    return json.dumps({'rocprofiler-sdk-tool': processes})


@seldom
def test_processes_and_their_gpus_are_ranks():
    """One file with two processes, the second of which drives two GPUs."""
    put('9_results.json', trace(process(9, [dispatch(0, 'gemm', 1000, 1500)]),
                                process(10, [dispatch(2, 'gemm', 1100, 1700),
                                             dispatch(1, 'gemm', 1200, 1400)])))
    done = tmerge('9_results.json', '-o', 't.h5').expect(0)
    contains(done.err, '3 of 3 traces have no rank')
    found = [(row['rank'], row['device'], row['host'], row['events'], row['begin_ns'])
             for row in rows('t.h5', 'job.rank')]
    equal(found, [(0, 0, 'node1', 1, 1000), (1, 1, 'node1', 1, 1200), (2, 2, 'node1', 1, 1100)])
    equal({row['domain'] for row in rows('t.h5', 'clock.rank')}, {0}, 'they share the clock')
    holds(SECRET.encode() not in content('t.h5'), 'the command line is in the store')
    tmerge('9_results.json', '-o', '2.h5', n=2).expect(0)
    same_bytes('t.h5', '2.h5')


def test_traces_that_tell_no_rank_are_numbered_by_their_paths():
    """A shell lists 1001 before 908."""
    for pid in 1001, 908:
        put(f'{pid}_results.json', trace(process(pid, [dispatch(0, 'gemm', pid, 1500)])))
    done = tmerge('1001_results.json', '908_results.json', '-o', 't.h5', n=2).expect(0)
    equal(done.ours, [unranked(2, 2, 'from 0 in the order of paths and devices')])
    equal([(row['rank'], row['begin_ns']) for row in rows('t.h5', 'job.rank')], [(0, 908), (1, 1001)])


def test_what_would_tell_groups_is_not_said_of_another_profiler():
    """Kernels of two ranks with unrelated ends prove nothing."""
    for rank in 0, 1:
        put(f'rank{rank}_results.json', trace(process(9 + rank, [
            dispatch(rank, NAMES[1], at, at + 500 + 40 * rank * (at % 7))
            for at in range(1000, 90000, 3000)])))
    done = merged('rank0_results.json', 'rank1_results.json', '-o', 't.h5')
    contains(done.out, 'could not be matched')
    contains(done.out, 'torch.profiler writes metadata')
    lacks(done.out, 'newer')
    holds(all(len(line) <= 79 for line in done.out.splitlines()), done.out)


def without_form(store):
    """Returns all tables of a store, without file names and formats."""
    found = tables(store)
    equal(len(found.pop('job.format')), 1)
    for name in 'job.rank', 'job.remark':
        for row in found[name]:
            row.pop('source')
            row.pop('format', None)
    return found


@seldom
def test_a_database_tells_what_the_json_does():
    """One file per process, as the profiler writes them; rocpd.py makes the databases."""
    for rank in 0, 1:
        put(f'{40 + rank}_results.json', trace(a_rank(rank)))
        rocpd.write(f'{40 + rank}_results.db', a_rank(rank))
    for form, n in ('json', 0), ('db', 0), ('db', 2), ('db', 3):
        tmerge(*glob.glob(f'*.{form}'), '-o', f'{form}{n}.h5', n=n).expect(0)
    equal(without_form('db0.h5'), without_form('json0.h5'))
    for n in 2, 3:
        same_bytes('db0.h5', f'db{n}.h5')
    # Each rank: 3 steps of a gemm (200 and 250 ns), an all-reduce of 200 ns, 2 copies of 20 ns.
    kernels = {row['name']: (row['calls'], row['total_ns']) for row in rows('db0.h5', 'kernels.kernel')}
    equal(kernels, {NAMES[0]: (6, 3 * 200 + 3 * 250), NAMES[1]: (6, 6 * 200)})
    with sqlite3.connect('40_results.db') as db:
        equal(db.execute('SELECT count(*), sum("end" - start) FROM rocpd_kernel_dispatch').fetchall(),
              [(6, 3 * 200 + 3 * 200)])


def test_the_json_of_a_recording_is_left_out_beside_its_database():
    for rank in 0, 1:
        put(f'job/{40 + rank}_results.json.gz', gzipped(trace(a_rank(rank)).encode()))
        rocpd.write(f'job/{40 + rank}_results.db', a_rank(rank))
    put('job/42_results.json', trace(a_rank(2)))
    tmerge('job', '-o', 't.h5').expect(0)
    equal([row['source'] for row in rows('t.h5', 'job.rank')],
          ['job/40_results.db', 'job/41_results.db', 'job/42_results.json'])
    for rank in 0, 1:  # the profiler's folders for two hosts
        put(f'out/host{rank}/{40 + rank}_results.db', content(f'job/{40 + rank}_results.db'))
    tmerge('out', '-o', 't.h5').expect(0)
    equal(len(rows('t.h5', 'job.rank')), 2)


@seldom
def test_a_real_trace_tells_the_same_as_a_database():
    found = glob.glob(os.path.join(SHARED, 'traces', 'rocprof', '908_results.json.gz'))
    if not found:
        raise Skip('no shared traces')
    with gzip.open(found[0]) as file:
        rocpd.write('908_results.db', *json.load(file)['rocprofiler-sdk-tool'])
    tmerge(found[0], '-o', 'json.h5').expect(0)
    tmerge('908_results.db', '-o', 'db.h5').expect(0)
    equal(without_form('db.h5'), without_form('json.h5'))


def test_a_database_names_the_rank_by_the_environment_of_its_process():
    """In one file, as rocpd merges them; no other part of the environment is copied."""
    rocpd.write('job.db', a_rank(0), a_rank(1), environment=[
        {'RANK': str(5 - i), 'WORLD_SIZE': '8', 'TOKEN': SECRET} for i in (0, 1)])
    merged('job.db')
    equal([(row['rank'], row['device'], row['begin_ns']) for row in rows('tmerge.h5', 'job.rank')],
          [(4, 1, 10000), (5, 0, 10000)])
    holds(SECRET.encode() not in content('tmerge.h5'), 'the environment is in the store')


def test_a_database_that_cannot_be_read_ends_with_the_file_and_the_reason():
    for version, said in ('4', '4'), ('4.1.0', '4.1.0'), ('3.0.5', None):
        rocpd.write('9.db', a_rank(0), version=version)
        done = tmerge('9.db')
        if said:
            done.fails(3, f'9.db: the schema of this rocpd database is version {said}, but tmerge reads '
                          'version 3: give the JSON of rocprofv3 --output-format json')
        else:
            done.expect(0)
    whole = content('9.db')
    put('9.db', whole[:len(whole) // 2])
    tmerge('9.db').fails(3, f'9.db: byte {len(whole) // 2}: this database ends too early: {len(whole) // 2} '
                            f'of {len(whole)} bytes are there')
    put('9.db', whole[:8192] + bytes(len(whole) - 8192))
    contains(tmerge('9.db').expect(3).err, '9.db: SQLite cannot read it: database disk image is malformed')
    put('9.db', gzipped(whole))
    tmerge('9.db').fails(3, '9.db: a compressed database cannot be read: decompress it first')
    put('9.db', whole)
    with sqlite3.connect('9.db') as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE name GLOB 'rocpd_info_process_*'"):
            db.execute(f'DELETE FROM "{table}"')
    tmerge('9.db').fails(3, '9.db: this rocpd database names no process, so writing it was not completed')


main()
