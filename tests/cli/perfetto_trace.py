"""Reads a Perfetto trace: tracks, slices, instants, counters and flows, each checked against
Perfetto's rules."""
import collections
import struct
import zlib

from common import content, equal, holds
from varints import fields

# Messages that tmerge writes, with the field numbers of Perfetto's reference of trace packets
# (perfetto.dev, docs/reference/trace-packet-proto) and their encoding: U is an unsigned number, I a
# signed one; words are an enumeration from 0 on.
U, I, FIXED, REAL, TEXT, BYTES = 'U', 'I', 'FIXED', 'REAL', 'TEXT', 'BYTES'
WIRE = {U: 0, I: 0, FIXED: 1, REAL: 1}
INTERNED = {1: ('iid', U), 2: ('name', TEXT)}
NOTE = {1: ('name_iid', U), 4: ('int_value', I), 5: ('double_value', REAL), 6: ('string_value', TEXT)}
NOTE[12] = ('array_values', NOTE)
EVENT = {3: ('category_iids', U), 4: ('debug_annotations', NOTE), 10: ('name_iid', U),
         9: ('type', ('TYPE_UNSPECIFIED', 'TYPE_SLICE_BEGIN', 'TYPE_SLICE_END', 'TYPE_INSTANT',
                      'TYPE_COUNTER')), 11: ('track_uuid', U), 23: ('name', TEXT),
         30: ('counter_value', I), 44: ('double_counter_value', REAL), 47: ('flow_ids', FIXED),
         48: ('terminating_flow_ids', FIXED)}
TRACK = {1: ('uuid', U), 5: ('parent_uuid', U), 2: ('name', TEXT),
         3: ('process', {1: ('pid', I), 6: ('process_name', TEXT), 8: ('process_labels', TEXT)}),
         8: ('counter', {3: ('unit', ('UNIT_UNSPECIFIED', 'UNIT_TIME_NS', 'UNIT_COUNT',
                                      'UNIT_SIZE_BYTES'))}),
         11: ('child_ordering', ('UNKNOWN', 'LEXICOGRAPHIC', 'CHRONOLOGICAL', 'EXPLICIT')),
         12: ('sibling_order_rank', I),
         19: ('process_ordering', ('PROCESS_ORDERING_UNSPECIFIED', 'PROCESS_ORDERING_EXPLICIT'))}
# Fields for tmerge itself (src/base/export_mark.h), which Perfetto ignores.
TRACK.update({n: (f'tmerge_{n}', TEXT if n in (9002, 9003, 9004, 9005, 9006, 9009, 9010) else I)
              for n in range(9001, 9011)})
PACKET = {8: ('timestamp', U), 58: ('timestamp_clock_id', U), 10: ('trusted_packet_sequence_id', U),
          13: ('sequence_flags', U), 87: ('first_packet_on_sequence', U), 50: ('compressed', BYTES),
          6: ('clock_snapshot', {1: ('clocks', {1: ('clock_id', U), 2: ('timestamp', U)}),
                                 2: ('primary_trace_clock', U)}),
          11: ('track_event', EVENT), 60: ('track_descriptor', TRACK),
          12: ('interned_data', {1: ('event_categories', INTERNED), 2: ('event_names', INTERNED),
                                 3: ('debug_annotation_names', INTERNED)}),
          59: ('trace_packet_defaults', {58: ('timestamp_clock_id', U)})}
COMPRESSED_MAX = 512 * 1024  # "each compressed_packets TracePacket should be less than 512KB"
CLEARED, NEEDED = 1, 2

Slice = collections.namedtuple('Slice', 'begin end name category notes flows')


def value_as(kind, value):
    if isinstance(kind, dict):
        return decoded(value, kind)
    if isinstance(kind, tuple):
        return kind[value]
    if kind == I:
        return value - (value >> 63 << 64)
    if kind == FIXED:
        return int.from_bytes(value, 'little')
    return (struct.unpack('<d', value)[0] if kind == REAL else
            value.decode() if kind == TEXT else value)


def decoded(data, known):
    """Decodes a message to lists of values by field name: {"timestamp": [1]}."""
    found = {}
    for number, wire, value in fields(data):
        if number not in known:
            raise AssertionError(f'a field {number}, which is none of {known}')
        name, kind = known[number]
        if wire != (WIRE.get(kind, 2) if isinstance(kind, str) else 2 * isinstance(kind, dict)):
            raise AssertionError(f'{name} is encoded as {wire}')
        found.setdefault(name, []).append(value_as(kind, value))
    return found


def packets(data):
    """Yields the packets of a trace, with compressed ones expanded in place."""
    for packet in decoded(data, {1: ('packet', PACKET)}).get('packet', []):
        if 'compressed' in packet:
            equal(list(packet), ['compressed'], 'fields beside compressed packets')
            holds(len(packet['compressed'][0]) + 20 < COMPRESSED_MAX, 'too many at once')
            yield from packets(zlib.decompress(packet['compressed'][0]))
        else:
            yield packet


def decode(path):
    return list(packets(content(path)))


