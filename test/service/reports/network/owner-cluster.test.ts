import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { readSnapshotInTime } from "../../../../service/db/index-snapshot.ts";
import { accountFact, contact } from "../../../../service/db/tables/enrich.ts";
import { readOwnerCluster } from "../../../../service/reports/network/owner-cluster.ts";
import { rowsRead } from "../../../support/rows-read.ts";
import { account, START } from "../../model/features/histories.ts";
import { AGENT, FAUCET, OTHER, SCHEMA, useRowsWorld } from "../../scores/read/rows-world.ts";

const world = useRowsWorld();
const CHAIN_ID = 31_337;
const FUNDER = account(0xf1);
const HUB = account(0xf2);
const SIBLING = account(0xa3);
const COUSIN = account(0xa4);
const PAYEE = account(0xa5);
const STRANGER = account(0xa6);

function read(wallet: Address = AGENT) {
  const network = { chainId: CHAIN_ID, wallet, publicFunders: new Set([FAUCET]) };
  return readSnapshotInTime(world.db, (client) => readOwnerCluster(client, network));
}

async function follow(...wallets: readonly Address[]): Promise<void> {
  for (const wallet of wallets) {
    await world.client.query(
      `insert into ${SCHEMA}.wallet (address, source, followed_block, own_calls, own_failures, touched_block, last_call_at)
       values ($1, 'registered', 1, 0, 0, 1, $2)`,
      [wallet, wallet === AGENT ? START : null],
    );
  }
}

async function know(
  address: Address,
  fact: { readonly hasCode?: boolean; readonly creator?: Address; readonly firstFunder?: Address } = {},
): Promise<void> {
  await world.db
    .insert(accountFact)
    .values({ chainId: CHAIN_ID, address, hasCode: false, source: "index", readBlock: 1, ...fact });
}

async function send(from: Address, to: Address, microUsd: bigint): Promise<void> {
  const times = { firstBlock: 1, firstTime: START, lastBlock: 1, lastTime: START };
  const sent = { account: from, counterparty: to, calls: 0, sentMicroUsd: microUsd };
  await world.db.insert(contact).values({ chainId: CHAIN_ID, ...sent, ...times });
}

const ITSELF = { address: AGENT, lastActiveAt: new Date(START * 1_000), link: "itself", evidence: [] };

/** Of a wallet without an own call. */
function member(
  address: Address,
  link: string,
  ...evidence: readonly (readonly [string, Address, Address])[]
) {
  const steps = evidence.map(([kind, from, to]) => ({ kind, from, to }));
  return { address, lastActiveAt: null, link, evidence: steps };
}

