import { type Address, encodeFunctionData, erc20Abi, erc721Abi, type Hex, numberToHex, parseAbi } from "viem";
import { z } from "zod";
import { NodeFailure } from "../../chain/node/failure.ts";
import { createNodeClient, type NodeOptions } from "../../chain/node/json-rpc.ts";
import { address, bytesAnswer, count, headerAnswer, quantity, word } from "../../chain/node/rpc-answers.ts";
import { type Revert, readRevert } from "../../chain/revert-reason.ts";
import { classifySendFailure, type SendFailure } from "../../sender/send-rpc.ts";
import type { SentCall } from "./failed-calls.ts";
import { gasLimitOf, serializeUnsigned } from "./unsigned-transaction.ts";

/** Sends one request; the schema checks the answer. A refusal of the node, such as a revert, is an answer as well. */
export type AskNode = <Answer>(
  schema: z.ZodType<Answer>,
  method: string,
  params: readonly unknown[],
) => Promise<{ kind: "answer"; value: Answer } | { kind: "refused"; failure: SendFailure }>;

export type NodeBlock = {
  readonly number: number;
  readonly hash: Hex;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly gasLimit: bigint;
};

/** State of a wallet at a block, and its later transactions. */
export type WalletState = {
  /** Wei; the lower of the balance at the block and the pending balance. */
  readonly balance: bigint;
  /**
   * delegated_eoa: an EIP-7702 delegation, so that other code acts for it besides its key. smart_account: any other
   * code, so that no key signs for it.
   */
  readonly account: "eoa" | "delegated_eoa" | "smart_account";
  readonly nonce: number;
  /** The first unused nonce, pending transactions included. */
  readonly pendingNonce: number;
  /** Later mined and pending transactions that the node shows. */
  readonly underWay: readonly Pick<SentCall, "hash" | "to" | "input" | "value">[];
};

/** A transaction as it would be sent now. */
type Attempt = { from: Address; to: Address | null; data: Hex; value: bigint };

/**
 * Result of a simulation. `gas` is by eth_estimateGas; `l1Fee` is what a rollup charges for posting the call, in wei.
 * no_code: the called account has no code, so the calldata would have no effect.
 */
export type Trial =
  | { kind: "passes"; gas: bigint; l1Fee: bigint }
  | { kind: "fails"; reason: string }
  | { kind: "no_code" };

/** A wallet's balance of a token (spender null), or an allowance. */
export type HoldingQuery = { readonly token: Address; readonly spender: Address | null };

export type RecoveryNode = ReturnType<typeof createRecoveryNode>;

/** Code of an EIP-7702 delegation; the account's key still signs. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;
/** Most blocks after the given one that are searched for newer transactions. */
const MAX_BLOCKS_BETWEEN = 16;
const WORD = /^0x[0-9a-f]{64}$/;
const FALSE_WORD = /^0x0{64}$/;
/** Selectors of transfer, transferFrom and approve, for which some tokens return false instead of reverting. */
const ANSWERS_TRUE = new Set(["0xa9059cbb", "0x23b872dd", "0x095ea7b3"]);

/**
 * The node as recovery uses it, for one answer; its deadline begins now. Every call throws a NodeFailure without a valid
 * answer. Calls name a block by number; the caller compares the block's hash before and after.
 */
