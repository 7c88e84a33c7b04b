"""Perfetto traces: jobs as PyTorch writes them, compared with its JSON of the same job, and packets
made by hand from Perfetto's protos for other writers."""
import glob
import gzip
import os
import zlib

import pftrace
from common import SHARED, Skip, contains, content, equal, gzipped, holds, main, merged, put, rows, synth, tmerge
from pftrace import BEGIN, CLEARED, END, NEEDED, block, number, packet

DAY_NS = 1_700_000_000_000_000_000


def events(store):
    """Returns the exported events without those that PyTorch's .pftrace leaves out: allocations,
    and spans of the profiler itself."""
    tmerge('export', store, '--format=csv', '-o', store + '.csv').expect(0)
    lines = content(store + '.csv').decode().splitlines()
    spans = ',PyTorch Profiler', ',Iteration Start: PyTorch Profiler', ',Record Window End', ',[memory],'
    return sorted(line for line in lines if not any(span in line for span in spans))


def same_job(paths, forms=(False, True)):
    """A job's JSON, and the .pftrace made from it, give the same events, collectives and steps."""
    for number_, path in enumerate(paths):
        data = content(path) if not path.endswith('.gz') else gzip.open(path).read()
        document = pftrace.read(data)
        put(f'json/rank{number_}.json', data)
        for stages in forms:
            made = pftrace.of(document, stages)
            put(f'{stages}/rank{number_}.pftrace' + '.gz' * stages, gzipped(made) if stages else made)
    tmerge('json', '-o', 'json.h5').expect(0)
    for stages in forms:
        tmerge(str(stages), '-o', f'{stages}.h5').expect(0)
        found, expected = events(f'{stages}.h5'), events('json.h5')
        equal(sorted(set(found) - set(expected)), [], f'only in the trace, with stages: {stages}')
        equal(found, expected, f'events, with stages: {stages}')
        for table in ('steps.mark', 'collectives.instance', 'overlap.step', 'groups.group', 'kernels.kernel',
                      'launches.rank'):
            equal(rows(f'{stages}.h5', table), rows('json.h5', table), f'{table}, with stages: {stages}')


def test_a_job_of_pytorch_is_as_its_json_is():
    synth('job', ranks=2, steps=2, seq=True)
    same_job(sorted(glob.glob('job/*rank*')))


def test_a_real_job_is_as_its_json_is():
    found = sorted(glob.glob(os.path.join(SHARED, 'traces', 'megatron2', '*.json')))
    if not found:
        raise Skip('the real files are not here')
    same_job(found)


def slices(*packets, cut=None):
    """Returns (name, category, begin, duration, thread) of a trace's slices, from DAY_NS on."""
    put('t.pftrace', b''.join(packets)[:cut])
    tmerge('t.pftrace', '-o', 't.h5').expect(0)
    tmerge('export', 't.h5', '--format=chrome', '-o', 't.json').expect(0)
    document = pftrace.read(content('t.json'))
    base = document['baseTimeNanoseconds'] - DAY_NS
    found = [(e['name'], e.get('cat'), base + int(e['ts'] * 1000), int(e['dur'] * 1000), e['tid'])
             for e in document['traceEvents'] if e['ph'] == 'X']
    return sorted(found, key=lambda e: (e[2], -e[3]))


def thread(uuid, pid, tid, parent=0):
    return packet(block(60, number(1, uuid) + (number(5, parent) if parent else b'') +
                        block(4, number(1, pid) + number(2, tid))))


def at(time, event, *more, sequence=1):
    return packet(number(8, time), number(10, sequence), *more, block(11, event))


def begin(time, name, track=7, *more, sequence=1):
    return at(time, number(9, BEGIN) + number(11, track) + block(23, name), *more, sequence=sequence)


def end(time, track=7, sequence=1):
    return at(time, number(9, END) + number(11, track), sequence=sequence)


