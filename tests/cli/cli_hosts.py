"""Host of a rank, ranks that share its clock, and alignment options that are rejected."""
import json

from common import (contains, content, equal, event, files, holds, kernel, lacks, main, merged,
                    put, rows, same_bytes, synth, tables, tmerge, trace)

import h5py

JOB = dict(ranks=4, ranks_per_host=1, steps=6, cpu_ops=0)


def hosts(store):
    return [row['host'] for row in rows(store, 'job.rank')]


def test_a_map_decides_over_what_traces_say():
    synth('job', **JOB)
    put('map', '# rank host\n0 mars\n\n2\tvenus  \n1 mars\n')
    merged('job', '--host-map=map', n=2)
    equal(hosts('tmerge.h5'), ['mars', 'mars', 'venus', 'host3'])  # host3 by its trace
    equal(rows('tmerge.h5', 'job.job')[0]['hosts'], 3)
    with h5py.File('tmerge.h5') as store:
        contains(store.attrs['command'], '--host-map=map')
    # The store keeps the hosts until another map replaces them.
    tmerge('analyze', 'tmerge.h5', '-o', 'same.h5').expect(0)
    equal(hosts('same.h5'), hosts('tmerge.h5'))
    put('other', '3 pluto')
    tmerge('analyze', 'tmerge.h5', '-o', 'other.h5', '--host-map', 'other').expect(0)
    equal(hosts('other.h5'), ['mars', 'mars', 'venus', 'pluto'])


def test_a_host_that_device_numbers_show_is_named_and_fixed_like_a_recorded_one():
    synth('job', ranks=8, ranks_per_host=4, steps=8, cpu_ops=0, slow='4-7:1.3')
    for name in files('job'):
        if name != 'truth.json':
            put('bare/' + name, content('job/' + name).replace(b'"host_name"', b'"no_name"'))
    merged('job', '-o', 'job.h5')
    done = merged('bare', '-o', 'bare.h5', n=3)
    contains(done.out, '\nRanks 4-7 (host1, by device numbers) make the other ranks wait')
    job, bare = tables('job.h5'), tables('bare.h5')
    equal([row['host_inferred'] for row in bare.pop('job.rank')], [True] * 8)
    for name, found in bare.items():
        if name not in ('job.remark', 'job.left_out'):  # have paths
            equal(json.loads(json.dumps(found).replace(', by device numbers', '')), job[name], name)
    fixed = tmerge('whatif', 'job.h5', '--fix', 'host=host1').expect(0).out
    equal(tmerge('whatif', 'bare.h5', '--fix', 'host=host1').expect(0).out, fixed)
    tmerge('analyze', 'bare.h5', '-o', 'again.h5').expect(0)
    same_bytes('bare.h5', 'again.h5')


def test_a_wrong_map_is_reported_with_its_place():
    synth('job', **JOB)
    for text, message in (('0 mars\n\nvenus 1\n', "map: line 3: 'venus 1' should be RANK HOST"),
                          ('0 mars venus\n', "map: line 1: '0 mars venus' should be RANK HOST"),
                          ('-1 mars\n', "map: line 1: '-1 mars' should be RANK HOST"),
                          ('# x\n0\r\n', "map: line 2: '0' should be RANK HOST"),
                          ('0 ' + 'x' * 9000, f"map: line 1: '0 {'x' * 298}' should be RANK HOST"),
                          ('0 a\n1 \0\n', 'map: line 2: a zero byte: this is not text'),
                          ('1 a\n0 b\n1 a\n', 'map: line 3: rank 1 already has a host from line 1')):
        put('map', text)
        tmerge('job', '--host-map=map', n=2 if 'zero' in message else 0).fails(3, message)
    tmerge('job', '--host-map=none').fails(3, 'none: No such file or directory')