export function createRecoveryNode(options: Parameters<typeof createAskNode>[0]) {
  const ask = createAskNode(options);
  /** Reads one word of a contract; null if the contract gives no valid answer. */
  const readWord = async (to: Address, data: Hex, block: number) => {
    const answer = await ask(bytesAnswer, "eth_call", [{ to, data }, numberToHex(block)]);
    return answer.kind === "answer" && WORD.test(answer.value) ? BigInt(answer.value) : null;
  };
  return {
    /** Null if the node has no block of that number. */
    block: (number: number) => readBlock(ask, number),
    wallet: (wallet: Address, block: number) => readWallet(ask, wallet, block),
    async gasMarket() {
      const head = await askFor(ask, headerAnswer, "eth_getBlockByNumber", ["latest", false]);
      if (head.baseFeePerGas == null) throw new NodeFailure("garbage", "the newest block has no base fee");
      const priorityFeePerGas = await askFor(ask, quantity, "eth_maxPriorityFeePerGas", []);
      return { baseFeePerGas: head.baseFeePerGas, priorityFeePerGas };
    },
    /** Smallest units; null if the token gives no valid answer. */
    holding(owner: Address, { token, spender }: HoldingQuery, block: number) {
      const call =
        spender === null
          ? ({ functionName: "balanceOf", args: [owner] } as const)
          : ({ functionName: "allowance", args: [owner, spender] } as const);
      return readWord(token, encodeFunctionData({ abi: erc20Abi, ...call }), block);
    },
    /** Whether an operator may move all tokens of a collection; null if the collection gives no valid answer. */
    async approvesAll(
      owner: Address,
      { token, spender }: { token: Address; spender: Address },
      block: number,
    ) {
      const call = { functionName: "isApprovedForAll", args: [owner, spender] } as const;
      const answer = await readWord(token, encodeFunctionData({ abi: erc721Abi, ...call }), block);
      return answer === null ? null : answer !== 0n;
    },
    attempt: (call: Attempt, block: NodeBlock) => attempt(ask, call, block),
    transaction: (hash: Hex) => readTransaction(ask, hash),
    simulateSequence: (calls: readonly (Attempt & { gas: bigint })[], block: NodeBlock) =>
      simulateSequence(ask, calls, block),
    replay: (call: SentCall, from: Address) => replay(ask, call, from),
  };
}

/** Asks without viem, whose call would fetch any URL that a contract names (ERC-3668). */
function createAskNode({
  deadlineMs,
  monotonicMs,
  ...options
}: Pick<NodeOptions, "url" | "timeoutMs" | "retries"> & {
  /** After which no further request begins. */
  deadlineMs: number;
  /** Milliseconds of a clock that never goes back. */
  monotonicMs: () => number;
}): AskNode {
  const node = createNodeClient(options);
  const end = monotonicMs() + deadlineMs;
  return async (schema, method, params) => {
    if (monotonicMs() > end) throw new NodeFailure("timeout", `${method}: not begun within ${deadlineMs} ms`);
    let answer: unknown;
    try {
      answer = await node.request(method, params);
    } catch (error) {
      return { kind: "refused", failure: refusalIn(error) };
    }
    const parsed = schema.safeParse(answer);
    if (parsed.success) return { kind: "answer", value: parsed.data };
    throw new NodeFailure("garbage", `${method}: ${z.prettifyError(parsed.error).slice(0, 300)}`);
  };
}

/** The refusal in an error of a request. Throws the error if the node does not judge the request: it is in trouble or lacks the state. */
function refusalIn(error: unknown): SendFailure {
  const failure = classifySendFailure(error);
  const isSilent = failure.kind === "unreachable" || failure.kind === "unknown";
  if (isSilent && !(error instanceof NodeFailure && error.kind === "method_missing")) throw error;
  return failure;
}

/** For requests that a node has no reason to refuse. */
async function askFor<Answer>(
  ask: AskNode,
  ...[schema, method, params]: Parameters<typeof ask<Answer>>
): Promise<Answer> {
  const answer = await ask<Answer>(schema, method, params);
  if (answer.kind === "answer") return answer.value;
  throw new NodeFailure("unreachable", `${method}: ${answer.failure.message}`);
}

const blockAnswer = headerAnswer.extend({ gasLimit: quantity }).nullable();

async function readBlock(ask: AskNode, number: number): Promise<NodeBlock | null> {
  const block = await askFor(ask, blockAnswer, "eth_getBlockByNumber", [numberToHex(number), false]);
  if (block === null) return null;
  const { hash, timestamp, gasLimit } = block;
  if (block.number === number) return { number, hash, timestamp, gasLimit };
  throw new NodeFailure("garbage", `block ${block.number} came instead of ${number}`);
}

