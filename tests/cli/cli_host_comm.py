"""Jobs on CPUs: gloo operations on host threads, without metadata, are matched and waited for like
those of GPUs."""
import json
import os

from common import (BASE_NS, SOURCE, contains, equal, event, has_line, lacks, main, merged, put, rows,
                    same_bytes, sampled, tests_of, tmerge)

MAIN, WORKERS = 100, (101, 102)


def op(name, ts, dur, **more):
    return event(name, 'cpu_op', ts, dur, pid=MAIN, tid=more.pop('tid', MAIN), **more)


def note(name, ts, dur, tid=MAIN, **args):
    return event(name, 'user_annotation', ts, dur, pid=MAIN, tid=tid, **args)


def asked(name, ts, dims, dur=1, peer=None):
    """Returns a thread's call to c10d; for gathers and scatters dims is the second input."""
    second = 'gather' in name or 'scatter' in name
    more = {} if peer is None else {'Concrete Inputs': ['', '', str(peer), '0']}
    return op(name, ts, dur, **{'Input Dims': [[], dims] if second else [[dims], []], **more})


def gloo(kind, ts, end, dims, worker=0, tid=None):
    return note(f'gloo:{kind}', ts, end - ts, tid or WORKERS[worker],
                **{'Input Dims': [dims], 'Input type': ['float']})


def steps(n):
    return [note(f'ProfilerStep#{k + 2}', 100 * k, 100) for k in range(n)]


def write(rank, events, world=2, groups=None, folder='job'):
    groups = groups or {'0': list(range(world))}
    config = [{'pg_name': name, 'pg_desc': 'x', 'pg_size': len(ranks), 'ranks': ranks}
              for name, ranks in groups.items()]
    info = {'backend': 'gloo', 'rank': rank, 'world_size': world, 'pg_config': config}
    put(f'{folder}/rank{rank}.json', json.dumps({
        'schemaVersion': 1, 'deviceProperties': [], 'distributedInfo': info, 'host_name': 'h',
        'baseTimeNanoseconds': BASE_NS, 'traceEvents': events}))


def blocking(late):
    """In 100 us per step the thread computes until its call, at 40 or 80; all leave at 90."""
    events = steps(3)
    for k in range(3):
        at = 100 * k + late
        events += [op('aten::mm', 100 * k, late - 1), asked('c10d::allreduce_', at - 1, [1000]),
                   gloo('all_reduce', at, 100 * k + 90, [1000], k % 2)]
    return events


def test_operations_of_gloo_are_matched_and_waits_laid_at_the_late_rank():
    for rank, late in enumerate((40, 80)):
        write(rank, blocking(late))
    done = merged('job')
    lacks(done.out, 'No GPU events')
    lacks(done.out, 'ProfilerActivity')
    # Rank 0 waits 80 - 40 = 40 us in each of 3 steps, for rank 1; the transfer takes 90 - 80 = 10 us.
    equal([(r['wait_ns'], r['caused_wait_ns'], r['last_arrivals'])
           for r in rows('tmerge.h5', 'stragglers.rank')], [(120000, 0, 0), (0, 120000, 3)])
    kinds = rows('tmerge.h5', 'collectives.kind')
    equal([(k['kind'], k['count'], k['bytes'], k['median_transfer_ns']) for k in kinds],
          [('allreduce', 3, 4000, 10000)])
    merged('job', '-o', 'three.h5', n=3)
    same_bytes('tmerge.h5', 'three.h5')


