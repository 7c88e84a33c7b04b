/** Maps keys to commands. */

export type Command =
  | { readonly do: "zoom"; readonly factor: number }
  | { readonly do: "pan"; readonly share: number }
  | { readonly do: "scroll"; readonly rows: number }
  | { readonly do: "page"; readonly pages: number }
  | { readonly do: "fit" | "whole" | "find" | "open" | "launch" | "help" | "clear" | "details" | "path" | "map" | "pin" }
  | { readonly do: "fold" | "hide"; readonly all: boolean }
  | { readonly do: "mark"; readonly lane: boolean }
  | { readonly do: "move"; readonly by: number }
  | { readonly do: "rank"; readonly forward: boolean }
  | { readonly do: "operation"; readonly forward: boolean; readonly byWait: boolean }
  | { readonly do: "piece"; readonly forward: boolean; readonly hop: boolean }
  | { readonly do: "event"; readonly forward: boolean }
  | { readonly do: "step"; readonly forward: boolean }
  | { readonly do: "found"; readonly forward: boolean };

export interface Key {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const ZOOM = 1.5,
  ZOOM_FAST = 4,
  PAN = 0.2,
  PAN_FAST = 0.8;

const KEYS: Readonly<Record<string, (fast: boolean) => Command>> = {
  f: () => ({ do: "fit" }),
  "0": () => ({ do: "whole" }),
  c: () => ({ do: "path" }),
  "/": () => ({ do: "find" }),
  Enter: () => ({ do: "details" }),
  Escape: () => ({ do: "clear" }),
  o: () => ({ do: "open" }),
  l: () => ({ do: "launch" }),
  v: () => ({ do: "map" }),
  t: () => ({ do: "pin" }),
  "?": () => ({ do: "help" }),
  w: (fast) => ({ do: "zoom", factor: 1 / (fast ? ZOOM_FAST : ZOOM) }),
  s: (fast) => ({ do: "zoom", factor: fast ? ZOOM_FAST : ZOOM }),
  "+": () => ({ do: "zoom", factor: 1 / ZOOM }),
  "-": () => ({ do: "zoom", factor: ZOOM }),
  a: (fast) => ({ do: "pan", share: fast ? -PAN_FAST : -PAN }),
  d: (fast) => ({ do: "pan", share: fast ? PAN_FAST : PAN }),
  ArrowUp: (fast) => (fast ? { do: "rank", forward: false } : { do: "scroll", rows: -1 }),
  ArrowDown: (fast) => (fast ? { do: "rank", forward: true } : { do: "scroll", rows: 1 }),
  PageUp: () => ({ do: "page", pages: -1 }),
  PageDown: () => ({ do: "page", pages: 1 }),
  "[": (fast) => ({ do: "operation", forward: false, byWait: fast }),
  "]": (fast) => ({ do: "operation", forward: true, byWait: fast }),
  ",": () => ({ do: "event", forward: false }),
  ".": () => ({ do: "event", forward: true }),
  j: (fast) => ({ do: "piece", forward: true, hop: fast }),
  k: (fast) => ({ do: "piece", forward: false, hop: fast }),
  m: (fast) => ({ do: "mark", lane: fast }),
  n: () => ({ do: "step", forward: true }),
  p: () => ({ do: "step", forward: false }),
  h: (fast) => ({ do: "fold", all: fast }),
  x: (fast) => ({ do: "hide", all: fast }),
  "<": () => ({ do: "move", by: -1 }),
  ">": () => ({ do: "move", by: 1 }),
};
const SAME: Readonly<Record<string, string>> = { "=": "+", "{": "[", "}": "]", ArrowLeft: "a", ArrowRight: "d", Home: "0" };

/** The command of a key; null for a key without one, which the browser handles. */
export function commandOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Key): Command | null {
  const name = key.length === 1 ? key.toLowerCase() : key;
  return ctrlKey || metaKey || altKey ? null : (KEYS[SAME[name] ?? name]?.(shiftKey) ?? null);
}

/** Keys and their effects, for the help. */
export const HELP: readonly (readonly [string, string])[] = [
  ["w s", "zoom in and out at the pointer (Shift: faster)"],
  ["a d", "move left and right (Shift: faster)"],
  ["↑ ↓ PgUp PgDn", "move through the rows (Shift+↑ ↓: select the next rank)"],
  ["v", "lanes, or a map of ranks and time; Enter or a click there zooms in"],
  ["h", "fold the host into one row, or unfold it (Shift: all hosts)"],
  ["t, < >", "pin the rank above the others; move it among the pinned"],
  ["x", "hide the rank (Shift: show all)"],
  ["f", "fit the selection"],
  ["0 or Home", "whole job"],
  ["[ ]", "previous and next collective (Shift: by wait)"],
  [", .", "previous and next event in the lane"],
  ["l", "from a kernel to the call that launched it, and from a host event to what it launched"],
  ["c", "show or hide the critical path, which decides when each step ends; on an opened rank it is drawn over its threads"],
  ["k j", "previous and next piece of the critical path (Shift: on another rank)"],
  ["n p", "next and previous step"],
  ["/", "find text or /pattern/ in names, with rank:0-7, kind:kernel, dur>1ms; Enter and Shift+Enter: next and previous; Esc: clear"],
  ["m", "mark what is in view, or the selection: its sums, kernels, operators (Shift: of this rank only, or of one more)"],
  ["o", "open or close the rank: its streams and host threads"],
  ["y", "copy the whole name of the selection, or of what is under the pointer in a table"],
  ["Enter", "select what is under the pointer, or go to the details"],
  ["wheel, Shift+wheel, Ctrl+wheel", "rows, move, zoom"],
  [
    "drag, Shift+drag, drag on the ruler",
    "move, mark a range or an area over some rows (also streams and threads of an opened rank), zoom to the range",
  ],
  ["pinch", "zoom"],
];
