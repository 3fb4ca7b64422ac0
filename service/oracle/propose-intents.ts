import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Fault, quarantineItems, readQuarantine, releaseItems } from "../db/quarantine.ts";
import { type PlanInput, reasonToPublish } from "./plan.ts";
import {
  type IntentRow,
  insertPending,
  type NewIntent,
  readLastIntents,
  supersedePending,
} from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";
import { type OracleState, readIndexedBlock, readOracleStates } from "./publish-records.ts";
import {
  type BackedScore,
  readCurrentScoreRows,
  readInterest,
  readSafeAmounts,
  type ScoreRow,
  withBacking,
} from "./publish-scores.ts";
import { onChainOf, publishedOf, type SentScore } from "./score-fate.ts";

/** Everything outside a score that its publication depends on. */
export type Facts = {
  readonly indexedBlock: number;
  readonly oracle: ReadonlyMap<string, OracleState>;
  readonly last: ReadonlyMap<string, IntentRow>;
  readonly interest: ReadonlyMap<string, Date>;
  readonly safeAmounts: ReadonlyMap<string, bigint>;
};

type Proposal = {
  readonly chainId: number;
  /** Rows of `ahs.score`; those that are not the current score of their wallet are passed over. */
  readonly scoreIds: readonly number[];
  readonly policy: PublishPolicy;
  readonly now: Date;
};

/** Rows in one insert, under PostgreSQL's limit of 65,535 parameters. */
const CHUNK = 2_000;

/**
 * Writes the publishing intents of scores just made current, in the same database transaction, and supersedes older
 * pending ones. Returns how many it wrote.
 * Without an index it writes none; the publisher's review then finds the same rows.
 */
export async function proposeIntents(tx: NodePgDatabase, proposal: Proposal): Promise<number> {
  let written = 0;
  for (let start = 0; start < proposal.scoreIds.length; start += CHUNK) {
    written += await proposeChunk(tx, {
      ...proposal,
      scoreIds: proposal.scoreIds.slice(start, start + CHUNK),
    });
  }
  return written;
}

async function proposeChunk(tx: NodePgDatabase, proposal: Proposal): Promise<number> {
  const { chainId } = proposal;
  const indexedBlock = await readIndexedBlock(tx, chainId);
  if (indexedBlock === null) return 0;
  const scores = await readCurrentScoreRows(tx, proposal.scoreIds);
  const wallets = scores.map((score) => score.wallet);
  const facts = await readFacts(tx, chainId, { wallets, indexedBlock });
  await supersedePending(tx, chainId, wallets);
  // Always in order of wallet, so that two writers never wait for each other crosswise.
  const intents = await planAll(tx, scores, { facts, proposal });
  await insertPending(tx, chainId, intents);
  return intents.length;
}

/** Plans each score; a wallet whose score cannot be planned is quarantined, so that the others are stored and published. */
async function planAll(
  tx: NodePgDatabase,
  scores: readonly ScoreRow[],
  { facts, proposal }: { readonly facts: Facts; readonly proposal: Proposal },
): Promise<NewIntent[]> {
  const { chainId, now } = proposal;
  const scope = { chainId, kind: "publish" } as const;
  const held = await readQuarantine(tx, scope);
  const intents: NewIntent[] = [];
  const faults: Fault[] = [];
  const sound: string[] = [];
  for (const score of scores) {
    const { wallet } = score;
    const nextTryAt = held.get(wallet);
    if (nextTryAt !== undefined && nextTryAt > now) continue;
    try {
      const intent = intentFor(score, facts, proposal);
      if (intent !== null) intents.push(intent);
      if (nextTryAt !== undefined) sound.push(wallet);
    } catch (error) {
      faults.push({ subject: wallet, error });
    }
  }
  await releaseItems(tx, scope, sound);
  await quarantineItems(tx, scope, { faults, now });
  return intents;
}

/** Reads what the plans of these wallets need. */
export async function readFacts(
  tx: NodePgDatabase,
  chainId: number,
  of: { wallets: readonly string[]; indexedBlock: number },
): Promise<Facts> {
  return {
    indexedBlock: of.indexedBlock,
    oracle: await readOracleStates(tx, chainId, of.wallets),
    last: await readLastIntents(tx, chainId, of.wallets),
    interest: await readInterest(tx, chainId, of.wallets),
    safeAmounts: await readSafeAmounts(tx, chainId, of.wallets),
  };
}

/** A score with the safe amount that is known for its wallet now. */
export function backedScoreOf(score: ScoreRow, facts: Facts): BackedScore {
  return withBacking(score, facts.safeAmounts.get(score.wallet));
}

/** The plan's view of one score among the facts. */
export function planInputOf(score: ScoreRow, facts: Facts, now: Date): PlanInput {
  const snapshot = { oracle: facts.oracle.get(score.wallet), indexedBlock: facts.indexedBlock };
  return {
    score: publishedOf(backedScoreOf(score, facts)),
    onChain: onChainOf(snapshot, sentScoreOf(facts.last.get(score.wallet))),
    interestAt: facts.interest.get(score.wallet) ?? null,
    now,
  };
}

function sentScoreOf(intent: IntentRow | undefined): SentScore | null {
  if (intent === undefined || intent.state === "failed" || intent.transaction === null) return null;
  const { score, safeMicroUsd, transaction } = intent;
  return { score, safeMicroUsd, transaction };
}

function intentFor(score: ScoreRow, facts: Facts, proposal: Proposal): NewIntent | null {
  const decision = reasonToPublish(planInputOf(score, facts, proposal.now), proposal.policy);
  if (decision.kind === "skip") return null;
  const intent = { wallet: score.wallet, scoreId: score.id, reason: decision.reason };
  const last = facts.last.get(score.wallet);
  if (last?.state !== "failed") return { ...intent, attempts: 0, notBefore: null };
  const isHopeless = last.notBefore === null;
  if (isHopeless && last.score.id === score.id) return null;
  return { ...intent, attempts: isHopeless ? 0 : last.attempts + 1, notBefore: last.notBefore };
}
