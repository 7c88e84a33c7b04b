"""Faults in runs on several hosts: lost processes, daemons and hosts, networks that are cut, disks
that are full or stall, too little memory. Each run ends within its limit, with a message that names
the host, and leaves no partial file."""
import contextlib
import os
import re
import signal
import subprocess
import time

import common_multi
from common import (TMERGE, Skip, equal, files, full, holds, is_sanitized, main, put, run, small_trace,
                    some, synth)
from watching import PRELOADED, fault, is_open, ours, strays, wait_until

os.environ['HOSTS_LOCAL'] = '256k'
HOSTS = common_multi.up('netns.sh', ('ip', 'unshare', 'nsenter'))
THREE = ('h1:2', 'h2:2', 'h3:2')
SILENCE = 4  # seconds without an answer after which a host counts as lost
SILENT = SILENCE + 10  # time limit for the end of such a run


def mpirun(*arguments, hosts=THREE, env=None):
    """Returns the command of a run on the hosts, from h1."""
    set_there = [part for name, value in {'TMERGE_SILENCE': SILENCE, **(env or {})}.items()
                 for part in ('-x', f'{name}={value}')]
    n = sum(int(host.split(':')[1]) for host in hosts)
    return [HOSTS, 'mpirun', '-n', n, '--host', ','.join(hosts), *set_there, TMERGE, *arguments,
            '--no-html', '--progress=never']


def on(host, *command):
    return run([HOSTS, 'exec', host, *command])


def end(launched, name):
    for pid in processes(name).values():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    launched.kill()
    launched.wait()


@contextlib.contextmanager
def started(name, stands, *arguments, env=None, **more):
    """A run that stores to NAME.h5 and prints to NAME.said, once at the expected place; ends its
    remaining processes. Restarted if not all left MPI_Init (multi_slurm.py)."""
    env = {**PRELOADED, **(env or {}), 'TMERGE_STARTED': f'{os.getcwd()}/{name}.said.'}
    for attempt in range(3):
        with open(f'{name}.said', 'wb') as said:
            launched = subprocess.Popen(
                [str(part) for part in mpirun(*arguments, '-o', f'{name}.h5', env=env, **more)],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            wait_until(lambda: stands() or launched.poll() is not None, f'{name} to begin')
            if launched.poll() is None:
                break
        except AssertionError:
            if attempt == 2 or len(started_of(name)) == len(processes(name)) > 0:
                end(launched, name)
                raise
        end(launched, name)
        for path in started_of(name):
            os.unlink(path)
    try:
        yield launched
    finally:
        end(launched, name)


def started_of(name):
    """Returns the files, one for each process, that show it has left MPI_Init."""
    return [path for path in files() if path.startswith(f'{name}.said.')]


def processes(name):
    """Returns the processes of a run, by rank."""
    found = {}
    for pid in strays():
        with contextlib.suppress(OSError, AttributeError):
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                words = file.read()
            with open(f'/proc/{pid}/environ', 'rb') as file:
                rank = re.search(rb'OMPI_COMM_WORLD_RANK=(\d+)', file.read())
            if rank and f'\0{name}.h5\0'.encode() in words:
                found[int(rank[1])] = pid
    return found


def ends(launched, name, seconds, fails=True):
    """Waits for the end of a run that must fail, and of its processes. Returns its output. fails:
    whether its status must be an error."""
    began = time.monotonic()
    try:
        launched.wait(seconds)
    except subprocess.TimeoutExpired:
        holds(False, f'{name} runs on after {seconds} s')
    wait_until(lambda: not processes(name), f'the processes of {name} to end',
               max(5, seconds - (time.monotonic() - began)))
    holds(launched.returncode != 0 or not fails, 'a run that failed gives status 0')
    with open(f'{name}.said', encoding='utf-8') as file:
        return file.read()


def six_traces(pipe):
    """Writes traces of small ranks; with `pipe` the last is a pipe that never ends."""
    names = [f'rank{rank}.json' for rank in range(6)]
    for rank, name in enumerate(names):
        put(name, small_trace(rank))
    if not pipe:
        return names, None
    os.unlink(names[5])
    os.mkfifo(names[5])
    return names, os.open(names[5], os.O_RDWR)


def is_stopped(pid):
    with contextlib.suppress(OSError):
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] == 'T'
    return False


def reads(name, path):
    return lambda: any(is_open(path, pid) for pid in processes(name).values())


def stops(name):
    return lambda: is_stopped(processes(name).get(5))


def silent(host):
    return [f'tmerge: {host} no longer responds: that host, or the network between h1 and '
            'it, has failed']


def nothing_left(names):
    equal([name for name in files() if '.said' not in name], names)


