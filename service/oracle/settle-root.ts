import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { pauseAfter } from "../sender/send-policy.ts";
import { type EpochRow, patchEpoch, readUnsettledEpochs } from "./epochs.ts";
import type { PublishPolicy } from "./policy.ts";
import { readNewestOracleEpoch, readOracleRoot } from "./publish-records.ts";
import { enqueueRoot, type RootTarget } from "./publish-root.ts";

export type SettleRootOptions = RootTarget & {
  readonly indexedBlock: number;
  readonly now: Date;
  readonly policy: PublishPolicy;
};

/** What became of a root that was sent. */
type RootFate = "landed" | "overtaken" | "under_way" | "failed";

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
    readonly carrier: Pick<EpochRow["carrier"], "state" | "final" | "minedBlock">;
  },
  sight: {
    readonly shown: string | null;
    readonly newestEpoch: number | null;
    readonly indexedBlock: number;
  },
): RootFate {
  if (sight.shown === epoch.root) return "landed";
  if (sight.newestEpoch !== null && sight.newestEpoch >= epoch.epoch) return "overtaken";
  const { state, final, minedBlock } = epoch.carrier;
  if (state === "failed" || state === "reverted") return "failed";
  return state === "mined" && final && minedBlock !== null && sight.indexedBlock >= minedBlock
    ? "failed"
    : "under_way";
}

async function settle(
  tx: NodePgDatabase,
  found: { readonly epoch: EpochRow; readonly fate: RootFate },
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
    const pauses = epoch.carrier.state === "reverted" ? revertedRetryMs : refusedRetryMs;
    const notBefore = new Date(options.now.getTime() + pauseAfter(epoch.attempts - 1, pauses));
    return patchEpoch(tx, key, { state: "sent", notBefore });
  }
  if (epoch.notBefore > options.now) return;
  const attempt = epoch.attempts + 1;
  const root = { epoch: epoch.epoch, root: epoch.root as Hex, uri: epoch.uri, attempt };
  const senderTransactionId = await enqueueRoot(tx, options, root);
  await patchEpoch(tx, key, { state: "sent", attempts: attempt, notBefore: null, senderTransactionId });
}
