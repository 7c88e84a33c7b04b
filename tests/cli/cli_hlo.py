"""What XLA's operations computed and moved, in real profiles, against what an independent program
mapped of them."""
import collections
import json
import os

from common import SHARED, Skip, equal, holds, main, tables, tmerge

TRACES = os.path.join(SHARED, 'traces', 'xplane')
EXPECTED = os.path.join(SHARED, 'expected', 'xplane', 'mapped.json')
ARRAY = 5 << 28  # floats: 5 x 1024 x 1024 x 256


def merged(name):
    """The profile's tables, and what it is expected to hold."""
    path = {'tpu-v6e': 'tpu_inference'}.get(name, 'tw003') + '.xplane.pb'
    trace = os.path.join(TRACES, name, path)
    if not os.path.exists(trace) or not os.path.exists(EXPECTED):
        raise Skip(f'{trace} or {EXPECTED} is not here')
    if not os.path.exists(f'{name}.h5'):
        tmerge('merge', trace, '-o', f'{name}.h5', '--no-html')
    found = tables(f'{name}.h5', 'hlo.rank', 'hlo.op', 'hlo.category', 'hlo.program')
    with open(EXPECTED, encoding='utf-8') as file:
        return found, json.load(file)['files'][f'{name}/{path}']


def test_times_by_category_are_those_of_the_cores():
    """By the cores' clocks, which are 15 ppm slow against the host's."""
    found, mapped = merged('tpu-v6e')
    times, runs = collections.Counter(), collections.Counter()
    for rank, row in zip(mapped['ranks'], found['hlo.rank']):
        line = mapped['device_clock'][rank['device']]['device_to_host_line']
        stretch, track = 1 + line['slope_ppm'] / 1e6, rank['tracks'][0]
        for category, of in track['hlo_category'].items():
            times[category] += of['device_duration_ps'] * stretch / 1000
            runs[category] += of['events']
        holds(abs(row['self_ns'] - track['device_duration_sum_ps'] * stretch / 1000) < 1504,
              f'{row["self_ns"]} ns of operations')
        equal((row['occurrences'], row['told_pct']), (track['events'], 100.0), 'operations')
    equal({row['category']: row['occurrences'] for row in found['hlo.category']}, runs)
    for table in ('hlo.category', 'hlo.program', 'hlo.op'):
        equal(sum(row['self_ns'] for row in found[table]),
              sum(row['self_ns'] for row in found['hlo.rank']), table)
        holds(abs(sum(row['share_pct'] for row in found[table]) - 100) < 1e-6, table)
    for row in found['hlo.category']:
        holds(abs(row['self_ns'] - times[row['category']]) < 2 * row['occurrences'] + 100, row)


def test_work_is_what_arithmetic_gives():
    """x + 1 of an array, which lies in the device's memory: as many additions, and 4 bytes in and
    out for each. The sum of two is an addition as well. A broadcast writes it, and a copy between
    the device and the host reads or writes it on the device. TPU v6e: 918 TFLOP/s and 1638 GB/s."""
    found, _ = merged('tpu-v6e')
    work = {row['category']: (row['flop'], row['bytes'], row['bound'])
            for row in found['hlo.category']}
    equal(work, {'loop fusion': (1200 * ARRAY, 1200 * 8 * ARRAY, 'memory'),
                 'all-reduce': (12 * ARRAY, 12 * 8 * ARRAY, 'communication'),
                 'broadcast': (0, 4 * ARRAY, 'memory'),
                 'copy-start': (0, 2400 * 4 * ARRAY, 'copy'),
                 'copy-done': (None, None, None)}, 'FLOP and bytes')
    for row in found['hlo.op']:
        if row['category'] == 'loop fusion':
            equal(row['flop_per_byte'], 0.125, row['op'])
            rate = 400 * 8 * ARRAY / row['self_ns']
            holds(abs(row['peak_bw_pct'] - 100 * rate / 1637.993152512) < 1e-6, row)
            holds(80 < row['peak_bw_pct'] < 85, f'{row["op"]} is near what memory does')
    equal({(row['device'], row['peak_tflops'], round(row['ridge_flop_per_byte'], 1))
           for row in found['hlo.rank']}, {('TPU v6 Lite', 918.0, 560.4)}, 'peaks')


def test_where_neither_work_nor_peaks_are_told_cells_are_empty():
    """JAX on GPUs: kernels by their operation and program alone."""
    found, mapped = merged('jax-mi300-attention')
    kernels = mapped['ranks'][0]['busy_union_ps']['kernel'] // 1000
    for name, table in found.items():
        equal(sum(row['self_ns'] for row in table), kernels, name)
        for row in table:
            equal((row['told_pct'], row['flop'], row['bytes'], row['achieved_tflops'],
                   row.get('bound')), (0.0, None, None, None, None), name)
    equal(sum(row['occurrences'] for row in found['hlo.op']), 87, 'kernels')


main()
