"""Output of tmerge show: JSON, CSV and text, and selection of rows; the summary."""
import csv
import io
import json
import os
import re
import shlex

from common import (contains, content, equal, event, has_line, holds, kernel, lacks, main, merged,
                    nanogpt, put, rows, seldom, small_trace, some, synth, tables, tmerge, trace)
from jobs import real_store, store, use

TIMES = ('window_ns', 'compute_ns', 'comm_ns', 'memory_ns', 'overlap_ns', 'exposed_comm_ns',
         'exposed_memory_ns', 'busy_ns', 'idle_ns')
TYPES = {'int': int, 'real': float, 'text': str, 'bool': bool}
UNITS = {'ns', '%', 'B', 'GB/s', 'ppb', 'FLOP', 'FLOP/B', 'GFLOP/s', 'TFLOP/s', ''}


def show(*arguments, **more):
    done = tmerge('show', 'tmerge.h5', *arguments, **more).expect(0)
    equal(done.err, '', 'standard error')
    return done.out


def worked_out_job():
    """Makes two ranks whose numbers can be worked out by hand; the second has no communication."""
    put('rank0.json', trace([kernel('gemm', 100, 50), kernel('ncclDevKernel_AllReduce', 140, 30),
                             dict(kernel('Memcpy HtoD', 171, 4), cat='gpu_memcpy')], 0))
    put('rank1.json', trace([kernel('gemm', 100, 0.001)], 1))
    merged('rank0.json', 'rank1.json')


def test_the_numbers_of_a_small_job_are_those_worked_out_by_hand():
    # Rank 0: P = [100, 150), C = [140, 170), M = [171, 175) us; the window is [100, 175).
    worked_out_job()
    first, second = rows('tmerge.h5', 'overlap.rank')
    equal({k: first[k] for k in TIMES},
          {'window_ns': 75000, 'compute_ns': 50000, 'comm_ns': 30000, 'memory_ns': 4000,
           'overlap_ns': 10000, 'exposed_comm_ns': 20000, 'exposed_memory_ns': 4000,
           'busy_ns': 74000, 'idle_ns': 1000})
    equal(first['overlap_pct'], 100 * 10000 / 30000)
    equal({k: second[k] for k in TIMES}, {k: 1 if k in ('window_ns', 'compute_ns', 'busy_ns') else 0
                                          for k in TIMES})
    equal(second['overlap_pct'], None)
    equal([(row['comm_to_compute'], row['exposed_to_window'])
           for row in (first, second)], [(0.6, 20 / 75), (0.0, 0.0)])
    equal([(row['rank'], row['kind'], row['count'], row['comm_ns'], row['overlap_ns'])
           for row in rows('tmerge.h5', 'overlap.kind')], [(0, 'allreduce', 1, 30000, 10000)])


def test_json_is_one_document_whose_columns_say_type_and_unit():
    worked_out_job()
    document = json.loads(show('--json'))
    equal((document['tmerge'], document['store']), (1, 'tmerge.h5'))
    equal(set(document), {'tmerge', 'store', 'tables'})
    holds(len(document['tables']) >= 8, 'tables')
    for name, table in document['tables'].items():
        equal(set(table), {'columns', 'rows'}, name)
        names = [column['name'] for column in table['columns']]
        for column in table['columns']:
            equal(set(column), {'name', 'type', 'unit'}, name)
            holds(column['type'] in TYPES and column['unit'] in UNITS, f'{name}: {column}')
            equal(column['unit'] == 'ns', column['name'].endswith('_ns'), column['name'])
        for row in table['rows']:
            equal(list(row), names, f'the order of the columns in {name}')
            for column in table['columns']:
                value = row[column['name']]
                holds(value is None or type(value) is TYPES[column['type']]
                      or (type(value), column['type']) == (int, 'real'),
                      f'{name}: {column} {value}')


def test_integers_are_exact_and_what_does_not_exist_is_null():
    # 2^53 ns is in April 1970: later times in nanoseconds exceed the exact range of a double.
    put('rank0.json', trace([kernel('gemm', 0.001, 1)], 0, base=1700000000123456788))
    merged('rank0.json')
    text = show('job.rank', 'overlap.rank', 'job.job', '--json')
    contains(text, '"begin_ns":1700000000123456789,')
    contains(text, '"end_ns":1700000000123457789,')
    contains(text, '"overlap_pct":null,')
    for word in ('nan', 'NaN', ':inf', ':-inf', '-9223372036854775808'):
        lacks(text, word)
    contains(show('overlap.rank', '--csv'), ',0,,0,')


