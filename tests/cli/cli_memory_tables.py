"""Memory use: real jobs compared with the facts of their models and the totals of their traces;
made jobs compared with what was planted in them."""
import json
import os

from common import SHARED, Skip, contains, equal, event, holds, kernel, main, put, tables, tmerge, trace

TRACES = os.path.join(SHARED, 'traces')
KINETO = os.path.join(TRACES, 'kineto-samples', 'worker0.1623143089861.pt.trace.json.gz')
TESTS = os.path.join(TRACES, 'kineto-tests', '{}', 'worker0.pt.trace.json')


def merged(path, *names):
    if not os.path.exists(path):
        raise Skip(f'no {path}')
    tmerge(path, '-q', '--force', '--no-replay', '--no-html').expect(0)
    return tables('tmerge.h5', *names)


def of(found, name, device):
    return [r for r in found[name] if (r['rank'], r['device']) == device]


def test_blocks_and_base_give_the_recorded_peak_to_the_byte():
    names = ('memory.device', 'memory.category', 'memory.curve', 'memory.live', 'memory.owner/operator')
    paths = [os.path.join(TRACES, 'single', 'df_index_resolver.json.gz'),
             os.path.join(TRACES, 'single', 'h100_qwen.json.gz'),
             TESTS.format('test_memory_curve_step_plot'),
             TESTS.format('test_memory_curve_no_step_plot')]
    for path in paths:
        found = merged(path, *names)
        equal(len(found['memory.device']), 2, path)
        for row in found['memory.device']:
            device, peak = (row['rank'], row['device']), row['peak_bytes']
            categories = of(found, 'memory.category', device)
            equal(sum(r['peak_bytes'] for r in categories), peak, (path, device))
            equal(sum(r['end_bytes'] for r in categories), row['end_bytes'], (path, device))
            equal(sum(r['bytes'] for r in of(found, 'memory.live', device)), peak, (path, device))
            curve = of(found, 'memory.curve', device)
            equal(max(r['allocated_bytes'] for r in curve), peak, (path, device))
            for moment in curve:
                parts = sum(value for name, value in moment.items()
                            if name.endswith('_bytes') and name not in ('allocated_bytes', 'reserved_bytes'))
                equal(parts, moment['allocated_bytes'], (path, device, moment))
            # One rank, one device of a type: all but preexisting memory, by operator.
            taken = sum(r['peak_bytes'] for r in categories
                        if r['category'] not in ('preexisting', 'unrecorded'))
            equal(sum(r['peak_bytes'] for r in found['memory.owner/operator']
                      if r['device'] == row['device'].split(':')[0]), taken, (path, device))


def test_a_training_step_has_what_a_program_of_its_own_finds():
    # Computed by an independent program from PyTorch's rules; all others are 0 at the peak.
    found = merged(os.path.join(TRACES, 'single', 'df_index_resolver.json.gz'), 'memory.category')
    equal({r['category']: r['peak_bytes'] for r in of(found, 'memory.category', (1, 'cuda:1'))
           if r['peak_bytes']},
          {'preexisting': 4096614400, 'activation': 1333781504, 'temporary': 1048478720,
           'autograd_detail': 150633472})


def test_the_parameters_of_known_models_are_counted():
    # ResNet-50 and ResNet-18 have 25,557,032 and 11,689,512 parameters; the former's are 32-bit.
    for path, parameters, size in (
            (KINETO, 25557032, 4 * 25557032),
            (os.path.join(TRACES, 'single', 'mi300_resnet_ddp_rank0.json.gz'), 11689512,
             2 * 11689512)):
        row = merged(path, 'memory.parameters')['memory.parameters'][0]
        equal((row['parameters'], row['parameter_bytes'], row['optimizer']),
              (parameters, size, 'SGD'), path)
        equal((row['state_least_bytes'], row['state_most_bytes']), (0, size), path)


