"""Common parts of the command-line tests: running tmerge, making traces, and a small test runner.

A test is a function test_SENTENCE() that starts in an empty folder of its own and raises on
failure. A script ends with `common.main()`; it exits with 1 if a test failed, with 111 if all of
them were skipped.
"""
import base64
import ctypes
import gc
import gzip
import inspect
import itertools
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import time
import traceback
import zlib

TMERGE = os.environ.get('TMERGE', 'tmerge')
SYNTH = os.environ.get('TMERGE_SYNTH', 'tmerge-synth')
PLUGIN = os.environ.get('TMERGE_PLUGIN', '')
SOURCE = os.environ.get('TMERGE_SOURCE') or os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
SHARED = os.environ.get('TMERGE_SHARED') or os.path.join(SOURCE, '..', 'shared')
MPIRUN = os.environ.get('MPIRUN', 'mpirun --oversubscribe -n').split()  # then a count
UNKNOWN = ('this is not a trace of a known format (ops, ascend, rocprof, trace_viewer, inspector, kineto, '
           'ascend_db, rocpd, rpd, nsys, perfetto, xplane; tmerge list describes them)')
SKIPPED = 111  # no mpirun exits with this (Open MPI 6, if it starts nothing, with 77)
FULL = os.environ.get('TMERGE_FULL') == '1'  # whether the full set runs (tests/README.md)
COUNTS = (1, 2, 3, 4, 8) if FULL else (3,)  # numbers of processes that must give the same result
SEED = int(os.environ.get('TMERGE_SEED', '1'))
TURN = itertools.count(SEED)
SECONDS = 60  # after which a command counts as hanging

os.environ.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                  LC_ALL='C.UTF-8', TZ='UTC')
# If a process fails, mpirun ends the rest without waiting: faster, and stricter.
os.environ.setdefault('OMPI_MCA_odls_base_sigkill_timeout', '0')
# HDF5 reads this when it is loaded, so h5py may only be imported after this module.
os.environ.setdefault('HDF5_PLUGIN_PATH', PLUGIN)
for name in ('NO_COLOR', 'COLUMNS'):
    os.environ.pop(name, None)
gc.disable()  # a large table is millions of small objects, none of them in a cycle


class Skip(Exception):
    """Raised by a test that cannot run here."""


def full(test):
    """Marks a test of the full set; it also runs if named."""
    test.full = True
    return test


# Checks -------------------------------------------------------------------------------------------


def equal(found, expected, what=''):
    """Fails, showing both, unless they are equal; long lists from the first difference on."""
    if found != expected:
        if isinstance(found, list) and isinstance(expected, list) and len(expected) > 100:
            at = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b),
                      min(len(found), len(expected)))
            found, expected, what = found[at:at + 5], expected[at:at + 5], f'{what} from {at} on'
        raise AssertionError(f'{what or "value"}\n   found {found!r}\nexpected {expected!r}')


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def contains(text, part):
    holds(part in text, f'{part!r} is not in:\n{text}')


def has_line(text, *patterns):
    """Fails unless some line of the text matches all of the patterns."""
    holds(any(all(re.search(p, line) for p in patterns) for line in text.splitlines()),
          f'no line with {patterns} in:\n{text}')


def lacks(text, part):
    holds(part not in text, f'{part!r} is in:\n{text}')


# Running ------------------------------------------------------------------------------------------


class Run:
    """A finished command: status, out and err; ours are tmerge's own lines of err."""

    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err
        self.ours = [line for line in err.splitlines() if line.startswith('tmerge: ')]
        self.errors = [line for line in self.ours if not line.startswith('tmerge: warning: ')]
        self.warnings = [line for line in self.ours if line.startswith('tmerge: warning: ')]

    def expect(self, status):
        if self.status != status:
            raise AssertionError(f'{" ".join(self.command)}: status {self.status}, not {status}\n'
                                 f'{self.out}{self.err}')
        return self

    def fails(self, status, message):
        """Expects a status, exactly one message of ours, and nothing on standard output."""
        self.expect(status)
        equal(self.errors, ['tmerge: ' + message], ' '.join(self.command))
        equal(self.out, '', 'standard output of ' + ' '.join(self.command))
        return self


def launcher(processes):
    return [*MPIRUN, str(processes)] if processes else []


def run(command, env=None, before=None, **more):
    """Runs a command to its end. before: called in the new process. A hang counts as a failure."""
    command = [str(part) for part in command]
    environment = dict(os.environ, **{k: str(v) for k, v in (env or {}).items()})
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=environment, preexec_fn=before,
                          **more) as process:
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f'{" ".join(command)} hangs') from None
    return Run(command, process.returncode, out.decode('utf-8', 'replace'),
               err.decode('utf-8', 'replace'))


with open(os.path.join(SOURCE, 'tools/tmerge/arguments/commands.def'), encoding='utf-8') as rows:
    COMMANDS = re.findall(r'^TM_COMMAND\((\w+)\)$', rows.read(), re.M)


