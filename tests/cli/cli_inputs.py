"""Files that are read, their order, and the rank of each trace."""
import os

from common import (BASE_NS, FULL, TMERGE, UNKNOWN, contains, equal, event, files, gzipped,
                    has_line, holds, in_turn, kernel, lacks, main, merged, put, rows, run,
                    same_bytes, seldom, small_trace, some, synth, tables, tmerge, trace, unranked,
                    zstd_framed)

OVERLAP = ('{}: covers the same time of rank {} as {}: merge two runs separately (tmerge diff compares '
           'them), give the ranks with --rank-map, or keep only the first with --skip-bad')


def sources(store='tmerge.h5'):
    """Returns the rank of each file."""
    return {row['source']: row['rank'] for row in rows(store, 'job.rank')}


def left_out(store='tmerge.h5'):
    return {row['source']: (row['reason'], row['message'])
            for row in rows(store, 'job.left_out')}


def test_operands_are_files_folders_and_patterns():
    for rank, name in enumerate(('a/rank0.json', 'b/rank1.json', 'b/rank2.json', 'rank3[1].json',
                                 'rank31.json')):
        put(name, small_trace(rank))
    for operands, found in (
            (['rank31.json', 'a/rank0.json'], ['a/rank0.json', 'rank31.json']),
            (['a/', './b', 'rank31.json'], ['a/rank0.json', './b/rank1.json', './b/rank2.json',
                                           'rank31.json']),
            (['rank3[1].json'], ['rank3[1].json']),  # a file with this name takes precedence
            (['[ab]/*[02].json'], ['a/rank0.json', 'b/rank2.json']),
            (['[ab]'], ['a/rank0.json', 'b/rank1.json', 'b/rank2.json'])):
        done = merged(*operands)
        has_line(done.out, f'^{len(found)} ranks? on .* no steps marked')
        equal(list(sources()), found, operands)
    tmerge('none*.json').fails(3, 'none*.json: no file matches this pattern')


def test_in_a_folder_what_is_no_trace_is_passed_over_and_counted():
    synth('job', ranks=2, steps=1)  # also writes a truth.json
    put('job/notes.txt', 'no trace')
    put('job/page.html', '<!doctype html><html></html>')
    put('job/other.h5', b'\x89HDF\r\n\x1a\n no store of ours')
    put('job/list.json', '[1, 2, 3]')
    put('job/.hidden.json', small_trace(7))
    put('job/deeper/rank9.json', small_trace(9))
    has_line(merged('job').out, 'left out', r'\b5 files\b', 'show job.left_out')
    equal(sources(), {'job/profile_rank_0.json': 0, 'job/profile_rank_1.json': 1})
    names = ('list.json', 'notes.txt', 'other.h5', 'page.html', 'truth.json')
    equal(left_out(), {f'job/{name}': ('other', 'not a trace') for name in names})


def test_a_folder_of_recordings_is_one_of_them_or_all():
    def record(folder, end, at):
        for rank in (0, 1):
            put(f'job/{folder}/rank{rank}{end}', small_trace(rank, at=at))

    record('iteration_9', '_trace.json', 100)
    put('job/notes.json', '[]')
    put('job/iteration_9/rank0_key_averages.txt', 'no trace')
    put('job/logs/log.json', '{}')
    put('job/.old/rank0.json', small_trace(0))
    found = {f'job/iteration_9/rank{rank}_trace.json': rank for rank in (0, 1)}
    merged('job')
    equal(sources(), found)
    record('iteration_10', '.17.pt.trace.json', 1000)
    for n in (0, 3):
        tmerge('job', n=n).fails(
            3, 'job: 2 folders below hold traces: iteration_9, iteration_10; name one of them, or read all '
               'with --all-recordings if they are recordings of one run')
        merged('job', '--all-recordings', '-o', f'{n}.h5', n=n)
    same_bytes('0.h5', '3.h5')
    equal(sources('0.h5'), {f'job/iteration_9/rank{rank}_trace.json,job/iteration_10/rank{rank}.17.pt.trace'
                            '.json': rank for rank in (0, 1)})
    merged('job/iteration_9')
    equal(sources(), found)
    # One folder per rank is one recording.
    for rank in (4, 12):
        put(f'ranks/rank_{rank}/trace.json', small_trace(at=rank))
    merged('ranks/')
    equal(sources(), {f'ranks/rank_{rank}/trace.json': rank for rank in (4, 12)})
    os.rename('ranks/rank_4', 'tp8')  # the named folder gives no rank to a single trace in it
    equal((tmerge('tp8').expect(0).ours, sources()), ([unranked(1, 1)], {'tp8/trace.json': 0}))


