/** Builds elements without parsing markup, so that text from a trace always stays text. */

export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Value = string | number | boolean | undefined;
type Shape = "role" | "tabindex" | "hidden" | "disabled" | "id" | "open" | "scope" | "start" | "selected";
type Input = "href" | "download" | "type" | "value" | "placeholder" | "spellcheck";

/** Attributes, handlers and styles of an element. true sets an attribute to "". false and undefined leave it out. */
interface Props extends Readonly<Partial<Record<Shape | Input, Value>>> {
  readonly class?: string;
  readonly title?: string | undefined;
  /** CSS properties. They are set through the CSSOM, because the content security policy forbids style attributes. */
  readonly style?: Readonly<Record<string, string>>;
  readonly click?: () => void;
  readonly on?: { readonly [Event in keyof HTMLElementEventMap]?: (e: HTMLElementEventMap[Event]) => void };
  readonly [attribute: `${"aria" | "data"}-${string}`]: Value;
}

type Tag = keyof HTMLElementTagNameMap;
type Named<S extends string> = S extends `${infer T extends Tag}.${string}` ? T : S extends Tag ? S : never;

/** Makes an element of "tag" or "tag.class.class", with its children. The first child may be an object with properties. */
export function h<S extends Tag | `${Tag}.${string}`>(
  selector: S,
  ...[first, ...rest]: readonly [(Props | Child)?, ...Child[]]
): HTMLElementTagNameMap[Named<S>] {
  const [tag, ...classes] = selector.split(".") as [Named<S>, ...string[]],
    element = document.createElement(tag);
  if (tag === "button") element.setAttribute("type", "button");
  if (classes.length > 0) element.className = classes.join(" ");
  if (isProps(first)) apply(element, first);
  else append(element, [first]);
  append(element, rest);
  return element;
}

const isProps = (first: Props | Child): first is Props =>
  typeof first === "object" && first !== null && !(first instanceof Node) && !Array.isArray(first);

function apply(element: HTMLElement, { class: name, title, style, click, on, ...attributes }: Props): void {
  if (click) element.addEventListener("click", click);
  if (name) element.className = name;
  if (title) element.title = title;
  for (const [property, value] of Object.entries(style ?? {})) element.style.setProperty(property, value);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(attribute, value === true ? "" : String(value));
  for (const [event, listener] of Object.entries(on ?? {})) element.addEventListener(event, listener as EventListener);
}

/** Returns a function that reads a colour of the page: a custom property of the style sheet, by name. */
export function colours(): (name: string) => string {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

/** Calls @p read while the light colours are set, because the page is printed in these. */
export function inLight<T>(read: () => T): T {
  const { dataset } = document.documentElement,
    before = dataset["theme"];
  dataset["theme"] = "light";
  const found = read();
  if (before === undefined) delete dataset["theme"];
  else dataset["theme"] = before;
  return found;
}

let device = "GPU";

/** Sets the word for devices. From now on, it replaces "GPU" in the page's texts. */
export function callDevices(word: string): void {
  device = word;
}

const said = (text: string): string =>
  device === "GPU" ? text : text.replace(/\bGPU(?=s?\b)/g, device).replaceAll("CUDA graphs", "graphs of kernels");

/** Appends children. Skips null, undefined and false. */
export function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) parent.appendChild(child);
    else if (typeof child === "object") append(parent, child);
    else parent.appendChild(document.createTextNode(said(String(child))));
  }
}

export function fill(parent: HTMLElement, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/* Returns a text that identifies a control across redraws: its group, and its value, name or text. */
function markOf(control: HTMLElement): string {
  const { value, name } = control.dataset,
    group = control.closest("[role=group]")?.getAttribute("aria-label") ?? "";
  return [control.tagName, group, value ?? name ?? control.getAttribute("aria-label") ?? control.textContent].join("\n");
}

/** Redraws an element. If a control in it had the focus, the same control gets it again; if that control is gone, @p otherwise gets it. */
export function keepFocus(root: HTMLElement, draw: () => void, otherwise?: HTMLElement): void {
  const at = document.activeElement,
    held = at instanceof HTMLElement && at !== root && root.contains(at) ? at : null,
    mark = held && markOf(held);
  draw();
  if (!held || document.activeElement === held) return;
  const same = held.isConnected ? held : [...root.querySelectorAll<HTMLElement>(held.tagName)].find((each) => markOf(each) === mark);
  same?.focus({ preventScroll: true });
  if (!same || document.activeElement !== same) otherwise?.focus({ preventScroll: true }); // a disabled control cannot get the focus
}

const NAMED: Readonly<Record<number, string>> = { 9: "\\t", 10: "\\n", 13: "\\r" };

/** Makes text from a trace safe to show: escapes control characters, and characters that reorder or hide text. */
export const visible = (text: string): string =>
  text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g, (c) => {
    const code = c.charCodeAt(0);
    return NAMED[code] ?? `\\u${code.toString(16).padStart(4, "0")}`;
  });

