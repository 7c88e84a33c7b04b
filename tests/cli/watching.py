"""Runs of tmerge that something happens to: starting them, looking at what their processes do, and
waiting for their end."""
import contextlib
import os
import pty
import select
import signal
import subprocess
import time

from common import TMERGE, Skip, command, content, equal, holds, launcher, put, run

TEMPORARY = '.tmerge.h5.'  # the begin of a name that a file has before it is complete
FAULTS = os.environ.get('TMERGE_FAULTS', '')


def fault(name):
    """The environment in which tests/cli/faults.c makes one thing fail."""
    return {'LD_PRELOAD': FAULTS, 'TMERGE_FAULT': name,
            'ASAN_OPTIONS': 'detect_leaks=0:verify_asan_link_order=0'}


NAMELESS, NAMED = {}, fault('tmpfile')  # the two ways to write a file that is not complete


def wait_until(condition, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        holds(time.monotonic() < deadline, f'waited in vain: {what}')
        time.sleep(0.001)


def children_of(launched):
    """The ids of tmerge's processes below a launcher's process, by rank."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
                parent = int(file.read().rsplit(')', 1)[1].split()[1])
            if parent != launched.pid:
                continue
            program = os.path.realpath(f'/proc/{pid}/exe')
            environ = content(f'/proc/{pid}/environ').split(b'\0')
            if program == os.path.realpath(TMERGE):
                rank, = (e for e in environ if e.startswith(b'OMPI_COMM_WORLD_RANK='))
                found[int(rank.split(b'=')[1])] = int(pid)
    return found


def processes_of(launched, n):
    """Those of all ranks; without mpirun the process itself."""
    if n == 0:
        return [launched.pid]
    wait_until(lambda: len(children_of(launched)) == n, 'the processes to start')
    return [pid for rank, pid in sorted(children_of(launched).items())]


def strays():
    """The ids of tmerge's processes that run in the test's folder, whosever child they are."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            if (os.path.realpath(f'/proc/{pid}/exe') == os.path.realpath(TMERGE)
                    and os.path.realpath(f'/proc/{pid}/cwd') == os.getcwd() and exists(pid)):
                found.append(int(pid))
    return found


def exists(pid):
    """Whether a process runs: one that only waits to be collected does not."""
    with contextlib.suppress(OSError):
        with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    return False


@contextlib.contextmanager
def started(n, *arguments, grace=0, env=None, **more):
    """tmerge, running, and the ids of its processes; what is left of it is ended. grace: seconds
    that mpirun gives the other processes after it told them to end."""
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
    """Waits for the end of a run, which must come soon, and for all processes. Returns what it
    said."""
    try:
        out = launched.communicate(timeout=20)[0] or b''
    except subprocess.TimeoutExpired:
        holds(not strays(), 'the run hangs')
        # mpirun alone: libpmix 4.2 may lock itself up when a process is killed in MPI_Init.
        launched.kill()
        out = launched.communicate()[0] or b''
    wait_until(lambda: not strays(), 'its processes to end', 10)
    return out.decode('utf-8', 'replace')


def ends(launched, status=None):
    """The same where the run must fail, with the status if one is given."""
    said = over(launched)
    holds(launched.returncode != 0, 'a run that was ended gives status 0')
    if status is not None:
        equal(launched.returncode, status, said)
    return said


def ours(said):
    return [line.rstrip() for line in said.splitlines() if line.startswith('tmerge: ')]


def on_terminal(command, env=None):
    """What a command prints where standard output and error are a terminal."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:  # a container may have none
        raise Skip(error) from error
    with subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=theirs,
                          stderr=theirs, env=dict(os.environ, **(env or {}))) as process:
        os.close(theirs)
        text, deadline = b'', time.monotonic() + 60
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1)[0]:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux's way to say that the other end was closed
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        equal(process.wait(timeout=10), 0, 'status on a terminal')
    return text.decode()


def is_open(path, pid):
    with contextlib.suppress(OSError):
        return any(os.path.realpath(f'/proc/{pid}/fd/{fd}') == os.path.realpath(path)
                   for fd in os.listdir(f'/proc/{pid}/fd'))
    return False


def has_draft(pid, folder):
    """Whether a process has a file open in a folder that has no name, or the temporary one."""
    with contextlib.suppress(OSError):
        for fd in os.listdir(f'/proc/{pid}/fd'):
            with contextlib.suppress(OSError):
                place, name = os.path.split(os.readlink(f'/proc/{pid}/fd/{fd}'))
                if place == os.path.realpath(folder) and name.startswith(('#', TEMPORARY)):
                    return True
    return False


def caught_writing(pid, folder='.'):
    """Stops a process while it writes the store; False where it was too quick."""
    deadline = time.monotonic() + 20
    while not has_draft(pid, folder):
        if time.monotonic() > deadline or not exists(pid):
            return False
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.02)
    return has_draft(pid, folder)


def while_writing(n, act, *arguments, folder='.', **more):
    """Calls act(launched, pids) while process 0 writes, and stands still; it goes on behind that.
    Returns the run's status and what it said."""
    path = os.path.join(folder, 'tmerge.h5')
    old = content(path) if os.path.exists(path) else None
    for _ in range(10):
        with started(n, *arguments, grace=1, **more) as (launched, pids):
            if caught_writing(pids[0], folder):
                act(launched, pids)
                with contextlib.suppress(OSError):
                    os.kill(pids[0], signal.SIGCONT)
                return launched, ends(launched)
        # It was too quick, and the next one is to begin where it did.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        if old is not None:
            put(path, old)
    raise AssertionError('no run was caught while it wrote')


def sends(number, whose):
    """To process `whose`, or to the launcher."""
    return lambda launched, pids: os.kill(launched.pid if whose is None else pids[whose], number)


def on_small_disk(script, kilobytes):
    """Runs a shell script where `disk` is a file system of its own of that size. Whether there may
    be one is tried first: what the script then says is its own."""
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
