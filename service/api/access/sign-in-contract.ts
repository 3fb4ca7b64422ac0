import {
  BaseError,
  encodeFunctionData,
  HttpRequestError,
  LimitExceededRpcError,
  type PublicClient,
  parseAbi,
  TimeoutError,
} from "viem";
import { unavailable } from "../problems.ts";
import type { ContractSignatures } from "./sign-in.ts";

const ERC_1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** What a contract answers that accepts a signature. */
const ACCEPTED = "0x1626ba7e";
const RETRY_AFTER_SECONDS = 5;

/** ERC-1271 through a node, at its newest block. Wallets not deployed yet (ERC-6492) are not asked: they own nothing here. */
export function createContractSignatures(client: Pick<PublicClient, "call">): ContractSignatures {
  return async ({ address, hash, signature }) => {
    const data = encodeFunctionData({
      abi: ERC_1271,
      functionName: "isValidSignature",
      args: [hash, signature],
    });
    try {
      const answer = await client.call({ to: address, data });
      return answer.data?.startsWith(ACCEPTED) ?? false;
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
