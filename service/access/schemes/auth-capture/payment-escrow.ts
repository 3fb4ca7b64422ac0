import { AUTH_CAPTURE_ESCROW_V1_0_ADDRESS, EIP3009_TOKEN_COLLECTOR_V1_0_ADDRESS } from "@x402/evm";
import {
  type AbiParameterToPrimitiveType,
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  getAddress,
  type Hex,
  hexToBigInt,
  keccak256,
  toBytes,
  zeroAddress,
} from "viem";
import { z } from "zod";
import { authCaptureEscrowAbi } from "../../../chain/abi/auth-capture-escrow.ts";
import type { PresentedPayment } from "../../access.ts";
import { addressText } from "../header-values.ts";
import type { Call, Offered } from "../scheme.ts";

/** The contract that moves a payer's money into the escrow, by an EIP-3009 authorization to itself. */
export const CAPTURE_COLLECTOR = EIP3009_TOKEN_COLLECTOR_V1_0_ADDRESS;
export const PAYMENT_ESCROW = AUTH_CAPTURE_ESCROW_V1_0_ADDRESS;

/** The operator of the escrow, which captures or voids, and until when it can capture: unix seconds. */
export type CaptureTerms = { readonly authorizer: Address; readonly deadline: number };

const DAY_SECONDS = 86_400;
const WINDOW_DAYS = 4;

/** The end of the time to capture, the same for all of a UTC day: a verdict is decided within hours. */
export function captureDeadline(now: Date): number {
  const day = Math.floor(now.getTime() / 1000 / DAY_SECONDS);
  return (day + WINDOW_DAYS) * DAY_SECONDS;
}

/** Members of `extra` by which the client signs; the deadline may be that of the day before, for terms read before midnight. */
export function captureExtra({ authorizer, deadline }: CaptureTerms) {
  return {
    captureAuthorizer: getAddress(authorizer),
    captureDeadline: deadline,
    refundDeadline: deadline,
    feeRecipient: zeroAddress,
    minFeeBps: 0,
    maxFeeBps: 0,
    authCaptureEscrow: PAYMENT_ESCROW,
  };
}

/** Members of `extra` that a client repeats. */
const termsSchema = z.looseObject({ captureAuthorizer: addressText, captureDeadline: z.int().min(0) });
/** The salt of a payload, beside its authorization. */
export const saltSchema = z.looseObject({ salt: z.string().regex(/^0x[0-9a-fA-F]{1,64}$/) });

type SignedPayment = Pick<PresentedPayment, "payer" | "asset" | "payTo" | "amount" | "validBefore"> & {
  readonly payload: Pick<PresentedPayment["payload"], "accepted" | "payload">;
};

/** The escrow's operator and deadline that a payment names. */
export function captureTermsOf({ payload }: Pick<SignedPayment, "payload">): CaptureTerms {
  const { captureAuthorizer, captureDeadline: deadline } = termsSchema.parse(payload.accepted.extra);
  return { authorizer: captureAuthorizer, deadline };
}

/** Returns why a payment does not commit to the offered terms; null if it does. */
export function captureFault(
  payment: SignedPayment & Pick<PresentedPayment, "nonce" | "validAfter">,
  offered: Offered,
): string | null {
  const named = termsSchema.safeParse(payment.payload.accepted.extra);
  const wanted = termsSchema.parse(offered.extra);
  const ages = named.success ? wanted.captureDeadline - named.data.captureDeadline : Number.NaN;
  if (ages !== 0 && ages !== DAY_SECONDS) {
    return `invalid_capture_deadline: ${wanted.captureDeadline} is expected.`;
  }
  if (named.data?.captureAuthorizer !== wanted.captureAuthorizer) {
    return `invalid_capture_authorizer: ${getAddress(wanted.captureAuthorizer)} is expected.`;
  }
  if (payment.validBefore > wanted.captureDeadline) {
    return `invalid_valid_before: at most the captureDeadline ${wanted.captureDeadline} is taken.`;
  }
  const info = paymentInfoOf(payment);
  const commits = payment.validAfter === 0n && hashOf({ ...info, payer: zeroAddress }, offered.chainId);
  return commits === payment.nonce ? null : "invalid_nonce: it does not commit to these terms.";
}

const INFO = getAbiItem({ abi: authCaptureEscrowAbi, name: "getHash" }).inputs;
type PaymentInfo = AbiParameterToPrimitiveType<(typeof INFO)[0]>;

const TYPEHASH = keccak256(
  toBytes(
    "PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)",
  ),
);

function paymentInfoOf(payment: SignedPayment): PaymentInfo {
  const { authorizer, deadline } = captureTermsOf(payment);
  const { salt } = saltSchema.parse(payment.payload.payload);
  return {
    operator: authorizer,
    payer: payment.payer,
    receiver: payment.payTo,
    token: payment.asset,
    maxAmount: payment.amount,
    preApprovalExpiry: Number(payment.validBefore),
    authorizationExpiry: deadline,
    refundExpiry: deadline,
    minFeeBps: 0,
    maxFeeBps: 0,
    feeReceiver: zeroAddress,
    salt: hexToBigInt(salt as Hex),
  };
}

function hashOf(info: PaymentInfo, chainId: number): Hex {
  const infoHash = keccak256(encodeAbiParameters([{ type: "bytes32" }, ...INFO], [TYPEHASH, info]));
  const outer = [{ type: "uint256" }, { type: "address" }, { type: "bytes32" }] as const;
  return keccak256(encodeAbiParameters(outer, [BigInt(chainId), PAYMENT_ESCROW, infoHash]));
}

/** A call of the escrow by its operator. */
export function escrowCall(action: "authorize" | "capture" | "void", payment: SignedPayment): Call {
  const info = paymentInfoOf(payment);
  const abi = authCaptureEscrowAbi;
  switch (action) {
    case "authorize": {
      const { signature } = payment.payload.payload as { readonly signature: Hex };
      const args = [info, payment.amount, CAPTURE_COLLECTOR, signature] as const;
      return { to: PAYMENT_ESCROW, data: encodeFunctionData({ abi, functionName: action, args }) };
    }
    case "capture": {
      const args = [info, payment.amount, 0, zeroAddress] as const;
      return { to: PAYMENT_ESCROW, data: encodeFunctionData({ abi, functionName: action, args }) };
    }
    case "void":
      return { to: PAYMENT_ESCROW, data: encodeFunctionData({ abi, functionName: action, args: [info] }) };
  }
}

/** The read of the escrow that shows what became of a payment. */
export function escrowStateCall(payment: SignedPayment, chainId: number) {
  return {
    address: PAYMENT_ESCROW,
    abi: authCaptureEscrowAbi,
    functionName: "paymentState",
    args: [hashOf(paymentInfoOf(payment), chainId)],
  } as const;
}
