import { expect, test } from "vitest";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import type { RawReceipt } from "../../../../service/chain/node/rpc-answers.ts";
import { cutCoverage, WALLET_BOUNDS } from "../../../../service/model/features/call-line.ts";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { OwnCall, WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 as policy } from "../../../../service/model/score/policy.ts";
import { shownConfidence, shownLines } from "../../../../service/model/score/shown-lines.ts";
import {
  counterpartyFile,
  inputsFile,
  policyFile,
  rowsDigest,
  sanctionsFile,
  tokenListFile,
} from "../../../../service/scores/inputs-hash.ts";
import { scanBlocks } from "../../../../service/scores/verify/read-own-calls.ts";
import { verifyScore } from "../../../../service/scores/verify/verify-score.ts";
import { account, START, TOKENS } from "../../model/features/histories.ts";
import { blockHash } from "../../model/features/index-tables.ts";

const WALLET = account(0xa1);
const CALLED = account(0xc0);
const PER_BLOCK = 300;
const BLOCKS = 70;

test("a wallet of more calls than are scored is verified by the same newest ones, also where the cut is within a block", async () => {
  const blocks = Array.from({ length: BLOCKS }, (_, number) => number);
  const all = blocks.flatMap((number) =>
    Array.from({ length: PER_BLOCK }, (_, index) => callOf(number, index)),
  );
  const calls = all.slice(-WALLET_BOUNDS.calls);
  expect(calls[0]?.transactionIndex).not.toBe(0);
  const coverage = {
    fromBlock: 0,
    fromTimestamp: START,
    toBlock: BLOCKS - 1,
    complete: true,
    sources: ["index"],
  };
  const rows: WalletRows = {
    ...{ chainId: 31_337, wallet: WALLET, calls, counterparties: [], approvals: [], delegation: null },
    ...{ tokens: TOKENS, servicesUpAt: null, sanctions: [], chainStartTimestamp: START },
    coverage: cutCoverage(coverage, calls[0]),
  };
  const asOf = { blockNumber: BLOCKS - 1, blockHash: blockHash(BLOCKS - 1), timestamp: timeOf(BLOCKS - 1) };
  const own = {
    policy: policyFile(policy),
    tokens: tokenListFile(TOKENS),
    sanctions: sanctionsFile([]),
    counterparties: counterpartyFile(rows),
  };
  const inputs = inputsFile({
    policyHash: own.policy.hash,
    tokenListHash: own.tokens.hash,
    sanctionsHash: own.sanctions.hash,
    counterpartyHash: own.counterparties.hash,
    rowsDigest: rowsDigest(rows),
    asOf,
  });
  const files = new Map([...Object.values(own), inputs].map(({ hash, json }) => [hash, json]));
  const record = scoreWallet({ rows, asOf, policy });
  const client = nodeOf(all);
  const verified = await verifyScore(
    {
      ...{ address: WALLET, ahs_score: null, grade: null, d1_score: null, d2_score: null, mode: "2D" },
      ...{
        trust_routing: "escrow",
        confidence: shownConfidence(record.confidenceMicros),
        confidence_level: "INSUFFICIENT",
      },
      ...{
        patterns: [...record.patterns],
        sanctions_flags: [],
        model_version: record.modelVersion,
        chain_id: 31_337,
      },
      as_of_block: asOf.blockNumber,
      as_of_time: new Date(asOf.timestamp * 1000).toISOString(),
      inputs_hash: inputs.hash,
      coverage: { to_block: BLOCKS - 1 },
      ...{ features: [...shownLines(record.features).features], dimensions: [], adjustments: [] },
    },
    {
      client,
      find: scanBlocks(client),
      readFile: async (hash) => JSON.parse(files.get(hash) ?? "null"),
      chain: { entryPoints: new Set(), wrappedNative: null, rule: { everyBlocks: 3, blocks: 2 } },
    },
  );
  expect(verified.calls).toBe(WALLET_BOUNDS.calls);
  expect(verified.differences).toEqual([]);
});

function timeOf(block: number): number {
  return START + block * 3_600;
}

function callOf(blockNumber: number, transactionIndex: number): OwnCall {
  return {
    hash: blockHash(blockNumber * 1_000 + transactionIndex + 1_000_000),
    ...{
      blockNumber,
      transactionIndex,
      position: 0,
      timestamp: timeOf(blockNumber),
      to: CALLED,
      selector: null,
    },
    ...{ value: 0n, ok: true, gasLimit: 21_000n, gasUsed: 21_000n, fee: 21_000n, gasPrice: 1n },
    ...{ recipient: null, amount: null },
    receipt: { marketPrice: 1n, effect: "none", emitters: [], moves: [] },
  };
}

/** A node that holds these calls as transactions of the wallet. */
function nodeOf(calls: readonly OwnCall[]): ChainReader {
  const byBlock = Map.groupBy(calls, ({ blockNumber }) => blockNumber);
  const byHash = new Map(calls.map((call) => [call.hash, call]));
  const place = ({ hash, blockNumber, transactionIndex }: OwnCall) => ({
    ...{
      blockNumber,
      blockHash: blockHash(blockNumber),
      transactionIndex,
      hash,
      transactionHash: hash,
      to: CALLED,
    },
  });
  const receiptOf = (call: OwnCall): RawReceipt => ({
    ...place(call),
    ...{ from: WALLET, status: "0x1", gasUsed: 21_000n, effectiveGasPrice: 1n, logs: [] },
  });
  const unasked = async () => {
    throw new Error("not asked for");
  };
  return {
    header: async (number) => ({
      ...{ number, hash: blockHash(number), timestamp: timeOf(number), baseFeePerGas: 1n },
    }),
    blockReceipts: async (number) => (byBlock.get(number) ?? []).map(receiptOf),
    transaction: async (hash) => {
      const call = byHash.get(hash);
      return call === undefined ? null : { ...place(call), input: "0x", value: 0n, gas: 21_000n };
    },
    code: async () => "0x",
    logs: async () => [],
    ...{
      blockWithTransactions: unasked,
      receipt: unasked,
      call: unasked,
      trace: unasked,
      transactionCount: unasked,
    },
  };
}
