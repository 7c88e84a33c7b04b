"""Faults outside of a run while it runs: inputs and outputs that vanish, a disk or memory that is
too small, streams that are full or closed. One message, the right status, no files left, and an
existing store unchanged."""
import contextlib
import itertools
import os
import re
import shutil
import signal

from common import (FULL, TMERGE, Skip, command, contains, content, equal, files, holds, in_turn,
                    launcher, main, merged, put, rows, run, seldom, small_trace, tmerge)
from jobs import store, use
from watching import (NAMED, NAMELESS, ends, is_open, on_small_disk, ours, over, started, state,
                      strays, wait_until, while_writing)

# Inputs that vanish --------------------------------------------------------------------------------


def feed(path, pid, text, change=lambda: None):
    """Once a process has opened a pipe, runs change, then writes all of a text to the pipe."""
    pipe = []

    def opened():
        with contextlib.suppress(OSError):
            pipe.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        return pipe

    wait_until(opened, f'{path} to be opened')
    wait_until(lambda: is_open(path, pid), f'{path} to be open')
    change()
    os.write(pipe[0], text)
    os.close(pipe[0])
    wait_until(lambda: not is_open(path, pid), f'{path} to be closed')


def vanishes(n, opening, change, message):
    """Runs tmerge on a pipe and two files. The pipe is opened for format recognition (0), then
    again (1) for reading; at the selected opening, while the run waits for the pipe, a later file
    changes."""
    for rank in (1, 2):
        put(f'rank{rank}.json', small_trace(rank))
    os.mkfifo('rank0.json')
    with started(n, 'rank0.json', 'rank1.json', 'rank2.json') as (launched, pids):
        for i in range(1 + opening):
            feed('rank0.json', pids[0], small_trace(0), change if i == opening else lambda: None)
        said = ends(launched, 3)
    equal(len(ours(said)), 1, said)
    holds(re.fullmatch('tmerge: ' + message, ours(said)[0]), said)
    os.unlink('rank0.json')
    equal([name for name in files() if not name.startswith('rank')], [])


GONE = 'cannot be opened: No such file or directory'


def test_a_file_that_vanishes_or_is_cut_is_named():
    for n in in_turn(0, 1):
        vanishes(n, 0, lambda: os.unlink('rank1.json'), 'rank1.json: ' + GONE)
        vanishes(n, 1, lambda: os.unlink('rank2.json'), 'rank2.json: ' + GONE)
        vanishes(n, 1, lambda: os.truncate('rank2.json', 60), 'rank2.json: byte 60: the file ends .*')
        vanishes(n, 1, lambda: os.truncate('rank2.json', 0), 'rank2.json: file is empty')
    # Process 0 waits for the pipe and then opens rank2.json; the other has finished.
    vanishes(2, 0, lambda: os.unlink('rank2.json'), 'rank2.json: ' + GONE)


def test_a_folder_that_disappears_is_reported_by_a_file_of_it():
    for n in in_turn(0, 2):
        os.makedirs('job')
        for rank in (1, 2):
            put(f'job/rank{rank}.json', small_trace(rank))
        os.mkfifo('rank0.json')
        with started(n, 'rank0.json', 'job') as (launched, pids):
            feed('rank0.json', pids[0], small_trace(0), lambda: shutil.rmtree('job'))
            said = ends(launched, 3)
        equal(len(ours(said)), 1, said)
        contains(ours(said)[0], GONE)
        os.unlink('rank0.json')
        equal(files(), [])


def position(path, pid):
    """Returns how far a process has read a file; 0 if it has not opened it."""
    with contextlib.suppress(OSError):
        for fd in os.listdir(f'/proc/{pid}/fd'):
            if os.path.realpath(f'/proc/{pid}/fd/{fd}') == os.path.realpath(path):
                with open(f'/proc/{pid}/fdinfo/{fd}', encoding='utf-8') as file:
                    return int(file.readline().split()[1])
    return 0


def many_events(rank, n):
    """Returns a trace of n events in few bytes: 96 bytes of memory for 27 of text."""
    lead = b'{"distributedInfo": {"rank": %d}, "traceEvents": [' % rank
    return lead + b'{"ph":"X","ts":1,"dur":1},\n' * (n - 1) + b'{"ph":"X","ts":1,"dur":1}]}'


def cut_while_read(n, text, cut):
    """Runs tmerge on a trace that is cut while it is read; None if the cut came too late."""
    put('rank0.json', text)
    with started(n, 'rank0.json', 'rank1.json') as (launched, pids):
        def reader():
            return next((p for p in pids if 1 << 20 < position('rank0.json', p) < cut), None)
        wait_until(lambda: reader() or not strays(), 'the reading')
        pid = reader()
        if pid is None:
            return None
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: state(pid) in 'TZX', 'the reader to stand still')
        caught = 0 < position('rank0.json', pid) < cut
        os.truncate('rank0.json', cut)
        os.kill(pid, signal.SIGCONT)
        said = over(launched)
    return (launched.returncode, ours(said)) if caught else None


def test_a_file_that_is_cut_while_it_is_read_gives_what_it_held():
    text = many_events(0, 2000000)
    cut = len(text) // 4  # two processes read it in parts; one of them reaches this offset
    put('rank1.json', small_trace(1))
    # An event is whole if its 25 bytes are before the cut; with ",\n" each takes 27.
    events = (cut - text.index(b'{"ph"') - 25) // 27 + 1
    for n in in_turn(0, 2):
        done = next(filter(None, (cut_while_read(n, text, cut) for _ in range(60))), None)
        if done is None:
            raise Skip('the reading was never caught in its middle')
        equal(done, (0, []))
        found = rows('tmerge.h5', 'job.rank')
        equal([(row['truncated'], row['events']) for row in found], [(True, events), (False, 2)])


