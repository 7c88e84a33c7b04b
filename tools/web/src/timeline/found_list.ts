/** What a search found, as a list to step through, with the sums by kind. */
import { h, name, type Child } from "../dom";
import * as f from "../format";
import type { Controller } from "./controller";
import { KIND_WORDS } from "./model";
import type { Found } from "./names";

/** So many are listed: from the place on that was gone to. */
const LISTED = 200,
  BEFORE = 20;

/* Count, sum, mean and longest of each kind. */
function byKind(found: Found, controller: Controller): HTMLElement {
  const { duration, kind } = controller.data.lanes!.events,
    sums = new Map<number, { count: number; sum: number; most: number }>();
  for (const row of found.rows) {
    const own = sums.get(kind[row]!) ?? { count: 0, sum: 0, most: 0 };
    sums.set(kind[row]!, { count: own.count + 1, sum: own.sum + duration[row]!, most: Math.max(own.most, duration[row]!) });
  }
  return h(
    "table",
    { class: "grid tl-kinds" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", null, "kind"),
        ["count", "sum of durations", "mean", "longest"].map((title) => h("th", { class: "right" }, title)),
      ),
    ),
    h(
      "tbody",
      null,
      [...sums].map(([own, { count, sum, most }]) =>
        h(
          "tr",
          null,
          h("td", null, KIND_WORDS[own] ?? ""),
          [f.grouped(count), f.time(sum), f.time(sum / count), f.time(most)].map((text) => h("td", { class: "right" }, text)),
        ),
      ),
    ),
  );
}

/** The list; null where nothing is looked for, or it is not asked for. */
export function foundList(controller: Controller): Child {
  const { found, listed } = controller.state,
    { job, lanes } = controller.data;
  if (!found || !listed || !lanes) return null;
  const { events } = lanes,
    at = controller.foundAt,
    first = Math.max(0, Math.min(at - BEFORE, found.count - LISTED));
  const item = (row: number, i: number): HTMLElement => {
    const track = lanes.trackOf(row)!;
    return h(
      "li",
      { class: first + i === at ? "tl-last" : "" },
      h(
        "button",
        {
          attr: { type: "button", "aria-current": first + i === at ? "true" : undefined },
          on: { click: () => controller.selectFound(first + i) },
        },
        `rank ${job.ranks[track.at]!.rank}, ${f.time(events.duration[row]!)} at ${f.time(events.begin[row]!)} `,
        h("span", null, name(job.names[events.name[row]!] ?? "", 90)),
      ),
    );
  };
  return h(
    "div",
    { class: "tl-found" },
    h("h2", null, `${f.grouped(found.count)} found, in order of time`),
    found.count > 0 && byKind(found, controller),
    found.count > LISTED &&
      h("p", { class: "tl-exact" }, `No. ${f.grouped(first + 1)} to ${f.grouped(first + LISTED)}; Enter in the search goes on.`),
    h("ol", { class: "tl-results", attr: { start: first + 1 } }, [...found.rows.subarray(first, first + LISTED)].map(item)),
  );
}
