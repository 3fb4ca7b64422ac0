import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ExecutionRevertedError,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  type PublicClient,
  parseAbi,
  recoverAddress,
  slice,
  zeroAddress,
} from "viem";
import { jobsG1Abi } from "../../chain/abi/jobs-g1.ts";
import { jobsG3Abi } from "../../chain/abi/jobs-g3.ts";
import { jobsV3Abi } from "../../chain/abi/jobs-v3.ts";
import type { Deployment } from "../../chain/deployments.ts";
import { jobEscrowEvents } from "../../chain/escrow-events.ts";
import { nodeFailureOf } from "../../chain/node/failure.ts";
import { type IndexedSubmission, readEscrowIndex } from "./escrow-jobs.ts";
import { type EscrowJob, JOB_STATUSES, type JobName } from "./types.ts";

/** Methods of a node client that escrows need. */
export type EscrowClient = Pick<
  PublicClient,
  "call" | "getBlock" | "getCode" | "getLogs" | "getStorageAt" | "readContract"
>;

/** A block; its time in Unix seconds. */
export type ChainBlock = { readonly number: bigint; readonly hash: Hex; readonly timestamp: bigint };

const ERC_1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** Full response of a contract that accepts a signature. A response that only starts with it may be an echo. */
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;

/** viem's errors for a response that does not match the ABI. */
const UNREAD = /^(AbiDecoding|InvalidBytesBoolean|PositionOutOfBounds|SliceOffset|ContractFunctionZeroData)/;

/**
 * Runs a request to a node. Throws an EscrowFailure without a usable answer within the client's deadline and retries. A revert is the
 * contract's answer and is passed on.
 */
export async function askNode<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof BaseError) || isRevert(error)) throw error;
    const isUnread = error.walk((cause) => cause instanceof Error && UNREAD.test(cause.name)) !== null;
    // Callers see this message. viem's own may hold the node's URL and is only logged.
    throw isUnread
      ? new EscrowFailure("malformed", "the escrow answers what its generation does not", { cause: error })
      : new EscrowFailure("node", "the node gives no usable answer", { cause: error });
  }
}

/** True if the contract reverted, and false if the node did not answer. */
function isRevert(error: unknown): boolean {
  const isKind = (cause: unknown) =>
    cause instanceof ContractFunctionRevertedError || cause instanceof ExecutionRevertedError;
  return error instanceof BaseError && error.walk(isKind) !== null;
}

/** Reads the node's newest block and its newest final one. Throws an EscrowFailure without an answer. */
export async function readHeads(
  client: EscrowClient,
  finalityBlocks: number,
): Promise<{ readonly head: ChainBlock; readonly final: ChainBlock }> {
  const head = await readBlock(client);
  const depth = BigInt(finalityBlocks);
  const final = await readBlock(client, head.number > depth ? head.number - depth : 0n);
  return { head, final };
}

/** Reads a block by number, or the newest one. Throws an EscrowFailure without an answer. */
async function readBlock(client: Pick<EscrowClient, "getBlock">, blockNumber?: bigint): Promise<ChainBlock> {
  const { number, hash, timestamp } = await askNode(() =>
    client.getBlock(blockNumber === undefined ? {} : { blockNumber }),
  );
  return { number, hash, timestamp };
}

type SignedBy = { readonly signer: Address; readonly digest: Hex; readonly signature: Hex };

/**
 * True if an account signed with its own key or, as a contract, by ERC-1271 as of a block. A contract that is not deployed is not called.
 * Throws an EscrowFailure without an answer of the node.
 */
export async function isSignedBy(
  client: EscrowClient,
  { signer, digest, signature }: SignedBy,
  blockNumber?: bigint,
): Promise<boolean> {
  if (await isOwnKey({ signer, digest, signature })) return true;
  const at = blockNumber === undefined ? {} : { blockNumber };
  const code = await askNode(() => client.getCode({ address: signer, ...at }));
  // Precompiles answer although they are not contracts.
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
    // Not a key's signature; a contract may still accept it.
    return false;
  }
}

/** JSON-RPC codes of a failed call, such as out of gas: the contract's fault. */
const EXECUTION_CODES: ReadonlySet<number> = new Set([3, -32_000, -32_003, -32_015]);

function isExecutionFailure(error: BaseError): boolean {
  const code = nodeFailureOf(error)?.code ?? null;
  return code !== null && EXECUTION_CODES.has(code);
}

/**
 * Reason of an EscrowFailure. `node`: the node gives no usable answer. `index`: the index has not followed the chain far enough.
 * `malformed`: the escrow's response does not match its generation.
 */
type EscrowFailureReason = "node" | "index" | "malformed";

/** A job cannot be read now. Another attempt may succeed, unless the reason is `malformed`. */
export class EscrowFailure extends Error {
  override readonly name = "EscrowFailure";
  readonly reason: EscrowFailureReason;

