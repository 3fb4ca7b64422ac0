import fc from "fast-check";
import { numberToHex, pad } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "../../../../devnet/history-servers/http-server.ts";
import {
  chainOfBlocks,
  chainOfNode,
  type ServedBlock,
  type ServedChain,
} from "../../../../devnet/history-servers/served-chain.ts";
import { TRANSFER } from "../../../../service/chain/node/rpc-answers.ts";
import { startTestChain } from "../../../support/anvil-testkit/chain.ts";
import {
  blocksOf,
  chains,
  gather,
  hashOf,
  PLAIN,
  POLICY,
  STRANGERS,
  startBatchWorld,
  TOKENS,
  WALLETS,
  WANTED,
} from "./batch-world.ts";

const NEVER = new AbortController().signal;
const NAMES = ["sqd", "hypersync", "rpc"] as const;
const TRANSFERS = [1, 2, 3].map(() => ({
  address: TOKENS[0],
  topics: [TRANSFER, pad(WALLETS[0]), pad(STRANGERS[0])],
}));

/** Seven blocks, each with a call of a wallet with three logs, and a stranger's transfer. */
const BLOCKS = blocksOf(
  Array.from({ length: 7 }, () => [{ ...PLAIN, from: WALLETS[0], to: TOKENS[0], logs: TRANSFERS }, PLAIN]),
);
const RANGE = { from: 1, to: BLOCKS.length };
const REQUEST = { ...RANGE, ...WANTED };

let world: Awaited<ReturnType<typeof startBatchWorld>>;
let chain: ServedChain;
let faultOf: (request: number) => Fault | null;
let requests = 0;

beforeAll(async () => {
  const served = {
    finalized: () => chain.finalized(),
    read: (number: number) => chain.read(number),
  };
  world = await startBatchWorld(served, { faultOf: () => faultOf(requests++) });
});
afterAll(() => world.close());

function serve(blocks: readonly ServedBlock[], fault: typeof faultOf = () => null): void {
  chain = chainOfBlocks(blocks);
  faultOf = fault;
  requests = 0;
}

/** The answers of a node without faults. */
async function honest() {
  serve(BLOCKS);
  return gather(world.sources().rpc.readWallets(REQUEST, NEVER));
}

describe("sources of batches", () => {
  test("give the same blocks of any chain", async () => {
    await fc.assert(
      fc.asyncProperty(chains, fc.integer({ min: 1, max: 13 }), async (shapes, start) => {
        serve(blocksOf(shapes));
        const range = { from: Math.min(start, shapes.length), to: shapes.length };
        const [sqd, hypersync, rpc] = await Promise.all(
          Object.values(world.sources()).map(async (source) => ({
            wallets: await gather(source.readWallets({ ...range, ...WANTED }, NEVER)),
            whole: await gather(source.readBlocks(range, NEVER)),
            newest: await source.newestBlock(NEVER),
          })),
        );
        expect(sqd).toEqual(rpc);
        expect(hypersync).toEqual(rpc);
        expect(rpc?.whole).toMatchObject({ to: range.to, failure: null });
        expect(rpc?.whole.blocks).toHaveLength(range.to - range.from + 1);
      }),
      { numRuns: 25 },
    );
  });

  test.each(NAMES)("take as many wallets as they say at once: %s", async (name) => {
    serve(BLOCKS);
    const source = world.sources()[name];
    const others = Array.from({ length: Math.min(source.maxWallets, 10_000) - 1 }, (_, place) =>
      numberToHex(place + 1_000_000, { size: 20 }),
    );
    const tokens = Array.from({ length: 32 }, (_, place) => numberToHex(place + 1, { size: 20 }));
    const request = { ...REQUEST, wallets: [WALLETS[0], ...others], tokens: [...TOKENS, ...tokens] };
    const { blocks, failure } = await gather(source.readWallets(request, NEVER));
    expect([blocks.length, failure]).toEqual([BLOCKS.length, null]);
  });
});

