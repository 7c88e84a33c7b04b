/** The controls above the lanes: lanes or a map, order, folding, hidden and pinned rows. */
import { fill, h, keepFocus } from "../dom";
import * as f from "../format";
import { segmented, select } from "../ui";
import type { Measure, Order } from "./layout";
import { COLORINGS, type Coloring } from "./coloring";
import type { Controller } from "./controller";
import { MEASURES, rampOf } from "./heat";

const ORDERS: readonly (readonly [Order, string])[] = [
  ["rank", "by rank"],
  ["wait", "most wait first"],
  ["compute", "most compute first"],
];

/** Makes the controls. Call write() after the arrangement has changed. @param memory whether memory was recorded */
export function arrangeBar(controller: Controller, memory: boolean): { readonly element: HTMLElement; readonly write: () => void } {
  const element = h("div.tl-arrange"),
    draw = () => {
      const several = controller.data.job.ranks.length > 1,
        lanes = controller.state.arrangement.map === null;
      fill(
        element,
        several && [picture(controller, memory), order(controller)],
        lanes && [colors(controller, several), counters(controller)],
        hosts(controller),
        chosen(controller),
      );
    };
  return { element, write: () => keepFocus(element, draw, controller.chart.element) };
}

function picture(controller: Controller, memory: boolean): HTMLElement[] {
  const { map } = controller.state.arrangement,
    pictures = (["lanes", "map"] as const).map((each) => [each, each] as const),
    measures = MEASURES.filter(([key]) => key !== "memory" || memory).map(([key, label]) => [key, label] as const);
  const shown = segmented("Show", pictures, map === null ? "lanes" : "map", (value) =>
    controller.setMap(value === "map" ? (controller.measure ?? "compute") : null),
  );
  if (map === null) return [shown];
  return [shown, select("Measure", measures, map, (value) => controller.setMap(value as Measure)), scale(map)];
}

const order = (controller: Controller): HTMLElement =>
  select("Order", ORDERS, controller.state.arrangement.order, (value) => controller.arrange((own) => (own.order = value as Order)));

function colors(controller: Controller, several: boolean): HTMLElement | null {
  const offered = COLORINGS.filter(([key]) => (key === "class" ? controller.data.classes !== null : key !== "slowness" || several));
  if (offered.length < 2) return null;
  return select("Colour", offered, controller.state.arrangement.coloring, (value) =>
    controller.arrange((own) => (own.coloring = value as Coloring)),
  );
}

function counters(controller: Controller): HTMLElement | null {
  const all = controller.data.counters,
    shown = controller.state.arrangement.counters,
    label = (key: string): string => all.find((each) => each.key === key)?.label ?? key;
  if (all.length === 0) return null;
  const others = all.filter(({ key }) => !shown.includes(key)).map(({ key }) => [key, label(key)] as const);
  return h(
    "span.tl-tools",
    select("Counters", [["", "add …"], ...others], "", (key) => key && controller.toggleCounter(key)),
    shown.map((key) => {
      const title = all.find((each) => each.key === key)?.doc,
        click = () => controller.toggleCounter(key);
      return h("button", { "data-value": key, "aria-label": `Hide ${label(key)}`, title, click }, `${label(key)} ×`);
    }),
  );
}

function hosts(controller: Controller): HTMLElement | null {
  const n = controller.chart.hosts.length,
    folded = controller.state.arrangement.folded.size;
  if (n < 2) return null;
  const button = (text: string, value: string, fold: boolean): HTMLElement => {
    const title = fold ? "Each host in one row (Shift+H; one host: h)" : "A row for each rank (Shift+H)";
    return h("button", { "data-value": value, disabled: folded === (fold ? n : 0), title, click: () => controller.foldAll(fold) }, text);
  };
  return h("span.tl-tools", button("Fold hosts", "fold", true), button("Unfold", "unfold", false));
}

function chosen(controller: Controller): HTMLElement | null {
  const { hidden, pinned } = controller.state.arrangement,
    all = (text: string, value: string, click: () => void): HTMLElement => h("button", { "data-value": value, click }, text);
  if (hidden.size === 0 && pinned.length === 0) return null;
  return h(
    "span.tl-tools",
    hidden.size > 0 && all(`Show ${f.count(hidden.size, "hidden rank")}`, "show", () => controller.arrange((own) => own.hidden.clear())),
    pinned.length > 0 && all(`Unpin ${f.count(pinned.length, "rank")}`, "unpin", () => controller.arrange((own) => (own.pinned = []))),
  );
}

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
