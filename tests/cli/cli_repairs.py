"""Malformed and truncated traces: repairs, their diagnostics, and that nothing else changes."""
import base64
import json
import os
import re
import zlib
from collections import Counter

from common import (FULL, contains, content, equal, event as cpu_event, files, has_line, holds,
                    kernel, lacks, main, merged, put, rows, same_bytes, seldom, synth, tmerge,
                    trace)
from stores import Store

GOOD = {'ph': 'X', 'cat': 'cpu_op', 'name': 'good', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 2}


def event(ts, **members):
    return json.dumps({**GOOD, 'ts': ts, **members})


def names(store):
    return Store(store).texts('events/name')


def counted(store):
    return {row['remark']: row['count'] for row in rows(store, 'job.remark')}


# One event of each class: text, class, and name of the event after the repair.
CLASSES = [
    (event(5, args={'x': 7}).replace('7', 'inf'), 'non_finite', 'good'),
    (event(5, args={'x': 7}).replace('7', 'NaN'), 'non_finite', 'good'),
    (event(5, args={'x': 7}).replace('7', 'N/A'), 'non_finite', 'good'),
    (event(5, name='a@b').replace('@', '\n'), 'control_character', 'a\nb'),
    (event(5, name='a@b').replace('@', '\udcff'), 'invalid_utf8', 'a\ufffdb'),
    (event(5, name='a@cuda').replace('@', '\\'), 'backslash', 'a\\cuda'),
    (event(5, name='f(@x@, @y@)').replace('@', '"'), 'unescaped_quote', 'f("x", "y")'),
    (event(5, args={'x': 7}).replace('7', '7,'), 'trailing_comma', 'good'),
    (event(5, x=7).replace('7', '-1.-500'), 'signed_fraction', 'good'),
]


def reported(text, what, count, word):
    """Checks for the meaning from job.remark, not for the key in its column."""
    meaning = next(row['meaning'] for row in rows('tmerge.h5', 'job.remark') if row['remark'] == word)
    contains(' '.join(text.split()), f'{what} ({count}): {meaning}')
    lacks(text, f'{count} {word}')


def unreported(text, word):
    """Checks that a minor diagnostic is in the table, but not on the first screen."""
    row = next(row for row in rows('tmerge.h5', 'job.remark') if row['remark'] == word)
    holds(row['class'] in ('repaired', 'minor'), row)
    lacks(' '.join(text.split()), row['meaning'])


def test_each_class_is_mended_and_counted():
    """Valid text next to it is unchanged."""
    texts = [event(1, name='say "1", "x": \\n')] + [text for text, _, _ in CLASSES] + [event(9)]
    body = '{"traceEvents": [' + ', '.join(texts) + ']}'
    put('rank0.json', body.encode('utf-8', 'surrogateescape'))
    done = merged('rank0.json')
    equal(sorted(names('tmerge.h5')),
          sorted(['say "1", "x": \\n', *(name for _, _, name in CLASSES), 'good']))
    expected = Counter(word for _, word, _ in CLASSES)
    equal(counted('tmerge.h5'), expected)
    for word, n in expected.items():
        unreported(done.out, word)
    rank, = rows('tmerge.h5', 'job.rank')
    equal((rank['events'], rank['repaired_events'], rank['skipped_events'], rank['truncated']),
          (len(texts), len(CLASSES), 0, False))


@seldom
def test_quotes_in_what_a_program_adds_to_a_trace_are_repaired():
    """PyTorch writes add_metadata(key, value) verbatim. The second file is read in parts."""
    for member, found in (('"cmd": "python "x, y" z"', 'python "x, y" z'), ('"a": "q"uote"', 'q"uote'),
                          ('"my "q"": "a"', 'a'), ('"a": "ends""', 'ends"'), ('"a": "plain"', 'plain')):
        for first in (True, False):
            rank, events = '"distributedInfo": {"rank": 3}', f'"traceEvents": [{event(1)}]'
            put('t.json', '{"schemaVersion": 1, ' + ', '.join(
                [member, rank, events] if first else [events, rank, member]) + '}')
            merged('t.json')
            equal([row['rank'] for row in rows('tmerge.h5', 'job.rank')], [3])
            equal(counted('tmerge.h5').get('unescaped_quote'), None if 'plain' in found else 1, member)
            contains(Store('tmerge.h5')['metadata_text/bytes'].tobytes().decode(), json.dumps(found))
    # Repairs that would be guesses.
    for wrong in ('"a" "b"', '"a" 1, "b": 2', '"a": "b" "c": 1', '"a": "b" 1'):
        put('t.json', '{' + wrong + ', "traceEvents": [' + event(1) + ']}')
        equal(tmerge('t.json').status, 3, wrong)


