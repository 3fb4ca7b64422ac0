import { permit2WitnessTypes, x402ExactPermit2ProxyABI, x402ExactPermit2ProxyAddress } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { getAbiItem, hashTypedData } from "viem";
import { z } from "zod";
import { decodeParameters } from "../../../chain/bounded-abi.ts";
import type { PaymentScheme } from "../scheme.ts";
import { isPermit2, permit2Extra, permit2Schema, permit2Transfer, permitOf, readPermit2 } from "./permit2.ts";

const proxy = x402ExactPermit2ProxyAddress;
const settle = getAbiItem({ abi: x402ExactPermit2ProxyABI, name: "settle" });
const schema = permit2Schema(
  z
    .unknown()
    .optional()
    .transform(() => undefined),
);
/** Extensions of facilitators that settle by Permit2; scheme `exact` itself does not list its ways to move money. */
const EXTENSIONS = ["eip2612GasSponsoring", "erc20ApprovalGasSponsoring"];

/** Scheme `exact` of x402, by a Permit2 transfer of its proxy. */
export const exactPermit2: PaymentScheme = {
  name: "exact-permit2",
  protocol: "exact",
  way: "exact by Permit2",
  contract: proxy,
  offer: ({ domain }) => permit2Extra(domain),
  isSettledBy: (_kind, extensions) => EXTENSIONS.some((name) => extensions.includes(name)),
  isForm: isPermit2,
  read: ({ payload }) => readPermit2(payload, { proxy, schema }),
  digest: (payment, chainId) =>
    hashTypedData({ ...permitOf(payment, { proxy, chainId }), types: permit2WitnessTypes }),
  transfer: {
    ...permit2Transfer({
      address: proxy,
      settle,
      decode(data) {
        const decoded = decodeParameters(settle.inputs, data);
        if (decoded === null) return null;
        const [permit, owner, witness] = decoded;
        return { permit, owner, witness };
      },
      pays: (value, amount) => value === amount,
    }),
    spentElsewhere:
      "the authorization was used or withdrawn, in a final block, by no call of the x402 proxy.",
  },
  settling: { facilitator: (signer) => new ExactEvmScheme(signer), functionName: "settle" },
};
