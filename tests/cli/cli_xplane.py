"""Profiles of TensorFlow and JAX: real ones compared with an independent program's results, and
made ones for ranks and for files that are rejected."""
import collections
import os

from common import (BASE_NS, SOURCE, UNKNOWN, contains, equal, gzipped, holds, main, merged, put,
                    rows, same_bytes, seldom, tables, tmerge, unranked, zstd_framed)
import stores
from stores import Store
import xspace
from xspace import Plane, field, space

# Planes by hand ---------------------------------------------------------------------------------


def gpu(number, kernels, first=1):
    """kernels: (name, begin_ps, duration_ps); their correlation ids count up from `first`."""
    return Plane(f'/device:GPU:{number}', [(7, 'Stream #7(Compute)', 0, [
        (name, begin, duration, {'correlation_id': first + i})
        for i, (name, begin, duration) in enumerate(kernels)])])


def host(*lines):
    return Plane('/host:CPU', lines)


def call(correlation, begin, duration=1000):
    return ('cuLaunchKernel', begin, duration, {'correlation_id': correlation})


def one_gpu(number=0, begin=5000, **more):
    work = gpu(number, [('gemm', begin, 2000)])
    return space(work, host((1, 'main', 0, [call(1, 1000)])), **more)


def of(events, *categories):
    return [e for e in events if e[0] in categories]


# Real profiles ----------------------------------------------------------------------------------

WORK = {'kernel': 'kernel', 'copy': 'gpu_memcpy', 'set': 'gpu_memset'}


def ns(ps):
    """The devices' times are whole nanoseconds in these files."""
    equal(ps % 1000, 0, 'picoseconds')
    return ps // 1000


def check_work(events, mapped, epoch):
    """Checks the streams of a rank: events, time, first and last of each, only by these kinds."""
    streams = collections.defaultdict(list)
    for event in of(events, *WORK.values()):
        streams[event.thread].append(event)
    equal(sorted(streams), sorted(track['line'] for track in mapped['tracks']), 'streams')
    for track in mapped['tracks']:
        own = streams[track['line']]
        equal(min(e[1] for e in own), epoch + ns(track['first_begin_ps']), 'first begin')
        equal(max(e[1] + e[2] for e in own), epoch + ns(track['last_end_ps']), 'last end')
        for kind, word in WORK.items():
            sums = track['by_kind'].get(kind, {'events': 0, 'sum_ps': 0})
            found = of(own, word)
            equal((len(found), sum(e[2] for e in found)), (sums['events'], ns(sums['sum_ps'])),
                  f'{kind} on {track["line"]}')
    derived = collections.Counter(e.thread for e in of(events, 'gpu_user_annotation'))
    equal(dict(derived), mapped.get('annotation_lines', {}), 'annotations')


def check_launches(events, launch, mapped):
    equal((launch['events'], launch['unlinked']),
          (sum(n for what, n in mapped['launches'].items() if what.endswith(' linked')), 0),
          'GPU events, and those without a call')
    calls = collections.Counter(e[3] for e in of(events, 'cuda_runtime'))
    for what, n in mapped['launches'].items():
        if what.startswith('api ') and '<' not in what:
            equal(calls[what[4:]], n, what)
    equal(sum(calls.values()), launch['events'], 'calls')


def check_memory(memory, rank, mapped, first, epoch):
    """Checks memory of the rank's device, and on the first rank the host's."""
    device = 'cuda:' + mapped['device'].rsplit(':', 1)[1]
    wanted = {}
    for allocator, sums in first['memory'].items():
        of_gpu = allocator.startswith('GPU_')
        if of_gpu and allocator.split('_')[1] == device[5:]:
            wanted[device] = sums
        elif not of_gpu and mapped is first['ranks'][0]:
            wanted['cpu'] = sums
    own = {row['device']: row for row in memory if row['rank'] == rank}
    equal(sorted(own), sorted(wanted), f'memory of rank {rank}')
    for name, sums in wanted.items():
        row = own[name]
        equal((row['allocations'], row['releases'], row['peak_bytes'], row['peak_time_ns']),
              (sums['allocations'], sums['deallocations'], sums['peak_bytes_in_window'],
               epoch + ns(sums['peak_at_ps_first'])), f'{name} of rank {rank}')


