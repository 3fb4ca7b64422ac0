import type { Address, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { foundIn } from "../../../../service/api/kit/dealings-cache.ts";
import {
  accountFact,
  contact,
  enrichTransfer,
  sampledContact,
} from "../../../../service/db/tables/enrich.ts";
import { agentDocument } from "../../../../service/db/tables/infrastructure.ts";
import { currentScore, score } from "../../../../service/db/tables/score.ts";
import { OTHER_PAYERS } from "../../../../service/ingest/enrich/contact-rows.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { pageOf } from "../../../../service/reports/network/counterparties.ts";
import {
  createDealingsReader,
  type PinnedBlock,
} from "../../../../service/reports/network/wallet-network-dealings.ts";
import {
  createAccountReader,
  readAccountLinks,
  readNeighbourhood,
  readOwners,
} from "../../../../service/reports/network/wallet-network-graph.ts";
import { createDistributionReader } from "../../../../service/scores/ecosystem.ts";
import { createContactCaches } from "../../../../service/scores/read/contact-graph.ts";
import { account, START, USDC } from "../../model/features/histories.ts";
import { blockHash, enrichTo, finalize, followEnriched } from "../../model/features/index-tables.ts";
import {
  AGENT,
  blockAt,
  callAt,
  FAUCET,
  MIXER,
  OTHER,
  SCHEMA,
  useRowsWorld,
} from "../../scores/read/rows-world.ts";

const world = useRowsWorld();
const CHAIN_ID = 31_337;
const ZERO = account(0);
const SPAM = account(0x5a);
const FUNDER = account(0xf1);
const SHOP = account(0xe0);

const CHAIN = {
  market: {
    native: { symbol: "ETH", decimals: 18, feed: null },
    wrappedNative: null,
    tokens: [{ address: USDC, symbol: "USDC", decimals: 6, feed: null }],
  },
  accounts: { entryPoints: [], publicFunders: [FAUCET], mixers: [MIXER], venues: [], vettedServices: [] },
};

beforeEach(async () => {
  await world.client.query(
    "truncate ahs.enrich_transfer, ahs.current_score, ahs.score, ahs.feed_price cascade",
  );
});

describe("the dealings of a wallet", () => {
  const reader = (mostAddresses = 1000) =>
    createDealingsReader({
      ...{ db: world.db, chainId: CHAIN_ID, chain: CHAIN, policy: AHS_2026_2 },
      ...{ contacts: createContactCaches(), mostAddresses },
    });
  const read = (pin: PinnedBlock | null = null) => reader().read(AGENT, pin);

  beforeEach(async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await world.insertCalls([callAt(10, { to: SHOP }), callAt(290, { to: SHOP })]);
    await finalize(world.client, SCHEMA, blockAt(300));
    await enrichTo(world.client, SCHEMA, 300);
  });

  it("are of the window's calls, and of what others sent: coin and listed tokens, no mints, no own calls, nothing of zero", async () => {
    await receive(200, { from: FUNDER, amount: 5n });
    await receive(200, { from: FUNDER, amount: 7n }, 2);
    await receive(201, { from: FUNDER, amount: 1n });
    await receive(202, { from: FUNDER, token: USDC, amount: 9n, standard: "erc20" });
    await receive(203, { from: FUNDER, token: SPAM, amount: 9n, standard: "erc20" });
    await receive(204, { from: FUNDER, token: USDC, amount: 0n, standard: "erc20" });
    await receive(205, { from: ZERO, token: USDC, amount: 9n, standard: "erc20" });
    await receive(206, { from: AGENT, amount: 9n });
    await receive(207, { from: SHOP, amount: 9n, sender: AGENT });
    await receive(50, { from: SHOP, amount: 9n });
    await receive(301, { from: SHOP, amount: 9n });
    const dealings = known(await read());
    const day = (block: number) => ({ firstAt: blockAt(block).timestamp, lastAt: blockAt(block).timestamp });
    expect(dealings.incoming).toEqual([
      { from: FUNDER, token: null, amount: 12n, transfers: 2, ...day(200) },
      { from: FUNDER, token: null, amount: 1n, transfers: 1, ...day(201) },
      { from: FUNDER, token: USDC, amount: 9n, transfers: 1, ...day(202) },
    ]);
    expect(dealings.incomingTruncated).toBe(false);
    expect(dealings.asOf.blockNumber).toBe(300);
    expect(dealings.rows.calls.map(({ blockNumber }) => blockNumber)).toEqual([290]);
  });

  it("stay what they were at a pinned block, whatever happens after it", async () => {
    const pin = { blockNumber: 300, blockHash: blockHash(300) };
    await receive(299, { from: FUNDER, amount: 5n });
    const before = known(await read());
    await world.insertCalls([callAt(320, { to: FUNDER })]);
    await receive(310, { from: SHOP, amount: 5n });
    await finalize(world.client, SCHEMA, blockAt(350));
    await enrichTo(world.client, SCHEMA, 350);
    expect(known(await read()).rows.calls).toHaveLength(2);
    expect(known(await read(pin))).toEqual(before);
  });

  it("are not read at a replaced block, at one that is not enriched, or without an index", async () => {
    expect(await read({ blockNumber: 300, blockHash: blockHash(299) })).toEqual({ kind: "gone" });
    expect(await read({ blockNumber: 301, blockHash: blockHash(301) })).toEqual({ kind: "gone" });
    await world.client.query(`delete from ${SCHEMA}.wallet`);
    expect(await read()).toEqual({ kind: "not-indexed" });
    await world.client.query("truncate ahs.enrich_cursor");
    expect(await read()).toEqual({ kind: "not-ready" });
  });

  it("count what a smart account's own call brought once, in the call", async () => {
    const [pool, bundler] = [account(0xb0), null];
    const hash = blockHash(7777);
    const receipt = {
      ...{ marketPrice: null, effect: "other" as const, emitters: [pool, USDC] },
      moves: [{ token: USDC, amount: 100n }],
    };
    await world.insertCalls([callAt(200, { hash, to: pool, position: 9, receipt })]);
    await receive(200, { from: pool, token: USDC, amount: 100n, standard: "erc20", sender: bundler, hash });
    // The same block, another transaction: a gift.
    await receive(200, { from: FUNDER, amount: 5n }, 2);
    const dealings = known(await read());
    expect(dealings.incoming.map(({ from }) => from)).toEqual([FUNDER]);
    const { found } = await foundIn(dealings, AHS_2026_2);
    expect(found.counterparties.find(({ address }) => address === pool)).toMatchObject({
      ...{ calls: 1, transfersIn: 0, interactions: 1 },
      volumeIn: { tokens: [{ token: USDC, amount: 100n }] },
    });
  });

  it("are complete with exactly as many transfers as are looked at, and not with one more", async () => {
    await world.client.query(
      `insert into ahs.enrich_transfer (chain_id, block, log_index, item, transaction_hash, timestamp, token, standard, "from", "to", amount)
       select 31337, 200, n, 0, '0x02', $3, $2, 'native', $4, $1, 1 from generate_series(1, 50000) n`,
      [AGENT, ZERO, blockAt(200).timestamp, FUNDER],
    );
    expect(known(await read()).incomingTruncated).toBe(false);
    await receive(199, { from: SHOP, amount: 9n });
    const { incoming, incomingTruncated } = known(await read());
    expect(incomingTruncated).toBe(true);
    expect(incoming.map(({ from, transfers }) => [from, transfers])).toEqual([[FUNDER, 50_000]]);
  });

  it("page as of one block without gap or overlap while others make one of two logged contracts known", async () => {
    const [lower, higher] = [account(0xa0a), account(0xb0b)];
    const receipt = {
      ...{ marketPrice: null, effect: "other" as const, emitters: [higher, lower], moves: [] },
    };
    const execution = { to: null, position: 9, receipt };
    await world.insertCalls([200, 201, 202].map((block) => callAt(block, execution)));
    for (let user = 0; user < 6; user += 1) await meet(account(0x5000 + user), lower, { calls: 5 });
    const pin = { blockNumber: 300, blockHash: blockHash(300) };
    const list = async () => (await foundIn(known(await read(pin)), AHS_2026_2)).found.counterparties;
    const before = await list();
    const first = pageOf(before, null, 1);
    for (let user = 0; user < 26; user += 1) {
      await meet(account(0x6000 + user), higher, { calls: 1 });
      await meet(account(0x6000 + user), account(0x9000), { calls: 9 });
    }
    const rest = pageOf(await list(), first.next, 100);
    const listed = [...first.entries, ...rest.entries].map(({ address, calls }) => [address, calls]);
    expect(listed).toEqual(before.map(({ address, calls }) => [address, calls]));
    expect(listed[0]).toEqual([lower, 3]);
  });

  it("leave out accounts that only logs show, beyond a number, the same ones each time and no others, and say so", async () => {
    const emitters = Array.from({ length: 20 }, (_, place) => account(0x7000 - place));
    const receipt = { marketPrice: null, effect: "other" as const, emitters, moves: [] };
    await world.insertCalls([callAt(280, { to: FUNDER, receipt })]);
    const { rows } = known(await reader(5).read(AGENT, null));
    expect(rows.accountsLeftOut).toBe(17);
    expect(rows.counterparties.map(({ address }) => address)).toEqual(
      [FUNDER, SHOP, ...emitters.slice(0, 3)].sort(),
    );
    expect(known(await reader(5).read(AGENT, null)).rows).toEqual(rows);
    expect(known(await reader(22).read(AGENT, null)).rows).not.toHaveProperty("accountsLeftOut");
  });

  it("flag accounts by the lists of now", async () => {
    await world.client.query(
      `insert into ahs.sanctions_entry values ('ofac-sdn', $1, '7', now()) on conflict do nothing`,
      [SHOP],
    );
    expect(known(await read()).rows.counterparties.find(({ address }) => address === SHOP)?.flag).toBe(
      "sanctioned",
    );
    await world.client.query("truncate ahs.sanctions_entry");
  });
});

