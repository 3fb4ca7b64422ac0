import { authorizationTypes } from "@x402/evm";
import { type Address, hashTypedData } from "viem";
import { ZodError } from "zod";
import { eip3009Message, eip3009Transfer, readEip3009, tokenDomainOf } from "../eip3009.ts";
import type { PaymentScheme } from "../scheme.ts";
import { sweepCaptures } from "./captures.ts";
import {
  CAPTURE_COLLECTOR,
  captureDeadline,
  captureExtra,
  captureFault,
  escrowCall,
  PAYMENT_ESCROW,
  saltSchema,
} from "./payment-escrow.ts";

const types = { ReceiveWithAuthorization: authorizationTypes.TransferWithAuthorization };

/** Scheme `auth-capture` of x402: an EIP-3009 authorization to an escrow, whose nonce commits to the payee. */
export const authCapture: PaymentScheme = {
  name: "auth-capture",
  protocol: "auth-capture",
  way: "auth-capture by EIP-3009",
  contract: PAYMENT_ESCROW,
  taking: "held",
  offer({ domain: { name, version }, settler: authorizer, isCaptured, now }) {
    if (!isCaptured || authorizer === null) return null;
    return { name, version, ...captureExtra({ authorizer, deadline: captureDeadline(now) }) };
  },
  isForm: (payload) => "authorization" in payload,
  read({ payload, accepted }) {
    const salted = saltSchema.safeParse(payload);
    if (!salted.success) return salted.error;
    const read = readEip3009(payload);
    if (read instanceof ZodError) return read;
    return {
      ...read,
      // It is compared with ours.
      to: accepted.payTo.toLowerCase() as Address,
      spender: { given: read.to, expected: CAPTURE_COLLECTOR, fault: "invalid_collector" },
      normalised: { ...read.normalised, salt: salted.data.salt },
    };
  },
  fault: captureFault,
  digest: (payment, chainId) =>
    hashTypedData({
      domain: tokenDomainOf(payment, chainId),
      types,
      primaryType: "ReceiveWithAuthorization",
      message: { ...eip3009Message(payment), to: CAPTURE_COLLECTOR },
    }),
  transfer: {
    isUsed: eip3009Transfer.isUsed,
    // The money goes to the escrow by its collector.
    find: (client, authorization, ranges) =>
      eip3009Transfer.find(client, { ...authorization, payTo: CAPTURE_COLLECTOR }, ranges),
  },
  settling: { order: (payment) => ({ authorization: payment, call: escrowCall("authorize", payment) }) },
  sweep: sweepCaptures,
};
