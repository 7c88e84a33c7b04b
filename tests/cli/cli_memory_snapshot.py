"""tmerge analyze --memory-snapshot: snapshots of PyTorch's allocator, whose code is never run, and
exported memory timelines."""
import gzip
import json
import os
import pickle
import pickletools

from common import (SHARED, Skip, contains, equal, lacks, main, merged, put, rows, seldom,
                    small_trace, tables, tmerge)

OWN = [{'filename': '/opt/site-packages/torch/nn/modules/linear.py', 'line': 114, 'name': 'forward'},
       {'filename': 'train.py', 'line': 12, 'name': 'step'}]
FOREIGN = [{'filename': '??', 'line': 0, 'name': 'at::empty'}]


def block(size, requested, state, frames=()):
    return {'address': 1, 'size': size, 'requested_size': requested, 'state': state,
            'frames': list(frames)}


def entry(action, size, frames=OWN):
    return {'action': action, 'addr': 7, 'size': size, 'stream': 0, 'time_us': 1, 'frames': frames}


# As returned by torch.cuda.memory._snapshot(), with every possible type of value.
SNAPSHOT = {
    'segments': [
        {'device': 0, 'address': 4096, 'total_size': 2097152, 'segment_pool_id': (0, 0),
         'is_expandable': False, 'frames': OWN,
         'blocks': [block(1024, 1000, 'active_allocated', OWN),
                    block(512, 400, 'active_allocated', FOREIGN),
                    block(512, 512, 'active_pending_free', OWN),
                    block(2095104, 0, 'inactive')]},
        {'device': 0, 'address': 1 << 40, 'total_size': 20971520,
         'blocks': [block(10485760, 10485760, 'active_allocated', OWN),
                    block(10485760, 0, 'inactive')]},
        {'device': 1, 'total_size': 2097152, 'blocks': [block(2097152, 0, 'inactive')]}],
    'device_traces': [[entry('alloc', 3000), entry('free_requested', 3000), entry('oom', 99),
                       entry('alloc', 512, FOREIGN)], []],
    'allocator_settings': {'max_split_size': -1, 'garbage_collection_threshold': 0.5,
                           'expandable_segments': True, 'none': None, 'low': -(1 << 40), 'one': (1,),
                           'two': (1, 2), 'three': (1, 2, 3), 'four': (1, 2, 3, 4), 'no': (),
                           'short': 300, 'word': 70000, 'text': 'x' * 300}}


def analyzed(path):
    if not os.path.exists('job.h5'):
        put('a.json', small_trace(0))
        merged('a.json', '-o', 'job.h5')
    return tmerge('analyze', 'job.h5', '-o', 'out.h5', '--force', '-q', f'--memory-snapshot={path}')


def timeline():
    return rows('out.h5', 'memory.timeline')


def refused(path, *parts):
    done = analyzed(path).expect(3)
    for part in (path, *parts):
        contains(done.err, part)
    lacks(done.err, 'Traceback')


def test_a_snapshot_is_read_in_every_protocol_that_writers_use():
    # By hand: 1024 + 512 + 10485760 of 2097152 + 20971520 are in use, 1000 + 400 + 10485760 were
    # requested; backwards from 10487296 the trace has 10487296 - 512 and then 3000 more.
    for protocol in (2, 3, 4, 5):
        put('s.pickle', pickle.dumps(SNAPSHOT, protocol))
        analyzed('s.pickle').expect(0)
        found = tables('out.h5', 'memory.snapshot', 'memory.site')
        # file, device, segments, reserved, blocks, allocated, requested, pending, free, per cent
        # free, largest free, entries, peak, out of memory
        equal([tuple(row.values()) for row in found['memory.snapshot']],
              [('s.pickle', 0, 2, 23068672, 3, 10487296, 10487160, 512, 12580864,
                100 * 12580864 / 23068672, 10485760, 4, 10489784, 1),
               ('s.pickle', 1, 1, 2097152, 0, 0, 0, 0, 2097152, 100.0, 2097152, 0, None, 0)], protocol)
        equal([(r['device'], r['place'], r['site'], r['blocks'], r['bytes'], r['requested_bytes'])
               for r in found['memory.site']],
              [(0, 1, 'train.py:12 step', 2, 10486784, 10486760), (0, 2, '??:0 at::empty', 1, 512, 400)])


