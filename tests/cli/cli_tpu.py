"""A profile of four TPU v6e cores of eight against what an independent program mapped of it."""
import collections
import json
import os

from common import SHARED, Skip, contains, equal, holds, main, rows, tables, tmerge
import h5py

TRACE = os.path.join(SHARED, 'traces', 'xplane', 'tpu-v6e', 'tpu_inference.xplane.pb')
EXPECTED = os.path.join(SHARED, 'expected', 'xplane', 'mapped.json')


def stored(path):
    """By rank: events as (category, begin, duration, name), and waits by begin of the barriers."""
    with h5py.File(path) as store:
        text, at = store['names/bytes'][()].tobytes(), store['names/offsets'][()]
        names = [text[a:b].decode() for a, b in zip(at[:-1], at[1:])]
        words = {v: w for w, v in h5py.check_enum_dtype(store['events/category'].dtype).items()}
        events = [(words[c], b, d, names[n]) for c, b, d, n in zip(
            *(store[f'events/{column}'][()].tolist()
              for column in ('category', 'begin_ns', 'duration_ns', 'name')))]
        waits = dict(zip(*(store[f'collective_events/{c}'][()].tolist() for c in ('event', 'wait_ns'))))
        ranks = zip(*(store[f'ranks/{c}'][()].tolist()
                      for c in ('rank', 'first_event', 'n_events')))
        return {rank: ([*events[first:first + n]],
                       [(*events[i][1:3], waits[i]) for i in range(first, first + n)
                        if events[i][3] == 'barrier-cores'])
                for rank, first, n in ranks}


def merged():
    if not os.path.isfile(TRACE) or not os.path.isfile(EXPECTED):
        raise Skip('the profile of TPUs is not here')
    done = tmerge(TRACE, '-o', 't.h5').expect(0)
    with open(EXPECTED, encoding='utf-8') as file:
        return done, stored('t.h5'), json.load(file)['files']['tpu-v6e/tpu_inference.xplane.pb']


def test_waits_at_barriers_are_what_the_barriers_show():
    """A core's wait is the time from its begin to the last one's. The barrier lasts as long, and up
    to 6 us of its own. The core's clock is 15 ppm slow against the host's, on which waits are."""
    _, found, mapped = merged()
    for occurrence, barrier in enumerate(mapped['collectives']):
        for core, wanted in barrier['per_core'].items():
            _, duration, wait = found[int(core[-1])][1][occurrence]
            equal(wait == 0, core == barrier['last_arriver'], f'{core} came last')
            holds(0 <= duration - wait <= 6000, f'{core} waits {wait} of {duration}')
            apart = abs(wait - wanted['barrier_ps'] / 1000)
            holds(apart <= 6000, f'{core} waits {wait}, its barrier took {wanted["barrier_ps"]} ps')
    check = rows('t.h5', 'clock.check')[0]
    # Each of 3 all-reduces has a member here, of two; the barriers have 4 of 8.
    equal((check['collectives'], check['incomplete']), (15, 15), 'operations')
    equal({row['group']: row['ranks'] for row in rows('t.h5', 'groups.group')},
          {'cores 0,4': 2, 'cores 1,5': 2, 'cores 2,6': 2, 'cores 3,7': 2, 'cores 0-7': 8}, 'groups')


def test_times_are_those_of_the_cores_clocks():
    """All runs of a program, and the sums of operations; on the host's clock they are 15 ppm longer.
    """
    _, found, mapped = merged()
    for rank in mapped['ranks']:
        clock = mapped['device_clock'][rank['device']]
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
        for what, classes in (('all-reduce', ('all-reduce',)), ('other', ('loop fusion', 'broadcast'))):
            ps = sum(of_class[c]['device_duration_ps'] for c in classes if c in of_class)
            holds(abs(sums[what] - ps * stretch / 1000) < 1000, f'{what}: {sums[what]}, not {ps}')


def test_what_waits_for_a_copy_is_no_computation():
    """600 copies from start to done; what starts them and what waits for them is no work."""
    _, found, mapped = merged()
    for rank in mapped['ranks']:
        events, kinds = found[int(rank['device'][-1])][0], rank['tracks'][0]['by_kind']
        of = collections.Counter(c for c, *_ in events)
        equal(of['kernel'], kinds['kernel']['events'] + 3 + 3, 'kernels, all-reduces and barriers')
        equal(of['gpu_memcpy'], kinds['copy_wait']['events'], 'copies')
        equal({c for c, _, _, name in events if 'copy-done' in name}, {'gpu_user_annotation'})
    bytes_of = {row['kind']: row['bytes'] for row in rows('t.h5', 'transfers.kind')
                if row['rank'] == 0}
    # 3 arrays of 5 x 1024 x 1024 x 256 floats to the core and back, in each of 100 runs
    equal(bytes_of, {'htod': 300 * 5368709120, 'dtoh': 300 * 5368709120}, 'bytes')


def test_launches_steps_and_memory_are_the_cores():
    _, found, mapped = merged()
    got = tables('t.h5', 'launches.rank', 'overlap.step', 'memory.device', 'job.rank')
    for rank, device in enumerate(mapped['ranks']):
        of = {name: [row for row in table if row['rank'] == rank] for name, table in got.items()}
        calls = [e for e in found[rank][0] if e[0] == 'cuda_runtime']
        equal({name for *_, name in calls}, {'DoEnqueueProgram'})
        equal(len(calls), device['modules']['events'], 'calls')
        equal(of['launches.rank'][0]['unlinked'], 0)
        equal([row['step'] for row in of['overlap.step']], list(range(100)), 'steps')
        memory, wanted = of['memory.device'][0], mapped['memory'][str(rank)]
        equal((memory['allocations'], memory['releases'], memory['peak_bytes'],
               memory['peak_time_ns'] - mapped['epoch_ns']),
              (wanted['allocations'], wanted['deallocations'], wanted['peak_bytes_in_window'],
               wanted['peak_at_ps_first'] // 1000), 'memory')


main()