def test_the_lines_of_a_list_are_operands():
    # Names with blanks, quotation marks, @, #, a line break and bytes that are not UTF-8.
    names = ('a/rank0.json', 'b/rank1.json', 'c/rank2.json', "' rank3.json ", '@rank4.json',
             '#rank5.json', 'new\nline_rank6.json', 'rank7\udcff.json')
    for rank, name in enumerate(names):
        put(name, small_trace(rank))
    os.mkdir('lists')
    put('lists/list', b"# all\n\n \t\n./a/\r\nb/*.json\n' rank3.json \n@rank4.json\n./#rank5.json\n"
                      b'new?line_rank6.json\nrank7\xff.json')
    equal(merged('@lists/list', 'c/rank2.json', '-o', 'list.h5').out.splitlines()[0],
          tmerge('a', 'b', *names[2:]).out.splitlines()[0])
    equal(sorted(sources('list.h5').values()), list(range(8)))
    merged('@lists/list', 'c/rank2.json', '-o', '3.h5', n=3)
    same_bytes('list.h5', '3.h5')
    os.rename('a/rank0.json', 'rank0.json')
    done = run(['bash', '-c', f'{TMERGE} --no-html @<(echo rank0.json)']).expect(0)
    equal((done.ours, sources()), ([], {'rank0.json': 0}), 'a list from a pipe')


def test_names_too_many_for_a_command_line_come_by_a_list_a_pattern_or_their_folder():
    # 2,000 names of 112 letters are 220 KiB; Open MPI takes 128 KiB. All files are opened before
    # any is read, so an error for the last one, which is truncated, proves that it was included.
    put('trace', small_trace())
    names = [f'job/{"x" * 96}{i:012}' for i in range(2000)]
    os.mkdir('job')
    for name in names[:-1]:
        os.link('trace', name)
    put(names[-1], gzipped(b'')[:4])
    put('list', '\n'.join(names))
    last = tmerge(names[-1]).expect(3).errors
    for given, n in ((['@list'], 2), (['job'], 0), (['job/x*'], 2), (names, 0)):
        equal(tmerge(*given, n=n).expect(3).errors, last, given)
    done = tmerge(*names, '-j2').expect(3)
    equal(done.errors, last)
    equal(done.warnings, ['tmerge: warning: running in one process, not 2: mpirun takes no more '
                          'than 128 KiB of names: put their pattern in quotation marks, or name their '
                          'folder'])


def test_a_wrong_list_is_reported_with_its_line():
    put('rank0.json', small_trace(0))
    for text, message in (
            ('rank0.json\n\nnone.json\n', 'line 3: none.json: No such file or directory'),
            ('rank0.json\n*.none', 'line 2: *.none: no file matches this pattern'),
            ('@list', 'line 1: @list: No such file or directory'),
            ('rank0.json\nx\0y\n', 'line 2: a zero byte: this is not text'),
            ('', 'this list contains no names'), ('# rank0.json\n\n', 'this list contains no names')):
        put('list', text)
        tmerge('rank0.json', '@list').fails(3, f'list: {message}')
    tmerge('rank0.json', '@list', n=2).fails(3, f'list: {message}')
    tmerge('@none').fails(3, 'none: No such file or directory')
    tmerge('@.').fails(3, '.: Is a directory')
    put('rank1.json', 'no trace')
    put('list', 'rank1.json')
    tmerge('@list').fails(3, f'rank1.json: {UNKNOWN}')


