"""Reads a Perfetto trace by way of protoc, an independent decoder, and perfetto.proto: tracks,
slices, instants, counters and flows, each checked against the rules of Perfetto."""
import collections
import os
import subprocess
import zlib

from common import content, equal, holds
from varints import varint

HERE = os.path.dirname(os.path.abspath(__file__))
PACKET, COMPRESSED = b'\x0a', 50
COMPRESSED_MAX = 512 * 1024  # "each compressed_packets TracePacket should be less than 512KB"
CLEARED, NEEDED = 1, 2

Slice = collections.namedtuple('Slice', 'begin end name category notes flows')


def plain(data):
    """The packets of a trace, those that were compressed in their places."""
    parts, at = [], 0
    while at < len(data):
        start = at
        equal(data[at:at + 1], PACKET, f'tag at byte {at}')
        size, at = varint(data, at + 1)
        tag, inside = varint(data, at)
        if tag >> 3 == COMPRESSED:
            n, inside = varint(data, inside)
            equal(inside + n, at + size, 'end of the compressed packets')
            holds(size + 10 < COMPRESSED_MAX, 'too many compressed packets at once')
            parts.append(zlib.decompress(data[inside:inside + n]))
        else:
            parts.append(data[start:at + size])
        at += size
    equal(at, len(data), 'end of the trace')
    return b''.join(parts)


def text_of(quoted):
    inside = quoted[1:-1]
    if '\\' not in inside:
        return inside
    return inside.encode('latin-1').decode('unicode_escape').encode('latin-1').decode('utf-8')


def scalar(word):
    if word.isdigit():
        return int(word)
    if word[0] == '"':
        return text_of(word)
    try:
        return float(word) if '.' in word or 'e' in word else int(word)
    except ValueError:
        return word


def messages(lines):
    """protoc's text as dicts of lists: {"packet": [{"timestamp": [1]}]}."""
    root = {}
    stack = [root]
    for line in lines:
        line = line.strip()
        if line == '}':
            stack.pop()
        elif line.endswith(' {'):
            inner = {}
            stack[-1].setdefault(line[:-2], []).append(inner)
            stack.append(inner)
        elif line:
            key, word = line.split(': ', 1)
            holds(not key.isdigit(), f'a field that perfetto.proto does not have: {line}')
            stack[-1].setdefault(key, []).append(scalar(word))
    equal(len(stack), 1, 'open messages')
    return root


def decode(path):
    done = subprocess.run(
        ['protoc', f'--proto_path={HERE}', '--decode=perfetto.Trace', 'perfetto.proto'],
        input=plain(content(path)), stdout=subprocess.PIPE, check=True)
    return messages(done.stdout.decode().splitlines())['packet']


def one(message, key, default=None):
    values = message.get(key, [default])
    equal(len(values), 1, key)
    return values[0]


class Sequence:
    """What the packets of a sequence have interned."""

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
        self.unit = one(one(descriptor, 'counter', {}), 'unit') if self.is_counter else None
        self.order = one(descriptor, 'child_ordering')


class Trace:
    """slices[track name of a rank]: in the order of the file; instants among them with no end."""

    def __init__(self, path):
        self.tracks, self.sequences, self.clocks = {}, {}, None
        self.events = []  # (timestamp, place in the file, event, sequence)
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
        """(pid, name) of a track: its lanes are one."""
        track = self.tracks[uuid]
        return one(self.tracks[track.parent].process, 'pid'), track.name

    def play(self):
        """As Perfetto does: by time, then by place in the file; an end is that of the innermost
        open slice of its track."""
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
