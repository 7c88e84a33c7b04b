"""The values of TensorBoard's PyTorch plugin, on its own traces, where its definitions are sound.

Its times are whole microseconds. Where tmerge differs on purpose, the test says so.
"""
import json
import os

from common import SHARED, Skip, equal, main, rows, tmerge

US = 1000


def traces(*names):
    """Paths below shared/traces; skips the test where they are absent."""
    paths = [os.path.join(SHARED, 'traces', name) for name in names]
    if not all(os.path.exists(path) for path in paths):
        raise Skip('the traces of TensorBoard are not here')
    return paths


def fixture(name, worker='worker0'):
    return traces(f'kineto-tests/{name}/{worker}.pt.trace.json')[0]


def shown(table, *paths):
    """The rows of a table of the job that these traces make."""
    tmerge(*paths, '-o', 'tb.h5', '--force', '-q').expect(0)
    return rows('tb.h5', table)


def times(operators, name):
    """Host total and self, device total and self of an operator, in microseconds."""
    row = next(row for row in operators if row['name'] == name)
    return [row[f'{where}_{what}_ns'] / US for where in ('host', 'device')
            for what in ('total', 'self')]


def test_every_operator_of_a_real_training_is_as_tensorboard_says():
    reference, = traces('kineto-tests/result_check_file.txt')
    trace, = traces('kineto-samples/worker0.1623143089861.pt.trace.json.gz')
    with open(reference, encoding='utf-8') as f:
        expected = json.loads(f.readlines()[2])['data']
    found = {row['name']: row for row in shown('operators.op', trace)}
    equal(set(found), {row['name'] for row in expected})
    for row in expected:
        ours = found[row['name']]
        for where in ('host', 'device'):
            for what in ('self', 'total'):
                equal(ours[f'{where}_{what}_ns'], US * row[f'{where}_{what}_duration'],
                      f'{where} {what} of {row["name"]}')
        equal(ours['tensor_cores_fit'], row['tc_eligible'] == 'Yes', row['name'])
        equal(ours['tensor_total_pct'] or 0, 100 * row['tc_total_ratio'], row['name'])
        # TensorBoard takes an only child of the same name for its parent: one call, not two.
        if row['name'] != 'aten::div':
            equal(ours['calls'], row['calls'], row['name'])
    equal((found['aten::div']['calls'], len(expected)), (204, 76))


def test_operators_of_made_traces_have_the_times_that_tensorboard_expects():
    found = shown('operators.op', fixture('test_self_time'))
    equal(times(found, 'aten::mat_mul'), [100, 35, 36, 16])
    equal(times(found, 'aten::mm'), [40, 30, 20, 20])
    found = shown('operators.op', fixture('test_all_categories'))
    equal(times(found, 'aten::nll_loss_backward'), [70, 35, 30, 30])
    equal(times(found, 'aten::to'), [60, 60, 0, 0])


def test_launches_belong_to_the_operator_that_they_lie_in():
    """TensorBoard goes by External id, here against the times, and finds 26/14 and 12/12. On every
    real trace that bears ids of operators the two ways agree; many bear others there."""
    found = shown('operators.op', fixture('test_external_id'))
    equal(times(found, 'aten::mat_mul')[2:], [26, 15])
    equal(times(found, 'aten::mm')[2:], [11, 11])


def test_modules_nest_and_repeat_as_tensorboard_counts_them():
    found = {row['name']: row for row in
             shown('modules.module', fixture('test_build_module_hierarchy'))}
    equal({name: (row['calls'], row['host_total_ns'] / US, row['host_self_ns'] / US)
           for name, row in found.items()},
          {'nn.Module: MyModule': (3, 3 * 211, 3 * (211 - 62)),
           'nn.Module: Linear': (3, 3 * 62, 3 * 62), 'nn.Module: Conv2': (1, 211, 211)})


if __name__ == '__main__':
    main()
