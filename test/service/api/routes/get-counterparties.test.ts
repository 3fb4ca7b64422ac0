import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { encodeCursor } from "../../../../service/api/routes/get-counterparties.ts";
import type { CounterpartiesAnswer } from "../../../../service/api/routes/get-counterparties-schema.ts";
import type { AccountDetail } from "../../../../service/reports/labels/chain-labels.ts";
import { chainLabels, knownAccounts } from "../../../../service/reports/labels/chain-labels.ts";
import type { PinnedBlock } from "../../../../service/reports/network/wallet-network-dealings.ts";
import { account } from "../../model/features/histories.ts";
import { bodyOf, fakeApp, LISTING, WALLET, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";
import { foundDealings } from "./map-ports.ts";

const PATH = `/counterparties/${WALLET}`;
const EXCHANGE = account(0xee);
const GIFT = {
  ...{ from: EXCHANGE, token: null, amount: 10n ** 18n, transfers: 99 },
  ...{ firstAt: AS_OF_SECONDS - 100, lastAt: AS_OF_SECONDS - 10 },
};

type Changes = Parameters<typeof fakeApp>[0];

async function ask(path = PATH, changes: Changes = {}) {
  const fake = fakeApp(changes);
  const response = await fake.app.request(path, WITH_KEY);
  return { ...fake, response, body: await bodyOf<CounterpartiesAnswer>(response) };
}

const addressesOf = (body: CounterpartiesAnswer) => body.counterparties.map(({ address }) => address);

describe("GET /counterparties/{address}", () => {
  it("answers whom the wallet called and paid for ten cents, most frequent first", async () => {
    const { response, body, keys, read } = await ask();
    expect(response.status).toBe(200);
    expect(keys.balance()).toBe(4900);
    expect(read).toEqual([WALLET]);
    expect(body).toMatchObject({
      address: WALLET_EIP55,
      chain_id: 31337,
      as_of_block: 970,
      window: { days: 180 },
      totals: { counterparties: 4, out: 4, in: 0, calls: 60, failed_calls: 2, transfers_in: 0 },
      next_cursor: null,
    });
    expect(body.counterparties.map(({ interactions }) => interactions)).toEqual([30, 10, 10, 10]);
    expect(body.counterparties[1]).toMatchObject({
      direction: "out",
      calls: 10,
      volume_usd: 50,
      volume_out: { value_usd: 50, fully_priced: true, tokens: [{ symbol: "USDC", amount: "50000000" }] },
      volume_in: { value_usd: 0 },
      scored: false,
      grade: null,
      owner_link: null,
    });
    expect(body.concentration).toEqual({ hhi_calls: 3333, hhi_volume_out: 3333, hhi_volume_in: null });
  });

  it("pages through the list as of one block, without gap or overlap, whatever happens meanwhile", async () => {
    const pins: (PinnedBlock | null)[] = [];
    const readDealings = async (_wallet: Address, pin: PinnedBlock | null) => {
      pins.push(pin);
      return foundDealings();
    };
    const whole = addressesOf((await ask()).body);
    const first = (await ask(`${PATH}?limit=3`, { readDealings })).body;
    const second = (await ask(`${PATH}?limit=3&cursor=${first.next_cursor}`, { readDealings })).body;
    expect([...addressesOf(first), ...addressesOf(second)]).toEqual(whole);
    expect(second.next_cursor).toBeNull();
    expect(pins).toEqual([null, { blockNumber: 970, blockHash: `0x${"11".repeat(32)}` }]);
  });

  it("says of each account what is known of it now, and of one that only paid how it is linked to the owner", async () => {
    const detail: AccountDetail = {
      address: EXCHANGE,
      agents: [{ agentId: 7n, registry: null, name: "Shop\u202e <b>" }],
      hasCode: false,
      score: { ahsScore: 0, grade: "F" },
      sanctions: [LISTING],
    };
    const { body } = await ask(PATH, {
      knownAccounts: new Map([[EXCHANGE, [{ label: "Mixer", category: "mixer", source: "deployment" }]]]),
      describeAccounts: async () => new Map([[EXCHANGE, detail]]),
      readOwnerLinks: async (_wallet, accounts) =>
        new Map(accounts.map((account) => [account, "first_funder" as const])),
      readDealings: () => foundDealings({ incoming: [GIFT], incomingTruncated: true }),
    });
    expect(body.totals).toMatchObject({
      in: 1,
      transfers_in: 99,
      volume_in_usd: 2000,
      incoming_complete: false,
    });
    expect(body.counterparties.at(-1)).toMatchObject({
      ...{ name: "Mixer", is_contract: false },
      labels: [
        { label: "Mixer", category: "mixer", source: "deployment" },
        { label: "Agent 7: Shop <b>", source: "identity-registry" },
      ],
      direction: "in",
      interactions: 99,
      volume_usd: 2000,
      volume_in: { native_wei: "1000000000000000000" },
      ...{ ahs_score: 0, grade: "F", scored: true, sanctions_flags: [LISTING], mixer: true },
      ...{ owner_link: "first_funder", independence: null },
    });
  });

  it("never reports unpriced volume as zero", async () => {
    const source = reportSource();
    const rows = {
      ...source.rows,
      tokens: { native: { ...source.rows.tokens.native, prices: [] }, tokens: [] },
    };
    const { body } = await ask(PATH, {
      readDealings: () => foundDealings({ rows }),
    });
    expect(body.counterparties[1]).toMatchObject({
      volume_usd: null,
      volume_out: { value_usd: null, fully_priced: false, tokens: [{ symbol: null, value_usd: null }] },
    });
    expect(body.totals).toMatchObject({ volume_out_usd: null, unpriced_counterparties: 3 });
    expect(body.concentration.hhi_volume_out).toBeNull();
  });

  it.each([
    ["limit=0", "greater_than_equal"],
    ["limit=101", "less_than_equal"],
    ["limit=x", "int_parsing"],
    ["cursor=x", "value_error"],
    [`cursor=${Buffer.from("[1]").toString("base64url")}`, "value_error"],
    [`cursor=${"a".repeat(501)}`, "string_too_long"],
  ])("refuses ?%s at no cost", async (query, type) => {
    const { response, body, keys } = await ask(`${PATH}?${query}`);
    expect(response.status).toBe(422);
    expect(body).toMatchObject({ detail: [{ type, loc: ["query", query.split("=")[0]] }] });
    expect(keys.balance()).toBe(5000);
  });

  const CURSOR = {
    wallet: WALLET,
    block: { blockNumber: 5, blockHash: `0x${"22".repeat(32)}` },
    after: { address: account(1), calls: 3, broughtMicroUsd: 0 },
    digest: "0123456789abcdef",
  } as const;

  it("refuses a cursor for another wallet, of a block that is gone, and of a list that is another one now, at no cost", async () => {
    const other = await ask(`${PATH}?cursor=${encodeCursor({ ...CURSOR, wallet: account(9) })}`);
    const gone = await ask(`${PATH}?cursor=${encodeCursor(CURSOR)}`, {
      readDealings: async () => ({ kind: "gone" }),
    });
    const changed = await ask(`${PATH}?cursor=${encodeCursor(CURSOR)}`);
    for (const { response, keys } of [other, gone, changed]) {
      expect(response.status).toBe(422);
      expect(keys.balance()).toBe(5000);
    }
  });

  it("refuses one report too many, at no cost", async () => {
    const { response, keys } = await ask(PATH, { reportTurns: { hasRoom: () => false } });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect([keys.states(), keys.balance()]).toEqual([[], 5000]);
  });
});

describe("chain labels", () => {
  it("name the accounts of the deployment before registered names", () => {
    const known = knownAccounts({
      identityRegistry: { address: account(0x11), startBlock: 0 },
      sanctionsList: { address: account(0x12), startBlock: 0 },
      oracle: { address: account(0x13), startBlock: 0 },
      ...{ verdictEvaluator: null, assuranceAccounts: null, escrows: [], usdc: account(0x15) },
      registries: [{ name: "olas", kind: "erc8004", address: account(0x16), startBlock: 0 }],
      market: {
        native: { symbol: "ETH", decimals: 18, feed: null },
        wrappedNative: account(0x14),
        tokens: [{ address: account(0x14), symbol: "WETH", decimals: 18, feed: null }],
      },
      accounts: { entryPoints: [], publicFunders: [EXCHANGE], mixers: [], venues: [], vettedServices: [] },
    });
    const agents = [{ agentId: 1n, registry: null, name: "Public funder" }];
    expect(chainLabels(EXCHANGE, known, { agents })).toEqual([
      { label: "Public funder", category: "public_funder", source: "deployment" },
      { label: "Agent 1: Public funder", category: "agent", source: "identity-registry" },
    ]);
    const labelsOf = (number: number, symbol: string | null) =>
      chainLabels(account(number), known, { agents: [], symbol }).map(({ label }) => label);
    expect([0x14, 0x15, 0x16, 0x17].map((number) => labelsOf(number, "FAKE"))).toEqual([
      ["WETH", "Wrapped ETH"],
      ["USDC"],
      ["Agent registry olas", "FAKE (unverified token)"],
      ["FAKE (unverified token)"],
    ]);
    expect(labelsOf(0x17, null)).toEqual([]);
  });

  it.each([
    ["  a\n b\u0000c  ", "a bc"],
    ["\u202e\u200b", ""],
    ["x".repeat(1000), `${"x".repeat(63)}…`],
    ["🚀".repeat(100), `${"🚀".repeat(63)}…`],
  ])("show of the name %j what is fit to be shown", (name, shown) => {
    const label = shown === "" ? "Agent 1" : `Agent 1: ${shown}`;
    expect(
      chainLabels(WALLET, new Map(), { agents: [{ agentId: 1n, registry: null, name }] })[0]?.label,
    ).toBe(label);
  });
});