def test_files_of_a_folder_come_in_natural_order():
    for i, name in enumerate(('part9', 'part10', 'part1', 'part02', 'Part3')):
        put(f'job/{name}.json', small_trace(at=i))
    done = tmerge('job').expect(0)
    equal(done.ours, [unranked(5, 5)])
    equal(sources(), {f'job/{name}.json': rank for rank, name in enumerate(
        ('Part3', 'part1', 'part02', 'part9', 'part10'))})
    tmerge('job/p*.json').expect(0)
    equal(sources(), {f'job/{name}.json': rank for rank, name in enumerate(
        ('part1', 'part02', 'part9', 'part10'))})


def test_the_rank_is_from_the_metadata_or_from_the_file_name():
    """The unit test covers the patterns of ranks in names."""
    put('profile_rank_5.json', small_trace(3))
    put('behind_rank_6.json', small_trace(4, behind=True))
    put('run.worker_05', small_trace())
    merged('profile_rank_5.json', 'behind_rank_6.json', 'run.worker_05')
    equal(sources(), {'profile_rank_5.json': 3, 'behind_rank_6.json': 4, 'run.worker_05': 5})


def test_a_name_without_such_a_match_counts_by_its_position_with_a_warning():
    put('rank.json', small_trace())
    put('b_rank1.json', small_trace(at=1))
    done = tmerge('rank.json', 'b_rank1.json').expect(0)
    equal(done.ours, [unranked(1, 2)])
    equal(sources(), {'rank.json': 0, 'b_rank1.json': 1})


def test_the_position_does_not_depend_on_the_number_of_processes():
    for i, name in enumerate('edcba'):
        put(f'{name}.json', small_trace(at=100 + i))
    names = [f'{name}.json' for name in 'edcba']
    put('store.txt', 'no trace')
    stores = []
    for n in (0, 1, 2, 3, 4, 8) if FULL else (0, 3):
        stores.append(f'store{n}.h5')
        done = tmerge('e.json', 'store.txt', *names[1:], '--skip-bad', '-o', stores[-1], n=n)
        equal(len(done.expect(0).warnings), 2, 'warnings')
        same_bytes(stores[0], stores[-1])
    # A bad file keeps its position, as it may be the trace of that rank.
    equal(sources(stores[0]), {'e.json': 0, 'd.json': 2, 'c.json': 3, 'b.json': 4, 'a.json': 5})


HELPER = ('helper', 'a helper process without device work and without a rank of the job (--rank-map '
          'can give it a rank)')


@seldom
def test_a_helper_is_no_rank_and_takes_none():
    host = trace([event('aten::empty', 'cpu_op', 90, 100)])
    put('job/rank0.json', small_trace(0, world=2))
    put('job/rank1.json', small_trace(1, world=2))
    for name in ('990.async_llm.json', 'worker1.json', 'worker7.json', 'z.json'):
        path = put(f'job/{name}', host)
        for n in sorted({0, *in_turn(0, 3)}):
            done = tmerge('job', '-o', f'{n}.h5', n=n).expect(0)
        equal(sources('0.h5'), {'job/rank0.json': 0, 'job/rank1.json': 1}, name)
        equal(left_out('0.h5'), {path: HELPER})
        contains(done.err, f'tmerge: warning: left out {path}: {HELPER[1]}\n')
        same_bytes('0.h5', f'{n}.h5')
        put('map', f'{path} 2')
        merged('job', '--rank-map', 'map')
        equal(sources()[path], 2)
        for made in {path, '0.h5', f'{n}.h5', 'tmerge.h5'}:
            os.unlink(made)
    put('job/z.json', small_trace(at=200))
    tmerge('job').fails(3, 'job/z.json: does not give its rank, and other traces cover every rank of '
                           'the job; assign a rank with --rank-map, or leave it out')


