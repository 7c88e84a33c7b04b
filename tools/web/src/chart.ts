/** Charts with axes on a canvas: themes, printing, pointer and keyboard. */
import { sized } from "./canvas";
import { colours, h, inLight, type Child } from "./dom";
import { drawPlot, Scales, type Plot } from "./plot";
import { hideTip, tipAt } from "./ui";

/** The page's colours, named as custom properties of the style sheet, without the leading dashes. */
export type Theme = Readonly<Record<(typeof COLORS)[number], string>>;

const CLASS_COLORS = ([0, 1, 2, 3, 4, 5, 6, 7] as const).map((n) => `class-${n}` as const);
const COLORS = [...(["page", "ink", "ink-2", "ink-3", "line", "compute", "transfer", "wait", "copies"] as const), ...CLASS_COLORS];
const READS = 64; // positions along the axis that the arrow keys step through
const PRINT_WIDTH = 680; // width of A4 without margins, in CSS pixels

function themeOf(): Theme {
  const color = colours();
  return Object.fromEntries(COLORS.map((name) => [name, color(name)])) as Theme;
}

export interface ChartOptions {
  readonly label: string;
  readonly height: number; // [px]; until the chart is drawn, the page leaves this much space for it
  readonly plot: (theme: Theme) => Plot;
  readonly tip?: (mark: number) => Child;
  readonly click?: (mark: number) => void;
  /** Content of the tooltip at a position on the axes. Used only for charts whose marks have no tooltips. */
  readonly read?: (x: number, y: number) => Child;
}

/** Makes a chart. The chart is drawn once it has a width, and is released when it leaves the page. */
export function drawChart({ label, height, plot, tip, click, read }: ChartOptions): HTMLElement {
  let scales: Scales | undefined,
    at = -1; // what the arrow keys selected: index of a mark, or position along the axis; -1: nothing yet
  const canvas = h("canvas", { on: { mousemove: point, mouseleave: hideTip, click: press } }),
    element = h(
      "div.chart",
      {
        style: { height: `${height}px` },
        "aria-label": label,
        ...(tip || read ? { role: "application", tabindex: 0, "aria-roledescription": "chart" } : { role: "img" }),
        on: { keydown: onKey, blur: hideTip },
      },
      canvas,
    ),
    resizing = new ResizeObserver(() => {
      if (!element.isConnected) dispose();
      else if (element.clientWidth !== scales?.width) redraw();
    });

  function redraw(): void {
    if (element.clientWidth > 0) draw(element.clientWidth, window.devicePixelRatio, themeOf());
  }
  /* Prints at twice the resolution, no wider than the sheet. */
  function print(): void {
    if (element.clientWidth > 0) draw(Math.min(element.clientWidth, PRINT_WIDTH), 2, inLight(themeOf));
  }
  function draw(width: number, ratio: number, theme: Theme): void {
    const ctx = sized(canvas, width, height, ratio),
      { "ink-2": text, "ink-3": axis, line, page: ground } = theme;
    if (!ctx) return;
    scales = new Scales(plot(theme), width, height);
    drawPlot(ctx, scales, { text, axis, line, ground, font: getComputedStyle(document.documentElement).fontFamily });
    element.dataset["drawn"] = String(width);
  }
  function dispose(): void {
    resizing.disconnect();
    document.removeEventListener("themechange", redraw);
    window.removeEventListener("beforeprint", print);
    window.removeEventListener("afterprint", redraw);
  }

  function place(event: MouseEvent): [number, number] {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  function point(event: MouseEvent): void {
    const [x, y] = place(event),
      mark = tip || click ? (scales?.markAt(x, y) ?? -1) : -1,
      values = read && scales ? scales.values(x, y) : null;
    canvas.style.cursor = click && mark >= 0 ? "pointer" : "default";
    if (tip && mark >= 0) tipAt([event.clientX, event.clientY], tip(mark));
    else if (read && values) tipAt([event.clientX, event.clientY], read(...values));
    else hideTip();
  }
  function press(event: MouseEvent): void {
    const mark = click ? (scales?.markAt(...place(event)) ?? -1) : -1;
    if (mark >= 0) click?.(mark);
  }
  /* Left, Right, Home and End move between marks or along the axis. Enter acts as a click. */
  function onKey(event: KeyboardEvent): void {
    if (!scales || (!tip && !read)) return;
    const marks = tip ? (scales.plot.marks ?? []) : [],
      order = [...marks.keys()].sort((a, b) => marks[a]!.at[0] - marks[b]!.at[0] || marks[a]!.at[1] - marks[b]!.at[1]),
      most = tip ? order.length - 1 : READS;
    if (event.key === "Enter" && tip && at >= 0) click?.(order[at]!);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: most }[event.key];
    if (next === undefined || most < 0) return;
    event.preventDefault();
    at = Math.max(0, Math.min(most, next));
    const { min, max } = scales.plot.x,
      [x, y] = tip ? marks[order[at]!]!.at : [min + (at / READS) * (max - min), scales.plot.y.max],
      box = element.getBoundingClientRect();
    tipAt([box.left + scales.x(x), box.top + scales.y(y)], tip ? tip(order[at]!) : read!(x, y));
    element.setAttribute("aria-describedby", "tip");
  }

  resizing.observe(element);
  document.addEventListener("themechange", redraw);
  window.addEventListener("beforeprint", print);
  window.addEventListener("afterprint", redraw);
  return element;
}