describe("the owners of accounts", () => {
  const ownersOf = (accounts: readonly Address[]) =>
    readOwners(world.client, {
      chainId: CHAIN_ID,
      wallet: AGENT,
      accounts,
      publicFunders: new Set([FAUCET]),
    });

  it("are found by common funders over generations, and never by public ones", async () => {
    await know(AGENT, { firstFunder: FUNDER });
    await know(FUNDER, { firstFunder: OTHER });
    await know(SHOP, { firstFunder: OTHER });
    await know(account(0x77), { firstFunder: FAUCET });
    await know(OTHER, { firstFunder: FAUCET });
    const { owners } = await ownersOf([SHOP, account(0x77)]);
    expect([...owners.cluster.keys()].sort()).toEqual([AGENT, OTHER, SHOP, FUNDER].sort());
  });

  it("are found by mutual funding", async () => {
    await know(AGENT, {});
    await know(OTHER, {});
    await meet(AGENT, OTHER, { sent: 5n });
    await meet(OTHER, AGENT, { sent: 5n });
    expect((await ownersOf([OTHER])).owners.cluster.get(OTHER)).toBe("mutual_funding");
  });

  it("are not looked for among the senders of a hub", async () => {
    await know(AGENT, {});
    await know(OTHER, {});
    await meet(AGENT, OTHER, { sent: 1_000_000n });
    await meet(OTHER, AGENT, { sent: 5n });
    await world.client.query(
      `insert into ahs.contact select 31337, $1, '0x' || lpad(to_hex(n), 40, '0'), 0, 1, 1, 1, 1, 1
       from generate_series(100000, 102500) n`,
      [OTHER],
    );
    expect((await ownersOf([OTHER])).owners.cluster.has(OTHER)).toBe(false);
  });
});

