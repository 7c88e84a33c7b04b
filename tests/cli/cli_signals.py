"""Interrupted runs: signals, killed processes, crashes. At most one message, a status that shells
expect, no files left, no hang, and an existing store unchanged."""
import contextlib
import os
import random
import shutil
import signal
import subprocess
import time

from common import (FULL, Skip, command, content, equal, files, holds, launcher, main, merged, put,
                    same_bytes, seldom, small_trace, some, synth, tmerge)
from jobs import use
from watching import (NAMED, NAMELESS, TEMPORARY, children_of, ends, fault, is_open, ours, over,
                      sends, started, stopped_writing, wait_until, while_writing)
import h5py

CRASHED = 'tmerge: crashed: a bug in tmerge, MPI or HDF5, or too little memory'


def end_while_reading(number, whose):
    """Ends a process while another waits for input: a pipe without a writer."""
    merged('rank0.json')
    old = content('tmerge.h5')
    with started(3, 'rank0.json', 'rank1.json', 'rank2.json') as (launched, pids):
        wait_until(lambda: is_open('rank1.json', pids[1]), 'the pipe to be opened')
        sends(number, whose)(launched, pids)
        ends(launched)
    equal(content('tmerge.h5'), old, 'the store that was there')
    equal(files(), ['rank0.json', 'rank1.json', 'rank2.json', 'tmerge.h5'])


def test_a_signal_while_reading_ends_all_and_leaves_the_store():
    put('rank0.json', small_trace(0))
    put('rank2.json', small_trace(2))
    os.mkfifo('rank1.json')
    pipe = os.open('rank1.json', os.O_RDWR)  # so that it can be opened and never ends
    try:
        cases = [(signal.SIGTERM, 1), (signal.SIGKILL, 0), (signal.SIGTERM, None),
                 (signal.SIGTERM, 0), (signal.SIGKILL, 2), (signal.SIGKILL, None)]
        for number, whose in cases if FULL else cases[:3]:
            end_while_reading(number, whose)
    finally:
        os.close(pipe)


def while_writing_over(n, act, surely=True, **more):
    """Acts while a run replaces an older store, which must remain as the only file. If process 0 is
    not ended `surely`, but by others, it may finish first and leave the new store."""
    merged('job', '-o', 'tmerge.h5')
    good = [] if surely else [content('tmerge.h5')]
    merged('job', '--align=none', '-o', 'tmerge.h5')
    good.append(content('tmerge.h5'))
    while_writing(n, act, 'job', **more)
    equal(files(), ['job', 'tmerge.h5'])
    holds(content('tmerge.h5') in good, 'the store is not the one that was there')


def test_a_signal_while_writing_leaves_no_file_and_the_old_store():
    use('long')
    cases = [(signal.SIGTERM, 0, NAMED), (signal.SIGKILL, 1, NAMED), (signal.SIGTERM, None, NAMED),
             (signal.SIGTERM, 0, NAMELESS), (signal.SIGINT, None, NAMELESS)]
    for number, whose, env in cases if FULL else cases[:3]:
        while_writing_over(3, sends(number, whose), whose is not None, env=env)


def test_a_signal_to_a_lone_process_leaves_no_file():
    use('long')
    for number in some((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE)):
        for env in (NAMELESS, NAMED):
            launched, said = while_writing(0, sends(number, 0), 'job', env=env)
            equal((launched.returncode, said, files()), (128 + number, '', ['job']))


def test_a_signal_that_the_caller_ignores_stays_ignored():
    use('long')
    for number in (signal.SIGHUP, signal.SIGINT):
        with stopped_writing(0, 'job', preexec_fn=lambda n=number: signal.signal(n, signal.SIG_IGN)
                             ) as (launched, pids):
            os.kill(pids[0], number)
            os.kill(pids[0], signal.SIGCONT)
            equal(launched.wait(20), 0)
        equal(files(), ['job', 'tmerge.h5'])


@seldom
def test_nothing_is_left_where_the_writer_or_all_are_killed_outright():
    use('long')
    for n, whose in ((0, 0), (3, 0), (3, None)):
        while_writing_over(n, sends(signal.SIGKILL, whose), whose == 0)


@seldom
def test_the_next_run_clears_what_a_killed_one_left_where_files_need_names():
    use('long')
    while_writing(3, sends(signal.SIGKILL, 0), 'job', env=NAMED)
    left, = (name for name in files() if name.startswith(TEMPORARY))
    equal(files(), [left, 'job'])
    merged('job', n=2)
    equal(files(), ['job', 'tmerge.h5'])
    put(left, 'anything')
    merged('job')
    equal(files(), ['job', 'tmerge.h5'])


