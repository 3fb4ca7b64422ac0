import type { PaymentPayload } from "@x402/core/types";
import { getAbiItem, getAddress, type Hex, isAddressEqual, type Log, parseAbi } from "viem";
import { type ZodError, z } from "zod";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import type { PresentedPayment } from "../access.ts";
import { addressText, signatureText, uint256Text } from "./header-values.ts";
import type { Authorization, Signed, TransferMethod } from "./scheme.ts";

const payloadSchema = z.looseObject({
  signature: signatureText,
  authorization: z.looseObject({
    from: addressText,
    to: addressText,
    value: uint256Text,
    validAfter: uint256Text,
    validBefore: uint256Text,
    nonce: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .transform((value) => value.toLowerCase() as Hex),
  }),
});

/** Reads an EIP-3009 authorization. Addresses are normalised to checksums, which every facilitator accepts. */
export function readEip3009(payload: PaymentPayload["payload"]): Signed | ZodError {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success) return parsed.error;
  const { signature, authorization: signed } = parsed.data;
  const { from, to, value, validAfter, validBefore, nonce } = signed;
  return {
    signature,
    from,
    to,
    value,
    validAfter,
    validBefore,
    nonce,
    token: null,
    spender: null,
    normalised: {
      signature,
      authorization: {
        from: getAddress(from),
        to: getAddress(to),
        value: value.toString(),
        validAfter: validAfter.toString(),
        validBefore: validBefore.toString(),
        nonce,
      },
    },
  };
}

const domainSchema = z.looseObject({ name: z.string(), version: z.string() });

/** The EIP-712 domain of a payment's token. */
export function tokenDomainOf({ asset, requirements }: PresentedPayment, chainId: number) {
  const { name, version } = domainSchema.parse(requirements.extra);
  return { name, version, chainId, verifyingContract: asset };
}

/** The signed message without its recipient. */
export function eip3009Message({
  payer: from,
  amount: value,
  validAfter,
  validBefore,
  nonce,
}: PresentedPayment) {
  return { from, value, validAfter, validBefore, nonce };
}

const TOKEN = parseAbi([
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const USED = getAbiItem({ abi: TOKEN, name: "AuthorizationUsed" });

/** The token marks the nonce as used, and logs it before the transfer. */
export const eip3009Transfer: TransferMethod = {
  isUsed: (client, { asset, payer, nonce }, at) =>
    client.readContract({
      address: asset,
      abi: TOKEN,
      functionName: "authorizationState",
      args: [payer, nonce],
      ...at,
    }),
  async find(client, authorization, ranges) {
    const { asset: address, payer: authorizer, nonce } = authorization;
    for await (const range of ranges) {
      const [use] = await client.getLogs({ address, event: USED, args: { authorizer, nonce }, ...range });
      if (use === undefined) continue;
      const { logs } = await client.getTransactionReceipt({ hash: use.transactionHash });
      return paysBy(logs, use.logIndex, authorization) ? use.transactionHash : null;
    }
    return null;
  },
};

/**
 * Returns whether the token's next log after the use is our payment. It must be the next one: a payer can sign one
 * nonce twice, and one transaction can hold many transfers.
 */
function paysBy(
  logs: readonly Log[],
  useIndex: number,
  { asset, payer, payTo, amount }: Authorization,
): boolean {
  const [next] = logs
    .filter((log) => isAddressEqual(log.address, asset) && (log.logIndex ?? -1) > useIndex)
    .toSorted((one, other) => (one.logIndex ?? 0) - (other.logIndex ?? 0));
  const event = next === undefined ? null : decodeEvent(TOKEN, next);
  if (event?.eventName !== "Transfer") return false;
  const { from, to, value } = event.args;
  return isAddressEqual(from, payer) && isAddressEqual(to, payTo) && value === amount;
}
