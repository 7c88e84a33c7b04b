"""Reads what tmerge exports with Perfetto's own schema, from its Python package (peers.py): slices and
durations by rank and name are those of the store. The trace processor is not in that package.
"""
import subprocess
import sys
import zlib

import peers

VERSION = '0.59.1'
JOBS = ('nanogpt8', 'megatron2', 'made8')


def packets(data):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    for packet in Trace.FromString(data).packet:
        if packet.compressed_packets:
            yield from packets(zlib.decompress(packet.compressed_packets))
        else:
            yield packet


def theirs(path):
    with open(path, 'rb') as file:
        order = sorted(packets(file.read()), key=lambda packet: packet.timestamp)
    tracks, names = {}, {}
    for packet in order:
        if packet.HasField('track_descriptor'):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        names.update({(packet.trusted_packet_sequence_id, of.iid): of.name for of in packet.interned_data.event_names})

    def process(uuid):
        track = tracks[uuid]
        return track.process.pid - 1 if track.HasField('process') else process(track.parent_uuid)
    sums, open_slices = {}, {}
    for packet in order:
        event = packet.track_event
        if not packet.HasField('track_event') or tracks[event.track_uuid].name == 'steps':
            continue
        stack = open_slices.setdefault(event.track_uuid, [])
        if event.type in (event.TYPE_SLICE_BEGIN, event.TYPE_INSTANT):
            name = event.name or names[packet.trusted_packet_sequence_id, event.name_iid]
            of = sums.setdefault((process(event.track_uuid), name), [0, 0])
            of[0] += 1
            if event.type == event.TYPE_SLICE_BEGIN:
                stack.append((packet.timestamp, of))
        elif event.type == event.TYPE_SLICE_END:
            begin, of = stack.pop()
            of[1] += packet.timestamp - begin
    for at, (count, duration) in sums.items():
        yield 'slices', [*at], count
        yield 'duration', [*at], duration


def prepared(_):
    subprocess.run([peers.TMERGE, 'export', 'peer.h5', '-o', 'export.perfetto-trace', '--force'], check=True,
                   stdout=subprocess.DEVNULL)
    return [('', 'export.perfetto-trace')]


def ours(store):
    found = {}
    for row in peers.query(store, 'SELECT rank, name, count(*) AS n, sum(duration_ns) AS sum FROM events '
                           'GROUP BY rank, name'):
        found['slices', (row['rank'], row['name'])] = row['n']
        found['duration', (row['rank'], row['name'])] = row['sum']
    return found


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    peers.main('perfetto', VERSION, [f'perfetto=={VERSION}'], JOBS, ours, lambda _: {}, lambda *_: 0,
               prepared=prepared)
