import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashText } from "../../../../service/verification/panel/hashes.ts";
import {
  COLLECTING_MS,
  collectedBy,
  hasPlace,
  isAllIn,
  MAX_TEXTS,
  type Turns,
  withText,
} from "../../../../service/verification/verdicts/accept-evidence.ts";

const CLIENT = `0x${"c1".repeat(20)}` as const;
const PROVIDER = `0x${"b2".repeat(20)}` as const;
const [client, provider, key] = [`wallet:${CLIENT}`, `wallet:${PROVIDER}`, "key:k"];
const NONE: Turns = { isBound: true, clientAddr: CLIENT, providerAddr: PROVIDER, texts: [] };

type Step = { readonly owner: string; readonly text: string; readonly isFinal: boolean };

const step = fc.record({
  owner: fc.constantFrom(client, provider, key),
  text: fc.constantFrom("a", "b", "c", "d", "e", "f"),
  isFinal: fc.boolean(),
});

/** The turns after what was offered, where a text without a place is refused. */
function turnsAfter(steps: readonly Step[], turns = NONE): Turns {
  return steps.reduce((so, { owner, text, isFinal }) => {
    const textHash = hashText(text);
    const isThere = so.texts.some((each) => each.textHash === textHash);
    return isThere || hasPlace(so, owner) ? withText(so, { owner, textHash, isFinal }) : so;
  }, turns);
}

describe("whose turn it is to hand evidence in for a job's verdict", () => {
  it("leaves a silent side its place, and its time, whatever everybody else hands in", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.constantFrom(client, provider), (steps, silent) => {
        const others = steps.filter(({ owner }) => owner !== silent);
        const turns = turnsAfter(others);
        expect(hasPlace(turns, silent)).toBe(true);
        expect(isAllIn(turns, true)).toBe(false);
      }),
    );
  });

  it("takes three texts at most, and both sides have spoken once they are in", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const { texts } = turnsAfter(steps);
        expect(texts.length).toBeLessThanOrEqual(MAX_TEXTS);
        if (texts.length < MAX_TEXTS) return;
        expect(texts.map(({ submittedBy }) => submittedBy)).toEqual(
          expect.arrayContaining([client, provider]),
        );
      }),
    );
  });

  it("is not divided where one account is both sides: it has all three places", () => {
    const alone = { ...NONE, providerAddr: CLIENT };
    const texts = ["a", "b", "c"].map((text) => ({ owner: client, text, isFinal: false }));
    expect(turnsAfter(texts, alone).texts).toHaveLength(3);
    expect(isAllIn(turnsAfter([{ owner: client, text: "a", isFinal: true }], alone), true)).toBe(true);
  });
});

describe("when collecting is over", () => {
  const now = new Date("2026-11-20T10:00:00.000Z");
  const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

  it.each([
    ["no job is held", null, COLLECTING_MS / 60_000],
    ["there is time", { reviewBy: inMinutes(60), expiresAt: inMinutes(80) }, 10],
    ["the review is near", { reviewBy: inMinutes(6), expiresAt: inMinutes(8) }, 3],
    ["the review is due", { reviewBy: inMinutes(0), expiresAt: inMinutes(4) }, 2],
    ["the job has run out", { reviewBy: inMinutes(-4), expiresAt: inMinutes(-1) }, 0],
  ] as const)("%s", (_, clock, minutes) => {
    expect(collectedBy({ clock }, now)).toEqual(inMinutes(minutes));
  });
});
