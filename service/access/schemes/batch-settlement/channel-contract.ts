import {
  BATCH_SETTLEMENT_ADDRESS,
  BATCH_SETTLEMENT_DOMAIN,
  ERC3009_DEPOSIT_COLLECTOR_ADDRESS,
  voucherTypes,
} from "@x402/evm";
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  hashTypedData,
  hexToBigInt,
  keccak256,
  maxUint256,
  numberToHex,
  type PublicClient,
  size,
  slice,
} from "viem";
import { z } from "zod";
import { batchSettlementAbi } from "../../../chain/abi/batch-settlement.ts";
import { lowerCase } from "../../../db/columns.ts";
import type { PresentedPayment } from "../../access.ts";
import { addressText, signatureText, uint256Text } from "../header-values.ts";
import type { Call, Offered, PaymentScheme, Signed } from "../scheme.ts";

/** Highest price, in thousandths of a US dollar, that is paid by vouchers. */
export const VOUCHER_MOST_UNITS = 10;
/** Smallest deposit: ten calls of a cent, worth many times its gas. */
const MIN_DEPOSIT = 100_000n;
/** Time to claim what is charged after a payer announced to withdraw: servers and workers may be down for hours of it. */
const WITHDRAW_DELAY_SECONDS = 86_400;

/** Members of `extra` by which the client makes its channel; `minDeposit` is what it deposits. */
export function channelExtra(receiverAuthorizer: Address) {
  return {
    receiverAuthorizer: getAddress(receiverAuthorizer),
    withdrawDelay: WITHDRAW_DELAY_SECONDS,
    minDeposit: MIN_DEPOSIT.toString(),
  };
}

const wordText = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => lowerCase(text as Hex));
const MAX_UINT128 = (1n << 128n) - 1n;
const uint128Text = uint256Text.refine((value) => value <= MAX_UINT128, "a uint128 is expected");
/** A deposit that was made before is not compared with the time, and its times are stored. */
const secondsText = uint256Text.refine(
  (value) => value <= Number.MAX_SAFE_INTEGER,
  "unix seconds are expected",
);
/** Clients write it in hexadecimal. */
const saltText = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{1,64}|\d{1,78})$/)
  .transform(BigInt)
  .refine((value) => value <= maxUint256, "a uint256 is expected");

const signed = {
  channelConfig: z.looseObject({
    payer: addressText,
    payerAuthorizer: addressText,
    receiver: addressText,
    receiverAuthorizer: addressText,
    token: addressText,
    withdrawDelay: z
      .int()
      .min(0)
      .max(2 ** 40 - 1),
    salt: wordText,
  }),
  voucher: z.looseObject({
    channelId: wordText,
    maxClaimableAmount: uint128Text,
    signature: signatureText,
  }),
};
const payloadSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("voucher"), ...signed }),
  z.looseObject({
    type: z.literal("deposit"),
    ...signed,
    deposit: z.looseObject({
      amount: uint128Text,
      authorization: z.looseObject({
        erc3009Authorization: z.looseObject({
          validAfter: secondsText,
          validBefore: secondsText,
          salt: saltText,
          signature: signatureText,
        }),
      }),
    }),
  }),
]);

type ChannelConfig = z.output<(typeof signed)["channelConfig"]>;

/** The voucher of a payment, and the deposit that comes with it. */
export type VoucherPayment = ReturnType<typeof voucherOf>;

/** Whether a payload is a voucher, with or without a deposit. */
export const isVoucher: PaymentScheme["isForm"] = ({ type }) => type === "voucher" || type === "deposit";

/** Reads a payment by voucher. The nonce names channel and cumulative amount: a channel is charged once up to each. */
export function readVoucher({
  payload,
  accepted,
}: Pick<PresentedPayment["payload"], "payload" | "accepted">): Signed | z.ZodError {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success) return parsed.error;
  const { channelConfig: config, voucher } = parsed.data;
  const times = { validAfter: 0n, validBefore: 0n };
  const { validAfter, validBefore } =
    parsed.data.type === "deposit" ? parsed.data.deposit.authorization.erc3009Authorization : times;
  const price = uint256Text.safeParse(accepted.amount);
  return {
    signature: voucher.signature,
    from: config.payer,
    to: config.receiver,
    token: config.token,
    spender: null,
    // The voucher is cumulative, so that the channel decides whether it covers the price.
    value: price.data ?? 0n,
    validAfter,
    validBefore,
    nonce: voucherNonce(voucher.channelId, voucher.maxClaimableAmount),
    normalised: normalisedOf(parsed.data),
  };
}

