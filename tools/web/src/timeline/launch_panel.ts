/** The part of an event's panel about its launch: the call, the place of the call in the program, the arguments. */
import { cut, h, name, shortName, visible, type Child } from "../dom";
import * as f from "../format";
import type { ChartData } from "./chart";
import type { Controller } from "./controller";
import { around, launchesOf, type Launch, type Shape } from "./event_details";
import { ANNOTATION, COPIES, GPU_ANNOTATION, OPERATOR, PYTHON, THREAD, type Events } from "./model";
import type { FarEvent } from "./search";

/** NAMED: maximum number of enclosing events that are named. LISTED: maximum number of launched events in the list. */
const NAMED = 6,
  LISTED = 24;
const SHORT = 44;
const MODULE = /^nn\.Module: /;

const go = (controller: Controller, row: number, text: string): HTMLElement =>
  h("button.tl-go", { title: cut(visible(text), 400), click: () => controller.selectEvent(row) }, cut(visible(text), SHORT));

/* Writes a line such as "Operators: aten::mm in aten::linear". */
function chain(controller: Controller, title: string, rows: readonly number[], text: (row: number) => string): Child {
  if (rows.length === 0) return null;
  return h(
    "p.tl-chain",
    `${title}: `,
    rows.slice(0, NAMED).map((row, i) => [i > 0 && " in ", go(controller, row, text(row))]),
    rows.length > NAMED && ` in ${f.grouped(rows.length - NAMED)} more`,
  );
}

/** Describes the place in the program of an event on a thread. */
function place(controller: Controller, row: number): Child {
  const { job, lanes, reported } = controller.data,
    { events } = lanes!,
    track = lanes!.trackOf(row)!,
    { inputs, stacks } = reported!.of(track.at).columns,
    named = (each: number): string => job.names[events.name[each]!] ?? "",
    rows = around(events, track, row),
    own = [row, ...rows];
  const of = (kind: number): number[] => rows.filter((each) => events.kind[each] === kind),
    called = own.find((each) => inputs.of(each) > 0),
    stacked = own.find((each) => stacks.of(each) > 0);
  const ofWhich = (each: number): string => (each === row ? "" : ` of ${visible(named(each))}`),
    frames = stacked === undefined ? [] : (job.names[stacks.of(stacked)] ?? "").split(";"),
    modules = of(PYTHON).filter((each) => MODULE.test(named(each))),
    python = of(PYTHON).filter((each) => !MODULE.test(named(each)));
  return [
    chain(controller, "Operators", of(OPERATOR), named),
    chain(controller, "Modules", modules, (each) => named(each).replace(MODULE, "")),
    chain(controller, "Python", python, named),
    chain(controller, "Annotations", of(ANNOTATION), named),
    called !== undefined && h("p", `Inputs${ofWhich(called)}: `, name(job.names[inputs.of(called)] ?? "", 200)),
    stacked !== undefined &&
      h(
        "details",
        h("summary", "Call stack", ofWhich(stacked)),
        h(
          "ol.tl-stack",
          frames.map((frame) => h("li", name(frame, 200))),
        ),
      ),
  ];
}

/** Writes the parameters of a launch, such as "grid 128 × 1 × 1, block 256 × 1 × 1, 40 registers per thread". */
export const shapeWords = ({ grid, block, registers, shared, occupancy }: Shape): string =>
  f.joined(
    ", ",
    `grid ${grid.join(" × ")}`,
    block[0]! >= 0 && `block ${block.join(" × ")}`,
    registers >= 0 && `${f.grouped(registers)} registers per thread`,
    shared >= 0 && `${f.bytes(shared, true)} of shared memory per block`,
    occupancy >= 0 && `estimated occupancy ${occupancy < 1 ? "below 1" : f.grouped(occupancy)}${f.SPACE}%`,
  );

/* Describes the launch parameters of a kernel, or the size of a copy. */
function given(controller: Controller, row: number, events: Events): Child {
  const { lanes, reported } = controller.data,
    own = reported!.of(lanes!.trackOf(row)!.at),
    shape = own.shapes[own.columns.shape.of(row)],
    bytes = own.columns.bytes.of(row),
    duration = events.duration[row]!;
  if (shape) return h("p", `Launched with ${shapeWords(shape)}.`);
  /* bytes per nanosecond, which is GB/s */
  const rate = bytes > 0 && duration > 0 ? ` at ${f.grouped(bytes / duration, f.digitsOf(bytes / duration))}${f.SPACE}GB/s` : "";
  return bytes >= 0 && h("p", `${f.bytes(bytes)}${rate}.`);
}

