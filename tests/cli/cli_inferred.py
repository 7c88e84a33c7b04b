"""Kernels without metadata: groups are inferred only if the traces prove them."""
import shutil

from common import contains, equal, holds, lacks, main, merged, seldom, synth, tables


def ranks_of(text):
    """Returns the ranks of a list such as 0-2,5."""
    found = []
    for part in text.split(','):
        first, *last = part.split('-')
        found += range(int(first), int(last[0] if last else first) + 1)
    return tuple(found)


def true_groups(truth):
    groups = {}
    for one in truth['collectives']:
        groups.setdefault(one['kind'], set()).add(tuple(one['ranks']))
    return groups


def check_groups(truth, result):
    """No group mixes ranks of two true ones; incomplete ones are marked. Returns complete ones."""
    true, whole = true_groups(truth), set()
    for row in result['collectives.kind']:
        if row['how'] != 'inferred':
            continue
        ranks = ranks_of(row['group'])
        holds(any(set(ranks) <= set(group) for group in true[row['kind']]), row)
        holds(ranks in true[row['kind']] or row['at_least'], row)
        holds(row['evidence_bits'] >= 4, row)
        whole |= {ranks} & true[row['kind']]
    return whole


def job(**options):
    shutil.rmtree('job', ignore_errors=True)
    truth = synth('job', **options)
    done = merged('job', '-o', 'job.h5')
    return truth, done.out, tables('job.h5')


# Two stages on two hosts whose clocks are up to 5 ms apart. Their all-reduces end within
# microseconds of each other once an offset is subtracted, which is wrong by milliseconds.
PIPELINE = dict(ranks=8, ranks_per_host=4, pp=2, no_world=1, steps=4, no_metadata=1, offset_us=1500)


@seldom
def test_stages_of_a_pipeline_are_not_one_group():
    for seed, more in ((1, {}), (3, dict(microbatches=4)), (4, dict(tp=2, microbatches=2))):
        truth, out, result = job(seed=seed, **PIPELINE, **more)
        whole = check_groups(truth, result)
        holds(more.get('tp') or whole == {(0, 1, 2, 3), (4, 5, 6, 7)}, whole)
        # Nothing relates the hosts' clocks, so neither is moved.
        equal({row['offset_ns'] for row in result['clock.rank']}, {0})
        contains(out, 'the hosts fall into 2 parts')


def test_groups_in_step_on_one_host_are_not_joined():
    for seed in (3, 5):
        truth, _, result = job(ranks=8, tp=2, steps=3, no_world=1, no_metadata=1,
                               jitter=1, gpu_error_ns=3000, end_jitter_ns=3000, seed=seed)
        check_groups(truth, result)


@seldom
def test_custom_all_reduces_and_graphs_are_matched_as_with_metadata():
    options = dict(ranks=8, tp=4, steps=3, slow_rank=2, slow_factor=1.2)
    _, out, result = job(**options)
    lacks(out, 'without metadata')
    expected = {row['group']: row for row in result['groups.group']}
    truth, out, result = job(custom_all_reduce=1, **options)
    check_groups(truth, result)
    # 8 ranks, each step: 24 tensor all-reduces.
    n_kernels = 8 * 3 * 24
    equal(result['clock.check'][0]['inferred'], n_kernels)
    contains(out, f'{n_kernels} kernels matched without metadata')
    tensors = [row for row in result['collectives.kind'] if row['how'] == 'inferred']
    equal(sorted(row['group'] for row in tensors), ['0-3', '4-7'])
    equal({row['at_least'] for row in tensors}, {False})
    # Waits equal those of the same operations with metadata, whatever the names of the kernels. With
    # metadata, the all-reduces of a group are in one row with its 3 broadcasts.
    for members in ('0-3', '4-7'):
        name, = (one for one in expected.values()
                 if one['members'] == members and one['dimension'] == 'tensor')
        own = [row for row in result['groups.group'] if row['members'] == members]
        equal((sum(row['complete'] for row in own), sum(row['wait_ns'] or 0 for row in own)),
              (3 * 25, name['wait_ns']))
    truth, out, result = job(custom_all_reduce=1, graphs=1, **dict(options, ranks=4))
    check_groups(truth, result)
    equal(result['clock.check'][0]['inferred'] // (4 * 3 * 24), 1)


def test_groups_over_hosts_align_their_clocks():
    truth, _, result = job(ranks=8, ranks_per_host=2, steps=6, no_metadata=1, offset_us=2000,
                           lost_percent=3)
    equal(check_groups(truth, result), {tuple(range(8))})
    offsets = [host['offset_ns'] for host in truth['hosts']]
    for row in result['clock.rank']:
        # A clock that is ahead is moved back; all are shifted by a common time.
        apart = row['offset_ns'] + offsets[row['rank'] // 2] - result['clock.rank'][0]['offset_ns']
        holds(abs(apart - offsets[0]) < 3 * row['uncertainty_ns'], row)


if __name__ == '__main__':
    main()
