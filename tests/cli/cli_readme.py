"""Promises of the README and the documents: examples print what is shown, their Python runs on a
store, their options exist, and their links resolve."""
import glob
import json
import os
import re
import shutil
import sys

import jobs
from common import SOURCE, SYNTH, TMERGE, contains, equal, holds, main, put, run, tests_of, tmerge
import h5py

os.environ['PATH'] = f'{os.path.dirname(TMERGE)}:{os.environ["PATH"]}'
PAGES = sorted(os.path.relpath(path, SOURCE) for folder in ('', 'docs', 'src', 'tests')
               for path in glob.glob(os.path.join(SOURCE, folder, '*.md')))
COMMAND = re.compile(r'(?:^|[\s;&|(])(tmerge(?:-synth)?)(?=\s|$)')


def page(name):
    with open(os.path.join(SOURCE, name), encoding='utf-8') as file:
        return file.read()


def blocks(text, language):
    """Returns the fenced blocks of a language, without the indentation of their fence."""
    found = re.findall(r'^([ \t]*)```' + language + r'[ \t]*\n(.*?)^[ \t]*```[ \t]*$', text,
                       re.M | re.S)
    return [re.sub('^' + indent, '', body, flags=re.M) for indent, body in found]


def command_lines(text):
    """Returns (program, arguments as one text) of every tmerge call in fenced blocks and between
    backquotes."""
    fenced = re.findall(r'^[ \t]*```[^\n]*\n(.*?)^[ \t]*```[ \t]*$', text, re.M | re.S)
    indented = re.findall(r'(?:^(?: {4}|\t)[^\n]*\n)+', text, re.M)
    spans = re.findall(r'`([^`\n]+)`', re.sub(r'```.*?```', '', text, flags=re.S))
    lines = [line for block in fenced + indented
             for line in re.sub(r'\\\n', ' ', block).splitlines()] + spans
    found = []
    for line in lines:
        line = re.sub(r'(^|\s)#.*', '', line)
        for part in re.split(r'[;&|]+', line):
            match = COMMAND.search(part)
            if match:
                found.append((match.group(1), part[match.end():]))
    return found


def options_in(arguments):
    return re.findall(r'(?<![\w-])--([a-z][a-z-]*)', arguments)


def unknown_options(text):
    """Returns the options that a text shows but no command has."""
    commands = re.findall(r'^  tmerge (\w+) ', tmerge('--help').expect(0).out, re.M)
    known = {name: set(options_in(tmerge(name, '--help').expect(0).out)) for name in commands}
    general = {'help', 'version', 'plugin-path'}
    unknown = []
    for program, arguments in command_lines(text):
        first = arguments.split()[0] if arguments.split() else ''
        if program == 'tmerge-synth':
            allowed = set(options_in(run([SYNTH, '--help']).expect(0).out))
        else:
            allowed = known[first if first in known else 'merge'] | general
        unknown += [f'{program} {first} --{option}' for option in options_in(arguments)
                    if option not in allowed]
    return unknown


def run_blocks(found):
    """Runs Python blocks one after another, as a reader would; a package that is not installed and
    only registers the filter is replaced by a stub, as the plugin is found without it."""
    program = ['import sys', 'try:', '    import hdf5plugin', 'except ImportError:',
               '    import types', "    sys.modules['hdf5plugin'] = types.ModuleType('hdf5plugin')",
               'names = {"__name__": "__main__"}']
    for i, block in enumerate(found):
        put(f'block{i}.py', block)
        program.append(f'exec(compile(open("block{i}.py").read(), "block {i + 1}", "exec"), names)')
    put('all.py', '\n'.join(program) + '\n')
    return run([sys.executable, 'all.py'], env={'MPLBACKEND': 'Agg'})


def examples(text):
    """Returns (command, its output or '') for each `$ ` line of a console block, and for each table
    row that ends in a tmerge call."""
    shown = [example for block in blocks(text, 'console')
             for example in re.findall(r'^\$ (.*)\n((?:(?!\$ ).*\n)*)', block, re.M)]
    return [(command, '') for command in re.findall(r'\| `(tmerge [^`]*)` \|$', text, re.M)] + shown


def check_example(command, output):
    """`...` matches the rest of a line, or any lines."""
    done = run(['bash', '-c', command])
    pattern = re.escape(output).replace(r'\.\.\.' + '\\\n', r'[^\n]*\n(?:.*\n)*?')
    holds(done.status == 0 and re.fullmatch(pattern or '(?s).*', done.out),
          f'{command}: status {done.status}\n{done.out}{done.err}expected\n{output}')


