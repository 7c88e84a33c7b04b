"""Computation and data movement of XLA's operations in real profiles, compared with an independent
program's results."""
import collections
import json
import os

import jobs
from common import contains, equal, holds, main, put, rows, seldom, tables, tmerge
from xspace import PROFILES, Plane, field, gpu, mapped, merged_planes, programs, space, varint

ARRAY = 5 << 28  # floats: 5 x 1024 x 1024 x 256


def merged(name):
    """Returns the tables of the first profile in a folder, and its expected content."""
    path, expected = next(iter(mapped(name).items()))
    if not os.path.exists(f'../{name}.h5'):
        tmerge('merge', os.path.join(PROFILES, path), '-o', f'../{name}.h5', '--no-html').expect(0)
    return tables(f'../{name}.h5', 'hlo.rank', 'hlo.work/op', 'hlo.work/category', 'hlo.work/program',
                  'framework.work/operator', 'framework.work/type', 'checklist.box', 'pod.rank'), expected


def test_times_by_category_are_those_of_the_cores():
    """By the cores' clocks, which are 15 ppm slow compared with the host's."""
    found, expected = merged('tpu-v6e')
    times, runs = collections.Counter(), collections.Counter()
    for rank, row in zip(expected['ranks'], found['hlo.rank']):
        line = expected['device_clock'][rank['device']]['device_to_host_line']
        stretch, track = 1 + line['slope_ppm'] / 1e6, rank['tracks'][0]
        for category, of in track['hlo_category'].items():
            times[category] += of['device_duration_ps'] * stretch / 1000
            runs[category] += of['events']
        holds(abs(row['self_ns'] - track['device_duration_sum_ps'] * stretch / 1000) < 1504,
              f'{row["self_ns"]} ns of operations')
        equal((row['occurrences'], row['known_pct']), (track['events'], 100.0), 'operations')
    equal({row['category']: row['occurrences'] for row in found['hlo.work/category']}, runs)
    for table in ('hlo.work/category', 'hlo.work/program', 'hlo.work/op'):
        equal(sum(row['self_ns'] for row in found[table]),
              sum(row['self_ns'] for row in found['hlo.rank']), table)
        holds(abs(sum(row['share_pct'] for row in found[table]) - 100) < 1e-6, table)
    for row in found['hlo.work/category']:
        holds(abs(row['self_ns'] - times[row['category']]) < 2 * row['occurrences'] + 100, row)


def test_work_is_what_arithmetic_gives():
    """x + 1 of an array in device memory: one addition, 4 bytes in and 4 out per element. The sum
    of two is an addition as well. A broadcast writes the array, and a copy between device and host
    reads or writes it on the device. TPU v6e: 918 TFLOP/s and 1638 GB/s."""
    found, _ = merged('tpu-v6e')
    work = {row['category']: (row['flop'], row['bytes'], row['bound'])
            for row in found['hlo.work/category']}
    equal(work, {'loop fusion': (1200 * ARRAY, 1200 * 8 * ARRAY, 'memory'),
                 'all-reduce': (12 * ARRAY, 12 * 8 * ARRAY, 'communication'),
                 'broadcast': (0, 4 * ARRAY, 'memory'),
                 'copy-start': (0, 2400 * 4 * ARRAY, 'copy'),
                 'copy-done': (None, None, None)}, 'FLOP and bytes')
    for row in found['hlo.work/op']:
        if row['category'] == 'loop fusion':
            equal(row['flop_per_byte'], 0.125, row['op'])
            rate = 400 * 8 * ARRAY / row['self_ns']
            holds(abs(row['peak_bw_pct'] - 100 * rate / 1637.993152512) < 1e-6, row)
            holds(80 < row['peak_bw_pct'] < 85, f'{row["op"]} is near what memory does')
    equal({(row['device'], row['peak_tflops'], round(row['ridge_flop_per_byte'], 1))
           for row in found['hlo.rank']}, {('TPU v6 Lite', 918.0, 560.4)}, 'peaks')


