"""The same job in each profiler's format has the same results, to the nanosecond, except for data
that a format lacks; and ranks of several formats make one job."""
import copy
import glob
import itertools
import os
import re
import shutil
from collections import Counter

from common import (FULL, UNKNOWN, contains, content, equal, files, holds, in_any_order, lacks,
                    main, put, rows, same_bytes, seldom, synth, tables, tmerge, without)
from jobs import GROUPS
from stores import Store

ALL = None  # table is not compared

# Recorded by PyTorch's own profiler only: sizes of its allocator's pool, and operators with shapes.
ALLOCATOR = {'memory.device': ALL, 'memory.curve': ALL, 'memory.owner': ALL, 'memory.step': ALL,
             'memory.category': ALL, 'memory.live': ALL, 'memory.job': ALL}
CATEGORIES = {f'{word}_bytes' for word in (
    'preexisting', 'temporary', 'optimizer_state', 'gradient', 'autograd_detail', 'input',
    'activation', 'forward_only', 'other', 'stack', 'unrecorded')}
OPERATORS = {'calls.call': ALL, 'calls.tree': ALL, 'kernels.launched': ALL,
             'sync.call': {'operator', 'inside'},
             'classes.work': {'backward_ns', 'attention_ns', 'optimizer_ns', 'outside_ns'},
             'efficiency.rank': ALL, 'efficiency.step': ALL, 'efficiency.work': ALL}
# Position of an event in its file, and the last digits of a drift of zero.
PLACES = {'job.job': {'events', 'recorded_ns'}, 'job.rank': {'events', 'format', 'source'}, 'job.left_out': ALL,
          'job.format': ALL, 'clock.rank': {'drift_ppb'}, 'criticalpath.piece': {'event'}}
# Occupancy, which Kineto estimates, and its numbers of blocks, which have six digits.
SHAPES = {'overview.job': {'occupancy_pct', 'occupancy_known_pct'},
          'overview.rank': {'occupancy_pct', 'occupancy_known_pct'},
          'kernels.kernel': {'blocks_per_sm', 'occupancy_pct'},
          'kernels.launch_shape': {'blocks_per_sm', 'occupancy_pct'}}


def both(*tables_of):
    """Merges such tables: each has the columns that any of them leaves out."""
    found = {}
    for one in tables_of:
        for name, columns in one.items():
            known = found.get(name, set())
            found[name] = ALL if ALL in (columns, known) else known | columns
    return found


# Data that each format lacks; options that remove it from Kineto's kernels; and names of kernels
# and calls.
NSYS = both(ALLOCATOR, OPERATORS, PLACES, SHAPES, {
    # Sizes and groups of collectives; communicators are made before the first event.
    'job.job': {'begin_ns', 'duration_ns'},
    'job.rank': {'begin_ns'},
    'collectives.kind': {'group', 'size_class_bytes', 'bytes', 'algbw_gbps', 'busbw_gbps'},
    'collectives.worst': {'group', 'bytes'},
    'collectives.instance': {'group', 'bytes', 'bytes_inferred'},
    'groups.group': {'group', 'description', 'bytes', 'busbw_gbps'},
    'groups.dimension': {'bytes', 'busbw_gbps'},
    # Nsight's own reports.
    'stats.time': ALL, 'stats.size': ALL,
    # Autograd's sequence numbers.
    'structure.step': {'micro_batches', 'max_micro_batches', 'max_rank',
                       'micro_batches_per_update'},
})
XPLANE = both(OPERATORS, PLACES, SHAPES, {
    # Each profiler has its own name for a step.
    'steps.kind': {'kind'}, 'steps.mark': {'kind'},
    # Memory that an allocator has reserved but not given out.
    'memory.device': {'peak_reserved_bytes', 'fragmentation_pct', 'capacity_pct', 'reserve_falls',
                      'allocator', 'limit_bytes'},
    'memory.job': {'nearest_rank', 'nearest_pct'},
    'memory.curve': {'reserved_bytes'} | CATEGORIES, 'memory.step': {'peak_reserved_bytes'},
    # Which ranges are operators, and with that the owners of memory blocks.
    'memory.category': ALL, 'memory.live': ALL,
    # Which ranges are operators: these identify forward passes.
    'phases.step': ALL, 'structure.step': ALL,
    # Analyses of XProf, for such profiles only.
    'pod.rank': ALL, 'pod.step': ALL, 'pod.collective': ALL,
    'framework.work': ALL,
})
# Advice rules with XProf's bounds, and the rules of the guides that they replace.
XPROF_RULES = {'input', 'input_host', 'input_transfer', 'kernel_launch', 'output',
               'device_to_device', 'barrier', 'collectives', 'asynchronous', 'data_shuffle',
               'sparse_core', 'other_time', 'compute_16_bit', 'exposed_communication',
               'communication', 'gpu_utilization', 'precision'}