@seldom
def test_json_is_the_same_every_time_and_on_every_store_of_the_job():
    use('three')
    merged('job')
    first = show('--json')
    equal(show('--json'), first)
    merged('job', n=3)
    equal(show('--json', env={'COLUMNS': '40', 'LC_ALL': 'de_DE.UTF-8', 'TZ': 'Asia/Tokyo'}), first)
    # Under mpirun only one process prints.
    equal(tmerge('show', 'tmerge.h5', '--json', n=2).expect(0).out, first)


def test_csv_has_the_same_values_as_json():
    put('a,"b".json', small_trace(0))
    put('rank1.json', small_trace(1))
    merged('a,"b".json', 'rank1.json')
    for name, expected in some(tables('tmerge.h5').items()):
        read = list(csv.DictReader(io.StringIO(show(name, '--csv'), newline='')))
        equal(len(read), len(expected), name)
        for found, row in zip(read, expected):
            for column, value in row.items():
                word = ('' if value is None else str(value).lower() if isinstance(value, bool)
                        else value)
                equal(type(word)(found[column]), word, f'{name} {column}')
    contains(show('job.rank', '--csv'), ',"a,""b"".json",kineto,')


def test_a_csv_is_one_table_and_several_are_a_folder():
    worked_out_job()
    tmerge('show', 'tmerge.h5', 'overlap.rank', 'job.rank', '--csv').fails(
        2, '--csv prints one table, but these are 2 (job.rank, overlap.rank): name one, or let '
        '--csv-dir FOLDER write a file of each')
    for _ in range(2):  # a second time to the same folder
        equal(show('overlap.rank', 'overview.rank', '--csv-dir=out', '--columns=rank'), '')
        equal(sorted(os.listdir('out')), ['overlap.rank.csv', 'overview.rank.csv'])
        equal(content('out/overlap.rank.csv').decode(), show('overlap.rank', '--csv', '--columns=rank'))
    tmerge('show', 'tmerge.h5', 'overlap', '--csv-dir=no/out').fails(
        4, 'no/out: the folder cannot be made: No such file or directory')


def test_both_names_of_a_table_are_known():
    worked_out_job()
    for name in ('overlap.rank', 'overlap_rank'):
        equal(list(tables('tmerge.h5', name)), ['overlap.rank'])
        contains(tmerge('list', name).expect(0).out, 'overlap.rank')
        column = tmerge('list', name + '.overlap_pct').expect(0).out
        contains(column, '\n    overlap_pct  real  %  Share of the communication time in which')
        lacks(column, '\n    rank ')
    tmerge('show', 'tmerge.h5', 'overlap_rnak').fails(
        2, "'overlap_rnak' is neither an analysis nor a table (did you mean overlap.rank?); tmerge list lists them")


def test_rank_and_step_choose_rows():
    synth('job', ranks=6, steps=4, first_step=10)
    merged('job')
    all_rows = tables('tmerge.h5')
    for option, column, text, numbers in (
            ('--rank', 'rank', '0,2-3', {0, 2, 3}), ('--rank', 'rank', '5', {5}),
            ('--rank', 'rank', '3-99,3', {3, 4, 5}),
            ('--step', 'step', '11,13', {11, 13})):
        for name, shown in tables('tmerge.h5', option, text).items():
            expected = all_rows[name]
            if expected and column in expected[0]:
                expected = [row for row in expected if row[column] in numbers]
            equal(shown, expected, f'{name} with {option} {text}')
    equal([(row['rank'], row['step']) for row in
           tables('tmerge.h5', 'overlap.step', '--rank=1,4', '--step=12-13')['overlap.step']],
          [(1, 12), (1, 13), (4, 12), (4, 13)])


