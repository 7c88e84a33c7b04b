"""tmerge analyze gives the same store as merge, from a store only, or leaves it unchanged."""
import json
import os
import shutil

from common import (TMERGE, big_trace, contains, content, equal, event, files, gzipped, has_line,
                    holds, in_turn, kernel, launcher, limited, main, merged, put, rows, run,
                    same_bytes, seal, seldom, small_trace, tables, tmerge, trace)
from jobs import store, use
import h5py

# Every kind of event and attribute: a counter of two series, memory, a copy, a launch, an operator.
OTHERS = [
    {'ph': 'C', 'name': 'GPU 0 Utilization', 'pid': 0, 'ts': 150, 'args': {'u': 0.5, 'v': 2}},
    {'ph': 'i', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1, 'tid': 1, 'ts': 151,
     's': 't', 'args': {'Total Reserved': 9, 'Total Allocated': 8, 'Bytes': 7, 'Addr': 6,
                        'Device Id': 0, 'Device Type': 1}},
    event('Memcpy HtoD', 'gpu_memcpy', 170, 3, pid=0, tid=7, correlation=5, bytes=64),
    event('cudaMemcpyAsync', 'cuda_runtime', 149, 1, pid=1, tid=1, correlation=5),
    event('record_param_comms', 'cpu_op', 148, 9, pid=1, tid=1, **{
        'Collective name': 'allreduce', 'Seq': 4, 'Process Group Name': 'default_pg'}),
    event('ProfilerStep#7', 'user_annotation', 140, 40, pid=1, tid=1),
    event('ring_exchange', 'kernel', 180, 5, pid=0, tid=9, device=0, stream=9),
]


def stays(store, status, message, *options, processes=None, **more):
    """Analysis fails with one message and leaves the store and its folder unchanged."""
    before, names = content(store), files()
    for n in processes or in_turn(0, 3):
        tmerge('analyze', store, *options, n=n, **more).fails(status, message)
        equal(content(store), before, store)
        equal(files(), names, 'files')


# Results ------------------------------------------------------------------------------------------


def test_results_are_computed_and_not_copied():
    use('three')
    merged('job', '-o', 'merged.h5', '--no-compress')
    shutil.copy('merged.h5', 'spoilt.h5')
    with h5py.File('spoilt.h5', 'r+') as opened:
        opened['analysis/overlap/rank'][()] = 0 * opened['analysis/overlap/rank'].size
        del opened['analysis/stragglers']
        opened['events/role'][()] = 0
        opened['clock/middle_ns'][()] = 5
    seal('spoilt.h5')
    merged('analyze', 'spoilt.h5', n=2)
    same_bytes('spoilt.h5', 'merged.h5')


def test_another_output_leaves_the_store():
    shutil.copy(store('two'), 'merged.h5')
    before = os.stat('merged.h5')
    os.mkdir('there')
    contains(merged('analyze', 'merged.h5', '-o', 'there/new.h5').out, 'Stored in there/new.h5;')
    same_bytes('merged.h5', 'there/new.h5')
    equal((os.stat('merged.h5').st_ino, os.stat('merged.h5').st_mtime_ns),
          (before.st_ino, before.st_mtime_ns))
    equal((files(), files('there')), (['merged.h5', 'there'], ['new.h5']))


def test_a_store_without_compression_stays_so():
    use('two')
    merged('job', '-o', 'packed.h5')
    merged('job', '-o', 'plain.h5', '--no-compress')
    shutil.copy('plain.h5', 'copy.h5')
    merged('analyze', 'copy.h5')
    same_bytes('copy.h5', 'plain.h5')
    merged('analyze', 'packed.h5', '--no-compress', '-o', 'unpacked.h5')
    same_bytes('unpacked.h5', 'plain.h5')


# Settings -----------------------------------------------------------------------------------------


@seldom
def test_alignment_can_be_left_out_and_taken_back():
    use('three')
    for name, option in (('utc.h5', '--align=utc'), ('none.h5', '--align=none')):
        merged('job', '-o', name, option)
    holds(tables('utc.h5') != tables('none.h5'), 'the option changes nothing')
    shutil.copy('utc.h5', 'copy.h5')
    for option, expected in (('--align=none', 'none.h5'), (None, 'none.h5'),
                             ('--align=utc', 'utc.h5'), (None, 'utc.h5')):
        merged('analyze', 'copy.h5', *filter(None, [option]), n=2 if option else 0)
        same_bytes('copy.h5', expected)


