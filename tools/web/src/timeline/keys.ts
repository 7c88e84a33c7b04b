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

/** The command of a key; null for a key without one, which the browser handles. */
export function commandOf(event: Key): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const fast = event.shiftKey;
  switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
    case "w":
      return { do: "zoom", factor: 1 / (fast ? ZOOM_FAST : ZOOM) };
    case "s":
      return { do: "zoom", factor: fast ? ZOOM_FAST : ZOOM };
    case "+":
    case "=":
      return { do: "zoom", factor: 1 / ZOOM };
    case "-":
      return { do: "zoom", factor: ZOOM };
    case "a":
    case "ArrowLeft":
      return { do: "pan", share: fast ? -PAN_FAST : -PAN };
    case "d":
    case "ArrowRight":
      return { do: "pan", share: fast ? PAN_FAST : PAN };
    case "ArrowUp":
      return fast ? { do: "rank", forward: false } : { do: "scroll", rows: -1 };
    case "ArrowDown":
      return fast ? { do: "rank", forward: true } : { do: "scroll", rows: 1 };
    case "PageUp":
      return { do: "page", pages: -1 };
    case "PageDown":
      return { do: "page", pages: 1 };
    case "f":
      return { do: "fit" };
    case "0":
    case "Home":
      return { do: "whole" };
    case "[":
    case "{":
      return { do: "operation", forward: false, byWait: fast };
    case "]":
    case "}":
      return { do: "operation", forward: true, byWait: fast };
    case ",":
      return { do: "event", forward: false };
    case ".":
      return { do: "event", forward: true };
    case "c":
      return { do: "path" };
    case "j":
      return { do: "piece", forward: true, hop: fast };
    case "k":
      return { do: "piece", forward: false, hop: fast };
    case "/":
      return { do: "find" };
    case "Enter":
      return { do: "details" };
    case "Escape":
      return { do: "clear" };
    case "m":
      return { do: "mark", lane: fast };
    case "n":
      return { do: "step", forward: true };
    case "p":
      return { do: "step", forward: false };
    case "o":
      return { do: "open" };
    case "l":
      return { do: "launch" };
    case "v":
      return { do: "map" };
    case "h":
      return { do: "fold", all: fast };
    case "t":
      return { do: "pin" };
    case "<":
      return { do: "move", by: -1 };
    case ">":
      return { do: "move", by: 1 };
    case "x":
      return { do: "hide", all: fast };
    case "?":
      return { do: "help" };
    default:
      return null;
  }
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
  ["Enter", "select what is under the pointer, or go to the details"],
  ["wheel, Shift+wheel, Ctrl+wheel", "rows, move, zoom"],
  [
    "drag, Shift+drag, drag on the ruler",
    "move, mark a range or an area over some rows (also streams and threads of an opened rank), zoom to the range",
  ],
  ["pinch", "zoom"],
];
