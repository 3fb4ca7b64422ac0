import type { ClientBase, QueryArrayConfig } from "pg";
import type { Address } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { accountFact, contact, sampledContact } from "../../../../service/db/tables/enrich.ts";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { readWalletRows } from "../../../../service/scores/read/read-rows.ts";
import { account, START } from "../../model/features/histories.ts";
import { followEnriched } from "../../model/features/index-tables.ts";
import { AGENT, blockAt, callAt, FAUCET, MIXER, OTHER, request, SCHEMA, useRowsWorld } from "./rows-world.ts";

const world = useRowsWorld();

describe("counterparties", () => {
  const POOL = account(0xb0);

  beforeEach(async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await world.insertCalls([callAt(10, { to: POOL }), callAt(20, { to: MIXER })]);
    await meet(AGENT, POOL, { calls: 1, first: 10, last: 10 });
    await meet(AGENT, MIXER, { calls: 1, first: 20, last: 20 });
  });

  test("are described by their facts, lists and outside users", async () => {
    await world.db
      .insert(accountFact)
      .values([
        factOf(POOL, { hasCode: true, creator: OTHER, existedAt: START }),
        factOf(OTHER, { hasCode: false, firstFunder: FAUCET }),
        factOf(AGENT, { hasCode: false, firstFunder: FAUCET }),
      ]);
    for (let user = 1; user <= 3; user += 1) await use(account(0x5000 + user), POOL);
    await meet(account(0x6000), POOL, { calls: 8, first: 30, last: 30 });
    await meet(account(0x6000), account(0xe1), { calls: 2, first: 30, last: 30 });
    expect((await world.readOne()).counterparties).toEqual([
      {
        ...{ address: MIXER, ownerLink: null, hasCode: null, existedAt: null, fundedFromOutside: null },
        ...{ firstContactAt: blockAt(20).timestamp, outsideUsers: 0, flag: "mixer" },
      },
      {
        ...{ address: POOL, ownerLink: null, hasCode: true, existedAt: START, fundedFromOutside: true },
        ...{ firstContactAt: blockAt(10).timestamp, outsideUsers: 3, flag: null },
      },
    ]);
  });

  test("belong to the owner by ancestors that the read did not ask for", async () => {
    await world.db
      .insert(accountFact)
      .values([
        factOf(POOL, { hasCode: true, creator: OTHER }),
        factOf(OTHER, { hasCode: false, firstFunder: account(0xf1) }),
        factOf(account(0xf1), { hasCode: false, firstFunder: account(0xf2) }),
        factOf(AGENT, { hasCode: false, firstFunder: account(0xf2) }),
      ]);
    expect((await world.readOne()).counterparties.find(({ address }) => address === POOL)?.ownerLink).toBe(
      "creator",
    );
  });

  test("have followed wallets as users by all that they do, and any other account by what sampled blocks show", async () => {
    const outsideUsers = async () => {
      const { counterparties } = await world.readOne();
      return counterparties.find(({ address }) => address === POOL)?.outsideUsers;
    };
    // Contacts of an account that is not followed are not complete.
    await meet(OTHER, POOL, { calls: 1, first: 30, last: 30 });
    await meet(OTHER, account(0xe1), { calls: 9, first: 30, last: 30 });
    expect(await outsideUsers()).toBe(0);
    await use(account(0x5000), POOL);
    const sampled = (await world.client.query("select * from ahs.sampled_contact")).rows;
    expect(await outsideUsers()).toBe(1);
    await followEnriched(world.client, SCHEMA, { wallet: OTHER, block: 0 });
    expect(await outsideUsers()).toBe(2);
    await world.client.query("update ahs.sampled_contact set account = $1", [OTHER]);
    expect([sampled.length, await outsideUsers()]).toEqual([2, 1]);
  });

  test("of many users have their outside users counted beyond the first two hundred", async () => {
    // The first two hundred by address do nothing but what the wallet does; those after them do.
    for (let user = 0; user < 200; user += 1)
      await meet(account(0x1000 + user), POOL, { calls: 1, first: 30, last: 30 });
    for (let user = 0; user < 40; user += 1) await use(account(0x9000 + user), POOL);
    const pool = (rows: WalletRows) => rows.counterparties.find(({ address }) => address === POOL);
    expect(pool(await world.readOne())?.outsideUsers).toBe(30);
    await world.client.query("delete from ahs.sampled_contact where account >= $1", [account(0x9010)]);
    expect(pool(await world.readOne())?.outsideUsers).toBe(16);
  });

  test("belong to the owner by mutual funding, and of a crowd that sent dust none is read", async () => {
    await world.insertCalls([callAt(30, { to: OTHER })]);
    await world.db
      .insert(accountFact)
      .values([factOf(OTHER, { hasCode: false }), factOf(AGENT, { hasCode: false })]);
    await world.client.query(
      `insert into ahs.contact select 31337, $1, '0x' || lpad(to_hex(n), 40, '0'), 0, 1, 1, 1, 1, 1
       from generate_series(1000000, 1002000) n`,
      [AGENT],
    );
    await give(AGENT, OTHER, 5n);
    await give(OTHER, AGENT, 2_000n);
    const linkOf = async () => {
      const recorded = recordAnswers(world.client);
      const [read] = await readWalletRows(recorded.client, request([AGENT]));
      expect(recorded.longest()).toBeLessThan(10_000);
      return read?.rows.counterparties.find(({ address }) => address === OTHER)?.ownerLink;
    };
    // 2,000 of 4,001 is not most of it.
    expect(await linkOf()).toBeNull();
    await world.client.query("update ahs.contact set sent_micro_usd = 2002 where account = $1", [OTHER]);
    expect(await linkOf()).toBe("mutual_funding");
  });

  test("are taken from a history source as from enrichment: the payee of a call, not its token, and never the wallet itself", async () => {
    const TOKEN = account(0x70);
    const PAYEE = account(0xfe);
    await world.client.query("truncate ahs.contact");
    await world.client.query(
      `insert into ahs.stored_history (chain_id, wallet, source, from_block, from_timestamp, to_block, to_hash, complete)
       values (31337, $1, 'explorer', 0, $2, 300, '0x00', true)`,
      [AGENT, START],
    );
    await world.insertCalls([
      callAt(30, { to: TOKEN, recipient: PAYEE, amount: 5n }),
      callAt(40, { to: AGENT }),
      callAt(50, { to: TOKEN, recipient: AGENT, amount: 5n }),
    ]);
    const { counterparties } = await world.readOne();
    const met = new Map(counterparties.map(({ address, firstContactAt }) => [address, firstContactAt]));
    expect(met).toEqual(
      new Map([
        [MIXER, blockAt(20).timestamp],
        [TOKEN, null],
        [AGENT, null],
        [POOL, blockAt(10).timestamp],
        [PAYEE, blockAt(30).timestamp],
      ]),
    );
  });

  test("of one wallet are the same whatever is read with it", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: OTHER, block: 0 });
    for (let user = 0; user < 100; user += 1)
      await use(account(0x1000 + user), user % 2 === 0 ? POOL : MIXER);
    await meet(OTHER, POOL, { calls: 5, first: 5, last: 30 });
    const alone = await world.readOne();
    const together = await readWalletRows(world.client, request([OTHER, AGENT]));
    expect(together.find(({ rows }) => rows.wallet === AGENT)?.rows).toEqual(alone);
  });

  test("are the same for two batches that share what they read, wherever one overtakes the other", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: OTHER, block: 0 });
    for (let user = 0; user < 5; user += 1)
      await meet(account(0x1000 + user), POOL, { calls: 1, first: 30, last: 30 });
    await world.db
      .insert(accountFact)
      .values([
        factOf(POOL, { hasCode: true, creator: account(0xf1) }),
        factOf(account(0xf1), { hasCode: false, firstFunder: account(0xf2) }),
        factOf(AGENT, { hasCode: false, firstFunder: account(0xf2) }),
      ]);
    const alone = await world.readOne();
    const queries = countQueries(world.client);
    await readWalletRows(queries.client, request([AGENT]));
    for (let place = 0; place < queries.count(); place += 1) {
      const shared = request([AGENT]);
      const overtaken = pausedAt(place, () => readWalletRows(world.client, shared));
      await readWalletRows(overtaken.client, shared);
      const [within] = await overtaken.read();
      expect(within?.rows).toEqual(alone);
    }
  });
});

