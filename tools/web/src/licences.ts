/** The notices of what others wrote and this page holds (tools/web/build.mjs puts them in). */
import { fill, h } from "./dom";
import { section } from "./ui";

/** Read when it is opened: the notices stand at the end of the file. */
export function licences(): HTMLElement {
  const text = h("pre", { class: "licences", attr: { tabindex: 0, role: "region", "aria-label": "Licences" } });
  const box = h(
    "details",
    {
      class: "definitions",
      on: { toggle: () => fill(text, document.getElementById("licences")?.textContent ?? "The file was cut short: they are missing.") },
    },
    h("summary", null, "Notices and licences"),
    text,
  );
  return section("Libraries in this page", box);
}
