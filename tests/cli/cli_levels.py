"""The store's levels: each row recomputed from the store's events by other means."""
import os

import h5py
import numpy

from common import equal, has_line, holds, main, merged, rows, seal, seldom, synth, tmerge

# For each sub-track: the sets whose time is busy time, the sets that take precedence, and the sets
# whose events are counted.
LANES = {'compute': (['compute'], [], 'compute'), 'copies': (['memory'], ['compute'], 'memory'),
         'transfer': (['transfer'], [], 'transfer'), 'wait': (['wait'], ['transfer'], 'wait'),
         'unmatched': (['communication'], ['wait', 'transfer'], 'unmatched'),
         'host': (['cpu_op', 'cuda_runtime', 'cuda_driver'], [],
                  ['cpu_op', 'cuda_runtime', 'cuda_driver'])}


def words(column):
    return {word: number for word, number in h5py.check_enum_dtype(column.dtype).items()}


def sets_of(store, i):
    """Returns the begins on the job's clock and the lengths of a rank's events, by kind."""
    ranks, clock, events = store['ranks'], store['clock'], store['events']
    first, n = int(ranks['first_event'][i]), int(ranks['n_events'][i])
    own = slice(first, first + n)
    recorded = events['begin_ns'][own]
    drift = (recorded - clock['middle_ns'][i]).astype(float) * (clock['drift_ppb'][i] * 1e-9)
    # rounded to nearest, half away from zero
    begin = recorded + clock['offset_ns'][i] + (
        numpy.sign(drift) * numpy.floor(numpy.abs(drift) + 0.5)).astype(numpy.int64)
    length, role, category = (events[name][own] for name in ('duration_ns', 'role', 'category'))
    roles, categories = words(events['role']), words(events['category'])
    found = {word: role == roles[word] for word in ('compute', 'memory', 'communication')}
    for word in LANES['host'][0]:
        found[word] = (role == roles['none']) & (events['kind'][own] == 0) & (
            category == categories[word])
    found = {word: (begin[which], length[which]) for word, which in found.items()}
    at = store['collective_events/event'][()]
    mine = (at >= first) & (at < first + n)
    waits = numpy.full(n, -1)
    waits[at[mine] - first] = store['collective_events/wait_ns'][()][mine]
    comm = role == roles['communication']
    matched = comm & (waits >= 0)
    wait = numpy.minimum(waits, length)
    found['unmatched'] = begin[comm & (waits < 0)], length[comm & (waits < 0)]
    found['transfer'] = (begin + wait)[matched], (length - wait)[matched]
    found['wait'] = begin[matched & (wait > 0)], wait[matched & (wait > 0)]
    return found


def union_until(sets, at):
    """Returns the time before each of `at` that is covered by events of these sets."""
    begin, length = (numpy.concatenate(parts) for parts in zip(*sets))
    if len(begin) == 0:
        return numpy.zeros(len(at), numpy.int64)
    order = numpy.argsort(begin, kind='stable')
    begin, end = begin[order], (begin + length)[order]
    reach = numpy.maximum.accumulate(end)
    begin = numpy.maximum(begin, numpy.concatenate([begin[:1], reach[:-1]]))
    total = numpy.concatenate([[0], numpy.cumsum(numpy.maximum(0, end - begin))])
    row = numpy.searchsorted(begin, at, side='right') - 1
    inside = numpy.clip(numpy.minimum(at, end[row]) - begin[row], 0, None)
    return numpy.where(row < 0, 0, total[row] + inside)


def check_lane(found, sets, lane, width):
    """Checks the rows of a sub-track at one level, each [begin, busy, events, longest]."""
    own, without, counted = LANES[lane]
    begins = numpy.sort(found[:, 0])
    # coverage of its sets and of those with precedence, minus that of the latter
    taken = [sets[word] for word in without]
    edges = numpy.concatenate([begins, begins + width, [numpy.iinfo(numpy.int64).max // 2]])
    covered = union_until([sets[word] for word in own] + taken, edges)
    if taken:
        covered = covered - union_until(taken, edges)
    busy = covered[len(begins):-1] - covered[:len(begins)]
    equal(busy.sum(), covered[-1], f'busy time of {lane} in the rows that there are')
    events = [sets[word] for word in (counted if isinstance(counted, list) else [counted])]
    begin, length = (numpy.concatenate(parts) for parts in zip(*events))
    row = numpy.searchsorted(begins, begin // width * width)
    equal(begins[row].tolist(), (begin // width * width).tolist(), f'rows of {lane}')
    longest = numpy.zeros(len(begins), numpy.int64)
    numpy.maximum.at(longest, row, length)
    expected = numpy.stack([begins, busy, numpy.bincount(row, minlength=len(begins)), longest], 1)
    equal(found[numpy.argsort(found[:, 0])].tolist(), expected.tolist(), f'{lane}, {width} ns')
    holds(((expected[:, 1] > 0) | (expected[:, 2] > 0)).all(), f'{lane} has an empty row')


def check_store(path):
    with h5py.File(path) as store:
        levels = {name: column[()] for name, column in store['levels'].items()}
        lanes = words(store['levels/lane'])
        equal(set(lanes), set(LANES))
        for i, rank in enumerate(store['ranks/rank'][()].tolist()):
            sets, own = sets_of(store, i), levels['rank'] == rank
            found = sorted(set(levels['level'][own].tolist()))
            equal(found, list(range(found[0], found[-1] + 1)), f'levels of rank {rank}')
            finest, n_events = int((levels['level'][own] == found[0]).sum()), store['ranks/n_events'][i]
            holds(finest <= n_events / 12 + 1, f'{finest} rows of {n_events} events')
            for level in found:
                for lane, number in lanes.items():
                    at = own & (levels['level'] == level) & (levels['lane'] == number)
                    check_lane(numpy.stack([levels[name][at].astype(numpy.int64) for name in (
                        'begin_ns', 'busy_ns', 'events', 'longest_ns')], 1), sets, lane, 1 << level)
        for row in rows(path, 'overlap.rank'):
            own = (levels['rank'] == row['rank']) & (levels['lane'] == lanes['compute'])
            top = own & (levels['level'] == levels['level'][own].max())
            equal(int(levels['busy_ns'][top].sum()), row['compute_ns'], 'compute')
        return sum(each.id.get_storage_size() for each in store['levels'].values())


@seldom
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
    has_line(done.out + done.err, r".*/levels: row 7 of rank 0 differs from the sum of the rank's events.*")


if __name__ == '__main__':
    main()
