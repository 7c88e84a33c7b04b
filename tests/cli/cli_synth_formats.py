"""The generator's files of other formats tell the same job as its Kineto traces, to the nanosecond:
all are read here, by json, sqlite3 and a decoder of protocol buffers of a few lines."""
import glob
import json
import os
import re
import sqlite3
import struct
from collections import Counter, defaultdict
from decimal import Decimal

from common import SHARED, SYNTH, Skip, equal, files, holds, main, run, same_bytes, synth
from varints import varint

# A job with every kind of group, several hosts, and clocks that are wrong.
JOB = {'ranks': 8, 'ranks_per_host': 4, 'steps': 2, 'layers': 4, 'tp': 2, 'pp': 2, 'seed': 11,
       'sequence_parallel': True, 'offset_us': 500, 'drift_ppb': 900, 'gpu_error_ns': 300}
DTYPE_BYTES = {'BFloat16': 2, 'Float': 4, 'Long': 8}
# By number in the file: CUDA's kinds of copies and of memory.
COPIES, MEMORY = {1: 'HtoD'}, {0: 'Pageable', 1: 'Pinned', 2: 'Device'}
MACHINE = 1 << 48


def database(path):
    return sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)


# The Kineto form ----------------------------------------------------------------------------------


class Kineto:
    """A trace's events by category, with exact begin_ns and dur_ns."""

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            trace = json.load(file, parse_float=Decimal)
        base = trace['baseTimeNanoseconds']
        self.rank = trace['distributedInfo']['rank']
        self.host = trace['host_name']
        self.of = defaultdict(list)
        for event in trace['traceEvents']:
            if event['ph'] in 'Xi' and 'cat' in event and event['cat'] != 'Trace':
                event['begin_ns'] = base + int(event['ts'] * 1000)
                event['dur_ns'] = int(event.get('dur', 0) * 1000)
                self.of[event['cat']].append(event)
        self.pid = self.of['user_annotation'][0]['pid']

    def kernels(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], a['device'], a['context'],
                       a['stream'], a['correlation'], *a['grid'], *a['block'],
                       a['registers per thread'], a['shared memory'])
                      for e in self.of['kernel'] for a in [e['args']])

    def copies(self, category):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], a['device'], a['stream'],
                       a['correlation'], a['bytes'])
                      for e in self.of[category] for a in [e['args']])

    def calls(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['tid'], e['args']['correlation'])
                      for e in self.of['cuda_runtime'])

    def ranges(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['tid'], e['args']['External id'])
                      for cat in ('cpu_op', 'user_annotation') for e in self.of[cat])

    def steps(self):
        return [(e['begin_ns'], e['dur_ns'], e['name']) for e in self.of['user_annotation']
                if e['name'].startswith('ProfilerStep#')]

    def collectives(self):
        """(begin, duration, operation, elements, type, correlation); of two operations Kineto has
        the elements of all ranks."""
        return sorted((e['begin_ns'], e['dur_ns'], a['Collective name'],
                       min(a['In msg nelems'], a['Out msg nelems']), a['dtype'], a['correlation'])
                      for e in self.of['kernel'] for a in [e['args']] if 'Collective name' in a)

    def memory(self):
        """(at, bytes, allocated)."""
        return sorted((e['begin_ns'], e['args']['Bytes'], e['args']['Total Allocated'])
                      for e in self.of['cpu_instant_event'])


# The Nsight Systems form --------------------------------------------------------------------------


