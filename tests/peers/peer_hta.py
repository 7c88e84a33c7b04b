"""Compares HolisticTraceAnalysis with tmerge (peers.py): temporal breakdown, overlap, kernels, idle
time of streams, launches, queue lengths, copies and steps.
"""
import os
import re
import sys

import peers

VERSION = '0.5.0'
JOBS = ('nanogpt8', 'dlrm8', 'hta2', 'megatron2', 'lightllm8', *peers.MADE)
US = 1000
# Calls that HTA counts as launches, in its statistics and in its queues.
LAUNCHES = ('cudaLaunchKernel', 'cudaLaunchKernelExC', 'cudaMemcpyAsync', 'cudaMemsetAsync')
QUEUED = (*LAUNCHES, 'cuLaunchKernel')
NOT_LAUNCHED = 'HTA leaves out kernels without a recorded launch'
WHOLE = "the trace's durations are whole microseconds, its argument of bandwidth, which HTA takes, is exact"
WITH_TRITON = ', as it is'
KINDS = {'Memcpy DtoH': 'dtoh', 'Memcpy HtoD': 'htod', 'Memcpy DtoD': 'dtod', 'Memset': 'set'}


def theirs(path):
    """Yields all figures of HTA, over all steps and without its rounding to whole microseconds."""
    os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
    import logging
    import warnings
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings('ignore')
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_dir=path, include_last_profiler_step=True)
    for row in analysis.get_temporal_breakdown(visualize=False).to_dict('records'):
        for name in ('idle', 'compute', 'non_compute', 'kernel'):
            yield 'temporal', [row['rank'], name], row[f'{name}_time(us)'] * US
    for row in analysis.get_comm_comp_overlap(visualize=False).to_dict('records'):
        yield 'overlap', row['rank'], row['comp_comm_overlap_pctg']
    ranks = sorted(analysis.t.traces)
    # num_kernels is large because, with more kernels than that, all columns except the sum are of sums.
    _, kernels = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=100000, include_memory_kernels=True)
    for row in kernels.to_dict('records'):
        for name in ('sum', 'max', 'min', 'mean'):
            yield 'kernel', [row['rank'], row['name'], name], row[f'{name} (us)'] * US
    for rank in ranks:
        for row in analysis.get_idle_time_breakdown([rank], visualize=False)[0].to_dict('records'):
            yield 'idle', [rank, row['stream'], row['idle_category']], row['idle_time'] * US
    for rank, calls in analysis.get_cuda_kernel_launch_stats(ranks, visualize=False).items():
        yield 'launch', [rank, 'events'], len(calls)
        yield 'launch', [rank, 'short'], int((calls['gpu_duration'] < calls['cpu_duration']).sum())
        yield 'launch', [rank, 'latency'], calls['launch_delay'].mean() * US
    queue = analysis.get_queue_length_summary(ranks)
    for (rank, stream), row in queue['queue_length'].iterrows():
        yield 'queue', [rank, stream], row['max']
    copies = analysis.get_memory_bw_summary(ranks)
    for (rank, name), row in copies['memory_bw_gbps'].iterrows() if copies is not None else ():
        yield 'copies', [rank, KINDS.get(name, name)], row['max']
    yield 'steps', 'number', len(analysis.get_profiler_steps())


def prepared(path):
    """Returns the folder in HTA's format. Host operators of Triton kernels have a stream argument, and HTA
    takes every event with one for a kernel. A job with such operators is also compared without that
    argument.
    """
    files = {name: peers.read(os.path.join(path, name)) for name in sorted(os.listdir(path)) if name != 'truth.json'}
    given = peers.written('given', files)
    operators = [event['args'] for reported in files.values() for event in reported['traceEvents']
                 if event.get('cat') == 'cpu_op' and 'stream' in event.get('args', ())]
    if not operators:
        return [('', given)]
    for arguments in operators:
        del arguments['stream']
    return [(WITH_TRITON, given), ('', peers.written('without', files))]


def launched(store, calls):
    """Returns rank, stream and times of events launched by calls with these names, and of the calls."""
    return peers.query(store, f"""WITH call AS MATERIALIZED (
            SELECT event, begin_ns, duration_ns FROM events WHERE track = 'cpu' AND name IN {calls})
        SELECT e.rank, e.stream, e.begin_ns, e.duration_ns, call.begin_ns AS call_ns,
               call.duration_ns AS call_duration_ns
        FROM events e JOIN call ON e.launch = call.event WHERE e.track = 'gpu' AND e.role IS NOT NULL""")


def queues(events):
    """Yields the maximum number of events launched and not yet begun, by rank and stream, by HTA's rule."""
    changes = {}
    for e in events:
        at = changes.setdefault((e['rank'], e['stream']), [])
        at += [(e['call_ns'], 1), (e['begin_ns'], -1)]
    for (rank, stream), at in changes.items():
        length = most = 0
        for _, change in sorted(at, key=lambda c: (c[0], -c[1])):
            length += change
            most = max(most, length)
        yield ('queue', (rank, stream)), most


