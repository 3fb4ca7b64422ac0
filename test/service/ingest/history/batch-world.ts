import fc from "fast-check";
import { type Address, encodeAbiParameters, type Hex, numberToHex, pad } from "viem";
import type { FaultOf } from "../../../../devnet/history-servers/http-server.ts";
import { startHyperSyncServer } from "../../../../devnet/history-servers/hypersync-server.ts";
import { startNodeServer } from "../../../../devnet/history-servers/node-server.ts";
import type { ServedBlock, ServedChain } from "../../../../devnet/history-servers/served-chain.ts";
import { startSqdPortal } from "../../../../devnet/history-servers/sqd-portal.ts";
import {
  APPROVAL,
  AUTHORIZATION_USED,
  SAFE_SUCCESS,
  TRANSFER,
  TRANSFER_SINGLE,
  USER_OPERATION,
} from "../../../../service/chain/node/rpc-answers.ts";
import type { AskPolicy } from "../../../../service/ingest/history/ask-source.ts";
import type { L1Fee } from "../../../../service/ingest/history/batch-rows.ts";
import type { BatchAnswers, BatchSource } from "../../../../service/ingest/history/batch-source.ts";
import type { HistoryFailure } from "../../../../service/ingest/history/history.ts";
import { createHyperSyncSource } from "../../../../service/ingest/history/hypersync-source.ts";
import { createRpcSource } from "../../../../service/ingest/history/rpc-source.ts";
import { createSqdSource } from "../../../../service/ingest/history/sqd-source.ts";

const account = (number: number): Address => numberToHex(number, { size: 20 });

export const WALLETS = [account(0xa1), account(0xa2)] as const;
export const STRANGERS = [account(0xb1), account(0xb2)] as const;
export const TOKENS = [account(0xc1)] as const;
export const ENTRY_POINTS = [account(0xd1)] as const;
/** Not believed. */
const FAKE = account(0xee);

export const WANTED = { wallets: WALLETS, tokens: TOKENS, entryPoints: ENTRY_POINTS };

type LogShape = { readonly address: Address; readonly topics: readonly Hex[] };
export type SentShape = {
  readonly from: Address;
  readonly to: Address | null;
  readonly value: bigint;
  readonly ok: boolean;
  readonly type: number;
  readonly logs: readonly LogShape[];
};

/** A transfer of one of a stranger's coins that succeeds. */
export const PLAIN: SentShape = {
  from: STRANGERS[0],
  to: STRANGERS[1],
  value: 1n,
  ok: true,
  type: 2,
  logs: [],
};

const party = fc.constantFrom(...WALLETS, ...STRANGERS);
const emitter = fc.constantFrom(...WALLETS, ...TOKENS, ...ENTRY_POINTS, FAKE);
const log: fc.Arbitrary<LogShape> = fc.record({
  address: emitter,
  topics: fc
    .tuple(
      fc.constantFrom(TRANSFER, APPROVAL, TRANSFER_SINGLE, USER_OPERATION, AUTHORIZATION_USED, SAFE_SUCCESS),
      fc.array(
        party.map((one) => pad(one)),
        { maxLength: 3 },
      ),
    )
    .map(([event, rest]) => [event, ...rest]),
});
const sent: fc.Arbitrary<SentShape> = fc
  .record({
    from: party,
    to: fc.option(fc.oneof(party, emitter), { freq: 5 }),
    value: fc.constantFrom(0n, 7n),
    ok: fc.boolean(),
    type: fc.constantFrom(0, 2, 126),
    logs: fc.array(log, { maxLength: 3 }),
  })
  .map((one) => (one.ok ? one : { ...one, logs: [] }));

/** Blocks 1 to 13 at most. */
export const chains: fc.Arbitrary<readonly (readonly SentShape[])[]> = fc.array(
  fc.array(sent, { maxLength: 3 }),
  {
    minLength: 1,
    maxLength: 13,
  },
);

