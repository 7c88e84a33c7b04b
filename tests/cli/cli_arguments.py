"""Options and operands, output streams and exit status, and colours."""
import concurrent.futures
import os
import re
import subprocess
import tempfile
import threading
import time

import jobs
from common import (COMMANDS, FULL, TMERGE, command, contains, content, equal, files, gzipped,
                    has_line, holds, in_turn, kernel, lacks, launcher, main, merged, put, run,
                    small_trace, tables, tmerge, trace)
from watching import on_terminal

ESCAPE = '\033['
NAMES = '; tmerge list lists them'

# Arguments, and the only message that they give, with status 2.
WRONG = [(arguments.split(), message) for arguments, message in [
    ('show x.h5 --colums=rank',
     '--colums=rank is not an option of tmerge show (did you mean --columns?); see tmerge show --help'),
    *((arguments, f'{option} is not an option of tmerge {of}; see tmerge {of} --help')
      for arguments, option, of in (
          ('--bogus x.json', '--bogus', 'merge'), ('x.json -z', '-z', 'merge'),
          ('merge --json x.json', '--json', 'merge'), ('show x.h5 --force', '--force', 'show'),
          ('check x.h5 --json', '--json', 'check'), ('list --json', '--json', 'list'),
          ('analyze x.h5 --skip-bad', '--skip-bad', 'analyze'),
          ('diff a.h5 b.h5 --rank=1', '--rank=1', 'diff'))),
    *((arguments, f'tmerge {arguments.split()[0]} needs {what}; see --help')
      for arguments, what in (
          ('merge', 'traces'), ('show', 'a store'), ('analyze', 'one store'),
          ('analyze a.h5 b.h5', 'one store'), ('check', 'a store'), ('diff', 'two stores'),
          ('diff a.h5', 'two stores'), ('diff a.h5 b.h5 c.h5', 'two stores'),
          ('trend a.h5', 'two stores or more'),
          ('query', 'a store and a statement, in quotes'),
          ('query a.h5 SELECT 1', 'a store and a statement, in quotes'))),
    ('--skip-bad', 'tmerge merge needs traces; see --help'),
    ('x.json -o', '--output needs a value: FILE.h5'),
    ('x.json --output', '--output needs a value: FILE.h5'),
    ('x.json --rank-map', '--rank-map needs a value: FILE'),
    ('x.json --force=yes', '--force takes no value'),
    ('x.json --color=maybe', "--color takes auto, always or never, not 'maybe'"),
    ('x.json --color=', "--color takes auto, always or never, not ''"),
    ('diff a.h5 b.h5 --color=no', "--color takes auto, always or never, not 'no'"),
    ('analyze x.h5 --align=best', "--align takes auto, utc or none, not 'best'"),
    *((arguments + ' --json --csv', '--json and --csv exclude each other')
      for arguments in ('show x.h5', 'trend a.h5 b.h5', 'query a.h5 SELECT')),
    *((arguments + ' --json --csv-dir=x', '--json and --csv-dir exclude each other')
      for arguments in ('diff a.h5 b.h5', 'whatif a.h5')),
    *((f'show x.h5 {option}={value}', f"{option} takes {what}, not '{value}'")
      for option, what, values in (
          ('--rank', 'a list such as 0,3,8-15', ('5-3', '', '1,', '-1')),
          ('--step', 'a list such as 0,3,8-15', ('all', '1-')),
          ('--top', 'one number', ('x', '1-3', '1,3', '-1'))) for value in values),
    ('diff a.h5 b.h5 --top 1,3', "--top takes one number, not '1,3'"),
    *((f'show x.h5 {name}', f"'{name}' is neither an analysis nor a table{near}" + NAMES)
      for name, near in (
          ('nothing', ''), ('overlap.', ' (did you mean overlap?)'),
          ('overlpa', ' (did you mean overlap?)'), ('over', ' (did you mean overlap?)'),
          ('kernels.kernl', ' (did you mean kernels.kernel?)'))),
    ('list overlpa', "'overlpa' is not an analysis, table, TABLE.COLUMN or format (did you mean overlap?)" + NAMES),
    ('list overlap.rank.idel_ns', "overlap.rank has no column 'idel_ns' (did you mean idle_ns?); tmerge list overlap.rank lists them"),
    ('show x.h5 overlap.rank.idle_ns', 'overlap.rank.idle_ns is a column: overlap.rank --columns idle_ns shows it, and '
     'tmerge list overlap.rank.idle_ns explains it'),
    ('list overlap --doc', '--doc prints every table; with a name it is not needed'),
    ('show x.h5 job --all', "--all prints every table: 'job' cannot be given too"),
    ('show x.h5 --columns rank,,step',
     "--columns takes names of columns such as rank,wait_ns, not 'rank,,step'"),
    ('show x.h5 --sort=-', '--sort takes a column, or -COLUMN for the largest first'),
    ('query a.h5 SELECT --timeout=0', '--timeout takes a number from 1 to 16777216'),
    ('gate a.h5 b.h5', 'tmerge gate needs a limit, such as --max step=+2%'),
    ('gate a.h5 b.h5 --max step=2%',
     "'step=2%' is not a limit such as step=+2%: give a figure (step, compute, comm, exposed, idle, wait, "
     'input, utilization, memory, samples or tokens), = and the percentage by which it may change'),
]] + [(['show', 'x.h5', '--rank', '0 1'], "--rank takes a list such as 0,3,8-15, not '0 1'")] + [
    (['show', 'x.h5', '--where', where], f'--where, character {message}') for where, message in (
        ('', '1: a column is expected, such as in "rank = 3 and wait_ns > 2ms"'),
        ('rank', '5: one of = != < <= > >= ~ is expected'),
        ('rank !', '6: one of = != < <= > >= ~ is expected'),
        ('rank >= ', '9: a value is expected'),
        ('rank=3 xor step=4', '8: "and" or "or" is expected; a value with blanks needs quotes'),
        ('rank=3 and ', '12: a column is expected, such as in "rank = 3 and wait_ns > 2ms"'),
        ("name = 'a b", '8: this quote has no end'))]


