import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PublishReason } from "../db/tables/publish.ts";
import { runOrders, type Settled as SettledOrder } from "../sender/orders/run-orders.ts";
import { type IntentRow, patchIntents, readUnsettledIntents } from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { readOracleStates } from "./publish-records.ts";
import { intentKind, readRefusal } from "./score-fate.ts";

export type Settled =
  | { kind: "published"; reason: PublishReason; wallet: string }
  | { readonly kind: "reorged"; readonly wallet: string }
  | { kind: "failed"; cause: string; wallet: string };

type Change = {
  readonly intent: IntentRow;
  readonly patch: Parameters<typeof patchIntents>[1]["patch"];
  readonly settled: Settled;
};

/**
 * Compares every score that was sent, or confirmed and not yet final, with the oracle's own events, and corrects the outbox
 * to them. A failed intent stays as it is; the review makes a new one from the wallet's newest score.
 */
export async function settleIntents(
  tx: NodePgDatabase,
  { chainId, policy, ...moment }: { chainId: number; indexedBlock: number; now: Date; policy: PublishPolicy },
): Promise<Settled[]> {
  const rows = await readUnsettledIntents(tx, chainId);
  const wallets = [...new Set(rows.map((intent) => intent.score.wallet))];
  const kind = intentKind(policy, await readOracleStates(tx, chainId, wallets));
  const changes = (await runOrders(kind, { rows, ...moment })).map(changeOf);
  for (const alike of Map.groupBy(changes, keyOf).values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const ids = alike.map((change) => change.intent.id);
    await patchIntents(tx, { ids, from: first.intent.state, patch: first.patch });
  }
  return changes.map((change) => change.settled);
}

function changeOf({ row: intent, step }: SettledOrder<IntentRow>): Change {
  const { reason } = intent;
  const { wallet } = intent.score;
  switch (step.kind) {
    case "done":
      return {
        intent,
        patch: { state: "confirmed", error: null },
        settled: { kind: "published", reason, wallet },
      };
    case "reopen":
      return { intent, patch: { state: "sent" }, settled: { kind: "reorged", wallet } };
    case "end":
    case "again": {
      const cause = step.failure === null ? "no_transaction" : readRefusal(step.failure).cause;
      // Without a moment it is never tried again with this score.
      const notBefore = step.kind === "again" ? step.at : null;
      return {
        intent,
        patch: { state: "failed", error: cause, notBefore },
        settled: { kind: "failed", cause, wallet },
      };
    }
  }
}

function keyOf({ intent, patch }: Change): string {
  return JSON.stringify([intent.state, patch.state, patch.error ?? null, patch.notBefore ?? null]);
}
