"""NCCL's inspector: its files by themselves, and together with Kineto and Nsight Systems traces of
the same communicator. tmerge-synth simulates these jobs and shares no code with the readers."""
import json
import os
import shutil

from common import contains, content, equal, holds, lacks, main, merged, put, rows, synth, tmerge
from inspector import record

START = 1_800_000_000_000_000  # us
WORLD = 0x33548c24002a1c2d
COMES = (0, 20, 400, 10)  # arrival of each rank at an operation, in us after the first
SLOW = dict(ranks=4, ranks_per_host=2, steps=8, offset_us=500, slow_rank=2, slow_factor=1.3, seq=True)


def write_alone(folder, verbose=True, size=4, offset=(0, 0, 700, 700), operations=30):
    """Every 3 ms all ranks arrive at an all-reduce of 10 MB, which takes 1 ms from the last
    arrival; the clock of the second host is ahead."""
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
    # 10 MB in 1 ms are 10 GB/s; times 2 (4 - 1) / 4 for the bus bandwidth
    equal((kind['count'], kind['bytes'], round(kind['algbw_gbps'], 1), round(kind['busbw_gbps'], 1)),
          (30, 10_000_000, 10.0, 15.0), 'bandwidth')
    equal(kind['group'], '33548c24002a1c', 'of the 16 digits NCCL writes 14')
    contains(done.out, 'Rank 2 (node1) makes the other ranks wait')
    contains(done.out, 'Only communication is recorded')
    for word in ('compute ', 'idles', 'overlap', 'GPU time: '):
        lacks(done.out, word)
    for row in rows('tmerge.h5', 'overlap.rank'):
        equal([row[name] for name in ('compute_ns', 'idle_ns', 'overlap_ns', 'exposed_comm_ns')], [None] * 4)
    # The 40 us before a kernel may be computation: nothing shows what a fix saves.
    equal(rows('tmerge.h5', 'whatif.item'), [], 'savings')
    equal(rows('tmerge.h5', 'overview.rank') + rows('tmerge.h5', 'idle.rank'), [], 'rows of what is not known')


def change(path, at, old, new):
    lines = content(path).decode().splitlines(keepends=True)
    lines[at] = lines[at].replace(old, new) if old else lines[at][:new] + '\n'
    put(path, ''.join(lines).encode())


def test_a_record_that_is_odd_or_damaged_costs_no_other():
    # Each time rank 1 loses one of its 30 operations, whether in its first line or not.
    huge = '"coll_exec_time_us":18446744073709551615,"was":'
    for at, old, new in ((0, '"coll_exec_time_us":', huge), (4, '"coll_exec_time_us":', huge), (4, '', 200),
                         (0, '', 200), (4, '{"header"', '\0' * 512 + '{"header"'), (4, '{"header"', 'NCCL INFO')):
        write_alone('job')
        change('job/node0-pid101.log', at, old, new)
        said = ' '.join(tmerge('job', '-o', 'odd.h5').expect(0).out.split())
        contains(said, '29 of 30 collectives complete (1 lacks ranks)')
        contains(said, "(1 of 120; rank 1): lines of NCCL's inspector that are damaged")
        equal([row['events'] for row in rows('odd.h5', 'job.rank')], [30, 29, 30, 30])


def test_a_file_that_holds_no_record_yet_is_left_out():
    for size, why in (0, 'file is empty'), (100, 'the file ends in its first record'):
        write_alone('job')
        put('job/node0-pid101.log', content('job/node0-pid101.log')[:size])
        contains(tmerge('job', '-o', 'cut.h5').expect(0).out, 'left out: node0-pid101.log')
        row, = rows('cut.h5', 'job.left_out')
        equal(row['reason'], 'unreadable')
        contains(row['message'], why)


def test_a_run_of_another_day_beside_the_job_is_said():
    for rank in range(2):
        for day, world in (0, WORLD), (1, WORLD ^ 1 << 60):
            at = START + day * 86400 * 10**6
            put(f'job/node0-pid{100 * day + rank}.log', ''.join(
                record(world, rank, 2, 'AllReduce', i, 10_000_000, at + 3000 * i, at + 3000 * i + 1000)
                for i in range(10)).encode())
    contains(' '.join(tmerge('job', '-o', 'days.h5').expect(0).out.split()),
             'recordings that share no communicator with an earlier recording of their rank')
    write_alone('part')
    put('part/old.log', content('part/node0-pid101.log'))
    contains(tmerge('part').expect(3).err, 'another trace has the same rank in its communicator at the same time')


