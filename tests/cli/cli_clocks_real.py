"""Clocks of real jobs on one host, with each rank declared a host of its own: tmerge must find no
error, or the one that was added to the traces."""
import glob
import gzip
import os
import re

from common import SHARED, Skip, content, equal, holds, main, put, seldom, tables, tmerge

import h5py

US = 1000


def traces(job):
    """Returns the paths of a job's traces, ordered by rank."""
    found = sorted(glob.glob(os.path.join(SHARED, 'traces', job, '*.json*')))
    if not found:
        raise Skip('there are no real traces beside the project')
    return found


def in_ns(whole, decimals):
    return int(whole) * US + int((decimals or '').ljust(3, '0')[:3])


def wrong_clock(text, offset_ns, drift_ppb):
    """Rewrites a trace as recorded by a clock that is offset_ns ahead at the trace's first time and
    gains drift_ppb. The whole microseconds of the offset are added to the times, the rest to their
    base: a reader must add both up."""
    first = min(in_ns(*m.groups()) for m in re.finditer(r'"ts": (\d+)(?:\.(\d+))?', text))
    rest = offset_ns % US

    def ahead(ns):
        return ns + (ns - first) * drift_ppb // 10**9

    def event(match):
        begin = in_ns(*match.group(1, 2))
        end = begin + in_ns(*match.group(4, 5)) if match.group(3) else begin
        at = ahead(begin) + offset_ns - rest
        span = f'{match.group(3)}{(ahead(end) - ahead(begin)) / US:.3f}' if match.group(3) else ''
        return f'"ts": {at // US}.{at % US:03d}{span}'

    text = re.sub(r'"ts": (\d+)(?:\.(\d+))?(?:(,\s*"dur": )(\d+)(?:\.(\d+))?)?', event, text)
    return re.sub(r'"baseTimeNanoseconds": (\d+)',
                  lambda m: f'"baseTimeNanoseconds": {int(m.group(1)) + rest}', text)


def own_hosts(ranks):
    return put('hosts', ''.join(f'{rank} machine{rank}\n' for rank in range(ranks)))


def windows(store):
    """Returns the first begin and last end of each rank's events as recorded."""
    with h5py.File(store) as file:
        begin, duration = file['events/begin_ns'][:], file['events/duration_ns'][:]
        rows = [slice(first, first + n) for first, n in zip(file['ranks/first_event'][:].tolist(),
                                                            file['ranks/n_events'][:].tolist())]
    return [(int(begin[r].min()), int((begin[r] + duration[r]).max())) for r in rows]


def centred(values):
    """Subtracts the median: no collective can reveal a shift common to all ranks."""
    ordered = sorted(values)
    n = len(ordered)
    return [v - (ordered[n // 2] + ordered[(n - 1) // 2]) / 2 for v in values]


def check_found(store, true=None):
    """Compares clocks with those of another store, whose traces have the right ones, or, if there
    is none, with the store's own uncorrected clocks; at begin, middle and end of the traces."""
    rows = tables(store, 'clock.rank')['clock.rank']
    equal({row['method'] for row in rows}, {'fit'})
    with h5py.File(store) as file:
        offset, drift, middle = (file['clock'][key][:].tolist()
                                 for key in ('offset_ns', 'drift_ppb', 'middle_ns'))
    was = windows(store)
    right = windows(true or store)
    off = [[offset[r] + drift[r] * 1e-9 * (was[r][at] - middle[r]) - (right[r][at] - was[r][at])
            for r in range(len(rows))] for at in (0, 1)]
    off.insert(1, [(a + b) / 2 for a, b in zip(*off)])
    off = [centred(errors) for errors in off]
    for errors in off:
        print('  off by', ' '.join(f'{e / US:.2f}' for e in errors), 'us')
    print('  stated', ' '.join(f'{row["uncertainty_ns"] / US:.2f}' for row in rows), 'us')
    worst = max(abs(e) for errors in off for e in errors)
    holds(worst <= 20 * US, f'off by {worst} ns')
    for errors in off:
        for row, error in zip(rows, errors):
            holds(abs(error) <= 2 * row['uncertainty_ns'], f'{row}: off by {error} ns')


def check_straggler(store):
    """Checks for the rank that really holds the others up; see the reference tests."""
    row = tables(store, 'stragglers.job')['stragglers.job'][0]
    holds('rank 1 came last in each' in row['evidence'], row)


@seldom
def test_eight_GPUs_of_one_host_have_one_clock():
    tmerge(*traces('nanogpt8'), '-o', 'job.h5', f'--host-map={own_hosts(8)}', n=2).expect(0)
    check_found('job.h5')
    check_straggler('job.h5')


def move(job, changes):
    """Writes a job in which some ranks' clocks are wrong, and a store of the original."""
    own_hosts(len(traces(job)))
    for rank, path in enumerate(traces(job)):
        name = os.path.basename(path).removesuffix('.gz')
        text = (gzip.decompress if path.endswith('.gz') else bytes)(content(path)).decode()
        put(f'moved/{name}', wrong_clock(text, *changes[rank]) if rank in changes else text)
    tmerge(*traces(job), '-o', 'true.h5', '--align=utc', n=2).expect(0)


@seldom
def test_what_is_added_to_clocks_is_found_and_the_straggler_stays():
    move('nanogpt8', {2: (5000123, 0), 3: (-3000456, 20000), 6: (250000789, -20000)})
    tmerge('moved', '-o', 'job.h5', '--host-map=hosts', n=2).expect(0)
    check_found('job.h5', 'true.h5')
    check_straggler('job.h5')


@seldom
def test_what_is_added_to_one_of_two_clocks_is_found():
    move('megatron2', {1: (-700321, 20000)})
    tmerge('moved', '-o', 'job.h5', '--host-map=hosts').expect(0)
    check_found('job.h5', 'true.h5')


if __name__ == '__main__':
    main()
