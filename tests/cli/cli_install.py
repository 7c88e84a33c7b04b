"""Installation into a prefix and as a Debian package: programs, the HDF5 plugin, the manual and the
completions. TMERGE_BUILD is the build folder, TMERGE_CMAKE is cmake."""
import glob
import os
import pty
import re
import select
import shutil
import sys
import time

from common import (COMMANDS, Skip, contains, equal, has_line, holds, lacks, main, put, run,
                    seldom, synth, tmerge)

BUILD = os.environ.get('TMERGE_BUILD', '')
CMAKE = os.environ.get('TMERGE_CMAKE', 'cmake')
READ = ('import h5py, sys\n'
        'events = h5py.File(sys.argv[1])["events/begin_ns"]\n'
        'print(events.compression or events._filters, len(events[:]))\n')


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f'there is no {program}')


def installed():
    """Returns the prefix made by cmake --install, moved to a place unknown to the build."""
    run([CMAKE, '--install', BUILD, '--prefix', os.path.abspath('first')]).expect(0)
    os.rename('first', 'moved')
    return os.path.abspath('moved')


def made(name):
    return os.path.join(BUILD, 'made', name)


def test_an_installed_tmerge_merges_and_its_plugin_reads_the_store():
    prefix = installed()
    for name in ('bin/tmerge', 'bin/tmerge-synth', 'share/man/man1/tmerge.1',
                 'share/man/man1/tmerge-synth.1', 'share/bash-completion/completions/tmerge',
                 'share/zsh/site-functions/_tmerge', 'share/doc/tmerge/README.md',
                 'share/doc/tmerge/LICENSE', 'share/doc/tmerge/docs/questions.md'):
        holds(os.path.exists(os.path.join(prefix, name)), name)
    for name in glob.glob(f'{prefix}/bin/*') + glob.glob(f'{prefix}/**/*.so', recursive=True):
        lacks(run(['readelf', '-d', name]).expect(0).out, BUILD)
    program, clean = f'{prefix}/bin/tmerge', {'HDF5_PLUGIN_PATH': '/nowhere'}
    synth('job', ranks=2, steps=2)
    run([program, 'job', '--no-html'], env=clean).expect(0)
    folder = run([program, '--plugin-path'], env=clean).expect(0).out.strip()
    holds(folder.startswith(prefix + '/lib'), folder)
    count = int(run([program, 'query', 'tmerge.h5', 'SELECT count(*) FROM events', '--csv']).out.split()[-1])
    # Without the plugin the same fails, so the store is not read in another way.
    holds(run([sys.executable, '-c', READ, 'tmerge.h5'], env=clean).status != 0, 'needs no plugin')
    done = run([sys.executable, '-c', READ, 'tmerge.h5'], env={'HDF5_PLUGIN_PATH': folder})
    equal(int(done.expect(0).out.split()[-1]), count, 'events')
    os.remove(f'{folder}/libh5zstd_tmerge.so')
    run([program, '--plugin-path']).fails(3, f'{folder}: the HDF5 plugin is missing')


def test_each_option_is_in_the_manual_and_the_completions_of_its_command():
    with open(made('tmerge.1'), encoding='utf-8') as file:
        sections = dict(re.findall(r'^\.Ss tmerge (\w+)\n(.*?)(?=^\.S[sh] )', file.read(), re.M | re.S))
    with open(made('tmerge'), encoding='utf-8') as file:
        bash = dict(re.findall(r"^ *(\w+)\) operands=\w+ options='(.*)' ;;$", file.read(), re.M))
    with open(made('_tmerge'), encoding='utf-8') as file:
        zsh = dict(re.findall(r'^ *(\w+)\) specs=\((.*?)^ *\) ;;$', file.read(), re.M | re.S))
    for shown in (sections, bash, zsh):
        equal(list(shown), COMMANDS)
    for name in COMMANDS:
        options = re.findall(r'^  (?:-\w, |    )--([a-z-]+)', tmerge(name, '--help').out, re.M)
        equal([option.replace('\\', '') for option in
               re.findall(r'^\.It (?:Fl \w , )?Fl \\-\\&(\S+)', sections[name], re.M)], options, name)
        equal(bash[name].split(), ['--' + option for option in options], name)
        equal(re.findall(r"^ +'\*'?(?:\{-\w\+?,)?--([a-z-]+)", zsh[name], re.M), options, name)


def test_the_manuals_are_sound():
    put('bad.1', '.Dd x\n.Dt BAD 1\n.Os\n.Sh NAME\n.Nm bad\n.Nd x\n.Bl -tag\n.No \\fZ\\[nothing]\n')
    needs('man')
    for name, sound in ((made('tmerge.1'), True), (made('tmerge-synth.1'), True), ('bad.1', False)):
        said = run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', name],
                   env={'MANROFFSEQ': '', 'MANWIDTH': '80'}).err
        equal(not said, sound, name + said)
        if shutil.which('mandoc'):
            lint = run(['mandoc', '-T', 'lint', '-W', 'warning', name])
            equal(lint.status == 0, sound, name + lint.out)
    contains(run(['man', '-l', made('tmerge.1')], env={'MANWIDTH': '100'}).out, '--rank-map FILE')


