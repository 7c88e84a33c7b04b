"""Nsight Systems exports: real ones compared with plain SQL on the same file, and made ones for the
ranks and times of processes, and for files that are rejected."""
import glob
import os
import re
import shutil
import sqlite3

from common import (BASE_NS, SHARED, UNKNOWN, Skip, contains, content, equal, files, gzipped,
                    has_line, holds, in_any_order, lacks, main, merged, put, rows, seldom, synth,
                    tables, tmerge, unranked)
from jobs import GROUPS
from stores import Store, events, read_only

FOLDER = os.path.join(SHARED, 'traces', 'nsys')
MACHINE = 1 << 48
GLOBAL = '(globalTid & -16777216)'

TABLES = '''
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs, utcTime, localTime, systemClockNs);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid, devStateName, name, nameEnum, value);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, greenContextId, streamId,
    correlationId, globalPid, demangledName, shortName);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId);
CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
'''


def pid(number):
    return MACHINE | number << 24


def export(path, kernels=((144, 0, 1000, 500),), ranges=(), environment=(), epoch=BASE_NS,
           system=None, host='node7', more=''):
    """Writes an export. kernels: (process, device, start, duration), each launched 100 ns before;
    ranges: (text, start, end)."""
    with sqlite3.connect(path) as db:
        db.executescript(TABLES + more)
        db.execute('INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, NULL, NULL, ?)',
                   (epoch, system))
        db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'S', 'Hostname', 1, ?)", (host,))
        for i, (process, device, start, duration) in enumerate(kernels):
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 1, NULL, 7, ?, ?, '
                       '1, 1)', (start, start + duration, device, i + 1, pid(process)))
            db.execute('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 2)',
                       (start - 100, start - 90, pid(process) | process, i + 1))
        for text, start, end in ranges:
            db.execute('INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, 0)',
                       (start, end, text, pid(144) | 144))
        for variable in environment:
            db.execute("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?)",
                       (variable,))
    db.close()
    return path


MPI = """
CREATE TABLE MPI_RANKS (globalTid, rank);
CREATE TABLE MPI_COMMUNICATORS (rank, timestamp, commHandle, parentHandle, localRank, size, groupRoot,
    groupRootUid, members);
CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid, textId);
CREATE TABLE MPI_P2P_EVENTS (start, end, globalTid, textId, commHandle, tag, remoteRank, size, requestHandle);
CREATE TABLE MPI_COLLECTIVES_EVENTS (start, end, globalTid, textId, commHandle, rootRank, size, recvSize,
    requestHandle);
CREATE TABLE MPI_START_WAIT_EVENTS (start, end, globalTid, textId, requestHandle);
INSERT INTO StringIds VALUES (3, 'MPI_Init'), (4, 'MPI_Allreduce'), (5, 'MPI_Irecv'), (6, 'MPI_Isend'),
    (7, 'MPI_Waitall');
"""


def real(name='*'):
    found = sorted(glob.glob(os.path.join(FOLDER, name + '.sqlite')))
    if not found:
        raise Skip('the real exports are not here')
    return found


def stored(path):
    """Returns by rank: {category: [(begin, duration, name), ...]}."""
    found = {}
    for rank, of in events(path).items():
        by = found[rank] = {}
        for event in of:
            by.setdefault(event.category, []).append((event.begin, event.duration, event.name))
    return found


# Real exports -------------------------------------------------------------------------------------


def table(db, name, columns, where):
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return db.execute(f'SELECT {columns} FROM {name} WHERE {where}').fetchall() if known else []


def check_rank(db, events, process, epoch, what):
    """Compares counts, sums and times of one process with SQL."""
    own = f'globalPid = {process}'
    for name, category, where in (
            ('CUPTI_ACTIVITY_KIND_KERNEL', 'kernel', own),
            ('CUPTI_ACTIVITY_KIND_MEMCPY', 'gpu_memcpy', own),
            ('CUPTI_ACTIVITY_KIND_MEMSET', 'gpu_memset', own),
            ('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', 'cuda_sync', own),
            ('CUPTI_ACTIVITY_KIND_RUNTIME', 'cuda_runtime',
             f'{GLOBAL} = {process} AND eventClass = 0'),
            ('CUPTI_ACTIVITY_KIND_RUNTIME', 'cuda_driver',
             f'{GLOBAL} = {process} AND eventClass = 1')):
        expected = sorted((start + epoch, end - start)
                          for start, end in table(db, name, 'start, end', where))
        found = sorted(e[:2] for e in events.get(category, []))
        equal(len(found), len(expected), f'{category} of {what}')
        equal(sum(e[1] for e in found), sum(e[1] for e in expected), f'time in {category}, {what}')
        equal(found, expected, f'{category} of {what}')
    ranges = table(db, 'NVTX_EVENTS', 'count(*), sum(end - start)',
                   f'{GLOBAL} = {process} AND eventType IN (59, 60)')
    found = [e for kind in ('user_annotation', 'cpu_op', 'mpi') for e in events.get(kind, [])]
    if ranges:
        equal((len(found), sum(e[1] for e in found)), (ranges[0][0], ranges[0][1] or 0),
              f'ranges of {what}')