def fill_folder():
    """Makes the files that the examples use: the demo's job, the same without its slow rank as
    before.h5, and dumps of four ranks, of which rank 2 arrived at one of two operations."""
    jobs.use('demo')
    for trace in glob.glob('job/profile_rank_*'):
        os.symlink(trace, os.path.basename(trace))
    shutil.copy(jobs.store('demo'), 'tmerge.h5')
    shutil.copy(jobs.store('healthy'), 'before.h5')
    for rank in range(4):
        entries = [{'record_id': seq, 'process_group': ['0', 'default_pg'], 'collective_seq_id': seq,
                    'p2p_seq_id': 0, 'profiling_name': 'nccl:all_reduce', 'is_p2p': False,
                    'time_created_ns': seq * 10**9, 'input_sizes': [[4]], 'output_sizes': [[4]],
                    'input_dtypes': ['Float'], 'output_dtypes': ['Float'], 'retired': seq == 1,
                    'state': 'completed' if seq == 1 else 'scheduled', 'frames': [], 'timeout_ms': 600000}
                   for seq in range(1, 2 if rank == 2 else 3)]
        put(f'trace_rank_{rank}', json.dumps({'version': '2.10', 'pg_status': {}, 'entries': entries,
            'pg_config': {'0': {'name': '0', 'desc': 'default_pg', 'ranks': '[0, 1, 2, 3]'}}}))


def check_page(name):
    fill_folder()
    for command, output in examples(page(name)):
        if 'html' not in command or os.environ.get('TMERGE_REPORT') != 'OFF':
            check_example(command, output)
    run_blocks(blocks(page(name), 'python')).expect(0)


globals().update(tests_of({name.replace('/', ' '): (name,) for name in PAGES
                           if examples(page(name)) or blocks(page(name), 'python')},
                          check_page, 'examples_run_of_'))


def anchor(heading):
    """Returns GitHub's anchor for a heading."""
    return re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')


def test_every_link_leads_somewhere():
    for name in PAGES:
        for link in re.findall(r'\]\((?!https?:)([^)\s]+)\)', page(name)):
            path, _, part = link.partition('#')
            target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            holds(os.path.exists(os.path.join(SOURCE, target)), f'{name}: {link}')
            holds(not part or part in map(anchor, re.findall(r'^#+ (.*)', page(target), re.M)), f'{name}: {link}')


def test_the_store_has_the_columns_that_are_specified():
    types = {'<i8': 'i64', '<i4': 'i32', '<u4': 'u32', '|u1': 'u8', '<f8': 'f64', '<f4': 'f32', '|b1': 'bool'}
    for table, text in re.findall(r'^### /(\w+)\n(.*?)(?=^##)', page('docs/store.md'), re.M | re.S):
        columns = re.findall(r'^\| `(\w+)` \| (\w+) \| (\S*) *\|', text, re.M)
        with h5py.File(jobs.store('plain')) as store:
            found = [(name, 'enum' if h5py.check_enum_dtype(data.dtype) else types[data.dtype.str],
                      data.attrs['unit']) for name, data in store[table].items()
                     if not name.startswith('n_') or name in dict(c[:2] for c in columns)]
        equal(sorted(columns), found, table)


def test_the_readme_is_short():
    text = page('README.md')
    holds(text.count('\n') <= 150 and len(text.split()) <= 1500, f'{len(text.split())} words')


def test_every_option_that_is_shown_exists():
    text = '\n'.join(map(page, PAGES))
    holds(len(command_lines(text)) > 2, 'the pages show no command')
    equal(unknown_options(text), [])


def test_every_table_that_answers_a_feature_of_another_tool_exists():
    rows = re.findall(r'\| `tmerge (?:show tmerge.h5|list) ([\w. ]+)`', page('docs/compared.md'))
    tmerge('list', *sorted({name for row in rows for name in row.split()})).expect(0)


def test_what_is_wrong_would_be_found():
    text = ('```sh\ntmerge show tmerge.h5 \\\n  --bogus\ntmerge --version; tmerge list --nothing\n```\n'
            '    mpirun --other tmerge job/* --skip-bad  # --no\n`tmerge show --force`, `--wrong`')
    equal(unknown_options(text), ['tmerge show --bogus', 'tmerge list --nothing',
                                  'tmerge show --force'])
    contains(run_blocks(['n = 1\n', '1 / (n - 1)\n']).expect(1).err, 'File "block 2", line 1')


main()
