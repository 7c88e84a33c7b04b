/** Timeline: the events of all ranks on one clock. */
import type { Job, TableName } from "../data";
import { append, cut, fill, h, inLight, visible, type Child } from "../dom";
import * as f from "../format";
import { storeName, isServed } from "../served";
import { kindOf, nameOf } from "./path";
import { empty, hideTip, legend, swatches, tipAt, lines } from "../ui";
import { tablesNamed, type Context, type View } from "../view";
import { HEAD, type Target } from "./chart";
import { arrangeBar } from "./arrange_bar";
import { coloringWords, meaningsOf } from "./coloring";
import { Controller } from "./controller";
import { MEASURES } from "./heat";
import { countersOf, valuesOf, FarCounters } from "./counters";
import { help, operationTitle, stepAt, writeDetails } from "./details";
import { applyAwaited, applyFirst, applyRest, paramsOf, type Worst } from "./hash";
import { Input } from "./input";
import { addKernels, finerOf, load, type Loaded } from "./load";
import { askArea, askSame } from "./far";
import { FarSlowness, inSlices, slownessBy } from "./slowness";
import type { Finer } from "./finer";
import { memoryOf } from "./memory";
import { COPIES, KIND_WORDS, type JobBlock } from "./model";
import type { FoundGroup } from "./names";
import { openInPerfetto } from "./perfetto";
import { Search, type Everywhere } from "./search";
import { readTheme } from "./theme";

const LEAST_HEIGHT = 200,
  BELOW = 8, // free space below the tray [px]
  PHONE = 600,
  PRINT_RATIO = 2,
  RELIST_MS = 120; // the list is updated this long [ms] after the last change of the window
/* One entry for each kind number. */
const LEGEND = [
  ["compute", "Compute"],
  ["transfer", "Transfer"],
  ["wait", "Wait"],
  ["unmatched", "Wait and transfer, not split"],
  ["copies", "Copies"],
] as const;