const TOO_MANY = { status: 429, headers: { "retry-after": "3600" } } as const;
const wrong = (name: string) => ({ sqd: name, hypersync: name, rpc: name });

describe.each(NAMES)("faults of a connection: %s", (name) => {
  test.each<[string, Fault, Readonly<Record<(typeof NAMES)[number], string>>]>([
    ["too many requests", { kind: "status", ...TOO_MANY }, wrong("rate_limited")],
    ["overload", { kind: "status", status: 529 }, wrong("unavailable")],
    ["no such key", { kind: "status", status: 401 }, wrong("refused")],
    ["a redirect", { kind: "status", status: 302, headers: { location: "/" } }, wrong("unavailable")],
    ["a broken body", { kind: "cut" }, wrong("unavailable")],
    ["half a body", { kind: "short" }, { ...wrong("malformed"), sqd: "unavailable" }],
    ["an empty body", { kind: "replace", body: "" }, { ...wrong("malformed"), sqd: "unavailable" }],
    ["no JSON", { kind: "replace", body: "<html>\n" }, wrong("malformed")],
    ["other JSON", { kind: "replace", body: "{}\n" }, wrong("malformed")],
    ["silence", { kind: "hang" }, wrong("timeout")],
  ])("%s is a failure", async (_title, fault, reasons) => {
    const policy = fault.kind === "hang" ? { ...POLICY, timeoutMs: 30, tries: 2 } : POLICY;
    serve(BLOCKS, () => fault);
    const { failure } = await gather(world.sources({ policy })[name].readWallets(REQUEST, NEVER));
    expect(failure?.reason).toBe(reasons[name]);
    if (reasons[name] === "rate_limited") expect(failure?.retryAfterSeconds).toBe(3_600);
  });

  test.each<[string, Fault]>([
    ["too many requests", { kind: "status", status: 429, headers: { "retry-after": "0" } }],
    ["overload", { kind: "status", status: 503 }],
    ["a broken body", { kind: "cut" }],
  ])("%s that passes changes nothing", async (_title, fault) => {
    const expected = await honest();
    serve(BLOCKS, (request) => (request % 3 === 0 ? fault : null));
    const source = world.sources({ policy: { ...POLICY, tries: 12 } })[name];
    expect(await gather(source.readWallets(REQUEST, NEVER))).toEqual(expected);
  });

  test("an end of the caller's patience is a failure", async () => {
    serve(BLOCKS);
    const { failure } = await gather(world.sources()[name].readWallets(REQUEST, AbortSignal.abort()));
    expect(failure?.reason).toBe("timeout");
  });

  test("a block beyond the head is not there yet", async () => {
    serve(BLOCKS);
    const { to, failure } = await gather(world.sources()[name].readWallets({ ...REQUEST, to: 9 }, NEVER));
    expect([to, failure?.reason]).toEqual([7, "behind"]);
  });
});

type Edit = (served: ServedBlock) => ServedBlock | null;
const inReceipts =
  (edit: object): Edit =>
  (served) => ({
    ...served,
    receipts: served.receipts.map((receipt) => ({ ...receipt, ...edit })),
  });
const inHeader =
  (edit: object): Edit =>
  ({ block, receipts }) => ({ block: { ...block, ...edit }, receipts });