@seldom
def test_kernels_can_be_counted_as_communication_afterwards_and_again_not():
    for rank in range(3):
        put(f'job/rank{rank}.json', trace(OTHERS + [
            kernel('ring_step', 200 + rank, 10), kernel('gemm', 205, 30),
            kernel('ncclDevKernel_AllReduce_Sum', 240, 10)], rank))
    stores = {'without.h5': [], 'ring.h5': ['--comm-pattern=RING'],
              'both.h5': ['--comm-pattern=ring_s|gemm']}
    for name, options in stores.items():
        merged('job', '-o', name, *options)
        found = {row['kind']: row['count'] for row in rows(name, 'overlap.kind') if row['rank'] == 2}
        equal(found, {'allreduce': 1, **({'other': 2} if options else {})}, name)
    shutil.copy('without.h5', 'copy.h5')
    for options, expected in ((stores['ring.h5'], 'ring.h5'), ([], 'ring.h5'),
                              (['--comm-pattern', 'ring_s|gemm'], 'both.h5'),
                              (['--comm-pattern='], 'without.h5'), ([], 'without.h5')):
        merged('analyze', 'copy.h5', *options, n=3 if '=RING' in str(options) else 0)
        same_bytes('copy.h5', expected)


def test_the_store_keeps_its_settings():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '--comm-pattern=gemm', '--align=none', '--peak=fp8=7', '-o', 'x.h5')
    for options, align, pattern, peak in (
            ([], 'none', 'gemm', 'fp8=7'), (['--align=utc'], 'utc', 'gemm', 'fp8=7'),
            (['--comm-pattern=gemm( x)?'], 'utc', 'gemm( x)?', 'fp8=7'),
            (['--comm-pattern=', '--peak=bf16=1'], 'utc', None, 'bf16=1'),
            (['--peak='], 'utc', None, None)):
        merged('analyze', 'x.h5', *options)
        with h5py.File('x.h5') as opened:
            found = opened.attrs
            equal((found['align'], found.get('comm_pattern'), found.get('peak'), found['command']),
                  (align, pattern, peak, 'tmerge merge rank0.json'))


# Failures -----------------------------------------------------------------------------------------


