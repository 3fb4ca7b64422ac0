import { type Address, type Hex, toEventSelector } from "viem";
import { z } from "zod";

const WORD_FORM = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS_FORM = /^0x[0-9a-fA-F]{40}$/;
const HEX_FORM = /^0x[0-9a-fA-F]*$/;
const QUANTITY_FORM = /^0x[0-9a-fA-F]{1,64}$/;

const hex = z
  .string()
  .regex(HEX_FORM)
  .transform((value) => value.toLowerCase() as Hex);
export const word = z
  .string()
  .regex(WORD_FORM)
  .transform((value) => value.toLowerCase() as Hex);
export const address = z
  .string()
  .regex(ADDRESS_FORM)
  .transform((value) => value.toLowerCase() as Address);
export const quantity = z
  .string()
  .regex(QUANTITY_FORM)
  .transform((value) => BigInt(value));
export const count = quantity.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);

/**
 * A log of a mined block; one that a reorg removed is refused, and one that was read already passes. Strangers make logs by the hundred
 * thousand, and a schema of the members takes four times as long as this check.
 */
export const logAnswer = z.unknown().transform((value, { issues }): RawLog => {
  const log = readLog(value);
  if (log !== null) return log;
  issues.push({ code: "custom", input: value, message: "not a log of a mined block" });
  return z.NEVER;
});

const MAX_TOPICS = 4;

function readLog(value: unknown): RawLog | null {
  if (typeof value !== "object" || value === null) return null;
  const given: { readonly [Member in keyof RawLog | "removed"]?: unknown } = value;
  if (given.removed !== undefined && given.removed !== false) return null;
  const [address, data] = [hexOf(given.address, ADDRESS_FORM), hexOf(given.data, HEX_FORM)];
  const blockHash = hexOf(given.blockHash, WORD_FORM);
  const transactionHash = hexOf(given.transactionHash, WORD_FORM);
  const [blockNumber, logIndex] = [countOf(given.blockNumber), countOf(given.logIndex)];
  const topics = topicsOf(given.topics);
  if (address === null || topics === null || data === null || blockNumber === null) return null;
  if (blockHash === null || transactionHash === null || logIndex === null) return null;
  return { address, topics, data, blockNumber, blockHash, transactionHash, logIndex };
}

function topicsOf(value: unknown): readonly Hex[] | null {
  if (!Array.isArray(value) || value.length > MAX_TOPICS) return null;
  const topics: Hex[] = [];
  for (const one of value) {
    const topic = hexOf(one, WORD_FORM);
    if (topic === null) return null;
    topics.push(topic);
  }
  return topics;
}

/** In lower case. */
function hexOf(value: unknown, form: RegExp): Hex | null {
  return typeof value === "string" && form.test(value) ? (value.toLowerCase() as Hex) : null;
}

