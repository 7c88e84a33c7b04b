"""Makes a small recording from a large one, for testdata: shrink.py JOB OUT.

Removes what tmerge does not read (strides, event numbers, arrows), and the machine's name and
paths. Keeps all events and times."""
import gzip
import json
import os
import re
import subprocess
import sys

ARGUMENTS = ('Input Strides', 'Ev Idx', 'Record function id', 'External id', 'Fwd thread id',
             'Sequence number')


def small(event, communicates):
    arguments = event.get('args', {})
    for name in ARGUMENTS if communicates else (*ARGUMENTS, 'Input Dims', 'Input type', 'Concrete Inputs'):
        arguments.pop(name, None)
    return event


def main(job, out):
    os.makedirs(out, exist_ok=True)
    for name in sorted(os.listdir(job)):
        if not name.startswith('profile_rank_'):
            continue
        with gzip.open(os.path.join(job, name), 'rt', encoding='utf-8') as file:
            trace = json.load(file)
        trace['traceEvents'] = [
            small(event, event.get('name', '').startswith(('gloo:', 'c10d:', '_c10d')))
            for event in trace['traceEvents'] if event['ph'] not in 'sf']
        trace.pop('traceName', None)
        trace.update({key: 'host' for key in ('host_name',) if key in trace})
        text = re.sub(r'"(/[^"]*/)([^"/]*)"', r'"\2"', json.dumps(trace, separators=(',', ':')))
        path = os.path.join(out, name.replace('.gz', '.zst'))
        with open(path, 'wb') as file:
            subprocess.run(['zstd', '-19', '--ultra', '-q'], input=text.encode(), stdout=file, check=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
