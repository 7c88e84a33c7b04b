"""tmerge analyze --ncu joins Nsight Compute's measurements with the kernels of the job."""
import shutil

import jobs
from common import (FULL, content, contains, equal, gzipped, main, merged, put, rows, same_bytes,
                    small_trace, tmerge)

# Kernel names as in the generator's traces, and as Nsight Compute spells them.
GEMM = 'nvjet_tst_128x160_64x5_2x4_v_bz_NTT'
GELU = ('void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl('
        'at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, std::array<char*, 3ul> >'
        '(int)')
GELU_NCU = ('void at::native::vectorized_elementwise_kernel<(int)4, at::native::'
            'GeluBackwardCUDAKernelImpl(at::TensorIteratorBase &, at::native::GeluType)::[lambda()'
            ' (instance 2)], std::array<char *, (unsigned long)3>>(int, T2, T3)')

HEAD = ['ID', 'Process ID', 'Process Name', 'Host Name', 'Kernel Name', 'Context', 'Stream',
        'Block Size', 'Grid Size', 'Device', 'CC']


def csv(*records):
    return ''.join(','.join('"' + field.replace('"', '""') + '"' for field in record) + '\n'
                   for record in records)


def launch(number, name, grid, block):
    return [str(number), '77', 'python3.12', '127.0.0.1', name, '1', '7', block, grid, '0', '9.0']


GEMM_LAUNCH = launch(0, GEMM, '(8, 15, 1)', '(384, 1, 1)')
GELU_LAUNCH = launch(1, GELU_NCU, '(98304, 1, 1)', '(128, 1, 1)')
OTHER_LAUNCH = launch(2, 'say "hello, world"', '(1, 1, 1)', '(32, 1, 1)')
PROF = '==PROF== Connected to process 77 (/usr/bin/python3.12)\nloss 3.1, "perplexity 22\n'


def details():
    """A details page: a row for each metric, and rows of rules, which have no metric."""
    head = HEAD + ['Section Name', 'Metric Name', 'Metric Unit', 'Metric Value', 'Rule Name',
                   'Rule Type', 'Rule Description', 'Estimated Speedup Type', 'Estimated Speedup']
    light, rule = 'GPU Speed Of Light Throughput', ['', '', '']

    def metrics(of, sm, memory, dram, occupancy):
        return [of + [light, 'DRAM Frequency', 'Ghz', '2.61'] + rule,
                of + [light, 'Memory Throughput', '%', memory] + rule,
                of + [light, 'DRAM Throughput', '%', dram] + rule,
                of + [light, 'Compute (SM) Throughput', '%', sm] + rule,
                of + ['SpeedOfLight', '', '', '', 'SOLBottleneck', 'OPT', 'look, "there"'],
                of + ['Memory Workload Analysis', 'Memory Throughput', 'Tbyte/s', '1.50'] + rule,
                of + ['Occupancy', 'Achieved Occupancy', '%', occupancy] + rule]

    return PROF + csv(head, *metrics(GEMM_LAUNCH, '82.5', '41', '20.25', '14.5'),
                      *metrics(GELU_LAUNCH, '30', '91.5', '90', '75'),
                      *metrics(OTHER_LAUNCH, '3', '2', '1', '1'))


def raw():
    """A raw page: a row for each launch, after a row of units."""
    add, fused = (f'smsp__sass_thread_inst_executed_op_{op}_pred_on.sum' for op in ('fadd', 'ffma'))
    tensor = 'sm__ops_path_tensor_src_bf16_dst_fp32.sum'
    return PROF + csv(HEAD + ['dram__bytes.sum', add, fused, tensor],
                      [''] * len(HEAD) + ['Mbyte', 'inst', 'inst', ''],
                      GEMM_LAUNCH + ['50.00', '0', '0', '10,000,000,000'],
                      GELU_LAUNCH + ['200.00', '12,000,000', '4,000,000', '0'],
                      OTHER_LAUNCH + ['0', '0', '0', '0'])


def make_job():
    shutil.copyfile(jobs.store('two'), 'job.h5')
    put('details.csv', details())
    put('raw.csv', raw())


MEASURED = {  # the columns after calls and total_ns, without achieved_gflops
    GEMM: ('8,15,1', '384,1,1', 1, 82.5, 41.0, 20.25, 14.5, 1e10, 5e7, 200.0, 'compute'),
    # (12e6 + 2 * 4e6) / 200e6 = 0.1 FLOP/B
    GELU: ('98304,1,1', '128,1,1', 1, 30.0, 91.5, 90.0, 75.0, 2e7, 2e8, 0.1, 'memory'),
    'say "hello, world"': ('1,1,1', '32,1,1', 1, 3.0, 2.0, 1.0, 1.0, 0.0, 0.0, None, 'latency'),
}
COLUMNS = ('grid', 'block', 'launches', 'sm_pct', 'memory_pct', 'dram_pct', 'occupancy_pct', 'flop',
           'dram_bytes', 'flop_per_byte', 'bound')


