import type { Hex } from "viem";
import type { PresentedPayment } from "../../access.ts";
import { untimely } from "../../payments/payment-header.ts";
import { atomicPrice } from "../../payments/payment-terms.ts";
import type { LedgerContext, PaymentFault } from "../scheme.ts";
import { VOUCHER_MOST_UNITS, voucherOf } from "./channel-contract.ts";
import { type Channel, type ChannelStore, coverOf, MOST_CHANNELS } from "./channels.ts";

export type VoucherDeps = Pick<LedgerContext, "chain" | "clock" | "logger"> & {
  readonly channels: ChannelStore;
};

/**
 * Compares a signed voucher with its channel, and a deposit with the payer's money; null if both cover it. A channel that was seen
 * lately is not read from the chain. Throws the node's errors.
 */
export async function checkVoucher(
  deps: VoucherDeps,
  payment: PresentedPayment,
): Promise<PaymentFault | null> {
  const { channelId, amount, deposit } = voucherOf(payment);
  const isBrought = deposit !== null && !(await isDeposited(deps, payment));
  const channel = await readFor(deps, channelId, amount - (isBrought ? deposit.amount : 0n));
  if (channel.charged + payment.amount !== amount) return notNextVoucher(payment, channel);
  const cover = coverOf(channel) + (isBrought ? deposit.amount : 0n);
  if (cover < amount) return refusedAs(shortage(channel, amount, cover));
  if (!channel.isStored && (await deps.channels.isFull(payment.payer))) {
    return refusedAs(`too_many_channels: a payer has at most ${MOST_CHANNELS} here.`);
  }
  return isBrought ? depositFault(deps, payment, deposit.amount) : null;
}

/** Whether a payment's deposit was made or withdrawn, by whichever transaction; false without one. */
export async function isDeposited(
  { chain }: Pick<VoucherDeps, "chain">,
  payment: PresentedPayment,
): Promise<boolean> {
  const { deposit } = voucherOf(payment);
  return deposit !== null && chain.isUsed({ ...payment, nonce: deposit.nonce });
}

/** A deposit pays for calls to come: its gas is compared with the price of the dearest. */
const DEPOSIT_WORTH = atomicPrice(VOUCHER_MOST_UNITS);

/**
 * The amount that the gas of a payment's deposit is compared with; null if none is to be made. A deposit that the channel does not need buys no
 * more than the call.
 */
export async function depositWorth(deps: VoucherDeps, payment: PresentedPayment): Promise<bigint | null> {
  const { channelId, amount, deposit } = voucherOf(payment);
  if (deposit === null || (await isDeposited(deps, payment))) return null;
  const channel = await deps.channels.read(channelId);
  return channel.isStored && coverOf(channel) >= amount ? payment.amount : DEPOSIT_WORTH;
}

/** The channel as it was seen lately, or from the chain where that would not cover the amount. */
async function readFor({ channels }: VoucherDeps, channelId: Hex, amount: bigint): Promise<Channel> {
  const known = await channels.read(channelId);
  return known.isStored && coverOf(known) < amount ? channels.read(channelId, { fresh: true }) : known;
}

async function depositFault(
  { chain, clock }: VoucherDeps,
  payment: PresentedPayment,
  amount: bigint,
): Promise<PaymentFault | null> {
  const late = untimely(payment, clock.now());
  if (late !== null) return refusedAs(late);
  const { balance } = await chain.fundsOf(payment);
  return balance >= amount
    ? null
    : refusedAs(
        `insufficient_funds: the payer has ${balance} of the token's smallest unit, and a deposit of ${amount} is expected.`,
      );
}

function shortage({ balance, withdrawing }: Channel, amount: bigint, cover: bigint): string {
  if (balance === 0n && cover === 0n) {
    return "invalid_batch_settlement_evm_channel_not_found: the channel has no money; deposit some.";
  }
  const left = withdrawing === 0n ? "" : `, without the ${withdrawing} that its payer is withdrawing`;
  return `invalid_batch_settlement_evm_cumulative_exceeds_balance: the voucher is for ${amount}, and the channel has ${cover}${left}. Deposit more.`;
}

function refusedAs(error: string): PaymentFault {
  return { error, extra: null };
}

/** The refusal of a voucher that does not add the price to what was charged. The word is alone, since clients compare the text. */
export function notNextVoucher(payment: PresentedPayment, channel: Channel): PaymentFault {
  const state = { ...channelState(payment, channel), chargedCumulativeAmount: channel.charged.toString() };
  const { signature } = channel;
  return {
    error: "invalid_batch_settlement_evm_cumulative_amount_mismatch",
    extra: {
      channelState: state,
      ...(signature === null
        ? {}
        : { voucherState: { signedMaxClaimable: state.chargedCumulativeAmount, signature } }),
    },
  };
}

function channelState(payment: PresentedPayment, channel: Channel) {
  return {
    channelId: voucherOf(payment).channelId,
    balance: channel.balance.toString(),
    totalClaimed: channel.collected.toString(),
    withdrawRequestedAt: channel.withdrawAskedAt ?? 0,
  };
}

/** Members of the settlement report of a charged voucher; `amount` is what was deposited with it. A channel that cannot be read now is left out. */
export async function voucherReport({ channels, logger }: VoucherDeps, payment: PresentedPayment) {
  const { channelId, amount, deposit } = voucherOf(payment);
  const channel = await channels.read(channelId).catch((error: unknown) => {
    logger.error({ err: error }, "channel of a charged voucher not read");
    return null;
  });
  return {
    amount: deposit?.amount.toString() ?? "",
    extra: {
      chargedAmount: payment.requirements.amount,
      ...(channel === null
        ? {}
        : {
            channelState: {
              ...channelState(payment, channel),
              chargedCumulativeAmount: amount.toString(),
            },
          }),
    },
  };
}
