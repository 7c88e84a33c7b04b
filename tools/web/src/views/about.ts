/** About the data: what was read, and how. */
import { recorded } from "../app";
import { block, type Job, type Table } from "../data";
import { fill, h, name, type Child } from "../dom";
import * as f from "../format";
import { tableSection } from "../grid";
import { ranksOf } from "../job";
import { licences, heading, prose, factsList } from "../ui";
import { keptWords } from "../timeline";
import { decodeJob } from "../timeline/decode";
import { tablesNamed, type View } from "../view";
import { part } from "./part";

const FACTS: Readonly<Record<string, string>> = {
  command: "Read by",
  align: "Clocks aligned by",
  wall_uncertainty_ns: "Assumed error of wall clocks",
  comm_pattern: "Additional communication kernels",
  step_pattern: "Annotations taken as steps",
  peak: "Peak of a device as set, TFLOP/s",
  world_size: "Ranks of the job by its traces",
  tool_version: "Written by tmerge",
};

/** Writes what was recorded, such as "20.1 s, recorded 240 ms in 2 recordings". */
function covered(row: Table<"job.job">): string {
  const recordings = row.amount(0, "recordings"),
    all = f.time(row.num(0, "duration_ns"));
  return recordings > 1 ? `${all}, recorded ${f.time(row.num(0, "recorded_ns"))} in ${f.count(recordings, "recording")}` : all;
}

function facts(job: Job): HTMLElement {
  const row = job.table("job.job"),
    { missing, missingCount } = ranksOf(job);
  const lines: [string, Child][] = [
    ["Begin", recorded(job) ?? "no time of day"],
    ["Begin, ns since the epoch", job.begin === null ? f.NONE : String(job.begin)],
    ["Time covered", covered(row)],
    ["Ranks read", f.grouped(row.amount(0, "ranks"))],
    ["Ranks without a trace", missingCount === 0 ? "none known" : f.ranges(missing) + (missing.length < missingCount ? ", …" : "")],
    ["Events", f.grouped(row.amount(0, "events"))],
    ["Events on the timeline", kept(job)],
    ["Collectives found", f.grouped(row.amount(0, "collectives"))],
  ];
  for (const [key, label] of Object.entries(FACTS)) {
    const value = job.facts[key];
    if (value === null || value === undefined || value === -1) continue;
    lines.push([label, key.endsWith("_ns") ? f.time(Number(value)) : name(String(value), 4000)]);
  }
  lines.push(["Page made by tmerge", job.version]);
  return factsList(lines);
}

/* Makes a text about what the page has. The text appears once the block with this information is unpacked. */
function kept(job: Job): HTMLElement {
  const words = h("span", { "data-kept": "" }, "…");
  block("timeline.job").then(
    (bytes) => fill(words, keptWords(decodeJob(bytes), job)),
    (error: Error) => fill(words, `not known: ${error.message}`),
  );
  return words;
}

export const about: View = {
  id: "about",
  title: "Recording",
  needs: tablesNamed("job.job job.rank job.remark job.left_out"),
  parts: [
    ({ job }) => [
      heading(
        "About the data",
        "What was read, how, and what was skipped, repaired or left out. Nothing on this page is loaded from elsewhere.",
      ),
      facts(job),
    ],
    part("job.left_out", "Files left out", {}),
    part(
      "job.remark",
      "What was repaired, skipped or odd",
      { none: "Nothing: every event was read unchanged." },
      "rank; source; remark; class; count",
      ({ table }) => ({ column: "meaning", draw: (row) => prose(table.text(row, "meaning")) }),
    ),
    ({ job }) =>
      tableSection(
        "Ranks",
        null,
        job.table("job.rank"),
        { exact: true },
        "rank; host; device; events; skipped_events: skipped; repaired_events: repaired; truncated; format; source",
      ),
    licences,
  ],
};