KINDS = {'cudaEventQuery': 'event_sync', 'cudaStreamWaitEvent': 'stream_wait',
         'cudaStreamSynchronize': 'stream_sync', 'cudaDeviceSynchronize': 'context_sync'}


def check_waits(db, store, process, epoch, what):
    """Compares the waits of a rank with SQL: time, kind, waiting stream, awaited stream, and begin
    of the call; the call's name gives the kind. No export has event records."""
    begin = store['events/begin_ns'].tolist()
    found = [(begin[event], kind, stream, on_stream, begin[call], record) for kind, (
        event, stream, on_stream, call, record) in zip(store.words('waits/kind'), store.rows(
            'waits', 'event', 'stream', 'on_stream', 'call', 'record'))]
    expected = []
    for start, stream, called, name in db.execute(
            'SELECT s.start, streamId, r.start, value FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION s '
            'JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) JOIN StringIds ON id = nameId '
            f'WHERE globalPid = {process} AND {GLOBAL} = {process}'):
        kind = KINDS[name.split('_v')[0]]
        stream = -1 if stream == 2**32 - 1 else stream
        pair = (-1, stream) if kind == 'stream_sync' else (stream, -1)
        expected.append((start + epoch, kind, *pair, called + epoch, -1))
    holds(not set(expected) - set(found), f'waits of {what}: {set(expected) - set(found)}')
    return len(expected)


@seldom
def test_real_exports_hold_what_plain_sql_finds_in_them():
    n_waits = 0
    for path in real():
        tmerge(path, '-o', 'x.h5').expect(0)
        found = stored('x.h5')
        with read_only(path) as db:
            epoch, = db.execute('SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME').fetchone()
            units = db.execute('SELECT DISTINCT deviceId, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL '
                               'ORDER BY 1, 2').fetchall()
            equal(sorted(found), list(range(len(units))), f'ranks of {path}')
            for rank, (device, process) in enumerate(units):
                check_rank(db, found[rank], process, epoch, f'rank {rank} of {path}')
                equal({name for name, in db.execute(
                    'SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = '
                    'demangledName WHERE globalPid = ? AND deviceId = ?', (process, device))},
                    {name for _, _, name in found[rank]['kernel']}, f'kernels on device {device}')
            store = Store('x.h5')
            n = sum(check_waits(db, store, process, epoch, f'{process} of {path}')
                    for _, process in units)
            equal(len(store['waits/kind']), n, f'waits of {path}')
            n_waits += n
        db.close()
    equal(n_waits, 1922)  # 244, 366 and 1312 rows of the tables, and an empty one


def test_two_processes_in_one_real_export_are_two_ranks():
    path, = real('mfu_2gpu_before')
    done = tmerge(path, '-o', 'x.h5').expect(0)
    equal(done.ours, [unranked(2, 2)])
    equal([row['device'] for row in rows('x.h5', 'job.rank')], [0, 1])
    # All of its 66 kernels are SendRecv. Each rank launched 32 in a recorded range nccl:all_to_all;
    # the launch of the first was not recorded, so it may be anything.
    equal([(row['kind'], row['count']) for row in rows('x.h5', 'collectives.kind')],
          [('alltoall', 32), ('sendrecv', 1)])


# Ranks and times ----------------------------------------------------------------------------------


def sources(store='tmerge.h5'):
    return {row['rank']: row['source'] for row in rows(store, 'job.rank')}


