"""Data of the report's timeline, read back from the page by an independent decoder and compared
with the store and its tables: every event, the coverage, and arrivals at collectives."""
import base64
import re
import zlib
from collections import Counter

from common import content, equal, holds, main, put, rows, seldom, synth, tmerge
from jobs import real_store
from stores import Store
from varints import Varints, details_of, events_of
import numpy

COMPUTE, TRANSFER, WAIT, UNMATCHED, COPIES = range(5)
TIED, LAST = 1, 2


# Reading ------------------------------------------------------------------------------------------


class Block(Varints):
    """A block of the page."""

    def __init__(self, page, name):
        found = re.search(rb'id="timeline\.' + name.encode() + rb'">([^<]*)</script>', page)
        holds(found, f'the page has no block {name}')
        super().__init__(zlib.decompress(base64.b64decode(found.group(1).strip())))


def read_job(page):
    block = Block(page, 'job')
    equal(block.number(), 3, 'version')
    job = dict(zip(('duration', 'buckets', 'strip', 'world', 'all', 'steps', 'events', 'n', 'shown'),
                   block.numbers(9)))
    job['ranks'] = []
    equal(job['shown'], job['n'], 'ranks with lanes')
    for _ in range(job['n']):
        if block.number() == 0:
            host = block.text()
        rank = dict(zip(('rank', 'flags', 'domain', 'uncertainty', 'spread'), block.numbers(5)),
                    host=host)
        rank['spans'] = [(block.signed(), block.signed(), block.number())
                         for _ in range(block.number())]
        rank['parts'] = [(block.signed(), block.signed(), block.signed(), block.number())
                         for _ in range(block.number())]
        job['ranks'].append(rank)
    job['names'] = [block.text() for _ in range(block.number())]
    equal(block.at, len(block.data), 'bytes of the job')
    return job


def read_events(page, job):
    """Returns (rank, begin, duration, name, wait), the wait for communication only, else None."""
    found = [(job['ranks'][place]['rank'], *event)
             for place, *event in events_of(Block(page, 'events').data, job['names'])]
    equal(len(found), job['events'], 'events of the job')
    return found


def read_details(page, job, events):
    """Returns (event, column, value) of the details of events."""
    by_place = [[event[:4] for event in events if event[0] == rank['rank']] for rank in job['ranks']]
    return [row[1:] for row in details_of(Block(page, 'details').data, by_place, job['names'])]


def read_operations(page, job):
    block, found, begin = Block(page, 'operations'), [], 0
    n, _ = block.numbers(2)
    for _ in range(n):
        begin += block.signed()
        kind, group, description, size = block.numbers(4)
        step, members = block.signed(), block.number()
        at = numpy.cumsum(block.numbers(members))
        begins, durations = block.numbers(members), block.numbers(members)
        waits, states = [w - 1 for w in block.numbers(members)], block.numbers(members)
        found.append({'begin': begin, 'bytes': size - 1, 'step': step, 'group':
                      job['names'][group], 'waits': waits, 'states': states, 'members': {
                          job['ranks'][a]['rank']: (begin + b, begin + b + d)
                          for a, b, d in zip(at, begins, durations)}})
    equal(block.at, len(block.data), 'bytes of the operations')
    return found


def stored_events(path):
    """Returns the same events from the store, on the job's clock, and their details."""
    store, found = Store(path), {}
    begin_ns = rows(path, 'job.job')[0]['begin_ns']
    waits = dict(store.rows('collective_events', 'event', 'wait_ns'))
    events = store.rows('events', 'duration_ns', 'kind')
    names, categories, roles = (store.texts('events/name'), store.words('events/category'),
                                store.words('events/role'))
    for i, rank in enumerate(store.ranks):
        first, end = store.range(i)
        true = store.on_the_jobs_clock(i, store['events/begin_ns'][first:end])
        for row, begin in enumerate(true.tolist(), first):
            duration, kind = events[row]
            if kind == 0 and categories[row] != 'trace':
                wait = waits[row] if roles[row] == 'communication' else None
                found[row] = (rank, begin - begin_ns, duration, names[row], wait)
    reported = [(found[row][:4], column, value) for column, values in stored_details(store).items()
            for row, value in values if row in found]
    return list(found.values()), [
        (event, column, found[value][:4] if column == 'launch' else value)
        for event, column, value in reported if column != 'launch' or value in found]


