"""Process groups of synthetic jobs with known bandwidth and latency, and of a real job."""
import glob
import json

from common import (equal, holds, in_turn, kernel, main, merged, put, same_bytes, seldom, synth,
                    tables, trace)
from jobs import JOBS, real_store, store, use

# A job with every dimension: 16 ranks on two hosts, tensor groups of 2, data groups of 4, pipeline
# groups of 2, whose second stage is the second host.
SHAPE = JOBS['groups']


def by_dimension(rows):
    found = {}
    for row in rows:
        found.setdefault(row['dimension'], []).append(row)
    return found


def near(found, expected, relative, what):
    holds(found is not None and abs(found - expected) <= relative * expected,
          f'{what} is {found}, not {expected}')


def test_the_fit_finds_bandwidth_and_latency():
    # The second job's clocks differ, and its data groups span hosts.
    for options, gbps, latency, relative in (
            (SHAPE, 50, 30000, 0.04),
            (dict(ranks=16, tp=4, steps=6, sharded=1, offset_us=800, drift_ppb=5000,
                  bandwidth_gbps=20, latency_us=50), 20, 50000, 0.05)):
        synth('job', sizes='mixed', **options)
        merged('job', '-o', 'x.h5')
        groups = by_dimension(tables('x.h5', 'groups.group')['groups.group'])
        for row in groups['data'] + groups['tensor']:
            near(row['latency_ns'], latency, relative, f"latency of group {row['group']}")
            near(row['fit_busbw_gbps'], gbps, relative, f"bandwidth of group {row['group']}")
            if options is SHAPE:
                equal(row['slow_operations'], 0, f"slow operations of group {row['group']}")
        if options is SHAPE:  # the group of all only has small sizes: they give the latency
            world, = groups[None]
            near(world['latency_ns'], 30000, 0.04, 'latency of all')
            equal(world['fit_busbw_gbps'], None)
        else:
            equal(sorted(row['reach'] for row in groups['data']), ['inter'] * 4)


def test_dimensions_members_and_hosts_are_those_of_the_job():
    result = tables(store('groups'))
    groups = by_dimension(result['groups.group'])
    equal({(row['members'], row['reach']) for row in groups['tensor']},
          {(f'{i}-{i + 1}', 'intra') for i in range(0, 16, 2)})
    equal({(row['members'], row['reach']) for row in groups['data']},
          {('0-6:2', 'intra'), ('1-7:2', 'intra'), ('8-14:2', 'intra'), ('9-15:2', 'intra')})
    equal({(row['members'], row['reach']) for row in groups['pipeline']},
          {(f'{i},{i + 8}', 'inter') for i in range(8)})
    equal([(row['members'], row['reach'], row['hosts']) for row in groups[None]],
          [('0-15', 'inter', 2)])
    # 25 MiB: 26214400 x 1.5 / (26214400 x 1.5 / 50 + 30000) for data groups
    data, = (row for row in result['groups.dimension'] if row['dimension'] == 'data')
    near(data['busbw_gbps'], 48.16, 0.02, 'bandwidth of data groups')
    # A pair sends 4 MiB: 4194304 / (4194304 / 50 + 30000).
    for row in result['groups.link']:
        if row['kind'] == 'sendrecv':
            near(row['busbw_gbps'], 36.83, 0.05, f"bandwidth from {row['from_rank']}")
    equal([row['slow'] for row in result['groups.link'] if row['slow']], [])


def test_sums_over_groups_are_those_of_the_ranks():
    synth('job', lost_percent=3, **SHAPE)
    merged('job', '-o', 'x.h5')
    result = tables('x.h5')
    groups = result['groups.group']
    equal(sum(row['wait_ns'] or 0 for row in groups),
          sum(row['wait_ns'] for row in result['stragglers.rank']))
    equal(sum(row['transfer_ns'] or 0 for row in groups),
          sum(row['transfer_ns'] for row in result['overlap.rank']))
    holds(sum(row['incomplete'] for row in groups) > 0, 'no operation is incomplete')
    equal(sum(row['complete'] for row in groups),
          result['clock.check'][0]['matched'], 'complete operations')
    dimensions = result['groups.dimension']
    for column in ('complete', 'comm_ns', 'bytes'):
        equal(sum(row[column] for row in dimensions), sum(row[column] for row in groups), column)
    equal(sum(row['groups'] for row in dimensions), len(groups))


def test_all_communication_belongs_to_some_group():
    use('groups')
    kernels = 0
    for path in glob.glob('job/profile_*'):
        with open(path, encoding='utf-8') as file:
            kernels += sum(round(event['dur'] * 1000) for event in json.load(file)['traceEvents']
                           if event.get('cat') == 'kernel' and 'nccl' in event['name'])
    groups = tables(store('groups'), 'groups.group')['groups.group']
    equal(sum(row['comm_ns'] for row in groups), kernels)
    near(sum(row['comm_share'] for row in groups), 1, 1e-12, 'all shares')


def receiver(trace, args):
    if args['Collective name'] == 'send':
        return args['Dst Rank']
    return trace['distributedInfo']['rank']


