"""Compares XProf's converter with tmerge (peers.py): runs and times of operations compiled by XLA. XProf
writes its results next to the profile, so it gets a copy.
"""
import json
import os
import shutil
import sys

import peers

VERSION = '2.24.2'
JOBS = ('xplane/tpu-v6e', 'xplane/jax-mi300-gemm', 'xplane/jax-mi300-attention')
US = 1000


def rows(files, tool):
    from xprof.convert import raw_to_tool_data
    reported = json.loads(raw_to_tool_data.xspace_to_tool_data(files, tool, {'use_saved_result': False})[0])
    reported = reported[0] if isinstance(reported, list) else reported
    names = [column['id'] for column in reported['cols']]
    return [dict(zip(names, (cell.get('v') for cell in row['c']))) for row in reported['rows']]


def theirs(path):
    files = sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith('.xplane.pb'))
    sums = {}
    for row in rows(files, 'hlo_stats'):
        for figure, name, unit in (('self', 'total_self_time', US), ('runs', 'occurrences', 1)):
            at = f'operation {figure}', row['hlo_op_name']
            sums[at] = sums.get(at, 0) + row[name] * unit
    for (figure, key), value in sums.items():
        yield figure, key, value


def prepared(path):
    shutil.rmtree('copy', ignore_errors=True)
    os.makedirs('copy')
    for name in os.listdir(path):
        shutil.copyfile(os.path.join(path, name), os.path.join('copy', name))
    return [('', os.path.abspath('copy'))]


def ours(store):
    tables, found = peers.tables(store, 'hlo.work'), {}
    for row in (row for row in tables['hlo.work'] if row['level'] == 'op'):
        for figure, column in (('self', 'self_ns'), ('runs', 'occurrences')):
            at = f'operation {figure}', row['op']
            found[at] = found.get(at, 0) + row[column]
    return found


def by_their_rule(store):
    return {}


def within(figure, value):
    """Returns the tolerance. XProf maps TPU times to the host's clock, tmerge keeps the core's own; they
    differ by about 2 in 100,000.
    """
    return 0 if figure.endswith('runs') else max(US, value / 10000)


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    peers.main('xprof', VERSION, [f'xprof=={VERSION}'], JOBS, ours, by_their_rule, within, prepared=prepared)