class Nsys:
    """One process of an export; times since the epoch."""

    def __init__(self, path, pid):
        self.db = database(path)
        self.base, self.uptime = self.db.execute(
            'select utcEpochNs, systemClockNs from TARGET_INFO_SESSION_START_TIME').fetchone()
        self.process = MACHINE | pid << 24
        self.strings = dict(self.db.execute('select id, value from StringIds'))

    def of_gpu(self, table, columns):
        return self.db.execute(f'select start + {self.base}, end - start, {columns} '
                               f'from CUPTI_ACTIVITY_KIND_{table} where globalPid = ?',
                               [self.process]).fetchall()

    def of_threads(self, table, columns, where='1'):
        """Rows of this process's threads, whose numbers come third."""
        return self.db.execute(f'select start + {self.base}, end - start, globalTid & 16777215, '
                               f'{columns} from {table} where globalTid >> 24 = ? and {where}',
                               [self.process >> 24]).fetchall()

    def kernels(self):
        rows = self.of_gpu('KERNEL', '''demangledName, deviceId, contextId, streamId, correlationId,
            gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,
            staticSharedMemory + dynamicSharedMemory''')
        return sorted((a, b, self.strings[name], *rest) for a, b, name, *rest in rows)

    def copies(self):
        rows = self.of_gpu('MEMCPY', '''copyKind, srcKind, dstKind, deviceId, streamId,
            correlationId, bytes''')
        return sorted((a, b, f'Memcpy {COPIES[k]} ({MEMORY[s]} -> {MEMORY[d]})', *rest)
                      for a, b, k, s, d, *rest in rows)

    def sets(self):
        rows = self.of_gpu('MEMSET', 'memKind, deviceId, streamId, correlationId, bytes')
        return sorted((a, b, f'Memset ({MEMORY[k]})', *rest) for a, b, k, *rest in rows)

    def calls(self):
        """Nsight adds a version to the names of functions."""
        return sorted((a, b, re.sub(r'_v\d+$', '', self.strings[name]), tid, correlation)
                      for a, b, tid, name, correlation in self.of_threads(
                          'CUPTI_ACTIVITY_KIND_RUNTIME', 'nameId, correlationId'))

    def ranges(self):
        """(begin, duration, text, thread) of the default domain."""
        return sorted((a, b, text, tid) for a, b, tid, text in self.of_threads(
            'NVTX_EVENTS', 'text', 'eventType = 59 and domainId = 0'))

    def nccl(self):
        """(begin, end, function, payload, thread) of NCCL's domain, found by its name."""
        domain, = self.db.execute('select domainId from NVTX_EVENTS where eventType = 75 '
                                  "and text = 'NCCL' and globalTid >> 24 = ?",
                                  [self.process >> 24]).fetchone()
        return [(a, a + b, self.strings[name], payload, tid)
                for a, b, tid, name, payload in self.of_threads(
                    'NVTX_EVENTS', 'textId, binaryData', f'eventType = 59 and domainId = {domain}')]

    def fields(self, blob):
        """A payload's values by name, with the layout that the export itself has."""
        schema, size = struct.unpack_from('<8xI4xQ', blob)
        payload = blob[len(blob) - size:]
        forms = {5: '<i', 18: '<Q', 22: '<Q', 16777232: '<i'}
        return {name: struct.unpack_from(forms[kind], payload, offset or 0)[0]
                for name, kind, offset in self.db.execute(
                    'select name, type, offset from NVTX_PAYLOAD_SCHEMA_ENTRIES where schemaId = ?',
                    [schema])}


# The XPlane form ----------------------------------------------------------------------------------


def message(data):
    """{field: [value, ...]} of a message; a number is unsigned, other values are bytes."""
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            equal(key & 7, 0, 'wire type')
        found[key >> 3].append(value)
    return found


class Plane:
    """A plane of a file: its name, its stats, and by line (id, name) the events, each (begin in ps
    of the profile, duration in ps, name, stats)."""

    def __init__(self, data):
        fields = message(data)
        self.name, = (name.decode() for name in fields[2])
        names = [{}, {}]
        for of, field in zip(names, (4, 5)):
            for entry in map(message, fields[field]):
                of[entry[1][0]] = message(entry[2][0])[2][0].decode()
        self.events, self.texts = names
        self.stats = self.values(fields[6])
        self.lines = {}
        for line in map(message, fields[3]):
            events = [self.event(line[3][0] * 1000, message(event)) for event in line[4]]
            equal(events, sorted(events, key=lambda e: (e[0], -e[1])), 'order of a line')
            self.lines[line[1][0], line[2][0].decode()] = events

    def values(self, stats):
        found = {}
        for stat in map(message, stats):
            form, = stat.keys() - {1}
            value = stat[form][0]
            found[self.texts[stat[1][0]]] = (self.texts[value] if form == 7 else
                                             value.decode() if form == 5 else value)
        return found

    def event(self, base, event):
        return (base + event[2][0], sum(event[3]), self.events[event[1][0]],
                self.values(event[4]))


