"""Nsight Systems reports that tmerge has nsys export: here nsys is a program that runs the report's
content."""
import contextlib
import os
import shutil
import signal
import sys

from common import (FULL, contains, content, equal, files, full, has_line, holds, in_turn, lacks,
                    main, merged, permissions_count, put, rows, same_bytes, seldom, small_trace,
                    synth, tables, tmerge, without_dac_override)
from watching import ends, exists, is_open, on_small_disk, started, wait_until

# A report is a line of Python, which sees source, target, and a function that notes that it runs.
NSYS = f'''#!{sys.executable} -ISE
import os, shutil, signal, subprocess, sys, time
here = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
unknown = os.environ.get('NSYS_LACKS', '').split()
for option in sys.argv[1:-3]:
    if option in unknown:  # as 2022.4.2 and 2024.2.3 say it
        print(f"unrecognised option '{{option}}'\\n\\nusage: nsys export [<args>] [nsys-rep-file]\\n"
              "Try 'nsys export --help' for more information.")
        sys.exit(1)
newer = ['--include-blobs=true', '--include-json=true', '--ts-normalize=false']
expected = ['export', '--type', 'sqlite', *(x for x in newer if x not in unknown), '--quiet=true', '-o']
if sys.argv[1:-2] != expected or sys.stdin.read() != '':
    sys.exit('wrong arguments: ' + repr(sys.argv))
target, source = sys.argv[-2:]
if source.startswith('-') or target.startswith('-') or os.path.exists(target):
    sys.exit('a file that is an option, or in the way: ' + repr(sys.argv))
def note(what):
    with open(os.path.join(here, 'notes'), 'a') as file:
        file.write(what + chr(10))
note(f'{{os.environ.get("OMPI_COMM_WORLD_RANK", "-")}} {{os.path.basename(source)}}')
with open(source) as file:
    exec(file.read())
'''
COMMAND = 'nsys export --type sqlite -o {0}.sqlite {0}.nsys-rep'
ADVICE = 'a report of Nsight Systems can only be read from its export; make it with: ' + COMMAND
HANGS = ('open(target, "w").write("partial"); open(target + "-journal", "w").write("more"); '
         'subprocess.Popen(["sleep", "1234"]); note("hangs %d" % os.getpid()); time.sleep(1234)')


def with_nsys():
    """Returns an environment with the program, in a folder that tests do not check."""
    path = put('../bin/nsys', NSYS)
    os.chmod(path, 0o755)
    with contextlib.suppress(FileNotFoundError):
        os.unlink('../notes')
    return {'PATH': os.path.abspath('../bin') + ':' + os.environ['PATH']}


def without_nsys():
    folders = os.environ['PATH'].split(':')
    return {'PATH': ':'.join(f for f in folders if not os.path.exists(os.path.join(f, 'nsys')))}


def notes():
    return sorted(content('../notes').decode().splitlines()) if os.path.exists('../notes') else []


def copies(export):
    return f'shutil.copy({os.path.abspath(export)!r}, target); print("done"); sys.stderr.write("x")'


def job(folder='exports', **options):
    """Makes a job's exports outside of the test's folder; returns names without suffix."""
    shutil.rmtree('../' + folder, ignore_errors=True)
    synth('../' + folder, format='nsys', **{'ranks': 8, 'steps': 3, 'layers': 4, **options})
    os.unlink(f'../{folder}/truth.json')
    return [os.path.splitext(name)[0] for name in files('../' + folder)]


def reports(names, folder='job', exports='exports'):
    for name in names:
        put(f'{folder}/{name}.nsys-rep', copies(f'../{exports}/{name}.sqlite'))


def results(store):
    """Returns all tables, with file names without their suffix."""
    found = tables(store)
    for row in found['job.rank'] + found['job.left_out']:
        row['source'] = os.path.splitext(os.path.basename(row['source']))[0]
    return found


# Input --------------------------------------------------------------------------------------------


