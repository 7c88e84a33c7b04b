/** Executes commands: changes the state and redraws before the next frame. */
import type { Page } from ".";
import { Chart, ChartState, HEAD, NOWHERE, type ChartData, type Target } from "./chart";
import type { Arrangement, Measure } from "./layout";
import { addFlag } from "./flags";
import type { FarArea, askSame } from "./far";
import { launchesOf } from "./event_details";
import { addressOfFar, findEvent } from "./hash";
import { find } from "./names";
import { openingOf } from "./paint_head";
import type { Placed } from "./path";
import { isOpened, type FarEvent, type Search } from "./search";
import { COMPUTE, COPIES, STREAM, TRANSFER, UNMATCHED, type Operation, type Span } from "./model";
import { around, clamp, pan, reveal, zoom } from "./span";

/** After scrolling to a piece of the path, at least this much space [px] is below it. */
const UNDER = 60;
const MANY = 16; // if a job has more ranks, the first map that the reader opens has folded hosts

function toggled<T>(list: readonly T[], item: T): T[] {
  return list.includes(item) ? list.filter((each) => each !== item) : [...list, item];
}

export class Controller {
  readonly chart: Chart;
  readonly state: ChartState;
  /** Pointer position [px of the canvas]; null: outside of the canvas. */
  pointer: { x: number; y: number } | null = null;
  dragged = false;
  #frame = 0;
  /** Searches the whole store. null if the page is not served, or if it has all events. */
  searcher: Search | null = null;
  /** `farArea` asks the server for sums over an area. `farSame` asks it for the same event on other ranks. null if `searcher` is null. */
  farArea: FarArea | null = null;
  farSame: ReturnType<typeof askSame> | null = null;
  readonly opening: Span; // the span that is shown if the address names none
  foundAt = -1; // index of the selected event among the matches; -1 if it is not a match
  measure: Measure | null = null; // the quantity of the map that was shown last; null: none yet

  constructor(
    readonly data: ChartData,
    element: HTMLCanvasElement,
    readonly listener: Page,
  ) {
    this.opening = openingOf(data.job, data.strip);
    this.state = new ChartState(this.opening);
    this.chart = new Chart(data, this.state, element);
  }

  get duration(): number {
    return this.data.job.duration;
  }

  /** Requests a frame. Several requests before the next frame lead to a single one. */
  draw(): void {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.chart.draw();
      this.listener.drawn();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
  }

  /** Changes state that the details or the address show. */
  change(change: (state: ChartState) => unknown): void {
    change(this.state);
    this.listener.selected();
    this.listener.moved();
    this.draw();
  }

  setSpan(span: Span): void {
    this.state.span = clamp(span, this.duration);
    this.listener.moved();
    this.draw();
  }

  zoomAt(x: number, factor: number): void {
    const scale = this.chart.scale,
      time = scale.time(Math.max(scale.left, Math.min(scale.left + scale.width, x)));
    this.setSpan(zoom(this.state.span, time, factor, this.duration));
  }

  /** Scrolls the rows. Returns whether they moved. */
  scrollBy(pixels: number): boolean {
    const before = this.state.scroll;
    this.state.scroll = Math.max(0, Math.min(this.chart.maxScroll, before + pixels));
    if (this.state.scroll !== before) this.draw();
    return this.state.scroll !== before;
  }

  showRank(at: number, middle = false): void {
    const row = this.chart.layout.ranks[at];
    if (!row) return;
    const { pinned } = this.chart.layout,
      room = this.chart.room,
      { scroll } = this.state;
    if (row.pinned) return this.draw();
    if (middle && (row.y < scroll + pinned || row.y + row.height > scroll + room)) this.state.scroll = row.y - (room - row.height) / 2;
    else if (row.y < scroll + pinned) this.state.scroll = row.y - pinned;
    else if (row.y + row.height > scroll + room) this.state.scroll = row.y + row.height - room;
    this.state.scroll = Math.max(0, Math.min(this.chart.maxScroll, this.state.scroll));
    this.draw();
  }

