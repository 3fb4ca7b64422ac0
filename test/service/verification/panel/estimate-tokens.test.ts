import { describe, expect, it } from "vitest";
import { estimateTokens } from "../../../../service/verification/panel/estimate-tokens.ts";

describe("estimateTokens", () => {
  it.each([
    "The quick brown fox jumps over the lazy dog.",
    "const sum = (a: number, b: number) => a + b;",
    "2026-11-20T19:39:17Z",
    "Die Gezeiten entstehen durch den Mond.",
  ])("is no less than the words and signs of %j, nor more than its characters", (text) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual([...text.matchAll(/\w+|[^\w\s]/g)].length);
    expect(estimateTokens(text)).toBeLessThan(text.length);
  });

  it("counts what is no word by the character", () => {
    const key = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4".repeat(10);
    expect(estimateTokens(key)).toBeGreaterThan(key.length * 0.9);
  });

  it("counts scripts that take more bytes higher, and emoji highest", () => {
    expect(estimateTokens("приливы")).toBe(7);
    expect(estimateTokens("潮汐の力")).toBe(6);
    expect(estimateTokens("🌊🌊")).toBe(8);
    expect(estimateTokens("")).toBe(0);
  });
});
