/** Interface of a view, and what the page passes to it. */
import type { Job, TableName } from "./data";
import type { Child } from "./dom";

export type State = "bad" | "warn" | "good" | "note";

/** Parameters in the address, after the view's name: #steps/metric=idle. */
export type Params = ReadonlyMap<string, string>;

export interface Context {
  readonly job: Job;
  readonly params: Params;
  /** Changes parameters of the address without adding a history entry; null removes one. */
  set(changes: Readonly<Record<string, string | null>>): void;
  /** Like set(), and redraws the view. */
  redraw(changes: Readonly<Record<string, string | null>>): void;
}

export interface View {
  readonly id: string;
  readonly title: string;
  /** Tables that the view reads; large ones are unpacked before it is drawn. */
  readonly needs: readonly TableName[];
  /** Tables that the view is about. If none of them has a row, the view comes last in the list, in grey. */
  readonly of?: readonly TableName[];
  /** Whether the view is in the list; default: true. */
  shown?(job: Job): boolean;
  /** The state that the list shows if the view has a finding; none for a note. The function may read large tables only if they are in
   * `judges`. */
  state?(job: Job): State | undefined;
  readonly judges?: readonly TableName[];
  readonly wide?: boolean;
  /** The content from top to bottom, or what `lacks` returns in its place. */
  readonly parts?: readonly Part[];
  lacks?(context: Context): Child;
  /** Draws a view without parts; returns a function to call when the view is left. */
  render?(root: HTMLElement, context: Context): void | (() => void);
}

export type Part = (context: Context) => Child;

/* Type: the words of a text that are not names of tables. */
type Unknown<S extends string> = S extends `${infer First} ${infer Rest}`
  ? Unknown<First> | Unknown<Rest>
  : S extends TableName
    ? never
    : S;

/** The tables whose names are in texts, separated by spaces; another word is a compile error. */
export function tablesNamed<S extends string>(...texts: readonly (S & ([Unknown<S>] extends [never] ? S : never))[]): TableName[] {
  return texts.flatMap((text) => text.split(" ") as TableName[]);
}

/** An entry of the list. `group`: the question that its views answer. The entry opens the first of its views. */
export interface Tab {
  readonly group: string;
  readonly views: readonly View[];
}

/** Address of a view: keys sorted, values percent-encoded. */
export function href(view: string, params: Readonly<Record<string, string | number>> = {}): string {
  const parts = Object.entries(params)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `#${[view, ...parts].join("/")}`;
}

/** Parses an address; ignores what does not match the grammar. */
export function parseHash(hash: string): { view: string; params: Map<string, string> } {
  const [view = "", ...parts] = hash.replace(/^#/, "").split("/");
  const params = new Map<string, string>();
  for (const part of parts) {
    const match = /^([a-z]+)=([^=]*)$/.exec(part);
    if (!match) continue;
    try {
      params.set(match[1]!, decodeURIComponent(match[2]!));
    } catch {
      /* the percent-encoding is invalid: the parameter is ignored */
    }
  }
  return { view: /^[a-z]+$/.test(view) ? view : "", params };
}
