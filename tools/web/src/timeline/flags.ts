/** Flags: notes on times of the timeline. The address has them, and so does a saved copy of the page. */
import { h, type Child } from "../dom";
import * as f from "../format";
import { download } from "../grid";
import { isServed } from "../served";
import { decoded } from "../view";
import type { Controller } from "./controller";
import type { Span } from "./model";
import { reveal } from "./span";

/** A note on a time, or on a range of time, in the job. */
export type Flag = Span & { readonly text: string };

const MOST = 50,
  LONGEST = 200, // characters of a note
  NOTES = "notes", // id of the element with the flags in a saved copy
  NONE = "none",
  CUT_SHORT = "This report was cut short: its program is missing."; // as in build.mjs

/* The flags while the page is open. A link to another view has an address without them. */
let kept: string | undefined;

const saved = (): string => document.getElementById(NOTES)?.textContent ?? "";

/** Writes flags as "150370000-150370000:a%20note,...". The text has no "<", so it cannot end the element that holds it. */
const write = (flags: readonly Flag[]): string =>
  flags.map(({ begin, end, text }) => `${Math.round(begin)}-${Math.round(end)}:${encodeURIComponent(text)}`).join(",");

const read = (text: string, duration: number): Flag[] =>
  text.split(",").flatMap((part) => {
    const [, begin = "", end = "", escaped = ""] = /^(\d{1,16})-(\d{1,16}):([^:]*)$/.exec(part) ?? [],
      note = begin === "" ? null : decoded(escaped),
      flag = { begin: Number(begin), end: Number(end), text: (note ?? "").slice(0, LONGEST) };
    return note === null || flag.begin > flag.end || flag.end > duration ? [] : [flag];
  });

/** Returns the flags in the address. If it has none: those of the open page or, if this has none, those that were saved in the page. */
export function flagsOf(address: string | undefined, duration: number): Flag[] {
  kept = address ?? kept ?? saved();
  return read(kept, duration).slice(0, MOST);
}

export function flagsParam(flags: readonly Flag[]): string | null {
  kept = write(flags);
  return kept || (saved() ? NONE : null);
}

/** Adds a flag to the list, which is ordered by time. Returns its index. */
export function addFlag(flags: Flag[], { begin, end }: Span): number {
  const same = flags.findIndex((flag) => flag.begin === begin && flag.end === end);
  if (same >= 0 || flags.length === MOST) return same;
  const after = flags.findIndex((flag) => flag.begin > begin),
    at = after < 0 ? flags.length : after;
  flags.splice(at, 0, { begin, end, text: "" });
  return at;
}

/* Saves this page with its flags. The copy has only the elements that were in the file, not those that the program has drawn. */
function saveCopy(flags: readonly Flag[], name: string): void {
  const copy = document.documentElement.cloneNode(true) as HTMLElement,
    body = copy.querySelector("body")!;
  const own = [...body.children].filter((each) => each.matches("noscript, script") && each.id !== NOTES);
  for (const each of [copy, body])
    for (const attribute of each.getAttributeNames()) if (attribute !== "lang") each.removeAttribute(attribute);
  body.replaceChildren(h("p.unopened", CUT_SHORT), ...own, h("script", { type: "text/plain", id: NOTES }, write(flags)));
  download(`${name}.html`, "text/html", `<!doctype html>\n${copy.outerHTML}\n`);
}

export function flagList(controller: Controller): Child {
  const { flags } = controller.state,
    { job } = controller.listener.context;
  if (flags.length === 0) return null;
  const item = ({ begin, end, text }: Flag, at: number): HTMLElement => {
    const when = end > begin ? `${f.time(end - begin)} from ${f.time(begin)}` : f.time(begin);
    const note = h("input", {
      type: "text",
      "aria-label": `Note at ${when}`,
      placeholder: "note",
      on: {
        input: () => controller.writeFlag(at, note.value),
        keydown: (e) => e.key === "Enter" && controller.chart.element.focus(),
      },
    });
    note.value = text;
    note.maxLength = LONGEST;
    return h(
      "li",
      h(
        "button",
        { title: "Show it", click: () => controller.setSpan(reveal(controller.state.span, flags[at]!, controller.duration)) },
        when,
      ),
      note,
      h(
        "button",
        { "aria-label": `Remove the flag at ${when}`, click: () => controller.change((state) => state.flags.splice(at, 1)) },
        "×",
      ),
    );
  };
  const save = () => saveCopy(flags, job.name || "tmerge"),
    kept = isServed(job)
      ? h("p.tl-exact", "The address keeps them.")
      : h(
          "p",
          h("button", { click: save }, "Save a copy of this page with its flags"),
          h("span.tl-exact", " The address keeps them, too."),
        );
  return h("div.tl-found.tl-flags", h("h2", "Flags"), h("ol.tl-results", flags.map(item)), kept);
}
