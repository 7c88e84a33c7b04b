/** The canvas: paints the job and finds what is at a position. */
import { fillBox, clipped, type Ctx } from "../canvas";
import * as f from "../format";
import {
  hostsOf,
  plain,
  sorted,
  layout,
  rowAt,
  rowsIn,
  type Arrangement,
  type Host,
  type Order,
  type Box,
  type CounterRow,
  type HostRow,
  type Layout,
  type RankRow,
  type Row,
  type SubRow,
} from "./layout";
import type { AreaTab } from "./area_panel";
import { cellTime, cellWords, paintMap, type MapRow } from "./heat";
import { visible } from "../dom";
import { paletteOf, type Coloring, type Palette } from "./coloring";
import { fillCounter, isKnown, isLeast, topOf, unknownParts, type Counter, type Values, type FarCounters } from "./counters";
import type { Flag } from "./flags";
import type { Curves } from "./memory";
import { lowest, trackKey, type Lanes } from "./lanes";
import { launchesOf, type Reported } from "./event_details";
import { Labels, type Found } from "./names";
import { COMPUTE, COPIES, TRANSFER, UNMATCHED, WAIT, type JobBlock, type Operation, type Span, type Track } from "./model";
import { ALL_JOINED, clocksArePoor, isWide, OperationIndex } from "./operations";
import * as head from "./paint_head";
import * as over from "./paint_over";
import { MOST_PER_PIXEL, paintCoverage, paintEvents, type Canvas } from "./paint_lane";
import * as beside from "./paint_rows";
import { heightIn, type Path, type Placed, type Slacks } from "./path";
import { HostPyramid, type Pyramid } from "./pyramid";
import { Scale } from "./span";
import type { Everywhere } from "./search";
import { detailedParts, missingParts } from "./sums";
import { readTheme, setFont, type Theme } from "./theme";

const STRIP_TOP = 4;
export const HEAD = STRIP_TOP + head.STRIP_HEIGHT + head.STEPS_HEIGHT + head.RULER_HEIGHT;
const GUTTER = 92,
  GUTTER_NARROW = 62,
  NARROW = 600,
  RIGHT = 10;
const COMPUTE_KINDS = [COMPUTE, COPIES],
  COMMUNICATION_KINDS = [TRANSFER, WAIT, UNMATCHED];
/** If a bucket of shares is at least this wide [px], a reader sees that detail is missing. */
const COARSE = 3;
/** The pointer is on a flag, or on the line of the critical path, if it is at most this far [px] away. */
const NEAR = 5;
const MAP_LABEL = 13; // minimum distance between a map's labels [px]
/** Maximum number of arrows from a host event to the events that it launched. */
const MOST_ARROWS = 200;
/** Up to this many events in all visible rows are drawn as events while colours show classes. Shares do not distinguish classes. */
const MOST_COLORED = 150_000;
/** If lines between ranks are drawn for more operations than this, the lines are faint. */
const FEW_JOINED = 12;

/** The operator that launches more of a kernel's time than any other operator. `share`: its share of that time [%]. */
export type Launcher = Readonly<{ operator: string; inside: string | null; share: number }>;

/** `tflops`: mean rate of a kernel [TFLOP/s]. `calls`: number of its calls for which the floating-point operations are known. */
export type Rate = Readonly<Record<"tflops" | "calls", number>>;

export class ChartData {
  operations: readonly Operation[] = [];
  lanes: Lanes | null = null; // the events; null until they are loaded
  reported: Reported | null = null;
  /** Curves of device memory; null if they are not requested yet, or if no device memory was recorded. */
  memory: Curves | null = null;
  /** `classes`: class of each kernel; `rates`: rate of each. Both are indexed by the number of the kernel's name; null until loaded. */
  classes: readonly (string | undefined)[] | null = null;
  rates: readonly (Rate | undefined)[] | null = null;
  /** The launcher of each kernel, by the kernel's name; null until loaded. */
  launchers: ReadonlyMap<string, Launcher> | null = null;
  slacks: Slacks | null = null;
  /** Duration of each event divided by the median on other ranks; 0 if it cannot be compared; null until requested. */
  slowness: Float32Array | null = null;
  /** `counters`: the counters of the job. `values`: values of the shown ones, by key; null: not loaded yet, or not recorded. */
  counters: readonly Counter[] = [];
  readonly values = new Map<string, Values | null>();
  /** Fetches the counters of the visible window from the store. null if the page is not served, or if it has all events. */
  farCounters: FarCounters | null = null;

