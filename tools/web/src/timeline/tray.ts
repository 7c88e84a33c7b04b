/** The tray below the chart. The reader can change its height, and its content scrolls independently of the page. */
import { h } from "../dom";

const LEAST = 80,
  STEP = 24;

/** Returns the handle that changes the tray's height. @p height: height from the address [px]; @p changed: called with the new height. */
export function trayHandle(tray: HTMLElement, height: string | undefined, changed: (height: string) => void): HTMLElement {
  const handle = h("div.tl-handle", {
    role: "separator",
    tabindex: 0,
    "aria-orientation": "horizontal",
    "aria-label": "Height of the details",
    "aria-valuemin": LEAST,
    on: {
      pointerdown: (e) => handle.setPointerCapture(e.pointerId),
      pointermove: (e) => handle.hasPointerCapture(e.pointerId) && change(handle.getBoundingClientRect().top - Math.round(e.clientY - 4)),
      keydown: (e) => {
        if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
        e.preventDefault();
        change(e.key === "ArrowUp" ? STEP : -STEP);
      },
    },
  });
  function set(to: number): string {
    const most = Math.round(window.innerHeight / 2),
      within = String(Math.max(LEAST, Math.min(most, to)));
    tray.style.setProperty("--tray", `${within}px`);
    handle.setAttribute("aria-valuenow", within);
    handle.setAttribute("aria-valuemax", String(most));
    return within;
  }
  function change(by: number): void {
    changed(set(Number(handle.getAttribute("aria-valuenow")) + by));
  }
  set(Number(height) || Math.round(window.innerHeight * 0.2));
  return handle;
}
