"""Recorded calls of jobs that hang, and the right answers. Nothing here runs tmerge."""
import json
import os
import tarfile

SECOND = 1000000000
WORLD = ('0', 'default_pg')


def call(op, seq, state='completed', group=WORLD, inputs=((4, 4),), outputs=None, dtype='Float', p2p=False,
         time=None, **other):
    return {'frames': [{'name': op, 'filename': '/x/torch/distributed/distributed_c10d.py', 'line': 9},
                       {'name': 'step', 'filename': '/home/me/train.py', 'line': 10 + seq}],
            'process_group': group, 'collective_seq_id': 0 if p2p else seq, 'p2p_seq_id': seq if p2p else 0,
            'profiling_name': op if ':' in op else 'nccl:' + op,
            'time_created_ns': (seq if time is None else time) * SECOND, 'state': state,
            'input_sizes': [list(s) for s in inputs], 'input_dtypes': [dtype],
            'output_sizes': [list(s) for s in (inputs if outputs is None else outputs)],
            'output_dtypes': [dtype], 'retired': state == 'completed', 'timeout_ms': 600000, 'is_p2p': p2p,
            'time_discovered_started_ns': None, 'time_discovered_completed_ns': None, **other}


def dump(calls, groups=None, size=2, version='2.10'):
    config = {'0': {'name': '0', 'desc': 'default_pg', 'ranks': str(list(range(size)))}}
    config.update({name: {'name': name, 'desc': name, 'ranks': str(ranks)} for name, ranks in (groups or {}).items()})
    entries = [{'record_id': i, **c} for i, c in enumerate(calls)]
    return {'version': version, 'pg_config': config, 'pg_status': {}, 'entries': entries}


DONE = [call('all_reduce', 1), call('barrier', 2)]
AB = {'a': [0, 1, 2, 3], 'b': [0, 1, 2, 3]}


def on(group, seq=1, **more):
    return call('all_reduce', seq, 'scheduled', (group, group), **more)


def sent(op, seq=1, **more):
    return call(op, seq, more.pop('state', 'scheduled'), p2p=True, **more)


def of_tp(seq, state, **more):
    return call('all_reduce', seq, state, ('tp', 'tp'), **more)


def batch(rank, seq, state='completed'):
    """Returns a batch as PyTorch records it: its members stay scheduled, and only the call after them ends."""
    return [sent(f'send {rank}->{rank ^ 1}', seq), sent(f'recv {rank}<-{rank ^ 1}', seq),
            call('nccl:coalesced', seq, state, p2p=True, inputs=())]


def run_of(last, over, first=1, **more):
    return [call('all_reduce', i, 'completed' if i <= over else 'started', **more) for i in range(first, last + 1)]