def test_repairs_are_counted_by_trace():
    put('rank0.json', '[' + event(1) + ',]')
    put('rank0_later.json', '[' + event(100) + ',' + CLASSES[0][0].replace('"ts": 5', '"ts": 105')
        + ',' + CLASSES[4][0].replace('"ts": 5', '"ts": 108').replace('\udcff', '\x01') + ']')
    put('map', 'rank0.json 0\nrank0_later.json 0\n')
    done = merged('rank0.json', 'rank0_later.json', '--rank-map', 'map')
    equal([(row['source'], row['remark'], row['class'], row['count'])
           for row in rows('tmerge.h5', 'job.remark')],
          [('rank0.json', 'trailing_comma', 'repaired', 1),
           ('rank0_later.json', 'control_character', 'repaired', 1),
           ('rank0_later.json', 'non_finite', 'repaired', 1)])
    for word in ('non_finite', 'control_character', 'trailing_comma'):
        unreported(done.out, word)
    shown = tmerge('show', 'tmerge.h5', 'job.remark').expect(0).out
    contains(shown, 'bare inf, NaN or N/A, read as null')


def test_what_looks_wrong_is_counted_and_reported():
    gpu = {'cat': 'kernel', 'pid': 0, 'tid': 7}
    put('rank0.json', '[' + ', '.join([
        event(0),                                   # at ts 0
        event(1, dur=-1), event(2, dur=86400e6 + 1),
        event(3, **gpu, dur=10), event(12, **gpu),  # 12 is before 3 + 10
        event(13, **gpu, dur=1),                    # 13 is before 12 + 2
        event(14, **gpu, args={'correlation': 3}),  # 14 touches
        event(86400e6 + 100), *(event(20 + i) for i in range(20)),
        json.dumps({k: v for k, v in GOOD.items() if k != 'name'}),
        json.dumps({k: v for k, v in GOOD.items() if k != 'cat'}),
        *(event(50 + 2 * i, cat='cuda_runtime', args={'correlation': 3}) for i in range(3))]) + ']')
    done = merged('rank0.json')
    equal(counted('tmerge.h5'), {'negative_duration': 1, 'absurd_duration': 1, 'no_name': 1,
                                 'no_category': 1, 'zero_time': 1, 'far_time': 1,
                                 'stream_overlap': 2, 'duplicate_correlation': 1})
    for word in ('negative_duration', 'absurd_duration'):
        reported(done.out, '! events skipped', '1 of 33', word)
    reported(done.out, '! odd, kept as it is', 1, 'duplicate_correlation')
    for word in ('stream_overlap', 'zero_time', 'no_category'):
        unreported(done.out, word)


def test_events_of_unknown_time_are_counted_by_rank_and_the_rest_is_judged():
    """PyTorch 2.12 writes 0 for unknown times. Rank 1 arrives 300 us late at the first of two
    all-reduces; the second has no known time on either rank, nor has a kernel of rank 1. Nothing is
    missing between recorded events, so the verdict holds; "all is well" would not."""
    def reduce(begin, duration, seq):
        return kernel('ncclDevKernel_AllReduce', begin, duration, **{
            'Collective name': 'allreduce', 'Group size': 2, 'Process Group Ranks': '[0, 1]',
            'Process Group Name': '0', 'Seq': seq})
    unknown, at = {'ts': 0.0, 'dur': 0.0}, 90 * 86400e6
    for rank in (0, 1):
        late = 300 * rank
        events = [kernel('gemm', at, 100 + late), reduce(at + 100 + late, 500 - late, 1),
                  {**reduce(0, 0, 2), **unknown}, *[{**kernel('gemm', 0, 0), **unknown}] * rank]
        for i, launched in enumerate(events[:]):
            launched['args']['correlation'] = i + 1
            events.append(cpu_event('cudaLaunchKernel', 'cuda_runtime', at - 20 + i, 1,
                                    correlation=i + 1))
        events.append(cpu_event('cudaDeviceSynchronize', 'cuda_runtime', at + 600, 300))
        put(f'rank{rank}.json', trace(events, rank))
    done = merged('rank0.json', 'rank1.json')
    reported(done.out, '! events skipped', '3 of 16; ranks 0, 1', 'unknown_work_time')
    out = ' '.join(done.out.split())
    contains(out, 'all statements cover only what was recorded, and the only advice is on recording')
    contains(out, 'it came last in 1 of 1 collectives')
    equal(rows('tmerge.h5', 'job.job')[0]['duration_ns'], 920000)
    check, = rows('tmerge.h5', 'clock.check')
    equal((check['matched'], check['incomplete'], check['unmatched']), (1, 0, 0))
    equal([row['wait_ns'] for row in rows('tmerge.h5', 'stragglers.rank')], [300000, 0])
    put('rank0.json', trace([json.loads(event(at)), *[{**kernel('gemm', 0, 0), **unknown}] * 2], 0))
    out = ' '.join(merged('rank0.json').out.split())
    contains(out, 'No GPU events: no event has a valid time All 2 kernels, copies and sets were left out')
    lacks(out, 'window compute')  # no table of zeros