def stored_details(store):
    """Returns by column: rows of events and their details."""
    reported = {'launch': [(row, call) for row, call in enumerate(store['events/launch'].tolist())],
            'bytes': store.rows('copies', 'event', 'bytes'),
            'correlation': [pair for table in ('kernels', 'copies')
                            for pair in store.rows(table, 'event', 'correlation') if pair[1] > 0]}
    for column, table in (('inputs', 'shapes/shapes'), ('stack', 'operators/stack')):
        reported[column] = [(row, text) for row, text in zip(
            store[table.split('/')[0] + '/event'].tolist(), store.texts(table)) if text]
    shapes = store.rows('kernels', 'event', 'grid_x', 'grid_y', 'grid_z', 'block_x', 'block_y',
                        'block_z', 'registers', 'shared_memory_bytes', 'occupancy_pct')
    reported['shape'] = [(row, (*numbers, round(100 * share) if share == share else -1))
                     for row, *numbers, share in shapes if numbers[0] >= 0]
    return reported


# Checks -------------------------------------------------------------------------------------------


def same_events(page, job, store):
    events = list(read_events(page, job))
    holds(job['all'] == 1, 'not all events are in the page')
    for page_has, store_has in zip((events, read_details(page, job, events)), stored_events(store)):
        found, expected = Counter(page_has), Counter(store_has)
        for missing in (expected - found).most_common(1) + (found - expected).most_common(1):
            raise AssertionError(f'an event is not in both: {missing}')