def test_two_runs_at_once_with_one_output_store_one_of_both():
    use('long')
    merged('job', '-o', '../a.h5')
    merged('job', '--align=none', '-o', '../b.h5')
    for env in (NAMELESS, NAMED):
        with stopped_writing(0, 'job', env=env) as (first, pids):
            merged('job', '--align=none', env=env)
            same_bytes('../b.h5', 'tmerge.h5')
            os.kill(pids[0], signal.SIGCONT)
            equal(over(first).count('Stored in'), 1)
        same_bytes('../a.h5', 'tmerge.h5')
        equal(files(), ['job', 'tmerge.h5'])
    for name in 'ab':
        os.unlink(f'../{name}.h5')


def test_a_crash_is_reported_once_and_leaves_nothing():
    # Process 0 cannot write the store without process 2, which crashes while process 0 is stopped.
    use('long')
    for n, whose, number in some(((3, 0, signal.SIGABRT), (3, 2, signal.SIGSEGV),
                                  (0, 0, signal.SIGSEGV), (0, 0, signal.SIGABRT))):
        launched, said = while_writing(n, sends(number, whose), 'job', env=NAMED)
        if 'Sanitizer' in said:
            raise Skip('sanitizers tell a crash themselves')
        equal((launched.returncode, ours(said), files()), (5, [CRASHED], ['job']), said)


def test_a_failure_inside_mpi_ends_the_run_with_one_message():
    for rank in range(3):
        put(f'rank{rank}.json', small_trace(rank))
    done = tmerge('rank0.json', 'rank1.json', 'rank2.json', n=3, env=fault('mpi')).expect(5)
    equal(done.errors, ['tmerge: MPI failed: MPI_ERR_INTERN: internal error'])
    equal(files(), ['rank0.json', 'rank1.json', 'rank2.json'])


# Kills at any moment -------------------------------------------------------------------------------


def is_good_store(path):
    """Checks a store with `tmerge check`, if this tmerge has it, and by reading all of it."""
    if 'tmerge check ' in tmerge('--help').expect(0).out:
        tmerge('check', path).expect(0)
    with h5py.File(path) as store:
        store.visititems(lambda _, thing: thing[()] if isinstance(thing, h5py.Dataset) else None)


def kill_one(dice, seconds):
    """Starts a run and kills one of its processes at a random time; returns a description."""
    n, moment = dice.randint(2, 4), dice.uniform(0.2, 1) * seconds
    with subprocess.Popen(launcher(n) + command('job', page=True), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as launched:
        with contextlib.suppress(subprocess.TimeoutExpired):
            launched.wait(moment)
        running = children_of(launched)
        victim = dice.choice(sorted(running)) if running else None
        with contextlib.suppress(OSError, KeyError):
            os.kill(running[victim], signal.SIGKILL)
        over(launched)
    return f'process {victim} of {n} killed after {moment:.3f} s'


def test_a_process_killed_at_any_moment_leaves_no_store_or_a_good_one():
    kills = int(os.environ.get('TMERGE_KILLS', '15' if FULL else '5'))
    seed = int(os.environ.get('TMERGE_SEED', '1'))
    dice = random.Random(seed)
    synth('job', ranks=4, steps=20)
    times = []
    for _ in range(3):
        times.append(-time.monotonic())
        merged('job', '-o', '../new.h5', n=4, page=True)
        times[-1] += time.monotonic()
    seconds = min(times)
    merged('job', '--align=none', '-o', '../old.h5')
    ends_in = {None: 0, 'old': 0, 'new': 0}
    stores = {content('../new.h5'): 'new', content('../old.h5'): 'old'}
    n_killed, i = 0, 0
    while n_killed < kills and i < 4 * kills:  # some runs end before
        i += 1
        before = 'old' if i % 2 else None
        if before:
            shutil.copy('../old.h5', 'tmerge.h5')
        did = f'seed {seed}, run {i}: {kill_one(dice, seconds)}'
        found = None
        if os.path.exists('tmerge.h5'):
            is_good_store('tmerge.h5')
            found = stores.get(content('tmerge.h5'), 'another')
            os.unlink('tmerge.h5')
        holds(found in ('new', before), f'{did}: {found} store, before it {before}')
        if os.path.exists('tmerge.html'):
            holds(found == 'new' and content('tmerge.html') == content('../new.html'),
                  f'{did}: a page of a {found} store, or not all of it')
            os.unlink('tmerge.html')
        equal(files(), ['job'], did)
        ends_in[found] += 1
        n_killed += 'None' not in did
    print(f'         {n_killed} kills in {i} runs of {seconds:.2f} s, with seed {seed}, left '
          f'{ends_in["new"]} new stores, {ends_in["old"]} old, {ends_in[None]} none')
    for name in ('../new.h5', '../new.html', '../old.h5'):
        os.unlink(name)


main()
