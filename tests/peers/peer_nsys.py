"""Compares NVIDIA's `nsys stats` with tmerge (peers.py): the sums of calls, kernels, copies, ranges, MPI
and the OS runtime, and how long kernels queue. Debian packages nsys; it is unpacked into a folder of its
own, not installed.
"""
import csv
import glob
import os
import re
import shutil
import subprocess
import sys

import peers

VERSION, SUITE = '2023.4.4.54~12.4.1-2', 'trixie'
JOBS = (*(f'nsys/{name}.sqlite' for name in ('h100_2gpu_1s', 'mfu_2gpu_before', 'perlmutter-cloverleaf-cuda',
                                            'saxpy-mpi-cuda_nsys_perlmutter0')), 'made-nsys')
REPORTS = ('cuda_api_sum', 'cuda_gpu_kern_sum', 'cuda_gpu_mem_time_sum', 'cuda_gpu_mem_size_sum', 'nvtx_sum',
           'openacc_sum', 'openmp_sum', 'osrt_sum')
FIGURES = {'count': 'Num Calls|Instances|Count', 'total': 'Total', 'min': 'Min', 'max': 'Max', 'median': 'Med',
           'stddev': 'StdDev'}
MB, SIZE = 10**6, 'size '
EXECUTIONS = """WITH call AS MATERIALIZED (
        SELECT event, rank, name, begin_ns, duration_ns FROM events
        WHERE track = 'cpu' AND category IN ('cuda_runtime', 'cuda_driver'))
    SELECT e.rank, call.name AS api, e.name, count(*) AS count, avg(call.duration_ns) AS call_ns,
           avg(e.duration_ns) AS kernel_ns, sum(e.begin_ns > call.begin_ns + call.duration_ns) AS queued
    FROM events e JOIN call ON e.launch = call.event WHERE e.category = 'kernel' GROUP BY 1, 2, 3"""


def nsys():
    return glob.glob(os.path.join(peers.CACHE, 'nsys', 'unpacked', 'usr', 'bin', 'nsys'))


def unpacked():
    """Unpacks Debian's packages of nsys; lists of packages and downloads stay in that folder."""
    if nsys():
        return
    folder = os.path.join(peers.CACHE, 'nsys')
    sources = glob.glob('/etc/apt/sources.list.d/debian.sources')
    uri = [line.split()[1] for path in sources for line in open(path) if line.startswith('URIs:')]
    if not uri or not shutil.which('apt-get'):
        peers.skip('no Debian')
    for name in ('lists/partial', 'cache/archives/partial', 'unpacked'):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, 'sources.list'), 'w') as out:
        out.write(f'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {uri[0]} {SUITE} non-free\n')
    own = ['-q', '-o', f'Dir::State::lists={folder}/lists', '-o', f'Dir::Cache={folder}/cache', '-o',
           f'Dir::Etc::sourcelist={folder}/sources.list', '-o', 'Dir::Etc::sourceparts=-']
    packages = [f'{name}={VERSION}' for name in ('nsight-systems', 'nsight-systems-target')]
    done = [subprocess.run(['apt-get', *own, *what], cwd=folder, capture_output=True).returncode
            for what in (['update'], ['download', *packages])]
    for path in glob.glob(os.path.join(folder, '*.deb')):
        done.append(subprocess.run(['dpkg-deb', '-x', path, os.path.join(folder, 'unpacked')]).returncode)
        os.unlink(path)
    if any(done) or not nsys():
        peers.skip(f'no nsight-systems {VERSION}: is there a network?')


def named(report, name):
    """Returns (report, name) as tmerge has them: operators without their numbers, MPI on its own, versions
    of calls together."""
    if report == 'nvtx_sum':
        name = name.split(', op_id = ')[0].split(', seq = ')[0]
        domain, _, text = name.partition(':')
        if domain == 'MPI':
            return 'mpi_event_sum', text
        name = text if text.lower().startswith(domain.lower()) else name
    return report, re.sub(r'_v\d{4,}$', '', name)


def sums(report, rows):
    """Yields the figures of a report. Of names that tmerge has as one only what their rows add up to."""
    found = {}
    for row in rows:
        name = next(row[column] for column in ('Name', 'Operation', 'Range') if column in row)
        values = {figure: next(float(row[column]) for column in row if column.split(' (')[0] in at.split('|')
                               or column.startswith(at + ' Time ('))
                  for figure, at in FIGURES.items()}
        found.setdefault(named(report, name), []).append(values)
    unit, kind = (MB, SIZE) if report == 'cuda_gpu_mem_size_sum' else (1, '')
    for at, of in found.items():
        for figure, merge in (('count', sum), ('total', sum), ('min', min), ('max', max), ('median', None),
                              ('stddev', None)):
            if merge or len(of) == 1:
                value = (merge or sum)(values[figure] for values in of)
                yield kind + figure, [*at], value * (1 if figure == 'count' else unit)


def theirs(path):
    export = path if os.path.isfile(path) else glob.glob(os.path.join(path, '*.sqlite'))[0]
    shutil.rmtree('stats', ignore_errors=True)
    os.makedirs('stats')
    shutil.copyfile(export, 'stats/job.sqlite')  # nsys writes into it
    reports = ','.join((*REPORTS, 'cuda_kern_exec_sum'))
    subprocess.run([*nsys(), 'stats', '--report', reports, '--format', 'csv', '-o', 'stats/x', 'stats/job.sqlite'],
                   check=True, stdout=subprocess.DEVNULL)

    def rows(report):
        with open(f'stats/x_{report}.csv') as file:
            return list(csv.DictReader(file))
    for report in REPORTS:
        yield from sums(report, rows(report))
    of = rows('cuda_kern_exec_sum')
    places = sorted({(int(row['PID']), int(row['DevId'])) for row in of})
    for row in of:
        at = [places.index((int(row['PID']), int(row['DevId']))), named('', row['API Name'])[1], row['Kernel Name']]
        for figure, column in (('executions', 'Count'), ('queued', 'QCount'), ('call', 'AAvg (ns)'),
                               ('kernel', 'KAvg (ns)')):
            yield figure, at, float(row[column] or 0)


def ours(store):
    found = {}
    for table, unit, kind in (('stats.time', 'ns', ''), ('stats.size', 'bytes', SIZE)):
        for row in peers.tables(store, table)[table]:
            for figure in FIGURES:
                column = figure if figure == 'count' else f'{figure}_{unit}'
                found[kind + figure, (row['report'], row['name'])] = row[column]
    for row in peers.query(store, EXECUTIONS):
        for figure, column in (('executions', 'count'), ('queued', 'queued'), ('call', 'call_ns'),
                               ('kernel', 'kernel_ns')):
            found[figure, (row['rank'], row['api'], row['name'])] = row[column]
    return found


def within(figure, _):
    """Returns the tolerance: nsys prints averages to 0.1 ns and sizes to 0.001 MB."""
    return (0 if figure.endswith(('count', 'executions', 'queued', 'total')) and not figure.startswith(SIZE) else
            MB / 2000 if figure.startswith(SIZE) else 0.051)


def in_words(figure, file, key):
    if 'saxpy' in file and (figure in ('executions', 'queued', 'call') or key[0] == 'cuda_api_sum'):
        return 'wrong there: a call that is recorded again with its stack (event class 67) counts twice'
    return None


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    peers.environment('nsys', [])
    unpacked()
    peers.main('nsys', VERSION.split('~')[0], [], JOBS, ours, lambda _: {}, within, in_words)
