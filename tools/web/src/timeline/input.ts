/** Handles the pointer and the wheel on the canvas, and says what each key does. */
import type { Controller } from "./controller";
import { HEAD, NOWHERE, type Zone } from "./chart";
import type { Span } from "./model";

type Key = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">;

type Command = (to: Controller) => void;

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

/** Returns the command of a key; null if it has none. The browser then handles the key. */
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

const CLICK = 4; // if the pointer moves less than this [px] while pressed, it is a click
const SCROLLS: ReadonlySet<string> = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home"]);
/** If the pointer moves farther than this up or down [px], the mark covers only the rows that it crosses. Otherwise, all rows. */
const ROWS_FROM = 8;
const WHEEL_ZOOM = 0.0025,
  LINE = 16;

type Press = Readonly<Record<"x" | "y" | "scroll", number> & { zone: Zone; span: Span; mark: boolean }> & { moved: boolean };

export class Input {
  readonly #pointers = new Map<number, { x: number; y: number }>();
  #press: Press | null = null;
  #pinch: { distance: number; span: Span; at: number } | null = null;

  constructor(
    readonly controller: Controller,
    readonly element: HTMLCanvasElement,
  ) {
    element.addEventListener("pointerdown", (e) => this.#down(e));
    element.addEventListener("pointermove", (e) => this.#move(e));
    element.addEventListener("pointerup", (e) => this.#up(e));
    element.addEventListener("pointercancel", (e) => this.#cancel(e));
    element.addEventListener("pointerleave", () => this.#leave());
    element.addEventListener("dblclick", (e) => this.#twice(e));
    element.addEventListener("wheel", (e) => this.#wheel(e), { passive: false });
  }

  #place(e: MouseEvent): { x: number; y: number } {
    const box = this.element.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  }

  /** Handles a key, unless the focused element needs it. */
  key(e: KeyboardEvent): void {
    const command = commandOf(e),
      at = e.target instanceof Element ? e.target : document.body;
    if (!command || e.defaultPrevented || at.closest("input, select, textarea")) return;
    if (e.key === "Enter" && at.closest("a, button, summary")) return;
    if (SCROLLS.has(e.key) && at.closest(".tl-details, .tl-handle")) return;
    e.preventDefault();
    command(this.controller);
  }

  #down(e: PointerEvent): void {
    if (e.button !== 0) return;
    const { x, y } = this.#place(e),
      { chart, state } = this.controller;
    this.element.focus({ preventScroll: true });
    this.element.setPointerCapture(e.pointerId);
    this.#pointers.set(e.pointerId, { x, y });
    if (this.#pointers.size === 2) return this.#beginPinch();
    this.#press = { zone: chart.zone(x, y), x, y, span: state.span, scroll: state.scroll, mark: e.shiftKey, moved: false };
    if (this.#press.zone === "strip") this.#brush(x);
  }

  #beginPinch(): void {
    const [a, b] = [...this.#pointers.values()];
    if (!a || !b) return;
    this.#press = null;
    this.controller.setMark(null);
    this.#pinch = {
      distance: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)),
      span: this.controller.state.span,
      at: this.controller.chart.scale.time((a.x + b.x) / 2),
    };
  }

  #move(e: PointerEvent): void {
    const { x, y } = this.#place(e),
      { controller } = this;
    controller.pointer = { x, y };
    if (this.#pointers.has(e.pointerId)) this.#pointers.set(e.pointerId, { x, y });
    if (this.#pinch) return this.#doPinch();
    if (!this.#press) {
      const zone = controller.chart.zone(x, y);
      this.element.style.cursor = zone === "gutter" ? "pointer" : zone === "ruler" || zone === "strip" ? "ew-resize" : "default";
      return controller.hover(zone === "lanes" ? controller.chart.target(x, y) : NOWHERE);
    }
    if (Math.hypot(x - this.#press.x, y - this.#press.y) > CLICK) this.#press.moved = true;
    if (this.#press.moved || this.#press.zone === "strip") this.#drag(this.#press, x, y);
  }

  #doPinch(): void {
    const [a, b] = [...this.#pointers.values()],
      pinch = this.#pinch!;
    if (!a || !b) return;
    const { chart } = this.controller,
      { left, width } = chart.scale;
    const factor = pinch.distance / Math.max(20, Math.hypot(a.x - b.x, a.y - b.y));
    const length = (pinch.span.end - pinch.span.begin) * factor;
    const begin = pinch.at - (((a.x + b.x) / 2 - left) / width) * length;
    this.controller.setSpan({ begin, end: begin + length });
  }

  #drag(press: Press, x: number, y: number): void {
    const { controller } = this,
      { chart, state } = controller;
    const k = chart.scale.k;
    controller.dragged = true;
    if (press.zone === "strip") return this.#brush(x);
    if (press.zone === "scrollbar") {
      state.scroll = Math.max(0, Math.min(chart.maxScroll, press.scroll + ((y - press.y) * chart.layout.height) / Math.max(1, chart.room)));
      return controller.draw();
    }
    if (press.zone === "ruler" || (press.zone === "lanes" && press.mark)) {
      const times = [press.x, x].map((at) => chart.scale.time(at)).sort((a, b) => a - b);
      const heights = [press.y, y].sort((a, b) => a - b) as [number, number],
        rows = press.zone === "lanes" && heights[1] - heights[0] > ROWS_FROM;
      return controller.drawMark(
        { begin: times[0]!, end: times[1]! },
        rows ? chart.placesBetween(...heights) : null,
        rows ? chart.tracksBetween(...heights) : null,
      );
    }
    if (press.zone !== "lanes" && press.zone !== "gutter") return;
    state.scroll = Math.max(0, Math.min(chart.maxScroll, press.scroll - (y - press.y)));
    if (press.zone === "gutter") return controller.draw();
    const by = (press.x - x) / k;
    controller.setSpan({ begin: press.span.begin + by, end: press.span.end + by });
  }

  #brush(x: number): void {
    const { controller } = this,
      { left, width } = controller.chart.scale,
      { span } = controller.state;
    const time = ((x - left) / width) * controller.duration;
    if (span.end - span.begin >= controller.duration * 0.999) {
      const length = controller.duration / 8;
      return controller.setSpan({ begin: time - length / 2, end: time + length / 2 });
    }
    const half = (span.end - span.begin) / 2;
    controller.setSpan({ begin: time - half, end: time + half });
  }

  #up(e: PointerEvent): void {
    this.#pointers.delete(e.pointerId);
    this.controller.dragged = false;
    if (this.#pinch) {
      if (this.#pointers.size < 2) this.#pinch = null;
      return;
    }
    const press = this.#press,
      { controller } = this,
      { mark } = controller.state;
    this.#press = null;
    if (!press) return;
    if (press.zone === "ruler" && press.moved && mark) {
      controller.setMark(null);
      return controller.setSpan(mark);
    }
    if (press.zone === "lanes" && press.mark && press.moved)
      return controller.setMark(mark, controller.state.marked, controller.state.markedTracks);
    if (press.zone === "ruler" && !press.moved && controller.chart.flagAt(press.x) >= 0)
      return controller.listener.asked("flag", controller.chart.flagAt(press.x));
    if (!press.moved) this.#click(press);
  }

  #click(press: Press): void {
    const { controller } = this,
      { chart } = controller,
      row = chart.row(press.y);
    const map = controller.state.arrangement.map !== null;
    if (row?.kind === "host" && (press.zone === "gutter" || (press.zone === "lanes" && row.folded))) return controller.toggleHost(row.host);
    if (press.zone === "gutter" && row && !map && (row.kind === "rank" || row.kind === "sub")) return controller.toggle(row.at);
    if (press.zone !== "lanes" && press.zone !== "gutter") return;
    const target = chart.target(press.x, press.y);
    if (map && target.at >= 0) {
      if (press.zone === "lanes") return controller.zoomInto(target.at, chart.scale.time(press.x));
      return controller.select({ ...NOWHERE, at: target.at });
    }
    if (press.zone !== "lanes") return;
    if (controller.state.mark && target.event < 0 && !target.piece) controller.setMark(null);
    controller.select(target);
  }

  #twice(e: MouseEvent): void {
    const { x, y } = this.#place(e),
      { chart, state } = this.controller,
      { event, operation, piece } = state.selected;
    if (y < HEAD) this.controller.showAll();
    else if (chart.zone(x, y) !== "lanes") return;
    else if (event >= 0 || operation || piece) this.controller.fit();
    else this.controller.zoomBy(0.5);
  }

  #cancel(e: PointerEvent): void {
    this.#pointers.delete(e.pointerId);
    this.#press = null;
    this.#pinch = null;
  }

  #leave(): void {
    if (this.#press) return;
    this.controller.pointer = null;
    this.controller.hover(NOWHERE);
  }

  #wheel(e: WheelEvent): void {
    const unit = e.deltaMode === 1 ? LINE : 1,
      { controller } = this;
    const dx = e.deltaX * unit,
      dy = e.deltaY * unit;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      return controller.zoomAt(this.#place(e).x, Math.exp(Math.max(-200, Math.min(200, dy)) * WHEEL_ZOOM * (Math.abs(dy) < 20 ? 4 : 1)));
    }
    const sideways = e.shiftKey ? dx || dy : Math.abs(dx) > Math.abs(dy) ? dx : 0;
    if (sideways !== 0) {
      e.preventDefault();
      return controller.panBy(sideways / controller.chart.scale.width);
    }
    /* if the rows cannot scroll further, the document scrolls */
    if (controller.scrollBy(dy)) e.preventDefault();
  }
}
