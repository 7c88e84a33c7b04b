"""Answers of tmerge query: compared with results worked out by hand, events with the CSV export,
and tables with tmerge show. It only reads the store."""
import csv
import io
import json
import os
import re
import shutil
import sqlite3

from common import (BASE_NS, FULL, content, equal, event, files, holds, kernel, lacks, limited,
                    main, merged, put, seldom, synth, tables, tmerge, trace)
from jobs import store

import h5py


def ask(path, text, *more):
    done = tmerge('query', path, text, *more, '--json').expect(0)
    equal(done.err, '', 'standard error')
    return json.loads(done.out)['tables']['query']


def answer(path, text, *more):
    return [tuple(row.values()) for row in ask(path, text, *more)['rows']]


def answers(path, queries):
    """Returns the row of each of several single-row queries, run as one."""
    asked = (f'SELECT {i} AS place, * FROM ({query})' for i, query in enumerate(queries))
    return [row[1:] for row in answer(path, ' UNION ALL '.join(asked) + ' ORDER BY place')]


def test_the_events_of_a_small_job_are_those_worked_out_by_hand():
    # The kernel begins 20 us after its launch; rank 1's copy of 4,000 ns moves 4,096 bytes.
    launch = event('cudaLaunchKernel', 'cuda_runtime', 100, 5, correlation=9)
    put('rank0.json', trace([launch, kernel('gemm', 120, 50.5, correlation=9)], 0))
    copy = dict(kernel('Memcpy HtoD', 171, 4, bytes=4096), cat='gpu_memcpy')
    put('rank1.json', trace([copy, kernel('gemm', 180, 2)], 1))
    merged('rank0.json', 'rank1.json')
    equal(answer('tmerge.h5', 'SELECT event, rank, track, stream, category, role, step, '
                 f'begin_ns - {BASE_NS}, duration_ns, name, launch, bytes FROM events'),
          [(0, 0, 'gpu', 7, 'kernel', 'compute', 0, 120000, 50500, 'gemm', 1, None),
           (1, 0, 'cpu', None, 'cuda_runtime', None, 0, 100000, 5000, 'cudaLaunchKernel', None, None),
           (2, 1, 'gpu', 7, 'gpu_memcpy', 'memory', 0, 171000, 4000, 'Memcpy HtoD', None, 4096),
           (3, 1, 'gpu', 7, 'kernel', 'compute', 0, 180000, 2000, 'gemm', None, None)])
    # A join uses the event number: 120,000 - 100,000 ns.
    equal(answer('tmerge.h5', 'SELECT k.begin_ns - l.begin_ns FROM events k JOIN events l '
                 'ON l.event = k.launch'), [(20000,)])
    found = ask('tmerge.h5', 'SELECT name, sum(duration_ns) AS total_ns, avg(duration_ns) a, '
                "NULL AS nil, x'ff' AS total_ns FROM events WHERE role = 'compute' GROUP BY name")
    equal(found['columns'], [{'name': n, 'type': t, 'unit': u} for n, t, u in
                             [('name', 'text', ''), ('total_ns', 'int', 'ns'), ('a', 'real', ''),
                              ('nil', 'int', ''), ('total_ns_2', 'text', '')]])
    equal(list(found['rows'][0].values()), ['gemm', 52500, 26250.0, None, 'ff'])
    text = tmerge('query', 'tmerge.h5', 'SELECT name, duration_ns FROM events WHERE rank = 0').out
    equal(text, 'name              duration us\ngemm                   50.500\n'
                'cudaLaunchKernel        5.000\n')
    equal(tmerge('query', 'tmerge.h5', 'SELECT name FROM events WHERE rank = 9').out, 'name\nno rows\n')


