import type { Address } from "viem";
import { readSnapshot } from "../db/index-snapshot.ts";
import { scoreWallet } from "../model/features/score-wallet.ts";
import type { AsOf } from "../model/features/types.ts";
import type { Policy } from "../model/score/policy-shape.ts";
import type { ScoreRecord } from "../model/score/record.ts";
import { createContactCaches } from "./read/contact-graph.ts";
import { readFollowedWallets } from "./run-scoring.ts";
import { type ReadWallets, readWalletsIn, SCORING_BATCH, type ScoringContext } from "./score-wallets.ts";

type Pair = { readonly before: ScoreRecord; readonly after: ScoreRecord };

/**
 * Scores wallets (lower-case; null for every followed one) under the context's policy and under another one, both in one
 * snapshot, and stores nothing. Pairs are by wallet; wallets that nothing is known of are left out. Null while there is no block
 * to score at.
 */
export async function compareOnSnapshot(
  { db, ...context }: ScoringContext,
  { other, wallets }: { readonly other: Policy; readonly wallets: readonly Address[] | null },
): Promise<{ readonly asOf: AsOf; readonly pairs: readonly Pair[] } | null> {
  const all = wallets ?? (await readFollowedWallets(db, context.chainId));
  const distinct = [...new Set(all)].sort();
  return readSnapshot(db, async (client) => {
    const read = (policy: Policy) => {
      const contacts = createContactCaches();
      return (batch: readonly Address[]) =>
        readWalletsIn(client, { ...context, policy }, { wallets: batch, at: "finalized", contacts });
    };
    const [readBefore, readAfter] = [read(context.policy), read(other)];
    const pairs: Pair[] = [];
    let asOf: AsOf | null = null;
    for (let start = 0; start === 0 || start < distinct.length; start += SCORING_BATCH) {
      const batch = distinct.slice(start, start + SCORING_BATCH);
      const before = await readBefore(batch);
      const after = await readAfter(batch);
      if (before === null || after === null) return null;
      asOf = before.point.asOf;
      const records = recordsOf(after, other);
      for (const [wallet, record] of recordsOf(before, context.policy)) {
        const compared = records.get(wallet);
        if (compared !== undefined) pairs.push({ before: record, after: compared });
      }
    }
    return asOf === null ? null : { asOf, pairs };
  });
}

/** By wallet: what a policy reads of a wallet depends on it too, its window for one. */
function recordsOf({ known, point }: ReadWallets, policy: Policy): ReadonlyMap<Address, ScoreRecord> {
  const records = known.map(({ rows }) => scoreWallet({ rows, asOf: point.asOf, policy }));
  return new Map(
    records.map((record) => [record.wallet, record] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