def test_reports_give_what_their_exports_give_each_exported_once_by_all_processes():
    names = job()
    reports(names)
    merged('../exports', '-o', '../exports.h5')
    for n in (0, 2, 3) if FULL else (0, 3):
        env = with_nsys()
        merged('job', n=n, env=env)
        equal(results('tmerge.h5'), results('../exports.h5'))
        equal([row['source'] for row in rows('tmerge.h5', 'job.rank')],
              [f'job/{name}.nsys-rep' for name in names])
        equal([note.split()[1] for note in sorted(notes(), key=lambda x: x.split()[1])],
              [f'{name}.nsys-rep' for name in names])
        by_process = [sum(note.startswith(f'{p} ') for note in notes()) for p in range(n)]
        equal(by_process, {0: [], 2: [4, 4], 3: [3, 3, 2]}[n])
        equal(files(), ['job', 'tmerge.h5'])
        if n == 0:
            os.rename('tmerge.h5', '../one.h5')
        else:
            same_bytes('tmerge.h5', '../one.h5')


def test_an_nsys_is_given_the_options_alone_that_its_version_has():
    """2022.4.2 knows no option, 2023.4.4 and 2024.2.3 the last, another version perhaps two."""
    blobs, json, clock = '--include-blobs=true', '--include-json=true', '--ts-normalize=false'
    names = job(ranks=1)
    reports(names)
    for missing in ((blobs, json, clock), (blobs, json), (json,)):
        merged('job', '--force', env={**with_nsys(), 'NSYS_LACKS': ' '.join(missing)})
        equal(len(notes()), 1)
    put(f'job/{names[0]}.nsys-rep', 'sys.exit("--include-blobs is no use here")')
    tmerge('job', '--force', env={**with_nsys(), 'NSYS_LACKS': blobs}).fails(
        3, f'job/{names[0]}.nsys-rep: nsys failed with status 1, saying: --include-blobs is no use here; '
           f'to try it yourself: {COMMAND.format("job/" + names[0])}')


@seldom
def test_one_report_of_several_ranks_is_read_by_several_processes():
    names = job('shared', ranks_per_file=8)
    equal(len(names), 1)
    reports(names, exports='shared')
    merged('../shared', '-o', '../shared.h5')
    merged(f'job/{names[0]}.nsys-rep', n=4, env=with_nsys())
    equal(results('tmerge.h5'), results('../shared.h5'))
    equal(len(notes()), 1)
    equal(files(), ['job', 'tmerge.h5'])


def test_the_rank_is_that_of_the_reports_name_and_a_map_names_the_report():
    names = job(ranks=2)
    put('worker-7.nsys-rep', copies(f'../exports/{names[0]}.sqlite'))
    put('other.nsys-rep', copies(f'../exports/{names[1]}.sqlite'))
    put('map', 'other.nsys-rep 5\n')
    merged('worker-7.nsys-rep', 'other.nsys-rep', '--rank-map', 'map', env=with_nsys())
    equal([(row['rank'], row['source']) for row in rows('tmerge.h5', 'job.rank')],
          [(5, 'other.nsys-rep'), (7, 'worker-7.nsys-rep')])


@seldom
def test_names_of_files_mean_nothing_to_a_shell_or_to_nsys():
    names = job(ranks=1)
    for name in ('a b', "it's", '-o', '--help', '$(touch x)', 'new\nline', '"', '`x`;&|', '%s%n',
                 'ü', '@x', '*', '.nsys-rep'[1:]):
        path, output = f'{name}.nsys-rep', '-out "$x/a.h5'
        os.mkdir('-out "$x')
        put(path, copies(f'../exports/{names[0]}.sqlite'))
        merged(f'--output={output}', '--', path, n=int(FULL or name == '$(touch x)'), env=with_nsys())
        equal([row['source'] for row in rows(f'./{output}', 'job.rank')], [path])
        equal(files('-out "$x'), ['a.h5'])
        shutil.rmtree('-out "$x')
        os.unlink(path)
        equal(files(), [])


# Reports next to their exports --------------------------------------------------------------------


def left_out():
    return {row['source']: (row['reason'], row['message'])
            for row in rows('tmerge.h5', 'job.left_out')}


def test_an_export_that_is_given_with_its_report_is_read_instead_of_it():
    names = job(ranks=2)
    reports(names)
    for name in names:
        shutil.copy(f'../exports/{name}.sqlite', 'job')
    for arguments, n, env in ((['job'], 2, with_nsys()),
                              (['job/*.nsys-rep', 'job/*.sqlite'], 0, without_nsys())):
        said = merged(*arguments, n=n, env=env).out
        equal(notes(), [])
        equal([row['source'] for row in rows('tmerge.h5', 'job.rank')],
              [f'job/{name}.sqlite' for name in names])
        equal(left_out(), {f'job/{name}.nsys-rep': ('exported', 'its export in the same folder is read instead')
                           for name in names})
        contains(said, '! 2 files left out; show job.left_out says which and why\n'
                       '  (2 of them .nsys-rep whose .sqlite export was given too and is read)')


