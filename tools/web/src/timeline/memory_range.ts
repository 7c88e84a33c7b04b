/** Memory in a marked range: what each device held at its begin and at its end, and the maximum in between. */
import { h, visible, type Child } from "../dom";
import type { Job } from "../data";
import * as f from "../format";
import { plainTable } from "../ui";
import { categoriesAt } from "../views/memory_category";
import type { Controller } from "./controller";
import type { Curve } from "./curves";
import { lowest } from "./lanes";
import type { DeviceCurve } from "./memory";
import type { Span } from "./model";

const CATEGORIES = 3; // named at the most

/** Returns the values of a curve at the begin and the end of a span, the maximum between them, and its time; null if the curve starts
 * later. */
export function overSpan({ times, values }: Curve, { begin, end }: Span) {
  const [first, last] = [begin, end].map((time) => lowest(times.length, (i) => times[i]! > time) - 1) as [number, number];
  if (last < 0) return null;
  let most = Math.max(0, first);
  for (let i = most; i <= last; i++) if (values[i]! > values[most]!) most = i;
  return { begin: first < 0 ? null : values[first]!, end: values[last]!, most: values[most]!, time: Math.max(begin, times[most]!) };
}

function row(job: Job, rank: number, curve: DeviceCurve, mark: Span): [string, ...Child[]] | null {
  const own = overSpan(curve, mark);
  if (!own) return null;
  const change = own.begin === null ? null : own.end - own.begin,
    parts = categoriesAt(job, { rank, device: curve.device }, mark).slice(0, CATEGORIES);
  return [
    `${rank}, ${visible(curve.device)}`,
    f.bytes(own.begin, true),
    f.bytes(own.end, true),
    change === null ? f.NONE : `${change > 0 ? "+" : change < 0 ? "−" : ""}${f.bytes(Math.abs(change), true)}`,
    f.bytes(own.most, true),
    f.time(own.time),
    parts.map(([word, bytes]) => `${word} ${f.bytes(bytes, true)}`).join(", ") || f.NONE,
  ];
}

/** Makes the tab "memory" of a mark. The curves are fetched when the tab is first shown. */
export function memoryPart(controller: Controller, places: readonly number[], mark: Span): Child {
  const { memory, job } = controller.data,
    source = controller.listener.context.job;
  if (!memory) {
    controller.listener.fetchMemory();
    return h("p", "Unpacking …");
  }
  const rows = places.flatMap((at) =>
    (memory.curves[at] as readonly DeviceCurve[]).map((curve) => row(source, job.ranks[at]!.rank, curve, mark)),
  );
  return [
    h("p.tl-exact", "Of long recordings the page has the smallest and the largest value in each 128th of the time."),
    h(
      "div.tl-sums",
      { tabindex: 0, role: "region", "aria-label": "Memory in the mark" },
      plainTable(
        ["rank, device", "at its begin", "at its end", "change", "most", "at", "mostly"],
        rows.filter((each) => each !== null),
      ),
    ),
  ];
}
