import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elideCopies } from "../../../../service/verification/panel/elide-copies.ts";

/** Words that differ all over, so that no part is like another. */
const passage = (length: number, seed = "w") =>
  Array.from({ length }, (_, index) => `${seed}${index.toString(36)} `)
    .join("")
    .slice(0, length);

describe("passages that a text copies", () => {
  it("are left out where they are longer than 200 characters, and stay where they are not", () => {
    const source = passage(5_000);
    const [allowed, longer] = [source.slice(1_000, 1_200), source.slice(1_000, 1_201)];
    expect(elideCopies([`It says ‘${allowed}’, I see.`, `It says ‘${longer}’, I see.`], [source])).toEqual([
      `It says ‘${allowed}’, I see.`,
      "It says ‘…’, I see.",
    ]);
  });

  it("are found in each source, at its start and its end, several in one text", () => {
    const [one, other] = [passage(900, "a"), passage(900, "b")];
    const text = `First ‘${one.slice(0, 300)}’, then ‘${other.slice(-300)}’.`;
    expect(elideCopies([text], [one, "short", other])).toEqual(["First ‘…’, then ‘…’."]);
  });

  it("are one where they overlap", () => {
    const source = passage(3_000);
    expect(elideCopies([source], [`${source.slice(0, 1_700)}`, source.slice(1_500)])).toEqual(["…"]);
  });

  it("are found through other white space, and the rest of the text keeps its own", () => {
    const source = passage(600).trimEnd();
    const text = `Seen:\n\n${source.replaceAll(" ", "\n   ")}\n\nAll of it.`;
    expect(elideCopies([text], [source])).toEqual(["Seen:\n\n…\n\nAll of it."]);
  });

  it("leave no half of a character behind", () => {
    const source = "\u{1F600}\u{1F601}\u{1F602}".repeat(60);
    // Both ends share a half with what the source has there.
    const [elided] = elideCopies([`a\u{1F603}${source}\u{1F200}b`], [`\ude03${source}\ud83c`]);
    expect(elided).toBe("a…b");
  });

  it("are none in texts and sources that share no more than words", () => {
    const text = passage(4_000, "a");
    expect(elideCopies([text, ""], [passage(50_000, "b"), ""])).toEqual([text, ""]);
    expect(elideCopies([], [text])).toEqual([]);
  });

  it("never are in what is left, whatever the texts", () => {
    // Few letters, so that passages of one stand in the other.
    const letters = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n"), maxLength: 40 });
    const built = fc
      .tuple(fc.array(letters, { maxLength: 6 }), fc.integer({ min: 1, max: 12 }))
      .map(([parts, times]) => parts.join("").repeat(times));
    fc.assert(
      fc.property(built, built, fc.nat(500), (text, other, from) => {
        const source = other + text.slice(from, from + 400);
        const [left = ""] = elideCopies([text], [source]);
        const [line, spaced] = [left, source].map((each) => each.replaceAll(/\s+/g, " ")) as [string, string];
        for (const part of line.split("…"))
          for (let at = 0; at + 201 <= part.length; at += 1)
            expect(spaced.includes(part.slice(at, at + 201))).toBe(false);
        if (!left.includes("…")) expect(left).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("cost little in the longest texts there are, even where they repeat themselves", () => {
    const texts = [passage(16_000, "r"), "ab".repeat(8_000)];
    const began = performance.now();
    elideCopies(texts, ["ab".repeat(100_000), passage(200_000, "o"), "a ".repeat(75_000)]);
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});
