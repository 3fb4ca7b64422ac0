import type { Address } from "viem";
import { type Database, rowsInTime } from "../../db/database.ts";
import { loadInBatches } from "../../db/load-in-batches.ts";
import type { ScoreRecord } from "../../model/score/record.ts";
import { type RiskRow, walletRisks } from "./risk-facts.sql.ts";

export type ScoreExplanation = Pick<ScoreRecord, "patterns" | "features">;

/**
 * Counterparties since the wallet is followed, up to the newest enriched block. Above the limit, those with the lowest
 * addresses.
 */
export type Exposure = {
  readonly asOfBlock: number;
  /** Unix seconds of the first contact. */
  readonly since: number;
  readonly counterparties: number;
  readonly calls: number;
  readonly sentMicroUsd: number;
  /** Whether there are more than the limit. */
  readonly truncated: boolean;
  /** On a sanctions list at the newest indexed block, or a mixer. */
  readonly listed: readonly Address[];
  /** Not listed, with F as the newest stored grade. */
  readonly failing: {
    readonly counterparties: number;
    readonly sentMicroUsd: number;
    /** Calls to counterparties without priced payments. */
    readonly unpricedCalls: number;
  };
};

export type RiskFacts = {
  /** Null where no score was asked for. */
  readonly explanation: ScoreExplanation | null;
  /** not_followed: the index does not read the wallet's calls. no_contacts: no dealings are known. */
  readonly exposure: Exposure | "not_followed" | "no_contacts";
};

/** A wallet, lower-case, and the id of its score, if any. */
export type RiskKey = { readonly address: Address; readonly scoreId: number | null };

/** Reads the facts of a risk answer besides the current score; concurrent wallets share a statement. */
export function riskFactsLoader(
  db: Database,
  {
    chainId,
    mixers,
    mostContacts = MOST_CONTACTS,
  }: { chainId: number; mixers: readonly Address[]; mostContacts?: number },
): (key: RiskKey) => Promise<RiskFacts> {
  const lowerMixers = mixers.map((mixer) => mixer.toLowerCase());
  return loadInBatches(
    async (keys: readonly RiskKey[]) => {
      const rows = await rowsInTime<RiskRow>(
        db,
        walletRisks(chainId, {
          addresses: keys.map(({ address }) => address),
          scoreIds: keys.map(({ scoreId }) => scoreId),
          places: keys.map((_key, place) => place),
          mixers: lowerMixers,
          limit: mostContacts + 1,
        }),
      );
      const found = new Map(rows.map((row) => [row.place, factsOf(row, mostContacts)]));
      return keys.map(({ address }, place) => {
        const facts = found.get(place);
        if (facts === undefined) throw new Error(`no risk facts read for ${address}`);
        return facts;
      });
    },
    { maxSize: 200, maxRunning: 2 },
  );
}

/** Most contacts per answer, which costs a tenth of a cent: each needs several lookups. */
const MOST_CONTACTS = 10_000;

function factsOf(row: RiskRow, mostContacts: number): RiskFacts {
  return {
    explanation: row.patterns === null ? null : { patterns: row.patterns, features: row.features },
    exposure: exposureOf(row, mostContacts),
  };
}

function exposureOf(row: RiskRow, mostContacts: number): RiskFacts["exposure"] {
  const { followed, asOfBlock, since, counterparties } = row;
  if (!followed || asOfBlock === null) return "not_followed";
  if (since === null) return "no_contacts";
  return {
    asOfBlock,
    since,
    counterparties: Math.min(counterparties, mostContacts),
    calls: row.calls,
    sentMicroUsd: row.sentMicroUsd,
    truncated: counterparties > mostContacts,
    listed: row.listed,
    failing: {
      counterparties: row.failingCounterparties,
      sentMicroUsd: row.failingSent,
      unpricedCalls: row.failingUnpriced,
    },
  };
}
