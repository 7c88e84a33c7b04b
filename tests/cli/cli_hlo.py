"""What XLA's operations computed and moved, in real profiles, against what an independent program
mapped of them."""
import collections
import json
import os

from common import SHARED, Skip, equal, holds, main, put, synth, tables, tmerge
from xspace import Plane, field, space

TRACES = os.path.join(SHARED, 'traces', 'xplane')
EXPECTED = os.path.join(SHARED, 'expected', 'xplane', 'mapped.json')
FILES = {'tpu-v6e': 'tpu_inference', 'gpu-multi-worker': '34.83.195.179_6003'}
ARRAY = 5 << 28  # floats: 5 x 1024 x 1024 x 256


def merged(name):
    """The profile's tables, and what it is expected to hold."""
    path = FILES.get(name, 'tw003') + '.xplane.pb'
    trace = os.path.join(TRACES, name, path)
    if not os.path.exists(trace) or not os.path.exists(EXPECTED):
        raise Skip(f'{trace} or {EXPECTED} is not here')
    if not os.path.exists(f'{name}.h5'):
        tmerge('merge', trace, '-o', f'{name}.h5', '--no-html')
    found = tables(f'{name}.h5', 'hlo.rank', 'hlo.op', 'hlo.category', 'hlo.program',
                   'framework.operator', 'framework.type', 'checklist.box',
                   'pod.rank')
    with open(EXPECTED, encoding='utf-8') as file:
        return found, json.load(file)['files'][f'{name}/{path}']


def test_times_by_category_are_those_of_the_cores():
    """By the cores' clocks, which are 15 ppm slow against the host's."""
    found, mapped = merged('tpu-v6e')
    times, runs = collections.Counter(), collections.Counter()
    for rank, row in zip(mapped['ranks'], found['hlo.rank']):
        line = mapped['device_clock'][rank['device']]['device_to_host_line']
        stretch, track = 1 + line['slope_ppm'] / 1e6, rank['tracks'][0]
        for category, of in track['hlo_category'].items():
            times[category] += of['device_duration_ps'] * stretch / 1000
            runs[category] += of['events']
        holds(abs(row['self_ns'] - track['device_duration_sum_ps'] * stretch / 1000) < 1504,
              f'{row["self_ns"]} ns of operations')
        equal((row['occurrences'], row['told_pct']), (track['events'], 100.0), 'operations')
    equal({row['category']: row['occurrences'] for row in found['hlo.category']}, runs)
    for table in ('hlo.category', 'hlo.program', 'hlo.op'):
        equal(sum(row['self_ns'] for row in found[table]),
              sum(row['self_ns'] for row in found['hlo.rank']), table)
        holds(abs(sum(row['share_pct'] for row in found[table]) - 100) < 1e-6, table)
    for row in found['hlo.category']:
        holds(abs(row['self_ns'] - times[row['category']]) < 2 * row['occurrences'] + 100, row)


def test_work_is_what_arithmetic_gives():
    """x + 1 of an array, which lies in the device's memory: as many additions, and 4 bytes in and
    out for each. The sum of two is an addition as well. A broadcast writes it, and a copy between
    the device and the host reads or writes it on the device. TPU v6e: 918 TFLOP/s and 1638 GB/s."""
    found, _ = merged('tpu-v6e')
    work = {row['category']: (row['flop'], row['bytes'], row['bound'])
            for row in found['hlo.category']}
    equal(work, {'loop fusion': (1200 * ARRAY, 1200 * 8 * ARRAY, 'memory'),
                 'all-reduce': (12 * ARRAY, 12 * 8 * ARRAY, 'communication'),
                 'broadcast': (0, 4 * ARRAY, 'memory'),
                 'copy-start': (0, 2400 * 4 * ARRAY, 'copy'),
                 'copy-done': (None, None, None)}, 'FLOP and bytes')
    for row in found['hlo.op']:
        if row['category'] == 'loop fusion':
            equal(row['flop_per_byte'], 0.125, row['op'])
            rate = 400 * 8 * ARRAY / row['self_ns']
            holds(abs(row['peak_bw_pct'] - 100 * rate / 1637.993152512) < 1e-6, row)
            holds(80 < row['peak_bw_pct'] < 85, f'{row["op"]} is near what memory does')
    equal({(row['device'], row['peak_tflops'], round(row['ridge_flop_per_byte'], 1))
           for row in found['hlo.rank']}, {('TPU v6 Lite', 918.0, 560.4)}, 'peaks')


