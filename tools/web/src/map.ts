/** Heat maps of rows by columns. In a map of up to 1,500 cells, each cell is an element. A larger map is drawn on a canvas. */
import { h, type Child } from "./dom";
import { tip } from "./ui";

/** `partial`: only a part of the cell's time was recorded, so the cell is hatched. */
export type MapCell = Readonly<{ value: number | null; text: string; href?: string; tip: () => Child; partial?: boolean }>;

export interface HeatMap {
  readonly label: string;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cell: (row: number, column: number) => MapCell | null;
  /** The ramp of colours for the cells. There is one for waiting and one for work. */
  readonly ramp: "wait" | "work";
  /** Value at which the colours begin. Lower values have the background colour, so that noise is not visible. */
  readonly from?: number;
  /** Value with the strongest colour; default: the largest value. If `to` is above the largest value, small differences stay pale. */
  readonly to?: number;
  readonly nothing?: string; // text in a row that has no values
}

const CELLS_MAX = 1500;
const LABEL_HEIGHT = 15,
  LABEL_WIDTH = 7, // [px] LABEL_HEIGHT: height of a line. LABEL_WIDTH: width of a character.
  LABEL_GAP = 10,
  LABELS_ROOM = 640; // [px] total width of all columns on a narrow page
const ROWS_TALL = 5000; // with more rows than this, the canvas would exceed the browser's height limit
export const ROWS_NAMED = 96; // up to this many rows, every row has a label

function place(value: number, from: number, to: number): number {
  return to > from ? Math.max(0, Math.min(1, (value - from) / (to - from))) : 0;
}

export function heatMap(map: HeatMap): HTMLElement {
  const values: number[] = [];
  for (let r = 0; r < map.rows.length; r++)
    for (let c = 0; c < map.columns.length; c++) {
      const value = map.cell(r, c)?.value;
      if (value !== null && value !== undefined) values.push(value);
    }
  const from = map.from ?? 0;
  let to = map.to ?? from;
  for (const value of values) to = Math.max(to, value);
  return map.rows.length * map.columns.length <= CELLS_MAX && map.rows.length <= ROWS_NAMED ? cells(map, from, to) : painted(map, from, to);
}

/* Splits labels such as "step 3" into their common word and their numbers. If not all labels have this form, returns "" as the word. */
function headings(labels: readonly string[]): { word: string; short: readonly string[] } {
  const word = /^(\S+) \d+$/.exec(labels[0] ?? "")?.[1];
  return word && labels.every((label) => label.startsWith(`${word} `) && /^\d+$/.test(label.slice(word.length + 1)))
    ? { word, short: labels.map((label) => label.slice(word.length + 1)) }
    : { word: "", short: labels };
}

function cells(map: HeatMap, from: number, to: number): HTMLElement {
  const grid = h("div.map", { role: "grid", "aria-label": map.label });
  const narrow = map.columns.length > 24,
    { word, short } = headings(map.columns);
  /* If labels are on one line, only every n-th column has a label, so that labels do not overlap. */
  const line = narrow || word !== "",
    longest = short.reduce((most, label) => Math.max(most, label.length), 0),
    every = line ? Math.ceil((map.columns.length * (LABEL_WIDTH * longest + LABEL_GAP)) / LABELS_ROOM) : 1;
  grid.style.setProperty("--columns", String(map.columns.length));
  const head = (label: string, c: number) => {
    const place = `map-column${line ? " line" : ""}${(c / every) % 2 === 1 ? " second" : ""}`;
    return h("span", { class: place, role: "columnheader" }, c % every === 0 ? label : "");
  };
  const row = (...content: Child[]) => h("div.map-row", { role: "row" }, content);
  grid.append(row(h("span.map-word", { role: "columnheader" }, word), short.map(head)));
  map.rows.forEach((label, r) => {
    const own = map.columns.some((_, c) => map.cell(r, c))
      ? map.columns.map((_, c) => cellElement(map, r, c, from, to, narrow))
      : emptyRow(label, map.nothing ?? "no trace");
    grid.append(row(h("span.row-label", { role: "rowheader" }, label), own));
  });
  grid.addEventListener("keydown", (event) => walk(event, grid, map.columns.length));
  grid.querySelector<HTMLElement>(".cell")?.setAttribute("tabindex", "0");
  return h("div.map-box", grid);
}

const emptyRow = (label: string, why: string): HTMLElement =>
  h("span.cell.none.whole", { role: "gridcell", tabindex: -1, "aria-label": `${label}: ${why}` }, why);

function cellElement(map: HeatMap, r: number, c: number, from: number, to: number, narrow: boolean): HTMLElement {
  const cell = map.cell(r, c);
  if (!cell)
    return h("span.cell.none", { role: "gridcell", tabindex: -1, "aria-label": `${map.rows[r]}, ${map.columns[c]}: not recorded` });
  const name = `${map.rows[r]}, ${map.columns[c]}: ${cell.text}`;
  const at = cell.value === null ? null : place(cell.value, from, to);
  const element = h(
    cell.href ? "a" : "span",
    {
      class: `cell ${map.ramp} ${cell.partial ? "partial" : ""} ${at === null ? "null" : `s${Math.round(at * 20)}`}`,
      role: "gridcell",
      tabindex: -1,
      "aria-label": name,
      href: cell.href,
      "data-row": r,
      "data-column": c,
      "data-value": cell.value ?? undefined,
    },
    narrow ? "" : cell.text,
  );
  return tip(element, cell.tip);
}