class XPlane:
    """One device of a file, and what its threads did, which the file has for all of the host."""

    def __init__(self, path, pid, device, per_file):
        with open(path, 'rb') as file:
            space = message(file.read())
        planes = {plane.name: plane for plane in map(Plane, space[1])}
        self.base = planes['Task Environment'].stats['profile_start_time']
        self.plane, self.device, self.per_file = planes[f'/device:GPU:{device}'], device, per_file
        self.threads = {number: events for (number, _), events in
                        planes['/host:CPU'].lines.items() if number in (pid, pid + 100000)}
        self.files = (space, planes)

    def ns(self, begin_ps, dur_ps):
        """Begin and duration as all results have them: both ends rounded, once."""
        begin, end = (self.base + (at + 500) // 1000 for at in (begin_ps, begin_ps + dur_ps))
        return begin, end - begin

    def number(self, stats):
        """A correlation as the rank alone had it."""
        return (stats['correlation_id'] - self.device) // self.per_file

    def of_gpu(self, detail):
        for (number, _), events in self.plane.lines.items():
            for begin, dur, name, stats in events:
                if detail in stats:
                    yield (*self.ns(begin, dur), name, number, stats, dict(
                        pair.split(':') for pair in stats[detail].split()))

    def kernels(self):
        return sorted((begin, dur, name, self.device, 1, stream, self.number(stats),
                       *map(int, (d['grid'] + ',' + d['block']).split(',')), int(d['regs']),
                       int(d['static_shared']) + int(d['dynamic_shared']))
                      for begin, dur, name, stream, stats, d in self.of_gpu('kernel_details'))

    def copies(self):
        return sorted((begin, dur, f'{name.replace("H2D", " HtoD")} ({d["kind_src"].title()} -> '
                       f'{d["kind_dst"].title()})', self.device, stream, self.number(stats),
                       int(d['size']))
                      for begin, dur, name, stream, stats, d in self.of_gpu('memcpy_details'))

    def sets(self):
        return sorted((begin, dur, f'{name} ({d["kind"].title()})', self.device, stream,
                       self.number(stats), int(d['size']))
                      for begin, dur, name, stream, stats, d in self.of_gpu('memset_details'))

    def of_host(self):
        for thread, events in self.threads.items():
            for begin, dur, name, stats in events:
                yield (*self.ns(begin, dur), name, thread, stats)

    def calls(self):
        return sorted((begin, dur, name, thread, self.number(stats))
                      for begin, dur, name, thread, stats in self.of_host()
                      if 'correlation_id' in stats)

    def ranges(self):
        return sorted((begin, dur, f'ProfilerStep#{stats["step_num"]}' if stats.get('_r') else name,
                       thread) for begin, dur, name, thread, stats in self.of_host()
                      if not {'correlation_id', 'allocator_name'} & stats.keys())

    def memory(self):
        signs = {'MemoryAllocation': 1, 'MemoryDeallocation': -1}
        return sorted((begin, signs[name] * stats['allocation_bytes'], stats['bytes_allocated'])
                      for begin, _, name, _, stats in self.of_host() if 'allocator_name' in stats)


# The Ascend form ----------------------------------------------------------------------------------


class Ascend:
    """A trace's events by process; times in ns, both ends rounded once."""

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            self.events = json.load(file, parse_float=Decimal)
        self.names = {e['pid']: e['args']['name'] for e in self.events
                      if e['name'] == 'process_name'}
        self.of, self.arrows = defaultdict(list), defaultdict(dict)
        for event in self.events:
            if 'ts' in event:
                begin = Decimal(event['ts']) * 1000
                event['begin_ns'] = int(begin)
                equal(begin, event['begin_ns'], 'begin')
                event['dur_ns'] = int((begin + Decimal(event.get('dur', 0)) * 1000)
                                      .to_integral_value()) - event['begin_ns']
                event['process'] = self.names[event['pid']]
            if event['ph'] == 'X':
                self.of[event['process']].append(event)
            elif event['ph'] in 'sf':
                self.arrows[event['cat'], event['id']][event['ph']] = event

    def tasks(self, *types):
        return [e for e in self.of['Ascend Hardware'] if e['args']['Task Type'] in types]

    def rows(self, events):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['pid'] & 31, 1, e['tid'],
                       e['args']['connection_id']) for e in events)

    def kernels(self):
        return self.rows(self.tasks('AI_CORE'))

    def moves(self, kind, direction):
        return sorted((e['begin_ns'], e['dur_ns'], e['pid'] & 31, e['tid'],
                       e['args']['connection_id'], e['args']['data size(Byte)'])
                      for e in self.tasks(kind) if e['args']['memcpy direction'] == direction)

    def copies(self):
        return self.moves('PCIE_DMA_SQE', 'host to device')

    def sets(self):
        return self.moves('SDMA_SQE', 'device to device')

    def calls(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['tid'], e['args']['connection_id'])
                      for e in self.of['CANN'])

    def ranges(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'], e['tid'])
                      for e in self.of['Python'])

    def collectives(self):
        return sorted((e['begin_ns'], e['dur_ns'], e['name'].split('_')[1], e['args']['count'],
                       e['args']['data_type'], e['args']['connection_id'])
                      for e in self.of['HCCL'])


# All forms ----------------------------------------------------------------------------------------


def open_nsys(rank, kineto, per_file):
    return Nsys(f'nsys/profile_rank_{rank // per_file * per_file}.sqlite', kineto.pid)


def open_xplane(rank, kineto, per_file):
    path, = glob.glob(f'xplane/plugins/profile/*/host{rank // per_file}.xplane.pb')
    return XPlane(path, kineto.pid, rank % per_file, per_file)


def open_ascend(rank, kineto, _):
    path, = glob.glob(f'ascend/{kineto.host}_{kineto.pid}_*_ascend_pt/ASCEND*/trace_view.json')
    info, = glob.glob(f'ascend/{kineto.host}_{kineto.pid}_*_ascend_pt/profiler_info_*.json')
    with open(info, encoding='utf-8') as file:
        equal(json.load(file)['rank_id'], rank, 'rank')
    equal(os.path.basename(info), f'profiler_info_{rank}.json')
    return Ascend(path)


