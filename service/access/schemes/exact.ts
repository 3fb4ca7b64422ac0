import { authorizationTypes } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { hashTypedData } from "viem";
import { eip3009Message, eip3009Transfer, readEip3009, tokenDomainOf } from "./eip3009.ts";
import type { PaymentScheme } from "./scheme.ts";

/** Scheme `exact` of x402, by an EIP-3009 authorization of the token. */
export const exact: PaymentScheme = {
  name: "exact",
  protocol: "exact",
  way: "exact by EIP-3009",
  contract: null,
  offer: ({ domain: { name, version } }) => ({ name, version }),
  isSettledBy: () => true,
  isForm: (payload) => "authorization" in payload && !("permit2Authorization" in payload),
  read: ({ payload }) => readEip3009(payload),
  digest: (payment, chainId) =>
    hashTypedData({
      domain: tokenDomainOf(payment, chainId),
      types: authorizationTypes,
      primaryType: "TransferWithAuthorization",
      message: { ...eip3009Message(payment), to: payment.payTo },
    }),
  transfer: eip3009Transfer,
  settling: {
    facilitator: (signer) => new ExactEvmScheme(signer),
    functionName: "transferWithAuthorization",
  },
};
