"""What the README promises: its Python runs on a store, and its options exist."""
import os
import re
import shutil
import sys

import jobs
from common import SOURCE, SYNTH, Skip, contains, equal, holds, main, put, run, tmerge

COMMAND = re.compile(r'(?:^|[\s;&|(])(tmerge(?:-synth)?)(?=\s|$)')


def readme():
    path = os.path.join(SOURCE, 'README.md')
    if not os.path.exists(path):
        raise Skip('there is no README.md yet')
    with open(path, encoding='utf-8') as file:
        return file.read()


def blocks(text, language):
    """The fenced blocks of a language, without the indentation of their fence."""
    found = re.findall(r'^([ \t]*)```' + language + r'[ \t]*\n(.*?)^[ \t]*```[ \t]*$', text,
                       re.M | re.S)
    return [re.sub('^' + indent, '', body, flags=re.M) for indent, body in found]


def command_lines(text):
    """(program, its arguments as one text) of every call of tmerge that the text shows, in fenced
    blocks and between backquotes."""
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
    """The options that a text shows and no command has."""
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
    """Runs Python blocks one after another, as a reader does who types them; a package that is not
    installed and only registers the filter is stood in for, as the plugin is found without it."""
    program = ['import sys', 'try:', '    import hdf5plugin', 'except ImportError:',
               '    import types', "    sys.modules['hdf5plugin'] = types.ModuleType('hdf5plugin')",
               'names = {"__name__": "__main__"}']
    for i, block in enumerate(found):
        put(f'block{i}.py', block)
        program.append(f'exec(compile(open("block{i}.py").read(), "block {i + 1}", "exec"), names)')
    put('all.py', '\n'.join(program) + '\n')
    return run([sys.executable, 'all.py'], env={'MPLBACKEND': 'Agg'})


def test_every_python_block_runs_on_a_store():
    found = blocks(readme(), 'python')
    holds(found, 'the README shows no Python')
    shutil.copy(jobs.store('plain'), 'tmerge.h5')
    run_blocks(found).expect(0)


def test_every_option_that_is_shown_exists():
    text = readme()
    holds(len(command_lines(text)) > 2, 'the README shows no command')
    equal(unknown_options(text), [])


def test_what_is_wrong_would_be_found():
    text = ('```sh\ntmerge show tmerge.h5 \\\n  --bogus\ntmerge --version; tmerge list --nothing\n```\n'
            '    mpirun --other tmerge job/* --skip-bad  # --no\n`tmerge show --force`, `--wrong`')
    equal(unknown_options(text), ['tmerge show --bogus', 'tmerge list --nothing',
                                  'tmerge show --force'])
    contains(run_blocks(['n = 1\n', '1 / (n - 1)\n']).expect(1).err, 'File "block 2", line 1')


main()