describe("the neighbourhood of a wallet", () => {
  const around = (peers: readonly Address[]) =>
    readNeighbourhood(world.client, {
      chainId: CHAIN_ID,
      wallet: AGENT,
      accounts: peers,
      publicFunders: new Set([FAUCET]),
    });

  it("is whom it and its funder made and funded, and whom its peers call most", async () => {
    await know(AGENT, { firstFunder: FUNDER });
    await know(OTHER, { firstFunder: FUNDER });
    await know(account(0xc1), { hasCode: true, creator: AGENT });
    await know(SHOP, {});
    for (const [place, calls] of [5, 1, 9, 3].entries()) await meet(SHOP, account(0x900 + place), { calls });
    const { children, calls, cut } = await around([SHOP]);
    expect(children).toEqual([
      { parent: AGENT, address: account(0xc1), by: "creator" },
      { parent: FUNDER, address: AGENT, by: "first_funder" },
      { parent: FUNDER, address: OTHER, by: "first_funder" },
    ]);
    expect(calls.map(({ counterparty, calls }) => [counterparty, calls])).toEqual([
      [account(0x902), 9],
      [account(0x900), 5],
      [account(0x903), 3],
    ]);
    expect(cut).toBe(false);
  });

  it("is bounded however many a funder funded, always by the same ones, and asks a public funder for none", async () => {
    await know(AGENT, { firstFunder: FUNDER });
    await world.client.query(
      `insert into ahs.account_fact (chain_id, address, has_code, first_funder, source, read_block)
       select 31337, '0x' || lpad(to_hex(n), 40, '0'), false, funder, 'index', 1
       from generate_series(4096, 9096) n cross join (select $1 as funder) f`,
      [FUNDER],
    );
    const { children, cut } = await around([]);
    expect([children.length, cut]).toEqual([40, true]);
    expect((await around([])).children).toEqual(children);
    await world.client.query("update ahs.account_fact set first_funder = $1", [FAUCET]);
    expect(await around([])).toMatchObject({ children: [], cut: false });
  });

  it("looks at a bounded number of what a hub calls", async () => {
    await know(SHOP, {});
    await world.client.query(
      `insert into ahs.sampled_contact select 31337, '0x' || lpad(to_hex(n), 40, '0'), $1, n - 4000, 1, 1, 1, 1
       from generate_series(4096, 5096) n`,
      [SHOP],
    );
    const { calls, cut } = await around([SHOP]);
    expect([calls.map((call) => call.calls), cut]).toEqual([[295, 294, 293], true]);
  });
});