function countOf(value: unknown): number | null {
  const number = typeof value === "number" || hexOf(value, QUANTITY_FORM) !== null ? Number(value) : -1;
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

/** A receipt, its logs unread: most receipts of a block are read for their price and parties alone. */
export const receiptAnswer = z.object({
  transactionHash: word,
  transactionIndex: count,
  blockNumber: count,
  blockHash: word,
  from: address,
  to: address.nullish(),
  status: z.enum(["0x0", "0x1"]),
  gasUsed: quantity,
  effectiveGasPrice: quantity,
  /** EIP-2718; absent from old nodes. */
  type: count.nullish(),
  /** Rollups of the OP stack; absent and null elsewhere. */
  l1Fee: quantity.nullish(),
  logs: z.array(z.unknown()),
});

export const headerAnswer = z.object({
  number: count,
  hash: word,
  timestamp: count,
  /** Absent before EIP-1559. */
  baseFeePerGas: quantity.nullish(),
});

/** A block with whole transactions, for the prices that they pay. */
export const blockAnswer = headerAnswer.extend({
  transactions: z.array(
    z.object({
      hash: word,
      gasPrice: quantity.nullish(),
      maxFeePerGas: quantity.nullish(),
      maxPriorityFeePerGas: quantity.nullish(),
      /** EIP-7702. */
      authorizationList: z
        .array(z.object({ address, chainId: count, nonce: count, yParity: count, r: quantity, s: quantity }))
        .nullish(),
    }),
  ),
});

export const transactionAnswer = z.object({
  hash: word,
  blockNumber: count,
  blockHash: word,
  transactionIndex: count,
  to: address.nullish(),
  input: hex,
  value: quantity,
  gas: quantity,
});

/** Code or the result of a call. */
export const bytesAnswer = hex.refine((value) => value.length % 2 === 0);

export type RawTransaction = z.infer<typeof transactionAnswer>;
export type RawReceipt = Omit<z.infer<typeof receiptAnswer>, "logs"> & { readonly logs: readonly unknown[] };
export type RawHeader = z.infer<typeof headerAnswer>;
export type RawBlock = z.infer<typeof blockAnswer>;

const WORD = 64;
const HEX_DIGITS = /^[0-9a-f]*$/;

/** The 32-byte words of a log's data; null when it is no whole number of them. */
export function wordsOf(data: Hex): readonly string[] | null {
  const digits = data.slice(2).toLowerCase();
  if (!data.startsWith("0x") || digits.length % WORD !== 0 || !HEX_DIGITS.test(digits)) return null;
  const words: string[] = [];
  for (let start = 0; start < digits.length; start += WORD) words.push(digits.slice(start, start + WORD));
  return words;
}

/** The only word of a topic; null for any other topic. */
export function topicWord(topic: Hex | undefined): string | null {
  return topic !== undefined && WORD_FORM.test(topic) ? topic.slice(2).toLowerCase() : null;
}

/** The lower-case address in a word; null when the word is larger than one. */
export function addressOf(word: string | null | undefined): Address | null {
  if (word === null || word === undefined || !word.startsWith("0".repeat(24))) return null;
  return `0x${word.slice(24)}`;
}

export function uintOf(word: string | null | undefined): bigint | null {
  return word === null || word === undefined ? null : BigInt(`0x${word}`);
}

/** The boolean in a word; null when it is neither 0 nor 1. */
export function boolOf(word: string | null | undefined): boolean | null {
  const value = uintOf(word);
  return value === 0n || value === 1n ? value === 1n : null;
}

/** The uint256[] whose offset, in bytes, is the given head word; null when it does not lie within the words. */
export function uintArrayOf(words: readonly string[], head: number): readonly bigint[] | null {
  const offset = uintOf(words[head]);
  if (offset === null || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return null;
  const start = Number(offset / 32n);
  const length = uintOf(words[start]);
  if (length === null || length > BigInt(words.length - start - 1)) return null;
  return words.slice(start + 1, start + 1 + Number(length)).map((word) => BigInt(`0x${word}`));
}

/** ERC-20 and ERC-721: topics 1 and 2 are from and to; ERC-721 has the id as topic 3. */
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
/** ERC-1155: topics 1, 2, 3 are operator, from, to. */
export const TRANSFER_SINGLE = toEventSelector("TransferSingle(address,address,address,uint256,uint256)");
export const TRANSFER_BATCH = toEventSelector("TransferBatch(address,address,address,uint256[],uint256[])");
/** ERC-20 and ERC-721: topics 1 and 2 are owner and spender; ERC-721 has the id as topic 3. */
export const APPROVAL = toEventSelector("Approval(address,address,uint256)");
/** ERC-721 and ERC-1155: topics 1 and 2 are owner and operator. */
export const APPROVAL_FOR_ALL = toEventSelector("ApprovalForAll(address,address,bool)");
/** Wrapped native coin: topic 1 is whose. */
export const DEPOSIT = toEventSelector("Deposit(address,uint256)");
export const WITHDRAWAL = toEventSelector("Withdrawal(address,uint256)");
/** EIP-3009: topics 1 and 2 are who signed and the nonce. The token's Transfer follows at once. */
export const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)");
/** ERC-4337: topics 1, 2, 3 are the operation's hash, its sender, its paymaster. */
export const USER_OPERATION = toEventSelector(
  "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)",
);
/** ERC-4337: all operations of a bundle are valid, and what follows are their executions in order. */
export const BEFORE_EXECUTION = toEventSelector("BeforeExecution()");
/** Events that an entry point itself emits for an operation that failed in part or whole. */
export const OPERATION_TROUBLE: readonly string[] = [
  "UserOperationRevertReason(bytes32,address,uint256,bytes)",
  "PostOpRevertReason(bytes32,address,uint256,bytes)",
  "UserOperationPrefundTooLow(bytes32,address,uint256)",
].map((event) => toEventSelector(event));
/** Safe: the account that emits it has executed; up to 1.4.0 the hash is no topic. */
export const SAFE_SUCCESS = toEventSelector("ExecutionSuccess(bytes32,uint256)");
export const SAFE_FAILURE = toEventSelector("ExecutionFailure(bytes32,uint256)");
/** AggregatorV3: topics 1 and 2 are the answer and its round. */
export const ANSWER_UPDATED = toEventSelector("AnswerUpdated(int256,uint256,uint256)");

/** A log from a node, with lower-case hex. */
export type RawLog = {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly logIndex: number;
};