function voucherNonce(channelId: Hex, amount: bigint): Hex {
  return keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "uint128" }], [channelId, amount]));
}

/** Only what is read of it, as it is stored. */
function normalisedOf(payload: z.output<typeof payloadSchema>): Record<string, unknown> {
  const { type, channelConfig, voucher } = payload;
  const common = {
    type,
    channelConfig: contractConfig(channelConfig),
    voucher: { ...voucher, maxClaimableAmount: voucher.maxClaimableAmount.toString() },
  };
  if (type === "voucher") return common;
  const { amount, authorization } = payload.deposit;
  const { validAfter, validBefore, salt, signature } = authorization.erc3009Authorization;
  const erc3009Authorization = {
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    salt: numberToHex(salt, { size: 32 }),
    signature,
  };
  return { ...common, deposit: { amount: amount.toString(), authorization: { erc3009Authorization } } };
}

/** The voucher of a payment that was read before. */
export function voucherOf({ payload }: Pick<PresentedPayment, "payload">) {
  const read = payloadSchema.parse(payload.payload);
  const { channelId, maxClaimableAmount: amount, signature } = read.voucher;
  const voucher = { config: read.channelConfig, channelId, amount, signature };
  if (read.type === "voucher") return { ...voucher, deposit: null };
  const { erc3009Authorization: authorization } = read.deposit.authorization;
  return {
    ...voucher,
    deposit: {
      ...authorization,
      amount: read.deposit.amount,
      /** Of the token: the collector derives it from channel and salt. */
      nonce: keccak256(
        encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }], [channelId, authorization.salt]),
      ),
    },
  };
}

/** Returns why a payment's channel or deposit is not one of the offered terms; null if it is. */
export function channelFault(payment: Pick<PresentedPayment, "payload">, offered: Offered): string | null {
  const { config, channelId, deposit } = voucherOf(payment);
  const wanted = termsSchema.parse(offered.extra);
  if (config.receiverAuthorizer !== wanted.receiverAuthorizer) {
    return `invalid_receiver_authorizer: ${getAddress(wanted.receiverAuthorizer)} is expected.`;
  }
  if (config.withdrawDelay !== wanted.withdrawDelay) {
    return `invalid_withdraw_delay: ${wanted.withdrawDelay} is expected, got ${config.withdrawDelay}.`;
  }
  // Any account can fund a channel in the name of another one: only the own signature of the payer shows who asks.
  if (config.payerAuthorizer !== config.payer) {
    return `invalid_payer_authorizer: ${getAddress(config.payer)} has to sign its vouchers itself.`;
  }
  const expected = channelIdOf(config, offered.chainId);
  if (channelId !== expected) return `invalid_channel_id: ${expected} is expected.`;
  if (deposit !== null && deposit.amount < MIN_DEPOSIT) {
    return `invalid_deposit: at least ${MIN_DEPOSIT} of the token's smallest unit are expected, got ${deposit.amount}.`;
  }
  return null;
}

const termsSchema = z.looseObject({ receiverAuthorizer: addressText, withdrawDelay: z.int() });

const configTypes = {
  ChannelConfig: [
    { name: "payer", type: "address" },
    { name: "payerAuthorizer", type: "address" },
    { name: "receiver", type: "address" },
    { name: "receiverAuthorizer", type: "address" },
    { name: "token", type: "address" },
    { name: "withdrawDelay", type: "uint40" },
    { name: "salt", type: "bytes32" },
  ],
} as const;

function channelIdOf(config: ChannelConfig, chainId: number): Hex {
  return hashTypedData({
    domain: domainOf(chainId),
    types: configTypes,
    primaryType: "ChannelConfig",
    message: config,
  });
}

function domainOf(chainId: number) {
  return { ...BATCH_SETTLEMENT_DOMAIN, chainId, verifyingContract: BATCH_SETTLEMENT_ADDRESS } as const;
}

/** The EIP-712 hash that the payer of a voucher signs. */
export function voucherDigest(payment: Pick<PresentedPayment, "payload">, chainId: number): Hex {
  const { channelId, amount: maxClaimableAmount } = voucherOf(payment);
  return hashTypedData({
    domain: domainOf(chainId),
    types: voucherTypes,
    primaryType: "Voucher",
    message: { channelId, maxClaimableAmount },
  });
}