def check_steps(found, mapped, epoch):
    """A step begins with its first call, which comes before the device's first event, and ends with
    the device's last event."""
    steps = mapped.get('steps', [])
    equal([s['step'] for s in found], [int(s['name']) for s in steps] or [0], 'steps')
    for step, row in zip(steps, found):
        begin = epoch + ns(step['begin_ps'])
        end = begin + ns(step['duration_ps'])
        holds(row['begin_ns'] <= begin, f'{row} begins behind {begin}')
        equal(row['begin_ns'] + row['window_ns'], end, 'end of a step')


def check_profile(name):
    """Merges the profiles of a folder, and compares them with all mapped results."""
    files = xspace.mapped(name)
    paths = [os.path.join(xspace.PROFILES, file) for file in files]
    done = tmerge(*paths, '-o', 'x.h5').expect(0)
    found, rank = stores.events('x.h5'), 0
    got = tables('x.h5', 'launches.rank', 'memory.device', 'overlap.rank', 'overlap.step',
                 'job.rank')
    for file, mapped in files.items():
        epoch, n_host, n_steps = mapped['epoch_ns'] or 0, 0, 0
        for device in mapped['ranks']:
            events, of_rank = found[rank], {t: [r for r in v if r['rank'] == rank]
                                            for t, v in got.items()}
            busy = device['busy_union_ps']
            place = of_rank['job.rank'][0]
            equal((place['device'], place['host'], place['format']),
                  (int(device['device'].rsplit(':', 1)[1]),
                   os.path.basename(file)[:-len('.xplane.pb')], 'xplane'), 'place')
            check_work(events, device, epoch)
            check_launches(events, of_rank['launches.rank'][0], device)
            check_memory(got['memory.device'], rank, device, mapped, epoch)
            if 'steps' in device:
                check_steps(of_rank['overlap.step'], device, epoch)
            found_busy = of_rank['overlap.rank'][0]
            equal((found_busy['compute_ns'], found_busy['memory_ns']),
                  (ns(busy.get('kernel', 0)), ns(busy.get('copy', 0))), 'busy time')
            n_steps += len(device.get('steps', []))
            n_host += len(events) - len(of(events, *WORK.values(), 'gpu_user_annotation'))
            rank += 1
        yield file, mapped, found, n_host - n_steps, done
    equal(rank, len(found), 'ranks')


def operators_of(events):
    """Returns the number of operators by type; TensorFlow names its operations scope/name:Type."""
    found = collections.Counter()
    for event in of(events, 'cpu_op'):
        found[event[3].rpartition(':')[2]] += 1
    return found


def check_kernels(mapped):
    """Checks two identical files: kernels by name and details."""
    store = Store('x.h5')
    names, durations = store.texts('events/name'), store['events/duration_ns'].tolist()
    found = collections.defaultdict(list)
    for event, *grid_and_block, registers, shared in store.rows(
            'kernels', 'event', *(f'{what}_{axis}' for what in ('grid', 'block') for axis in 'xyz'),
            'registers', 'shared_memory_bytes'):
        details = 'regs:{} shm:{} grid:{},{},{} block:{},{},{}'.format(registers, shared,
                                                                       *grid_and_block)
        found[names[event], details].append(durations[event])
    equal(len(found), mapped['distinct_name_and_details'], 'kernels')
    for top in mapped['top']:
        sums = [(len(v), sum(v), min(v), max(v)) for (name, details), v in found.items()
                if name.startswith(top['name']) and details == top['details']]
        wanted = (2 * top['events'], 2 * ns(top['total_ps']), ns(top['min_ps']), ns(top['max_ps']))
        holds(wanted in sums, f'{wanted} of {top["name"]} is not in {sums}')


