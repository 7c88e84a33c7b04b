/** Marker shapes that distinguish kinds without colour, for charts and their legends. */
import { h } from "./dom";

/* SVG paths in a box of 10 by 10. */
const PATHS = [
  "M5 0A5 5 0 1 1 4.99 0Z", // circle
  "M5 0L10 5L5 10L0 5Z", // diamond
  "M0.5 0.5H9.5V9.5H0.5Z", // square
  "M5 0.5L10 9.5H0Z", // triangle
  "M0 0.5H10L5 9.5Z", // triangle, downward
  "M3.4 0H6.6V3.4H10V6.6H6.6V10H3.4V6.6H0V3.4H3.4Z", // plus
  "M0 1L4.5 5L0 9H5.5L10 5L5.5 1Z", // arrow head
  "M5 0L6.5 3.5L10 3.8L7.4 6.2L8.2 10L5 8L1.8 10L2.6 6.2L0 3.8L3.5 3.5Z", // star
] as const;

/** Returns the shape of the @p n th kind. Shapes repeat after eight kinds. */
export function symbolOf(n: number): string {
  return PATHS[n % PATHS.length]!;
}

function drawing(n: number, key: string, hollow: boolean): HTMLElement {
  const clip = { "clip-path": `path("${PATHS[n % PATHS.length]!}")` };
  return h("span", { class: `shape fill-${key}`, style: clip }, hollow && h("span.shape.hole", { style: clip }));
}

/** Makes a legend of shapes and their meanings. @p key is the name of their colour in the style sheet. */
export function shapeLegend(
  keys: readonly { readonly shape: number; readonly label: string; readonly hollow?: boolean }[],
  key: string,
): HTMLElement {
  return h(
    "ul.legend",
    keys.map(({ shape, label, hollow }) => h("li", drawing(shape, key, hollow ?? false), label)),
  );
}