def slow_down(folder, group, more_us, to=None):
    """Makes the kernels of a process group longer, by the same time for all of one operation; of
    transfers only those to a given rank."""
    for path in glob.glob(f'{folder}/profile_*'):
        with open(path, encoding='utf-8') as file:
            trace = json.load(file)
        for event in trace['traceEvents']:
            args = event.get('args', {})
            own = args.get('Process Group Name') == group and event.get('cat') == 'kernel'
            if own and (to is None or receiver(trace, args) == to):
                event['dur'] += more_us
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(trace, file)


@seldom
def test_a_slow_group_and_a_slow_pair_are_reported_from_their_peers():
    synth('job', **SHAPE)
    # 5 to 12 are tensor groups of 113.9 us, 13 to 20 are pipelines of the same.
    slow_down('job', '8', 40)
    slow_down('job', '17', 30, to=12)
    merged('job', '-o', 'x.h5')
    slow = [row for row in tables('x.h5', 'groups.link')['groups.link'] if row['slow']]
    equal([(row['group'], row['from_rank'], row['to_rank']) for row in slow],
          [('8', None, None), ('8', None, None), ('17', 4, 12)])
    for row in slow:  # broadcasts of 128 KiB take 30 + 2.6 us
        usual_us = 32.6 if row['kind'] == 'broadcast' else 113.9
        expected = 1 + (40 if row['group'] == '8' else 30) / usual_us
        near(row['times_slower'], expected, 0.05, f"how much slower {row['group']} is")
    found = {(row['dimension'], row['slow_links'])
             for row in tables('x.h5', 'groups.dimension')['groups.dimension']}
    equal(found, {('data', 0), ('pipeline', 1), ('tensor', 2), (None, 0)})


def test_without_clocks_pairs_alone_have_times():
    use('groups')
    merged('job', '-o', 'x.h5', '--align=none')
    result = tables('x.h5')
    equal({row['kind'] for row in result['groups.link']}, {'sendrecv'})
    for row in result['groups.group']:
        equal((row['wait_ns'], row['transfer_ns'], row['latency_ns']), (None, None, None))
        equal(row['busbw_gbps'] is not None, row['dimension'] == 'pipeline')


@seldom
def test_the_groups_of_replicas_follow_their_ranks():
    """Two replicas of two ranks, whose traces say 0, 1, 0, 1 and [0, 1] each; the second rank
    arrives 30 us after the first, in the second replica 50 us."""
    def record(reported, begin, configured):
        reported_on = {} if configured else {'Process Group Ranks': '[0, 1]'}
        document = json.loads(trace([
            kernel('gemm', 10, 80), kernel('ncclDevKernel_AllReduce', begin, 200 - begin,
                                           **{'Collective name': 'allreduce', 'In msg nelems': 8,
                                              'Out msg nelems': 8, 'dtype': 'Float', 'Group size': 2,
                                              'Process Group Name': 'g', 'Seq': 1}, **reported_on)],
            reported, world=2))
        if configured:
            document['distributedInfo']['pg_config'] = [{'pg_name': 'g', 'ranks': [0, 1]}]
        return json.dumps(document)

    begins = (100, 130, 100, 150)
    for configured in (False, True):
        for rank, begin in enumerate(begins):
            text = record(rank % 2, begin, configured)
            put(f'job/1760-TP-{rank % 2}-DP-{rank // 2}.trace.json', text)
            put(f'other/{"abcd"[rank]}.json', text)
        put('map', ''.join(f'other/{"abcd"[rank]}.json {rank}\n' for rank in range(4)))
        for arguments in (['job'], ['other', '--rank-map=map']):
            for n in sorted({0, *in_turn(0, 3)}):
                merged(*arguments, '-o', f'{n}.h5', n=n)
            equal([(row['members'], row['complete'], row['wait_ns']) for row in
                   tables('0.h5', 'groups.group')['groups.group']],
                  [('0-1', 1, 30000), ('2-3', 1, 50000)], (arguments, configured))
            equal(tables('0.h5', 'job.differs')['job.differs'], [])
            same_bytes('0.h5', f'{n}.h5')


def test_the_group_of_a_real_job_reads_true():
    result = tables(real_store())
    # Kernels without metadata form a group of their own.
    group, inferred = result['groups.group']
    equal((inferred['group'], inferred['members'], inferred['complete']), ('0-7', '0-7', 20))
    equal([group[key] for key in ('group', 'members', 'description', 'dimension', 'reach',
                                  'complete', 'incomplete', 'suspect')],
          ['0', '0-7', 'default_pg', None, 'intra', 56, 0, 0])
    equal(group['wait_ns'] + inferred['wait_ns'],
          sum(row['wait_ns'] for row in result['stragglers.rank']))
    # Eight H100 on NVLink: 450 GB/s in theory, all-reduces of over 1 MiB at 250 to 400.
    holds(250 < group['busbw_gbps'] < 400, group)
    holds(group['busbw_gbps'] < group['fit_busbw_gbps'] < 450, group)
    holds(10000 < group['latency_ns'] < 50000, group)
    equal(result['groups.link'], [])


if __name__ == '__main__':
    main()