OPEN = {'nsys': open_nsys, 'xplane': open_xplane, 'ascend': open_ascend}
CANN = {'cudaLaunchKernel': 'Node@launch', 'cudaLaunchKernelExC': 'Node@launch',
        'cudaMemcpyAsync': 'AscendCL@aclrtMemcpyAsync',
        'cudaMemsetAsync': 'AscendCL@aclrtMemsetAsync',
        'cudaEventRecord': 'AscendCL@aclrtRecordEvent',
        'cudaStreamWaitEvent': 'AscendCL@aclrtStreamWaitEvent',
        'cudaDeviceSynchronize': 'AscendCL@aclrtSynchronizeDevice',
        'cudaStreamSynchronize': 'AscendCL@aclrtSynchronizeStreamWithTimeout'}
HCCL = {'allreduce': 'allReduce', '_allgather_base': 'allGather', 'broadcast': 'broadcast',
        '_reduce_scatter_base': 'reduceScatter', 'send': 'send', 'recv': 'receive',
        'BFloat16': 'BFP16', 'Float': 'FP32', 'Long': 'INT64'}


def in_other_words(form, what, rows):
    """Kineto's rows as another form has them."""
    if what == 'ranges':
        # Nobody else has numbers of ranges; those of messages are named by other numbers. A host's
        # process that drives all its devices marks its steps once.
        rows = [row for row in rows if form != 'xplane' or not row[2].startswith('ProfilerStep#')
                or row[3] % 4 == 0]
        return [(a, b, re.sub(r'(nccl:(?:send|recv) ).*', r'\1', name), tid)
                for a, b, name, tid, _ in rows]
    if form == 'ascend' and what == 'kernels':
        # No launch's shape; communication is not among the kernels.
        return [row[:7] for row in rows if not row[2].startswith('nccl')]
    if form == 'ascend' and what in ('copies', 'sets'):
        return [row[:2] + row[3:] for row in rows]
    if form == 'ascend' and what == 'calls':
        return [(a, b, CANN[name], *rest) for a, b, name, *rest in rows]
    if form == 'ascend' and what == 'collectives':
        return [(a, b, HCCL[name], n, HCCL[dtype], c) for a, b, name, n, dtype, c in rows]
    return rows


def both(form='nsys', per_file=1, **options):
    """Each rank's trace in Kineto's form and another one, and both truths."""
    job = dict(JOB, **options)
    more = {'nsys': {'ranks_per_file': per_file}}.get(form, {})
    truths = [synth('kineto', **job), synth(form, format=form, **more, **job)]
    per_file = job['ranks_per_host'] if form == 'xplane' else per_file
    pairs = []
    for rank in range(job['ranks']):
        kineto = Kineto(f'kineto/profile_rank_{rank}.json')
        pairs.append((kineto, OPEN[form](rank, kineto, per_file)))
    return pairs, truths


# Tests --------------------------------------------------------------------------------------------


def is_the_same_job(form, per_file=1, **options):
    pairs, _ = both(form, per_file, **options)
    for kineto, other in pairs:
        expected = {'kernels': kineto.kernels(), 'copies': kineto.copies('gpu_memcpy'),
                    'sets': kineto.copies('gpu_memset'), 'calls': kineto.calls(),
                    'ranges': kineto.ranges(), 'collectives': kineto.collectives(),
                    'memory': kineto.memory()}
        for what, rows in expected.items():
            holds(len(rows) > (50 if what == 'kernels' else 1), f'too little in it: {what}')
            if hasattr(other, what):
                found = getattr(other, what)()
                if what == 'ranges':
                    found = [(a, b, re.sub(r'(nccl:(?:send|recv) ).*', r'\1',
                                           re.sub(r'(, seq = \d+)?, op_id = \d+$', '', name)), tid)
                             for a, b, name, tid in found]
                equal(sorted(found), sorted(in_other_words(form, what, rows)), f'{form}: {what}')
    return pairs


def test_ranges_have_the_numbers_of_their_operators():
    # emit_nvtx names them; steps have no other number than that in their name.
    for kineto, nsys in both('nsys')[0]:
        expected = [(a, b, name if name.startswith('ProfilerStep#') else (name, number), tid)
                    for a, b, name, tid, number in kineto.ranges()]
        found = []
        for a, b, text, tid in nsys.ranges():
            parts = re.fullmatch(r'(.*?)(?:, seq = \d+)?, op_id = (\d+)', text)
            found.append((a, b, (parts[1], int(parts[2])) if parts else text, tid))
        equal(found, expected, 'ranges')
        equal([row[:3] for row in nsys.ranges() if row[2].startswith('ProfilerStep')],
              kineto.steps(), 'steps')
        equal(min(row[0] for row in nsys.nccl() + nsys.ranges()), kineto.ranges()[0][0], 'begin')


def test_one_rank_a_file_is_the_same_job():
    is_the_same_job('nsys')
    equal(files('nsys'), sorted([f'profile_rank_{r}.sqlite' for r in range(8)] + ['truth.json']))
    is_the_same_job('ascend')


