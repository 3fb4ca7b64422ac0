import { encode as encodeTypedData } from "ox/TypedData";
import {
  type Address,
  getAddress,
  type Hex,
  hashTypedData,
  isAddressEqual,
  keccak256,
  parseSignature,
  recoverAddress,
  type SignableMessage,
  serializeTransaction,
  toPrefixedMessage,
} from "viem";
import { type LocalAccount, toAccount } from "viem/accounts";
import { askSigner, type SignerEndpoint } from "./ask-signer.ts";
import { SignerFailure } from "./signer-failure.ts";

/** Half the order of secp256k1: chains refuse the other of the two signatures that a key can give (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * An account whose key is with a remote signer: every signature is recovered and compared before it is used. Signing throws a
 * SignerFailure.
 */
export function remoteSigner(endpoint: SignerEndpoint, address: Address): LocalAccount {
  const sign = (data: Hex, hash: Hex = keccak256(data)) => signChecked(endpoint, address, { data, hash });
  return toAccount({
    address: getAddress(address),
    signMessage: ({ message }: { readonly message: SignableMessage }) => sign(toPrefixedMessage(message)),
    signTypedData: (definition) => {
      // viem's definition and ox's are one thing; the hash by the one checks the bytes by the other.
      const bytes = encodeTypedData(definition as unknown as Parameters<typeof encodeTypedData>[0]);
      return sign(bytes, hashTypedData(definition));
    },
    signTransaction: async (transaction, options) => {
      const serialize = options?.serializer ?? serializeTransaction;
      const signature = parseSignature(await sign(await serialize(transaction)));
      return serialize(transaction, signature);
    },
  });
}

async function signChecked(
  endpoint: SignerEndpoint,
  address: Address,
  { data, hash }: { readonly data: Hex; readonly hash: Hex },
): Promise<Hex> {
  const signature = await askSigner(endpoint, data);
  const signer = await recover(hash, signature);
  if (signer === null || !isAddressEqual(signer, address))
    throw new SignerFailure("lied", `the remote signer's signature is not one of ${address}`);
  return signature;
}

/** Null for what is no signature, or the one of two that chains refuse. */
async function recover(hash: Hex, signature: Hex): Promise<Address | null> {
  if (BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return null;
  try {
    return await recoverAddress({ hash, signature });
  } catch {
    // r, s or v out of range: nobody's signature.
    return null;
  }
}
