"""GPU tables compared with sums in Python and with other programs: cli_reference_gpu.py WHICH

sums         kernels, calls and copies of every real trace, with plain sums over its JSON, and the
             classes of kernels
devices      work, copies and waits of an accelerator that is not a GPU, with such sums
tensorboard  TensorBoard's kernel and memory views
hta          HolisticTraceAnalysis: launches, queues, idle time of streams, copies
"""
import collections
import glob
import json
import os

from cli_reference import US, main, merge, read
from common import SHARED, some, tables

RUNTIME = {"cuda_runtime", "cuda_driver", "runtime"}

# Per cent of kernel time by class, by another program that only reads names: the largest classes of
# each set. For the rest of these traces "other" is under 0.1 % in all.
CLASSES = {
    "nanogpt8": {"matrix multiply": 34.8, "communication": 26.8, "elementwise": 14.1, "normalisation": 8.4,
                 "attention": 8.0, "loss": 6.4},
    "megatron2": {"communication": 96.2, "matrix multiply": 1.5, "elementwise": 1.0},
    "lightllm8": {"communication": 58.2, "matrix multiply": 30.8, "quantisation": 4.1, "elementwise": 2.6,
                  "attention": 1.4},
    "hta2": {"communication": 61.6, "embedding": 16.2, "matrix multiply": 10.9, "copy": 4.5},
    "df_index_resolver.json.gz": {"matrix multiply": 42.3, "communication": 36.5, "elementwise": 16.6,
                                  "reduction": 3.3},
    "h100_qwen.json.gz": {"elementwise": 38.6, "matrix multiply": 28.2, "copy": 22.3, "attention": 8.5},
    "b200_eager.json.gz": {"matrix multiply": 55.2, "communication": 19.7, "routing and sampling": 6.4,
                           "copy": 5.1, "attention": 4.5},
    "mi300_resnet_ddp_rank0.json.gz": {"communication": 73.5, "normalisation": 8.8, "convolution": 6.1,
                                       "copy": 5.8, "elementwise": 4.8},
    "mi210_gpu_only.json.gz": {"convolution": 30.3, "normalisation": 26.5, "elementwise": 22.1, "copy": 15.4,
                               "pooling": 2.7},
    "nccl_data.json.gz": {"communication": 28.8, "normalisation": 19.3, "elementwise": 14.4,
                          "convolution": 13.1, "matrix multiply": 12.2},
}

# MFU of nanogpt8 by rank, with the upper bound for rank 0's attention. In each of rank 0's four
# steps aten::mm does 7.421775 TFLOP and bmm and baddbmm 0.072478 in bf16, _scaled_mm 3.797825 in
# fp8, attention at most 0.317457: 7.494253 / 989.4 + 3.797825 / 1978.9 = 9.494 ms, of a step of
# 164.422 / 4 = 41.106 ms by its marks on the host (44.538 + 42.546 + 35.877 + 41.462): 23.1 %; with
# 0.317457 / 989.4 = 0.321 ms more 23.9 %. The other ranks have the same FLOP.
MFU = (23.1, 20.5, 21.0, 25.1, 24.5, 23.3, 24.5, 21.3)
MFU_AT_MOST = 23.9

# TFLOP/s while kernels run, computed by a few lines of Python from shapes and launches.
RATES = {
    "nanogpt8": {"aten::mm": 692},
    "h100_qwen.json.gz": {"aten::mm": 632, "aten::addmm": 596,
                          "aten::_scaled_dot_product_flash_attention": 180},
}
# Per cent of rank 0's kernel time in operators with known FLOP.
COUNTED = {"nanogpt8": 32.2, "mi300_resnet_ddp_rank0.json.gz": 10.4, "b200_eager.json.gz": 7.2}
# Traces without shapes of such operators, or without the launches of their kernels.
NOT_COUNTED = {"megatron2", "lightllm8", "df_index_resolver.json.gz", "mi210_gpu_only.json.gz",
               "nccl_data.json.gz", "event_sync_trace.json.gz", "simple_add_cuda_sync.json.gz",
               "cpu_only_rank34.json.gz", "distributed_info_not_found.json.gz", "rank_not_found.json.gz"}