def test_threads_take_turns_in_a_file():
    # B step, B forward | B io | E forward, E step | E io: chunks of two threads, in one sequence or
    # two; forward runs within step, from 1200 to 1500 and from 1000 to 2000. Unknown fields are
    # ignored.
    new = number(200, 3)
    for other in 1, 2:
        equal(slices(packet(number(200, 1)), thread(7, 1, 2), thread(8, 1, 3), begin(DAY_NS + 1000, 'step', 7, new),
                     begin(DAY_NS + 1200, 'forward'), begin(DAY_NS + 900, 'io', 8, sequence=other),
                     end(DAY_NS + 1500), end(DAY_NS + 2000), end(DAY_NS + 950, 8, sequence=other)),
              [('io', None, 900, 50, 3), ('step', None, 1000, 1000, 2), ('forward', None, 1200, 300, 2)])


def test_a_trace_that_is_cut_short_is_read_as_far_as_it_goes():
    whole = thread(7, 1, 2) + b''.join(begin(DAY_NS + 10 * i, f'op{i * 7919}') + end(DAY_NS + 10 * i + 5)
                                       for i in range(3000))
    for name, data in ('rank0.pftrace', whole), ('rank0.pftrace.gz', gzipped(whole)):
        put(name, data[:len(data) // 2])
        put('rank1.pftrace', whole)
        merged(name, 'rank1.pftrace', '-o', 't.h5')
        found = [r['events'] for r in rows('t.h5', 'job.rank')]
        holds(1000 < found[0] < 2000 and found[1] == 3000, f'{name}: {found} events')
    # In a folder, a trace without events yet does not affect the job; by itself it is an error.
    for rank, data in enumerate((whole, whole, whole[:5], b'')):
        put(f'job/rank{rank}.pftrace', data)
    contains(tmerge('job', '-o', 't.h5').expect(0).out, '! 2 files left out; ')
    equal([(r['source'], r['message'].split(': ')[1]) for r in rows('t.h5', 'job.left_out')],
          [('job/rank2.pftrace', 'the file ends before its first event'), ('job/rank3.pftrace', 'file is empty')])
    contains(tmerge('job/rank2.pftrace').expect(3).err, 'the file ends before its first event')


def test_clocks_count_from_snapshots_and_packets():
    # Clock 64 of the sequence counts microseconds from the packet before, from 5 s of BOOTTIME on,
    # which is DAY_NS on the realtime clock. So a begins 10 us after DAY_NS; b, on BOOTTIME itself,
    # at 20 us; the packet of the track counts too, and moves a's end to 10 + 5 + 10 = 25 us.
    boot = 5_000_000_000
    clock = block(1, number(1, 64) + number(2, 1000) + number(3, 1) + number(4, 1000))
    clock += block(1, number(1, 6) + number(2, boot)) + block(1, number(1, 1) + number(2, DAY_NS))
    counts = block(59, number(58, 64))
    equal(slices(
        packet(number(10, 1), CLEARED, block(6, clock), counts), thread(7, 1, 2), thread(8, 1, 3),
        at(10, number(9, BEGIN) + number(11, 7) + block(23, 'a')),
        packet(number(8, 5), number(10, 1), block(60, number(1, 9))),
        at(boot + 20_000, number(9, BEGIN) + number(11, 8) + block(23, 'b'), number(58, 6)),
        at(boot + 20_500, number(9, END) + number(11, 8), number(58, 6)),
        at(10, number(9, END) + number(11, 7))),
        [('a', None, 10_000, 15_000, 2), ('b', None, 20_000, 500, 3)])


def test_names_are_those_of_the_sequence_at_that_time():
    def names(word, *flags):
        return packet(number(10, 1), *flags, block(12, block(2, number(1, 1) + block(2, word)) +
                                                   block(1, number(1, 4) + block(2, 'cpu_op'))))
    event = number(9, BEGIN) + number(11, 7) + number(10, 1) + number(3, 4)
    lost = at(DAY_NS + 20, event, NEEDED, number(42, 1))  # packets before it were dropped
    equal(slices(thread(7, 1, 2), names('before', CLEARED), at(DAY_NS, event, NEEDED), end(DAY_NS + 5),
                 lost, end(DAY_NS + 25), names('after "', CLEARED), at(DAY_NS + 30, event, NEEDED),
                 end(DAY_NS + 31)),
          [('before', 'cpu_op', 0, 5, 2), ('after "', 'cpu_op', 30, 1, 2)])


def test_packets_may_be_compressed_and_tracks_have_parents():
    inside = begin(DAY_NS, 'all', 8) + begin(DAY_NS + 1, 'part', 8) + end(DAY_NS + 4, 8) + end(DAY_NS + 9, 8)
    row = packet(block(60, number(1, 8) + number(5, 7) + block(2, 'a row')))
    equal(slices(thread(7, 1, 2), row, packet(block(50, zlib.compress(inside)))),
          [('all', None, 0, 9, 'a row'), ('part', None, 1, 3, 'a row')])
    # Legacy events: a duration of their own in microseconds, begins and ends by letter; a trace
    # that ends within a packet is read up to that packet.
    legacy = [at(DAY_NS, number(11, 7) + block(23, 'x') + block(6, number(2, ord('X')) + number(3, 12))),
              at(DAY_NS + 20_000, number(11, 7) + block(23, 'b') + block(6, number(2, ord('B')))),
              at(DAY_NS + 21_000, number(11, 7) + block(6, number(2, ord('E')))), begin(DAY_NS + 30_000, 'cut')]
    equal(slices(thread(7, 1, 2), *legacy, cut=-3),
          [('x', None, 0, 12_000, 2), ('b', None, 20_000, 1_000, 2)])


def test_kernels_of_rocm_are_launched_by_their_calls():
    def slice_(track, category, name, start, stop, **notes):
        event = number(9, BEGIN) + number(11, track) + block(22, category) + block(23, name)
        event += b''.join(block(4, block(10, key) + number(3, v)) for key, v in notes.items())
        return at(DAY_NS + start, event) + end(DAY_NS + stop, track)
    row = packet(block(60, number(1, 8) + block(2, 'COMPUTE AGENT [1] QUEUE [2] (GPU)')))
    put('rank0.pftrace', thread(7, 1, 2) + row +
        slice_(7, 'hip_api', 'hipLaunchKernel', 0, 100, corr_id=5) +
        slice_(8, 'kernel_dispatch', 'gemm', 150, 1150, corr_id=5, agent=1, queue=2))
    merged('rank0.pftrace', '-o', 'r.h5')
    line, = [line for line in events('r.h5') if ',gemm,' in line]
    contains(line, ',kernel,')
    equal([(r['name'], r['calls'], r['total_ns']) for r in rows('r.h5', 'kernels.kernel')], [('gemm', 1, 1000)])


def test_an_export_of_an_earlier_tmerge_is_no_trace():
    """It does not say what its tracks were. cli_export tests that today's exports are read back."""
    put('t.pftrace', b'\x0a\x05\x50\x01\xb8\x05\x01' + thread(7, 1, 2))
    tmerge('t.pftrace', '-o', 't.h5').fails(
        3, 't.pftrace: an earlier tmerge wrote this file for Perfetto: give the store or the traces that it was '
           'made from, or export it again')


def test_what_is_no_trace_is_said_where():
    ranks = [packet(block(60, number(1, 90 + r) + block(3, number(1, r + 1) + block(6, f'rank {r}')))) +
             thread(r + 1, r + 1, 5, 90 + r) + begin(DAY_NS, 'op', r + 1) + end(DAY_NS + 9, r + 1) for r in (0, 1)]
    put('t.pftrace', b''.join(ranks))
    contains(tmerge('t.pftrace', '-o', 't.h5').expect(3).err, 'this Perfetto trace contains several ranks')
    put('t.pftrace', thread(7, 1, 2) + packet(block(50, b'rubbish')))
    at_byte = len(thread(7, 1, 2)) + 2
    tmerge('t.pftrace', '-o', 't.h5').fails(
        3, f't.pftrace: byte {at_byte}: these compressed packets are damaged')
    bomb = zlib.compress(bytes(65 << 20))
    put('t.pftrace', thread(7, 1, 2) + packet(block(50, bomb)))
    contains(tmerge('t.pftrace', '-o', 't.h5').expect(3).err, 'are larger than 64 MiB')


main()