def test_a_rank_that_makes_others_wait_has_a_whole_last_step():
    """Rank 2 begins its last step 600 us after the others, which wait for it: windows of 1010, 1010
    and 410 us. Without the waits of 900 us they are 110, 110 and 410, so no step is partial."""
    for rank, begin, work in ((0, 1000, 100), (1, 1000, 100), (2, 1600, 400)):
        reduce = kernel('ncclDevKernel_AllReduce', begin + work, 1010 - begin + 1000 - work, **{
            'Collective name': 'allreduce', 'Group size': 3, 'Process Group Ranks': '[0, 1, 2]',
            'Process Group Name': '0', 'Seq': 1})
        events = [kernel('gemm', 10, begin - 20), kernel('gemm', begin, work), reduce]
        calls = [cpu_event('cudaLaunchKernel', 'cuda_runtime', at, 1, correlation=i)
                 for i, at in enumerate((2, begin - 4, begin - 2))]
        for i, launched in enumerate(events):
            launched['args']['correlation'] = i
        steps = [cpu_event('ProfilerStep#1', 'user_annotation', 0, begin - 5),
                 cpu_event('ProfilerStep#2', 'user_annotation', begin - 5, 200)]
        put(f'rank{rank}.json', trace(events + calls + steps, rank))
    merged('rank0.json', 'rank1.json', 'rank2.json')
    equal([(row['step'], row['partial'], row['exposed_wait_ns']) for row in rows('tmerge.h5', 'overlap.step')],
          [(1, False, 0), (2, False, 900000)] * 2 + [(1, False, 0), (2, False, 0)])


def test_kernels_long_before_their_launch_tell_a_wrong_clock():
    """Converting GPU times to the host's clock is off by microseconds: for NPUs by 24 us."""
    for early, said in ((1.5, False), (24, False), (500, True)):
        call = {**json.loads(event(1000, cat='cuda_runtime')), 'args': {'correlation': 7}}
        put('rank0.json', trace([call, kernel('gemm', 1000 - early, 50, correlation=7)], 0))
        out = ' '.join(merged('rank0.json').out.split())
        equal('! the clock of the GPU of 1 rank is wrong: kernels begin up to 500.0 us before their '
              'launch' in out, said)
        equal('wrong' in out, said)
        clock, = rows('tmerge.h5', 'clock.rank')
        equal((clock['early_kernels'], clock['earliest_ns']), (1, early * 1000))
    for late, said in ((24, False), (500, True)):  # the host waited until 1020
        wait = {**json.loads(event(1005, cat='cuda_runtime')), 'name': 'cudaDeviceSynchronize',
                'dur': 15}
        put('rank0.json', trace([{**call, 'dur': 1}, wait,
                                 kernel('gemm', 1002, 18 + late, correlation=7)], 0))
        equal('! the times of the GPU of 1 rank are wrong: kernels end up to 500.0 us after the '
              'host had waited for them' in ' '.join(merged('rank0.json').out.split()), said)
        equal(rows('tmerge.h5', 'job.integrity')[0]['latest_ns'], late * 1000)


# Truncated traces ---------------------------------------------------------------------------------