class Shell:
    """An interactive shell that completes command lines of a tmerge that prints its arguments."""

    def __init__(self, command, setup):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.environ.update(TERM='dumb', PS1='> ', HISTFILE='/dev/null')
            os.execvp(command[0], command)
        self.typed(setup + '; tmerge() { echo "<$*>"; }; echo rea""dy\n', 'ready[^<]*> $')

    def typed(self, keys, until):
        """Returns the shell's output for these keys, up to a pattern."""
        os.write(self.terminal, keys.encode())
        text, end = '', time.monotonic() + 20
        while not re.search(until, text):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f'{keys!r} gives {text!r}')
            text += os.read(self.terminal, 4096).decode('utf-8', 'replace')
        return re.search(until, text)[0]

    def complete(self, line):
        return self.typed(line + '\t\n', '<[^<>]*>(?=[^<]*> $)')

    def close(self):
        os.write(self.terminal, b'\x03\nexit\n')
        os.close(self.terminal)
        os.waitpid(self.process, 0)


# Text before the tab, and the command that runs then. "show t" would list two files.
COMPLETED = (
    ('tmerge ana', '<analyze>'),
    ('tmerge merge --rank', '<merge --rank-map>'),
    ('tmerge merge --color alw', '<merge --color always>'),
    ('tmerge merge --color=alw', '<merge --color=always>'),
    ('tmerge export x.h5 --format perf', '<export x.h5 --format perfetto>'),
    ('tmerge whatif x.h5 --each sta', '<whatif x.h5 --each stage>'),
    ('tmerge show tr', '<show trace.h5>'),  # not trace.json
    ('tmerge show trace.h5 overlap.ra', '<show trace.h5 overlap.rank>'),
    ('tmerge merge trace.j', '<merge trace.json>'),
    ('tmerge merge -o trace.j', '<merge -o trace.json>'),
    ('tmerge merge @trace.j', '<merge @trace.json>'),
    ('tmerge @trace.j', '<@trace.json>'),
    ('tmerge trace.json --no-h', '<trace.json --no-html>'),
    ('tmerge list tr', '<list transfers>'),  # takes no file
    ('tmerge show trace.h5 --colu', '<show trace.h5 --columns>'),
    ('tmerge help ana', '<help analyze>'),
    ('tmerge show --top tr', '<show --top tr>'),
)


def check_completions(shell):
    put('trace.h5', '')
    put('trace.json', '')
    for line, command in COMPLETED:
        equal(shell.complete(line), command, line)
    shell.close()


def test_bash_completes():
    run(['bash', '-n', made('tmerge')]).expect(0)
    check_completions(Shell(['bash', '--norc', '--noprofile', '-i'], f'. {made("tmerge")}'))


def test_zsh_completes():
    needs('zsh')
    run(['zsh', '-n', made('_tmerge')]).expect(0)
    check_completions(Shell(['zsh', '-f', '-i'], 'unset zle_bracketed_paste; PS1="> "; '
                            f'fpath=({BUILD}/made $fpath); autoload -U compinit; compinit -u -D'))


@seldom
def test_each_word_that_is_completed_is_taken():
    with open(made('tmerge'), encoding='utf-8') as file:
        rows = re.findall(r"^ *(\w+)--([a-z-]+).*\) value=word words='([^=']+)' ;;$", file.read(), re.M)
    holds(len(rows) > 8, f'{len(rows)} options with words')
    for command, option, words in rows:
        for word in words.split():
            done = tmerge(command, 'missing', f'--{option}', word, *(['missing'] * (command == 'diff')))
            equal(done.status, 3, done.err)
        tmerge(command, 'missing', f'--{option}', 'bogus', *(['missing'] * (command == 'diff'))).expect(2)


@seldom
def test_a_debian_package_has_no_fault():
    needs('cpack', 'dpkg-deb', 'dpkg-shlibdeps', 'lintian', 'gzip')
    done = run([os.path.join(os.path.dirname(CMAKE), 'cpack'), '--config',
                f'{BUILD}/CPackConfig.cmake', '-G', 'DEB', '-B', os.getcwd()]).expect(0)
    package, = glob.glob('*.deb')
    done = run(['lintian', '--no-tag-display-limit', package])
    equal([line for line in done.out.splitlines() if line.startswith('E:')], [], done.out + done.err)
    shown = run(['dpkg-deb', '-c', package]).expect(0).out
    for name in ('usr/bin/tmerge', 'usr/share/man/man1/tmerge.1.gz',
                 'usr/share/zsh/vendor-completions/_tmerge',
                 'usr/share/bash-completion/completions/tmerge'):
        has_line(shown, rf' \./{re.escape(name)}$')
    # Targets of the plugin's links, in the folders that each of Debian's HDF5 libraries searches.
    run(['dpkg-deb', '-x', package, 'root']).expect(0)
    links = glob.glob('root/usr/lib/*/hdf5/*/plugins/*.so')
    equal(len(links), 3)
    for link in links:
        holds(os.path.islink(link) and os.path.isfile(link), link)


main()
