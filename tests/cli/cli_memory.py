"""Peak memory: at most 128 MiB plus 96 bytes per event held, in every process; with the replay
(whatif, criticalpath) 450 bytes; or what --memory allows."""
import os
import re
import sys

from common import (FULL, TMERGE, Skip, content, equal, full, holds, in_turn, is_sanitized,
                    launcher, main, put, rows, run, seldom, synth)
from watching import on_small_disk

# Runs a command and prints its peak resident memory [KiB] to standard error.
WRAPPER = '''import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
sys.stderr.write(f"peak={resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}\\n")
sys.exit(done.returncode)
'''


def peaks(n, *arguments):
    """Returns the peak bytes of each process."""
    if is_sanitized():
        raise Skip('a sanitizer takes memory of its own')
    put('wrapper.py', WRAPPER)
    done = run(launcher(n) + [sys.executable, 'wrapper.py', TMERGE, *arguments]).expect(0)
    return [int(kb) * 1024 for kb in re.findall(r'peak=(\d+)', done.err)]


def is_bounded(found, n_events, each=96):
    limit = (128 << 20) + each * n_events
    holds(found and max(found) <= limit,
          f'{[f >> 20 for f in found]} MiB at {n_events} events, allowed {limit >> 20}')


@seldom
def test_one_large_trace_takes_memory_for_its_events_alone():
    n_events, launch = 600000, 300
    with open('rank0.json', 'w', encoding='ascii') as out:
        out.write('{"traceEvents": [\n')
        for i in range(n_events // 2):  # a launch and its kernel, with unused arguments
            out.write(f'{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, '
                      f'"tid": 1, "ts": {10 * i + 1}, "dur": 2, "args": {{"correlation": {i + 1}, '
                      f'"Call stack": "{"f;" * launch}"}}}},\n'
                      f'{{"ph": "X", "cat": "kernel", "name": "kernel {i % 100}", "pid": 0, '
                      f'"tid": 7, "ts": {10 * i + 3}, "dur": 5, "args": {{"correlation": {i + 1}, '
                      f'"grid": [1, 2, 3]}}}},\n')
        out.write('{"ph": "M", "name": "x"}]}')
    holds(os.path.getsize('rank0.json') > 250e6, 'a text much larger than the memory')
    found = peaks(0, 'rank0.json', '-q', '--no-replay')
    is_bounded(found, n_events)
    # The trace's text has 300 MB; the bound, which leaves no room for it, is 185.
    holds(max(found) < os.path.getsize('rank0.json') / 2, f'{max(found)} bytes')
    is_bounded(peaks(0, 'analyze', 'tmerge.h5', '-q', '--no-replay'), n_events)
    is_bounded(peaks(0, 'analyze', 'tmerge.h5', '-q'), n_events, 450)


@full
def test_show_check_and_export_hold_a_part_of_a_store_at_a_time():
    synth('job', ranks=4, steps=1000, layers=2, buckets=1, cpu_ops=1)
    run([TMERGE, 'job', '--no-html', '-q']).expect(0)
    least = max(peaks(0, 'show', 'tmerge.h5', 'job.job', '--json'))
    every = len(run([TMERGE, 'show', 'tmerge.h5', '--json']).expect(0).out)
    holds(every > 20e6, f'{every} bytes: a document much larger than the memory')
    # Holding all tables would take over twice the document's size, and the document once more.
    for form in ('--json', '--csv-dir=out', '--all'):
        found = max(peaks(0, 'show', 'tmerge.h5', form))
        holds(found - least < every * 2 / 3, f'{form}: {(found - least) >> 20} MiB over {every}')
    found = max(peaks(0, 'show', 'tmerge.h5', '--top', '5', '--json'))
    holds(found - least < every * 2 / 3, f'--top: {(found - least) >> 20} MiB over {every}')
    n_events = rows('tmerge.h5', 'job.job')[0]['events']
    # Up to half a million events are read at once.
    for form, each in (('csv', 40), ('perfetto', 60)):
        found = max(peaks(0, 'export', 'tmerge.h5', '--format', form, '--force'))
        holds(found - least < (16 << 20) + each * n_events, f'{form}: {found - least} bytes')
    found = max(peaks(0, 'check', 'tmerge.h5'))
    holds(found - least < (16 << 20) + 40 * n_events, f'check: {found - least} bytes')


@full
def test_a_merge_takes_60_bytes_for_each_further_event():
    # Nearly all are operators: 31 bytes in columns and 24 of attributes each, a third when packed.
    found, events = [], []
    for steps in (100, 500):
        synth('job', ranks=8, steps=steps, layers=4, buckets=1, cpu_ops=40)
        found += [[max(peaks(n, 'job', '-q', '--force', '--no-replay')) for n in (1, 2)]]
        events += [rows('tmerge.h5', 'job.job')[0]['events']]
    for n, least, most in zip((1, 2), *found):
        each = (most - least) * n / (events[1] - events[0])
        holds(each <= 60, f'{n} processes: {each:.1f} bytes, {least} and {most} at {events} events')


@full
def test_an_export_of_nsight_systems_takes_memory_for_its_events_alone():
    # One file with one rank, and one with eight, which is read once for each.
    for ranks, steps in ((1, 1600), (8, 200)):
        synth('nsys', format='nsys', ranks=ranks, ranks_per_file=ranks, steps=steps)
        for n in (0, 2):
            found = peaks(n, 'nsys', '-q', '--force', '--no-replay')
            events = [row['events'] for row in rows('tmerge.h5', 'job.rank')]
            holds(len(events) == ranks and sum(events) > 500000, events)
            is_bounded(found, sum(events) // min(max(n, 1), ranks))
        os.remove('nsys/profile_rank_0.sqlite')


@seldom
def test_a_job_of_many_ranks_takes_memory_for_its_events_in_every_process():
    synth('job', ranks=256, steps=2)
    for n in (1, 2) if FULL else (2,):
        found = peaks(n, 'job', '-q')
        events = [row['events'] for row in rows('tmerge.h5', 'job.rank')]
        holds(len(found) == n and len(events) == 256, found)
        is_bounded(found, sum(events) // n)
        is_bounded(peaks(n, 'analyze', 'tmerge.h5', '-q'), sum(events) // n)


def test_a_bound_holds_and_the_store_is_the_same():
    synth('job', ranks=2, steps=400)
    free = peaks(0, 'job', '-q', '-o', 'free.h5', '-j1', '--no-html')
    bound = 48 << 20  # the libraries take some 40 MiB of it
    holds(free[0] > 1.5 * bound, f'{free[0] >> 20} MiB without a bound')
    for n in in_turn(0, 2, 3):
        alone = [] if n else ['-j1']
        found = peaks(n, 'job', '-q', '-o', 'bound.h5', *alone, '--no-html', '--memory=48M')
        # Pages of libraries count as resident where they are cached: 61 to 68 MiB were seen.
        holds(max(found) < bound + (24 << 20), f'{n} processes: {[f >> 20 for f in found]} MiB')
        equal(content('bound.h5'), content('free.h5'), f'the store of {n} processes')
        equal([name for name in os.listdir('.') if 'tmp' in name], [], 'temporary files')
    done = on_small_disk(f'{TMERGE} job -q -j1 -o disk/a.h5 --no-html --memory=48M; ls -A disk', 20000)
    equal((done.out, done.ours), ('', ['tmerge: disk: no temporary file for what does not fit into '
                                       'memory (--memory): No space left on device']))


main()