@full
def test_a_process_or_a_daemon_that_is_killed_ends_the_run():
    names, pipe = six_traces(True)
    for what, message in (('process', r'on node h2 exited on\s+signal 9'),
                          ('orted', r'Remote daemon: .* on node h2')):
        with started(what, reads(what, names[5]), *names) as launched:
            if what == 'process':
                os.kill(processes(what)[3], signal.SIGKILL)
            else:
                on('h2', 'sh', '-c', 'kill -9 $(pgrep --ns $$ --nslist net -x [op]rted)').expect(0)
            # Open MPI 5 reports a lost daemon but exits with status 0.
            said = ends(launched, what, 10, fails=what == 'process')
        holds(re.search(message, said), said)
        equal(ours(said), [], said)
    os.close(pipe)
    nothing_left(names)


def test_a_host_that_is_gone_ends_the_run_whatever_it_does():
    """Parallel runs, one in each phase; the stopped process is on another host."""
    names, pipe = six_traces(True)
    whole = [put(f'whole{rank}.json', small_trace(rank)) for rank in range(6)]
    phases = some((('reading', reads('reading', names[5]), names, None),
                   ('matching', stops('matching'), whole, fault('matching')),
                   ('writing', stops('writing'), whole, fault('writing'))))
    with contextlib.ExitStack() as ends_all:
        runs = [(name, ends_all.enter_context(started(name, stands, *given, env=env)))
                for name, stands, given, env in phases]
        began = time.monotonic()
        run([HOSTS, 'crash', 'h2']).expect(0)
        for name, launched in runs:
            # A stopped process continues when it is told to end.
            said = ends(launched, name, SILENT - (time.monotonic() - began))
            equal(ours(said), silent('h2'), said)
    os.close(pipe)
    run([HOSTS, 'mend', 'h2']).expect(0)
    nothing_left(sorted(names + whole))


@full
def test_a_network_that_is_cut_ends_the_run_on_both_sides_but_no_disk_that_stalls():
    names, pipe = six_traces(True)
    os.mkfifo('stalls.json')
    stalling = os.open('stalls.json', os.O_RDWR)
    with started('stall', reads('stall', 'stalls.json'), *names[:5], 'stalls.json',
                 hosts=('h1:2', 'h3:2')) as stall, \
            started('cut', reads('cut', names[5]), *names) as cut:
        # A process that waits for a disk cannot answer, nor can a stopped one.
        os.kill(processes('stall')[3], signal.SIGSTOP)
        began = time.monotonic()
        run([HOSTS, 'cut', 'h2']).expect(0)
        equal(ours(ends(cut, 'cut', SILENT)), silent('h2'))
        time.sleep(max(0, SILENT - (time.monotonic() - began)))
        holds(stall.poll() is None and len(processes('stall')) == 4, 'a stall ended a run')
        os.kill(processes('stall')[3], signal.SIGCONT)
        # The disk answers: the pipe is read to its end twice, first for its format.
        trace = small_trace(5)
        while stall.poll() is None:
            with contextlib.suppress(OSError):
                feed = os.open('stalls.json', os.O_WRONLY | os.O_NONBLOCK)
                os.write(feed, trace)
                os.close(feed)
            if stalling is not None:
                stalling = os.close(stalling)
            time.sleep(0.2)
        equal(stall.wait(), 0)
    os.close(pipe)
    run([HOSTS, 'mend', 'h2']).expect(0)


@full
def test_a_full_disk_is_reported_with_its_host_and_nothing_is_left():
    synth('job', ranks=6, steps=20)
    for name in ('h1', 'h2', 'h3'):
        on(name, 'sh', '-c', 'head -c 200k /dev/zero > /mnt/local/old').expect(0)
    done = run(mpirun('job', '-o', '/mnt/local/a.h5')).expect(4)
    equal(done.ours,
          ['tmerge: /mnt/local/a.h5: cannot be written: No space left on device (on h1)'])
    for name in ('h1', 'h2', 'h3'):
        equal(on(name, 'ls', '-A', '/mnt/local').out, 'old\n', name)
    nothing_left(['job'])


@full
def test_memory_that_one_host_lacks_is_reported_with_that_host():
    if is_sanitized():
        raise Skip('a sanitizer reserves addresses')
    synth('job', ranks=6, steps=2)
    limited = ('ulimit -v $([ $OMPI_COMM_WORLD_RANK = 3 ] && echo 200000 || echo unlimited); '
               'exec "$@"')
    whole = mpirun('job', '-o', 'a.h5')
    at = whole.index(TMERGE)
    done = run(whole[:at] + ['sh', '-c', limited, 'sh'] + whole[at:])
    holds(done.status != 0, done.err)
    equal(done.ours, ['tmerge: memory is limited to 195 MiB (ulimit -v); tmerge needs 256 (on h2)'])
    nothing_left(['job'])


main()