def test_an_export_that_is_not_given_or_older_than_its_report_gives_way_to_it():
    names = job(ranks=1)
    reports(names)
    put(f'job/{names[0]}.sqlite', b'of an earlier run')
    os.utime(f'job/{names[0]}.sqlite', (1, 1))
    message = 'this export is older than its report, which is read instead'
    for operand, left, said in ((f'job/{names[0]}.nsys-rep', {}, []), (
            'job', {f'job/{names[0]}.sqlite': ('outdated', message)},
            [f'tmerge: warning: left out job/{names[0]}.sqlite: {message}'])):
        done = tmerge(operand, env=with_nsys()).expect(0)
        equal((done.ours, left_out(), len(notes())), (said, left, 1))


def test_an_older_export_is_read_where_nsys_cannot_make_a_newer_one():
    names = job(ranks=2)
    reports(names)
    bad = f'job/{names[1]}'
    shutil.copy(f'../exports/{names[1]}.sqlite', f'{bad}.sqlite')
    os.utime(f'{bad}.sqlite', (1, 1))
    put(f'{bad}.nsys-rep', 'sys.exit(3)')
    for n in (0, 2, 3) if FULL else (2,):
        tmerge('job', '--skip-bad', '--force', n=n, env=with_nsys()).expect(0)
        equal({path: reason for path, (reason, _) in left_out().items()},
              {f'{bad}.nsys-rep': 'unreadable'})
        equal([(row['rank'], row['source']) for row in rows('tmerge.h5', 'job.rank')],
              [(0, f'job/{names[0]}.nsys-rep'), (1, f'{bad}.sqlite')])


def test_an_export_of_that_name_in_another_folder_is_another_trace():
    names = job(ranks=2)
    reports(names[:1])
    shutil.copy(f'../exports/{names[1]}.sqlite', f'{names[0]}.sqlite')
    done = tmerge(f'{names[0]}.sqlite', 'job', env=with_nsys())
    done.expect(3)  # both are of rank 0 and overlap
    equal(len(notes()), 1)


def test_without_nsys_a_report_stops_with_the_command_that_exports_it():
    put('job/rank0.nsys-rep', copies('nowhere'))
    put('job/rank1.json', small_trace(1))
    put('../bin/nsys', NSYS)
    os.chmod('../bin/nsys', 0o644)
    not_executable = {'PATH': os.path.abspath('../bin') + ':' + without_nsys()['PATH']}
    for env in (without_nsys(), not_executable):
        tmerge('job/rank0.nsys-rep', n=2, env=env).fails(
            3, 'job/rank0.nsys-rep: ' + ADVICE.format('job/rank0'))
        equal(files(), ['job'])
    merged('job', '-o', '../x.h5', env=without_nsys())  # in a folder it is ignored


def test_a_file_that_is_only_called_a_report_is_reported_by_its_content():
    put('rank0.nsys-rep', small_trace(0))
    merged('rank0.nsys-rep', env=with_nsys())
    equal(notes(), [])
    put('rank0.nsys-rep', b'')
    tmerge('rank0.nsys-rep', env=with_nsys()).fails(3, 'rank0.nsys-rep: file is empty')


# Failures -----------------------------------------------------------------------------------------


FAILURES = {
    'sys.stderr.write("first\\n\\n  the disk \\033[1mis\\tfull\\n"); sys.exit(3)':
        'nsys failed with status 3, saying: first | the disk  [1mis full',
    'print("to the wrong stream"); open(target, "w").write("SQLite format 3\\0"); sys.exit(1)':
        'nsys failed with status 1, saying: to the wrong stream',
    'print("x" * 100000 + "the end", flush=True); sys.exit(2)':
        'nsys failed with status 2, saying: ' + 'x' * 152 + 'the end',
    'pass': 'nsys ended with status 0 but left no SQLite database, without a message',
    'open(target, "w").write("rubbish")':
        'nsys ended with status 0 but left no SQLite database, without a message',
    'open(target, "w").write("x"); os.kill(os.getpid(), 9)':
        'nsys was ended by signal 9, without a message',
    'open(target + "-wal", "w").write("x"); open(target + ".part", "w"); sys.exit(7)':
        'nsys failed with status 7, without a message',
    # A child that it leaves running holds its stream open, for which tmerge would wait.
    'subprocess.Popen(["sleep", "1234"]); sys.exit(8)': 'nsys failed with status 8, without a message',
}