def ours(store):
    """Returns tmerge's figures: from its tables, or from its events if the tables combine all ranks."""
    tables = peers.tables(store, 'overlap.rank', 'idle.stream', 'launches.rank', 'overlap.step')
    found = {('steps', 'number'): len({row['step'] for row in tables['overlap.step']})}
    for row in tables['overlap.rank']:
        rank, compute = row['rank'], row['compute_ns']
        values = row['idle_ns'], compute, row['busy_ns'] - compute, row['window_ns']
        for name, value in zip(('idle', 'compute', 'non_compute', 'kernel'), values):
            found['temporal', (rank, name)] = value
        found['overlap', rank] = row['overlap_pct']
    for row in peers.query(store, 'SELECT rank, name, sum(duration_ns) AS sum, max(duration_ns) AS max, '
                           'min(duration_ns) AS min, avg(duration_ns) AS mean FROM events '
                           "WHERE track = 'gpu' AND role IS NOT NULL GROUP BY rank, name"):
        for name in ('sum', 'max', 'min', 'mean'):
            found['kernel', (row['rank'], row['name'], name)] = row[name]
    for row in tables['idle.stream']:
        for name in ('host_wait', 'kernel_wait', 'other'):
            found['idle', (row['rank'], row['stream'], name)] = row[f'{name}_ns']
    for row in tables['launches.rank']:
        for name, column in (('events', 'events'), ('short', 'short_events'), ('latency', 'mean_latency_ns')):
            found['launch', (row['rank'], name)] = row[column]
    found.update(queues(launched(store, QUEUED)))
    for row in peers.query(store, "SELECT rank, name, max(1.0 * bytes / duration_ns) AS most FROM events "
                           "WHERE track = 'gpu' AND role = 'memory' AND duration_ns > 0 GROUP BY rank, name"):
        kind = next((kind for name, kind in KINDS.items() if row['name'].startswith(name)), row['name'])
        found['copies', (row['rank'], kind)] = max(row['most'] or 0, found.get(('copies', (row['rank'], kind)), 0))
    return found


def kernels_by_rank(store):
    """Returns the GPU events that HTA keeps, by rank, and why they or their kinds differ from tmerge's."""
    tables = peers.tables(store, 'job.rank', 'overlap.step')
    steps = len({row['step'] for row in tables['overlap.step']})
    opened = {row['rank'] for row in tables['job.rank'] if row['opening_ns']}
    found, reasons = {}, {}
    for e in peers.query(store, "SELECT rank, stream, name, role, begin_ns, duration_ns, launch FROM events "
                         "WHERE track = 'gpu' AND role IS NOT NULL ORDER BY begin_ns"):
        rank, why = e['rank'], reasons.setdefault(e['rank'], set())
        if steps > 1 and e['launch'] is None:
            why.add(NOT_LAUNCHED)
            continue
        if e['rank'] in opened:
            why.add('tmerge sets the opening of the recording apart')
        e['kind'] = ('communication' if re.match('nccl.*Kernel', e['name']) else
                     'memory' if re.match('Mem(cpy|set)', e['name']) else 'compute')
        if e['kind'] != e['role']:
            why.add('HTA knows no communication but nccl*Kernel')
        found.setdefault(rank, []).append(e)
    return {rank: (events, '; '.join(sorted(reasons[rank]))) for rank, events in found.items()}


def by_their_rule(store):
    """Returns figures from tmerge's events by HTA's rule, which omits or classifies some differently."""
    found = {}
    for rank, (events, why) in kernels_by_rank(store).items():
        every = peers.union(events)
        compute = peers.union([e for e in events if e['kind'] == 'compute'])
        comm = peers.union([e for e in events if e['kind'] == 'communication'])
        window = every[-1][1] - every[0][0]
        busy, computed = peers.length(every), peers.length(compute)
        values = window - busy, computed, busy - computed, window
        for name, value in zip(('idle', 'compute', 'non_compute', 'kernel'), values):
            found['temporal', (rank, name)] = value, why
        both = peers.length(compute) + peers.length(comm) - peers.length(peers.merged(compute + comm))
        found['overlap', rank] = 100 * both / peers.length(comm) if comm else None, why
        names = {}
        for e in events:
            names.setdefault(e['name'], []).append(e['duration_ns'])
        for name, times in names.items():
            for figure, value in (('sum', sum(times)), ('max', max(times)), ('min', min(times)),
                                  ('mean', sum(times) / len(times))):
                found['kernel', (rank, name, figure)] = value, why
    calls = {}
    for e in launched(store, LAUNCHES):
        calls.setdefault(e['rank'], []).append(e)
    for rank, of in calls.items():
        delays = [max(0, e['begin_ns'] - e['call_ns'] - e['call_duration_ns']) for e in of]
        short = sum(e['duration_ns'] < e['call_duration_ns'] for e in of)
        for name, value in (('events', len(of)), ('short', short), ('latency', sum(delays) / len(of))):
            found['launch', (rank, name)] = value, 'HTA knows four calls that launch: no cuLaunchKernel, no graphs'
    return found


def in_words(figure, file, key):
    """Returns the cause of a difference that tmerge's events cannot show."""
    if figure.endswith(WITH_TRITON):
        return "wrong there: the host's operators of Triton's kernels count as kernels"
    if figure == 'copies':
        # Of all copies of lightllm8 over 100 us, bytes / duration is 2.300000 times the argument.
        return {'lightllm8': "wrong there: HTA takes the trace's argument of bandwidth, for which PyTorch took the "
                             'ticks of a 2.3 GHz counter as nanoseconds', 'nanogpt8': NOT_LAUNCHED,
                'dlrm8': WHOLE, 'hta2': WHOLE}.get(file)
    if figure == 'idle':
        if file == 'dlrm8':
            return 'wrong there: of kernels without a recorded launch the first event of the file counts as it'
        return NOT_LAUNCHED + ': their gaps are others'
    return None


def within(figure, _):
    return {'overlap': 0.006, 'queue': 0, 'launch': 1, 'copies': 0.01}.get(figure, US)


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    peers.main('hta', VERSION, [f'holistictraceanalysis=={VERSION}', 'pandas==2.2.3'], JOBS, ours,
               by_their_rule, within, in_words, prepared)
