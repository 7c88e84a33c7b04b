"""Converts Kineto's JSON to a Perfetto trace, as PyTorch writes it to files named .pftrace
(torch/csrc/profiler/cupti/monitor_pftrace.cpp and the code that fills its columns)."""
import collections
import json
import struct
from decimal import Decimal


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def real(field, value):
    return varint(field << 3 | 1) + struct.pack('<d', value)


def block(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def packet(*parts):
    return block(1, b''.join(parts))


BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDED = number(13, 1), number(13, 2)
SEQUENCE = number(10, 1)


def value(of):
    """Encodes the value of a debug annotation."""
    if isinstance(of, dict):
        return b''.join(block(11, block(10, key) + value(v)) for key, v in of.items())
    if isinstance(of, list):
        return b''.join(block(12, value(v)) for v in of)
    if isinstance(of, bool):
        return number(2, of)
    if isinstance(of, int):
        return number(4, of)
    if isinstance(of, (float, Decimal)):
        return real(5, float(of))
    return block(6, 'null' if of is None else of)


class Interned(dict):
    def __missing__(self, text):
        self[text] = len(self) + 1
        return self[text]


def of(document, stages=False, grouped=True):
    """Returns the trace of a document that was read with times as Decimal. stages: as written since
    GPUs have render stages, with categories and a clock; else as at first, without them. grouped:
    all begins of a kind are written before their ends, as PyTorch does."""
    base = int(document.get('baseTimeNanoseconds', 0))
    names, categories, tracks, processes, threads = Interned(), Interned(), Interned(), {}, {}
    groups, gpu = collections.defaultdict(list), []
    for e in document['traceEvents']:
        if e['ph'] == 'M' and e['name'] == 'process_name':
            processes[e['pid']] = e['args']['name']
        elif e['ph'] == 'M' and e['name'] == 'thread_name':
            threads[e['pid'], e['tid']] = e['args']['name']
        elif e['ph'] == 'X' and e.get('cat') != 'Trace':
            begin = base + int(e['ts'] * 1000)
            row = begin, begin + int(e['dur'] * 1000), e
            on_gpu = e['cat'] in STAGES
            (gpu if stages and on_gpu else groups[e['cat'] if on_gpu else '']).append(row)
    out, events = [], []
    if stages:
        clock = b''.join(block(1, number(1, id) + number(2, base)) for id in (6, 1))
        out.append(packet(number(8, base), SEQUENCE, block(6, clock)))
    for rows in groups.values():
        begins, ends = [], []
        for begin, end, e in rows:
            track = number(11, tracks[e['pid'], e['tid']])
            event = number(9, BEGIN) + track + number(10, names[e['name']])
            if stages:
                event += number(3, categories[e['cat']])
            event += b''.join(block(4, block(10, key) + value(v)) for key, v in e.get('args', {}).items())
            begins.append((begin, packet(number(8, begin), SEQUENCE, NEEDED, block(11, event))))
            ends.append((end, packet(number(8, end), SEQUENCE, block(11, number(9, END) + track))))
        events += begins + ends
    specs, queues = list(enumerate(dict.fromkeys(STAGES.values()), 1)), Interned()
    kinds = {kind: i for i, kind in specs}
    arguments = {'registers per thread': 1, 'shared memory': 2}
    for begin, end, e in gpu:
        args, launch = dict(e.get('args', {})), b''
        queue = 100 + queues[f'[{int(e["tid"]):05}] stream {e["tid"]}']
        if 'grid' in args:
            for field, key in (1, 'grid'), (2, 'block'):
                launch += block(field, b''.join(number(i, n) for i, n in enumerate(args.pop(key), 1)))
            for key, i in arguments.items():
                launch += block(3, number(1, i) + number(4, args.pop(key))) if key in args else b''
            launch = block(21, launch)
        device = args.pop('device', e['pid'])
        extra = [('device id', device)] + [(key + ' id' if key in ('stream', 'context') else key, v)
                                           for key, v in args.items()]
        stage = number(2, end - begin) + number(11, device) + number(13, queue)
        stage += number(14, kinds[STAGES[e['cat']]]) + number(5, 1)
        stage += number(20, names[e['name']]) + launch
        stage += b''.join(block(6, block(1, key) + block(2, json.dumps(v) if isinstance(v, list) else str(v)))
                          for key, v in extra)
        events.append((begin, packet(number(8, begin), SEQUENCE, NEEDED, block(53, stage))))
    interned = b''.join(block(2, number(1, i) + block(2, name)) for name, i in names.items())
    interned += b''.join(block(1, number(1, i) + block(2, name)) for name, i in categories.items())
    for i, name in specs + [(100 + i, name) for name, i in queues.items()]:
        interned += block(24, number(1, i) + block(2, name))
    for name, i in ('registers_per_thread', 1), ('shared_mem_dynamic', 2):
        interned += block(1001, number(1, i) + block(2, name))
    parents = Interned()
    for (pid, tid), id in tracks.items():
        if pid not in parents:
            process = number(1, pid) + block(6, processes.get(pid, str(pid)))
            out.append(packet(block(60, number(1, 1000 + parents[pid]) + block(3, process))))
        thread = number(1, pid) + number(2, tid) + block(5, threads.get((pid, tid), str(tid)))
        out.append(packet(block(60, number(1, id) + number(5, 1000 + parents[pid]) + block(4, thread))))
    out.append(packet(SEQUENCE, CLEARED, block(12, interned)))
    if not grouped:  # as by a writer that records events as they happen
        events.sort(key=lambda event: event[0])
    return b''.join(out + [data for _, data in events])


STAGES = {'kernel': 'Kernel', 'gpu_memcpy': 'Memcpy', 'gpu_memset': 'Memset',
          'gpu_user_annotation': 'Annotation'}


def read(text):
    """Reads Kineto's JSON with exact times."""
    return json.loads(text, parse_float=Decimal)
