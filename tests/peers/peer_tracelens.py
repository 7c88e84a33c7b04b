"""Compares AMD's TraceLens with tmerge (peers.py): timelines of GPUs, kernels, waits of collectives, FLOP
and bytes of operators. It is on GitHub, not on PyPI; TMERGE_TRACELENS may name a local clone. Its jobs
include the 22 labelled cases of its agent's tests.
"""
import json
import math
import os
import re
import sys
import tarfile

import peers

TIES = '; among ties within the uncertainty of clocks tmerge has no last'
COMMIT = '171dd74721ca1ec45709e5805b68ae1f65e27811'
JOBS = ('nanogpt8', 'megatron2', 'single/mi300_resnet_ddp_rank0.json.gz', 'single/b200_eager.json.gz',
        'inference/vllm_decode_full.json.gz', *peers.MADE)
EVALS = 'agent_evals/Analysis/analysis_tests/unit_tests_standalone.tar.gz'
US = 1000
TIMES = {'computation_time': 'compute_ns', 'exposed_comm_time': 'exposed_comm_ns', 'busy_time': 'busy_ns',
         'exposed_memcpy_time': 'exposed_memory_ns', 'idle_time': 'idle_ns', 'total_time': 'window_ns',
         'total_comm_time': 'comm_ns', 'total_memcpy_time': 'memory_ns'}


def key(name, dims):
    """Returns the key of an operator: its name and its first three inputs, which all figures need."""
    return name.replace('::_convolution', '::convolution'), json.dumps(dims[:3])


def work(rows):
    """Yields FLOP and bytes of products, convolutions and attention. rows: (name, category, dims, calls,
    GFLOP and MiB of a call)."""
    sums = {}
    for name, category, dims, calls, flop, size in rows:
        if category.split('_')[0] in ('GEMM', 'CONV', 'SDPA') and flop == flop and dims:
            of = sums.setdefault(key(name, json.loads(json.dumps(dims))), [0, 0, 0])
            for i, value in enumerate((1, flop * 1e9, size * 2**20)):
                of[i] += float(value) * calls
    for at, of in sums.items():
        yield from zip(('calls', 'flop', 'bytes'), (at,) * 3, of)


def theirs(path):
    sys.path.insert(0, os.path.join(peers.CACHE, 'tracelens', 'source'))
    from TraceLens import NcclAnalyser, TreePerfAnalyzer
    files, operators = sorted(os.path.join(path, name) for name in os.listdir(path)), []
    for rank, file in enumerate(files):
        analysis = TreePerfAnalyzer.from_file(file)
        for row in analysis.get_df_gpu_timeline().to_dict('records'):
            yield 'timeline', [rank, row['type']], row['time ms'] * 1000 * US
        kernels = analysis.get_df_kernels()
        for name, times in kernels.groupby('Kernel name')['Kernel duration (µs)']:
            for figure, value in (('sum', times.sum()), ('max', times.max()), ('min', times.min())):
                yield 'kernel', [rank, name, figure], value * US
            yield 'calls', [rank, name], len(times)
        for row in analysis.build_df_unified_perf_table(include_kernel_details=False).to_dict('records'):
            operators.append((row['name'], row['op category'], row['Input Dims'], 1, row.get('GFLOPS', math.nan),
                              row.get('Data Moved (MB)', math.nan)))
    yield from work(operators)
    if len(files) > 1:
        for row in NcclAnalyser(files, len(files)).build_df_straggler_summary(False).to_dict('records'):
            yield 'collectives', [row['rank'], 'wait'], row['total_wait_time_us'] * US
            yield 'collectives', [row['rank'], 'duration'], row['total_nccl_dur_us'] * US
            yield 'arrivals', row['rank'], row['times_arrived_last']


def prepared(path):
    """Returns a folder with one file per rank, in rank order, under the original names."""
    names = sorted(os.listdir(path)) if os.path.isdir(path) else ['']
    return [('', peers.written('given', {name or 'rank0': peers.read(os.path.join(path, name).rstrip('/'))
                                         for name in names if name != 'truth.json'}))]


def places(store):
    """Returns the index of each rank, which TraceLens uses as its number."""
    return {row['rank']: at for at, row in enumerate(peers.tables(store, 'job.rank')['job.rank'])}


