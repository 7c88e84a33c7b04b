/** What each key does. */
import type { Controller } from "./controller";

type Key = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">;

export type Command = (to: Controller) => void;

const ZOOM = 1.5,
  ZOOM_FAST = 4,
  PAN = 0.2,
  PAN_FAST = 0.8;

/* Commands by key. `fast`: Shift is held. */
const KEYS: Readonly<Record<string, (to: Controller, fast: boolean) => void>> = {
  f: (to) => to.fit(),
  "0": (to) => to.showAll(),
  c: (to) => to.setPath(!to.state.path),
  "/": (to) => to.listener.asked("find"),
  Enter: (to) => to.details(),
  Escape: (to) => to.clear(),
  g: (to) => to.putFlag(),
  e: (to) => to.setListed(!to.state.listed),
  o: (to) => to.open(),
  l: (to) => to.followLaunch(),
  v: (to) => to.switchMap(),
  t: (to) => to.togglePin(to.rankInQuestion()),
  "?": (to) => to.listener.asked("help"),
  w: (to, fast) => to.zoomBy(1 / (fast ? ZOOM_FAST : ZOOM)),
  s: (to, fast) => to.zoomBy(fast ? ZOOM_FAST : ZOOM),
  "+": (to) => to.zoomBy(1 / ZOOM),
  "-": (to) => to.zoomBy(ZOOM),
  a: (to, fast) => to.panBy(fast ? -PAN_FAST : -PAN),
  d: (to, fast) => to.panBy(fast ? PAN_FAST : PAN),
  ArrowUp: (to, fast) => (fast ? to.nextRank(false) : to.scrollRows(-1)),
  ArrowDown: (to, fast) => (fast ? to.nextRank(true) : to.scrollRows(1)),
  PageUp: (to) => to.scrollPages(-1),
  PageDown: (to) => to.scrollPages(1),
  "[": (to, fast) => to.nextOperation(false, fast),
  "]": (to, fast) => to.nextOperation(true, fast),
  ",": (to) => to.nextEvent(false),
  ".": (to) => to.nextEvent(true),
  j: (to, fast) => to.nextPiece(true, fast),
  k: (to, fast) => to.nextPiece(false, fast),
  m: (to, fast) => (fast ? to.markRank() : to.markAll()),
  n: (to) => to.nextStep(true),
  p: (to) => to.nextStep(false),
  h: (to, fast) => to.fold(fast),
  x: (to, fast) => (fast ? to.arrange(({ hidden }) => hidden.clear()) : to.hide()),
  "<": (to) => to.movePinned(-1),
  ">": (to) => to.movePinned(1),
};
const SAME: Readonly<Record<string, string>> = { "=": "+", "{": "[", "}": "]", ArrowLeft: "a", ArrowRight: "d", Home: "0" };

/** Returns the command of a key. Returns null if the key has no command; the browser then handles the key. */
export function commandOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Key): Command | null {
  const name = key.length === 1 ? key.toLowerCase() : key,
    command = ctrlKey || metaKey || altKey ? undefined : KEYS[SAME[name] ?? name];
  return command ? (to) => command(to, shiftKey) : null;
}

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
  ["g", "put a flag with a note on what is marked, or where the pointer is; the address keeps it, and a saved copy of the page"],
  ["e", "list the events in view, or what was found"],
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