export class Page {
  readonly canvas = h("canvas", {
    tabindex: 0,
    role: "application",
    "aria-label": "Timeline of all ranks",
    "aria-roledescription": "timeline",
    "aria-describedby": "tl-spoken",
  });
  readonly path = h(
    "button",
    {
      "aria-label": "Critical path (c)",
      title: "What decides when each step ends (c; its pieces: k, j)",
      click: () => this.controller.setPath(!this.controller.state.path),
    },
    "Critical path",
  );
  readonly find = h("input", {
    type: "search",
    placeholder: "Find kernels, e.g. flash",
    "aria-label": "Find in names",
    spellcheck: false,
    title: "Text or /pattern/ in names; rank:0-7, kind:kernel, dur>1ms, dur<20us",
  });
  readonly list = h(
    "button",
    {
      "aria-pressed": "false",
      title: "List what was found, or what is in view, with sums by kind (e)",
      click: () => this.controller.setListed(!this.controller.state.listed),
    },
    "List",
  );
  readonly count = h("output", { "aria-live": "polite" });
  readonly hover = h("span.tl-hover");
  readonly leftOut = h("span.tl-left-out");
  readonly details = h("div.tl-details", { tabindex: 0, role: "region", "aria-label": "Details" });
  readonly spoken = h("div.tl-spoken", { id: "tl-spoken", "aria-live": "polite" });
  readonly controller: Controller;
  readonly #bar: ReturnType<typeof arrangeBar>;
  readonly #legend = h("div.tl-legend");
  readonly #box = h("div.tl-box");
  #kinds: readonly (readonly [string, string])[] = [];
  #memory: Promise<void> | null = null;
  #slowness: Promise<void> | null = null;
  readonly #counting = new Set<string>();
  readonly #worst: { places: Map<number, number>; numbers: Map<string, number> } = { places: new Map(), numbers: new Map() };
  readonly #left = new AbortController();
  readonly #perfetto = h(
    "button",
    {
      title: "Opens ui.perfetto.dev in a tab with the ranks and the time in view, or with what is marked; nothing leaves this browser",
      click: () => void this.#openInPerfetto(),
    },
    "Open in Perfetto",
  );
  #finer: Finer | null = null;
  #farSlow: FarSlowness | null = null;
  #leftOutText = "";
  #listedView = "";
  #relisting = 0;
  #tipped = false;
  #ready = false;
  #gone = false;

  constructor(
    root: HTMLElement,
    readonly context: Context,
    readonly loaded: Loaded,
  ) {
    this.controller = new Controller(loaded.data, this.canvas, this);
    this.#kinds = LEGEND.filter((_, kind) => loaded.data.pyramid.has(kind));
    this.#bar = arrangeBar(this.controller, context.job.allRowsOf("memory.curve") > 0);
    fill(root, this.#head(), this.#bar.element, this.#box);
    append(this.#box, [
      this.canvas,
      h(
        "div.tl-status",
        this.hover,
        this.leftOut,
        h(
          "span.tl-kept",
          keptWords(loaded.data.job, context.job),
          isServed(context.job) && !loaded.data.job.complete ? " The others load as you zoom in." : "",
        ),
      ),
      this.#legend,
      trayHandle(this.details, context.params.get("tray"), (tray) => (this.resize(), context.set({ tray }))),
      this.details,
      this.spoken,
    ]);
    const input = new Input(this.controller, this.canvas);
    const until = { signal: this.#left.signal };
    document.addEventListener("keydown", (e) => input.key(e), until);
    document.addEventListener("themechange", () => this.#retheme(), until);
    window.addEventListener("resize", () => this.resize(), until);
    window.addEventListener("beforeprint", () => this.#print(), until);
    window.addEventListener("afterprint", () => (this.#retheme(), this.resize()), until);
    this.resize();
    applyFirst(this.controller, context.params);
    if (!context.params.has("rank")) this.#showBlamed();
    this.arranged();
    this.selected();
    this.controller.chart.draw();
    this.drawn();
    void loaded.all.then(
      () => this.#complete(),
      (error: Error) => this.#fail(error),
    );
  }

  leave(): void {
    this.#gone = true;
    this.#finer?.leave();
    this.controller.searcher?.stop();
    this.controller.farArea?.stop();
    this.controller.farSame?.stop();
    this.#farSlow?.stop();
    this.loaded.data.farCounters?.stop();
    this.controller.stop();
    this.#left.abort();
  }

  #head(): HTMLElement {
    const button = (text: string, label: string, click: () => void): HTMLElement =>
      h("button", { "aria-label": label, title: label, click }, text);
    const { controller } = this;
    this.find.addEventListener("input", () => controller.search(this.find.value));
    this.find.addEventListener("keydown", (e) => this.#findKey(e));
    return h(
      "div.tl-head",
      h("h1", { tabindex: -1 }, "Timeline"),
      h("div.tl-find.tl-tools", this.find, this.count, this.list),
      h(
        "div.tl-tools",
        { role: "group", "aria-label": "Window" },
        button("+", "Zoom in (w)", () => controller.zoomBy(0.5)),
        button("−", "Zoom out (s)", () => controller.zoomBy(2)),
        button("Whole job", "Show the whole job (0)", () => controller.showAll()),
        button("[", "Previous collective ([)", () => controller.nextOperation(false, false)),
        button("]", "Next collective (])", () => controller.nextOperation(true, false)),
        button("Flag", "Put a flag with a note (g)", () => controller.putFlag()),
        this.loaded.data.path.list.length > 0 && this.path,
        isServed(this.context.job) && this.#perfetto,
        button("?", "Keys and gestures (?)", () => this.asked("help")),
      ),
    );
  }

  #findKey(e: KeyboardEvent): void {
    if (e.key === "Enter") this.controller.nextFound(!e.shiftKey);
    else if (e.key === "Escape") {
      this.find.value = "";
      this.controller.search("");
      this.canvas.focus();
    } else return;
    e.preventDefault();
    this.#writeCount();
  }

  /* Scrolls to the rank that the verdict names. The window may be too small to show all ranks. */
  #showBlamed(): void {
    const table = this.context.job.table("stragglers.job"),
      rank = table.num(0, "rank");
    if (rank === null) return;
    this.controller.showRank(
      this.loaded.data.job.ranks.findIndex((each) => each.rank === rank),
      true,
    );
  }

  #complete(): void {
    if (this.#gone) return;
    const { chart } = this.controller,
      worst = this.context.job.table("collectives.worst");
    chart.refresh();
    for (let row = 0; row < worst.n; row++) {
      const operation = chart.index.find(worst.num(row, "begin_ns"), worst.num(row, "wait_ns"));
      const place = worst.num(row, "instance") ?? row;
      if (!operation) continue;
      this.#worst.places.set(operation.number, place);
      this.#worst.numbers.set(String(place), operation.number);
    }
    for (let row = 0, exposed = this.context.job.table("collectives.instance"); row < exposed.n; row++) {
      const operation = chart.index.find(exposed.num(row, "begin_ns"), exposed.num(row, "wait_ns"));
      if (operation) this.#worst.numbers.set(`e${row}`, operation.number);
    }
    void addKernels(this.context.job, this.loaded.data).then(() => {
      if (this.#gone) return;
      this.arranged();
      this.selected();
    });
    this.#ready = true;
    this.#finer = finerOf(this.context.job, this.loaded.data, {
      changed: (renamed) => this.#detailed(renamed),
      said: () => this.drawn(),
    });
    if (this.#finer && !this.loaded.data.job.complete) {
      this.controller.searcher = new Search(this.loaded.data.job.ranks, () => this.controller.searched());
      this.controller.farArea = askArea(() => this.#reported());
      this.controller.farSame = askSame(() => this.#reported());
      this.loaded.data.farCounters = new FarCounters(this.loaded.data.job, () => this.#counted());
      this.#farSlow = new FarSlowness(this.loaded.data.job, () => !this.#gone && this.controller.draw());
    }
    this.loaded.data.counters = countersOf(this.loaded.data, this.recorded);
    this.arranged();
    applyRest(this.controller, this.context.params, this.#worst as Worst, this.#finer !== null);
    if (this.controller.state.found) this.find.value = this.controller.state.found.text;
    this.selected();
    this.controller.draw();
    document.body.dataset["timeline"] = "complete";
  }

  /** `memory`: the job has memory tables. `served`: the counters that the server can compute. */
  get recorded() {
    const { job } = this.context,
      has = (name: TableName): boolean => job.allRowsOf(name) > 0;
    return {
      memory: has("memory.curve"),
      served: this.loaded.data.farCounters && {
        queue: has("launches.queue"),
        copies: has("transfers.kind"),
        bandwidth: this.loaded.data.operations.some(({ bytes }) => bytes > 0),
      },
    };
  }

  /* Called after more events of the visible window were loaded. */
  #detailed(renamed: (row: number) => number): void {
    const { state } = this.controller;
    const moved = ({ event, ...rest }: Target): Target => ({ ...rest, event: event < 0 ? event : renamed(event) });
    state.selected = moved(state.selected);
    state.hovered = moved(state.hovered);
    void addKernels(this.context.job, this.loaded.data);
    this.controller.refind(renamed);
    this.selected();
    this.resize();
    applyAwaited(this.controller);
  }

  async #openInPerfetto(): Promise<void> {
    const { state } = this.controller,
      { job } = this.loaded.data,
      places = state.marked ?? this.controller.chart.placesBetween(HEAD, this.controller.chart.height);
    if (this.#perfetto.hasAttribute("aria-disabled")) return;
    this.#perfetto.setAttribute("aria-disabled", "true"); // a button with the attribute "disabled" would lose the focus
    try {
      await openInPerfetto(
        [...places].map((at) => job.ranks[at]!.rank),
        state.mark ?? state.span,
        this.context.job.name || "tmerge",
      );
    } catch (error) {
      fill(this.details, h("p", `Perfetto was not opened: ${(error as Error).message}.`));
    }
    this.#perfetto.removeAttribute("aria-disabled");
  }

  /** What is in view. `lanes`, `shares`: ranks, as in drawnBetween(). `open`: opened ranks. `width`: width of the lanes [px]. */
  get sight() {
    const { chart, state, data } = this.controller,
      { at, event } = state.selected,
      kind = event >= 0 ? data.lanes?.events.kind[event] : undefined;
    return {
      span: state.span,
      width: chart.scale.width,
      ...chart.drawnBetween(HEAD, chart.height),
      /* A selected device event needs its launch, which is a host event. So the event's rank counts as opened. */
      open: (kind !== undefined && kind <= COPIES ? new Set([...state.open, at]) : state.open) as ReadonlySet<number>,
    };
  }

  #fail(error: Error): void {
    if (!this.#gone) fill(this.details, h("p", `Events and collectives cannot be shown: ${error.message}.`));
  }

  resize(): void {
    const { chart } = this.controller,
      top = this.canvas.getBoundingClientRect().top + window.scrollY;
    const width = this.canvas.parentElement?.clientWidth ?? 800;
    const below = this.#box.scrollHeight - this.canvas.offsetHeight,
      room = width < PHONE ? window.innerHeight * 0.62 : window.innerHeight - top - below - BELOW;
    chart.width = width;
    chart.resize(width, Math.max(LEAST_HEIGHT, Math.min(Math.round(room), chart.wanted)));
    this.canvas.style.touchAction = chart.maxScroll > 0 ? "none" : "pan-y";
    this.controller.draw();
  }

  #retheme(): void {
    this.controller.chart.theme = readTheme();
    this.controller.draw();
  }

  /* Draws for the printer: in light colours, and at a higher resolution. */
  #print(): void {
    const { chart } = this.controller;
    chart.theme = inLight(readTheme);
    this.canvas.width = Math.round(chart.width * PRINT_RATIO);
    this.canvas.height = Math.round(chart.height * PRINT_RATIO);
    this.canvas.style.height = "auto"; // the browser scales the picture down to the width of the paper
    chart.draw();
  }

  /** Called after the selection, mark or search changed. */
  selected(): void {
    const { path, arrangement } = this.controller.state;
    this.path.setAttribute("aria-pressed", String(path && arrangement.map === null));
    this.details.scrollTop = 0;
    this.spoken.textContent = writeDetails(this.details, this.controller, this.#worst.places);
    this.#writeCount();
    void this.#meet();
  }

  #reported(): void {
    if (!this.#gone) this.spoken.textContent = writeDetails(this.details, this.controller, this.#worst.places);
  }

  /* Fetches those members of the selected collective that the page lacks. */
  async #meet(): Promise<void> {
    const { state, data, chart } = this.controller,
      { event, at, operation } = state.selected;
    if (!this.#finer || event < 0 || operation) return;
    const found = await this.#finer.meet(at, event),
      now = state.selected,
      events = data.lanes?.events;
    if (!found || this.#gone || !events) return;
    chart.refresh();
    if (now.event >= 0 && !now.operation && events.operation[events.comm[now.event]!] === found.number)
      this.controller.select({ ...now, operation: found });
    else this.controller.draw();
  }

  /** Called after rows were rearranged, or after a switch between lanes and map. */
  arranged(): void {
    const { map, coloring, counters } = this.controller.state.arrangement;
    this.#bar.write();
    this.#legend.hidden = map !== null;
    this.path.disabled = map !== null; // a map does not draw the critical path
    this.path.setAttribute("aria-pressed", String(this.controller.state.path && map === null));
    fill(
      this.#legend,
      legend(this.#kinds.filter(([key]) => coloring === "kind" || (key !== "compute" && (coloring === "class" || key !== "copies")))),
    );
    if (coloring !== "kind")
      append(this.#legend, [
        swatches(
          "ul.legend",
          meaningsOf(coloring, this.loaded.data, isServed(this.context.job)).map(([color, label]) => [`var(--${color})`, label]),
          null,
          coloring === "slowness" && h("li", "Duration over the median of the same kernel at the same place on the other ranks:"),
        ),
      ]);
    if (coloring === "slowness") this.#fetchSlowness();
    this.#fetchCounters(counters);
    this.#reported();
    if (map === "memory") this.fetchMemory();
    this.resize();
  }

  #counted(): void {
    if (this.#gone) return;
    this.controller.draw();
    this.#reported();
  }

  /* Loads a counter when it is first shown, but only after the events are loaded. */
  #fetchCounters(keys: readonly string[]): void {
    const { data } = this.loaded;
    for (const key of data.lanes ? keys : []) {
      if (this.#counting.has(key)) continue;
      this.#counting.add(key);
      if (key === "memory") this.fetchMemory();
      void (key === "memory" ? this.#memory! : Promise.resolve())
        .then(() => inSlices(valuesOf(key, data)))
        .then((values) => {
          data.values.set(key, values);
          this.#counted();
        });
    }
  }

  /* Computes slowness when it is first needed, but only after events are loaded. In a served page, the server computes it. */
  #fetchSlowness(): void {
    const { data } = this.loaded;
    if (!data.lanes || this.#farSlow) return;
    this.#slowness ??= inSlices(slownessBy(data.job, data.lanes)).then((slowness) => {
      data.slowness = slowness;
      document.body.dataset["slowness"] = "complete";
      if (!this.#gone) this.controller.draw();
    });
  }

  fetchMemory(): void {
    this.#memory ??= memoryOf(this.context.job, this.loaded.data.job.ranks).then((memory) => {
      this.loaded.data.memory = memory;
      this.#counted();
    });
  }

  #writeCount(): void {
    const { found, everywhere } = this.controller.state,
      { searcher, foundAt: at } = this.controller,
      whole = this.loaded.data.job.complete;
    this.list.setAttribute("aria-pressed", String(this.controller.state.listed));
    const sought = searcher !== null && found !== null && !found.wrong;
    document.body.dataset["search"] = !sought || everywhere?.done ? "complete" : everywhere?.failed ? "failed" : "loading";
    const place = at >= 0 ? `${f.grouped(at + 1)} of ` : "",
      failed = everywhere?.failed ? `. The store cannot be searched: ${everywhere.failed}` : "";
    this.count.textContent = found?.wrong
      ? `Not understood: ${found.wrong}`
      : sought && !failed
        ? farWords(everywhere, at)
        : found && `${place}${f.grouped(found.count)} found${whole ? "" : " in this page"}${foundWords(found.groups)}${failed}`;
  }

  /** Called after state in the address changed. */
  moved(): void {
    if (this.#ready) this.context.set(paramsOf(this.controller, this.#worst));
  }

  drawn(): void {
    this.pointed();
    this.#relist();
    const { chart } = this.controller,
      left = chart.leftOut;
    if (this.#finer) return this.#writeFiner(this.#finer);
    const text = left
      ? `--from ${(Math.floor(left.begin / 1e3) / 1e6).toFixed(6)} --to ${(Math.ceil(left.end / 1e3) / 1e6).toFixed(6)}`
      : "";
    if (text !== this.#leftOutText) {
      this.#leftOutText = text;
      const command = (words: string) => h("code", `tmerge ${words}`),
        store = storeName(this.context.job);
      fill(
        this.leftOut,
        text && ["Detail left out here; ", command(`serve ${store}`), " has it; for Perfetto: ", command(`export ${store} ${text}`)],
      );
    }
    this.canvas.style.touchAction = chart.maxScroll > 0 ? "none" : "pan-y";
    document.body.dataset["frame"] = chart.cost.toFixed(2);
  }

  /* If the list shows the events in view, updates it after the window changed. */
  #relist(): void {
    const { state, chart, data } = this.controller,
      { begin, end } = state.span;
    if (!state.listed || state.found || state.mark) return;
    const view = [begin, end, state.scroll, chart.height, data.lanes?.events.n, ...state.open].join();
    if (view === this.#listedView) return;
    this.#listedView = view;
    clearTimeout(this.#relisting);
    this.#relisting = setTimeout(() => !this.#gone && writeDetails(this.details, this.controller, this.#worst.places), RELIST_MS);
  }

  /* In a served page, shows whether more detail is loading. */
  #writeFiner(finer: Finer): void {
    const { chart, state: now } = this.controller,
      coarse = now.arrangement.map === null ? "Too many events here to draw each: zoom in." : "The map has no finer detail; lanes do (v).";
    finer.look(this.sight);
    this.#compare();
    const { farCounters } = this.loaded.data;
    farCounters?.look(now.span, now.arrangement.map === null ? now.arrangement.counters : [], this.sight.lanes);
    document.body.dataset["counters"] = farCounters?.loading ? "loading" : "complete";
    const state = finer.failed !== null ? "failed" : finer.loading ? "loading" : "complete",
      comparing = now.arrangement.coloring === "slowness" && now.arrangement.map === null ? (this.#farSlow?.words ?? "") : "",
      text = finer.failed ?? (finer.loading ? "Loading detail …" : comparing || farCounters?.words || (chart.leftOut ? coarse : ""));
    document.body.dataset["detail"] = state;
    document.body.dataset["frame"] = chart.cost.toFixed(2);
    if (text === this.#leftOutText) return;
    this.#leftOutText = text;
    const again = h("button", { click: () => finer.again(this.sight) }, "Try again");
    fill(this.leftOut, finer.failed !== null ? [`Detail cannot be loaded: ${text}. `, again] : text);
  }

  /* Asks the server to compare the kernels in view with the same kernels on all ranks of the store. */
  #compare(): void {
    const { data } = this.loaded,
      { coloring, map } = this.controller.state.arrangement;
    if (!this.#farSlow || !data.lanes || coloring !== "slowness" || map !== null) return;
    const { span, lanes } = this.sight,
      before = this.#farSlow.filled;
    data.slowness = this.#farSlow.look(data.lanes, span, lanes);
    document.body.dataset["slowness"] = this.#farSlow.loading ? "loading" : "complete";
    if (this.#farSlow.filled !== before) this.controller.draw();
  }

  /** Called after the target under the pointer changed. */
  pointed(): void {
    const { pointer, state, chart, data } = this.controller;
    this.#writeTip();
    if (!pointer || pointer.x < chart.gutter || pointer.y < 0) return void (this.hover.textContent = "");
    const time = chart.scale.time(pointer.x),
      { hovered } = state,
      parts = [f.time(Math.max(0, time))];
    if (hovered.at >= 0) {
      parts.push(`rank ${data.job.ranks[hovered.at]!.rank}`);
      const step = stepAt(data.job, hovered.at, time);
      if (step !== null) parts.push(`step ${step}`);
    }
    const events = data.lanes?.events;
    if (hovered.host >= 0) parts.push(visible(chart.hosts[hovered.host]!.name));
    const words = chart.mapWords(pointer.x, pointer.y);
    const counted = chart.counterWords(pointer.x, pointer.y);
    if (counted !== null) parts.push(counted);
    if (words !== null) parts.push(`${MEASURES.find(([key]) => key === state.arrangement.map)![1].toLowerCase()} ${words}`);
    if (hovered.piece) parts.push("critical path");
    if (hovered.operation) parts.push(operationTitle(hovered.operation));
    if (hovered.event >= 0 && events) {
      const coloring = this.#farSlow?.loading ? null : coloringWords(state.arrangement.coloring, data, hovered.event),
        title = cut(visible(data.job.names[events.name[hovered.event]!] ?? ""), 120);
      parts.push(
        `${title} (${KIND_WORDS[events.kind[hovered.event]!]})`,
        f.time(events.duration[hovered.event]!),
        ...(coloring ? [coloring] : []),
      );
    }
    this.hover.textContent = pointer.y >= HEAD || hovered.at < 0 ? parts.join(" · ") : parts[0]!;
  }

  /* Shows a tooltip at the pointer: the piece of the critical path, the operation, the event. */
  #writeTip(): void {
    const { pointer, state } = this.controller,
      words = pointer ? this.#tipWords(state.hovered) : null;
    if (!words || !pointer || this.controller.dragged) return void (this.#tipped && hideTip(), (this.#tipped = false));
    const box = this.canvas.getBoundingClientRect();
    this.#tipped = true;
    tipAt([box.left + pointer.x, box.top + pointer.y], words);
  }

  #tipWords({ at, piece: placed, operation, event }: Target): Child {
    const { data } = this.controller,
      piece = placed?.piece,
      events = data.lanes?.events;
    if (piece) {
      const text = nameOf(piece);
      return lines(kindOf(piece), text && cut(visible(text), 200), `rank ${piece.rank}, ${f.time(piece.end - piece.begin)}`);
    }
    if (event < 0 || !events) return operation ? h("b", operationTitle(operation)) : null;
    const coloring = this.#farSlow?.loading ? null : coloringWords(this.controller.state.arrangement.coloring, data, event);
    return lines(
      cut(visible(data.job.names[events.name[event]!] ?? ""), 120),
      `rank ${data.job.ranks[at]!.rank}, ${KIND_WORDS[events.kind[event]!]}, ${f.time(events.duration[event]!)}`,
      operation && operationTitle(operation),
      coloring !== null && coloring,
    );
  }

  /** Called after a key was pressed that concerns this view instead of the chart. @param at index of a flag */
  asked(what: "find" | "help" | "details" | "flag", at = 0): void {
    if (what === "find") {
      this.find.focus();
      this.find.select();
    } else if (what === "help") {
      fill(this.details, help());
      this.details.scrollTop = 0;
      this.spoken.textContent = "Keys and gestures";
    } else if (what === "flag") this.details.querySelectorAll<HTMLElement>(".tl-flags input")[at]?.focus();
    else this.details.focus();
  }
}

const LEAST = 80,
  STEP = 24;

/** Returns the handle that resizes the tray. @p height: height in the address [px]. @p changed: called with the new height. */
function trayHandle(tray: HTMLElement, height: string | undefined, changed: (height: string) => void): HTMLElement {
  const handle = h("div.tl-handle", {
    role: "separator",
    tabindex: 0,
    "aria-orientation": "horizontal",
    "aria-label": "Height of the details",
    "aria-valuemin": LEAST,
    on: {
      pointerdown: (e) => handle.setPointerCapture(e.pointerId),
      pointermove: (e) => handle.hasPointerCapture(e.pointerId) && change(handle.getBoundingClientRect().top - Math.round(e.clientY - 4)),
      keydown: (e) => {
        if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
        e.preventDefault();
        change(e.key === "ArrowUp" ? STEP : -STEP);
      },
    },
  });
  function set(to: number): string {
    const most = Math.round(window.innerHeight / 2),
      within = String(Math.max(LEAST, Math.min(most, to)));
    tray.style.setProperty("--tray", `${within}px`);
    handle.setAttribute("aria-valuenow", within);
    handle.setAttribute("aria-valuemax", String(most));
    return within;
  }
  function change(by: number): void {
    changed(set(Number(handle.getAttribute("aria-valuenow")) + by));
  }
  set(Number(height) || Math.round(window.innerHeight * 0.2));
  return handle;
}

export function keptWords({ complete, events }: Pick<JobBlock, "complete" | "events">, job: Job): string {
  const all = job.table("job.job").amount(0, "events"),
    rest = complete
      ? " The others are instants, counters and the profiler’s own events."
      : " Where they are missing, bars show shares of time.";
  return `${events === all ? "All" : `${f.grouped(events)} of`} ${f.count(all, "event")} ${all === 1 ? "is" : "are"} in this page.${events === all ? "" : rest}`;
}

function farWords(far: Everywhere | null, at: number): string {
  if (!far?.done) return `Searching the store … ${far ? `${f.grouped(far.count)} found` : ""}`;
  const all = far.events.length === far.count,
    place = at < 0 ? "" : `${f.grouped(at + 1)} of ${all ? "" : `the ${f.grouped(far.events.length)} longest of `}`;
  return `${place}${f.grouped(far.count)} found${foundWords(far.groups)}`;
}

/* Writes a text such as ": 1 200 kernels 131.7 ms, 2 674 on the host 203.3 ms". */
function foundWords(groups: readonly FoundGroup[]): string {
  const parts = f.joined(
    ", ",
    ...groups.map(({ what: [one, many], count, time }) => {
      return count > 0 && `${f.grouped(count)} ${count === 1 ? one : many}${Number.isNaN(time) ? "" : ` ${f.time(time)}`}`;
    }),
  );
  return parts && `: ${parts}`;
}

export const timeline: View = {
  id: "timeline",
  title: "Timeline",
  needs: tablesNamed("collectives.worst collectives.instance clock.check stragglers.job criticalpath.piece"),
  wide: true,
  shown: (job: Job) => job.kind === "report",
  render(root, context) {
    let page: Page | undefined,
      gone = false;
    const waiting = h("p.empty", "Unpacking …");
    root.append(h("div.tl-head", h("h1", { tabindex: -1 }, "Timeline")), waiting);
    delete document.body.dataset["timeline"];
    load(context.job).then(
      (loaded) => {
        if (gone) return;
        const focused = root.contains(document.activeElement);
        page = new Page(root, context, loaded);
        if (focused) root.querySelector("h1")?.focus({ preventScroll: true });
      },
      (error: Error) => {
        if (!gone) waiting.replaceWith(empty(`The timeline cannot be shown: ${error.message}.`));
      },
    );
    return () => {
      gone = true;
      page?.leave();
    };
  },
};