def test_the_rank_is_the_maps_the_names_or_what_the_export_says():
    export('a.sqlite', environment=['RANK=5'])
    merged('a.sqlite')
    equal(sources(), {5: 'a.sqlite'})
    shutil.copy('a.sqlite', 'profile_rank_3.sqlite')
    merged('profile_rank_3.sqlite')
    equal(sources(), {3: 'profile_rank_3.sqlite'})
    put('map', 'profile_rank_3.sqlite 2\n')
    merged('profile_rank_3.sqlite', '--rank-map', 'map')
    equal(sources(), {2: 'profile_rank_3.sqlite'})
    # The name of a file with several ranks gives no rank; a map gives the first.
    export('node_rank1.sqlite', kernels=[(144, 0, 1000, 5), (145, 1, 1000, 5)])
    done = tmerge('node_rank1.sqlite').expect(0)
    equal((done.ours, sorted(sources())), ([unranked(2, 2)], [0, 1]))
    put('map', 'node_rank1.sqlite 8\n')
    merged('node_rank1.sqlite', '--rank-map', 'map')
    equal(sorted(sources()), [8, 9])


def test_one_report_of_each_rank_and_one_of_a_node_make_the_same_job():
    kernels = [(144 + i, i, 1000 + 10 * i, 500 + i) for i in range(4)]
    export('node.sqlite', kernels=kernels,
           more='CREATE TABLE MPI_RANKS (globalTid, rank); INSERT INTO MPI_RANKS VALUES '
           + ', '.join(f'({pid(144 + i) | 1}, {i})' for i in range(4)) + ';')
    for i, one in enumerate(kernels):
        export(f'profile_rank_{i}.sqlite', kernels=[one])
    merged('node.sqlite', '-o', 'node.h5')
    merged(*(f'profile_rank_{i}.sqlite' for i in range(4)), '-o', 'files.h5', n=3)
    equal(stored('files.h5'), stored('node.h5'))


def without_making(folder):
    """Removes the calls that make communicators from the exports, as if a capture began later."""
    for path in files(folder):
        if path.endswith('.sqlite'):
            with sqlite3.connect(f'{folder}/{path}') as db:
                equal(db.execute('delete from NVTX_EVENTS where textId = (select id from StringIds '
                                 "where value = 'ncclCommInitRank')").rowcount, 4, path)
            db.close()


def test_the_groups_of_kernels_that_tell_none_are_inferred():
    # All clocks are right. Ends of one stream, matched over all ranks, would be 1.9 ms apart.
    options = dict(GROUPS, no_metadata=True, offset_us=0, drift_ppb=0, slow_factor=1.3)
    truth = synth('groups', format='nsys', **options)
    true = {}
    for one in truth['collectives']:
        true.setdefault(one['kind'], set()).add(tuple(one['ranks']))
    merged('groups')
    found = rows('tmerge.h5', 'groups.group')
    holds({'0-1', '2-3', '4-5', '6-7'} <= {row['members'] for row in found}, found)
    for row in rows('tmerge.h5', 'collectives.kind'):
        ranks = set(range(8)) & {int(r) for part in row['group'].split(',') for r in
                                 range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}
        holds(any(ranks <= set(group) for group in true[row['kind']]), row)
        holds(ranks in map(set, true[row['kind']]) or row['at_least'], row)
        equal(row['how'], 'inferred')
    offsets = {row['offset_ns'] for row in rows('tmerge.h5', 'clock.rank')}
    holds(all(abs(offset) < 1000 for offset in offsets), offsets)  # GPU clocks are off by 300 ns
    synth('job', format='nsys', **dict(options, tp=1, pp=1, sequence_parallel=0, steps=8))
    done = merged('job', '-o', 'job.h5')
    lacks(done.out, 'could not be matched')
    equal(rows('job.h5', 'stragglers.job')[0]['rank'], 5)


def matching(store, *columns):
    """Returns by group the numbers of complete and incomplete operations."""
    return {row['members']: tuple(row[name] for name in columns)
            for row in rows(store, 'groups.group')}


def test_groups_whose_making_was_not_recorded_are_those_that_use_them():
    synth('nsys', format='nsys', **GROUPS)
    merged('nsys', '-o', 'made.h5')
    without_making('nsys')
    merged('nsys', '-o', 'used.h5')
    made, used = tables('made.h5'), tables('used.h5')
    for job in made, used: # creating them is a range, too
        job['stats.time'] = [row for row in job['stats.time'] if row['report'] != 'nvtx_sum']
        job['calls.call'] = [row for row in job['calls.call'] if row['level'] != 'annotation']
    for name in made:
        left_out = {'events', 'event'}
        equal(in_any_order(used[name], left_out), in_any_order(made[name], left_out), name)


