"""Files of NCCL's own profilers, following NVIDIA/nccl: plugins/profiler/inspector
(inspector_json.cc, json.cc) and plugins/profiler/example (print_event.cc). Written by hand from
these, without a GPU. Simulated jobs can also be written as Kineto or Nsight traces, tested on real
files.
"""
import json


def record(communicator, place, size, function, sn, nbytes, begin_us, end_us, seen=(0, 0), verbose=True,
           host='node7', pid=144, peer=None, name=None, source='kernel_gpu', channels=1):
    """Returns a line of the inspector. begin_us, end_us: of the kernel on the GPU; seen: delay
    until a host thread saw each. The buffer holds 14 digits of the communicator's 64 bits; peer: a
    transfer as written by NCCL 2.30, which also names communicators."""
    p = 'coll' if peer is None else 'p2p'
    header = {'id': f'0x{communicator:x}'[:16], 'comm_name': name, 'rank': place, 'n_ranks': size, 'nnodes': 1}
    perf = {p: function, f'{p}_sn': sn, f'{p}_peer': peer, f'{p}_msg_size_bytes': nbytes,
            f'{p}_exec_time_us': end_us - begin_us, f'{p}_timing_source': source,
            f'{p}_algobw_gbs': 1.5, f'{p}_busbw_gbs': 2.25}
    if verbose:
        at = {'start': begin_us + seen[0], 'stop': end_us + seen[1], 'record': end_us + seen[1]}
        for kind, of in (('sn', {'start': 3, 'stop': 5, 'record': 4}), ('ts', at)):
            perf[f'event_trace_{kind}'] = {
                f'{p}_start_{kind}': 1 if kind == 'sn' else begin_us - 40,
                f'{p}_stop_{kind}': 2 if kind == 'sn' else begin_us - 39,
                'kernel_events': [{'channel_id': c, **{f'kernel_{k}_{kind}': of[k] for k in of}}
                                  for c in range(channels)]}
    metadata = {'inspector_output_format_version': 'v4.0', 'git_rev': '', 'rec_mechanism':
                'nccl_profiler_interface', 'dump_timestamp_us': end_us + 300, 'hostname': host, 'pid': pid}
    given = {'header': {k: v for k, v in header.items() if v is not None}, 'metadata': metadata,
             f'{p}_perf': {k: v for k, v in perf.items() if v is not None}}
    return json.dumps(given, separators=(',', ':')) + '\n'