def test_without_addresses_there_are_no_blocks():
    found = merged(KINETO, 'memory.device', 'memory.category', 'memory.live', 'memory.owner/operator')
    holds(found['memory.device'] and found['memory.owner/operator'], 'records')
    equal(found['memory.category'] + found['memory.live'], [])
    equal({r['peak_bytes'] for r in found['memory.owner/operator']}, {None})


MB = 1000000
CAPACITY = 1000 * MB


def planted(rank, steps):
    """Writes a trace whose steps take some MB and keep some of it: [(takes, keeps), ...]; a step
    with a negative value frees memory kept by earlier steps. 500 MB exist before."""
    events, total, kept = [], 500 * MB, []

    def record(at, address, size):
        nonlocal total
        total += size
        events.append({'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 1,
                       'tid': 1, 'ts': at,
                       'args': {'Device Type': 1, 'Device Id': 0, 'Addr': address, 'Bytes': size,
                                'Total Allocated': total, 'Total Reserved': 900 * MB}})

    for number, (takes, keeps) in enumerate(steps, 1):
        at = 1000 * number
        events.append(event(f'ProfilerStep#{number}', 'user_annotation', at, 990, pid=1, tid=1))
        events.append(kernel('gemm', at + 10, 900))
        record(at + 100, 1, takes * MB)
        if keeps > 0:
            kept.append((100 + number, keeps * MB))
            record(at + 200, *kept[-1])
        while keeps < 0 and kept:
            address, size = kept.pop()
            record(at + 200, address, -size)
        record(at + 300, 1, -takes * MB)
    made = json.loads(trace(events, rank=rank, world=2))
    made['deviceProperties'] = [{'id': 0, 'totalGlobalMem': CAPACITY}]
    return json.dumps(made).encode()


def test_what_is_planted_is_named_as_what_it_is():
    # By hand: the leak's last step peaks at 500 + 4 x 10 + 100 + 10 MB and leaves 350 of 1,000, enough
    # for 35 steps of 10 MB; the spike's third step takes 400 MB, the others take 100.
    level = (100, 0)
    jobs = {
        'growth': ([(100, 10)] * 5, {'memory_growth'}, (0, 1, 35)),
        'spike': ([level, level, (400, 0), level, level, level], {'memory_spike'}, None),
        'saw-tooth': ([(100, 40), (100, 40), (100, -1)] * 3, set(), None),
        'stable': ([level] * 5, set(), None),
    }
    for word, (steps, rules, left) in jobs.items():
        put('a.json', planted(0, steps))
        put('b.json', planted(1, [(50, 0)] * len(steps)))
        tmerge('a.json', 'b.json', '-q', '--force', '--no-html').expect(0)
        found = tables('tmerge.h5', 'memory.device', 'memory.job', 'memory.live', 'advice.item')
        equal([r['pattern'] for r in found['memory.device']], [word, 'stable'], word)
        items = {r['rule']: r for r in found['advice.item'] if r['rule'].startswith('memory')}
        equal(set(items) - {'memory_room'}, rules, word)
        job = found['memory.job'][0]
        equal((job['ranks'], job['peak_max_rank'], job['nearest_rank']), (2, 0, 0), word)
        equal((job['first_rank'], job['growing_devices'], job['steps_left']), left or (None, 0, None))
        for rank in (0, 1):
            equal(sum(r['bytes'] for r in found['memory.live'] if r['rank'] == rank),
                  found['memory.device'][rank]['peak_bytes'], word)
        if word == 'growth':
            contains(items['memory_growth']['evidence'],
                     'at this rate the device is out of memory in about 35 steps, or sooner')
            # Kept memory, by the steps that took it.
            equal([r['step'] for r in found['memory.live'] if r['rank'] == 0
                   and r['block_bytes'] == 10 * MB], [1, 2, 3, 4, 5])
        if word == 'spike':
            equal(found['memory.device'][0]['spike_step'], 3)
            contains(items['memory_spike']['evidence'],
                     'Rank 0 allocates up to 0.90 GB in step 3, but at most 0.60 GB in the other steps.')


main()
