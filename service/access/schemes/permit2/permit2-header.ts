import type { PaymentPayload } from "@x402/core/types";
import {
  PERMIT2_ADDRESS,
  permit2WitnessTypes,
  uptoPermit2WitnessTypes,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from "@x402/evm";
import { getAddress, type Hex, hashTypedData, numberToHex } from "viem";
import { z } from "zod";
import type { PresentedPayment } from "../../access.ts";
import { addressText, signatureText, uint256Text } from "../header-values.ts";

/** The schemes that move money by a signature transfer of Permit2, with the contract that the payer permits. */
export const PERMIT2_SPENDERS = {
  "exact-permit2": x402ExactPermit2ProxyAddress,
  upto: x402UptoPermit2ProxyAddress,
} as const;

type Permit2Scheme = keyof typeof PERMIT2_SPENDERS;

const authorizationSchema = <Facilitator extends z.ZodType>(facilitator: Facilitator) =>
  z.looseObject({
    signature: signatureText,
    permit2Authorization: z.looseObject({
      from: addressText,
      permitted: z.looseObject({ token: addressText, amount: uint256Text }),
      spender: addressText,
      nonce: uint256Text,
      deadline: uint256Text,
      witness: z.object({ to: addressText, validAfter: uint256Text, facilitator }),
    }),
  });
const schemas = {
  "exact-permit2": authorizationSchema(
    z
      .unknown()
      .optional()
      .transform(() => undefined),
  ),
  upto: authorizationSchema(addressText),
};

/** Reads the payload of a payment by Permit2; a zod error says what does not fit. Nothing is compared yet. */
export function readPermit2(scheme: Permit2Scheme, payload: PaymentPayload["payload"]) {
  const parsed = schemas[scheme].safeParse(payload);
  if (!parsed.success) return { error: parsed.error };
  const { signature, permit2Authorization: signed } = parsed.data;
  const { to, validAfter, facilitator } = signed.witness;
  return {
    error: null,
    signature,
    authorization: {
      scheme,
      from: signed.from,
      to,
      token: signed.permitted.token,
      spender: signed.spender,
      facilitator,
      value: signed.permitted.amount,
      validAfter,
      // Permit2 takes its deadline as the last second, EIP-3009 as the first one too late.
      validBefore: signed.deadline + 1n,
      nonce: numberToHex(signed.nonce, { size: 32 }),
    },
    normalised: {
      signature,
      permit2Authorization: {
        from: getAddress(signed.from),
        permitted: {
          token: getAddress(signed.permitted.token),
          amount: signed.permitted.amount.toString(),
        },
        spender: getAddress(signed.spender),
        nonce: signed.nonce.toString(),
        deadline: signed.deadline.toString(),
        witness: {
          to: getAddress(to),
          ...(facilitator === undefined ? {} : { facilitator: getAddress(facilitator) }),
          validAfter: validAfter.toString(),
        },
      },
    },
  };
}

/** The EIP-712 hash that the payer of a payment by Permit2 signs. */
export function permitDigest(payment: PresentedPayment, scheme: Permit2Scheme): Hex {
  const domain = {
    name: "Permit2",
    chainId: Number(payment.requirements.network.split(":")[1]),
    verifyingContract: PERMIT2_ADDRESS,
  };
  const permit = {
    permitted: { token: payment.asset, amount: payment.amount },
    spender: PERMIT2_SPENDERS[scheme],
    nonce: BigInt(payment.nonce),
    deadline: payment.validBefore - 1n,
  };
  const signed = { to: payment.payTo, validAfter: payment.validAfter };
  const primaryType = "PermitWitnessTransferFrom";
  if (scheme === "exact-permit2") {
    const message = { ...permit, witness: signed };
    return hashTypedData({ domain, types: permit2WitnessTypes, primaryType, message });
  }
  const { facilitator } = schemas.upto.parse(payment.payload.payload).permit2Authorization.witness;
  const message = { ...permit, witness: { ...signed, facilitator } };
  return hashTypedData({ domain, types: uptoPermit2WitnessTypes, primaryType, message });
}