def test_tensorflow_on_several_gpus_is_mapped_to_ranks():
    for file, mapped, found, n_host, done in check_profile('gpu-multi-worker'):
        first = 0 if file.endswith('.179_6003.xplane.pb') else 3
        ranks = [found[first + i] for i in range(3)]
        types = sum((operators_of(events) for events in ranks), collections.Counter())
        for row in mapped['host_tf_ops']['top']:
            equal(types[row['type']], row['events'], row['type'])
        # Each host event is on one rank: the additional ones are operators that XLA and old
        # TensorFlow only record in GPU events, placed around their calls. All three ranks wait for
        # the two batches that a thread without a device fetches.
        added = sum(1 for events in ranks for e in of(events, 'cpu_op') if e[3].find(':') < 0)
        batches = [[e for e in of(events, 'user_annotation') if e[3].startswith('IteratorGetNext')]
                   for events in ranks]
        holds(len(batches[0]) == 2 and batches[0] == batches[1] == batches[2], batches)
        added += 2 * 2
        equal(n_host - added, mapped['host']['events'], 'events of the host')
    equal(len(done.warnings), 2, 'warnings: no rank is reported, and two files are the same')
    bytes_of = collections.Counter()
    for row in rows('x.h5', 'transfers.kind'):
        bytes_of[row['rank'] % 3, row['kind']] += row['bytes']
    equal(dict(bytes_of), {(0, 'htod'): 2 * 3112, (1, 'htod'): 2 * 37447, (1, 'dtoh'): 2 * 36944,
                           (2, 'htod'): 2 * 40559, (2, 'dtoh'): 2 * 36944}, 'bytes')
    check_kernels(mapped['kernel_rows'])


def test_jax_on_amd_is_mapped_to_ranks():
    for name in ('jax-mi300-attention', 'jax-mi300-gemm'):
        for _, mapped, found, n_host, _ in check_profile(name):
            added = of(found[0], 'cpu_op')
            equal(n_host - len(added), mapped['host']['events'], 'events of the host')
            # XLA records the operation of each of its kernels, and of some copies.
            with_operation = {'jax-mi300-attention': 87, 'jax-mi300-gemm': 42}[name]
            equal(len(added), with_operation, 'operators')
    equal(rows('x.h5', 'calls.call/operator')[0]['name'], 'jit(dot)/dot_general')


# Made profiles ------------------------------------------------------------------------------------

OK = os.path.join(SOURCE, 'testdata', 'ok_gpus.xplane.pb')


def test_kernels_and_memory_are_what_xprofs_own_tests_expect():
    """Values of xplane_to_kernel_stats_db_test.cc, whose details are one to a line and which has an occupancy
    without a colon, and of xplane_to_memory_profile_test.cc: at the peak 2000 of stacks and 5000 taken."""
    kernels = [('kernel_name_shortest', 16, 0, 'occ_pct:50.0'), ('kernel_name_middle', 32, 16384, 'occ_pct=13.0'),
               ('volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_tn', 32, 16384, 'occ_pct:25.0')]
    events = [(name, 10000 * (i + 1), 1000 * (i + 1), {'correlation_id': i + 1, 'kernel_details': '\n'.join(
        (f'regs:{registers}', 'static_shared:0', f'dynamic_shared:{shared}', 'grid:3,1,1', 'block:64,1,1', occupancy))})
        for i, (name, registers, shared, occupancy) in enumerate(kernels)]
    records = [(f'Memory{what}', at, 1000, {'bytes_reserved': 2000, 'bytes_allocated': taken, 'bytes_available': free,
                                            'allocation_bytes': size, 'addr': address, 'allocator_name': 'GPU_0_bfc'})
               for what, at, taken, free, size, address in (
                   ('Allocation', 40000, 3000, 5000, 256, 222333), ('Deallocation', 50000, 2744, 5256, 256, 222333),
                   ('Allocation', 70000, 5000, 3000, 300, 345678))]
    store = xspace.merged_planes('own', xspace.gpu(events), host((1, 'main', 0, records)))
    found = tables(store, 'kernels.kernel', 'memory.device', 'memory.category')
    equal([(row['name'], row['total_ns'], row['registers'], row['shared_memory_bytes'], row['occupancy_pct'],
            row['tensor_cores']) for row in found['kernels.kernel']],
          [(kernels[2][0], 3, 32, 16384, 25.0, True), (kernels[1][0], 2, 32, 16384, None, False),
           (kernels[0][0], 1, 16, 0, 50.0, False)])
    equal([(row['allocator'], row['peak_bytes'], row['peak_time_ns'] - BASE_NS) for row in found['memory.device']],
          [('GPU_0_bfc', 7000, 70)])
    equal([row['peak_bytes'] for row in found['memory.category'] if row['category'] == 'stack'], [2000])


