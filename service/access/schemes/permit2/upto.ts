import type { PaymentPayload } from "@x402/core/types";
import { uptoPermit2WitnessTypes, x402UptoPermit2ProxyABI, x402UptoPermit2ProxyAddress } from "@x402/evm";
import { UptoEvmScheme } from "@x402/evm/upto/facilitator";
import { getAbiItem, getAddress, hashTypedData, isAddress } from "viem";
import { z } from "zod";
import { decodeParameters } from "../../../chain/bounded-abi.ts";
import { addressText } from "../header-values.ts";
import type { PaymentScheme } from "../scheme.ts";
import { isPermit2, permit2Extra, permit2Schema, permit2Transfer, permitOf, readPermit2 } from "./permit2.ts";

const proxy = x402UptoPermit2ProxyAddress;
const settle = getAbiItem({ abi: x402UptoPermit2ProxyABI, name: "settle" });

const extraSchema = z.looseObject({ facilitatorAddress: addressText });
const schema = permit2Schema(addressText);

/** Scheme `upto` of x402: a Permit2 transfer of at most the price, by the facilitator that the payer signs. */
export const upto: PaymentScheme = {
  name: "upto",
  protocol: "upto",
  way: "upto by Permit2",
  contract: proxy,
  taking: "metered",
  offer: ({ domain, settler, isMetered }) =>
    isMetered && settler !== null
      ? { ...permit2Extra(domain), facilitatorAddress: getAddress(settler) }
      : null,
  isSettledBy: ({ extra }) =>
    typeof extra?.facilitatorAddress === "string" && isAddress(extra.facilitatorAddress, { strict: false }),
  isForm: isPermit2,
  read: ({ payload }) => readPermit2(payload, { proxy, schema }),
  fault({ payload }, { extra }) {
    // Another one could take less than the answer costs.
    const { facilitatorAddress } = extraSchema.parse(extra);
    return facilitatorOf(payload.payload) === facilitatorAddress
      ? null
      : `upto_facilitator_mismatch: ${getAddress(facilitatorAddress)} is expected.`;
  },
  digest(payment, chainId) {
    const { message, ...permit } = permitOf(payment, { proxy, chainId });
    const witness = { ...message.witness, facilitator: facilitatorOf(payment.payload.payload) };
    return hashTypedData({ ...permit, types: uptoPermit2WitnessTypes, message: { ...message, witness } });
  },
  transfer: permit2Transfer({
    address: proxy,
    settle,
    decode(data) {
      const decoded = decodeParameters(settle.inputs, data);
      if (decoded === null) return null;
      const [permit, , owner, witness] = decoded;
      return { permit, owner, witness };
    },
    pays: (value, amount) => value >= amount,
  }),
  settling: { facilitator: (signer) => new UptoEvmScheme(signer), functionName: "settle" },
};

function facilitatorOf(payload: PaymentPayload["payload"]) {
  return schema.parse(payload).permit2Authorization.witness.facilitator;
}