def test_a_process_of_several_gpus_counts_what_it_cannot_place_once():
    lines = []
    for i in range(10):
        for r in range(4):
            at = START + 3000 * i
            lines += [record(WORLD, r, 4, 'AllReduce', i, 10_000_000, at, at + 1000),
                      record(1 + r // 2 << 60, r % 2, 2, 'AllGather', i, 10_000_000, at + 1500, at + 2000)]
    put('node7-pid144.log', ''.join(lines).encode())
    done = tmerge('node7-pid144.log', '-o', 'gpus.h5').expect(0)
    contains(done.out, '(40 of 80; rank 0): operations of smaller communicators')


FUNCTIONS = {'allreduce': 'AllReduce', 'allgather': 'AllGather', '_allgather_base': 'AllGather',
             'reduce_scatter': 'ReduceScatter', '_reduce_scatter_base': 'ReduceScatter'}
BYTES = {'BFloat16': 2, 'Float': 4, 'Long': 8}


def write_from(trace, path, pid, before=100):
    """Writes the inspector's file of a rank from its Kineto trace: active since `before` operations
    earlier, without operations below 8 KiB."""
    with open(trace, encoding='utf-8') as file:
        reported = json.load(file)
    rank, base, n, lines = reported['distributedInfo']['rank'], reported['baseTimeNanoseconds'] // 1000, {}, []
    kernels = [e for e in reported['traceEvents'] if e.get('cat') == 'kernel' and 'Collective name' in e['args']]
    for e in sorted(kernels, key=lambda e: e['ts']):
        args = e['args']
        function, size = FUNCTIONS[args['Collective name']], args['Group size']
        nbytes = args['In msg nelems'] * BYTES[args['dtype']]
        n[function] = n.get(function, before) + 1
        begin = round(e['ts']) + base
        if nbytes >= 8192:
            lines.append(record(WORLD, rank, size, function, n[function], nbytes, begin,
                                begin + round(e['dur']), seen=(7, 2), host=reported['host_name'], pid=pid))
    put(path, ''.join(lines).encode())


def check_mixed(expected, *paths):
    """Waits equal those of the same job with Kineto traces of all ranks, except for the inspector's
    resolution of microseconds."""
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
    contains(done.out, '(without 2 ranks that recorded only communication)')
    lacks(done.out, 'look at its GPU')  # rank 2's compute is unknown
    check_mixed(expected, *(f'{"kn"[r % 2]}/profile_rank_{r}.{("json", "sqlite")[r % 2]}' for r in range(4)))
    # a rank with a trace does not need the inspector's file
    write_from('k/profile_rank_0.json', 'i/host0-pid40.log', 40)
    check_mixed(expected, *(f'k/profile_rank_{r}.json' for r in (0, 1)), 'i')
    equal([(os.path.basename(row['source']), row['reason']) for row in rows('mixed.h5', 'job.left_out')],
          [('host0-pid40.log', 'covered')])


def test_what_does_not_tell_times_or_ranks_is_refused_with_the_way_out():
    write_alone('quiet', verbose=False)
    tmerge('quiet').fails(3, 'quiet/node0-pid100.log: these records do not say when operations ran, so '
                          'tmerge cannot make a timeline of them: record with NCCL_INSPECTOR_DUMP_VERBOSE=1 '
                          '(perf_summary_exporter.py of NCCL\'s inspector sums the bandwidths)')
    write_alone('halves', size=2)  # two files are rank 0, and two are rank 1
    done = tmerge('halves').expect(3)
    contains(done.err, 'another trace has the same rank in its communicator at the same time')
    shutil.rmtree('halves')
    write_alone('halves', size=2)
    merged(*(f'halves/node{r // 2}-pid{100 + r}.log' for r in range(4)), '--rank-map',
           put('map', ''.join(f'halves/node{r // 2}-pid{100 + r}.log {r}\n' for r in range(4)).encode()))


if __name__ == '__main__':
    main()
