import { authorizationTypes } from "@x402/evm";
import { type Address, type Hex, isAddressEqual, type PublicClient, recoverTypedDataAddress } from "viem";
import { z } from "zod";
import type { PresentedPayment } from "./presented-payment.ts";

/** Whether a contract wallet accepts a signature as its own (ERC-1271); throws when the node does not answer. */
export type ContractPayers = (authorization: SignedAuthorization) => Promise<boolean>;

/** What an EIP-3009 payer signs, with the signature. */
type SignedAuthorization = ReturnType<typeof typedAuthorization> & {
  readonly address: Address;
  readonly signature: Hex;
};

const domainSchema = z.looseObject({ name: z.string(), version: z.string() });

/** Whether the payer signed the payment: by its key, which needs no node, else as a contract. */
export async function isSignedByPayer(
  payment: PresentedPayment,
  signature: Hex,
  contracts: ContractPayers,
): Promise<boolean> {
  const typed = typedAuthorization(payment);
  const signer = await recoverTypedDataAddress({ ...typed, signature }).catch(noSigner);
  if (signer !== null && isAddressEqual(signer, payment.payer)) return true;
  return contracts({ ...typed, address: payment.payer, signature });
}

/** Asks a node; an account without code accepts nothing here. */
export function createContractPayers(client: PublicClient): ContractPayers {
  return async (authorization) => {
    const code = await client.getCode({ address: authorization.address });
    return code === undefined ? false : client.verifyTypedData(authorization);
  };
}

function typedAuthorization({ requirements, payer, payTo, nonce, ...payment }: PresentedPayment) {
  const { name, version } = domainSchema.parse(requirements.extra);
  return {
    domain: {
      name,
      version,
      chainId: Number(requirements.network.split(":")[1]),
      verifyingContract: payment.asset,
    },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: {
      from: payer,
      to: payTo,
      value: payment.amount,
      validAfter: payment.validAfter,
      validBefore: payment.validBefore,
      nonce,
    },
  } as const;
}

/** Bytes that no key can have signed have no signer. */
function noSigner(): null {
  return null;
}
