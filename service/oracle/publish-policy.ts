import type { Backoff } from "../db/run-loop.ts";
import type { PublishReason } from "../db/tables/publish.ts";
import { SECONDS_PER_DAY } from "../model/features/time.ts";

/** Every number that decides what is published, and when. */
export type PublishPolicy = {
  /** A score that moved by this many points is published. */
  readonly movePoints: number;
  /**
   * A safe amount below the published one divided by `fallFactor` is published, and one above it times `riseFactor` from
   * `leastRiseMicroUsd` on.
   */
  readonly safeAmount: {
    readonly fallFactor: bigint;
    readonly riseFactor: bigint;
    readonly leastRiseMicroUsd: bigint;
  };
  /** Age at which the record of a wallet in use is renewed. */
  readonly heartbeatMs: number;
  /** How long reading, paying for or subscribing to a wallet counts as use. */
  readonly interestMs: number;
  /** Gas per UTC day. In gas, not in wei: together with the sender's fee ceiling it bounds the money as well. */
  readonly dailyGas: bigint;
  /** Percent of the day's gas after which a reason waits for the next day. Sanctions flags never wait. */
  readonly budgetPercent: Readonly<Record<Exclude<PublishReason, "flag">, number>>;
  /** Expected gas of one wallet of a batch, to keep within the budget before the gas is known. */
  readonly expectedGas: { readonly first: bigint; readonly update: bigint };
  /** Pause before an intent that the budget holds back is tried again. */
  readonly budgetRetryMs: number;
  readonly batchSize: number;
  /** How long a batch that is not full waits for more, flags excepted. */
  readonly gatherMs: number;
  /** Most publications that wait for a nonce: what is not queued yet can still be overtaken by a newer score. */
  readonly queueLimit: number;
  /** First and longest pause after a publication that cost nothing, and after one that was mined and reverted. */
  readonly refusedRetryMs: Backoff;
  readonly revertedRetryMs: Backoff;
};

/** Pauses after an attempt that came to nothing, by its failure. */
export function pausesAfter(
  { kind }: { readonly kind: string },
  { refusedRetryMs, revertedRetryMs }: Pick<PublishPolicy, "refusedRetryMs" | "revertedRetryMs">,
): Backoff {
  return kind === "reverted" ? revertedRetryMs : refusedRetryMs;
}

const MINUTE = 60_000;
const DAY = 1_000 * SECONDS_PER_DAY;

export const defaultPublishPolicy: PublishPolicy = {
  movePoints: 3,
  // A fall endangers who relies on the record, a rise does not.
  safeAmount: { fallFactor: 2n, riseFactor: 4n, leastRiseMicroUsd: 1_000_000n },
  heartbeatMs: DAY,
  interestMs: 30 * DAY,
  // Four first publications of 10,000 wallets, at 23,900 gas each.
  dailyGas: 1_000_000_000n,
  budgetPercent: { heartbeat: 50, move: 70, first: 85, backing: 90, grade: 100 },
  // Measured by test/contracts/oracle-gas.test.ts.
  expectedGas: { first: 23_900n, update: 6_700n },
  budgetRetryMs: 10 * MINUTE,
  batchSize: 100,
  gatherMs: 2_000,
  queueLimit: 16,
  refusedRetryMs: { first: 5_000, longest: 10 * MINUTE },
  revertedRetryMs: { first: MINUTE, longest: 60 * MINUTE },
};
