"""Real Ascend traces of two jobs of two ranks, compared with the vendor's own analysis; databases
compared with SQL on the same files, and one made by hand from the vendor's schema."""
import json
import os
import sqlite3

from common import SHARED, Skip, equal, holds, main, merged, put, rows, tables, tmerge
from stores import Store, covered, duration_of

TRACES = os.path.join(SHARED, 'traces', 'ascend')
EXPECTED = os.path.join(SHARED, 'expected', 'ascend')
COMPUTE, COMMUNICATION = 1, 2  # of /events/role


def traces(job):
    found = [os.path.join(TRACES, job, f'rank{rank}_trace_view.json') for rank in (0, 1)]
    if not all(os.path.exists(path) for path in found):
        raise Skip('the real traces are not here')
    return found


def expected(name):
    path = os.path.join(EXPECTED, name)
    if not os.path.exists(path):
        raise Skip('the real traces are not here')
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def free(store, rank):
    """Returns the time without kernels in a rank's kernel window, which no table has [ns]."""
    store = Store(store)
    events = slice(*store.range(rank))
    busy = covered((begin, begin + duration) for begin, duration, role in
                  store.rows('events', 'begin_ns', 'duration_ns', 'role')[events]
                  if role in (COMPUTE, COMMUNICATION))
    return busy[-1][1] - busy[0][0] - duration_of(busy)


def test_sums_are_those_of_the_vendors_lanes():
    lanes = expected('overlap_lanes.json')
    for job in ('job538', 'job586'):
        merged(*traces(job), '-o', f'{job}.h5')
        result = tables(f'{job}.h5', 'overlap.rank', 'job.rank')
        for row, of in zip(result['overlap.rank'], result['job.rank']):
            lane = lanes[f'{job}/rank{row["rank"]}']
            found = {'Computing': row['compute_ns'], 'Communication': row['comm_ns'],
                     'Communication(Not Overlapped)': row['exposed_comm_ns'],
                     'Free': free(f'{job}.h5', row['rank'])}
            for name, ns in found.items():
                off = abs(ns - float(lane[name]['sum_us']) * 1000)
                holds(off <= 10 * lane[name]['intervals'], f'{job} {name} is {off} ns off')
            # tmerge reports no difference, unknown task type or other remark.
            equal((of['remarks'], of['format'], of['device'], of['device_kind']),
                  (None, 'ascend', row['rank'], 'NPU'))


def test_a_rank_waits_as_long_as_the_vendor_says():
    merged(*traces('job586'), '-o', 'x.h5')
    begins = json.loads(tmerge('query', 'x.h5', '--json', """SELECT min(begin_ns) AS ns FROM events
        WHERE collective = 'allreduce' GROUP BY rank ORDER BY rank""").expect(0).out)['tables']['query']['rows']
    said = expected('job586_rank0_communication.json')['step50']['collective']
    said = next(v for k, v in said.items() if k.startswith('hcom_allReduce__586_0_1@'))
    ms = said['Communication Time Info']['Synchronization Time(ms)']
    holds(abs(begins[1]['ns'] - begins[0]['ns'] - ms * 1e6) <= 20000, f'{begins}, not {ms} ms apart')
    # In the profiler's list of tasks, rank 0 exchanges data with ranks 0 to 7, so six have no trace.
    reported = tables('x.h5', 'groups.group', 'stragglers.rank', 'advice.item')
    equal([(row['members'], row['ranks'], row['complete']) for row in reported['groups.group']], [('0-1', 8, 0)])
    equal({row['wait_ns'] for row in reported['stragglers.rank']}, {None})
    holds('missing_ranks' in {row['rule'] for row in reported['advice.item']}, 'advice')
    # The clocks of two devices of one host are set separately, to microseconds.
    clocks = rows('x.h5', 'clock.rank')
    equal(len({row['domain'] for row in clocks}), 2)
    holds(all(0 < abs(row['offset_ns']) < 20000 for row in clocks if row['rank'] == 1), f'{clocks}')