def durations(trace, categories):
    """Yields (name, category, ns, args) of the duration events of these categories."""
    for e in trace["traceEvents"]:
        category = e.get("cat", "").lower()
        if e.get("ph") == "X" and category in categories and "dur" in e:
            yield e["name"], category, round(e["dur"] * US), e.get("args", {})


def by_name(traces, categories):
    found = collections.defaultdict(list)
    for trace in traces:
        for name, _, ns, _ in durations(trace, categories):
            found[name].append(ns)
    return found


class Problems(list):
    """Collects differences; counts comparisons."""

    checked = 0

    def same(self, what, found, expected, slack=0.0):
        self.checked += 1
        right = found == expected if not slack or None in (found, expected) \
            else abs(found - expected) <= slack
        if not right:
            self.append(f"{what} is {found}, not {expected}")


def check_job(name, paths, problems):
    """Compares every total of a job's tables with the sum over its traces."""
    traces = [read(path) for path in paths]
    result = tables(merge(paths))
    kernels = by_name(traces, {"kernel"})
    rows = {r["name"]: r for r in result["kernels.kernel"]}
    problems.same(f"{name}: kernel names", sorted(rows), sorted(kernels))
    for kernel, found in kernels.items():
        row = rows.get(kernel, {})
        values = (len(found), sum(found), min(found), max(found), sum(d < 100000 for d in found))
        columns = ("calls", "total_ns", "min_ns", "max_ns", "short_calls")
        problems.same(f"{name}: {kernel[:60]}", tuple(row.get(c) for c in columns), values)
    shapes = collections.Counter()
    for row in result["kernels.launch_shape"]:
        shapes[row["name"]] += row["calls"]
    problems.same(f"{name}: calls by shape", dict(shapes), {k: len(v) for k, v in kernels.items()})
    calls = by_name(traces, RUNTIME)
    api = {r["name"]: (r["calls"], r["total_ns"], r["max_ns"]) for r in result["launches.api"]}
    problems.same(f"{name}: calls", api, {k: (len(v), sum(v), max(v)) for k, v in calls.items()})
    copies = [c for trace in traces
              for c in durations(trace, {"gpu_memcpy", "memcpy", "gpu_memset", "memset"})]
    for table in ("transfers.kind", "transfers.size"):
        problems.same(f"{name}: {table}",
                      tuple(sum(r[c] or 0 for r in result[table]) for c in ("count", "bytes", "total_ns")),
                      (len(copies), sum(c[3].get("bytes", 0) for c in copies),
                       sum(c[2] for c in copies)))
    gpu = sum(len(v) for v in kernels.values()) + len(copies)
    problems.same(f"{name}: GPU events", gpu,
                  sum(r["events"] + r["unlinked"] for r in result["launches.rank"]))
    whole = sum(sum(v) for v in kernels.values()) + sum(c[2] for c in copies)
    for level in ("kernel", "operator"):
        rows = [r for r in result["kernels.launched"] if r["level"] == level]
        problems.same(f"{name}: {level}", tuple(sum(r[c] for r in rows) for c in ("calls", "total_ns")),
                      (gpu, whole))
        problems.same(f"{name}: {level}, no launch",
                      sum(r["calls"] for r in rows if r["operator"] == "(launch not recorded)"),
                      sum(r["unlinked"] for r in result["launches.rank"]))
    problems.same(f"{name}: events of streams", gpu, sum(r["events"] for r in result["idle.stream"]))
    check_trees(name, result, whole, problems)
    check_identities(name, result, problems)
    check_classes(name, result, problems)
    check_efficiency(name, result, problems)


# Traces with modules; with Python functions; and with operator stacks.
MODULES = {"b200_eager.json.gz", "h100_qwen.json.gz", "mi300_resnet_ddp_rank0.json.gz"}
STACKS = MODULES | {"worker0.1623143089861.pt.trace.json.gz", "worker0.1623143566756.pt.trace.json.gz"}


