/** The interface of a view, and what the page passes to a view. */
import type { Job, TableName } from "./data";
import type { Child } from "./dom";

export type State = "bad" | "warn" | "good" | "note";

/** Parameters in the address, after the view's name: #steps/metric=idle. */
export type Params = ReadonlyMap<string, string>;

export interface Context {
  readonly job: Job;
  readonly params: Params;
  /** Changes parameters of the address without adding a history entry. null removes a parameter. */
  set(changes: Readonly<Record<string, string | null>>): void;
  /** As set(), but also redraws the view. */
  redraw(changes: Readonly<Record<string, string | null>>): void;
}

export interface View {
  readonly id: string;
  readonly title: string;
  /** Tables that the view reads. Tables that are not unpacked yet are unpacked before the view is drawn. */
  readonly needs: readonly TableName[];
  /** Tables that the view is about. If none of them has a row, the view comes last in the list, in grey. */
  readonly of?: readonly TableName[];
  /** Returns whether the list has the view; default: true. */
  shown?(job: Job): boolean;
  /** Returns the state of the view's finding, for the list of views. It may read only small tables, and those in `judges`. */
  state?(job: Job): State | undefined;
  readonly judges?: readonly TableName[];
  readonly wide?: boolean;
  /** Parts of the view, from top to bottom. If `lacks` returns content, it is shown instead of the parts. */
  readonly parts?: readonly Part[];
  lacks?(context: Context): Child;
  /** Draws a view without parts. May return a function that is called when the reader leaves the view. */
  render?(root: HTMLElement, context: Context): void | (() => void);
}

export type Part = (context: Context) => Child;

/* Type of the words in a text that are not names of tables. */
type Unknown<S extends string> = S extends `${infer First} ${infer Rest}`
  ? Unknown<First> | Unknown<Rest>
  : S extends TableName
    ? never
    : S;

/** Returns the tables whose names are in texts, separated by spaces. Any other word is a compile error. */
export const tablesNamed = <S extends string>(...texts: readonly (S & ([Unknown<S>] extends [never] ? S : never))[]): TableName[] =>
  texts.flatMap((text) => text.split(" ") as TableName[]);

/** An entry of the list of views. `group`: the question that its views answer. The entry opens the first of its views. */
export type Tab = Readonly<{ group: string; views: readonly View[] }>;

/** Returns the address of a view, with keys sorted and values percent-encoded. */
export function href(view: string, params: Readonly<Record<string, string | number>> = {}): string {
  const parts = Object.entries(params)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `#${[view, ...parts].join("/")}`;
}

/** Decodes percent-encoded text; null if it is not valid. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Parses an address. Ignores what does not match the grammar. */
export function parseHash(hash: string): { view: string; params: Map<string, string> } {
  const [view = "", ...parts] = hash.replace(/^#/, "").split("/");
  const params = new Map<string, string>();
  for (const part of parts) {
    const match = /^([a-z]+)=([^=]*)$/.exec(part),
      value = match && decoded(match[2]!);
    if (match && value !== null) params.set(match[1]!, value);
  }
  return { view: /^[a-z]+$/.test(view) ? view : "", params };
}
