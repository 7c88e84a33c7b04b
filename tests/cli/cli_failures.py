"""What cannot be read or written: one message, the right status, nothing left behind, and a store
that was there before as it was."""
import os
import re
import zlib

from common import (BASE_NS, TMERGE, big_trace, content, contains, equal, event, files, gzipped, has_line, holds,
                    launcher, limited, main, merged, permissions_count, put, rows, run, same_bytes,
                    small_trace, synth, tmerge, trace, without_dac_override, zstd_framed)

# Malformed traces: @ stands before the byte at which the text stops being a trace.
MALFORMED = [
    ('{"traceEvents": [{"ph": "X" @"ts": 1}]}', 'a comma or } should follow the value'),
    ('{"traceEvents": [{"ph" @"X"}]}', 'a colon should follow the key'),
    ('{"traceEvents": [{"ph": "X", @,"ts": 1}]}', 'a key should stand here'),
    ('{"traceEvents": [{"name": "a" @"ph": "X", "ts": 1}]}', 'a comma or } should follow the value'),
    ('{"traceEvents": [{"name": "a", "ph" @"X", "ts": 1}]}', 'a colon should follow the key'),
    ('{"traceEvents": [{} @{}]}', 'a comma or ] should follow the event'),
    ('{"traceEvents": []} @x', 'something follows the end of the document'),
    ('{"traceEvents": []@]', 'a comma or } should follow the value'),
    ('{"traceEvents": [{"a": nul@}]}', 'only true, false and null are words in JSON'),
    ('{"traceEvents": [{"ts": -@x}]}', 'a number needs a digit here'),
    ('{"traceEvents": [{"dur": 1.@}]}', 'a number needs a digit behind its point'),
    ('{"traceEvents": [{"a": 0@1}]}', 'a comma or } should follow the value'),
    ('{"traceEvents": [], "baseTimeNanoseconds": @"x"}', 'baseTimeNanoseconds is no time'),
    ('{"schemaVersion": 1}@', 'the document has no traceEvents'),
]
ENDS = r'the file ends (in the middle of a value|inside traceEvents|inside its outermost object)'


def stops(bad, message, processes=(0, 3), status=3, **more):
    """Runs tmerge on a bad file beside good ones, with and without a store from before; the
    message may be a regular expression. Returns the last run."""
    for rank in (1, 2):
        put(f'rank{rank}.json', small_trace(rank, at=50))
    for n in processes:
        before, store = set(files()), n > 0
        if store:
            merged('rank1.json')
            old, was = content('tmerge.h5'), os.stat('tmerge.h5')
        done = tmerge('rank1.json', bad, 'rank2.json', n=n, **more).expect(status)
        equal((len(done.errors), done.warnings, done.out), (1, [], ''), done.err)
        said = done.errors[0][len('tmerge: '):]
        holds(said == message or re.fullmatch(message, said), f'{said!r}\n is not {message!r}')
        if store:
            equal((content('tmerge.h5'), os.stat('tmerge.h5').st_mtime_ns), (old, was.st_mtime_ns))
            os.unlink('tmerge.h5')
        equal(set(files()), before, 'files left')
    return done


def offset_in(done):
    return int(re.search(r': byte (\d+): ', done.err).group(1))


# Inputs -------------------------------------------------------------------------------------------


def test_a_missing_file_is_named():
    stops('rank0.json', 'rank0.json: No such file or directory')
    stops('none/rank0.json', 'none/rank0.json: No such file or directory')


def test_an_unreadable_file_is_named():
    permissions_count()
    put('rank0.json', small_trace(0))
    os.chmod('rank0.json', 0)
    stops('rank0.json', 'rank0.json: cannot be opened: Permission denied',
          before=without_dac_override)


def test_a_trace_that_keeps_no_event_is_named():
    put('rank0.json', '{"traceEvents": []}')
    equal(tmerge('rank0.json').expect(3).errors, ['tmerge: the trace holds no event'])
    put('rank1.json', '{"traceEvents": []}')
    equal(tmerge('rank0.json', 'rank1.json', n=3).expect(3).errors,
          ['tmerge: no trace holds an event'])
    put('rank0.json', '[{"ph": "X", "cat": "cpu_op", "name": "a", "ts": "x", "dur": 1}, '
        '{"ph": "B", "name": "b", "ts": 1}, {"ph": "M", "name": "process_name"}]')
    stops('rank0.json', 'rank0.json: none of its 2 timed events can be used: 1 without a valid time, '
          '1 of a kind (ph) that is not read')


def test_an_empty_file_is_named():
    put('rank0.json', '')
    stops('rank0.json', 'rank0.json: file is empty')


def test_a_folder_without_traces_is_an_error():
    os.makedirs('job/deeper')
    put('job/notes', 'text')
    for n in (0, 3):
        tmerge('job', n=n).fails(3, 'there is no trace to read')
    equal(files(), ['job'])


