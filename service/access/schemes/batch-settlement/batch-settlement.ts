import { setTimeout as sleep } from "node:timers/promises";
import { BATCH_SETTLEMENT_ADDRESS } from "@x402/evm";
import type { Hex } from "viem";
import type { PresentedPayment } from "../../access.ts";
import type { SettleOutcome } from "../../payments/facilitator.ts";
import { eip3009Transfer } from "../eip3009.ts";
import type { PaymentScheme, SchemeLedger, Taken } from "../scheme.ts";
import {
  channelExtra,
  channelFault,
  depositCall,
  isContractSignature,
  isVoucher,
  readChannel,
  readVoucher,
  VOUCHER_MOST_UNITS,
  voucherDigest,
  voucherOf,
} from "./channel-contract.ts";
import { sweepChannels } from "./channel-sweep.ts";
import { type Channel, coverOf, createChannelStore } from "./channels.ts";
import {
  checkVoucher,
  depositWorth,
  isDeposited,
  notNextVoucher,
  type VoucherDeps,
  voucherReport,
} from "./vouchers.ts";

/** Scheme `batch-settlement` of x402: vouchers over money in a channel, into which a payment may bring a deposit by EIP-3009. */
export const batchSettlement: PaymentScheme = {
  name: "batch-settlement",
  protocol: "batch-settlement",
  way: "batch-settlement by voucher, or with a deposit by EIP-3009,",
  contract: BATCH_SETTLEMENT_ADDRESS,
  offer: ({ domain: { name, version }, settler, units }) =>
    units <= VOUCHER_MOST_UNITS && settler !== null ? { name, version, ...channelExtra(settler) } : null,
  isForm: isVoucher,
  read: readVoucher,
  fault: channelFault,
  digest: voucherDigest,
  isReadable: isContractSignature,
  // Of the deposit.
  transfer: eip3009Transfer,
  settling: {
    order(payment) {
      const voucher = voucherOf(payment);
      const { deposit } = voucher;
      if (deposit === null) throw new Error("a voucher without a deposit moves no money");
      const authorization = { ...payment, nonce: deposit.nonce };
      return { authorization, call: depositCall({ ...voucher, deposit }) };
    },
  },
  ledger({ client, clock, ...context }) {
    const readSeen = (id: Hex) => readChannel(client, id);
    const channels = createChannelStore({ ...context, readSeen, now: clock.now });
    return channelLedger({ ...context, clock, channels });
  },
  sweep: sweepChannels,
};

/** Payments that are charged to channels. */
function channelLedger(deps: VoucherDeps): SchemeLedger {
  return {
    brings: "the deposit",
    check: (payment) => checkVoucher(deps, payment),
    // Clients sign the next voucher by this answer.
    usedFault: async (payment) =>
      notNextVoucher(payment, await deps.channels.read(voucherOf(payment).channelId)),
    worth: (payment) => depositWorth(deps, payment),
    take: (held, settle) => takeVoucher(deps, held, settle),
    report: (payment) => voucherReport(deps, payment),
  };
}

/**
 * Charges a payment by voucher: the deposit, if it brings one, then the channel. Only the second is the charge; a deposit without it
 * stays the payer's money in its channel.
 */
async function takeVoucher(
  deps: VoucherDeps,
  { id, payment }: Parameters<SchemeLedger["take"]>[0],
  settle: () => Promise<SettleOutcome>,
): Promise<Taken> {
  const { channelId, deposit } = voucherOf(payment);
  const brought = deposit === null ? null : await bringDeposit(deps, payment, settle);
  if (brought !== null && "kind" in brought) return brought;
  const transaction = brought?.transaction ?? null;
  const channel = deposit === null ? await deps.channels.read(channelId) : await readDeposited(deps, payment);
  const outcome = await deps.channels.charge(id, payment, { channel, transaction });
  switch (outcome) {
    case "charged":
      return { kind: "charged", transaction };
    case "gone":
      return { kind: "gone" };
    case "mismatch": {
      const fault = notNextVoucher(payment, await deps.channels.read(channelId));
      return { kind: "refused", why: "the channel was charged by another voucher", ...fault };
    }
    case "short":
      return {
        kind: "refused",
        why: "the channel's money does not cover it",
        error:
          "invalid_batch_settlement_evm_cumulative_exceeds_balance: the channel's money does not cover the voucher; nothing was charged.",
        extra: null,
      };
  }
}

const NODE_BEHIND_MS = 3_000;
const POLL_MS = 150;

/** The channel with the deposit; the node may be behind that of the sender. */
async function readDeposited({ channels, clock }: VoucherDeps, payment: PresentedPayment): Promise<Channel> {
  const { channelId, amount } = voucherOf(payment);
  const until = clock.now().getTime() + NODE_BEHIND_MS;
  for (;;) {
    const channel = await channels.read(channelId, { fresh: true });
    if (coverOf(channel) >= amount || clock.now().getTime() >= until) return channel;
    await sleep(POLL_MS);
  }
}

/** Makes the deposit of a payment; the transaction is null if others made it. Returns why the payment is not charged if it is not there. */
async function bringDeposit(
  deps: VoucherDeps,
  payment: PresentedPayment,
  settle: () => Promise<SettleOutcome>,
): Promise<{ readonly transaction: Hex | null } | Taken> {
  const outcome = await settle();
  if (outcome.kind === "settled") return { transaction: outcome.transaction };
  // A third party can carry out a deposit as well.
  if (await isDeposited(deps, payment).catch(() => false)) return { transaction: null };
  const why = "the deposit was not made";
  switch (outcome.kind) {
    case "refused": {
      const error = `${outcome.reason}: the deposit cannot be made; nothing was charged.`;
      return { kind: "refused", why, error, extra: null };
    }
    case "unavailable":
      return { kind: "unavailable", why, cause: outcome.cause };
    case "unknown":
      return { kind: "pending", why, detail: DEPOSIT_PENDING, cause: outcome.cause };
  }
}

const DEPOSIT_PENDING =
  "The deposit is in no block yet, and nothing was charged. Repeat the request with the same payment: the deposit is made once, and stays in the payer's channel.";
