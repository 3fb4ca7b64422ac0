import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ExecutionRevertedError,
  encodeFunctionData,
  type Hex,
  type PublicClient,
  parseAbi,
  RpcRequestError,
  recoverAddress,
} from "viem";
import { EscrowFailure } from "./failure.ts";

/** What is asked of a node here. */
export type EscrowClient = Pick<
  PublicClient,
  "call" | "getBlock" | "getCode" | "getLogs" | "getStorageAt" | "readContract"
>;

/** A block; its time in Unix seconds. */
export type ChainBlock = { readonly number: bigint; readonly hash: Hex; readonly timestamp: bigint };

const ERC_1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** The whole answer of a contract that accepts a signature: what only begins so may be an echo. */
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;

/** viem's errors for an answer that is not of the ABI it was asked by. */
const UNREAD = /^(AbiDecoding|InvalidBytesBoolean|PositionOutOfBounds|SliceOffset|ContractFunctionZeroData)/;

/**
 * Does what asks a node. Throws an EscrowFailure where no usable answer comes within the client's deadline and retries; a
 * revert passes, being the contract's answer.
 */
export async function askNode<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof BaseError) || isRevert(error)) throw error;
    const isUnread = error.walk((cause) => cause instanceof Error && UNREAD.test(cause.name)) !== null;
    // Callers are told this sentence; viem's own may hold the node's URL, and are for the log.
    throw isUnread
      ? new EscrowFailure("malformed", "the escrow answers what its generation does not", { cause: error })
      : new EscrowFailure("node", "the node gives no usable answer", { cause: error });
  }
}

/** Whether a contract refused the call, as opposed to a node that did not answer it. */
export function isRevert(error: unknown): boolean {
  const isKind = (cause: unknown) =>
    cause instanceof ContractFunctionRevertedError || cause instanceof ExecutionRevertedError;
  return error instanceof BaseError && error.walk(isKind) !== null;
}

/** The newest block of the node, and the newest that cannot be reorged. Throws an EscrowFailure without an answer. */
export async function readHeads(
  client: EscrowClient,
  finalityBlocks: number,
): Promise<{ readonly head: ChainBlock; readonly final: ChainBlock }> {
  const head = await readBlock(client);
  const depth = BigInt(finalityBlocks);
  const final = await readBlock(client, head.number > depth ? head.number - depth : 0n);
  return { head, final };
}

/** One block by its number, or the newest. Throws an EscrowFailure without an answer. */
export async function readBlock(
  client: Pick<EscrowClient, "getBlock">,
  blockNumber?: bigint,
): Promise<ChainBlock> {
  const { number, hash, timestamp } = await askNode(() =>
    client.getBlock(blockNumber === undefined ? {} : { blockNumber }),
  );
  return { number, hash, timestamp };
}

export type SignedBy = { readonly signer: Address; readonly digest: Hex; readonly signature: Hex };

/**
 * Whether an account signed: with its own key, or as a contract by ERC-1271 as of a block. Contracts that are not deployed
 * are not asked. Throws an EscrowFailure without an answer of the node.
 */
export async function isSignedBy(
  client: EscrowClient,
  { signer, digest, signature }: SignedBy,
  blockNumber?: bigint,
): Promise<boolean> {
  if (await isOwnKey({ signer, digest, signature })) return true;
  const at = blockNumber === undefined ? {} : { blockNumber };
  const code = await askNode(() => client.getCode({ address: signer, ...at }));
  // Precompiles answer without being contracts.
  if (code === undefined || code === "0x") return false;
  const data = encodeFunctionData({
    abi: ERC_1271,
    functionName: "isValidSignature",
    args: [digest, signature],
  });
  try {
    const answer = await client.call({ to: signer, data, ...at });
    return answer.data?.toLowerCase() === ACCEPTED;
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    if (isRevert(error) || isExecutionFailure(error)) return false;
    throw new EscrowFailure("node", "the node does not say whether a contract signed", { cause: error });
  }
}

async function isOwnKey({ signer, digest, signature }: SignedBy): Promise<boolean> {
  try {
    const recovered = await recoverAddress({ hash: digest, signature });
    return recovered.toLowerCase() === signer.toLowerCase();
  } catch {
    // No signature of a key at all: a contract may still take it.
    return false;
  }
}

/** JSON-RPC codes by which nodes say that the call itself went wrong, as by running out of gas: the contract's doing. */
const EXECUTION_CODES: ReadonlySet<number> = new Set([3, -32_000, -32_003, -32_015]);

function isExecutionFailure(error: BaseError): boolean {
  return error.walk((cause) => cause instanceof RpcRequestError && EXECUTION_CODES.has(cause.code)) !== null;
}
