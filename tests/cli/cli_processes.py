"""The store does not depend on the number of processes, or the time and place of the output."""
import glob
import json
import os
import shutil
import time

from common import (COUNTS, FULL, SHARED, SOURCE, Skip, contains, equal, files, holds, kernel,
                    lacks, main, merged, put, rows, same_bytes, sampled, seldom, small_trace, synth,
                    tables, tests_of, tmerge, trace)
from cli_analyze import OTHERS
from jobs import GROUPS, JOBS, store, use
import h5py


# Jobs of every kind -------------------------------------------------------------------------------


def made(**options):
    def make():
        synth('job', **options)
        return ['job']
    return make


def real(*patterns):
    def find():
        found = sorted(path for pattern in patterns
                       for path in glob.glob(os.path.join(SHARED, 'traces', pattern)))
        if not found:
            raise Skip('the real traces are not here')
        return found
    return find


def spans_and_bad_files(**options):
    """Makes a job with a second span of rank 0, all kinds of events, and files left out."""
    def make():
        synth('job', **options)
        put('job/other_rank0.json', trace(OTHERS, 0))
        put('job/rank_1_again.json', small_trace(0, at=145))
        put('job/rank_6.json', '{"traceEvents": [{"ph": "X", "name": "only here", "ts": 1 "dur"')
        put('job/rank_40.json', '')
        put('job/notes', 'no trace, and truth.json is none either')
        return ['job', '--skip-bad', '--force']  # the other span is two years older
    return make


