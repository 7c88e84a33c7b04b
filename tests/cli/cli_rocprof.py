"""Traces of rocprofv3: processes and GPUs as ranks, what is copied of them, and what is said where
collectives cannot be matched."""
import json

from common import contains, content, equal, holds, lacks, main, merged, put, rows, same_bytes, tmerge, unranked

GPU = 71  # handle of the host's first GPU
SECRET = 'hunter2'
STRINGS = {'buffer_records': [{'kind': 'NONE', 'operations': []},
                              {'kind': 'KERNEL_DISPATCH', 'operations': ['NONE', 'COMPLETE']}],
           'marker_api': []}
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


def trace(*processes):
    return json.dumps({'rocprofiler-sdk-tool': processes})


def test_processes_and_their_gpus_are_ranks():
    """One file of two processes, of which the second drives two GPUs."""
    put('9_results.json', trace(process(9, [dispatch(0, 'gemm', 1000, 1500)]),
                                process(10, [dispatch(2, 'gemm', 1100, 1700),
                                             dispatch(1, 'gemm', 1200, 1400)])))
    done = tmerge('9_results.json', '-o', 't.h5').expect(0)
    contains(done.err, '3 of 3 traces tell no rank')
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
    """Kernels of two ranks that end at times of their own prove nothing."""
    for rank in 0, 1:
        put(f'rank{rank}_results.json', trace(process(9 + rank, [
            dispatch(rank, NAMES[1], at, at + 500 + 40 * rank * (at % 7))
            for at in range(1000, 90000, 3000)])))
    done = merged('rank0_results.json', 'rank1_results.json', '-o', 't.h5')
    contains(done.out, 'could not be matched')
    contains(done.out, 'torch.profiler writes metadata')
    lacks(done.out, 'newer')
    holds(all(len(line) <= 79 for line in done.out.splitlines()), done.out)


main()
