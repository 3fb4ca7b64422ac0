import { type Address, encodeFunctionData, erc20Abi, erc721Abi, type Hex, numberToHex, parseAbi } from "viem";
import { type Revert, readRevert } from "../../chain/revert-reason.ts";
import type { SendFailure } from "../../sender/send-rpc.ts";
import {
  type AskNode,
  type AskOptions,
  bytesAnswer,
  countAnswer,
  createAskNode,
  fullBlockAnswer,
  headerAnswer,
  type NodeAnswer,
  NodeFailure,
  quantityAnswer,
  simulationAnswer,
} from "./ask-node.ts";
import type { SentCall } from "./failed-calls.ts";
import type {
  Attempt,
  HoldingQuery,
  MinedTransaction,
  NodeBlock,
  RecoveryNode,
  Trial,
  WalletState,
} from "./recovery-node.ts";
import { gasLimitOf, serializeUnsigned } from "./unsigned-transaction.ts";

/** Code of an EIP-7702 delegation; the account's key still signs. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/;
/** Most blocks after the given one that are searched for newer transactions. */
const MAX_BLOCKS_BETWEEN = 16;
const WORD = /^0x[0-9a-f]{64}$/;
const FALSE_WORD = /^0x0{64}$/;
/** Selectors of transfer, transferFrom and approve, for which some tokens return false instead of reverting. */
const ANSWERS_TRUE = new Set(["0xa9059cbb", "0x23b872dd", "0x095ea7b3"]);

/** A node behind one HTTP endpoint, for one answer; its deadline begins now. */
export function createRecoveryNode(options: AskOptions): RecoveryNode {
  const ask = createAskNode(options);
  return {
    block: (number) => readBlock(ask, number),
    wallet: (wallet, block) => readWallet(ask, wallet, block),
    async gasMarket() {
      const head = await askFor(ask, headerAnswer, "eth_getBlockByNumber", ["latest", false]);
      if (head.baseFeePerGas == null) throw new NodeFailure("garbage", "the newest block has no base fee");
      const priorityFeePerGas = await askFor(ask, quantityAnswer, "eth_maxPriorityFeePerGas", []);
      return { baseFeePerGas: head.baseFeePerGas, priorityFeePerGas };
    },
    holding: (owner, query, block) => readHolding(ask, { owner, query, block }),
    approvesAll: (owner, { token, spender }, block) => readApproval(ask, { owner, token, spender, block }),
    attempt: (call, block) => attempt(ask, call, block),
    transaction: (hash) => readTransaction(ask, hash),
    rehearse: (calls, block) => rehearse(ask, calls, block),
    replay: (call, from) => replay(ask, call, from),
  };
}

async function readBlock(ask: AskNode, number: number): Promise<NodeBlock | null> {
  const block = await askFor(ask, headerAnswer.nullable(), "eth_getBlockByNumber", [
    numberToHex(number),
    false,
  ]);
  if (block === null) return null;
  const { hash, timestamp, gasLimit } = block;
  if (block.number !== number)
    throw new NodeFailure("garbage", `block ${block.number} came instead of ${number}`);
  return { number, hash, timestamp, gasLimit };
}

async function readWallet(ask: AskNode, wallet: Address, block: number): Promise<WalletState> {
  const at = numberToHex(block);
  const [balance, balanceLeft, nonce, pendingNonce, code] = await Promise.all([
    askFor(ask, quantityAnswer, "eth_getBalance", [wallet, at]),
    askFor(ask, quantityAnswer, "eth_getBalance", [wallet, "pending"]),
    askFor(ask, countAnswer, "eth_getTransactionCount", [wallet, at]),
    askFor(ask, countAnswer, "eth_getTransactionCount", [wallet, "pending"]),
    askFor(ask, bytesAnswer, "eth_getCode", [wallet, at]),
  ]);
  if (pendingNonce < nonce) {
    throw new NodeFailure(
      "behind",
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

/** Transactions of the wallet from a nonce on, in the next blocks and the pending one. */
async function findUnderWay(
  ask: AskNode,
  { wallet, block, nonce }: { readonly wallet: Address; readonly block: number; readonly nonce: number },
): Promise<WalletState["underWay"]> {
  const newest = await askFor(ask, countAnswer, "eth_blockNumber", []);
  const between = Math.min(Math.max(newest - block, 0), MAX_BLOCKS_BETWEEN);
  const numbers = Array.from({ length: between }, (_, place) => numberToHex(block + 1 + place));
  const found = new Map<number, WalletState["underWay"][number]>();
  for (const number of [...numbers, "pending"]) {
    const full = await askFor(ask, fullBlockAnswer.nullable(), "eth_getBlockByNumber", [number, true]);
    for (const { from, to, nonce: sent, hash, input, value } of full?.transactions ?? []) {
      if (from === wallet && sent >= nonce) found.set(sent, { hash, to: to ?? null, input, value });
    }
  }
  return [...found.values()];
}

async function readHolding(
  ask: AskNode,
  { owner, query, block }: { readonly owner: Address; readonly query: HoldingQuery; readonly block: number },
): Promise<bigint | null> {
  const { token, spender } = query;
  const data =
    spender === null
      ? encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] })
      : encodeFunctionData({ abi: erc20Abi, functionName: "allowance", args: [owner, spender] });
  const answer = await ask(bytesAnswer, "eth_call", [{ to: token, data }, numberToHex(block)]);
  return answer.kind === "answer" && WORD.test(answer.value) ? BigInt(answer.value) : null;
}