def ours(store):
    tables, found, place = peers.tables(store, 'overlap.rank', 'stragglers.rank'), {}, places(store)
    for (figure, at), (_, _, value) in operators(store).items():
        found[figure, at] = found.get((figure, at), 0) + value
    for row in tables['overlap.rank']:
        for name, column in TIMES.items():
            found['timeline', (place[row['rank']], name)] = row[column]
    for row in tables['stragglers.rank']:
        found['collectives', (place[row['rank']], 'wait')] = row['wait_ns']
        found['arrivals', place[row['rank']]] = row['last_arrivals']
    for row in peers.query(store, "SELECT rank, sum(duration_ns) AS sum FROM events WHERE role = 'communication' "
                           'GROUP BY rank'):
        found['collectives', (place[row['rank']], 'duration')] = row['sum']
    for row in peers.query(store, peers.KERNELS):
        for name in ('sum', 'max', 'min'):
            found['kernel', (place[row['rank']], row['name'], name)] = row[name]
        found['calls', (place[row['rank']], row['name'])] = row['calls']
    return found


def operators(store):
    """Returns the operators' figures as [dims, row, value] by figure and key."""
    found = {}
    for row in peers.tables(store, 'efficiency.work')['efficiency.work']:
        if row['level'] == 'operator' and row['shapes'].endswith(']'):
            dims = json.loads(row['shapes'])
            for figure in ('calls', 'flop', 'bytes'):
                of = found.setdefault((figure, key(row['name'], dims)), [dims, row, 0])
                of[2] += row[figure] or 0
    return found


def by_their_formulas(store):
    """Returns FLOP and bytes by TraceLens's formulas, where they differ."""
    found = {}
    for (figure, at), (dims, row, value) in operators(store).items():
        sizes = [math.prod(d) * row['calls'] if d else 0 for d in dims[:3]]
        width, formula = {'bf16': 2, 'fp16': 2}.get(row['type'], 4), (figure, at[0].split('::')[1])
        if formula in (('flop', 'addmm'), ('flop', 'baddbmm')):
            output = row['calls'] * math.prod(dims[1][:-1]) * dims[2][-1]
            found[figure, at] = value + output, 'TraceLens counts the bias, too'
        elif formula == ('bytes', 'baddbmm'):
            vectors = sizes[0] // dims[1][1]
            found[figure, at] = value - (sizes[0] - vectors) * width, 'wrong there: the bias of baddbmm is no vector'
        elif formula == ('bytes', '_scaled_mm'):
            output = row['calls'] * dims[0][0] * dims[1][1]
            found[figure, at] = value - 2 * output, "wrong there: _scaled_mm's out_dtype is float"
        elif figure == 'flop' and 'attention' in at[0]:
            found[figure, at] = value / 2, 'TraceLens counts half of the scores of causal attention'
        elif formula == ('flop', 'convolution_backward'):
            found[figure, at] = 2 * value, 'wrong there: TraceLens counts a gradient that was not asked for'
        elif formula == ('bytes', 'convolution_backward'):
            found[figure, at] = 2 * sum(sizes) * width, "TraceLens counts the output's gradient twice"
        elif formula == ('bytes', 'convolution'):
            found[figure, at] = value - sum(sizes[2:]) * width, 'TraceLens does not count the bias'
    return found


def kept(store):
    """Returns the GPU events that TraceLens keeps, by rank, and how its rules differ from tmerge's."""
    found, reasons, place = {}, {}, places(store)
    amd = any(row['name'].startswith('hip') for row in peers.tables(store, 'launches.api')['launches.api'])
    for e in peers.query(store, "SELECT rank, name, category, role, begin_ns, duration_ns, launch FROM events "
                         "WHERE track = 'gpu' AND role IS NOT NULL"):
        rank, is_set = place[e['rank']], e['category'] == 'gpu_memset'
        why = reasons.setdefault(rank, set())
        if e['launch'] is None or is_set and amd:
            why.add('TraceLens leaves out ' + ("sets of memory on AMD's GPUs" if e['launch'] else
                                               'kernels without a recorded launch'))
            continue
        e['kind'] = e['role']
        if is_set or e['role'] == 'communication' and not re.search('nccl|rccl|cross_device_reduce', e['name']):
            why.add('to TraceLens sets of memory are computation' if is_set else
                    f"TraceLens does not know {e['name'][:24]} as communication")
            e['kind'] = 'compute'
        found.setdefault(rank, []).append(e)
    return {rank: (events, '; '.join(sorted(reasons[rank]))) for rank, events in found.items()}


