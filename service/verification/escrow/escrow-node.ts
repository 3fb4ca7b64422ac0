import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import {
  type Address,
  BaseError,
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
import { lowerCase } from "../../db/columns.ts";
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

/** True if the contract reverted, and false if the node did not answer. viem takes an internal error of the node for a revert. */
function isRevert(error: unknown): boolean {
  return nodeFailureOf(error)?.kind === "reverted";
}

/** Reads the node's newest block and its newest final one. Throws an EscrowFailure without an answer. */
export async function readHeads(
  client: EscrowClient,
  finalityBlocks: number,
): Promise<{ head: ChainBlock; final: ChainBlock }> {
  const head = await readBlock(client);
  const depth = BigInt(finalityBlocks);
  const final = await readBlock(client, head.number > depth ? head.number - depth : 0n);
  return { head, final };
}

/** A block by number; the newest one if it is undefined. */
function at(blockNumber: bigint | undefined): { blockNumber?: bigint } {
  return blockNumber === undefined ? {} : { blockNumber };
}

/** Reads a block by number, or the newest one. Throws an EscrowFailure without an answer. */
async function readBlock(client: Pick<EscrowClient, "getBlock">, blockNumber?: bigint): Promise<ChainBlock> {
  const { number, hash, timestamp } = await askNode(() => client.getBlock(at(blockNumber)));
  return { number, hash, timestamp };
}

/**
 * True if an account signed with its own key or, as a contract, by ERC-1271 as of the newest block. A contract that is not deployed is not
 * called. Throws an EscrowFailure without an answer of the node.
 */
export async function isSignedBy(
  client: EscrowClient,
  signed: { signer: Address; digest: Hex; signature: Hex },
): Promise<boolean> {
  if (await isOwnKey(signed)) return true;
  const { signer, digest, signature } = signed;
  const code = await askNode(() => client.getCode({ address: signer }));
  // Precompiles answer although they are not contracts.
  if (code === undefined || code === "0x") return false;
  const data = encodeFunctionData({
    abi: ERC_1271,
    functionName: "isValidSignature",
    args: [digest, signature],
  });
  try {
    const answer = await client.call({ to: signer, data });
    return answer.data?.toLowerCase() === ACCEPTED;
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    // A call that fails, for want of gas too, is the contract's fault.
    if (nodeFailureOf(error)?.isVerdict) return false;
    throw new EscrowFailure("node", "the node does not say whether a contract signed", { cause: error });
  }
}

async function isOwnKey({ signer, digest, signature }: Parameters<typeof isSignedBy>[1]): Promise<boolean> {
  try {
    const recovered = await recoverAddress({ hash: digest, signature });
    return recovered.toLowerCase() === signer.toLowerCase();
  } catch {
    // Not a key's signature; a contract may still accept it.
    return false;
  }
}

/**
 * A job cannot be read now. `node`: the node gives no usable answer. `index`: the index has not followed the chain far enough. `malformed`:
 * the escrow's response does not match its generation, and another attempt does not help.
 */
export class EscrowFailure extends Error {
  override readonly name = "EscrowFailure";
  readonly reason: "node" | "index" | "malformed";

  constructor(reason: EscrowFailure["reason"], message: string, options?: { cause: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

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
  { job, block }: { job: JobName; block?: bigint | undefined },
): Promise<EscrowJob | null> {
  try {
    const reported = await askNode(() => readReported(client, escrow, job.jobId, block));
    return reported.client === zeroAddress ? null : jobOf(job, reported);
  } catch (error) {
    if (isRevert(error)) return null;
    throw error;
  }
}

const PAYMENT_TOKEN = parseAbi(["function paymentToken() view returns (address)"]);

/** Reads the token of a job in lower case; null if its escrow names none. Throws an EscrowFailure without a usable answer of the node. */
export async function readPaymentToken(
  client: EscrowClient,
  { address, generation }: KnownEscrow,
  jobId: bigint,
): Promise<Address | null> {
  try {
    return await askNode(async () => {
      // Of the three generations, G3 alone has a token for each job.
      if (generation === "G3") {
        const call = { abi: jobsG3Abi, functionName: "getJob", args: [jobId] } as const;
        return lowerCase((await client.readContract({ address, ...call })).paymentToken);
      }
      return lowerCase(
        await client.readContract({ address, abi: PAYMENT_TOKEN, functionName: "paymentToken" }),
      );
    });
  } catch (error) {
    if (isRevert(error)) return null;
    throw error;
  }
}

async function readReported(
  client: EscrowClient,
  { address, generation }: KnownEscrow,
  jobId: bigint,
  block: bigint | undefined,
) {
  const call = { address, functionName: "getJob", args: [jobId], ...at(block) } as const;
  switch (generation) {
    case "G1":
      return client.readContract({ abi: jobsG1Abi, ...call });
    case "G3":
      return client.readContract({ abi: jobsG3Abi, ...call });
    case "V3":
      return client.readContract({ abi: jobsV3Abi, ...call });
  }
}

function jobOf(
  { chainId, escrow, jobId }: JobName,
  reported: Awaited<ReturnType<typeof readReported>>,
): EscrowJob {
  const status = JOB_STATUSES[reported.status];
  if (status === undefined)
    throw new EscrowFailure(
      "malformed",
      `job ${jobId} of ${escrow}: expected a status from 0 to 5, got ${reported.status}`,
    );
  return {
    chainId,
    escrow: lowerCase(escrow),
    jobId,
    client: lowerCase(reported.client),
    provider: lowerCase(reported.provider),
    evaluator: lowerCase(reported.evaluator),
    status,
    expiredAt: BigInt(reported.expiredAt),
    budget: reported.budget,
    description: reported.description,
  };
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
  const hash = await hashOf(client, escrow.address, block);
  if (hash !== escrow.codeHash) return `its code hashes to ${hash}, not to ${escrow.codeHash}`;
  const [pointer, beacon] = await Promise.all([
    readSlot(client, escrow.address, { slot: IMPLEMENTATION_SLOT, block }),
    readSlot(client, escrow.address, { slot: BEACON_SLOT, block }),
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
  const targetHash = await hashOf(client, target, block);
  if (targetHash === implementation.codeHash) return null;
  return `its implementation's code hashes to ${targetHash}, not to ${implementation.codeHash}`;
}

async function readSlot(
  client: EscrowClient,
  address: Address,
  { slot, block }: { slot: Hex; block: bigint | undefined },
): Promise<Hex> {
  const value = await askNode(() => client.getStorageAt({ address, slot, ...at(block) }));
  return value === undefined || BigInt(value) === 0n ? NOTHING : value;
}

async function hashOf(client: EscrowClient, address: Address, block: bigint | undefined): Promise<Hex> {
  const code = await askNode(() => client.getCode({ address, ...at(block) }));
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
  const { blockHash } = submission;
  const logs = await askNode(() =>
    client.getLogs({ address: escrow, event: SUBMITTED, args: { jobId }, blockHash, strict: true }),
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
  { db, client }: { db: NodePgDatabase; client: Pick<EscrowClient, "getBlock"> },
  chainId: number,
): Promise<bigint> {
  const { number } = await readBlock(client);
  const indexed = await readEscrowIndex(db, chainId);
  return indexed !== null && indexed.number > number ? indexed.number : number;
}