NOBODY = ('unknown', None, 'unknown', None)
# Recorded calls; groups; and the right answer by the definitions of hang.job: state, reason, confidence,
# culprits, and the operation and number at which the hang began.
CASES = {
    'matched': ([DONE, DONE], {}, ('clear', None, 'unknown', None, None, None)),
    'matched, not finished': ([[call('all_reduce', 1, 'started')]] * 2, {},
                          ('unknown', None, 'unknown', None, 'all_reduce', 1)),
    'another operation': ([[call('all_reduce', 1, 'scheduled')], [call('all_gather', 1, 'scheduled')]], {},
                          ('hangs', 'mismatch', 'several', '0-1', 'all_reduce', 1)),
    'all_to_all, in which ranks may have different sizes': (
        [[call('all_to_all', 1, 'scheduled')], [call('all_to_all', 1, 'scheduled', inputs=((5, 4),))]], {},
        ('unknown', None, 'unknown', None, 'all_to_all', 1)),
    'another size': ([[call('all_reduce', 1, 'scheduled')]] * 2 +
                     [[call('all_reduce', 1, 'scheduled', inputs=((5, 4),))]], {},
                     ('hangs', 'mismatch', 'one', '2', 'all_reduce', 1)),
    'another size of the output': (
        [[call('all_reduce', 1, 'scheduled')]] * 2 +
        [[call('all_reduce', 1, 'scheduled', outputs=((5, 4),))]], {},
        ('hangs', 'mismatch', 'one', '2', 'all_reduce', 1)),
    'another type': ([[call('all_reduce', 1, 'scheduled')]] * 2 +
                     [[call('all_reduce', 1, 'scheduled', dtype='Half')]], {},
                     ('hangs', 'mismatch', 'one', '2', 'all_reduce', 1)),
    'another state: one rank has finished, so all arrived': (
        [[call('all_reduce', 1, 'scheduled')], [call('all_reduce', 1)]], {},
        ('unknown', None, 'unknown', None, 'all_reduce', 1)),
    'gather: outputs on one rank': (
        [[call('gather', 1, outputs=((4, 4), (4, 4)))], [call('gather', 1, 'scheduled', outputs=())]], {},
        ('unknown', None, 'unknown', None, 'gather', 1)),
    'another size within coalesced calls': (
        [[call('_broadcast_oop', 1, 'scheduled'), call('_broadcast_oop', 1, 'scheduled', inputs=((n, 5),)),
          call('ALLGATHER_coalesced', 1, 'scheduled', inputs=())] for n in (5, 5, 4)], {},
        ('hangs', 'mismatch', 'one', '2', '_broadcast_oop', 1)),
    'the same elements in another shape': (
        [[call('all_reduce', 1, 'scheduled')], [call('all_reduce', 1, 'scheduled', inputs=((16,),))]], {},
        ('unknown', None, 'unknown', None, 'all_reduce', 1)),
    'one rank has not arrived': ([DONE + [call('all_reduce', 3, 'scheduled')]] * 2 + [DONE], {},
                       ('hangs', 'not issued', 'one', '2', 'all_reduce', 3)),
    'never started': ([[call('all_reduce', 1, 'scheduled')]] * 2 + [[]], {},
                      ('hangs', 'not issued', 'one', '2', 'all_reduce', 1)),
    'two ranks have not arrived': ([DONE + [call('all_reduce', 3, 'scheduled')]] * 2 + [DONE] * 2, {},
                          ('hangs', 'not issued', 'several', '2-3', 'all_reduce', 3)),
    'no dump': ([[call('all_reduce', 1, 'scheduled')], None, [call('all_reduce', 1, 'scheduled')]], {},
                ('hangs', 'no dump', 'one', '1', 'all_reduce', 1)),
    'no dump of one rank, and another rank has not arrived': ([[call('all_reduce', 1, 'scheduled')], None, []], {},
                                      ('hangs', 'not issued', 'several', '2', 'all_reduce', 1)),
    'entries with other keys in another order': (
        [[call('all_reduce', 1), {'duration_ms': 1.5, **dict(reversed(call('all_reduce', 2).items()))},
          *run_of(last, 2, 3)] for last in (3, 2)], {}, ('hangs', 'not issued', 'one', '1', 'all_reduce', 3)),
    'the other ranks run ahead': ([[call('all_reduce', i, 'scheduled') for i in range(1, 40)]] * 2 +
                         [[call('all_reduce', 1)]], {},
                         ('hangs', 'not issued', 'one', '2', 'all_reduce', 2)),
    # Rank 2 has not arrived at b; rank 1 waits there, and rank 0 waits for rank 1.
    'a chain of groups': ([[on('a', time=5)], [on('b', time=7)], []], {'a': [0, 1], 'b': [1, 2]},
                          ('hangs', 'not issued', 'one', '2', 'all_reduce', 1)),
    'one rank uses two groups in another order': ([[on('a')], [on('a')], [on('a')], [on('b')]], AB,
                                    ('hangs', 'circle', 'one', '3', 'all_reduce', 1)),
    'two of four ranks use two groups in another order': ([[on('a')], [on('a')], [on('b')], [on('b')]], AB,
                                     ('hangs', 'circle', 'several', '0-3', 'all_reduce', 1)),
    'a circle of pairs': ([[on('a')], [on('b')], [on('c')]], {'a': [0, 1], 'b': [1, 2], 'c': [0, 2]},
                          ('hangs', 'circle', 'several', '0-2', 'all_reduce', 1)),
    'a send without a receive': ([[sent('send 0->1')], [], [on('a', time=9)]], {'a': [1, 2]},
                                 ('hangs', 'not issued', 'one', '1', 'send 0->1', 1)),
    'a send and its receive': ([[sent('send 0->1')], [sent('recv 1<-0')]], {},
                               ('unknown', None, 'unknown', None, 'send 0->1', 1)),
    'a send, and a receive of another size': (
        [[sent('send 0->1', 1, state='completed'), sent('send 0->1', 2)],
         [sent('recv 1<-0', 1, state='completed'), sent('recv 1<-0', 2, inputs=((5, 4),))]], {},
        ('hangs', 'mismatch', 'several', '0-1', 'send 0->1', 2)),
    'another size, and a rank of another group has not arrived': (
        [[on('a')], []] + [[on('b', time=2)]] * 2 + [[on('b', inputs=((5, 4),), time=2)]],
        {'a': [0, 1], 'b': [2, 3, 4]}, ('hangs', 'mismatch', 'one', '1,4', 'all_reduce', 1)),
    'the root of a broadcast goes on': (
        [[call('broadcast', 1), call('all_reduce', 2, 'scheduled')], [call('broadcast', 1)]], {},
        ('hangs', 'not issued', 'one', '1', 'all_reduce', 2)),
    'gloo: finished, or failed because a rank was killed': (
        [[call('gloo:all_reduce', 1, 'scheduled', retired=True)], None], {},
        ('hangs', 'no dump', 'one', '1', 'all_reduce', 1)),
    'NCCL: finished, so the rank without a dump had arrived': (
        [[call('all_reduce', 1)], None], {}, ('clear', None, 'unknown', None, None, None)),
    # Rank 3's operation of b may wait for rank 2's GPU, which waits in a: no rank can be blamed.
    'the missing rank waits in an operation at which all arrived': (
        [[on('a', 2)], [on('a', 2)], [on('a', 2), on('b', time=3)], [on('b', time=3)]],
        {'a': [0, 1, 2, 3], 'b': [2, 3]}, (*NOBODY, 'all_reduce', 1)),
    # The other ranks wait for ranks that wait in an operation at which all have arrived.
    'an operation of a pair does not end': ([[of_tp(1, 'started')]] * 2 + [[call('all_reduce', 1, 'started', time=2)]] * 2,
                            {'tp': [0, 1]}, (*NOBODY, 'all_reduce', 1)),
    'a send and its receive do not end': (
        [[sent('send 0->1')], [sent('recv 1<-0')], [call('all_reduce', 1, 'started', time=2)]], {},
        (*NOBODY, 'send 0->1', 1)),
    'hosts that ran ahead': ([run_of(8, 4), run_of(7, 4), run_of(8, 4)], {}, (*NOBODY, 'all_reduce', 5)),
    'finished batches': ([batch(r, 1) + batch(r, 2) for r in (0, 1)], {},
                              ('clear', None, 'unknown', None, None, None)),
    'a batch without the other side': ([batch(0, 1) + batch(0, 2, 'started'), batch(1, 1)], {},
                                       ('hangs', 'not issued', 'one', '1', 'send 0->1', 2)),
    'finished coalesced calls': (
        [[call('_all_gather_base', 1, 'scheduled', retired=False),
          call('all_gather_into_tensor_coalesced', 1, inputs=())]] * 2, {},
        ('clear', None, 'unknown', None, None, None)),
    'all sends and receives of many ranks': (
        [[sent(op) for p in range(12) if p != r for op in (f'send {r}->{p}', f'recv {r}<-{p}')] for r in range(12)],
        {}, (*NOBODY, 'send 0->1', 1)),
    'a dump from another time': ([run_of(9, 9), run_of(9, 9), run_of(7, 7)], {}, (*NOBODY, 'all_reduce', 9)),
    'a dump from another run': ([run_of(4, 3), run_of(4, 3), run_of(6, 6)], {}, (*NOBODY, 'all_reduce', 6)),
    'a dump from a new process': ([run_of(4, 3), run_of(4, 3), []], {}, (*NOBODY, 'an operation', 3)),
    'broadcasts went on without one rank': (
        [[call('broadcast', i) for i in range(1, 5)] + [call('all_reduce', 5, 'started')]] * 2 +
        [[call('broadcast', 1)]], {}, ('hangs', 'not issued', 'one', '2', 'all_reduce', 5)),
    'a group that was created again': ([run_of(9, 9) + run_of(4, 3)] * 2 + [run_of(9, 9) + run_of(3, 3)], {},
                                    ('hangs', 'not issued', 'one', '2', 'all_reduce', 4)),
    'gloo: a finished operation stays scheduled': (
        [[call('gloo:all_reduce', 1, 'scheduled', retired=True)]] * 2, {},
        ('clear', None, 'unknown', None, None, None)),
}