def check_trees(name, result, whole, problems):
    for level, known in (("module", MODULES), ("function", STACKS)):
        rows = [r for r in result["calls.tree"] if r["level"] == level]
        problems.same(f"{name}: {level}", bool(rows), name in known)
        problems.same(f"{name}: {level}", sum(r["device_self_ns"] for r in rows), whole if rows else 0)
    tree = [r for r in result["calls.tree"] if r["level"] == "module"]
    for r in tree:
        parts = ("forward_device_ns", "recomputed_device_ns", "backward_device_ns")
        problems.same(f"{name}: {r['name']}", sum(r[p] for p in parts), r["device_total_ns"])
    # The trace with checkpointed blocks, three steps: one backward pass per update.
    again = [(r["micro_batches"], r["updates"], r["recomputed_ns"] > 0) for r in result["structure.step"]]
    problems.same(f"{name}: computed again", any(r[2] for r in again), name.startswith("mi300_resnet"))
    if name.startswith("mi300_resnet"):
        problems.same(f"{name}: micro-batches", again, [(1, 1, True)] * 3)
        # Computed by a few lines of Python from launches, nodes with numbers and modules of a
        # thread over time: launched in a node with a module open 4209958, with none 9098508, of
        # which 35753 are the loss, which is in no module.
        model = next(r for r in tree if r["depth"] == 0)
        problems.same(f"{name}: backward", (model["recomputed_device_ns"], model["backward_device_ns"]),
                      (4209958, 9098508 - 35753))
        modules = [r for r in result["calls.call"] if r["level"] == "module"]
        problems.same(f"{name}: backward by module", sum(r["backward_device_self_ns"] for r in modules),
                      9098508 - 35753)


def check_classes(name, result, problems):
    rows = {r["class"]: r for r in result["classes.work"] if r["level"] == "class"}
    total = sum(r["total_ns"] for r in result["kernels.kernel"])
    problems.same(f"{name}: all classes", sum(r["total_ns"] for r in rows.values()), total)
    problems.same(f"{name}: classes of ranks", sum(r["total_ns"] for r in result["classes.work"] if r["level"] == "rank"), total)
    for work, share in CLASSES.get(name, {}).items():
        problems.same(f"{name}: {work}", rows[work]["share_pct"], share, 0.06)
    if not any("kernel1" in r["name"] for r in result["kernels.kernel"]) and "other" in rows:
        problems.same(f"{name}: other", rows["other"]["share_pct"] < 1.0, True)


def check_efficiency(name, result, problems):
    flop, time = collections.Counter(), collections.Counter()
    for r in (r for r in result["efficiency.work"] if r["level"] == "operator"):
        flop[r["name"]] += r["flop"]
        time[r["name"]] += r["total_ns"]
    for op, rate in RATES.get(name, {}).items():
        problems.same(f"{name}: {op}", flop[op] / max(time[op], 1) / 1e3, rate, 0.6)
    for level in ("kernel", "place"):
        found = sum(r["flop"] for r in result["efficiency.work"] if r["level"] == level)
        problems.same(f"{name}: {level}", found, sum(flop.values()), 1e-9 * sum(flop.values()))
    problems.same(f"{name}: has FLOP", bool(flop), name not in NOT_COUNTED)
    if name in COUNTED:
        first = result["efficiency.rank"][0]
        kernels = sum(r["total_ns"] for r in result["classes.work"] if r["rank"] == first["rank"])
        # mi300: three steps of 48.6 ms by their marks, 56.5 ms by their kernels: 1.16 times, under 1.5.
        # b200: 7.2 % of the kernels' time is counted, too little for an MFU.
        problems.same(f"{name}: has an MFU", first["reason"] is None, not name.startswith("b200"))
        problems.same(f"{name}: counted", 100 * first["counted_ns"] / kernels, COUNTED[name], 0.06)
    if name == "nanogpt8":
        ranks = result["efficiency.rank"]
        problems.same("MFU", tuple(round(r["mfu_pct"], 1) for r in ranks), MFU)
        problems.same("MFU at most", round(ranks[0]["mfu_at_most_pct"], 1), MFU_AT_MOST)


def check_identities(name, result, problems):
    problems.same(f"{name}: lost by waiting calls", sum(r["lost_ns"] for r in result["sync.call"]),
                  sum(r["sync_ns"] for r in result["idle.rank"]))
    whole = {r["rank"]: r["idle_ns"] for r in result["overlap.rank"]}
    for r in result["idle.rank"]:
        what = f"{name} rank {r['rank']}: idle"
        problems.same(what, r["idle_ns"], whole[r["rank"]])
        problems.same(what, r["host_wait_ns"] + r["kernel_wait_ns"] + r["other_ns"], r["idle_ns"])
        parts = ("input_ns", "host_comm_ns", "alloc_ns", "sync_ns", "host_work_ns")
        problems.same(what, sum(r[p] for p in parts), r["host_wait_ns"])
    for r in result["idle.stream"]:
        problems.same(f"{name}: stream", r["host_wait_ns"] + r["kernel_wait_ns"] + r["other_ns"],
                      r["idle_ns"])


