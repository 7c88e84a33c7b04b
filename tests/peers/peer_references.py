"""Compares what TraceLens's own tests expect, the CSV files beside their traces, with tmerge (peers.py)."""
import ast
import csv
import os
import sys

import peer_tracelens as tracelens
import peers

TRACES = 'tests/traces'
REPORTS = {f'{device}/{name}.json.gz': f'{device}/{name}_perf_report_csvs' for device in ('h100', 'mi300') for name in (
    'Falconsai_nsfw_image_detection__1016002', 'Qwen_Qwen1.5-0.5B-Chat__1016005',
    'facebook_timesformer-base-finetuned-k400__1016002', 'gaunernst_bert-small-uncased__1016001',
    'google_owlv2-large-patch14-ensemble__1016001')}
REPORTS |= {f'inference/{job}/{trace}.json.gz': f'inference/{job}/perf_csvs' for job, trace in (
    ('sglang_decode', 'sglang_Qwen3-8B_decode'), ('sglang_prefilldecode', 'sglang_Qwen3-8B_prefilldecode'),
    ('vllm_decode_full', 'graph_execution'), ('vllm_prefilldecode_piecewise', 'graph_execution'),
    ('xdit_flux.1_aiter_sage', 'profile_trace_rank_0'), ('xdit_sd_3.5', 'profile_trace_rank_0'))}
REPORTS |= {'mi210/gpu_only_trace/gpu_only_trace.json.gz': 'mi210/gpu_only_trace/gpu_only_trace_perf_report_csvs',
            'perf_model/normalization/normalization_layer_test.json.gz':
                'perf_model/normalization/normalization_layer_test_perf_report_csvs',
            'torch_compile_triton/trace.json.gz': 'torch_compile_triton/trace_perf_report_csvs',
            'mi300/resnet_act_checkpoint.json.gz': 'mi300/resnet_act_checkpoint_recompute_perf_report_csvs'}
COLUMNS = {'sum': 'Kernel duration (µs)_sum', 'max': 'Kernel duration (µs)_max', 'min': 'Kernel duration (µs)_min',
           'calls': 'Kernel duration (µs)_count'}
MERGE = {'sum': sum, 'max': max, 'min': min, 'calls': sum}


def theirs(path):
    folder = os.path.join('traces', REPORTS[os.path.relpath(path, 'traces')])

    def rows(name):
        path = os.path.join(folder, name + '.csv')
        with open(path if os.path.exists(path) else os.devnull) as file:
            return list(csv.DictReader(file))
    for row in rows('gpu_timeline') if 'recompute' not in folder else ():  # that one has two parts of the trace
        yield 'timeline', [0, row['type']], float(row['time ms']) * 1000 * tracelens.US
    kernels = {}
    for row in rows('kernel_summary'):
        kernels.setdefault(row['Kernel name'], []).append(row)
    for name, of in kernels.items():
        for figure, column in COLUMNS.items():
            value = MERGE[figure](float(row[column]) for row in of)
            yield (('calls', [0, name], value) if figure == 'calls' else
                   ('kernel', [0, name, figure], value * tracelens.US))
    yield from tracelens.work((row['name'], row['op category'], ast.literal_eval(row['Input Dims'] or '()'),
                               int(row['operation_count']), *(float(row[name] or 'nan')
                                                              for name in ('GFLOPS', 'Data Moved (MB)')))
                              for row in rows('unified_perf_summary'))


if sys.argv[1:2] == ['--peer']:
    peers.inside(theirs)
else:
    peers.environment('references', [])
    clone = tracelens.cloned('references/clone', *(os.path.join(TRACES, path)
                                                  for path in (*REPORTS, *REPORTS.values())))
    if not os.path.exists('traces'):
        os.symlink(os.path.join(clone, TRACES), 'traces')
    peers.main('references', tracelens.COMMIT[:8], [], [f'traces/{name}' for name in REPORTS], tracelens.ours,
               tracelens.by_their_rule, tracelens.within, tracelens.in_words)
