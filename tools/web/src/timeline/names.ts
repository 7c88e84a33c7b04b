/** Shortens names for display, and searches for names. */
import { shortName, visible } from "../dom";
import { parseRanges } from "./area";
import { ANNOTATION, CALL, COMPUTE, COPIES, GPU_ANNOTATION, OPERATOR, OTHER, PYTHON, TRANSFER, UNMATCHED, type Events } from "./model";

export class Labels {
  readonly #short: (string | undefined)[] = [];
  readonly #whole: (string | undefined)[] = [];

  constructor(readonly names: readonly string[]) {}

  of(name: number, gpu: boolean): string {
    const kept = gpu ? this.#short : this.#whole;
    return (kept[name] ??= visible(gpu ? shortName(this.names[name] ?? "") : (this.names[name] ?? "")).slice(0, 160));
  }
}

/** Groups in which matches are counted. Each has its word in singular and plural, and its kinds of events. */
export const GROUPS: readonly (readonly [one: readonly [string, string], kinds: readonly number[]])[] = [
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

export type FoundGroup = ReturnType<typeof groupsOf>[number];

/* Returns number and time of the matches in each group. Time in nested matches counts once. @param rows sorted by track, then by begin */
function groupsOf(rows: readonly number[], events: Events) {
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

/** Words that limit a search to certain kinds of events. */
export const KINDS_SOUGHT: Readonly<Record<string, readonly number[]>> = {
  kernel: [COMPUTE, TRANSFER, UNMATCHED],
  compute: [COMPUTE],
  communication: [TRANSFER, UNMATCHED],
  copy: [COPIES],
  annotation: [GPU_ANNOTATION, ANNOTATION],
  operator: [OPERATOR],
  python: [PYTHON],
  call: [CALL],
};

const UNITS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

/* Returns the test of a name. Plain text matches anywhere, in upper or lower case. Text between slashes is a regular expression. */
function nameTest(text: string): ((name: string) => boolean) | null {
  const pattern = /^\/(.+)\/$/.exec(text);
  if (!pattern) return (name) => name.toLowerCase().includes(text.toLowerCase());
  try {
    const expression = new RegExp(pattern[1]!, "i");
    return (name) => expression.test(name);
  } catch {
    return null;
  }
}

export type Query = Exclude<ReturnType<typeof queryOf>, string | null>;

/** Parses a search: text or /pattern/ for names, and conditions. Returns null if it is empty, an error message if it is invalid. */
export function queryOf(text: string) {
  let rank: (rank: number) => boolean = () => true,
    kinds: readonly number[] | null = null,
    least = 0, // durations [ns]
    most = Infinity;
  const words: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const condition = /^(rank|kind):(.+)$/i.exec(word),
      duration = /^dur([<>])([\d.]+)(ns|us|µs|ms|s)$/i.exec(word);
    if (condition?.[1]!.toLowerCase() === "rank") {
      if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(condition[2]!)) return "ranks are numbers: rank:3 or rank:0-7,12";
      rank = parseRanges(condition[2]!);
    } else if (condition) {
      kinds = KINDS_SOUGHT[condition[2]!.toLowerCase()] ?? null;
      if (!kinds) return `kinds are ${Object.keys(KINDS_SOUGHT).join(", ")}`;
    } else if (duration) {
      const limit = Number(duration[2]) * UNITS[duration[3]!.toLowerCase()]!;
      if (duration[1] === ">") least = limit;
      else most = limit;
    } else if (word !== "") words.push(word);
  }
  const name = nameTest(words.join(" "));
  if (!name) return "not a regular expression";
  return text.trim() === "" ? null : { name, rank, kinds, least, most };
}

export type Found = NonNullable<ReturnType<typeof find>>;

/** Returns null if the search is empty. `rows`: matching events, ordered by begin. `wrong`: error message; null: none. */
export function find(text: string, names: readonly string[], events: Events, ranks: readonly { readonly rank: number }[] = []) {
  const query = queryOf(text);
  if (!query) return null;
  const fits = new Uint8Array(events.n), // 1 for each event that matches
    wanted = text.includes("/") ? text.trim() : text.trim().toLowerCase(),
    result = (rows: Uint32Array, groups: readonly FoundGroup[], wrong: string | null) => ({
      text: wanted,
      fits,
      count: rows.length,
      groups,
      rows,
      wrong,
    });
  if (typeof query === "string") return result(new Uint32Array(0), groupsOf([], events), query);
  const named = names.map((name) => query.name(name)),
    { begin, duration, kind, name } = events,
    rows: number[] = [];
  for (const track of events.tracks) {
    if (!query.rank(ranks[track.at]?.rank ?? track.at)) continue;
    for (let row = track.first; row < track.first + track.n; row++) {
      if (!named[name[row]!] || (query.kinds && !query.kinds.includes(kind[row]!))) continue;
      if ((query.least > 0 && duration[row]! <= query.least) || duration[row]! >= query.most) continue;
      fits[row] = 1;
      rows.push(row);
    }
  }
  const groups = groupsOf(rows, events);
  rows.sort((a, b) => begin[a]! - begin[b]! || a - b);
  return result(Uint32Array.from(rows), groups, null);
}