def test_a_file_of_several_ranks_is_split_and_left_out_beside_theirs():
    """As written by SGLang and its older tool (label and process as the pid) and by TraceLens's
    TraceFusion (rank in the args, pid and correlation shifted); they keep the first file's
    metadata. Others name processes at the end, all or those whose correlation ids differ."""
    def own(rank):
        return [event('cudaLaunchKernel', 'cuda_runtime', 90, 5, pid=71, correlation=1),
                kernel('gemm', 100, 50 + rank, correlation=1),
                event('process_name', '', 0, 0) | {'ph': 'M', 'args': {'name': 'python'}}]

    def fused(change, named=None):
        names = [event('process_name', '', 0, 0) | {'ph': 'M', 'pid': pid + 1000 * rank, 'args': {
            'name': named[1].format(rank)}} for rank in (2, 0, 1) for pid in named[0]] if named else []
        return trace([{**e, **change(rank, e)} for rank in (0, 1, 2) for e in own(rank)] + names, 0, world=3)

    def moved(rank, e, correlation=1):
        return {'pid': e['pid'] + 1000 * rank, 'args': {**e['args'], 'correlation': correlation}}

    for rank in (0, 1, 2):
        put(f'own/17-TP-{rank}.json', trace(own(rank), rank, world=3))
    merged('own', '-o', 'own.h5')
    gpu, cpu = own(0)[1]['pid'], 71
    for change, *named in some((
            (lambda rank, e: {'pid': f'[TP{rank:02}-EP00] {e["pid"]}'},),
            (lambda rank, e: {'pid': f'[TP{rank:02} {e["pid"]}]'},),
            (lambda rank, e: {'pid': f'[DP00 TP{rank:02}] {e["pid"]}'},),
            (lambda rank, e: {'pid': e['pid'] + 1000 * rank, 'args': {
                **e['args'], 'rank': rank, 'pid_raw': e['pid'], 'correlation': 1 + 100 * rank}},),
            (lambda rank, e: {'pid': f'rank{rank}'},),
            (moved, (gpu, cpu), '[Rank {}] python'),
            (lambda rank, e: moved(rank, e, 1 + 100 * rank), (gpu,), 'RANK {} - GPU'))):
        put('job/merged.json', fused(change, *[named] if named else []))
        for n in sorted({0, *in_turn(0, 3)}):
            merged('job', '-o', f'{n}.h5', n=n)
        same_bytes('0.h5', f'{n}.h5')
        for name in ('overlap.rank', 'launches.rank', 'kernels.kernel'):
            equal(rows('0.h5', name), rows('own.h5', name), name)
        equal([row['source'] for row in rows('0.h5', 'job.rank')], ['job/merged.json'] * 3)
        put('own/merged.json', fused(change, *[named] if named else []))
        tmerge('own').expect(0)
        equal(left_out(), {'own/merged.json': (
            'covered', "contains only ranks that have traces of their own, which are read instead")})
        equal(rows('tmerge.h5', 'overlap.rank'), rows('own.h5', 'overlap.rank'))
        os.unlink('own/merged.json')


def test_a_rank_map_decides_over_everything():
    put('profile_rank_0.json', small_trace(0))
    put('my trace 1.json', small_trace())
    put('map', '# who is who\n\nprofile_rank_0.json 12\r\n./my trace 1.json \t 3  \n')
    merged('profile_rank_0.json', 'my trace 1.json', '--rank-map', 'map')
    equal(sources(), {'profile_rank_0.json': 12, 'my trace 1.json': 3})


