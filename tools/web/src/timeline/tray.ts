/** The tray below the chart. The reader can change its height, and its content scrolls independently of the page. */
import { h } from "../dom";

const LEAST = 80,
  STEP = 24;

export class Tray {
  readonly handle = h("div.tl-handle", {
    role: "separator",
    tabindex: 0,
    "aria-orientation": "horizontal",
    "aria-label": "Height of the details",
    "aria-valuemin": LEAST,
    on: { keydown: (e) => this.#key(e), pointerdown: (e) => this.handle.setPointerCapture(e.pointerId), pointermove: (e) => this.#drag(e) },
  });

  /** @p height: height from the address [px]; @p changed: called with the new height. */
  constructor(
    readonly tray: HTMLElement,
    height: string | undefined,
    readonly changed: (height: string) => void,
  ) {
    this.#set(Number(height) || Math.round(window.innerHeight * 0.2));
  }

  get #most(): number {
    return Math.round(window.innerHeight / 2);
  }

  #set(height: number): void {
    const within = Math.max(LEAST, Math.min(this.#most, height));
    this.tray.style.setProperty("--tray", `${within}px`);
    this.handle.setAttribute("aria-valuenow", String(within));
    this.handle.setAttribute("aria-valuemax", String(this.#most));
  }

  #change(by: number): void {
    this.#set(Number(this.handle.getAttribute("aria-valuenow")) + by);
    this.changed(this.handle.getAttribute("aria-valuenow")!);
  }

  #drag(e: PointerEvent): void {
    if (this.handle.hasPointerCapture(e.pointerId)) this.#change(this.handle.getBoundingClientRect().top - Math.round(e.clientY - 4));
  }

  #key(e: KeyboardEvent): void {
    const up = e.key === "ArrowUp";
    if (!up && e.key !== "ArrowDown") return;
    e.preventDefault();
    this.#change(up ? STEP : -STEP);
  }
}
