import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { SETTLE_DEADLINE_MS, type SettleOutcome } from "../../payments/facilitator.ts";
import type { ChargeDeps } from "../../payments/payment-identity.ts";
import {
  askSettlement,
  type HeldPayment,
  leaveToReconciliation,
  paymentsUnavailable,
  release,
  type SettledPayment,
  withDeadline,
} from "../../payments/payment-settlement.ts";
import { Problem } from "../../problems.ts";
import { voucherOf } from "./batch-settlement.ts";
import { type Channel, type ChargeOutcome, coverOf } from "./channels.ts";
import { isDeposited, notNextVoucher } from "./vouchers.ts";

/**
 * Charges a payment by voucher: the deposit, if it brings one, then the channel. Only the second is the charge; a deposit without it
 * stays the payer's money in its channel. Throws a 402 or 503 if the channel was not charged.
 */
export async function settleVoucher(deps: ChargeDeps, held: HeldPayment): Promise<SettledPayment> {
  const { payment } = held;
  if ((await askSettlement(deps, held)) === null) throw await lapsed(deps, held);
  const transaction = await bringDeposit(deps, held);
  const { channel, outcome } = await charge(deps, held, transaction);
  switch (outcome) {
    case "charged":
      deps.metrics.count("settled");
      deps.metrics.countSettlement(payment.scheme);
      return { payment, transaction };
    case "gone":
      throw await lapsed(deps, held);
    case "mismatch": {
      await release(deps, held, "the channel was charged by another voucher");
      deps.metrics.count("refused");
      const { error, channel: state } = notNextVoucher(payment, channel);
      throw await held.refuse(error, { channel: state });
    }
    case "short":
      await release(deps, held, "the channel's money does not cover it");
      deps.metrics.count("refused");
      throw await held.refuse(
        "invalid_batch_settlement_evm_cumulative_exceeds_balance: the channel's money does not cover the voucher; nothing was charged.",
      );
  }
}

async function lapsed(deps: ChargeDeps, { refuse }: HeldPayment): Promise<Error> {
  deps.metrics.count("withheld");
  return refuse("payment_released: the request took too long and has lost its payment.");
}

const NODE_BEHIND_MS = 3_000;
const POLL_MS = 150;

async function charge(
  deps: ChargeDeps,
  held: HeldPayment,
  transaction: Hex | null,
): Promise<{ readonly channel: Channel; readonly outcome: ChargeOutcome }> {
  const { channels } = deps;
  const { channelId, deposit } = voucherOf(held.payment);
  try {
    const read = deposit === null ? await channels.read(channelId) : await readDeposited(deps, held);
    const outcome = await channels.charge(held.id, held.payment, { channel: read, transaction });
    return { channel: outcome === "mismatch" ? await channels.read(channelId) : read, outcome };
  } catch (error) {
    // The transaction of the database may have been committed.
    throw await leaveToReconciliation(deps, held, { cause: error });
  }
}

/** The channel with the deposit; the node may be behind that of the sender. */
async function readDeposited({ channels, clock }: ChargeDeps, { payment }: HeldPayment): Promise<Channel> {
  const { channelId, amount } = voucherOf(payment);
  const until = clock.now().getTime() + NODE_BEHIND_MS;
  for (;;) {
    const channel = await channels.read(channelId, { fresh: true });
    if (coverOf(channel) >= amount || clock.now().getTime() >= until) return channel;
    await sleep(POLL_MS);
  }
}

/** Makes the deposit of a payment; returns its transaction, null without one or if others made it. Throws a 402 or 503 if it is not there. */
async function bringDeposit(deps: ChargeDeps, held: HeldPayment): Promise<Hex | null> {
  const { payment } = held;
  if (voucherOf(payment).deposit === null) return null;
  const late = { kind: "unknown", cause: new Error("no word of the deposit in time") } as const;
  const settling = deps.facilitator.settle(payment);
  const outcome = await withDeadline<SettleOutcome>(
    deps.settleDeadlineMs ?? SETTLE_DEADLINE_MS,
    settling,
    late,
  );
  if (outcome.kind === "settled") return outcome.transaction;
  // A third party can carry out a deposit as well.
  if (await isDeposited(deps, payment).catch(() => false)) return null;
  await release(deps, held, "the deposit was not made");
  switch (outcome.kind) {
    case "refused":
      deps.metrics.count("refused");
      throw await held.refuse(`${outcome.reason}: the deposit cannot be made; nothing was charged.`);
    case "unavailable":
      throw paymentsUnavailable(deps, outcome.cause);
    case "unknown":
      deps.metrics.count("pending");
      throw new Problem("settlement-pending", DEPOSIT_PENDING, {
        headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
        cause: outcome.cause,
      });
  }
}

const RETRY_AFTER_SECONDS = 5;
const DEPOSIT_PENDING =
  "The deposit is in no block yet, and nothing was charged. Repeat the request with the same payment: the deposit is made once, and stays in the payer's channel.";
