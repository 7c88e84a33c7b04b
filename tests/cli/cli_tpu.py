"""A profile of four of eight TPU v6e cores compared with an independent program's results, and a
made job of two hosts in which everything is known."""
import collections
import os
import random
import re

from common import BASE_NS, contains, content, equal, holds, main, put, rows, seldom, tables, tmerge
from stores import Store
from xspace import PROFILES, Plane, field, mapped, space, varint

def stored(path):
    """Returns by rank: (category, begin, duration, name) of events, and waits at barriers."""
    store = Store(path)
    waits = dict(store.rows('collective_events', 'event', 'wait_ns'))
    return {rank: ([event[:4] for event in events],
                   [(*event[1:3], waits[row]) for row, event in enumerate(events, store.range(i)[0])
                    if event.name == 'barrier-cores'])
            for i, (rank, events) in enumerate(store.events().items())}


def merged():
    """Returns output, stored events and expected ones of the profile, merged once as ../t.h5."""
    (path, expected), = mapped('tpu-v6e').items()
    if not os.path.exists('../t.h5'):
        put('../t.out', tmerge(os.path.join(PROFILES, path), '-o', '../t.h5').expect(0).out)
    os.symlink('../t.h5', 't.h5')
    return content('../t.out').decode(), stored('t.h5'), expected


def test_waits_at_barriers_are_what_the_barriers_show():
    """A core's wait lasts from its begin to the last core's. The barrier lasts as long, plus up to
    6 us of its own. The core's clock is 15 ppm slow; waits are on the host's."""
    said, found, expected = merged()
    contains(' '.join(said.split()), '0 of 15 collectives complete (15 lack ranks; barriers among them show '
                                     'who came last)')
    for occurrence, barrier in enumerate(expected['collectives']):
        for core, wanted in barrier['per_core'].items():
            _, duration, wait = found[int(core[-1])][1][occurrence]
            equal(wait == 0, core == barrier['last_arriver'], f'{core} came last')
            holds(0 <= duration - wait <= 6000, f'{core} waits {wait} of {duration}')
            apart = abs(wait - wanted['barrier_ps'] / 1000)
            holds(apart <= 6000, f'{core} waits {wait}, its barrier took {wanted["barrier_ps"]} ps')
    check = rows('t.h5', 'clock.check')[0]
    # Each of 3 all-reduces has one of its two members here; the barriers have 4 of 8.
    equal((check['collectives'], check['incomplete']), (15, 15), 'operations')
    equal({row['group']: row['ranks'] for row in rows('t.h5', 'groups.group')},
          {**{f'cores {core},{core + 4}': 2 for core in range(4)}, 'cores 0-7': 8}, 'groups')


def test_times_are_those_of_the_cores_clocks():
    """Runs of a program, and sums of operations; on the host's clock they are 15 ppm longer."""
    _, found, expected = merged()
    for rank in expected['ranks']:
        clock = expected['device_clock'][rank['device']]
        stretch = 1 + clock['device_to_host_line']['slope_ppm'] / 1e6
        events = found[int(rank['device'][-1])][0]
        runs = [d for c, _, d, name in events
                if c == 'gpu_user_annotation' and name.startswith('jit_f(')]
        wanted = clock['jit_f_duration_on_device_clock_ps']
        equal(len(runs), clock['jit_f_runs'], 'runs')
        for duration, ps in ((min(runs), wanted['min_ps']), (max(runs), wanted['max_ps'])):
            holds(abs(duration - ps * stretch / 1000) < 100, f'a run of {duration}, not {ps}')
        of_class = rank['tracks'][0]['hlo_category']
        sums = collections.Counter()
        for category, _, duration, name in events:
            if category == 'kernel' and name != 'barrier-cores':
                sums['all-reduce' if name == 'all-reduce' else 'other'] += duration
        for what, classes in {'all-reduce': ['all-reduce'],
                              'other': ['loop fusion', 'broadcast']}.items():
            ps = sum(of_class[c]['device_duration_ps'] for c in classes if c in of_class)
            holds(abs(sums[what] - ps * stretch / 1000) < 1000, f'{what}: {sums[what]}, not {ps}')