export const cut = (text: string, length = 160): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** Returns the longest beginning of a text that fits into @p room [px] on a canvas; "" if hardly anything fits. */
export function fitting(ctx: CanvasRenderingContext2D, text: string, room: number): string {
  let shown = text.slice(0, 200);
  for (let n = shown.length, width = 0; n > 1; ) {
    width = ctx.measureText(shown).width;
    if (width <= room) return shown;
    n = Math.min(n - 1, Math.floor((n * room) / width));
    shown = `${text.slice(0, n)}…`;
  }
  return "";
}

/** Returns a kernel's name without arguments, return type and namespaces. */
export function shortName(name: string): string {
  if (/^Mem(cpy|set) /.test(name)) return name;
  const plain = name
    .replace(/^void /, "")
    .replace(/\(anonymous namespace\)::/g, "")
    .replace(/[(<].*$/s, "");
  const last = plain.slice(plain.lastIndexOf("::") + 1).replace(/^:/, "");
  return last || plain || name;
}

/** Shortens names of kernels as shortName() does. If several become equal, keeps for these also the text after the short name. */
export function shortNames(names: readonly string[], length: number): string[] {
  const alike = new Map<string, Set<string>>();
  for (const name of names) alike.set(shortName(name), (alike.get(shortName(name)) ?? new Set()).add(name));
  const reported = names.map((name) => {
    const short = shortName(name);
    return alike.get(short)!.size > 1 ? name.slice(name.indexOf(short)) : short;
  });
  return tellApart(reported.map(visible), length);
}

/** Shortens names so that different names still look different. If several begin alike, drops a part of the common beginning. */
export function tellApart(names: readonly string[], length: number): string[] {
  const sorted = [...new Set(names)].sort(),
    shown = new Map<string, string>();
  const alike = (a: string, b = ""): number => {
    let n = 0;
    while (n < a.length && n < b.length && a[n] === b[n]) n++;
    return n;
  };
  const taken = new Set<string>();
  sorted.forEach((name, i) => {
    const same = Math.max(alike(name, sorted[i - 1]), alike(name, sorted[i + 1])),
      head = length >> 2;
    const from = Math.min(Math.max(head, same - 8), Math.max(head, name.length - (length - head - 1)));
    const hidden = name.length > length && same >= length - 2;
    const made = hidden ? `${name.slice(0, head)}…${cut(name.slice(from), length - head - 1)}` : cut(name, length);
    let unique = made;
    for (let n = 2; taken.has(unique); n++) unique = `${made} (${n})`;
    taken.add(unique);
    shown.set(name, unique);
  });
  return names.map((name) => shown.get(name)!);
}

const LONGEST = /[^]{1,16}/gu; // pieces of up to 16 characters; a line does not break inside of a piece

/** Returns a text in which lines may break after separators in names, and inside very long pieces. */
export function breakable(text: string): Child[] {
  const pieces = text.split(/(?<=::|[_<,(/.=-])(?![_:])|(?<=[a-z]{2})(?=[A-Z][a-z])/u).flatMap((piece) => piece.match(LONGEST) ?? []);
  return pieces.flatMap((piece, i) => (i === 0 ? [piece] : [h("wbr"), piece]));
}

/** A name from a trace, isolated from the text direction of the text around it. */
export function name(text: string, length = 160): HTMLElement {
  const shown = visible(text);
  return h("bdi", { class: "name", title: shown.length > length ? cut(shown, 2000) : undefined }, breakable(cut(shown, length)));
}