# The cases of PyTorch 2.15.0's test_fr_analysis.py that the rows above do not have.
OPERATIONS = ('broadcast', '_broadcast_oop', 'reduce', '_reduce_oop', 'all_gather', 'all_gather_single',
              'all_gather_v', 'all_reduce', '_all_gather_base', 'all_gather_into_tensor_coalesced', 'reduce_scatter',
              'reduce_scatter_single', 'reduce_scatter_v', 'reduce_scatter_tensor_coalesced', '_reduce_scatter_base',
              'gather', 'scatter', 'all_to_all', 'all_to_all_single', 'all_to_all_v_single', 'all_reduce_barrier',
              'barrier', 'split', 'new_window', 'allreduce_coalesced', 'allgather_coalesced', 'ALLGATHER_coalesced',
              'REDUCE_SCATTER_coalesced')
BACKENDS = 'nccl', 'ncclx', 'nccl2', 'xccl', 'c10d', 'another', 'with:colon'
# Output sizes on two ranks of the operations that gather and scatter 16 elements.
OUTPUTS = {**dict.fromkeys(('all_gather', '_all_gather_base', 'all_gather_into_tensor_coalesced'), ((32,),)),
           **dict.fromkeys(('reduce_scatter', '_reduce_scatter_base', 'reduce_scatter_tensor_coalesced'), ((8,),))}
