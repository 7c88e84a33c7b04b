"""The number of processes, the time and the place of the output leave no mark on the store."""
import os
import time

from common import (Skip, contains, equal, files, holds, lacks, main, merged, nanogpt, put,
                    run, same_bytes, small_trace, synth, tables, tmerge)
from jobs import use
import h5py

COUNTS = (1, 2, 3, 4, 8)


def h5diff(a, b):
    """What h5diff says of two stores; its status alone would not tell an unread dataset. Of empty
    datasets it says that they cannot be compared."""
    done = run(['h5diff', '-c', a, b])
    lines = (done.out + done.err).splitlines(keepends=True)
    return done.status, ''.join(x for x in lines if not x.endswith(' is an empty dataset\n'))


def same_with_any_count(*arguments):
    """Merges without mpirun and with each number of processes; all stores must be the same."""
    out = merged(*arguments, '-o', 'alone.h5').out
    for n in COUNTS:
        name = f'with{n}.h5'
        equal(merged(*arguments, '-o', name, n=n).out.replace(name, 'alone.h5'), out,
              f'the summary of {n} processes')
        same_bytes('alone.h5', name)
        equal(h5diff('alone.h5', name), (0, ''), f'h5diff for {n} processes')


def all_attributes(path):
    """Every attribute of a file as (object, name, value)."""
    found = []

    def collect(name, thing):
        found.extend((name, key, value) for key, value in thing.attrs.items())

    with h5py.File(path) as store:
        collect('/', store)
        store.visititems(collect)
    return found


def test_any_number_of_processes_gives_the_same_store():
    synth('job', ranks=8, steps=2)
    same_with_any_count('job')


def test_any_number_of_processes_gives_the_same_store_of_a_pipeline_that_lacks_kernels():
    # With tensor groups, and on two hosts whose clocks differ.
    synth('job', ranks=8, tp=2, pp=2, microbatches=2, steps=2, lost_percent=3, slow_rank=5,
          ranks_per_host=4, offset_us=300)
    same_with_any_count('job')
    found = tables('alone.h5', 'whatif.job', 'whatif.item')
    holds(found['whatif.job'][0]['inferred_waits'] > 0, 'no wait was inferred')
    equal({row['what'] for row in found['whatif.item']} & {'stage', 'host', 'kind', 'kernel'},
          {'stage', 'host', 'kind', 'kernel'})


def test_any_number_of_processes_gives_the_same_store_of_a_real_job():
    folder = nanogpt()
    if not folder:
        raise Skip('the real traces are not here')
    same_with_any_count(folder)


