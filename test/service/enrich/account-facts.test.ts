import { pino } from "pino";
import { Registry } from "prom-client";
import { type Address, encodeFunctionData, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { localTokenAbi } from "../../../service/chain/abi/local-token.ts";
import type { AccountFactSource } from "../../../service/enrich/account-fact-source.ts";
import { type FactsContext, readAccountFacts } from "../../../service/enrich/account-facts.ts";
import { createChainReader } from "../../../service/enrich/chain-reader.ts";
import { createEnrichMetrics } from "../../../service/enrich/metrics.ts";
import { createOtterscanFacts } from "../../../service/enrich/otterscan-facts.ts";
import { createEnrichContext } from "../../../service/enrich/run-enrich.ts";
import { historyFailure } from "../../../service/history/history-source.ts";
import { createEnrichWorld, type EnrichWorld, enrichAll, rowsOf } from "./enrich-world.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const FUNDER: Address = `0x${"f0".repeat(20)}`;
const SILENT: Address = `0x${"51".repeat(20)}`;

let world: EnrichWorld;
let funded: number;
let sent: number;

beforeAll(async () => {
  world = await createEnrichWorld();
  await world.chain.rpc.request("anvil_setBalance", FUNDER, numberToHex(10n ** 20n));
  ({ blockNumber: funded } = await world.chain.send({ from: FUNDER, to: PAYEE, value: 10n ** 18n }));
  ({ blockNumber: sent } = await world.chain.send({ from: PAYEE, to: FUNDER, value: 1n }));
  await world.follow(WALLET);
  await world.mint(world.chain.contracts.usdc, WALLET, 100n);
  await world.chain.succeed(WALLET);
  for (const to of [PAYEE, SILENT]) {
    const data = encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [to, 5n] });
    await world.chain.send({ from: WALLET, to: world.chain.contracts.usdc, data });
  }
  await world.index();
  await enrichAll(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.client.query("truncate ahs.account_fact");
});

function contextWith(source: AccountFactSource | null): FactsContext & { at: { ms: number } } {
  const signal = new AbortController().signal;
  const at = { ms: 0 };
  const client = createChainReader({
    ...{ url: world.chain.rpcUrl, timeoutMs: 10_000, retries: 1, retryMs: 10, signal },
    onRequest: () => undefined,
  });
  const context = createEnrichContext({
    ...{ db: world.db, deployment: world.chain.deployment, client },
    ...{ metrics: createEnrichMetrics(new Registry()), logger: pino({ level: "silent" }) },
  });
  return { ...context, source, at, now: () => at.ms, refused: new Map(), signal };
}

async function readAll(context: FactsContext): Promise<void> {
  while ((await readAccountFacts(context)).more);
}

async function factsOf(address: Address): Promise<Record<string, unknown> | undefined> {
  return (await rowsOf(world, "account_fact")).find((row) => row.address === address.toLowerCase());
}

const otterscan = () => createOtterscanFacts({ url: world.chain.rpcUrl, entryPoints: new Set() });
/** A source that knows nothing and notes whom it was asked for. */
function ignorant(asked: Address[] = []): AccountFactSource {
  return {
    name: "ignorant",
    read: async ({ address }) => {
      asked.push(address);
      return { kind: "facts", creator: null, firstFunder: null, existed: null };
    },
  };
}

describe("with the node's Otterscan methods", () => {
  test("a contract has its creator and its age, an account its first funder and its first own transaction", async () => {
    await readAll(contextWith(otterscan()));
    const [owner] = (await world.chain.rpc.request("eth_accounts")) as [Address];
    expect(await factsOf(world.chain.contracts.keeperTarget1)).toMatchObject({
      has_code: true,
      creator: owner,
      first_funder: null,
      existed_block: expect.stringMatching(/^\d+$/),
      source: "otterscan",
    });
    expect(await factsOf(PAYEE)).toMatchObject({
      has_code: false,
      creator: null,
      first_funder: FUNDER,
      existed_block: String(sent),
    });
    expect(sent).toBeGreaterThan(funded);
    expect(await factsOf(SILENT)).toMatchObject({ has_code: false, first_funder: null, existed_at: null });
  });

  test("creators and first funders are read as well, one step", async () => {
    await readAll(contextWith(otterscan()));
    expect(await factsOf(FUNDER)).toMatchObject({ has_code: false, existed_block: String(funded) });
    const rows = await rowsOf(world, "account_fact");
    const [owner] = (await world.chain.rpc.request("eth_accounts")) as [Address];
    const { keeperTarget1 } = world.chain.contracts;
    expect(new Set(rows.map(({ address }) => address))).toEqual(
      new Set([WALLET, PAYEE, SILENT, FUNDER, owner, keeperTarget1.toLowerCase()]),
    );
  });
});

test("without a source there is the code, and what contacts show", async () => {
  await readAll(contextWith(null));
  const contacts = (await rowsOf(world, "contact")).filter((row) => row.account === WALLET);
  const first = Math.min(...contacts.map((row) => Number(row.first_block)));
  expect(await factsOf(WALLET)).toMatchObject({
    has_code: false,
    creator: null,
    first_funder: null,
    existed_block: String(first),
    source: "index",
  });
  expect(await factsOf(world.chain.contracts.keeperTarget1)).toMatchObject({ has_code: true, creator: null });
});

test("what nobody knows is stored, and not asked for again", async () => {
  const asked: Address[] = [];
  await readAll(contextWith(ignorant(asked)));
  expect(asked).toHaveLength(4);
  await readAll(contextWith(ignorant(asked)));
  expect(asked).toHaveLength(4);
});

describe("a source in trouble", () => {
  test("stores nothing of whom it did not tell, and is asked again", async () => {
    const down: AccountFactSource = {
      name: "down",
      read: async () => historyFailure("unavailable", "as the test wishes"),
    };
    const context = contextWith(down);
    expect(await readAccountFacts(context)).toMatchObject({
      more: false,
      failure: { reason: "unavailable" },
    });
    expect(await rowsOf(world, "account_fact")).toEqual([]);
    await readAll({ ...context, source: ignorant() });
    expect(await rowsOf(world, "account_fact")).toHaveLength(4);
  });

  test("that answers nonsense for one account holds up no other, and is asked for that one again in ten minutes", async () => {
    const asked: Address[] = [];
    const { read } = ignorant(asked);
    const odd: AccountFactSource = {
      name: "odd",
      read: async (account, signal) => {
        const answer = await read(account, signal);
        return account.address === PAYEE ? historyFailure("malformed", "as the test wishes") : answer;
      },
    };
    const context = contextWith(odd);
    await readAll(context);
    expect(await factsOf(PAYEE)).toBeUndefined();
    expect(await rowsOf(world, "account_fact")).toHaveLength(3);
    await readAll(context);
    expect(asked.filter((address) => address === PAYEE)).toHaveLength(1);
    context.at.ms = 600_000;
    await readAll(context);
    expect(asked.filter((address) => address === PAYEE)).toHaveLength(2);
  });
});

test("nothing is stored of a chain that was replaced while it was asked", async () => {
  const source = ignorant();
  const replaced: AccountFactSource = {
    ...source,
    read: async (account, signal) => {
      await world.db.$client.query("update ahs.chain_mark set generation = 'second'");
      return source.read(account, signal);
    },
  };
  await readAccountFacts(contextWith(replaced));
  expect(await rowsOf(world, "account_fact")).toEqual([]);
});
