import type { Address, PublicClient } from "viem";

/** Code of an account that an EIP-7702 delegation gave it. */
const DELEGATED = "0xef0100";

/**
 * A function that asks a node whether an account has sent transactions of its own: sources of histories know no others. False for
 * contracts, whose calls are others' transactions. Rejects if the node does not answer.
 */
export function createSenderCheck(client: Pick<PublicClient, "getTransactionCount" | "getCode">) {
  return async (address: Address): Promise<boolean> => {
    const [sent, code] = await Promise.all([
      client.getTransactionCount({ address }),
      client.getCode({ address }),
    ]);
    return sent > 0 && (code === undefined || code.startsWith(DELEGATED));
  };
}