async function readWallet(ask: AskNode, wallet: Address, block: number): Promise<WalletState> {
  const at = numberToHex(block);
  const [balance, balanceLeft, nonce, pendingNonce, code] = await Promise.all([
    askFor(ask, quantity, "eth_getBalance", [wallet, at]),
    askFor(ask, quantity, "eth_getBalance", [wallet, "pending"]),
    askFor(ask, count, "eth_getTransactionCount", [wallet, at]),
    askFor(ask, count, "eth_getTransactionCount", [wallet, "pending"]),
    askFor(ask, bytesAnswer, "eth_getCode", [wallet, at]),
  ]);
  if (pendingNonce < nonce) {
    throw new NodeFailure(
      "node_behind",
      `pending nonce ${pendingNonce} is below nonce ${nonce} of block ${block}`,
    );
  }
  return {
    balance: smaller(balance, balanceLeft),
    account: code === "0x" ? "eoa" : DELEGATION.test(code) ? "delegated_eoa" : "smart_account",
    nonce,
    pendingNonce,
    underWay: pendingNonce === nonce ? [] : await findUnderWay(ask, { wallet, block, nonce }),
  };
}

function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

/** A pending transaction has no block. */
const transactionAnswer = z.object({
  hash: word,
  from: address,
  to: address.nullish(),
  nonce: count,
  input: bytesAnswer,
  value: quantity,
  blockNumber: count.nullish(),
});
const fullBlockAnswer = z.object({ transactions: z.array(transactionAnswer) }).nullable();

/** Transactions of the wallet from a nonce on, in the next blocks and the pending one. */
async function findUnderWay(
  ask: AskNode,
  { wallet, block, nonce }: { wallet: Address; block: number; nonce: number },
): Promise<WalletState["underWay"]> {
  const newest = await askFor(ask, count, "eth_blockNumber", []);
  const between = Math.min(Math.max(newest - block, 0), MAX_BLOCKS_BETWEEN);
  const numbers = Array.from({ length: between }, (_, place) => numberToHex(block + 1 + place));
  const found = new Map<number, WalletState["underWay"][number]>();
  for (const number of [...numbers, "pending"]) {
    const full = await askFor(ask, fullBlockAnswer, "eth_getBlockByNumber", [number, true]);
    for (const { from, to, nonce: sent, hash, input, value } of full?.transactions ?? []) {
      if (from === wallet && sent >= nonce) found.set(sent, { hash, to: to ?? null, input, value });
    }
  }
  return [...found.values()];
}

async function attempt(ask: AskNode, call: Attempt, block: NodeBlock): Promise<Trial> {
  const at = numberToHex(block.number);
  if (call.to !== null && call.data !== "0x") {
    const code = await askFor(ask, bytesAnswer, "eth_getCode", [call.to, at]);
    if (code === "0x") return { kind: "no_code" };
  }
  const request = requestOf(call);
  const estimate = await ask(quantity, "eth_estimateGas", [request, at]);
  if (estimate.kind === "refused") return { kind: "fails", reason: reasonOf(estimate.failure) };
  if (estimate.value > block.gasLimit) {
    return { kind: "fails", reason: `It needs ${estimate.value} gas, more than a block has.` };
  }
  const gas = gasLimitOf(estimate.value, block.gasLimit);
  const result = await ask(bytesAnswer, "eth_call", [{ ...request, gas: numberToHex(gas) }, at]);
  if (result.kind === "refused") return { kind: "fails", reason: reasonOf(result.failure) };
  if (ANSWERS_TRUE.has(call.data.slice(0, 10)) && FALSE_WORD.test(result.value)) {
    return { kind: "fails", reason: "The token answers false." };
  }
  return { kind: "passes", gas: estimate.value, l1Fee: await readL1Fee(ask, call, at) };
}

function reasonOf({ kind, message, revertData }: SendFailure): string {
  if (kind === "insufficient_funds") return "The balance does not cover its value.";
  if (kind !== "reverted_in_simulation") return message;
  return readRevert(revertData).reason ?? "no reason given";
}