  /** @param noWaits the reason why no operation has a known wait; null if operations may have one */
  constructor(
    readonly job: JobBlock,
    readonly strip: Uint16Array,
    readonly pyramid: Pyramid,
    readonly path: Path,
    readonly noWaits: string | null,
  ) {}
}

/** What is under the pointer or selected. `at`: index of its rank. `host`: folded host. `piece`: piece of the path. -1 or null: none. */
export type Target = Readonly<typeof NOWHERE>;

export const NOWHERE = { at: -1, event: -1, operation: null as Operation | null, piece: null as Placed | null, host: -1 };

export class ChartState {
  scroll = 0;
  readonly open = new Set<number>();
  selected: Target = NOWHERE;
  /** The event that the address names, as long as the page lacks this event; otherwise null. */
  awaited: string | null = null;
  hovered: Target = NOWHERE;
  found: Found | null = null;
  everywhere: Everywhere | null = null; // matches in the whole store; null if the page is not served
  listed = false;
  mark: Span | null = null;
  marked: ReadonlySet<number> | null = null; // indices of the marked ranks; null: all
  /** Keys of the marked streams and threads, which are on opened ranks. null: the marked ranks are marked as a whole. */
  markedTracks: ReadonlySet<string> | null = null;
  tab: AreaTab = "ranks";
  path = false;
  flags: Flag[] = [];
  readonly arrangement: Arrangement = plain();

  constructor(public span: Span) {}
}

export type Zone = "strip" | "ruler" | "gutter" | "lanes" | "scrollbar" | "outside";

export class Chart {
  readonly element: HTMLCanvasElement;
  readonly steps: ReturnType<typeof head.jobSteps>;
  theme: Theme;
  width = 0;
  height = 0;
  /** Part of the visible time range for which the page lacks events and draws shares; null if it lacks none. */
  leftOut: Span | null = null;
  cost = 0; // duration of the last drawing [ms]
  index: OperationIndex;
  poor = false;
  readonly labels: Labels;
  readonly #ctx: Ctx;
  readonly #strip: head.StripImage;
  /** The first row of each thread of an opened rank. */
  #threads = new Map<Track, SubRow>();
  #palette: { key: readonly unknown[]; palette: Palette | null } = { key: [], palette: null };
  #ordered: readonly [Order, readonly number[]] | undefined;
  readonly hosts: readonly Host[];
  readonly hostShares: HostPyramid;
  layout: Layout = { rows: [], ranks: [], height: 0, pinned: 0, inOrder: true };

  constructor(
    readonly data: ChartData,
    readonly state: ChartState,
    element: HTMLCanvasElement,
  ) {
    const ctx = element.getContext("2d");
    if (!ctx) throw new Error("this browser has no canvas");
    this.element = element;
    this.#ctx = ctx;
    this.#strip = new head.StripImage(data.strip, data.job.stripBuckets);
    this.steps = head.jobSteps(data.job);
    this.labels = new Labels(data.job.names);
    this.theme = readTheme();
    this.index = new OperationIndex(data.operations);
    this.hosts = hostsOf(data.job.ranks).hosts;
    this.hostShares = new HostPyramid(
      data.pyramid,
      this.hosts.map((host) => host.members),
    );
  }

  /** Updates the chart after operations or events were loaded. */
  refresh(): void {
    this.index = new OperationIndex(this.data.operations);
    this.poor = clocksArePoor(this.data.operations, this.data.job.ranks);
  }

  get gutter(): number {
    return this.width < NARROW ? GUTTER_NARROW : GUTTER;
  }

  get scale(): Scale {
    return new Scale(this.state.span, this.gutter, Math.max(1, this.width - this.gutter - RIGHT));
  }

  get room(): number {
    return Math.max(0, this.height - HEAD);
  }

  get maxScroll(): number {
    return Math.max(0, this.layout.height - this.room);
  }

