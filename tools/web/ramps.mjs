// The colours of maps. A ramp is given by five colours. Linear interpolation between them gives its 21 colours. The text in a cell is dark
// or light: whichever has more contrast with the cell (relative luminance of WCAG 2).
const RAMPS = {
  wait: {
    light: ["#fbf6f3", "#f3cbb6", "#df8a60", "#b5320f", "#6d1e07"],
    dark: ["#1e252e", "#57301f", "#a2461f", "#ea5a22", "#ffd3bd"],
  },
  work: {
    light: ["#f5f8fb", "#c4daf0", "#7badde", "#3574ba", "#153c6b"],
    dark: ["#1e252e", "#23456b", "#3a74b3", "#5a9be0", "#cfe6ff"],
  },
};
const PLACES = 21;

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function mixed(stops, place) {
  const at = (place / (PLACES - 1)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [channels(stops[low]), channels(stops[low + 1])];
  return a.map((value, i) => Math.round(value + (b[i] - value) * (at - low)));
}

function luminance(rgb) {
  const linear = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function ink(rgb) {
  const own = luminance(rgb);
  return (own + 0.05) / 0.05 >= 1.05 / (own + 0.05) ? "#000000" : "#ffffff";
}

const hex = (rgb) => `#${rgb.map((v) => v.toString(16).padStart(2, "0")).join("")}`;

function variables(theme) {
  const lines = [];
  for (const [ramp, themes] of Object.entries(RAMPS))
    for (let place = 0; place < PLACES; place++) {
      const color = mixed(themes[theme], place);
      lines.push(`--${ramp}-${place}:${hex(color)};--${ramp}-ink-${place}:${ink(color)};`);
    }
  return lines.join("");
}

/** Style rules for the cells of maps, for the light and the dark theme. */
export function rampStyle() {
  const rules = [
    `:root{${variables("light")}}`,
    `@media screen and (prefers-color-scheme:dark){:root:not([data-theme="light"]){${variables("dark")}}}`,
    `@media screen{:root[data-theme="dark"]{${variables("dark")}}}`,
  ];
  for (const ramp of Object.keys(RAMPS))
    for (let place = 0; place < PLACES; place++)
      rules.push(`.cell.${ramp}.s${place}{background-color:var(--${ramp}-${place});color:var(--${ramp}-ink-${place})}`);
  return rules.join("\n");
}