def test_a_missing_rank_leaves_its_groups_incomplete_or_unknown():
    synth('nsys', format='nsys', **GROUPS)
    os.remove('nsys/profile_rank_6.sqlite')
    merged('nsys', '-o', 'made.h5')
    found = matching('made.h5', 'complete', 'incomplete')
    equal({members for members, (_, incomplete) in found.items() if incomplete},
          {'0-5,7', '4', '7'})
    equal({members for members, (complete, _) in found.items() if complete},
          {'0,2', '0,4', '0-1', '1,3', '1,5', '2-3', '3,7', '4-5', '5,7'})
    without_making('nsys')
    done = merged('nsys', '-o', 'used.h5')
    equal(matching('used.h5', 'complete'), {})
    contains(done.out, 'group unknown')
    contains(done.out, '  (give the traces of all ranks, or start recording before')


def test_ranks_that_are_missing_at_the_end_are_seen_by_those_who_lack_them():
    # The number of ranks is not recorded; pipeline groups of the first half have one rank here.
    synth('nsys', format='nsys', **GROUPS)
    without_making('nsys')
    for rank in range(8):
        with sqlite3.connect(f'nsys/profile_rank_{rank}.sqlite') as db:
            db.execute("delete from META_DATA_CAPTURE where value like 'WORLD_SIZE%'")
        db.close()
    merged('nsys', '-o', 'all.h5')
    equal(len(matching('all.h5')), 13)
    merged(*(f'nsys/profile_rank_{rank}.sqlite' for rank in range(4)), '-o', 'half.h5')
    equal(matching('half.h5'), {})


def test_absurd_sizes_of_communicators_are_not_believed():
    synth('nsys', format='nsys', **GROUPS)
    with sqlite3.connect('nsys/profile_rank_0.sqlite') as db:
        for row, blob in db.execute(
                'select rowid, binaryData from NVTX_EVENTS where textId = (select id from StringIds '
                "where value = 'ncclCommInitRank')").fetchall():
            blob = blob[:40] + (2**31 - 1).to_bytes(4, 'little') + blob[44:]
            db.execute('update NVTX_EVENTS set binaryData = ? where rowid = ?', [blob, row])
    db.close()
    merged('nsys')
    equal(len(matching('tmerge.h5')), 13)
    lacks(tmerge('show', 'tmerge.h5', 'job').out, '2147483')


def test_devices_of_one_process_have_their_own_communicators():
    # Ranks 0 and 1, and 2 and 3, become one process each. Data-parallel groups have 2 ranks: 0 and
    # 2, and 1 and 3.
    options = dict(ranks=4, tp=2, ranks_per_host=4, steps=2, layers=4, format='nsys')
    synth('nsys', **options, ranks_per_file=4)
    shutil.copytree('nsys', 'own')
    with sqlite3.connect('nsys/profile_rank_0.sqlite') as db:
        for table, column in db.execute(
                "select m.name, p.name from sqlite_master m, pragma_table_info(m.name) p "
                "where m.type = 'table' and p.name in ('globalPid', 'globalTid')").fetchall():
            calls = table.startswith('CUPTI')
            for pid, into in ((1001, 1000), (1003, 1002)):
                db.execute(f'update {table} set {column} = {column} - ((? - ?) << 24)'
                           + ', correlationId = correlationId + 1000000' * calls
                           + f' where {column} >> 24 & 16777215 = ?', [pid, into, pid])
    db.close()
    merged('own', '-o', 'own.h5')
    merged('nsys', '-o', 'nsys.h5')
    for store in ('own.h5', 'nsys.h5'):
        found = matching(store, 'complete')
        equal(found.keys(), {'0-3', '0-1', '2-3', '0,2', '1,3'}, store)
        equal(found, matching('own.h5', 'complete'), store)
    lacks(tmerge('show', 'nsys.h5', 'collectives.unmatched').out, 'group unknown')


