"""Inputs that cannot be read and outputs that cannot be written: one message, the right status, no
files left, and an existing store unchanged."""
import os
import re

from common import (BASE_NS, big_trace, contains, content, equal, event, files, gzipped, has_line,
                    holds, in_turn, kernel, limited, main, merged, permissions_count, put, rows,
                    seldom, small_trace, some, synth, tmerge, trace, without_dac_override,
                    zstd_framed)


def stops(bad, message, **more):
    """Runs tmerge on a bad file together with good ones, with and without an existing store; the
    message may be a regular expression."""
    for rank in (1, 2):
        put(f'rank{rank}.json', small_trace(rank, at=50))
    for n in in_turn(0, 3):
        before, store = set(files()), n > 0
        if store:
            merged('rank1.json')
            old, was = content('tmerge.h5'), os.stat('tmerge.h5')
        done = tmerge('rank1.json', bad, 'rank2.json', n=n, **more).expect(3)
        equal((len(done.errors), done.warnings, done.out), (1, [], ''), done.err)
        said = done.errors[0][len('tmerge: '):]
        holds(said == message or re.fullmatch(message, said), f'{said!r}\n is not {message!r}')
        if store:
            equal((content('tmerge.h5'), os.stat('tmerge.h5').st_mtime_ns), (old, was.st_mtime_ns))
            os.unlink('tmerge.h5')
        equal(set(files()), before, 'files left')


# Inputs -------------------------------------------------------------------------------------------


def test_an_unreadable_file_is_named():
    permissions_count()
    put('rank0.json', small_trace(0))
    os.chmod('rank0.json', 0)
    stops('rank0.json', 'rank0.json: cannot be opened: Permission denied',
          before=without_dac_override)


def test_a_trace_that_keeps_no_event_is_named():
    put('rank0.json', '{"traceEvents": []}')
    equal(tmerge('rank0.json').expect(3).errors, ['tmerge: the trace has no events'])
    put('rank1.json', '{"traceEvents": []}')
    equal(tmerge('rank0.json', 'rank1.json', n=3).expect(3).errors,
          ['tmerge: no trace has events'])


def test_a_folder_without_traces_is_an_error():
    os.makedirs('job/deeper')
    put('job/notes', 'text')
    tmerge('job', n=3).fails(3, 'there is no trace to read')
    equal(files(), ['job'])


def calls(pid, first):
    return [event('cudaLaunchKernel', 'cuda_runtime', 100 + i, 1, pid=pid, correlation=first + i)
            for i in range(20)]


def bad_files():
    """Yields (name, content or None if missing, expected message)."""
    small, plain, good = small_trace(0), big_trace(events=2000), big_trace()
    at = good.index(b'"name"', 4000000)
    bad = good[:at] + b'!' + good[at:]
    yield 'rank0.json', None, 'No such file or directory'
    yield 'none/rank0.json', None, 'No such file or directory'
    yield 'rank0.json', b'', 'file is empty'
    yield ('rank0.json', b'[{"ph": "X", "cat": "cpu_op", "name": "a", "ts": "x", "dur": 1}, '
           b'{"ph": "B", "name": "b", "ts": 1}, {"ph": "M", "name": "process_name"}]',
           'its 2 timed events cannot be used: 1 have no valid time, 1 have a kind (ph) that is '
           'not read')
    # unit.kineto_errors tests all ways in which a text is no trace.
    yield ('rank0.json', b'{"traceEvents": [{"ph": "X" "ts": 1}]}',
           'byte 28: a comma or } should follow the value')
    yield 'rank0.json', b'{"schemaVersion": 1}', 'byte 20: the document has no traceEvents'
    for name, packed in (('plain', bad), ('gzip', gzipped(bad)), ('zstd', zstd_framed(bad))):
        yield name, packed, f'byte {at}: a key is expected here'
    for cut in (18, 60, 100):  # before the first event ends
        yield ('rank0.json', small[:cut], rf'byte {cut}: the file ends (in the middle of a value|'
               'inside traceEvents|inside its outermost object)')
    for cut in (5, 11):
        yield ('rank0.json.gz', gzipped(plain)[:cut],
               'byte 0: gzip stream is cut short: the file ends inside a member')
    for cut in (3, 9):
        yield ('rank0.json.zst', zstd_framed(plain)[:cut],
               'byte 0: zstd stream is cut short: the file ends inside a frame')
    packed = bytearray(gzipped(plain))
    packed[-8] ^= 1
    yield ('rank0.json.gz', bytes(packed),
           f'byte {len(plain)}: gzip checksum is wrong: the file is damaged')
    yield ('rank0.json.gz', gzipped(plain) + b'rubbish',
           f'byte {len(plain)}: other data follows the gzip stream')
    # Scripts that merge traces rename the processes of each rank, and keep ids; nine shared ids are
    # no accident.
    yield 'rank0.json', trace(calls('host 71', 1) + calls('host 72', 12), 0), SEVERAL
    # Labels that only some events or only processes have, which may come after all events.
    said = ('contains the traces of several ranks, but {} of its events do not say to which rank they belong; give '
            "the ranks' own traces")
    yield ('merged.json', trace(calls('[TP0] 71', 1) + calls('[TP1] 72', 12) + calls('73', 12)[:3]),
           said.format(3))
    # The call of process 1 may belong to either rank, and no call belongs to process 3.
    names = [event('process_name', '', 0, 0) | {'ph': 'M', 'pid': rank, 'args': {'name': text}}
             for rank, text in enumerate(('RANK 0 - GPU', 'python', 'RANK 2 - GPU', 'rank 0, rank 2'))]
    call = event('cudaLaunchKernel', 'cuda_runtime', 0, 1, pid=1, correlation=7)
    kernels = [kernel('gemm', 1, 9, pid=pid, correlation=7) for pid in (0, 2)]
    yield 'merged.json', trace([call, *kernels, *names], 0), said.format(1)
    yield 'merged.json', trace([*kernels, kernel('gemm', 1, 9, pid=3), *names], 0), said.format(1)
    both = [names[0] | {'pid': 9}, names[2] | {'pid': 9}]  # as if process ids had been kept
    yield ('merged.json', trace([kernel('gemm', 1, 9, pid=9), *both], 0), 'contains the traces of several ranks, '
           "which cannot be separated; give the ranks' own traces")


