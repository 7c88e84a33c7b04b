/** The critical path: the chain of calls, kernels and transfers that determines when each step ends. */
import type { Job } from "./data";

const KINDS: Readonly<Record<string, string>> = {
  compute: "compute kernel",
  copy: "copy or set",
  comm: "communication that joins no ranks",
  transfer: "transfer",
  launch: "from the launch to the start",
  gap: "between two events of a stream",
  wait: "after an event of another stream",
  host: "host, between calls",
  call: "runtime or driver call",
  sync: "end of a call that waited for the GPU",
  before: "nothing recorded",
};

export const kindOf = (piece: Piece): string => KINDS[piece.kind] ?? piece.kind;

/** Returns the name of a call or kernel; for waiting and host time, "before" and the name of the event that follows. */
export function nameOf(piece: Piece): string {
  const behind =
    piece.kind === "host" || piece.kind === "launch" || piece.kind === "gap" || piece.kind === "wait" || piece.kind === "before";
  return piece.name === null ? "" : behind ? `before ${piece.name}` : piece.name;
}

export const addressOf = (piece: Piece): string => `${piece.step}.${piece.place}`;

/** A piece of the path, from `begin` to `end` [ns from the job's begin], and its index in its step. */
export type Piece = ReturnType<typeof pathOf>[number];

/** Returns the pieces in the page, ascending in time. The table must be loaded. */
export function pathOf(job: Job) {
  const table = job.table("criticalpath.piece");
  const at = (["step", "place", "rank", "kind", "name", "begin_ns", "duration_ns"] as const).map((column) => table.place(column));
  const [step, place, rank, kind, name, begin, duration] = at as [number, number, number, number, number, number, number];
  const all = table.rows.map((row) => ({
    step: Number(row[step]),
    place: Number(row[place]),
    rank: Number(row[rank]),
    kind: String(row[kind]),
    name: row[name] === null ? null : String(row[name]), // for a lag, the name of the event after it; for host time, of the call after it
    begin: Number(row[begin]),
    end: Number(row[begin]) + Number(row[duration]),
  }));
  return all.sort((a, b) => a.begin - b.begin || a.step - b.step || a.place - b.place);
}