def test_exposed_time_is_asked_for_as_the_help_says():
    # A kernel computes in [150, 170), during the first all-reduce in [100, 200): of this 80 us are
    # exposed, of the second all-reduce 30, of the all-gather all 100 us. The call that launched the
    # first took 250 x 4 numbers of 2 bytes.
    call = {'Input Dims': [[250, 4]], 'Input type': ['c10::Half']}
    put('rank0.json', trace([kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 300, 30, stream=20),
                             kernel('ncclDevKernel_AllReduce_Sum_f32_RING_LL', 100, 100, stream=20,
                                    correlation=1),
                             event('nccl:all_reduce', 'user_annotation', 80, 9, **call),
                             event('cudaLaunchKernelExC', 'cuda_runtime', 82, 4, correlation=1),
                             kernel('ncclDevKernel_AllGather_RING_LL', 400, 100, stream=20),
                             kernel('gemm', 150, 20)], 0))
    merged('rank0.json')
    said = ' '.join(tmerge('query', '--help').expect(0).out.split())
    text = re.search('"(SELECT [^"]*)"', said).group(1)
    row, = ask('tmerge.h5', text)['rows']
    equal([row[key] for key in ('kind', 'ranks', 'exposed_ns', 'longest_rank', 'comm_ns', 'bytes',
                                'bytes_inferred')],
          ['allreduce', 1, 80000, 0, 100000, 2000, 1])
    equal(answer('tmerge.h5', "SELECT exposed_ns FROM events WHERE collective = 'allreduce' "
                 'ORDER BY 1'), [(30000,), (80000,)])
    equal(answer('tmerge.h5', 'SELECT count(*) FROM events WHERE exposed_ns IS NULL'), [(3,)])


def test_events_are_those_that_the_csv_export_writes():
    synth('job', ranks=8, ranks_per_host=4, steps=2, tp=2, offset_us=500, comms_id=True, seq=True)
    merged('job', '-o', 'job.h5')
    tmerge('export', 'job.h5', '--format=csv', '-o', 'job.csv').expect(0)
    columns = ('rank,host,track,device,stream,thread,category,role,step,begin_ns,duration_ns,name,'
               'collective,"group",operation,wait_ns,exposed_ns')
    asked = columns.replace('"group"', 'process_group')
    found = tmerge('query', 'job.h5', f'SELECT {asked} FROM events', '--csv').expect(0).out
    with open('job.csv', newline='', encoding='utf-8') as file:
        expected = list(csv.reader(file))
    found = list(csv.reader(io.StringIO(found, newline='')))
    holds(len(expected) > 10000, 'a small job')  # so many that the query runs again for each pass
    equal(found[1:], expected[1:])


def test_tables_are_those_that_show_prints_by_both_of_their_names():
    path = store('groups')
    every = list(tables(path).items())
    # An exported database has the same rows: see below.
    for place, (name, shown) in enumerate(every if FULL else every[:12]):
        columns = ', '.join(f'"{column}"' for column in shown[0]) if shown else '*'
        expected = [tuple(int(v) if isinstance(v, bool) else v for v in row.values())
                    for row in shown]
        spelling = f'"{name}"' if place % 2 else name.replace('.', '_')
        equal(answer(path, f'SELECT {columns} FROM {spelling}'), expected, spelling)
    listed = json.loads(tmerge('query', path, '--json').expect(0).out)['tables']['query.tables']
    equal([row['table'] for row in listed['rows']],
          ['events'] + [name.replace('.', '_') for name in tables(path)])


# Conditions by which events and tables are looked up; a + before the column prevents the lookup.
FOUND = [('events', c) for c in (
    '{}rank = 3', '{}rank IN (1, 5, 99)', '{}rank > 5.5', '{}rank <= 2 AND {}rank > 0', '{}rank = NULL',
    '{}rank > -1e300 AND {}rank < 1e300', '{}begin_ns >= {middle}', '{}begin_ns < {middle} AND {}rank = 2',
    '{}begin_ns BETWEEN {middle} AND {middle} + 1000000', '{}begin_ns >= {middle}.5', '{}event = 77',
    '{}event IN (5, 12000, 1000000)', '{}event > 9000 AND {}rank = 7', '{}rank > 5 AND {}rank < 5', '{}event = NULL',
    '{}begin_ns < NULL')] + [
        ('overlap_step', '{}rank = 3'), ('overlap_step', '{}rank > NULL'), ('overlap_step', '{}rank = 3 AND {}step >= 1'),
        ('overlap_step', '{}rank > 3 AND {}step = 1'), ('idle_gap', '{}rank = 1'),
        ('stragglers_rank', '{}rank >= 14')]


