/** Charts with axes, by ECharts: no part of it that makes markup (tooltip, legend) is in the page. */
import { LineChart, ScatterChart } from "echarts/charts";
import { GridSimpleComponent } from "echarts/components";
import { init, use, type EChartsCoreOption, type EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { h, type Child } from "./dom";
import { hideTip, tipAt } from "./ui";

use([LineChart, ScatterChart, GridSimpleComponent, CanvasRenderer]);

/** Colours of the page, by the names that they have in the style sheet without the dashes. */
export type Theme = Readonly<Record<(typeof COLORS)[number], string>>;

const COLORS = ["page", "ink", "ink-2", "ink-3", "line", "link", "compute", "overlap", "transfer", "wait", "unmatched", "copies", "idle",
  "edge"] as const;
const PRINT_WIDTH = 680; // of A4 less its margins, in CSS pixels

/** The page's colours as they are now, or those for print. */
function themeOf(print: boolean): Theme {
  const root = document.documentElement, before = root.dataset["theme"];
  if (print) root.dataset["theme"] = "light";
  const style = getComputedStyle(root);
  const theme = Object.fromEntries(COLORS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()])) as Record<(typeof COLORS)[number], string>;
  if (print && before === undefined) delete root.dataset["theme"];
  else if (print) root.dataset["theme"] = before;
  return theme;
}

/** A point of a series under the pointer. */
export interface Point {
  readonly series: number;
  readonly index: number;
}

export interface ChartOptions {
  /** What it shows, for who does not see it. */
  readonly label: string;
  /** In pixels, kept free before it is drawn. */
  readonly height: number;
  /** ECharts' option, all colours of which come from @p theme. */
  readonly option: (theme: Theme, width: number) => EChartsCoreOption;
  /** What stands beside a point of a scatter. */
  readonly tip?: (point: Point) => Child;
  readonly click?: (point: Point) => void;
  /** What stands at a place on the axes, where no single point is meant; null for nothing. */
  readonly read?: (x: number, y: number) => Child | null;
}

/** An axis in the page's colours, to be extended. */
export function axisStyle(theme: Theme): Record<string, unknown> {
  return {
    axisLine: { lineStyle: { color: theme["ink-3"] } },
    axisTick: { lineStyle: { color: theme["ink-3"] } },
    axisLabel: { color: theme["ink-2"], fontSize: 12, hideOverlap: true },
    splitLine: { lineStyle: { color: theme.line } },
    nameTextStyle: { color: theme["ink-2"], fontSize: 12 },
  };
}

/** The charts of a view, which end with it. */
export class Charts {
  readonly #charts: Chart[] = [];

  /** Makes a chart, which is drawn as soon as it has a width. */
  add(options: ChartOptions): HTMLElement {
    const chart = new Chart(options);
    this.#charts.push(chart);
    return chart.element;
  }

  /** Gives back all that the charts hold. */
  readonly dispose = (): void => {
    for (const chart of this.#charts) chart.dispose();
    this.#charts.length = 0;
  };
}

class Chart {
  readonly element: HTMLElement;
  readonly #options: ChartOptions;
  readonly #resizing: ResizeObserver;
  #chart: EChartsType | undefined;

  constructor(options: ChartOptions) {
    this.#options = options;
    this.element = h("div", { class: "chart", style: { height: `${options.height}px` }, attr: { role: "img", "aria-label": options.label } });
    this.#resizing = new ResizeObserver(() => this.#fit());
    this.#resizing.observe(this.element);
    document.addEventListener("themechange", this.#redraw);
    window.addEventListener("beforeprint", this.#print);
    window.addEventListener("afterprint", this.#redraw);
  }

  dispose(): void {
    this.#resizing.disconnect();
    document.removeEventListener("themechange", this.#redraw);
    window.removeEventListener("beforeprint", this.#print);
    window.removeEventListener("afterprint", this.#redraw);
    this.#chart?.dispose();
    this.#chart = undefined;
  }

  readonly #redraw = (): void => {
    if (this.element.clientWidth > 0) this.#make(this.element.clientWidth, window.devicePixelRatio, false);
  };

  /* On paper: light colours, twice the points, no wider than the sheet. */
  readonly #print = (): void => {
    if (this.element.clientWidth > 0) this.#make(Math.min(this.element.clientWidth, PRINT_WIDTH), 2, true);
  };

  #fit(): void {
    const width = this.element.clientWidth;
    if (width === 0 || width === this.#chart?.getWidth()) return;
    if (this.#chart) this.#chart.resize({ width });
    if (this.#chart) this.#chart.setOption(this.#option(false, width), true);
    else this.#make(width, window.devicePixelRatio, false);
  }

  #option(print: boolean, width: number): EChartsCoreOption {
    return { animation: false, backgroundColor: "transparent", ...this.#options.option(themeOf(print), width) };
  }

  #make(width: number, devicePixelRatio: number, print: boolean): void {
    this.#chart?.dispose();
    const chart = init(this.element, null, { renderer: "canvas", devicePixelRatio, width, height: this.#options.height });
    this.#chart = chart;
    chart.setOption(this.#option(print, width));
    this.element.dataset["drawn"] = String(chart.getWidth());
    this.#listen(chart);
  }

  #listen(chart: EChartsType): void {
    const { tip, click, read } = this.#options;
    const pointOf = (event: { seriesIndex?: number; dataIndex: number }): Point => ({ series: event.seriesIndex ?? 0, index: event.dataIndex });
    const at = (x: number, y: number): [number, number] => {
      const box = this.element.getBoundingClientRect();
      return [box.left + x, box.top + y];
    };
    if (tip) {
      chart.on("mousemove", (event) => tipAt(at(event.event?.offsetX ?? 0, event.event?.offsetY ?? 0), tip(pointOf(event))));
      chart.on("mouseout", hideTip);
    }
    if (click) chart.on("click", (event) => click(pointOf(event)));
    if (!read) return;
    chart.getZr().on("mousemove", (event) => {
      const place = [event.offsetX, event.offsetY];
      const inside = chart.containPixel("grid", place);
      const [x = 0, y = 0] = inside ? chart.convertFromPixel("grid", place) as number[] : [];
      const content = inside ? read(x, y) : null;
      if (content === null) hideTip();
      else tipAt(at(event.offsetX, event.offsetY), content);
    });
    chart.getZr().on("globalout", hideTip);
  }
}
