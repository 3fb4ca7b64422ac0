import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Address, type Hex, keccak256 } from "viem";
import { z } from "zod";
import type { SamplingRule } from "../../chain/deployments.ts";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { compareCalls, countNewest, formatCall } from "../../model/features/call-line.ts";
import { scoreWallet } from "../../model/features/score-wallet.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, OwnCall, TokenList, WalletRows } from "../../model/features/types.ts";
import { AHS_2026_2 } from "../../model/score/policy.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { ScoreRecord } from "../../model/score/record.ts";
import type { sanctionsListFile } from "../../sanctions/list-file.ts";
import { inputsFile, isUntraced, readCounterpartyFile, rowsDigest } from "../inputs-hash.ts";
import { compareScores, type Difference, difference, type RecordedScore } from "./compare-scores.ts";
import { type FindOwnTransactions, readOwnCalls } from "./read-own-calls.ts";

export type VerifyDeps = {
  /** An archive node. */
  readonly client: ChainReader;
  readonly find: FindOwnTransactions;
  /** Returns the content of a file by its hash; throws if it is missing. */
  readonly readFile: (hash: Hex) => Promise<unknown>;
  readonly chain: {
    /** Lower-case. */
    readonly entryPoints: ReadonlySet<Address>;
    readonly wrappedNative: Address | null;
    readonly rule: SamplingRule;
  };
};

export type Verification = {
  readonly recomputed: ScoreRecord;
  /** Number of own calls in the window that the node reported. */
  readonly calls: number;
  /** Empty where the record is what follows from chain and files. */
  readonly differences: readonly Difference[];
};

/**
 * Computes a recorded score again from a node and the files that the record names, and compares. Throws where a file or a
 * part of the chain cannot be had, and for a record of another model version than this program computes.
 */
export async function verifyScore(recorded: RecordedScore, deps: VerifyDeps): Promise<Verification> {
  const files = await readFiles(recorded.inputs_hash, deps.readFile);
  if (files.frozen.wallet !== recorded.address) {
    throw new Error(`the record is of ${recorded.address}, its files of ${files.frozen.wallet}`);
  }
  const { version } = files.policy;
  if (version !== AHS_2026_2.version) {
    throw new Error(
      `the record is of another model version: expected ${AHS_2026_2.version}, which this program computes, got ${version}`,
    );
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
  { policy, tokens, sanctions, frozen }: Awaited<ReturnType<typeof readFiles>>,
  { asOf, deps }: { readonly asOf: AsOf; readonly deps: VerifyDeps },
): Promise<WalletRows> {
  const { wallet, coverage, receiptsFrom, untraced, ...facts } = frozen;
  const through = await readBlock(deps.client, recorded.coverage.to_block);
  const read = await readOwnCalls(deps.client, deps.find, {
    wallet,
    asOf: through.blockNumber > asOf.blockNumber ? asOf : through,
    fromBlock: coverage.fromBlock,
    fromTimestamp: coverage.fromTimestamp,
    isUntraced: (place) => isUntraced(untraced, place),
    ...deps.chain,
    tokens: recognisedTokens(tokens, deps.chain.wrappedNative),
  });
  return {
    ...facts,
    wallet,
    chainId: recorded.chain_id,
    calls: inWindow(asReported(read, receiptsFrom), policy.window.days),
    tokens,
    sanctions: sanctions.entries
      .filter(({ address }) => address === wallet)
      .map(({ address: _, ...flag }) => flag),
    coverage: { ...coverage, toBlock: recorded.coverage.to_block },
  };
}

/** The wrapped coin is recognised as well. */
function recognisedTokens({ tokens }: TokenList, wrappedNative: Address | null): ReadonlySet<Address> {
  const listed = tokens.map(({ address }) => address);
  return new Set(wrappedNative === null ? listed : [...listed, wrappedNative]);
}

/** Calls before the first that was enriched came from a history source: without receipts, executions and signed payments. */
function asReported(calls: readonly OwnCall[], receiptsFrom: number | null): readonly OwnCall[] {
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
  if (header === null) throw new NodeFailure("node_behind", `the node has no block ${number}`);
  return { blockNumber: header.number, blockHash: header.hash, timestamp: header.timestamp };
}

const fileHash = z.custom<Hex>((value) => typeof value === "string");
const inputsSchema = z.object({
  as_of_block_hash: z.string(),
  counterparty_file: fileHash,
  policy: fileHash,
  rows: z.string(),
  sanctions_list: fileHash,
  token_list: fileHash,
});

/** Reads the files behind an inputs hash; throws where one is missing or is not what its hash says. */
async function readFiles(inputsHash: Hex, read: VerifyDeps["readFile"]) {
  const hashes = inputsSchema.parse(await readChecked(inputsHash, read));
  const [policy, tokens, sanctions, frozen] = await Promise.all(
    [hashes.policy, hashes.token_list, hashes.sanctions_list, hashes.counterparty_file].map((hash) =>
      readChecked(hash, read),
    ),
  );
  return {
    hashes,
    // Each was written by the service under the hash that was just compared.
    policy: policy as Policy,
    tokens: tokens as TokenList,
    sanctions: sanctions as ReturnType<typeof sanctionsListFile>,
    frozen: readCounterpartyFile(frozen),
  };
}

async function readChecked(hash: Hex, read: VerifyDeps["readFile"]): Promise<unknown> {
  const content = await read(hash);
  const json = canonicalize(content);
  if (json === undefined) throw new Error(`the file ${hash} is no JSON`);
  const bytes = Buffer.from(json, "utf8");
  const known = [keccak256(bytes), `0x${createHash("sha256").update(bytes).digest("hex")}`];
  if (!known.includes(hash)) throw new Error(`the file ${hash} has the hash ${known[0]}`);
  return content;
}