def bucket_widths(duration, n):
    edges = [duration // n * i + duration % n * i // n for i in range(n + 1)]
    return numpy.diff(numpy.array(edges)).astype(float)


def sums_to(shares, widths, full, expected, what):
    """Shares of buckets times their widths equal the time within half a count a bucket; a share of
    1 may have been raised from less."""
    counts = widths / full
    allowed = numpy.where(shares == 0, 0.0, numpy.where(shares == 1, counts, counts / 2)).sum()
    found = float((shares * counts).sum())
    # aligned times are whole nanoseconds: each interval may be 1 ns longer or shorter
    holds(abs(found - expected) <= allowed + 1000,
          f'{what}: {found:.0f} ns, not {expected} within {allowed:.0f}')


def same_coverage(page, job, store):
    coverage = numpy.frombuffer(Block(page, 'coverage').data, numpy.uint8).astype(float)
    coverage = coverage.reshape(job['n'], 5, job['buckets'])
    widths = bucket_widths(job['duration'], job['buckets'])
    table = rows(store, 'overlap.rank')
    equal([rank['rank'] for rank in job['ranks']], [row['rank'] for row in table])
    for lanes, row in zip(coverage, table):
        what = f'rank {row["rank"]}'
        sums_to(lanes[COMPUTE], widths, 255, row['compute_ns'], what + ' compute')
        sums_to(lanes[[TRANSFER, WAIT, UNMATCHED]], widths, 255, row['comm_ns'],
                what + ' communication')
    strip = numpy.frombuffer(Block(page, 'strip').data, '<u2').astype(float)
    strip = strip.reshape(5, job['strip'])
    widths = bucket_widths(job['duration'], job['strip']) * job['n']
    for kind, columns in ((COMPUTE, ['compute_ns']), (TRANSFER, ['exposed_transfer_ns']),
                          (WAIT, ['exposed_wait_ns']), (UNMATCHED, ['exposed_unmatched_ns']),
                          (COPIES, ['exposed_memory_ns'])):
        expected = sum(row[column] or 0 for row in table for column in columns)
        sums_to(strip[kind], widths, 65535, expected, f'all ranks {columns[0]}')


def same_collectives(page, job, store, at_least):
    """Checks duration, arrivals and last rank of the worst collectives."""
    begin_ns = rows(store, 'job.job')[0]['begin_ns']
    found = {}
    for operation in read_operations(page, job):
        found.setdefault((operation['begin'], sum(max(0, w) for w in operation['waits'])),
                         []).append(operation)
    worst, arrivals = rows(store, 'collectives.worst'), rows(store, 'collectives.arrival')
    for row in worst:
        members = {a['rank']: (a['begin_ns'] - begin_ns, a['end_ns'] - begin_ns)
                   for a in arrivals if a['instance'] == row['instance']}
        fits = [o for o in found.get((row['begin_ns'] - begin_ns, row['wait_ns']), [])
                if o['members'] == members]
        equal(len(fits), 1, f'operations that are instance {row["instance"]}')
        operation = fits[0]
        last = max(begin for begin, _ in operation['members'].values())
        equal(last - operation['begin'], row['skew_ns'], 'L')
        alone = [rank for rank, state in zip(sorted(members), operation['states'])
                 if state == LAST]
        holds(alone in ([], [row['last_rank']]), f'{alone} came last')
        if not alone:
            holds(operation['states'].count(TIED) >= 2, 'a tie of one')
        equal(operation['bytes'], -1 if row['bytes'] is None else row['bytes'])
        equal(operation['step'], -1 if row['step'] is None else row['step'])
        for rank, wait in zip(sorted(members), operation['waits']):
            begin, end = members[rank]
            equal(wait, max(0, min(end, last) - begin), f'wait of rank {rank}')
    holds(len(worst) >= at_least, f'only {len(worst)} collectives')
    same_last_places(found, store)


def same_last_places(operations, store):
    """Compares counts of last and tied ranks in all operations with stragglers.rank."""
    counts = {LAST: Counter(), TIED: Counter()}
    for operation in sum(operations.values(), []):
        for rank, state in zip(sorted(operation['members']), operation['states']):
            if state in counts:
                counts[state][rank] += 1
    for row in rows(store, 'stragglers.rank'):
        equal((counts[LAST][row['rank']], counts[TIED][row['rank']]),
              (row['last_arrivals'], row['tied']), f'last places and ties of rank {row["rank"]}')


def page_of(store):
    tmerge('report', store, '-o', 'page.html').expect(0)
    return content('page.html')


def checked(store):
    """Checks everything in the page of a store; returns the job."""
    page = page_of(store)
    job = read_job(page)
    same_events(page, job, store)
    same_coverage(page, job, store)
    same_collectives(page, job, store, 20)
    return job


# Tests --------------------------------------------------------------------------------------------


@seldom
def test_the_timeline_of_a_real_job_is_that_of_its_store():
    job = checked(real_store())
    equal((job['n'], job['steps']), (8, 1))


@seldom
def test_clocks_of_hosts_are_aligned_and_close_arrivals_are_ties():
    synth('hosts', ranks=16, ranks_per_host=4, steps=6, offset_us=2000, drift_ppb=800,
          gpu_error_ns=20000, end_jitter_ns=2000, cpu_ops=2)
    tmerge('hosts', '-o', 'hosts.h5').expect(0)
    job = checked('hosts.h5')
    equal([rank['host'] for rank in job['ranks'][::4]], ['host0', 'host1', 'host2', 'host3'])
    # errors of 20 us make some last places uncertain, but not all
    table = rows('hosts.h5', 'stragglers.rank')
    holds(sum(row['tied'] for row in table) > 0, 'no place is doubtful')
    holds(sum(row['last_arrivals'] for row in table) > 0, 'all places are doubtful')


def test_a_truncated_rank_ends_with_its_last_gpu_event():
    synth('cut', ranks=2, ranks_per_host=2, steps=4)
    whole = content('cut/profile_rank_1.json')
    put('cut/profile_rank_1.json', whole[:len(whole) * 3 // 4])
    tmerge('cut', '-o', 'cut.h5').expect(0)
    page = page_of('cut.h5')
    job = read_job(page)
    begin, length, truncated = job['ranks'][1]['spans'][0]
    equal((job['ranks'][0]['spans'][0][2], truncated), (0, 1))
    kernels = [e for e in read_events(page, job) if e[0] == 1 and not e[3].startswith(
        ('aten::', 'cuda', 'Profiler', 'Optimizer', 'c10d', 'record_param'))]
    (end, first), = [span[1:] for span in Store('cut.h5').rows('spans', 'rank', 'gpu_end_ns',
                                                               'begin_ns') if span[0] == 1]
    equal(length, end - first)
    holds(begin + length <= max(e[1] + e[2] for e in kernels), 'it ends behind its kernels')


if __name__ == '__main__':
    main()
