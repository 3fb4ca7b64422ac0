import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../../service/db/database.ts";
import { createLeaderboardReader, type ListQuery } from "../../../service/scores/leaderboard.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { useDatabase } from "../../support/test-database.ts";

const CHAIN = 31337;
const WALLETS = 3_000;
const LIMIT = 50;
const CLOCK = { now: () => new Date("2026-12-21T00:00:00Z") };
const BEST: ListQuery = {
  ...{ scope: { kind: "scored", from: 0, to: 100 }, confidence: null, order: "score", isRising: false },
  ...{ offset: 0, limit: LIMIT },
};

const BAZAAR = {
  ...({
    name: "Agent Bazaar",
    kind: "erc8004",
    address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  } as const),
  startBlock: 1,
};
const read = (chainId = CHAIN, database = db) =>
  createLeaderboardReader(database, { chainId, registries: [BAZAAR] }, CLOCK);

const db = useDatabase();

beforeAll(async () => {
  // Scores of 0 to 39, each shared by many; every tenth wallet has none; confidence has ties as well.
  await db.$client.query(`
    insert into ahs.score (chain_id, wallet, as_of_block, as_of_hash, as_of_time, model_version, ahs_score, d1_score, d2_score, grade, confidence_micros,
      confidence_level, sanctioned, sanctions_flags, patterns, features, coverage, inputs_hash)
    select ${CHAIN}, '0x' || lpad(to_hex(n * 65537), 40, '0'), 1, 'h', '2026-11-20', 'AHS-2026.2',
      case when n % 10 = 0 then null else n % 40 end, case when n % 10 = 0 then null else n % 3 end,
      case when n % 10 = 0 then null else n % 5 end, case when n % 10 = 0 then null when n % 40 < 20 then 'F' else 'E' end,
      (n % 7) * 100000, 'LOW', false, '[]', '[]', '[]', '{}', 'i' || n
    from generate_series(1, ${WALLETS}) n;
    insert into ahs.current_score (chain_id, wallet, score_id, as_of_block, as_of_time, ahs_score, grade, confidence_micros,
      confidence_level, sanctioned)
    select chain_id, wallet, id, as_of_block, as_of_time, ahs_score, grade, confidence_micros, confidence_level, sanctioned
    from ahs.score;
    analyze ahs.current_score;
    create schema "chain_${CHAIN}";
    create table "chain_${CHAIN}".wallet (address text primary key, last_call_at numeric);
    insert into "chain_${CHAIN}".wallet values ('${address(1)}', 1795168800), ('${address(2)}', 1795168900);`);
});

describe("lists of the leaderboard", () => {
  it("show every scored wallet once, the best first, however many share a score", async () => {
    const seen = await read().list({ ...BEST, limit: WALLETS });
    expect(seen).toHaveLength(WALLETS - WALLETS / 10);
    expect(new Set(seen.map(({ wallet }) => wallet)).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted(byRank));
    expect(await read().list({ ...BEST, offset: 20, limit: 5 })).toEqual(seen.slice(20, 25));
  });

  it("show what the columns need: both parts, the score of 30 days ago, the last call", async () => {
    const [first] = await read().list({ ...BEST, order: "active", limit: 1 });
    expect(first).toEqual({
      ...{ wallet: address(2), ahsScore: 2, grade: "F", confidenceMicros: 200_000, confidenceLevel: "LOW" },
      ...{ d1Score: 2, d2Score: 2, earlierScore: 2, lastActiveAt: new Date(1_795_168_900_000) },
    });
    // A signed payment, after the last transaction of its own.
    await db.$client.query(
      `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, value, ok,
         gas_limit, gas_used, gas_price_wei, fee_wei)
       values (${CHAIN}, '${address(3)}', 7, 0, 1, '0x', 'payment', 'enrich', 1795169000, 0, true, 1, 1, 1, 1)`,
    );
    const [paid] = await read().list({ ...BEST, order: "active", limit: 1 });
    expect([paid?.wallet, paid?.lastActiveAt]).toEqual([address(3), new Date(1_795_169_000_000)]);
    const before = { now: () => new Date("2026-12-01T00:00:00Z") };
    const early = createLeaderboardReader(db, { chainId: CHAIN, registries: [] }, before);
    expect((await early.list({ ...BEST, limit: 1 }))[0]?.earlierScore).toBeNull();
  });

  it.each(["score", "d1", "d2", "confidence"] as const)("are sorted by %s both ways", async (order) => {
    const of = { score: "ahsScore", d1: "d1Score", d2: "d2Score", confidence: "confidenceMicros" } as const;
    for (const isRising of [false, true]) {
      const found = await read().list({ ...BEST, order, isRising, limit: 200 });
      const values = found.map((one) => one[of[order]] ?? 0);
      expect(values).toEqual(values.toSorted((a, b) => (isRising ? a - b : b - a)));
    }
  });

  it("keep to a range of scores, a confidence, the unscored or the sanctioned", async () => {
    const some = await read().list({ ...BEST, scope: { kind: "scored", from: 20, to: 22 }, limit: 1_000 });
    expect(new Set(some.map(({ ahsScore }) => ahsScore))).toEqual(new Set([22, 21]));
    const unscored = await read().list({ ...BEST, scope: { kind: "unscored" }, limit: 1_000 });
    expect(unscored).toHaveLength(WALLETS / 10);
    expect(await read().list({ ...BEST, confidence: "HIGH" })).toEqual([]);
    expect(await read().list({ ...BEST, scope: { kind: "sanctioned" } })).toEqual([]);
    expect(await read(1).list(BEST)).toEqual([]);
  });

  it("read a few times what they show", async () => {
    const read = await rowsOf((reader) => reader.list(BEST));
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThanOrEqual(4 * LIMIT);
  });
});