def command(*arguments, page=False):
    """Returns the command line of tmerge with arguments. A merge only writes a report with page:
    few tests use it."""
    others = [name for name in COMMANDS if name != 'merge'] + ['-h', '--help', '--version']
    if arguments and str(arguments[0]) not in others and not page:
        at = 1 if arguments[0] == 'merge' else 0
        arguments = (*arguments[:at], '--no-html', *arguments[at:])
    return [TMERGE, *arguments]


def tmerge(*arguments, n=0, page=False, **more):
    """Runs tmerge with n processes under mpirun; 0: without mpirun."""
    return run(launcher(n) + command(*arguments, page=page), **more)


def merged(*arguments, n=0, **more):
    """Runs tmerge, which must succeed without a message."""
    done = tmerge(*arguments, n=n, **more).expect(0)
    equal(done.ours, [], 'messages')
    return done


def synth(folder, **options):
    """Writes a job with tmerge-synth; slow_rank=3 means --slow-rank=3, seq=True means --seq, a list
    repeats the option. Returns its truth."""
    flags = [f'--{name.replace("_", "-")}' + ('' if value is True else f'={value}')
             for name, values in options.items()
             for value in (values if isinstance(values, list) else [values])]
    run([SYNTH, '-o', folder, *flags]).expect(0)
    with open(os.path.join(folder, 'truth.json'), encoding='utf-8') as file:
        return json.load(file)


def without_dac_override():
    """Run before a command: makes file permissions count for root too."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH; PR_CAPBSET_DROP is 24
        if os.geteuid() == 0 and ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) != 0:
            os._exit(SKIPPED)


def permissions_count():
    """Skips the test if root keeps all rights."""
    if run(['true'], before=without_dac_override).status == SKIPPED:
        raise Skip('root cannot give up its rights here')


def limited(size):
    """Run before a command: limits the size of its files."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def tables(store, *names, **more):
    """Returns the rows of a store's tables by name, as in tmerge show --json; "hlo.work/op" is the
    rows of a level."""
    of = dict.fromkeys(name.partition('/')[0] for name in names)
    shown = json.loads(tmerge('show', store, *of, '--json', **more).expect(0).out)
    found = {name: table['rows'] for name, table in shown['tables'].items()}
    levels = (name.split('/') for name in names if '/' in name)
    found.update({f'{name}/{level}': [row for row in found[name] if row['level'] == level]
                  for name, level in levels})
    return found


def rows(store, name):
    return tables(store, name)[name]


def without(row, columns):
    return {name: value for name, value in row.items() if name not in columns}


def in_any_order(found, left_out):
    """Returns rows as sorted texts, without some columns."""
    return sorted(json.dumps(without(row, left_out), sort_keys=True) for row in found)


# Stores -------------------------------------------------------------------------------------------


def crc64(data):
    """CRC-64/XZ, from its definition (polynomial 42F0E1EBA9EA3693, reflected)."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0xC96C5795D7870F42 if byte & 1 else 0)
        table.append(byte)
    crc = 2**64 - 1
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ (2**64 - 1)


class Seal:
    """Checksum trailer of a store: size of the HDF5 file, (offset, size, checksum) of its data."""

    def __init__(self, data):
        magic, self.content, n, self.structure_sum, self.sum = struct.unpack('<8s4Q', data[-40:])
        equal(magic, b'tmerge\r\1', 'magic')
        equal(self.content + 24 * n + 40, len(data), 'bytes of the store')
        self.extents = [struct.unpack_from('<3Q', data, self.content + 24 * i) for i in range(n)]

    def structure(self, data):
        """Returns the bytes that are not data."""
        starts = [0] + [offset + size for offset, size, _ in self.extents]
        ends = [offset for offset, _, _ in self.extents] + [self.content]
        return b''.join(data[a:b] for a, b in zip(starts, ends))


def seal(path):
    """Appends a checksum trailer to a store written by h5py, which removes the old one."""
    data = content(path)
    head = struct.pack('<8s3Q', b'tmerge\r\1', len(data), 0, crc64(data))
    put(path, data + head + struct.pack('<Q', crc64(head)))


# Traces -------------------------------------------------------------------------------------------

BASE_NS = 1700000000_000000000  # epoch of hand-made traces: a day in November 2023


def event(name, cat, ts, dur, pid=0, tid=7, **args):
    """Returns a duration event; times in us, as text if they must be exact."""
    return {'ph': 'X', 'cat': cat, 'name': name, 'pid': pid, 'tid': tid, 'ts': ts, 'dur': dur,
            'args': args}


def kernel(name, ts, dur, **args):
    return event(name, 'kernel', ts, dur, **{'device': 0, 'stream': 7, **args})


def trace(events, rank=None, world=None, behind=False, base=BASE_NS, lead=''):
    """Returns the bytes of a Kineto trace. behind: its metadata follows the events; lead: text
    before them, to fill the bytes that are read first."""
    info = {} if rank is None else {'rank': rank}
    if world is not None:
        info['world_size'] = world
    metadata = {'baseTimeNanoseconds': base}
    if info:
        metadata['distributedInfo'] = info
    parts = [('schemaVersion', 1)] + ([('traceName', lead)] if lead else [])
    middle = [('traceEvents', events)]
    parts += middle + list(metadata.items()) if behind else list(metadata.items()) + middle
    return json.dumps(dict(parts)).encode()


def small_trace(rank=None, at=100, dur=50, **more):
    """Returns a compute kernel of dur us at `at` us, followed by an all-reduce of 10 us."""
    return trace([kernel('gemm', at, dur), kernel('ncclDevKernel_AllReduce_Sum', at + dur, 10)],
                 rank=rank, **more)


def big_trace(rank=0, events=40000):
    """Returns a trace of about 5 MB, larger than the reader's window."""
    return trace([kernel(f'kernel {i % 50}', 10 * i, 9) for i in range(events)], rank)