def test_all_that_an_arrow_leads_to_is_linked():
    # None of old CANN's copies (24) has an arrow; all of new CANN's 215 events have one.
    for job, linked, unlinked in (('job538', 349, 24), ('job586', 215, 0)):
        merged(*traces(job), '-o', f'{job}.h5')
        for row in rows(f'{job}.h5', 'launches.rank'):
            equal((row['events'], row['unlinked']), (linked, unlinked))
        equal(rows(f'{job}.h5', 'overlap.step')[0]['step'], 50)
        # Only GPU kernels show by name whether they use tensor cores.
        equal(rows(f'{job}.h5', 'overview.job')[0]['tensor_core_pct'], None)
        equal({(row['tensor_self_pct'], row['tensor_cores_fit'])
               for row in rows(f'{job}.h5', 'calls.call/operator')}, {(None, False)})
    # All convolutions have one name, although the profiler numbers them: 5 on each rank.
    names = {row['name']: row['calls'] for row in rows('job538.h5', 'kernels.kernel')}
    equal((names['Conv2D'], len([name for name in names if name.startswith('Conv2D')])), (10, 3))


def test_a_folder_is_read_as_the_profiler_leaves_it():
    # File names next to the traces give ranks and hosts, here in another order than the folders.
    for rank, path in enumerate(traces('job586')):
        folder = f'profiles/node-{1 - rank}_{9 - rank}_20250109074803_ascend_pt'
        os.makedirs(f'{folder}/ASCEND_PROFILER_OUTPUT')
        os.symlink(path, f'{folder}/ASCEND_PROFILER_OUTPUT/trace_view.json')
        os.symlink(os.path.join(EXPECTED, f'job586_rank{rank}_communication.json'),
                   f'{folder}/ASCEND_PROFILER_OUTPUT/communication.json')
        put(f'{folder}/profiler_info_{rank}.json', b'{"rank_id": %d}' % rank)
    folders = sorted(f'profiles/{name}' for name in os.listdir('profiles'))
    for i, operands in enumerate((['profiles'], folders,
                                  [f'{name}/ASCEND_PROFILER_OUTPUT' for name in folders])):
        tmerge(*operands, '-o', f'{i}.h5').expect(0)
        equal([(row['rank'], row['host']) for row in rows(f'{i}.h5', 'job.rank')],
              [(0, 'node-1'), (1, 'node-0')])
        # The analysis next to the traces gives their groups.
        equal([(row['group'], row['members'], row['complete'])
               for row in rows(f'{i}.h5', 'groups.group')], [('17522688603477080586', '0-1', 0)])


def test_real_databases_tell_what_sql_does():
    paths = [os.path.join(SHARED, 'traces', 'ascend-db', f'ascend_pytorch_profiler_{r}.db') for r in (0, 1)]
    if not all(os.path.exists(path) for path in paths):
        raise Skip('the real databases are not here')
    merged(*paths)
    reported = tables('tmerge.h5', 'overlap.rank', 'job.rank', 'launches.rank', 'memory.device', 'kernels.kernel',
                  'groups.group')
    # A mesh of the 8 NPUs of a host: 7 times Write Value, Notify Wait and SDMA each.
    equal([(row['members'], row['ranks']) for row in reported['groups.group']], [('0-1', 8)])
    calls, total = 0, 0
    for rank, path in enumerate(paths):
        row, launches, memory = (reported[name][rank] for name in ('overlap.rank', 'launches.rank', 'memory.device'))
        of = reported['job.rank'][rank]
        equal((of['rank'], of['host'], of['device'], of['format'], of['remarks'], of['skipped_events']),
              (rank, 'ubuntu', rank, 'ascend_db', None, 0))
        with sqlite3.connect(path) as db:
            # Compute and communication as summed by torch_npu's profiler (StepTraceTime).
            kernels = db.execute('SELECT startNs, endNs FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)')
            kernels = kernels.fetchall()
            operations = db.execute('SELECT startNs, endNs FROM COMMUNICATION_OP').fetchall()
            compute, both = (duration_of(covered(v)) for v in (kernels, kernels + operations))
            equal((row['compute_ns'], row['comm_ns'], row['exposed_comm_ns']),
                  (compute, duration_of(covered(operations)), both - compute))
            # A call launches several tasks; each event has its call.
            copies = """SELECT connectionId FROM TASK JOIN STRING_IDS ON id = taskType
                        WHERE value = 'MEMCPY_ASYNC'"""
            linked = db.execute(f"""SELECT count(*), count(DISTINCT connectionId) FROM CANN_API JOIN (
                SELECT connectionId FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId) UNION ALL {copies}
                UNION ALL SELECT connectionId FROM COMMUNICATION_OP) USING (connectionId)""").fetchone()
            equal((launches['events'], launches['launches'], launches['unlinked']), (*linked, 0))
            blocks = 'FROM OP_MEMORY WHERE allocationTotalActive IS NOT NULL'
            equal((memory['allocations'], memory['releases'], memory['peak_bytes'], memory['peak_reserved_bytes']),
                  db.execute(f"""SELECT count(*), count(releaseTime), max(max(allocationTotalAllocated,
                      coalesce(releaseTotalAllocated, 0))), max(allocationTotalReserved) {blocks}""").fetchone())
            calls += len(kernels) + len(operations)
            total += sum(end - begin for begin, end in kernels + operations)
    equal((sum(row['calls'] for row in reported['kernels.kernel']),
           sum(row['total_ns'] for row in reported['kernels.kernel'])), (calls, total))


