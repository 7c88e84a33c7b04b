"""Runs of tmerge that tests interfere with: starting them, watching their processes, and waiting
for their end."""
import contextlib
import glob
import os
import pty
import re
import signal
import subprocess
import time

from common import TMERGE, Skip, command, content, equal, holds, launcher, run

TEMPORARY = '.tmerge.h5.'  # prefix of a file's name before it is complete
FAULTS = os.environ.get('TMERGE_FAULTS', '')


# The environment in which tests/cli/faults.c is loaded.
PRELOADED = {'LD_PRELOAD': FAULTS, 'ASAN_OPTIONS': 'detect_leaks=0:verify_asan_link_order=0'}


def fault(name):
    """Returns the environment in which tests/cli/faults.c injects a fault."""
    return {**PRELOADED, 'TMERGE_FAULT': name}


NAMELESS, NAMED = {}, fault('tmpfile')  # the two ways to write an incomplete file


def wait_until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        holds(time.monotonic() < deadline, f'waited in vain: {what}')
        time.sleep(0.001)


def children_of(launched):
    """Returns the ids of tmerge's processes below a launcher's process, by rank."""
    found = {}
    for path in glob.glob(f'/proc/{launched.pid}/task/*/children'):
        with contextlib.suppress(OSError, ValueError):
            for pid in map(int, content(path).split()):
                environ = content(f'/proc/{pid}/environ').split(b'\0')
                if os.path.realpath(f'/proc/{pid}/exe') == os.path.realpath(TMERGE):
                    rank, = (e for e in environ if e.startswith(b'OMPI_COMM_WORLD_RANK='))
                    found[int(rank.split(b'=')[1])] = pid
    return found


def processes_of(launched, n):
    """Returns those of all ranks; without mpirun the process itself."""
    if n == 0:
        return [launched.pid]
    wait_until(lambda: len(children_of(launched)) == n, 'the processes to start')
    return [pid for rank, pid in sorted(children_of(launched).items())]


def strays():
    """Returns the ids of tmerge's processes that run in the test's folder, with any parent."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            if (os.path.realpath(f'/proc/{pid}/exe') == os.path.realpath(TMERGE)
                    and os.path.realpath(f'/proc/{pid}/cwd') == os.getcwd() and exists(pid)):
                found.append(int(pid))
    return found


def state(pid):
    """Returns the state letter of a process, such as T if it is stopped; X if it does not exist."""
    with contextlib.suppress(OSError):
        return content(f'/proc/{pid}/stat').rsplit(b')', 1)[1].split()[0].decode()
    return 'X'


def exists(pid):
    """Whether a process runs; a zombie does not."""
    return state(pid) not in 'ZX'


@contextlib.contextmanager
def started(n, *arguments, grace=0, env=None, **more):
    """A running tmerge and the ids of its processes; ends those that are left. grace: seconds that
    mpirun gives the other processes after telling them to end."""
    env = dict(os.environ, OMPI_MCA_odls_base_sigkill_timeout=str(grace), **(env or {}))
    more = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, **more}
    with subprocess.Popen(launcher(n) + command(*arguments), env=env, stdin=subprocess.DEVNULL,
                          **more) as launched:
        try:
            yield launched, processes_of(launched, n)
        finally:
            for pid in strays() + [launched.pid]:
                with contextlib.suppress(OSError):
                    if exists(pid):
                        os.kill(pid, signal.SIGKILL)


def over(launched):
    """Waits for the end of a run, which must come soon, and of all its processes. Returns its
    output."""
    try:
        out = launched.communicate(timeout=20)[0] or b''
    except subprocess.TimeoutExpired:
        holds(not strays(), 'the run hangs')
        # Only mpirun is left: libpmix 4.2 may deadlock if a process is killed in MPI_Init.
        launched.kill()
        out = launched.communicate()[0] or b''
    wait_until(lambda: not strays(), 'its processes to end', 10)
    return out.decode('utf-8', 'replace')


def ends(launched, status=None):
    """The same for a run that must fail, with this status if given."""
    said = over(launched)
    holds(launched.returncode != 0, 'a run that was ended gives status 0')
    if status is not None:
        equal(launched.returncode, status, said)
    return said


def ours(said):
    return [line.rstrip() for line in said.splitlines() if line.startswith('tmerge: ')]


def on_terminal(command, env=None):
    """Returns a command's output if standard output and error are a terminal."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:  # a container may have none
        raise Skip(error) from error
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs, env=dict(os.environ, **(env or {}))) as process:
        os.close(theirs)
        text = b''
        with contextlib.suppress(OSError):  # on Linux this means that the other end was closed
            while piece := os.read(ours, 65536):
                text += piece
        os.close(ours)
        equal(process.wait(timeout=10), 0, 'status on a terminal')
    return text.decode()


def is_open(path, pid):
    with contextlib.suppress(OSError):
        return any(os.path.realpath(f'/proc/{pid}/fd/{fd}') == os.path.realpath(path)
                   for fd in os.listdir(f'/proc/{pid}/fd'))
    return False


@contextlib.contextmanager
def stopped_writing(n, *arguments, env=None, **more):
    """The same, with process 0 stopped after writing a part of its output."""
    env = env or {}
    words = env.get('TMERGE_FAULT', '') + ' temp_file'
    with started(n, *arguments, env={**env, **fault(words)}, **more) as (launched, pids):
        wait_until(lambda: state(pids[0]) in 'TZX', 'process 0 to write')
        equal(state(pids[0]), 'T', 'state of process 0')
        yield launched, pids


def while_writing(n, act, *arguments, env=None, **more):
    """Calls act(launched, pids) while process 0 is stopped during writing, then continues it.
    Returns the run, which must fail, and its output."""
    # Only removing a named file takes time, also on a busy machine.
    grace = 3 if n and env else 0
    with stopped_writing(n, *arguments, env=env, grace=grace, **more) as (launched, pids):
        act(launched, pids)
        with contextlib.suppress(OSError):
            os.kill(pids[0], signal.SIGCONT)
        return launched, ends(launched)


def is_pending(pid):
    """Whether a running process has a pending signal."""
    with contextlib.suppress(OSError):
        found = int(re.search(rb'ShdPnd:\t(\w+)', content(f'/proc/{pid}/status'))[1], 16)
        return found != 0 and exists(pid)
    return False


def sends(number, whose):
    """Returns a function that signals process `whose` or the launcher, until delivery."""
    def send(launched, pids):
        pid = launched.pid if whose is None else pids[whose]
        os.kill(pid, number)
        if whose != 0:
            wait_until(lambda: not is_pending(pid), 'the signal to come')
    return send


def on_small_disk(script, kilobytes):
    """Runs a shell script in which `disk` is a file system of this size. Mounting is tried first,
    so that failures of the script are its own."""
    os.makedirs('disk', exist_ok=True)
    mount = f'mount -t tmpfs -o size={kilobytes}k none disk'
    shell = ['unshare', '--mount', *([] if os.geteuid() == 0 else ['--map-root-user']), 'sh', '-c']
    try:
        tried = run([*shell, mount])
    except FileNotFoundError:
        raise Skip('there is no unshare here') from None
    if tried.status != 0:
        raise Skip(f'file systems cannot be mounted here: {tried.err.strip()}')
    return run([*shell, f'{mount}\n{script}'])
