/** Parses a table's filter: conditions as in `tmerge show --where`, also with units and headings, and plain text. */
import type { Cell, Column, ColumnOf, Table, TableName } from "./data";
import { visible } from "./dom";

/** A column by its name or heading. If a heading is compared with a number without a unit, the number is multiplied by `factor`. */
export type Named = Readonly<{ column: ColumnOf<TableName>; label: string; factor: number }>;

type Test = (row: number) => boolean;

const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ns: { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 },
  B: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
  "%": { "%": 1 },
};

const CONDITION = /^([a-z_][\w. :]*?)\s*(<=|>=|!=|==|=|<|>|~)\s*/i;
const VALUE = /^(?:"([^"]*)"|'([^']*)'|([-+]?[\d.]+(?:e[-+]?\d+)?\s+(?:[num]?s|µs|[kMG]?B|[KMG]iB|%)(?=[\s;&|]|$)|[^\s;&|]*))/;
const NEXT = /\s+(?=(?:and\s+|or\s+)?[a-z_]\w*\s*(?:[<>=~]|!=))|\s*[;&|]|$/i;

/** Parses a filter. `takes`: tests a row. `wrong`: says what is wrong; null: nothing. @param named the shown columns, by heading */
export function whereOf(table: Table, text: string, named: readonly Named[] = []) {
  const known = [...named, ...table.columns.map(({ name }) => ({ column: name, label: name, factor: 1 }))];
  const any: Test[][] = [[]];
  let rest = text.trim(),
    wrong: string | null = null;
  while (rest !== "") {
    const joint = /^(?:(and(?=\s)|or(?=\s)|\|)\s*|[;&\s]+)/i.exec(rest);
    if (joint && (any.length > 1 || any[0]!.length > 0 || wrong !== null || !joint[1])) {
      if (joint[1] === "|" || joint[1]?.toLowerCase() === "or") any.push([]);
      rest = rest.slice(joint[0].length);
      continue;
    }
    const asked = CONDITION.exec(rest),
      found = asked && called(known, asked[1]!),
      condition = found || !asked?.[1]!.includes(" ") ? asked : null, // null: plain words before a condition
      [value = "", quoted, single, bare = ""] = VALUE.exec(rest.slice(condition?.[0].length ?? 0)) ?? [];
    const taken = condition ? condition[0] + value : rest.slice(0, NEXT.exec(rest)!.index);
    if (condition && found) {
      const test = testOf(table, found, condition[2]!, quoted ?? single ?? bare.trim(), (quoted ?? single) !== undefined);
      if (typeof test === "string") wrong ??= test;
      else any[any.length - 1]!.push(test);
    } else {
      const test = holdsText(table, taken.trim()),
        isText = !condition || table.rows.some((_, row) => test(row));
      if (isText) any[any.length - 1]!.push(test);
      else wrong ??= unknown(known, condition[1]!);
    }
    rest = rest.slice(Math.max(1, taken.length)).trimStart();
  }
  const all = any.filter((tests) => tests.length > 0);
  return { takes: (row: number) => all.length === 0 || all.some((tests) => tests.every((test) => test(row))), wrong };
}

function called(known: readonly Named[], word: string): Named | undefined {
  const wanted = word.trim().toLowerCase();
  return known.find(({ label }) => label.toLowerCase() === wanted);
}

function holdsText(table: Table, text: string): Test {
  const wanted = text.toLowerCase();
  return (row) => table.rows[row]!.some((cell) => cell !== null && visible(String(cell)).toLowerCase().includes(wanted));
}

/* Returns a function that tests a row, or an error message. */
function testOf(table: Table, { column, label, factor }: Named, operator: string, text: string, quoted: boolean): Test | string {
  const definition = table.columns[table.place(column)]!,
    equal = operator === "=" || operator === "==";
  const cellOf = (row: number) => table.cell(row, column);
  if (text === "" && !quoted) return `A value is missing after “${label} ${operator}”.`;
  if (text.toLowerCase() === "null" && !quoted)
    return equal || operator === "!=" ? (row) => (cellOf(row) === null) === equal : "null can only be compared with = and !=.";
  if (operator === "~") return (row) => lower(cellOf(row)).includes(text.toLowerCase());
  if (definition.type === "bool") {
    const yes = ["yes", "true", "1"].includes(text.toLowerCase());
    return (row) => cellOf(row) !== null && (cellOf(row) === yes) === equal;
  }
  if (definition.type === "text")
    return (row) => cellOf(row) !== null && ordered(lower(cellOf(row)).localeCompare(text.toLowerCase(), "en"), operator);
  const value = numberOf(definition, text, factor);
  if (value === null) {
    const units = Object.keys(UNITS[definition.unit] ?? {});
    return `${label} is compared with a number${units.length > 0 ? `, with or without a unit (${units.join(", ")})` : ""}, not with “${text}”.`;
  }
  return (row) => cellOf(row) !== null && ordered(Number(cellOf(row)) - value, operator);
}

const lower = (cell: Cell): string => (cell === null ? "" : visible(String(cell)).toLowerCase());

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  "!=": (order) => order !== 0,
  "<": (order) => order < 0,
  ">": (order) => order > 0,
  "<=": (order) => order <= 0,
  ">=": (order) => order >= 0,
};

const ordered = (order: number, operator: string): boolean => HOLDS[operator]?.(order) ?? order === 0;

/* Converts a number to the column's own unit. A number without a unit is in the heading's unit, and is multiplied by @p factor. */
function numberOf(column: Column, text: string, factor: number): number | null {
  const [, digits = "", unit = ""] = /^([-+]?[\d.]+(?:e[-+]?\d+)?)\s*(\S*)$/i.exec(text) ?? [],
    own = Object.entries(UNITS[column.unit] ?? {}).find(([name]) => name.toLowerCase() === unit.toLowerCase()),
    value = Number(digits) * (unit === "" ? factor : (own?.[1] ?? NaN));
  return digits === "" || Number.isNaN(value) ? null : value;
}

function unknown(known: readonly Named[], word: string): string {
  const wanted = word.trim().toLowerCase(),
    far = known.map(({ label }) => [distance(wanted, label.toLowerCase()), label] as const).sort(([a], [b]) => a - b),
    alike = far.filter(([edits, label]) => edits <= 2 || label.toLowerCase().includes(wanted)).slice(0, 3);
  const more = (alike.length > 0 ? alike : far.slice(0, 6)).map(([, label]) => label).join(", ");
  return `No column is called “${word.trim()}”. ${alike.length > 0 ? "Similar" : "There are"}: ${more}.`;
}

/* Levenshtein distance. */
function distance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) row.push(Math.min(row[j - 1]! + 1, before[j]! + 1, before[j - 1]! + Number(a[i - 1] !== b[j - 1])));
    before = row;
  }
  return before[b.length]!;
}