STRINGS = ('AI_CORE', 'MatMul1', 'SDMA_SQE', 'hcom_allReduce__123_0_1', '10.0.0.1%eth0_60000_0_1', 'launch',
           'Enqueue', 'Dequeue@MatMul', 'aten::mm', 'ProfilerStep#7', '8,4;\n4,2', 'f.py(1): run',
           'f.py(9): main', 'forward', 'read', 'AicpuKernel', 'Notify_Wait', 'MIX_AIC')
TEXT = {text: number for number, text in enumerate(STRINGS)}
THREAD = (77 << 32) + 77
SCHEMA = {  # columns of msprof's schema 1.2 and of torch_npu's; times in rows are in microseconds
    'RANK_DEVICE_MAP (rankId, deviceId)': [(3, 5)],
    'HOST_INFO (hostUid, hostName)': [('1', 'node-a')],
    'META_DATA (name, value)': [('parallel_group_info', json.dumps({'10.0.0.1%eth0_60000_0_1': {
        'group_name': 'default_group', 'group_rank': 0, 'global_ranks': [0, 1]}}))],
    'ENUM_HCCL_DATA_TYPE (id, name)': [(11, 'BFP16')],
    'TASK (startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, '
    'taskId, modelId)': [
        # 10-30 computes within its enclosing task (9-31), 40-45 copies, 50-90 is a part of the
        # operation, 100-110 requests it on the device's CPU, 120-130 computes without a launch.
        (10, 30, 5, 1, 0, 77, TEXT['MIX_AIC'], 0, 2, 0, 0), (9, 31, 5, 1, 5, 77, TEXT['MIX_AIC'], 0, 2, 0, 0),
        (40, 45, 5, 2, 1, 77, TEXT['SDMA_SQE'], 0, 2, 1, 0), (50, 90, 5, 3, 2, 77, TEXT['AI_CORE'], 0, 4, 2, 0),
        (100, 110, 5, 4, 3, 77, TEXT['AicpuKernel'], 0, 2, 3, 0),
        (120, 130, 5, 2**32 - 1, 4, 77, TEXT['AI_CORE'], 0, 2, 4, 0)],
    'COMPUTE_TASK_INFO (name, globalTaskId, blockNum, mixBlockNum, taskType)': [
        (TEXT['MatMul1'], 0, 1, 1, 0), (TEXT['MatMul1'], 4, 1, 1, 0)],
    'COMMUNICATION_TASK_INFO (name, globalTaskId)': [(TEXT['Notify_Wait'], 2)],
    'COMMUNICATION_SCHEDULE_TASK_INFO (name, globalTaskId)': [(TEXT['AicpuKernel'], 3)],
    'MEMCPY_INFO (globalTaskId, size, memcpyOperation)': [(1, 4096, 2)],
    'COMMUNICATION_OP (opName, startNs, endNs, connectionId, groupName, opId, dataType, count, deviceId, rankSize)': [
        (TEXT['hcom_allReduce__123_0_1'], 20, 95, 3, TEXT['10.0.0.1%eth0_60000_0_1'], 0, 11, 100, 5, 2)],
    'CANN_API (startNs, endNs, type, globalTid, connectionId, name)': [
        (5, 6, 10000, THREAD + 1, 1, TEXT['launch']), (7, 8, 10000, THREAD, 2, TEXT['launch']),
        (8, 9, 10000, THREAD, 3, TEXT['launch'])],
    'PYTORCH_API (startNs TEXT, endNs TEXT, globalTid, connectionId, name, sequenceNumber, fwdThreadId, inputDtypes, '
    'inputShapes, callchainId, type)': [
        (1, 140, THREAD, None, TEXT['ProfilerStep#7'], -1, 0, None, None, None, 50001),
        (2, 5, THREAD, None, TEXT['aten::mm'], 9, 0, None, TEXT['8,4;\n4,2'], 6, 50001),
        (3, 4, THREAD, 0, TEXT['Enqueue'], None, None, None, None, None, 50002),
        (4, 7, THREAD + 1, 1, TEXT['Dequeue@MatMul'], None, None, None, None, None, 50002)],
    'CONNECTION_IDS (id, connectionId)': [(0, 500), (1, 500)],
    'PYTORCH_CALLCHAINS (id, stack, stackDepth)': [(6, TEXT['f.py(1): run'], 0), (6, TEXT['f.py(9): main'], 1)],
    'MSTX_EVENTS (startNs, endNs, eventType, message, globalTid)': [(1, 6, 1, TEXT['forward'], THREAD)],
    'OP_MEMORY (name, size, allocationTime, releaseTime, allocationTotalAllocated, allocationTotalReserved, '
    'allocationTotalActive, releaseTotalAllocated, releaseTotalReserved, deviceId)': [
        (0, 512, 3, 60, 1512, 4096, 1512, 1000, 4096, 5), (0, 64, 4, None, 64, 64, None, None, None, 5)],
    'HBM (deviceId, timestampNs, bandwidth, hbmId, type)': [(5, 20, 300, 0, TEXT['read']), (5, 30, 500, 0, TEXT['read'])],
    'OVERLAP_ANALYSIS (id, deviceId, startNs, endNs, type)': [  # of compute, communication, exposed
        (0, 5, 10, 30, 0), (1, 5, 120, 130, 0), (2, 5, 20, 95, 1), (3, 5, 30, 95, 2)],
}
SCHEMA_APIS = next(rows_of for table, rows_of in SCHEMA.items() if table.startswith('PYTORCH_API'))
SCHEMA_OPERATION = next(rows_of[0] for table, rows_of in SCHEMA.items() if table.startswith('COMMUNICATION_OP'))
TIMES = {'startNs', 'endNs', 'timestampNs', 'allocationTime', 'releaseTime'}