def test_what_is_found_by_a_key_is_what_looking_at_every_row_finds():
    path = store('groups')
    first, last = answer(path, 'SELECT min(begin_ns), max(begin_ns) FROM events')[0]
    by_key, by_look = (answers(path, [
        f'SELECT count(*), sum(rank) FROM {table} WHERE '
        + condition.replace('{middle}', str((first + last) // 2)).replace('{}', sign)
        for table, condition in FOUND]) for sign in ('', '+'))
    for (_, condition), one, other in zip(FOUND, by_key, by_look, strict=True):
        equal(one, other, condition)
    some = sum(count > 0 for count, _ in by_key)
    holds(some >= len(FOUND) - 7, f'{some} of {len(FOUND)} find anything')
    equal(answer(path, 'SELECT count(*) FROM (SELECT rank < lag(rank) OVER () AS back FROM '
                 '(SELECT rank FROM events ORDER BY rank)) WHERE back'), [(0,)])


def test_what_is_found_by_a_name_is_what_looking_at_every_row_finds():
    """A + before a name hides it from the index, so every row is read."""
    path = store('groups')
    name = answer(path, 'SELECT max(name) FROM "kernels.kernel"')[0][0]
    conditions = ((f"{{}}name = '{name}'", 1), ("{}name = 'none'", 0), ("{}name = ''", 0),
                  ('{}name = NULL', 0), ('{}name = 5', 0), (f"{{}}name = '{name[:-1]}'", 0),
                  (f"{{}}name = '{name}' || char(0) || 'x'", 0),
                  (f"{{}}name = '{name.upper()}' COLLATE NOCASE", 1),
                  (f"{{}}name IN ('{name}', 'none', '{name}')", 1))
    for sign in ('', '+'):
        found = answers(path, ['SELECT count(*) AS n FROM "kernels.kernel" WHERE '
                               + condition.format(sign) for condition, _ in conditions])
        for (condition, n), (count,) in zip(conditions, found, strict=True):
            equal(count, n, condition.format(sign))
    # Repeated names: overlap.kind has one row per rank, each joined with as many.
    for table, column in (('kernels.kernel', 'name'), ('overlap.kind', 'kind')):
        by_name, by_look = (answer(path, f'SELECT count(*), sum(b.rowid) FROM "{table}" a, "{table}" b '
                                         f'WHERE {sign}b.{column} = a.{column}') for sign in ('', '+'))
        equal(by_name, by_look, table)
        holds(by_name[0][0] > 0, table)


def test_one_rank_is_read_without_the_others():
    shutil.copy(store('long'), 'long.h5')
    os.chmod('long.h5', 0o600)
    with h5py.File('long.h5', 'r') as file:
        begin = file['events/begin_ns'].id
        holds(begin.get_num_chunks() > 1, 'one chunk')
        last = begin.get_chunk_info(begin.get_num_chunks() - 1)
    data = bytearray(content('long.h5'))
    data[last.byte_offset + last.size // 2] ^= 1
    put('long.h5', bytes(data))
    text = 'SELECT count(*) FROM events'
    tmerge('query', 'long.h5', text + ' WHERE rank = 0').expect(0)
    done = tmerge('query', 'long.h5', text).expect(3)
    holds('the store is damaged' in done.err, done.err)


ONLY_READS = ', but a query only reads the store'
# Rejected SQL with its message; status 2.
REFUSED = [
    ("ATTACH 'other.db' AS o", 'the statement would open another file' + ONLY_READS),
    ('PRAGMA query_only = 0', 'the statement would use a PRAGMA' + ONLY_READS),
    ("SELECT load_extension('x')", 'the statement would load an extension' + ONLY_READS),
    ('BEGIN', 'the statement would begin or end a transaction' + ONLY_READS),
    ('SAVEPOINT s', 'the statement would begin or end a transaction' + ONLY_READS),
    ('CREATE TEMP TABLE t(a)', 'the statement would do more than read' + ONLY_READS),
    ('DROP TABLE job_rank', 'the statement would do more than read' + ONLY_READS),
    ('INSERT INTO job_rank(rank) VALUES (1)',
     'the statement would do more than read' + ONLY_READS),
    ("SELECT * FROM pragma_table_info('events')",
     'the statement would do more than read' + ONLY_READS),
    ('DELETE FROM events', 'table events may not be modified'),
    ("VACUUM INTO 'other.db'", 'this is not a query: a query starts with SELECT, WITH or VALUES'),
    ('', 'this is not a query: a query starts with SELECT, WITH or VALUES'),
    ('SELECT 1; SELECT 2', 'there is more than one statement: give one at a time'),
    ("SELECT readfile('other')", "no such function: readfile; at character 8: readfile('other')"),
    ("SELECT 'a", 'unrecognized token: "\'a"; at character 8: \'a'),
    ('SELECT "é", rnak FROM job_rank', 'no such column: é; at character 8: "é", rnak FROM job_rank'),
    ('SELECT * FROM job.rnak',
     'no such table: job.rnak (did you mean job.rank?); tmerge query STORE lists them'),
    ('SELECT job.rnak FROM job.rank AS job', 'no such column: job.rnak; at character 8: job.rnak FROM job.rank A...'),
    ('SELECT * FROM "job.rnak"',
     'no such table: job.rnak (did you mean job.rank?); tmerge query STORE lists them'),
    ('SELECT zeroblob(2000000000)', 'string or blob too big'),
    ('SELECT sum(begin_ns) FROM events',
     'a sum exceeds 64 bits: use total(), which sums as reals, or sum(begin_ns - T) with a point in time T'),
]
ENDLESS = 'WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c) '


def test_it_refuses_to_write_to_read_other_files_and_to_take_all_there_is():
    path = store('two')
    put('other', 'secret')
    before = content(path)
    for text, message in REFUSED:
        tmerge('query', path, text).fails(2, message)
    tmerge('query', path, ENDLESS + 'SELECT count(*) FROM c', '--timeout=1').fails(
        2, 'the query takes more than 1 s of processor time; tmerge query --timeout allows more')
    tmerge('query', path, ENDLESS + 'SELECT hex(randomblob(9999)) r FROM c ORDER BY r',
           '--memory=40').fails(2, 'the query needs more than 40 MiB of memory; tmerge query --memory allows more')
    equal(files(), ['other'], 'files')
    holds(content(path) == before, 'the store has changed')
    tmerge('query', 'missing.h5', 'SELECT 1').expect(3)
    tmerge('query', 'other', 'SELECT 1').expect(3)


def test_one_process_answers_in_any_width_and_what_is_asked_is_no_file():
    path = store('two')
    text = 'SELECT * FROM overlap_rank -- ;'
    alone = tmerge('query', path, text).expect(0).out
    equal(tmerge('query', path, text, n=2).expect(0).out, alone)
    for width in (80, 120, 200):
        out = tmerge('query', path, text, env={'COLUMNS': width}).expect(0).out
        holds(max(map(len, out.splitlines())) <= width, out)
        holds(all(line.split()[0] in ('rank', '0', '1') for line in out.splitlines() if line), out)
    lacks(tmerge('query', path, "SELECT char(27) || 'x'").expect(0).out, '\033')


def test_both_names_of_a_table_are_known():
    """Also without quotes, which in SQL would name a table of another database; but not in a text
    or comment, or for a column."""
    path = store('two')
    n, = answer(path, 'SELECT count(*), min(idle_ns) FROM overlap_step')
    for text in ('SELECT count(*), min(idle_ns) FROM overlap.step', 'SELECT count(*), min(idle_ns) FROM "overlap.step"',
                 'select count(*), min(overlap.step.idle_ns) from job.job, (overlap.step) -- FROM job.rank',
                 'SELECT count(*), min(overlap.idle_ns) FROM job.job j JOIN overlap.step AS overlap'):
        equal(answer(path, text), [n], text)
    equal(answer(path, "SELECT 'FROM job.job' FROM job.job"), [('FROM job.job',)])
    equal(exported(path).execute('SELECT count(*), min(idle_ns) FROM "overlap.step"').fetchall(), [n])
    # The name of the last version for a column, which * leaves out.
    equal(answer(store('demo'), 'SELECT mend_ns = fix_ns, fix_ns > 0 FROM whatif.job'), [(1, 1)])
    lacks(tmerge('query', path, 'SELECT * FROM whatif.job').expect(0).out, 'mend')
    shown = tmerge('show', path, 'whatif.job', '--columns=mend_ns', '--csv').expect(0)
    equal((shown.out.split()[0], shown.err.count('whatif.job.mend_ns is now fix_ns')), ('fix_ns', 1))


def exported(path, *more):
    tmerge('export', path, '--format=sqlite', '-o', 'out.sqlite', *more).expect(0)
    return sqlite3.connect('out.sqlite')


@seldom
def test_an_exported_database_has_the_rows_that_a_query_gives():
    path = store('groups')
    database = exported(path)
    equal(database.execute('PRAGMA integrity_check').fetchall(), [('ok',)])
    made = {name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    shown = {name.replace('.', '_'): [tuple(row.values()) for row in rows]
             for name, rows in tables(path).items()}
    equal(made, set(shown) | {'events', 'tmerge_columns'})
    for name, rows in shown.items():
        equal(database.execute(f'SELECT * FROM {name}').fetchall(), rows, name)
    equal(database.execute('SELECT * FROM events').fetchall(), answer(path, 'SELECT * FROM events'))
    for name in made - {'tmerge_columns'}:
        columns = [row[1] for row in database.execute(f'PRAGMA table_info({name})')]
        reported = database.execute('SELECT "column" FROM tmerge_columns WHERE "table" = ?', (name,))
        equal([column for column, in reported], columns, name)
    for text in ('rank = 3 AND begin_ns > 7', "name = 'gemm'", 'event = 9'):
        plan = database.execute('EXPLAIN QUERY PLAN SELECT 1 FROM events WHERE ' + text).fetchall()
        holds(plan[0][3].startswith('SEARCH events'), plan)


def test_a_part_is_exported_as_the_csv_export_has_it_and_over_an_earlier_one():
    path = store('groups')
    part = ('--rank=2,3,9', '--from=0.01', '--to=0.02')
    tmerge('export', path, '--format=csv', '-o', 'part.csv', *part).expect(0)
    with open('part.csv', newline='', encoding='utf-8') as file:
        expected = [(int(row['rank']), row['name'], int(row['duration_ns']))
                    for row in csv.DictReader(file)]
    holds(len(expected) > 50, 'a small part')
    exported(path)
    database = exported(path, *part)
    equal(database.execute('SELECT rank, name, duration_ns FROM events').fetchall(), expected)
    put('other.sqlite', content('out.sqlite')[:68] + b'\0\0\0\0' + content('out.sqlite')[72:])
    tmerge('export', path, '--format=sqlite', '-o', 'other.sqlite').fails(
        4, 'other.sqlite: this file is not an earlier export of this format; --force overwrites it')


def test_a_database_that_cannot_be_written_whole_is_not_there():
    path = store('two')
    tmerge('export', path, '--format=sqlite', '-o', 'tmerge.sqlite', before=limited(100000)).fails(
        4, 'tmerge.sqlite: cannot be written: File too large')
    tmerge('export', path, '--format=sqlite', '-o', '-').fails(
        2, '--format sqlite writes a file, not standard output: leave out -o -')
    equal(files(), [])


if __name__ == '__main__':
    main()
