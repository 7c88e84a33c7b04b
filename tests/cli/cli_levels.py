"""The store's levels: each row worked out again from the store's events, by other means."""
import os

import h5py
import numpy

from common import equal, has_line, holds, main, merged, rows, seal, synth, tmerge

HOST = ('cpu_op', 'cuda_runtime', 'cuda_driver')


def union(intervals):
    """Disjoint, ascending, none empty."""
    out = []
    for begin, end in sorted(intervals):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        elif end > begin:
            out.append([begin, end])
    return out


def minus(of, taken):
    """Two unions: what of the first is not in the second."""
    out = []
    for begin, end in of:
        for low, high in taken:
            if high > begin and low < end:
                if low > begin:
                    out.append([begin, low])
                begin = max(begin, high)
        if begin < end:
            out.append([begin, end])
    return out


def rank_events(store, i):
    """(begin on the job's clock, duration, what it is, wait) of a rank's events."""
    ranks, clock, events = store['ranks'], store['clock'], store['events']
    first, n = int(ranks['first_event'][i]), int(ranks['n_events'][i])
    recorded = events['begin_ns'][first:first + n]
    drift = (recorded - clock['middle_ns'][i]).astype(float) * (clock['drift_ppb'][i] * 1e-9)
    # to the nearest, half away from zero
    begins = recorded + clock['offset_ns'][i] + (
        numpy.sign(drift) * numpy.floor(numpy.abs(drift) + 0.5)).astype(numpy.int64)
    roles = {v: k for k, v in h5py.check_enum_dtype(events['role'].dtype).items()}
    categories = {v: k for k, v in h5py.check_enum_dtype(events['category'].dtype).items()}
    waits = dict(zip(store['collective_events/event'][()].tolist(),
                     store['collective_events/wait_ns'][()].tolist()))
    found = []
    for k in range(n):
        what = roles[int(events['role'][first + k])]
        if what == 'none' and events['kind'][first + k] == 0:
            what = categories[int(events['category'][first + k])]
        found.append((int(begins[k]), int(events['duration_ns'][first + k]), what,
                      waits.get(first + k, -1)))
    return found


def lanes_of(events):
    """Of each lane its busy time as disjoint intervals, and (begin, length) of its events."""
    busy = {lane: [] for lane in ('compute', 'memory', 'communication', 'wait', 'transfer', 'host')}
    counted = {lane: [] for lane in ('compute', 'copies', 'wait', 'transfer', 'unmatched', 'host')}
    for begin, length, what, wait in events:
        own = 'host' if what in HOST else what
        if own not in busy:
            continue
        busy[own].append((begin, begin + length))
        if own != 'communication':
            counted['copies' if own == 'memory' else own].append((begin, length))
        elif wait < 0:
            counted['unmatched'].append((begin, length))
        else:
            wait = min(wait, length)
            busy['wait'].append((begin, begin + wait))
            busy['transfer'].append((begin + wait, begin + length))
            counted['transfer'].append((begin, length - wait))
            if wait > 0:
                counted['wait'].append((begin, wait))
    sets = {lane: union(intervals) for lane, intervals in busy.items()}
    return counted, {
        'compute': sets['compute'], 'copies': minus(sets['memory'], sets['compute']),
        'transfer': sets['transfer'], 'wait': minus(sets['wait'], sets['transfer']),
        'unmatched': minus(minus(sets['communication'], sets['wait']), sets['transfer']),
        'host': sets['host']}


def expected_rows(counted, busy, level):
    """{(lane, begin): [busy, events, longest]} of one level."""
    out, width = {}, 1 << level
    for lane in busy:
        for begin, end in busy[lane]:
            while begin < end:
                edge = (begin // width + 1) * width
                row = out.setdefault((lane, begin // width * width), [0, 0, 0])
                row[0] += min(end, edge) - begin
                begin = min(end, edge)
        for begin, length in counted[lane]:
            row = out.setdefault((lane, begin // width * width), [0, 0, 0])
            row[1] += 1
            row[2] = max(row[2], length)
    return out


def check_store(path):
    with h5py.File(path) as store:
        levels = {name: column[()] for name, column in store['levels'].items()}
        words = {v: k for k, v in h5py.check_enum_dtype(store['levels/lane'].dtype).items()}
        for i, rank in enumerate(store['ranks/rank'][()].tolist()):
            events = rank_events(store, i)
            counted, busy = lanes_of(events)
            own = levels['rank'] == rank
            found = sorted(set(levels['level'][own].tolist()))
            equal(found, list(range(found[0], found[-1] + 1)), f'levels of rank {rank}')
            finest = int((levels['level'][own] == found[0]).sum())
            holds(finest <= len(events) / 12 + 1, f'{finest} rows of {len(events)} events')
            for level in found:
                at = numpy.flatnonzero(own & (levels['level'] == level))
                table = {(words[int(levels['lane'][r])], int(levels['begin_ns'][r])):
                         [int(levels[name][r]) for name in ('busy_ns', 'events', 'longest_ns')]
                         for r in at}
                equal(len(table), len(at), 'rows that are different')
                equal(table, expected_rows(counted, busy, level), f'rank {rank}, level {level}')
        for row in rows(path, 'overlap.rank'):
            own = (levels['rank'] == row['rank']) & (levels['lane'] == 0)
            top = own & (levels['level'] == levels['level'][own].max())
            equal(int(levels['busy_ns'][top].sum()), row['compute_ns'], 'compute')
        return sum(each.id.get_storage_size() for each in store['levels'].values())


def test_levels_sum_to_the_events():
    synth('hosts', ranks=6, ranks_per_host=2, steps=5, offset_us=2000, drift_ppb=800, cpu_ops=2)
    merged('hosts', '-o', 'hosts.h5', n=3)
    bytes_of = check_store('hosts.h5')
    size = os.path.getsize('hosts.h5')
    holds(bytes_of <= 0.05 * size, f'{bytes_of} of {size} bytes')
    tmerge('analyze', 'hosts.h5', '-o', 'again.h5', '--align=none').expect(0)
    check_store('again.h5')


def test_levels_that_do_not_sum_to_the_events_are_found():
    synth('job', ranks=2, steps=2)
    merged('job', '--no-compress')
    tmerge('check', 'tmerge.h5').expect(0)
    with h5py.File('tmerge.h5', 'r+') as store:
        store['levels/events'][7] += 1
    seal('tmerge.h5')
    done = tmerge('check', 'tmerge.h5').expect(3)
    has_line(done.out + done.err, r'.*/levels: row 7 of rank 0 is not what its events sum to.*')


if __name__ == '__main__':
    main()