def test_products_on_gpus_have_the_flop_of_their_shapes():
    """From the programs: 2 m n k for each product, which runs three times, and 2 bytes for each
    number read and written. Products: 16384 x 1024 x 4096 (m k n), 8192 x 4096 x 8192, 4096 cubed,
    2048 x 8192 x 2048, 1024 cubed and, in a fusion, 256 cubed. Attention: 4 times 8192 x 1024 x
    1024, 8192 x 1024 x 4096, 8192 x 4096 x 1024, 4 of 2048 x 1024 x 2048, and, in a fusion whose
    partial sums over a quarter of k have 4 bytes each, 4 of 2048 x 2048 x 1024. Nothing else has
    FLOP, and the file has no peaks."""
    def work(m, k, n, batch=1, made=2):
        return 3 * 2 * batch * m * k * n, 3 * batch * (2 * (m * k + k * n) + made * m * n)
    wanted = {
        'jax-mi300-gemm': ([work(16384, 1024, 4096), work(8192, 4096, 8192), work(4096, 4096, 4096),
                            work(2048, 8192, 2048), work(1024, 1024, 1024)], work(256, 256, 256)),
        'jax-mi300-attention': ([work(8192, 1024, 1024)] * 4 + [
            work(8192, 1024, 4096), work(8192, 4096, 1024), work(2048, 1024, 2048, 4)],
            work(2048, 2048, 1024, 4, 4 * 4))}
    for name, (calls, fused) in wanted.items():
        found, expected = merged(name)
        work_of = {row['category']: (row['flop'], row['bytes'], row['known_pct'], row['bound'])
                   for row in found['hlo.work/category'] if row['flop'] is not None}
        equal(work_of, {'custom-call': (*map(sum, zip(*calls)), 100.0, None),
                        'custom fusion': (*fused, 100.0, None)}, name)
        kernels = expected['ranks'][0]['busy_union_ps']['kernel'] // 1000
        copied = sum(row['self_ns'] for row in found['hlo.work/category'] if row['bound'] == 'copy')
        for table in ('hlo.rank', 'hlo.work/op', 'hlo.work/category', 'hlo.work/program'):
            equal(sum(row['self_ns'] for row in found[table]) - copied, kernels, table)
        reported = sum(row['self_ns'] for row in found['hlo.work/category'] if row['flop'])
        for row in found['hlo.rank']:
            rate = sum(flop for flop, _ in (*calls, fused)) / reported / 1000
            holds(abs(row['achieved_tflops'] - rate) < 1e-9 and row['peak_pct'] is None, row)


def test_operations_of_gpus_have_the_categories_of_their_programs():
    """From the opcodes in both profiles' programs, as listed by a protobuf decoder. Attention:
    fusions of kind kLoop are 45 + 3 + 3 + 3 kernels, of kInput 6 + 3, of kCustom 3, and 12 + 3 + 3
    + 3 are library calls. Products: 12 kLoop, 12 copies, 3 kCustom, and 5 x 3 calls. All results
    are bf16, except for sums and one product of attention."""
    wanted = {'jax-mi300-attention': {'loop fusion': 54, 'custom-call': 21, 'input fusion': 9,
                                      'custom fusion': 3},
              'jax-mi300-gemm': {'custom-call': 15, 'loop fusion': 12, 'data formatting': 12,
                                 'custom fusion': 3}}
    for name, categories in wanted.items():
        found, _ = merged(name)
        equal({row['category']: row['occurrences'] for row in found['hlo.work/category']}, categories)
        untyped = [row['compute_untyped_ns'] for row in found['pod.rank']]
        wide = sum(row['self_ns'] for row in found['hlo.work/op'] if row['shape'].startswith('f32'))
        equal((untyped, wide), ([0], sum(row['compute_32_ns'] for row in found['pod.rank'])), name)


def shape(kind, *sizes, packed=True):
    """ShapeProto with a numeric type and dimensions."""
    if packed:
        return field(2, kind) + field(3, bytes(sizes))
    return field(2, kind) + b''.join(field(3, size) for size in sizes)


F32, BF16, S8, TUPLE = 11, 16, 2, 13
VECTOR = shape(F32, 64)
# name: opcode, fusion kind, shape; expected category and text of the shape
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
    """HloProto whose module has a computation of these instructions."""
    return field(1, field(3, b''.join(field(2, one) for one in instructions)) + more)


def instruction(name, opcode, fusion, shape_of):
    kind = field(11, fusion) if fusion else b''
    return field(1, name) + field(2, opcode) + field(3, shape_of) + kind


def test_categories_and_shapes_are_reported_by_number_of_program_and_name():
    """A kernel of 10 us for each operation; then one of another program with the same name and
    operation, of a program missing from the file, of a damaged one, and of one that follows an
    instruction longer than any that a kernel runs."""
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
    found = tables(merged_planes('g', gpu(events), programs(protos)), 'hlo.work/op', 'hlo.work/category')
    equal(sorted((row['program'], row['op'], row['category'] or '-', row['shape'] or '-')
                 for row in found['hlo.work/op']),
          sorted([('jit_f', name, of[3], of[4] or '-') for name, of in INSTRUCTIONS.items()] +
                 [('jit_f', 'fusion.1', 'dot', 'f32[64]'), ('jit_g', 'dot.2', '-', '-'),
                  ('jit_h', 'dot.9', '-', '-')]))
    # all-reduce and all-to-all overlap nothing here: all their time is exposed, as for the others.
    equal({row['category']: row['self_ns'] / 10_000 for row in found['hlo.work/category']},
          {None: 2, 'dot': 3, **{of[3]: 1 for of in INSTRUCTIONS.values() if of[3] != 'dot'}})