def both_statuses(*arguments):
    """Returns the exit status of each of two processes of an mpirun."""
    folder = tempfile.mkdtemp(dir='.')
    script = '"$@"; echo $? >$0.$OMPI_COMM_WORLD_RANK'
    run(launcher(2) + ['sh', '-c', script, f'{folder}/status', *command(*arguments)])
    return [int(content(f'{folder}/status.{i}')) for i in range(2)]


def test_no_arguments_print_what_help_prints_on_standard_error_and_give_2():
    done = tmerge().expect(2)
    equal(done.out, '')
    contains(done.err, '\n  tmerge profile_rank_*\n')
    equal(re.findall(r'\n  tmerge (\w+) ', done.err), COMMANDS)
    for option in ('--help', '-h', 'help', ['help', 'help']):
        asked = tmerge(*([option] if isinstance(option, str) else option), page=True).expect(0)
        equal((asked.out, asked.err), (done.err, ''))


def test_every_command_of_the_list_has_help_that_names_each_option_once():
    for name in COMMANDS:
        wide = tmerge(name, '--help', env={'COLUMNS': '300'}).expect(0).out
        holds(re.match(rf'tmerge {name} [^\n]+\n\n[A-Z][^\n]+\.\n(?:\S[^\n]+\n|  [^\n]+\n)*\n', wide), wide)
        done = tmerge(name, '--help').expect(0)
        equal((done.err, tmerge('help', name, page=True).expect(0).out), ('', done.out))
        rows = re.findall(r'^  (?:-(\w), |    )--([a-z-]+) +(?:[A-Z.,a-z0-9]+ +)?\S', done.out, re.M)
        # Continued option texts are aligned with their first line.
        begins = [line for line in done.out.split('\n\n')[2].splitlines() if line.startswith(('  -', '      --'))]
        equal(len(rows), len(begins), 'rows of options')
        holds(max(map(len, done.out.splitlines())) <= 80, done.out)
        equal(done.out.split(), wide.split(), 'words at another width')
        for names in zip(*rows):
            given = [x for x in names if x]
            equal(len(given), len(set(given)), f'names of options of {name}')
        equal(rows[-1], ('', 'help'))
        tmerge(name, '--bogus').fails(2, f'--bogus is not an option of tmerge {name}; see tmerge {name} --help')


def test_lists_keep_to_the_width_of_the_terminal():
    for arguments in (['--help'], ['list'], ['list', 'overlap', 'kineto', 'perfetto'], ['list', '--doc']):
        shown = []
        for width in (80, 120, 200):
            text = tmerge(*arguments, env={'COLUMNS': str(width)}).expect(0).out
            for line in text.splitlines():
                holds(len(line) <= width, f'{arguments} at {width}: {line}')
            shown.append(text.split())
        holds(shown[0] == shown[1] == shown[2], f'{arguments}: not the same words')