it("links among accounts are the contacts between them alone, most funds first", async () => {
  await meet(AGENT, SHOP, { calls: 2, sent: 5n });
  await meet(SHOP, OTHER, { calls: 9 });
  await meet(SHOP, AGENT, { sent: 70n });
  await meet(AGENT, MIXER, { calls: 1 });
  await meet(SHOP, SHOP, { calls: 1 });
  // Nothing, moved in its name.
  await meet(OTHER, SHOP, {});
  await meet(OTHER_PAYERS, AGENT, { sent: 100n });
  const accounts = [SHOP, OTHER, OTHER_PAYERS];
  const { contacts, cut } = await readAccountLinks(world.client, {
    ...{ chainId: CHAIN_ID, wallet: AGENT, accounts, publicFunders: new Set() },
  });
  expect(contacts.map(({ account, counterparty }) => [account, counterparty])).toEqual([
    [SHOP, AGENT],
    [AGENT, SHOP],
    [SHOP, OTHER],
  ]);
  expect(cut).toBe(false);
});

describe("the description of accounts", () => {
  it("is their code, agents, score and listings, and F for an account that is listed now", async () => {
    await know(SHOP, { hasCode: true });
    await scoreWallet(SHOP, 91);
    await scoreWallet(OTHER, 88);
    await world.client.query(
      `insert into ${SCHEMA}.agent_wallet values ('a', 7, $1, 1, null), ('b', 8, $1, 1, 5), ('c', 9, $1, 1, null)`,
      [SHOP],
    );
    await world.db.insert(agentDocument).values({
      chainId: CHAIN_ID,
      agentId: 7n,
      uri: "x",
      state: "current",
      name: "Shop",
      services: [],
      attempts: 0,
    });
    await world.client.query("insert into ahs.sanctions_entry values ('ofac-sdn', $1, '7', now())", [OTHER]);
    const details = await createAccountReader(world.db, { chainId: CHAIN_ID, registries: [] })([
      SHOP,
      OTHER,
      MIXER,
    ]);
    await world.client.query("truncate ahs.sanctions_entry");
    expect(details.get(SHOP)).toEqual({
      address: SHOP,
      hasCode: true,
      agents: [
        { agentId: 7n, name: "Shop", registry: null },
        { agentId: 9n, name: null, registry: null },
      ],
      score: { ahsScore: 91, grade: "A" },
      sanctions: [],
    });
    expect(details.get(OTHER)).toMatchObject({
      score: { ahsScore: 0, grade: "F" },
      sanctions: [{ source: "ofac-sdn", reference: "7" }],
    });
    expect(details.get(MIXER)).toEqual({
      address: MIXER,
      hasCode: null,
      agents: [],
      score: null,
      sanctions: [],
    });
  });
});