/* Used if the page lacks an event's launch. Says which operator launches most of the time of all kernels with this name. */
function byName(controller: Controller, title: string): string {
  const { job, launchers } = controller.data,
    known = launchers?.get(title);
  const missing = job.complete ? "Which call launched it was not recorded" : "Its launch is not in this page";
  if (!known) return `${missing}.`;
  const inside = known.inside ? ` in ${visible(known.inside)}` : "";
  return `${missing}; over all ranks ${f.percent(known.share)} of the time of kernels with this name is launched by ${visible(known.operator)}${inside}.`;
}

function launchedBy(controller: Controller, row: number, launch: Launch | undefined): Child {
  const { job, lanes, reported } = controller.data,
    { events } = lanes!,
    id = reported!.of(lanes!.trackOf(row)!.at).columns.correlations.of(row),
    title = job.names[events.name[row]!] ?? "",
    correlation = id >= 0 ? `Correlation ${id}.` : "";
  if (!launch) return [h("p", byName(controller, title), " ", correlation), given(controller, row, events)];
  const later = events.begin[row]! - events.begin[launch.call]!;
  return [
    place(controller, launch.call),
    h(
      "p.tl-chain",
      "Launched by ",
      go(controller, launch.call, job.names[events.name[launch.call]!] ?? ""),
      ` at ${f.time(events.begin[launch.call]!)}, ${f.time(Math.abs(later))} ${later >= 0 ? "before" : "after"} it began. ${correlation}`,
    ),
    given(controller, row, events),
  ];
}

/** A launched event. `later`: time from the call's begin to the event's begin [ns]. */
type Launched = FarEvent & Readonly<{ later: number }>;

const REMEMBERED = 64;

const remembered = new WeakMap<ChartData, Map<string, readonly Launched[]>>();

/* Returns the events that an event launched. A cache keeps those that the page has dropped since they were first shown. */
function launchedOf(controller: Controller, row: number, launches: readonly Launch[]): readonly Launched[] {
  const { data } = controller,
    { events } = data.lanes!,
    { at } = data.lanes!.trackOf(row)!,
    known = remembered.get(data) ?? new Map<string, readonly Launched[]>(),
    own = [at, events.kind[row]!, events.begin[row]!, events.duration[row]!, events.name[row]!].join(".");
  const now = launches.map(({ call, row: each }) => ({
    at,
    begin: events.begin[each]!,
    duration: events.duration[each]!,
    name: data.job.names[events.name[each]!] ?? "",
    kind: events.kind[each]!,
    later: events.begin[each]! - events.begin[call]!,
  }));
  const is = (a: Launched, b: Launched): boolean => a.begin === b.begin && a.duration === b.duration && a.name === b.name;
  const all = [...now, ...(known.get(own) ?? []).filter((old) => !now.some((each) => is(each, old)))].sort((a, b) => a.begin - b.begin);
  remembered.set(data, known);
  known.delete(own);
  if (all.length > 0) known.set(own, all);
  for (const oldest of known.keys()) {
    if (known.size <= REMEMBERED) break;
    known.delete(oldest);
  }
  return all;
}

function launched(controller: Controller, launches: readonly Launched[]): Child {
  const { job } = controller.data;
  if (launches.length === 0) return null;
  const time = f.sum(launches.map(({ duration }) => duration)),
    kept = job.complete ? "" : " in this page";
  const item = ({ name: text, later, duration, ...rest }: Launched) => {
    const title = `${cut(visible(text), 400)}, ${f.exact(later, "ns")} after its call began`,
      click = () => controller.goTo({ name: text, duration, ...rest });
    return h("li", h("button", { title, click }, cut(visible(shortName(text)), 40), " ", h("span", f.time(duration))));
  };
  return [
    h(
      "p",
      `Launched ${f.count(launches.length, "event")}${kept}: `,
      h("b", f.time(time)),
      launches.length > LISTED ? `. The first ${LISTED}:` : ".",
    ),
    h("ol.tl-arrivals.tl-launched", launches.slice(0, LISTED).map(item)),
  ];
}

/** Makes the part of an event's panel about its launch; null if nothing is known, as for annotations on a stream. */
export function launchPart(controller: Controller, row: number): Child {
  const { lanes, reported } = controller.data;
  if (!reported || !lanes) return null;
  const { kind, name: names } = lanes.events,
    launches = launchesOf(lanes, reported, row),
    queued = launches.find((each) => each.row === row),
    others = launches.filter((each) => each.row !== row);
  if (kind[row] === GPU_ANNOTATION) return null;
  if (kind[row]! <= COPIES) return launchedBy(controller, row, queued);
  if (lanes.trackOf(row)!.kind !== THREAD) return null;
  return [
    queued && h("p.tl-chain", "Enqueued by ", go(controller, queued.call, controller.data.job.names[names[queued.call]!] ?? ""), "."),
    launched(controller, launchedOf(controller, row, others)),
    place(controller, row),
  ];
}