def test_malformed_json_is_told_with_its_byte():
    for i, (text, why) in enumerate(MALFORMED):
        bad = text.replace('@', '', 1).encode('utf-8', 'surrogateescape')
        at = len(text[:text.index('@')].encode('utf-8', 'surrogateescape'))
        put('rank0.json', bad)
        stops('rank0.json', f'rank0.json: byte {at}: {why}', processes=(0, 3) if i < 2 else (0,))


def test_the_byte_is_exact_far_behind_the_start_and_in_what_was_compressed():
    good = big_trace()
    at = good.index(b'"name"', 4000000)
    bad = good[:at] + b'!' + good[at:]
    for name, packed in (('plain', bad), ('gzip', gzipped(bad)), ('zstd', zstd_framed(bad))):
        put(name, packed)
        stops(name, f'{name}: byte {at}: a key should stand here')


def test_a_trace_that_is_cut_before_its_first_event_ends_is_refused():
    for cut in (18, 60, 100):
        put('rank0.json', small_trace(0)[:cut])
        stops('rank0.json', f'rank0.json: byte {cut}: {ENDS}', processes=(0, 3))
    for cut in (5, 11):
        put('rank0.json.gz', gzipped(big_trace(events=20000))[:cut])
        stops('rank0.json.gz', 'rank0.json.gz: byte 0: gzip stream is cut short: the file ends '
              'inside a member')
    for cut in (3, 9):
        put('rank0.json.zst', zstd_framed(big_trace(events=20000))[:cut])
        stops('rank0.json.zst', 'rank0.json.zst: byte 0: zstd stream is cut short: the file ends '
              'inside a frame')


def test_a_wrong_checksum_is_told_though_all_bytes_were_read():
    plain = big_trace(events=2000)
    packed = bytearray(gzipped(plain))
    packed[-8] ^= 1
    put('rank0.json.gz', bytes(packed))
    stops('rank0.json.gz', f'rank0.json.gz: byte {len(plain)}: gzip checksum is wrong: the file is '
          'damaged')
    put('rank0.json.gz', gzipped(plain) + b'rubbish')
    stops('rank0.json.gz', f'rank0.json.gz: byte {len(plain)}: there is rubbish behind the gzip '
          'stream', processes=(0,))


def test_of_two_bad_files_one_is_told():
    put('rank0.json', '{"traceEvents": [x')
    put('rank3.json', '{"traceEvents": [y')
    for n in (2, 4):
        done = tmerge('.', n=n).expect(3)
        equal(len(done.errors), 1, done.err)


def test_skip_bad_leaves_out_every_kind_of_bad_file_and_says_so():
    put('rank0.json', small_trace(0))
    put('rank1.json', '')
    put('rank2.json', '{"traceEvents": [x')
    put('rank3.json.gz', gzipped(small_trace(3))[:-5] + b'wrong')
    texts = ['rank1.json: file is empty', 'rank2.json: byte 17: a value should stand here']
    for n in (0, 3):
        done = tmerge('.', '--skip-bad', '-o', f'../store{n}.h5', n=n).expect(0)
        equal((len(done.warnings), done.errors), (3, []), done.err)
        for text in texts:
            contains(done.err, f'tmerge: warning: left out ./{text.split(":")[0]}: ./{text}\n')
        contains(done.out, '1 rank on 1 host')
        has_line(done.out, 'left out', r'\b3 files\b')
        found = rows(f'../store{n}.h5', 'job.left_out')
        equal([row['reason'] for row in found], ['unreadable'] * 3)
        equal([row['message'] for row in found][:2], ['./' + text for text in texts])
    same_bytes('../store0.h5', '../store3.h5')
    os.unlink('../store0.h5')
    os.unlink('../store3.h5')


def test_a_file_into_which_several_ranks_were_put_is_refused():
    """As scripts do it: each rank's processes with another name, the ids as they were. Nine shared
    ids are no accident; another process with ids of its own is none."""
    def calls(pid, first, n):
        return [event('cudaLaunchKernel', 'cuda_runtime', 100 + i, 1, pid=pid,
                      correlation=first + i) for i in range(n)]

    put('rank0.json', trace(calls('[TP0] 71', 1, 20) + calls('[TP1] 72', 12, 20), 0))
    message = ("rank0.json: holds the calls of several processes under the same ids, as when traces "
               "of several ranks were put into one file; give the ranks' own traces")
    stops('rank0.json', message)
    done = tmerge('rank0.json', 'rank1.json', '--skip-bad').expect(0)
    contains(done.err, f'tmerge: warning: left out rank0.json: {message}\n')
    put('rank0.json', trace(calls('[TP0] 71', 1, 20) + calls('[TP1] 72', 21, 20), 0))
    merged('rank0.json', 'rank1.json')


