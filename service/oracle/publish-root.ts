import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { type OracleLeaf, oracleValiditySeconds, packRecord } from "../chain/oracle-codec.ts";
import { merkleTree } from "../chain/oracle-merkle.ts";
import { holdChain } from "../db/chain-fence.ts";
import { type Fault, quarantineItems, readQuarantine, releaseItems } from "../db/quarantine.ts";
import { pauseAfter } from "../db/run-loop.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import { enqueueTransaction } from "../sender/sender-transactions.ts";
import { oracleScoreOf } from "./encode.ts";
import {
  type EpochRow,
  insertEpoch,
  lockEpochs,
  patchEpoch,
  readEpochSince,
  readUnsettledEpochs,
} from "./epochs.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { readIndexedBlock, readNewestOracleEpoch, readOracleRoot } from "./publish-records.ts";
import { type BackedScore, readPopulation } from "./publish-scores.ts";
import { fateOfTransaction } from "./score-fate.ts";

/** Purpose under which roots are sent: one slot a night, outside the budget of single records. */
export const ROOT_PURPOSE = "publish-root";

const DAY_MS = 1_000 * SECONDS_PER_DAY;

type RootTarget = {
  readonly chainId: number;
  readonly oracle: Address;
  /** The publisher's key. */
  readonly sender: Address;
};

/** Outcome of a night's root. Without an index the oracle's newest epoch is unknown; without scores there is no list. */
type RootOutcome =
  | {
      readonly kind: "queued";
      readonly epoch: number;
      readonly root: Hex;
      readonly leaves: number;
      /** Wallets whose score no leaf can hold; they are quarantined. */
      readonly leftOut: number;
    }
  | { readonly kind: "exists"; readonly epoch: number }
  | { readonly kind: "no_index" }
  | { readonly kind: "no_scores" };

/**
 * Stores the Merkle list of all newest scores and queues its root, both or neither, once a night for any number of
 * calls. A score that no leaf can hold is left out.
 * The epoch is the number of the night's day since 1970-01-01, or one above the oracle's newest epoch if that is not
 * smaller.
 */
export async function publishRoot(
  db: NodePgDatabase,
  options: RootTarget & {
    /** Where the list of an epoch's leaves can be downloaded. */
    uriOf: (epoch: number) => string;
    /** The present night by its UTC day (YYYY-MM-DD), and when it began, which may be hours into that day. */
    night: { day: string; startedAt: Date };
    now: Date;
  },
): Promise<RootOutcome> {
  return db.transaction(async (tx): Promise<RootOutcome> => {
    await holdChain(tx, options.chainId);
    await lockEpochs(tx, options.chainId);
    const day = Math.floor(Date.parse(options.night.day) / DAY_MS);
    const existing = await readEpochSince(tx, options.chainId, options.night.startedAt);
    if (existing !== null) return { kind: "exists", epoch: existing.epoch };
    if ((await readIndexedBlock(tx, options.chainId)) === null) return { kind: "no_index" };
    const { leaves, faults } = leavesOf(await readPopulation(tx, options.chainId));
    if (leaves.length === 0 && faults.length === 0) return { kind: "no_scores" };
    if (leaves.length === 0) throw faults[0]?.error;
    await noteFaults(tx, options, faults);
    const newest = await readNewestOracleEpoch(tx, options.chainId);
    const epoch = newest === null ? day : Math.max(day, newest + 1);
    const { root } = merkleTree(leaves);
    const uri = options.uriOf(epoch);
    const senderTransactionId = await enqueueRoot(tx, options, { epoch, root, uri, attempt: 1 });
    const { chainId, now: createdAt } = options;
    await insertEpoch(tx, { chainId, epoch, root, uri, leaves, senderTransactionId, createdAt });
    return { kind: "queued", epoch, root, leaves: leaves.length, leftOut: faults.length };
  });
}

/** Queues the transaction of a root; the attempt number distinguishes a retry from the failed transaction. */
async function enqueueRoot(
  tx: NodePgDatabase,
  target: RootTarget,
  root: { epoch: number; root: Hex; uri: string; attempt: number },
): Promise<number> {
  const { chainId, sender } = target;
  return enqueueTransaction(tx, {
    ...{ chainId, sender },
    reference: `${ROOT_PURPOSE}:${root.epoch}:${root.attempt}`,
    purpose: ROOT_PURPOSE,
    to: target.oracle,
    data: encodeFunctionData({
      abi: agentHealthOracleAbi,
      functionName: "publishRoot",
      args: [root.root, BigInt(root.epoch), root.uri],
    }),
    value: 0n,
  });
}