def by_their_rule(store):
    """Returns figures from tmerge's events by TraceLens's rule."""
    found, length, merged = {}, peers.length, peers.merged
    for rank, (events, why) in kept(store).items():
        compute, comm, memory = (peers.union([e for e in events if e['kind'] == kind])
                                 for kind in ('compute', 'communication', 'memory'))
        busy, work = merged(compute + comm + memory), length(merged(compute + comm))
        window = busy[-1][1] - busy[0][0]
        for name, value in {
                'computation_time': length(compute), 'total_comm_time': length(comm),
                'total_memcpy_time': length(memory),
                'exposed_comm_time': work - length(compute), 'exposed_memcpy_time': length(busy) - work,
                'busy_time': length(busy), 'total_time': window, 'idle_time': window - length(busy)}.items():
            found['timeline', (rank, name)] = value, why
    return found | waits(store) | by_their_formulas(store)


def waits(store):
    """Returns waits, including any part after the kernel's own end, and last arrivals of operations whose
    kernels have metadata.
    """
    why, found, members = 'TraceLens leaves out collectives without metadata', {}, {}
    place = places(store)
    for e in peers.query(store, 'SELECT rank, operation, begin_ns FROM events WHERE wait_ns IS NOT NULL AND '
                         'process_group IS NOT NULL'):
        members.setdefault(e['operation'], []).append((e['begin_ns'], place[e['rank']]))
    for of in members.values():
        latest = max(of)[0]
        for begin, rank in of:
            for at, value, reason in ((('collectives', (rank, 'wait')), latest - begin, ''),
                                      (('arrivals', rank), begin == latest, TIES)):
                found[at] = found.get(at, (0,))[0] + value, why + reason
    return found


def within(figure, value):
    return {'calls': 0, 'arrivals': 0, 'flop': value / 10**9, 'bytes': value / 10**9}.get(figure, US)


def in_words(figure, file, at):
    """Returns why tmerge does not have an operator's figure."""
    if figure not in ('calls', 'flop', 'bytes') or not isinstance(at, list) or not isinstance(at[0], str):
        return None
    if 'conv_' in file:
        return "arguments written as PyTorch does not write them: '(2,2)', 'Float'"
    if 'inference/' in file:
        return ("tmerge counts PyTorch's operator inside" if not at[0].startswith('aten::') else
                "TraceLens adds operators of a graph's capture from a second trace")
    return None


def evals():
    """Unpacks the cases of TraceLens's agent here; returns their paths."""
    with tarfile.open(os.path.join(peers.CACHE, 'tracelens', 'source', EVALS)) as file:
        names = [m for m in file.getmembers() if m.name.endswith('.json') and '/._' not in m.name]
        for member in names:
            member.name = 'evals/' + os.path.basename(member.name)
            file.extract(member)
    return sorted(member.name for member in names)


def cloned(folder, *paths):
    """Checks paths of TraceLens out, or skips the test."""
    folder = os.path.join(peers.CACHE, folder)
    if not peers.clone(folder, 'TMERGE_TRACELENS', 'https://github.com/AMD-AGI/TraceLens', COMMIT, paths):
        peers.skip('no TraceLens: is there a network?')
    return folder


PACKAGES = ['pandas==2.2.3', 'tqdm', 'openpyxl', 'orjson', 'PyYAML', 'matplotlib', 'tabulate', 'protobuf']
if __name__ == '__main__':
    if sys.argv[1:2] == ['--peer']:
        peers.inside(theirs)
    else:
        peers.environment('tracelens', PACKAGES)
        cloned('tracelens/source', 'TraceLens', 'setup.py', EVALS)
        peers.main('tracelens', COMMIT[:8], PACKAGES, [*JOBS, *evals()], ours, by_their_rule, within, in_words,
                   prepared)
