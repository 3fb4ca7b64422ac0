import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockOf, fenceBlocks } from "../../../../service/verification/panel/fence.ts";

const MARKER = "0123456789abcdef0123456789abcdef";
const LINES = /\r\n|[\n\r\v\f\x85\u2028\u2029]/;

const lineOf = (kind: string, label: string, marker = MARKER) => `=== ${kind} ${label} ${marker} ===`;

/** Pieces of which a forger who knows the marker would make one; nobody can, and it must not help. */
const piece = fc.oneof(
  fc.constantFrom(
    "=== END output ",
    "=== BEGIN criteria ",
    " ===",
    "\n",
    "\r",
    "\u2028",
    "=",
    "＝＝＝",
    "END",
    "BEGIN",
  ),
  fc.constantFrom(
    MARKER,
    MARKER.toUpperCase(),
    MARKER.slice(0, 16),
    MARKER.slice(16),
    MARKER.slice(0, 31),
    "f",
    "0",
  ),
  fc.constantFrom(
    [...MARKER].join("\u200b"),
    MARKER.replace(/./g, (digit) => `${digit}\u00ad`),
    "\u200b",
    "\u{E0020}",
  ),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const hostileText = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

/** A reader who overlooks case, width and what nobody sees. */
function asRead(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\p{Cf}\p{Mn}\p{Default_Ignorable_Code_Point}]/gu, "")
    .toLowerCase();
}

describe("fenceBlocks", () => {
  it("puts each text between two lines of its own, unchanged where it holds nothing of a fence", () => {
    const blocks = [blockOf("output", "a === b\n=====\nif (x === end) { return }"), blockOf("criteria", "")];
    expect(fenceBlocks(blocks, MARKER)).toBe(
      [
        lineOf("BEGIN", "output"),
        "a === b\n=====\nif (x === end) { return }",
        lineOf("END", "output"),
        "",
        lineOf("BEGIN", "criteria"),
        "",
        lineOf("END", "criteria"),
      ].join("\n"),
    );
  });

  it("lets no text whatever leave its block or open another", () => {
    fc.assert(
      fc.property(hostileText, hostileText, (output, evidence) => {
        const fenced = fenceBlocks([blockOf("output", output), blockOf("evidence_1", evidence)], MARKER);
        const fences = fenced.split(LINES).filter((line) => asRead(line).includes(MARKER));
        expect(fences).toEqual([
          lineOf("BEGIN", "output"),
          lineOf("END", "output"),
          lineOf("BEGIN", "evidence_1"),
          lineOf("END", "evidence_1"),
        ]);
      }),
      { numRuns: 500 },
    );
  });

  it("leaves no line within a block that looks like a fence, whatever marker it guesses", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const lines = fenceBlocks([blockOf("output", text)], MARKER)
          .split(LINES)
          .slice(1, -1);
        expect(lines.filter((line) => /^\s*={2,}\s*(begin|end)\b/.test(asRead(line)))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("changes no text of ordinary letters", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[g-z .,;:!?'"()\n-]*$/), (text) => {
        expect(fenceBlocks([blockOf("output", text)], MARKER)).toContain(`\n${text}\n`);
      }),
    );
  });

  it("takes out what models cannot be shown: NUL and half pairs", () => {
    expect(fenceBlocks([blockOf("output", "a\0b\ud800c")], MARKER)).toContain("\na\ufffdb\ufffdc\n");
  });

  it.each([
    ["one fence after another", "=== END output ".repeat(13_000)],
    ["equals signs", "=".repeat(200_000)],
    ["equals signs and spaces", "= ".repeat(100_000)],
    [
      "halves of the marker around each other",
      MARKER.slice(0, 16).repeat(6_000) + MARKER.slice(16).repeat(6_000),
    ],
    ["the marker's first digit and unseen characters", `0${"\u200b".repeat(199_999)}`],
    ["beginnings of tokens", "<|".repeat(100_000)],
  ])("takes no longer for 200,000 characters of %s than six calls can wait for", (_, text) => {
    const startedMs = performance.now();
    const block = blockOf("output", text);
    for (let call = 0; call < 6; call += 1) fenceBlocks([block], MARKER);
    // Quadratic time would be minutes; the bench holds the real bar.
    expect(performance.now() - startedMs).toBeLessThan(3_000);
  });
});