  /** Height [px] of a canvas on which all ranks fit at their maximum height. */
  get wanted(): number {
    return HEAD + Math.max(120, this.#laidOut(1e6).height) + 4;
  }

  #laidOut(room: number): Layout {
    const { job, lanes, pyramid } = this.data,
      { open, arrangement } = this.state;
    const silent = !COMMUNICATION_KINDS.some((kind) => pyramid.has(kind));
    return layout({ ranks: job.ranks, world: job.world, open, room, lanes, arrangement, order: this.#order(), silent });
  }

  /* The result is kept until the order changes. */
  #order(): readonly number[] {
    const { order } = this.state.arrangement;
    if (this.#ordered?.[0] !== order) this.#ordered = [order, sorted(this.data.job.ranks.length, order, this.data.pyramid)];
    return this.#ordered[1];
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    const ratio = window.devicePixelRatio || 1;
    this.element.width = Math.round(width * ratio);
    this.element.height = Math.round(height * ratio);
    this.element.style.height = `${height}px`;
    this.arrange();
  }

  arrange(): void {
    this.layout = this.#laidOut(this.room);
    this.state.scroll = Math.max(0, Math.min(this.state.scroll, this.maxScroll));
    this.#threads = new Map(
      this.layout.rows.filter((row): row is SubRow => row.kind === "sub" && row.named).map((row) => [row.lane.track, row]),
    );
  }

  zone(x: number, y: number): Zone {
    if (y < 0 || y > this.height || x < 0 || x > this.width) return "outside";
    if (y < STRIP_TOP + head.STRIP_HEIGHT + head.STEPS_HEIGHT) return x >= this.gutter ? "strip" : "outside";
    if (y < HEAD) return x >= this.gutter ? "ruler" : "outside";
    if (x > this.width - RIGHT - 2 && this.maxScroll > 0) return "scrollbar";
    return x < this.gutter ? "gutter" : "lanes";
  }

  row(y: number): Row | undefined {
    if (y < HEAD) return undefined;
    return rowAt(this.layout.rows, y - HEAD < this.layout.pinned ? y - HEAD : y - HEAD + this.state.scroll);
  }

  /** Returns the index of the nearest flag that begins near a position [px] on the ruler; -1 if there is none. */
  flagAt(x: number): number {
    const near = (flag: Flag) => Math.abs(this.scale.x(flag.begin) - x);
    return this.state.flags.findIndex((flag) => near(flag) <= NEAR && this.state.flags.every((other) => near(flag) <= near(other)));
  }

  offsetOf(row: { readonly y: number }): number {
    return row.y < this.layout.pinned ? HEAD : HEAD - this.state.scroll;
  }

  /* Returns the visible rows. The pinned rows come last. */
  *#visible(): Generator<Row> {
    const { rows, pinned } = this.layout,
      [first, end] = rowsIn(rows, this.state.scroll + pinned, this.room - pinned),
      [, last] = rowsIn(rows, 0, pinned);
    for (let i = first; i < end; i++) yield rows[i]!;
    for (let i = 0; i < last && pinned > 0; i++) yield rows[i]!;
  }

  target(x: number, y: number): Target {
    const row = this.row(y),
      { lanes, operations } = this.data;
    if (row?.kind === "host" && row.folded) return { ...NOWHERE, host: row.host };
    if (row?.kind === "counter") return { ...NOWHERE, at: row.at };
    if (!row || (row.kind !== "rank" && row.kind !== "sub")) return NOWHERE;
    const scale = this.scale,
      time = scale.time(x),
      slack = 2.5 / scale.k;
    if (this.state.arrangement.map !== null) return { ...NOWHERE, at: row.at };
    const piece = this.#pieceAt(row.at, y, time, slack);
    if (piece) return { ...NOWHERE, at: row.at, piece };
    if (!lanes) return { ...NOWHERE, at: row.at };
    const below = row.kind === "rank" && y - this.offsetOf(row) >= row.communication.y;
    const list = row.kind === "sub" ? row.lane.list : below ? lanes.of(row.at).communication : lanes.of(row.at).compute;
    const event = list.at(time, slack);
    if (event >= 0)
      return { ...NOWHERE, at: row.at, event, operation: operations[lanes.events.operation[lanes.events.comm[event]!]!] ?? null };
    return { ...NOWHERE, at: row.at, operation: below ? this.#memberAt(row, time, slack) : null };
  }

  /** Returns the height at which a piece of the path is drawn [px of the canvas]. On an opened rank, a host piece is drawn above its
   * thread. */
  heightOf(placed: Placed): number {
    const { at, level } = placed,
      { lanes, path } = this.data;
    const thread = level === "host" && lanes && this.state.open.has(at) ? path.threadOf(placed, lanes.of(at)) : null;
    const row = this.layout.ranks[at]!;
    return heightIn(row, level, thread ? this.#threads.get(thread) : undefined) + this.offsetOf(row);
  }

  /* Returns the longest piece of the path at a position. A lag is drawn as a vertical line, and is found at any point of this line. */
  #pieceAt(at: number, y: number, time: number, slack: number): Placed | null {
    if (!this.state.path) return null;
    const { path } = this.data,
      [first, end] = path.range({ begin: time - slack, end: time + slack }),
      row = this.layout.ranks[at]!;
    let best: Placed | null = null;
    for (let i = first; i < end; i++) {
      const placed = path.list[i]!,
        near =
          placed.level === "lag"
            ? row.y + row.height > y - this.offsetOf(row)
            : placed.at === at && Math.abs(this.heightOf(placed) - y) <= NEAR;
      const length = placed.piece.end - placed.piece.begin;
      if (placed.at === at && near && (!best || length > best.piece.end - best.piece.begin)) best = placed;
    }
    return best;
  }

  /* Returns the operation in which the row's rank takes part at a time. Called where the page lacks events and draws shares. */
  #memberAt(row: RankRow | SubRow, time: number, slack: number): Operation | null {
    if (row.kind !== "rank") return null;
    for (const operation of this.index.within({ begin: time - slack, end: time + slack })) {
      const { members } = operation,
        member = members[lowest(members.length, (i) => members[i]!.at >= row.at)];
      if (member?.at === row.at && member.begin - slack <= time && member.end + slack >= time) return operation;
    }
    return null;
  }

