"""tmerge analyze gives the store that merge gives, from a store alone, or leaves it as it was."""
import json
import os
import shutil

from common import (SYNTH, TMERGE, Skip, big_trace, content, contains, equal, event, files, gzipped,
                    has_line, holds, kernel, launcher, limited, main, merged, nanogpt, put, rows, run,
                    same_bytes, seal, small_trace, synth, tables, tmerge, trace)
import h5py

SHAPES = {
    'data parallel': ['--ranks=8', '--steps=2', '--slow-rank=3'],
    'tensor, pipeline and data parallel': ['--ranks=8', '--tp=2', '--pp=2', '--steps=3',
                                           '--sequence-parallel', '--compress=gzip'],
    'clocks and losses': ['--ranks=9', '--ranks-per-host=3', '--steps=4', '--offset-us=50',
                          '--lost-percent=5', '--window-skew=2', '--comms-id'],
    'no metadata': ['--ranks=8', '--steps=2', '--no-metadata', '--rotating'],
}

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


def make_job(folder, *options):
    """A job of the generator, with a second span for rank 0 and files that are left out."""
    run([SYNTH, '-o', folder, *options]).expect(0)
    put(f'{folder}/other_rank0.json', trace(OTHERS, 0))
    put(f'{folder}/rank_1_again.json', small_trace(0, at=145))
    put(f'{folder}/rank_40.json', '')
    put(f'{folder}/notes', 'no trace, and truth.json is none either')


def spans_of(store, rank):
    with h5py.File(store) as opened:
        return opened['spans/rank'][()].tolist().count(rank)


def analyzed(store, *options, n=0):
    """Analyses a store, which must succeed without a message."""
    done = tmerge('analyze', store, *options, n=n).expect(0)
    equal(done.ours, [], 'messages')
    return done


def gives_the_same(expected, summary):
    """Analyses a copy with each number of processes: file, tables and summary must be the same."""
    for n in (0, 1, 2, 3, 5):
        shutil.copy(expected, 'copy.h5')
        equal(analyzed('copy.h5', n=n).out.replace('copy.h5', expected), summary, f'{n} processes')
        equal(tables('copy.h5'), tables(expected))
        same_bytes('copy.h5', expected)


def stays(store, status, message, *options, processes=(0, 3), **more):
    """Analysing fails with one message, and leaves the store and its folder as they were."""
    before, names = content(store), files()
    for n in processes:
        tmerge('analyze', store, *options, n=n, **more).fails(status, message)
        equal(content(store), before, store)
        equal(files(), names, 'files')


# What it gives ------------------------------------------------------------------------------------


def test_any_number_of_processes_gives_the_store_of_the_merge():
    for shape, options in SHAPES.items():
        shutil.rmtree('job', ignore_errors=True)
        make_job('job', *options)
        summary = tmerge('job', '--skip-bad', '-o', 'merged.h5').expect(0).out
        equal(spans_of('merged.h5', 0), 2, f'spans, {shape}')
        equal(sorted(row['reason'] for row in rows('merged.h5', 'job.left_out')),
              ['other', 'other', 'overlapping', 'unreadable'])
        shutil.rmtree('job')
        gives_the_same('merged.h5', summary)


def test_any_number_of_processes_gives_the_store_of_a_real_job():
    folder = nanogpt()
    if not folder:
        raise Skip('the real traces are not here')
    gives_the_same('merged.h5', merged(folder, '-o', 'merged.h5').out)


def test_missing_ranks_and_the_size_of_the_job_survive():
    for rank in (2, 5):
        put(f'rank{rank}.json', small_trace(rank, world=2 if rank == 2 else 9))
    done = merged('.', '-o', 'merged.h5')
    contains(done.out, '7 of 9 ranks have no trace here')
    gives_the_same('merged.h5', done.out)


def test_results_are_computed_and_not_copied():
    synth('job', ranks=8, steps=2)
    merged('job', '-o', 'merged.h5')
    merged('job', '-o', 'spoilt.h5')
    with h5py.File('spoilt.h5', 'r+') as store:
        store['analysis/overlap/rank'][()] = 0 * store['analysis/overlap/rank'].size
        del store['analysis/stragglers']
        store['events/role'][()] = 0
        store['clock/middle_ns'][()] = 5
    seal('spoilt.h5')
    analyzed('spoilt.h5', n=2)
    same_bytes('spoilt.h5', 'merged.h5')


