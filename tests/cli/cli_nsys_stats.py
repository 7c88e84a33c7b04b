"""Reports of nsys stats as SQL of our own on real exports: `tmerge show` gives the same results,
integers to the nanosecond, others to 0.05 ns. Tables that no public export has come from the
generator, by the documented schema. Ranges have the timeline's names: torch's operators without the
number of each call, and "DOMAIN:" only if a text does not include it."""
import glob
import os
import shutil
import sqlite3
import statistics
from collections import defaultdict

from common import (SHARED, Skip, contains, equal, holds, main, merged, rows, seal, seldom, synth,
                    tables, tmerge)
from stores import covered, duration_of, read_only
import h5py

FOLDER = os.path.join(SHARED, 'traces', 'nsys')
NAMED = '(SELECT value FROM StringIds WHERE id = {})'
COPIES = {1: 'Host-to-Device', 2: 'Device-to-Host', 8: 'Device-to-Device', 10: 'Peer-to-Peer',
          11: 'Unified Host-to-Device', 12: 'Unified Device-to-Host'}
COPY = 'CASE copyKind ' + ' '.join(f"WHEN {kind} THEN '[CUDA memcpy {word}]'"
                                   for kind, word in COPIES.items()) + ' END'
RANGE = f"coalesce(text, {NAMED.format('textId')})"
RANGED = 'eventType IN (59, 60) AND end IS NOT NULL'
OWN = """SELECT globalTid FROM ThreadNames WHERE nameId IN
         (SELECT id FROM StringIds WHERE value LIKE '[NSys%')"""
# MPI calls were ranges until nsys had tables for them. A call with a stack is written twice, the
# second time with class 67. For the OS runtime, 31 and 32 mark the begin and end of tracing.
# Interface versions have four digits or more.
REPORTS = {
    'cuda_api_sum': ('CUPTI_ACTIVITY_KIND_RUNTIME', NAMED.format('nameId'), 'end - start',
                     'eventClass <> 67'),
    'cuda_gpu_kern_sum': ('CUPTI_ACTIVITY_KIND_KERNEL', NAMED.format('demangledName'),
                          'end - start', '1'),
    'cuda_gpu_mem_time_sum': ('CUPTI_ACTIVITY_KIND_MEMCPY', COPY, 'end - start', '1'),
    'cuda_gpu_mem_size_sum': ('CUPTI_ACTIVITY_KIND_MEMCPY', COPY, 'bytes', '1'),
    'nvtx_sum': ('NVTX_EVENTS', RANGE, 'end - start', f"{RANGED} AND {RANGE} NOT GLOB 'MPI_*'"),
    'mpi_event_sum': ('NVTX_EVENTS', RANGE, 'end - start', f"{RANGED} AND {RANGE} GLOB 'MPI_*'"),
    'osrt_sum': ('OSRT_API', NAMED.format('nameId'), 'end - start', 'eventClass = 27'),
}
RANGES = {
    'library': ('CUDNN_EVENTS', 'CUBLAS_EVENTS'), 'openacc_sum': ('CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH',),
    'openmp_sum': ('OPENMP_EVENT_KIND_PARALLEL',), 'osrt_sum': ('OSRT_API',),
    'syscall_sum': ('SYSCALL',),
}
SETS = {'cuda_gpu_mem_time_sum': 'end - start', 'cuda_gpu_mem_size_sum': 'bytes'}
UNITS = {'cuda_gpu_mem_size_sum': 'bytes'}
CLOSE = 0.05


def exports():
    found = sorted(glob.glob(os.path.join(FOLDER, '*.sqlite')))
    if not found:
        raise Skip('the real exports are not here')
    return found


def named(report, name):
    if report == 'cuda_api_sum' and '_v' in name and len(name.split('_v')[-1]) >= 4:
        return name[:name.rindex('_v')]
    return name.split(', op_id = ')[0].split(', seq = ')[0] if report == 'nvtx_sum' else name