def test_bytes_of_collectives_of_gpus_are_those_of_their_shapes():
    """Operands and results, counted by hand, of f32[64] (256 bytes), bf16[8] (16) and u32[] (4, a
    context, which does not count). In a group of 4, an all-gather to 256 takes 64, and a
    reduce-scatter to 256 takes 1024. Unknown without groups, for groups that differ, for groups
    whose replicas have several parts, and for types smaller than a byte."""
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
    store = merged_planes('c', gpu(events), programs({'jit_f(1)': proto}))
    equal({row['operation']: row['bytes'] for row in rows(store, 'pod.collective')},
          {name: of[-1] for name, of in zip(names, cases)})


def numbered(name, opcode, made, number, *operands, more=b''):
    return instruction(name, opcode, '', made) + field(35, number) + field(36, bytes(operands)) + more


def test_a_product_that_takes_several_kernels_is_counted_once():
    """f32[8,4] by f32[4,16]: 2 x 8 x 4 x 16 FLOP; 4 (32 + 64 + 128) bytes. Twice, each with a
    shorter kernel that sums parts. A dot over both dimensions of f32[8,4]: 64 FLOP, and 4 (32 + 32
    + 1) bytes; the same in a fusion with another result, whose bytes are unknown. The call without
    dimension numbers is unknown, as is a dot whose operand is missing."""
    gemm = b'{"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}'
    left, right, made = shape(F32, 8, 4), shape(F32, 4, 16), shape(F32, 8, 16)
    both = field(30, field(1, bytes([0, 1])) + field(2, bytes([0, 1])))
    pair = field(2, TUPLE) + field(4, made) + field(4, shape(S8, 99))
    called = [numbered('p.1', 'parameter', left, 1), numbered('dot.2', 'dot', shape(F32), 2, 1, 1, more=both)]
    main_of = [numbered('p.3', 'parameter', left, 3), numbered('p.4', 'parameter', right, 4),
               numbered('gemm.5', 'custom-call', pair, 5, 3, 4,
                        more=field(28, '__cublas$gemm') + field(43, gemm)),
               numbered('gemm.6', 'custom-call', made, 6, 3, 4, more=field(28, '__cublas$lt$matmul')),
               numbered('dot.7', 'dot', shape(F32), 7, 3, 3, more=both),
               numbered('dot.8', 'dot', shape(F32), 8, 99, 3, more=both),
               numbered('fusion.9', 'fusion', field(2, TUPLE) + field(4, left), 9, 3, more=field(38, bytes([7])))]
    proto = field(1, b''.join(field(3, b''.join(field(2, one) for one in of) + field(5, number))
                              for number, of in ((7, called), (8, main_of))))
    runs = [('gemm', 'gemm.5', 30), ('splitKreduce', 'gemm.5', 10)] * 2 + [
        ('gemm', 'gemm.6', 10), ('dot', 'dot.7', 10), ('dot', 'dot.8', 10), ('fused', 'fusion.9', 10)]
    events = [(kernel, 100 * i * 1_000_000, us * 1_000_000,
               {'hlo_module': 'jit_f', 'hlo_op': op, 'program_id': 1, 'correlation_id': i + 1})
              for i, (kernel, op, us) in enumerate(runs)]
    store = merged_planes('w', gpu(events), programs({'jit_f(1)': proto}))
    found = tables(store, 'hlo.work/op', 'efficiency.rank')
    equal({row['op']: (row['flop'], row['bytes'], row['known_pct']) for row in found['hlo.work/op']},
          {'gemm.5': (2 * 1024, 2 * 896, 100.0), 'gemm.6': (None, None, 0.0), 'dot.7': (64, 260, 100.0),
           'dot.8': (None, None, 0.0), 'fusion.9': (None, None, 0.0)})
    equal(found['efficiency.rank'][0]['flop'], 2 * 1024 + 64 + 64, 'FLOP, of the fusion too')
    # The name of the last version is known, and said to be old.
    shown = tmerge('show', store, 'hlo.op', '--json').expect(0)
    equal(json.loads(shown.out)['tables']['hlo.work']['rows'], found['hlo.work/op'])
    asked = tmerge('query', store, 'SELECT op, flop FROM hlo.op WHERE flop > 64', '--csv').expect(0)
    equal(asked.out, 'op,flop\r\ngemm.5,2048.0\r\n')
    for old in (shown, asked, tmerge('list', 'hlo.op').expect(0)):
        contains(old.err.replace('_', '.'), 'hlo.op is now hlo.work, level op')