SEVERAL = ('contains the calls of several processes under the same ids, as if traces of several ranks '
           "were put into one file; give the ranks' own traces")


def test_a_bad_file_is_named_with_its_fault():
    for name, text, why in some(bad_files()):
        if text is not None:
            put(name, text)
        stops(name, f'{name}: {why}')
        if text is not None:
            os.unlink(name)


def test_of_two_bad_files_one_is_reported():
    put('rank0.json', '{"traceEvents": [x')
    put('rank3.json', '{"traceEvents": [y')
    equal(len(tmerge('.', n=4).expect(3).errors), 1)


def test_skip_bad_leaves_out_every_kind_of_bad_file_and_says_so():
    put('rank0.json', small_trace(0))
    put('rank1.json', '')
    put('rank2.json', '{"traceEvents": [x')
    put('rank3.json.gz', gzipped(small_trace(3))[:-5] + b'wrong')
    texts = ['./rank1.json: file is empty', './rank2.json: byte 17: a value is expected here']
    done = tmerge('.', '--skip-bad', n=3).expect(0)
    equal((len(done.warnings), done.errors), (3, []), done.err)
    for text in texts:
        contains(done.err, f'tmerge: warning: left out {text.split(":")[0]}: {text}\n')
    contains(done.out, '1 rank on 1 host')
    has_line(done.out, 'left out', r'\b3 files\b')
    found = rows('tmerge.h5', 'job.left_out')
    equal([row['reason'] for row in found], ['unreadable'] * 3)
    equal([row['message'] for row in found][:2], texts)


def test_a_file_into_which_several_ranks_were_put_is_left_out():
    put('rank1.json', small_trace(1))
    put('rank0.json', trace(calls('host 71', 1) + calls('host 72', 12), 0))
    done = tmerge('rank0.json', 'rank1.json', '--skip-bad').expect(0)
    contains(done.err, f'tmerge: warning: left out rank0.json: rank0.json: {SEVERAL}\n')
    # Another process with its own ids is no second rank.
    put('rank0.json', trace(calls('host 71', 1) + calls('host 72', 21), 0))
    merged('rank0.json', 'rank1.json')


def test_runs_of_one_host_are_not_taken_for_one_job():
    """Ranks of one host share a clock. So recordings 5 s apart are of two runs, even if collectives
    align them, and no rank can leave most collectives before another enters them."""
    synth('job', ranks=2, steps=8, seq=True)
    synth('slower', ranks=2, steps=8, seq=True, compute_us=500)
    path, line = 'job/profile_rank_1.json', '! these traces may be of several runs: on one clock,'
    text = content(path).decode()
    base = int(re.search(r'"baseTimeNanoseconds": (\d+)', text).group(1))
    put(path, content('slower/profile_rank_1.json'))
    has_line(merged('job').out, line)
    put(path, text.replace(str(base), str(base + 5 * 10**9)))
    has_line(merged('job', '--force').out, 'recorded at times that do not overlap: ')
    equal([(row['what'], row['ranks']) for row in rows('tmerge.h5', 'job.differs')],
          [('time', '0'), ('time', '1')])


