/** Names as they are shown and searched. */
import { visible } from "../dom";
import type { Events } from "./model";

/** What of a kernel's name tells it: without its arguments, its return type and its namespaces. */
export function shortName(name: string): string {
  const plain = name.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, "").replace(/[(<].*$/s, "");
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

/** What a search found. */
export interface Found {
  readonly text: string;
  /** By name: 1 where it fits. */
  readonly names: Uint8Array;
  readonly count: number;
  /** Together [ns]. */
  readonly time: number;
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
  let time = 0;
  for (let row = 0; row < events.n; row++) {
    if (fits[events.name[row]!] !== 1) continue;
    rows.push(row);
    time += events.duration[row]!;
  }
  rows.sort((a, b) => events.begin[a]! - events.begin[b]! || a - b);
  return { text: wanted, names: fits, count: rows.length, time, rows: Uint32Array.from(rows) };
}
