import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { type OracleLeaf, oracleValiditySeconds, packRecord } from "../chain/oracle-codec.ts";
import { merkleTree } from "../chain/oracle-merkle.ts";
import { holdChain } from "../db/chain-fence.ts";
import { type Fault, quarantineItems, readQuarantine, releaseItems } from "../db/quarantine.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";
import type { OrderKind } from "../sender/orders/order-kind.ts";
import { runOrders } from "../sender/orders/run-orders.ts";
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
import { type PublishPolicy, pausesAfter } from "./publish-policy.ts";
import { readIndexedBlock, readNewestOracleEpoch, readOracleRoot } from "./publish-records.ts";
import { type BackedScore, readPopulation } from "./publish-scores.ts";

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
    chainId,
    sender,
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

/** Settles sent roots: queues a failed one again until a newer epoch overtakes it. */
export async function settleRoots(tx: NodePgDatabase, options: SettleRootOptions): Promise<void> {
  const { chainId, policy, now } = options;
  const newestEpoch = await readNewestOracleEpoch(tx, chainId);
  const kind: OrderKind<EpochRow> = {
    done: "indexed event",
    isRepeatable: true,
    retryMs: (failure) => pausesAfter(failure, policy),
    look: async ({ epoch, root, transaction, attempts, state }) => ({
      transaction,
      failures: attempts - 1,
      shown: (await readOracleRoot(tx, chainId, epoch)) === root ? "done" : null,
      ended: newestEpoch !== null && newestEpoch >= epoch ? "a newer epoch overtook it" : null,
      isDone: state === "confirmed",
    }),
  };
  await runOrders(kind, {
    rows: await readUnsettledEpochs(tx, chainId),
    ...options,
    settle: async ({ row: epoch, step }) => {
      const key = { chainId, epoch: epoch.epoch };
      switch (step.kind) {
        case "done":
          return patchEpoch(tx, key, { state: "confirmed" });
        case "end":
          return patchEpoch(tx, key, { state: "superseded" });
        case "reopen":
          return patchEpoch(tx, key, { state: "sent" });
        case "again": {
          // The first round notes when the next attempt is due.
          if (epoch.notBefore === null) return patchEpoch(tx, key, { state: "sent", notBefore: step.at });
          if (epoch.notBefore > now) return false;
          const attempts = epoch.attempts + 1;
          const senderTransactionId = await enqueueRoot(tx, options, { ...epoch, attempt: attempts });
          return patchEpoch(tx, key, { state: "sent", attempts, notBefore: null, senderTransactionId });
        }
      }
    },
  });
}
