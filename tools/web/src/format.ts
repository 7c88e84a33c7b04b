/** Formats numbers. Times are in nanoseconds. */

export const NONE = "–";
const THIN = "\u202f"; // narrow no-break space

export const SPACE = "\u00a0"; // no-break space between a number and its unit

export function grouped(value: number, digits = 0): string {
  const [whole = "", part] = Math.abs(value).toFixed(digits).split(".");
  const sign = value < 0 && Number(value.toFixed(digits)) !== 0 ? "−" : "";
  const text = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return sign + text + (part ? `.${part}` : "");
}

/** Returns the number of decimals: two if the rounded value is below 10, one if it is below 1,000, otherwise none. */
export function digitsOf(value: number): number {
  const size = Math.abs(value);
  return size < 9.995 ? 2 : size < 999.95 ? 1 : 0;
}

/** `factor`: number of base units in this unit. */
export type Unit = Readonly<{ name: string; factor: number }>;

const units = (names: string, step: number): readonly Unit[] => names.split(" ").map((name, i) => ({ name, factor: step ** i }));
const TIMES = units("ns µs ms s", 1e3),
  SIZES = units("B kB MB GB TB", 1e3),
  MEMORY = units("B KiB MiB GiB TiB", 1024);

/* Returns the largest unit in which the rounded value is at least 1: 999.96 us is 1.00 ms. */
function unitOf(value: number, units: readonly Unit[]): Unit {
  let chosen = units[0]!;
  for (const unit of units) {
    const shown = Math.abs(value) / chosen.factor;
    const limit = chosen.factor === 1 ? 999.5 : 999.95;
    const step = unit.factor / chosen.factor;
    if (unit !== chosen && shown >= Math.min(limit, step)) chosen = unit;
  }
  return chosen;
}

function inUnit(value: number, unit: Unit): string {
  const scaled = value / unit.factor;
  return grouped(scaled, unit.factor === 1 && Number.isInteger(value) ? 0 : digitsOf(scaled));
}

/** Writes a time in prose, with its unit, such as "35.0 ms". From 120 s on, writes minutes. */
export function time(ns: number | null): string {
  if (ns === null) return NONE;
  const seconds = Math.round(Math.abs(ns) / 1e9);
  if (seconds >= 120) return `${ns < 0 ? "−" : ""}${grouped(Math.floor(seconds / 60))}${SPACE}min ${seconds % 60}${SPACE}s`;
  const unit = unitOf(ns, TIMES);
  return inUnit(ns, unit) + SPACE + unit.name;
}

/* Upper limit of a number in a chosen unit. So it has at most five digits before the decimal point. */
const WIDEST = 1e5;

/* Returns the unit for numbers that are compared. The terminal chooses it in the same way. It is the unit of the largest number. If the
 * smallest would then have fewer than two digits, it is a finer unit, in which the largest still is below WIDEST. */
function sharedUnit(most: number, least: number, units: readonly Unit[]): Unit {
  let at = units.indexOf(unitOf(most, units));
  while (at > 0 && least < units[at]!.factor / 100 && most < WIDEST * units[at - 1]!.factor) at--;
  return units[at]!;
}

function smallest(values: Iterable<number | null>): number {
  let least = Infinity;
  for (const value of values) if (value !== null && value !== 0 && Math.abs(value) < least) least = Math.abs(value);
  return least;
}

/** Writes times that a sentence compares, all in one unit, such as "0.70 ms" and "17.0 ms". */
export function timesTogether(values: readonly (number | null)[]): string[] {
  const unit = sharedUnit(largest(values), smallest(values), TIMES);
  return values.map((value) => (value === null ? NONE : inUnit(value, unit) + SPACE + unit.name));
}

export const byteColumnUnit = (values: readonly (number | null)[], memory: boolean): Unit =>
  sharedUnit(largest(values), smallest(values), memory ? MEMORY : SIZES);