def test_another_output_leaves_the_store():
    synth('job', ranks=8, steps=1)
    merged('job', '-o', 'merged.h5')
    before = os.stat('merged.h5')
    os.mkdir('there')
    contains(analyzed('merged.h5', '-o', 'there/new.h5').out, 'Stored in there/new.h5;')
    same_bytes('merged.h5', 'there/new.h5')
    equal((os.stat('merged.h5').st_ino, os.stat('merged.h5').st_mtime_ns),
          (before.st_ino, before.st_mtime_ns))
    equal((files(), files('there')), (['job', 'merged.h5', 'there'], ['new.h5']))


def test_a_store_without_compression_stays_so():
    synth('job', ranks=2, steps=1)
    merged('job', '-o', 'packed.h5')
    merged('job', '-o', 'plain.h5', '--no-compress')
    shutil.copy('plain.h5', 'copy.h5')
    analyzed('copy.h5')
    same_bytes('copy.h5', 'plain.h5')
    analyzed('packed.h5', '--no-compress', '-o', 'unpacked.h5')
    same_bytes('unpacked.h5', 'plain.h5')


# Settings -----------------------------------------------------------------------------------------


def test_alignment_can_be_left_out_and_taken_back():
    make_job('job', *SHAPES['data parallel'])
    for name, option in (('utc.h5', '--align=utc'), ('none.h5', '--align=none')):
        tmerge('job', '--skip-bad', '-o', name, option).expect(0)
    holds(tables('utc.h5') != tables('none.h5'), 'the option changes nothing')
    shutil.copy('utc.h5', 'copy.h5')
    for option, expected in (('--align=none', 'none.h5'), (None, 'none.h5'),
                             ('--align=utc', 'utc.h5'), (None, 'utc.h5')):
        analyzed('copy.h5', *filter(None, [option]), n=2)
        same_bytes('copy.h5', expected)
        equal(tables('copy.h5'), tables(expected))


def test_kernels_can_be_counted_as_communication_afterwards_and_again_not():
    for rank in range(8):
        put(f'job/rank{rank}.json', trace(OTHERS + [
            kernel('ring_step', 200 + rank, 10), kernel('gemm', 205, 30),
            kernel('ncclDevKernel_AllReduce_Sum', 240, 10)], rank))
    patterns = {'without.h5': None, 'ring.h5': 'RING', 'both.h5': 'ring_s|gemm'}
    for name, pattern in patterns.items():
        merged('job', '-o', name, *([f'--comm-pattern={pattern}'] if pattern else []))
    kinds = {name: {row['kind']: row['count'] for row in rows(name, 'overlap.kind')
                    if row['rank'] == 6} for name in patterns}
    equal(kinds, {'without.h5': {'allreduce': 1}, 'ring.h5': {'allreduce': 1, 'other': 2},
                  'both.h5': {'allreduce': 1, 'other': 2}})
    shutil.copy('without.h5', 'copy.h5')
    for options, expected in ((['--comm-pattern=RING'], 'ring.h5'), ([], 'ring.h5'),
                              (['--comm-pattern', 'ring_s|gemm'], 'both.h5'),
                              (['--comm-pattern='], 'without.h5'), ([], 'without.h5')):
        analyzed('copy.h5', *options, n=3)
        same_bytes('copy.h5', expected)


def test_the_store_keeps_its_settings():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '--comm-pattern=gemm', '--align=none', '--peak=fp8=7', '-o', 'x.h5')
    for options, align, pattern, peak in (
            ([], 'none', 'gemm', 'fp8=7'), (['--align=utc'], 'utc', 'gemm', 'fp8=7'),
            (['--comm-pattern=gemm( x)?'], 'utc', 'gemm( x)?', 'fp8=7'),
            (['--comm-pattern=', '--peak=bf16=1'], 'utc', None, 'bf16=1'),
            (['--peak='], 'utc', None, None)):
        analyzed('x.h5', *options)
        with h5py.File('x.h5') as store:
            found = store.attrs
            equal((found['align'], found.get('comm_pattern'), found.get('peak'), found['command']),
                  (align, pattern, peak, 'tmerge merge rank0.json'))