def test_the_environment_says_how_many_ranks_there_are():
    synth('nsys', format='nsys', **GROUPS)
    os.remove('nsys/profile_rank_7.sqlite')
    without_making('nsys')
    merged('nsys')
    equal(matching('tmerge.h5', 'complete'), {})
    for variable, known in (('WORLD_SIZE=8', True), ('OMPI_COMM_WORLD_SIZE=8', True),
                            ('PMI_SIZE=8', True), ('SLURM_STEP_NUM_TASKS=8', True),
                            ('SLURM_NTASKS=8', False), ('WORLD_SIZE=99999999', False)):
        export(f'{variable}_rank0.sqlite', environment=[variable])
        done = merged(f'{variable}_rank0.sqlite', '-o', f'{variable}.h5')
        equal(re.findall('(.*) ranks have no trace', done.out), ['! 7 of 8'] * known, variable)


def test_sessions_of_one_host_share_its_monotonic_clock():
    # The UTC time of each start is read late, on host a by 3 and 0 ms; the earliest reading counts.
    for rank, (system, late, host) in enumerate(((10**9, 3 * 10**6, 'a'), (5 * 10**9, 0, 'a'),
                                                 (10**9, 7 * 10**6, 'b'),
                                                 (10**9, 2 * 10**9, 'a'))):
        export(f'rank{rank}.sqlite', epoch=BASE_NS + system + late, system=system, host=host)
    merged(*(f'rank{i}.sqlite' for i in range(4)))
    begins = [events['kernel'][0][0] - BASE_NS for _, events in sorted(stored('tmerge.h5').items())]
    # Host b is unchanged, as is the start on host a that is 2 s off: no reading is so late.
    equal(begins, [10**9 + 1000, 5 * 10**9 + 1000, 10**9 + 7 * 10**6 + 1000, 3 * 10**9 + 1000])


def test_a_report_without_the_time_of_its_start_is_read_and_said_to_be():
    export('rank0.sqlite', epoch=None)
    merged('rank0.sqlite')
    equal([(row['remark'], row['count']) for row in rows('tmerge.h5', 'job.remark')],
          [('no_epoch', 2)])


def test_kernels_without_a_time_are_left_out():
    """Kernels that CUPTI could not time have 0 for both ends, or nothing; other programs write -1.
    Each was launched at 3 s, as was the kernel that is kept, which begins 10 ns later."""
    second = 10**9
    for start, end, remark in ((0, 0, 'unknown_work_time'), (-1, -1, 'unknown_work_time'),
                               (0, 3 * second, 'unknown_work_time'), ('NULL', 'NULL', 'no_time'),
                               (0, -1, 'negative_duration'), (3 * second, 0, 'negative_duration')):
        put('rank0.sqlite', '')
        export('rank0.sqlite', kernels=[(144, 0, 3 * second, 500), (144, 0, 3 * second + 10, 500)])
        with sqlite3.connect('rank0.sqlite') as db:
            db.execute(f'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = {start}, end = {end} '
                       'WHERE correlationId = 1')
        db.close()
        merged('rank0.sqlite')
        equal([(row['remark'], row['count']) for row in rows('tmerge.h5', 'job.remark')
               if row['remark'] != 'mostly_skipped'], [(remark, 1)])
        kept, = stored('tmerge.h5')[0]['kernel']
        equal(kept[:2], (BASE_NS + 3 * second + 10, 500))


# Steps --------------------------------------------------------------------------------------------


def steps(store='tmerge.h5'):
    return [(number, annotated, begin - BASE_NS) for number, annotated, begin in
            Store(store).rows('steps', 'number', 'annotated', 'begin_ns')]


@seldom
def test_steps_are_what_looks_like_one_or_what_the_user_says():
    ranges = [('train step 4', 800, 3000), ('train step 5', 3000, 9000), ('micro_step 0', 900, 950),
              ('epoch 1', 700, 9500), ('batch=7 of 9', 1000, 2000)]
    export('rank0.sqlite', ranges=ranges, kernels=[(144, 0, 1000, 500)])
    merged('rank0.sqlite')
    equal(steps(), [(4, True, 800), (5, True, 3000)])
    merged('rank0.sqlite', '--step-pattern', 'batch=([0-9]+)', '-o', 'batch.h5')
    merged('analyze', 'batch.h5')
    equal(steps('batch.h5'), [(7, True, 1000)])
    merged('analyze', 'batch.h5', '--step-pattern=')
    equal((stored('batch.h5'), steps('batch.h5')), (stored('tmerge.h5'), steps()))
    merged('analyze', 'batch.h5', '--step-pattern', '^EPOCH')
    equal(steps('batch.h5'), [(1, True, 700)])
    contains(tmerge('rank0.sqlite', '--step-pattern', 'nothing').expect(0).err,
             "--step-pattern 'nothing' matches no annotation of 1 of 1 rank:")
    equal([step[:2] for step in steps()], [(0, False)])
    for arguments in (['rank0.sqlite'], ['analyze', 'batch.h5']):
        tmerge(*arguments, '--step-pattern=(').expect(2)