@seldom
def test_traces_recorded_far_apart_are_refused_unless_forced():
    """Clocks are never ten minutes off. If forced, the gap is reported first, as is a smaller one
    if no collective shows how the clocks relate."""
    said = r'recorded at times that do not overlap: 2023-11-14 22:13:20.000 UTC'
    for seconds, gap, begins in ((559 * 86400, '559 days', '2025-05-26 22:13:20'),
                                 (601, '10 minutes', '2023-11-14 22:23:21'), (599, None, None)):
        put('rank0.json', small_trace(0, base=BASE_NS + seconds * 10**9))
        if gap:
            stops('rank0.json', 'these are not traces of one job: rank1.json (2023-11-14 22:13:20 '
                  f'UTC) ends {gap} before rank0.json ({begins} UTC) starts (--force merges them '
                  'anyway)')
        for rank in (1, 2):
            put(f'rank{rank}.json', small_trace(rank, at=50))
        done = merged('.', *(['--force'] if gap else []), n=2)
        has_line(done.out[:done.out.index('\nrank')], said if gap else said[:40])
        equal([(row['what'], row['ranks']) for row in rows('tmerge.h5', 'job.differs')],
              [('time', '1,2'), ('time', '0')])
        os.unlink('tmerge.h5')
    # Recordings of a rank may be of a job that was started again, but not a month later.
    for days, options in ((29, []), (31, ['--force'])):
        put('rank0.json', small_trace(0))
        put('again/rank0.json', small_trace(0, base=BASE_NS + days * 86400 * 10**9))
        if options:
            contains(tmerge('rank0.json', 'again/rank0.json').expect(3).err, 'these are not traces of one job: '
                     'both rank0.json and again/rank0.json, 31 days later, are rank 0 (--force merges them anyway)')
        merged('rank0.json', 'again/rank0.json', *options)
        os.unlink('tmerge.h5')


# Outputs ------------------------------------------------------------------------------------------


def cannot_write(output, why, *options, **more):
    """The output is rejected before anything is read: no malformed trace is reported."""
    put('bad_rank0.json', '{"traceEvents": [x')
    before = files()
    message = f'{output}: {why}' if output else why
    for name, n in (('bad_rank0.json', 3), ('missing.json', 0)):
        tmerge(name, '-o', output, *options, n=n, **more).fails(4, message)
    equal(files(), before, 'files left')


def test_an_output_in_a_folder_that_takes_no_file_is_refused_first():
    permissions_count()
    os.mkdir('closed', 0o555)
    cannot_write('closed/x.h5', 'no file can be made in its folder: Permission denied',
                 before=without_dac_override)


def test_an_output_that_cannot_be_a_file_is_refused_first():
    cannot_write('none/x.h5', 'no file can be made in its folder: No such file or directory')
    os.mkdir('folder.h5')
    os.mkfifo('fifo.h5')
    cannot_write('folder.h5', 'this is a folder', '--force')
    cannot_write('fifo.h5', 'this is not a regular file', '--force')
    cannot_write('', 'the name of the output is empty')
    os.chmod(put('program', 'x'), 0o777)
    cannot_write('program/x.h5', 'no file can be made in its folder: Not a directory')


@seldom
def test_what_is_no_store_is_overwritten_only_with_force():
    for text in ('my thesis', b'\x89HDF\r\n\x1a\n of somebody else', ''):
        put('thesis.h5', text)
        cannot_write('thesis.h5', 'this file is not a tmerge store; --force overwrites it')
    put('rank1.json', small_trace(1))
    tmerge('rank1.json', '-o', 'rank1.json').fails(
        4, 'rank1.json: this file is not a tmerge store; --force overwrites it')
    merged('rank1.json', '-o', 'thesis.h5', '--force')
    merged('rank1.json', '-o', 'thesis.h5')  # now it is a store
    equal(rows('thesis.h5', 'job.job')[0]['events'], 2)


def test_a_full_disk_is_reported_and_leaves_nothing():
    put('rank0.json', big_trace(events=3000))
    merged('rank0.json', '-o', 'whole.h5')
    merged('rank0.json', '-o', 'plain.h5', '--no-compress')
    why = 'tmerge.h5: cannot be written: File too large'
    for option, whole in ((), 'whole.h5'), (('--no-compress',), 'plain.h5'):
        size = os.stat(whole).st_size
        for limit in (0, 100, size // 2, size - 1):
            tmerge('rank0.json', *option, before=limited(limit)).fails(4, why)
            equal(files(), ['plain.h5', 'rank0.json', 'whole.h5'], f'limit {limit}')
        tmerge('rank0.json', *option, before=limited(size)).expect(0)
        old = content('tmerge.h5')
        tmerge('rank0.json', *option, before=limited(size - 1)).fails(4, why)
        equal(content('tmerge.h5'), old, 'the store that was there')
        os.unlink('tmerge.h5')


main()