describe("a search", () => {
  beforeAll(async () => {
    await db.$client.query(`
      create table "chain_${CHAIN}".agent (agent_id numeric(78) primary key, wallet text);
      insert into "chain_${CHAIN}".agent values
        (1, '${address(1)}'), (2, '${address(10)}'), (3, null), (4, '0x${"ee".repeat(20)}'), (5, null),
        (115792089237316195423570985008687907853269984665640564039457584007913129639935, '${address(2)}');
      insert into ahs.agent_document (chain_id, agent_id, uri, state, name, services, attempts)
      select ${CHAIN}, agent_id, 'u', 'current', name, '[]', 0 from (values
        (1, 'Atlas Trader'), (2, 'atlas % of all'), (3, 'ATLAS'), (4, 'Ünïcode'), (5, repeat('Long', 20000))) named (agent_id, name);`);
  });

  it("finds wallets by the beginning of their address, in its order", async () => {
    const found = await read().byPrefix(address(1).slice(0, 38), LIMIT);
    expect(found.length).toBeGreaterThan(0);
    expect(found.every(({ wallet }) => wallet.startsWith(address(1).slice(0, 38)))).toBe(true);
    expect(await read().byPrefix("0xffff", LIMIT)).toEqual([]);
    expect(await read().byPrefix("0x", 3)).toHaveLength(3);
  });

  it("finds an agent by its number, however large, scored or not", async () => {
    expect(await read().byAgentId(1n)).toMatchObject([{ name: "Atlas Trader", ranked: { ahsScore: 1 } }]);
    expect(await read().byAgentId(2n ** 256n - 1n)).toMatchObject([{ name: null, ranked: { ahsScore: 2 } }]);
    expect(await read().byAgentId(2n)).toMatchObject([{ ranked: { ahsScore: null, grade: null } }]);
    expect(await read().byAgentId(4n)).toMatchObject([{ wallet: `0x${"ee".repeat(20)}`, ranked: null }]);
    expect(await read().byAgentId(99n)).toEqual([]);
    expect(await read().byAgentId(10n ** 77n)).toEqual([]);
  });

  it("finds agents by a part of their name in any case, and takes no character for a pattern", async () => {
    const names = async (beginning: string) =>
      (await read().byName(beginning, { offset: 0, limit: LIMIT })).agents.map(({ agentId }) =>
        Number(agentId),
      );
    expect(await names("aTLas")).toEqual([1, 2, 3]);
    expect(await names("atlas %")).toEqual([2]);
    expect(await names("%")).toEqual([]);
    expect(await names("_tlas")).toEqual([]);
    expect(await names("ünï")).toEqual([4]);
    expect(await names("long".repeat(16))).toEqual([5]);
    expect(await names("TRADER")).toEqual([1]);
    expect(await names("las tr")).toEqual([1]);
    expect(await names("of_all")).toEqual([]);
    expect(await names("s %")).toEqual([]);
    expect(await names("tl")).toEqual([]);
  });

  it("shows a scored agent before any number of others that took its name, and goes on to those", async () => {
    await db.$client.query(`
      insert into "chain_${CHAIN}".agent select 1000 + n, null from generate_series(1, 1200) n;
      insert into ahs.agent_document (chain_id, agent_id, uri, state, name, services, attempts)
      select ${CHAIN}, 1000 + n, 'u', 'current', case when n <= 120 then 'Famous' else 'Crowded' end, '[]', 0
      from generate_series(1, 1200) n;
      update "chain_${CHAIN}".agent set wallet = '${address(7)}' where agent_id = 1120;`);
    const first = await read().byName("famous", { offset: 0, limit: LIMIT });
    expect(first.agents.slice(0, 2).map(({ agentId }) => Number(agentId))).toEqual([1120, 1001]);
    expect({ ...first, agents: first.agents.length }).toEqual({ agents: LIMIT, total: 120, isCut: false });
    const last = await read().byName("famous", { offset: 100, limit: LIMIT });
    expect(last.agents.map(({ agentId }) => Number(agentId)).at(-1)).toBe(1119);
    expect(last.agents).toHaveLength(20);
    expect(await read().byName("crowded", { offset: 0, limit: 1 })).toMatchObject({
      total: 1000,
      isCut: true,
    });
  });

  it("finds agents of further registries by number and name, with their registry", async () => {
    await db.$client.query(`
      insert into ahs.registry_agent (chain_id, registry, agent_id, wallet, name, registered_block, updated_block)
      select ${CHAIN}, registry, agent_id, wallet, name, 1, 1 from (values
        ('${BAZAAR.address.toLowerCase()}', 1, '${address(1)}', 'Zenith of the bazaar'),
        ('${BAZAAR.address.toLowerCase()}', 50, '${address(3)}', 'Old Zenith'),
        ('${address(9)}', 1, '${address(4)}', 'Zenith of a registry that is no longer read')
      ) registered (registry, agent_id, wallet, name);
      update ahs.agent_document set name = 'Zenith' where chain_id = ${CHAIN} and agent_id = 2;`);
    const numbered = await read().byAgentId(1n);
    expect(numbered.map(({ name, registry, wallet }) => [name, registry, wallet])).toEqual([
      ["Atlas Trader", null, address(1)],
      ["Zenith of the bazaar", BAZAAR, address(1)],
    ]);
    const { agents, ...counts } = await read().byName("zenith", { offset: 0, limit: LIMIT });
    expect(agents.map(({ agentId, registry, ranked }) => [agentId, registry, ranked?.ahsScore])).toEqual([
      [50n, BAZAAR, 3],
      [1n, BAZAAR, 1],
      [2n, null, null],
    ]);
    expect(counts).toEqual({ total: 3, isCut: false });
  });

  it("uses the index of names", async () => {
    const { rows } = await db.$client
      .query(
        `begin; set local enable_seqscan = off; set local enable_sort = off;
       explain select agent_id from ahs.agent_document d where chain_id = ${CHAIN}
         and lower(left(d.name, 64)) ~>=~ 'at' and lower(left(d.name, 64)) ~<~ 'au'
       order by chain_id, lower(left(d.name, 64)) using ~<~, agent_id limit 1000`,
      )
      .then((results) => (Array.isArray(results) ? results.at(-1) : results));
    await db.$client.query("rollback");
    expect(JSON.stringify(rows)).toContain("agent_document_name");
    expect(JSON.stringify(rows)).not.toContain("Sort");
  });

  it("finds no agent while the index has no tables", async () => {
    const elsewhere = read(1);
    expect(await elsewhere.byAgentId(1n)).toEqual([]);
    expect(await elsewhere.byName("atlas", { offset: 0, limit: LIMIT })).toEqual({
      agents: [],
      total: 0,
      isCut: false,
    });
  });
});

function address(number: number): Address {
  return `0x${(number * 65_537).toString(16).padStart(40, "0")}`;
}

type Ranked = {
  readonly ahsScore: number | null;
  readonly confidenceMicros: number;
  readonly wallet: string;
};

function byRank(a: Ranked, b: Ranked): number {
  return (
    (b.ahsScore ?? 0) - (a.ahsScore ?? 0) ||
    b.confidenceMicros - a.confidenceMicros ||
    (a.wallet < b.wallet ? -1 : 1)
  );
}

/** Rows of current scores that one reading fetches. */
function rowsOf(act: (reader: ReturnType<typeof read>) => Promise<unknown>): Promise<number> {
  // All that a reader asks of its pool is to run a statement.
  const readerOf = (session: unknown) => read(CHAIN, { $client: session } as Database);
  return rowsRead(db.$client, ["current_score"], (session) => act(readerOf(session)));
}