/** secp256k1's order, halved. */
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Whether the contract reads a signature as viem does: 65 bytes, the lower s, and v as 27 or 28. */
export function isContractSignature(signature: Hex): boolean {
  if (size(signature) !== 65) return false;
  const v = hexToBigInt(slice(signature, 64));
  return (v === 27n || v === 28n) && hexToBigInt(slice(signature, 32, 64)) <= HIGHEST_S;
}

const abi = batchSettlementAbi;

/** The call that brings a payment's deposit into its channel. */
export function depositCall({ config, deposit }: VoucherPayment & { deposit: object }): Call {
  const { amount, validAfter, validBefore, salt, signature } = deposit;
  const authorization = encodeAbiParameters(
    [{ type: "uint256" }, { type: "uint256" }, { type: "uint256" }, { type: "bytes" }],
    [validAfter, validBefore, salt, signature],
  );
  const args = [contractConfig(config), amount, ERC3009_DEPOSIT_COLLECTOR_ADDRESS, authorization] as const;
  return { to: BATCH_SETTLEMENT_ADDRESS, data: encodeFunctionData({ abi, functionName: "deposit", args }) };
}

/** A voucher, and the amount to claim of it. */
export type Claimable = {
  readonly config: ChannelConfig;
  readonly voucherAmount: bigint;
  readonly signature: Hex;
  readonly amount: bigint;
};

/** The receiver authorizer's call that claims vouchers. */
export function claimCall(vouchers: readonly Claimable[]): Call {
  const rows = vouchers.map(({ config, voucherAmount, signature, amount }) => ({
    voucher: { channel: contractConfig(config), maxClaimableAmount: voucherAmount },
    signature,
    totalClaimed: amount,
  }));
  return {
    to: BATCH_SETTLEMENT_ADDRESS,
    data: encodeFunctionData({ abi, functionName: "claim", args: [rows] }),
  };
}

/** The call that pays the receiver what is claimed for it. */
export function settleCall(receiver: Address, token: Address): Call {
  const args = [receiver, token] as const;
  return { to: BATCH_SETTLEMENT_ADDRESS, data: encodeFunctionData({ abi, functionName: "settle", args }) };
}

function contractConfig({ withdrawDelay, salt, ...accounts }: ChannelConfig) {
  return {
    payer: getAddress(accounts.payer),
    payerAuthorizer: getAddress(accounts.payerAuthorizer),
    receiver: getAddress(accounts.receiver),
    receiverAuthorizer: getAddress(accounts.receiverAuthorizer),
    token: getAddress(accounts.token),
    withdrawDelay,
    salt,
  };
}

/** A channel at one block. */
export type SeenChannel = {
  readonly balance: bigint;
  readonly collected: bigint;
  readonly withdrawing: bigint;
  /** Unix seconds; null if no withdrawal is announced. */
  readonly withdrawAskedAt: number | null;
  readonly seenBlock: number;
};

/** Reads a channel at a block, the newest one unless it is given. Throws viem's errors. */
export async function readChannel(
  client: PublicClient,
  channelId: Hex,
  block?: bigint,
): Promise<SeenChannel> {
  const blockNumber = block ?? (await client.getBlockNumber({ cacheTime: 0 }));
  const read = { address: BATCH_SETTLEMENT_ADDRESS, abi, args: [channelId], blockNumber } as const;
  const [[balance, collected], [withdrawing, initiatedAt]] = await Promise.all([
    client.readContract({ ...read, functionName: "channels" }),
    client.readContract({ ...read, functionName: "pendingWithdrawals" }),
  ]);
  const withdrawAskedAt = initiatedAt === 0 ? null : initiatedAt;
  return { balance, collected, withdrawing, withdrawAskedAt, seenBlock: Number(blockNumber) };
}

/** Reads what was claimed for a receiver, and what of it was paid to it. */
export async function readReceiver(
  client: PublicClient,
  { receiver, token }: { readonly receiver: Address; readonly token: Address },
  blockNumber?: bigint,
): Promise<{ readonly claimed: bigint; readonly settled: bigint }> {
  const [claimed, settled] = await client.readContract({
    address: BATCH_SETTLEMENT_ADDRESS,
    abi,
    functionName: "receivers",
    args: [receiver, token],
    ...(blockNumber === undefined ? {} : { blockNumber }),
  });
  return { claimed, settled };
}