it("the distribution counts every scored wallet of the chain once, and is read again after half a minute", async () => {
  let now = 0;
  const read = createDistributionReader(world.db, { chainId: CHAIN_ID, monotonicMs: () => now });
  for (const [place, points] of [40, 40, 97, null].entries())
    await scoreWallet(account(0x40 + place), points);
  const counted = [
    { score: 40, wallets: 2 },
    { score: 97, wallets: 1 },
  ];
  expect(await read()).toEqual(counted);
  await scoreWallet(account(0x50), 97);
  now = 29_999;
  expect(await read()).toEqual(counted);
  now = 30_000;
  expect(await read()).toEqual([counted[0], { score: 97, wallets: 2 }]);
});

function known(outcome: Awaited<ReturnType<ReturnType<typeof createDealingsReader>["read"]>>) {
  if (outcome.kind !== "read") throw new Error(`expected dealings, got ${outcome.kind}`);
  return outcome;
}

type Receipt = {
  readonly from: Address;
  readonly amount: bigint;
  readonly token?: Address;
  readonly standard?: "native" | "erc20";
  readonly sender?: Address | null;
  readonly hash?: Hex;
};

async function receive(block: number, { hash = "0x01", ...receipt }: Receipt, logIndex = 1): Promise<void> {
  await world.db.insert(enrichTransfer).values({
    ...{ chainId: CHAIN_ID, block, logIndex, item: 0, transactionHash: hash, to: AGENT },
    ...{ timestamp: blockAt(block).timestamp, token: ZERO, standard: "native", sender: null },
    ...receipt,
  });
}

async function know(
  address: Address,
  fact: { hasCode?: boolean; creator?: Address; firstFunder?: Address },
): Promise<void> {
  await world.db
    .insert(accountFact)
    .values({ chainId: CHAIN_ID, address, hasCode: false, source: "index", readBlock: 1, ...fact });
}

/** Calls of a wallet that is followed, or of any other account in sampled blocks, and funds of both. */
async function meet(
  from: Address,
  counterparty: Address,
  { calls = 0, sent = 0n }: { calls?: number; sent?: bigint },
): Promise<void> {
  const times = { firstBlock: 1, firstTime: START, lastBlock: 1, lastTime: START };
  const met = { chainId: CHAIN_ID, counterparty, account: from, ...times };
  const ofFollowed = from === AGENT ? calls : 0;
  if (ofFollowed > 0 || sent > 0n || calls === 0)
    await world.db.insert(contact).values({ ...met, calls: ofFollowed, sentMicroUsd: sent });
  if (calls > ofFollowed) await world.db.insert(sampledContact).values({ ...met, calls });
}

async function scoreWallet(wallet: Address, points: number | null): Promise<void> {
  const grade = points === null ? null : points >= 90 ? ("A" as const) : ("D" as const);
  const common = {
    ...{ chainId: CHAIN_ID, wallet, asOfBlock: 300, asOfTime: new Date(0), ahsScore: points, grade },
    ...{ confidenceMicros: 1, confidenceLevel: "LOW" as const, sanctioned: false },
  };
  const coverage = { fromBlock: 0, fromTimestamp: 0, toBlock: 300, complete: true, sources: ["index"] };
  const [row] = await world.db
    .insert(score)
    .values({
      ...common,
      ...{ asOfHash: "0x", modelVersion: "m", d1Score: points, d2Score: points, inputsHash: wallet },
      ...{ sanctionsFlags: [], patterns: [], features: [], coverage },
    })
    .returning({ id: score.id });
  if (row === undefined) throw new Error("the score was not stored");
  await world.db.insert(currentScore).values({ ...common, scoreId: row.id });
}
