/** The interface of a view, and what the page passes to a view. */
import type { Job, TableName } from "./data";
import type { Child } from "./dom";

export type State = "bad" | "warn" | "good" | "note";

/** Parameters in the address, after the view's name: #steps/metric=idle. */
export type Params = ReadonlyMap<string, string>;

export interface Context {
  readonly job: Job;
  readonly params: Params;
  /** Sets parameters of the address. This adds no history entry. null removes a parameter. */
  set(changes: Readonly<Record<string, string | null>>): void;
  /** Like set(), but also redraws the view. */
  redraw(changes: Readonly<Record<string, string | null>>): void;
}

export interface View {
  readonly id: string;
  readonly title: string;
  /** Tables that the view reads. They are unpacked before the view is drawn. */
  readonly needs: readonly TableName[];
  /** Tables that the view is about. If all of them are empty, the view comes last in the list, in grey. */
  readonly of?: readonly TableName[];
  /** Returns whether the list of views has this view; default: true. */
  shown?(job: Job): boolean;
  /** Returns the state of the view's finding, for the list of views. It may read only small tables, and the tables in `judges`. */
  state?(job: Job): State | undefined;
  readonly judges?: readonly TableName[];
  readonly wide?: boolean;
  /** Parts of the view, from top to bottom. If `lacks` returns content, this content replaces the parts. */
  readonly parts?: readonly Part[];
  lacks?(context: Context): Child;
  /** Draws a view that has no `parts`. May return a function, which is called when the reader leaves the view. */
  render?(root: HTMLElement, context: Context): void | (() => void);
}

export type Part = (context: Context) => Child;

/* For the compiler: the words in a text S that are not names of tables. */
type Unknown<S extends string> = S extends `${infer First} ${infer Rest}`
  ? Unknown<First> | Unknown<Rest>
  : S extends TableName
    ? never
    : S;

/** Returns the tables named in texts, in which spaces separate the names. Any other word is a compile error. */
export const tablesNamed = <S extends string>(...texts: readonly (S & ([Unknown<S>] extends [never] ? S : never))[]): TableName[] =>
  texts.flatMap((text) => text.split(" ") as TableName[]);

/** An entry in the list of views. `group`: the question that its views answer. A click on the entry opens the first view. */
export type Tab = Readonly<{ group: string; views: readonly View[] }>;

/** Returns the address of a view. Keys are sorted, and values are percent-encoded. */
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

/** Parses an address. Skips parts that do not match the grammar. */
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
