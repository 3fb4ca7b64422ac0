import { setImmediate } from "node:timers/promises";
import type { ClientBase } from "pg";
import type { Address } from "viem";
import type { ChainFacts } from "../chain/deployments.ts";
import type { Database } from "../db/database.ts";
import { readSnapshot } from "../db/index-snapshot.ts";
import { type ReadPoint, readAsOf, readNewest } from "../ingest/read-as-of.ts";
import { scoreWallet } from "../model/features/score-wallet.ts";
import type { AsOf, WalletRows } from "../model/features/types.ts";
import type { Policy } from "../model/score/policy-shape.ts";
import type { ScoreRecord } from "../model/score/record.ts";
import { readSanctionsEntries } from "../sanctions/sanctions.ts";
import {
  counterpartyFile,
  type InputFile,
  inputsFile,
  policyFile,
  rowsDigest,
  sanctionsFile,
  tokenListFile,
} from "./inputs-hash.ts";
import { type ContactCaches, createContactCaches } from "./read/contact-graph.ts";
import { readCallCounts } from "./read/read-calls.ts";
import {
  flagsByAddress,
  type ReadRows,
  readTokenList,
  readWalletRows,
  type SharedInputs,
} from "./read/read-rows.ts";

export type ScoringContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: Pick<ChainFacts, "market" | "accounts">;
  readonly policy: Policy;
  /** Contacts that scorings on demand share; without them each reads its own. */
  readonly contacts?: ContactCaches;
};

/** A record, the file of all that it follows from, and the one of these files that is its own. */
export type InputRecord = {
  readonly record: ScoreRecord;
  readonly inputs: InputFile;
  readonly counterparties: InputFile;
};

export type ScoredWallets = {
  readonly asOf: AsOf;
  /** Of wallets that are followed, have a history from a source, or are sanctioned. */
  readonly records: readonly InputRecord[];
  /** Of all other wallets: empty records, which replace an earlier score. */
  readonly strangers: readonly InputRecord[];
  /** Policy, token list and sanctions list. */
  readonly files: readonly InputFile[];
};

/** The rows of wallets in one snapshot, and everything else that their records follow from. */
export type ReadWallets = {
  readonly point: ReadPoint;
  readonly shared: SharedInputs;
  readonly known: readonly ReadRows[];
  readonly strangers: readonly ReadRows[];
};

/**
 * finalized: the newest block both final and enriched. newest: the newest indexed one, which a reorg can still take out. Else
 * an older block, with the facts about other accounts that are known now.
 */
export type ScoredBlock = "finalized" | "newest" | AsOf;

type ReadTask = {
  /** Lower-case, each once. */
  readonly wallets: readonly Address[];
  readonly at: ScoredBlock;
  /** Kept from batch to batch of one run. */
  readonly contacts: ContactCaches;
  /** See `RowsRequest`. */
  readonly mostAddresses?: number;
};

/** Scores wallets (lower-case) at the newest finalized and enriched block; null without one. */
export function scoreAtFinalized(
  context: ScoringContext,
  wallets: readonly Address[],
): Promise<ScoredWallets | null> {
  return scoreAt(context, wallets, "finalized");
}

/**
 * Scores wallets (lower-case) at the newest indexed block, by the own calls of the enriched ones; null while none is
 * both finalized and enriched.
 */
export function scoreAtNewest(
  context: ScoringContext,
  wallets: readonly Address[],
): Promise<ScoredWallets | null> {
  return scoreAt(context, wallets, "newest");
}

async function scoreAt(
  context: ScoringContext,
  wallets: readonly Address[],
  at: ScoredBlock,
): Promise<ScoredWallets | null> {
  const read = await readWallets(context, {
    wallets,
    at,
    contacts: context.contacts ?? createContactCaches(),
  });
  return read === null ? null : scoreRead(read, context.policy);
}

/** Reads everything that the records of wallets follow from, in one snapshot; null while there is no block to score at. */
export async function readWallets(
  { db, ...context }: ScoringContext,
  task: ReadTask,
): Promise<ReadWallets | null> {
  return readSnapshot(db, (client) => readWalletsIn(client, context, task));
}

/** The same in a snapshot that the caller holds. */
export async function readWalletsIn(
  client: ClientBase,
  { chainId, chain, policy }: Omit<ScoringContext, "db">,
  { wallets, at, contacts, mostAddresses }: ReadTask,
): Promise<ReadWallets | null> {
  const point = await readPoint(client, chainId, at);
  if (point === null) return null;
  const { asOf, enriched } = point;
  const shared = {
    sanctions: await readSanctionsEntries(client, { chainId, asOfBlock: asOf.blockNumber }),
    tokens: await readTokenList(client, { chainId, market: chain.market, enriched }),
  };
  const known = await readWalletRows(client, {
    chainId,
    chain,
    point,
    wallets,
    policy,
    shared,
    contacts: contacts(enriched.blockHash),
    ...(mostAddresses === undefined ? {} : { mostAddresses }),
  });
  const isKnown = new Set(known.map(({ rows }) => rows.wallet));
  const unknown = wallets.filter((wallet) => !isKnown.has(wallet));
  const others = unknownRows(unknown, { chainId, asOf, shared });
  return {
    point,
    shared,
    known: [...known, ...others.filter(isListed)],
    strangers: others.filter((read) => !isListed(read)),
  };
}