DEVICES, RUNS, US = 4, 12, 1_000_000
GLOBAL = field(26, 1) + field(71, 1)


def listed(*groups, number=49):
    return b''.join(field(number, field(1, bytes(group))) for group in groups)


def counted(groups, size, dims, order=()):
    return field(87, field(2, field(1, groups) + field(2, size) + field(3, bytes(dims)) +
                           (field(4, bytes(order)) if order else b'')))


def pairs(*of):
    return field(26, 1) + b''.join(field(52, (field(1, a) if a else b'') + (field(2, b) if b else b''))
                                   for a, b in of)


# name: opcode, attributes that give its groups among 8 devices of two processes, their names on the
# first and on the second, their size
GROUPED = {
    'all-reduce.1': ('all-reduce', counted(2, 4, [8]) + GLOBAL,
                     ('devices 0-3 of host0', 'devices 0-3 of host1'), 4),
    'all-reduce-start.2': ('all-reduce-start', counted(4, 2, [2, 4], [1, 0]) + GLOBAL,
                           'devices {},{}', 2),
    'all-gather.3': ('all-gather', listed(range(8)) + GLOBAL, ('devices 0-7',) * 2, 8),
    'all-to-all.4': ('all-to-all', field(26, 1), ('devices 0-7',) * 2, 8),
    'all-reduce.5': ('all-reduce', listed([0, 1], [2, 3], [4, 5], [6, 7]) + GLOBAL, 'pairs', 2),
    'collective-permute.6': ('collective-permute', pairs(*([i, i + 1] for i in range(7))),
                             ('devices 0-7',) * 2, 8),
    # pairs: one sends and one receives, or both; across processes the direction is unknown
    'collective-permute.9': ('collective-permute', pairs([0, 1], [2, 3], [4, 5], [6, 7]), 'pairs', 2),
    'collective-permute.10': ('collective-permute', pairs(*([i, i ^ 4] for i in range(8))),
                              'devices {},{}', 2),
    'collective-permute.11': ('collective-permute', pairs(*([i, i + 4] for i in range(4))),
                              'devices {},{}', 2),
    # across processes, with different remote devices on each: the group is unknown
    'all-reduce.7': ('all-reduce', listed([0, 5], [1, 4], [2, 7], [3, 6]) + GLOBAL, None, None),
    # groups by mesh axes, as in newer programs
    'all-reduce.8': ('all-reduce', field(87, field(3, b'\x08\x01')) + GLOBAL, None, None),
}


# A kernel in two pairs, a transfer (its waits are in bubble.pair), and one whose direction is
# unknown.
NO_WAIT = {'collective-permute.6', 'collective-permute.9', 'collective-permute.11'}


def group_of(name, host, device):
    reported, size = GROUPED[name][2:]
    if reported == 'pairs':
        return f'devices {device // 2 * 2}-{device // 2 * 2 + 1} of host{host}', size
    if isinstance(reported, str):
        return reported.format(device, device + DEVICES), size
    return reported and reported[host], size


def members_of(name, host, device):
    """Returns the numbers, among all devices, of those that share a collective with one."""
    if name == 'all-reduce.7':
        return (min(host * DEVICES + device, host * DEVICES + device ^ 5),)
    return tuple(sorted(h * DEVICES + d for h in (0, 1) for d in range(DEVICES)
                        if group_of(name, h, d) == group_of(name, host, device)))


def assigned(of):
    return field(15, field(1, 1) + field(2, len(of)) + b''.join(
        field(3, field(1, varint(number))) for number in of))


def made_groups(numbered_from, job=range(8), own=lambda host: [], runs=RUNS):
    """Two processes with four GPUs each: in each run a device computes for 50 us and device d for
    another 10 d, then runs each collective, which lasts until 100 us after the last of its group
    arrives; each arrives 3 d after its work before. A program on its process' devices comes
    last."""
    clock = [0] * 8
    events = [[] for _ in range(8)]
    for _ in range(runs):
        for number in range(8):
            events[number].append(('add', clock[number], 50 + 10 * number, 'add.9'))
            clock[number] += 50 + 10 * number
        for name in GROUPED:
            begins = [at + 3 * number for number, at in enumerate(clock)]
            for number in range(8):
                of = members_of(name, *divmod(number, DEVICES))
                end = max(begins[one] for one in of) + 100
                events[number].append(('ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)',
                                       begins[number], end - begins[number], name))
                clock[number] = end + 10
    proto = program([instruction(name, of[0], '', VECTOR) + of[1] for name, of in GROUPED.items()],
                    assigned(job))
    for host in range(2):
        ran = len(own(host))
        planes = [Plane(f'/device:GPU:{device + numbered_from}', [(1, 'Stream #1(Compute)', 0, [
            (kernel, at * US, us * US, {'hlo_module': 'jit_f', 'hlo_op': op, 'program_id': 3 + host,
                                        'correlation_id': 1 + device * 4096 + i})
            for i, (kernel, at, us, op) in enumerate(events[host * DEVICES + device])] +
            [('add', 10**6 * US, US, {'hlo_module': 'jit_own', 'hlo_op': 'add.1', 'program_id': 90,
                                      'correlation_id': 4095})] * (device >= DEVICES - ran))])
            for device in range(DEVICES)]
        meta = Plane('/host:metadata', shared={f'other({n})': {} for n in range(2 + host)} |
                     {f'jit_f({3 + host})': {'Hlo Proto': proto}} |
                     {f'only({n})': {} for n in range(3 + host, 89)} |
                     ({'jit_own(90)': {'Hlo Proto': program([], assigned(own(host)))}} if ran else {}))
        put(f'host{host}.xplane.pb', space(*planes, meta, host=f'host{host}'))
    return events


