import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { pauseAfter } from "../db/run-loop.ts";
import type { PublishReason } from "../db/tables/publish.ts";
import { type IntentRow, patchIntents, readUnsettledIntents } from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { readOracleStates } from "./publish-records.ts";
import { fateOf, readRefusal } from "./score-fate.ts";

export type Settled =
  | { kind: "published"; reason: PublishReason; wallet: string }
  | { readonly kind: "reorged"; readonly wallet: string }
  | { kind: "failed"; cause: string; wallet: string };

type Change = {
  readonly intent: IntentRow;
  readonly patch: Parameters<typeof patchIntents>[1]["patch"];
  readonly settled: Settled;
};

type SettleOptions = {
  readonly chainId: number;
  readonly indexedBlock: number;
  readonly now: Date;
  readonly policy: PublishPolicy;
};

/**
 * Compares every score that was sent, or confirmed and not yet final, with the oracle's own events, and corrects the outbox
 * to them. A failed intent stays as it is; the review makes a new one from the wallet's newest score.
 */
export async function settleIntents(tx: NodePgDatabase, options: SettleOptions): Promise<Settled[]> {
  const intents = await readUnsettledIntents(tx, options.chainId);
  const wallets = [...new Set(intents.map((intent) => intent.score.wallet))];
  const oracle = await readOracleStates(tx, options.chainId, wallets);
  const changes = intents
    .map((intent) => {
      // One intent without its transaction must not keep all others from being settled.
      if (intent.transaction === null) return failed(intent, "no_transaction", 0, options.now);
      const snapshot = { oracle: oracle.get(intent.score.wallet), indexedBlock: options.indexedBlock };
      const { score, transaction } = intent;
      return changeOf(intent, fateOf({ score, transaction }, snapshot), options);
    })
    .filter((change) => change !== null);
  for (const alike of Map.groupBy(changes, keyOf).values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const ids = alike.map((change) => change.intent.id);
    await patchIntents(tx, { ids, from: first.intent.state, patch: first.patch });
  }
  return changes.map((change) => change.settled);
}

function changeOf(intent: IntentRow, fate: ReturnType<typeof fateOf>, options: SettleOptions): Change | null {
  const { wallet } = intent.score;
  const { reason } = intent;
  const { policy, now } = options;
  switch (fate) {
    case "landed":
      if (intent.state === "confirmed") return null;
      return {
        intent,
        patch: { state: "confirmed", error: null },
        settled: { kind: "published", reason, wallet },
      };
    case "under_way":
      if (intent.state === "sent") return null;
      return { intent, patch: { state: "sent" }, settled: { kind: "reorged", wallet } };
    case "refused":
      return refused(intent, options);
    case "reverted":
      return failed(intent, "reverted", pauseAfter(intent.attempts, policy.revertedRetryMs), now);
    case "lost":
      return failed(intent, "lost", 0, options.now);
  }
}

function refused(intent: IntentRow, options: SettleOptions): Change {
  const { transaction } = intent;
  const { failure: kind = null, revertData = null } = transaction ?? {};
  const refusal = readRefusal({ kind, revertData });
  if (refusal.malformedWallet === null) {
    const pauseMs = pauseAfter(intent.attempts, options.policy.refusedRetryMs);
    return failed(intent, refusal.cause, pauseMs, options.now);
  }
  // The contract names one bad word of the batch; the others are as good as before.
  const isMalformed = refusal.malformedWallet === intent.score.wallet;
  return failed(intent, refusal.cause, isMalformed ? null : 0, options.now);
}

/** A null pause: never again with this score. */
function failed(intent: IntentRow, cause: string, pauseMs: number | null, now: Date): Change {
  const notBefore = pauseMs === null ? null : new Date(now.getTime() + pauseMs);
  const patch = { state: "failed", error: cause, notBefore } as const;
  return { intent, patch, settled: { kind: "failed", cause, wallet: intent.score.wallet } };
}

function keyOf({ intent, patch }: Change): string {
  return JSON.stringify([intent.state, patch.state, patch.error ?? null, patch.notBefore ?? null]);
}