ASCEND = both(ALLOCATOR, OPERATORS, PLACES, SHAPES, {
    # A memset is a copy on the device.
    'overview.job': {'memcpy_ns', 'memset_ns', 'memcpy_pct', 'memset_pct', 'sm_efficiency_pct',
                     'tensor_core_pct'},
    'overview.rank': {'memcpy_ns', 'memset_ns', 'sm_efficiency_pct', 'tensor_core_pct'},
    'overview.step': {'memcpy_ns', 'memset_ns'},
    'transfers.kind': ALL, 'transfers.size': ALL, 'transfers.rate': ALL,
    # A kernel's launch shape, and two calls with the same name; tensor cores (known only for GPUs).
    'kernels.kernel': {'registers', 'shared_memory_bytes', 'tensor_cores', 'class'},
    'kernels.launch_shape': ALL, 'classes.work': ALL,
    'contention.kernel': {'grid', 'block'}, 'launches.api': ALL, 'criticalpath.name': ALL,
    # Communication has tracks of its own, which are no streams; groups are numbers of three digits.
    'idle.stream': {'stream'}, 'criticalpath.slack': {'stream'},
    'collectives.kind': {'group', 'how'}, 'collectives.worst': {'group', 'seq'},
    'collectives.instance': {'group', 'seq'},
    'groups.group': {'group', 'description'},
    # Counters of the card, which no other profiler records.
    'host.counter': ALL,
    # Launch shapes, which identify equal kernels; and the occurrence index of a copy.
    'stragglers.job': {'p', 'evidence'}, 'advice.item': {'text', 'evidence'},
    'stragglers.rank': {'p', 'excess_ns', 'excess_pct'},
    'stragglers.finding': {'p', 'excess_ns', 'excess_pct'},
})
WORDS = {'ascend': (
    *((f'ncclDevKernel_{nccl}_RING_LL(ncclDevKernelArgsStorage<4096ul>)', f'hcom_{hccl}')
      # NCCL has one kernel that sends and receives: here the two share a name as well.
      for nccl, hccl in (('AllReduce_Sum_bf16', 'allReduce'), ('AllReduce_Sum_f32', 'allReduce'),
                         ('AllGather', 'allGather'), ('Broadcast', 'broadcast'),
                         ('ReduceScatter_Sum_bf16', 'reduceScatter'))),
    ('ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'hcom_send'),
    ('hcom_receive', 'hcom_send'),
    ('Memcpy HtoD (Pinned -> Device)', 'MEMCPY_ASYNC (HtoD)'),
    ('Memset (Device)', 'MEMCPY_ASYNC (DtoD)'),
    ('cudaLaunchKernelExC', 'Node@launch'), ('cudaLaunchKernel', 'Node@launch'),
    ('cudaDeviceSynchronize', 'AscendCL@aclrtSynchronizeDevice'),
    ('cudaStreamWaitEvent', 'AscendCL@aclrtStreamWaitEvent'),
    ('cudaEventRecord', 'AscendCL@aclrtRecordEvent'),
    ('cudaMemcpyAsync', 'AscendCL@aclrtMemcpyAsync'),
    ('cudaMemsetAsync', 'AscendCL@aclrtMemsetAsync'), ('GPU', 'NPU'))}
FILES = {'nsys': '*.sqlite', 'xplane': 'plugins/profile/*/*.xplane.pb',
         'ascend': '*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json', 'kineto': '*.json'}


def traces(form, folder):
    """Returns the traces of a job, by rank."""
    found = sorted(glob.glob(os.path.join(folder, FILES[form])))
    return [path for path in found if not path.endswith('truth.json')]


def merged(folder, store, n=0):
    """Merges a job as a profiler leaves it. Ranks of an XPlane only follow from the order of hosts
    and devices."""
    done = tmerge(folder, '-o', store, n=n).expect(0)
    equal([line for line in done.ours if ' no rank: ' not in line], [], 'messages')
    return tables(store)


def in_words(words, rows):
    text = repr(rows)
    for kineto, other in words:
        text = text.replace(kineto, other)
    return eval(text)  # pylint: disable=eval-used


def untie(folder):
    """PyTorch on NVIDIA keeps its clock tied to the system's, unlike all others: the fit expects
    less drift of it. On AMD it does not."""
    for name in files(folder):
        with open(f'{folder}/{name}', encoding='utf-8') as file:
            text = file.read()
        with open(f'{folder}/{name}', 'w', encoding='utf-8') as file:
            file.write(text.replace('"schemaVersion"', '"roctracer_version": 1, "schemaVersion"'))


def is_the_same(form, found, expected, left_out, ordered=True):
    """Compares everything that a format has; returns the number of rows compared."""
    compared = 0
    equal(found.keys(), expected.keys())
    for name in sorted(expected):
        columns = left_out.get(name, set())
        if columns is ALL or name in ('job.format', 'checklist.box'):  # depend on the format
            continue
        here, rows = (in_words(WORDS.get(form, ()), of[name]) for of in (found, expected))
        if form == 'xplane' and name == 'advice.item':
            here, rows = ([row for row in each if row['rule'] not in XPROF_RULES]
                          for each in (here, rows))
        if ordered:
            equal([without(row, columns) for row in here],
                  [without(row, columns) for row in rows], f'{form} {name}')
        else:
            one, other = (Counter(in_any_order(of, columns)) for of in (here, rows))
            equal(one - other, other - one, f'{form} {name}')
        compared += len(rows)
    return compared


@seldom
def test_a_job_has_the_results_of_its_kineto_form_to_the_nanosecond():
    options = dict(ranks=8, ranks_per_host=4, steps=5, slow_rank=5, slow_factor=1.2)
    alone = dict(options, ranks_per_host=1) # NPUs of one host do not share a clock
    for kineto, others in ((options, (('nsys', {}, NSYS), ('nsys', {'ranks_per_file': 4}, NSYS))),
                           (alone, (('ascend', {}, ASCEND),)),
                           (dict(alone, no_metadata=True), (('xplane', {}, XPLANE),))):
        synth('kineto', **kineto)
        if others[0][0] != 'nsys':
            untie('kineto')
        expected = merged('kineto', 'kineto.h5')
        equal(expected['stragglers.job'][0]['rank'], 5)
        equal(len(expected['overlap.step']), 40)
        for i, (form, more, left_out) in enumerate(others):
            synth(f'{form}{i}', format=form, **dict(kineto, **more))
            found = merged(f'{form}{i}', f'{form}{i}.h5')
            compared = is_the_same(form, found, expected, left_out)
            holds(compared > 600, f'{compared} rows of {form} were compared')
            holds(all(abs(row['drift_ppb']) < 1e-6 for row in found['clock.rank']), 'drifts')
            lacks(str(found), 'secret')


@seldom
def test_devices_of_one_process_have_the_results_of_a_process_each():
    # The process marks its steps once, so step results of a rank refer to other times; and the
    # ranges of the other devices begin and end differently.
    options = dict(ranks=8, ranks_per_host=4, steps=5, slow_rank=5, slow_factor=1.2,
                   no_metadata=True)
    by_steps = dict.fromkeys(('overlap.step', 'overview.job', 'overview.rank', 'overview.step',
                              'imbalance.job', 'imbalance.step', 'input.rank',
                              'input.step', 'idle.gap', 'steps.kind', 'steps.mark'), ALL)
    by_steps.update({'job.job': {'begin_ns', 'duration_ns'}, 'job.rank': {'begin_ns', 'end_ns'},
                     'overlap.rank': {'before_ns'}, 'stragglers.finding': {'excess_pct'},
                     'stragglers.rank': {'excess_pct'}})
    synth('kineto', **options)
    untie('kineto')
    synth('xplane', format='xplane', **options)
    equal(len(traces('xplane', 'xplane')), 2)
    expected = merged('kineto', 'kineto.h5')
    found = merged('xplane', 'xplane.h5', n=3)
    compared = is_the_same('xplane', found, expected, both(XPLANE, by_steps))
    holds(compared > 600, f'{compared} rows were compared')
    equal([(row['host'], row['device']) for row in found['job.rank']],
          [(f'host{i // 4}', i % 4) for i in range(8)])


# Groups known only by a communicator's hash, or by a number of three digits, have no name.
NO_GROUP = {
    'collectives.kind': {'group'}, 'collectives.worst': {'group'},
    'collectives.instance': {'group'},
    'groups.group': {'group', 'description', 'dimension'},
    'groups.link': {'group', 'dimension'},
}
# Dimensions other than pipeline follow from the group's description. HCCL's names give no type, and
# sends differ from receives: kernels are grouped differently, on other tracks.
MANY_GROUPS = {'groups.dimension': ALL, 'advice.item': ALL, 'kernels.kernel': ALL,
               'criticalpath.slack': ALL}


@seldom
def test_groups_known_by_their_communicators_give_what_groups_known_by_name_do():
    for form, left_out, apart in (('nsys', NSYS, {}), ('ascend', ASCEND, {'ranks_per_host': 1})):
        synth('kineto', **dict(GROUPS, **apart))
        untie('kineto')
        expected = merged('kineto', f'kineto-{form}.h5')
        synth(form, format=form, **dict(GROUPS, **apart))
        found = merged(form, f'{form}.h5', n=3)
        links = [row for row in expected['groups.link'] if row['dimension'] == 'pipeline']
        is_the_same(form, found, dict(expected, **{'groups.link': links}),
                    both(left_out, NO_GROUP, MANY_GROUPS), False)
        # 8 ranks in 2 stages of 2 x 2: four tensor, data and pipeline pairs each, and the job.
        equal(sorted(row['members'] for row in found['groups.group']),
              ['0,2', '0,4', '0-1', '0-7', '1,3', '1,5', '2,6', '2-3', '3,7', '4,6', '4-5', '5,7',
               '6-7'])
        equal(found['stragglers.job'][0]['rank'], 5)
        holds(found['clock.rank'][7]['offset_ns'] != 0, 'clocks that are equal')


@seldom
def test_kernels_that_tell_no_group_are_matched_as_those_of_kineto_without_metadata():
    options = dict(GROUPS, ranks_per_host=1, no_metadata=True)
    synth('kineto', **options)
    untie('kineto')
    synth('xplane', format='xplane', **options)
    expected = merged('kineto', 'kineto.h5')
    found = merged('xplane', 'xplane.h5')
    is_the_same('xplane', found, expected, XPLANE)
    equal({row['how'] for row in found['collectives.kind']}, {'inferred'})
    equal(found['stragglers.job'][0]['rank'], 5)
    holds(found['clock.rank'][7]['offset_ns'] != 0, 'clocks that are equal')
    # If most stay unmatched, only users of PyTorch are advised to use a newer version.
    options = dict(ranks=8, ranks_per_host=1, steps=1, layers=4, tp=2, pp=2, seed=11,
                   no_metadata=True)
    for form, newer in (('kineto', '; a newer PyTorch writes metadata'), ('xplane', '')):
        synth(f'{form}1', format=form, **options)
        contains(tmerge(*traces(form, f'{form}1')).expect(0).out,
                 f'\n  (order unproven: times do not prove a group{newer})\n')


# Events -------------------------------------------------------------------------------------------

JOB = dict(GROUPS, steps=2, ranks_per_host=4)
SIZES = {'BFloat16': 2, 'Float': 4, 'Long': 8, 'Byte': 1}
EVENT_WORDS = {'xplane': (('Memset (Device)', 'Memset'),), 'ascend': (
    *WORDS['ascend'],
    ('Memcpy HtoD (Pageable -> Device)', 'MEMCPY_ASYNC (HtoD)'),
    ('cudaStreamSynchronize', 'AscendCL@aclrtSynchronizeStreamWithTimeout'))}


def collectives_of(store):
    """Returns by row: kind, type, bytes in and out (for a message whichever it has), and peers."""
    found = {}
    for kind, dtype, (row, sent, received, *ranks) in zip(
            store.words('collective_events/kind'), store.texts('collective_events/dtype'),
            store.rows('collective_events', 'event', 'in_elements', 'out_elements', 'src_rank',
                       'dst_rank')):
        sizes = (max(sent, received),) if kind in ('send', 'recv') else (sent, received)
        found[row] = (kind, dtype, *(size * SIZES.get(dtype, 0) for size in sizes), *ranks)
    return found


def events_of(store, form):
    """Returns by rank the data of its events that all formats have, ascending within each kind."""
    store = Store(store)
    sizes, collectives = dict(store.rows('copies', 'event', 'bytes')), collectives_of(store)
    result = {}
    for i, (rank, events) in enumerate(store.events().items()):
        found = result[rank] = {kind: [] for kind in (
            'kernels', 'copies', 'calls', 'waits', 'ranges', 'collectives')}
        for row, e in enumerate(events, store.range(i)[0]):
            name = re.sub(r'(nccl:(?:send|recv) ).*', r'\1', e.name)
            name = name.replace('train step ', 'ProfilerStep#')
            if e.category == 'kernel':
                stream = None if row in collectives else e.stream  # HCCL has its own tracks
                found['kernels'].append((e.begin, e.duration, name, stream, e.call))
                if row in collectives and form != 'xplane':  # XPlane only has their names
                    found['collectives'].append((e.begin, *collectives[row]))
            if e.category in ('gpu_memcpy', 'gpu_memset'):
                found['copies'].append((e.begin, e.duration, name, e.stream, e.call, sizes[row]))
            if e.category == 'cuda_runtime':
                found['calls'].append((e.begin, e.duration, name, e.tid))
            if e.category == 'cuda_sync' or name.endswith('Synchronize') and form == 'kineto':
                found['waits'].append((e.begin, e.duration, name))
            is_step = name.startswith('ProfilerStep#')
            if e.category in ('user_annotation', 'cpu_op') and not re.match('nccl[A-Z]', name):
                found['ranges'].append((e.begin, e.duration, name, not is_step and e.tid))
        for kind, each in found.items():
            found[kind] = in_words(EVENT_WORDS.get(form, ()), sorted(each, key=lambda row: row[:3]))
    return result


def expected_events(form, kineto):
    """Converts Kineto's events to those of another format; a process that drives all devices of a
    host marks its steps once."""
    found = copy.deepcopy(kineto)
    for rank, of in found.items():
        if form == 'xplane':
            of['collectives'] = []
            of['ranges'] = sorted([row for row in of['ranges'] if row[3]] +
                                  [row for row in kineto[rank // 4 * 4]['ranges'] if not row[3]])
        if form == 'nsys':
            of['collectives'] = [(*row[:2], 'Byte', *row[3:]) for row in of['collectives']]
        kinds = {'cudaDeviceSynchronize': 'Context Sync', 'cudaStreamSynchronize': 'Stream Sync'}
        of['waits'] = [(*row[:2], kinds[row[2]]) for row in of['waits'] if form == 'nsys']
        for kind, rows in of.items():
            of[kind] = in_words(EVENT_WORDS.get(form, ()), rows)
    return found


@seldom
def test_events_are_those_of_the_kineto_form():
    """With lost kernels, recordings that begin at different times, and a call that waits."""
    every = (('nsys', {}), ('nsys', {'ranks_per_file': 4}), ('xplane', {}), ('ascend', {}))
    for more, forms in (
            ({'lost_percent': 10, 'window_skew': 1, 'fault': 'pageable', 'steps': 3}, every[1:]),
            ({'sequence_parallel': 0, 'activation_bytes': 1000001, 'bytes_per_bucket': 1000003},
             every if FULL else every[:1]), *([({}, every)] if FULL else [])):
        synth('kineto', **dict(JOB, **more))
        tmerge('kineto', '-o', 'kineto.h5').expect(0)
        expected = events_of('kineto.h5', 'kineto')
        for form, own in forms:
            shutil.rmtree(form, ignore_errors=True)
            synth(form, format=form, **dict(JOB, **more, **own))
            tmerge(form, '-o', f'{form}.h5').expect(0)
            found = events_of(f'{form}.h5', form)
            for rank, of in expected_events(form, expected).items():
                for kind, rows in of.items():
                    equal(found[rank][kind], rows, f'{form}: {kind} of rank {rank}')
        holds(all(len(of[kind]) > 1 for of in expected.values() for kind in of), 'too little')


# Jobs of several formats --------------------------------------------------------------------------

# Columns about a single rank, which do not depend on the others' formats.
OWN = ('rank', 'window_ns', 'compute_ns', 'comm_ns', 'memory_ns', 'overlap_ns', 'exposed_comm_ns',
       'busy_ns', 'idle_ns')


def part(form, ranks, per_host):
    """Returns the traces of some ranks of a host, from the folder named after the format."""
    names = {'kineto': [f'kineto/profile_rank_{r}.json' for r in ranks],
             'nsys': [f'nsys/profile_rank_{r}.sqlite' for r in ranks],
             'xplane': [f'xplane/plugins/profile/*/host{ranks[0] // per_host}.xplane.pb'],
             'ascend': [f'ascend/*_{1000 + r}_*/ASCEND_PROFILER_OUTPUT/trace_view.json'
                        for r in ranks]}
    return [path for name in names[form] for path in glob.glob(name)]


def in_formats(paths, forms, expected, n=0, store='tmerge.h5'):
    """Merges ranks of several formats: each rank by itself is as in a job of one format; matches
    across formats are reported, and clear no rank."""
    done = tmerge(*paths, '-o', store, n=n).expect(0)
    equal([line for line in done.ours if ' no rank: ' not in line], [], 'messages')
    found = tables(store)
    equal([row['format'] for row in found['job.rank']], forms, 'formats')
    equal([[row[name] for name in OWN] for row in found['overlap.rank']],
          [[row[name] for name in OWN] for row in expected['overlap.rank']], f'{forms}')
    lacked = {row['format']: row['cannot_tell'] for row in rows(store, 'job.format')}
    equal((set(lacked), lacked.get('kineto')), (set(forms), None), 'what formats cannot tell')
    for form in lacked.keys() - {'kineto'}:
        contains(' '.join(done.out.split()), f' {form}: {lacked[form]}')
    kinds = ', '.join(f'{form} of {forms.count(form)} ranks' for form in dict.fromkeys(forms))
    contains(done.out.replace('\n  ', ' '),
             f'! traces of several formats: {kinds}; each format names process groups in its own way: '
             'collectives across formats are matched only if exactly one group fits')
    if set(forms) == {'kineto', 'nsys'}:  # only the group of all can be the communicator of all
        for name in ('verdict', 'collectives', 'last_arrivals'):
            equal([row[name] for row in found['stragglers.rank']],
                  [row[name] for row in expected['stragglers.rank']], f'{forms}: {name}')
        return found
    for sentence in ('No rank holds the job up', 'Making any one kind'):
        lacks(done.out, sentence)
    equal({row['verdict'] for row in found['stragglers.rank']} - {None, 'unknown', 'straggler'}, set(),
          f'{forms}: cleared')
    for row in found['groups.group']:
        members = {r for span in row['members'].split(',') for r in
                   range(int(span.split('-')[0]), int(span.split('-')[-1]) + 1)}
        equal(len({forms[r] for r in members & set(range(8))}) > 1 and row['complete'] > 0, False,
              f'{forms}: a group over formats is complete: {row}')
    return found


@seldom
def test_two_formats_make_one_job_of_which_nccls_are_matched_across():
    # Rank 5, in the second half, makes all others wait: the first half alone cannot show this.
    options = dict(ranks=8, ranks_per_host=4, steps=5, slow_rank=5, slow_factor=1.2)
    for form in FILES:
        synth(form, format=form, **options)
    expected = merged('kineto', 'kineto.h5')
    forms = list(FILES)
    pairs = itertools.permutations(forms, 2) if FULL else zip(forms, forms[1:] + forms[:1])
    for one, other in pairs:
        in_formats(part(one, range(4), 4) + part(other, range(4, 8), 4),
                   [one] * 4 + [other] * 4, expected)


@seldom
def test_all_formats_make_one_job_for_any_number_of_processes():
    options = dict(ranks=8, ranks_per_host=2, steps=3, slow_rank=5, slow_factor=1.2)
    for form in FILES:
        synth(form, format=form, **options)
    expected = merged('kineto', 'kineto.h5')
    paths, forms = [], []
    for host, form in enumerate(FILES):
        paths += part(form, range(2 * host, 2 * host + 2), 2)
        forms += [form] * 2
    for n in (0, 1, 2, 3, 4, 8) if FULL else (0, 3):
        in_formats(paths, forms, expected, n, f'{n}.h5')
        same_bytes('0.h5', f'{n}.h5')


# Bad files of jobs --------------------------------------------------------------------------------

SMALL = dict(ranks=4, ranks_per_host=2, steps=2)


def half(data):
    return data[:len(data) // 2]


def scrambled(data):
    """Replaces the second half by bytes that no trace can have."""
    return half(data) + b'\xff' * 1000


# Damage to the second trace; the error, if it is one.
DAMAGES = (
    ('xplane', half, r'byte \d+: a field of \d+ bytes starts here, but the file ends \d+ bytes later'),
    ('xplane', scrambled, r'byte \d+: .+'),
    ('xplane', lambda data: b'', "file is empty; .+ protobuf's limit of 2 GB.+"),
    ('xplane', lambda data: b'\xff' * 1000, re.escape(UNKNOWN)),
    ('ascend', half, None),
    ('ascend', scrambled, r'byte \d+: .+'),
    ('ascend', lambda data: b'', 'file is empty'),
    ('ascend', lambda data: b'[]', re.escape(UNKNOWN)),
)


def test_a_bad_file_is_named_and_the_others_can_be_read_without_it():
    for form in ('xplane', 'ascend'):
        synth(form, format=form, **SMALL)
    for form, damage, message in DAMAGES:
        paths = traces(form, form)
        whole = content(paths[1])
        put(paths[1], damage(whole))
        for n in (0, 3) if FULL or (form, damage) == ('ascend', scrambled) else (0,):
            done = tmerge(*paths, n=n)
            if message is None:
                done.expect(0)
                contains(done.out, '! On rank 1, the trace is cut short')
                continue
            done.expect(3)
            equal((len(done.errors), done.out), (1, ''), done.err)
            holds(re.fullmatch(f'tmerge: {re.escape(paths[1])}: {message}', done.errors[0]), done.err)
        if message:
            tmerge(*paths, '--skip-bad').expect(0)
            equal({row['source'] for row in rows('tmerge.h5', 'job.rank')},
                  set(paths) - {paths[1]})
            equal([(row['source'], row['reason']) for row in rows('tmerge.h5', 'job.left_out')],
                  [(paths[1], 'unreadable')])
        put(paths[1], whole)


@seldom
def test_ranks_that_are_missing_or_there_twice_are_reported():
    for form in ('xplane', 'ascend'):
        synth(form, format=form, **SMALL)
    hosts, ranks = traces('xplane', 'xplane'), traces('ascend', 'ascend')
    put('yonder.xplane.pb', content(hosts[0]))
    put('again.json', content(ranks[2]))
    for n in (0, 3) if FULL else (3,):
        done = tmerge(*hosts, 'yonder.xplane.pb', n=n).expect(0)
        contains(done.err, f'tmerge: warning: yonder.xplane.pb has the same content as {hosts[0]}, '
                           'so one recording counts twice\n')
        # Its folder gave its rank; here its name and position count.
        done = tmerge(*ranks, 'again.json', n=n).expect(0)
        contains(done.err, f'tmerge: warning: again.json has the same content as {ranks[2]}, ')
        # An HCCL group is identified by the ranks that use it, if all are present.
        done = tmerge(ranks[0], ranks[2], ranks[3], n=n).expect(0)
        contains(done.out, '! 24 of 24 communication kernels could not be matched:\n'
                           '  group unknown 24\n  (give the traces of all ranks: they show '
                           "which ranks use which HCCL group)\n")
        lacks(done.out, 'No rank holds the job up')


main()
