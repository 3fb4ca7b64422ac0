import { describe, expect, test } from "vitest";
import { drawCurve } from "../../eval/model-doc/curve-picture.ts";
import { picturesOf } from "../../eval/model-doc/pictures.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";

const PICTURE = { file: "x", title: "price <of> gas", xUnit: "times", yUnit: "points" } as const;

/** Places of the marks, left to right as drawn. */
function marksOf(svg: string): readonly { readonly x: number; readonly y: number }[] {
  return [...svg.matchAll(/<circle class="anchor" cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }));
}

describe("the picture of a curve", () => {
  test("marks every anchor in its place: evenly apart for even values, higher for more points", () => {
    const marks = marksOf(
      drawCurve({
        ...PICTURE,
        curve: [
          [0, 100],
          [1, 50],
          [2, 0],
        ],
      }),
    );
    expect(marks).toHaveLength(3);
    const [first, second, third] = marks;
    expect((second?.x ?? 0) - (first?.x ?? 0)).toBeCloseTo((third?.x ?? 0) - (second?.x ?? 0), 0);
    expect((third?.y ?? 0) - (second?.y ?? 0)).toBeCloseTo((second?.y ?? 0) - (first?.y ?? 0), 0);
    expect(third?.y).toBeGreaterThan(first?.y ?? Number.POSITIVE_INFINITY);
  });

  test("spreads a curve over decades by its logarithm", () => {
    const [first, second, third] = marksOf(
      drawCurve({
        ...PICTURE,
        curve: [
          [1, 100],
          [100, 50],
          [10_000, 0],
        ],
      }),
    );
    expect((second?.x ?? 0) - (first?.x ?? 0)).toBeCloseTo((third?.x ?? 0) - (second?.x ?? 0), 0);
  });

  test("keeps a title's signs out of its markup", () => {
    const svg = drawCurve({
      ...PICTURE,
      curve: [
        [0, 0],
        [1, 100],
      ],
    });
    expect(svg).toContain("price &lt;of> gas");
    expect(svg).not.toContain("<of>");
  });

  test("is refused of a single anchor", () => {
    expect(() => drawCurve({ ...PICTURE, curve: [[1, 1]] })).toThrow("two anchors");
  });
});

test("every feature of the policy has its pictures, each in a file of its own", () => {
  const pictures = picturesOf(AHS_2026_2);
  for (const { name } of [...AHS_2026_2.features, ...AHS_2026_2.infrastructure.features]) {
    expect(pictures.has(name), name).toBe(true);
  }
  const files = [...pictures.values()].flat().map(({ file }) => file);
  expect(new Set(files).size).toBe(files.length);
});