@seldom
def test_a_truncated_trace_of_the_generator_is_flagged_among_the_others():
    for compress in ('none', 'gzip', 'zstd'):
        job = f'job_{compress}'
        synth(job, ranks=4, compress=compress)
        path, = (f'{job}/{name}' for name in files(job) if 'profile_rank_2' in name)
        put(path, content(path)[:os.path.getsize(path) * 2 // 3])
        for n in (0, 1, 2, 3) if FULL else (0, 3) if compress == 'gzip' else (0,):
            done = tmerge(job, '-o', f'{compress}{n}.h5', n=n).expect(0)
            holds(done.out.startswith('! On rank 2, the trace is cut short'), done.out)
            same_bytes(f'{compress}0.h5', f'{compress}{n}.h5')
        equal([row['truncated'] for row in rows(f'{compress}0.h5', 'job.rank')],
              [False, False, True, False])


def test_a_cut_trace_is_compared_with_the_whole_ones():
    """Each rank launches 10 kernels of 10 us; rank 1 is cut after 6 of them: 60 of 100 us, 40 % less.
    Cut after the launches, it has no kernels; alone, it has nothing to be compared with."""
    launches = [event(100 * i, dur=5, name='cudaLaunchKernel', cat='cuda_runtime', args={'correlation': i})
                for i in range(10)]
    kernels = [event(100 * i + 20, dur=10, name='gemm', cat='kernel', tid=7,
                     args={'stream': 7, 'device': 0, 'correlation': i}) for i in range(10)]
    for rank in range(3):
        put(f'rank{rank}.json', '{"distributedInfo": {"rank": %d}, "traceEvents": [' % rank
            + ', '.join(launches + kernels) + ']}')
    for n, lacks in ((6, 40.0), (0, 100.0)):
        put('rank1.json', '{"distributedInfo": {"rank": 1}, "traceEvents": ['
            + ', '.join(launches + kernels[:n]) + ', {"ph": "X", "na')
        done = tmerge('rank0.json', 'rank1.json', 'rank2.json', '--force', '--strict').expect(3)
        contains(' '.join(done.out.split()), 'On rank 1, the trace is cut short and lacks about ')
        contains(done.out, 'Advice: Copy the traces that are cut short again')
        equal([row['cut_pct'] for row in rows('tmerge.h5', 'job.integrity')], [None, lacks, None])
    alone = merged('rank1.json', '--force').out
    holds(alone.startswith('! truncated, and read up to where they are cut: the traces of rank 1\n'), alone)
    contains(' '.join(alone.split()), 'but one trace is cut short: if it was copied')


@seldom
def test_a_truncated_trace_takes_the_base_time_of_the_others():
    """Until 2025 it was after the events; cut off, its times would be in 1970."""
    base = 1711964646000000000
    for rank in (0, 1, 2):
        text = ('{"distributedInfo": {"rank": %d}, "traceEvents": [' % rank + event(1000 + rank)
                + ', ' + event(2000) + '], "baseTimeNanoseconds": ' + str(base) + '}')
        put(f'rank{rank}.json', text if rank != 1 else text[:-30])
    merged('rank0.json', 'rank1.json', 'rank2.json', n=2)
    begins = [row['begin_ns'] for row in rows('tmerge.h5', 'job.rank')]
    equal(begins, [base + 1000000, base + 1001000, base + 1002000])
    equal([(row['rank'], row['remark'], row['count'])
           for row in rows('tmerge.h5', 'job.remark')], [(1, 'adopted_base', 2)])


def test_what_was_cut_short_or_has_no_gpu_is_not_compared():
    """Of ranks 0 to 3, rank 1 ends in the GPU events of its step 5 (they follow the host events,
    whose steps 3 to 7 are complete), and rank 2 has none: only 0 and 3 have whole steps."""
    synth('job', ranks=4, no_instances=True)
    path = 'job/profile_rank_{}.json'.format
    whole = content(path(1))
    put(path(1), whole[:len(whole) * 6 // 10])
    found = json.loads(content(path(2)))
    found['traceEvents'] = [e for e in found['traceEvents']
                            if not e.get('cat', '').startswith(('kernel', 'gpu_'))]
    put(path(2), json.dumps(found))
    os.unlink('job/truth.json')
    done = merged('job')
    has_line(done.out, r'^Compute of 2 ranks even within .* %( in whole steps)? \(2 ranks not compared\), ')
    equal([(row['rank'], row['step']) for row in rows('tmerge.h5', 'overlap.step')
           if row['partial']], [(1, 5), (1, 6), (1, 7)])
    job = rows('tmerge.h5', 'imbalance.job')[0]
    compute = [row['compute_ns'] for row in rows('tmerge.h5', 'overlap.rank')]
    equal((job['ranks'], job['steps'], job['partial_steps']), (2, 5, 3))
    equal(job['max_compute_ns'], max(compute[0], compute[3]))
    os.unlink(path(1))
    os.unlink(path(3))
    has_line(merged('job').out, 'Imbalance: unknown, because no two ranks have a whole step')


SKIPPED = {'ph': 'B', 'name': 'b', 'ts': 1}


def test_a_trace_that_is_mostly_skipped_is_reported_by_itself():
    """Exactly half is not less than half."""
    for n_skipped, said in ((1, False), (2, True)):
        put('rank0.json', json.dumps([json.loads(event(1))] + [SKIPPED] * n_skipped))
        out = merged('rank0.json').out
        equal('! less than half of the events could be used in the traces of rank 0' in out, said)
        reported(out, '! events skipped', f'{n_skipped} of {n_skipped + 1}', 'other_phase')
        lacks(out, 'mostly_skipped')


def test_shares_of_a_recording_far_longer_than_its_steps_say_of_what_they_are():
    """Kernels of 10, 50 and 10 us in 10 ms: 0.7 %. The second is in a step of 100 us, 1.0 % of the
    whole, of which it takes half."""
    step = {'ph': 'X', 'cat': 'user_annotation', 'pid': 1, 'tid': 1, 'ts': 1000, 'dur': 100}
    kernels = [kernel('a', 0, 10), kernel('b', 1010, 50), kernel('c', 9990, 10)]
    for events, said in ((kernels, False), (kernels + [{**step, 'name': 'ProfilerStep#3'}], True),
                         ([kernels[1], {**step, 'name': 'ProfilerStep#3'}], False)):
        put('rank0.json', json.dumps(events))
        out = ' '.join(merged('rank0.json').out.split())
        equal('GPU: compute 0.7 %, copies 0.0 %, idle 99.3 % Steps: '
              'compute 50.0 %, copies 0.0 %, idle 50.0 %' in out, said)
        equal('Steps:' in out, said)


# Log of a trace without GPU events, and the expected first message.
NO_EVENTS = (
    ('', 'No GPU events: only the work of hosts is known', 'ProfilerActivity.CUDA'),
    ('vpu_work', 'No GPU events: tmerge recognises no event as device work', 'device work: vpu_work 1 (name the categories that are: merge '
     '--device-categories NAME,...)'),
    ('CUPTI_ERROR_NOT_INITIALIZED (15)', 'No GPU events: the profiler could not record them',
     'CUPTI did not start: permission is missing'),
    ('CUPTI_ERROR_NOT_INITIALIZED (15)", "failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)',
     'No GPU events: the profiler could not record them', 'NVreg_RestrictProfilingToAdminUsers=0'),
    ('CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)',
     'No GPU events: the profiler could not record them', 'Run without it'),
)


def test_a_job_without_events_of_a_device_says_so_first_and_why():
    for log, headline, evidence in NO_EVENTS:
        category = log if log == 'vpu_work' else 'cpu_op'
        put('rank0.json', '{"traceEvents": [' + event(1, cat=category) + '], "INFO": ["If you see '
            'CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, ..."], "WARNING": ["function cuptiX() failed '
            'with error ' + log + '"]}')
        out = ' '.join(merged('rank0.json').out.split())
        contains(out, headline)
        contains(out, evidence)
        equal(rows('tmerge.h5', 'advice.item'), [])
    out = merged('rank0.json', '--device-categories=a,cpu_op').out
    has_line(out, 'GPU: compute 100.0 %')


def test_ranks_that_count_from_0_have_no_time_with_those_that_do_not():
    put('rank0.json', trace([kernel('gemm', 1, 2)], 0))
    put('rank1.json', '[' + event(1, cat='kernel') + ']')
    out = merged('rank0.json', 'rank1.json', '--force', page=True).out
    unknown = 'the total length is not known: some times count from 0, others since 1970'
    has_line(out, unknown)
    job, dated = rows('tmerge.h5', 'job.job')[0], rows('tmerge.h5', 'job.rank')[0]
    equal((job['begin_ns'], job['duration_ns']), (dated['begin_ns'], None))
    block = re.search(rb'id="timeline.job">([^<]*)<', content('tmerge.html')).group(1)
    # after the version comes the job's duration: rank 1's 3 us from 0, not 55 years
    equal(list(zlib.decompress(base64.b64decode(block))[1:3]), [0x80 | 3000 & 0x7f, 3000 >> 7])
    # Both kinds of times in two recordings of one rank.
    put('rank0-again.json', '[' + event(1, cat='kernel') + ']')
    has_line(merged('rank0.json', 'rank0-again.json', '--force').out, unknown)
    lacks(merged('rank0.json').out, 'not known: the times')


def in_part(lost, name='cudaLaunchKernel', late=(), steps=range(20)):
    """Returns a rank of 20 steps of 1 ms, each with a launch, a kernel of 700 us and a wait for it;
    steps in `lost` have no kernel, and in those in `late` it ends 5 ms late."""
    events = []
    for step in steps:
        at = 1000 * step
        events += [cpu_event('ProfilerStep#%d' % step, 'user_annotation', at, 1000),
                   cpu_event(name, 'cuda_runtime', at + 10, 5, correlation=step + 1),
                   cpu_event('cudaDeviceSynchronize', 'cuda_runtime', at + 20, 900)]
        if step not in lost:
            events.append(kernel('gemm', at + 100, 700 + 5000 * (step in late),
                                 correlation=step + 1))
    return trace(events, 0)


def beyond_all():
    return in_part((), late=(19,)).replace(b'5700', b'35700').replace(b'cudaDeviceSynchronize', b'cudaEventQuery')


@seldom
def test_what_was_not_recorded_is_said_first_and_nothing_concluded_from_it():
    for name, content_of, said in (
            ('whole', in_part(()), None),
            ('steps', in_part(range(2, 20)), 'Kernels of 18 of 20 steps were not recorded (18 of 20 '
             'launches have no kernel); the GPU may have worked unrecorded for up to 16.4 ms; '
             'all statements cover only what was recorded, and the only advice is on recording'),
            ('graphs', in_part(range(1, 20, 2), 'hipGraphLaunch'), 'Kernels of 10 of 20 steps were '
             'not recorded (the compute kernels of 10 graph launches were not recorded)'),
            # A kernel runs from 3100 to 8800 us, over the 5 that follow: 5.7 ms, and 14 x 700 us of others;
            # if it ended when the next begins, 1 ms and 19 x 700 us.
            ('late', in_part((), late=(3,)), 'A kernel (gemm) ends after the next 5 kernels of its stream: '
             '1.20 ms are in doubt (compute 15.5 ms with them, 14.3 ms without)'),
            # The last kernel lasts 5.7 ms, although the host's wait for it ended in the first ms; or 35.7
            # ms, longer than all else took. Without this kernel there are 19 x 700 us.
            ('waited', in_part((), late=(19,)), 'A kernel (gemm) lasts longer than is possible: '
             '5.70 ms are in doubt (compute 19.0 ms with them, 13.3 ms without)'),
            ('beyond', beyond_all(), 'A kernel (gemm) lasts longer than is possible: '
             '35.7 ms are in doubt (compute 49.0 ms with them, 13.3 ms without)')):
        put(name + '.json', content_of)
        out = ' '.join(merged(name + '.json', '-o', name + '.h5').out.split())
        equal([item['rule'] for item in rows(name + '.h5', 'advice.item')],
              ['recording' if said else 'gpu_utilization'], name)
        results = {box['box']: box['result'] for box in rows(name + '.h5', 'checklist.box')}
        equal(results['gpu_utilization'], 'unknown' if said else 'fail', name)
        equal(out.startswith('! '), said is not None, out)
        contains(out, said or 'One rank: its GPU computes')
        strict = tmerge(name + '.json', '-o', 'strict.h5', '--strict')
        equal(strict.status, 3 if said else 0)
        gate = tmerge('gate', 'whole.h5', name + '.h5', '--max', 'idle=+2%')
        equal(gate.status, 7 if said else 0, gate.out)
        equal('! after: ' in gate.out, said is not None, gate.out)
    # No kernel at all, on the rank or in its second recording.
    os.mkdir('two')
    os.rename('whole.json', 'two/a.json')
    put('two/b.json', in_part(range(30, 50), steps=range(30, 50)))
    put('none.json', in_part(range(20)))
    for traces, steps in (('two', 40), ('none.json', 20)):
        out = ' '.join(merged(traces).out.split())
        contains(out, f'! Kernels of 20 of {steps} steps were not recorded')
    # A kernel that ends between two recordings.
    put('end/a.json', beyond_all())
    put('end/b.json', in_part((), steps=range(100, 120)))
    contains(merged('end').out, '! A kernel (gemm) lasts longer')
    # Both ranks compute alike in the 6 steps that both have.
    put('some/rank0.json', in_part(range(6, 20)))
    put('some/rank1.json', in_part(()).replace(b'"rank": 0', b'"rank": 1'))
    merged('some')
    row, = rows('tmerge.h5', 'imbalance.job')
    equal((row['ranks'], row['steps'], row['imbalance_ns']), (2, 6, 0))


main()