  draw(): void {
    const started = performance.now();
    const ctx = this.#ctx,
      ratio = this.element.width / Math.max(1, this.width),
      { theme } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    fillBox(ctx, theme.page, 0, 0, this.width, this.height);
    const canvas: Canvas = { ctx, theme, scale: this.scale, ratio, strength: this.state.found ? 0.25 : 1 };
    this.#head(canvas);
    this.#lanes({ ...canvas, theme: this.palette?.theme ?? theme });
    clipped(ctx, { x: this.gutter - 1, width: canvas.scale.width + 2, y: HEAD - head.RULER_HEIGHT, height: this.height }, () =>
      head.paintFlags(canvas, this.state.flags, HEAD - head.RULER_HEIGHT, this.height),
    );
    this.cost = performance.now() - started;
  }

  /** Colours of kernels; null if colours show kinds of events. Computed again only if an input changes. */
  get palette(): Palette | null {
    const { classes, slowness, lanes } = this.data,
      { coloring } = this.state.arrangement,
      key: readonly [Coloring, ...unknown[]] = [coloring, this.theme, classes, slowness, lanes];
    if (key.some((each, i) => each !== this.#palette.key[i])) this.#palette = { key, palette: paletteOf(coloring, this.data, this.theme) };
    return this.#palette.palette;
  }

  #head(canvas: Canvas): void {
    const { ctx, theme } = canvas,
      duration = this.data.job.duration;
    setFont(ctx, theme, [12, theme.ink2, "right"]);
    ctx.fillText("all ranks", this.gutter - 8, STRIP_TOP + head.STRIP_HEIGHT / 2);
    head.paintStrip(canvas, this.#strip, duration, STRIP_TOP);
    head.paintSteps(canvas, this.steps, duration, STRIP_TOP + head.STRIP_HEIGHT);
    head.paintRuler(canvas, HEAD - head.RULER_HEIGHT, this.height);
  }

  #lanes(canvas: Canvas): void {
    const { ctx } = canvas,
      { scroll, arrangement } = this.state,
      { pinned } = this.layout,
      rows = [...this.#visible()];
    this.leftOut = null;
    ctx.save();
    for (const above of pinned > 0 ? [false, true] : [false]) {
      const own = rows.filter((row) => row.y < pinned === above);
      clipped(canvas.ctx, { x: 0, width: this.width, ...this.#part(above) }, () => {
        if (arrangement.map !== null) this.#map(canvas, own);
        else for (const row of own) this.#row(canvas, row, this.offsetOf(row));
      });
    }
    if (pinned > 0) beside.paintEdge(canvas, HEAD + pinned);
    clipped(canvas.ctx, { x: this.gutter, width: canvas.scale.width + 2, y: HEAD, height: this.room }, () => this.#over(canvas));
    ctx.restore();
    beside.paintScrollbar(canvas, { x: this.width - RIGHT, y: HEAD, height: this.room }, scroll, this.layout.height);
  }

  /** Returns the indices of the ranks with rows between two positions [px of the canvas]. A folded host stands for all of its ranks. */
  placesBetween(y0: number, y1: number): Set<number> {
    const { lanes, shares } = this.drawnBetween(y0, y1);
    return new Set([...lanes, ...shares]);
  }

  /* Returns the visible rows between two positions [px of the canvas]. */
  #between(y0: number, y1: number): Row[] {
    return [...this.#visible()].filter((row) => row.y + this.offsetOf(row) < y1 && row.y + this.offsetOf(row) + row.height > y0);
  }

  /** Returns the keys of the streams and threads between two positions [px of the canvas]; null if rows of other kinds are between them,
   * too. */
  tracksBetween(y0: number, y1: number): Set<string> | null {
    const keys = this.#between(y0, y1).map((row) => (row.kind === "sub" ? trackKey(row.lane.track) : null));
    return keys.length > 0 && keys.every((key) => key !== null) ? new Set(keys) : null;
  }

  /** Like placesBetween(), but in two sets. `lanes`: ranks drawn as lanes. `shares`: ranks in folded hosts and maps, drawn only as
   * shares. */
  drawnBetween(y0: number, y1: number): { readonly lanes: ReadonlySet<number>; readonly shares: ReadonlySet<number> } {
    const lanes = new Set<number>(),
      shares = new Set<number>(),
      own = this.state.arrangement.map === null ? lanes : shares;
    for (const row of this.#between(y0, y1))
      if (row.kind === "rank" || row.kind === "sub" || row.kind === "counter") own.add(row.at);
      else if (row.kind === "host") for (const at of row.folded?.members ?? []) shares.add(at);
    return { lanes, shares };
  }

  /* Returns the vertical ranges of the mark on the canvas. If ranks are marked, these are their rows; otherwise, it is the whole height. */
  #markedHeights(): [number, number][] {
    const { marked, markedTracks } = this.state;
    if (!marked) return [[HEAD, this.height]];
    const isMarked = (row: Row): boolean => {
      if (markedTracks) return row.kind === "sub" && markedTracks.has(trackKey(row.lane.track));
      if (row.kind === "host") return row.folded?.members.every((at) => marked.has(at)) ?? false;
      return row.kind !== "absent" && marked.has(row.at);
    };
    return [...this.#visible()].filter(isMarked).map((row) => [row.y + this.offsetOf(row), row.y + this.offsetOf(row) + row.height]);
  }

  #part(above: boolean): Box {
    const { pinned } = this.layout;
    return above ? { y: HEAD, height: Math.min(pinned, this.room) } : { y: HEAD + pinned, height: Math.max(0, this.room - pinned) };
  }

  #over(canvas: Canvas): void {
    const { mark, arrangement, path, selected } = this.state;
    if (mark) for (const [top, bottom] of this.#markedHeights()) beside.paintMark(canvas, mark, top, bottom);
    if (arrangement.map !== null) return;
    this.#joins(canvas);
    if (path) over.paintPath(canvas, this.data.path, (placed) => this.heightOf(placed));
    this.#outlineSelected(canvas);
    this.#arrows(canvas);
    if (path && selected.piece) over.outlinePiece(canvas, selected.piece, this.heightOf(selected.piece), HEAD);
  }

  get mapData() {
    return { pyramid: this.data.pyramid, hostShares: this.hostShares, memory: this.data.memory };
  }

  #map(canvas: Canvas, rows: readonly Row[]): void {
    const { selected, arrangement } = this.state,
      shown: MapRow[] = [];
    let labelled = -Infinity;
    for (const row of rows) {
      const y = row.y + this.offsetOf(row);
      if (row.kind === "absent" || (row.kind === "host" && !row.folded)) {
        this.#row(canvas, row, this.offsetOf(row));
        labelled = y + row.height - MAP_LABEL + 3;
      }
      if (row.kind !== "rank" && (row.kind !== "host" || !row.folded)) continue;
      shown.push({ y, height: row.height, host: row.kind === "host", at: row.kind === "host" ? row.host : row.at });
      const chosen = row.kind === "rank" ? row.at === selected.at : row.host === selected.host;
      if ((!chosen && y - labelled < MAP_LABEL) || y + row.height / 2 < HEAD + MAP_LABEL / 2) continue;
      labelled = y;
      beside.paintMapLabel(canvas, row, y, row.kind === "rank" ? `rank ${this.data.job.ranks[row.at]!.rank}` : hostLabel(row), chosen);
    }
    if (arrangement.map === null) return;
    paintMap(canvas, shown, arrangement.map, this.mapData);
    const { scale } = canvas,
      of = (host: boolean): Pyramid => (host ? this.hostShares : this.data.pyramid);
    if (arrangement.map !== "memory" && shown.some(({ host, at }) => of(host).widthIn(at, scale.span) * scale.k > COARSE))
      this.#leaveOut(scale.span);
  }

  /** Returns the map's value at a position as a text; null if there is no row. */
  mapWords(x: number, y: number): string | null {
    const row = this.row(y),
      { map } = this.state.arrangement;
    if (map === null || (row?.kind !== "rank" && (row?.kind !== "host" || !row.folded))) return null;
    const width = cellTime(this),
      from = this.state.span.begin + Math.floor((this.scale.time(x) - this.state.span.begin) / width) * width;
    return cellWords(this.mapData, map, { host: row.kind === "host", at: row.kind === "host" ? row.host : row.at }, from, width);
  }

  #row(canvas: Canvas, row: Row, offset: number): void {
    if (row.kind === "host") return row.folded ? this.#folded(canvas, row, offset) : beside.paintHost(canvas, row, offset);
    if (row.kind === "absent") return beside.paintAbsent(canvas, row, offset, this.data.job.allRanks > this.data.job.ranks.length);
    const { ctx, scale } = canvas;
    if (row.kind === "rank") {
      const rank = this.data.job.ranks[row.at]!;
      beside.paintGutter(canvas, row, rank, offset, this.state.open.has(row.at), this.state.selected.at === row.at);
      clipped(ctx, { x: scale.left, y: row.y + offset, width: scale.width, height: row.height }, () => {
        this.#rank(canvas, row, offset);
      });
      return;
    }
    if (row.kind === "counter") return this.#counter(canvas, row, offset);
    if (row.named) beside.paintSubLabel(canvas, row, this.data.job.names, offset);
    clipped(ctx, { x: scale.left, y: row.y + offset, width: scale.width, height: row.height }, () => {
      const box = { y: row.y + offset, height: row.height - 1 };
      paintEvents(canvas, row.lane.list, row.lane.list.range(scale.span), box, this.eventOptions(10));
    });
  }

  #counter(canvas: Canvas, row: CounterRow, offset: number): void {
    const counter = this.counterOf(row),
      { scale, ratio } = canvas,
      box = { y: row.y + offset, height: row.height - over.AIR };
    if (!counter)
      return over.paintCounterLabel(
        canvas,
        box,
        this.state.arrangement.counters[row.counter]!,
        "",
        this.data.lanes ? "not in this page" : "",
      );
    const values = this.data.values.get(counter.key),
      known = values ? isKnown(this.data, counter, values, row.at) : false,
      shares = new Float32Array(Math.ceil(scale.width * ratio));
    if (values && known) fillCounter(this.data, counter, values, row.at, scale.span.begin, 1 / (scale.k * ratio), shares);
    clipped(canvas.ctx, { x: scale.left, width: scale.width, ...box }, () => {
      over.paintCounter(canvas, box, shares);
      for (const part of known ? unknownParts(this.data, counter, row.at, scale.span) : []) over.paintUnknown(canvas, box, part);
    });
    const waiting = values === undefined || this.data.farCounters?.loading,
      nothing = known ? null : waiting ? "…" : this.data.job.complete ? "not recorded" : "not in this page";
    over.paintCounterLabel(
      canvas,
      box,
      counter.label,
      values && known ? `≤ ${counter.words(topOf(this.data, counter, values))}` : "",
      nothing,
    );
  }

