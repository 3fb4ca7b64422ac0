import { drizzle } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../../../service/db/database.ts";
import { storeAccountFacts } from "../../../../service/ingest/enrich/account-facts.ts";
import {
  readDueAccounts,
  type WantedFact,
  wantFacts,
} from "../../../../service/ingest/enrich/pending-facts.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { useDatabase } from "../../../support/test-database.ts";

const CHAIN = 31_337;
const NOW = 1_000_000;
const address = (prefix: string, number: number): Address =>
  `0x${prefix}${number.toString(16).padStart(40 - prefix.length, "0")}`;
const wallet = (number: number) => address("aa", number);

const db = useDatabase();

beforeAll(async () => {
  await db.execute(`insert into ahs.chain_mark values (${CHAIN}, 0, '0x', 'first', now())`);
});
beforeEach(() =>
  db.execute(
    "truncate ahs.pending_fact, ahs.account_fact, ahs.contact, ahs.enrich_approval, ahs.enrich_wallet, ahs.score cascade",
  ),
);

async function follow(count: number): Promise<void> {
  await db.execute(`insert into ahs.enrich_wallet select ${CHAIN}, '0xaa' || lpad(to_hex(n), 38, '0'), 0, null, null
    from generate_series(1, ${count}) n`);
}

async function score(scored: Address): Promise<void> {
  await db.execute(`
    with kept as (
      insert into ahs.score (chain_id, wallet, as_of_block, as_of_hash, as_of_time, model_version, confidence_micros,
        confidence_level, sanctioned, sanctions_flags, patterns, features, coverage, inputs_hash)
      values (${CHAIN}, '${scored}', 1, '0x', now(), 'x', 0, 'INSUFFICIENT', false, '[]', '[]', '[]', '{}', '0x')
      returning *
    )
    insert into ahs.current_score (chain_id, wallet, score_id, as_of_block, as_of_time, confidence_micros, confidence_level, sanctioned)
    select chain_id, wallet, id, as_of_block, as_of_time, confidence_micros, confidence_level, sanctioned from kept`);
}

const due = (now = NOW, limit = 32, leaveOut: readonly Address[] = []) =>
  readDueAccounts(db, { chainId: CHAIN, now, limit, leaveOut });
const want = (...wanted: readonly WantedFact[]) => wantFacts(db, CHAIN, wanted);
const renamed = (wanted: WantedFact): WantedFact => ({
  ...wanted,
  address: wanted.address.replace("0xc", "0xd") as Address,
});
/** So many new counterparties of a wallet, met one after the other. */
const met = (number: number, count: number, own = true): readonly WantedFact[] =>
  Array.from({ length: count }, (_, index) => ({
    address: address(`c${number}`, 1_000 - index),
    wallet: wallet(number),
    since: index,
    own,
  }));

type KnownFact = { readonly address: Address; readonly creator?: Address; readonly firstFunder?: Address };

async function tell(known: readonly KnownFact[], unknown: readonly Address[], now = NOW): Promise<void> {
  const rows = [...known, ...unknown.map((account) => ({ address: account }))].map((fact) => ({
    ...{
      chainId: CHAIN,
      hasCode: false,
      creator: null,
      firstFunder: null,
      existedBlock: null,
      existedAt: null,
    },
    ...{ source: "index", readBlock: 1 },
    ...fact,
  }));
  await storeAccountFacts(db, { chainId: CHAIN, generation: "first", rows, unknown: new Set(unknown), now });
}

