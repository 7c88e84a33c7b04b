"""Time and memory of Python peers and of tmerge on a large job: large.py FOLDER (a trace for each rank).

Needs the peers' environments, which peer_hta.py and the others make, and TMERGE. tests/bench/run makes
such a job: BUILD/bench/180MB/nanogpt8, 1.43 GB. Takes half an hour.
"""
import os
import sys

import peers


def main(folder):
    here = os.path.dirname(os.path.abspath(__file__))
    folder = os.path.abspath(folder)
    traces = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith('.json')]
    commands = {name: [os.path.join(peers.CACHE, name, 'bin', 'python'), os.path.join(here, f'peer_{name}.py'),
                       '--peer', 'large.json', folder] for name in ('hta', 'tensorboard', 'tracelens')}
    for bound in ([], ['--memory', '180M']):
        commands[' '.join(['tmerge', *bound])] = [peers.TMERGE, *traces, '-o', 'large.h5', '--force', '-j1', *bound]
    print('| | CPU s | MB |\n|---|---|---|')
    for name, command in commands.items():
        seconds, megabytes = peers.measured(command)
        print(f'| {name} | {seconds:.1f} | {megabytes:.0f} |', flush=True)


if __name__ == '__main__':
    main(sys.argv[1])