  counterOf(row: CounterRow): Counter | undefined {
    const key = this.state.arrangement.counters[row.counter];
    return this.data.counters.find((each) => each.key === key);
  }

  counterWords(x: number, y: number): string | null {
    const row = this.row(y),
      counter = row?.kind === "counter" ? this.counterOf(row) : undefined,
      words = row?.kind === "counter" && counter ? this.counterAt(counter, row.at, this.scale.time(x)) : null;
    return words === null ? null : `${counter!.doc}: ${words}`;
  }

  /** Writes the values of a rank's shown counters at a time, such as "queue 12". A value is the maximum in the pixel. null: none is
   * known. */
  countersAt(at: number, time: number): string | null {
    const all = this.state.arrangement.counters.flatMap((key) => {
      const counter = this.data.counters.find((each) => each.key === key),
        words = counter ? this.counterAt(counter, at, time) : null;
      return words === null ? [] : [`${counter!.label}${f.SPACE}${words}`];
    });
    return all.length > 0 ? all.join(", ") : null;
  }

  counterAt(counter: Counter, at: number, time: number): string | null {
    const values = this.data.values.get(counter.key);
    if (!values || !isKnown(this.data, counter, values, at)) return null;
    const width = 1 / this.scale.k,
      out = new Float32Array(1);
    if (unknownParts(this.data, counter, at, { begin: time, end: time + width }).length > 0) return "not in this page";
    fillCounter(this.data, counter, values, at, time, width, out);
    return (isLeast(this.data, counter, at) ? "at least " : "") + counter.words(out[0]! * topOf(this.data, counter, values));
  }