async function readApproval(
  ask: AskNode,
  {
    owner,
    token,
    spender,
    block,
  }: {
    readonly owner: Address;
    readonly token: Address;
    readonly spender: Address;
    readonly block: number;
  },
): Promise<boolean | null> {
  const data = encodeFunctionData({
    abi: erc721Abi,
    functionName: "isApprovedForAll",
    args: [owner, spender],
  });
  const answer = await ask(bytesAnswer, "eth_call", [{ to: token, data }, numberToHex(block)]);
  return answer.kind === "answer" && WORD.test(answer.value) ? !FALSE_WORD.test(answer.value) : null;
}

async function attempt(ask: AskNode, call: Attempt, block: NodeBlock): Promise<Trial> {
  const at = numberToHex(block.number);
  if (call.to !== null && call.data !== "0x") {
    const code = await askFor(ask, bytesAnswer, "eth_getCode", [call.to, at]);
    if (code === "0x") return { kind: "no_code" };
  }
  const request = requestOf(call);
  const estimate = await ask(quantityAnswer, "eth_estimateGas", [request, at]);
  if (estimate.kind === "refused") return failed(estimate.failure);
  if (estimate.value > block.gasLimit) {
    return {
      kind: "fails",
      reason: `It needs ${estimate.value} gas, more than a block has.`,
    };
  }
  const gas = gasLimitOf(estimate.value, block.gasLimit);
  const result = await ask(bytesAnswer, "eth_call", [{ ...request, gas: numberToHex(gas) }, at]);
  if (result.kind === "refused") return failed(result.failure);
  if (ANSWERS_TRUE.has(call.data.slice(0, 10)) && FALSE_WORD.test(result.value)) {
    return { kind: "fails", reason: "The token answers false." };
  }
  return { kind: "passes", gas: estimate.value, l1Fee: await readL1Fee(ask, call, at) };
}

function failed(failure: SendFailure): Trial {
  if (failure.kind === "insufficient_funds") {
    return { kind: "fails", reason: "The balance does not cover its value." };
  }
  if (failure.kind !== "reverted_in_simulation") {
    return { kind: "fails", reason: failure.message };
  }
  const { reason } = readRevert(failure.revertData);
  return { kind: "fails", reason: reason ?? "The call reverts, and no reason is given." };
}

/** By eth_simulateV1, which not every node has. */
async function rehearse(
  ask: AskNode,
  calls: readonly (Attempt & { readonly gas: bigint })[],
  block: NodeBlock,
): Promise<readonly (string | null)[] | null> {
  const requests = calls.map((call) => ({ ...requestOf(call), gas: numberToHex(call.gas) }));
  const answer = await askOrNull(ask, simulationAnswer, "eth_simulateV1", [
    { blockStateCalls: [{ calls: requests }] },
    numberToHex(block.number),
  ]);
  const results = answer?.[0]?.calls;
  if (results?.length !== calls.length) return null;
  return results.map(({ status, returnData }) => {
    if (status === "0x1") return null;
    return readRevert(returnData).reason ?? "The call fails, and no reason is given.";
  });
}

async function replay(ask: AskNode, call: SentCall, from: Address): Promise<Revert | null> {
  const request = { ...requestOf({ ...call, from, data: call.input }), gas: numberToHex(call.gasLimit) };
  try {
    const result = await ask(bytesAnswer, "eth_call", [request, numberToHex(call.block - 1)]);
    if (result.kind === "answer" || result.failure.kind !== "reverted_in_simulation") return null;
    return readRevert(result.failure.revertData);
  } catch (error) {
    // Most nodes keep only recent states and report that in many ways.
    if (error instanceof NodeFailure) return null;
    throw error;
  }
}

function requestOf({ from, to, data, value }: Attempt) {
  return { from, ...(to === null ? {} : { to }), data, value: numberToHex(value) };
}

/** For methods that not every node supports in the same format. */
async function askOrNull<Answer>(
  ask: AskNode,
  ...[schema, method, params]: Parameters<typeof ask<Answer>>
): Promise<Answer | null> {
  try {
    const answer: NodeAnswer<Answer> = await ask(schema, method, params);
    return answer.kind === "answer" ? answer.value : null;
  } catch (error) {
    if (error instanceof NodeFailure && error.kind === "garbage") return null;
    throw error;
  }
}

/** For requests that a node has no reason to refuse. */
async function askFor<Answer>(
  ask: AskNode,
  ...[schema, method, params]: Parameters<typeof ask<Answer>>
): Promise<Answer> {
  const answer: NodeAnswer<Answer> = await ask(schema, method, params);
  if (answer.kind === "answer") return answer.value;
  throw new NodeFailure("unreachable", `${method}: ${answer.failure.message}`);
}

function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

const transactionAnswer = fullBlockAnswer.shape.transactions.element
  .extend({ blockNumber: countAnswer.nullish() })
  .nullable();

/** Reads a transaction by hash; null if the node does not know it or has pruned it. Throws a NodeFailure without an answer. */
export async function readTransaction(ask: AskNode, hash: Hex): Promise<MinedTransaction | null> {
  const answer = await ask(transactionAnswer, "eth_getTransactionByHash", [hash]);
  if (answer.kind === "refused" || answer.value === null) return null;
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
    ...{ type: "eip1559", chainId: 2 ** 32, nonce: 2 ** 32, to, data, value, gas: 2n ** 32n },
    ...{ maxFeePerGas: 2n ** 40n, maxPriorityFeePerGas: 2n ** 40n },
  });
  const question = encodeFunctionData({
    abi: gasPriceOracleAbi,
    functionName: "getL1Fee",
    args: [sample],
  });
  const answer = await ask(bytesAnswer, "eth_call", [{ to: GAS_PRICE_ORACLE, data: question }, at]);
  if (answer.kind === "refused" || !WORD.test(answer.value)) return 0n;
  return (BigInt(answer.value) * 11n) / 10n;
}