def test_four_ranks_a_file_are_the_same_job():
    is_the_same_job('nsys', 4)
    equal(files('nsys'), ['profile_rank_0.sqlite', 'profile_rank_4.sqlite', 'truth.json'])
    devices = database('nsys/profile_rank_4.sqlite').execute(
        'select distinct globalPid >> 24 & 16777215, deviceId from CUPTI_ACTIVITY_KIND_KERNEL')
    equal(sorted(devices), [(1004, 0), (1005, 1), (1006, 2), (1007, 3)])
    is_the_same_job('xplane')
    equal(sorted(glob.glob('xplane/**/*.pb', recursive=True)),
          [f'xplane/plugins/profile/2025_12_01_00_00_00/host{i}.xplane.pb' for i in (0, 1)])


def test_lost_kernels_and_late_recordings_and_faults_are_the_same_job():
    for form, per_file in (('nsys', 2), ('xplane', 4), ('ascend', 1)):
        is_the_same_job(form, per_file, lost_percent=10, window_skew=1, fault='pageable', steps=3)


def test_the_last_file_has_what_ranks_are_left():
    options = dict(ranks=6, tp=1, pp=1, sequence_parallel=0)
    pairs, _ = both('nsys', 4, **options)
    equal(pairs[5][1].kernels(), pairs[5][0].kernels())
    equal(files('nsys'), ['profile_rank_0.sqlite', 'profile_rank_4.sqlite', 'truth.json'])
    pairs, _ = both('xplane', **options)
    equal(pairs[5][1].kernels(), pairs[5][0].kernels())
    planes = pairs[5][1].files[1]
    equal([len(planes[f'/device:GPU:{i}'].lines) for i in range(4)], [3, 3, 0, 0], 'planes')


def test_a_space_is_as_the_profiler_leaves_it():
    (kineto, xplane), *_ = both('xplane')[0]
    space, planes = xplane.files
    equal(space[4], [kineto.host.encode()], 'hostnames')
    equal(list(planes), [f'/device:GPU:{i}' for i in range(4)] + ['/host:CPU', 'Task Environment'])
    for plane in space[1]:
        kinds = [field for field in message(plane) if field > 2]  # in the order of the file
        equal(kinds, sorted(kinds), 'lines stand before names, and names before stats')
    # An H100, as its Kineto traces have it; the clock in kHz.
    equal(xplane.plane.stats, {
        'device_vendor': 'Nvidia', 'clock_rate': 1980000, 'core_count': 132,
        'memory_bandwidth': 3352320000000, 'memory_size': 85028372480, 'compute_cap_major': 9,
        'compute_cap_minor': 0})
    # Derived lines have numbers from 0xdeadbeef on, as a signed number of 32 bits: -559038737.
    derived = [events for (number, _), events in xplane.plane.lines.items() if number >> 63]
    equal([2**64 - number for number, _ in xplane.plane.lines if number >> 63], [559038736])
    equal(len(derived[0]), len(kineto.of['gpu_user_annotation']))
    times = [at for events in xplane.plane.lines.values() for begin, dur, *_ in events
             for at in (begin, begin + dur)]
    holds(len({at % 1000 for at in times}) > 100, 'times are whole nanoseconds')
    allocators = {stats['allocator_name'] for *_, stats in xplane.of_host()
                  if 'allocator_name' in stats}
    equal(allocators, {'GPU_0_bfc'})


def test_arrows_join_calls_and_operators_to_what_they_cause():
    for kineto, ascend in both('ascend')[0]:
        calls = {(e['begin_ns'], e['tid']): e['args']['connection_id'] for e in ascend.of['CANN']}
        device = {(e['begin_ns'], e['tid'], e['process']): e['args']['connection_id']
                  for e in ascend.of['Ascend Hardware'] + ascend.of['HCCL']}
        operators = {(e['begin_ns'], e['tid'], e['name']) for e in ascend.of['Python']}
        external = {e['args']['External id']: e for e in kineto.of['cpu_op']}
        causes = {e['args']['correlation']: external.get(e['args'].get('External id'))
                  for cat in ('kernel', 'gpu_memcpy', 'gpu_memset') for e in kineto.of[cat]}
        known = len(list(filter(None, causes.values())))
        holds(0 < known < len(causes), 'every event has an operator, or none has')
        joined = Counter()
        for (category, _), ends in ascend.arrows.items():
            equal(set(ends), {'s', 'f'}, 'ends')
            begin, end = ends['s'], ends['f']
            if category == 'fwdbwd':
                holds(begin['tid'] != end['tid'], 'one thread')
                continue
            number = device[end['begin_ns'], end['tid'], end['process']]
            if category == 'HostToDevice':
                equal(calls[begin['begin_ns'], begin['tid']], number)
            else:
                cause = causes[number]
                holds((begin['begin_ns'], begin['tid'], cause['name']) in operators, cause)
                equal((begin['begin_ns'], begin['tid']), (cause['begin_ns'], cause['tid']))
            joined[category] += 1
        equal(joined, {'HostToDevice': len(causes), 'async_npu': known})
        holds(max(int(number) for category, number in ascend.arrows if category != 'fwdbwd') > 2**64,
              'all numbers of arrows fit into 64 bits')