def test_what_is_exposed_is_where_the_thread_waits():
    # The thread calls at 5 and computes until 80; gloo is done at 90: 10 us of waiting, 74 hidden.
    # In [96, 98) it runs on before gloo ends at 99, so it did not wait.
    for rank in (0, 1):
        write(rank, steps(1) + [
            asked('c10d::allreduce_', 5, [10]), op('aten::mm', 6, 74), gloo('all_reduce', 6, 90, [10]),
            asked('c10d::allreduce_', 92, [10]), gloo('all_reduce', 93, 97, [10], 1),
            op('aten::relu', 96, 2)])
    merged('job')
    for row in rows('tmerge.h5', 'overlap.rank'):
        equal((row['comm_ns'], row['exposed_comm_ns'], row['overlap_ns']), (88000, 10000, 78000))
    # Of the first operation, 10 us are exposed on each of the two ranks; of the second, nothing.
    equal([row['exposed_ns'] for row in rows('tmerge.h5', 'collectives.instance')], [20000, 0])
    for row in rows('tmerge.h5', 'overview.rank'):
        # Operators take 1 + 74 + 1 + 2 us, and exposed communication 10.
        equal((row['kernel_ns'], row['comm_ns'], row['cpu_ns'], row['other_ns']), (0, 10000, 78000, 12000))
        equal(row['gpu_utilization_pct'], None)


def test_an_operation_on_the_threads_own_track_takes_no_time_from_its_operators():
    # isend and irecv last from their request at 8 until the end of wait(): mm crosses the first, the second is
    # waited for.
    write(0, steps(1) + [asked('c10d::send', 8, [10], 4, 1), gloo('send', 10, 60, [10], tid=MAIN),
                         op('aten::mm', 20, 50)])
    write(1, steps(1) + [asked('c10d::recv_', 8, [10], 4, 0), gloo('recv', 10, 60, [10], tid=MAIN),
                         op('aten::mm', 62, 20)])
    merged('job')
    equal([(r['exposed_comm_ns'], r['comm_ns']) for r in rows('tmerge.h5', 'overlap.rank')],
          [(0, 52000), (52000, 52000)])
    equal([r['cpu_ns'] for r in rows('tmerge.h5', 'overview.rank')], [54000, 20000])
    equal([(k['kind'], k['count']) for k in rows('tmerge.h5', 'collectives.kind')], [('sendrecv', 1)])


def test_a_transfer_begins_with_its_request():
    # The sender posts at 20, then loses its core, and records from 70 on. The receiver is done at 40.
    for rank in (0, 1):
        events = steps(3)
        for at in range(0, 300, 100):
            asks = asked('c10d::send', at + 20, [10], 49, 1) if rank == 0 else asked('c10d::recv_', at + 10, [10], 2, 0)
            kind, begin, end = ('send', 70, 72) if rank == 0 else ('recv', 12, 40)
            events += [op('aten::mm', at, 9), asks, gloo(kind, at + begin, at + end, [10], tid=MAIN),
                       op('aten::add', at + 75, 20)]
        write(rank, events)
    merged('job')
    equal([r['comm_ns'] for r in rows('tmerge.h5', 'overlap.rank')], [156000, 90000])  # 3 x (72 - 20), 3 x (40 - 10)
    equal([r['unmatched_pct'] for r in rows('tmerge.h5', 'whatif.job')], [0])


def test_the_peer_of_a_transfer_is_found_though_its_group_is_not_recorded():
    # A call has its peer's place in a group that is not recorded: 1 of [0, 1, 2, 3], [0, 1] or [0, 2].
    world = list(range(4))
    lines = {0: [0, 2], 1: [1, 3], 2: [0, 2], 3: [1, 3]}
    first, second = [('send', 1), ('send', 1), ('recv_', 1)], [('recv_', 0), ('recv_', 0), ('send', 0)]
    pairs = {r: [world, lines[r], [r & 2, r | 1]] for r in world}
    star = {0: [world, [0, 1], [0, 2]], 1: [world, [0, 1]], 2: [world, [0, 2]], 3: [world, [1, 3]]}
    for calls, groups, expected in (
            # Ranks 0 and 1 of two pipelines send to 2 and 3, which answer once.
            ({0: first, 1: first, 2: second, 3: second}, pairs, {'0,2': 3, '1,3': 3}),
            # Rank 3 lacks a receive.
            ({0: first[:2], 1: first[:2], 2: second[:2], 3: second[:1]}, pairs, {'0,2': 2}),
            # Rank 0 sends once, but 1 and 2 both receive from it.
            ({0: first[:1], 1: second[:1], 2: second[:1]}, star, {})):
        for rank in world:
            events = steps(1)
            for k, (kind, place) in enumerate(calls.get(rank, [])):
                at = 10 + 20 * k
                events += [asked(f'c10d::{kind}', at, [10], 2, place),
                           gloo(kind.rstrip('_'), at + 3, at + 15, [10], tid=MAIN)]
            write(rank, events + [op('aten::mm', 90, 5)], world=4,
                  groups={str(i): ranks for i, ranks in enumerate(groups[rank])})
        merged('job', '--force')
        equal({row['members']: row['complete'] for row in rows('tmerge.h5', 'groups.group') if row['complete']},
              expected)