def test_what_the_compiler_tells_stands_beside_each_operation():
    """Each compiler category has as many operations as in the file. The start, the wait and the
    whole of an asynchronous operation all have its attributes."""
    _, _, expected = merged()
    store = Store('t.h5')
    categories = store.texts('xla/category')
    reported = collections.Counter(categories)
    wanted = collections.Counter()
    for rank in expected['ranks']:
        for category, of in rank['tracks'][0]['hlo_category'].items():
            wanted[category] += of['events'] * (1 + (category == 'copy-start'))
    equal(reported, wanted, 'operations by category')
    adds = {(shape.split('{')[0], *work) for category, shape, work in zip(
        categories, store.texts('xla/shape'), store.rows('xla', 'bytes', 'flops'))
        if category == 'loop fusion'}
    # x + 1 of 5 x 1024 x 1024 x 256 floats: as many additions, 4 bytes in and out for each
    equal(adds, {('f32[5,1024,1024,256]', 8 * 5 << 28, 5 << 28)}, 'FLOP and bytes')


def test_what_was_before_the_first_step_is_no_part_of_it():
    """The program loads and compiles for 14 s, then runs 100 times, every 784 ms."""
    merged()
    for table in ('whatif.step', 'criticalpath.step'):
        took = [row['step_ns'] for row in rows('t.h5', table)]
        equal((len(took), [round(ns / 1e6) for ns in (took[0], max(took))]), (100, [784, 784]), table)


def test_what_waits_for_a_copy_is_no_computation():
    """600 copies from start to done; starting them and waiting for them is not work."""
    _, found, expected = merged()
    for rank in expected['ranks']:
        events, kinds = found[int(rank['device'][-1])][0], rank['tracks'][0]['by_kind']
        of = collections.Counter(c for c, *_ in events)
        equal(of['kernel'], kinds['kernel']['events'] + 3 + 3, 'kernels, all-reduces and barriers')
        equal(of['gpu_memcpy'], kinds['copy_wait']['events'], 'copies')
        equal({c for c, _, _, name in events if 'copy-done' in name}, {'gpu_user_annotation'})
    moved = {(row['kind'], row['host_memory'], row['bytes'])
             for row in rows('t.h5', 'transfers.kind')}
    # 3 arrays of 5 x 1024 x 1024 x 256 floats to each core and back, in each of 100 runs
    equal(moved, {(kind, 'pinned', 300 * 5368709120) for kind in ('htod', 'dtoh')}, 'bytes')


def test_what_is_of_gpus_alone_is_not_said():
    said, _, _ = merged()
    equal({row['tensor_cores'] for row in rows('t.h5', 'kernels.kernel')}, {None}, 'tensor cores')
    equal(rows('t.h5', 'phases.step'), [], 'phases of PyTorch')
    page = said + str(rows('t.h5', 'advice.item'))
    holds('TPU time' in page and not re.search('GPU|NCCL|CUDA|stream', page), page)