PLAIN = {'input_dtypes': 'float32', 'output_dtypes': 'float32', 'p2p_seq_id': '0', 'frames': []}


def two(operations):
    """Two ranks that call one operation each."""
    return [[call(op, 1, 'scheduled', inputs=((8,),))] for op in operations]


def coalesced(op, end, seq=1, state='completed'):
    return [call(op, seq, 'scheduled', retired=False)] * 2 + [call(end, seq, state, inputs=((),))]


CASES.update({
    'each operation, all ranks arrived': (
        [[call(op, i, outputs=OUTPUTS.get(op), collective_seq_id=str(i), **PLAIN)
          for i, op in enumerate(OPERATIONS, 1)]] * 2, {}, ('clear', None, 'unknown', None, None, None)),
    'each backend, one rank has not arrived': (
        [[call(f'{b}:all_reduce', i, 'completed' if i < len(BACKENDS) else 'started')
          for i, b in enumerate(BACKENDS[:n], 1)] for n in (len(BACKENDS), len(BACKENDS) - 1)], {},
        ('hangs', 'not issued', 'one', '1', 'all_reduce', len(BACKENDS))),
    'a group of the same name on each rank': (
        [[call('all_reduce', 1), call('all_reduce', 1, group=('1', 'sub_pg'), inputs=((5, 5),))]] * 2,
        [{'1': [0]}, {'1': [1]}], ('clear', None, 'unknown', None, None, None)),
    'all_gather and _all_gather_base': (two(('all_gather', '_all_gather_base')), {},
                                        ('hangs', 'mismatch', 'several', '0-1', 'all_gather', 1)),
    'all_reduce and allreduce_coalesced': (two(('all_reduce', 'allreduce_coalesced')), {},
                                           ('hangs', 'mismatch', 'several', '0-1', 'all_reduce', 1)),
    'reduce_scatter and _reduce_scatter_base': (two(('reduce_scatter', '_reduce_scatter_base')), {},
                                                ('hangs', 'mismatch', 'several', '0-1', 'reduce_scatter', 1)),
    'all_to_all and all_to_all_single': (two(('all_to_all', 'all_to_all_single')), {},
                                         ('hangs', 'mismatch', 'several', '0-1', 'all_to_all', 1)),
    'all_to_all_single with uneven parts': (
        [[call('all_to_all_single', 1, 'scheduled', inputs=((a,),), outputs=((20 - a,),))] for a in (8, 12)], {},
        (*NOBODY, 'all_to_all_single', 1)),
    # No rank differs from another. PyTorch refuses such a call before it is recorded.
    'a wrong size of the output on all ranks': (
        [[call('_all_gather_base', 1, 'scheduled', inputs=((8,),), outputs=((24,),))]] * 2, {},
        (*NOBODY, '_all_gather_base', 1)),
    'a list of outputs': (
        [[call('all_gather', 1, inputs=((8,),), outputs=((8,), (8,))),
          call('reduce_scatter', 2, 'started', inputs=((8,), (8,)), outputs=((8,),))]] * 2, {},
        (*NOBODY, 'reduce_scatter', 2)),
    'a send, and a receive from any rank': ([[sent('send 0->1')], [sent('recv 1<-?')], []], {},
                                            (*NOBODY, 'send 0->1', 1)),
    'a receive from any rank, and a barrier': (
        [[call('barrier', 1, 'scheduled', time=2)], [sent('recv 1<-?')], [call('barrier', 1, 'scheduled', time=2)]], {},
        (*NOBODY, 'recv 1<-?', 1)),
    'two finished coalesced broadcasts': ([coalesced('broadcast', 'coalesced')] * 2, {},
                                               ('clear', None, 'unknown', None, None, None)),
    'a finished uneven reduce_scatter': ([coalesced('_reduce_oop', 'REDUCE_SCATTER_coalesced')] * 2, {},
                                              ('clear', None, 'unknown', None, None, None)),
    'coalesced calls that one rank has not reached': (
        [[call('all_reduce', 1)],
         [call('all_reduce', 1), *coalesced('_reduce_oop', 'REDUCE_SCATTER_coalesced', 2, 'started')]], {},
        ('hangs', 'not issued', 'one', '0', '_reduce_oop', 2)),
})


def real(folder):
    """Unpacks the hangs that tests/real/hangs.py recorded, or uses those in TMERGE_HANGS if it is set. Yields
    the folder and truth of each."""
    recorded = os.environ.get('TMERGE_HANGS')
    if not recorded:
        recorded = os.path.join(folder, 'hangs')
        with tarfile.open(os.path.join(os.path.dirname(__file__), '../real/recorded/hangs.tar.xz')) as tar:
            tar.extractall(recorded)
    for name in sorted(os.listdir(recorded)):
        with open(os.path.join(recorded, name, 'truth.json'), encoding='ascii') as reported:
            yield os.path.join(recorded, name), json.load(reported)


def ranks_of(text):
    """Returns the ranks of "0-2,5"."""
    spans = [[int(end) for end in part.split('-')] for part in text.split(',')] if text else []
    return [rank for span in spans for rank in range(span[0], span[-1] + 1)]


def is_right(job, truth):
    """Whether hang.job names the ranks of a real hang, for a reason that describes it."""
    return ranks_of(job['culprits']) == truth['ranks'] and job['reason'] in truth['reasons']
