"""XSpaces by hand: the protocol buffer written by profilers of TensorFlow and JAX."""
import collections
import json
import os
import struct

from common import BASE_NS, SHARED, Skip, put, tmerge
from varints import fields

PROFILES = os.path.join(SHARED, 'traces', 'xplane')


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(data):
    """Returns {field: [value, ...]} of a message: unsigned numbers, doubles or bytes."""
    found = collections.defaultdict(list)
    for number, wire, value in fields(data):
        found[number].append(struct.unpack('<d', value)[0] if wire == 1 else value)
    return found


class Plane:
    """lines: (id, name, timestamp_ns, [(name, offset_ps, duration_ps, {stat: value})]); shared:
    stats common to all events of a name, {name: {stat: value}}."""

    def __init__(self, name, lines=(), stats=None, shared=None):
        self.ids, self.names, shared = {}, {}, shared or {}
        for text, own in shared.items():
            self.number(self.names, text)
            for key in own:
                self.number(self.ids, key)
        body = b''.join(field(3, self.line(*line)) for line in lines)
        own = b''.join(field(6, self.stat(k, v)) for k, v in (stats or {}).items())
        self.bytes = field(2, name) + body
        for kind, known in ((4, self.names), (5, self.ids)):
            for text, number in known.items():
                value = field(1, number) + field(2, text)
                if kind == 4:
                    value += b''.join(field(5, self.stat(*s)) for s in shared.get(text, {}).items())
                self.bytes += field(kind, field(1, number) + field(2, value))
        self.bytes += own

    @staticmethod
    def number(known, text):
        return known.setdefault(text, len(known) + 1)

    def stat(self, key, value):
        kind = 4 if isinstance(value, int) else 6 if isinstance(value, bytes) else 5
        return field(1, self.number(self.ids, key)) + field(kind, value)

    def line(self, number, name, timestamp, events):
        body = field(1, number) + field(2, name) + field(3, timestamp)
        for text, offset, duration, stats in events:
            event = field(1, self.number(self.names, text)) + field(2, offset) + field(3, duration)
            event += b''.join(field(4, self.stat(k, v)) for k, v in stats.items())
            body += field(4, event)
        return body


def space(*planes, epoch=BASE_NS, host='node7', more=b''):
    task = [Plane('Task Environment', stats={'profile_start_time': epoch})] if epoch else []
    return b''.join(field(1, plane.bytes) for plane in (*planes, *task)) + more + field(4, host)


def mapped(folder):
    """Returns an independent program's results for the real profiles in a folder, by path."""
    path = os.path.join(SHARED, 'expected', 'xplane', 'mapped.json')
    if not os.path.isfile(path) or not os.path.isdir(os.path.join(PROFILES, folder)):
        raise Skip('the real profiles are not here')
    with open(path, encoding='utf-8') as file:
        found = json.load(file)['files']
    return {name: found[name] for name in sorted(found) if name.startswith(folder + '/')}


def merged_planes(name, *planes):
    """Merges a profile of some planes, NAME.xplane.pb; returns its store."""
    put(f'{name}.xplane.pb', space(*planes))
    tmerge(f'{name}.xplane.pb', '-o', f'{name}.h5', '--force').expect(0)
    return f'{name}.h5'


def gpu(events, number=0):
    """Returns a GPU whose only stream has these events."""
    return Plane(f'/device:GPU:{number}', [(1, 'Stream #1(Compute)', 0, events)])


def programs(protos):
    """Returns the plane of programs by their names with numbers."""
    return Plane('/host:metadata', shared={name: {'Hlo Proto': proto}
                                           for name, proto in protos.items()})