def test_a_bad_rank_map_is_an_error_with_its_line():
    put('rank0.json', small_trace(0))
    for text, line, why in (('rank0.json\n', 1, "'rank0.json' should be PATH RANK"),
                            ('rank0.json 1\n\nrank0.json\n', 3, "'rank0.json' should be PATH RANK"),
                            ('# x\nrank0.json one', 2, "'rank0.json one' should be PATH RANK"),
                            ('rank0.json -1\r\n', 1, "'rank0.json -1' should be PATH RANK"),
                            (' 5', 1, "' 5' should be PATH RANK"),
                            ('rank0.json 1234567890', 1,
                             "'rank0.json 1234567890' should be PATH RANK"),
                            ('rank0.json 1\n./rank0.json 1\nrank0.json 2\n', 3,
                             'rank0.json already has rank 1 from an earlier line'),
                            ('rank0.json 1\nrank9.json 2', 2,
                             'rank9.json is not among the inputs')):
        put('map', text)
        tmerge('rank0.json', '--rank-map', 'map').fails(3, f'map: line {line}: {why}')
    tmerge('rank0.json', '--rank-map', 'none').fails(3, 'none: No such file or directory')
    equal(files(), ['map', 'rank0.json'])


def test_two_spans_of_a_rank_are_one_row_whose_window_is_the_sum():
    # The first runs from 100 to 160 us, the second from 1000 to 1035 us: 60 + 35 us.
    put('b.json', small_trace(0, at=1000, dur=25))
    put('a.json', small_trace(0, at=100, dur=50))
    contains(merged('b.json', 'a.json').out, '1 rank on 1 host, ')
    row, = rows('tmerge.h5', 'overlap.rank')
    equal({k: row[k] for k in ('window_ns', 'compute_ns', 'comm_ns', 'busy_ns', 'idle_ns')},
          {'window_ns': 95000, 'compute_ns': 75000, 'comm_ns': 20000, 'busy_ns': 95000,
           'idle_ns': 0})
    row, = rows('tmerge.h5', 'job.rank')
    equal((row['source'], row['events'], row['begin_ns'], row['end_ns']),
          ('a.json,b.json', 4, BASE_NS + 100000, BASE_NS + 1035000))
    put('c.json', small_trace(0, at=160, dur=50))  # adjoins the first
    merged('a.json', 'c.json')
    equal(rows('tmerge.h5', 'overlap.rank')[0]['window_ns'], 120000)


def test_overlapping_traces_of_a_rank_are_an_error_that_names_both():
    put('a.json', small_trace(2, at=100, dur=50))
    put('b.json', small_trace(2, at=150, dur=50))
    put('c.json', small_trace(1))
    for n in (0, 3) if FULL else (3,):
        tmerge('a.json', 'c.json', 'b.json', n=n).fails(3, OVERLAP.format('b.json', 2, 'a.json'))
    equal(files(), ['a.json', 'b.json', 'c.json'])
    put('map', 'b.json 0')
    merged('a.json', 'b.json', 'c.json', '--rank-map', 'map')
    equal(sources(), {'a.json': 2, 'b.json': 0, 'c.json': 1})


def test_skip_bad_keeps_the_first_of_overlapping_traces():
    put('a.json', small_trace(2, at=100, dur=50))
    put('b.json', small_trace(2, at=150, dur=77))
    put('c.json', small_trace(2, at=900, dur=5))
    why = 'covers the same time as another trace of its rank'
    done = tmerge('b.json', 'a.json', 'c.json', '--skip-bad', n=2).expect(0)
    equal(done.ours, [f'tmerge: warning: left out a.json: {why}'])
    has_line(done.out, r'^! left out: \S+; show job.left_out')
    has_line(done.out, '! events skipped', r'\(2 of 6\): events of a trace that --skip-bad left out')
    equal(sources(), {'b.json,c.json': 2})
    equal(left_out(), {'a.json': ('overlapping', why)})
    equal(rows('tmerge.h5', 'overlap.rank')[0]['compute_ns'], 82000)


def test_a_file_given_twice_is_an_error_not_twice_the_events():
    put('a.json', small_trace(0))
    os.symlink('a.json', 'b.json')
    tmerge('a.json', 'a.json').fails(3, 'a.json: this file was given twice')
    tmerge('a.json', '.').expect(3)
    tmerge('a.json', 'b.json', n=2).fails(3, OVERLAP.format('b.json', 0, 'a.json'))
    tmerge('a.json', 'a.json', '--skip-bad').expect(0)
    equal(rows('tmerge.h5', 'job.job')[0]['events'], 2)


