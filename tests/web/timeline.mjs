// Shared by the timeline's tests: positions on its canvas, keys, its address and its texts.
import { open } from "./page.mjs";

export const GUTTER = 92, RIGHT = 10, RULER_Y = 80, LANES_TOP = 90;
export const COMPLETE = 'body[data-timeline="complete"]';

/** Opens a page's timeline and waits until its events are loaded and drawn. */
export async function timeline(path, hash = "", more = {}) {
  const opened = await open(path, { hash: `#timeline${hash}`, ...more });
  await opened.page.waitForSelector(COMPLETE);
  await settled(opened.page);
  return opened;
}

/** Waits until the effects of the last keys and clicks are drawn. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** As drawn(), and until the address is written, 200 ms after the last change. */
export async function settled(page) {
  await drawn(page);
  await page.waitForSelector("body:not([data-address])");
}

export async function press(page, ...keys) {
  await page.focus("canvas");
  for (const key of keys) await page.keyboard.press(key);
  await drawn(page);
}

/** The address without the view. */
export async function address(page) {
  await settled(page);
  return (await page.evaluate(() => location.hash)).replace(/^#timeline/, "");
}

/** Parameters of the address, by name. */
export async function params(page) {
  return Object.fromEntries((await address(page)).split("/").slice(1).map((part) => part.split("=").map(decodeURIComponent)));
}

export async function reload(page) {
  await settled(page);
  await page.reload();
  await page.waitForSelector(COMPLETE);
}

/** Replaces no-break spaces, and removes those between digits. */
export const plain = (words) => words.replaceAll("\u00a0", " ").replaceAll("\u202f", "");
export const details = async (page) => plain(await page.textContent(".tl-details"));
export const box = (page) => page.$eval("canvas", (canvas) => canvas.getBoundingClientRect().toJSON());

/** Distance of a time from the canvas' left edge, within a window: a job's duration (its whole time) or [begin, end]. */
export async function placeOf(page, time, window) {
  const { width } = await box(page), [begin, end] = [window].flat().length > 1 ? window : [0, window];
  return GUTTER + ((time - begin) / (end - begin)) * (width - GUTTER - RIGHT);
}

/** Status line below the chart for a position on it. */
export async function hovered(page, x, y) {
  const { left, top } = await box(page);
  await page.mouse.move(left + x, top + y);
  await drawn(page);
  return plain(await page.textContent(".tl-hover"));
}

/** Marks an area with the pointer, which goes from place to place. A place is a time in a job of duration @p whole, and a height. */
export async function mark(page, places, whole) {
  const { left, top } = await box(page);
  await page.keyboard.down("Shift");
  for (const [i, [time, y]] of places.entries()) {
    await page.mouse.move(left + await placeOf(page, time, whole), top + y);
    if (i === 0) await page.mouse.down();
  }
  await page.mouse.up();
  await page.keyboard.up("Shift");
}

/** Colours at positions of the canvas, as #rrggbb; reads a copy, because the browser warns when a canvas is read twice. */
export function colours(page, places) {
  return page.evaluate((all) => {
    const canvas = document.querySelector("canvas"), { width, height } = canvas, context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    return all.map(([x, y]) => `#${[...context.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3).map((part) => part.toString(16).padStart(2, "0")).join("")}`);
  }, places);
}

/** A colour of the theme. */
export const custom = (page, name) => page.evaluate((key) => getComputedStyle(document.documentElement).getPropertyValue(key).trim(), `--${name}`);
