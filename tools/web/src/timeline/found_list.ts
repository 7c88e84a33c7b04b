/** The matches of a search as a list to step through, with sums by kind. */
import { plainTable } from "../ui";
import { h, name, type Child } from "../dom";
import * as f from "../format";
import type { Controller } from "./controller";
import { KIND_WORDS } from "./model";
import type { Found } from "./names";
import type { KindSum } from "./search";

/** LISTED: number of matches in the list; BEFORE: number of them before the current match. */
const LISTED = 200,
  BEFORE = 20;

function sumsOf(found: Found, controller: Controller): Map<number, KindSum> {
  const { duration, kind } = controller.data.lanes!.events,
    sums = new Map<number, KindSum>();
  for (const row of found.rows) {
    const own = sums.get(kind[row]!) ?? { count: 0, sum: 0, most: 0 };
    sums.set(kind[row]!, { count: own.count + 1, sum: own.sum + duration[row]!, most: Math.max(own.most, duration[row]!) });
  }
  return sums;
}

function byKind(sums: ReadonlyMap<number, KindSum>): HTMLElement {
  const table = plainTable(
    ["kind", "count", "sum of durations", "mean", "longest"],
    [...sums].map(([own, { count, sum, most }]) => [
      KIND_WORDS[own] ?? "",
      f.grouped(count),
      f.time(sum),
      f.time(sum / count),
      f.time(most),
    ]),
  );
  table.classList.add("tl-kinds");
  return table;
}

function titleOf(count: number, listed: number): string {
  return `${f.grouped(count)} found${listed < count ? `; the ${f.grouped(listed)} longest` : ""}, in order of time`;
}

/** The list; null if there is no search or the list is hidden. */
export function foundList(controller: Controller): Child {
  const { found, everywhere, listed } = controller.state,
    { job, lanes } = controller.data;
  if (!found || !listed || !lanes) return null;
  const { events } = lanes,
    far = everywhere?.done && !everywhere.failed ? everywhere : null,
    n = far ? far.events.length : found.count,
    at = controller.foundAt,
    first = Math.max(0, Math.min(at - BEFORE, n - LISTED));
  const item = (rank: number, begin: number, duration: number, title: string, i: number): HTMLElement =>
    h(
      "li",
      { class: first + i === at ? "tl-last" : "" },
      h(
        "button",
        { "aria-current": first + i === at ? "true" : undefined, on: { click: () => controller.selectFound(first + i) } },
        `rank ${rank}, ${f.time(duration)} at ${f.time(begin)} `,
        h("span", name(title, 90)),
      ),
    );
  const items = far
    ? far.events.slice(first, first + LISTED).map((event, i) => item(job.ranks[event.at]!.rank, event.begin, event.duration, event.name, i))
    : [...found.rows.subarray(first, first + LISTED)].map((row, i) =>
        item(job.ranks[lanes.trackOf(row)!.at]!.rank, events.begin[row]!, events.duration[row]!, job.names[events.name[row]!] ?? "", i),
      );
  return h(
    "div.tl-found",
    h("h2", titleOf(far ? far.count : found.count, n)),
    n > 0 && byKind(far ? far.kinds : sumsOf(found, controller)),
    n > LISTED && h("p.tl-exact", `No. ${f.grouped(first + 1)} to ${f.grouped(first + LISTED)}; Enter in the search continues.`),
    h("ol.tl-results", { start: first + 1 }, items),
  );
}