def test_where_neither_work_nor_peaks_are_told_cells_are_empty():
    """JAX on GPUs: kernels by their operation and program alone."""
    found, mapped = merged('jax-mi300-attention')
    kernels = mapped['ranks'][0]['busy_union_ps']['kernel'] // 1000
    for name, table in found.items():
        if not name.startswith('hlo.'):
            continue
        equal(sum(row['self_ns'] for row in table), kernels, name)
        for row in table:
            equal((row['told_pct'], row['flop'], row['bytes'], row['achieved_tflops'],
                   row.get('bound')), (0.0, None, None, None, None), name)
    equal(sum(row['occurrences'] for row in found['hlo.op']), 87, 'kernels')


def test_operations_of_gpus_have_the_categories_of_their_programs():
    """By the opcodes of both profiles' programs, as a decoder of protocol buffers lists them. Of
    attention: fusions of kind kLoop are 45 + 3 + 3 + 3 kernels, of kInput 6 + 3, of kCustom 3, and
    12 + 3 + 3 + 3 are calls of the library. Of the products: 12 kLoop, 12 copies, 3 kCustom, and 5 x
    3 calls. All but sums and one product of attention make bf16."""
    wanted = {'jax-mi300-attention': {'loop fusion': 54, 'custom-call': 21, 'input fusion': 9,
                                      'custom fusion': 3},
              'jax-mi300-gemm': {'custom-call': 15, 'loop fusion': 12, 'data formatting': 12,
                                 'custom fusion': 3}}
    for name, categories in wanted.items():
        found, _ = merged(name)
        equal({row['category']: row['occurrences'] for row in found['hlo.category']}, categories)
        untyped = [row['compute_untyped_ns'] for row in found['pod.rank']]
        wide = sum(row['self_ns'] for row in found['hlo.op'] if row['shape'].startswith('f32'))
        equal((untyped, wide), ([0], sum(row['compute_32_ns'] for row in found['pod.rank'])), name)


def shape(kind, *sizes, packed=True):
    """ShapeProto: its type by number, and its dimensions."""
    if packed:
        return field(2, kind) + field(3, bytes(sizes))
    return field(2, kind) + b''.join(field(3, size) for size in sizes)


F32, BF16, S8, TUPLE = 11, 16, 2, 13
VECTOR = shape(F32, 64)
# name: opcode, kind of a fusion, shape; its category and how its shape is written
INSTRUCTIONS = {
    'fusion.1': ('fusion', 'kLoop', shape(BF16, 4, 8), 'loop fusion', 'bf16[4,8]'),
    'fusion.2': ('fusion', 'kInput', shape(BF16, 4, 8, packed=False), 'input fusion', 'bf16[4,8]'),
    'fusion.3': ('fusion', 'kOutput', shape(F32), 'output fusion', 'f32[]'),
    'fusion.4': ('fusion', 'kCustom', VECTOR, 'custom fusion', 'f32[64]'),
    'gemm.5': ('custom-call', '', field(2, TUPLE) + field(4, shape(BF16, 8)) + field(4, shape(S8, 9)),
               'custom-call', '(bf16[8],s8[9])'),
    'add.6': ('add', '', VECTOR, 'non-fusion elementwise', 'f32[64]'),
    'copy.7': ('copy', '', VECTOR, 'data formatting', 'f32[64]'),
    'dot.8': ('dot', '', VECTOR, 'dot', 'f32[64]'),
    'all-reduce-start.9': ('all-reduce-start', '', VECTOR, 'all-reduce', 'f32[64]'),
    'all-to-all-start.1': ('async-start', '', VECTOR, 'all-to-all', 'f32[64]'),
    'odd.2': ('dot', '', shape(99, 64), 'dot', None),
}


def program(instructions, more=b''):
    """HloProto: its module has a computation of them."""
    return field(1, field(3, b''.join(field(2, one) for one in instructions)) + more)


def instruction(name, opcode, fusion, shape_of):
    kind = field(11, fusion) if fusion else b''
    return field(1, name) + field(2, opcode) + field(3, shape_of) + kind