  toggle(at: number): void {
    if (at < 0) return;
    if (!this.state.open.delete(at)) this.state.open.add(at);
    this.chart.arrange();
    this.listener.moved();
    this.draw();
  }
  /* Index of the rank in focus: the selected rank or, if none is selected, the rank in the middle of the view. */
  get #lookedAt(): number {
    const row = this.state.selected.at < 0 ? this.chart.row(HEAD + this.chart.room / 2) : undefined;
    if (row?.kind === "host") return this.chart.hosts[row.host]!.members[0]!;
    return row && row.kind !== "absent" ? row.at : this.state.selected.at;
  }

  /* Computes the rows again, and keeps the rank in focus in view. */
  #arranged(): void {
    const at = this.#lookedAt;
    this.chart.arrange();
    if (at >= 0) this.showRank(at, true);
    this.listener.arranged();
    this.listener.moved();
    this.draw();
  }

  /** Shows a map of a quantity, or lanes if it is null. In a job of many ranks, the first map has folded hosts. */
  setMap(measure: Measure | null): void {
    const { arrangement } = this.state,
      first = this.measure === null && arrangement.map === null;
    arrangement.map = measure;
    if (measure !== null) this.measure = measure;
    if (measure !== null && first && this.data.job.ranks.length > MANY && this.chart.hosts.length > 1) this.#foldHosts(true);
    this.listener.selected();
    this.#arranged();
  }

  arrange(change: (arrangement: Arrangement) => void): void {
    change(this.state.arrangement);
    this.#arranged();
  }

  toggleCounter(key: string): void {
    this.arrange((own) => (own.counters = toggled(own.counters, key)));
  }

  #foldHosts(fold: boolean): void {
    const { folded } = this.state.arrangement;
    folded.clear();
    if (fold) this.chart.hosts.forEach((_, host) => folded.add(host));
  }

  foldAll(fold: boolean): void {
    this.#foldHosts(fold);
    this.#arranged();
  }

  toggleHost(host: number): void {
    const { folded } = this.state.arrangement;
    if (host < 0 || this.chart.hosts.length < 2) return;
    if (!folded.delete(host)) folded.add(host);
    if (this.state.selected.host === host) this.state.selected = { ...NOWHERE, at: this.chart.hosts[host]!.members[0]! };
    this.#arranged();
  }

  togglePin(at: number): void {
    if (at >= 0) this.arrange((own) => (own.pinned = toggled(own.pinned, at)));
  }

  movePinned(by: number): void {
    const { arrangement, selected } = this.state,
      at = selected.at,
      from = arrangement.pinned.indexOf(at),
      to = from + by;
    if (from < 0 || to < 0 || to >= arrangement.pinned.length) return;
    const list = arrangement.pinned.filter((each) => each !== at);
    list.splice(to, 0, at);
    arrangement.pinned = list;
    this.#arranged();
  }

  hide(): void {
    const { hidden } = this.state.arrangement,
      at = this.rankInQuestion();
    if (at < 0 || hidden.size >= this.data.job.ranks.length - 1) return;
    hidden.add(at);
    if (this.state.selected.at === at) this.state.selected = NOWHERE;
    this.listener.selected();
    this.#arranged();
  }

  /** Leaves the map and shows the lanes of a rank. Zooms in by a factor of 8, with @p time in the middle. */
  zoomInto(at: number, time: number): void {
    const length = (this.state.span.end - this.state.span.begin) / 8;
    this.state.arrangement.map = null;
    this.#unfold(at);
    this.state.span = clamp({ begin: time - length / 2, end: time + length / 2 }, this.duration);
    this.select({ ...NOWHERE, at });
    this.#arranged();
  }

  #unfold(at: number): void {
    const host = this.chart.hosts.findIndex(({ members }) => members.includes(at));
    this.state.arrangement.folded.delete(host);
  }

  /* Makes a rank visible: unfolds its host, unhides the rank, and leaves the map. */
  #uncover(at: number): void {
    const { arrangement } = this.state,
      folded = arrangement.folded.size;
    const covered = arrangement.map !== null || arrangement.hidden.has(at);
    arrangement.map = null;
    arrangement.hidden.delete(at);
    this.#unfold(at);
    if (!covered && folded === arrangement.folded.size) return;
    this.chart.arrange();
    this.listener.arranged();
  }

  nextRank(forward: boolean): void {
    const { selected } = this.state,
      rows = this.chart.layout.rows.filter((row) => row.kind === "rank" || (row.kind === "host" && row.folded));
    const at = rows.findIndex((row) => (row.kind === "rank" ? row.at === selected.at : row.kind === "host" && row.host === selected.host));
    const next = rows[at < 0 ? (forward ? 0 : rows.length - 1) : at + (forward ? 1 : -1)];
    if (!next) return;
    this.select(next.kind === "rank" ? { ...NOWHERE, at: next.at } : { ...NOWHERE, host: next.kind === "host" ? next.host : -1 });
    this.showRank(next.kind === "rank" ? next.at : this.chart.hosts[(next as { host: number }).host]!.members[0]!);
  }

  /* Returns the host of the selected row. If no row is selected, returns the host of the row under the pointer. */
  #hostInQuestion(): number {
    const { selected } = this.state,
      row = this.pointer ? this.chart.row(this.pointer.y) : undefined;
    if (selected.host >= 0) return selected.host;
    if (selected.at < 0 && row?.kind === "host") return row.host;
    const at = this.rankInQuestion();
    return this.chart.hosts.findIndex(({ members }) => members.includes(at));
  }

  select(target: Target): void {
    this.change((state) => Object.assign(state, { selected: target, awaited: null }));
  }

  hover(target: Target): void {
    const { hovered } = this.state,
      keys = ["event", "operation", "piece", "host", "at"] as const;
    if (keys.every((key) => hovered[key] === target[key])) return this.listener.pointed();
    this.state.hovered = target;
    this.draw();
  }

  /** @param marked indices of ranks; null: all  @param tracks keys of their streams and threads; null: all */
  setMark(mark: Span | null, marked: ReadonlySet<number> | null = null, tracks: ReadonlySet<string> | null = null): void {
    this.change(() => this.drawMark(mark, marked, tracks));
  }

  /** Sets the mark while the reader still draws it. Unlike setMark(), does not update the description of what is in the mark. */
  drawMark(mark: Span | null, marked: ReadonlySet<number> | null, tracks: ReadonlySet<string> | null): void {
    this.state.mark = mark && mark.end > mark.begin ? clamp(mark, this.duration) : null;
    this.state.marked = this.state.mark && marked && marked.size > 0 ? marked : null;
    this.state.markedTracks = this.state.marked ? tracks : null;
    this.draw();
  }

  /** Puts a flag on the mark. If there is none: at the pointer, else on the selection, else in the middle of the view. */
  putFlag(): void {
    const { mark, span } = this.state,
      time = this.pointer && this.pointer.x >= this.chart.gutter ? this.chart.scale.time(this.pointer.x) : null,
      begin = Math.round(Math.max(0, time ?? this.#selectedSpan()?.begin ?? (span.begin + span.end) / 2)),
      at = addFlag(this.state.flags, mark ?? { begin, end: begin });
    this.change(() => undefined);
    this.listener.asked("flag", at);
  }

  writeFlag(at: number, text: string): void {
    this.state.flags[at] = { ...this.state.flags[at]!, text };
    this.listener.moved();
    this.draw();
  }

  /* Adds the rank in question to the mark, or removes it. If there is no mark, marks this rank over the time of the selection or view. */
  markRank(): void {
    const { mark, marked, span } = this.state,
      at = this.rankInQuestion();
    if (at < 0) return;
    const rest = new Set(mark && marked ? marked : []);
    if (!rest.delete(at)) rest.add(at);
    this.setMark(rest.size > 0 ? (mark ?? this.#selectedSpan() ?? { ...span }) : null, rest);
  }

  search(text: string): void {
    const { lanes, job } = this.data;
    this.state.found = lanes ? find(text, job.names, lanes.events, job.ranks) : null;
    this.searcher?.look(text);
    this.foundAt = -1;
    this.change((state) => (state.everywhere = this.searcher?.result ?? null));
  }

  searched(): void {
    const done = this.state.everywhere?.done;
    this.state.everywhere = this.searcher?.result ?? null;
    if (this.state.everywhere?.done && !done) this.foundAt = -1;
    this.listener.selected();
  }

  /** Repeats the search after events were loaded or removed. The current match stays the same. */
  refind(renamed: (row: number) => number): void {
    const { lanes, job } = this.data,
      { found } = this.state;
    if (!found || !lanes) return;
    const row = found.rows[this.foundAt];
    this.state.found = find(found.text, job.names, lanes.events, job.ranks);
    if (!this.#steps && row !== undefined) this.foundAt = this.state.found?.rows.indexOf(renamed(row)) ?? -1;
    this.draw();
  }

  /* The matches in the whole store, through which the reader can step; null if the search is not complete. */
  get #steps(): readonly FarEvent[] | null {
    const far = this.state.everywhere;
    return far?.done && !far.failed ? far.events : null;
  }

  setListed(listed: boolean): void {
    this.change((state) => (state.listed = listed));
  }

  selectFound(place: number): void {
    const far = this.#steps?.[place];
    if (this.#steps) {
      if (!far) return;
      this.foundAt = place;
      return this.goTo(far);
    }
    const row = this.state.found?.rows[place];
    if (row === undefined) return;
    this.foundAt = place;
    this.selectEvent(row);
  }

  /** Selects an event that the page may lack. Shows its time, and selects it once it is fetched. */
  goTo(event: FarEvent): void {
    const { at, begin, duration, kind } = event,
      { lanes } = this.data,
      address = addressOfFar(event),
      row = lanes ? findEvent(lanes, this.data.job.names, at, address) : -1;
    if (row >= 0) return this.selectEvent(row);
    this.#uncover(at);
    if (isOpened(kind) && !this.state.open.has(at)) {
      this.state.open.add(at);
      this.chart.arrange();
    }
    this.showRank(at);
    this.select({ ...NOWHERE, at });
    this.state.awaited = address;
    this.setSpan(around({ begin, end: begin + duration }, this.duration, 2));
  }

  /** Selects an operation and its member on the rank with the index @p at. If @p at is -1, selects the last member. */
  selectOperation(operation: Operation, at = -1): void {
    const { state } = this;
    const member = operation.members.find((m) => m.at === at) ?? operation.lastMember ?? operation.members[0]!;
    state.span = reveal(state.span, { begin: operation.begin, end: operation.end }, this.duration);
    this.#uncover(member.at);
    this.showRank(member.at, true);
    this.select({ ...NOWHERE, at: member.at, event: this.#eventOf(operation, member.at), operation });
  }

  #eventOf(operation: Operation, at: number): number {
    const list = this.data.lanes?.of(at).communication;
    if (!list) return -1;
    const [first, end] = list.range({ begin: operation.begin, end: operation.end });
    for (let i = first; i < end; i++)
      if (list.events.operation[list.events.comm[list.rows[i]!]!] === operation.number) return list.rows[i]!;
    return -1;
  }

  selectEvent(row: number): void {
    const { lanes, operations } = this.data,
      track = lanes?.trackOf(row);
    if (!lanes || !track) return;
    const { begin, duration, comm, operation } = lanes.events;
    this.state.span = reveal(this.state.span, { begin: begin[row]!, end: begin[row]! + duration[row]! }, this.duration);
    this.#uncover(track.at);
    if (track.kind !== STREAM && !this.state.open.has(track.at)) {
      this.state.open.add(track.at);
      this.chart.arrange();
    }
    this.showRank(track.at);
    if (track.kind !== STREAM) this.#showEventRow(track.at, row);
    this.select({ ...NOWHERE, at: track.at, event: row, operation: operations[operation[comm[row]!]!] ?? null });
  }

  setPath(shown: boolean): void {
    this.change((state) => {
      state.path = shown && this.data.path.list.length > 0;
      if (!state.path && state.selected.piece) state.selected = NOWHERE;
    });
  }

  selectPiece(piece: Placed): void {
    this.state.path = true;
    this.state.span = reveal(this.state.span, piece.piece, this.duration);
    this.#uncover(piece.at);
    this.showRank(piece.at, true);
    const below = this.chart.heightOf(piece) - (this.chart.height - UNDER);
    if (below > 0) this.scrollBy(below);
    this.select({ ...NOWHERE, at: piece.at, piece });
  }

  #showEventRow(at: number, event: number): void {
    for (const row of this.chart.layout.rows) {
      if (row.kind !== "sub" || row.at !== at || row.lane.list.placeOf(event) < 0) continue;
      if (row.y + row.height > this.state.scroll + this.chart.room)
        this.state.scroll = Math.min(this.chart.maxScroll, row.y + row.height - this.chart.room);
      return;
    }
  }
  /** Zooms around the pointer. If the pointer is elsewhere, zooms around the middle. */
  zoomBy(factor: number): void {
    this.zoomAt(this.pointer?.x ?? this.chart.gutter + (this.chart.width - this.chart.gutter) / 2, factor);
  }

  panBy(share: number): void {
    this.setSpan(pan(this.state.span, share, this.duration));
  }

  scrollRows(rows: number): void {
    this.scrollBy(rows * (this.chart.layout.ranks[0]?.height ?? 30));
  }

  scrollPages(pages: number): void {
    this.scrollBy(pages * this.chart.room * 0.9);
  }

  showAll(): void {
    this.setSpan({ begin: 0, end: this.duration });
  }

  switchMap(): void {
    this.setMap(this.state.arrangement.map === null ? (this.measure ?? "compute") : null);
  }

  /** Folds or unfolds all hosts or, if @p all is false, the selected host. Without a selection, that is the host under the pointer. */
  fold(all: boolean): void {
    if (all) this.foldAll(this.state.arrangement.folded.size < this.chart.hosts.length);
    else this.toggleHost(this.#hostInQuestion());
  }

  open(): void {
    if (this.state.selected.host >= 0) this.toggleHost(this.state.selected.host);
    else this.toggle(this.rankInQuestion());
  }

  /** Removes the mark. If there is none, marks the time of the selection. If nothing is selected, marks the visible time range. */
  markAll(): void {
    this.setMark(this.state.mark ? null : (this.#selectedSpan() ?? { ...this.state.span }));
  }

  rankInQuestion(): number {
    if (this.state.selected.at >= 0) return this.state.selected.at;
    const row = this.pointer ? this.chart.row(this.pointer.y) : undefined;
    return row && (row.kind === "rank" || row.kind === "sub") ? row.at : this.data.job.ranks.length === 1 ? 0 : -1;
  }

  #selectedSpan(): Span | null {
    const { event, operation, piece } = this.state.selected,
      events = this.data.lanes?.events;
    if (piece) return { begin: piece.piece.begin, end: Math.max(piece.piece.end, piece.piece.begin + 1) };
    if (operation) return { begin: operation.begin, end: operation.end };
    return event >= 0 && events ? { begin: events.begin[event]!, end: events.begin[event]! + Math.max(1, events.duration[event]!) } : null;
  }

  fit(): void {
    const span = this.state.mark ?? this.#selectedSpan();
    if (span) this.setSpan(around(span, this.duration));
  }

  nextOperation(forward: boolean, byWait: boolean): void {
    const next = this.chart.index.next(this.state.selected.operation, this.state.span, forward, byWait);
    if (next) this.selectOperation(next);
  }

  nextPiece(forward: boolean, hop: boolean): void {
    const next = this.data.path.next(this.state.selected.piece, this.state.span, forward, hop);
    if (next) this.selectPiece(next);
  }

  nextEvent(forward: boolean): void {
    const { event, at } = this.state.selected,
      lanes = this.data.lanes;
    if (!lanes) return;
    if (event < 0) {
      const list = lanes.of(at >= 0 ? at : Math.max(0, this.#lookedAt)).compute,
        [first] = list.range(this.state.span);
      if (first < list.n) this.selectEvent(list.rows[first]!);
      return;
    }
    const track = lanes.trackOf(event)!,
      own = lanes.of(track.at),
      kind = lanes.events.kind[event]!;
    const list =
      kind === COMPUTE || kind === COPIES
        ? own.compute
        : kind === TRANSFER || kind === UNMATCHED
          ? own.communication
          : own.subLanes.find((lane) => lane.track === (track.continues ?? track) && lane.depth === lanes.events.depth[event])?.list;
    const next = list?.rows[list.placeOf(event) + (forward ? 1 : -1)];
    if (next !== undefined) this.selectEvent(next);
  }

  /* If a device event is selected, selects its launch. If a host event is selected, selects the first event that it launched. */
  followLaunch(): void {
    const { lanes, reported } = this.data,
      { event } = this.state.selected;
    const launch = lanes && reported && event >= 0 ? launchesOf(lanes, reported, event)[0] : undefined;
    if (launch) this.selectEvent(launch.row === event ? launch.call : launch.row);
  }

  nextStep(forward: boolean): void {
    const { steps } = this.chart,
      { span } = this.state;
    const near = (a: number, b: number, step: Span): boolean => Math.abs(a - b) < 0.02 * (step.end - step.begin) + 1;
    const at = steps.findIndex((step) => near(step.begin, span.begin, step) && near(step.end, span.end, step));
    const middle = (span.begin + span.end) / 2;
    const next =
      at >= 0
        ? steps[at + (forward ? 1 : -1)]
        : span.end - span.begin >= this.duration * 0.999
          ? steps[forward ? 0 : steps.length - 1]
          : (steps.find((step) => step.begin <= middle && middle < step.end) ?? steps[0]);
    if (next) this.setSpan({ begin: next.begin, end: next.end });
  }

  nextFound(forward: boolean): void {
    const { found, span } = this.state,
      events = this.data.lanes?.events;
    if (!found || !events) return;
    const begins = this.#steps?.map((event) => event.begin) ?? Array.from(found.rows, (row) => events.begin[row]!),
      n = begins.length;
    if (n === 0) return;
    let place = (this.foundAt + (forward ? 1 : -1) + n) % n;
    if (this.foundAt < 0) {
      const inView = begins.findIndex((begin) => begin >= span.begin);
      place = inView < 0 ? 0 : forward ? inView : Math.max(0, inView - 1);
    }
    this.selectFound(place);
  }

  clear(): void {
    if (this.state.found) return this.search("");
    if (this.state.mark) return this.setMark(null);
    this.select(NOWHERE);
  }

  details(): void {
    const { selected, arrangement, span } = this.state;
    if (arrangement.map !== null && selected.host >= 0) return this.toggleHost(selected.host);
    if (arrangement.map !== null && selected.at >= 0) return this.zoomInto(selected.at, (span.begin + span.end) / 2);
    const target = this.pointer && this.pointer.y > HEAD ? this.chart.target(this.pointer.x, this.pointer.y) : NOWHERE;
    if (target.event >= 0 || target.operation || target.piece) this.select(target);
    else this.listener.asked("details");
  }
}
