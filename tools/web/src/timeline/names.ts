/** Names as they are shown and searched. */
import { visible } from "../dom";
import { ANNOTATION, CALL, COMPUTE, COPIES, GPU_ANNOTATION, OPERATOR, OTHER, PYTHON, TRANSFER, UNMATCHED, type Events } from "./model";

/** What of a kernel's name tells it: without its arguments, its return type and its namespaces. */
export function shortName(name: string): string {
  const plain = name
    .replace(/^void /, "")
    .replace(/\(anonymous namespace\)::/g, "")
    .replace(/[(<].*$/s, "");
  const last = plain.slice(plain.lastIndexOf("::") + 1).replace(/^:/, "");
  return last || plain || name;
}

/** Labels, each made once. */
export class Labels {
  readonly #short: (string | undefined)[] = [];
  readonly #whole: (string | undefined)[] = [];

  constructor(readonly names: readonly string[]) {}

  of(name: number, gpu: boolean): string {
    const kept = gpu ? this.#short : this.#whole;
    return (kept[name] ??= visible(gpu ? shortName(this.names[name] ?? "") : (this.names[name] ?? "")).slice(0, 160));
  }
}

/** Events of some kinds that a search found. */
export interface FoundGroup {
  /** Of one, of many. */
  readonly what: readonly [string, string];
  count: number;
  /** Together [ns]; what is nested on a track counts once. */
  time: number;
}

const GROUPS: readonly (readonly [FoundGroup["what"], readonly number[]])[] = [
  [
    ["kernel", "kernels"],
    [COMPUTE, TRANSFER, UNMATCHED],
  ],
  [["copy or set", "copies and sets"], [COPIES]],
  [["GPU annotation", "GPU annotations"], [GPU_ANNOTATION]],
  [
    ["on the host", "on the host"],
    [OPERATOR, ANNOTATION, PYTHON, CALL, OTHER],
  ],
];

/* Sums by group of the rows, which are in order of their tracks and of their begin in each. */
function groupsOf(rows: readonly number[], events: Events): FoundGroup[] {
  const groups = GROUPS.map(([what]) => ({ what, count: 0, time: 0 }));
  const ends = new Float64Array(groups.length);
  let track = 0;
  for (const row of rows) {
    const kind = events.kind[row]!,
      g = GROUPS.findIndex(([, kinds]) => kinds.includes(kind)),
      group = groups[g];
    while (track < events.tracks.length && events.tracks[track]!.first + events.tracks[track]!.n <= row) {
      track++;
      ends.fill(-Infinity);
    }
    if (!group) continue;
    const begin = events.begin[row]!,
      end = begin + events.duration[row]!,
      nested = kind >= GPU_ANNOTATION;
    group.count++;
    group.time += nested ? Math.max(0, end - Math.max(begin, ends[g]!)) : end - begin;
    ends[g] = Math.max(ends[g]!, end);
  }
  return groups;
}

/** What a search found. */
export interface Found {
  readonly text: string;
  /** By name: 1 where it fits. */
  readonly names: Uint8Array;
  readonly count: number;
  /** What of it ran where. */
  readonly groups: readonly FoundGroup[];
  /** Events in order of begin. */
  readonly rows: Uint32Array;
}

/** Looks for a text in the names of all events, without case; null for no text. */
export function find(text: string, names: readonly string[], events: Events): Found | null {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const fits = new Uint8Array(names.length);
  names.forEach((name, i) => (fits[i] = name.toLowerCase().includes(wanted) ? 1 : 0));
  const rows: number[] = [];
  for (let row = 0; row < events.n; row++) if (fits[events.name[row]!] === 1) rows.push(row);
  const groups = groupsOf(rows, events);
  rows.sort((a, b) => events.begin[a]! - events.begin[b]! || a - b);
  return { text: wanted, names: fits, count: rows.length, groups, rows: Uint32Array.from(rows) };
}
