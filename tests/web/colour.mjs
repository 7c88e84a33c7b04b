// Contrast (WCAG 2), colour vision (Machado, Oliveira and Fernandes 2009, severity 1) and distance (CIEDE2000) of colours as [r, g, b]
// from 0 to 255.

/** Parses the colour in a computed style, such as rgb(1, 2, 3). */
export function parsed(text) {
  const match = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(text) ?? /^#(..)(..)(..)$/.exec(text);
  if (!match) throw new Error(`no colour: ${text}`);
  return match.slice(1, 4).map((part) => parseInt(part, text.startsWith("#") ? 16 : 10));
}

const linear = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
const times = (matrix, v) => matrix.map((row) => row.reduce((sum, each, i) => sum + each * v[i], 0));

function luminance(rgb) {
  return times([[0.2126, 0.7152, 0.0722]], linear(rgb))[0];
}

export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

export const SIGHTS = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** CIE L*a*b* (D65) of a colour as a kind of colour vision perceives it. */
export function lab(rgb, sight = "normal") {
  const seen = times(SIGHTS[sight], linear(rgb)).map((v) => Math.min(1, Math.max(0, v)));
  const xyz = times([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]], seen);
  const [x, y, z] = xyz.map((v, i) => v / [0.95047, 1, 1.08883][i]).map((t) => (t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27 * t + 16) / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const radians = (degrees) => degrees * Math.PI / 180;
const hue = (a, b) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) * 180 / Math.PI + 360) % 360);

/** CIEDE2000 (Sharma, Wu and Dalal 2005). */
export function ciede2000([l1, a1, b1], [l2, a2, b2]) {
  const far = (c) => Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const g = 0.5 * (1 - far((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2, h1, h2] = [Math.hypot(p1, b1), Math.hypot(p2, b2), hue(p1, b1), hue(p2, b2)];
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(dh) / 2);
  const l = (l1 + l2) / 2, c = (c1 + c2) / 2;
  const h = c1 * c2 === 0 ? h1 + h2 : Math.abs(h1 - h2) <= 180 ? (h1 + h2) / 2 : (h1 + h2 + (h1 + h2 < 360 ? 360 : -360)) / 2;
  const t = 1 - 0.17 * Math.cos(radians(h - 30)) + 0.24 * Math.cos(radians(2 * h)) + 0.32 * Math.cos(radians(3 * h + 6)) - 0.2 * Math.cos(radians(4 * h - 63));
  const sl = 1 + 0.015 * (l - 50) ** 2 / Math.sqrt(20 + (l - 50) ** 2), sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const turn = -Math.sin(radians(60 * Math.exp(-(((h - 275) / 25) ** 2)))) * 2 * far(c);
  const [x, y, z] = [(l2 - l1) / sl, (c2 - c1) / sc, dH / sh];
  return Math.sqrt(x * x + y * y + z * z + turn * y * z);
}