def covered(intervals):
    """(begin, end) of each stretch that some interval covers, in order."""
    found = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([begin, end])
    return found


def test_the_vendors_lanes_are_the_unions_of_the_kernels():
    pairs, (_, truth) = both('ascend')
    for (kineto, ascend), true in zip(pairs, truth['ranks']):
        found = defaultdict(list)
        for event in ascend.of['Overlap Analysis']:
            found[event['name']].append([event['begin_ns'], event['begin_ns'] + event['dur_ns']])
        kernels = [(row[0], row[0] + row[1], row[2]) for row in kineto.kernels()]
        equal(found['Computing'], covered([k[:2] for k in kernels if 'nccl' not in k[2]]))
        equal(found['Communication'], covered([k[:2] for k in kernels if 'nccl' in k[2]]))
        sums = {name: sum(b - a for a, b in rows) for name, rows in found.items()}
        # Between the first begin and the last end; the truth has copies too, in the one and the
        # other, which the vendor counts as free.
        span = max(k[1] for k in kernels) - min(k[0] for k in kernels)
        equal(sums['Communication(Not Overlapped)'], true['exposed_comm_ns'])
        equal(sums['Computing'] + sums['Communication(Not Overlapped)'] + sums['Free'], span)


def test_operations_of_a_group_have_its_number_and_their_own():
    found = defaultdict(dict)
    expected = defaultdict(dict)
    for kineto, ascend in both('ascend', seq=True)[0]:
        names = {e['args']['connection_id']: e['name'] for e in ascend.of['HCCL']}
        for event in kineto.of['kernel']:
            args = event['args']
            if 'Collective name' in args:
                message_of = (args.get('Dst Rank', kineto.rank), args.get('Src Rank', kineto.rank))
                ranks = args['Process Group Ranks'] if message_of[0] == message_of[1] else message_of
                key = (str(ranks), args['Collective name'] in ('send', 'recv'))
                name = re.fullmatch(r'hcom_(\w+)__(\d{3})_(\d+)_1', names[args['correlation']])
                expected[key].setdefault(name[2], set()).add(kineto.rank)
                found[name[2]].setdefault(int(name[3]), []).append(
                    (kineto.rank, HCCL[args['Collective name']], name[1]))
    for numbers in found.values():
        equal(sorted(numbers), list(range(len(numbers))), 'numbers of operations')
        for parts in numbers.values():
            equal([p[1] for p in parts], [p[2] for p in parts])
            holds(len({p[0] for p in parts}) == len(parts), parts)
    for key, groups in expected.items():
        equal(len(groups), 1, key)
    # tp: 4 pairs, dp: 4 pairs, neighbours in the pipeline: 4 pairs, and the whole job.
    equal(Counter(len({p[0] for parts in numbers.values() for p in parts})
                  for numbers in found.values()), {2: 12, 8: 1})


def test_synchronisations_are_the_calls_that_wait():
    pairs, _ = both('nsys', 4, fault='pageable')
    kinds = {'cudaDeviceSynchronize': 4, 'cudaStreamSynchronize': 3}
    for kineto, nsys in pairs:
        found = nsys.of_gpu('SYNCHRONIZATION', 'syncType, correlationId')
        expected = [(a, b, kinds[name], correlation)
                    for a, b, name, _, correlation in kineto.calls() if name in kinds]
        equal(sorted(found), expected)
        equal({kind for _, _, kind, _ in found}, {3, 4})


def test_short_names_are_the_functions():
    db = database('nsys/profile_rank_0.sqlite') if synth('nsys', format='nsys', ranks=1) else None
    names = dict(db.execute('select distinct d.value, s.value from CUPTI_ACTIVITY_KIND_KERNEL k '
                            'join StringIds d on d.id = k.demangledName '
                            'join StringIds s on s.id = k.shortName'))
    # Cut by hand from the names in the catalogue.
    for part, short in (('GeluCUDAKernelImpl', 'vectorized_elementwise_kernel'),
                        ('vectorized_layer_norm', 'vectorized_layer_norm_kernel'),
                        ('nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT',
                         'nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT'),
                        ('ncclDevKernel_AllReduce', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),
                        ('pytorch_flash::flash_fwd_kernel<', 'flash_fwd_kernel')):
        equal({names[name] for name in names if part in name}, {short}, part)


