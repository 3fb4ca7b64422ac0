import type { PaymentPayload } from "@x402/core/types";
import { PERMIT2_ADDRESS } from "@x402/evm";
import {
  type Address,
  getAbiItem,
  getAddress,
  type Hex,
  isAddressEqual,
  numberToHex,
  parseAbi,
  toFunctionSelector,
} from "viem";
import { type ZodError, z } from "zod";
import type { PresentedPayment } from "../../access.ts";
import { addressText, signatureText, uint256Text } from "../header-values.ts";
import type { Authorization, PaymentScheme, Signed, TransferMethod } from "../scheme.ts";

/** The form of a payload; a scheme says what its witness names as facilitator. */
export function permit2Schema<Facilitator extends z.ZodType<Address | undefined>>(facilitator: Facilitator) {
  return z.looseObject({
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
}

/** Whether a payload is one of a signature transfer of Permit2. */
export const isPermit2: PaymentScheme["isForm"] = (payload) => "permit2Authorization" in payload;

/** Reads a signature transfer of Permit2 that a proxy of x402 carries out. */
export function readPermit2(
  payload: PaymentPayload["payload"],
  { proxy, schema }: { readonly proxy: Address; readonly schema: ReturnType<typeof permit2Schema> },
): Signed | ZodError {
  const parsed = schema.safeParse(payload);
  if (!parsed.success) return parsed.error;
  const { signature, permit2Authorization: signed } = parsed.data;
  const { to, validAfter, facilitator } = signed.witness;
  return {
    signature,
    from: signed.from,
    to,
    token: signed.permitted.token,
    spender: { given: signed.spender, expected: proxy, fault: "invalid_permit2_spender" },
    value: signed.permitted.amount,
    validAfter,
    // Permit2 takes its deadline as the last second, EIP-3009 as the first one too late.
    validBefore: signed.deadline + 1n,
    nonce: numberToHex(signed.nonce, { size: 32 }),
    normalised: {
      signature,
      permit2Authorization: {
        from: getAddress(signed.from),
        permitted: { token: getAddress(signed.permitted.token), amount: signed.permitted.amount.toString() },
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

/** The EIP-712 domain and message that the payer signs, without what a scheme adds to its witness. */
export function permitOf(payment: PresentedPayment, { proxy, chainId }: { proxy: Address; chainId: number }) {
  return {
    domain: { name: "Permit2", chainId, verifyingContract: PERMIT2_ADDRESS },
    primaryType: "PermitWitnessTransferFrom",
    message: {
      permitted: { token: payment.asset, amount: payment.amount },
      spender: proxy,
      nonce: BigInt(payment.nonce),
      deadline: payment.validBefore - 1n,
      witness: { to: payment.payTo, validAfter: payment.validAfter },
    },
  } as const;
}

/** Members of `extra` by which the client signs. */
export function permit2Extra({ name, version }: { readonly name: string; readonly version: string }) {
  return { name, version, assetTransferMethod: "permit2" };
}

const TOKEN = parseAbi([
  "function allowance(address owner, address spender) view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);
const TRANSFER = getAbiItem({ abi: TOKEN, name: "Transfer" });
const PERMIT2 = parseAbi(["function nonceBitmap(address owner, uint256 word) view returns (uint256)"]);
/** Most transactions of a payer that are compared with an authorization by Permit2, the newest. A payer can make any number. */
const MOST_TRANSACTIONS = 200;

/** A call of a proxy of x402 that carries a permit out. */
type Settle = {
  readonly permit: { readonly permitted: { readonly token: Address }; readonly nonce: bigint };
  readonly owner: Address;
  readonly witness: { readonly to: Address };
};

/** The contract of a scheme, by whose calls its transfers are recognised. */
type Proxy = {
  readonly address: Address;
  readonly settle: Parameters<typeof toFunctionSelector>[0];
  /** Reads the arguments of `settle`; null for other bytes. */
  decode(data: Hex): Settle | null;
  /** Whether a transfer of this value can be the payment of an amount. */
  pays(value: bigint, amount: bigint): boolean;
};

const SELECTOR_CHARACTERS = 10;

/**
 * Permit2 has no event for a used nonce: transfers from the payer to us are compared by the calls that made them. Only calls of
 * the scheme's own contract are recognised, since only their data proves which authorization paid.
 */
export function permit2Transfer(proxy: Proxy): TransferMethod {
  return {
    async isUsed(client, { payer, nonce }, at) {
      const number = BigInt(nonce);
      const bits = await client.readContract({
        address: PERMIT2_ADDRESS,
        abi: PERMIT2,
        functionName: "nonceBitmap",
        args: [payer, number >> 8n],
        ...at,
      });
      return ((bits >> (number & 0xffn)) & 1n) === 1n;
    },
    approved: (client, { asset: address, payer }) =>
      client.readContract({ address, abi: TOKEN, functionName: "allowance", args: [payer, PERMIT2_ADDRESS] }),
    async find(client, authorization, ranges) {
      const { asset: address, payer: from, payTo: to, amount } = authorization;
      const compared = new Set<Hex>();
      for await (const range of ranges) {
        const transfers = await client.getLogs({ address, event: TRANSFER, args: { from, to }, ...range });
        for (const { args, transactionHash } of transfers.toReversed()) {
          if (!proxy.pays(args.value ?? 0n, amount) || compared.has(transactionHash)) continue;
          if (compared.size === MOST_TRANSACTIONS) return null;
          compared.add(transactionHash);
          const transaction = await client.getTransaction({ hash: transactionHash });
          if (carriesOut(transaction, authorization, proxy)) return transactionHash;
        }
      }
      return null;
    },
  };
}

/** Returns whether a transaction is the call of the scheme's contract that carries out the authorization. */
function carriesOut(
  { to, input }: { readonly to: Address | null; readonly input: Hex },
  { asset, payer, payTo, nonce }: Authorization,
  proxy: Proxy,
): boolean {
  if (to === null || !isAddressEqual(to, proxy.address)) return false;
  if (!input.startsWith(toFunctionSelector(proxy.settle))) return false;
  const settled = proxy.decode(`0x${input.slice(SELECTOR_CHARACTERS)}`);
  if (settled === null) return false;
  const { permit, owner, witness } = settled;
  return (
    permit.nonce === BigInt(nonce) &&
    isAddressEqual(permit.permitted.token, asset) &&
    isAddressEqual(owner, payer) &&
    isAddressEqual(witness.to, payTo)
  );
}