async function readPoint(client: ClientBase, chainId: number, at: ScoredBlock): Promise<ReadPoint | null> {
  if (typeof at === "object") return { asOf: at, enriched: at };
  switch (at) {
    case "newest":
      return readNewest(client, chainId);
    case "finalized": {
      const asOf = await readAsOf(client, chainId);
      return asOf === null ? null : { asOf, enriched: asOf };
    }
  }
}

/** Wallets scored before the database's answers get their turn. */
const PAUSE_AFTER = 20;

/** The records that rows make under a policy; gives way to other work now and then. */
export async function scoreRead(read: ReadWallets, policy: Policy): Promise<ScoredWallets> {
  const { asOf } = read.point;
  const files = {
    policy: policyFile(policy),
    tokens: tokenListFile(read.shared.tokens),
    sanctions: sanctionsFile(read.shared.sanctions),
  };
  const toRecord = ({ rows, digest }: ReadRows): InputRecord => {
    const counterparties = counterpartyFile(rows);
    const inputs = inputsFile({
      policyHash: files.policy.hash,
      tokenListHash: files.tokens.hash,
      sanctionsHash: files.sanctions.hash,
      counterpartyHash: counterparties.hash,
      rowsDigest: digest,
      asOf,
    });
    return { record: scoreWallet({ rows, asOf, policy }), inputs, counterparties };
  };
  const toRecords = async (wallets: readonly ReadRows[]): Promise<InputRecord[]> => {
    const records: InputRecord[] = [];
    for (const wallet of wallets) {
      records.push(toRecord(wallet));
      if (records.length % PAUSE_AFTER === 0) await setImmediate();
    }
    return records;
  };
  return {
    asOf,
    records: await toRecords(read.known),
    strangers: await toRecords(read.strangers),
    files: [files.policy, files.tokens, files.sanctions],
  };
}

function isListed({ rows }: ReadRows): boolean {
  return rows.sanctions.length > 0;
}

/** Rows of wallets that nothing is known of: whether they are listed, and nothing else. */
function unknownRows(
  wallets: readonly Address[],
  { chainId, asOf, shared }: { readonly chainId: number; readonly asOf: AsOf; readonly shared: SharedInputs },
): ReadRows[] {
  const flags = flagsByAddress(shared.sanctions);
  return wallets.map((wallet) => {
    const rows: WalletRows = {
      chainId,
      wallet,
      calls: [],
      counterparties: [],
      approvals: null,
      delegation: null,
      tokens: shared.tokens,
      servicesUpAt: null,
      sanctions: flags.get(wallet) ?? [],
      coverage: {
        fromBlock: asOf.blockNumber,
        fromTimestamp: asOf.timestamp,
        toBlock: asOf.blockNumber,
        complete: false,
        sources: ["index"],
      },
      chainStartTimestamp: null,
    };
    return { rows, digest: rowsDigest(rows) };
  });
}

/** Wallets of one batch: few enough for their calls to be short-lived in memory, and to be one part where each has 100. */
export const SCORING_BATCH = 200;

/** Batches in progress at once: the database reads for one while this process scores the other. */
export const SCORING_LANES = 2;

/**
 * Calls that one part of a batch holds, unless a single wallet has more: 10 MB of text as a rule, and 120 MB where each call is as long
 * as one can be. Parsed calls take about four times as much memory.
 */
const PART_CALLS = 20_000;

/**
 * Reads the wallets of a batch in parts of bounded size, the next one when the caller is done with the last. Ends early where
 * there is no block to score at any more.
 */
export async function* readInParts(
  context: ScoringContext,
  task: ReadTask,
  partCalls = PART_CALLS,
): AsyncGenerator<ReadWallets, void, undefined> {
  const { db, chainId } = context;
  const counts = await readCallCounts(db.$client, { chainId, wallets: task.wallets });
  for (const wallets of divideByCalls(task.wallets, counts, partCalls)) {
    const read = await readWallets(context, { ...task, wallets });
    if (read === null) return;
    yield read;
  }
}

/** Divides wallets, in their order, so that no part but that of a single wallet holds more calls than wanted. */
function divideByCalls(
  wallets: readonly Address[],
  counts: ReadonlyMap<string, number>,
  partCalls: number,
): readonly (readonly Address[])[] {
  const parts: Address[][] = [];
  let calls = 0;
  for (const wallet of wallets) {
    const count = counts.get(wallet) ?? 0;
    const part = parts.at(-1);
    if (part === undefined || calls + count > partCalls) {
      parts.push([wallet]);
      calls = count;
    } else {
      part.push(wallet);
      calls += count;
    }
  }
  return parts;
}