def test_ranks_of_one_host_whose_clocks_differ_are_reported_apart():
    synth('job', offset_us=5000, **JOB)
    put('map', ''.join(f'{rank} box\n' for rank in range(4)))
    done = tmerge('job', '--host-map=map', n=2).expect(0)
    contains(done.out, 'the ranks of box do not share a clock: each is aligned by itself')
    ranks = rows('tmerge.h5', 'clock.rank')
    equal([row['domain'] for row in ranks], [0, 1, 2, 3])
    equal({row['method'] for row in ranks}, {'fit'})
    holds(max(row['offset_ns'] for row in ranks) > 1000000, 'no offset is found')
    equal(rows('tmerge.h5', 'clock.check')[0]['violations_after'], 0)


def test_a_rank_that_leaves_late_is_no_clock_that_differs():
    """Ten all-reduces of three ranks. Rank 1 ends 150 us after the others. If it also starts 150 us
    later after its launches, its GPU's clock differs."""
    for shift, domains, late in ((0, [0, 0, 0], [None, 150000, None]), (150, [0, 1, 2], [None] * 3)):
        for rank in range(3):
            begin, more = 6 + shift * (rank == 1), 150 * (rank == 1)
            events = []
            for i in range(10):
                reduce = kernel('ncclDevKernel_AllReduce', 1000 * i + begin, 400 + more - begin + 6, **{
                    'Collective name': 'allreduce', 'In msg nelems': 1000, 'dtype': 'Float',
                    'Group size': 3, 'Process Group Ranks': '[0, 1, 2]', 'Process Group Name': '0',
                    'Seq': i, 'correlation': i + 1})
                events += [event('cudaLaunchKernel', 'cuda_runtime', 1000 * i, 4, correlation=i + 1), reduce]
            put(f'late/rank{rank}.json', trace(events, rank, 3))
        put('map', '0 box\n1 box\n2 box\n')
        out = tmerge('late', '--host-map=map', '--force').expect(0).out
        ranks = rows('tmerge.h5', 'clock.rank')
        equal([row['domain'] for row in ranks], domains)
        equal([row['ends_late_ns'] for row in ranks], late)
        equal('rank 1 leaves collectives 150.0 us later than other ranks of its host' in out, shift == 0)


def test_ranks_of_one_host_that_agree_share_their_clock():
    synth('job', gpu_error_ns=3000, **JOB)
    put('map', ''.join(f'{rank} box\n' for rank in range(4)))
    done = tmerge('job', '--host-map=map', n=3).expect(0)
    contains(done.out, 'one clock; ')
    lacks(done.out, 'do not share')
    ranks = rows('tmerge.h5', 'clock.rank')
    equal([(row['domain'], row['offset_ns'], row['method']) for row in ranks], [(0, 0, 'wall')] * 4)
    # GPU errors are not corrected, but they are shown, and determine ties.
    holds(0 < ranks[0]['uncertainty_ns'] < 6000, ranks[0])
    holds(any(abs(row['residual_ns']) > 200 for row in ranks), ranks)


def test_the_uncertainty_of_wall_clocks_is_an_option_that_is_stored():
    synth('job', **dict(JOB, buckets=0))
    for option, stated in ((None, 5000000), ('250us', 250000), ('1.5s', 1500000000)):
        merged('job', *([f'--wall-uncertainty={option}'] if option else []))
        ranks = rows('tmerge.h5', 'clock.rank')
        equal([row['method'] for row in ranks], ['wall'] * 4)
        # Without collectives, the uncertainty is that of wall clocks, plus the GPU's error and drift.
        holds(stated <= ranks[1]['uncertainty_ns'] <= stated * 1.1 + 10000, ranks[1])
        equal([row['component'] for row in ranks], [0, 1, 2, 3])
    tmerge('analyze', 'tmerge.h5', '-o', 'again.h5').expect(0)
    with h5py.File('again.h5') as store:
        equal(store.attrs['wall_uncertainty_ns'], 1500000000)
    for wrong in ('5', 'ms', '-1ms', '0s', '5 ms', '1e99s', 'nan', '5mss'):
        tmerge('job', f'--wall-uncertainty={wrong}').fails(
            2, f"--wall-uncertainty takes a time like 5ms or 200us, not '{wrong}'")


if __name__ == '__main__':
    main()