def test_copies_are_reported_from_traces_of_one_size_and_begin():
    for rank, first in enumerate('aabab'):
        put(f'rank{rank}.json', trace([kernel(first, 0, 1)]
                                      + [kernel('gemm', i, 1) for i in range(1, 1000)]))
    copy = ('tmerge: warning: rank{}.json has the same content as rank{}.json, so one recording '
            'counts twice')
    done = tmerge(*(f'rank{i}.json' for i in range(5)), n=3).expect(0)
    equal(sorted(done.ours), [copy.format(1, 0), copy.format(3, 0), copy.format(4, 2)])
    equal(tmerge('rank1.json', 'rank2.json').expect(0).ours, [])


def test_spans_whose_rank_stands_behind_the_events_meet_on_one_process():
    # Neither names nor first bytes give the ranks, so the files are first distributed without them.
    lead = 'x' * 70000
    at = {'a': (1, 100), 'b': (0, 300), 'c': (1, 500), 'd': (0, 700), 'e': (2, 100), 'f': (0, 900)}
    for name, (rank, begin) in at.items():
        events = [kernel(f'only in {name}', begin, 50), kernel('ncclDevKernel_AllReduce', begin, 9)]
        put(name, trace(events, rank, world=3, behind=True, lead=lead))
    for n in (0, 1, 2, 3, 4, 8) if FULL else (0, 3):
        equal(merged(*at, '-o', f'{n}.h5', n=n).ours, [])
        same_bytes('0.h5', f'{n}.h5')
    equal(sources('3.h5'), {'b,d,f': 0, 'a,c': 1, 'e': 2})
    equal([row['window_ns'] for row in rows('3.h5', 'overlap.rank')], [150000, 100000, 50000])


def test_missing_ranks_of_a_known_world_size_are_said():
    for rank in (1, 4):
        put(f'job/rank{rank}.json', small_trace(rank, world=6))
    has_line(merged('job').out, r'\b4 of 6 ranks have no trace here: 0, 2, 3, 5$')
    put('job/rank0.json', small_trace(0, world=128))
    has_line(merged('job', n=2).out,
             r'\b125 of 128 ranks have no trace here: 2, 3, 5, 6, 7, 8, 9, 10, \.\.\.$')
    for rank in (0, 3):  # no trace gives the number of ranks
        put(f'some/rank{rank}.json', small_trace(rank))
    out = merged('some').out
    has_line(out, r'\b2 of at least 4 ranks have no trace here: 1, 2$')
    advice = {row['rule']: row for row in rows('tmerge.h5', 'advice.item')}['missing_ranks']
    equal((advice['ranks'], advice['evidence'][:36]), ('1-2', '2 of at least 4 ranks have no trace.'))
    put('all/rank0.json', small_trace(0, world=1))
    lacks(merged('all').out, 'have no trace')
    # Groups of all ranks lack rank 3, but ranks 0 and 1 are a group, whose waits are known.
    synth('pairs', ranks=4, tp=2, layers=1, buckets=1, steps=2)
    os.unlink('pairs/profile_rank_3.json')
    os.unlink('pairs/truth.json')
    has_line(merged('pairs').out, r'^! 1 of 4 ranks has no trace here, so waits are lower bounds: 3$')


def test_there_may_be_more_processes_than_traces():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'one.h5', n=4)
    equal(sources('one.h5'), {'rank0.json': 0})


def test_the_second_run_over_everything_in_the_folder_works():
    for rank in range(2):
        put(f'rank{rank}.json', small_trace(rank))
    merged(*files())
    first = tables('tmerge.h5')
    put('tmerge.html', '<!doctype html><meta name="tmerge" content="1"><title>x</title>')
    done = tmerge(*files(), n=2).expect(0)
    equal(done.ours, ['tmerge: warning: left out tmerge.h5: a tmerge store',
                      'tmerge: warning: left out tmerge.html: a page that tmerge wrote'])
    equal(rows('tmerge.h5', 'overlap.rank'), first['overlap.rank'])
    equal({name: reason for name, (reason, _) in left_out().items()},
          {'tmerge.h5': 'store', 'tmerge.html': 'page'})
    equal(files(), ['rank0.json', 'rank1.json', 'tmerge.h5', 'tmerge.html'])


