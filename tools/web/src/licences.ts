/** The notices of what others wrote and this page holds (tools/web/build.mjs puts them in). */
import { h } from "./dom";
import { section } from "./ui";

/** Read when it is opened: the notices stand at the end of the file. */
export function licences(): HTMLElement {
  const fallback = "The file was cut short: they are missing.";
  const text = () => document.getElementById("licences")?.textContent ?? fallback;
  const attr = { tabindex: 0, role: "region", "aria-label": "Licences" };
  const box = h("details", { class: "definitions", on: { toggle: open } }, h("summary", null, "Notices and licences"));
  function open(): void {
    if (!box.querySelector("pre")) box.append(h("pre", { class: "licences", attr }, text())); // what is closed takes no focus
  }
  return section("Libraries in this page", box);
}