def test_traces_recorded_far_apart_are_refused_unless_forced():
    """Nobody's clock is ten minutes off. What is forced is said first, and so is what is nearer where
    no collective proves how the clocks stood."""
    said = r'recorded at times that do not overlap: 2023-11-14 22:13:20.000 UTC'
    for seconds, gap, begins in ((559 * 86400, '559 days', '2025-05-26 22:13:20'),
                                 (601, '10 minutes', '2023-11-14 22:23:21'), (599, None, None)):
        put('rank0.json', small_trace(0, base=BASE_NS + seconds * 10**9))
        if gap:
            stops('rank0.json', 'these are no traces of one job: rank1.json (2023-11-14 22:13:20 '
                  f'UTC) ends {gap} before rank0.json ({begins} UTC) begins (--force merges them '
                  'all the same)')
        for rank in (1, 2):
            put(f'rank{rank}.json', small_trace(rank, at=50))
        done = merged('.', *(['--force'] if gap else []), n=2)
        has_line(done.out[:done.out.index('\nrank')], said if gap else said[:40])
        equal([(row['what'], row['ranks']) for row in rows('tmerge.h5', 'job.differs')],
              [('time', '1,2'), ('time', '0')])
        os.unlink('tmerge.h5')


# Outputs ------------------------------------------------------------------------------------------


def cannot_write(output, why, *options, **more):
    """The output is refused before anything is read: a malformed trace beside it is not told."""
    put('bad_rank0.json', '{"traceEvents": [x')
    before = files()
    message = f'{output}: {why}' if output else why
    for n in (0, 3):
        tmerge('bad_rank0.json', '-o', output, *options, n=n, **more).fails(4, message)
    tmerge('missing.json', '-o', output, *options, **more).fails(4, message)
    equal(files(), before, 'files left')


def test_an_output_in_a_missing_folder_is_refused_first():
    cannot_write('none/x.h5', 'its folder takes no file: No such file or directory')


def test_an_output_in_a_folder_that_takes_no_file_is_refused_first():
    permissions_count()
    os.mkdir('closed', 0o555)
    cannot_write('closed/x.h5', 'its folder takes no file: Permission denied',
                 before=without_dac_override)


def test_an_output_that_is_a_folder_a_device_or_nameless_is_refused_first():
    os.mkdir('folder.h5')
    os.mkfifo('fifo.h5')
    cannot_write('folder.h5', 'this is a folder')
    cannot_write('folder.h5', 'this is a folder', '--force')
    cannot_write('fifo.h5', 'this is no regular file', '--force')
    cannot_write('', 'the name of the output is empty')
    os.chmod(put('program', 'x'), 0o777)
    cannot_write('program/x.h5', 'its folder takes no file: Not a directory')


def test_what_is_no_store_is_overwritten_only_with_force():
    for text in ('my thesis', b'\x89HDF\r\n\x1a\n of somebody else', ''):
        put('thesis.h5', text)
        cannot_write('thesis.h5', 'this file is no tmerge store; --force overwrites it')
    put('rank1.json', small_trace(1))
    tmerge('rank1.json', '-o', 'rank1.json').fails(
        4, 'rank1.json: this file is no tmerge store; --force overwrites it')
    merged('rank1.json', '-o', 'thesis.h5', '--force')
    merged('rank1.json', '-o', 'thesis.h5')  # now it is a store
    equal(rows('thesis.h5', 'job.job')[0]['events'], 2)


def test_a_full_disk_is_told_and_leaves_nothing():
    put('rank0.json', big_trace(events=3000))
    merged('rank0.json', '-o', 'whole.h5')
    merged('rank0.json', '-o', 'plain.h5', '--no-compress')
    why = 'tmerge.h5: cannot be written: File too large'
    for option, whole in ((), 'whole.h5'), (('--no-compress',), 'plain.h5'):
        size = os.stat(whole).st_size
        for limit in (0, 100, 4096, size // 2, size - 1):
            tmerge('rank0.json', *option, before=limited(limit)).fails(4, why)
            equal(files(), ['plain.h5', 'rank0.json', 'whole.h5'], f'limit {limit}')
        tmerge('rank0.json', *option, before=limited(size)).expect(0)
        old = content('tmerge.h5')
        tmerge('rank0.json', *option, before=limited(size - 1)).fails(4, why)
        equal(content('tmerge.h5'), old, 'the store that was there')
        os.unlink('tmerge.h5')


def test_a_full_disk_is_told_once_under_mpirun():
    for rank in range(3):
        put(f'rank{rank}.json', big_trace(rank, events=3000))
    merged('.')
    old = content('tmerge.h5')
    # Open MPI's shared memory would need room in files too.
    done = run(launcher(3) + ['sh', '-c', 'ulimit -f 40; exec "$@"', 'sh', TMERGE, '--no-html', 'rank0.json',
                              'rank1.json', 'rank2.json'], env={'OMPI_MCA_btl': 'self,tcp'})
    done.fails(4, 'tmerge.h5: cannot be written: File too large')
    equal(files(), ['rank0.json', 'rank1.json', 'rank2.json', 'tmerge.h5'])
    equal(content('tmerge.h5'), old, 'the store that was there')


main()