class Hostile:
    """Runs a command when unpickled."""

    def __reduce__(self):
        return os.system, ('touch ran',)


class Slots:
    """Unpickled without calling its constructor, then given a state."""
    __slots__ = ('x',)

    def __init__(self):
        self.x = 1


class Persistent(pickle.Pickler):
    def persistent_id(self, obj):
        return 'me' if isinstance(obj, Hostile) else None


def persistent(protocol):
    put('p.pickle', b'')
    with open('p.pickle', 'wb') as out:
        Persistent(out, protocol).dump({'segments': [Hostile()]})
    with open('p.pickle', 'rb') as made:
        return made.read()


# All opcodes that plain data need, in any protocol.
PLAIN = {'PROTO', 'FRAME', 'STOP', 'MARK', 'NONE', 'NEWTRUE', 'NEWFALSE', 'BININT', 'BININT1', 'BININT2',
         'LONG1', 'BINFLOAT', 'SHORT_BINUNICODE', 'BINUNICODE', 'BINUNICODE8', 'EMPTY_LIST', 'APPEND',
         'APPENDS', 'EMPTY_TUPLE', 'TUPLE', 'TUPLE1', 'TUPLE2', 'TUPLE3', 'EMPTY_DICT', 'SETITEM',
         'SETITEMS', 'BINGET', 'LONG_BINGET', 'BINPUT', 'LONG_BINPUT', 'MEMOIZE'}


def test_a_hostile_pickle_is_refused_in_all_protocols_and_runs_nothing():
    for protocol in range(6):
        made = [pickle.dumps({**SNAPSHOT, 'x': Hostile()}, protocol),
                pickle.dumps(Hostile(), protocol), persistent(protocol)]
        if protocol > 1:
            made.append(pickle.dumps({'segments': [Slots()]}, protocol))
        for data in made:
            put('h.pickle', data)
            # First instruction for Python's disassembler that plain data do not need.
            at = next(place for opcode, _, place in pickletools.genops(data)
                      if opcode.name not in PLAIN)
            refused('h.pickle', f'byte {at}:')
            equal(os.path.exists('ran'), False, protocol)
    code = {'GLOBAL': b'cos\nsystem\n.', 'STACK_GLOBAL': b'\x80\x04\x8c\x02os\x8c\x06system\x93.',
            'INST': b'(ios\nsystem\n.', 'OBJ': b'(o.', 'NEWOBJ': b'\x80\x02)\x81.',
            'NEWOBJ_EX': b'\x80\x04)}\x92.', 'REDUCE': b'))R.', 'BUILD': b'})b.',
            'EXT1': b'\x80\x02\x82\x01.', 'EXT2': b'\x80\x02\x83\x01\x00.',
            'EXT4': b'\x80\x02\x84\x01\x00\x00\x00.', 'PERSID': b'Pme\n.', 'BINPERSID': b')Q.'}
    for name, data in code.items():
        put('h.pickle', data)
        refused('h.pickle', f'calls code ({name})')


@seldom
def test_a_damaged_pickle_is_refused_with_its_place():
    cases = (
        (b'\x80\x06}.', 0, 'protocol of this pickle is unknown'),
        (b'\x80\x04\x8d' + b'\xff' * 8, 2, 'the file ends inside'),  # a text of 2^64 bytes
        (b'\x80\x02X\x00\x00\x00\x7fab', 2, 'the file ends inside'),
        (b'\x80\x02\x8a\x09' + b'\x01' * 9 + b'.', 2, 'more than 64 bits'),
        (b'\x80\x02}h\x07.', 3, 'has no value'),
        (b'\x80\x02}r\x00\x00\x00\x70.', 3, 'memo index'),
        (b'\x80\x02e.', 2, 'has no mark'),
        (b'\x80\x02(K\x01e.', 5, 'to go into'),
        (b'\x80\x02}K\x01a.', 5, 'do not fit'),
        (b'\x80\x02}(K\x01u.', 6, 'do not fit'),
        (b'\x80\x02\x85.', 2, 'than the stack'),
        (b'\x80\x02}(.', 4, 'exactly one value'),
        (b'\x80\x02}}.', 4, 'exactly one value'),
        (b'\x80\x02}.x', 4, 'follows the pickle'),
        (b'\x80\x02}', 3, 'the file ends inside'),
        (b'\xff', 0, '0xff'),
    )
    for data, at, why in cases:
        put('d.pickle', data)
        refused('d.pickle', f'byte {at}: ', why)
    for data in (pickle.dumps({}), pickle.dumps([1]), pickle.dumps({'segments': 7})):
        put('d.pickle', data)
        refused('d.pickle', 'no list of segments')
    # A list that contains itself, and one whose items are not dicts, are odd but harmless.
    loop = []
    loop.append(loop)
    put('d.pickle', pickle.dumps({'segments': [1, loop, {'blocks': loop, 'device': 'x'}]}))
    analyzed('d.pickle').expect(0)


