import { type Context, type Event, ponder } from "ponder:registry";
import { oracleRoot, oracleScore, scoreRequest } from "ponder:schema";
import type { Address } from "viem";
import { modelVersionCode, type OracleScore, unpackScore } from "../service/chain/oracle-codec.ts";
import { followWallet } from "./follow-wallet.ts";
import { scoreRequestId } from "./ids.ts";
import { recordOwnCall } from "./record-transaction.ts";

type Written = Event<"Oracle:Published"> | Event<"Oracle:ScoreRelayed">;

ponder.on("Oracle:Published", async ({ event, context }) => {
  for (const word of event.args.packed) await applyScore(event, context, unpackScore(word));
});

ponder.on("Oracle:ScoreRelayed", ({ event, context }) =>
  applyScore(event, context, unpackScore(event.args.packed)),
);

ponder.on("Oracle:Invalidated", async ({ event, context }) => {
  for (const wallet of event.args.wallets) {
    const stored = await context.db.find(oracleScore, { wallet });
    if (stored === null) continue;
    await context.db.update(oracleScore, { wallet }).set({ present: false });
  }
});

ponder.on("Oracle:RootPublished", async ({ event, context }) => {
  const row = {
    root: event.args.root,
    uri: event.args.uri,
    transactionHash: event.transaction.hash,
    block: event.block.number,
    publishedAt: event.block.timestamp,
  };
  await context.db
    .insert(oracleRoot)
    .values({ epoch: event.args.epoch, ...row })
    .onConflictDoUpdate(row);
});

ponder.on("Oracle:ScoreRequested", async ({ event, context }) => {
  const { wallet, requester, fee } = event.args;
  await context.db.insert(scoreRequest).values({
    id: scoreRequestId(event.transaction.hash, event.log.logIndex),
    wallet,
    requester,
    fee,
    block: event.block.number,
    timestamp: event.block.timestamp,
  });
  const isNew = await followWallet(context, {
    address: wallet,
    source: "requested",
    blockNumber: event.block.number,
  });
  // As with a registration: the sender's own event came before it was followed.
  if (isNew && event.transaction.from === wallet) {
    await recordOwnCall({ sent: event, source: "requested" }, context);
  }
});

/** Replays the contract's rule: a record as old as the stored one, or older, was skipped. */
async function applyScore(event: Written, context: Context, score: OracleScore): Promise<void> {
  const wallet = score.wallet.toLowerCase() as Address;
  const stored = await context.db.find(oracleScore, { wallet });
  if (stored !== null && stored.asOf >= event.args.asOf) return;
  const row = {
    present: true,
    ...pointsOf(score),
    confidenceBps: score.confidenceBps,
    sanctioned: score.sanctioned,
    insufficient: score.outcome.kind === "insufficient",
    modelVersion: modelVersionCode(score.modelVersion),
    safeMicroUsd: score.safeMicroUsd,
    asOf: event.args.asOf,
    asOfTime: event.args.asOfTime,
    transactionHash: event.transaction.hash,
    publishedBlock: event.block.number,
    publishedAt: event.block.timestamp,
  };
  await context.db
    .insert(oracleScore)
    .values({ wallet, ...row })
    .onConflictDoUpdate(row);
}

/** An insufficient record holds zero, as in the contract's slot; its flag says that the number has no meaning. */
function pointsOf({ outcome }: OracleScore) {
  if (outcome.kind === "insufficient") return { ahsScore: 0, d1Score: 0, d2Score: 0 };
  return { ahsScore: outcome.ahsScore, d1Score: outcome.d1Score, d2Score: outcome.d2Score };
}
