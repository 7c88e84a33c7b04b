/** The controls above the lanes: lanes or a map, order, folding, hidden and pinned rows. */
import { fill, h, keepFocus } from "../dom";
import * as f from "../format";
import { segmented, select } from "../ui";
import type { Measure, Order } from "./arrange";
import { COLORINGS, type Coloring } from "./coloring";
import type { Controller } from "./controller";
import { MEASURES, rampOf } from "./heat";

const ORDERS: readonly (readonly [Order, string])[] = [
  ["rank", "by rank"],
  ["wait", "most wait first"],
  ["compute", "most compute first"],
];

export class ArrangeBar {
  readonly element = h("div.tl-arrange");

  constructor(
    readonly controller: Controller,
    readonly memory: boolean,
  ) {}

  write(): void {
    keepFocus(this.element, () => this.#fill(), this.controller.chart.element);
  }

  #fill(): void {
    const several = this.controller.data.job.ranks.length > 1;
    fill(
      this.element,
      several && this.#picture(),
      several && this.#order(),
      this.controller.state.arrangement.map === null && this.#colors(several),
      this.controller.state.arrangement.map === null && this.#counters(),
      this.#hosts(),
      this.#chosen(),
    );
  }

  #picture(): HTMLElement[] {
    const { controller } = this,
      { map } = controller.state.arrangement;
    const pictures = (["lanes", "map"] as const).map((each) => [each, each] as const),
      measures = MEASURES.filter(([key]) => key !== "memory" || this.memory).map(([key, label]) => [key, label] as const);
    const picture = segmented("Show", pictures, map === null ? "lanes" : "map", (value) =>
      controller.setMap(value === "map" ? (controller.measure ?? "compute") : null),
    );
    if (map === null) return [picture];
    return [picture, select("Measure", measures, map, (value) => controller.setMap(value as Measure)), scale(map)];
  }

  #order(): HTMLElement {
    const { controller } = this;
    return select("Order", ORDERS, controller.state.arrangement.order, (value) =>
      controller.arrange((own) => (own.order = value as Order)),
    );
  }

  #colors(several: boolean): HTMLElement | null {
    const { controller } = this,
      offered = COLORINGS.filter(([key]) => (key === "class" ? controller.data.classes !== null : key !== "slowness" || several));
    if (offered.length < 2) return null;
    return select("Colour", offered, controller.state.arrangement.coloring, (value) =>
      controller.arrange((own) => (own.coloring = value as Coloring)),
    );
  }

  /* A menu to add a counter, and buttons to remove those shown. */
  #counters(): HTMLElement | null {
    const { controller } = this,
      { counters } = controller.data,
      shown = controller.state.arrangement.counters,
      label = (key: string): string => counters.find((each) => each.key === key)?.label ?? key;
    if (counters.length === 0) return null;
    const others = counters.filter(({ key }) => !shown.includes(key)).map(({ key }) => [key, label(key)] as const);
    return h(
      "span.tl-tools",
      select("Counters", [["", "add …"], ...others], "", (key) => key && controller.toggleCounter(key)),
      shown.map((key) => {
        const title = counters.find((each) => each.key === key)?.doc,
          click = () => controller.toggleCounter(key);
        return h("button", { "data-value": key, "aria-label": `Hide ${label(key)}`, title, click }, `${label(key)} ×`);
      }),
    );
  }

  #hosts(): HTMLElement | null {
    const { controller } = this,
      n = controller.chart.hosts.length,
      folded = controller.state.arrangement.folded.size;
    if (n < 2) return null;
    const button = (text: string, value: string, fold: boolean): HTMLElement => {
      const title = fold ? "Each host in one row (Shift+H; one host: h)" : "A row for each rank (Shift+H)";
      return h("button", { "data-value": value, disabled: folded === (fold ? n : 0), title, click: () => controller.foldAll(fold) }, text);
    };
    return h("span.tl-tools", button("Fold hosts", "fold", true), button("Unfold", "unfold", false));
  }

  #chosen(): HTMLElement | null {
    const { controller } = this,
      { hidden, pinned } = controller.state.arrangement;
    if (hidden.size === 0 && pinned.length === 0) return null;
    const all = (text: string, value: string, click: () => void): HTMLElement => h("button", { "data-value": value, click }, text);
    return h(
      "span.tl-tools",
      hidden.size > 0 && all(`Show ${f.count(hidden.size, "hidden rank")}`, "show", () => controller.arrange((own) => own.hidden.clear())),
      pinned.length > 0 && all(`Unpin ${f.count(pinned.length, "rank")}`, "unpin", () => controller.arrange((own) => (own.pinned = []))),
    );
  }
}

/* Legend of a map's colours. */
function scale(measure: Measure): HTMLElement {
  const [, , doc] = MEASURES.find(([key]) => key === measure)!,
    ramp = rampOf(measure),
    colors = Array.from({ length: 21 }, (_, place) => `var(--${ramp}-${place})`).join(", ");
  return h(
    "span.tl-scale",
    `0${f.SPACE}%`,
    h("span.flame-scale", { style: { background: `linear-gradient(90deg, ${colors})` }, role: "img", "aria-label": doc }),
    `100${f.SPACE}% ${doc}`,
  );
}