def test_a_reduce_scatter_is_one_though_it_is_recorded_as_an_all_reduce():
    # The threads alternate differently on the ranks: the order is that of the calls to c10d.
    for rank in (0, 1):
        write(rank, steps(1) + [
            asked('c10d::_allgather_base_', 5, [8]), gloo('all_gather', 6, 10, [8], rank),
            asked('c10d::_reduce_scatter_base_', 20, [16]), gloo('all_reduce', 21, 30, [16], 1 - rank),
            asked('c10d::allreduce_', 40, [16]), gloo('all_reduce', 41, 50, [16], rank),
            op('aten::mm', 60, 20)])
    merged('job')
    equal([(k['kind'], k['count'], k['bytes']) for k in rows('tmerge.h5', 'collectives.kind')],
          [('allgather', 1, 64), ('allreduce', 1, 64), ('reducescatter', 1, 64)])


def test_each_group_has_its_own_threads_in_the_order_in_which_it_was_made():
    # 2 x 2: first tensor parallel (0 1, 2 3), then data parallel (0 2, 1 3); no group of all four.
    # In the first, two sizes take turns like its threads, so that each thread has one of them.
    for rank in range(4):
        pair, other = [rank - rank % 2, rank - rank % 2 + 1], [rank % 2, rank % 2 + 2]
        late = 20 if rank == 1 else 10
        turns = [e for k in range(1, 10) for e in (
            asked('c10d::allreduce_', 30 + 2 * k, [5 + k % 2]),
            gloo('all_reduce', 31 + 2 * k, 32 + 2 * k, [5 + k % 2], tid=201 + k % 2))]
        write(rank, steps(1) + turns + [
            asked('c10d::allreduce_', 1, [5]), gloo('all_reduce', late, 30, [5], tid=201),
            asked('c10d::allreduce_', 60, [7]), gloo('all_reduce', 61, 70, [7], tid=205),
            op('aten::mm', 75, 20)],
            world=4, groups={'0': [0, 1, 2, 3], '1': pair, '2': other})
    merged('job')
    found = [(k['group'], k['ranks'], k['bytes'], k['count']) for k in rows('tmerge.h5', 'collectives.kind')]
    equal(sorted(found), 2 * [('1', 2, 22, 10)] + 2 * [('2', 2, 28, 1)])  # (5 x 20 + 5 x 24) / 10
    equal([r['wait_ns'] for r in rows('tmerge.h5', 'stragglers.rank')], [10000, 0, 0, 0])