/** The blocks of a chain from block 1 on, as a node of the OP stack answers them. */
export function blocksOf(shapes: readonly (readonly SentShape[])[]): readonly ServedBlock[] {
  return shapes.map((transactions, place) => blockOf(place + 1, transactions));
}

function blockOf(number: number, shapes: readonly SentShape[]): ServedBlock {
  const at = { blockNumber: numberToHex(number), blockHash: hashOf(0, number) };
  let logs = 0;
  const mined = shapes.map((shape, index) => {
    const hash = hashOf(number, index);
    const [from, to, type] = [shape.from, shape.to, numberToHex(shape.type)];
    const place = { ...at, transactionIndex: numberToHex(index) };
    const data = encodeAbiParameters([{ type: "uint256" }], [BigInt(index)]);
    return {
      transaction: {
        ...{ ...place, hash, from, to, type, value: numberToHex(shape.value), input: "0xa9059cbb" },
        ...{ nonce: numberToHex(number), gas: "0x186a0", gasPrice: "0x5" },
      },
      receipt: {
        ...{ ...place, transactionHash: hash, from, to, type, status: shape.ok ? "0x1" : "0x0" },
        ...{ gasUsed: "0x5208", cumulativeGasUsed: "0x5208", effectiveGasPrice: "0x5" },
        contractAddress: to === null ? account(0xf000 + index) : null,
        ...(shape.type === 126 ? {} : { l1Fee: "0x1f" }),
        logs: shape.logs.map(({ address, topics }) => ({
          ...{ ...place, transactionHash: hash, logIndex: numberToHex(logs++), removed: false },
          ...{ address, topics, data },
        })),
      },
    };
  });
  return {
    block: {
      ...{ number: numberToHex(number), hash: hashOf(0, number), parentHash: hashOf(0, number - 1) },
      ...{ timestamp: numberToHex(1_700_000_000 + 2 * number), baseFeePerGas: "0x4" },
      transactions: mined.map(({ transaction }) => transaction),
    },
    receipts: mined.map(({ receipt }) => receipt),
  };
}

/** Of a transaction in block 1 and up, or with 0 of a block. */
export function hashOf(block: number, index: number): Hex {
  return numberToHex(block * 1_000 + index + 1_000_000, { size: 32 });
}

const TOKEN = "11111111-2222-3333-4444-555555555555";
export const POLICY: AskPolicy = { timeoutMs: 5_000, tries: 3, pauseMs: 1, longestPauseMs: 20 };

type SourceOptions = { readonly l1Fee?: L1Fee; readonly policy?: AskPolicy };

/** Each adapter before a loopback server of its protocol. Answers end after three blocks. */
export async function startBatchWorld(chain: ServedChain, options: { readonly faultOf?: FaultOf } = {}) {
  const served = { chain, blocksPerAnswer: 3, ...options };
  const sqd = await startSqdPortal(served);
  const hypersync = await startHyperSyncServer(served);
  const node = await startNodeServer(served);
  const servers = { sqd, hypersync, rpc: node };
  return {
    servers,
    sources: ({
      l1Fee = "paid",
      policy = POLICY,
    }: SourceOptions = {}): Readonly<Record<keyof typeof servers, BatchSource>> => ({
      sqd: createSqdSource({ url: sqd.url, apiKey: null, l1Fee, policy, pace: async () => undefined }),
      hypersync: createHyperSyncSource({ url: hypersync.url, token: TOKEN, l1Fee, policy }),
      rpc: createRpcSource({ url: node.url, l1Fee, policy }),
    }),
    close: async () => {
      await Promise.all([sqd, hypersync, node].map((server) => server.close()));
    },
  };
}

/** Everything that a source answers, and where it ended. */
export async function gather<Block>(answers: BatchAnswers<Block>) {
  const blocks: Block[] = [];
  let to: number | null = null;
  let failure: HistoryFailure | null = null;
  for await (const answer of answers) {
    if (answer.kind === "failed") {
      failure = answer;
      continue;
    }
    blocks.push(...answer.blocks);
    ({ to } = answer);
  }
  return { blocks, to, failure };
}