@seldom
def test_collectives_of_gpus_are_matched_by_the_replica_groups_of_their_programs():
    """Each kernel waits until the last of its group begins; one of a permutation may not. A process
    that does not see all of its devices only knows groups of all: it has no job-wide numbers."""
    events = made_groups(0)
    tmerge('merge', 'host0.xplane.pb', 'host1.xplane.pb', '-o', 'c.h5', '--no-html').expect(0)
    found = tables('c.h5', 'pod.collective', 'clock.check')
    wanted = {}
    for number, own in enumerate(events):
        place = divmod(number, DEVICES)
        for name in GROUPED:
            if group_of(name, *place)[0]:
                key, of = (name, group_of(name, *place)), members_of(name, *place)
                ranks, wait = wanted.get(key, (0, None if name in NO_WAIT else 0))
                begins = [[begin for _, begin, _, op in events[one] if op == name] for one in of]
                mine = [begin for _, begin, _, op in own if op == name]
                if wait is not None:
                    wait += sum(max(at) - begin for at, begin in zip(zip(*begins), mine))
                wanted[key] = ranks + 1, wait
    equal({(row['operation'], (row['group'], row['members'])):
           (row['ranks'], row['wait_ns'] and row['wait_ns'] // 1000) for row in found['pod.collective']
           if row['group']}, wanted)
    equal({row['operation'] for row in found['pod.collective'] if not row['group']},
          {'all-reduce.7', 'all-reduce.8'}, 'groups that are not reported')
    equal({row['operation']: row['kind'] for row in found['pod.collective'] if 'permute' in row['operation']},
          dict.fromkeys((name for name in GROUPED if 'permute' in name), 'sendrecv'), 'kinds')
    equal({(row['operation'], row['bytes']) for row in found['pod.collective']},
          {(name, {'all-gather.3': 256 + 32}.get(name, 512)) for name in GROUPED}, 'bytes')
    equal(found['clock.check'][0]['suspect'], 0, 'operations of which members contradict one another')
    late = [sum(max(0, them - me) for them, me in zip(*(
        [begin for _, begin, _, op in events[one] if op == 'collective-permute.9'] for one in of)))
            for of in ((1, 0), (0, 1))]
    transfers = {(row['from_rank'], row['to_rank']): row for row in
                 rows('c.h5', 'bubble.pair')}
    equal(set(transfers), {(0, 1), (2, 3), (4, 5), (6, 7)}, 'who gives to whom')
    equal([transfers[0, 1][key] for key in ('count', 'late_receiver_ns', 'late_sender_ns')],
          [RUNS, late[0] * 1000, late[1] * 1000], 'waits of both')


# Operations of an XLA device on a CPU in one run of its program: thread, name, begin and end in us,
# and time of the mark of its end.
CPU_RUN = {
    0: [(1, 'while.1', 0, 400, 400), (1, 'dot.2', 0, 50, 130), (2, 'psum.3', 80, 200, 190),
        (2, 'psum.3', 300, 400, 399)],
    2048: [(1, 'while.1', 0, 400, 400), (1, 'dot.2', 0, 150, 150), (1, 'psum.3', 150, 200, 199),
           (1, 'psum.3', 310, 400, 399)],
}


def cpu_device(number, name):
    """Writes a profile of a process with one device, whose program runs twice. The program's number
    differs from that in its metadata."""
    threads = collections.defaultdict(list)
    for run in range(2):
        for i, (thread, op, begin, end, mark) in enumerate(CPU_RUN[number]):
            flow = 100 * run + i + 1
            threads[thread].append((op, (1000 * run + begin) * US, (end - begin) * US,
                                    {'hlo_op': op, 'hlo_module': 'jit_f', 'program_id': 6,
                                     'run_id': 70 + run, 'device_ordinal': number, '_p': flow}))
            threads[2].append((f'end: {op}', (1000 * run + mark) * US, US, {'_c': flow}))
    proto = program([instruction('while.1', 'while', '', VECTOR), instruction('dot.2', 'dot', '', VECTOR),
                     instruction('psum.3', 'all-reduce', '', VECTOR) + listed([0, 1]) + GLOBAL],
                    assigned((0, 2048)))
    meta = Plane('/host:metadata', shared={'other(0)': {}, 'jit_f(6)': {'Hlo Proto': proto}})
    put(name, space(Plane('/host:CPU', [(thread, f'tf_XLAEigen/{thread}', 0, events)
                                        for thread, events in threads.items()]), meta))


def test_what_xla_runs_on_cpus_is_its_devices_by_their_numbers_in_the_job():
    """Per run: dot.2 of device 0 continues until psum.3 begins, as the mark of its end comes after
    the work that its end released: 80 us; a loop is not work. psum.3 has waits of 150 - 80 and of
    310 - 300 us."""
    cpu_device(2048, 'a.xplane.pb')
    cpu_device(0, 'b.xplane.pb')
    tmerge('a.xplane.pb', 'b.xplane.pb', '-o', 'cpu.h5', '--force', '--no-html').expect(0)
    found = tables('cpu.h5', 'overlap.rank', 'stragglers.rank', 'collectives.kind', 'job.rank')
    equal([[row[key] // 1000 for key in ('compute_ns', 'comm_ns', 'overlap_ns')]
           for row in found['overlap.rank']], [[160, 440, 0], [300, 280, 0]])
    equal([(row['wait_ns'], row['caused_wait_ns']) for row in found['stragglers.rank']],
          [(160_000, 0), (0, 160_000)])
    equal([(row['kind'], row['group'], row['count']) for row in found['collectives.kind']],
          [('allreduce', 'devices 0,2048', 4)])
    equal([(row['rank'], os.path.basename(row['source']), row['device_kind']) for row in found['job.rank']],
          [(0, 'b.xplane.pb', 'CPU device'), (1, 'a.xplane.pb', 'CPU device')])


def reported_of(**how):
    made_groups(**how, runs=1)
    tmerge('merge', 'host0.xplane.pb', 'host1.xplane.pb', '-o', 'd.h5', '--no-html').expect(0)
    return {row['operation']: row['group'] for row in
            rows('d.h5', 'pod.collective') if row['group']}


@seldom
def test_devices_that_are_not_counted_process_after_process_have_no_wrong_groups():
    """Only groups of all are known for a process that does not see all of its devices, for a job
    whose numbers have gaps, and if a program of a process' own devices, 0, 2, 4, 6 and 1, 3, 5, 7,
    shows that they alternate; so does a program of device 5 that the last process runs. A program
    of device 0, or of exactly the process' own devices, shows nothing."""
    of_all = {name for name, of in GROUPED.items() if of[2] == ('devices 0-7',) * 2}
    of_any = {name for name, of in GROUPED.items() if of[2]}
    far = [number + 131072 * (number > 3) for number in range(8)]
    for how, wanted in (({'numbered_from': 1}, of_all),
                        ({'numbered_from': 0, 'job': far}, of_all),
                        ({'numbered_from': 0, 'own': lambda host: range(host, 8, 2)}, of_all),
                        ({'numbered_from': 0, 'own': lambda host: [5]}, of_all),
                        ({'numbered_from': 0, 'own': lambda host: [0]}, of_any),
                        ({'numbered_from': 0, 'own': lambda host: range(4 * host, 4 * host + 4)},
                         of_any)):
        reported = reported_of(**how)
        equal(set(reported), wanted, how)
        equal(reported['all-gather.3'], f'devices 0-{"3,131076-131079" if how.get("job") else 7}', how)


def test_operators_of_tensorflow_are_summed_by_type_on_either_side():
    """On the host as in the profile, from one file whose threads all go to one rank; on the devices
    the time of all kernels and copies, 14 of which give no operator. The pattern of TensorFlow's
    own tool, used by the other program, leaves out names with a leading underscore: those of 379
    sends."""
    found, expected = merged('gpu-multi-worker')
    of = {(row['side'], row['type']): row for row in found['framework.work/type']}
    types = {kind for side, kind in of if side == 'host'}
    wanted = expected['host_tf_ops']
    equal((sum(of['host', kind]['occurrences'] for kind in types), len(types)),
          (wanted['events'] + 379, wanted['types']), 'operators of the host')
    for top in wanted['top']:
        row = of['host', top['type']]
        equal(row['occurrences'], top['events'], top['type'])
        # begins and ends are rounded to nanoseconds
        holds(abs(row['total_ns'] - top['total_ps'] / 1000) <= top['events'], row)
        holds(0 < row['self_ns'] <= row['total_ns'], row)
    tracks = [track for rank in expected['ranks'] for track in rank['tracks']]
    equal(sum(row['self_ns'] for (side, _), row in of.items() if side == 'device'),
          sum(track['sum_ps'] for track in tracks) // 1000, 'time on the devices')
    equal(sum(row['occurrences'] for (side, _), row in of.items() if side == 'device'),
          sum(track['events'] for track in tracks), 'kernels and copies')
    equal(of['device', None]['occurrences'], 14, 'copies without an operator')
    for side in ('host', 'device'):
        listed = [row for row in found['framework.work/operator'] if row['side'] == side]
        equal(len(listed), 500, side)
        holds(sum(row['self_ns'] for row in listed) <=
              sum(row['self_ns'] for (on, _), row in of.items() if on == side), side)


def test_operators_of_jax_are_summed_by_the_last_part_of_their_names():
    """Copies of programs and of their arguments give no operator."""
    found, expected = merged('jax-mi300-gemm')
    of = {row['type']: row for row in found['framework.work/type']}
    equal({row['side'] for row in of.values()}, {'device'}, 'the host tells none')
    equal(set(of), {'dot_general', 'broadcast_in_dim', None}, 'types')
    copies = expected['ranks'][0]['busy_union_ps']['copy']
    equal((of[None]['operators'], of[None]['occurrences'], of[None]['self_ns']),
          (0, 24, copies // 1000), 'copies')
    equal(sum(row['self_ns'] for row in of.values()),
          expected['ranks'][0]['busy_union_all_ps'] // 1000, 'time')


def test_cores_are_held_against_what_they_could_compute():
    """A core only computes 300 additions of the array; the file gives 918 TFLOP/s."""
    merged('tpu-v6e')
    found = tables('../tpu-v6e.h5', 'efficiency.rank', 'efficiency.step', 'efficiency.work/operator')
    equal(sum(row['flop'] for row in found['efficiency.work/operator']), 1200 * ARRAY, 'FLOP')
    equal(sum(row['bytes'] for row in found['efficiency.work/operator']), 1200 * 8 * ARRAY, 'bytes')
    equal(sum(row['flop'] for row in found['efficiency.step']), 1200 * ARRAY, 'FLOP of steps')
    for row in found['efficiency.rank']:
        equal((row['flop'], row['type'], row['peak_tflops']), (300 * ARRAY, 'mixed', 918.0), row)
        equal((row['coverage_pct'], row['reason']), (100.0, None), row)
        ideal = 300 * ARRAY / 918e12 * 1e9
        holds(abs(row['mfu_pct'] - 100 * ideal / row['window_ns']) < 1e-9, row)
    merged('jax-mi300-attention')
    row = rows('../jax-mi300-attention.h5', 'efficiency.rank')[0]
    equal((row['mfu_pct'], row['type'], round(row['coverage_pct'])), (None, 'mixed', 50), 'of a GPU')


TORCH = {'forward_backward', 'optimizer', 'data_loading'}
XPROF = {'input': 'input_ns', 'output': 'output_ns', 'kernel_launch': 'launch_ns',
         'collectives': 'collectives_ns', 'other_time': 'other_ns'}


def test_the_checklist_has_xprofs_bounds_and_none_of_pytorchs():
    """In the TensorFlow profile two of three devices have steps: they wait for input for 2.31 of
    19.96 and 2.39 of 21.39 ms. Of the compute of the last, XProf counts 4.54 ms as 16 bit and 10.32
    ms as 32 bit. The TPU cores wait for copies nearly all of the time."""
    found, expected = merged('gpu-multi-worker')
    boxes = {box['box']: box for box in found['checklist.box']}
    holds(not TORCH & set(boxes), boxes)
    stepped = [row for row in found['pod.rank'] if row['bottleneck']]
    equal(len(stepped), 2, 'devices with steps')
    for box, column in XPROF.items():
        share = sum(row[column] for row in stepped) / sum(row['step_ns'] for row in stepped)
        holds(abs(boxes[box]['value'] - 100 * share) < 1e-9, boxes[box])
        equal(boxes[box]['result'], 'fail' if 100 * share > boxes[box]['most'] else 'pass', box)
    # Their kernels run for 14.83 and 14.87 ms; devices without steps are not compared.
    kernels = sum(of['busy_union_ps'].get('kernel', 0) for of in expected['ranks']) / 1000
    share = 100 * kernels / sum(row['step_ns'] for row in stepped)
    holds(abs(boxes['gpu_utilization']['value'] - share) < 0.01, (boxes['gpu_utilization'], share))
    equal((boxes['input']['result'], boxes['output']['result']), ('fail', 'pass'), 'input, output')
    wanted = expected['step_breakdown_of_group_0']['with_host_events']['type_ps']
    equal([stepped[1][f'compute_{bits}_ns'] for bits in (16, 32)],
          [wanted[f'DEVICE_COMPUTE_{bits}'] // 1000 for bits in (16, 32)], 'computing by type')
    equal((boxes['compute_16_bit']['result'], boxes['asynchronous']['value']), ('pass', None))
    tpu = {box['box']: box for box in merged('tpu-v6e')[0]['checklist.box']}
    equal((round(tpu['asynchronous']['value'], 1), tpu['asynchronous']['result'],
           tpu['compute_16_bit']['value'], tpu['compute_16_bit']['result']),
          (96.5, 'fail', 0.0, 'fail'), 'asynchronous and 16 bit')
    of_torch = {box['box'] for box in rows(jobs.store('two'), 'checklist.box')}
    holds(TORCH <= of_torch and not of_torch & {*XPROF, 'compute_16_bit', 'asynchronous'}, of_torch)


LIMITS = {'tpu-v6e': {None: 33_550_237_696},
          'jax-mi300-attention': {'xla_gpu_host_bfc': 1 << 36, 'GPU_0_bfc': 154_606_239_744},
          'gpu-multi-worker': {'gpu_host_bfc': 1 << 36, **{f'GPU_{number}_bfc': 15_477_102_400
                                                           for number in (1, 4, 6)}}}


def memory(name, at, bytes_of, allocated, reserved, available, **own):
    """Returns an instant at `at` us with the allocator's state after it."""
    return (name, at * 1_000_000, 0,
            {'allocation_bytes': bytes_of, 'bytes_allocated': allocated,
             'bytes_reserved': reserved, 'bytes_available': available, **own})


def test_stacks_and_allocators_are_what_was_planted():
    """On the core, in bytes of 1000: a program with a stack of 200 is loaded before the first
    record, which takes 50 of an available 100; one of 300 before the second, which takes 100. At
    the peak 100 + 50 + 100 + 300 are taken: 55 %. The release gives no size. For a GPU, two host
    allocators, each with records of its own."""
    take, give = 'MemoryAllocation', 'MemoryDeallocation'
    core = [memory(take, 10, 50, 150, 200, 650, index_on_host=0, addr=1),
            memory(take, 20, 100, 250, 300, 450, index_on_host=0, addr=2),
            memory(give, 30, 0, 150, 300, 550, index_on_host=0, addr=2)]
    op = '%add.1 = f32[8]{0} add(f32[8]{0} %p, f32[8]{0} %q)'
    store = merged_planes('t', Plane('/device:TPU:0', [
        (2, 'XLA Modules', 0, [('jit_f(1)', 0, 10**8, {})]), (3, 'XLA Ops', 0, [(op, 0, 10**8, {})])]),
        Plane('/host:CPU', [(1, 'main', 0, core)]))
    found = tables(store, 'memory.device', 'memory.category', 'checklist.box')
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
    store = merged_planes('h', gpu([('add', 0, 10**8, {'correlation_id': 1})]),
                          Plane('/host:CPU', [(1, 'main', 0, host)]))
    equal([(row['device'], row['allocator'], row['peak_bytes'], row['limit_bytes'])
           for row in rows(store, 'memory.device')],
          [('cpu', 'first', 13, 100), ('cpu:1', 'second', 7, 50)])


def test_what_lives_at_the_peak_of_an_allocator_sums_to_the_peak_that_it_recorded():
    """All allocators, as named in the files; on the TPU the rest of the peak is reserved by
    programs (in the file: 21,491,712,000 bytes), so that nothing is unrecorded. Taken, reserved and
    available bytes have the same sum in all records of an allocator."""
    for name in ('tpu-v6e', 'jax-mi300-attention', 'gpu-multi-worker'):
        _, expected = merged(name)
        live, stacks = collections.Counter(), set()
        found = tables(f'../{name}.h5', 'memory.live', 'memory.device')
        for row in found['memory.live']:
            live[row['rank'], row['device']] += row['bytes']
            holds(row['category'] != 'unrecorded', row)
            if row['category'] == 'stack':
                stacks.add(row['bytes'])
        equal(stacks, {21_491_712_000} if name == 'tpu-v6e' else set(), 'stacks')
        limits = {row['allocator']: row['limit_bytes'] for row in found['memory.device']}
        equal(limits, LIMITS[name], 'allocators')
        equal(sorted(live.values()),
              sorted(of['peak_bytes_in_window'] for of in expected['memory'].values()), name)


main()
