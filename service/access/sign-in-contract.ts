import {
  BaseError,
  encodeFunctionData,
  HttpRequestError,
  LimitExceededRpcError,
  type PublicClient,
  parseAbi,
  TimeoutError,
} from "viem";
import { unavailable } from "./problems.ts";
import type { ContractSignatures } from "./sign-in.ts";

const ERC_1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** The whole answer of a contract that accepts a signature: the magic value as an ABI word. What only begins so may be an echo. */
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;
const RETRY_AFTER_SECONDS = 5;

/** ERC-1271 through a node, at its newest block. Wallets not deployed yet (ERC-6492) are not asked: they own nothing here. */
export function createContractSignatures(client: Pick<PublicClient, "call" | "getCode">): ContractSignatures {
  return async ({ address, hash, signature }) => {
    const data = encodeFunctionData({
      abi: ERC_1271,
      functionName: "isValidSignature",
      args: [hash, signature],
    });
    try {
      // Precompiles answer without being contracts, and nobody owns them.
      const [code, answer] = await Promise.all([
        client.getCode({ address }),
        client.call({ to: address, data }),
      ]);
      return code !== undefined && code !== "0x" && answer.data?.toLowerCase() === ACCEPTED;
    } catch (error) {
      if (isNodeFailure(error)) throw nodeSilent(error);
      // Whatever else a call ends in is the contract's doing, and no acceptance.
      if (error instanceof BaseError) return false;
      throw error;
    }
  };
}

function isNodeFailure(error: unknown): boolean {
  const kinds = [HttpRequestError, TimeoutError, LimitExceededRpcError];
  const isKind = (cause: unknown) => kinds.some((kind) => cause instanceof kind);
  return error instanceof BaseError && error.walk(isKind) !== null;
}

function nodeSilent(cause: unknown): Error {
  const detail = "The node that asks contract wallets about signatures does not answer.";
  return unavailable("node-unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}