def test_a_named_file_that_is_no_trace_is_an_error():
    put('rank0.json', small_trace(0))
    for name, content in (('truth.json', '{"seed": 1, "ranks": []}'), ('notes', 'text'),
                          ('list.json', '[]'), ('n.json', 'null'),
                          ('page.html', '<!doctype html><p>of somebody else')):
        put(name, content)
        tmerge('rank0.json', name).fails(3, f'{name}: {UNKNOWN}')
        holds(not os.path.exists('tmerge.h5'), 'a store was written')
    tmerge('rank0.json', 'notes', 'truth.json', n=3).expect(3)
    done = tmerge('rank0.json', 'notes', '--skip-bad').expect(0)
    equal(done.ours, [f'tmerge: warning: left out notes: notes: {UNKNOWN}'])
    has_line(done.out, r'^! left out: \S+; show job.left_out')
    equal(left_out(), {'notes': ('unreadable', f'notes: {UNKNOWN}')})


def test_nothing_to_read_is_an_error_also_with_skip_bad():
    put('notes', 'text')
    os.mkdir('empty')
    put('some/notes', 'text')
    for arguments, n in ((['empty'], 0), (['some'], 0), (['empty', 'some/', '--skip-bad'], 2)):
        tmerge(*arguments, n=n).fails(3, 'there is no trace to read')
    done = tmerge('notes', '--skip-bad').expect(3)
    equal(done.errors, ['tmerge: there is no trace to read'])
    # Deeper folders are named: folders of ranks by their parent folder; links are not followed.
    for path in ('run/iteration_9/rank0.json', 'run/iteration_10/rank0.json', 'b/c/d/rank_3/t.json',
                 'b/c/d/rank_4/t.json', '.old/b/rank0.json', '1/2/3/4/5/6/rank0.json'):
        put(f'job/{path}', small_trace(0))
    os.symlink('..', 'job/b/link')
    above = 'there is no trace here or one level below; there are traces in '
    for folder, n, where in (('job/', 0, 'run/iteration_9, run/iteration_10, b/c/d; name one of these, or all folders of one job'),
                             ('./job', 3, 'run/iteration_9, run/iteration_10, b/c/d; name one of these, or all folders of one job'),
                             ('job/b', 0, 'c/d; name that folder')):
        tmerge('empty', folder, n=n).fails(3, f'{folder}: {above}{where}')
    merged('job/b/c/d', 'some')
    put('rank0.json', small_trace(0))
    merged('rank0.json', 'job')  # next to a trace, a folder may have none


def test_compression_is_reported_by_content_whatever_the_name():
    plain = small_trace(0, lead='x' * 200000)
    for name, packed in (('plain.gz', plain), ('gzip.zst', gzipped(plain)),
                         ('zstd', zstd_framed(plain))):
        put(name, packed)
        merged(name)
        row, = rows('tmerge.h5', 'overlap.rank')
        equal((row['compute_ns'], row['comm_ns']), (50000, 10000), name)


def test_comm_pattern_adds_kernels_that_communicate():
    put('rank0.json', trace([kernel('gemm', 0, 50), kernel('my_Ring_v2', 50, 8),
                             kernel('ncclDevKernel_AllReduce', 60, 1),
                             event('my_ring', 'cpu_op', 0, 100)], 0))
    for arguments, comm, compute in (([], 1000, 58000),
                                     (['--comm-pattern=RING_V[0-9]+$'], 9000, 50000),
                                     (['--comm-pattern', 'ring$'], 1000, 58000)):
        merged('rank0.json', *arguments)
        row, = rows('tmerge.h5', 'overlap.rank')
        equal((row['comm_ns'], row['compute_ns']), (comm, compute), str(arguments))
    contains(tmerge('rank0.json', '--comm-pattern=tree').expect(0).err,
             "--comm-pattern 'tree' matches no name in these traces")


