/** Handles the pointer, wheel and keys on the canvas. */
import type { Controller } from "./controller";
import { HEAD, NOWHERE, type Zone } from "./chart";
import { commandOf } from "./keys";
import type { Span } from "./model";

const CLICK = 4; // a press that moves less than this [px] is a click
const SCROLLS: ReadonlySet<string> = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home"]);
/** A mark that the pointer draws at least this high [px] covers only the rows that it touches; a lower one, all rows. */
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

  /** Handles a key, unless the focused element uses it itself. */
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