def tells_its_communication(**options):
    pairs, _ = both('nsys', 4, **options)
    users, members = defaultdict(set), defaultdict(dict)
    groups = {}
    for kineto, nsys in pairs:
        calls = {correlation: (begin, begin + dur, tid)
                 for begin, dur, _, tid, correlation in nsys.calls()}
        ranges = nsys.nccl()
        for _, _, function, payload, _ in ranges:
            if function == 'ncclCommInitRank':
                made = nsys.fields(payload)
                members[made['NCCL communicator ID']][made['Rank']] = kineto.rank
                equal(made['CUDA device'], kineto.rank % 4)
                groups.setdefault(made['NCCL communicator ID'], made['No. of ranks'])
                equal(groups[made['NCCL communicator ID']], made['No. of ranks'])
        peers = []
        for event in kineto.of['kernel']:
            args = event['args']
            if 'Collective name' not in args:
                continue
            begin, end, tid = calls[args['correlation']]
            around = [row for row in ranges
                      if row[0] <= begin and end <= row[1] and row[4] == tid]
            equal(len(around), 1, 'NCCL calls around a launch')
            function, fields = around[0][2], nsys.fields(around[0][3])
            equal(function, {'allreduce': 'ncclAllReduce', '_allgather_base': 'ncclAllGather',
                             '_reduce_scatter_base': 'ncclReduceScatter', 'send': 'ncclSend',
                             'broadcast': 'ncclBroadcast', 'recv': 'ncclRecv'}
                  [args['Collective name']])
            equal(fields['Message size [bytes]'], DTYPE_BYTES[args['dtype']]
                  * min(args['In msg nelems'], args['Out msg nelems']), function)
            users[fields['NCCL communicator ID']].add(kineto.rank)
            if 'Peer rank' in fields:
                peers.append((fields['NCCL communicator ID'], fields['Peer rank'],
                              args.get('Dst Rank', args.get('Src Rank'))))
            else:
                group = tuple(json.loads(args['Process Group Ranks']))
                users[fields['NCCL communicator ID'], 'group'].add(group)
        nsys.peers = peers
    # A communicator's members are the group that the Kineto form names, in order.
    for communicator, by_rank in members.items():
        equal(sorted(by_rank), list(range(groups[communicator])), 'ranks of a communicator')
        equal(users[communicator], set(by_rank.values()))
        if (communicator, 'group') in users:
            equal(users[communicator, 'group'], {tuple(by_rank[i] for i in sorted(by_rank))})
    for _, nsys in pairs:
        holds(nsys.peers, 'no message')
        for communicator, position, rank in nsys.peers:
            equal(members[communicator][position], rank, 'peer')
    # tp: 4 pairs, dp: 4 pairs, neighbours in the pipeline: 4 pairs, and the whole job.
    equal(Counter(groups.values()), {2: 12, 8: 1})


def test_nccl_calls_tell_communicator_bytes_and_peer_of_their_kernels():
    tells_its_communication()


def test_odd_sizes_are_whole_elements_in_both_forms():
    tells_its_communication(sequence_parallel=0, activation_bytes=1000001,
                            bytes_per_bucket=1000003)


def test_without_metadata_payloads_are_absent():
    pairs, _ = both('nsys', no_metadata=True)
    payloads = [row[3] for _, nsys in pairs for row in nsys.nccl()]
    holds(payloads, 'no NCCL call')
    equal(set(payloads), {None})


def test_the_truth_is_the_same_but_for_the_number_of_events():
    for form, rows_of in (('nsys', rows_of_nsys), ('xplane', rows_of_xplane),
                          ('ascend', rows_of_ascend)):
        pairs, (kineto, other) = both(form, 4)
        for (_, trace), true in zip(pairs, other['ranks']):
            equal(true['events'], rows_of(trace), f'{form}: events')
        for truth in (kineto, other):
            for true in truth['ranks']:
                del true['events']
        equal({k: v for k, v in other.items() if k != 'config'},
              {k: v for k, v in kineto.items() if k != 'config'}, form)


def rows_of_nsys(export):
    tables = ['KERNEL', 'MEMCPY', 'MEMSET', 'SYNCHRONIZATION']
    return (sum(len(export.of_gpu(table, '1')) for table in tables) + len(export.calls())
            + len(export.ranges()) + len(export.nccl()))


def rows_of_xplane(space):
    return len(list(space.of_host())) + sum(map(len, space.plane.lines.values()))


def rows_of_ascend(trace):
    return sum(len(rows) for name, rows in trace.of.items() if name != 'Overlap Analysis')


def test_sessions_have_their_own_begin_and_hosts_one_monotonic_clock():
    pairs, _ = both('nsys')
    hosts = defaultdict(set)
    for kineto, nsys in pairs:
        name, = nsys.db.execute("select value from TARGET_INFO_SYSTEM_ENV where name = 'Hostname'"
                                ).fetchone()
        equal(name, kineto.host)
        hosts[name].add(nsys.base - nsys.uptime)
        least, = nsys.db.execute('select min(start) from CUPTI_ACTIVITY_KIND_RUNTIME').fetchone()
        holds(1e9 <= least < 3e9, f'the first call is {least} ns into the session')
    equal(len({nsys.base for _, nsys in pairs}), 8, 'different begins')
    equal([len(clocks) for clocks in hosts.values()], [1, 1], 'clocks of a host')
    holds(hosts['host0'] != hosts['host1'], 'hosts started at once')