def store_of(path):
    """Returns the store of an export, made once for all tests."""
    store = f'../{os.path.basename(path)}.h5'
    if not os.path.exists(store):
        tmerge(path, '-o', store).expect(0)
    return store


def by_name(db, report):
    """Returns {name: values} of a report."""
    table, name, value, where = REPORTS[report]
    known = {n for n, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found = defaultdict(list)
    if table in known:
        for text, number in db.execute(f'SELECT {name}, {value} FROM {table} WHERE {where}'):
            found[named(report, text)].append(number)
    if report in SETS and 'CUPTI_ACTIVITY_KIND_MEMSET' in known:
        for number, in db.execute(f'SELECT {SETS[report]} FROM CUPTI_ACTIVITY_KIND_MEMSET'):
            found['[CUDA memset]'].append(number)
    return found


def check_report(report, expected, found, unit, path):
    """Returns the number of equal rows."""
    equal(sorted(row['name'] for row in found), sorted(expected), f'{report} of {path}')
    total = sum(sum(values) for values in expected.values())
    for row in found:
        values = expected[row['name']]
        what = f'{report} of {path}: {row}'
        equal((row['count'], row[f'total_{unit}'], row[f'min_{unit}'], row[f'max_{unit}']),
              (len(values), sum(values), min(values), max(values)), what)
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        for column, value in (('mean', statistics.fmean(values)), ('stddev', spread),
                              ('median', statistics.median(values))):
            holds(abs(row[f'{column}_{unit}'] - value) <= CLOSE, f'{column} {value} of {what}')
        holds(abs(row['share_pct'] - 100 * sum(values) / total) < 1e-9, what)
        equal(row['median_exact'], True, what)
    totals = [row[f'total_{unit}'] for row in found]
    equal(totals, sorted(totals, reverse=True), f'order of {report}')
    return len(found)


@seldom
def test_reports_are_those_of_plain_sql_over_real_exports():
    seen = defaultdict(int)
    for path in exports():
        shown = rows(store_of(path), 'stats.time') + rows(store_of(path), 'stats.size')
        for report in REPORTS:
            found = [row for row in shown if row['report'] == report]
            seen[report] += check_report(report, by_name(read_only(path), report), found,
                                         UNITS.get(report, 'ns'), path)
    # Number of files that have any: distinct calls, kernels, ... of the four together.
    holds(all(seen[report] >= 3 for report in REPORTS), f'rows of {dict(seen)}')
    equal(seen['osrt_sum'], 23)  # SELECT count(DISTINCT nameId) FROM OSRT_API WHERE eventClass = 27


def in_both(a, b):
    return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b)