def large_trace(path, rank, n):
    """A trace of n events of about 170 bytes, which begins when the small ones do."""
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for i in range(n):
            file.write('{"ph": "X", "cat": "cpu_op", "name": "aten::op%d }, {\\"ph\\": \\"X\\"", '
                       '"pid": 7, "tid": %d, "ts": %d.125, "dur": 1.5, '
                       '"args": {"External id": %d, "Input Dims": [[64, 3], [], [%d]]}},\n'
                       % (i % 97, i // 50000, 100 + 2 * i, i, i % 7))
        file.write('{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 110, "dur": 9,'
                   ' "args": {"device": 0, "stream": 7}}], "distributedInfo": {"rank": %d}}' % rank)


def test_any_number_of_processes_gives_the_same_store_of_one_large_trace_and_small_ones():
    synth('job', ranks=3, steps=1)
    large_trace('job/large.json', 3, 220000)
    # From 32 MiB on a plain trace is read by several processes.
    holds(os.path.getsize('job/large.json') > 32 << 20, 'the large trace is too small')
    same_with_any_count('job')
    with open('job/large.json', 'r+b') as file:
        at = os.path.getsize('job/large.json') * 9 // 10
        file.seek(at)
        at += file.read(4096).index(b', "dur"')
        file.seek(at)
        file.write(b' ')
    alone = tmerge('job', '-o', 'x.h5').expect(3)
    contains(alone.err, f'job/large.json: byte {at + 2}: ')
    for n in COUNTS:
        tmerge('job', '-o', 'x.h5', n=n).fails(3, alone.errors[0].removeprefix('tmerge: '))


def test_what_was_left_out_is_the_same_with_any_number_of_processes():
    synth('job', ranks=5, steps=1)
    put('job/rank_6.json', '{"traceEvents": [{"ph": "X", "name": "only here", "ts": 1 "dur"')
    put('job/rank_7.json', small_trace(0))
    put('job/rank_8.json', small_trace(0, at=120))
    put('job/rank_9.json', '')
    stores = []
    for n in (0, 2, 3, 4):
        stores.append(f'{n}.h5')
        equal(tmerge('job', '--skip-bad', '-o', stores[-1], n=n).expect(0).errors, [])
        same_bytes(stores[0], stores[-1])
    reasons = [row['reason'] for row in tables('0.h5')['job.left_out']]
    equal(sorted(reasons), ['other', 'overlapping', 'unreadable', 'unreadable'])


def test_h5diff_would_find_a_difference():
    put('a.json', small_trace(0))
    put('b.json', small_trace(0, dur=51))
    merged('a.json', '-o', 'a.h5')
    merged('b.json', '-o', 'b.h5')
    status, said = h5diff('a.h5', 'b.h5')
    equal(status, 1)
    for path in ('/events/duration_ns', '/analysis/overlap/rank', '/spans/end_ns'):
        contains(said, f'<{path}>')


def test_neither_time_nor_place_of_the_output_changes_a_byte():
    use('three_short')
    os.makedirs('deep/er')
    merged('job', '-o', 'first.h5')
    time.sleep(1.1)  # HDF5 counts in seconds
    for output, n in (('second.h5', 0), ('deep/er/x', 2), (os.path.abspath('deep/abs.h5'), 3)):
        merged('job', '-o', output, n=n, env={'TZ': 'Asia/Tokyo', 'LC_ALL': 'C'})
        same_bytes('first.h5', output)
    equal(files('deep/er'), ['x'])


def test_no_attribute_tells_processes_time_or_output():
    use('three_short')
    before = int(time.time())
    merged('job', '--force', '--color=never', '-o', 'remarkable_name.h5', n=7)
    found = all_attributes('remarkable_name.h5')
    equal({key for thing, key, _ in found if thing == '/'},
          {'align', 'command', 'format', 'ranks', 'schema_major', 'schema_minor', 'tool_version',
           'wall_uncertainty_ns', 'world_size'})
    for thing, key, value in found:
        lacks(str(value), 'remarkable_name')
        lacks(str(value), os.getcwd())
        if not isinstance(value, (str, bytes)):
            holds(value != 7, f'{thing} {key} is the number of processes')
            holds(not before - 10 < value < before + 100, f'{thing} {key} is the time')
    command, = (value for thing, key, value in found if (thing, key) == ('/', 'command'))
    equal(command, 'tmerge merge job')


def test_the_store_holds_the_command_and_the_settings_that_change_results():
    put('rank0.json', small_trace(0))
    put('map', 'rank0.json 4')
    merged('rank0.json', '--rank-map', 'map', '-o', 'x.h5', '--comm-pattern=gemm( x)?', '--skip-bad',
           '--no-compress')
    with h5py.File('x.h5') as store:
        equal(store.attrs['command'],
              'tmerge merge --rank-map=map --skip-bad rank0.json')
        equal((store.attrs['comm_pattern'], store.attrs['align']), ('gemm( x)?', 'auto'))
    many = [put(f'rank{i}.json', small_trace(i)) for i in range(70)]
    merged(*many, '-o', 'x.h5')
    with h5py.File('x.h5') as store:
        equal(store.attrs['command'], 'tmerge merge ' + ' '.join(many[:64]) + ' ... (6 more)')


def test_the_order_of_files_with_known_ranks_changes_only_the_command():
    synth('job', ranks=4, steps=1)
    names = [f'job/profile_rank_{i}.json' for i in range(4)]
    merged(*names, '-o', 'a.h5')
    merged(*(names[i] for i in (2, 0, 3, 1)), '-o', 'b.h5', n=3)
    equal(tables('a.h5'), tables('b.h5'))
    one, two = {}, {}
    for path, into in (('a.h5', one), ('b.h5', two)):
        with h5py.File(path) as store:
            store.visititems(lambda name, thing, into=into: into.update(
                {name: thing[()].tobytes() if isinstance(thing, h5py.Dataset) else None}))
    for name in set(one) | set(two):
        holds(one[name] == two[name], f'/{name} differs')
    a, b = (dict(((thing, key), str(value)) for thing, key, value in all_attributes(path))
            for path in ('a.h5', 'b.h5'))
    equal({key for key in a if a[key] != b.get(key)}, {('/', 'command')})


main()