# Outputs -------------------------------------------------------------------------------------------


@seldom
def test_a_folder_that_vanishes_while_a_store_is_written_to_it_is_reported():
    use('long')
    for n, env in (itertools.product((0, 3), (NAMELESS, NAMED)) if FULL else
                   ((0, NAMED), (3, NAMELESS))):
        os.mkdir('out')
        launched, said = while_writing(n, lambda *_: shutil.rmtree('out'), 'job', '-o',
                                       'out/tmerge.h5', env=env)
        equal((launched.returncode, ours(said)),
              (4, ['tmerge: out/tmerge.h5: cannot be written: No such file or directory']), said)
        equal(files(), ['job'])


@seldom
def test_a_full_file_system_is_reported_and_left_as_it_was():
    use('long')
    size = os.stat(store('long')).st_size // 1024
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'old.h5')
    old = os.stat('old.h5').st_size // 1024 + 4
    cases = list(itertools.product((0, 3), (NAMELESS, NAMED), (0, 8, size // 2, size - 8)))
    for n, env, room in cases[::1 if FULL else 3]:
        line = ' '.join(launcher(n) + command('job', '-o', 'disk/tmerge.h5'))
        more = ' '.join(f'{k}={v}' for k, v in env.items())
        done = on_small_disk(
            f'cp old.h5 disk/tmerge.h5\nenv {more} {line}\nstatus=$?\n'
            'cmp old.h5 disk/tmerge.h5 || echo changed\n'
            '[ "$(ls -A disk)" = tmerge.h5 ] || ls -A disk\nexit $status\n', old + room)
        done.fails(4, 'disk/tmerge.h5: cannot be written: No space left on device')


# Memory --------------------------------------------------------------------------------------------


def short_of_memory(n, mebibytes, *arguments):
    limited = f'ulimit -v {mebibytes << 10}; exec "$@"'
    return run(launcher(n) + ['sh', '-c', limited, 'sh', *command(*arguments)])


@seldom
def test_memory_that_cannot_be_had_is_reported():
    if short_of_memory(0, 1024, '--version').status != 0:
        raise Skip('sanitizers want all addresses')
    for rank in (0, 1):  # 190 MB of events each
        put(f'rank{rank}.json', many_events(rank, 2000000))
    for n in in_turn(0, 2):
        for size in (60, 255):
            short_of_memory(n, size, 'rank0.json', 'rank1.json').fails(
                5, f'memory is limited to {size} MiB (ulimit -v); tmerge needs 256')
        for size in (256, 272):
            short_of_memory(n, size, 'rank0.json', 'rank1.json').fails(5, 'out of memory')
    equal(files(), ['rank0.json', 'rank1.json'])
    put('rank0.json', small_trace(0))
    short_of_memory(2, 256, 'rank0.json', '-o', 'x.h5').expect(0)


# Streams -------------------------------------------------------------------------------------------


def shell(line):
    return run(['bash', '-c', line.replace('tmerge ', f'{TMERGE} ', 1)])


def test_a_reader_that_leaves_ends_a_run_as_shells_expect():
    use('long')
    done = shell(f'tmerge show {store("long")} --json | head -1; echo ${{PIPESTATUS[0]}}')
    equal((done.out.splitlines()[1:], done.err), (['141'], ''))
    done = shell('tmerge --no-html job -o x.h5 --progress=always 2> >(exec true) > /dev/null; echo $?')
    holds(done.out in ('141\n', '0\n'), done.out)  # 0: it wrote before the reader exited
    equal([name for name in files() if name != 'x.h5'], ['job'])


def test_a_summary_that_nobody_reads_comes_with_a_store():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    good = content('tmerge.h5')
    os.unlink('tmerge.h5')
    shell('tmerge --no-html rank0.json | exec true')
    equal(content('tmerge.h5'), good)


def test_an_output_that_is_full_limited_or_closed_is_reported():
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    for arguments in ('--no-html rank0.json', 'show tmerge.h5', 'list', 'list --doc', '--help', '--version'):
        for stream in ('>/dev/full', '>&-'):
            done = shell(f'tmerge {arguments} {stream}').expect(4)
            equal(done.err, 'tmerge: standard output could not be written\n', arguments)
    for arguments in ('show tmerge.h5 --json', 'list --doc'):
        done = shell(f'ulimit -f 1; exec tmerge {arguments} > out').expect(4)
        equal(done.err, 'tmerge: standard output could not be written\n')
    os.unlink('out')
    equal(files(), ['rank0.json', 'tmerge.h5'])


def test_closed_streams_change_no_store():
    put('trace.json', small_trace())
    tmerge('trace.json').expect(0)  # has a warning, which goes to standard error
    good = content('tmerge.h5')
    for streams, status in (('2>&-', 0), ('<&- 2>&-', 0), ('>&- 2>&-', 4), ('<&- >&- 2>&-', 4)):
        shell(f'tmerge --no-html trace.json --progress=always {streams}').expect(status)
        equal(content('tmerge.h5'), good, streams)
        shell(f'tmerge show tmerge.h5 {streams}').expect(status)
        shell(f'tmerge missing.json {streams}').expect(3)
    shell('tmerge --no-html trace.json 2>/dev/full').expect(0)
    equal(files(), ['tmerge.h5', 'trace.json'])


main()
