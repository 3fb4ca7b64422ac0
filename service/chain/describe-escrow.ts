import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  encodeFunctionData,
  getAddress,
  type Hex,
  isHex,
  keccak256,
  type PublicClient,
  parseAbi,
  size,
  slice,
} from "viem";
import bytecodes from "../../contracts/bytecode.json" with { type: "json" };
import { jobAdapterG1Abi } from "./abi/job-adapter-g1.ts";
import { jobAdapterG3Abi } from "./abi/job-adapter-g3.ts";
import { jobAdapterV3Abi } from "./abi/job-adapter-v3.ts";
import type { Deployment } from "./deployments.ts";

export type Escrow = Deployment["escrows"][number];

/** An escrow whose jobs are to be settled, from the block on from which its events are indexed. */
export type EscrowWish = Pick<Escrow, "address" | "startBlock" | "generation">;

/** The contract that reads jobs of a generation for the evaluator: ABI and creation code. */
export const ADAPTERS = {
  G1: { abi: jobAdapterG1Abi, bytecode: bytecodes.JobAdapterG1 },
  G3: { abi: jobAdapterG3Abi, bytecode: bytecodes.JobAdapterG3 },
  V3: { abi: jobAdapterV3Abi, bytecode: bytecodes.JobAdapterV3 },
} as const;

/** Where ERC-1967 proxies keep the address of their implementation. */
const IMPLEMENTATION_SLOT: Hex = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
const WORD_BYTES = 32;

/** The calls that the evaluator ends jobs with; the same in all supported generations. */
const TERMINAL_CALLS = [
  { signature: "complete(uint256,bytes32,bytes)", selector: "d75bbdf3" },
  { signature: "reject(uint256,bytes32,bytes)", selector: "41dd26f5" },
] as const;

const getJobAbi = parseAbi(["function getJob(uint256 jobId)"]);

/**
 * Describes an escrow by its code: the hash of it and, for a proxy of ERC-1967, the implementation with its hash. Reads only;
 * throws when there is no code.
 */
export async function describeEscrow(client: PublicClient, wish: EscrowWish): Promise<Escrow> {
  return (await readEscrow(client, wish)).escrow;
}

/**
 * Describes an escrow that is to be settled. Throws, besides, when its code lacks the calls that end a job, or when job 1 does not
 * read as one of the generation. Reads only.
 */
export async function requireEscrow(client: PublicClient, wish: EscrowWish): Promise<Escrow> {
  const { escrow, code } = await readEscrow(client, wish);
  requireTerminalCalls(escrow.implementation?.address ?? escrow.address, code);
  await requireReadable(client, escrow);
  return escrow;
}

/** The code is that which decides: the implementation's where there is one. */
async function readEscrow(
  client: PublicClient,
  wish: EscrowWish,
): Promise<{ readonly escrow: Escrow; readonly code: Hex }> {
  const address = getAddress(wish.address);
  const code = await codeOf(client, address);
  const known = { ...wish, address, codeHash: keccak256(code) };
  const target = await readImplementation(client, address);
  if (target === null) return { escrow: { ...known, implementation: null }, code };
  const targetCode = await codeOf(client, target);
  const implementation = { address: target, codeHash: keccak256(targetCode) };
  return { escrow: { ...known, implementation }, code: targetCode };
}

async function codeOf(client: PublicClient, address: Address): Promise<Hex> {
  const code = await client.getCode({ address });
  if (code === undefined || code === "0x") throw new Error(`there is no contract at ${address}`);
  return code;
}

/** Null for a contract that is no proxy of ERC-1967. */
async function readImplementation(client: PublicClient, address: Address): Promise<Address | null> {
  const slot = await client.getStorageAt({ address, slot: IMPLEMENTATION_SLOT });
  return slot === undefined || BigInt(slot) === 0n ? null : getAddress(slice(slot, 12));
}

/** A fork may answer `getJob` alike and end its jobs by other calls: its jobs would be judged and never settled. */
function requireTerminalCalls(address: Address, code: Hex): void {
  const missing = TERMINAL_CALLS.filter(({ selector }) => !code.includes(selector));
  if (missing.length === 0) return;
  const names = missing.map(({ signature }) => signature).join(" and ");
  throw new Error(`the code at ${address} has no ${names}: the evaluator could not end its jobs`);
}

/** Reads job 1 by the adapter's code, which need not be deployed. Ids start at 1, so an escrow without a job 1 has no job. */
async function requireReadable(
  client: PublicClient,
  { address: escrow, generation }: EscrowWish,
): Promise<void> {
  const { abi, bytecode: code } = ADAPTERS[generation];
  if (!isHex(code)) throw new Error("contracts/bytecode.json holds something else than code");
  try {
    await client.readContract({ code, abi, functionName: "readJob", args: [escrow, 1n] });
  } catch (error) {
    const revert =
      error instanceof BaseError && error.walk((e) => e instanceof ContractFunctionRevertedError);
    const name = revert instanceof ContractFunctionRevertedError ? revert.data?.errorName : undefined;
    if (name === "UnknownJob") return;
    const answer = await describeAnswer(client, escrow);
    throw new Error(
      `job 1 of the escrow ${escrow} does not read as one of generation ${generation}: ${answer}. base-contracts in its form of April 2026, with 12 words before the description, is not supported`,
      { cause: error },
    );
  }
}

async function describeAnswer(client: PublicClient, escrow: Address): Promise<string> {
  try {
    const data = encodeFunctionData({ abi: getJobAbi, functionName: "getJob", args: [1n] });
    const { data: answer } = await client.call({ to: escrow, data });
    if (answer === undefined) return "getJob(1) answers nothing";
    return `getJob(1) answers ${size(answer)} bytes, ${Math.floor(size(answer) / WORD_BYTES)} words`;
  } catch {
    return "getJob(1) reverts";
  }
}