  constructor(reason: EscrowFailureReason, message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/** An escrow of the deployment. */
type KnownEscrow = Deployment["escrows"][number];

/** Finds the deployment's escrow of a job; undefined without one. */
export function findEscrow(
  { chainId, escrows }: Pick<Deployment, "chainId" | "escrows">,
  job: JobName,
): KnownEscrow | undefined {
  if (job.chainId !== chainId) return undefined;
  return escrows.find(({ address }) => address.toLowerCase() === job.escrow.toLowerCase());
}

/**
 * Reads a job from its escrow as of a block or the newest one; null for an unknown id. Throws an EscrowFailure without a usable answer of
 * the node, and if the answer does not match the generation.
 */
export async function readJob(
  client: EscrowClient,
  escrow: KnownEscrow,
  { job, block }: { readonly job: JobName; readonly block?: bigint },
): Promise<EscrowJob | null> {
  try {
    const reported = await askNode(() => readReported(client, escrow, job.jobId, block));
    return reported.client === zeroAddress ? null : jobOf(job, reported);
  } catch (error) {
    if (isRevert(error)) return null;
    throw error;
  }
}

/** Members of a job in all generations. */
type ReportedJob = {
  readonly client: Address;
  readonly provider: Address;
  readonly evaluator: Address;
  readonly status: number;
  readonly expiredAt: bigint | number;
  readonly budget: bigint;
  readonly description: string;
};

function readReported(
  client: EscrowClient,
  { address, generation }: KnownEscrow,
  jobId: bigint,
  block: bigint | undefined,
): Promise<ReportedJob> {
  const call = { address, functionName: "getJob", args: [jobId] } as const;
  const at = block === undefined ? {} : { blockNumber: block };
  switch (generation) {
    case "G1":
      return client.readContract({ abi: jobsG1Abi, ...call, ...at });
    case "G3":
      return client.readContract({ abi: jobsG3Abi, ...call, ...at });
    case "V3":
      return client.readContract({ abi: jobsV3Abi, ...call, ...at });
  }
}

function jobOf({ chainId, escrow, jobId }: JobName, reported: ReportedJob): EscrowJob {
  const status = JOB_STATUSES[reported.status];
  if (status === undefined) {
    throw new EscrowFailure(
      "malformed",
      `job ${jobId} of ${escrow}: expected a status from 0 to 5, got ${reported.status}`,
    );
  }
  return {
    chainId,
    escrow: lower(escrow),
    jobId,
    client: lower(reported.client),
    provider: lower(reported.provider),
    evaluator: lower(reported.evaluator),
    status,
    expiredAt: BigInt(reported.expiredAt),
    budget: reported.budget,
    description: reported.description,
  };
}

function lower(address: Address): Address {
  // An address in lower case is an address.
  return address.toLowerCase() as Address;
}

/** ERC-1967 slot of a proxy's implementation. */
const IMPLEMENTATION_SLOT: Hex = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
/** ERC-1967 slot of a proxy's beacon, which can change the implementation unseen. */
const BEACON_SLOT: Hex = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50";
const NO_CODE = keccak256("0x");
const NOTHING: Hex = `0x${"0".repeat(64)}`;

/**
 * Returns the change of an escrow's code since its review, as of a block or the newest one; null without one. Throws an EscrowFailure
 * without an answer of the node.
 */
export async function findCodeChange(
  client: EscrowClient,
  escrow: KnownEscrow,
  block?: bigint,
): Promise<string | null> {
  const at = block === undefined ? {} : { blockNumber: block };
  const hash = await hashOf(client, escrow.address, at);
  if (hash !== escrow.codeHash) return `its code hashes to ${hash}, not to ${escrow.codeHash}`;
  const [pointer, beacon] = await Promise.all([
    readSlot(client, escrow.address, { slot: IMPLEMENTATION_SLOT, at }),
    readSlot(client, escrow.address, { slot: BEACON_SLOT, at }),
  ]);
  if (beacon !== NOTHING) return `it points to the beacon ${getAddress(slice(beacon, 12))}`;
  const { implementation } = escrow;
  if (implementation === null) {
    return pointer === NOTHING ? null : "it points to an implementation, and had none";
  }
  const target = getAddress(slice(pointer, 12));
  if (target !== getAddress(implementation.address)) {
    return `it points to the implementation ${target}, not to ${implementation.address}`;
  }
  const targetHash = await hashOf(client, target, at);
  if (targetHash === implementation.codeHash) return null;
  return `its implementation's code hashes to ${targetHash}, not to ${implementation.codeHash}`;
}

async function readSlot(
  client: EscrowClient,
  address: Address,
  { slot, at }: { readonly slot: Hex; readonly at: { readonly blockNumber?: bigint } },
): Promise<Hex> {
  const value = await askNode(() => client.getStorageAt({ address, slot, ...at }));
  return value === undefined || BigInt(value) === 0n ? NOTHING : value;
}

async function hashOf(
  client: EscrowClient,
  address: Address,
  at: { readonly blockNumber?: bigint },
): Promise<Hex> {
  const code = await askNode(() => client.getCode({ address, ...at }));
  return code === undefined ? NO_CODE : keccak256(code);
}

/**
 * True if the node's chain has a job's submission in the block where the index saw it, read by block hash. Throws an EscrowFailure without
 * an answer.
 */
export async function confirmSubmission(
  client: EscrowClient,
  { escrow, jobId }: JobName,
  submission: IndexedSubmission,
): Promise<boolean> {
  const block = await readBlock(client, submission.block);
  // A node may still return blocks that were reorged.
  if (block.hash !== submission.blockHash) return false;
  const logs = await askNode(() =>
    client.getLogs({
      address: escrow,
      event: SUBMITTED,
      args: { jobId },
      blockHash: submission.blockHash,
      strict: true,
    }),
  );
  return logs.some(
    ({ logIndex, args }) => logIndex === submission.logIndex && args.deliverable === submission.deliverable,
  );
}

const [, SUBMITTED] = jobEscrowEvents;

/**
 * Newest block of node or index. One of several nodes may lag behind the one that the index follows. Throws an EscrowFailure without a
 * usable answer of the node.
 */
export async function readNewestBlock(
  { db, client }: { readonly db: NodePgDatabase; readonly client: Pick<EscrowClient, "getBlock"> },
  chainId: number,
): Promise<bigint> {
  const { number } = await readBlock(client);
  const indexed = await readEscrowIndex(db, chainId);
  return indexed !== null && indexed.number > number ? indexed.number : number;
}
