import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planImport, type StoredList } from "../../../service/sanctions/plan-import.ts";
import { evmAddress } from "./sdn-file.ts";

const STRICT = { allowEmpty: false, force: false };
const listed = (...numbers: number[]) =>
  numbers.map((number) => ({ address: evmAddress(number), reference: String(number) }));
const stored = (...numbers: number[]): StoredList => ({ edition: "2026-11-10", entries: listed(...numbers) });
const next = (...numbers: number[]) => ({ edition: "2026-11-20", entries: listed(...numbers) });

describe("an import", () => {
  test("lists additions, removals, new names and unchanged entries", () => {
    const plan = planImport(
      stored(1, 2, 3),
      {
        edition: "2026-11-20",
        entries: [...listed(1), { address: evmAddress(2), reference: "77" }, ...listed(4)],
      },
      STRICT,
    );
    expect(plan).toEqual({
      kind: "import",
      added: listed(4),
      changed: [{ address: evmAddress(2), reference: "77" }],
      removed: listed(3),
      unchanged: 1,
    });
  });

  test.each([
    ["the first one ever", { edition: null, entries: [] }, next(1), STRICT],
    ["the same edition again", stored(1), { ...next(1), edition: "2026-11-10" }, STRICT],
    ["one that shrank to just half", stored(1, 2, 3, 4), next(1, 2), STRICT],
    ["one that shrank further, by force", stored(1, 2, 3), next(1), { allowEmpty: false, force: true }],
    [
      "an older one, by force",
      stored(1),
      { ...next(1), edition: "2026-11-09" },
      { allowEmpty: false, force: true },
    ],
    [
      "an empty one over nothing, where that is allowed",
      { edition: null, entries: [] },
      next(),
      { allowEmpty: true, force: false },
    ],
    [
      "an empty one over a list, where both are allowed",
      stored(1),
      next(),
      { allowEmpty: true, force: true },
    ],
  ])("takes %s", (_name, before, after, rules) => {
    expect(planImport(before, after, rules).kind).toBe("import");
  });

  test.each([
    ["an empty one", { edition: null, entries: [] }, next(), STRICT, /no EVM address.*--allow-empty/],
    ["an empty one by force alone", stored(1), next(), { allowEmpty: false, force: true }, /--allow-empty/],
    [
      "an empty one over a list",
      stored(1),
      next(),
      { allowEmpty: true, force: false },
      /0 addresses where the kept one has 1; --force/,
    ],
    [
      "one that shrank by more than half",
      stored(1, 2, 3),
      next(1),
      STRICT,
      /1 addresses where the kept one has 3; --force/,
    ],
    [
      "an older one",
      stored(1),
      { ...next(1, 2), edition: "2026-11-09" },
      STRICT,
      /2026-11-09, is older than the kept one, 2026-11-10; --force/,
    ],
  ])("refuses %s, and says how to take it all the same", (_name, before, after, rules, reason) => {
    expect(planImport(before, after, rules)).toEqual({
      kind: "refused",
      reason: expect.stringMatching(reason),
    });
  });

  test("always makes the new list when applied to the stored one", () => {
    const entries = fc
      .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 2 })), {
        selector: ([number]) => number,
      })
      .map((pairs) =>
        pairs.map(([number, reference]) => ({ address: evmAddress(number), reference: String(reference) })),
      );
    fc.assert(
      fc.property(entries, entries, (before, after) => {
        const plan = planImport(
          { edition: null, entries: before },
          { edition: "2026-11-20", entries: after },
          { allowEmpty: true, force: true },
        );
        if (plan.kind === "refused") throw new Error(plan.reason);
        const list = new Map<string, string>(before.map(({ address, reference }) => [address, reference]));
        for (const { address } of plan.removed) list.delete(address);
        for (const { address, reference } of [...plan.added, ...plan.changed]) list.set(address, reference);
        expect(list).toEqual(new Map(after.map(({ address, reference }) => [address, reference])));
        expect(plan.added.length + plan.changed.length + plan.unchanged).toBe(after.length);
      }),
    );
  });
});
