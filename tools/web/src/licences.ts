/** Notices of third-party code in this page (embedded by tools/web/build.mjs). */
import { h } from "./dom";
import { section } from "./ui";

/** Makes a box with the notices. It reads them when the reader opens it, because they are at the end of the file and may not be loaded
 * before. */
export function licences(): HTMLElement {
  const fallback = "The file was cut short: they are missing.";
  const text = () => document.getElementById("licences")?.textContent ?? fallback;
  const attributes = { tabindex: 0, role: "region", "aria-label": "Licences" };
  const box = h("details.definitions", { on: { toggle: open } }, h("summary", "Notices and licences"));
  function open(): void {
    if (!box.querySelector("pre")) box.append(h("pre.licences", attributes, text())); // a closed element cannot get the focus
  }
  return section("Libraries in this page", box);
}