describe.each(NAMES)("faults of the blocks: %s", (name) => {
  test.each<[string, Edit, string]>([
    ["a parent of another chain", inHeader({ parentHash: hashOf(0, 999) }), "inconsistent"],
    ["another number", inHeader({ number: "0x9" }), "inconsistent"],
    ["an earlier time", inHeader({ timestamp: "0x1" }), "inconsistent"],
    ["no hash", inHeader({ hash: "0x12" }), "malformed"],
    ["a gas that is no number", inReceipts({ gasUsed: "much" }), "malformed"],
    ["no status", inReceipts({ status: null }), "malformed"],
    ["no L1 fee", inReceipts({ l1Fee: null }), "malformed"],
    ["logs of a failed transaction", inReceipts({ status: "0x0" }), "inconsistent"],
    [
      "no first transaction",
      ({ block, receipts }) => ({
        block: { ...block, transactions: block.transactions.slice(1) },
        receipts: receipts.slice(1),
      }),
      "inconsistent",
    ],
    [
      "a gap in the logs",
      ({ block, receipts }) => ({
        block,
        receipts: receipts.map((receipt) => ({
          ...receipt,
          logs: receipt.logs.filter((_, place) => place !== 1),
        })),
      }),
      "inconsistent",
    ],
  ])("%s is a failure", async (_title, edit, reason) => {
    serve(BLOCKS.map((served, place) => (place === 3 ? (edit(served) ?? served) : served)));
    const { to, failure } = await gather(world.sources()[name].readBlocks(RANGE, NEVER));
    expect(failure?.reason).toBe(reason);
    expect(to ?? 0).toBeLessThan(4);
  });

  test("a missing block is a failure", async () => {
    serve(BLOCKS);
    const { read } = chain;
    chain = { ...chain, read: async (number) => (number === 4 ? null : read(number)) };
    const { to, failure } = await gather(world.sources()[name].readBlocks(RANGE, NEVER));
    expect([to, failure?.reason]).toEqual([3, name === "rpc" ? "behind" : "inconsistent"]);
  });

  test("a chain that was reorganised between two answers is a failure, wallets or not", async () => {
    serve(
      BLOCKS.map((served, place) =>
        place === 3 ? (inHeader({ parentHash: hashOf(0, 999) })(served) ?? served) : served,
      ),
    );
    const request = { ...REQUEST, wallets: [numberToHex(77, { size: 20 })] };
    const { failure } = await gather(world.sources()[name].readWallets(request, NEVER));
    expect(failure?.reason).toBe("inconsistent");
  });
});

test("HyperSync is asked for half of what it has no room for", async () => {
  const expected = await honest();
  serve(BLOCKS, (request) => (request < 2 ? { kind: "status", status: 413 } : null));
  expect(await gather(world.sources().hypersync.readWallets(REQUEST, NEVER))).toEqual(expected);
  serve(BLOCKS, () => ({ kind: "status", status: 413 }));
  const { failure } = await gather(world.sources().hypersync.readWallets(REQUEST, NEVER));
  expect(failure).toMatchObject({ reason: "refused", detail: "no answer has room for block 1" });
});

test("A real node and servers of its chain give what its wallet did", async () => {
  const local = await startTestChain();
  const [agent, stranger] = [WALLETS[0], STRANGERS[0]];
  const from = (await local.head()) + 1;
  for (const account of [agent, stranger])
    await local.rpc.request("anvil_setBalance", account, numberToHex(10n ** 18n));
  const own = [await local.succeed(agent), await local.revert(agent)];
  await local.succeed(stranger);
  const paid = await local.send({ from: stranger, to: agent, value: 3n });
  const served = await startBatchWorld(chainOfNode(local.rpc));
  try {
    const request = { ...WANTED, from, to: await local.head() };
    const sources = served.sources({ l1Fee: "none" });
    const [sqd, hypersync, node] = await Promise.all(
      Object.values(sources).map((source) => gather(source.readWallets(request, NEVER))),
    );
    expect(node?.failure).toBeNull();
    const sent = node?.blocks.flatMap((block) => block.transactions) ?? [];
    expect(
      sent.map(({ transaction: { hash, from: sender, nonce }, receipt: { status } }) => ({
        hash,
        sender,
        nonce,
        status,
      })),
    ).toEqual(
      own.map(({ hash, status }, nonce) => ({
        hash,
        sender: agent,
        nonce,
        status: status === "success" ? "0x1" : "0x0",
      })),
    );
    expect(sent[0]?.receipt.logs.length).toBeGreaterThan(0);
    expect(node?.blocks.flatMap((block) => block.payments)).toMatchObject([
      { hash: paid.hash, value: 3n, from: stranger, to: agent },
    ]);
    expect(sqd).toEqual(node);
    expect(hypersync).toEqual(node);
  } finally {
    await served.close();
    await local.stop();
  }
});
