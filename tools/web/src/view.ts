/** What a view is, and what it gets. */
import type { Job } from "./data";
import type { TableName } from "./names";

export type State = "bad" | "warn" | "good" | "note";

/** Keys and values of the address behind the view's name: #steps/metric=idle. */
export type Params = ReadonlyMap<string, string>;

export interface Context {
  readonly job: Job;
  readonly params: Params;
  /** Changes some of the address without a new entry in the history; null takes a key away. */
  set(changes: Readonly<Record<string, string | null>>): void;
  /** The same, and draws the view again. */
  redraw(changes: Readonly<Record<string, string | null>>): void;
}

export interface View {
  readonly id: string;
  readonly title: string;
  /** Tables that it reads; large ones are unpacked before it is drawn. */
  readonly needs: readonly TableName[];
  /** The tables that it is about: where none has a row it stands last in the list, greyed. */
  readonly of?: readonly TableName[];
  /** False leaves it out of the list. */
  shown?(job: Job): boolean;
  /** The sign in the list, where it holds a finding; of tables that may be large it reads `judges` alone. */
  state?(job: Job): State | undefined;
  readonly judges?: readonly TableName[];
  /** True: takes the full width. */
  readonly wide?: boolean;
  /** Draws it; what it returns is called when it goes. */
  render(root: HTMLElement, context: Context): void | (() => void);
}

/** An entry of the list: the views that it opens, of which the first comes first, below the question that they answer. */
export interface Tab {
  readonly group: string;
  readonly views: readonly View[];
}

/** The address of a view: keys sorted, values percent-encoded. */
export function href(view: string, params: Readonly<Record<string, string | number>> = {}): string {
  const parts = Object.entries(params)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return `#${[view, ...parts].join("/")}`;
}

/** Takes an address apart; what does not fit the grammar is passed over. */
export function parseHash(hash: string): { view: string; params: Map<string, string> } {
  const [view = "", ...parts] = hash.replace(/^#/, "").split("/");
  const params = new Map<string, string>();
  for (const part of parts) {
    const match = /^([a-z]+)=([^=]*)$/.exec(part);
    if (!match) continue;
    try {
      params.set(match[1]!, decodeURIComponent(match[2]!));
    } catch {
      /* not percent-encoded text: no value */
    }
  }
  return { view: /^[a-z]+$/.test(view) ? view : "", params };
}
