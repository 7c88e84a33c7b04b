/** The page's frame: header, list of views, address handling. */
import { blocks, hideTip, heading, empty, tipAt } from "./ui";
import { count, time } from "./format";
import { leftOutNote, fetchUnread, unread } from "./served";
import { GRAVEST } from "./job";
import { describeSides } from "./views/diff/sides";
import { describeDumps } from "./views/hang";
import type { Job, TableName } from "./data";
import { append, h, fill, keepFocus, visible, type Child } from "./dom";
import { href, parseHash, type Context, type State, type Tab, type View } from "./view";

const WORDS: Readonly<Record<State, string>> = { bad: "problem", warn: "worth a look", good: "fine", note: "note" };
const SAVED_AFTER_MS = 200;

export class App {
  readonly #job: Job;
  readonly #tabs: readonly Tab[];
  readonly #views: readonly View[];
  readonly #main = h("main", { id: "main", tabindex: -1 });
  readonly #links = new Map<Tab, HTMLAnchorElement>();
  #leave: void | (() => void) = undefined;
  readonly #first: View;
  #view: View;
  #params = new Map<string, string>();
  #saving = 0;
  #address = ""; // the address as last opened or saved
  #turn = 0;
  readonly #scrolls = new Map<string, number>(); // scroll position of each address that was left [px]
  #byLink = false;