# What goes wrong ----------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_store_and_nothing_else():
    put('rank0.json', big_trace(events=3000))
    put('rank1.json', big_trace(1, events=3000))
    merged('.')
    size = os.stat('tmerge.h5').st_size
    for limit in (0, 100, 4096, size // 2, size - 1):
        stays('tmerge.h5', 4, 'tmerge.h5: cannot be written: File too large', processes=(0,),
              before=limited(limit))
    analyzed('tmerge.h5')
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
    shutil.copy('tmerge.h5', 'newer.h5')
    with h5py.File('newer.h5', 'r+') as store:
        store.attrs.modify('schema_major', 2)
    seal('newer.h5')
    stays('text.h5', 3, 'text.h5: not a tmerge store')
    stays('rank0.json.gz', 3, 'rank0.json.gz: not a tmerge store', '--force')
    stays('cut.h5', 3, 'cut.h5: the file is damaged: it was cut short')
    stays('newer.h5', 3, 'newer.h5: the store has schema version 2.2, this tmerge reads 1.2 and '
          'older')
    for n in (0, 3):
        tmerge('analyze', 'none.h5', n=n).fails(
            3, 'none.h5: cannot be read: No such file or directory')
    stays('tmerge.h5', 4, 'text.h5: this file is no tmerge store; --force overwrites it', '-o',
          'text.h5')


def test_a_store_from_before_waits_were_kept_is_read():
    synth('job', ranks=2, steps=1)
    merged('job', '-o', 'x.h5')
    whole = content('x.h5')
    with h5py.File('x.h5', 'r+') as store:
        del store['waits']
        del store['ranks/n_waits']
    seal('x.h5')
    tmerge('check', 'x.h5').expect(0)
    tmerge('report', 'x.h5').expect(0)
    tmerge('analyze', 'x.h5').expect(0)
    holds(len(content('x.h5')) == len(whole), 'as if it had been written today')
    with h5py.File('x.h5', 'r+') as store:  # nor what is told of operators
        del store['operators']
        del store['ranks/n_operators']
    seal('x.h5')
    tmerge('analyze', 'x.h5').expect(0)


def test_a_store_that_lacks_a_column_a_table_or_a_sense_is_refused():
    synth('job', ranks=4, steps=1)
    merged('job', '-o', 'whole.h5')
    with h5py.File('whole.h5') as store:
        n, last = len(store['names/offsets']) - 1, store['ranks/first_event'][3]
    damaged = 'the store is damaged: '

    def spoilt(message, change):
        shutil.copy('whole.h5', 'x.h5')
        with h5py.File('x.h5', 'r+') as opened:
            change(opened)
        seal('x.h5')
        stays('x.h5', 3, 'x.h5: ' + message)

    def put_value(column, row, value):
        return lambda store: store[column].__setitem__(row, value)

    def drop(name):
        return lambda store: store.__delitem__(name)

    spoilt('the store has no column /events/step', drop('events/step'))
    spoilt('the store has no column /ranks/n_steps', drop('ranks/n_steps'))
    spoilt('the store has no column /names/bytes', drop('names'))
    spoilt('the store has no table job.left_out', drop('analysis/job/left_out'))
    # One process alone meets each of these: the one that has rank 3.
    spoilt(damaged + 'rank 3: a text is not among the names', put_value('events/name', last + 1, n))
    spoilt(damaged + 'column /events/launch has a value that cannot be',
           put_value('events/launch', last + 1, 0))
    spoilt(damaged + 'column /events/kind has a value that cannot be',
           put_value('events/kind', last + 1, 9))
    spoilt(damaged + 'its world_size cannot be',
           lambda store: store.attrs.modify('world_size', 2**40))
    spoilt("the store was aligned by 'magic', which this tmerge does not know",
           lambda store: store.attrs.modify('align', 'magic'))
    spoilt(damaged + 'its comm_pattern is no regular expression',
           lambda store: store.attrs.__setitem__('comm_pattern', '('))
    spoilt(damaged + 'its peak is none of a device',
           lambda store: store.attrs.__setitem__('peak', 'bf16'))


def test_a_pattern_that_is_no_expression_is_wrong_usage():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    before = content('tmerge.h5')
    for n in (0, 2):
        done = tmerge('analyze', 'tmerge.h5', '--comm-pattern=(', n=n).expect(2)
        equal(len(done.errors), 1, done.err)
        contains(done.err, "'(' is no regular expression")
    equal(content('tmerge.h5'), before)


def test_throughput_is_what_was_given_over_the_mean_step_and_stays():
    # Steps of 100 us: 5 samples each are 50,000 a second, over a world of 4 ranks 12,500 each.
    steps = [event(f'ProfilerStep#{i}', 'user_annotation', 100 * i, 100) for i in range(1, 7)]
    kernels = [kernel('gemm', 100 * i + 10, 50) for i in range(1, 7)]
    put('rank0.json', trace(steps + kernels, 0, world=4))
    done = merged('rank0.json', '--samples-per-step=5')
    has_line(done.out, '^Throughput: 50000 samples/s, 12500 each rank, at 5 a step as given$')
    has_line(tmerge('show', 'tmerge.h5').expect(0).out,
             '^Throughput: 50000 samples/s, 12500 each rank, at 5 a step as given$')
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
    put('bare.json', trace(kernels, 0))  # marks no step
    has_line(merged('bare.json', '--samples-per-step=5', '-o', 'bare.h5').out,
             '^Throughput: no samples/s, for no whole step is marked$')


main()