def test_an_operation_ends_when_who_waits_for_it_goes_on():
    # Both threads call at 1000 and continue at 5000. In one of three steps rank 1's gloo thread had no
    # core, and recorded the end at 7000. The operation then ends when the calling thread continues.
    for rank, ends in enumerate(((4950, 4950, 4950), (4950, 7000, 4950))):
        events = [note(f'ProfilerStep#{k + 2}', 20000 * k, 20000) for k in range(3)]
        for k, end in enumerate(ends):
            at = 20000 * k
            events += [op('aten::mm', at, 900), asked('c10d::allreduce_', at + 990, [10]),
                       gloo('all_reduce', at + 1000, at + end, [10]), op('aten::add', at + 5000, 9000)]
        write(rank, events)
    merged('job')
    # 3950 us each; 4000 if the end was moved to 5000.
    equal([r['comm_ns'] for r in rows('tmerge.h5', 'overlap.rank')], [11850000, 11900000])
    # In 8 steps, rank 1's thread continues 0.6 ms after or before the recorded end: it waited, and cores were late.
    # Rank 0's continues 3 ms after or before it, so nothing shows that it waits.
    for rank, late in enumerate((3000, 600)):
        events = [note(f'ProfilerStep#{k + 2}', 20000 * k, 20000) for k in range(8)]
        for k in range(8):
            at = 20000 * k
            events += [op('aten::mm', at, 900), asked('c10d::allreduce_', at + 990, [10]),
                       gloo('all_reduce', at + 1000, at + 5000, [10]),
                       op('aten::add', at + 5000 + late * (-1) ** k, 9000)]
        write(rank, events)
    merged('job', '--force')
    # 8 times 4 ms; in four steps 0.6 ms less.
    equal([r['comm_ns'] for r in rows('tmerge.h5', 'overlap.rank')], [32000000, 29600000])
    # In step 1, the operation that the threads wait for ends 0.3 ms before they continue. A second
    # one runs for 2 ms more, and nobody waits for it.
    for rank in (0, 1):
        events = [note(f'ProfilerStep#{k + 2}', 20000 * k, 20000) for k in range(3)]
        for k, end in enumerate((4950, 4700, 4950)):
            at = 20000 * k
            events += [op('aten::mm', at, 900), asked('c10d::allreduce_', at + 990, [10]),
                       gloo('all_reduce', at + 1000, at + end, [10]), op('aten::add', at + 5000, 9000)]
        events += [asked('c10d::allreduce_', 20992, [20]), gloo('all_reduce', 21000, 27000, [20], 1)]
        write(rank, events)
    merged('job', '--force')
    # 2 times 3.95 ms, and 6 ms.
    equal([r['comm_ns'] for r in rows('tmerge.h5', 'overlap.rank')], [13900000, 13900000])


def test_a_thread_waits_for_one_operation_while_another_one_runs():
    # As in DDP with two buckets. Rank 1's host is 6 ms late in each step of 14 ms. Each thread continues
    # 10 us after the first bucket's end, while the second bucket still runs.
    for rank, late in enumerate((0, 6000)):
        events = [note(f'ProfilerStep#{k + 2}', 14000 * k, 14000) for k in range(4)]
        for at in range(0, 4 * 14000, 14000):
            events += [op('aten::mm', at + late + 10, 3980), asked('c10d::allreduce_', at + late + 4000, [10]),
                       gloo('all_reduce', at + late + 4010, at + 10510, [10]),
                       asked('c10d::allreduce_', at + late + 4020, [90]),
                       gloo('all_reduce', at + late + 4030, at + 13030, [90], 1),
                       op('aten::copy_', at + 10520, 480), op('aten::add', at + 13040, 960)]
        write(rank, events)
    merged('job')
    # If rank 1 is not late, all of a step comes 6 ms earlier on both ranks.
    saved, = [r['saved_ns'] for r in rows('tmerge.h5', 'whatif.item') if (r['what'], r['name']) == ('rank', '1')]
    equal(saved, 6000000)


def test_what_ends_behind_the_recording_has_the_shapes_of_who_asked():
    for rank in (0, 1):
        last = note('gloo:all_reduce', 240, 50, WORKERS[0])
        del last['args']
        write(rank, steps(3) + [asked('c10d::allreduce_', 39, [1000]), gloo('all_reduce', 40, 90, [1000]),
                                op('aten::mm', 100, 50), asked('c10d::allreduce_', 239, [1000]),
                                last if rank == 0 else gloo('all_reduce', 240, 290, [1000])])
    merged('job')
    equal([(k['kind'], k['count'], k['bytes']) for k in rows('tmerge.h5', 'collectives.kind')],
          [('allreduce', 2, 4000)])


