import { beforeEach, expect, test } from "vitest";
import { importSdn } from "../../../service/sanctions/import-list.ts";
import { sanctionsListHash } from "../../../service/sanctions/list-file.ts";
import { useDatabase } from "../../support/test-database.ts";
import { clearSanctions } from "./clear-sanctions.ts";
import { bytesOf, evmAddress, sdnXml, type TestParty } from "./sdn-file.ts";

const STRICT = { allowEmpty: false, force: false };

const db = useDatabase();
let now: Date;

beforeEach(async () => {
  await clearSanctions(db);
  now = new Date("2026-11-20T06:00:00Z");
});

function party(fixedRef: string, ...numbers: number[]): TestParty {
  return { fixedRef, ids: numbers.map((number) => ({ currency: "ETH", value: evmAddress(number) })) };
}

function list(day: string, ...parties: TestParty[]): string {
  return sdnXml({ parties, edition: ["2026", "11", day] });
}

const run = (xml: string, rules = STRICT) => importSdn({ db, now: () => now }, bytesOf(xml), rules);

async function stored() {
  const entries = await db.$client.query(
    "select address, reference, detected_at from ahs.sanctions_entry order by address",
  );
  const sources = await db.$client.query("select * from ahs.sanctions_source");
  return { entries: entries.rows, sources: sources.rows };
}

test("an import replaces the last one; an address that stays listed keeps the moment of its detection", async () => {
  const first = now;
  expect(await run(list("10", party("900", 1, 2), party("901", 3)))).toMatchObject({
    kind: "imported",
    added: 3,
    removed: 0,
    unchanged: 0,
  });
  now = new Date("2026-11-21T06:00:00Z");
  const outcome = await run(list("20", party("900", 2), party("777", 3), party("902", 4)));
  expect(outcome).toMatchObject({ kind: "imported", added: 1, changed: 1, removed: 1, unchanged: 1 });

  const entries = [
    { address: evmAddress(2), reference: "900" },
    { address: evmAddress(3), reference: "777" },
    { address: evmAddress(4), reference: "902" },
  ];
  expect(await stored()).toEqual({
    entries: [
      { ...entries[0], detected_at: first },
      { ...entries[1], detected_at: first },
      { ...entries[2], detected_at: now },
    ],
    sources: [
      {
        source: "ofac-sdn",
        list_hash: sanctionsListHash(entries),
        entries: 3,
        edition: "2026-11-20",
        checked_at: now,
        changed_at: now,
      },
    ],
  });
});

test("the same list again was checked, and has not changed", async () => {
  const changed = now;
  await run(list("10", party("900", 1)));
  now = new Date("2026-11-22T06:00:00Z");
  expect(await run(list("11", party("900", 1)))).toMatchObject({ added: 0, removed: 0, unchanged: 1 });
  expect((await stored()).sources).toMatchObject([
    { checked_at: now, changed_at: changed, edition: "2026-11-11" },
  ]);
});

test("a list that is broken, empty, shrunk or older leaves the last one as it was", async () => {
  const good = list("10", party("900", 1, 2, 3));
  await run(good);
  const before = await stored();
  now = new Date("2026-11-21T06:00:00Z");
  const broken = [
    good.slice(0, -20),
    list("20"),
    list("20", party("900", 1)),
    list("09", party("900", 1, 2, 3)),
    "<html/>",
  ];
  for (const xml of broken) expect(await run(xml)).toEqual({ kind: "refused", reason: expect.any(String) });
  async function* lost() {
    yield Buffer.from(good.slice(0, 500));
    throw new Error("connection lost");
  }
  await expect(importSdn({ db, now: () => now }, lost(), STRICT)).rejects.toThrow("connection lost");
  expect(await stored()).toEqual(before);
});

test("two imports at once are one after the other", async () => {
  const outcomes = await Promise.all([
    run(list("10", party("900", 1, 2))),
    run(list("10", party("900", 1, 2))),
  ]);
  expect(outcomes.map((outcome) => (outcome.kind === "imported" ? outcome.added : -1)).sort()).toEqual([
    0, 2,
  ]);
});

test("the hash of a list is of its addresses and references alone, in any order", () => {
  const [a, b] = [
    { address: evmAddress(1), reference: "900" },
    { address: evmAddress(2), reference: "901" },
  ];
  const hash = sanctionsListHash([a, b]);
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
  expect(sanctionsListHash([{ ...b, detectedAt: now } as typeof b, a])).toBe(hash);
  expect(sanctionsListHash([a])).not.toBe(hash);
  expect(sanctionsListHash([a, { ...b, reference: "902" }])).not.toBe(hash);
  // keccak256 of "[]".
  expect(sanctionsListHash([])).toBe("0x518674ab2b227e5f11e9084f615d57663cde47bce1ba168b4c19c7ee22a73d70");
});
