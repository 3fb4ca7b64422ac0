import { readCurve } from "../../service/model/score/curve.ts";
import type { Curve } from "../../service/model/score/policy-shape.ts";

/** A curve to draw: its file's name without the ending, and the units of its axes. */
export type Picture = {
  readonly file: string;
  readonly title: string;
  readonly xUnit: string;
  readonly yUnit: string;
  readonly curve: Curve;
};

const WIDTH = 420;
const HEIGHT = 240;
const LEFT = 44;
const RIGHT = 28;
const TOP = 30;
const BOTTOM = 44;
const STEPS = 120;
/** A curve whose anchors span more is drawn over the logarithm of x. */
const LOG_SPAN = 60;
const TICK_GAP = 34;

const STYLE = `
  text { font: 11px system-ui, sans-serif; fill: #57606a; }
  .title { font-size: 13px; fill: #24292f; }
  .axis { stroke: #8c959f; } .grid { stroke: #d0d7de; }
  .curve { stroke: #0969da; stroke-width: 2; fill: none; } .anchor { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; } .title { fill: #f0f6fc; }
    .axis { stroke: #656c76; } .grid { stroke: #3d444d; }
    .curve { stroke: #4493f8; } .anchor { fill: #4493f8; }
  }`;

/** A curve as an SVG image, with a mark at each anchor; its colours follow the reader's scheme. */
export function drawCurve({ title, xUnit, yUnit, curve }: Picture): string {
  const scale = scaleOf(curve);
  const y = (value: number) => TOP + (1 - value / scale.top) * (HEIGHT - TOP - BOTTOM);
  const point = (value: number) => `${round(scale.x(value))},${round(y(readCurve(curve, value)))}`;
  const line = Array.from({ length: STEPS + 1 }, (_, step) => point(scale.at(step / STEPS))).join(" ");
  const levels = [0, 0.25, 0.5, 0.75, 1].map((share) => share * scale.top);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escapeXml(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<text class="title" x="${LEFT}" y="18">${escapeXml(title)}</text>`,
    ...levels.map(
      (level) =>
        `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(level))}" y2="${round(y(level))}"/>` +
        `<text x="${LEFT - 6}" y="${round(y(level) + 4)}" text-anchor="end">${level}</text>`,
    ),
    `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(0))}" y2="${round(y(0))}"/>`,
    ...ticks(curve, scale.x).map(
      (value) =>
        `<text x="${round(scale.x(value))}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${value}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escapeXml(xUnit)}</text>`,
    `<text x="12" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 12 ${HEIGHT / 2})">${escapeXml(yUnit)}</text>`,
    `<polyline class="curve" points="${line}"/>`,
    ...curve.map(
      ([value, height]) =>
        `<circle class="anchor" cx="${round(scale.x(value))}" cy="${round(y(height))}" r="3"/>`,
    ),
    "</svg>\n",
  ].join("\n");
}

type Scale = {
  /** Greatest value of the upright axis. */
  readonly top: number;
  /** Place of a value on the level axis. */
  x(value: number): number;
  /** Value at a share of the level axis. */
  at(share: number): number;
};

function scaleOf(curve: Curve): Scale {
  const first = curve[0]?.[0];
  const last = curve.at(-1)?.[0];
  if (first === undefined || last === undefined || first === last) {
    throw new RangeError("a curve to draw needs two anchors");
  }
  const top = curve.some(([, height]) => height > 1) ? 100 : 1;
  const span = WIDTH - LEFT - RIGHT;
  if (first > 0 && last / first > LOG_SPAN) {
    const width = Math.log(last / first);
    return {
      top,
      x: (value) => LEFT + (Math.log(value / first) / width) * span,
      at: (share) => first * Math.exp(share * width),
    };
  }
  return {
    top,
    x: (value) => LEFT + ((value - first) / (last - first)) * span,
    at: (share) => first + share * (last - first),
  };
}

/** The anchors' values, but for those whose labels would overlap the one before; the last is always there. */
function ticks(curve: Curve, x: (value: number) => number): readonly number[] {
  const values = curve.map(([value]) => value);
  const last = values.at(-1);
  const shown: number[] = [];
  for (const value of values) {
    const before = shown.at(-1);
    const isFree = before === undefined || x(value) - x(before) >= TICK_GAP;
    const leavesRoom = last === undefined || value === last || x(last) - x(value) >= TICK_GAP;
    if (value === last || (isFree && leavesRoom)) shown.push(value);
  }
  return shown;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