def test_a_message_is_one_line_that_a_terminal_breaks():
    put('rank0.json', small_trace(0))
    wrong = ['rank0.json', '--peak=x']
    line, = tmerge(*wrong).expect(2).err.splitlines()
    for width in (80, 120):
        lines = on_terminal(['sh', '-c', '"$@"; true', 'sh', TMERGE, *wrong],
                            {'COLUMNS': str(width)}).splitlines()
        holds(len(lines) > 1 and max(map(len, lines)) <= width, lines)
        equal(' '.join(lines).split(), line.split())


def test_help_of_what_is_no_command_is_refused():
    equal(tmerge('missing.json', '--bogus', '--help').expect(0).out, tmerge('merge', '--help').out)
    tmerge('help', 'shwo', page=True).fails(2, "'shwo' is not a command (did you mean show?); tmerge help lists them")
    tmerge('help', 'show', 'list', page=True).fails(2, 'tmerge help takes one command')
    equal(tmerge('-V', page=True).expect(0).out, tmerge('--version').out)


NO_FILE = ', nor a file or folder of that name; tmerge help lists the commands'


def test_a_mistyped_command_is_no_trace_but_a_file_of_its_name_is():
    for n in (None, 2):
        tmerge('shwo', 'x.h5', page=True, n=n).fails(
            2, "no such command: 'shwo' (did you mean tmerge show?)" + NO_FILE)
    tmerge('frobnicate', page=True).fails(2, "no such command: 'frobnicate'" + NO_FILE)
    put('shwo', small_trace(0))
    tmerge('shwo').expect(0)
    os.mkdir('frobnicate')
    put('frobnicate/rank0.json', small_trace(0))
    tmerge('frobnicate').expect(0)


def test_of_stores_alone_it_is_said_what_can_be_done():
    put('rank0.json', small_trace(0))
    merged('rank0.json', '-o', 'a.h5')
    merged('rank0.json', '-o', 'b.h5')
    done = tmerge('a.h5', page=True).expect(2)
    equal(done.out, '')
    contains(done.err, 'a.h5 is a store')
    contains(tmerge('a.h5', page=True, n=2).expect(2).err, done.err)
    for line in re.findall(r'^  tmerge (.*?)  #', done.err, re.M):
        tmerge(*line.split()).expect(0)
    # If a description does not fit next to its command, it is put above.
    for line in tmerge('a.h5', page=True, env={'COLUMNS': '40'}).expect(2).err.splitlines()[1:]:
        holds(re.match('  (#|tmerge .*[^ ]$)', line) and '  #' not in line[2:], line)
    equal(re.findall(r'^  tmerge (\w+) a.h5', done.err, re.M),
          ['show', 'report', 'whatif', 'export', 'analyze', 'check'])
    contains(tmerge('a.h5', 'b.h5', page=True).expect(2).err, '  tmerge diff a.h5 b.h5  #')
    contains(tmerge('a.h5', 'rank0.json').expect(0).err, 'a.h5')  # ignored, as usual


def test_version_is_one_line_and_what_is_built_in():
    done = tmerge('--version').expect(0)
    lines = done.out.splitlines()
    holds(re.fullmatch(r'tmerge \d+\.\d+\.\d+', lines[0]), done.out)
    holds(re.fullmatch(r'MPI: (Open MPI v|MPICH).*\d', lines[1]), done.out)
    page = {'ON': 'built in', 'OFF': 'left out (TMERGE_REPORT=OFF)'}[os.environ['TMERGE_REPORT']]
    equal(lines[2:], ['SQLite, for Nsight Systems: built in', f'report page: {page}'])
    equal(done.err, '')


def test_wrong_arguments_get_one_message_and_status_2():
    for arguments, message in WRONG:
        done = tmerge(*arguments).fails(2, message)
        equal(done.err, f'tmerge: {message}\n', 'standard error')
    equal(files(), [], 'files left')


def test_a_wrong_regular_expression_is_a_wrong_argument():
    put('rank0.json', small_trace(0))
    done = tmerge('rank0.json', '--comm-pattern', '(')
    equal(len(done.expect(2).errors), 1)
    holds(done.errors[0].startswith("tmerge: '(' is not a regular expression: "), done.err)
    equal(files(), ['rank0.json'])