def test_launches_steps_and_memory_are_the_cores():
    _, found, expected = merged()
    got = tables('t.h5', 'launches.rank', 'overlap.step', 'memory.device', 'job.rank')
    for rank, device in enumerate(expected['ranks']):
        of = {name: [row for row in table if row['rank'] == rank] for name, table in got.items()}
        calls = [e for e in found[rank][0] if e[0] == 'cuda_runtime']
        equal({name for *_, name in calls}, {'DoEnqueueProgram'})
        equal(len(calls), device['modules']['events'], 'calls')
        equal(of['launches.rank'][0]['unlinked'], 0)
        equal([row['step'] for row in of['overlap.step']], list(range(100)), 'steps')
        memory, wanted = of['memory.device'][0], expected['memory'][str(rank)]
        equal((memory['device'], memory['allocations'], memory['releases'], memory['peak_bytes'],
               memory['peak_time_ns'] - expected['epoch_ns']),
              (f'xla:{rank}', wanted['allocations'], wanted['deallocations'],
               wanted['peak_bytes_in_window'], wanted['peak_at_ps_first'] // 1000), 'memory')


# A made job -------------------------------------------------------------------------------------

US = 1000_000  # picoseconds
RUNS, CORES, LATE = 60, 4, 2
PROGRAM = 'jit_step(77)'
GLOBAL = 'channel_id=1, use_global_device_ids=true'
BARRIER = 'barrier-cores'
WORK = '%fusion.1 = f32[8]{0} fusion(f32[8]{0} %p)'
PART = '%dot.2 = f32[8]{0} dot(f32[8]{0} %p)'
LOOP = '%while.3 = (f32[8]{0}) while((f32[8]{0}) %p), body=%b'
START = ('%ag.4 = (f32[8]{0}, f32[16]{0}) all-gather-start(f32[8]{0} %x), '
         'replica_groups=[2,2]<=[4], ' + GLOBAL)
DONE = '%ag.5 = f32[16]{0} all-gather-done((f32[8]{0}, f32[16]{0}) %ag.4)'
REDUCE = ('%ar.6 = f32[1024]{0} all-reduce(f32[1024]{0} %x), replica_groups={{0,1,2,3}}, ' + GLOBAL)
INFEED = '%infeed.7 = ((f32[256]{0}), token[]) infeed(token[] %t)'


def hlo_proto():
    """One replica of four parts on devices 10 to 13; each host has two."""
    parts = b''.join(field(3, field(1, varint(10 + core))) for core in range(CORES))
    return field(1, field(1, 'jit_step') + field(15, field(1, 1) + field(2, CORES) + parts))


def run_of(core, at, until, free):
    """Returns the events, by line, and the end of a run that begins `at`: all continue at `until`,
    and leave the all-gather of a core's pair, then the all-reduce of all, at `free`."""
    gathered, reduced = free
    work = until + 3000
    loop, start, wait = work + 400 * US, work + 900 * US, gathered - 40 * US
    ops = [(WORK, work, 400 * US), (LOOP, loop, 500 * US), (PART, loop + 10 * US, 300 * US),
           (PART, loop + 310 * US, 190 * US), (START, start, 1000), (WORK, start + 1000, 50 * US),
           (DONE, wait, gathered - wait), (WORK, gathered, (20 + core) * US),
           (REDUCE, gathered + (20 + core) * US, reduced - gathered - (20 + core) * US),
           (INFEED, reduced, 5 * US)]
    end = reduced + 5 * US
    return ops, (BARRIER, at, until - at), (PROGRAM, at, end - at), end


def made_job(first_run):
    """Writes the profiles of the two hosts; the second begins at a later run, and its clock is 3 ms
    ahead. The core LATE is last at each barrier, by 200 us and more. Returns the wait at the
    barrier by run and core."""
    chance, waits, at = random.Random(5), [], 0
    lines = [([], [], []) for _ in range(CORES)]
    for run in range(RUNS):
        comes = [at + chance.randrange(150) * US for _ in range(CORES)]
        comes[LATE] = at + (350 + chance.randrange(400)) * US
        waits.append([(comes[LATE] - c) / 1000 for c in comes])
        until = comes[LATE] + 2 * US
        gathered = until + (1100 + chance.randrange(50)) * US
        free = (gathered, gathered + (80 + chance.randrange(60)) * US)
        for core in range(CORES):
            ops, barrier, program, end = run_of(core, comes[core], until, free)
            if run >= (first_run if core >= 2 else 0):
                lines[core][0].extend(ops)
                lines[core][1].append(barrier)
                lines[core][2].append((program, run))
        at = end + 300 * US
    for host in range(2):
        own, ahead = (2 * host, 2 * host + 1), 3000 * US * host
        planes = [core_plane(core, lines[core], ahead) for core in own]
        # SparseCores have lines with the same numbers.
        planes += [Plane(f'/device:TPU:{core % 2} SparseCore 1', [(3, 'Sparse Core Ops', 0, [
            ('%gather.9 = f32[8]{0} gather(f32[8]{0} %p)', begin + ahead, 70 * US, {})
            for (_, begin, _), _ in lines[core][2]])]) for core in own]
        # One host links launches by flows, the other by the run, which callbacks have, too.
        calls = [('DoEnqueueProgram', begin - 250 * US + ahead, 20 * US, launch(core, run, True))
                 for core in own for (_, begin, _), run in lines[core][2]]
        calls += [('CompleteCallbacks', begin + length + ahead, 20 * US,
                   {'device_ordinal': core % 2, 'queue_id': 0, 'run_id': run})
                  for core in own for (_, begin, length), run in lines[core][2]]
        planes.append(Plane('/host:CPU', [(1, 'main', 0, sorted(calls, key=lambda c: c[1]))]))
        planes.append(Plane('/host:metadata', shared={PROGRAM: {'Hlo Proto': hlo_proto()}}))
        put(f'host{host}.xplane.pb', space(*planes, epoch=BASE_NS, host=f'host{host}'))
    return waits


def launch(core, run, host):
    if core < 2:
        return {'_pt' if host else '_ct': 12, '_p' if host else '_c': 1000 * core + run}
    return {**({'device_ordinal': core % 2} if host else {}), 'queue_id': 0, 'run_id': run}


def core_plane(core, lines, ahead_ps):
    """The core's clock is 7 s behind the host's; runs and barriers only have host times in the
    file."""
    category = {WORK: 'loop fusion', PART: 'convolution', LOOP: 'while', REDUCE: 'all-reduce',
                START: 'all-gather-start', DONE: 'all-gather-done', INFEED: 'infeed'}
    ops = [(name, begin + ahead_ps, duration,
            {'device_offset_ps': begin + ahead_ps - 7000_000 * US, 'device_duration_ps': duration})
           for name, begin, duration in lines[0]]
    runs = [(name, begin + ahead_ps, duration, launch(core, run, False))
            for (name, begin, duration), run in lines[2]]
    barriers = [(name, begin + ahead_ps, duration, {}) for name, begin, duration in lines[1]]
    details = field(2, core % 2) + field(6, 10 + core)
    return Plane(f'/device:TPU:{core % 2}', [(2, 'XLA Modules', 0, runs), (3, 'XLA Ops', 0, ops),
                                             (6, 'XLA TraceMe', 0, barriers)],
                 stats={'core_details': details},
                 shared={name: {'hlo_category': word} for name, word in category.items()})


def check_made_job(first_run):
    waits = made_job(first_run)
    tmerge('host0.xplane.pb', 'host1.xplane.pb', '-o', 't.h5', '--force').expect(0)
    found = stored('t.h5')
    check = rows('t.h5', 'clock.check')[0]
    common = RUNS - first_run
    # Per run one barrier and one all-reduce of all, and one all-gather of each host's pair. The
    # first host has its part of the operations before the second recording.
    equal((check['matched'], check['incomplete'], check['unmatched'], check['suspect']),
          (2 * common + RUNS + common, 2 * first_run, 0, 0), 'operations')
    for core in range(CORES):
        barriers = found[core][1][-common:]
        for run, (_, _, wait) in enumerate(barriers, first_run):
            holds(abs(wait - waits[run][core]) < 3000, f'core {core}: {wait}, not {waits[run]}')
    offsets = [row['offset_ns'] for row in rows('t.h5', 'clock.rank')]
    holds(abs(offsets[0] - offsets[2] - 3000_000) < 10_000, f'3 ms ahead, by offsets {offsets}')
    for row in rows('t.h5', 'launches.rank'):  # except for the SparseCore's
        equal((row['launches'], row['unlinked']),
              (RUNS - (first_run if row['rank'] >= 2 else 0),) * 2, 'launches')
    return found, tables('t.h5', 'stragglers.job', 'overlap.rank', 'overlap.step', 'job.rank')


@seldom
def test_hosts_are_joined_by_the_operations_of_their_programs():
    found, got = check_made_job(0)
    verdict = got['stragglers.job'][0]
    equal((verdict['verdict'], verdict['rank']), ('persistent', LATE))
    equal([(r['rank'], r['host'], r['device']) for r in got['job.rank']],
          [(0, 'host0', 0), (1, 'host0', 1), (2, 'host1', 0), (3, 'host1', 1)])
    equal(sum(r['rank'] == 0 for r in got['overlap.step']), RUNS, 'steps')
    first = found[0][0]
    # Of 500 us in a loop 490 belong to its operations, 10 to itself; infeed is a copy; an
    # all-gather lasts from its start to its end, and waiting for it is not work.
    sums = collections.Counter()
    for category, _, duration, name in first:
        sums[category, name] += duration
    equal((sums['kernel', 'while.3'], sums['kernel', 'dot.2'], sums['kernel', 'ag.5'],
           sums['gpu_memcpy', 'Memcpy HtoD (infeed.7)']),
          (RUNS * 10_000, RUNS * 490_000, 0, RUNS * 5000), 'times')
    equal(sums['kernel', 'gather.9'], RUNS * 70_000, 'of the SparseCore')
    gathers = [d for c, _, d, n in first if (c, n) == ('kernel', 'ag.4')]
    waited = [d for c, _, d, n in first if (c, n) == ('gpu_user_annotation', 'ag.5')]
    equal((len(gathers), len(waited), set(waited)), (RUNS, RUNS, {40_000}), 'all-gathers')
    holds(all(199_000 <= d <= 250_000 for d in gathers), gathers)


@seldom
def test_recordings_need_not_begin_at_the_same_run():
    check_made_job(7)


main()