def sums():
    problems = Problems()
    jobs = {name: sorted(glob.glob(f"{SHARED}/traces/{name}/*"))
            for name in ("nanogpt8", "lightllm8", "dlrm8", "megatron2", "hta2")}
    for path in sorted(glob.glob(f"{SHARED}/traces/single/*")
                       + glob.glob(f"{SHARED}/traces/kineto-samples/*")):
        jobs[os.path.basename(path)] = [path]
    for name in some(jobs):
        check_job(name, jobs[name], problems)
    print(f"{problems.checked} values compared")
    return problems


def devices():
    """The sums come from a few lines of Python over the file (exact decimals): by name and
    direction, and the union of all events except waits and what they wait for."""
    problems = Problems()
    result = tables(merge([f"{SHARED}/traces/mtia/mtia_inference_rank_0.json.gz"]))
    kernels = {r["name"]: (r["calls"], r["total_ns"]) for r in result["kernels.kernel"]}
    problems.same("kernels", kernels, {"pe_exe": (24, 107685728), "remote": (37, 48529645),
                                       "merge": (36, 257869750)})
    copies = {r["kind"]: (r["count"], r["total_ns"]) for r in result["transfers.kind"]}
    problems.same("copies", copies, {"dtoh": (450, 2759889), "htod": (427, 42611301)})
    problems.same("busy", [r["busy_ns"] for r in result["overlap.rank"]], [421661824])
    problems.same("kind", [r["device_kind"] for r in result["job.rank"]], ["MTIA"])
    problems.same("GPU events", sum(r["events"] + r["unlinked"] for r in result["launches.rank"]), 974)
    return problems


# TensorBoard's memory view of test_memory_view: self increase, self allocated, self allocations,
# increase, allocated, allocations, calls.
MEMORY = {
    "cuda": {"aten::to": [104, 104, 2, 104, 204, 3, 4],
             "aten::nll_loss_backward": [0, 10, 1, 0, 10, 1, 1],
             "aten::copy_": [0, 100, 1, 0, 100, 1, 1], "aten::addmm": [0, 30, 1, 0, 30, 1, 1],
             "aten::tranas_stride": [0, 50, 1, 0, 50, 1, 1],
             "aten::transpose": [0, 50, 1, 0, 100, 2, 1], "aten::t": [0, 100, 1, 0, 200, 3, 1],
             "aten::liner": [20, 130, 3, 20, 360, 7, 1]},
    "cpu": {"aten::to": [4, 4, 1, 4, 4, 1, 4], "aten::liner": [0, 100, 1, 50, 150, 2, 1],
            "aten::tranas_stride": [50, 50, 1, 50, 50, 1, 1],
            "aten::transpose": [0, 0, 0, 50, 50, 1, 1], "aten::t": [0, 0, 0, 50, 50, 1, 1]},
}
MEMORY_COLUMNS = ("self_increase_bytes", "self_bytes", "self_allocations", "increase_bytes",
                  "bytes", "allocations", "calls")


# (grid, block, registers, shared memory): durations in us. TensorBoard also groups by operator: its
# op1 and op2 have 13 and 17 us of the second shape of the first test.
SHAPES = {
    "test_group_by_kernel_columns": {("16,1,1", "16,16,16", 18, 0): (10, 15),
                                     ("16,1,1", "16,16,64", 18, 0): (13, 17)},
    "test_group_by_kernel_columns_invalid_input": {
        (None, "16,16,16", 18, 0): (1,), ("16,1,1", None, 18, 0): (2,),
        ("16,1,1", "16,16,16", None, 0): (3,), ("16,1,1", "16,16,16", 18, None): (4,),
        (None, None, None, None): (5,)},
}


def check_shapes(problems):
    for test, shapes in SHAPES.items():
        found = {(r["grid"], r["block"], r["registers"], r["shared_memory_bytes"]):
                 (r["calls"], r["total_ns"], r["mean_ns"], r["min_ns"], r["max_ns"])
                 for r in hand_made(test)["kernels.launch_shape"]}
        problems.same(test, found, {
            key: (len(us), sum(us) * US, sum(us) * US / len(us), min(us) * US, max(us) * US)
            for key, us in shapes.items()})