def test_categories_and_shapes_are_told_by_number_of_program_and_name():
    """A kernel of 10 us for each operation; then one of another program of the same name and
    operation, of a program that the file does not hold, of a damaged one, and of one behind an
    instruction that is longer than any that a kernel runs."""
    long = instruction('constant.1', 'constant', '', VECTOR) + field(8, bytes(2 << 20))
    protos = {'jit_f(1)': program(instruction(name, *of[:3]) for name, of in INSTRUCTIONS.items()),
              'jit_f(2)': program([long, instruction('fusion.1', 'dot', '', VECTOR)]),
              'jit_g(3)': field(1, field(3, field(2, instruction('dot.1', 'dot', '', VECTOR)) +
                                         b'\xff' * 12))[:-3]}
    runs = [('jit_f', 1, name) for name in INSTRUCTIONS]
    runs += [('jit_f', 2, 'fusion.1'), ('jit_h', 9, 'dot.9'), ('jit_g', 3, 'dot.2')]
    events = [(f'kernel_{i}', 20_000_000 * i, 10_000_000,
               {'hlo_module': module, 'hlo_op': name, 'program_id': number,
                'correlation_id': i + 1}) for i, (module, number, name) in enumerate(runs)]
    put('g.xplane.pb', space(Plane('/device:GPU:0', [(1, 'Stream #1(Compute)', 0, events)]),
                             Plane('/host:metadata',
                                   shared={name: {'Hlo Proto': proto}
                                           for name, proto in protos.items()})))
    tmerge('merge', 'g.xplane.pb', '-o', 'g.h5', '--no-html').expect(0)
    found = tables('g.h5', 'hlo.op', 'hlo.category')
    equal(sorted((row['program'], row['op'], row['category'] or '-', row['shape'] or '-')
                 for row in found['hlo.op']),
          sorted([('jit_f', name, of[3], of[4] or '-') for name, of in INSTRUCTIONS.items()] +
                 [('jit_f', 'fusion.1', 'dot', 'f32[64]'), ('jit_g', 'dot.2', '-', '-'),
                  ('jit_h', 'dot.9', '-', '-')]))
    # all-reduce and all-to-all run beside nothing here: their time is their own, as of the others.
    equal({row['category']: row['self_ns'] / 10_000 for row in found['hlo.category']},
          {None: 2, 'dot': 3, **{of[3]: 1 for of in INSTRUCTIONS.values() if of[3] != 'dot'}})


def test_bytes_of_collectives_of_gpus_are_those_of_their_shapes():
    """Operands and results, counted by hand, of f32[64] (256 bytes), bf16[8] (16) and u32[] (4, a
    context, which is none of it). Where a group has 4, an all-gather to 256 takes 64, and a
    reduce-scatter to 256 takes 1024. Without groups, of groups that differ, of those whose replicas
    have several parts, and of types below a byte it is not told."""
    half, word = shape(BF16, 8), shape(8)

    def listed(*sizes, packed=True):
        ids = [field(1, bytes(size)) if packed else field(1, 7) * size for size in sizes]
        return b''.join(field(49, group) for group in ids)

    def several(*shapes):
        return field(2, TUPLE) + b''.join(field(4, one) for one in shapes)

    of_four = field(87, field(2, field(1, 2) + field(2, 4)))  # [2,4]<=[8]
    whole = field(26, 1) + field(71, 1)
    cases = [('all-reduce', 'all-reduce', VECTOR, b'', 512),
             ('all-reduce', 'all-reduce', several(VECTOR, half), listed(2), 544),
             ('all-reduce', 'all-reduce-start', several(VECTOR, word), listed(2), 520),
             ('all-gather', 'all-gather', VECTOR, listed(4, 4), 320),
             ('all-gather', 'all-gather', VECTOR, listed(4, packed=False), 320),
             ('all-gather', 'all-gather', VECTOR, of_four + whole, 320),
             ('all-gather', 'all-gather', VECTOR, field(87, field(1, field(1, bytes(2)))), 384),
             ('all-gather', 'all-gather-start', several(half, VECTOR), b'', 272),
             ('all-gather', 'all-gather', VECTOR, b'', None),
             ('all-gather', 'all-gather', VECTOR, listed(4, 2), None),
             ('all-gather', 'all-gather', VECTOR, listed(4) + field(26, 1), None),
             ('reduce-scatter', 'reduce-scatter', VECTOR, listed(4), 1280),
             ('reduce-scatter', 'async-start', several(several(VECTOR, half), half, word), b'', 288),
             ('all-to-all', 'all-to-all', several(half, half), listed(2), 64),
             ('collective-permute', 'collective-permute-start',
              several(word, word, word, word), b'', 8),
             ('all-reduce', 'all-reduce', shape(21, 8), b'', None),
             ('dot', 'dot', VECTOR, b'', None)]
    names = [f'{word}{opcode[-6:] if opcode != word else ""}.{i}'
             for i, (word, opcode, *_) in enumerate(cases)]
    proto = program(instruction(name, opcode, '', made) + more
                    for name, (_, opcode, made, more, _) in zip(names, cases))
    events = [('ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 20_000_000 * i,
               10_000_000, {'hlo_module': 'jit_f', 'hlo_op': name, 'program_id': 1,
                            'correlation_id': i + 1}) for i, name in enumerate(names)]
    put('c.xplane.pb', space(Plane('/device:GPU:0', [(1, 'Stream #1(Compute)', 0, events)]),
                             Plane('/host:metadata', shared={'jit_f(1)': {'Hlo Proto': proto}})))
    tmerge('merge', 'c.xplane.pb', '-o', 'c.h5', '--no-html').expect(0)
    equal({row['operation']: row['bytes'] for row in
           tables('c.h5', 'pod.collective')['pod.collective']},
          {name: of[-1] for name, of in zip(names, cases)})