def test_threads_go_to_the_device_that_they_call_for():
    """testdata/ok_gpus: threads worker and main call for GPU 0, other for GPU 1."""
    merge(OK)
    found = stores.events('x.h5')
    threads = {rank: sorted({e.thread for e in events if e[0] in ('cuda_runtime', 'python_function')})
               for rank, events in found.items()}
    equal(threads, {0: ['main/1', 'worker/2'], 1: ['other/3']}, 'threads')
    # A memset and a copy by their details; ROCm's copy by the call that launched it.
    equal([(e[3], e[2]) for e in sorted(of(found[0], 'gpu_memcpy', 'gpu_memset'))],
          [('Memcpy HtoD (Pageable -> Device)', 2000), ('Memset', 500)], 'copies of GPU 0')
    equal([e[3] for e in of(found[1], 'gpu_memcpy', 'kernel')], ['Memcpy HtoD', 'wrapped_add.kd'])
    # By hand: 100 ns + 20,000,000 ps; end 25,000,400 ps; each rounded on its own.
    gemm = min(of(found[0], 'kernel'), key=lambda e: e[1])
    equal(gemm[1:4], (BASE_NS + 100 + 20000, 5000, 'gemm'), 'the first kernel')
    equal([e[3] for e in of(found[0], 'cpu_op')], ['scope/Add:Add', 'jit_f/fusion.1'], 'operators')
    equal([e[3] for e in of(found[1], 'cpu_op')], ['scope/Add:Add'], 'operators')
    memory = {(r['rank'], r['device']): r['peak_bytes'] for r in rows('x.h5', 'memory.device')}
    equal(memory, {(0, 'cuda:0'): 512, (0, 'cpu'): 0}, 'memory')


def merge(*paths, n=0, ranks=None):
    """Merges profiles without ranks, with only this warning."""
    done = tmerge(*paths, '-o', 'x.h5', '--force', n=n).expect(0)
    ranks = ranks or len(rows('x.h5', 'job.rank'))
    equal(done.warnings, [unranked(ranks, ranks, 'from 0 in the order of paths and devices')],
          'warnings')
    return done


def test_numbers_do_not_depend_on_encoding():
    with open(OK, 'rb') as file:
        plain = file.read()
    os.mkdir('a')
    for name, encoded in (('plain', plain), ('gzip', gzipped(plain)), ('zstd', zstd_framed(plain))):
        put('a/node7.xplane.pb', encoded)
        merge('a')
        os.rename('x.h5', f'{name}.h5')
        same_bytes(f'{name}.h5', 'plain.h5')


def test_steps_are_the_annotations_with_what_other_threads_do_for_them():
    """The first step's annotation ends at 41.05 us, and its work is enqueued on another thread; the
    second begins at 50.05. With a device marker a step begins with its first call."""
    step = ('train', 1_000_000, 40_000_000, {'step_num': 12})
    late = [('enqueue', 2_000_000, 1_000_000, {'_pt': 14, '_p': -7})]
    run = [('execute', 45_000_000, 9_000_000, {'_ct': 14, '_c': -7}), call(1, 46_000_000)]
    second = [('train', 50_000_000, 20_000_000, {'step_num': 13}), call(2, 60_000_000)]
    work = gpu(0, [('a', 48_000_000, 1_000_000), ('b', 62_000_000, 1_000_000)])
    put('node7.xplane.pb', space(work, host((1, 'main', 50, [step] + late + second),
                                            (2, 'worker', 50, run))))
    merge('node7.xplane.pb')
    steps = rows('x.h5', 'overlap.step')
    # The first begins with its call, as its annotation had ended by then.
    equal([(s['step'], s['begin_ns'] - BASE_NS, s['compute_ns']) for s in steps],
          [(12, 46050, 1000), (13, 50050, 1000)], 'steps')
    equal(sorted(e[3] for e in of(stores.events('x.h5')[0], 'user_annotation')),
          ['enqueue', 'execute', 'train step 12', 'train step 13'], 'annotations')


