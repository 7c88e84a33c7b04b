// Unusual jobs: made by tmerge-synth, or by small edits of its output.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kernel, merge, synth, trace } from "./page.mjs";

/* An event without duration or device. */
const MARK = { ph: "i", name: "mark", pid: 1, tid: 1, ts: 5, s: "t" };

/** Changes the traces of a folder: edit(events, rank) returns the events to keep. */
export function edit(folder, change) {
  for (const file of readdirSync(folder).filter((name) => name.startsWith("profile_rank_"))) {
    const path = join(folder, file), parsed = JSON.parse(readFileSync(path, "utf8"));
    parsed.traceEvents = change(parsed.traceEvents, Number(/\d+/.exec(file)[0]));
    writeFileSync(path, JSON.stringify(parsed));
  }
  return folder;
}

export const isStep = (event) => /^ProfilerStep#/.test(event.name ?? "");
export const communicates = (event) => event.cat === "kernel" && /nccl/i.test(event.name);

/* Removes the first half of rank 0's first step, as if recording had begun later. */
function cutFirstStep(events, rank) {
  if (rank !== 0) return events;
  const steps = events.filter((event) => isStep(event) && event.cat === "user_annotation").sort((a, b) => a.ts - b.ts);
  const launches = events.filter((event) => event.cat === "cuda_runtime" && event.ts > steps[0].ts && event.ts < steps[1].ts).map((event) => Number(event.ts)).sort((a, b) => a - b);
  const cut = launches[launches.length >> 1]; // half of the step's kernels were launched before the recording
  return events.filter((event) => event.ph === "M" || isStep(event) || event.ts >= cut).map((event) => {
    const late = cut - event.ts;
    return isStep(event) && late > 0 && late < event.dur ? { ...event, ts: cut, dur: event.dur - late } : event;
  });
}

/* In six of every ten collectives, the kernels lose the metadata that identifies them. */
function withoutMetadata(events) {
  let at = 0;
  return events.map((event) => {
    if (!communicates(event) || at++ % 10 >= 6) return event;
    const { device, stream, correlation, context } = event.args;
    /* Names a library whose kernels are not matched by order; otherwise they would be paired by who waits for whom. */
    return { ...event, name: "nvshmem_put", args: { device, stream, correlation, context } };
  });
}

const small = { steps: 4, layers: 4, cpu_ops: 1 };

/* Removes these events, and the launches of those that are kernels. */
function never(events, drop) {
  const calls = new Set(events.filter((event) => event.cat === "kernel" && drop(event)).map((event) => event.args.correlation));
  return events.filter((event) => !drop(event) && !(event.cat === "cuda_runtime" && calls.has(event.args?.correlation)));
}

/** Each state that the page must handle: makes its job, in the current folder. */
export const STATES = {
  "one-rank": (name) => merge(name, synth(`${name}-traces`, { ranks: 1, first_step: 0, ...small })),
  "no-steps": (name) => merge(name, edit(synth(`${name}-traces`, { ranks: 4, slow_rank: 2, ...small }), (events) => events.filter((event) => !isStep(event)))),
  "holes": (name) => merge(name, edit(synth(`${name}-traces`, { ranks: 4, slow_rank: 2, ...small }), (events) => events.filter((event, i) => event.cat !== "kernel" || /nccl/i.test(event.name) || i % 2 > 0))),
  "partial-step": (name) => merge(name, edit(synth(`${name}-traces`, { ranks: 4, ...small }), cutFirstStep)),
  "two-jobs": (name) => {
    const sizes = [2, 4].map((ranks) => synth(`${name}-${ranks}`, { ranks, ...small }));
    return merge(name, [0, 1, 2, 3].map((rank) => join(sizes[rank < 2 ? 0 : 1], `profile_rank_${rank}.json`)));
  },
  "no-communication": (name) => merge(name, edit(synth(`${name}-traces`, { ranks: 4, ...small }), (events) => never(events, (event) => /nccl|c10d|record_param_comms/i.test(event.name ?? "")))),
  "no-allreduce": (name) => merge(name, edit(synth(`${name}-traces`, { ranks: 4, sharded: true, ...small }), (events) => never(events, (event) => /allreduce/i.test(event.name ?? "") || event.args?.["Collective name"] === "allreduce"))),
  "unreported-kinds": (name) => merge(name, trace("unreported_rank_0.json", [kernel("gemm", 10, 20), kernel("ncclDevKernel_Generic_1", 400, 60)])),
  "unmatched": (name) => merge(name, edit(synth(`${name}-traces`, { ranks: 4, slow_rank: 2, steps: 6, layers: 12, cpu_ops: 1, buckets: 10 }), withoutMetadata)),
  "chance": (name) => merge(name, synth(`${name}-traces`, { ranks: 2, steps: 1, layers: 4, cpu_ops: 1, blocking: true, bandwidth_gbps: 4, slow_rank: 1, slow_factor: 1.2 })),
  "poor-clocks": (name) => merge(name, synth(`${name}-traces`, { ranks: 8, ranks_per_host: 1, offset_us: 3000, end_jitter_ns: 1_000_000, jitter: 0, steps: 2, layers: 2, buckets: 2, cpu_ops: 1 })),
  "no-clocks": (name) => merge(name, synth(`${name}-traces`, { ranks: 4, ranks_per_host: 2, ...small }), "--align=none"),
  "missing-ranks": (name) => {
    const folder = synth(`${name}-traces`, { ranks: 6, slow_rank: 4, ...small });
    for (const rank of [1, 5]) rmSync(join(folder, `profile_rank_${rank}.json`));
    return merge(name, folder);
  },
  "two-formats": (name) => {
    const options = { ranks: 4, ...small }, kineto = synth(`${name}-kineto`, options), nsys = synth(`${name}-nsys`, { format: "nsys", ...options });
    return merge(name, [0, 1, 2].map((rank) => join(kineto, `profile_rank_${rank}.json`)).concat(join(nsys, "profile_rank_3.sqlite")));
  },
  "unequal-steps": (name) => merge(name, synth(`${name}-traces`, { ranks: 4, window_skew: 2, ...small, steps: 5 })),
  "truncated": (name) => {
    const path = join(synth(`${name}-traces`, { ranks: 4, ...small }), "profile_rank_2.json");
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * 0.7)));
    return merge(name, `${name}-traces`);
  },
  "no-events": (name) => merge(name, trace("profile_rank_0.json", [MARK])),
  "mostly-skipped": (name) => merge(name, trace("all_rank_0.json", [MARK, { ...kernel("gemm", 10, 20), dur: -5 }, { ...kernel("gemm", 10, 20), ts: "soon" }])),
};

/** The job of a state; made once per folder. */
export function state(name) {
  return existsSync(`${name}.html`) ? { store: `${name}.h5`, page: `${name}.html` } : STATES[name](name);
}