  constructor(job: Job, tabs: readonly Tab[]) {
    this.#job = job;
    const byRows = <T>(all: readonly T[], blank: (each: T) => boolean) => [...all.filter((each) => !blank(each)), ...all.filter(blank)];
    const there = (views: readonly View[]) => views.filter((view) => view.shown?.(job) ?? true),
      shown = tabs
        .map(({ group, views }) => ({ group, views: byRows(there(views), this.#isBlank) }))
        .filter(({ views }) => views.length > 0);
    this.#tabs = byRows(shown, (tab) => this.#allBlank(tab));
    this.#views = this.#tabs.flatMap(({ views }) => views);
    const nothing = job.kind === "report" && job.table("job.job").amount(0, "events") === 0;
    this.#first = this.#views.find((view) => nothing && view.id === "about") ?? this.#views[0]!;
    this.#view = this.#first;
  }

  start(): void {
    const skip = (e: Event) => (e.preventDefault(), this.#main.focus());
    document.body.append(
      h("a.skip", { href: "#main", on: { click: skip } }, "Skip to the content"),
      this.#header(),
      h("div.frame", this.#rail(), this.#main),
    );
    restoreTheme();
    history.scrollRestoration = "manual";
    window.addEventListener("pagehide", () => (history.scrollRestoration = "auto")); // lets the browser restore the scroll on reload
    document.addEventListener("click", (e) => (this.#byLink ||= e.target instanceof Element && e.target.closest("a[href^='#']") !== null));
    document.addEventListener("keydown", copyName);
    window.addEventListener("hashchange", () => this.#open());
    window.addEventListener("beforeprint", () => document.dispatchEvent(new Event("themechange")));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("themechange")));
    this.#open();
  }

  #header(): HTMLElement {
    const button = (text: string, click: () => void) => h("button", { click }, text);
    return h(
      "header.top",
      h("span.brand", "t", h("b", "merge")),
      h("bdi.job", visible({ report: this.#job.name, diff: "two jobs compared", hang: "does the job hang?" }[this.#job.kind])),
      h("span.facts", describe(this.#job)),
      h(
        "span.tools",
        button("Light / dark", switchTheme),
        button("Print", () => window.print()),
      ),
    );
  }

  /* Returns whether a view has no data, that is, whether all tables in its `of` are empty. */
  readonly #isBlank = (view: View): boolean => view.of?.every((name) => this.#job.rowsOf(name) === 0) ?? false;

  #allBlank(tab: Tab): boolean {
    return tab.views.every(this.#isBlank);
  }

  #rail(): HTMLElement {
    const list = h("nav.rail", { "aria-label": "Views" });
    let group = "";
    for (const tab of this.#tabs) {
      const blank = this.#allBlank(tab),
        own = blank ? "Not recorded" : tab.group;
      if (own !== group) list.append(h("div.rail-group", own));
      group = own;
      const [first, ...more] = tab.views,
        title = [first!.title, ...more.map((view) => view.title.replace(/^.(?=[a-z])/, (letter) => letter.toLowerCase()))].join(", ");
      const ids = tab.views.map((view) => view.id).join(" "),
        anchor = h("a", { class: blank ? "blank" : "", href: href(first!.id), "data-views": ids }, title);
      this.#mark(tab, anchor);
      this.#links.set(tab, anchor);
      list.append(anchor);
    }
    return list;
  }

  /* Marks the tab of a group with the most severe state of its views. First loads the tables that decide the states. */
  #mark(tab: Tab, anchor: HTMLElement): void {
    const mark = () => {
      const states = tab.views.map((view) => view.state?.(this.#job)),
        state = GRAVEST.find((each) => each !== "note" && states.includes(each));
      if (state) anchor.append(h("span", { class: `dot ${state}`, role: "img", "aria-label": WORDS[state], title: WORDS[state] }));
    };
    const judges = tab.views.flatMap((view) => view.judges ?? []);
    if (!this.#lacks(judges)) mark();
    else this.#job.load(judges).then(mark, () => undefined); // no message here: the views that need a damaged table report it
  }

  #parts(view: View): HTMLElement | null {
    const tab = this.#tabs.find(({ views }) => views.includes(view));
    if (!tab || tab.views.length < 2) return null;
    const link = (each: View) => {
      const current = each === view ? "page" : undefined;
      return h("a", { class: this.#isBlank(each) ? "blank" : "", href: href(each.id), "aria-current": current }, each.title);
    };
    return h("nav.parts", { "aria-label": "Parts of this view" }, tab.views.map(link));
  }

  #open(): void {
    const { view: id, params } = parseHash(location.hash);
    const view = this.#views.find((v) => v.id === id) ?? this.#first;
    const moved = view !== this.#view;
    this.#scrolls.set(this.#address, window.scrollY);
    this.#view = view;
    this.#params = params;
    this.#address = location.hash;
    this.#draw();
    if (moved) {
      window.scrollTo(0, this.#byLink ? 0 : (this.#scrolls.get(location.hash) ?? 0)); // after "back", restores the scroll position
      this.#main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    }
    this.#byLink = false;
  }

  /* Returns whether one of these tables still has to be unpacked: it has rows in the page, but they are not loaded. */
  #lacks(names: readonly TableName[]): boolean {
    return names.some((name) => this.#job.rowsOf(name) > 0 && this.#job.table(name).n === 0);
  }

  /* If the list of views is wider than the window, scrolls it so that the link to this view is visible. */
  #showLink(anchor: HTMLElement | undefined): void {
    const list = anchor?.closest("nav");
    if (!anchor || !list || list.scrollWidth <= list.clientWidth) return;
    const [own, all] = [anchor.getBoundingClientRect(), list.getBoundingClientRect()];
    if (own.left < all.left) list.scrollLeft += own.left - all.left;
    else if (own.right > all.right) list.scrollLeft += own.right - all.right;
  }

  #draw(): void {
    this.#saved(); // saves the previous view's parameters
    this.#leave?.();
    this.#leave = undefined;
    hideTip();
    const view = this.#view,
      turn = ++this.#turn;
    for (const [tab, anchor] of this.#links)
      if (tab.views.includes(view)) {
        anchor.setAttribute("aria-current", "page");
        this.#showLink(anchor);
      } else anchor.removeAttribute("aria-current");
    document.body.dataset["view"] = view.id;
    this.#main.className = view.wide ? "wide" : "";
    if (!this.#lacks(view.needs)) return this.#render(view);
    fill(this.#main, h("p.empty", "Unpacking …"));
    this.#job.load(view.needs).then(
      () => turn === this.#turn && this.#render(view),
      (error: Error) => turn === this.#turn && this.#fail(view, error),
    );
  }

  #render(view: View): void {
    fill(this.#main, this.#parts(view));
    const context: Context = {
      job: this.#job,
      params: this.#params,
      set: (changes) => this.#change(changes),
      redraw: (changes) => {
        this.#change(changes);
        const scroll = window.scrollY;
        this.#save();
        keepFocus(this.#main, () => this.#draw(), this.#main);
        window.scrollTo(0, scroll);
      },
    };
    try {
      append(this.#main, blocks([view.lacks?.(context) || view.parts?.map((part) => part(context))]));
      this.#leave = view.render?.(this.#main, context);
    } catch (error) {
      this.#fail(view, error as Error);
    }
    const left = view.wide ? leftOutNote(this.#job, ["job.rank"]) : (this.#readRest(view, context) ?? leftOutNote(this.#job, view.needs));
    const lead = view === this.#views[0] ? null : this.#main.querySelector("header h1")?.closest("header"); // on Summary, the note is last
    if (left && lead) lead.after(left);
    else if (left && view.id !== "tables") this.#main.append(left);
    document.body.dataset["ready"] = view.id;
  }

  /* Fetches the rows that a served page lacks, then redraws the view with all rows. Returns a line that shows the progress. */
  #readRest(view: View, context: Context): HTMLElement | null {
    const job = this.#job,
      turn = this.#turn,
      names = unread(job, view.needs);
    if (names.length === 0) return null;
    const all = names.reduce((sum, name) => sum + job.leftOut(name), 0),
      said = h("p.note.left-out", { role: "status" }, `Drawn from part of the rows. Reading ${count(all, "more row")} …`);
    fetchUnread(job, names).then(
      () => turn === this.#turn && context.redraw({}),
      (error: Error) => said.replaceWith(h("p.note", `The rest cannot be read: ${error.message}.`), leftOutNote(job, view.needs) ?? ""),
    );
    return said;
  }

  #fail(view: View, error: Error): void {
    fill(this.#main, this.#parts(view), heading(view.title), empty(`This view cannot be drawn: ${error.message}.`));
    document.body.dataset["ready"] = view.id;
  }

  #change(changes: Readonly<Record<string, string | null>>): void {
    for (const [key, value] of Object.entries(changes))
      if (value === null) this.#params.delete(key);
      else this.#params.set(key, value);
    clearTimeout(this.#saving);
    this.#saving = window.setTimeout(() => this.#save(), SAVED_AFTER_MS);
    document.body.dataset["address"] = "behind";
  }

  /* Writes the parameters to the address. This adds no history entry, and causes no hashchange event. */
  #save(): void {
    this.#saved();
    if (location.hash !== this.#address) return; // a link was followed, and its view opens next
    this.#address = href(this.#view.id, Object.fromEntries(this.#params));
    if (this.#address !== location.hash) history.replaceState(null, "", this.#address);
  }

  #saved(): void {
    clearTimeout(this.#saving);
    delete document.body.dataset["address"];
  }
}

/* If the key y is pressed, copies the whole name under the pointer or, without one, in the focused element or in the selection. */
function copyName(event: KeyboardEvent): void {
  const typing = event.target instanceof Element && event.target.closest("input, select, textarea") !== null;
  if (event.key !== "y" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const found =
    document.querySelector<HTMLElement>(".name:hover") ??
    document.activeElement?.querySelector<HTMLElement>(".name") ??
    document.querySelector<HTMLElement>(".tl-details h2 .name");
  if (!found) return;
  const box = found.getBoundingClientRect();
  const copied = async () => navigator.clipboard.writeText(found.title || found.textContent); // rejects if there is no clipboard
  copied().then(
    () => tipAt([box.left, box.bottom], "Copied the whole name"),
    () => tipAt([box.left, box.bottom], "This browser does not let the page copy"),
  );
}

/** Writes the number of steps and their length, such as "4 steps of 42.1 ms". The length is that of the replayed steps, because savings are
 * percentages of it. If the marked steps are much longer, or others because some are not replayed, writes both lengths. If there are several
 * kinds of steps, writes no length. */
function steps(job: Job): string {
  const n = job.table("job.job").amount(0, "steps"),
    replayed = job.table("whatif.job");
  if (n === 0) return "no steps marked";
  const length = replayed.n > 0 && job.table("steps.kind").n <= 1 ? replayed.num(0, "step_ns") : null;
  if (length === null || length <= 0) return count(n, "step");
  const marked = job.table("overview.job").num(0, "mean_step_ns") ?? length;
  const both = 0.75 * marked > length || (job.table("whatif.step").n < n && Math.abs(length - marked) > 0.1 * marked);
  return count(n, "step") + (both ? ` of ${time(marked)} (${time(length)} replayed)` : ` of ${time(length)}`);
}

function describe(job: Job): Child {
  if (job.kind === "diff") return describeSides(job);
  if (job.kind === "hang") return describeDumps(job);
  const row = job.table("job.job"),
    hosts = row.num(0, "hosts");
  const parts = [count(row.amount(0, "ranks"), "rank"), ...(hosts === null ? [] : [count(hosts, "host")]), steps(job)];
  return parts.join(" · ");
}

/** Returns when the recording began, as ISO 8601 in UTC. Returns null if timestamps are not times of day. */
export function recorded(job: Job): string | null {
  const begin = job.begin;
  if (begin === null || begin < 366n * 86_400n * 1_000_000_000n) return null;
  return new Date(Number(begin / 1_000_000n)).toISOString();
}
const KEPT = "tmerge-theme";

function restoreTheme(): void {
  try {
    const kept = localStorage.getItem(KEPT);
    if (kept === "light" || kept === "dark") document.documentElement.dataset["theme"] = kept;
  } catch {
    /* a page opened from disk may have no storage */
  }
}

function switchTheme(): void {
  const root = document.documentElement;
  const dark = root.dataset["theme"] ? root.dataset["theme"] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset["theme"] = dark ? "light" : "dark";
  try {
    localStorage.setItem(KEPT, root.dataset["theme"]);
  } catch {
    /* without storage, the choice is lost when the page is closed */
  }
  document.dispatchEvent(new Event("themechange"));
}
