import type { Curve } from "../../service/model/score/policy-shape.ts";

/** A Markdown table; the first row is its head. */
export function markdownTable(rows: readonly (readonly (string | number)[])[]): string {
  const [head, ...body] = rows;
  if (head === undefined) throw new RangeError("a table needs a head");
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...body.map(line)].join("\n");
}

/** Anchors of a curve as "0.6→0, 0.8→35". */
export function anchors(curve: Curve): string {
  return curve.map(([x, y]) => `${x}→${y}`).join(", ");
}

/** A share of 1 in percent, to a tenth. */
export function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10} %`;
}

/** A count with its thousands apart. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