def large_trace(path, rank, n):
    """Writes a trace of n events of about 170 bytes, which begins when the small ones do."""
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{"schemaVersion": 1, "traceEvents": [\n')
        for i in range(n):
            file.write('{"ph": "X", "cat": "cpu_op", "name": "aten::op%d }, {\\"ph\\": \\"X\\"", '
                       '"pid": 7, "tid": %d, "ts": %d.125, "dur": 1.5, '
                       '"args": {"External id": %d, "Input Dims": [[64, 3], [], [%d]]}},\n'
                       % (i % 97, i // 50000, 100 + 2 * i, i, i % 7))
        file.write(json.dumps(kernel('k', 110, 9)) + '], "distributedInfo": {"rank": %d}}' % rank)


def one_large_trace_and_small_ones():
    synth('job', ranks=3, steps=1)
    large_trace('job/large.json', 3, 220000)
    return ['job']


MERGES = {
    'a pipeline on two hosts that lacks kernels': made(
        ranks=8, tp=2, pp=2, microbatches=2, steps=2, lost_percent=3, slow_rank=5, ranks_per_host=4,
        offset_us=300),
    'groups of mixed sizes': made(**dict(JOBS['groups'], sizes='mixed', lost_percent=2, steps=3,
                                         offset_us=500)),
    'groups that are inferred': made(ranks=12, ranks_per_host=4, tp=2, steps=3, no_metadata=1,
                                     lost_percent=2, offset_us=500),
    'bubbles': made(ranks=8, pp=4, microbatches=6, layers=8, steps=3, cpu_ops=2, ranks_per_host=4,
                    offset_us=300),
    'a large trace': one_large_trace_and_small_ones,
    'nsys': made(format='nsys', host_tables=True, ranks=4, steps=3, ranks_per_file=2),
    'nsys, communicators': made(format='nsys', **GROUPS),
    'ascend, communicators': made(format='ascend', **dict(GROUPS, ranks_per_host=1)),
    'xplane': made(format='xplane', no_metadata=True, ranks=8, ranks_per_host=4, steps=5),
    'xplane by hand': lambda: [os.path.join(SOURCE, 'testdata/ok_gpus.xplane.pb')],
    'missing ranks': lambda: [put(f'rank{rank}.json', small_trace(rank, world=world))
                              for rank, world in ((2, 2), (5, 9))],
    'spans and bad files': spans_and_bad_files(ranks=8, steps=2, slow_rank=3),
    'spans and bad files, groups': spans_and_bad_files(
        ranks=8, tp=2, pp=2, steps=3, sequence_parallel=True, compress='gzip'),
    'spans and bad files, clocks': spans_and_bad_files(
        ranks=9, ranks_per_host=3, steps=4, offset_us=50, lost_percent=5, window_skew=2, comms_id=1),
    'spans and bad files, no metadata': spans_and_bad_files(
        ranks=8, steps=2, no_metadata=True, rotating=True),
    'real kineto': real('nanogpt8/*'),
    'real ascend': real('ascend/job586/rank?_trace_view.json'),
    'real nsys': real('nsys/mfu_2gpu_before.sqlite'),
    'real trace viewer': real('jax-json/*.trace.json.gz'),
    'real ops': real('bytedance-st/timeline-ST.json.gz'),
}
ANALYZED = ('missing ranks', 'spans and bad files', 'real kineto')  # in the landing set


def check_any_count(name):
    """Stores and messages are the same for all merges of a job, and for analyses of one store."""
    arguments = MERGES[name]()
    expected = tmerge(*arguments, '-o', 'x.h5').expect(0)
    for n in COUNTS:
        done = tmerge(*arguments, '-o', f'{n}.h5', n=n).expect(0)
        equal((done.out.replace(f' {n}.h5', ' x.h5'), sorted(done.ours)),
              (expected.out, sorted(expected.ours)), f'what {n} processes say')
        same_bytes('x.h5', f'{n}.h5')
        if name in ANALYZED or FULL and n == 3:
            done = merged('analyze', f'{n}.h5', n=n)
            equal(done.out.replace(f' {n}.h5', ' x.h5'), expected.out, f'{n} processes analyze')
            same_bytes('x.h5', f'{n}.h5')


globals().update(sampled(tests_of({name: [name] for name in MERGES}, check_any_count,
                                  'any_number_of_processes_gives_the_same_of_')))


@seldom
def test_any_number_of_processes_answers_the_same():
    path = store('groups')
    for options in (('--fix', 'stage=1+kind=compute', '--scale', 'transfer:0.5', '--json'),
                    ('--step', '3-4', '--json'), ('--each', 'rank'), ()):
        expected = merged('whatif', path, *options).out
        for n in COUNTS:
            equal(merged('whatif', path, *options, n=n).out, expected, f'{options}, {n} processes')


def test_any_number_of_processes_finds_the_same_fault_of_a_large_trace():
    large_trace('rank3.json', 3, 220000)
    # Plain traces from 32 MiB on are read by several processes.
    holds(os.path.getsize('rank3.json') > 32 << 20, 'the large trace is too small')
    with open('rank3.json', 'r+b') as file:
        at = os.path.getsize('rank3.json') * 9 // 10
        file.seek(at)
        at += file.read(4096).index(b', "dur"')
        file.seek(at)
        file.write(b' ')
    expected = tmerge('rank3.json').expect(3)
    contains(expected.err, f'rank3.json: byte {at + 2}: ')
    for n in COUNTS:
        tmerge('rank3.json', n=n).fails(3, expected.errors[0].removeprefix('tmerge: '))


def test_left_out_files_and_inferred_waits_are_there_to_be_the_same():
    """In jobs above, which otherwise would compare nothing."""
    merged(*MERGES['a pipeline on two hosts that lacks kernels'](), '-o', 'x.h5')
    found = tables('x.h5', 'whatif.job', 'whatif.item')
    holds(found['whatif.job'][0]['inferred_waits'] > 0, 'no wait was inferred')
    equal({row['what'] for row in found['whatif.item']} & {'stage', 'host', 'kind', 'kernel'},
          {'stage', 'host', 'kind', 'kernel'})
    shutil.rmtree('job')
    tmerge(*MERGES['spans and bad files'](), '-o', 'x.h5').expect(0)
    equal(sorted(row['reason'] for row in rows('x.h5', 'job.left_out')),
          ['other', 'other', 'overlapping', 'unreadable', 'unreadable'])
    with h5py.File('x.h5') as opened:
        equal(opened['spans/rank'][()].tolist().count(0), 2)


def everything(path):
    """Returns every dataset and attribute of a file, by object and name."""
    found = {}

    def collect(name, thing):
        found.update({(name, key): value for key, value in thing.attrs.items()})
        if isinstance(thing, h5py.Dataset):
            found[name, None] = thing[()].tobytes()

    with h5py.File(path) as opened:
        collect('/', opened)
        opened.visititems(collect)
    return found


@seldom
def test_neither_time_nor_place_of_the_output_changes_a_byte():
    use('three_short')
    os.makedirs('deep/er')
    merged('job', '-o', 'first.h5')
    second = int(time.time())
    for output, n in (('deep/er/x', 2), (os.path.abspath('deep/abs.h5'), 3), ('second.h5', 0)):
        while n == 0 and int(time.time()) == second:  # HDF5 counts in seconds
            time.sleep(0.01)
        merged('job', '-o', output, n=n, env={'TZ': 'Asia/Tokyo', 'LC_ALL': 'C'})
        same_bytes('first.h5', output)
    equal(files('deep/er'), ['x'])


@seldom
def test_no_attribute_tells_processes_time_or_output():
    use('three_short')
    before = int(time.time())
    merged('job', '--force', '--color=never', '-o', 'remarkable_name.h5', n=7)
    found = everything('remarkable_name.h5')
    equal({key for thing, key in found if thing == '/'},
          {'align', 'command', 'format', 'ranks', 'schema_major', 'schema_minor', 'tool_version',
           'wall_uncertainty_ns', 'world_size'})
    for (thing, key), value in found.items():
        lacks(str(value), 'remarkable_name')
        lacks(str(value), os.getcwd())
        if not isinstance(value, (str, bytes)):
            holds(value != 7, f'{thing} {key} is the number of processes')
            holds(not before - 10 < value < before + 100, f'{thing} {key} is the time')
    equal(found['/', 'command'], 'tmerge merge job')


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


@seldom
def test_the_order_of_files_with_known_ranks_changes_only_the_command():
    synth('job', ranks=4, steps=1)
    names = [f'job/profile_rank_{i}.json' for i in range(4)]
    merged(*names, '-o', 'a.h5')
    merged(*(names[i] for i in (2, 0, 3, 1)), '-o', 'b.h5', n=3)
    a, b = everything('a.h5'), everything('b.h5')
    equal({what for what in {*a, *b} if str(a.get(what)) != str(b.get(what))}, {('/', 'command')})


main()