def database(path, **changed):
    """Writes a database with the rows of SCHEMA, or of `changed` for tables named there."""
    at = 1_700_000_000_000_000
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with sqlite3.connect(path) as db:
        db.execute('CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)')
        db.executemany('INSERT INTO STRING_IDS VALUES (?, ?)', enumerate(STRINGS))
        for table, rows_of in SCHEMA.items():
            db.execute(f'CREATE TABLE {table}')
            columns = [column.split()[0] for column in table[table.index('(') + 1:-1].split(',')]
            for row in changed.get(table.split()[0], rows_of):
                db.execute(f'INSERT INTO {table.split()[0]} VALUES ({", ".join("?" * len(row))})',
                           [(at + value) * 1000 if name in TIMES and value is not None else value
                            for name, value in zip(columns, row)])
    return path


def test_a_database_by_the_newer_schema():
    """The same recording as text is next to it and is left out."""
    for rank in (0, 1):
        folder = f'job/node-b_{rank}_20250109074803_ascend_pt/ASCEND_PROFILER_OUTPUT'
        # Rank 1 has types and shapes swapped, as torch_npu has written them.
        apis = [row if rank == 0 or row[8] is None else (*row[:7], row[8], TEXT['launch'], *row[9:])
                for row in SCHEMA_APIS]
        database(f'{folder}/ascend_pytorch_profiler_{rank}.db', RANK_DEVICE_MAP=[(rank, 5)], PYTORCH_API=apis)
    put(f'{folder}/trace_view.json', b'[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "CANN"}}]')
    tmerge('job').expect(0)
    reported = tables('tmerge.h5', 'overlap.rank', 'job.rank', 'job.left_out', 'launches.rank', 'kernels.kernel',
                  'transfers.kind', 'memory.device', 'host.counter', 'collectives.instance', 'kernels.launched/kernel',
                  'calls.call/annotation', 'calls.call/shape', 'calls.tree/function', 'groups.group')
    equal([(row['rank'], row['host'], row['device'], row['remarks']) for row in reported['job.rank']],
          [(rank, 'node-a', 5, None) for rank in (0, 1)])
    equal([row['reason'] for row in reported['job.left_out']], ['covered'])
    # Compute 20 + 10, of which 10 overlap the operation of 75; the copy lies within it.
    equal([(row['compute_ns'], row['comm_ns'], row['overlap_ns'], row['memory_ns']) for row in reported['overlap.rank']],
          [(30000, 75000, 10000, 5000)] * 2)
    equal({row['name']: (row['calls'], row['total_ns']) for row in reported['kernels.kernel']},
          {'MatMul': (2, 40000), 'MatMul1': (2, 20000), 'hcom_allReduce': (2, 150000)})
    # The operator that queued the kernel launched it.
    launchers = {row['kernel']: row['operator'] for row in reported['kernels.launched/kernel']}
    equal((launchers['MatMul'], launchers['MatMul1']), ('aten::mm', '(launch not recorded)'))
    equal([(row['events'], row['launches'], row['unlinked']) for row in reported['launches.rank']], [(3, 3, 1)] * 2)
    equal([(row['kind'], row['count'], row['bytes']) for row in reported['transfers.kind']], [('dtoh', 1, 4096)] * 2)
    equal([(row['allocations'], row['peak_bytes'], row['end_bytes']) for row in reported['memory.device']],
          [(1, 1512, 1000)] * 2)
    equal([(row['name'], row['samples'], row['mean']) for row in reported['host.counter']], [('HBM 0 read', 2, 400)] * 2)
    equal([(row['group'], row['bytes']) for row in reported['collectives.instance']],
          [('10.0.0.1%eth0_60000_0_1', 200)])
    equal([row['name'] for row in reported['calls.call/annotation']], ['forward'])
    equal([(row['shapes'], row['calls']) for row in reported['calls.call/shape']], [('[[8, 4], [4, 2]]', 2)])
    holds({'f.py(1): run', 'f.py(9): main'} < {row['name'] for row in reported['calls.tree/function']}, 'the stack')
    equal([(row['description'], row['complete']) for row in reported['groups.group']], [('default_group', 1)])
    # Two ranks of a group of four make no complete operation.
    for rank in (0, 1):
        database(f'{rank}.db', RANK_DEVICE_MAP=[(rank, 5)], META_DATA=[], COMMUNICATION_OP=[
            (*SCHEMA_OPERATION[:-1], 4)])
    merged('0.db', '1.db', '-o', 'four.h5')
    equal([(row['ranks'], row['complete']) for row in rows('four.h5', 'groups.group')], [(4, 0)])
    tmerge(database('ranks.db', RANK_DEVICE_MAP=[(3, 5), (4, 6)])).fails(
        3, 'ranks.db: this database has several ranks (3 and 4 in RANK_DEVICE_MAP): give one database per rank')
    # Descriptions without their task or operation are counted, as are samples that are no numbers.
    # An empty id refers to no row.
    for table, rows_of, remarks in (
            ('TASK', [], {'unknown_work_time': 2, 'other_sums': 2}),
            ('COMMUNICATION_OP', [], {'unknown_work_time': 2, 'other_sums': 2}),
            ('COMPUTE_TASK_INFO', [(TEXT['MatMul1'], None, 1, 1, 0)], {'unknown_work_time': 1, 'other_sums': 2}),
            ('OP_MEMORY', [(0, 'x', 3, 60, 1512, 4096, 1512, 1000, 4096, 5)], {'bad_value': 1}),
            ('HBM', [(5, 20, 'x', 0, TEXT['read']), (5, 30, float('inf'), 0, TEXT['read'])], {'bad_value': 2})):
        merged(database(f'{table}.db', **{table: rows_of}), '-o', 'x.h5')
        equal({row['remark']: row['count'] for row in rows('x.h5', 'job.remark')}, remarks)
    # The profiler's sums are compared with the events'; COMMUNICATION_OP is communication.
    database('odd.db', OVERLAP_ANALYSIS=[(0, 5, 10, 50, 0)], PYTORCH_CALLCHAINS=[(6, 999, 0)],
             COMMUNICATION_OP=[(TEXT['forward'], 20, 95, 3, None, 0, 11, 100, None, None)])
    tmerge('odd.db', '-o', 'odd.h5').expect(0)
    equal([row['remark'] for row in rows('odd.h5', 'job.remark')], ['other_sums'])
    equal([row['comm_ns'] for row in rows('odd.h5', 'overlap.rank')], [75000])


if __name__ == '__main__':
    main()