/* Returns whether a column has times of single events, such as "mean_call_ns", and not sums, such as "max_rank_ns". */
const isOfEvents = (name: string): boolean => /^(mean|median|min|max|p95|stddev)_/.test(name) && !name.includes("_rank_");

type Times = Readonly<{ name: string; values: readonly (number | null)[] }>;

/** Returns the unit of each time column. Columns of sums share a unit; columns of times of events share another. A column that would have
 * only 0.00 gets a finer unit. */
export function columnUnits(columns: readonly Times[]): Unit[] {
  const most = columns.map((column) => largest(column.values)),
    units = new Array<Unit | undefined>(columns.length);
  for (const ofEvents of [false, true]) {
    let rest = columns.flatMap((column, c) => (isOfEvents(column.name) === ofEvents ? [c] : [])).sort((a, b) => most[b]! - most[a]!);
    while (rest.length > 0) {
      const group: number[] = [];
      let least = Infinity;
      for (const c of rest) {
        const first = group.length === 0 || most[c] === 0;
        const next = Math.min(least, smallest(columns[c]!.values), first ? Infinity : most[c]! / 10);
        if (!first && most[c]! < sharedUnit(most[rest[0]!]!, next, TIMES).factor / 10) break;
        least = next;
        group.push(c);
      }
      for (const c of group) units[c] = sharedUnit(most[rest[0]!]!, least, TIMES);
      rest = rest.slice(group.length);
    }
  }
  return units.map((unit) => unit ?? TIMES[0]!);
}

/** Returns the unit for all values of an axis or map: the unit that suits the largest value. */
export const timeUnit = (values: Iterable<number | null>): Unit => unitOf(largest(values), TIMES);

/** Returns the unit for a map, whose cells are small: the largest value has at least two digits before the decimal point. */
export const mapUnit = (values: Iterable<number | null>): Unit => unitOf(largest(values) / 10, TIMES);

/** Returns the unit for bytes. @p memory: true for powers of 1,024, which suit memory; false for powers of 1,000, which suit messages. */
export function byteUnit(values: Iterable<number | null>, memory: boolean): Unit {
  return unitOf(largest(values), memory ? MEMORY : SIZES);
}

function largest(values: Iterable<number | null>): number {
  let most = 0;
  for (const value of values) if (value !== null && Math.abs(value) > most) most = Math.abs(value);
  return most;
}

/* Returns whether a value other than zero would look like zero with this many decimals. */
function vanishes(value: number, unit: Unit, digits: number): boolean {
  return value !== 0 && Math.abs(value) / unit.factor < 0.5 * 10 ** -digits;
}

/** Writes a value in a unit that is shown elsewhere. It has @p digits decimals. If it would look like zero then, it has three. */
export function scaled(value: number | null, unit: Unit, digits?: number): string {
  if (value === null) return NONE;
  if (digits === undefined) return inUnit(value, unit);
  if (!vanishes(value, unit, digits)) return grouped(value / unit.factor, digits);
  return value > 0 && vanishes(value, unit, 3) ? "<0.001" : grouped(value / unit.factor, 3);
}

/** Like scaled(), but with at most one decimal, for places with little room. */
export function short(value: number, unit: Unit): string {
  const digits = unit.factor === 1 || Math.abs(value) >= 99.95 * unit.factor ? 0 : 1;
  return vanishes(value, unit, digits) ? `<${10 ** -digits}` : grouped(value / unit.factor, digits);
}

/** Returns the number of decimals of a column. With it, nine in ten different @p moments (points in time) look different. */
export function columnDigits(values: readonly (number | null)[], unit: Unit, moments = false): number {
  let digits = unit.factor === 1 ? 0 : digitsOf(largest(values) / unit.factor);
  const shown = () => new Set(values.map((value) => ((value ?? 0) / unit.factor).toFixed(digits))).size;
  while (moments && 10 ** digits < unit.factor && shown() < 0.9 * new Set(values).size) digits++;
  return digits;
}