@seldom
def test_an_nsys_that_fails_is_reported_with_its_report_its_command_and_what_it_said():
    names = job(ranks=2)
    reports(names)
    bad = f'job/{names[1]}'
    message = '{}; to try it yourself: ' + COMMAND.format(bad)
    for does, how in FAILURES.items():
        put(bad + '.nsys-rep', does)
        together = FULL or does.startswith(('pass', 'subprocess'))
        for n in (0, 2) if together else (0,):
            done = tmerge('job', n=n, env=with_nsys())
            done.fails(3, f'{bad}.nsys-rep: ' + message.format(how))
            equal(files(), ['job'], does)
        if not together:
            continue
        done = tmerge('job', '--skip-bad', n=2, env=with_nsys()).expect(0)
        has_line(done.err, f'warning: left out {bad}.nsys-rep: ')
        equal(left_out(), {f'{bad}.nsys-rep':
                           ('unreadable', f'{bad}.nsys-rep: ' + message.format(how))})
        os.unlink('tmerge.h5')
        equal(files(), ['job'], does)


def test_what_is_wrong_with_an_export_is_reported_of_the_report():
    put('rank0.nsys-rep', 'open(target, "wb").write(b"SQLite format 3" + bytes(1000))')
    tmerge('rank0.nsys-rep', env=with_nsys()).fails(
        3, 'rank0.nsys-rep: byte 16: in its export: the header of this database is incomplete: '
           'writing it was interrupted')
    put('rank0.nsys-rep', 'import sqlite3; db = sqlite3.connect(target); '
                          'db.execute("CREATE TABLE users (name)"); db.commit()')
    tmerge('rank0.nsys-rep', env=with_nsys()).fails(
        3, 'rank0.nsys-rep: in its export: this SQLite database is not a trace that tmerge reads; its tables: '
           'users')
    equal(files(), ['rank0.nsys-rep'])


def test_an_nsys_that_cannot_be_loaded_is_reported():
    env = with_nsys()
    put('../bin/nsys', b'no program')
    put('rank0.nsys-rep', 'pass')
    path = os.path.abspath('../bin/nsys')
    tmerge('rank0.nsys-rep', n=2, env=env).fails(
        3, f'rank0.nsys-rep: {path} cannot be run: Exec format error')
    equal(files(), ['rank0.nsys-rep'])


def test_a_folder_that_takes_no_file_is_reported_before_anything_runs():
    permissions_count()
    reports(job(ranks=1))
    os.mkdir('locked', 0o555)
    tmerge('job', '-o', 'locked/a.h5', env=with_nsys(), before=without_dac_override).fails(
        4, 'locked/a.h5: no file can be made in its folder: Permission denied')
    equal(notes(), [])


def test_a_full_disk_is_reported():
    names = job(ranks=1)
    reports(names)
    env = with_nsys()
    report = put(f'job/{names[0]}.nsys-rep', 'shutil.copy('
                 f'{os.path.abspath("../exports/" + names[0] + ".sqlite")!r}, target)')
    script = f'PATH={env["PATH"]} {os.environ.get("TMERGE", "tmerge")} --no-html'
    done = on_small_disk(f'{script} {report} -o disk/a.h5; echo $?; ls -A disk', 64)
    has_line(done.err, f'^tmerge: {report}: nsys failed with status 1, saying: .*'
                       'No space left on device')
    equal(done.out, '3\n')


# Ends ---------------------------------------------------------------------------------------------


