/** Loads the timeline's blocks, once per page. */
import { block, type Job } from "../data";
import * as f from "../format";
import { pathOf, Path, Slacks } from "./path";
import { isServed } from "../served";
import { ChartData, type Launcher, type Rate } from "./chart";
import { Bytes, checkCoverage, decodeColumns, decodeJob, decodeStrip, readOperations } from "./decode";
import { Finer, type FinerListener } from "./finer";
import { Lanes } from "./lanes";
import { Pyramid } from "./pyramid";
import { pageReported } from "./event_details";

const kept = new WeakMap<Job, ReturnType<typeof loadAll>>();

/* Lets other tasks run, so that a frame can be drawn between two large blocks. */
const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

async function loadRest(data: ChartData): Promise<void> {
  const [operations, events, details] = await Promise.all([
    block("timeline.operations"),
    block("timeline.events"),
    block("timeline.details"),
  ]);
  await turn();
  data.operations = readOperations(new Bytes(operations), data.job);
  await turn();
  data.lanes = new Lanes(decodeColumns(new Bytes(events), data.job.events), data.job.ranks.length);
  data.reported = pageReported(details, data.lanes.events);
}

export async function addKernels(source: Job, data: ChartData): Promise<void> {
  await source.load(["kernels.kernel", "kernels.launched", "efficiency.work", "criticalpath.slack", "whatif.job"]);
  const kernels = source.table("kernels.kernel"),
    efficiency = source.level("efficiency.work", "kernel"),
    classes = new Map(kernels.rows.map((_, row) => [kernels.text(row, "name"), kernels.text(row, "class")])),
    rates = new Map<string | null, Rate | null>();
  /* null: the kernel has no single known rate, for example because it multiplies several number types */
  efficiency.rows.forEach((_, row) => {
    const name = efficiency.text(row, "name"),
      bound = efficiency.cell(row, "at_most") === true,
      tflops = efficiency.num(row, "achieved_tflops");
    rates.set(name, rates.has(name) || bound || tflops === null ? null : { tflops, calls: efficiency.amount(row, "calls") });
  });
  if ([...classes.values()].some((each) => each !== null)) data.classes = data.job.names.map((name) => classes.get(name) ?? undefined);
  data.rates = data.job.names.map((name) => rates.get(name) ?? undefined);
  data.launchers = launchersOf(source);
  data.slacks ??= new Slacks(source); // does not depend on fetched windows, so made only once
}

/* Returns for each kernel name the operator that launches most of the kernel's time. */
function launchersOf(source: Job): Map<string, Launcher> {
  const kernels = source.table("kernels.kernel"),
    table = source.level("kernels.launched", "kernel"),
    totals = new Map(kernels.rows.map((_, row) => [kernels.text(row, "name"), kernels.num(row, "total_ns")])),
    out = new Map<string, Launcher>();
  table.rows.forEach((_, row) => {
    const name = table.text(row, "kernel"),
      operator = table.text(row, "operator"),
      share = f.share(table.amount(row, "total_ns"), totals.get(name) ?? 0);
    /* A name in brackets is not an operator. It says that no operator launched the kernels, or that the operator is unknown. */
    if (name !== null && operator !== null && !operator.startsWith("(") && share !== null && share > (out.get(name)?.share ?? 0))
      out.set(name, { operator, inside: table.text(row, "inside"), share });
  });
  return out;
}

/** Returns the reason why no operation of the job has a known wait; null if operations may have one. */
function noWaitsOf(job: Job): string | null {
  const check = job.table("clock.check");
  if (check.n === 0) return null;
  if (check.amount(0, "transfers_alone") > 0) return "these traces hold only transfers";
  return check.text(0, "align") === "none" ? "clocks were not compared (--align=none)" : null;
}

const finers = new WeakMap<ChartData, Finer>();

/** Returns the object that requests more data from the server; null if the page is from a file. */
export function finerOf(source: Job, data: ChartData, listener: FinerListener): Finer | null {
  if (!isServed(source) || !data.lanes) return null;
  const finer = f.entry(finers, data, () => new Finer(data));
  finer.listener = listener;
  return finer;
}

export type Loaded = Awaited<ReturnType<typeof loadAll>>;

/* Loads shares and ranks, which suffice for a first picture. `all` resolves when operations and events are loaded, too. */
async function loadAll(source: Job) {
  const [head, strip, coverage] = await Promise.all([block("timeline.job"), block("timeline.strip"), block("timeline.coverage")]);
  const job = decodeJob(head);
  const pyramid = new Pyramid(checkCoverage(coverage, job), job.buckets, job.duration),
    data = new ChartData(job, decodeStrip(strip, job), pyramid, new Path(pathOf(source), job.ranks), noWaitsOf(source));
  return { data, all: turn().then(() => loadRest(data)) };
}

/** Loads the timeline's data. The message of an error says what is missing or damaged. */
export const load = (job: Job): ReturnType<typeof loadAll> => f.entry(kept, job, () => loadAll(job));
