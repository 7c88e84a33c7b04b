"""NCCL's inspector: its files by themselves, and beside traces of Kineto and Nsight Systems of the same
communicator. The jobs of these are simulated by tmerge-synth, which shares nothing with what reads them."""
import json
import os
import shutil

from common import contains, equal, holds, lacks, main, merged, put, rows, synth, tmerge
from inspector import record

START = 1_800_000_000_000_000  # us
WORLD = 0x33548c24002a1c2d
COMES = (0, 20, 400, 10)  # us after the first of its ranks that each comes to an operation
SLOW = dict(ranks=4, ranks_per_host=2, steps=8, offset_us=500, slow_rank=2, slow_factor=1.3, seq=True)


def write_alone(folder, verbose=True, size=4, offset=(0, 0, 700, 700), operations=30):
    """Every 3 ms all ranks come to an all-reduce of 10 MB, which takes 1 ms from when the last has come; the
    clock of the second host is ahead."""
    for rank in range(4):
        lines = []
        for i in range(operations):
            at = START + 3000 * i + offset[rank]
            lines.append(record(WORLD, rank % size, size, 'AllReduce', i, 10_000_000, at + COMES[rank],
                                at + 1400, seen=(20, 3), verbose=verbose, host=f'node{rank // 2}',
                                pid=100 + rank))
        put(f'{folder}/node{rank // 2}-pid{100 + rank}.log', ''.join(lines).encode())


def test_files_alone_tell_who_came_last_and_the_bandwidth_and_nothing_of_computation():
    write_alone('job')
    done = tmerge('job', '-o', 'tmerge.h5').expect(0)
    # 30 times 400 - 0, 400 - 20 and 400 - 10 us for rank 2
    for rank, wait in enumerate((12000, 11400, 0, 11700)):
        found = rows('tmerge.h5', 'stragglers.rank')[rank]['wait_ns'] / 1000
        holds(abs(found - wait) <= 60, f'rank {rank} waits {found} us, not {wait}')
    kind, = rows('tmerge.h5', 'collectives.kind')
    # 10 MB in 1 ms are 10 GB/s; times 2 (4 - 1) / 4 on each bus
    equal((kind['count'], kind['bytes'], round(kind['algbw_gbps'], 1), round(kind['busbw_gbps'], 1)),
          (30, 10_000_000, 10.0, 15.0), 'bandwidth')
    equal(kind['group'], '33548c24002a1c', 'of the 16 digits NCCL writes 14')
    contains(done.out, 'Rank 2 (node1) makes the other ranks wait')
    contains(done.out, 'Nothing but communication is recorded')
    for word in ('compute ', 'idles', 'overlap', 'GPU time: '):
        lacks(done.out, word)
    for row in rows('tmerge.h5', 'overlap.rank'):
        equal([row[name] for name in ('compute_ns', 'idle_ns', 'overlap_ns', 'exposed_comm_ns')], [None] * 4)
    equal(rows('tmerge.h5', 'overview.rank') + rows('tmerge.h5', 'idle.rank'), [], 'rows of what is not known')


FUNCTIONS = {'allreduce': 'AllReduce', 'allgather': 'AllGather', '_allgather_base': 'AllGather',
             'reduce_scatter': 'ReduceScatter', '_reduce_scatter_base': 'ReduceScatter'}
BYTES = {'BFloat16': 2, 'Float': 4, 'Long': 8}


def write_from(trace, path, pid, before=100):
    """What the inspector writes of a rank whose Kineto trace is given: it has been on since `before`
    operations earlier, and leaves out those below 8 KiB."""
    with open(trace, encoding='utf-8') as file:
        told = json.load(file)
    rank, base, n, lines = told['distributedInfo']['rank'], told['baseTimeNanoseconds'] // 1000, {}, []
    kernels = [e for e in told['traceEvents'] if e.get('cat') == 'kernel' and 'Collective name' in e['args']]
    for e in sorted(kernels, key=lambda e: e['ts']):
        args = e['args']
        function, size = FUNCTIONS[args['Collective name']], args['Group size']
        nbytes = args['In msg nelems'] * BYTES[args['dtype']]
        n[function] = n.get(function, before) + 1
        begin = round(e['ts']) + base
        if nbytes >= 8192:
            lines.append(record(WORLD, rank, size, function, n[function], nbytes, begin,
                                begin + round(e['dur']), seen=(7, 2), host=told['host_name'], pid=pid))
    put(path, ''.join(lines).encode())


def check_mixed(expected, *paths):
    """The ranks' waits are those of the job of which all ranks have traces of Kineto, but for the
    microseconds in which the inspector writes."""
    done = tmerge(*paths, '-o', 'mixed.h5').expect(0)
    found = rows('mixed.h5', 'stragglers.rank')
    equal([row['collectives'] for row in found], [row['collectives'] for row in expected], 'complete operations')
    for row, like in zip(found, expected):
        equal((row['rank'], row['last_arrivals']), (like['rank'], like['last_arrivals']))
        for name in ('wait_ns', 'caused_wait_ns'):
            holds(abs(row[name] - like[name]) <= 3000 * row['collectives'], f'{name}: {row} {like}')
    return done


def test_a_job_of_three_formats_is_one():
    synth('k', **SLOW)
    synth('n', format='nsys', **SLOW)
    merged('k', '-o', 'k.h5')
    with open('k/truth.json', encoding='utf-8') as file:
        slow = json.load(file)['config']['slow_rank']
    expected = rows('k.h5', 'stragglers.rank')
    write_from('k/profile_rank_2.json', 'i/host1-pid42.log', 42)
    write_from('k/profile_rank_3.json', 'i/host1-pid43.log', 43)
    done = check_mixed(expected, 'k/profile_rank_0.json', 'n/profile_rank_1.sqlite', 'i')
    contains(done.out, f'ank {slow} (host1) makes the other ranks wait')
    contains(done.out, 'of 2 ranks nothing but communication is recorded')
    lacks(done.out, 'look at its GPU')  # what rank 2 computes is not known
    check_mixed(expected, *(f'{"kn"[r % 2]}/profile_rank_{r}.{("json", "sqlite")[r % 2]}' for r in range(4)))
    # a rank with a trace has no use for the inspector's
    write_from('k/profile_rank_0.json', 'i/host0-pid40.log', 40)
    check_mixed(expected, *(f'k/profile_rank_{r}.json' for r in (0, 1)), 'i')
    equal([(os.path.basename(row['source']), row['reason']) for row in rows('mixed.h5', 'job.left_out')],
          [('host0-pid40.log', 'covered')])


def test_what_does_not_tell_times_or_ranks_is_refused_with_the_way_out():
    write_alone('quiet', verbose=False)
    tmerge('quiet').fails(3, 'quiet/node0-pid100.log: these records do not say when operations ran: '
                          'NCCL_INSPECTOR_DUMP_VERBOSE=1 has NCCL\'s inspector write it')
    write_alone('halves', size=2)  # two ranks are 0, and two are 1
    done = tmerge('halves').expect(3)
    contains(done.err, 'which rank of the job it is stands nowhere')
    shutil.rmtree('halves')
    write_alone('halves', size=2)
    merged(*(f'halves/node{r // 2}-pid{100 + r}.log' for r in range(4)), '--rank-map',
           put('map', ''.join(f'halves/node{r // 2}-pid{100 + r}.log {r}\n' for r in range(4)).encode()))


if __name__ == '__main__':
    main()