describe("whose facts are asked for first", () => {
  beforeEach(() => follow(4));

  test("those of a wallet in the order in which it met them, of a flood only some at once", async () => {
    await want(...met(1, 500));
    expect(await due()).toEqual(met(1, 8).map((wanted) => wanted.address));
  });

  test("one account of every wallet before the second of any, however many wait, with a score or without", async () => {
    await score(wallet(1));
    await want(...met(1, 500), ...met(2, 500), ...met(3, 2), ...met(4, 1));
    const owners = (await due()).map((account) => Number(account[3]));
    expect(owners.slice(0, 4).toSorted()).toEqual([1, 2, 3, 4]);
    expect(owners.slice(4, 7).toSorted()).toEqual([1, 2, 3]);
    expect(owners.slice(7).toSorted()).toEqual([...Array(6).fill(1), ...Array(6).fill(2)]);
    expect(await due(NOW, 7)).toHaveLength(7);
  });

  test("those that own calls named; of eight one that others named, which get all turns where no others wait", async () => {
    await want(...met(1, 500, false), ...met(2, 500, false), ...met(3, 8), ...met(4, 8));
    const kinds = (await due()).map((account) => (Number(account[3]) > 2 ? "own" : "named"));
    expect(kinds.slice(0, 8)).toEqual([...Array(7).fill("own"), "named"]);
    expect(kinds.slice(8, 16)).toEqual([...Array(7).fill("own"), "named"]);
    expect(kinds.slice(16, 19)).toEqual(["own", "own", "named"]);
    expect(kinds.slice(19)).toEqual(Array(13).fill("named"));
  });

  test("one that others named is asked for as an own one once an own call named it as well", async () => {
    await want(...met(1, 3, false));
    await want(...met(1, 1));
    await want(...met(1, 1, false));
    const { rows } = await db.execute(
      "select own, count(*)::int from ahs.pending_fact group by own order by own",
    );
    expect(rows).toEqual([
      { own: false, count: 2 },
      { own: true, count: 1 },
    ]);
  });

  test("and of those that others named so many wait for one wallet, and all of its own", async () => {
    expect(await want(...met(1, 12_000, false), ...met(1, 6_000).map(renamed), ...met(2, 3, false))).toBe(
      11_500,
    );
    const { rows } = await db.execute(
      "select wallet, own, count(*)::int from ahs.pending_fact group by wallet, own order by wallet, own",
    );
    expect(rows).toEqual([
      { wallet: wallet(1), own: false, count: 500 },
      { wallet: wallet(1), own: true, count: 6_000 },
      { wallet: wallet(2), own: false, count: 3 },
    ]);
    expect(await want(...met(1, 600, false))).toBe(100);
  });

  test("one that others wait for does not wait behind the flood of the wallet that met it first", async () => {
    const shared = address("5a", 1);
    await want(...met(1, 100), { address: shared, wallet: wallet(1), since: 200, own: true });
    expect(await due()).not.toContain(shared);
    await want({ address: shared, wallet: wallet(2), since: 300, own: true });
    expect(await due(NOW, 2)).toContain(shared);
  });

  test("none that are to be left out, and none for wallets that are not followed", async () => {
    await want(...met(1, 3), ...met(5, 3));
    const [first, ...others] = met(1, 3).map((wanted) => wanted.address);
    expect(await due(NOW, 32, [first as Address])).toEqual(others);
  });
});

describe("an account", () => {
  const PAYEE = address("fe", 1);
  const FUNDER = address("f0", 1);
  const FUNDERS_FUNDER = address("f1", 1);
  const wanted = { address: PAYEE, wallet: wallet(1), since: 1, own: true };

  beforeEach(() => follow(2));

  test("that no source knows is due again after ten minutes, after twice as long each time, and at last once a day", async () => {
    await want(wanted);
    const pauses: number[] = [];
    let now = NOW;
    for (let time = 0; time < 10; time += 1) {
      await tell([], [PAYEE], now);
      const { rows } = await db.execute<{ at: number }>("select due_at::float8 as at from ahs.pending_fact");
      const at = Number(rows[0]?.at);
      expect(await due(at - 1)).toEqual([]);
      expect(await due(at)).toEqual([PAYEE]);
      pauses.push(at - now);
      now = at;
    }
    expect(pauses).toEqual([600, 1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 76_800, 86_400, 86_400]);
  });

  test("that is known is not asked for again, and who first funded it is asked for, but not the funder's funder", async () => {
    await want(wanted);
    await tell([{ address: PAYEE, firstFunder: FUNDER }], []);
    expect(await due()).toEqual([FUNDER]);
    await tell([{ address: FUNDER, firstFunder: FUNDERS_FUNDER }], []);
    expect(await due()).toEqual([]);
    await want(wanted);
    expect(await due()).toEqual([]);
    await want({ ...wanted, address: FUNDER });
    expect(await due()).toEqual([FUNDERS_FUNDER]);
  });

  test("whose funder is not known yet has that one added, and what is known stays", async () => {
    await want(wanted);
    await tell([], [PAYEE]);
    await tell([{ address: PAYEE, firstFunder: FUNDER }], []);
    await tell([{ address: PAYEE, firstFunder: FUNDERS_FUNDER }], []);
    const { rows } = await db.execute(`select first_funder from ahs.account_fact where address = '${PAYEE}'`);
    expect(rows).toEqual([{ first_funder: FUNDER }]);
  });
});

test("with 100,000 accounts waiting, reads few of them to find the next ones", async () => {
  await follow(2_000);
  await score(wallet(1));
  // Half of them are one wallet's, the others are spread.
  await db.execute(`insert into ahs.pending_fact
    select ${CHAIN}, '0xcc' || lpad(to_hex(n), 38, '0'),
      '0xaa' || lpad(to_hex(case when n % 2 = 0 then 1 else n % 2000 + 1 end), 38, '0'), false, n, 0
    from generate_series(1, 100000) n`);
  await db.execute("analyze ahs.pending_fact");
  const rows = await rowsRead(db.$client, ["pending_fact"], async (session) => {
    const query = { chainId: CHAIN, now: NOW, limit: 32, leaveOut: [] };
    expect(await readDueAccounts(drizzle(session) as unknown as Database, query)).toHaveLength(32);
  });
  expect(rows).toBeLessThan(20_000);
});