def test_under_mpirun_wrong_arguments_get_one_message_too():
    for arguments, message in WRONG[::30] if FULL else WRONG[:1]:
        tmerge(*arguments, n=2).fails(2, message)
    equal(tmerge('--version', n=2).expect(0).out, tmerge('--version').out)


def test_under_mpirun_every_process_leaves_with_the_same_status():
    store = jobs.store('two')
    cases = [(2, WRONG[0][0]), (2, ['show', store, 'nothing']), (3, ['show', 'missing.h5']),
             (0, ['check', store]), (3, ['diff', store, 'missing.h5'])]
    if FULL:
        cases += [(2, ['list', 'x']), (3, ['check', 'missing.h5']), (2, ['diff', store]),
                  (0, ['diff', store, store]), (0, ['show', store])]
    # A process waits seconds for the first one to report: these runs wait in parallel.
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        found = pool.map(lambda case: both_statuses(*case[1]), cases)
        equal(list(found), [[status, status] for status, _ in cases])


def test_options_may_stand_anywhere_and_be_joined_to_their_values():
    put('rank0.json', small_trace(0))
    for output, arguments in (('a.h5', ['rank0.json', '-o', 'a.h5']),
                              ('b.h5', ['-ob.h5', 'rank0.json']),
                              ('c.h5', ['merge', '--output=c.h5', 'rank0.json']),
                              ('d.h5', ['--output', 'd.h5', '--', 'rank0.json']),
                              ('f.h5', ['-o', 'e.h5', 'rank0.json', '-o', 'f.h5'])):
        contains(merged(*arguments).out, f'Stored in {output};')
        holds(os.path.exists(output), f'{output} is missing')
    holds(not os.path.exists('e.h5'), 'the last -o does not count')


def test_operands_may_look_like_options_and_commands():
    put('-o', small_trace(0))
    tmerge('-o').fails(2, '--output needs a value: FILE.h5')
    merged('--', '-o')
    equal(tables('tmerge.h5', 'job.rank')['job.rank'][0]['source'], '-o')
    os.rename('-o', 'show')
    merged('merge', 'show')
    contains(tmerge('show', 'tmerge.h5', 'job.rank', '--csv').expect(0).out, ',show,kineto,')


def test_list_names_every_table_and_doc_defines_every_column():
    store = jobs.store('two')
    listed = re.findall(r'^    (\w+\.\w+|events) ', tmerge('list').expect(0).out, re.M)
    stored = [name for name in listed if not name.startswith(('diff.', 'events'))]
    equal(sorted(stored), sorted(tables(store)))
    tmerge('show', store, '--csv-dir=all', *stored).expect(0)
    tmerge('diff', store, store, '--csv-dir=all').expect(0)
    shown = ''.join(content('all/' + name).decode() for name in os.listdir('all'))
    for arguments in (['gate', store, '--max=step=+2%'], ['trend', store],
                      ['query', 'SELECT * FROM events']):
        shown += tmerge(arguments[0], store, *arguments[1:], '--csv').out
    doc = tmerge('list', '--doc').expect(0).out
    for table in doc.split('\n\n'):
        lines = table.splitlines()
        holds(lines[0] in listed, lines[0])
        columns = re.findall(r'^    (\w+) +(?:int|real|text|bool)\b', table, re.M)
        contains(shown, ','.join(columns))
    equal(len(doc.split('\n\n')), len(listed))


def test_nothing_is_coloured_into_a_pipe_or_a_file_also_under_mpirun():
    put('rank0.json', small_trace(0, world=4))
    lacks(tmerge('show', jobs.store('two')).expect(0).out, ESCAPE)
    for n in (0, 2):
        with open('out.txt', 'w', encoding='utf-8') as out:
            subprocess.run(launcher(n) + command('rank0.json'), stdout=out, check=True,
                           stdin=subprocess.DEVNULL)
        for text in (content('out.txt').decode(), merged('rank0.json', n=n).out):
            contains(text, '1 rank on 1 host')
            lacks(text, ESCAPE)


def test_color_always_and_never_decide_over_no_color():
    put('rank0.json', small_trace(0))
    store = jobs.store('two')
    for arguments in (['rank0.json'], ['show', store, 'job.rank'], ['diff', store, store]):
        plain = merged(*arguments, '--color=never', env={'NO_COLOR': '1'}).out
        coloured = merged(*arguments, '--color=always', env={'NO_COLOR': '1'}).out
        contains(coloured, ESCAPE + '1m')
        equal(re.sub(r'\033\[\d*m', '', coloured), plain, 'text without colours')
        equal(merged(*arguments, '--color', 'auto').out, plain)
    for form in ('--json', '--csv'):
        lacks(tmerge('show', store, 'job.rank', form, '--color=always').expect(0).out, ESCAPE)