def one(message, key, default=None):
    values = message.get(key, [default])
    equal(len(values), 1, key)
    return values[0]


class Sequence:
    """Strings interned by the packets of a sequence."""

    def __init__(self):
        self.tables = {'event_categories': {}, 'event_names': {}, 'debug_annotation_names': {}}
        self.clock = None

    def learn(self, packet):
        for table, entries in one(packet, 'interned_data', {}).items():
            for entry in entries:
                iid = one(entry, 'iid')
                holds(iid > 0 and iid not in self.tables[table], f'iid {iid} of {table}')
                self.tables[table][iid] = one(entry, 'name', '')


def value_of(note):
    for key in ('int_value', 'double_value', 'string_value'):
        if key in note:
            return one(note, key)
    return [value_of(part) for part in note['array_values']]


class Track:
    def __init__(self, descriptor):
        self.id, self.parent = one(descriptor, 'uuid'), one(descriptor, 'parent_uuid')
        self.name, self.place = one(descriptor, 'name'), one(descriptor, 'sibling_order_rank', 0)
        self.process = one(descriptor, 'process')
        self.is_counter = 'counter' in descriptor
        self.order = one(descriptor, 'child_ordering')


class Trace:
    """slices[track name of a rank]: in file order; instants among them have no end."""

    def __init__(self, path):
        self.tracks, self.sequences, self.clocks = {}, {}, None
        self.events = []  # (timestamp, index in the file, event, sequence)
        for place, packet in enumerate(decode(path)):
            self.take(place, packet)
        self.items = collections.defaultdict(list)
        self.values = collections.defaultdict(list)
        self.play()

    def take(self, place, packet):
        number = one(packet, 'trusted_packet_sequence_id')
        flags = one(packet, 'sequence_flags', 0)
        if flags & CLEARED:
            self.sequences[number] = Sequence()
            self.sequences[number].clock = one(packet['trace_packet_defaults'][0],
                                               'timestamp_clock_id')
        if 'clock_snapshot' in packet:
            snapshot = packet['clock_snapshot'][0]
            self.clocks = {one(c, 'clock_id'): one(c, 'timestamp') for c in snapshot['clocks']}
            self.primary = one(snapshot, 'primary_trace_clock')
        if 'interned_data' in packet:
            self.sequences[number].learn(packet)
        if 'track_descriptor' in packet:
            if one(one(packet, 'track_descriptor'), 'uuid') == 0:  # the root of all tracks
                self.process_order = one(packet['track_descriptor'][0], 'process_ordering')
                return
            track = Track(one(packet, 'track_descriptor'))
            holds(track.id > 0 and track.id not in self.tracks, f'track {track.id} twice')
            holds(track.parent is None or track.parent in self.tracks, f'parent {track.parent}')
            self.tracks[track.id] = track
        if 'track_event' in packet:
            event = one(packet, 'track_event')
            holds(one(event, 'track_uuid') in self.tracks, 'an event before its track')
            holds(one(event, 'type') == 'TYPE_SLICE_END' or flags & NEEDED, 'state is needed')
            self.events.append((one(packet, 'timestamp'), place, event, self.sequences[number]))

    def key(self, uuid):
        """(pid, name) of a track: its sub-tracks share one key."""
        track = self.tracks[uuid]
        return one(self.tracks[track.parent].process, 'pid'), track.name

    def play(self):
        """Replays events like Perfetto: by time, then by index in the file; an end closes the
        innermost open slice of its track."""
        open_slices = collections.defaultdict(list)
        found = []
        for time, place, event, sequence in sorted(self.events, key=lambda e: e[:2]):
            uuid, kind = one(event, 'track_uuid'), one(event, 'type')
            equal(kind == 'TYPE_COUNTER', self.tracks[uuid].is_counter, 'events of a counter track')
            if kind == 'TYPE_COUNTER':
                value = event.get('counter_value', event.get('double_counter_value'))[0]
                self.values[self.key(uuid)].append((time, value))
            elif kind == 'TYPE_SLICE_END':
                holds(open_slices[uuid], f'an end without a begin at {time}')
                found.append((open_slices[uuid].pop(), time))
            else:
                entry = (place, uuid, time, event, sequence)
                if kind == 'TYPE_SLICE_BEGIN':
                    open_slices[uuid].append(entry)
                else:
                    found.append((entry, None))
        holds(not any(open_slices.values()), 'slices without an end')
        for (_, uuid, time, event, sequence), end in sorted(found, key=lambda f: f[0][0]):
            self.items[self.key(uuid)].append(self.item(event, sequence, time, end))

    @staticmethod
    def item(event, sequence, begin, end):
        names, tables = sequence.tables['debug_annotation_names'], sequence.tables
        name = one(event, 'name') if 'name' in event else (
            tables['event_names'][one(event, 'name_iid')] if 'name_iid' in event else '')
        category = [tables['event_categories'][iid] for iid in event.get('category_iids', [])]
        notes = {names[one(n, 'name_iid')]: value_of(n) for n in event.get('debug_annotations', [])}
        return Slice(begin, end, name, category[0] if category else None, notes,
                     frozenset(event.get('flow_ids', [])))