def test_both_pages_of_a_report_join_the_kernels_of_the_traces():
    make_job()
    done = tmerge('analyze', 'job.h5', '--ncu', 'details.csv,raw.csv').expect(0)
    equal(done.ours, ['tmerge: warning: --ncu: 1 of 3 measured kernels and shapes (1 launch) are '
                      'not in the job; show kernels.roofline lists them without calls'])
    found = {row['name']: row for row in rows('job.h5', 'kernels.roofline')}
    equal({name: tuple(row[column] for column in COLUMNS) for name, row in found.items()}, MEASURED)
    for kernel in rows('job.h5', 'kernels.kernel'):
        if kernel['name'] in (GEMM, GELU):
            row, calls, total = found.pop(kernel['name']), kernel['calls'], kernel['total_ns']
            equal((row['calls'], row['total_ns']), (calls, total), kernel['name'])
            equal(f'{row["achieved_gflops"]:.9g}', f'{row["flop"] * calls / total:.9g}')
    (name, other), = found.items()
    equal(name, 'say "hello, world"')
    equal((other['calls'], other['total_ns'], other['achieved_gflops']), (None, None, None))


def test_sections_and_rules_are_reported_line_by_line():
    make_job()
    again = details()  # with each kernel launched again
    for old, new in (('"0","77"', '"7","77"'), ('"1.50"', '"500"'), ('"Tbyte/s"', '"Gbyte/s"'),
                     ('"look, ""there"""', '"look here","local","12.5"')):
        again = again.replace(old, new)
    put('again.csv', again)
    put('more.csv', csv(HEAD + ['Section Name', 'Metric Name', 'Metric Unit', 'Metric Value'],
                        GEMM_LAUNCH + ['Launch Statistics', 'Function Cache Configuration', '',
                                       'CachePreferNone']))
    tmerge('analyze', 'job.h5', '--ncu', 'details.csv,again.csv,more.csv').expect(0)
    found = {(row['section'], row['metric']): row for row in rows('job.h5', 'kernels.section')
             if row['name'] == GEMM}
    light = 'GPU Speed Of Light Throughput'
    equal({of: (row['grid'], row['value'], row['unit'], row['text'], row['launches'])
           for of, row in found.items()},
          {(light, 'DRAM Frequency'): ('8,15,1', 2.61, 'Ghz', None, 2),
           (light, 'Memory Throughput'): ('8,15,1', 41.0, '%', None, 2),
           (light, 'DRAM Throughput'): ('8,15,1', 20.25, '%', None, 2),
           (light, 'Compute (SM) Throughput'): ('8,15,1', 82.5, '%', None, 2),
           # of 1.5 Tbyte/s and 500 Gbyte/s
           ('Memory Workload Analysis', 'Memory Throughput'): ('8,15,1', 1.0, 'Tbyte/s', None, 2),
           ('Occupancy', 'Achieved Occupancy'): ('8,15,1', 14.5, '%', None, 2),
           ('Launch Statistics', 'Function Cache Configuration'):
               ('8,15,1', None, None, 'CachePreferNone', 1)})
    equal(len(rows('job.h5', 'kernels.section')), 7 + 2 * 6)
    rules = rows('job.h5', 'kernels.rule')
    equal([tuple(row.values())[3:] for row in rules if row['name'] == GEMM],
          [('SpeedOfLight', 'SOLBottleneck', 'OPT', 12.5, 'local', 2, 'look here')])
    equal(len(rules), 3)
    contains(tmerge('show', 'job.h5', 'kernels.rule').expect(0).out, 'look here')


def test_any_number_of_processes_gives_the_same_store():
    make_job()
    put('details.csv.gz', gzipped(details().encode()))
    tmerge('analyze', 'job.h5', '--ncu=details.csv,raw.csv', '-o', 'one.h5').expect(0)
    for n in (1, 2, 3, 4, 8) if FULL else (3,):
        done = tmerge('analyze', 'job.h5', '--ncu=raw.csv,details.csv.gz', '-o', f'{n}.h5', n=n)
        equal(len(done.expect(0).warnings), 1, done.err)
        same_bytes('one.h5', f'{n}.h5')


def test_a_later_analysis_without_it_takes_the_rows_away():
    make_job()
    shutil.copy('job.h5', 'before.h5')
    equal(rows('job.h5', 'kernels.roofline'), [])
    tmerge('analyze', 'job.h5', '--ncu=details.csv').expect(0)
    equal(len(rows('job.h5', 'kernels.roofline')), 3)
    contains(tmerge('show', 'job.h5', 'kernels.roofline').expect(0).out, 'compute')
    tmerge('report', 'job.h5', '-o', 'job.html').expect(0)
    tmerge('analyze', 'job.h5').expect(0)
    same_bytes('job.h5', 'before.h5')


def test_a_file_that_is_missing_malformed_or_another_is_named_with_its_byte():
    """The unit test covers other malformed files."""
    put('rank0.json', small_trace(0))
    merged('rank0.json')
    before = content('tmerge.h5')
    put('good.csv', details())
    put('cut.csv', details()[:-20])
    for name, n, message in (
            ('none.csv', 0, 'cannot be opened: No such file or directory'),
            ('rank0.json', 0, 'not output of ncu --csv: no line starts with the column "ID"'),
            ('cut.csv', 3, f'byte {details().rindex(chr(34), 0, -20)}: a quote is not closed')):
        tmerge('analyze', 'tmerge.h5', f'--ncu=good.csv,{name}', n=n).fails(3, f'{name}: {message}')
    equal(content('tmerge.h5'), before)


main()