EXPECTED = {'parameter': 102440608, 'optimizer_state': 102228128, 'input': 19395584, 'temporary': 0,
            'activation': 2592465920, 'gradient': 67858432, 'autograd_detail': 64225280,
            'unknown': 134218152}


def test_an_exported_timeline_has_its_categories_at_the_peak():
    # ResNet-50 with SGD and momentum: the optimizer keeps 4 bytes for each of 25,557,032
    # parameters; 53,120 running statistics of batch norm count as parameters, too. The peak is
    # 3,082,832,104.
    path = os.path.join(SHARED, 'traces', 'memory', 'memory_timeline.raw.gz')
    if not os.path.exists(path):
        raise Skip('there are no real traces beside the project')
    analyzed(path).expect(0)
    equal({r['category']: r['peak_bytes'] for r in timeline()}, EXPECTED)
    equal(sum(EXPECTED.values()), 3082832104)
    equal({(r['peak_time_ns'], r['records']) for r in timeline()}, {(1696966047194486198, 16845)})
    with gzip.open(path) as raw:
        records = json.load(raw)
    # The same as sizes over time, as in a .json file.
    times, sizes, now = [], [], [0] * 9
    for time, _, size, category in records:
        now[category + 1] += size
        times.append(max(time, records[645][0]) / 1000)
        sizes.append(list(now))
    put('sizes.json', json.dumps([times, sizes]).encode())
    analyzed('sizes.json').expect(0)
    equal({r['category']: r['peak_bytes'] for r in timeline()}, EXPECTED)


@seldom
def test_small_timelines_are_reported_by_their_shape():
    cases = (
        ([[-1, 1, 100, 0], [5000, 2, 7, 4], [6000, 4, -7, 4]], (100, 7), 5000, 3),
        ([[-1, 1, 100, 0]], (100, 0), None, 1),
        # an increment moves size from one category to another
        ([[-1, 1, 100, 7], [5, 3, -100, 7], [5, 3, 100, 0]], (0, 0), None, 3),
        ([[1.5, 2, 3, 4], [[0, 1, 0, 0, 0, 2, 0, 0, 0], [0, 1, 0, 0, 0, 9, 0, 0, 0],
                           [0, 2, 0, 0, 0, 2, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]], (1, 9), 2000, 4),
    )
    for document, (parameter, activation), at, records in cases:
        put('t.json', json.dumps(document).encode())
        analyzed('t.json').expect(0)
        found = {r['category']: r for r in timeline()}
        equal((found['parameter']['peak_bytes'], *(found['activation'][name] for name in (
            'peak_bytes', 'peak_time_ns', 'records'))), (parameter, activation, at, records), document)
    for text, why in (('[]', 'has no records'), ('[[1, 2, 3]]', 'ends here is not'), ('[[1,2,3,8]]', 'ends here is not'),
                      ('[[1,2,3,4],[[0]]]', '9 sizes'), ('[[1],[[0,0,0,0,0,0,0,0,0]],[1]]', 'row for each time'),
                      ('[[1,1],[[0,0,0,0,0,0,0,0,0]]]', 'one row for each time'), ('[[1,1,1,1]', 'ends inside'),
                      ('[["a",1,1,1]]', 'a number'), ('<html>', 'a picture'), ('{"a": 1}', '0x7b')):
        put('t.json', text.encode())
        refused('t.json', why)


main()