/** A client that counts what it is asked. */
function countQueries(client: ClientBase) {
  let asked = 0;
  const query = (config: QueryArrayConfig, values?: unknown[]) => {
    asked += 1;
    return client.query(config, values);
  };
  return { client: { query } as unknown as ClientBase, count: () => asked };
}

/** A client that records the length of its longest answer, in characters. */
function recordAnswers(client: ClientBase) {
  let longest = 0;
  const query = async (config: QueryArrayConfig, values?: unknown[]) => {
    const answer = await client.query(config, values);
    longest = Math.max(longest, JSON.stringify(answer.rows).length);
    return answer;
  };
  return { client: { query } as unknown as ClientBase, longest: () => longest };
}

/** A client that reads something else before it answers one of its queries. */
function pausedAt<Read>(place: number, read: () => Promise<Read>) {
  let asked = 0;
  let between: Promise<Read> | undefined;
  const query = async (config: QueryArrayConfig, values?: unknown[]) => {
    const isPlace = asked === place;
    asked += 1;
    const answer = await world.client.query(config, values);
    if (isPlace) {
      between = read();
      await between;
    }
    return answer;
  };
  return {
    client: { query } as unknown as ClientBase,
    read: () => {
      if (between === undefined) throw new Error(`query ${place} was not asked`);
      return between;
    },
  };
}

function factOf(address: Address, parts: Partial<typeof accountFact.$inferInsert>) {
  return { chainId: 31337, address, source: "index", readBlock: 1, ...parts };
}

/** Calls of a followed wallet, as contacts hold them, or of any other account, as they are in sampled blocks. */
async function meet(
  account: Address,
  counterparty: Address,
  { calls, first, last }: { readonly calls: number; readonly first: number; readonly last: number },
): Promise<void> {
  const met = {
    ...{ chainId: 31337, account, counterparty, calls, firstBlock: first, lastBlock: last },
    ...{ firstTime: blockAt(first).timestamp, lastTime: blockAt(last).timestamp },
  };
  if (account === AGENT || account === OTHER)
    await world.db.insert(contact).values({ ...met, sentMicroUsd: 0n });
  else await world.db.insert(sampledContact).values(met);
}

async function give(account: Address, counterparty: Address, sentMicroUsd: bigint): Promise<void> {
  await world.db.insert(contact).values({
    ...{ chainId: 31337, account, counterparty, calls: 0, sentMicroUsd, firstBlock: 1, lastBlock: 1 },
    ...{ firstTime: 1, lastTime: 1 },
  });
}

/** A use by an account that also deals with another address. */
async function use(user: Address, counterparty: Address): Promise<void> {
  await meet(user, counterparty, { calls: 1, first: 30, last: 30 });
  await meet(user, account(0xe1), { calls: 9, first: 30, last: 30 });
}
