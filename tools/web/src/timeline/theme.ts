/** The page's colours, for a canvas. */
import { colours } from "../dom";
import { ANNOTATION, CALL, COMPUTE, COPIES, GPU_ANNOTATION, OPERATOR, OTHER, PYTHON, TRANSFER, UNMATCHED, WAIT } from "./model";

/* Returns the relative luminance of "#rrggbb", as WCAG 2 defines it. */
function luminance(color: string): number {
  const part = (at: number): number => {
    const v = parseInt(color.slice(at, at + 2), 16) / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return /^#[0-9a-f]{6}$/i.test(color) ? 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) : 0.5;
}

export function readable(on: string, a: string, b: string): string {
  const back = luminance(on);
  const contrast = (color: string): number => {
    const [high, low] = [luminance(color), back].sort((x, y) => y - x);
    return (high! + 0.05) / (low! + 0.05);
  };
  return contrast(a) >= contrast(b) ? a : b;
}

/** Each ramp starts at the colour of the page's background. */
export type Theme = Readonly<ReturnType<typeof readTheme>>;

export function readTheme() {
  const color = colours(),
    ink = color("ink"),
    page = color("page"),
    ink3 = color("ink-3");
  const ramp = (name: string): string[] => Array.from({ length: 21 }, (_, place) => color(`${name}-${place}`));
  const fills: string[] = [], // fill and opacity of each kind of event
    alphas: number[] = [];
  const set = (kind: number, fill: string, alpha = 1): void => {
    fills[kind] = fill;
    alphas[kind] = alpha;
  };
  set(COMPUTE, color("compute"));
  set(TRANSFER, color("transfer"));
  set(WAIT, color("wait"));
  set(UNMATCHED, color("unmatched"));
  set(COPIES, color("copies"));
  set(GPU_ANNOTATION, ink3, 0.3);
  set(OPERATOR, ink3, 0.55);
  set(ANNOTATION, ink3, 0.3);
  set(PYTHON, ink3, 0.4);
  set(CALL, ink3, 0.85);
  set(OTHER, ink3, 0.45);
  return {
    page,
    panel: color("panel"),
    line: color("line"),
    ink,
    ink2: color("ink-2"),
    ink3,
    link: color("link"),
    path: color("ink"),
    fills: fills as readonly string[],
    alphas: alphas as readonly number[],
    edge: color("edge") || "transparent", // outline of unmatched communication
    onFills: fills.map((fill, kind) => (alphas[kind]! < 0.8 ? ink : readable(fill, ink, page))) as readonly string[],
    ramps: { wait: ramp("wait"), work: ramp("work") },
    font: getComputedStyle(document.documentElement).fontFamily || "sans-serif",
  };
}

export type Font = readonly [size: number, color: string, align?: "left" | "center" | "right", weight?: number];

export function setFont(ctx: CanvasRenderingContext2D, theme: Theme, [size, color, align = "left", weight = 400]: Font): void {
  ctx.font = `${weight} ${size}px ${theme.font}`;
  ctx.fillStyle = color;
  ctx.textAlign = align;
  ctx.textBaseline = "middle";
}