def hand_made(test):
    return tables(merge(glob.glob(f"{SHARED}/traces/kineto-tests/{test}/worker0.pt.trace.json")))


def check_memory(problems):
    rows = {(r["device"], r["name"]): r for r in hand_made("test_memory_view")["memory.owner"]
            if r["level"] == "operator"}
    for device, operators in MEMORY.items():
        for name, values in operators.items():
            found = [rows[device, name][column] for column in MEMORY_COLUMNS]
            problems.same(f"memory of {name} on {device}", found, values)
    test = "test_memory_curve_no_step_plot"
    trace = read(f"{SHARED}/traces/kineto-tests/{test}/worker0.pt.trace.json")
    points = collections.defaultdict(list)  # TensorBoard's curve has every record
    for e in trace["traceEvents"]:
        args = e.get("args", {})
        if e["name"] == "[memory]":
            device = f"cuda:{args['Device Id']}" if args["Device Type"] else "cpu"
            points[device].append((e["ts"] * US, args["Total Allocated"], args["Total Reserved"]))
    problems.same("points of the curve", (len(points["cpu"]), len(points["cuda:0"])), (12, 10))
    curve = collections.defaultdict(list)
    for r in hand_made(test)["memory.curve"]:
        curve[r["device"]].append((r["time_ns"], r["allocated_bytes"], r["reserved_bytes"]))
    problems.same("memory curve", dict(curve), dict(points))


def check_samples(problems):
    """Kernel tables that TensorBoard's own end-to-end test expects for the two samples, of which
    only the first is available. Its means are rounded."""
    with open(f"{SHARED}/traces/kineto-tests/result_check_file.txt") as f:
        view = json.loads(f.read().splitlines()[3])["data"]
    columns = [c["name"] for c in view["columns"]]
    names = {"Calls": ("calls", 1, 0), "Total Duration (us)": ("total_ns", US, 0),
             "Max Duration (us)": ("max_ns", US, 0), "Min Duration (us)": ("min_ns", US, 0),
             "Mean Duration (us)": ("mean_ns", US, 500),
             "Mean Blocks Per SM": ("blocks_per_sm", 1, 0.0051),
             "Mean Est. Achieved Occupancy (%)": ("occupancy_pct", 1, 0.0051)}
    expected = {row[0]: dict(zip(columns, row)) for row in view["rows"]}
    total = sum(row["Total Duration (us)"] for row in expected.values())
    for path in sorted(glob.glob(f"{SHARED}/traces/kineto-samples/worker0.*")):
        rows = {r["name"]: r for r in tables(merge([path]))["kernels.kernel"]}
        if sum(r["total_ns"] for r in rows.values()) != total * US:
            continue
        problems.same("kernels of the sample", sorted(rows), sorted(expected))
        for name, row in expected.items():
            for column, (ours, unit, slack) in names.items():
                problems.same(f"{name[:60]}: {ours}", rows[name][ours], row[column] * unit, slack)
            tensor = {"Yes": True, "No": False}[row["Tensor Cores Used"]]
            problems.same(f"{name[:60]}: tensor cores", rows[name]["tensor_cores"], tensor)
        return
    problems.append("no sample has TensorBoard's kernels")


def tensorboard():
    problems = Problems()
    check_memory(problems)
    check_shapes(problems)
    tensor = {r["name"]: r for r in hand_made("test_tensor_core")["kernels.kernel"]}
    on = sum(r["total_ns"] for r in tensor.values() if r["tensor_cores"])
    problems.same("tensor cores", (on, sum(r["total_ns"] for r in tensor.values())), (15000, 25000))
    row, = hand_made("test_gpu_utilization_kernel_out_of_step")["kernels.kernel"]
    problems.same("blocks per SM", row["blocks_per_sm"], (20 * .5 + 25 * 10.5) / 45, 1e-6)
    # a fraction in this hand-made trace; profilers write per cent
    problems.same("occupancy", row["occupancy_pct"], (20 * .6 + 25 * .3) / 45, 1e-6)
    for test in ("test_runtime_called_by_profilerstep", "test_top_level_runtime"):
        row, = hand_made(test)["kernels.kernel"]
        problems.same(test, row["calls"], 1)
    several = hand_made("test_runtime_launch_multipe_kernels")
    problems.same("kernels of one call", several["kernels.kernel"][0]["calls"], 2)
    problems.same("calls", several["launches.rank"][0]["launches"], 1)
    check_samples(problems)
    print(f"{problems.checked} values compared")
    return problems


