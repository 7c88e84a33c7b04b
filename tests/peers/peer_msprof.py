"""Compares Ascend's msprof-analyze with tmerge (peers.py): times of steps, sums of operators, of HCCL's
operations and of CANN's calls, and the ranks that it votes slow.

Its recipes read databases, which exist of one real job. It gets one of 8 ranks, too, which is the job
that tmerge-synth makes, written as databases.
"""
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import peers

VERSION = '26.2.0'
US = 1000
JOBS = ('ascend-db', 'ascend-text', 'made-ascend')
GROUP = '10.0.0.1%eth0_60000_0_1'
RECIPES = {'compute_op_sum': 'ComputeOpSum/rank_stats_by_opname', 'hccl_sum': 'HcclSum/rank_stats',
           'cann_api_sum': 'CannApiSum/rank_stats', 'slow_rank': 'SlowRankAnalysis/slow_op_stats'}
STEP = {'Computing': 'compute_ns', 'Communication(Not Overlapped)': 'exposed_comm_ns', 'Overlapped': 'overlap_ns',
        'Communication': 'comm_ns'}
TABLES = ('STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)', 'RANK_DEVICE_MAP (rankId, deviceId)',
          'HOST_INFO (hostUid, hostName)', 'META_DATA (name, value)', 'ENUM_HCCL_DATA_TYPE (id, name)',
          'TASK (startNs, endNs, deviceId, connectionId, globalTaskId, globalPid, taskType, contextId, streamId, '
          'taskId, modelId)', 'COMPUTE_TASK_INFO (name, globalTaskId, blockNum, mixBlockNum, taskType, opType, '
          'inputShapes)', 'COMMUNICATION_OP (opName, startNs, endNs, connectionId, groupName, opId, dataType, '
          'count, opType, deviceId, rankSize)', 'CANN_API (startNs, endNs, type, globalTid, connectionId, name)',
          'SESSION_TIME_INFO (startTimeNs, endTimeNs)')


def folder_of(job, rank):
    """Makes the folder that torch_npu's profiler leaves of a rank; returns the one of its outputs."""
    profile = os.path.join(job, f'node_{rank}_20250109074803_ascend_pt')
    output = os.path.join(profile, 'ASCEND_PROFILER_OUTPUT')
    os.makedirs(output)
    with open(os.path.join(profile, f'profiler_info_{rank}.json'), 'w') as out:
        json.dump({'config': {'experimental_config': {'_export_type': 'db'}}, 'rank_id': rank}, out)
    return output


def real_jobs():
    found = os.path.join(peers.SHARED, 'traces', 'ascend-db')
    for rank in (0, 1) if os.path.exists(found) else ():
        name = f'ascend_pytorch_profiler_{rank}.db'
        shutil.copyfile(os.path.join(found, name), os.path.join(folder_of('ascend-db', rank), name))
        text = folder_of('ascend-text', rank)
        shutil.copyfile(os.path.join(found, 'text', f'rank{rank}', 'step_trace_time.csv'),
                        os.path.join(text, 'step_trace_time.csv'))
        with open(os.path.join(text, 'trace_view.json'), 'w') as out:
            json.dump(peers.read(os.path.join(found, 'text', f'rank{rank}', 'trace_view.json.gz')), out)


def database(path, rank, ranks, events):
    """Writes the kernels of a made rank as torch_npu's database."""
    strings, rows = {}, {table.split()[0]: [] for table in TABLES}

    def text(value):
        return strings.setdefault(value, len(strings))
    rows['RANK_DEVICE_MAP'] = [(rank, rank)]
    rows['HOST_INFO'] = [('1', 'node')]
    rows['ENUM_HCCL_DATA_TYPE'] = [(4, 'FP32')]
    rows['META_DATA'] = [('parallel_group_info', json.dumps({GROUP: {
        'group_name': 'default_group', 'group_rank': rank, 'global_ranks': list(range(ranks))}}))]
    order = operations = 0
    for order, event in enumerate(sorted(events, key=lambda e: e['ts'])):
        begin, end = (round(value * US) for value in (event['ts'], event['ts'] + event['dur']))
        rows['CANN_API'].append((begin - 50000, begin - 45000, 10000, 77, order, text('launch')))
        if event['name'].startswith('nccl'):
            name = text(f'hcom_allReduce__001_{operations}_1')
            rows['COMMUNICATION_OP'].append((name, begin, end, order, text(GROUP), operations, 4, event['args'][
                'In msg nelems'], text('hcom_allReduce_'), rank, ranks))
            operations += 1
        else:
            rows['TASK'].append((begin, end, rank, order, order, 77, text('AI_CORE'), 0, 2, order, 0))
            rows['COMPUTE_TASK_INFO'].append((text(event['name']), order, 1, 1, text('AI_CORE'), text('Op'), text('')))
    times = [time for row in rows['CANN_API'] for time in row[:2]]
    rows['SESSION_TIME_INFO'] = [(min(times) - 10**6, max(times) + 10**9)]
    rows['STRING_IDS'] = [(number, value) for value, number in strings.items()]
    with sqlite3.connect(path) as db:
        for table in TABLES:
            db.execute(f'CREATE TABLE {table}')
            for row in rows[table.split()[0]]:
                db.execute(f'INSERT INTO {table.split()[0]} VALUES ({", ".join("?" * len(row))})', row)


