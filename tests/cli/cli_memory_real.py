"""What fills the memory of real jobs, against the facts of their models and of the traces' totals."""
import os

from common import SHARED, Skip, equal, holds, main, tables, tmerge

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
    names = ('memory.device', 'memory.category', 'memory.category_curve', 'memory.live',
             'memory.operator')
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
            curve = of(found, 'memory.category_curve', device)
            equal(max(r['allocated_bytes'] for r in curve), peak, (path, device))
            for moment in curve:
                parts = sum(value for name, value in moment.items()
                            if name.endswith('_bytes') and name != 'allocated_bytes')
                equal(parts, moment['allocated_bytes'], (path, device, moment))
            # Of one rank and device of a type: all but what was there before, by who took it.
            taken = sum(r['peak_bytes'] for r in categories
                        if r['category'] not in ('preexisting', 'unrecorded'))
            equal(sum(r['peak_bytes'] for r in found['memory.operator']
                      if r['device'] == row['device'].split(':')[0]), taken, (path, device))


def test_a_training_step_has_what_a_program_of_its_own_finds():
    # Worked out by an independent program by PyTorch's rules; the rest is 0 at the peak.
    found = merged(os.path.join(TRACES, 'single', 'df_index_resolver.json.gz'), 'memory.category')
    equal({r['category']: r['peak_bytes'] for r in of(found, 'memory.category', (1, 'cuda:1'))
           if r['peak_bytes']},
          {'preexisting': 4096614400, 'activation': 1333781504, 'temporary': 1048478720,
           'autograd_detail': 150633472})


def test_the_parameters_of_known_models_are_counted():
    # ResNet-50 and ResNet-18 have 25,557,032 and 11,689,512; the former's are of 32 bits.
    for path, parameters, size in (
            (KINETO, 25557032, 4 * 25557032),
            (os.path.join(TRACES, 'single', 'mi300_resnet_ddp_rank0.json.gz'), 11689512,
             2 * 11689512)):
        row = merged(path, 'memory.parameters')['memory.parameters'][0]
        equal((row['parameters'], row['parameter_bytes'], row['optimizer']),
              (parameters, size, 'SGD'), path)
        equal((row['state_least_bytes'], row['state_most_bytes']), (0, size), path)


def test_without_addresses_there_are_no_blocks():
    found = merged(KINETO, 'memory.device', 'memory.category', 'memory.live', 'memory.operator')
    holds(found['memory.device'] and found['memory.operator'], 'records')
    equal(found['memory.category'] + found['memory.live'], [])
    equal({r['peak_bytes'] for r in found['memory.operator']}, {None})


main()
