import type { Address } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { EnrichFailure } from "../../chain/node/failure.ts";
import { countNewest } from "../../model/features/call-bounds.ts";
import { compareCalls, formatCall } from "../../model/features/call-line.ts";
import { scoreWallet } from "../../model/features/score-wallet.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, OwnCall, WalletRows } from "../../model/features/types.ts";
import type { ScoreRecord } from "../../model/score/record.ts";
import { inputsFile, rowsDigest } from "../inputs-hash.ts";
import { compareScores, type Difference, difference } from "./compare-scores.ts";
import type { FindOwnTransactions } from "./find-own-transactions.ts";
import { type ReadFile, type RecordFiles, readFiles } from "./read-files.ts";
import { readOwnCalls } from "./read-own-calls.ts";
import type { RecordedScore } from "./recorded-score.ts";

export type VerifyDeps = {
  /** An archive node. */
  readonly client: ChainReader;
  readonly find: FindOwnTransactions;
  readonly readFile: ReadFile;
  readonly chain: {
    /** Lower-case. */
    readonly entryPoints: ReadonlySet<Address>;
    readonly wrappedNative: Address | null;
  };
};

export type Verification = {
  readonly recomputed: ScoreRecord;
  /** Own calls of the window that the node told. */
  readonly calls: number;
  /** Empty where the record is what follows from chain and files. */
  readonly differences: readonly Difference[];
};

/**
 * Computes a recorded score again from a node and the files that the record names, and compares. Throws where a file or a
 * part of the chain cannot be had, and for a policy of another model than this one.
 */
export async function verifyScore(recorded: RecordedScore, deps: VerifyDeps): Promise<Verification> {
  const files = await readFiles(recorded.inputs_hash, deps.readFile);
  if (files.frozen.wallet !== recorded.address) {
    throw new Error(`the record is of ${recorded.address}, its files of ${files.frozen.wallet}`);
  }
  const asOf = await readBlock(deps.client, recorded.as_of_block);
  const rows = await readRows(recorded, files, { asOf, deps });
  const recomputed = scoreWallet({ rows, asOf, policy: files.policy });
  const digest = rowsDigest(rows);
  const { hashes } = files;
  const inputs = inputsFile({
    policyHash: hashes.policy,
    tokenListHash: hashes.token_list,
    sanctionsHash: hashes.sanctions_list,
    counterpartyHash: hashes.counterparty_file,
    rowsDigest: digest,
    asOf,
  });
  const differences = [
    difference("as-of block", hashes.as_of_block_hash, asOf.blockHash),
    difference("own calls (digest of the rows)", hashes.rows, digest),
    difference("inputs_hash", recorded.inputs_hash, inputs.hash),
  ].filter((found) => found !== null);
  return {
    recomputed,
    calls: rows.calls.length,
    differences: [...differences, ...compareScores(recorded, recomputed)],
  };
}

async function readRows(
  recorded: RecordedScore,
  { policy, tokens, sanctions, frozen }: RecordFiles,
  { asOf, deps }: { readonly asOf: AsOf; readonly deps: VerifyDeps },
): Promise<WalletRows> {
  const { wallet, coverage, receiptsFrom, ...facts } = frozen;
  const through = await readBlock(deps.client, recorded.coverage.to_block);
  const read = await readOwnCalls(deps.client, deps.find, {
    wallet,
    asOf: through.blockNumber > asOf.blockNumber ? asOf : through,
    fromBlock: coverage.fromBlock,
    fromTimestamp: coverage.fromTimestamp,
    ...deps.chain,
  });
  return {
    ...facts,
    wallet,
    chainId: recorded.chain_id,
    calls: inWindow(asTold(read, receiptsFrom), policy.window.days),
    tokens,
    sanctions: sanctions.entries
      .filter(({ address }) => address === wallet)
      .map(({ address: _, ...flag }) => flag),
    coverage: { ...coverage, toBlock: recorded.coverage.to_block },
  };
}

/** Calls before the first that was enriched came from a history source: without receipts, and without executions. */
function asTold(calls: readonly OwnCall[], receiptsFrom: number | null): readonly OwnCall[] {
  return calls.flatMap((call) => {
    if (receiptsFrom !== null && call.blockNumber >= receiptsFrom) return [call];
    return call.position === 0 ? [{ ...call, receipt: null }] : [];
  });
}

/** Calls of the window, the newest of them that a record looks at, sorted. */
function inWindow(calls: readonly OwnCall[], days: number): readonly OwnCall[] {
  const sorted = calls.toSorted(compareCalls);
  const last = sorted.at(-1);
  if (last === undefined) return [];
  const recent = sorted.filter(({ timestamp }) => timestamp >= last.timestamp - days * SECONDS_PER_DAY);
  const lines = recent.map(formatCall);
  return recent.slice(recent.length - countNewest(recent, (place) => lines[place]?.length ?? 0));
}

async function readBlock(client: ChainReader, number: number): Promise<AsOf> {
  const header = await client.header(number);
  if (header === null) throw new EnrichFailure("node_behind", `the node has no block ${number}`);
  return { blockNumber: header.number, blockHash: header.hash, timestamp: header.timestamp };
}
