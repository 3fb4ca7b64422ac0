import { describe, expect, it } from "vitest";
import { cutChallenges, cutList, cutText } from "../../../../service/verification/panel/cut-answers.ts";

describe("cutText", () => {
  it.each([
    ["as long as it may be", "abcd", "abcd"],
    ["longer", "abcde", "abc…"],
    ["with a pair where it is cut", "ab😀de", "ab…"],
    ["with a pair before that", "a😀de", "a😀…"],
  ])("of a text %s", (_, text, cut) => {
    expect(cutText(text, 4)).toBe(cut);
  });
});

describe("lists", () => {
  const many = (role: string, count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ role, at: from + index }));

  it("keep their first twenty entries", () => {
    expect(cutList(many("a", 25))).toEqual(many("a", 20));
  });

  it("of challenges keep all up to twenty, whomever they are of", () => {
    expect(cutChallenges(many("a", 20))).toEqual(many("a", 20));
  });

  it("of challenges keep those of every role, though many of one come first", () => {
    const given = [...many("a", 30), ...many("b", 2, 30), ...many("c", 1, 32)];
    expect(cutChallenges(given)).toEqual([...many("a", 17), ...many("b", 2, 30), ...many("c", 1, 32)]);
  });
});