# Rejected files, and secrets that must not be reported --------------------------------------------


def test_what_cannot_be_read_ends_with_the_file_and_the_reason():
    """The unit test covers the reasons; a file that is no database has no format."""
    export('good_rank1.sqlite')
    size = os.path.getsize(export('cut.sqlite'))
    os.truncate('cut.sqlite', size // 2)
    put('zeros.sqlite', bytes(8192))
    put('packed.sqlite', gzipped(content('good_rank1.sqlite')))
    for name, reason in (
            ('zeros', UNKNOWN),
            ('packed', 'a compressed database cannot be read: decompress it first'),
            ('cut', f'byte {size // 2}: this database ends too early: {size // 2} of {size} bytes '
                    'are there')):
        tmerge(f'{name}.sqlite').fails(3, f'{name}.sqlite: {reason}')
        equal(files(), ['cut.sqlite', 'good_rank1.sqlite', 'packed.sqlite', 'zeros.sqlite'])
    tmerge('good_rank1.sqlite', 'cut.sqlite', n=2).expect(3)
    done = tmerge('good_rank1.sqlite', 'cut.sqlite', '--skip-bad', n=2).expect(0)
    has_line(done.err, 'left out cut.sqlite: ')


@seldom
def test_a_database_of_another_program_is_named_with_the_way_out():
    """Also in a folder if there is nothing else; next to a trace it is left out."""
    for tables, said in (
            (['CommAnalyzerTime', 'StepTraceTime'],
             'this database contains only sums by torch_npu\'s profiler (Ascend): give each rank\'s '
             'ascend_pytorch_profiler_RANK.db, which is in the same folder'),
            (['CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL'],
             'tmerge does not read the databases of nvprof: record with Nsight Systems'),
            ([], 'this SQLite database has no tables'),
            (list('jihgfedcba'), 'this SQLite database is not a trace that tmerge reads; its tables: '
                                 'a, b, c, d, e, f, g, h and 2 more')):
        put('job/a.db', '')
        with sqlite3.connect('job/a.db') as db:
            db.execute('PRAGMA user_version = 1')
            for table in tables:
                db.execute(f'CREATE TABLE {table} (x)')
        for path in 'job/a.db', 'job':
            tmerge(path, n=2).fails(3, f'job/a.db: {said}')
    export('job/rank0.sqlite')
    merged('job')
    equal([(row['source'], row['message']) for row in rows('tmerge.h5', 'job.left_out')], [('job/a.db', said)])


def test_an_export_that_is_being_written_is_refused():
    export('rank0.sqlite')
    db = sqlite3.connect('rank0.sqlite', isolation_level=None)
    db.execute('BEGIN EXCLUSIVE')
    tmerge('rank0.sqlite').fails(3, 'rank0.sqlite: this database is being written; wait '
                                    'until it is complete, or write it again')
    db.execute('ROLLBACK')
    db.close()
    merged('rank0.sqlite')


def test_reading_a_folder_leaves_it_as_it_was_and_passes_other_databases_over():
    os.mkdir('job')
    path = export('job/rank0 %41?#.sqlite')
    before = content(path)
    with sqlite3.connect('job/jobs.db') as db:
        db.execute('CREATE TABLE users (name)')
    db.close()
    merged('job')
    equal((files('job'), content(path) == before), (['jobs.db', 'rank0 %41?#.sqlite'], True))
    equal([(row['source'], row['reason']) for row in rows('tmerge.h5', 'job.left_out')],
          [('job/jobs.db', 'other')])


def test_no_secret_of_the_environment_leaves_the_report():
    secret = 'hunter2-do-not-tell'
    export('rank0.sqlite', environment=[f'AWS_SECRET_ACCESS_KEY={secret}', f'RANK={secret}',
                                        f'MY_RANK={secret}', f'PMI_RANK=0 {secret}'],
           more=f"INSERT INTO StringIds VALUES (77, '{secret}');"
                f"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_0', '{secret}');"
                "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, 'S', 'DeviceEnvironment', 2, "
                f"'TOKEN={secret}');")
    done = tmerge('rank0.sqlite', '--no-compress', '--html', 'x.html', page=True).expect(0)
    lacks(done.out + done.err, secret)
    for path in ('tmerge.h5', 'x.html'):
        holds(secret.encode() not in open(path, 'rb').read(), f'the secret is in {path}')
    shown = tmerge('show', 'tmerge.h5', '--json').expect(0)
    lacks(shown.out, secret)
    contains(shown.out, 'node7')  # other environment may be reported
    # An archive of the original traces would contain it.
    tmerge('export', 'tmerge.h5', '--format', 'archive', '-o', 'x.tar').fails(
        3, 'rank0.sqlite: Perfetto cannot open this trace as it is: use --format perfetto')
    holds(not os.path.exists('x.tar'), 'an archive was written')


def test_programs_of_mpi_are_jobs_without_a_gpu():
    """Rank 1 works 3 ms in each of 4 steps of 10 ms, rank 0 works 1 ms; then each sends the other a
    message of tag 0 and of tag 1, which one receives in the other order, into 90 bytes, and both
    run an all-reduce. Rank 0 waits 2 ms for them in MPI_Waitall, which has a row for each of its 4
    requests."""
    ms, step = 10 ** 6, 10 * 10 ** 6
    for rank in range(2):
        export(f'{rank}.sqlite', kernels=(), more=MPI, ranges=[
            (f'step {i}', (i + 1) * step, (i + 2) * step - ms) for i in range(4)])
        thread, work = pid(144) | 144, (1 + 2 * rank) * ms
        with sqlite3.connect(f'{rank}.sqlite') as db:
            db.execute('INSERT INTO MPI_RANKS VALUES (?, ?)', (thread, rank))
            db.execute('INSERT INTO MPI_COMMUNICATORS VALUES (?, 5, 7, 0, ?, 2, NULL, NULL, NULL)', (rank, rank))
            db.execute('INSERT INTO MPI_OTHER_EVENTS VALUES (0, 5, ?, 3)', (thread,))
            for i in range(4):
                at = (i + 1) * step + work
                for k, (name, tag, size) in enumerate(((5, rank, 90), (5, 1 - rank, 90), (6, 0, 10), (6, 1, 20))):
                    db.execute('INSERT INTO MPI_P2P_EVENTS VALUES (?, ?, ?, ?, 7, ?, ?, ?, ?)',
                               (at + k * 10, at + k * 10 + 5, thread, name, tag, 1 - rank, size, 90 + k))
                    db.execute('INSERT INTO MPI_START_WAIT_EVENTS VALUES (?, ?, ?, 7, ?)',
                               (at + 50, (i + 1) * step + 3 * ms + 100, thread, 90 + k))
                db.execute('INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (?, ?, ?, 4, 7, NULL, 800, 800, NULL)',
                           ((i + 1) * step + 3 * ms + 100, (i + 1) * step + 4 * ms, thread))
        db.close()
    said = merged('0.sqlite', '1.sqlite', n=2).out
    lacks(said, 'could not be matched')
    equal([(row['kind'], row['count'], row['bytes']) for row in rows('tmerge.h5', 'collectives.kind')],
          [('allreduce', 4, 400), ('sendrecv', 8, 10), ('sendrecv', 8, 20)])
    counts = {(row['report'], row['name']): (row['count'], row['total_ns'])
              for row in rows('tmerge.h5', 'stats.time') if 'MPI' in row['name']}
    equal(counts[('mpi_event_sum', 'MPI_Waitall')], (8, 4 * (2 * ms + 50) + 4 * 50))
    equal({report for report, _ in counts}, {'mpi_event_sum'})
    contains(said, 'rank 1')
    contains(tmerge('show', 'tmerge.h5', 'mpi_event_sum').expect(0).out, 'MPI_Waitall')


def test_a_report_without_gpu_work_stops_no_job_of_others():
    export('rank0.sqlite')
    export('rank1.sqlite', kernels=(), ranges=[('loading', 10, 20)])
    merged('rank0.sqlite', 'rank1.sqlite')
    equal([row['rank'] for row in rows('tmerge.h5', 'job.rank')], [0, 1])


if __name__ == '__main__':
    main()
