/** Components that the views share. */
import type { Job, Place } from "./data";
import { h, visible, cut, type Child } from "./dom";
import * as f from "./format";
import { href, type Context, type State } from "./view";

type Pairs<T = string> = readonly (readonly [T, string])[];

let tooltip: HTMLElement | undefined;

function showTip(anchor: HTMLElement, content: () => Child): void {
  placeTip(anchor.getBoundingClientRect(), content());
  anchor.setAttribute("aria-describedby", "tip");
}

/** Shows a tooltip at a position in the window. */
export function tipAt([x, y]: readonly [number, number], content: Child): void {
  placeTip({ left: x + 12, top: y - 12, bottom: y + 12 }, content);
}

function placeTip(box: { readonly left: number; readonly top: number; readonly bottom: number }, content: Child): void {
  tooltip ??= document.body.appendChild(h("div.tip", { role: "tooltip", id: "tip" }));
  tooltip.replaceChildren(h("div", content));
  tooltip.hidden = false;
  const width = Math.min(360, window.innerWidth - 16);
  tooltip.style.maxWidth = `${width}px`;
  const own = tooltip.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left, window.innerWidth - own.width - 8));
  const below = box.bottom + 6 + own.height < window.innerHeight;
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${below ? box.bottom + 6 : Math.max(4, box.top - own.height - 6)}px`;
}

export function hideTip(): void {
  if (tooltip) tooltip.hidden = true;
  document.querySelector("[aria-describedby=tip]")?.removeAttribute("aria-describedby");
}

/** Shows an explanation of an element on hover and focus. */
export function tip<E extends HTMLElement>(element: E, content: () => Child): E {
  element.addEventListener("pointerenter", () => showTip(element, content));
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("focus", () => showTip(element, content));
  element.addEventListener("blur", hideTip);
  return element;
}

// Numbers with their origin ------------------------------------------------------------------------

type Origin = Place & { readonly row: number };

/** Shows a number of a table. On hover, shows its table, row and column, which tests read, too. */
export function figure(job: Job, text: string, origin: Origin): HTMLElement {
  const table = job.table(origin.table),
    column = table.columns[table.place(origin.column)],
    value = table.cell(origin.row, origin.column);
  const element = h("span.figure", { "data-table": origin.table, "data-row": origin.row, "data-column": origin.column }, text);
  return tip(element, () =>
    lines(
      `${origin.table} ${origin.column}`,
      f.exact(typeof value === "boolean" ? String(value) : value, column?.unit),
      column ? column.doc : null,
    ),
  );
}

/** Shows a title in bold, and lines below it. Leaves out lines without content. */
export const lines = (title: Child, ...more: Child[]): Child => [
  h("b", title),
  more.map((line) => line !== null && line !== false && line !== "" && [h("br"), line]),
];

/** Shows a word. On hover and focus, shows its definition. */
export const term = (label: string, definition: Child): HTMLElement =>
  tip(h("span.term", { tabindex: 0, role: "term" }, label), () => definition);

// Text ---------------------------------------------------------------------------------------------

const SIGNS: Readonly<Record<State, readonly [string, string]>> = {
  bad: ["!", "Problem"],
  warn: ["▲", "Worth a look"],
  good: ["✓", "Fine"],
  note: ["i", "Note"],
};

export function sign(state: State): HTMLElement {
  const [mark, word] = SIGNS[state];
  return h("span", { class: `sign ${state}`, role: "img", "aria-label": word }, mark);
}

export const heading = (title: Child, ...lead: Child[]): HTMLElement =>
  h("header.lead", h("h1", { tabindex: -1 }, title), lead.length > 0 && h("p", ...lead));

export const link = (text: Child, view: string, params: Readonly<Record<string, string | number>> = {}): HTMLElement =>
  h("a.go", { href: href(view, params) }, text, " →");

/** Makes the content of a section or view. A plain text becomes a note. */
export const blocks = (children: readonly Child[]): Child[] =>
  children.map((each) => (typeof each === "string" ? each !== "" && note(each) : Array.isArray(each) ? blocks(each) : each));

export const section = (title: string, ...children: Child[]): HTMLElement => h("section", h("h2", title), blocks(children));

/** Makes a table that the reader cannot sort. Except in the first column, a cell may also have an exact value, which is shown on hover. */
export function plainTable(
  head: readonly Child[],
  rows: readonly (readonly [Child, ...(Child | { readonly text: Child; readonly exact: string | undefined })[]])[],
): HTMLElement {
  const cell = (each: Child | { readonly text: Child; readonly exact: string | undefined }) =>
      typeof each === "object" && each !== null && "exact" in each ? h("td.right", { title: each.exact }, each.text) : h("td.right", each),
    [first, ...more] = head,
    titles = [h("th", { scope: "col" }, first), more.map((title) => h("th.right", { scope: "col" }, title))],
    body = [...rows].map(([own, ...rest]) => h("tr", h("td", own), rest.map(cell)));
  return h("table.grid", h("thead", h("tr", titles)), h("tbody", body));
}

export function factsList(list: readonly (readonly [Child, Child])[]): HTMLElement {
  const rows = list.map(([label, value]) => [h("dt", label), h("dd", value)]);
  return h("dl.facts-list", rows);
}

/** Makes a part that the reader can unfold. */
export function folded(summary: Child, ...children: Child[]): HTMLElement {
  return h("details.definitions", h("summary", summary), ...children);
}

export const note = (...children: Child[]): HTMLElement => h("p.note", ...children);
export const empty = (...children: Child[]): HTMLElement => h("p.empty", ...children);

/** Prepares a text from tmerge's tables for the page. The text may contain names from traces. */
export function prose(text: string | null): string {
  if (text === null) return "";
  // Keeps a number and its unit on one line, and spells microseconds as elsewhere in the page.
  return cut(visible(text), 2000).replace(
    /(\d) (%|[nmu]?s)(?![\w])/g,
    (_, digit: string, unit: string) => `${digit}${f.SPACE}${unit.replace("us", "µs")}`,
  );
}

/* For a table of `tmerge show`, the view that shows it. All other tables are in the view Tables. */
const SHOWN: Readonly<Record<string, string>> = {
  stragglers: "Stragglers",
  collectives: "Communication",
  bubble: "Pipelines",
  "idle.gap": "Idle",
};

/** Like prose(), but "tmerge show NAME" becomes a link to the view with this table. */
export const told = (text: string | null): Child[] =>
  prose(text)
    .split(/tmerge show ([\w.]+\w)/)
    .map((part, i) => {
      const title = SHOWN[part];
      if (i % 2 === 0) return part;
      return h("a.told", { href: title ? href(title.toLowerCase()) : href("tables", { name: part }) }, title ?? part);
    });

// Controls -----------------------------------------------------------------------------------------

export const segmented = <T extends string>(label: string, options: Pairs<T>, chosen: T, choose: (value: T) => void): HTMLElement =>
  h(
    "div.segmented",
    { role: "group", "aria-label": label },
    h("span.label", label),
    h(
      "div.options",
      options.map(([value, text]) =>
        h("button", { "aria-pressed": String(value === chosen), "data-value": value, click: () => choose(value) }, text),
      ),
    ),
  );

/** Makes a search box. The parameter @p key of the address keeps its text. */
export function searchBox(context: Context, key: string, placeholder: string, label: string | undefined, changed: () => void) {
  const box = h("input", {
    type: "search",
    value: context.params.get(key) ?? "",
    placeholder,
    "aria-label": label,
    spellcheck: false,
    on: {
      input: () => {
        context.set({ [key]: box.value || null });
        changed();
      },
    },
  });
  return box;
}

/** The options of a control: a text for each value, or pairs of value and text. Only pairs keep the order if values are numbers. */
type Options<T extends string> = Readonly<Record<T, string>> | Pairs<T> | readonly { readonly key: T; readonly label: string }[];

function optionsOf<T extends string>(options: Options<T>): Pairs<T> {
  if (!Array.isArray(options)) return Object.entries(options) as [T, string][];
  return (options as readonly (readonly [T, string] | { key: T; label: string })[]).map((each) =>
    "key" in each ? [each.key, each.label] : each,
  );
}

/** Makes a control for one of several options; null if there are fewer than two. The parameter @p key of the address has the chosen value.
 * The first option has no parameter. @param also parameters that a choice removes from the address */
export function chooser<T extends string>(context: Context, label: string, key: string, options: Options<T>, chosen: T, ...also: string[]) {
  const all = optionsOf(options),
    set = keeper(context, key, also);
  return all.length < 2 ? null : segmented(label, all, chosen, (v) => set(v === all[0]![0] ? null : v));
}

/** Like chooser(), but the address also names the first option, because the default depends on the job. */
export function setting<T extends string>(context: Context, label: string, key: string, options: Options<T>, chosen: T, ...also: string[]) {
  const all = optionsOf(options);
  return all.length < 2 ? null : segmented(label, all, chosen, keeper(context, key, also));
}

/** Like setting(), but makes a list, for many items. If the empty text is chosen, the address has no parameter. */
export function pick<T extends string | number>(
  context: Context,
  label: string,
  key: string,
  items: readonly T[],
  textOf: (item: T) => string,
  chosen: T,
  ...also: string[]
) {
  const all = items.map((item) => [String(item), textOf(item)] as const),
    set = keeper(context, key, also);
  return all.length < 2 ? null : select(label, all, String(chosen), (v) => set(v || null));
}

const keeper =
  (context: Context, key: string, also: readonly string[]): ((value: string | null) => void) =>
  (value) =>
    context.redraw({ ...Object.fromEntries(also.map((other) => [other, null])), [key]: value });

/** Makes a button that shows the whole list instead of its beginning. It sets the parameter "all" of the address. */
export const showAll = (context: Context, text: string): HTMLElement => moreButton(text, () => context.redraw({ all: "1" }));

export const moreButton = (text: string, click: () => void): HTMLElement => h("p.more", h("button", { click }, text));

export function select(label: string, options: Pairs, chosen: string, choose: (value: string) => void): HTMLElement {
  const box = h(
    "select",
    { "data-name": label, on: { change: () => choose(box.value) } },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label.select", h("span.label", label), box);
}

export const controls = (...children: Child[]): HTMLElement => h("div.controls", ...children);

/** Makes a legend of colours, which are named as in the style sheet. A text may list them: "compute: Computes; comm: Communicates". */
export function legend(keys: string | Pairs): HTMLElement {
  const pairs = typeof keys === "string" ? keys.split("; ").map((each) => each.split(/: (.*)/)) : keys;
  return h(
    "ul.legend",
    pairs.map(([key, label]) => h("li", h("span", { class: `swatch fill-${key}` }), label)),
  );
}

/** Makes a legend of CSS colours. @p before and @p after are further items. */
export const swatches = (
  list: "ul.legend" | "ul.legend.below",
  colors: readonly (readonly [string, Child])[],
  after: Child = null,
  before: Child = null,
): HTMLElement =>
  h(
    list,
    before,
    colors.map(([color, label]) => h("li", h("span.swatch", { style: { background: color } }), label)),
    after,
  );

/** Makes a box with the notices. They are at the end of the file, so they are read only when the reader opens the box. */
export function licences(): HTMLElement {
  const fallback = "The file was cut short: they are missing.";
  const text = () => document.getElementById("licences")?.textContent ?? fallback;
  const attributes = { tabindex: 0, role: "region", "aria-label": "Licences" };
  const box = h("details.definitions", { on: { toggle: open } }, h("summary", "Notices and licences"));
  function open(): void {
    if (!box.querySelector("pre")) box.append(h("pre.licences", attributes, text())); // added only now, because it cannot get the focus in a closed box
  }
  return section("Libraries in this page", box);
}