def thread_of(db, thread):
    """Returns a thread's figures from its rows; those of SCHED_EVENTS put it on a core and take it
    off in turn."""
    turns = db.execute('SELECT start, isSchedIn, cpu FROM SCHED_EVENTS WHERE globalTid = ? '
                       'ORDER BY start', (thread,)).fetchall()
    equal([turn[1] for turn in turns], [1, 0] * (len(turns) // 2))
    cores = [core for _, is_in, core in turns if is_in]
    on = covered((turns[i][0], turns[i + 1][0]) for i in range(0, len(turns), 2))
    calls = db.execute('SELECT start, end FROM OSRT_API WHERE globalTid = ? AND eventClass = 27',
                       (thread,)).fetchall()
    waits = covered(calls)
    os_ns = duration_of(waits) if calls else None
    return (duration_of(on), len(cores), sum(a != b for a, b in zip(cores, cores[1:])),
            len(set(cores)), len(calls) or None, os_ns,
            os_ns - in_both(waits, on) if calls else None)


def test_threads_ran_and_waited_as_plain_sql_has_it():
    n = 0
    for path in exports():
        db = read_only(path)
        found = {int(row['thread']): row for row in rows(store_of(path), 'host.thread')}
        has = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'SCHED_EVENTS'").fetchone()
        threads = [thread for thread, in db.execute(
            f'SELECT DISTINCT globalTid FROM SCHED_EVENTS WHERE globalTid NOT IN ({OWN})')] if has else []
        equal(sorted(found), sorted(thread & 0xFFFFFF for thread in threads), path)
        for thread in threads:
            row = found[thread & 0xFFFFFF]
            equal((row['running_ns'], row['times'], row['migrations'], row['cores'],
                   row['os_calls'], row['os_ns'], row['os_wait_ns']), thread_of(db, thread),
                  f'{row} of {path}')
            n += 1
    equal(n, 12)  # threads with such rows in two exports, less two threads of nsys itself in each


# Tables that no public export has ----------------------------------------------------------------


def made(**more):
    """Makes a job of 4 ranks with all tables, once for all tests; returns its files."""
    folder = f"made{more.get('ranks_per_file', '')}"
    if not os.path.exists(f'../{folder}.h5'):
        synth(f'../{folder}', format='nsys', host_tables=True, ranks=4, steps=3, **more)
        merged(folder, '-o', f'{folder}.h5', cwd='..')
    for name, link in ((folder, folder), (f'{folder}.h5', 'made.h5')):
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(f'../{name}', link)
    return sorted(glob.glob(f'{folder}/*.sqlite'))


def gathered(paths, query):
    return [row for path in paths for row in read_only(path).execute(query)]


def test_reports_of_made_exports_are_those_of_plain_sql():
    for more in ({}, {'ranks_per_file': 2}):
        paths = made(**more)
        shown = rows('made.h5', 'stats.time') + rows('made.h5', 'stats.size')
        whole = {}
        for report in REPORTS:
            expected = whole[report] = defaultdict(list)
            for path in paths:
                for name, values in by_name(read_only(path), report).items():
                    expected[name] += values
        for report, of in RANGES.items():
            expected = whole[report] = defaultdict(list)
            for table in of:
                for name, value in gathered(paths, f"SELECT {NAMED.format('nameId')}, end - start "
                                                   f'FROM {table}'):
                    expected[name].append(value)
            equal(sum(map(len, expected.values())), 48 * len(of))  # 12 of each table and rank
        for report, expected in whole.items():
            found = [row for row in shown if row['report'] == report]
            check_report(report, expected, found, UNITS.get(report, 'ns'), 'the job')
        faults = gathered(paths, f"SELECT {NAMED.format('CpuInstruction')} FROM "
                                 'CUDA_UM_CPU_PAGE_FAULT_EVENTS')
        equal({row['name']: (row['count'], row['total_ns'], row['median_ns']) for row in shown
               if row['report'] == 'um_cpu_page_faults_sum'},
              {name: (faults.count((name,)), None, None) for name, in set(faults)})


def test_unified_memory_and_threads_are_those_of_plain_sql():
    paths = made(ranks_per_file=2)
    process = 'GROUP BY globalPid ORDER BY globalPid'
    copies = [gathered(paths, 'SELECT count(*), sum(bytes), sum(end - start) FROM '
                              f'CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = {kind} {process}')
              for kind in (11, 12)]
    on_gpu = gathered(paths, 'SELECT sum(numberOfPageFaults), count(*), sum(end - start) FROM '
                             f'CUDA_UM_GPU_PAGE_FAULT_EVENTS {process}')
    on_cpu = gathered(paths, f'SELECT count(*) FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS {process}')
    equal([tuple(row.values()) for row in rows('made.h5', 'host.unified_memory/rank')],
          [('rank', rank, None, 5, *copies[0][rank], *copies[1][rank], *on_gpu[rank], *on_cpu[rank])
           for rank in range(4)])
    equal(tables('made.h5', 'um_total_sum')['host.unified_memory'], rows('made.h5', 'host.unified_memory/rank'))
    equal(tmerge('show', 'made.h5', 'openmp_sum', '--rank', '0', '--where', 'count < 0').expect(0).out,
          'stats.time\nno rows\n')
    found = {int(row['thread']): row for row in rows('made.h5', 'host.thread')}
    for db in map(read_only, paths):
        for thread, in db.execute('SELECT DISTINCT globalTid FROM SCHED_EVENTS'):
            calls = sum((db.execute(f'SELECT start, end FROM {table} WHERE globalTid = ?',
                                    (thread,)).fetchall() for table in ('OSRT_API', 'SYSCALL')), [])
            row = found.pop(thread & 0xFFFFFF)
            equal((row['running_ns'], row['times'], row['migrations'], row['cores']),
                  thread_of(db, thread)[:4])
            equal((row['os_calls'], row['os_ns']), (len(calls), duration_of(covered(calls))))
    equal(found, {})


UNIFIED = 'rank addresses to_device to_device_bytes to_device_ns to_host to_host_bytes to_host_ns ' \
          'gpu_faults gpu_fault_groups gpu_fault_ns cpu_faults'.split()
BY_ADDRESS = """
SELECT address, count(bytes_in), sum(bytes_in), sum(ns_in), count(bytes_out), sum(bytes_out),
       sum(ns_out), sum(faults), count(faults), sum(fault_ns), sum(on_host)
FROM (SELECT globalPid, virtualAddress AS address, iif(copyKind = 11, bytes, NULL) AS bytes_in,
             iif(copyKind = 11, end - start, NULL) AS ns_in,
             iif(copyKind = 12, bytes, NULL) AS bytes_out,
             iif(copyKind = 12, end - start, NULL) AS ns_out,
             NULL AS faults, NULL AS fault_ns, NULL AS on_host
      FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind IN (11, 12)
      UNION ALL SELECT globalPid, address, NULL, NULL, NULL, NULL, numberOfPageFaults, end - start,
                       NULL FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS
      UNION ALL SELECT globalPid, address, NULL, NULL, NULL, NULL, NULL, NULL, 1
                FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS)
GROUP BY globalPid, address ORDER BY globalPid, address"""


def test_unified_memory_by_address_is_that_of_plain_sql():
    paths = made(ranks_per_file=2)
    expected = gathered(paths, BY_ADDRESS)
    found = [tuple(row.values())[1:] for row in rows('made.h5', 'host.unified_memory/address')]
    equal([row[1:] for row in found],
          [(f'0x{address:012x}', 1, *(n or 0 for n in sums)) for address, *sums in expected])
    equal([row[0] for row in found], sorted(5 * list(range(4))))
    equal(tables('made.h5', 'um_sum')['host.unified_memory'], rows('made.h5', 'host.unified_memory/address'))
    shutil.copy('made.h5', 'old.h5')
    with h5py.File('old.h5', 'r+') as store:  # from a version before addresses were kept
        del store['unified'], store['ranks/n_unified'], store['analysis/host/unified_memory']
    seal('old.h5')
    tmerge('check', 'old.h5').expect(0)
    tmerge('show', 'old.h5', 'um_sum').fails(3, 'old.h5: the store is older and has no table '
                                             'host.unified_memory; tmerge analyze adds it')
    tmerge('analyze', 'old.h5').expect(0)
    equal([(row['address'], *(row[name] for name in UNIFIED)) for row in rows('old.h5', 'host.unified_memory/address')],
          [(None, row['rank'], 0, *(row[name] for name in UNIFIED[2:]))
           for row in rows('old.h5', 'host.unified_memory/rank')])


def test_of_many_addresses_those_that_moved_most_have_rows():
    shutil.copy(made()[0], 'many.sqlite')
    with sqlite3.connect('many.sqlite') as db:
        db.execute('DELETE FROM CUDA_UM_CPU_PAGE_FAULT_EVENTS')
        start, process = db.execute('SELECT start, globalPid FROM CUDA_UM_GPU_PAGE_FAULT_EVENTS').fetchone()
        db.executemany('INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address, '
                       'CpuInstruction) VALUES (?, ?, ?, 0)',
                       [(start, process, 4096 * (1 + i)) for i in range(1203)])
    db.close()
    tmerge('many.sqlite', '-o', 'many.h5').expect(0)
    found = rows('many.h5', 'host.unified_memory/address')
    # The five of the generator, the lowest 995 with one fault each, and the other 208 in one row.
    equal([row['address'] for row in found[:995]], [f'0x{4096 * (1 + i):012x}' for i in range(995)])
    equal(len(found), 1001)
    equal([found[-1][name] for name in ('address', 'addresses', 'cpu_faults')], [None, 208, 208])


def test_memory_and_samples_are_those_of_plain_sql():
    paths = made()
    counters, devices = rows('made.h5', 'host.counter'), rows('made.h5', 'memory.device')
    for rank, db in enumerate(map(read_only, paths)):
        for kind, device in ((2, f'cuda:{rank % 8}'), (1, 'cpu')):
            sizes, live, peak = {}, 0, 0
            for address, size, freed in db.execute(
                    'SELECT address, bytes, memoryOperationType FROM '
                    'CUDA_GPU_MEMORY_USAGE_EVENTS WHERE memKind = ? ORDER BY start', (kind,)):
                live += -sizes.pop(address) if freed else sizes.setdefault(address, size)
                peak = max(peak, live)
            row, = (r for r in devices if (r['rank'], r['device']) == (rank, device))
            equal((row['peak_bytes'], row['end_bytes'], row['allocations'], row['releases']),
                  (peak, live, 6, 5))
        expected = db.execute(
            'SELECT name, count(*), avg(value), min(value), max(value) FROM (SELECT value, '
            'metricName AS name FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS USING (typeId, '
            'metricId) UNION ALL SELECT value, name FROM NET_NIC_METRIC JOIN '
            'TARGET_INFO_NETWORK_METRICS USING (metricsListId, metricsIdx)) GROUP BY 1')
        equal([tuple(row[name] for name in ('name', 'samples', 'mean', 'min', 'max'))
               for row in counters if row['rank'] == rank], sorted(expected))
    equal({row['source'] for row in rows('made.h5', 'host.counter')},
          {f'device {i}' for i in range(4)} | {'NIC 5, port 1'})


# Both ---------------------------------------------------------------------------------------------


def test_a_report_is_shown_by_the_name_that_nsys_stats_has_for_it():
    path, = (p for p in exports() if 'cloverleaf' in p)
    os.symlink(store_of(path), 'x.h5')
    whole = rows('x.h5', 'stats.time')
    for name in ('osrt_sum', 'osrtsum'):
        done = tmerge('show', 'x.h5', name, '--csv', '--columns', 'report,name,count').expect(0)
        lines = done.out.splitlines()
        equal(lines[1], 'osrt_sum,poll,18')
        equal(len(lines), 1 + sum(row['report'] == 'osrt_sum' for row in whole))
    done = tmerge('show', 'x.h5', 'osrt_sum', '--csv', '--columns=name', '--where',
                  'count > 100').expect(0)
    equal(sorted(done.out.split()), ['ioctl', 'name', 'write'])
    contains(tmerge('show', 'x.h5', 'gpumemsizesum').expect(0).out, '[CUDA memcpy Host-to-Device]')
    tmerge('show', 'x.h5', 'osrt_sum', '--where', 'count = 1 or count = 2').fails(
        2, '--where with "or" works only with a table: name stats.time instead of the report, and add '
           "'report = osrt_sum' to each alternative")
    tmerge('show', 'x.h5', 'job', 'nvtx_sum').fails(
        2, 'nvtx_sum is a report of nsys stats: name only one report, or the '
           'table stats.time, which has all of them')
    tmerge('show', 'x.h5', 'vulkan_marker_sum').fails(
        2, 'vulkan_marker_sum is a report of nsys stats on graphics, which tmerge does not read')
    contains(tmerge('show', '--help').expect(0).out, 'cuda_gpu_kern_sum')
    equal(set(tables('x.h5', 'stats')), {'stats.time', 'stats.size'})


main()