def only_steps(path, steps, out):
    """Writes the trace without the GPU events that HTA leaves out: those not launched in the steps
    that it keeps."""
    trace = read(path)
    launched, windows = {}, []
    for e in trace["traceEvents"]:
        if e.get("cat", "") in RUNTIME and "correlation" in e.get("args", {}):
            launched[e["args"]["correlation"]] = e["ts"]
        number = e.get("name", "").partition("ProfilerStep#")[2]
        if number and int(number) in steps and e.get("cat") != "gpu_user_annotation":
            windows.append((e["ts"], e["ts"] + e["dur"]))

    def keeps(e):
        if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            return True
        ts = launched.get(e["args"].get("correlation"))
        return ts is not None and any(a <= ts < b for a, b in windows)

    trace["traceEvents"] = [e for e in trace["traceEvents"] if keeps(e)]
    with open(out, "w") as f:
        json.dump(trace, f)
    return out


def check_hta(name, rank, expected, result, problems):
    what = f"{name} rank {rank}"
    stats = expected["cuda_kernel_launch_stats"][str(rank)]
    row = next(r for r in result["launches.rank"] if r["rank"] == rank)
    n = stats["n"]
    problems.same(f"{what}: events", row["events"], n)
    problems.same(f"{what}: calls", row["call_ns"], stats["sum_cpu"] * US)
    problems.same(f"{what}: latency", row["mean_latency_ns"], stats["sum_delay"] * US / n, 0.5)
    problems.same(f"{what}: latency", row["median_latency_ns"], stats["median_delay"] * US)
    problems.same(f"{what}: latency", row["max_latency_ns"], stats["max_delay"] * US)
    # HTA leaves out events of calls over 50 us; at most this many more are short.
    short = stats["n_short_gpu (cpu<=50 & gpu<cpu)"]
    problems.same(f"{what}: short", short <= row["short_events"] <= short
                  + stats["n_runtime_outliers (cpu>50)"], True)
    queue = expected["queue_length"]["series"][str(rank)]["max"]
    problems.same(f"{what}: queue", row["max_queue"], queue)
    streams = {r["stream"]: r for r in result["idle.stream"] if r["rank"] == rank}
    for r, stream, category, idle, _ in expected["idle_time_breakdown"]["breakdown"]["rows"]:
        if r == rank:
            problems.same(f"{what} stream {stream}: {category}",
                          streams[stream][f"{category}_ns"], idle * US)
    words = {"htod": "Memcpy HtoD", "dtoh": "Memcpy DtoH", "dtod": "Memcpy DtoD", "set": "Memset"}
    counts = collections.Counter()
    for r in result["transfers.kind"]:
        counts[f"{rank}|{words[r['kind']]}"] += r["count"] * (r["rank"] == rank)
    problems.same(f"{what}: copies", {k: v for k, v in counts.items() if v},
                  {k: v["count"] for k, v in expected["memory_bw_summary"].items()
                   if k.startswith(f"{rank}|")})


def hta():
    """Only traces in whole us: HTA rounds begins up and ends down, which moves gaps."""
    jobs = {"df_index_resolver": ["single/df_index_resolver.json.gz"],
            "trace_filter_2rank": ["hta2/sampled_rank-0.json.gz", "hta2/sampled_rank-1.json.gz"]}
    problems = Problems()
    for name, paths in jobs.items():
        with open(f"{SHARED}/expected/hta/{name}.json") as f:
            expected = json.load(f)
        steps = set(expected["profiler_steps"])
        cut = [only_steps(f"{SHARED}/traces/{path}", steps, f"rank{i}.json")
               for i, path in enumerate(paths)]
        result = tables(merge(cut))
        for row in result["launches.rank"]:
            check_hta(name, row["rank"], expected, result, problems)
    print(f"{problems.checked} values of {len(jobs)} jobs compared")
    return problems


if __name__ == "__main__":
    main(sums, devices, tensorboard, hta)