/** Result of eth_simulateV1: one block with the outcome of each call. */
const simulationAnswer = z.array(
  z.object({ calls: z.array(z.object({ status: z.enum(["0x0", "0x1"]), returnData: bytesAnswer })) }),
);

/**
 * Simulates calls of one account in sequence: per call the failure reason, or null if it passes. Null if the node does
 * not support that (eth_simulateV1) or returns another format.
 */
async function simulateSequence(
  ask: AskNode,
  calls: readonly (Attempt & { gas: bigint })[],
  block: NodeBlock,
): Promise<readonly (string | null)[] | null> {
  const requests = calls.map((call) => ({ ...requestOf(call), gas: numberToHex(call.gas) }));
  const params = [{ blockStateCalls: [{ calls: requests }] }, numberToHex(block.number)];
  const answer = await unless("garbage", ask(simulationAnswer, "eth_simulateV1", params));
  const results = answer?.kind === "answer" ? answer.value[0]?.calls : undefined;
  if (results?.length !== calls.length) return null;
  return results.map(({ status, returnData }) => {
    if (status === "0x1") return null;
    return readRevert(returnData).reason ?? "no reason given";
  });
}

/** Repeats the call on the state before its block; null if it passes or the node has pruned that state. */
async function replay(ask: AskNode, call: SentCall, from: Address): Promise<Revert | null> {
  const request = { ...requestOf({ ...call, from, data: call.input }), gas: numberToHex(call.gasLimit) };
  // Most nodes keep only recent states and report that in many ways.
  const result = await unless(null, ask(bytesAnswer, "eth_call", [request, numberToHex(call.block - 1)]));
  if (result?.kind !== "refused" || result.failure.kind !== "reverted_in_simulation") return null;
  return readRevert(result.failure.revertData);
}

/** Null if the node fails so, or in any way for null. */
async function unless<Answer>(
  kind: NodeFailure["kind"] | null,
  asked: Promise<Answer>,
): Promise<Answer | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof NodeFailure && (kind === null || error.kind === kind)) return null;
    throw error;
  });
}

function requestOf({ from, to, data, value }: Attempt) {
  return { from, ...(to === null ? {} : { to }), data, value: numberToHex(value) };
}

/** Reads a transaction, whose block is null while it is pending; null if the node does not know it or has pruned it. */
export async function readTransaction(ask: AskNode, hash: Hex) {
  const asked = ask(transactionAnswer.nullable(), "eth_getTransactionByHash", [hash]);
  const answer = await unless("state_missing", asked);
  if (answer?.kind !== "answer" || answer.value === null) return null;
  const { to, blockNumber, ...same } = answer.value;
  if (same.hash !== hash)
    throw new NodeFailure("garbage", `transaction ${same.hash} came instead of ${hash}`);
  return { ...same, to: to ?? null, block: blockNumber ?? null };
}

/** Gas oracle of OP-stack rollups; absent on other chains. */
const GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000f";
const gasPriceOracleAbi = parseAbi(["function getL1Fee(bytes data) view returns (uint256)"]);

/** Wei for posting the call to L1, plus a tenth as margin; 0 on chains without such a fee. */
async function readL1Fee(ask: AskNode, { to, data, value }: Attempt, at: Hex): Promise<bigint> {
  const sample = serializeUnsigned({
    type: "eip1559",
    chainId: 2 ** 32,
    nonce: 2 ** 32,
    to,
    data,
    value,
    gas: 2n ** 32n,
    maxFeePerGas: 2n ** 40n,
    maxPriorityFeePerGas: 2n ** 40n,
  });
  const question = encodeFunctionData({ abi: gasPriceOracleAbi, functionName: "getL1Fee", args: [sample] });
  const answer = await ask(bytesAnswer, "eth_call", [{ to: GAS_PRICE_ORACLE, data: question }, at]);
  if (answer.kind === "refused" || !WORD.test(answer.value)) return 0n;
  return (BigInt(answer.value) * 11n) / 10n;
}
