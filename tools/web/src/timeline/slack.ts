/** Slack: how much later an event could have ended without making the job end later. */
import type { Job } from "../data";
import * as f from "../format";
import { lowest } from "./lanes";
import type { Track } from "./model";

/** Bounds of an event's slack [ns]; null: no step's end depends on the event. */
export type Slack = Readonly<Record<"least" | "most", number | null>>;

type Run = Slack & Readonly<{ begin: number }>;

/** Slack of all ranks' events. Adjacent events of a stream with similar slack are one run, with the same bounds. */
export class Slacks {
  readonly #runs: ReadonlyMap<string, readonly Run[]>;
  readonly #leftOut: number;
  readonly #sure: boolean; // the replay from which the slack comes is reliable

  constructor(job: Job) {
    const table = job.table("criticalpath.slack");
    const runs = table.all.flatMap((row) => {
      const begin = table.num(row, "begin_ns"),
        key = keyOf(table.num(row, "rank"), table.num(row, "device"), table.num(row, "stream"));
      return begin === null ? [] : [{ key, begin, least: table.num(row, "slack_ns"), most: table.num(row, "slack_most_ns") }];
    });
    this.#runs = f.groupBy(runs, ({ key }) => key);
    this.#leftOut = table.leftOut;
    this.#sure = job.table("whatif.job").cell(0, "sure") !== false;
  }

  get any(): boolean {
    return this.#runs.size > 0 || this.#leftOut > 0;
  }

  at(rank: number, { device, stream }: Track, begin: number): Slack | undefined {
    const runs = this.#runs.get(keyOf(rank, device < 0 ? null : device, stream < 0 ? null : stream)) ?? [],
      behind = lowest(runs.length, (i) => runs[i]!.begin > begin),
      last = runs[behind - 1];
    if (!last) return undefined;
    /* If several runs begin at the same time, it is unknown which of them has the event, so their bounds are joined. */
    const first = last.begin < begin ? behind - 1 : lowest(behind, (i) => runs[i]!.begin >= begin);
    return runs.slice(first, behind).reduce<Slack>(joined, last);
  }

  /** Says in words how large the slack is. The words can follow a colon. */
  words(rank: number, track: Track, begin: number): string {
    const slack = this.at(rank, track, begin);
    if (!slack) return this.#leftOut > 0 ? "its slack is not in this page" : "its slack is not known";
    const { least, most } = slack;
    if (least === null) return "no step's end depends on it";
    if (most === 0) return "a later end would have delayed the job";
    const by = most === null ? `at least ${f.time(least)}` : least === most ? f.time(least) : `${f.time(least)} to ${f.time(most)}`;
    return `it could have ended ${by} later without delaying the job${this.#sure ? "" : ", by an uncertain replay (see What if)"}`;
  }
}

function keyOf(rank: number | null, device: number | null, stream: number | null): string {
  return `${rank}.${device}.${stream}`;
}

const joined = (a: Slack, b: Slack): Slack => ({
  least: a.least === null || b.least === null ? (a.least ?? b.least) : Math.min(a.least, b.least),
  most: a.most === null || b.most === null ? null : Math.max(a.most, b.most),
});