def test_a_device_without_work_is_no_rank_and_the_name_of_the_file_is_the_host():
    idle = Plane('/device:GPU:0', [(-559038737, 'Steps', 0, [('0', 0, 9, {})]),
                                   (7, 'Stream #7', 0, [])])
    two = space(idle, gpu(5, [('b', 9000, 1000)], 2), gpu(3, [('a', 5000, 1000)]),
                host((1, 'main', 0, [call(1, 1000), call(2, 2000)])), host='other:6009')
    put('run/node7_6009.xplane.pb', two)
    put('run/node7_6009.trace.json', '{}')  # next to it, and not a trace
    put('run/node12.xplane.pb', one_gpu(2))
    merge('run')
    equal([(r['rank'], r['host'], r['device']) for r in rows('x.h5', 'job.rank')],
          [(0, 'node7_6009', 3), (1, 'node7_6009', 5), (2, 'node12', 2)], 'ranks')
    put('map', 'run/node12.xplane.pb 0\nrun/node7_6009.xplane.pb 1\n')
    merged('run', '-o', 'x.h5', '--force', '--rank-map', 'map')
    equal([(r['rank'], r['host'], r['device']) for r in rows('x.h5', 'job.rank')],
          [(0, 'node12', 2), (1, 'node7_6009', 3), (2, 'node7_6009', 5)], 'ranks by the map')
    put('profile.pb', two)
    merge('profile.pb')
    equal(rows('x.h5', 'job.rank')[0]['host'], 'other:6009', 'the host without a telling name')


@seldom
def test_a_folder_of_the_profiler_is_one_run():
    put('log/plugins/profile/2026_01_02/node7.xplane.pb', one_gpu())
    put('log/events.out', 'no trace')
    for folder in ('log', 'log/', 'log/plugins', 'log/plugins/profile/',
                   'log/plugins/profile/2026_01_02'):
        merge(folder)
        equal([r['host'] for r in rows('x.h5', 'job.rank')], ['node7'], folder)
    os.mkdir('log/plugins/profile/empty')
    merge('log')
    put('log/plugins/profile/2025_12_31/node7.xplane.pb', one_gpu())
    for folder in ('log', 'log/plugins/profile'):
        tmerge(folder, '-o', 'y.h5').fails(
            3, f'{folder}: 2 folders below hold profiles, and each is a job: 2025_12_31, '
               '2026_01_02; name one of them')


def test_results_of_xprof_beside_a_profile_are_left_out():
    put('run/node7.xplane.pb', one_gpu())
    put('run/ALL_HOSTS.op_stats_v2.pb', field(1, field(1, 'node') + field(2, 'MatMul')))
    tmerge('run/ALL_HOSTS.op_stats_v2.pb', 'run/node7.xplane.pb', '-o', 'tmerge.h5').expect(0)
    row, = rows('tmerge.h5', 'job.left_out')
    equal((os.path.basename(row['source']), row['reason']), ('ALL_HOSTS.op_stats_v2.pb', 'covered'))
    tmerge('run/ALL_HOSTS.op_stats_v2.pb', '-o', 'x.h5').expect(3)


def test_damage_is_an_error_with_its_byte():
    whole = one_gpu()
    put('cut.xplane.pb', whole[:-20])
    text = b''.join(bytes([c]) if c < 128 else b'\xef\xbf\xbd' for c in whole * 3)
    put('text.xplane.pb', text)
    put('empty.xplane.pb', b'')
    put('huge.xplane.pb', whole + b'\x0a\x80\x80\x80\x80\x0b' + bytes(16))
    put('graph.pb', field(1, field(1, 'node') + field(2, 'MatMul')))
    # The last plane takes 2 + 60 bytes, the host's name after it 7.
    for name, message in (('cut.xplane.pb', f': byte {len(whole) - 69}: a field of 60 bytes starts '
                           'here, but the file ends 47 bytes later'),
                          # The first plane's 75 bytes are all below 80; the second's length is not.
                          ('text.xplane.pb', ': byte 77: this file cannot be read: it was saved as text, which replaced '
                           'every byte above 7F by EF BF BD. Copy the profile again, in binary '
                           'mode'),
                          ('empty.xplane.pb', ": file is empty; profilers also leave an empty file if a profile exceeds protobuf's limit of 2 GB: record fewer steps"),
                          # 5 bytes of 7 bits: 11 x 2^28 = 2952790016, but 16 follow
                          ('huge.xplane.pb', f': byte {len(whole)}: a field of 2952790016 bytes starts '
                           "here, but the file ends 16 bytes later; protobuf's limit is 2 GB"),
                          ('graph.pb', ': ' + UNKNOWN)):
        tmerge(name, '-o', 'x.h5').fails(3, name + message)
    put('ok.xplane.pb', whole)
    done = tmerge('ok.xplane.pb', 'cut.xplane.pb', '--skip-bad', '-o', 'x.h5').expect(0)
    contains(done.err, 'cut.xplane.pb: byte ')
    equal(len(rows('x.h5', 'job.rank')), 1, 'ranks')


main()
