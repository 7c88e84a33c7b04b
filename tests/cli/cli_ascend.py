"""Real Ascend traces of two jobs of two ranks, against what the vendor's own analysis says of them."""
import json
import os

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
    """Of a rank's window of kernels what none of them takes, which no table holds: [ns]."""
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
            # Nor does tmerge itself see a difference, a type of task that it does not know, ...
            equal((of['remarks'], of['format'], of['device'], of['device_kind']),
                  (None, 'ascend', row['rank'], 'NPU'))


def test_a_rank_waits_as_long_as_the_vendor_says():
    merged(*traces('job586'), '-o', 'x.h5')
    first = next(row for row in tables('x.h5', 'collectives.worst')['collectives.worst']
                 if row['seq'] == 0)
    said = expected('job586_rank0_communication.json')['step50']['collective']
    said = next(v for k, v in said.items() if k.startswith('hcom_allReduce__586_0_1@'))
    ms = said['Communication Time Info']['Synchronization Time(ms)']
    holds(abs(first['wait_ns'] - ms * 1e6) <= 20000, f'{first["wait_ns"]} ns, not {ms} ms')
    equal((first['last_rank'], first['bytes'], first['group']), (1, 4 * 4097000, '586'))
    # The clocks of two devices of one host: each is set by itself, by microseconds.
    clocks = rows('x.h5', 'clock.rank')
    equal(len({row['domain'] for row in clocks}), 2)
    holds(all(0 < abs(row['offset_ns']) < 20000 for row in clocks if row['rank'] == 1), f'{clocks}')


def test_all_that_an_arrow_leads_to_is_linked():
    # Of old CANN's copies (24) none has an arrow; of new CANN's 215 events all have.
    for job, linked, unlinked in (('job538', 349, 24), ('job586', 215, 0)):
        merged(*traces(job), '-o', f'{job}.h5')
        for row in rows(f'{job}.h5', 'launches.rank'):
            equal((row['events'], row['unlinked']), (linked, unlinked))
        equal(rows(f'{job}.h5', 'overlap.step')[0]['step'], 50)
        # Names of GPUs' kernels alone tell what runs on tensor cores.
        equal(rows(f'{job}.h5', 'overview.job')[0]['tensor_core_pct'], None)
        equal({(row['tensor_self_pct'], row['tensor_cores_fit'])
               for row in rows(f'{job}.h5', 'operators.op')}, {(None, False)})
    # All convolutions have one name, though the profiler numbers them: 5 on each rank.
    names = {row['name']: row['calls'] for row in rows('job538.h5', 'kernels.kernel')}
    equal((names['Conv2D'], len([name for name in names if name.startswith('Conv2D')])), (10, 3))


def test_a_folder_is_read_as_the_profiler_leaves_it():
    # Ranks and hosts stand in the names beside the traces, here in another order than the folders'.
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
        # The analysis beside the traces tells their groups.
        equal([(row['group'], row['members'], row['complete'])
               for row in rows(f'{i}.h5', 'groups.group')], [('17522688603477080586', '0-1', 4)])


if __name__ == '__main__':
    main()