# Begins and ends of a recording's all-reduces, in us: DDP with PyTorch 2.14, 4 ranks, of which rank
# 2 has more work, one bucket in each of 3 steps.
SLOW_RANK_2 = (((501, 301098), (884261, 1825267), (3608251, 3641163)),
               ((93110, 298835), (1674240, 1828949), (3377001, 3641221)),
               ((287113, 301024), (1815305, 1823810), (3621773, 3640339)),
               ((81053, 298732), (1610524, 1823552), (3431574, 3638213)))
# The same with PyTorch 1.13, 2 ranks, two buckets: each process counts from its own start.
OWN_STARTS = (((450738, 487413), (482891, 529756), (1137004, 1138116), (1148808, 1149525),
               (1671616, 1672634), (1686171, 1689239)),
              ((459189, 470232), (522827, 524036), (1012223, 1132542), (1024538, 1143678),
               (1404067, 1666694), (1431176, 1687291)))


def test_the_slow_rank_of_a_recorded_job():
    for rank, times in enumerate(SLOW_RANK_2):
        write(rank, [op('aten::mm', 0, 150)] + [e for k, (begin, end) in enumerate(times) for e in (
            asked('c10d::allreduce_', begin - 300, [399370]),
            gloo('all_reduce', begin, end, [399370], k % 2))], world=4)
    merged('job')
    # Until rank 2 arrives: rank 0 waits 287113 - 501 = 286612, 1815305 - 884261 = 931044 and
    # 3621773 - 3608251 = 13522 us.
    found = rows('tmerge.h5', 'stragglers.rank')
    equal([r['wait_ns'] for r in found], [1231178000, 579840000, 0, 601040000])
    equal([r['last_arrivals'] for r in found], [0, 0, 3, 0])


def test_a_rank_that_runs_what_its_peers_do_not_is_named_with_it():
    # Rank 2 runs more operators first, with a name that all run once before the operation and twice
    # after it: in the second stretch of the step they still have peers. An operator of 2 us is
    # matched with the next one, and the last, of 10 us, has no peer: the cost is 2 us all the same.
    for more, every, n_steps, extra_ns, said in (
            ([10, 10, 10], 1, 8, 30000, '; it runs 3 operators a step that its peers do not run (30.0 us'),
            ([10, 10, 10], 2, 16, 30000,
             '; in 8 of 16 steps it runs 3 operators that its peers do not run (30.0 us'),
            ([2], 1, 8, 2000, '; it runs 1 operator a step that its peers do not run (2.00 us')):
        for rank in range(4):
            events = steps(n_steps)
            for k in range(n_steps):
                at = 100 * k
                for us in more * (rank == 2 and k % every == 0) + [10]:
                    events.append(op('aten::mm', at, us))
                    at += us
                events += [asked('c10d::allreduce_', at, [1000]),
                           gloo('all_reduce', at + 1, 100 * k + 60, [1000]),
                           op('aten::mm', 100 * k + 70, 10), op('aten::mm', 100 * k + 80, 8)]
            write(rank, events, world=4)
        merged('job')
        equal([(r['rank'], r['step'], r['kernels'], r['extra_ns'], r['name'], r['name_kernels'])
               for r in rows('tmerge.h5', 'stragglers.extra')],
              [(2, step, len(more), extra_ns, 'aten::mm', len(more))
               for step in range(2, n_steps + 2, every)])
        equal([r['rank'] for r in rows('tmerge.h5', 'stragglers.finding')], [2])
        contains(rows('tmerge.h5', 'stragglers.job')[0]['evidence'], said)


def test_without_time_of_day_or_groups_clocks_are_fitted_or_unknown():
    for n in (1, 6):
        for rank, times in enumerate(OWN_STARTS):
            events = [('aten::mm', 1, 33, 400)]
            for k, (begin, end) in enumerate(times[:n]):
                events += [('c10d::allreduce_', 1, begin - 300, 200),
                           ('gloo:all_reduce', 2 + k % 2, begin, end - begin)]
            put(f'old/rank{rank}.json', json.dumps([
                {'name': name, 'ph': 'X', 'ts': ts, 'dur': dur, 'tid': tid, 'pid': 'CPU functions',
                 'args': {}} for name, tid, ts, dur in events]))
        out = merged('old').out
        lacks(out, 'all ranks share one')
        if n == 1:
            contains(out, 'no clock can be compared')
        else:
            # Ends of rank 0 minus those of rank 1: the median of 17181, 5720, 5574, 5847, 5940 and
            # 1948 us is 5.78 ms.
            contains(out, '(were 5.78 ms apart)')
            equal(sum(k['count'] for k in rows('tmerge.h5', 'collectives.kind')), 6)