def running(name):
    """Returns the ids of processes with this argument that run in the test's folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            if (name.encode() in content(f'/proc/{pid}/cmdline') and exists(pid)
                    and os.path.realpath(f'/proc/{pid}/cwd') == os.getcwd()):
                found.append(int(pid))
    return found


def ended_while_exporting(n, number, whose):
    env = with_nsys()
    target = os.path.abspath('../bin/nsys')
    with started(n, 'job', grace=2, env=env) as (launched, pids):
        wait_until(lambda: sum(x.startswith('hangs') for x in notes()) == max(n, 1),
                   'nsys to run on every process')
        # A process that has just started has its arguments only a moment later.
        for name in (target, '1234'):
            wait_until(lambda: len(running(name)) >= max(n, 1), f'{name} to run')
        folder, = (x for x in files() if x.startswith('.tmerge-'))
        holds(len(files(folder)) >= 2, 'there are partial exports')
        os.kill(launched.pid if whose is None else pids[whose], number)
        said = ends(launched, 128 + number if n == 0 else None)
    wait_until(lambda: not running(target), 'nsys to end', 5)
    equal(running('1234'), [], 'what nsys had started')
    equal(files(), ['job'], said)


def test_a_signal_ends_nsys_and_leaves_nothing():
    for rank in range(3):
        put(f'job/rank{rank}.nsys-rep', HANGS)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        ended_while_exporting(0, number, 0)
    ways = ((signal.SIGTERM, 1), (signal.SIGINT, None), (signal.SIGTERM, 0),
            (signal.SIGTERM, None), (signal.SIGINT, 2))
    for number, whose in ways if FULL else ways[:2]:
        ended_while_exporting(3, number, whose)


def test_what_was_exported_is_gone_however_the_reading_ends():
    names = job(ranks=1)
    reports(names)
    bad = put('job/rank9.json', b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", oops')
    tmerge('job', n=2, env=with_nsys()).expect(3)
    equal(files(), ['job'])
    os.unlink(bad)
    os.mkfifo('rank9.json')
    pipe = os.open('rank9.json', os.O_RDWR)  # so that it can be opened and never ends
    for n in in_turn(0, 2):
        with started(n, 'rank9.json', 'job', grace=1, env=with_nsys()) as (launched, pids):
            wait_until(lambda: is_open('rank9.json', pids[0]), 'the pipe to be opened')
            equal([files(x) for x in files() if x.startswith('.tmerge-')], [['1.sqlite']])
            os.kill(pids[0], signal.SIGTERM)
            ends(launched)
        equal(files(), ['job', 'rank9.json'])
    os.close(pipe)


def test_what_a_process_that_is_killed_outright_leaves_is_removed_by_the_others():
    for rank in range(3):
        put(f'job/rank{rank}.nsys-rep', HANGS)
    with started(3, 'job', grace=1, env=with_nsys()) as (launched, pids):
        wait_until(lambda: sum(x.startswith('hangs') for x in notes()) == 3, 'nsys to run')
        os.kill(pids[1], signal.SIGKILL)
        ends(launched)
    equal(files(), ['job'])
    wait_until(lambda: not running(os.path.abspath('../bin/nsys')), 'the orphan to end', 5)
    equal(running('1234'), [], 'what the orphan had started')


@full  # which waits as long as a person would
def test_a_long_export_is_shown_where_a_person_looks_on():
    names = job(ranks=2)
    for name in names:
        put(f'job/{name}.nsys-rep', 'begin = time.monotonic(); time.sleep(2.5); '
            + copies(f'../exports/{name}.sqlite')
            + '; note("ran %f %f" % (begin, time.monotonic()))')
    done = tmerge('job', '--progress=always', n=2, env=with_nsys()).expect(0)
    begins, ends_at = zip(*(map(float, note.split()[1:]) for note in notes()
                               if note.startswith('ran ')))
    equal(len(begins), 2)
    holds(max(begins) < min(ends_at), 'both were exported at the same time')
    has_line(done.err, r'^exporting \[ +\] +0 %, 0 B of \d+ B, 0 B/s$')
    has_line(done.err, r'^exporting \[=+\] +100 %, (\d+ B) of \1, ')
    has_line(done.err, '^reading .* events')
    lacks(tmerge('job', n=2, env=with_nsys()).expect(0).err, 'exporting')


def test_reports_are_only_exported_where_something_needs_it():
    """A run that cannot write its output ends earlier."""
    reports(job(ranks=1))
    put('tmerge.h5', 'precious')
    tmerge('job', env=with_nsys()).fails(
        4, 'tmerge.h5: this file is not a tmerge store; --force overwrites it')
    equal(notes(), [])


if __name__ == '__main__':
    main()