def test_a_terminal_gets_colours_unless_they_are_turned_off():
    """Under mpirun the launcher's terminal decides."""
    put('rank0.json', small_trace(0))
    show = [TMERGE, 'show', jobs.store('two'), 'job.job']
    contains(on_terminal(show, {'NO_COLOR': ''}), ESCAPE)  # an empty value does not count
    for arguments in (show, launcher(2) + command('rank0.json')):
        contains(on_terminal(arguments), ESCAPE + '1m')
        lacks(on_terminal(arguments, {'NO_COLOR': '1'}), ESCAPE)
    lacks(on_terminal(show + ['--color=never']), ESCAPE)


def slowly(path, content, seconds):
    """Makes a pipe that delivers content after a delay."""
    os.mkfifo(path)

    def give():
        with open(path, 'wb') as pipe:
            time.sleep(seconds)
            pipe.write(content)
    threading.Thread(target=give, daemon=True).start()


def test_what_a_long_run_is_at_is_shown():
    # On a terminal the line overwrites itself and is removed before the summary; elsewhere each is
    # a separate line without control characters, starting after a second.
    put('rank0.json', small_trace(0))
    slowly('list', b'rank0.json', 2.5)
    seen = on_terminal(command('@list', '--color=never'))
    contains(seen, 'reading ...\r')
    holds(re.search(r'reading \.\.\. \d+ s\r', seen), seen)
    before = seen[:seen.index('1 rank on 1 host')]
    holds(re.search('\r *\r$', before), repr(before))
    slowly('list2', b'rank0.json', 2.5)
    done = tmerge('@list2', '--progress=always', n=2).expect(0)
    for said in re.findall(r'reading \.\.\..*', done.err) or [done.err]:
        holds(re.fullmatch(r'reading \.\.\. ([2-9]|\d\d+) s', said), done.err)
    has_line(done.err, r'^analysing \[={20}\] 100 %, 2 of 2 events, ')
    equal(re.findall('[^\n -~]', done.err), [])


def test_times_tells_the_phases_and_the_memory_on_standard_error():
    # Process 0, which has the trace, needs more memory than the other.
    put('rank0.json', trace([kernel('gemm', i, 1) for i in range(30000)]))
    for n in in_turn(0, 2):
        done = tmerge('rank0.json', '--times', n=n).expect(0)
        line, = (line for line in done.err.splitlines() if line.startswith('tmerge: times: '))
        found = dict((name, float(s)) for name, s in re.findall(r'(\w+) (\d+\.\d{3}) s', line))
        whole = found.pop('whole')
        equal(sorted(found), ['analysing', 'clocks', 'matching', 'names', 'reading', 'replaying',
                              'starting', 'waits', 'writing'])
        holds(abs(sum(found.values()) - whole) < 0.01, line)
        host = re.escape(os.uname().nodename)
        peaks = re.search(rf'; peak memory (\d+) MiB( in process ([01]) of 2 on {host}, least (\d+) MiB '
                          rf'in process ([01]) on {host})?$', line).groups()
        holds(5 < int(peaks[0]) < 1000 and bool(peaks[1]) == (n > 0), line)
        holds(not n or (peaks[2], peaks[4]) == ('0', '1') and int(peaks[3]) < int(peaks[0]), line)
    lacks(tmerge('analyze', 'tmerge.h5').expect(0).err, 'times:')
    contains(tmerge('analyze', 'tmerge.h5', '--times').expect(0).err, 'times: starting')


def test_a_full_standard_output_gives_4():
    put('rank0.json.gz', gzipped(small_trace(0)))
    store = jobs.store('two')
    for words in (['list'], ['show', store, '--json'], ['check', store], ['--version'],
                  ['diff', store, store], ['rank0.json.gz']):
        with open('/dev/full', 'w') as full:
            done = subprocess.run(command(*words), stdout=full, stderr=subprocess.PIPE, check=False)
        equal((done.returncode, done.stderr.decode()),
              (4, 'tmerge: standard output could not be written\n'), ' '.join(words))


main()
