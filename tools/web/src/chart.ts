/** Charts with axes on a canvas: themes, printing, pointer and keyboard. */
import { sized } from "./canvas";
import { h, type Child } from "./dom";
import { drawPlot, Scales, type Plot } from "./plot";
import { hideTip, tipAt } from "./ui";

/** The page's colours, named as custom properties of the style sheet, without the leading dashes. */
export type Theme = Readonly<Record<(typeof COLORS)[number], string>>;

const CLASS_COLORS = ([0, 1, 2, 3, 4, 5, 6, 7] as const).map((n) => `class-${n}` as const);
const COLORS = [...(["page", "ink", "ink-2", "ink-3", "line", "compute", "transfer", "wait", "copies"] as const), ...CLASS_COLORS];
const READS = 64; // positions along the axis that the arrow keys step through
const PRINT_WIDTH = 680; // width of A4 without margins, in CSS pixels

/** Returns the page's current colours, or the colours for print. */
function themeOf(print: boolean): Theme {
  const root = document.documentElement,
    before = root.dataset["theme"];
  if (print) root.dataset["theme"] = "light";
  const style = getComputedStyle(root);
  const theme = Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Theme;
  if (print && before === undefined) delete root.dataset["theme"];
  else if (print) root.dataset["theme"] = before;
  return theme;
}

export interface ChartOptions {
  readonly label: string;
  /** Height [px]. The page keeps this room free until the chart is drawn. */
  readonly height: number;
  readonly plot: (theme: Theme) => Plot;
  readonly tip?: (mark: number) => Child;
  readonly click?: (mark: number) => void;
  /** Content of the tooltip at a position on the axes. Only for charts whose marks have no tooltips. */
  readonly read?: (x: number, y: number) => Child;
}

/** Makes a chart, which is drawn once it has a width, and released when it leaves the page. */
export function drawChart(options: ChartOptions): HTMLElement {
  return new Chart(options).element;
}

class Chart {
  readonly element: HTMLElement;
  readonly #canvas = h("canvas");
  readonly #options: ChartOptions;
  readonly #resizing: ResizeObserver;
  #scales: Scales | undefined;
  /** Position of the arrow keys: the index of a mark or, without tooltips of marks, a position along the axis; -1: not used yet. */
  #at = -1;

  constructor(options: ChartOptions) {
    this.#options = options;
    this.element = h(
      "div.chart",
      {
        style: { height: `${options.height}px` },
        "aria-label": options.label,
        ...(options.tip || options.read ? { role: "application", tabindex: 0, "aria-roledescription": "chart" } : { role: "img" }),
        on: { keydown: (event) => this.#key(event), blur: hideTip },
      },
      this.#canvas,
    );
    this.#resizing = new ResizeObserver(() => {
      if (!this.element.isConnected) this.#dispose();
      else if (this.element.clientWidth !== this.#scales?.width) this.#redraw();
    });
    this.#resizing.observe(this.element);
    this.#canvas.addEventListener("mousemove", (event) => this.#point(event));
    this.#canvas.addEventListener("mouseleave", hideTip);
    this.#canvas.addEventListener("click", (event) => this.#click(event));
    document.addEventListener("themechange", this.#redraw);
    window.addEventListener("beforeprint", this.#print);
    window.addEventListener("afterprint", this.#redraw);
  }

  #dispose(): void {
    this.#resizing.disconnect();
    document.removeEventListener("themechange", this.#redraw);
    window.removeEventListener("beforeprint", this.#print);
    window.removeEventListener("afterprint", this.#redraw);
  }

  readonly #redraw = (): void => {
    if (this.element.clientWidth > 0) this.#draw(this.element.clientWidth, window.devicePixelRatio, false);
  };

  /* Draws the chart for print: in light colours, at twice the resolution, and no wider than the sheet. */
  readonly #print = (): void => {
    if (this.element.clientWidth > 0) this.#draw(Math.min(this.element.clientWidth, PRINT_WIDTH), 2, true);
  };

  #draw(width: number, ratio: number, print: boolean): void {
    const { height } = this.#options,
      ctx = sized(this.#canvas, width, height, ratio),
      theme = themeOf(print);
    if (!ctx) return;
    this.#scales = new Scales(this.#options.plot(theme), width, height);
    drawPlot(ctx, this.#scales, {
      text: theme["ink-2"],
      axis: theme["ink-3"],
      line: theme.line,
      ground: theme.page,
      font: getComputedStyle(document.documentElement).fontFamily,
    });
    this.element.dataset["drawn"] = String(width);
  }

  #place(event: MouseEvent): [number, number] {
    const box = this.#canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #point(event: MouseEvent): void {
    const { tip, click, read } = this.#options,
      [x, y] = this.#place(event),
      scales = this.#scales;
    const mark = tip || click ? (scales?.markAt(x, y) ?? -1) : -1,
      values = read && scales ? scales.values(x, y) : null;
    this.#canvas.style.cursor = click && mark >= 0 ? "pointer" : "default";
    if (tip && mark >= 0) tipAt([event.clientX, event.clientY], tip(mark));
    else if (read && values) tipAt([event.clientX, event.clientY], read(...values));
    else hideTip();
  }

  #click(event: MouseEvent): void {
    const mark = this.#options.click ? (this.#scales?.markAt(...this.#place(event)) ?? -1) : -1;
    if (mark >= 0) this.#options.click?.(mark);
  }

  /* Left, Right, Home and End move between marks or along the axis; Enter clicks. */
  #key(event: KeyboardEvent): void {
    const { tip, click, read } = this.#options,
      scales = this.#scales;
    if (!scales || (!tip && !read)) return;
    const marks = tip ? (scales.plot.marks ?? []) : [],
      order = [...marks.keys()].sort((a, b) => marks[a]!.at[0] - marks[b]!.at[0] || marks[a]!.at[1] - marks[b]!.at[1]),
      most = tip ? order.length - 1 : READS;
    if (event.key === "Enter" && tip && this.#at >= 0) click?.(order[this.#at]!);
    const next = { ArrowLeft: this.#at - 1, ArrowRight: this.#at + 1, Home: 0, End: most }[event.key];
    if (next === undefined || most < 0) return;
    event.preventDefault();
    this.#at = Math.max(0, Math.min(most, next));
    const { min, max } = scales.plot.x,
      [x, y] = tip ? marks[order[this.#at]!]!.at : [min + (this.#at / READS) * (max - min), scales.plot.y.max],
      box = this.element.getBoundingClientRect();
    tipAt([box.left + scales.x(x), box.top + scales.y(y)], tip ? tip(order[this.#at]!) : read!(x, y));
    this.element.setAttribute("aria-describedby", "tip");
  }
}