def test_the_rank_stands_in_the_environment_among_secrets():
    places = ('select value from META_DATA_CAPTURE where name like "%ENVIRONMENT%"',
              'select value from TARGET_INFO_SYSTEM_ENV where name = "DeviceEnvironment"')
    for per_file, path, mine in ((1, 'nsys/profile_rank_5.sqlite', ['RANK="5"']),
                                 (4, 'nsys/profile_rank_4.sqlite', [])):
        synth('nsys', format='nsys', ranks_per_file=per_file, **JOB)
        db = database(path)
        rows, (whole,) = ([value for value, in db.execute(sql)] for sql in places)
        equal([row for row in rows if re.match('RANK=', row)], mine)
        equal(re.findall(r'(?:^|;)RANK=\d+', whole), [';RANK=5'] if mine else [])
        for number in (1, 2, 3):
            secret = f'not-a-real-secret-{number}'
            equal(sum(secret in row for row in rows), 1)
            holds(secret in whole, secret)
        dump = '\n'.join(db.iterdump())
        equal(dump.count('not-a-real-secret'), 6, 'secrets outside of the environment')


def test_the_schema_is_that_of_a_real_export():
    folder = os.path.join(SHARED, 'traces', 'nsys')
    if not os.path.isdir(folder):
        raise Skip('no real exports here')
    synth('nsys', format='nsys', ranks=1, steps=1)
    ours = database('nsys/profile_rank_0.sqlite')
    real = [database(os.path.join(folder, name)) for name in
            ('mfu_2gpu_before.sqlite', 'h100_2gpu_1s.sqlite', 'perlmutter-cloverleaf-cuda.sqlite')]
    unknown = []
    for table, in ours.execute("select name from sqlite_master where type = 'table'").fetchall():
        info = f'pragma table_info({table})'
        theirs = next(filter(None, (db.execute(info).fetchall() for db in real)), None)
        if theirs:
            equal(ours.execute(info).fetchall(), theirs, table)
        else:
            unknown.append(table)
    # In no public file: known from the documentation.
    equal(unknown, ['TARGET_INFO_CUDA_DEVICE'])
    equal(ours.execute("select value from META_DATA_EXPORT where name = 'EXPORT_SCHEMA_VERSION'"
                       ).fetchall(), [('3.25.0',)])


def test_the_same_options_give_the_same_bytes():
    for form in ('nsys', 'xplane', 'ascend'):
        for folder in 'ab':
            synth(f'{form}-{folder}', format=form, **JOB)
        found = [sorted(glob.glob(f'{form}-{folder}/**/*.*', recursive=True)) for folder in 'ab']
        equal([len(names) for names in found], [{'nsys': 9, 'xplane': 3, 'ascend': 17}[form]] * 2)
        for one, other in zip(*found):
            same_bytes(one, other)


def test_a_file_that_cannot_be_written_is_named():
    os.makedirs('job/profile_rank_1.sqlite.tmp')
    done = run([SYNTH, '-o', 'job', '--format=nsys', '--ranks=2', '--steps=1']).expect(4)
    equal(done.err, "tmerge-synth: cannot write 'job/profile_rank_1.sqlite': "
                    'unable to open database file\n')
    equal(files('job'), ['profile_rank_0.sqlite', 'profile_rank_1.sqlite.tmp'])


def test_an_earlier_run_that_broke_off_is_written_over():
    synth('a', format='nsys', ranks=1, steps=1)
    os.makedirs('b')
    with open('b/profile_rank_0.sqlite.tmp', 'wb') as file:
        file.write(b'SQLite format 3\0' * 100)
    synth('b', format='nsys', ranks=1, steps=1)
    same_bytes('a/profile_rank_0.sqlite', 'b/profile_rank_0.sqlite')


def test_options_that_do_not_go_together_are_refused():
    for arguments, message in (
            (['--ranks-per-file=2'], '--ranks-per-file needs --format nsys'),
            (['--format=nsys', '--ranks-per-file=3'],
             '--ranks-per-file 3 does not divide --ranks-per-host 8'),
            (['--format=xplane', '--ranks-per-file=2'], '--ranks-per-file needs --format nsys'),
            (['--format=nsys', '--compress=zstd'], '--compress is not for --format nsys'),
            (['--format=ascend', '--target-gb=1'], '--target-gb is for --format kineto alone'),
            (['--format=xplane', '--graphs'],
             '--custom-all-reduce and --graphs are for --format kineto alone'),
            (['--format=csv'], "--format does not know the word 'csv' (kineto (PyTorch profiler, "
                               'JSON), nsys (Nsight Systems, sqlite), xplane (TensorFlow and JAX, '
                               'a file a host) or ascend (torch_npu, JSON))')):
        done = run([SYNTH, '-o', 'job', *arguments]).expect(2)
        equal(done.err, f'tmerge-synth: {message}\n')
    equal(files(), [])


main()