/* Arrow keys move between cells. Tab leaves the map. */
function walk(event: KeyboardEvent, grid: HTMLElement, n: number): void {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -n, ArrowDown: n }[event.key];
  const all = [...grid.querySelectorAll<HTMLElement>(".cell")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  if (step === undefined || at < 0) return;
  const next = all[at + step];
  event.preventDefault();
  if (!next) return;
  all[at]!.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

/** Reads the 21 colours of a ramp from the style sheet. @p what: "backgroundColor" for the cells, "color" for the text on them. */
export function rampColors(ramp: string, what: "backgroundColor" | "color" = "backgroundColor"): string[] {
  const probe = document.body.appendChild(h("span.cell"));
  const colors: string[] = [];
  for (let s = 0; s <= 20; s++) {
    probe.className = `cell ${ramp} s${s}`;
    colors.push(getComputedStyle(probe)[what]);
  }
  probe.remove();
  return colors;
}

/* If every n-th row or column has a label, returns the smallest n without overlaps. @p room: size of a label. @p size: size of a row. */
function labelStep(room: number, size: number): number {
  let step = 1;
  while (step * size < room) step *= 2;
  return step;
}

const labelsOf = (names: readonly string[], step: number, side: "top" | "left"): HTMLElement[] =>
  names.flatMap((label, i) => (i % step === 0 ? [h("span", { style: { [side]: `${(100 * (i + 0.5)) / names.length}%` } }, label)] : []));

/* Lets the reader select a cell of a painted map with the pointer and the arrow keys. Returns the cell's text, and a frame around it. */
function reader({ rows, columns, cell }: HeatMap, canvas: HTMLCanvasElement) {
  const readout = h("p.note.map-readout", { "aria-live": "polite" }, "Point at a cell, or move with the arrow keys, to read it."),
    cursor = h("span.map-cursor", { hidden: true });
  let r = 0,
    c = 0;
  const show = (row: number, column: number): void => {
    r = Math.max(0, Math.min(row, rows.length - 1));
    c = Math.max(0, Math.min(column, columns.length - 1));
    readout.replaceChildren(h("span", cell(r, c)?.tip() ?? `${rows[r]}, ${columns[c]}: not recorded`));
    cursor.hidden = false;
    const share = (n: number, of: readonly string[]) => `${(100 * n) / of.length}%`;
    Object.assign(cursor.style, { left: share(c, columns), width: share(1, columns), top: share(r, rows), height: share(1, rows) });
  };
  const point = (event: MouseEvent): void => {
    const box = canvas.getBoundingClientRect(),
      place = (at: number, whole: number, n: number) => Math.floor((at / whole) * n);
    show(place(event.clientY - box.top, box.height, rows.length), place(event.clientX - box.left, box.width, columns.length));
  };
  const open = (): void => void (location.hash = cell(r, c)?.href ?? location.hash);
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("click", (event) => (point(event), open()));
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Enter") open();
    if (!by) return;
    event.preventDefault();
    show(r + by[0]!, c + by[1]!);
  });
  return { readout, cursor };
}

function painted(map: HeatMap, from: number, to: number): HTMLElement {
  const canvas = h("canvas.map-canvas", {
    role: "application",
    tabindex: 0,
    "aria-roledescription": "map",
    "aria-label": `${map.label}: ${map.rows.length} rows by ${map.columns.length} columns; arrow keys move over it, the table has the values`,
  });
  const top = h("div.map-top", { "aria-hidden": true }),
    { word, short } = headings(map.columns);
  const height = Math.max(map.rows.length > ROWS_TALL ? 1 : 3, Math.min(18, Math.floor(640 / map.rows.length))),
    { readout, cursor } = reader(map, canvas);
  let drawn = false;
  const draw = (): void => {
    if (drawn && !canvas.isConnected) {
      document.removeEventListener("themechange", draw);
      return window.removeEventListener("resize", draw);
    }
    drawn = true;
    const whole = canvas.clientWidth || 900,
      width = Math.max(1, Math.floor(whole / map.columns.length));
    canvas.width = width * map.columns.length;
    canvas.height = height * map.rows.length;
    canvas.style.height = `${canvas.height}px`;
    const longest = short.reduce((most, label) => Math.max(most, label.length), 0);
    top.replaceChildren(...labelsOf(short, labelStep(LABEL_WIDTH * (longest + 2), whole / map.columns.length), "left"));
    const paint = canvas.getContext("2d")!;
    const colors = rampColors(map.ramp);
    for (let r = 0; r < map.rows.length; r++)
      for (let c = 0; c < map.columns.length; c++) {
        const value = map.cell(r, c)?.value;
        if (value === null || value === undefined) continue;
        paint.fillStyle = colors[Math.round(place(value, from, to) * 20)]!;
        paint.fillRect(c * width, r * height, width, height);
      }
  };
  requestAnimationFrame(draw);
  document.addEventListener("themechange", draw);
  window.addEventListener("resize", draw);
  return h(
    "div.map-painted",
    h("span.map-word", { "aria-hidden": true }, word),
    top,
    h("div.map-left", { "aria-hidden": true }, labelsOf(map.rows, labelStep(LABEL_HEIGHT, height), "top")),
    h("div.map-field", canvas, cursor),
    readout,
  );
}