def made_job():
    path = peers.job('made8')
    ranks = [name for name in os.listdir(path) if name.startswith('profile')]
    for rank in range(len(ranks)):
        trace = peers.read(os.path.join(path, f'profile_rank_{rank}.json'))
        base = trace.get('baseTimeNanoseconds', 0) / US
        events = [{**event, 'ts': event['ts'] + base} for event in trace['traceEvents'] if event.get('cat') == 'kernel']
        database(os.path.join(folder_of('made-ascend', rank), f'ascend_pytorch_profiler_{rank}.db'), rank,
                 len(ranks), events)


def table(name):
    found = glob.glob(f'results/cluster_analysis_output/{name}.csv')
    with open(found[0] if found else os.devnull) as file:
        return list(csv.DictReader(file))


def unnumbered(name):
    """Returns an operator's name without the number that the compiler gives each, as tmerge has it."""
    return name if name.startswith('aclnn') else re.sub(r'_?\d+(?=$|_MemSet$)', '', name)


def theirs(path):
    def analyse(mode, *more):
        subprocess.run([os.path.join(os.path.dirname(sys.executable), 'msprof-analyze'), 'cluster', '-m', mode, '-d',
                        path, '-o', 'results', *more], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shutil.rmtree('results', ignore_errors=True)
    if 'text' in path:
        analyse('all')
        for row in table('cluster_step_trace_time'):
            for name in STEP:
                yield 'step', [int(row['Index']), name], float(row[name]) * US
        return
    for recipe in RECIPES:
        analyse(recipe, '--export_type', 'text')
    for recipe in ('compute_op_sum', 'hccl_sum', 'cann_api_sum'):
        sums = {}
        for row in table(RECIPES[recipe]):
            row = {name.lower().replace('total', '').replace('time(', 'sum('): value for name, value in row.items()}
            at = recipe, int(row['rank']), unnumbered(row.get('opname') or row.get('name') or 'all')
            sums.setdefault(at, []).append(row)
        for at, of in sums.items():
            yield 'calls', [*at], sum(int(row['count']) for row in of)
            for figure, merge in (('sum', sum), ('max', max), ('min', min)):
                yield 'time', [*at, figure], merge(float(row[f'{figure}(us)']) for row in of) * US
    for row in table(RECIPES['slow_rank']):
        yield 'slow', int(row['OpName'].split('_')[-2]), int(row['SlowRank'])


SUMS = """SELECT rank, {} AS name, count(*) AS count, sum(duration_ns) AS sum, max(duration_ns) AS max,
    min(duration_ns) AS min FROM events WHERE {} GROUP BY 1, 2"""
KINDS = {'compute_op_sum': ('name', "role = 'compute'"), 'hccl_sum': ("'all'", "role = 'communication'"),
         'cann_api_sum': ('name', "category = 'cuda_runtime'")}


def ours(store):
    found = {}
    for recipe, (name, which) in KINDS.items():
        for row in peers.query(store, SUMS.format(name, which)):
            found['calls', (recipe, row['rank'], row['name'])] = row['count']
            for figure in ('sum', 'max', 'min'):
                found['time', (recipe, row['rank'], row['name'], figure)] = row[figure]
    tables = peers.tables(store, 'overlap.step', 'collectives.worst')
    for row in tables['overlap.step']:
        for name, column in STEP.items():
            found['step', (row['rank'], name)] = row[column]
    for row in tables['collectives.worst']:
        found['slow', row['seq']] = row['last_rank']
    return found


def within(figure, _):
    return {'step': 100, 'time': 1}.get(figure, 0)


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    for name in JOBS:
        shutil.rmtree(name, ignore_errors=True)
    real_jobs()
    made_job()
    peers.main('msprof', VERSION, [f'msprof-analyze=={VERSION}', 'pandas==2.2.3'], JOBS, ours, lambda _: {}, within)