@seldom
def test_a_full_disk_leaves_the_store_and_nothing_else():
    put('rank0.json', big_trace(events=3000))
    put('rank1.json', big_trace(1, events=3000))
    merged('.')
    size = os.stat('tmerge.h5').st_size
    for limit in (0, 100, 4096, size // 2, size - 1):
        stays('tmerge.h5', 4, 'tmerge.h5: cannot be written: File too large', processes=(0,),
              before=limited(limit))
    merged('analyze', 'tmerge.h5')
    before = content('tmerge.h5')
    done = run(launcher(3) + ['sh', '-c', 'ulimit -f 40; exec "$@"', 'sh', TMERGE, 'analyze',
                              'tmerge.h5'], env={'OMPI_MCA_btl': 'self,tcp'})
    done.fails(4, 'tmerge.h5: cannot be written: File too large')
    equal((content('tmerge.h5'), files()), (before, ['rank0.json', 'rank1.json', 'tmerge.h5']))


def test_what_is_no_store_is_refused():
    put('text.h5', 'no store')
    put('rank0.json.gz', gzipped(small_trace(0)))
    merged('rank0.json.gz')
    put('cut.h5', content('tmerge.h5')[:10000])
    spoil('two', put_attribute('schema_major', 2), 'newer.h5')
    stays('text.h5', 3, 'text.h5: not a tmerge store')
    stays('rank0.json.gz', 3, 'rank0.json.gz: not a tmerge store', '--force')
    stays('cut.h5', 3, 'cut.h5: the file is damaged: it was cut short')
    stays('newer.h5', 3, 'newer.h5: the store has schema version 2.3, but this tmerge reads only '
          '1.3 and older: use a newer tmerge')
    for n in in_turn(0, 3):
        tmerge('analyze', 'none.h5', n=n).fails(
            3, 'none.h5: cannot be read: No such file or directory')
    stays('tmerge.h5', 4, 'text.h5: this file is not a tmerge store; --force overwrites it', '-o',
          'text.h5')


def spoil(name, change, path='x.h5'):
    """Copies a shared store, changes it with h5py and writes a new checksum trailer."""
    shutil.copy(store(name), path)
    os.chmod(path, 0o644)
    with h5py.File(path, 'r+') as opened:
        change(opened)
    seal(path)


def drop(*names):
    def change(opened):
        for name in names:
            del opened[name]
    return change


def test_a_store_from_before_a_table_a_column_or_a_count_was_kept_is_read():
    spoil('two', drop('collective_events/exposed_ns'))
    text = "SELECT count(*), count(exposed_ns) FROM events WHERE role = 'communication'"
    for path, known in ((store('two'), True), ('x.h5', False)):
        n, n_known = tmerge('query', path, text, '--csv').expect(0).out.split()[1].split(',')
        equal((int(n) > 0, int(n_known)), (True, int(n) if known else 0), path)
    for names in (['waits', 'ranks/n_waits'], ['operators', 'ranks/n_operators'],
                  ['collective_events/exposed_ns'],
                  ['ranks/n_unknown_time', 'spans/n_unknown_time']):
        spoil('two', drop(*names))
        merged('check', 'x.h5')
        merged('report', 'x.h5', '--force')
        merged('analyze', 'x.h5')
        if names[0] in ('waits', 'collective_events/exposed_ns'):
            equal(len(content('x.h5')), os.path.getsize(store('two')), 'as if written today')


def put_value(column, row, value):
    return lambda opened: opened[column].__setitem__(row, value)


def put_attribute(name, value):
    return lambda opened: opened.attrs.__setitem__(name, value)


@seldom
def test_a_store_that_lacks_a_column_a_table_or_a_sense_is_refused():
    """unit.restore tests each column and each invalid value."""
    with h5py.File(store('three')) as opened:
        n, last = len(opened['names/offsets']) - 1, opened['ranks/first_event'][2]
    damaged = 'the store is damaged: '
    for change, message in (
            (drop('events/step'), 'the store has no column /events/step: merge its traces again'),
            (drop('names'), 'the store has no column /names/bytes: merge its traces again'),
            (drop('analysis/job/left_out'), 'the store has no table job.left_out'),
            # Only the process that has rank 2 detects this.
            (put_value('events/name', last + 1, n),
             damaged + 'rank 2: the id of a text is not in the names'),
            (put_attribute('world_size', 2**40), damaged + 'its world_size is impossible'),
            (put_attribute('align', 'magic'),
             "the store was aligned by 'magic', which this tmerge does not know"),
            (put_attribute('comm_pattern', '('),
             damaged + 'its comm_pattern is not a regular expression'),
            (put_attribute('peak', 'bf16'), damaged + 'its peak rates are not valid')):
        spoil('three', change)
        stays('x.h5', 3, 'x.h5: ' + message, processes=(0, 3) if 'rank 2' in message else (0,))


def test_a_pattern_that_is_no_expression_is_wrong_usage():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    before = content('tmerge.h5')
    done = tmerge('analyze', 'tmerge.h5', '--comm-pattern=(', n=2).expect(2)
    equal(len(done.errors), 1, done.err)
    contains(done.err, "'(' is not a regular expression")
    equal(content('tmerge.h5'), before)


def test_throughput_is_what_was_given_over_the_mean_step_and_stays():
    # Steps of 100 us: 5 samples each are 50,000 a second, or 12,500 for each of 4 ranks.
    steps = [event(f'ProfilerStep#{i}', 'user_annotation', 100 * i, 100) for i in range(1, 7)]
    kernels = [kernel('gemm', 100 * i + 10, 50) for i in range(1, 7)]
    put('rank0.json', trace(steps + kernels, 0, world=4))
    done = merged('rank0.json', '--samples-per-step=5')
    has_line(done.out, '^Throughput: 50000 samples/s, 12500 per rank, with the given 5 per step$')
    has_line(tmerge('show', 'tmerge.h5').expect(0).out,
             '^Throughput: 50000 samples/s, 12500 per rank, with the given 5 per step$')
    kept = rows('tmerge.h5', 'overview.job')[0]
    equal([kept[c] for c in ('mean_step_ns', 'samples_per_step', 'samples_per_s', 'tokens_per_s',
                             'device_samples_per_s')], [100000, 5, 50000.0, None, 12500.0])
    merged('analyze', 'tmerge.h5', '-o', 'again.h5')
    same_bytes('tmerge.h5', 'again.h5')
    merged('analyze', 'tmerge.h5', '-o', 'other.h5', '--samples-per-step=0', '--tokens-per-step=30')
    other = rows('other.h5', 'overview.job')[0]
    equal((other['samples_per_s'], other['tokens_per_s']), (None, 300000.0))
    diff = json.loads(tmerge('diff', 'tmerge.h5', 'other.h5', '--json').expect(0).out)
    found = {row['figure']: row for row in diff['tables']['diff.job']['rows']}
    equal(found['overview.job.samples_per_s']['verdict'], 'only A')
    equal(found['overview.job.tokens_per_s']['b'], 300000.0)
    tmerge('rank0.json', '--tokens-per-step=many').fails(
        2, "--tokens-per-step takes one number, not 'many'")
    put('bare.json', trace(kernels, 0))  # without steps
    has_line(merged('bare.json', '--samples-per-step=5', '-o', 'bare.h5').out,
             '^Throughput: no samples/s, because no whole step is marked$')


if __name__ == '__main__':
    main()