def test_a_job_on_one_cpu_is_reported_what_it_waits_for():
    load = 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__'
    write(0, [e for k in range(6) for e in (note(f'ProfilerStep#{k}', 100 * k, 100),
                                            note(load, 100 * k + 1, 84), op('aten::mm', 100 * k + 86, 10))],
          world=1, groups={'0': [0]})
    out = merged('job').out
    contains(out, 'its CPU computes for 10.0 %')
    contains(' '.join(out.split()), 'it waited for its next batch')
    contains(out, 'Advice: Load data faster')
    lacks(out, 'ProfilerActivity')


def test_where_backward_waits_for_gradients_is_backward():
    # Forward 20, backward [20, 30); DDP calls at 30, waits until 91, copies until 93; optimizer 5.
    backward, copy = 'autograd::engine::evaluate_function: AddmmBackward0', 'torch.distributed.ddp.reducer::copy'
    for rank in (0, 1):
        write(rank, [note('ProfilerStep#2', 0, 100), op('aten::linear', 0, 20), op(backward, 20, 10),
                     asked('c10d::allreduce_', 30, [9]), gloo('all_reduce', 31, 91, [9]), op(copy, 91, 2),
                     note('Optimizer.step#SGD.step', 94, 5)])
    merged('job')
    for row in rows('tmerge.h5', 'phases.step'):
        equal([row[f'{phase}_ns'] for phase in ('forward', 'backward', 'optimizer', 'data', 'other')],
              [20000, 73000, 5000, 0, 2000])


def test_a_job_of_gpus_whose_hosts_use_gloo_too_stays_as_it_was():
    gpu = [event('gemm', 'kernel', 10, 50, device=0, stream=7)]
    for name, more in (('with', blocking(40)), ('without', [])):
        for rank in (0, 1):
            write(rank, gpu + more, folder=name)
        merged(name, '-o', f'{name}.h5')
    for found, expected in zip(rows('with.h5', 'overlap.rank'), rows('without.h5', 'overlap.rank'), strict=True):
        equal(found, expected | {'before_ns': 10000})  # a step from 0 is marked; the kernel begins at 10 us
    equal(rows('with.h5', 'collectives.kind'), [])
    tmerge('show', 'with.h5', 'overlap.rank').expect(0)



RECORDED = os.path.join(SOURCE, 'tests', 'real', 'recorded')
# The slowed ranks of each recording, and the cause that the screen must name.
CULPRITS = {
    '2.6.0-ddp-none': (set(), ''),
    '2.6.0-ddp-gc-rank2': ({2}, 'between them (Python'),
    '2.14.1-ddp-none': (set(), ''),
    '2.14.1-fsdp2-gc-rank3': ({3}, 'between them (Python'),
    '2.15.0-ddp-sleep-rank2': ({2}, 'between them (Python'),
    '2.15.0-ddp-loader-rank0': ({0}, 'data loading'),
}


def check_recorded(name, slow, word):
    """Checks a recording by tests/real: twelve steps of four ranks, all operations matched."""
    done = merged(os.path.join(RECORDED, name), '-o', 'tmerge.h5')
    contains(' '.join(done.out.split()), word)
    equal({r['rank'] for r in rows('tmerge.h5', 'stragglers.finding')}, slow)
    equal(rows('tmerge.h5', 'collectives.unmatched'), [])


globals().update(sampled(tests_of({name: (name, *row) for name, row in CULPRITS.items()},
                                  check_recorded, 'recorded_')))


if __name__ == '__main__':
    main()