function leavesOf(scores: readonly BackedScore[]) {
  const leaves: OracleLeaf[] = [];
  const faults: Fault[] = [];
  for (const backed of scores) {
    try {
      leaves.push(leafOf(backed));
    } catch (error) {
      faults.push({ subject: backed.score.wallet, error });
    }
  }
  return { leaves, faults };
}

/** Quarantines what this root leaves out, and releases what it holds again. */
async function noteFaults(
  tx: NodePgDatabase,
  { chainId, now }: { chainId: number; now: Date },
  faults: readonly Fault[],
): Promise<void> {
  const scope = { chainId, kind: "root" } as const;
  const isLeftOut = new Set(faults.map(({ subject }) => subject));
  const before = await readQuarantine(tx, scope);
  await releaseItems(
    tx,
    scope,
    [...before.keys()].filter((wallet) => !isLeftOut.has(wallet)),
  );
  await quarantineItems(tx, scope, { faults, now });
}

/** The leaf as the contract verifies it: the record that publishing this score would store. */
function leafOf(backed: BackedScore): OracleLeaf {
  const { score } = backed;
  const { wallet, ...fields } = oracleScoreOf(backed);
  const asOfTime = BigInt(Math.floor(score.asOfTime.getTime() / 1000));
  const times = { asOf: BigInt(score.asOfBlock), asOfTime, validUntil: asOfTime + oracleValiditySeconds };
  return { wallet, record: packRecord({ ...fields, ...times }) };
}

type SettleRootOptions = RootTarget & { indexedBlock: number; now: Date; policy: PublishPolicy };

/** Compares sent roots with the oracle's own events; one that failed is queued again while no newer epoch overtook it. */
export async function settleRoots(tx: NodePgDatabase, options: SettleRootOptions): Promise<void> {
  for (const epoch of await readUnsettledEpochs(tx, options.chainId)) {
    const shown = await readOracleRoot(tx, options.chainId, epoch.epoch);
    const newestEpoch = await readNewestOracleEpoch(tx, options.chainId);
    const fate = rootFateOf(epoch, { shown, newestEpoch, indexedBlock: options.indexedBlock });
    await settle(tx, { epoch, fate }, options);
  }
}

/** Judges a root by the oracle's events first, and by its transaction only where they are silent. */
function rootFateOf(
  epoch: Pick<EpochRow, "epoch" | "root"> & {
    transaction: Pick<EpochRow["transaction"], "state" | "final" | "minedBlock">;
  },
  snapshot: { shown: string | null; newestEpoch: number | null; indexedBlock: number },
): "landed" | "overtaken" | "under_way" | "failed" {
  if (snapshot.shown === epoch.root) return "landed";
  if (snapshot.newestEpoch !== null && snapshot.newestEpoch >= epoch.epoch) return "overtaken";
  const fate = fateOfTransaction(epoch.transaction, snapshot.indexedBlock);
  return fate === "under_way" ? fate : "failed";
}

async function settle(
  tx: NodePgDatabase,
  found: { epoch: EpochRow; fate: ReturnType<typeof rootFateOf> },
  options: SettleRootOptions,
): Promise<void> {
  const { epoch } = found;
  const key = { chainId: options.chainId, epoch: epoch.epoch };
  switch (found.fate) {
    case "landed":
      if (epoch.state !== "confirmed") await patchEpoch(tx, key, { state: "confirmed" });
      return;
    case "overtaken":
      return patchEpoch(tx, key, { state: "superseded" });
    case "under_way":
      if (epoch.state !== "sent") await patchEpoch(tx, key, { state: "sent" });
      return;
    case "failed":
      return retry(tx, epoch, options);
  }
}

/** First notes when to try again, then, once that moment has come, queues the next attempt. */
async function retry(tx: NodePgDatabase, epoch: EpochRow, options: SettleRootOptions): Promise<void> {
  const key = { chainId: options.chainId, epoch: epoch.epoch };
  const { refusedRetryMs, revertedRetryMs } = options.policy;
  if (epoch.notBefore === null) {
    const pauses = epoch.transaction.state === "reverted" ? revertedRetryMs : refusedRetryMs;
    const notBefore = new Date(options.now.getTime() + pauseAfter(epoch.attempts - 1, pauses));
    return patchEpoch(tx, key, { state: "sent", notBefore });
  }
  if (epoch.notBefore > options.now) return;
  const attempt = epoch.attempts + 1;
  const root = { epoch: epoch.epoch, root: epoch.root, uri: epoch.uri, attempt };
  const senderTransactionId = await enqueueRoot(tx, options, root);
  await patchEpoch(tx, key, { state: "sent", attempts: attempt, notBefore: null, senderTransactionId });
}