def test_ranks_and_steps_that_are_not_there_are_said():
    path = store('three')  # ranks 0 to 2, steps 3 and 4
    for option, text, status, message in (
            ('--rank', '77', 2, '--rank: the store has no rank 77, but 0-2'),
            ('--rank', '5-6,77', 2, '--rank: the store has no rank 5-6,77, but 0-2'),
            ('--step', '2', 2, '--step: the store has no step 2, but 3-4'),
            ('--rank', '1,77', 0, 'warning: the store has no rank 77, but 0-2'),
            ('--step', '0-2,4-9', 0, 'warning: the store has no step 0-2, but 3-4')):
        done = tmerge('show', path, 'overlap.step', option, text).expect(status)
        equal(done.err, f'tmerge: {message}\n')
    done = tmerge('show', path, 'overlap.step', '--rank', '1,77', n=2).expect(0)
    equal(done.ours, ['tmerge: warning: the store has no rank 77, but 0-2'])


def all_of(name, keep, *arguments):
    """Returns the rows kept by --where, having compared them with a condition in Python."""
    found = tables('tmerge.h5', name, *arguments)[name]
    equal(found, [row for row in rows('tmerge.h5', name) if keep(row)], f'{name} {arguments}')
    return found


def test_where_takes_the_rows_for_which_it_holds():
    synth('job', ranks=6, steps=4, first_step=10, jitter=30)
    merged('job')
    idle = sorted(row['idle_ns'] for row in rows('tmerge.h5', 'overlap.step'))
    middle = idle[len(idle) // 2]
    for name, text, keep in (
            ('overlap.step', 'rank=2', lambda r: r['rank'] == 2),
            ('overlap.step', 'rank != 2 and step>=12', lambda r: r['rank'] != 2 and r['step'] >= 12),
            ('overlap.step', 'rank = 1 or rank = 3 and step < 12',
             lambda r: r['rank'] == 1 or r['rank'] == 3 and r['step'] < 12),
            ('overlap.step', 'step < 12 and rank = 3 or rank=1',
             lambda r: r['step'] < 12 and r['rank'] == 3 or r['rank'] == 1),
            ('overlap.step', f'idle_ns > {middle}', lambda r: r['idle_ns'] > middle),
            ('overlap.step', f'idle_ns<={middle / 1000}us', lambda r: r['idle_ns'] <= middle),
            ('overlap.step', 'partial = no', lambda r: r['partial'] is False),
            ('overlap.step', 'overlap_pct >= 50.5', lambda r: r['overlap_pct'] >= 50.5),
            ('overlap.kind', 'kind = allreduce', lambda r: r['kind'] == 'allreduce'),
            ('overlap.kind', "kind ~ 'red'", lambda r: 'red' in r['kind']),
            ('kernels.kernel', 'class != null', lambda r: r['class'] is not None),
            ('kernels.kernel', 'class = null', lambda r: r['class'] is None)):
        all_of(name, keep, '--where', text)
    holds(0 < len(all_of('overlap.step', lambda r: r['idle_ns'] > middle, '--where',
                         f'idle_ns > {middle}')) < len(idle), 'a half')


def test_a_value_of_where_must_be_its_columns():
    path = store('three')
    for text, message in (
            ('rank = x', "8: 'x' is not a whole number, but column rank of overlap.step is"),
            ('idle_ns > 5h', "11: '5h' is not a whole number, but column idle_ns of overlap.step is (of ns, or as 5us, 5ms, 5s)"),
            ('partial = 1', "11: '1' is not yes or no, but column partial of overlap.step is"),
            ('rank ~ 1', '8: ~ searches texts, but column rank of overlap.step is a whole number'),
            ('rank > null', '8: null can only be compared with = and !=')):
        tmerge('show', path, 'overlap.step', '--where', text).fails(2, '--where, character ' + message)
    for arguments, message in (
            (['overlap.step', '--where', 'rnk = 3'], "overlap.step has no column 'rnk' (did you mean rank?)"),
            (['overlap.step', '--sort', 'idel_ns'], "overlap.step has no column 'idel_ns' (did you mean idle_ns?)"),
            (['overlap.step', '--columns', 'rank,nothing'], "overlap.step has no column 'nothing'")):
        tmerge('show', path, *arguments).fails(2, message + '; tmerge list overlap.step lists them')
    tmerge('show', path, '--sort', 'nothing').fails(2, "no table has a column 'nothing'; see tmerge list")
    # Of several tables those without the column are left out, with a warning.
    done = tmerge('show', path, 'overlap', '--where', 'step = 3', '--json').expect(0)
    equal(list(json.loads(done.out)['tables']), ['overlap.step'])
    contains(done.err, 'warning: 3 of the tables lack a requested column and are left out')


def test_sort_and_columns_shape_a_table():
    synth('job', ranks=6, steps=4, jitter=30)
    merged('job')
    every = rows('tmerge.h5', 'overlap.step')
    for sort, key, down in (('-idle_ns', 'idle_ns', True), ('idle_ns', 'idle_ns', False)):
        expected = sorted(every, key=lambda row: row[key], reverse=down)
        equal(tables('tmerge.h5', 'overlap.step', '--sort', sort)['overlap.step'], expected, sort)
        equal(tables('tmerge.h5', 'overlap.step', '--sort', sort, '--top', '3')['overlap.step'],
              expected[:3], sort)
    names = [row['name'] for row in rows('tmerge.h5', 'kernels.kernel')]
    for sort, down in (('name', False), ('-name', True)):
        found = tables('tmerge.h5', 'kernels.kernel', '--sort', sort, '--columns', 'calls,name')
        equal([row['name'] for row in found['kernels.kernel']], sorted(names, reverse=down))
        equal({tuple(row) for row in found['kernels.kernel']}, {('calls', 'name')})
    # Columns used for selection and order need not be shown.
    found = tables('tmerge.h5', 'overlap.step', '--rank=1', '--where', 'step > 3', '--sort=idle_ns',
                   '--columns', 'window_ns')['overlap.step']
    equal(found, [{'window_ns': row['window_ns']} for row in sorted(every, key=lambda r: r['idle_ns'])
                  if row['rank'] == 1 and row['step'] > 3])
    equal(words_of(show('overlap.step', '--columns', 'step,rank', '--top=1'))[0][0], 'step')


def test_alone_it_is_an_overview_of_two_screens():
    os.symlink(store('three'), 'three.h5')
    path = 'three.h5'
    use('three')
    summary = summary_rows(merged('job').out)
    for width in (80, 120, 200):
        text = tmerge('show', path, env={'COLUMNS': str(width)}).expect(0).out
        lines = text.splitlines()
        holds(len(lines) <= 75 and max(map(len, lines)) <= width, text)
        whole = re.sub(r'\n {15}', ' ', text)
        for name, found in tables(path).items():  # each is listed, with its rows or as empty
            analysis, table = name.split('.')
            if found:
                has_line(whole, rf'^  {analysis} .*\b{table} {len(found)}\b')
            else:
                contains(text.split('without rows:')[1], name)
        equal(summary_rows(text), summary, 'ranks')
        # Commands that it suggests work.
        for line in re.findall(r'^  tmerge (.*?)(?:  #.*)?$', text, re.M):
            tmerge(*shlex.split(line)).expect(0)
    equal(tmerge('show', path, n=2).expect(0).out, tmerge('show', path).out)


def test_top_takes_the_rows_that_cost_most():
    synth('job', ranks=6, steps=3, slow_rank=2)
    merged('job')
    for name in ('overlap.rank', 'overlap.step', 'overlap.kind'):
        every = rows('tmerge.h5', name)
        costs = sorted((row['exposed_comm_ns'] for row in every), reverse=True)
        for n in (0, 1, 3, 1000):
            found = tables('tmerge.h5', name, '--top', str(n))[name]
            equal([row['exposed_comm_ns'] for row in found], costs[:n], f'{name} --top {n}')
            holds(all(row in every for row in found), f'{name} --top {n}')
    # --rank applies before --top.
    found = tables('tmerge.h5', 'overlap.step', '--rank=2', '--top=2')['overlap.step']
    equal([row['rank'] for row in found], [2, 2])


def test_tables_are_chosen_by_name_and_by_analysis():
    worked_out_job()
    everything = list(tables('tmerge.h5'))
    equal(list(tables('tmerge.h5', 'overlap')),
          ['overlap.rank', 'overlap.step', 'overlap.kind', 'overlap.device'])
    equal(set(tables('tmerge.h5', 'clock.rank', 'job')),
          {name for name in everything if name.startswith('job.')} | {'clock.rank'})
    old = tmerge('show', 'tmerge.h5', 'ratio.rank', '--json').expect(0)
    equal(list(json.loads(old.out)['tables']), ['overlap.rank'])
    contains(old.err, 'ratio.rank is now overlap.rank')
    # Duplicates are shown once, and the order is fixed.
    equal(list(tables('tmerge.h5', 'overlap.kind', 'overlap.rank', 'overlap.kind')),
          ['overlap.rank', 'overlap.kind'])
    equal(re.findall(r'^\w+\.\w+$', show('--all'), re.M), everything)


def words_of(text):
    """Joins the blocks of a printed table: a list of its columns, each with all of its words."""
    columns = []
    for block in text.rstrip('\n').split('\n\n'):
        lines = block.split('\n')
        if re.fullmatch(r'\w+\.\w+', lines[0]):
            lines = lines[1:]
        cells = [re.split(r'  +', line.strip()) for line in lines]
        holds(len({len(row) for row in cells}) == 1, f'ragged:\n{block}')
        columns += [column for column in zip(*cells) if column not in columns]
    return columns


def test_text_keeps_to_the_width_of_the_terminal():
    synth('job', ranks=3, steps=2)
    merged('job')
    for name in ('overlap.rank', 'overlap.step'):
        whole = words_of(show(name, env={'COLUMNS': '1000'}))
        for width in (60, 80, 200):
            text = show(name, env={'COLUMNS': str(width)})
            widest = max(len(line) for line in text.splitlines())
            holds(widest <= width, f'{name}: a line of {widest} at {width}')
            holds(not re.search(r' $', text, re.M), f'{name}: blanks at the end of a line')
            equal(words_of(text), whole, f'{name} at {width}')
        blocks = [len(show(name, env={'COLUMNS': str(width)}).split('\n\n'))
                  for width in (60, 80, 1000)]
        holds(blocks[0] >= blocks[1] >= blocks[2] == 1, f'{name}: {blocks} blocks')
    holds(len(show('overlap.step', env={'COLUMNS': '60'}).split('\n\n')) > 2, 'nothing was wrapped')
    for width in (80, 120, 200):  # also for tables with long names as keys
        long = [line for line in show('--all', env={'COLUMNS': str(width)}).splitlines()
                if len(line) > width]
        equal(long, [], f'lines at {width}')


def test_of_several_tables_those_without_rows_say_so():
    worked_out_job()
    equal(show('stats'), 'stats.time\nno rows\n\nstats.size\nno rows\n')
    for table, arguments, said in (
            ('job.differs', [], '\n  A row for each value of a property that should be equal on all ranks of a job\n'),
            ('overlap.kind', ['--where', 'kind = AllReduce and rank > 0'], ": kind has no 'AllReduce', but allreduce\n"),
            ('overlap.kind', ['--where', 'kind = allreduce and rank = 77'], '\n')):
        holds(show(table, *arguments).startswith(f'{table}\nno rows{said}'), table)
    contains(tmerge('show', 'tmerge.h5', 'overlap.kind', '--json', '--where', 'kind ~ X').expect(0).err,
             "overlap.kind has no such rows: kind has no 'X', but allreduce")


def test_without_a_sound_width_it_is_80():
    worked_out_job()
    expected = show('--all', env={'COLUMNS': '80'})
    for columns in ('', '0', '-5', 'wide', '5', '99999999999'):
        equal(show('--all', env={'COLUMNS': columns}), expected, columns)
    equal(show('--all'), expected)


def test_text_scales_times_and_shows_no_value_as_a_dash():
    worked_out_job()
    text = show('overlap.rank', env={'COLUMNS': '1000'})
    lines = [re.split(r'  +', line.strip()) for line in text.splitlines()]
    equal(lines[0], ['overlap.rank'])
    # In us, 1 ns would be 0.001, only one digit: so 75 us are shown as 75000 ns.
    equal(lines[1][:7], ['rank', 'window ns', 'compute ns', 'comm ns', 'memory ns', 'overlap ns',
                         'overlap %'])
    equal(lines[2][:7], ['0', '75000', '50000', '30000', '4000', '10000', '33.3'])
    equal(lines[3][:7], ['1', '1', '1', '0', '0', '0', '-'])


def test_moments_are_since_the_jobs_begin_or_absolute():
    # Ranks begin 0.1 and 2.1 ms after the base time of the traces.
    put('rank0.json', trace([kernel('gemm', 100, 50)], 0))
    put('rank1.json', trace([kernel('gemm', 2100, 50)], 1))
    merged('rank0.json', 'rank1.json')
    shown = ('job.rank', '--columns', 'rank,begin_ns')
    equal(words_of(show(*shown)), [('rank', '0', '1'), ('begin +ms', '0.000', '2.000')])
    begins = [row['begin_ns'] for row in rows('tmerge.h5', 'job.rank')]
    equal(begins[1] - begins[0], 2000000)
    equal(words_of(show(*shown, '--absolute'))[1],
          ('begin s', *(f'{ns // 10**9}.{ns // 10**6 % 1000:03}' for ns in begins)))
    lacks(show('job.job', '--columns', 'ranks,begin_ns'), '+')
    # A condition with a unit counts from there, too; without a unit it is as in --json.
    for text, keep in (('begin_ns > 1ms', [1]), ('begin_ns < 1ms', [0]), ('begin_ns = 2ms', [1]),
                       (f'begin_ns = {begins[1]}', [1]), ('begin_ns < 5', [])):
        found = tables('tmerge.h5', 'job.rank', '--where', text)['job.rank']
        equal([row['rank'] for row in found], keep, text)
    late = tables('tmerge.h5', 'job.rank', '--absolute', '--where', 'begin_ns > 1ms')['job.rank']
    equal(len(late), 2)


def test_a_person_sees_shares_as_bars():
    worked_out_job()
    chosen = ('overlap.rank', '--columns', 'rank,overlap_pct')
    has_line(show(*chosen, '--color=always'), '   0       33.3 ###')
    lacks(show(*chosen), '#')
    lacks(show(*chosen, '--color=always', '--json'), '#')


def test_text_from_outside_leaves_as_valid_utf8():
    name = os.fsdecode(b'r\xc3\xa9_rank0_\xff\x1b[31m.json')
    put(name, small_trace(0))
    done = tmerge(name).expect(0)
    lacks(done.out, '\x1b[31m')
    source = rows('tmerge.h5', 'job.rank')[0]['source']
    equal(source, 'r\u00e9_rank0_\ufffd\x1b[31m.json')
    lacks(show('job.rank'), '\x1b')
    contains(show('job.rank', env={'COLUMNS': '200'}), 'r\u00e9_rank0_\ufffd?[31m.json')


def check_identities(store):
    """Identities that hold for all rows."""
    shown = tables(store)
    for name in ('overlap.rank', 'overlap.step'):
        for row in shown[name]:
            where = f'{name} {row}'
            equal(row['compute_ns'] + row['exposed_comm_ns'] + row['exposed_memory_ns']
                  + row['idle_ns'], row['window_ns'], where)
            equal(row['overlap_ns'] + row['exposed_comm_ns'], row['comm_ns'], where)
            equal(row['busy_ns'] + row['idle_ns'], row['window_ns'], where)
            holds(all(row[column] >= 0 for column in TIMES), where)
            holds(row['exposed_memory_ns'] <= row['memory_ns'], where)
            equal(row['overlap_pct'], 100 * row['overlap_ns'] / row['comm_ns']
                  if row['comm_ns'] else None, where)
            if row['exposed_wait_ns'] is not None:
                equal(row['exposed_wait_ns'] + row['exposed_transfer_ns']
                      + row['exposed_unmatched_ns'], row['exposed_comm_ns'], where)
    for row in shown['overlap.kind']:
        equal(row['overlap_ns'] + row['exposed_comm_ns'], row['comm_ns'], str(row))
        holds(row['count'] > 0, str(row))
    for row in shown['overlap.rank'] + shown['overlap.step']:
        equal(row['comm_to_compute'], row['comm_ns'] / row['compute_ns']
              if row['compute_ns'] else None, str(row))
        equal(row['exposed_to_window'], row['exposed_comm_ns'] / row['window_ns']
              if row['window_ns'] else None, str(row))
    for rank in shown['overlap.rank']:
        kinds = [row for row in shown['overlap.kind'] if row['rank'] == rank['rank']]
        holds(max([row['comm_ns'] for row in kinds], default=0) <= rank['comm_ns']
              <= sum(row['comm_ns'] for row in kinds), f'kinds of {rank}')
        steps = [row for row in shown['overlap.step'] if row['rank'] == rank['rank']]
        for a, b in zip(steps, steps[1:]):
            holds(a['begin_ns'] + a['window_ns'] <= b['begin_ns'], f'steps overlap: {a} {b}')
    return len(shown['overlap.step'])


@seldom
def test_the_identities_hold_on_all_rows_of_a_synthetic_job():
    synth('job', ranks=5, steps=7, slow_rank=3, end_jitter_ns=500, jitter=30)
    merged('job')
    equal(check_identities('tmerge.h5'), 35)


@seldom
def test_the_identities_hold_on_all_rows_of_real_jobs():
    check_identities(real_store())
    for job in ('hta2', 'megatron2', 'single/mi210_gpu_only.json.gz'):
        tmerge(os.path.join(os.path.dirname(nanogpt()), job)).expect(0)
        check_identities('tmerge.h5')


def summary_rows(text):
    """Returns the ranks of a summary: rank, window, compute, comm, overlap in %, exposed, copies if
    they matter, idle, ratio."""
    found = [line.split()[:9] for line in text.splitlines()
             if re.match(r' *\d+( +(\d[\d.]*|-)){7,}$', line)]
    return [[None if word == '-' else float(word) for word in row] for row in found]


def test_the_summary_says_ranks_hosts_steps_time_and_files():
    worked_out_job()
    text = merged('rank0.json', 'rank1.json', '-o', 'x.h5').out
    has_line(text, '^2 ranks on 2 hosts, no steps marked, 75.0 us from')
    has_line(text, r'\b75(\.0+)? us\b', 'from 2023-11-14 22:13:20 UTC')
    has_line(text, r'^Stored in x\.h5;', r'tmerge show x\.h5')
    # Copies are 4 of 75 us: at least 5 % of the time.
    expected = [[0, 75, 50, 30, 33.3, 20, 4, 1, 0.6], [1, 0.001, 0.001, 0, None, 0, 0, 0, 0]]
    found = summary_rows(text)
    equal(len(found), 2, text)
    for row, right in zip(found, expected):
        for value, true in zip(row, right):
            holds(value == true or (None not in (value, true) and abs(value - true) <= 0.05),
                  f'{row} is not {right}')


def test_one_rank_alone_says_what_it_can():
    # As in worked_out_job: 50 of 75 us are compute, 20 exposed communication, 4 copies, 1 idle.
    put('rank0.json', trace([kernel('gemm', 100, 50), kernel('ncclDevKernel_AllReduce', 140, 30),
                             dict(kernel('Memcpy HtoD', 171, 4), cat='gpu_memcpy')], 0))
    says = ('One rank: its GPU computes for 66.7 % of the 75.0 us from its first work to its last, '
            'and for 26.7 % it communicates without concurrent computation')
    for text in (merged('rank0.json', env={'COLUMNS': '200'}).out,
                 show(env={'COLUMNS': '200'})):
        equal(text.splitlines()[1], says)
        lacks(text, 'No verdict')
        lacks(text, 'It idles')  # under 2 % of the time
    # 300 of 400 us are idle; the gap's next kernel has no launch.
    put('rank0.json', trace([kernel('gemm', 100, 50), kernel('gemm', 450, 50)], 0))
    out = merged('rank0.json', env={'COLUMNS': '200'}).out
    has_line(out, '^rank +us +us +us$')  # nothing on communication
    has_line(out,
             'It idles 300.0 us; for 300.0 us of that \\(100.0 %\\) the next work was already queued '
             'and waited for something else, or its launch is not recorded')
    # It was launched at 120 us.
    put('rank0.json', trace([kernel('gemm', 100, 50), kernel('gemm', 450, 50, correlation=7),
                             event('cudaLaunchKernel', 'cuda_runtime', 120, 5, correlation=7)], 0))
    has_line(merged('rank0.json', env={'COLUMNS': '200'}).out,
             'the next work was already queued and waited for something else; the longest gap takes '
             '300.0 us$')
    # Three GPUs in turn: 200, 100 and 90 of 400 us, on average 130 (32.5 %); they idle for 200, 300
    # and 310, on average 270; no GPU works for 10 of these: 260 (96.3 %) are another's turn. A
    # fourth GPU that works for 0.4 us in parallel does not change this, but is named.
    turns, few = [(0, 100, 200), (1, 300, 100), (2, 410, 90)], [(3, 450, 0.4)]
    for gpus, whose, last in ((turns, 'its 3', ''),
                              (turns + few, '3 of its 4', ', 3: idle except for 0.1 %')):
        put('rank0.json', trace([dict(kernel('gemm', begin, us, device=gpu), pid=gpu)
                                 for gpu, begin, us in gpus], 0))
        out = merged('rank0.json', env={'COLUMNS': '200'}).out
        contains(out, f'One rank: {whose} GPUs compute for 32.5 % of the 400.0 us from its first work '
                 f'to its last on average (device 0: 50.0 %, 1: 25.0 %, 2: 22.5 %{last}), and for 67.5 %')
        contains(out, 'On average each idles 270.0 us; for 260.0 us of that (96.3 %) another device of '
                 'the rank was busy')
        has_line(out, '^GPU: compute 32.5 %, .* idle 67.5 %')
    # In a step of 200 us from 100 on the GPU only has 40 us of work.
    for at, where in ((200, 'before its first recorded GPU work (100.0 us) or after its last (60.0 us)'),
                      (255, 'before its first recorded GPU work'), (110, 'after its last recorded GPU work')):
        put('rank0.json', trace([event('ProfilerStep#1', 'user_annotation', 100, 200),
                                 event('cudaLaunchKernel', 'cuda_runtime', at - 5, 2, correlation=7),
                                 kernel('gemm', at, 40, correlation=7)], 0))
        out = merged('rank0.json', env={'COLUMNS': '200'}).out
        contains(out, ', 1 step of 200.0 us (40.0 us replayed), ')
        has_line(out, re.escape(f"One rank: 160.0 us of the step's 200.0 us (80.0 %) is {where}") + '$')
    # Both lengths are said if the replayed one is over 5 % of 200 us, i.e. 10 us, shorter.
    for at, says in ((11, '200.0 us (189.0 us replayed)'), (9, '191.0 us')):
        put('rank0.json', trace([event('ProfilerStep#1', 'user_annotation', 0, 200), kernel('gemm', at, 200 - at, correlation=7),
                                 event('cudaLaunchKernel', 'cuda_runtime', 5, 2, correlation=7)], 0))
        contains(merged('rank0.json', env={'COLUMNS': '200'}).out, f', 1 step of {says}, ')
    # The steps take 150 us on average. The second has no GPU work, and the first 190 us from the start of its kernel.
    put('rank0.json', trace([event('ProfilerStep#1', 'user_annotation', 0, 200), kernel('gemm', 10, 190, correlation=7),
                             event('cudaLaunchKernel', 'cuda_runtime', 5, 2, correlation=7),
                             event('ProfilerStep#2', 'user_annotation', 200, 100)], 0))
    contains(merged('rank0.json', env={'COLUMNS': '200'}).out, ', 2 steps of 150.0 us (190.0 us replayed), ')
    # One of two GPUs works; the other only gets a copy of 2 us in each of ten steps, or counts as
    # not working if these are compute kernels: 1 of 2.
    for cat, says in (('gpu_memcpy', 'its GPU computes'), ('kernel', '1 of its 2 GPUs computes')):
        put('rank0.json', trace([dict(kernel('x', 1000 * i, 500), pid=0) for i in range(10)] +
                                [dict(kernel('x', 1000 * i, 2, device=1), pid=1, cat=cat)
                                 for i in range(10)], 0))
        contains(merged('rank0.json', env={'COLUMNS': '200'}).out, f'One rank: {says} ')


def test_no_line_of_the_summary_begins_with_a_unit():
    """At these widths "(13.6 ms of 13.6 ms of GPU time)" would be broken before a unit."""
    synth('slow', ranks=2, steps=1, slow_rank=1)
    for width in (60, 61, 62, 71, 72, 73):
        lines = merged('slow', env={'COLUMNS': str(width)}).out.splitlines()
        equal([line for line in lines if line.startswith('  ms ')], [], str(width))


def test_over_16_ranks_the_summary_shows_the_5_that_cost_most():
    for rank in range(17):
        put(f'job/rank{rank}.json', small_trace(rank, at=100, dur=50 + rank % 3))
    text = merged('job').out
    has_line(text, '^The 5 ranks .*most')
    has_line(text, '^and 12 more')
    equal(len(summary_rows(text)), 5, text)
    holds(max(map(len, text.splitlines())) <= 80, 'a line over 80 columns:\n' + text)
    os.unlink('job/rank16.json')
    text = merged('job').out
    equal(len(summary_rows(text)), 16, text)
    lacks(text, '\nand ')


main()
