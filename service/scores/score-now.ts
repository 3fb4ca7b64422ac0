import type { Address } from "viem";
import { readSanctionsFlags } from "../sanctions/sanctions.ts";
import { type ScoredWallets, type ScoringContext, scoreAtFinalized, scoreAtNewest } from "./score-wallets.ts";
import { readCurrentBlock, readScoreFrom } from "./score-writes.ts";
import type { StoredScore } from "./scores.ts";
import { type StoreContext, storeRecords } from "./store-records.ts";

export type ScoreNowOutcome =
  | { readonly kind: "stored"; readonly row: StoredScore }
  | { readonly kind: "not-indexed" }
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterSeconds: number };

const NOT_YET: ScoreNowOutcome = {
  kind: "unavailable",
  detail: "No block is both final and enriched yet.",
  retryAfterSeconds: 10,
};

const GONE: ScoreNowOutcome = {
  kind: "unavailable",
  detail: "The block that the wallet was scored at has just left the index.",
  retryAfterSeconds: 1,
};

/**
 * Scores a wallet (lower-case) at the newest finalized and enriched block, stores the score and answers its row; a wallet
 * listed or delisted since that block, or scored at a later one, is scored at the newest indexed one. Nothing is stored twice.
 */
export async function scoreNow(
  context: ScoringContext & StoreContext,
  address: Address,
): Promise<ScoreNowOutcome> {
  const finalized = await scoreAtFinalized(context, [address]);
  if (finalized === null) return NOT_YET;
  const chain = { schema: `chain_${context.chainId}`, chainId: context.chainId };
  const isListedNow = (await readSanctionsFlags(context.db, chain, [address])).has(address);
  const current = await readCurrentBlock(context.db, { chainId: context.chainId, wallet: address });
  // A listing, or its end, was in a hurry: no later record goes back behind that one.
  const isOvertaken = current !== null && current > finalized.asOf.blockNumber;
  const scored =
    isListed(finalized) === isListedNow && !isOvertaken ? finalized : await scoreAtNewest(context, [address]);
  if (scored === null) return NOT_YET;
  const [only] = scored.records;
  if (only === undefined) return { kind: "not-indexed" };
  if ((await storeRecords(context, scored)) === 0) return GONE;
  const row = await readScoreFrom(context.db, {
    chainId: context.chainId,
    wallet: address,
    inputsHash: only.inputs.hash,
  });
  if (row === undefined)
    throw new Error(`the score of ${address} at block ${scored.asOf.blockNumber} was not stored`);
  return { kind: "stored", row };
}

function isListed({ records }: ScoredWallets): boolean {
  return records.some(({ record }) => record.sanctionsFlags.length > 0);
}