def test_an_unknown_kernel_that_sounds_like_communication_is_named_where_it_matters():
    for duration, arguments, said in ((8, [], True), (8, ['--comm-pattern=ring_all'], False),
                                      (0.4, [], False)):  # 13.8 % and 0.8 % of 50 us
        put('rank0.json', trace([kernel('gemm', 0, 50), kernel('acme::ring_allgather', 50, duration)],
                                0))
        text = ' '.join(merged('rank0.json', *arguments).out.split())
        equal('may communicate: acme::ring_allgather, 13.8 %' in text, said, text)


def test_a_rank_without_gpu_events_has_zeros_and_nulls():
    put('rank0.json', trace([event('aten::mm', 'cpu_op', 0, 5)], 0))
    put('rank1.json', trace([], 1))
    contains(merged('.').out, '2 ranks, no steps marked')
    for row in rows('tmerge.h5', 'overlap.rank'):
        equal((row['window_ns'], row['busy_ns'], row['overlap_pct']), (0, 0, None))
    equal([row['device'] for row in rows('tmerge.h5', 'job.rank')], [None, None])


def test_what_profilers_write_besides_is_named_with_the_way_out():
    csv = '"Kind","Agent_Id","Queue_Id","Correlation_Id"\n'
    for name, data, way in (('r.qdstrm', b'\1\2', 'QdstrmImporter -i'), ('r.arrow', b'\xff' * 8, '--type sqlite'),
                            ('e.parquet', b'PAR1\0', '--type sqlite'),
                            ('x.h5', b'\x89HDF\r\n\x1a\n', '--type sqlite'), ('kernels.csv', csv, '--output-format rocpd'),
                            ('results.csv', '"Index","KernelName","gpu-id"\n', 'record with rocprofv3'),
                            ('e.json', '{"schema": "1.1.1-chakra.0.0.4", "nodes": []}', 'torch.profiler'),
                            # NCCL 2.30: plugins/profiler/example/print_event.cc
                            ('d_149_0.json', '[\n{"name": "Group API", "cat": "GROUP_API", "ph": "b", "id": 0, '
                             '"pid": 9, "tid": 1, "ts": 3433.595001, "args": {"groupApiId": 0, "groupDepth": 1}},\n'
                             '{"name": "Group API", "cat": "GROUP_API", "ph": "e", "id": 0, "pid": 9, "tid": 1, '
                             '"ts": 3440.1},\n{}]\n', 'NCCL_INSPECTOR_DUMP_VERBOSE=1'),
                            ('trace_rank_0', b'\x80\x02}(X\7\0\0\0version', 'tmerge hang'),
                            ('snapshot.pickle', b'\x80\x04\x95\1\0\0\0\0\0\0\0}', '--memory-snapshot'),
                            ('trace_rank_1', '{"comm_lib_version":"","entries":[{"collective_seq_id":1}]}',
                             'tmerge hang'),
                            ('k.ncu-rep', b'NVR\0', '--ncu'), ('k.txt', '==PROF== Connected to process 9\n', '--ncu'),
                            ('k.csv', '"ID","Process ID","Process Name"\n', '--ncu'),
                            ('s.json', '{"$schema": "https://www.speedscope.app/file-format-schema.json"}',
                             'only call stacks'),
                            ('r.0.et', b'\x05\1', 'does not have GPU times'),
                            ('vm.xplane.riegeli', b'\x83\xaf', '.xplane.pb'),
                            ('mem.raw.json', b'[[-1, 1, 100, 0]]', '--memory-snapshot')):
        put(name, data)
        done = tmerge(name, '-o', 't.h5').expect(3)
        contains(done.err, f'tmerge: {name}: ')
        contains(done.err, way)


main()
