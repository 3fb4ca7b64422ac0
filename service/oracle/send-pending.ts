import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { enqueueTransaction } from "../sender/sender-transactions.ts";
import { type Batch, byUrgency, toBatches } from "./batch.ts";
import { encodePublish } from "./encode.ts";
import { type Idle, planPublish } from "./plan.ts";
import { backedScoreOf, type Facts, planInputOf, readFacts } from "./propose-intents.ts";
import {
  type IntentRow,
  markSent,
  PUBLISH_PURPOSE,
  patchIntents,
  readGasToday,
  readPendingIntents,
} from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";

type SendOptions = {
  readonly chainId: number;
  readonly oracle: Address;
  /** The publisher's key. */
  readonly sender: Address;
  readonly indexedBlock: number;
  readonly now: Date;
  readonly policy: PublishPolicy;
};

type Sorted = {
  go: IntentRow[];
  held: IntentRow[];
  idle: Map<Idle, IntentRow[]>;
  broken: { intent: IntentRow; error: string }[];
};
/** Plans the due intents anew against what the oracle holds now, and queues batches of those that still are worth it. */
export async function sendPending(tx: NodePgDatabase, options: SendOptions) {
  const { chainId, policy, now } = options;
  const today = await readGasToday(tx, chainId, now);
  const spentGas = today.gas + BigInt(today.queuedScores) * policy.expectedGas.first;
  const limit = 2 * policy.queueLimit * policy.batchSize;
  const intents = await readPendingIntents(tx, chainId, { now, limit });
  const wallets = intents.map((intent) => intent.score.wallet);
  const facts = await readFacts(tx, chainId, { wallets, indexedBlock: options.indexedBlock });
  const sorted = sortByPlan(intents, { facts, spentGas, options });
  await settleUnsent(tx, sorted, options);
  const room = Math.max(policy.queueLimit - today.queued, 0);
  const batches = toBatches(sorted.go, now, policy);
  const urgent = batches.filter((batch) => batch.urgent);
  const others = batches.filter((batch) => !batch.urgent).slice(0, room);
  const sent = [];
  for (const batch of [...urgent, ...others]) sent.push(await queueBatch(tx, batch, options));
  return {
    sent,
    superseded: [...sorted.idle.values()].flat().length,
    heldByBudget: sorted.held.length,
    unencodable: sorted.broken.map(({ intent, error }) => ({ wallet: intent.score.wallet, error })),
    spentGas,
  };
}

/** Spends the budget in order of urgency, counting what each intent will cost before the next is planned. */
function sortByPlan(
  intents: readonly IntentRow[],
  context: { facts: Facts; spentGas: bigint; options: SendOptions },
): Sorted {
  const { policy, now } = context.options;
  const sorted: Sorted = { go: [], held: [], idle: new Map(), broken: [] };
  let { spentGas } = context;
  for (const pending of intents.toSorted(byUrgency)) {
    const intent = { ...pending, ...backedScoreOf(pending.score, context.facts) };
    const input = planInputOf(intent.score, context.facts, now);
    const planned = tryTo(() => planPublish(input, spentGas, policy));
    if ("error" in planned) {
      sorted.broken.push({ intent, error: planned.error });
      continue;
    }
    const decision = planned.value;
    const encoded = tryTo(() => encodePublish([intent]));
    if (decision.kind === "skip")
      sorted.idle.set(decision.because, [...(sorted.idle.get(decision.because) ?? []), intent]);
    else if ("error" in encoded) sorted.broken.push({ intent, error: encoded.error });
    else if (decision.kind === "wait_for_budget") sorted.held.push(intent);
    else {
      sorted.go.push(intent);
      spentGas += input.onChain.kind === "record" ? policy.expectedGas.update : policy.expectedGas.first;
    }
  }
  return sorted;
}

function tryTo<Value>(act: () => Value): { readonly value: Value } | { readonly error: string } {
  try {
    return { value: act() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

async function settleUnsent(tx: NodePgDatabase, sorted: Sorted, options: SendOptions): Promise<void> {
  for (const [because, intents] of sorted.idle) {
    const patch = { state: "superseded", error: because } as const;
    await patchIntents(tx, { ids: idsOf(intents), from: "pending", patch });
  }
  const notBefore = new Date(options.now.getTime() + options.policy.budgetRetryMs);
  const held = { state: "pending", error: "the day's gas budget is spent", notBefore } as const;
  await patchIntents(tx, { ids: idsOf(sorted.held), from: "pending", patch: held });
  for (const { intent, error } of sorted.broken) {
    const patch = { state: "failed", error, notBefore: null } as const;
    await patchIntents(tx, { ids: [intent.id], from: "pending", patch });
  }
}

async function queueBatch(tx: NodePgDatabase, batch: Batch, options: SendOptions) {
  const { chainId, sender, oracle } = options;
  const ids = idsOf(batch.intents).toSorted((a, b) => a - b);
  const transactionId = await enqueueTransaction(tx, {
    chainId,
    sender,
    // An intent is sent once in its life, so that its id names the batch that it leads.
    reference: `${PUBLISH_PURPOSE}:${ids[0]}`,
    purpose: PUBLISH_PURPOSE,
    to: oracle,
    data: encodePublish(batch.intents),
    value: 0n,
  });
  await markSent(tx, batch.intents, transactionId);
  return { transactionId, scores: ids.length };
}

function idsOf(intents: readonly IntentRow[]): number[] {
  return intents.map((intent) => intent.id);
}