  #folded(canvas: Canvas, row: HostRow, offset: number): void {
    const { compute, communication } = row.folded!;
    beside.paintFolded(canvas, row, offset, hostLabel(row));
    for (const [lane, kinds] of [
      [compute, COMPUTE_KINDS],
      [communication, COMMUNICATION_KINDS],
    ] as const)
      paintCoverage(canvas, this.hostShares, row.host, kinds, { y: lane.y + offset, height: lane.height }, []);
  }

  /** How to paint events. `labels`: font size of labels [px]; 0: no labels. `color`: returns an event's colour; null: by kind. */
  eventOptions(labels: number) {
    const label = (name: number, gpu: boolean): string => this.labels.of(name, gpu);
    return { found: this.state.found?.fits ?? null, label, labels, color: this.palette?.of ?? null };
  }

  #rank(canvas: Canvas, row: RankRow, offset: number): void {
    const { job, lanes, pyramid } = this.data,
      rank = job.ranks[row.at]!,
      { scale } = canvas;
    beside.paintRecordings(canvas, row, rank, offset, job.duration);
    const most = this.palette
        ? MOST_COLORED /
          Math.max(
            1,
            rowsIn(this.layout.rows, this.state.scroll, this.room).reduce((a, b) => b - a),
          )
        : 0,
      fit = Math.max(most, MOST_PER_PIXEL * scale.width);
    const detailed = lanes ? detailedParts(job, rank, scale.span) : [];
    if (lanes && this.state.open.has(row.at)) missingParts(job, rank, scale.span, true).forEach((part) => this.#leaveOut(part));
    if (lanes && pyramid.widthIn(row.at, scale.span) * scale.k > COARSE)
      for (const part of missingParts(job, rank, scale.span)) {
        this.#leaveOut(part);
        beside.paintOutside(canvas, part, row, offset);
      }
    for (const which of ["compute", "communication"] as const) {
      const lane = row[which],
        box = { y: lane.y + offset, height: lane.height };
      const kinds = which === "compute" ? COMPUTE_KINDS : COMMUNICATION_KINDS;
      const list = lanes?.of(row.at)[which],
        range = list?.range(scale.span) ?? [0, 0];
      const events = list && detailed.length > 0 && range[1] - range[0] <= fit;
      const whole = events && detailed.length === 1 && detailed[0]!.begin <= scale.span.begin && detailed[0]!.end >= scale.span.end;
      if (!whole) paintCoverage(canvas, pyramid, row.at, kinds, box, events ? detailed : []);
      if (list && (events || this.state.found))
        paintEvents(canvas, list, range, box, this.eventOptions(which === "compute" && box.height >= 13 ? 11 : 0));
    }
  }

  #leaveOut(part: Span): void {
    const before = this.leftOut;
    this.leftOut = before ? { begin: Math.min(before.begin, part.begin), end: Math.max(before.end, part.end) } : part;
  }

  /** Returns what is needed to draw lines between ranks: the rows, the visible range, and whether the rows are in the order of ranks. */
  joinInput() {
    const { scroll } = this.state,
      { ranks, pinned, inOrder } = this.layout;
    /* pinned rows do not scroll, so the scroll position is added to their positions */
    const moved = (box: Box): Box => ({ y: box.y + scroll, height: box.height });
    const rows =
      pinned === 0 || scroll === 0
        ? ranks
        : ranks.map((row) =>
            row.y < pinned ? { ...row, y: row.y + scroll, compute: moved(row.compute), communication: moved(row.communication) } : row,
          );
    return { rows, ranks: this.data.job.ranks, top: scroll, bottom: scroll + this.room, offset: HEAD - scroll, inOrder };
  }

  #joins(canvas: Canvas): void {
    const input = this.joinInput(),
      { selected, hovered } = this.state;
    const strong = [hovered.operation, selected.operation].filter((o): o is Operation => o !== null);
    const joined = this.state.found ? [] : this.index.joined(canvas.scale.span, canvas.scale.k);
    for (const operation of joined)
      if (!strong.includes(operation)) over.paintJoin(canvas, operation, input, false, joined.length <= FEW_JOINED);
    for (const operation of joined)
      if (!strong.includes(operation) && isWide(operation, canvas.scale.k))
        over.paintArrivals(canvas, operation, input, false, this.poor && joined.length <= ALL_JOINED);
    for (const operation of new Set(strong)) {
      over.paintJoin(canvas, operation, input, true, true);
      over.paintArrivals(canvas, operation, input, true, this.poor);
    }
    if (selected.operation) this.#outside(canvas, selected.operation, input);
  }

  /* Writes at the top and bottom edge how many members of an operation are above and below the view. */
  #outside({ ctx, theme, scale }: Canvas, operation: Operation, input: over.JoinInput): void {
    const { above, below } = over.membersOutside(operation, input);
    setFont(ctx, theme, [11, theme.page, "center", 600]);
    const write = (text: string, y: number): void => {
      const half = ctx.measureText(text).width / 2 + 6;
      const x = Math.max(scale.left + half, Math.min(scale.left + scale.width - half, scale.x(operation.last)));
      fillBox(ctx, theme.ink, x - half, y - 8, 2 * half, 16);
      ctx.fillStyle = theme.page;
      ctx.fillText(text, x, y + 0.5);
    };
    if (above > 0) write(`+${above} above`, HEAD + 9);
    if (below > 0) write(`+${below} below`, this.height - 9);
  }

  /* Returns the box of an event. Device event: its lane. Host event: its row if the rank is opened, else the top edge of the lanes. */
  #boxOf(at: number, event: number): Box {
    const { lanes } = this.data,
      row = this.layout.ranks[at]!,
      kind = lanes!.events.kind[event]!,
      of = lanes!.trackOf(event)!,
      track = of.continues ?? of;
    if (kind <= COPIES) {
      const lane = COMPUTE_KINDS.includes(kind) ? row.compute : row.communication;
      return { y: lane.y + this.offsetOf(row), height: lane.height };
    }
    const first = this.state.open.has(at) ? this.#threads.get(track) : undefined,
      own =
        first &&
        this.layout.rows
          .slice(this.layout.rows.indexOf(first))
          .find((each) => each.kind === "sub" && each.lane.track === track && each.lane.depth === lanes!.events.depth[event]);
    return own ? { y: own.y + this.offsetOf(own), height: own.height - 1 } : { y: row.y + this.offsetOf(row), height: 1 };
  }

  #arrows(canvas: Canvas): void {
    const { lanes, reported } = this.data,
      { event, at } = this.state.selected,
      { scale } = canvas;
    if (!lanes || !reported || event < 0) return;
    const right = scale.left + scale.width,
      arrows: over.Arrow[] = [];
    for (const { call, row } of launchesOf(lanes, reported, event)) {
      const x0 = scale.x(lanes.events.begin[call]!),
        x1 = scale.x(lanes.events.begin[row]!);
      if (Math.max(x0, x1) < scale.left || Math.min(x0, x1) > right || arrows.length === MOST_ARROWS) continue;
      arrows.push({ x0, from: this.#boxOf(at, call), x1, to: this.#boxOf(at, row) });
    }
    if (arrows.length > 0) over.paintArrows(canvas, arrows);
  }

  #outlineSelected({ ctx, theme, scale }: Canvas): void {
    const { lanes } = this.data,
      { event, at, operation } = this.state.selected;
    if (!lanes || event < 0 || operation) return;
    const kind = lanes.events.kind[event]!;
    for (const row of this.#visible()) {
      const box =
        row.kind === "rank" && row.at === at && kind <= COPIES
          ? COMPUTE_KINDS.includes(kind)
            ? row.compute
            : row.communication
          : row.kind === "sub" && row.at === at && row.lane.list.placeOf(event) >= 0
            ? row
            : null;
      if (!box) continue;
      const [x0, x1] = scale.visible(lanes.spanOf(event), 4);
      ctx.strokeStyle = theme.ink;
      ctx.lineWidth = 1.8;
      ctx.strokeRect(x0 - 1, box.y + this.offsetOf(row), Math.max(3, x1 - x0 + 2), box.height);
    }
  }
}

/** Writes a folded host and its number of ranks, such as "node3 (8)". */
const hostLabel = (row: HostRow): string => `▸ ${visible(row.name || "host")} (${row.folded?.members.length ?? 0})`;
