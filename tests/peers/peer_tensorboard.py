"""Compares TensorBoard's PyTorch profiler with tmerge (peers.py): its overview, kernel view and operator
view, each rank separately.
"""
import os
import sys

import peers

VERSION = '0.4.3'
JOBS = ('nanogpt8', 'kineto-samples/worker0.1623143089861.pt.trace.json.gz',
        'kineto-samples/autograd_num_workers_4.2021-01.json.gz', 'single/h100_qwen.json.gz', *peers.MADE)
US = 1000
PARTS = {'Kernel': 'kernel_ns', 'Memcpy': 'memcpy_ns', 'Memset': 'memset_ns', 'Communication': 'comm_ns',
         'Runtime': 'runtime_ns', 'DataLoader': 'input_ns', 'CpuOp': 'cpu_ns', 'Other': 'other_ns',
         'Total': 'step_ns'}


COLUMNS = {'calls': 'calls', 'host_duration': 'host_total_ns', 'self_host_duration': 'host_self_ns',
           'device_duration': 'device_total_ns', 'self_device_duration': 'device_self_ns'}
AS_IT_IS = ', as it is'


def theirs(path):
    import logging
    logging.disable(logging.CRITICAL)
    from torch_tb_profiler import io
    from torch_tb_profiler.profiler.data import RunProfileData
    from torch_tb_profiler.profiler.overall_parser import ProfileRole
    os.makedirs('cache', exist_ok=True)
    operators = {}
    for at, name in enumerate(sorted(os.listdir(path))):
        data = RunProfileData.parse('worker', 1, os.path.join(path, name), os.path.abspath('cache'))
        for step, costs in zip(data.steps_names, data.steps_costs):
            for part in PARTS:
                yield 'overview', [at, step, part], costs.costs[getattr(ProfileRole, part)] * US
        for name, row in data.kernel_stat.iterrows() if data.kernel_stat is not None else ():
            for figure in ('sum', 'max', 'min'):
                yield 'kernel', [at, name, figure], float(row[figure]) * US
            yield 'calls', [at, name], int(row['count'])
        for op in data.op_list_groupby_name:
            sums = operators.setdefault(op.name, dict.fromkeys(COLUMNS, 0))
            for figure in COLUMNS:
                sums[figure] += getattr(op, figure)
    for name, sums in operators.items():
        yield 'operator calls', name, sums.pop('calls')
        for figure, value in sums.items():
            yield 'operator', [name, figure], value * US


def prepared(path):
    """Returns a folder with one file per rank. TensorBoard knows only the categories of 2021. So newer
    traces are also compared with categories renamed to these, and without GPU annotations, which it
    takes for steps.
    """
    names = [name for name in sorted(os.listdir(path)) if name != 'truth.json'] if os.path.isdir(path) else ['']
    files = {name or 'rank0': peers.read(os.path.join(path, name).rstrip('/')) for name in names}
    files = {name: reported if isinstance(reported, dict) else {'traceEvents': reported} for name, reported in files.items()}
    given, newer = peers.written('given', files), False
    for reported in files.values():
        kept = [event for event in reported['traceEvents'] if event.get('cat') != 'gpu_user_annotation']
        for event in kept:
            if event.get('cat') in ('cuda_runtime', 'cuda_driver'):
                event['cat'], newer = 'Runtime', True
        reported['traceEvents'] = kept
    return [(AS_IT_IS, given), ('', peers.written('renamed', files))] if newer else [('', given)]


def ours(store):
    ranks = [row['rank'] for row in peers.tables(store, 'job.rank')['job.rank']]
    place, found = {rank: at for at, rank in enumerate(ranks)}, {}
    tables = peers.tables(store, 'overview.step', 'calls.call')
    for row in tables['overview.step']:
        for part, column in PARTS.items():
            found['overview', (place[row['rank']], str(row['step']), part)] = row[column]
    for row in peers.query(store, peers.KERNELS):
        for name in ('sum', 'max', 'min'):
            found['kernel', (place[row['rank']], row['name'], name)] = row[name]
        found['calls', (place[row['rank']], row['name'])] = row['calls']
    for row in (row for row in tables['calls.call'] if row['level'] == 'operator'):
        for figure, column in COLUMNS.items():
            at = ('operator calls', row['name']) if figure == 'calls' else ('operator', (row['name'], figure))
            found[at] = row[column]
    return found


def by_their_rule(store):
    """Returns figures by TensorBoard's rule: it counts communication kernels as Kernel unless an operator
    name of 2021 (nccl:all_reduce) marks them.
    """
    place = {row['rank']: at for at, row in enumerate(peers.tables(store, 'job.rank')['job.rank'])}
    why = "kernels of communication are Kernel there, and waits for data Other, but for operators' names of 2021"
    found = {}
    for row in peers.tables(store, 'overview.step')['overview.step']:
        for part, value in (('Kernel', row['kernel_ns'] + row['comm_ns']), ('Communication', 0), ('DataLoader', 0),
                            ('Other', row['other_ns'] + row['input_ns'])):
            found['overview', (place[row['rank']], str(row['step']), part)] = value, why
    return found


def within(figure, _):
    return 0 if figure.endswith('calls') else US


def in_words(figure, file, key):
    if figure.endswith(AS_IT_IS):
        return 'wrong there: calls of the runtime (cuda_runtime) are unknown, and annotations on the GPU are steps'
    if figure == 'overview':
        return 'what a step is beside kernels follows from that; operators that touch the one before are left out there'
    if file in peers.MADE or file == 'nanogpt8':
        return 'wrong there: an operator that begins where the one before ends is left out (sums as floating point)'
    return 'of operators of one name in one another calls count once there, and times twice'


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    peers.main('tensorboard', VERSION, [f'torch-tb-profiler=={VERSION}'], JOBS, ours, by_their_rule, within,
               in_words, prepared)