export function bytes(value: number | null, memory = false): string {
  if (value === null) return NONE;
  const unit = unitOf(value, memory ? MEMORY : SIZES);
  return inUnit(value, unit) + SPACE + unit.name;
}

/** Writes a percentage in prose: "78 %". Writes 0 % and 100 % only if they are exact. */
export function percent(value: number | null, digits = 0): string {
  if (value === null) return NONE;
  const step = 10 ** -digits;
  if (value > 0 && value < step / 2) return `<${SPACE}${step.toFixed(digits)}${SPACE}%`;
  if (value < 100 && value >= 100 - step / 2) return `>${SPACE}${(100 - step).toFixed(digits)}${SPACE}%`;
  return `${grouped(value, digits)}${SPACE}%`;
}

/** Returns part / whole [%]; null if whole is not above 0. */
export const share = (part: number, whole: number): number | null => (whole > 0 ? (100 * part) / whole : null);

export const ratio = (value: number | null): string => (value === null ? NONE : grouped(value, 2));

/** Writes a value with three significant digits, for values of very different sizes. */
export function significant(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  return grouped(value, Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(size)))));
}

/** Writes a speedup, such as "0.87×". */
export const times = (value: number | null): string => (value === null ? NONE : `${grouped(value, 2)}×`);

/** Ends a sentence with a full stop, unless the text is empty or already ends with . ! or ? */
export const ended = (text: string): string => text.replace(/[^.!?]$/, "$&.");

/** Joins the parts of a sentence. Skips empty and missing parts. */
export const joined = (between: string, ...parts: readonly (string | null | undefined | false)[]): string =>
  parts.filter(Boolean).join(between);

/** Writes a count with its noun, such as "1 rank" or "8 ranks". */
export const count = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`;

/** Writes exact nanoseconds, for tables and tooltips. */
export function exact(value: number | string | null, unit = ""): string {
  if (value === null) return NONE;
  const text = typeof value === "string" ? value : Number.isInteger(value) ? grouped(value) : String(value);
  return unit ? `${text}${SPACE}${unit}` : text;
}

/** Returns the runs of consecutive numbers, in ascending order, each as its first and last number. */
export function runsOf(values: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last?.[1] === value - 1) last[1] = value;
    else runs.push([value, value]);
  }
  return runs;
}

/** Writes numbers as ranges, such as "0–3, 8, …". @p most: maximum number of ranges. */
export function ranges(values: readonly number[], most = Infinity): string {
  const parts = runsOf(values).map(([first, last]) => (first === last ? String(first) : `${first}–${last}`));
  return parts.length > most ? `${parts.slice(0, most).join(", ")}, …` : parts.join(", ");
}

export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the value of a key in a map. If the map lacks the key, adds it with the value that @p make returns. */
export function entry<K, V>(map: { get(key: K): V | undefined; set(key: K, value: V): unknown }, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) entry(groups, keyOf(item), () => []).push(item);
  return groups;
}

export function sum(values: Iterable<number | null>): number {
  let total = 0;
  for (const value of values) total += value ?? 0;
  return total;
}

/** least() and most() return the minimum and the maximum. Without values, these are Infinity and -Infinity. */
export function least(values: Iterable<number>): number {
  let found = Infinity;
  for (const value of values) if (value < found) found = value;
  return found;
}

export function most(values: Iterable<number>): number {
  let found = -Infinity;
  for (const value of values) if (value > found) found = value;
  return found;
}

/** Writes a number of floating-point operations with an SI prefix, such as "54.4 TFLOP". */
export function flop(value: number | null): string {
  if (value === null) return NONE;
  const step = value > 0 ? Math.min(6, Math.max(0, Math.floor(Math.log10(value) / 3))) : 0,
    scaled = value / 1000 ** step;
  return `${grouped(scaled, step === 0 ? 0 : digitsOf(scaled))}${SPACE}${["", "k", "M", "G", "T", "P", "E"][step]}FLOP`;
}
