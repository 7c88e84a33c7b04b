"""tmerge hang: ranks missing in a hanging job, from dumps of PyTorch's flight recorder, as pickles
and as JSON, and from answers of NCCL's RAS."""
import json
import os
import pickle

from common import contains, equal, holds, lacks, main, put, synth, tables, tmerge
from hang_cases import CASES, NOBODY, SECOND, call, dump, is_right, of_tp, real, run_of, sent

def given(*ranks, groups=None, form='pickle', size=None):
    """Writes a dump for each rank that has calls; None: no dump."""
    for name in os.listdir('.'):
        if name.startswith('trace_rank_'):
            os.remove(name)
    for rank, calls in enumerate(ranks):
        if calls is None:
            continue
        made = dump(calls, groups[rank] if isinstance(groups, list) else groups, size or len(ranks))
        put(f'trace_rank_{rank}', pickle.dumps(made, 2) if form == 'pickle' else json.dumps(made))


def found(*options):
    return json.loads(tmerge('hang', 'trace_rank_*', '--json', *options).expect(0).out)['tables']


def verdict(*options):
    job = found(*options)['hang.job']['rows'][0]
    return tuple(job[k] for k in ('state', 'reason', 'confidence', 'culprits', 'operation', 'number'))


def test_each_hang_is_reported_with_its_culprits():
    for form in 'pickle', 'json':
        for name, (ranks, groups, expected) in CASES.items():
            given(*ranks, groups=groups, form=form)
            equal(verdict(), expected, f'{name}, {form}')


def test_real_hangs_on_gloo_are_reported():
    for folder, truth in real('.'):
        job = json.loads(tmerge('hang', folder, '--json').expect(0).out)['tables']['hang.job']['rows'][0]
        holds(is_right(job, truth), (truth, job))
        if not truth['ranks']:
            contains(job['verdict'], 'no rank is named' if job['state'] == 'unknown' else 'records no sends and receives')


def test_a_screen_names_who_and_where():
    given(*CASES['one rank has not arrived'][0])
    screen = tmerge('hang', 'trace_rank_*').expect(0).out
    equal(screen, '''Flight recorder dumps of 3 of 3 ranks

  The job hangs: rank 2 has not come to all_reduce, number 3 of group
  default_pg.
  Ranks 0-1 came and have waited since 00:00:03.000 UTC (step train.py:13). The
  last operation that rank 2's CPU issued is barrier, number 2 of group
  default_pg, at 00:00:02.000 UTC (step train.py:12).
''')
    # A rank cannot wait in an operation before it has left the operation before, here at 9 s.
    late = [call('barrier', 2, time_discovered_completed_ns=9 * SECOND), call('all_reduce', 3, 'scheduled')]
    given(late, late, [call('barrier', 2)])
    contains(tmerge('hang', 'trace_rank_*').expect(0).out, 'came and have waited since 00:00:09.000 UTC')
    # Nobody uses the default group, which lists all ranks.
    given(*CASES['a circle of pairs'][0], groups=CASES['a circle of pairs'][1])
    contains(tmerge('hang', 'trace_rank_*').expect(0).out, 'dumps of 3 of 3 ranks\n')


def test_any_number_of_processes_says_the_same():
    for name in 'another size', 'a chain of groups', 'no dump':
        given(*CASES[name][0], groups=CASES[name][1])
        one = tmerge('hang', 'trace_rank_*', '--json').expect(0).out
        equal(tmerge('hang', 'trace_rank_*', '--json', n=3).expect(0).out, one, name)


def test_the_tables_are_in_a_store():
    given(*CASES['one rank has not arrived'][0])
    tmerge('hang', 'trace_rank_*', '-o', 'hang.h5').expect(0)
    tmerge('check', 'hang.h5').expect(0)
    stored = tables('hang.h5', 'hang.job', 'hang.collective', 'hang.rank')
    equal([(r['rank'], r['role'], r['number'], r['last_number']) for r in stored['hang.rank']],
          [(0, 'waits', 3, 3), (1, 'waits', 3, 3), (2, 'culprit', None, 2)])
    equal([(r['problem'], r['cause'], r['came'], r['absent'], r['begin_ns'])
           for r in stored['hang.collective']], [('missing', True, '0-1', '2', 3 * SECOND)])
    contains(tmerge('report', 'hang.h5').expect(0).out, 'hang.html')