describe("the wallets of an owner", () => {
  it("are the followed ones with a common funder or creator over generations, the nearest first, each with its links", async () => {
    await follow(AGENT, SIBLING, COUSIN, OTHER, STRANGER);
    await know(AGENT, { firstFunder: HUB });
    await know(SIBLING, { firstFunder: HUB });
    await know(HUB, { firstFunder: FUNDER });
    await know(FUNDER, { firstFunder: FAUCET });
    await know(COUSIN, { firstFunder: FUNDER });
    await know(OTHER, { hasCode: true, creator: AGENT, firstFunder: FAUCET });
    await know(STRANGER, { firstFunder: FAUCET });
    const { wallets, ...rest } = await read();
    expect(rest).toEqual({ leftOut: 0, cut: false });
    expect(wallets[0]).toEqual(ITSELF);
    expect(wallets.slice(1).toSorted((one, other) => (one.address < other.address ? -1 : 1))).toEqual([
      member(OTHER, "creator", ["creator", AGENT, OTHER]),
      member(SIBLING, "first_funder", ["first_funder", HUB, SIBLING], ["first_funder", HUB, AGENT]),
      member(
        COUSIN,
        "first_funder",
        ["first_funder", FUNDER, COUSIN],
        ["first_funder", FUNDER, HUB],
        ["first_funder", HUB, AGENT],
      ),
    ]);
  });

  it("were last active by their newest own call of any kind", async () => {
    await follow(AGENT);
    await know(AGENT);
    await world.client.query(
      `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, value, ok,
         gas_limit, gas_used, gas_price_wei, fee_wei)
       values ($1, $2, 7, 0, 1, '0x', 'payment', 'enrich', $3, 0, true, 1, 1, 1, 1)`,
      [CHAIN_ID, AGENT, START + 60],
    );
    expect((await read()).wallets).toEqual([{ ...ITSELF, lastActiveAt: new Date((START + 60) * 1_000) }]);
  });

  it("are the same from each of them, the funder itself included", async () => {
    await follow(AGENT, SIBLING, HUB);
    await know(AGENT, { firstFunder: HUB });
    await know(SIBLING, { firstFunder: HUB });
    await know(HUB);
    const clusterOf = async (wallet: Address) =>
      (await read(wallet)).wallets.map(({ address }) => address).sort();
    expect(await clusterOf(AGENT)).toEqual([AGENT, SIBLING, HUB].sort());
    expect(await clusterOf(SIBLING)).toEqual([AGENT, SIBLING, HUB].sort());
    const { wallets } = await read();
    expect(wallets).toContainEqual(member(HUB, "first_funder", ["first_funder", HUB, AGENT]));
  });

  it("are no new payees of the wallet, unless they gave back half", async () => {
    await follow(AGENT, PAYEE, OTHER);
    await know(AGENT, { firstFunder: FAUCET });
    for (const payee of [PAYEE, OTHER]) {
      await know(payee, { firstFunder: AGENT });
      await send(AGENT, payee, 100n);
    }
    await send(PAYEE, AGENT, 10n);
    await send(OTHER, AGENT, 60n);
    expect((await read()).wallets).toEqual([
      ITSELF,
      member(OTHER, "first_funder", ["first_funder", AGENT, OTHER]),
    ]);
  });

  it("are linked by mutual funding", async () => {
    await follow(AGENT, OTHER);
    await know(AGENT, { firstFunder: FAUCET });
    await know(OTHER, { firstFunder: FAUCET });
    await send(AGENT, OTHER, 5n);
    await send(OTHER, AGENT, 5n);
    expect((await read()).wallets).toMatchObject([
      { address: AGENT },
      { address: OTHER, link: "mutual_funding", evidence: [{ kind: "mutual_funding" }] },
    ]);
  });

  it("are the wallet alone where nothing is known, and where accounts funded one another in a circle", async () => {
    await follow(AGENT);
    expect(await read()).toEqual({ wallets: [ITSELF], leftOut: 0, cut: false });
    await know(AGENT, { firstFunder: HUB });
    await know(HUB, { firstFunder: AGENT });
    expect(await read()).toEqual({ wallets: [ITSELF], leftOut: 0, cut: false });
  });

  it("are bounded, however many accounts a funder has, and what is left out is counted", async () => {
    await follow(AGENT);
    await know(AGENT, { firstFunder: HUB });
    await world.client.query(
      `insert into ahs.account_fact (chain_id, address, has_code, first_funder, source, read_block)
       select 31337, '0x' || lpad(to_hex(n), 40, '0'), false, $1, 'index', 1 from generate_series(100000, 120000) n`,
      [HUB],
    );
    await world.client.query(
      `insert into ${SCHEMA}.wallet (address, source, followed_block, own_calls, own_failures, touched_block)
       select address, 'registered', 1, 0, 0, 1 from ahs.account_fact where first_funder = $1 and address <> $2`,
      [HUB, AGENT],
    );
    await world.client.query(
      `insert into ahs.contact select 31337, $1, '0x' || lpad(to_hex(n), 40, '0'), 0, 1, 1, 1, 1, 1
         from generate_series(200000, 220000) n`,
      [OTHER],
    );
    await world.client.query("analyze ahs.account_fact, ahs.contact");
    const rows = await rowsRead(world.db.$client, ["account_fact", "contact"], async (session) => {
      const network = { chainId: CHAIN_ID, wallet: AGENT, publicFunders: new Set<Address>() };
      const { wallets, leftOut, cut } = await readOwnerCluster(session, network);
      expect([wallets.length, wallets[0], leftOut, cut]).toEqual([100, ITSELF, 401, true]);
    });
    expect(rows).toBeGreaterThan(0);
    expect(rows).toBeLessThan(2_000);
  });
});
