"""Time of each device step by part, its input, and slow devices: real profiles compared with an
independent program's results, and made jobs in which everything is known."""
import os

from common import contains, equal, holds, main, put, rows, synth, tmerge
from xspace import PROFILES, Plane, gpu, mapped, merged_planes, space

PARTS = ('compute_16', 'compute_32', 'compute_untyped', 'collectives', 'infeed', 'input_wait',
         'host_to_device', 'output', 'device_to_device', 'offload', 'launch', 'compilation', 'host',
         'other')


def steps(store):
    """Returns pod.step after checking that each row's parts sum to its step exactly."""
    found = rows(store, 'pod.step')
    for row in found:
        equal(sum(row[f'{part}_ns'] for part in PARTS), row['step_ns'], row)
        equal(row['input_ns'], row['infeed_ns'] + row['input_wait_ns'] + row['host_to_device_ns'])
    return found


def merged(job):
    """Merges the profiles of a folder as r.h5; returns the expected content of the first."""
    expected = next(iter(mapped(job).values()))
    tmerge(os.path.join(PROFILES, job), '-o', 'r.h5').expect(0)
    return expected


# Real profiles ------------------------------------------------------------------------------------

def test_a_step_of_tensorflow_is_what_an_independent_reading_says():
    """XProf's step is the device's marker; here it begins with the host's first call for it, which
    is launching. XProf only counts copies to the host that have a group, and the others as waits
    for input, which they overlap."""
    of = merged('gpu-multi-worker')
    reported = of['step_breakdown_of_group_0']['with_host_events']
    ns = {kind: ps // 1000 for kind, ps in reported['type_ps'].items()}
    row = next(row for row in steps('r.h5') if row['rank'] == 2)  # GPU 6
    earlier = row['step_ns'] - reported['window']['duration_ps'] // 1000
    holds(0 < earlier < 100_000, earlier)
    equal({part: row[f'{part}_ns'] for part in PARTS if row[f'{part}_ns'] > 0},
          {'compute_16': ns['DEVICE_COMPUTE_16'], 'compute_32': ns['DEVICE_COMPUTE_32'],
           'other': ns['UNKNOWN_TIME'], 'launch': ns['HOST_PREPARE'] + earlier,
           'output': row['output_ns'],
           'input_wait': ns['HOST_WAIT_INPUT'] + ns['DEVICE_TO_HOST'] - row['output_ns']})
    holds(row['output_ns'] >= ns['DEVICE_TO_HOST'], row)
    # A device with another step, and one that only copied, are not compared.
    equal([(row['rank'], row['slow']) for row in rows('r.h5', 'pod.rank')][:2],
          [(0, None), (1, None)])


def test_stages_of_a_pipeline_are_the_iterators_of_the_file():
    of = merged('gpu-multi-worker')
    wanted = {}
    for event in of['tf_data']:
        calls, ns = wanted.get(event['iterator'], (0, 0))
        wanted[event['iterator']] = (calls + 1, ns + event['duration_ps'] // 1000)
    found = [row for row in rows('r.h5', 'pipeline.stage') if row['host'].endswith('179_6003')]
    equal({row['stage']: (row['calls'], row['total_ns']) for row in found
           if row['kind'] == 'preprocessing'}, wanted, 'iterators')
    copies = sum(of['copies'][f'/device:GPU:{device} MemcpyH2D']['events'] for device in (1, 4, 6))
    equal([row['calls'] for row in found if row['kind'] == 'enqueue'], [copies], 'copies')
    host = rows('r.h5', 'pipeline.host')[0]
    equal(host['self_ns'], sum(row['self_ns'] for row in found), 'a host')


def test_a_program_that_copies_to_its_host_is_not_bound_by_input():
    """76 of 78 s are copies of arrays that the program keeps in host memory."""
    of = merged('tpu-v6e')
    found = steps('r.h5')
    for rank, device in enumerate(of['ranks']):
        own = [row for row in found if row['rank'] == rank]
        equal((len(own), sum(row['input_ns'] for row in own)), (100, 0), 'steps and input')
        clock = of['device_clock'][device['device']]['device_to_host_line']['slope_ppm']
        ps = device['tracks'][0]['hlo_category']['loop fusion']['device_duration_ps']
        compute = sum(row['compute_32_ns'] for row in own)
        holds(abs(compute - ps * (1 + clock / 1e6) / 1000) < 1000, f'{compute} ns, not {ps} ps')
        equal({row['bottleneck'] for row in own}, {'offload'})
    reduces = [(row['group'], row['bytes'], row['count'], row['members'])
               for row in rows('r.h5', 'pod.collective') if row['kind'] == 'allreduce']
    read = of['collectives'][0]['per_core']['/device:TPU:0']['ops'][0]['bytes_accessed']
    equal(reduces, [(f'cores {core},{core + 4}', read, 3, 2) for core in range(4)], 'all-reduces')
    barrier = next(row for row in rows('r.h5', 'pod.collective') if row['kind'] == 'barrier')
    ps = sum(core['barrier_ps'] for run in of['collectives'] for core in run['per_core'].values())
    holds(abs(barrier['total_ns'] - ps / 1000) < ps / 1000 * 1e-4, f'{barrier}, not {ps} ps')


# A generated job ------------------------------------------------------------------------------------

def test_waiting_for_input_is_the_idle_time_of_a_slow_loader():
    """A generated GPU job with collectives: a batch takes half as long as the step computes, 4
    layers of 400 us forward and 800 backward, plus 60 to 140 us."""
    synth('made', ranks=8, ranks_per_host=4, steps=3, layers=4, jitter=0, format='xplane',
          fault='slow-loader')
    tmerge('made', '-o', 's.h5').expect(0)
    stall = {(row['rank'], row['step']): row['stall_ns'] for row in rows('s.h5', 'input.step')}
    found = steps('s.h5')
    equal({(row['rank'], row['step']): row['input_wait_ns'] for row in found}, stall, 'waits')
    holds(len(stall) == 24 and all(2_400_000 <= ns < 2_600_000 for ns in stall.values()), stall)
    busy = {(row['rank'], row['step']): row for row in rows('s.h5', 'overlap.step')}
    for row in found:
        of = busy[row['rank'], row['step']]
        equal(row['compute_16_ns'] + row['compute_32_ns'] + row['compute_untyped_ns'],
              of['compute_ns'])
        beside = of['exposed_comm_ns'] - row['collectives_ns']  # memsets precede collectives
        holds(0 <= beside <= row['device_to_device_ns'], (row, of))


# A made job of two hosts with four cores each -------------------------------------------------------

US = 1000_000  # picoseconds
RUNS, CORES, SLOW_CORE, SLOW_HOST = 12, 8, 1, 1
PROGRAM = 'jit_step(77)'
INFEED = '%infeed.1 = ((bf16[256]{0}), token[]) infeed(token[] %t)'
DOT = '%fusion.2 = bf16[8]{0} fusion(bf16[8]{0} %p)'
LOOP = '%while.3 = (f32[8]{0}) while((f32[8]{0}) %p), body=%b'
PART = '%add.4 = f32[8]{0} add(f32[8]{0} %p, f32[8]{0} %p)'
REDUCE = '%ar.5 = f32[1024]{0} all-reduce(f32[1024]{0} %x), replica_groups={{0,1,2,3,4,5,6,7}}'
OUTFEED = '%outfeed.6 = token[] outfeed(f32[8]{0} %x, token[] %t)'
CATEGORIES = {INFEED: 'infeed', DOT: 'convolution fusion', LOOP: 'while', PART: 'loop fusion',
              REDUCE: 'all-reduce', OUTFEED: 'outfeed'}


def core_run(core, at):
    """In us: 20 infeed (400 on the slow host), 500 in 16 bit (900 on the slow core), a loop of 200
    with two operations of 90 and 20 of its own. The slow core is last at the all-reduce, at 1120,
    which takes 60: until 1180 for all. Then 10 outfeed."""
    feed, dot = 400 if core // 4 == SLOW_HOST else 20, 900 if core == SLOW_CORE else 500
    loop, begin = feed + dot, feed + dot + 200
    ops = [(INFEED, 0, feed), (DOT, feed, dot), (LOOP, loop, 200), (PART, loop, 90),
           (PART, loop + 110, 90), (REDUCE, begin, 1180 - begin), (OUTFEED, 1180, 10)]
    return [(name, (at + begin) * US, length * US, {}) for name, begin, length in ops]


def made_pod(feeds):
    """A run every 1220 us, launched 30 us before it begins, when the one before ends, by a call of
    20 us."""
    begins = [1000 + 1220 * run for run in range(RUNS)]
    for host in range(2):
        planes, calls = [], []
        for core in range(4 * host, 4 * host + 4):
            ops = [op for at in begins for op in core_run(core if feeds else 0, at)]
            numbers = [{'device_ordinal': core % 4, 'queue_id': 0, 'run_id': run}
                       for run in range(RUNS)]
            runs = [(PROGRAM, at * US, 1190 * US, own) for at, own in zip(begins, numbers)]
            calls += [('DoEnqueueProgram', (at - 30) * US, 20 * US, own)
                      for at, own in zip(begins, numbers)]
            planes.append(Plane(f'/device:TPU:{core % 4}',
                                [(2, 'XLA Modules', 0, runs), (3, 'XLA Ops', 0, ops)],
                                shared={n: {'hlo_category': c} for n, c in CATEGORIES.items()}))
        planes.append(Plane('/host:CPU', [(1, 'main', 0, sorted(calls, key=lambda c: c[1]))]))
        put(f'host{host}.xplane.pb', space(*planes, host=f'host{host}'))
    return tmerge('host0.xplane.pb', 'host1.xplane.pb', '-o', 'p.h5', '--force').expect(0).out


def test_steps_of_cores_are_what_was_planted():
    made_pod(True)
    found = {(row['rank'], row['step']): row for row in steps('p.h5')}
    equal(len(found), CORES * RUNS)
    for (rank, _), row in found.items():
        feed, dot = 400 if rank >= 4 else 20, 900 if rank == SLOW_CORE else 500
        wanted = {'step': 1220, 'infeed': feed, 'compute_16': dot, 'compute_32': 200,
                  'collectives': 1180 - feed - dot - 200, 'output': 10, 'launch': 20, 'other': 10}
        equal({part: row[f'{part}_ns'] / 1000 for part in ('step', *PARTS)
               if row[f'{part}_ns'] > 0}, wanted, f'rank {rank}')
        equal(row['bottleneck'], 'compute')


def test_operations_have_their_own_time_and_loops_what_is_left_of_it():
    """In us, for 12 runs on 8 cores of 1190 us: infeed 12 (4 x 20 + 4 x 400), compute 12 (7 x 500 +
    900), each loop 20 plus twice 90, and until 1180 the all-reduce: 12 (8 x 980 - 1680 - 4400).
    Nested loops on another core: 100 - 60, 60 - 20, 20."""
    made_pod(True)
    found = rows('p.h5', 'hlo.work/category')
    equal({row['category']: (row['occurrences'], row['self_ns'] // 1000) for row in found},
          {'infeed': (96, 20160), 'convolution fusion': (96, 52800), 'while': (96, 1920),
           'loop fusion': (192, 17280), 'all-reduce': (96, 21120), 'outfeed': (96, 960)})
    equal(sum(row['self_ns'] for row in found), 12 * 8 * 1190 * 1000)
    nest = [(LOOP, 0, 100), (LOOP.replace('3', '7'), 20, 60), (PART, 40, 20)]
    store = merged_planes('n', Plane('/device:TPU:0', [
        (2, 'XLA Modules', 0, [(PROGRAM, 0, 100 * US, {})]),
        (3, 'XLA Ops', 0, [(name, at * US, length * US, {}) for name, at, length in nest])],
        shared={nest[1][0]: {'hlo_category': 'while'}, **{n: {'hlo_category': CATEGORIES[n]}
                                                          for n in (LOOP, PART)}}))
    equal({row['op']: row['self_ns'] // 1000 for row in rows(store, 'hlo.work/op')},
          {'while.3': 40, 'while.7': 40, 'add.4': 20})


def test_the_pod_names_a_slow_core_and_slow_input_of_one_host():
    """Excess over half of the cells: 400 us of computation; 380 us of input."""
    made_pod(True)
    slow = {row['rank']: (row['host'], row['slow'], row['slow_steps'], row['over_ns'])
            for row in rows('p.h5', 'pod.rank') if row['slow']}
    equal(slow, {1: ('host0', 'compute', RUNS, RUNS * 400_000),
                 **{rank: ('host1', 'input', RUNS, RUNS * 380_000) for rank in range(4, 8)}})
    equal({(row['rank'], row['slow']) for row in rows('p.h5', 'pod.step') if row['slow']},
          {(1, 'compute'), *((rank, 'input') for rank in range(4, 8))}, 'cells')
    made_pod(False)
    equal({row['slow'] for row in rows('p.h5', 'pod.rank')}, {None}, 'cells of equals')
    equal([row for row in rows('p.h5', 'advice.item') if row['rule'] == 'input'], [], 'advice')


def test_the_input_bound_share_is_what_was_planted():
    made_pod(True)
    for row in rows('p.h5', 'pod.rank'):
        share = 100 * (400 if row['rank'] >= 4 else 20) / 1220
        for column in ('input_pct', 'min_input_pct', 'median_input_pct', 'max_input_pct'):
            holds(abs(row[column] - share) < 1e-5, f'{column}: {row[column]}, not {share}')
    item = next(row for row in rows('p.h5', 'advice.item') if row['rule'] == 'input')
    equal((item['ranks'], item['cost_ns']), ('4-7', RUNS * 400_000))
    equal([row for row in rows('p.h5', 'advice.item') if row['rule'] == 'exposed_copies'], [],
          'infeed as a copy')
    contains(item['evidence'],
             'input-bound for 32.8 % of their time on host "host1", 1.6 % on the other hosts')


def test_barriers_are_of_the_programs_that_they_begin():
    """From 0 on a core runs a program of 100 us whose barrier takes 20, then three times one of 400
    with a barrier of 100: these runs are the steps, each from the end of the one before."""
    runs, ops, marks = [('jit_a(1)', 0, 100)], [('ar', 20, 80)], [('barrier-cores', 0, 20)]
    for begin in (500, 1000, 1500):
        runs.append(('jit_b(2)', begin, 400))
        marks.append(('barrier-cores', begin, 100))
        ops += [('ar', begin + 100, 200), ('dot', begin + 300, 100)]
    names = {'ar': REDUCE, 'dot': DOT}
    lines = [[(names.get(name, name), at * US, length * US, {}) for name, at, length in events]
             for events in (runs, ops, marks)]
    merged_planes('b', Plane('/device:TPU:0', [
        (number, name, 0, events) for number, (name, events) in
        enumerate(zip(('XLA Modules', 'XLA Ops', 'XLA TraceMe'), lines), 2)],
        shared={REDUCE: {'hlo_category': 'all-reduce'}, DOT: {'hlo_category': 'convolution fusion'}}))
    equal({(row['program'], row['kind']): (row['count'], row['total_ns'] // 1000)
           for row in rows('b.h5', 'pod.collective')},
          {('jit_a(1)', 'barrier'): (1, 20), ('jit_a(1)', 'allreduce'): (1, 80),
           ('jit_b(2)', 'barrier'): (3, 300), ('jit_b(2)', 'allreduce'): (3, 600)})
    for row in steps('b.h5'):
        equal([row[f'{part}_ns'] // 1000 for part in ('collectives', 'barrier', 'compute_16')],
              [300, 100, 100], row)
    box = next(box for box in rows('b.h5', 'checklist.box') if box['box'] == 'barrier')
    whole = sum(row['step_ns'] for row in rows('b.h5', 'pod.rank'))
    holds(abs(box['value'] - 100 * 300_000 / whole) < 1e-6 and box['result'] == 'fail', box)


def test_rearranging_and_sparse_cores_are_parts_of_the_step():
    """Three runs of 1000 us: sorting takes 200 and formatting 100 of them, a fusion the next 300; a
    SparseCore works for 300, overlapping the fusion for 100. Both are null without a SparseCore and
    categories."""
    sort, moved = '%sort.1 = f32[8]{0} sort(f32[8]{0} %p)', '%copy.2 = f32[8]{0} copy(f32[8]{0} %p)'
    begins = [1000 * run for run in range(3)]
    ops = [(name, (at + begin) * US, length * US, {}) for at in begins
           for name, begin, length in ((sort, 0, 200), (moved, 200, 100), (DOT, 300, 300))]
    lines = [(2, 'XLA Modules', 0, [('jit_f(1)', at * US, 1000 * US, {}) for at in begins]),
             (3, 'XLA Ops', 0, ops)]
    shared = {sort: {'hlo_category': 'sort'}, moved: {'hlo_category': 'data formatting'},
              DOT: {'hlo_category': 'convolution fusion'}}
    sparse = Plane('/device:TPU:0 SparseCore 0', [(3, 'Sparse Core Ops', 0, [
        ('%gather.9 = f32[8]{0} gather(f32[8]{0} %p)', (at + 500) * US, 300 * US, {})
        for at in begins])])
    for planes, wanted in (((Plane('/device:TPU:0', lines, shared=shared), sparse), (300, 200)),
                           ((Plane('/device:TPU:0', lines),), (None, None))):
        merged_planes('s', *planes)
        for row in rows('s.h5', 'pod.step'):
            equal([ns and ns // 1000 for ns in (row['shuffle_ns'], row['sparse_core_ns'])],
                  list(wanted), row)
        whole = sum(row['step_ns'] for row in rows('s.h5', 'pod.rank')) / 1000
        boxes = {box['box']: box['value'] for box in rows('s.h5', 'checklist.box')}
        for box, us in zip(('data_shuffle', 'sparse_core'), wanted):
            equal(boxes[box] and round(boxes[box], 6), us and round(300 * us / whole, 6), box)


# A made job of two hosts with two GPUs each ---------------------------------------------------------

STEPS, STEP = 10, 1000
HALF, FLOAT = {'shape': '(half[16,64];half[])'}, {'shape': '(float[64])'}
READ = 'Iterator::Prefetch::ParallelMapV2::Interleave[0]::TFRecord'
MAP, LIST = 'Iterator::Prefetch::ParallelMapV2', 'Iterator::Prefetch::ParallelMapV2::TextLine'


def gpu_step(device, at, late):
    """A device's work, in us: copies in until 60 after the batch, 300 in 16 bit, 200 in 32 bit of
    which 50 overlap NCCL, which ends at 950 on all, and 20 out. The batch arrives at 100, or at
    `late`."""
    begin = at + late
    return [(3, 'MemcpyH2D', begin, 60, {'memcpy_details': 'size:4096 dest:0 async:1'}),
            (1, 'sgemm_half', begin + 60, 300, HALF), (1, 'add', begin + 360, 200, FLOAT),
            (2, 'ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
             begin + 510, at + 950 - begin - 510, {}),
            (4, 'MemcpyD2H', at + 950, 20, {'memcpy_details': 'size:8 dest:0 async:1'})]


def made_gpus(host, late):
    """The thread of the steps marks them by step_num; another, without a device, fetches the batch
    from 0 to `late`, in stages: mapping takes 70 of it, including 20 of reading lines; a thread of
    its own reads ahead for 300."""
    streams = {1: 'Stream #1(Compute)', 2: 'Stream #2(Compute)', 3: 'Stream #3(MemcpyH2D)',
               4: 'Stream #4(MemcpyD2H)'}
    lines = {device: {stream: [] for stream in streams} for device in (0, 1)}
    main_thread, fetch, ahead, calls, correlation = [], [], [], {0: [], 1: []}, 0
    for step in range(STEPS):
        at = 500 + STEP * step
        main_thread.append(('train', at * US, STEP * US, {'step_num': step, '_r': 1}))
        fetch += [('IteratorGetNextOp::DoCompute', at * US, late * US, {}),
                  (MAP, (at + 10) * US, 70 * US, {}), (LIST, (at + 20) * US, 20 * US, {})]
        ahead.append((READ, at * US, 300 * US, {}))
        for device in (0, 1):
            for i, (stream, name, begin, length, own) in enumerate(gpu_step(device, at, late)):
                correlation += 1
                own = {**own, 'correlation_id': correlation}
                lines[device][stream].append((name, begin * US, length * US, own))
                calls[device].append(('cuLaunchKernel', (at + 1 + 5 * i) * US, 2 * US,
                                      {'correlation_id': correlation}))
    planes = [Plane(f'/device:GPU:{device}',
                    [(number, streams[number], 0, events) for number, events in own.items()],
                    stats={'core_count': 80}) for device, own in lines.items()]
    threads = [(1, 'main', main_thread), (2, 'tf_data_iterator', fetch), (3, 'tf_data_reader', ahead),
               (10, 'tf_gpu_0', calls[0]), (11, 'tf_gpu_1', calls[1])]
    planes.append(Plane('/host:CPU', [(number, name, 0, events)
                                      for number, name, events in threads]))
    put(f'{host}.xplane.pb', space(*planes, host=host))


def test_steps_of_gpus_with_slow_input_are_what_was_planted():
    """Device 0 is on a host that has its batch after 100 us, device 2 on one that takes 300. A step
    lasts until the next mark, the last one until its end. Launches overlap the wait for input, and
    50 of NCCL overlap compute."""
    made_gpus('fast', 100)
    made_gpus('slow', 300)
    out = tmerge('fast.xplane.pb', 'slow.xplane.pb', '-o', 'g.h5').expect(0).out
    found = [row for row in steps('g.h5') if 0 < row['step'] < STEPS - 1]
    equal(len(found), 4 * (STEPS - 2))
    for row in found:
        late = 300 if row['rank'] >= 2 else 100
        wanted = {'step': 1000, 'input_wait': late, 'host_to_device': 60, 'compute_16': 300,
                  'compute_32': 200, 'collectives': 950 - late - 560, 'output': 20, 'other': 30}
        equal({part: row[f'{part}_ns'] / 1000 for part in ('step', *PARTS)
               if row[f'{part}_ns'] > 0}, wanted, f'rank {row["rank"]}')
    slow = [(row['rank'], row['host'], row['slow']) for row in rows('g.h5', 'pod.rank')]
    equal(slow, [(0, 'fast', None), (1, 'fast', None), (2, 'slow', 'input'), (3, 'slow', 'input')])
    nccl = rows('g.h5', 'pod.collective')
    equal([(row['kind'], row['ranks'], row['count'], row['total_ns'] / 1000) for row in nccl],
          [('allreduce', 4, 4 * STEPS, STEPS * 2 * (340 + 140))], 'collectives of GPUs')
    contains(' '.join(out.split()),
             'host "slow" faster, because its steps are input-bound for 30.0 % of their time')


def test_stages_have_their_time_and_their_own():
    made_gpus('one', 300)
    tmerge('one.xplane.pb', '-o', 'g.h5', '--force').expect(0)
    equal({row['stage']: (row['kind'], row['calls'], row['total_ns'] / 1000, row['self_ns'] / 1000)
           for row in rows('g.h5', 'pipeline.stage')},
          {MAP: ('preprocessing', STEPS, STEPS * 70, STEPS * 50),
           LIST: ('advanced_reading', STEPS, STEPS * 20, STEPS * 20),
           READ: ('advanced_reading', STEPS, STEPS * 300, STEPS * 300)})
    # A library that gives its stages' kinds: of the 100 us of a batch, 40 and 20 read shards, 10 of
    # them nested in a read; a kind unknown to XProf is not a stage.
    stage = [('Batch', 0, 100, 'preprocessing'), ('Shard', 10, 40, 'Read'), ('Shard', 20, 10, 'read'),
             ('Shard', 60, 20, 'read'), ('put', 200, 50, 'enqueue'), ('odd', 300, 50, 'other')]
    events = [(name, at * US, length * US, {'_ipl_stage_id': i, '_ipl_stage_cat': kind})
              for i, (name, at, length, kind) in enumerate(stage)]
    merged_planes('s', Plane('/host:CPU', [(1, 'grain', 0, events)]),
                  gpu([('add', 0, US, {'correlation_id': 1})]))
    equal({row['stage']: (row['kind'], row['calls'], row['total_ns'] / 1000, row['self_ns'] / 1000)
           for row in rows('s.h5', 'pipeline.stage')},
          {'Input::Preprocessing::Batch': ('preprocessing', 1, 100, 40),
           'Input::Read::Shard': ('reading', 3, 70, 60),
           'Input::Enqueue::put': ('enqueue', 1, 50, 50)})
    host = rows('g.h5', 'pipeline.host')[0]
    equal([host[f'{kind}_ns'] // 1000 for kind in ('preprocessing', 'reading', 'advanced_reading',
                                                   'enqueue', 'self')],
          [STEPS * 50, 0, STEPS * 320, 0, STEPS * 370])
    equal(host['slowest_stage'], READ)


def test_a_stage_that_waits_for_another_thread_is_not_the_slowest():
    """Runs (stage, thread, begin, us) and expected own times of XProf's xplane_to_tf_data_stats_test.cc. Of
    the first 100 us Prefetch waits 80 for Range, which another thread runs; of the 20 later it waits for
    nothing, because Range ran before. XProf's bottleneck is the last stage in each."""
    outer, inner = 'Iterator::Prefetch', 'Iterator::Prefetch::Range'
    batch, mapped = 'Iterator::MapAndBatch', 'Iterator::MapAndBatch::Range'
    cases = [
        ([(outer, 1, 0, 100), (outer, 1, 200, 20), (inner, 2, 0, 80), (inner, 2, 100, 80)],
         {outer: (120, 40), inner: (160, 160)}),
        ([(outer, 1, 0, 30), (outer, 1, 100, 100), (inner, 2, 100, 80)],
         {outer: (130, 50), inner: (80, 80)}),
        ([(batch, 1, 0, 100), (mapped, 2, 0, 30), (mapped, 2, 40, 30)],
         {batch: (100, 40), mapped: (60, 60)}),
    ]
    for runs, wanted in cases:
        lines = [(thread, str(thread), 0, [(stage, at * US, length * US, {})
                                           for stage, of, at, length in runs if of == thread])
                 for thread in (1, 2)]
        merged_planes('x', Plane('/host:CPU', lines), gpu([('add', 0, US, {'correlation_id': 1})]))
        equal({row['stage']: (row['total_ns'] / 1000, (row['self_ns'] - row['wait_ns']) / 1000)
               for row in rows('x.h5', 'pipeline.stage')}, wanted)
        host, slowest = rows('x.h5', 'pipeline.host')[0], list(wanted)[-1]
        equal((host['slowest_stage'], host['slowest_pct']),
              (slowest, 100 * wanted[slowest][1] / sum(own for _, own in wanted.values())))


def test_stages_of_other_libraries_on_the_thread_of_the_steps_are_waited_for():
    """Steps of 1000 us of two devices, whose thread takes 200 for a batch, including 100 for a
    shard, and marks the steps; a worker prepares for 600 in parallel. Without the marks it is
    unknown which thread waits."""
    def stage(name, at, length, kind):
        return (name, at * US, length * US, {'_ipl_stage_id': 1, '_ipl_stage_cat': kind})
    begins = [1000 * step for step in range(4)]
    calls = [('cuLaunchKernel', (at + 250 + 10 * device) * US, 2 * US,
              {'correlation_id': 2 * i + device + 1})
             for i, at in enumerate(begins) for device in (0, 1)]
    stages = [one for at in begins for one in (stage('Batch', at, 200, 'preprocessing'),
                                               stage('Shard', at + 50, 100, 'read'))]
    marks = [('train', at * US, 1000 * US, {'step_num': step, '_r': 1})
             for step, at in enumerate(begins)]
    worker = [stage('Ahead', at + 300, 600, 'read') for at in begins]
    devices = [gpu([('add', (at + 300) * US, 500 * US, {'correlation_id': 2 * i + device + 1})
                    for i, at in enumerate(begins)], device) for device in (0, 1)]
    for marked in (True, False):
        main_thread = sorted(calls + stages + (marks if marked else []),
                             key=lambda event: (event[1], -event[2]))
        merged_planes('w', *devices, Plane('/host:CPU', [(1, 'main', 0, main_thread),
                                                         (2, 'worker', 0, worker)]))
        ranks = rows('w.h5', 'pod.rank')
        equal([row['input_wait_ns'] // 1000 for row in ranks], [800 if marked else 0] * 2, ranks)
        equal({row['stage']: (row['calls'], row['total_ns'] // 1000, row['self_ns'] // 1000)
               for row in rows('w.h5', 'pipeline.stage')},
              {'Input::Preprocessing::Batch': (4, 800, 400), 'Input::Read::Shard': (4, 400, 400),
               'Input::Read::Ahead': (4, 2400, 2400)})


main()