def put(path, content):
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def gzipped(content):
    return gzip.compress(content, mtime=0)


def zstd_framed(content, size=65536):
    """Returns a valid zstd frame of raw blocks, which needs no compressor."""
    pieces = [content[i:i + size] for i in range(0, len(content), size)] or [b'']
    frame = b'\x28\xb5\x2f\xfd\xa0' + struct.pack('<I', len(content))
    for i, piece in enumerate(pieces):
        last = i == len(pieces) - 1
        frame += struct.pack('<I', last | len(piece) << 3)[:3] + piece
    return frame


def files(folder='.'):
    """Returns the names in a folder, including hidden ones."""
    return sorted(os.listdir(folder))


def split_page(page):
    """Returns the page before its tables, the tables as JSON, and the page after them."""
    before, rest = page.split(b'id="tables">', 1)
    packed, after = rest.split(b'</script>', 1)
    return before, zlib.decompress(base64.b64decode(packed)), after


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def is_sanitized():
    """Returns whether tmerge's memory and time are a sanitizer's too."""
    return b'__asan_init' in content(TMERGE)


def same_bytes(a, b):
    holds(content(a) == content(b), f'{a} and {b} differ')


def unranked(n, of, how='by their place among the traces given'):
    """Returns the warning that n of some traces were numbered."""
    return (f'tmerge: warning: {n} of {of} traces ha{"s" if n == 1 else "ve"} no rank: numbered {how}; if '
            'the job numbered its ranks otherwise, give --rank-map FILE with lines PATH RANK')


def nanogpt():
    folder = os.path.join(SHARED, 'traces', 'nanogpt8')
    return folder if os.path.isdir(folder) else None


# Runner -------------------------------------------------------------------------------------------


def tests_of(rows, check, prefix):
    """Returns tests by name: each passes a row of a table, by its name, to check()."""
    return {f'test_{prefix}{name.replace(" ", "_")}': lambda row=row: check(*row)
            for name, row in rows.items()}


def some(things):
    """Returns a third of them in the landing set, which varies with the seed."""
    things = list(things)
    return things if FULL else things[SEED % 3::3]


def sampled(tests):
    """Returns tests by name: a third is in the landing set, which varies with the seed."""
    for name in tests.keys() - some(tests):
        full(tests[name])
    return tests


def seldom(test):
    """Marks a slow test that covers little: in the landing set with every third seed."""
    return test if (SEED + len(test.__name__)) % 3 == 0 else full(test)


def in_turn(*things):
    """Returns one of them in the landing set: the next with each call, the first by the seed."""
    return things if FULL else (things[next(TURN) % len(things)],)


def cpu():
    """Returns the CPU seconds of this script and all children that it has waited for."""
    return sum(os.times()[:4])


def run_one(name, function, folder):
    """Runs a test in a new folder. Returns 'ok', 'skipped' or 'FAILED'."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    began, used = time.monotonic(), cpu()
    try:
        function()
        word, why = 'ok', ''
    except Skip as skip:
        word, why = 'skipped', f': {skip}'
    except Exception:
        word, why = 'FAILED', '\n' + re.sub('^', '    ', traceback.format_exc(), flags=re.M)
    print(f'{word:8} {name.replace("_", " ")} ({time.monotonic() - began:.1f} s, '
          f'{cpu() - used:.1f} s of CPU){why}', flush=True)
    return word


def main():
    """Runs the tests of the calling script, or those whose names contain one of its arguments. The
    folder of a failed test is kept."""
    script = inspect.stack()[1].frame.f_globals
    tests = [(name[5:], value) for name, value in script.items()
             if name.startswith('test_') and callable(value)]
    wanted = sys.argv[1:]
    place = os.path.join(os.getcwd(), os.path.splitext(os.path.basename(script['__file__']))[0])
    words, left_out = [], 0
    for name, function in tests:
        if wanted and not any(part in name for part in wanted):
            continue
        if not (wanted or FULL) and hasattr(function, 'full'):
            left_out += 1
            continue
        folder = os.path.join(place, name)
        words.append(run_one(name, function, folder))
        os.chdir(os.path.dirname(place))
        if words[-1] != 'FAILED':
            shutil.rmtree(folder, ignore_errors=True)
    failed = words.count('FAILED')
    print(f'{len(words)} tests, {failed} failed, {words.count("skipped")} skipped, '
          f'{left_out} only in the full set')
    sys.exit(1 if failed or not words and not left_out else SKIPPED if 'ok' not in words else 0)