def test_a_dump_that_was_cut_short_is_read_as_far_as_it_goes():
    for form in 'pickle', 'json':
        calls = [call('all_reduce', i) for i in range(1, 20)] + [call('all_reduce', 20, 'scheduled')]
        given(calls, calls, form=form)
        with open('trace_rank_1', 'rb') as file:
            whole = file.read()
        for cut in range(len(whole) // 2, len(whole) - 1, len(whole) // 12):
            put('trace_rank_1', whole[:cut])
            reported = found()
            row = reported['hang.rank']['rows'][1]
            equal((reported['hang.job']['rows'][0]['cut_short'], row['cut_short']), (1, True), cut)
            assert 5 < row['entries'] <= 20, (form, cut, row)


def test_a_rank_is_not_named_for_what_its_cut_dump_does_not_show():
    given(*[run_of(20, 19)] * 3)
    with open('trace_rank_1', 'rb') as file:
        whole = file.read()
    for size in len(whole) * 8 // 10, len(whole) - 24:
        put('trace_rank_1', whole[:size])
        equal(verdict(), (*NOBODY, 'all_reduce', 20), size)


def test_a_job_whose_ranks_had_waited_for_little_was_running():
    given(*[[call('all_reduce', 1, 'started', time=100)]] * 2, [])
    for wait, state in ((0.02, 'running'), (5, 'hangs')):
        for rank in range(3):
            os.utime(f'trace_rank_{rank}', (100 + wait,) * 2)
        equal(verdict()[0], state, wait)


def test_groups_that_a_cut_dump_does_not_list_are_those_of_others():
    given(*[run_of(20, 19)] * 3, form='json')
    sorted_keys = json.dumps(dump(run_of(20, 19), size=3), sort_keys=True)
    put('trace_rank_1', sorted_keys[:len(sorted_keys) * 8 // 10])
    equal(verdict(), (*NOBODY, 'all_reduce', 20))


def test_of_two_dumps_of_a_rank_the_newer_is_read():
    given(*[run_of(20, 19)] * 3)
    put('a_rank_2', pickle.dumps(dump(run_of(10, 10), size=3), 2))
    for n in 1, 3:
        done = tmerge('hang', '*_rank_*', n=n).expect(0)
        contains(done.out, 'No rank is missing: all came to all_reduce, number 20')
        contains(done.err, 'a newer dump of its rank is read')
    os.remove('a_rank_2')


def test_what_else_evidence_says():
    odd = [run_of(20, 19) if r % 2 else run_of(19, 19) for r in range(200)]
    for ranks, options, words in (
            ([run_of(2, 1)] * 2 + [run_of(1, 1) + [call('all_reduce', 2, 'scheduled')]], (),
             'It has not started on the GPU of rank 2'),
            ([[call('all_\x1b[31mreduce', 1, 'started')], []], (), 'all_?[31mreduce'),
            (CASES['another size, and a rank of another group has not arrived'][0], (), 'than the others. Also, rank 1 has not come to'),
            # The ring buffer may have lost the receive of this send.
            ([[sent('send 0->1', record_id=7)], [sent('recv 1<-0', inputs=((5, 4),))]], (),
             'If these two belong together, their sizes or types do not match: rank 0 calls send 0->1'),
            ([run_of(2, 1)] * 2, ('--world-size', '1'), 'the dumps or traces show 2 ranks'),
            (CASES['an operation of a pair does not end'][0], (), '4 ranks All came to all_reduce, number 1 of group tp'),
            (odd, (), ',...')):
        given(*ranks, groups={'tp': [0, 1], 'a': [0, 1], 'b': [2, 3, 4]})
        done = tmerge('hang', 'trace_rank_*', *options).expect(0)
        contains(' '.join((done.out + done.err).split()), words)
    equal(found()['hang.job']['rows'][0]['culprits'], ','.join(str(r) for r in range(0, 200, 2)))
    ranks, groups, _ = CASES['two of four ranks use two groups in another order']
    given(*ranks, groups=groups)
    contains(' '.join(tmerge('hang', 'trace_rank_*').expect(0).out.split()),
             '(step train.py:11). Then ranks 0-1 wait in all_reduce, number 1 of group a (step train.py:11), for')


NOW = 1700000000


def trace(rank, events):
    """Writes a trace of (category, name, begin, end), in seconds from NOW on."""
    put(f'kineto_{rank}.json', json.dumps({'distributedInfo': {'rank': rank}, 'traceEvents': [
        {'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': 7, 'ts': (NOW + begin) * 1e6, 'dur': (end - begin) * 1e6}
        for cat, name, begin, end in events]}))


def test_traces_tell_the_last_step_and_call():
    lock = '<built-in method acquire of _thread.lock>'
    given(*[[call('all_reduce', i, 'completed' if i < 3 else 'started', time=NOW + i) for i in range(1, n)]
            for n in (4, 4, 3)])
    trace(0, [('user_annotation', 'ProfilerStep#3', 1, 2.5), ('cpu_op', 'aten::add', 1, 2), ('cpu_op', 'aten::mul', 2, 2.5)])
    # Calls that stop the profiler do not count.
    trace(2, [('python_function', 'train.py(8): main', 2, 9.5), ('user_annotation', 'ProfilerStep#4', 2.5, 9.5),
              ('cpu_op', 'aten::add', 2.5, 2.6), ('python_function', 'train.py(33): load', 2.625, 9.5),
              ('python_function', lock, 2.75, 9.5), ('python_function', 'torch/profiler/profiler.py(8): stop', 9.25, 9.5)])
    done = tmerge('hang', 'trace_rank_*', 'kineto_*', '-o', 'hang.h5').expect(0)
    contains(' '.join(done.out.split()), 'The trace of rank 2 ends at 22:13:29.500 UTC, in step 4; its CPU was then in '
             f'{lock} < train.py(33): load < train.py(8): main, since 22:13:22.750 UTC')
    rows = tables('hang.h5', 'hang.rank')['hang.rank']
    equal([(r['role'], r['step'], r['call_open'], r['call']) for r in rows],
          [('waits', 3, False, 'aten::mul'), ('waits', None, None, None),
           ('culprit', 4, True, f'{lock} < train.py(33): load < train.py(8): main')])
    equal([(r['trace_end_ns'], r['call_begin_ns']) for r in rows[::2]],
          [(NOW * SECOND + 2500000000, NOW * SECOND + 2000000000), (NOW * SECOND + 9500000000, NOW * SECOND + 2750000000)])
    tmerge('report', 'hang.h5').expect(0)
    tmerge('analyze', 'hang.h5', '-o', 'again.h5').expect(0)
    equal(tables('again.h5', 'hang.rank')['hang.rank'], rows)
    equal(tmerge('hang', '.', '--json', n=3).expect(0).out, tmerge('hang', '.', '--json').expect(0).out)
    contains(tmerge('hang', 'kineto_*').expect(3).err, 'these are traces only')


def test_times_of_dumps_move_by_the_clocks_of_their_ranks():
    synth('job', ranks=2, ranks_per_host=1, offset_us=5000000)
    given(*[[call('all_reduce', i, time=NOW + i) for i in range(1, n)] for n in (4, 3)])
    tmerge('hang', 'trace_rank_*', 'job', '-o', 'hang.h5').expect(0)
    found = tables('hang.h5', 'hang.rank', 'clock')
    offsets = [row['offset_ns'] for row in found['clock.rank']]
    holds(abs(offsets[0] - offsets[1]) > SECOND / 1000, offsets)
    for row, offset, seq in zip(found['hang.rank'], offsets, (3, 2)):
        holds(abs(row['time_ns'] - (NOW + seq) * SECOND - offset) < SECOND / 1000, (row['time_ns'], offset))


def entry(rank, status, **more):
    """A rank as NCCL's src/ras/client_support.cc writes it, on one host."""
    return {'rank': rank, 'host': '10.0.0.1', 'pid': 100 + rank, 'cuda_dev': rank, 'nvml_dev': rank,
            'status': status, **more}


def answer(launched, dead=True, version='2.30.4'):
    """A communicator whose ranks have launched so many AllReduce; None: no answer of its process."""
    states = {'init_state': 0, 'async_error': 0, 'finalize_called': False, 'destroy_flag': False, 'abort_flag': False}
    ranks = [entry(r, states, collective_counts={'Broadcast': 0, 'Reduce': 0, 'AllGather': 0, 'ReduceScatter': 0,
                                                 'AllReduce': n}) for r, n in enumerate(launched) if n is not None]
    missing = [entry(r, {'unresponsive': True, 'considered_dead': dead}) for r, n in enumerate(launched) if n is None]
    return json.dumps({
        'nccl_version': version, 'cuda_runtime_version': 13000, 'cuda_driver_version': 13000,
        'timestamp': '2026-03-04 05:06:07', 'communicators_count': 1, 'communicators': [
            {'hash': '0x93d70002', 'secondary_hash': '0x91:0x92', 'size': len(launched), 'ranks_count': len(ranks),
             'missing_ranks_count': len(missing), 'ranks': ranks, 'missing_ranks': missing}],
        'ras': {'collection_time_sec': 0.001, 'timeouts_count': 0}}, indent=2)


def test_an_answer_of_ras_alone_tells_who_is_dead_and_who_is_behind():
    put('ras.json', answer([12, None, 11]))
    done = tmerge('hang', 'ras.json', '-o', 'hang.h5').expect(0)
    contains(done.out, '''An answer of NCCL's RAS, no dumps

  Dead: rank 1 (process 101 on 10.0.0.1, GPU 1). In communicator 0x93d70002 of 3
  ranks, rank 2 is behind: it has launched 11 AllReduce, another rank has
  launched 12.
  NCCL 2.30.4's RAS reports 1 communicator and 3 processes at 2026-03-04
  05:06:07, local time. ''')
    stored = tables('hang.h5', 'hang.job', 'hang.rank', 'hang.ras')
    equal([(r['state'], r['dumps'], r['culprits']) for r in stored['hang.job']], [('unknown', 0, None)])
    equal([r['process'] for r in stored['hang.rank']], ['alive', 'dead', 'alive'])
    equal([(r['rank'], r['state'], r['launched'], r['others'], r['pid']) for r in stored['hang.ras']],
          [(1, 'dead', None, None, 101), (2, 'behind', 11, 12, 102)])
    one = tmerge('hang', 'ras.json', '--json').expect(0).out
    equal(tmerge('hang', 'ras.json', '--json', n=3).expect(0).out, one)
    put('ras.json', json.dumps({'communicators_count': 1, 'communicators': [{'hash': '0x1', 'size': 3}]}))
    contains(tmerge('hang', 'ras.json').expect(0).out, "The answer lists no process of the job.\n  NCCL's RAS reports 1 ")
    # As NCCL 2.28 writes it, without the comma after nvml_dev of the missing rank.
    put('ras.json', answer([12, None, 11], version='2.28.9').replace('"nvml_dev": 1,', '"nvml_dev": 1'))
    contains(' '.join(tmerge('hang', 'ras.json').expect(0).out.split()), 'Its JSON lacks 1 comma')


def test_two_answers_of_ras_show_who_launched_collectives_between_them():
    # 05:07:09 - 05:06:07 = 62 s; what each rank launched in them: later count - earlier count.
    for before, after, other, words, advanced in (
            ([12, 12, 11], [12, 12, 11], '0x1', 'In the 62 s between the two answers, ranks 0-2 launched no collective', [0] * 3),
            ([10, 12, 11], [13, 13, 11], '0x1', 'two answers, ranks 0-1 launched collectives, rank 2 launched none', [3, 1, 0]),
            ([10, None, 9], [12, 12, 11], '0x1', 'ranks 0,2 launched collectives: the job was running', [2, None, 2]),
            ([12, 12, 12], [12, 9, 12], '0x1', 'not compared: a count is lower in the later one', [None] * 3),
            ([12, 12, 12], [13, 13, 13], '0x2',
             'The two answers are not compared: they have no rank in common', [None] * 3)):
        put('ras_b.json', answer(before).replace('0x93d70002', '0x1'))
        put('ras_a.json', answer(after).replace('0x93d70002', other).replace('05:06:07', '05:07:09'))
        done = tmerge('hang', 'ras_a.json', 'ras_b.json', '-o', 'hang.h5', '--force').expect(0)
        contains(' '.join(done.out.split()), words)
        stored = tables('hang.h5', 'hang.rank', 'hang.ras')
        equal([r['advanced'] for r in stored['hang.rank']], advanced, words)
        equal([(r['rank'], r['advanced']) for r in stored['hang.ras'] if r['rank'] == 2][:1],
              [(2, advanced[2])] if after[2] == 11 else [], words)
    # Rank 0 launched nothing in 0x1, but perhaps in a communicator that only the later answer has.
    put('ras_b.json', answer([12, 12, 11]))
    later, new = json.loads(answer([12, 12, 11])), json.loads(answer([1, 0, 0]).replace('0x93d70002', '0x2'))
    put('ras_a.json', json.dumps({**later, 'timestamp': '2026-03-04 05:07:09',
                                  'communicators': later['communicators'] + new['communicators']}))
    done = tmerge('hang', 'ras_a.json', 'ras_b.json').expect(0)
    contains(' '.join(done.out.split()), 'ranks 1-2 launched no collective')
    equal(tmerge('hang', 'ras_b.json', 'ras_a.json', n=3).expect(0).out, done.out)


def test_beside_dumps_ras_tells_how_the_ranks_without_one_are():
    waits = [call('all_reduce', 1, 'scheduled')]
    for launched, dead, word in ([1, None, 1], True, 'dead'), ([1, None, 1], False, 'unreachable'), ([1, 0, 1], True, 'alive'):
        given(waits, None, waits)
        put('ras.json', answer(launched, dead))
        reported = json.loads(tmerge('hang', 'trace_rank_*', 'ras.json', '--json').expect(0).out)['tables']
        job = reported['hang.job']['rows'][0]
        equal((job['state'], job['reason'], job['culprits']), ('hangs', 'no dump', '1'), word)
        contains(job['ras'], f'Of the ranks without a dump, rank 1 is {word}')
        equal([(r['role'], r['process']) for r in reported['hang.rank']['rows']],
              [('waits', 'alive'), ('culprit', word), ('waits', 'alive')])
    put('ras.json', answer([1, 1]))
    contains(' '.join(tmerge('hang', 'trace_rank_*', 'ras.json').expect(0).out.split()),
             'Its 2 ranks are not those of the dumps')


def test_a_broken_answer_of_ras_is_said_and_costs_no_dump():
    whole = answer([12, 12])
    given(run_of(2, 1), run_of(2, 1))
    for content, why in ((whole[:300], 'ras.json: byte 300: the answer of ncclras ends early'),
                         ('NCCL version 2.26.2 compiled with CUDA 12.6\n', 'give the output of ncclras -f json')):
        put('ras.json', content)
        contains(tmerge('hang', 'ras.json').expect(3).err, why)
        beside = tmerge('hang', 'trace_rank_*', 'ras.json').expect(0)
        contains(beside.err, why)
        contains(beside.out, 'dumps of 2 of 2 ranks')
    put('ras.json', whole)
    put('ras_2.json', whole)
    put('ras_3.json', whole)
    contains(tmerge('hang', 'ras.json', 'ras_2.json', 'ras_3.json').expect(3).err, 'ras_3.json: a third answer of ncclras')


class Hostile:
    """Makes a file when unpickled."""

    def __reduce__(self):
        return os.system, ('touch ran',)


def test_no_code_of_a_dump_is_run():
    given([call('all_reduce', 1, 'scheduled')], [call('all_reduce', 1, 'scheduled')])
    put('trace_rank_1', pickle.dumps({**dump([]), 'entries': [Hostile()]}, 2))
    done = tmerge('hang', 'trace_rank_*').expect(0)
    contains(done.err, 'trace_rank_1: byte')
    contains(done.err, 'which plain data never does: refused')
    contains(' '.join(done.out.split()), 'The dump of rank 1 cannot be read')
    lacks(done.out, 'hangs')
    assert not os.path.exists('ran')


def test_what_is_no_dump_is_said():
    for content, why in ((b'{"traceEvents": []}', 'these are traces only'), (b'{"a": 1}', 'not a flight recorder dump'),
                         (b'[1]', 'not an instruction of a pickle'),
                         (pickle.dumps([1], 2), 'not a flight recorder dump')):
        put('trace_rank_0', content)
        contains(tmerge('hang', 'trace_rank_0').expect(3).err, why)


def test_a_rank_is_reported_by_name_content_or_map():
    made = dump([call('all_reduce', 1, 'scheduled')], size=2)
    put('a.json', json.dumps({**made, 'rank': 1}))
    put('nccl_trace_0', pickle.dumps(made, 2))
    for names in (['a.json', 'nccl_trace_0'], ['b', 'nccl_trace_0', '--rank-map', 'map']):
        if 'b' in names:
            put('b', json.dumps(made))
            put('map', 'b 1\n')
        out = tmerge('hang', *names).expect(0).out
        contains(out, 'dumps of 2 of 2 ranks')
        contains(out, 'No rank is missing')


def test_the_size_of_a_job_that_no_dump_tells_may_be_given():
    calls = [call('gloo:all_reduce', 1, 'scheduled')]
    put('trace_rank_0', json.dumps({**dump(calls), 'pg_config': {'': {'name': '', 'desc': '', 'ranks': '[0]'}}}))
    out = tmerge('hang', 'trace_rank_0').expect(0).out
    contains(out, '--world-size N')
    lacks(out, 'hangs')
    contains(tmerge('hang', 'trace_rank_0', '--world-size', '2').expect(0).out, 'rank 1 left no dump')
    # An all_gather gives it: 4 elements from each of 2.
    put('trace_rank_0', json.dumps({**dump([call('gloo:all_gather', 1, 'scheduled', inputs=((4,),),
                                                 outputs=((2, 4),))]), 'pg_config': {}}))
    contains(tmerge('hang', 'trace_rank_0').expect(0).out, 'rank 1 left no dump')
    # A damaged list does not make it a job of millions.
    given([of_tp(1, 'started')], [], groups={'tp': [0, 1, 4000003]})
    equal([(r['rank'], r['role']) for r in found()['hang.rank']['rows']], [(0, 'waits'), (1, 'culprit')])
    # Nor does a rank that a dump claims, unless the user says so.
    put('trace_rank_1', json.dumps({**dump([]), 'rank': 200000}))
    claimed = tmerge('hang', 'trace_rank_*').expect(0)
    contains(claimed.err, 'trace_rank_1: rank 200000, but nothing shows more than 16384 ranks')
    contains(claimed.out, 'dumps of 1 of 2 ranks')
    contains(tmerge('hang', 'trace_rank_*', '--world-size', '200001').expect(0).out, 'dumps of 2 of 200001 ranks')


main()