def test_operators_of_tensorflow_are_summed_by_type_on_either_side():
    """On the host as the profile has them, in one file of which all threads go to one rank or
    another; on the devices the time of all kernels and copies, of which 14 tell no operator.
    The pattern of TensorFlow's own tool, by which the other program counted, leaves out names with
    an underscore before them: those of 379 of the sends."""
    found, mapped = merged('gpu-multi-worker')
    of = {(row['side'], row['type']): row for row in found['framework.type']}
    types = {kind for side, kind in of if side == 'host'}
    wanted = mapped['host_tf_ops']
    equal((sum(of['host', kind]['occurrences'] for kind in types), len(types)),
          (wanted['events'] + 379, wanted['types']), 'operators of the host')
    for top in wanted['top']:
        row = of['host', top['type']]
        equal(row['occurrences'], top['events'], top['type'])
        # begins and ends are rounded to nanoseconds
        holds(abs(row['total_ns'] - top['total_ps'] / 1000) <= top['events'], row)
        holds(0 < row['self_ns'] <= row['total_ns'], row)
    tracks = [track for rank in mapped['ranks'] for track in rank['tracks']]
    equal(sum(row['self_ns'] for (side, _), row in of.items() if side == 'device'),
          sum(track['sum_ps'] for track in tracks) // 1000, 'time on the devices')
    equal(sum(row['occurrences'] for (side, _), row in of.items() if side == 'device'),
          sum(track['events'] for track in tracks), 'kernels and copies')
    equal(of['device', None]['occurrences'], 14, 'copies without an operator')
    for side in ('host', 'device'):
        listed = [row for row in found['framework.operator'] if row['side'] == side]
        equal(len(listed), 500, side)
        holds(sum(row['self_ns'] for row in listed) <=
              sum(row['self_ns'] for (on, _), row in of.items() if on == side), side)


def test_operators_of_jax_are_summed_by_the_last_part_of_their_names():
    """The copies of programs, and of what they are
    given, tell no operator."""
    found, mapped = merged('jax-mi300-gemm')
    of = {row['type']: row for row in found['framework.type']}
    equal({row['side'] for row in of.values()}, {'device'}, 'the host tells none')
    equal(set(of), {'dot_general', 'broadcast_in_dim', None}, 'types')
    copies = mapped['ranks'][0]['busy_union_ps']['copy']
    equal((of[None]['operators'], of[None]['occurrences'], of[None]['self_ns']),
          (0, 24, copies // 1000), 'copies')
    equal(sum(row['self_ns'] for row in of.values()),
          mapped['ranks'][0]['busy_union_all_ps'] // 1000, 'time')


def test_cores_are_held_against_what_they_could_compute():
    """All that a core computes is 300 additions of the array; 918 TFLOP/s are told."""
    merged('tpu-v6e')
    found = tables('tpu-v6e.h5', 'efficiency.rank', 'efficiency.step', 'efficiency.operator')
    equal(sum(row['flop'] for row in found['efficiency.operator']), 1200 * ARRAY, 'FLOP')
    equal(sum(row['bytes'] for row in found['efficiency.operator']), 1200 * 8 * ARRAY, 'bytes')
    equal(sum(row['flop'] for row in found['efficiency.step']), 1200 * ARRAY, 'FLOP of steps')
    for row in found['efficiency.rank']:
        equal((row['flop'], row['type'], row['peak_tflops']), (300 * ARRAY, 'mixed', 918.0), row)
        equal((row['coverage_pct'], row['reason']), (100.0, None), row)
        ideal = 300 * ARRAY / 918e12 * 1e9
        holds(abs(row['mfu_pct'] - 100 * ideal / row['window_ns']) < 1e-9, row)
    merged('jax-mi300-attention')
    found = tables('jax-mi300-attention.h5', 'efficiency.rank', 'efficiency.operator')
    equal(found, {'efficiency.rank': [], 'efficiency.operator': []}, 'of GPUs no FLOP are told')


TORCH = {'forward_backward', 'optimizer', 'data_loading'}
XPROF = {'input': 'input_ns', 'output': 'output_ns', 'kernel_launch': 'launch_ns',
         'collectives': 'collectives_ns', 'other_time': 'other_ns'}


def test_the_checklist_has_xprofs_bounds_and_none_of_pytorchs():
    """Of the profile of TensorFlow two of three devices have steps: they wait for input for 2.31 of
    19.96 and 2.39 of 21.39 ms. Of what computes on the last, XProf takes 4.54 for 16 bit and 10.32
    ms for 32. The cores of the TPU wait for copies nearly all of the time."""
    found, mapped = merged('gpu-multi-worker')
    boxes = {box['box']: box for box in found['checklist.box']}
    holds(not TORCH & set(boxes), boxes)
    stepped = [row for row in found['pod.rank'] if row['bottleneck'] != 'other']
    equal(len(stepped), 2, 'devices with steps')
    for box, column in XPROF.items():
        share = sum(row[column] for row in stepped) / sum(row['step_ns'] for row in stepped)
        holds(abs(boxes[box]['value'] - 100 * share) < 1e-9, boxes[box])
        equal(boxes[box]['result'], 'fail' if 100 * share > boxes[box]['most'] else 'pass', box)
    # Their kernels run for 14.83 and 14.87 ms; what has no step is no measure.
    kernels = sum(of['busy_union_ps'].get('kernel', 0) for of in mapped['ranks']) / 1000
    share = 100 * kernels / sum(row['step_ns'] for row in stepped)
    holds(abs(boxes['gpu_utilization']['value'] - share) < 0.01, (boxes['gpu_utilization'], share))
    equal((boxes['input']['result'], boxes['output']['result']), ('fail', 'pass'), 'input, output')
    wanted = mapped['step_breakdown_of_group_0']['with_host_events']['type_ps']
    equal([stepped[1][f'compute_{bits}_ns'] for bits in (16, 32)],
          [wanted[f'DEVICE_COMPUTE_{bits}'] // 1000 for bits in (16, 32)], 'computing by type')
    equal((boxes['compute_16_bit']['result'], boxes['asynchronous']['value']), ('pass', None))
    tpu = {box['box']: box for box in merged('tpu-v6e')[0]['checklist.box']}
    equal((round(tpu['asynchronous']['value'], 1), tpu['asynchronous']['result'],
           tpu['compute_16_bit']['value'], tpu['compute_16_bit']['result']),
          (96.5, 'fail', 0.0, 'fail'), 'asynchronous and 16 bit')
    synth('torch', ranks=2, steps=2)
    tmerge('merge', 'torch', '-o', 'torch.h5', '--no-html')
    of_torch = {box['box'] for box in tables('torch.h5', 'checklist.box')['checklist.box']}
    holds(TORCH <= of_torch and not of_torch & {*XPROF, 'compute_16_bit', 'asynchronous'}, of_torch)


LIMITS = {'tpu-v6e': {None: 33_550_237_696},
          'jax-mi300-attention': {'xla_gpu_host_bfc': 1 << 36, 'GPU_0_bfc': 154_606_239_744},
          'gpu-multi-worker': {'gpu_host_bfc': 1 << 36, **{f'GPU_{number}_bfc': 15_477_102_400
                                                           for number in (1, 4, 6)}}}


def memory(name, at, bytes_of, allocated, reserved, available, **own):
    """An instant of `at` us; what it leaves behind."""
    return (name, at * 1_000_000, 0,
            {'allocation_bytes': bytes_of, 'bytes_allocated': allocated,
             'bytes_reserved': reserved, 'bytes_available': available, **own})


def test_stacks_and_allocators_are_what_was_planted():
    """Of the core, in bytes of 1000: a program with a stack of 200 is loaded before the first record,
    which takes 50 where 100 are there; one of 300 before the second, which takes 100. At the peak
    100 + 50 + 100 + 300 are taken: 55 %. The release tells no size. Of a GPU two allocators of the
    host, each with records of its own."""
    take, give = 'MemoryAllocation', 'MemoryDeallocation'
    core = [memory(take, 10, 50, 150, 200, 650, index_on_host=0, addr=1),
            memory(take, 20, 100, 250, 300, 450, index_on_host=0, addr=2),
            memory(give, 30, 0, 150, 300, 550, index_on_host=0, addr=2)]
    op = '%add.1 = f32[8]{0} add(f32[8]{0} %p, f32[8]{0} %q)'
    put('t.xplane.pb', space(Plane('/device:TPU:0', [(2, 'XLA Modules', 0, [('jit_f(1)', 0, 10**8, {})]),
                                                     (3, 'XLA Ops', 0, [(op, 0, 10**8, {})])]),
                             Plane('/host:CPU', [(1, 'main', 0, core)])))
    tmerge('merge', 't.xplane.pb', '-o', 't.h5', '--no-html').expect(0)
    found = tables('t.h5', 'memory.device', 'memory.category', 'checklist.box')
    device = found['memory.device'][0]
    equal((device['device'], device['peak_bytes'], device['limit_bytes'], device['capacity_pct'],
           device['peak_reserved_bytes']), ('xla:0', 550, 1000, 55.0, None))
    equal({row['category']: (row['peak_bytes'], row['end_bytes'], row['blocks'])
           for row in found['memory.category']},
          {'preexisting': (100, 100, None), 'stack': (300, 300, None), 'other': (150, 50, 2)})
    equal([box['value'] for box in found['checklist.box'] if box['box'] == 'memory'], [55.0])
    host = [memory(take, 10, 8, 8, 0, 92, allocator_name='first', addr=1),
            memory(take, 20, 7, 7, 0, 43, allocator_name='second', addr=1),
            memory(take, 30, 5, 13, 0, 87, allocator_name='first', addr=2)]
    kernels = [('add', 0, 10**8, {'correlation_id': 1})]
    put('h.xplane.pb', space(Plane('/device:GPU:0', [(1, 'Stream #1(Compute)', 0, kernels)]),
                             Plane('/host:CPU', [(1, 'main', 0, host)])))
    tmerge('merge', 'h.xplane.pb', '-o', 'h.h5', '--no-html').expect(0)
    equal([(row['device'], row['allocator'], row['peak_bytes'], row['limit_bytes'])
           for row in tables('h.h5', 'memory.device')['memory.device']],
          [('cpu', 'first', 13, 100), ('cpu:1', 'second', 7, 50)])


def test_what_lives_at_the_peak_of_an_allocator_sums_to_the_peak_that_it_recorded():
    """All of them, as the files call them; of the TPU the rest of the peak is what its programs reserve
    (the file: 21,491,712,000 bytes), so that nothing is unrecorded. What is taken, reserved and
    available sums to the same number in all records of an allocator."""
    for name in ('tpu-v6e', 'jax-mi300-attention', 'gpu-multi-worker'):
        _, mapped = merged(name)
        live, stacks = collections.Counter(), set()
        found = tables(f'{name}.h5', 'memory.live', 'memory.device')
        for row in found['memory.live']:
            live[row['rank'], row['device']] += row['bytes']
            holds(row['category'] != 'unrecorded', row)
            if row['category'] == 'stack':
                stacks.add(row['bytes'])
        equal(stacks, {21_491_712_000} if name == 'tpu-v6e' else set(), 'stacks')
        limits = {row['allocator']: row['limit_bytes'] for row in found['memory.device']}
        equal(limits, LIMITS[name], 'allocators')
        equal(sorted(live.values()),
              sorted(of['peak_bytes_in_window'] for of in mapped['memory'].values()), name)


main()
