import { zeroAddress as NOBODY } from "viem";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  addressOf,
  boolOf,
  type RawLog,
  TRANSFER,
  TRANSFER_BATCH,
  TRANSFER_SINGLE,
  topicWord,
  USER_OPERATION,
  uintArrayOf,
  uintOf,
  wordsOf,
} from "../../chain/node/rpc-answers.ts";
import type { enrichApproval, enrichTransfer, enrichUserOperation } from "../../db/tables/enrich.ts";

/** One token movement, whose amount is null for ERC-721 and whose id for ERC-20; a batch is several of them. */
type Movement = Pick<typeof enrichTransfer.$inferSelect, "standard" | "from" | "to" | "amount" | "tokenId">;

type ApprovalFact = Pick<
  typeof enrichApproval.$inferSelect,
  "kind" | "owner" | "spender" | "amount" | "tokenId" | "approved"
>;

export type DecodedLog =
  /** leftOut: movements of a batch beyond those that are read. */
  | { readonly event: "transfer"; readonly movements: readonly Movement[]; readonly leftOut: number }
  | { readonly event: "approval"; readonly approval: ApprovalFact }
  | {
      readonly event: "user_operation";
      readonly operation: Omit<
        typeof enrichUserOperation.$inferSelect,
        "chainId" | "block" | "logIndex" | "transactionHash" | "timestamp" | "entryPoint"
      >;
    };

/** Reads logs as `decodeLog` does. */
export type LogDecoder = (log: Pick<RawLog, "topics" | "data">) => DecodedLog | null;

/** A decoder that reads every log object once, however many calls it belongs to. */
export function createLogDecoder(): LogDecoder {
  const known = new Map<Pick<RawLog, "topics" | "data">, DecodedLog | null>();
  return (log) => {
    const found = known.get(log);
    if (found !== undefined) return found;
    const decoded = decodeLog(log);
    known.set(log, decoded);
    return decoded;
  };
}

/** Decodes a log of ERC-20, ERC-721, ERC-1155 or ERC-4337; null for other events and malformed logs. Never throws. */
export function decodeLog(log: Pick<RawLog, "topics" | "data">): DecodedLog | null {
  const words = wordsOf(log.data);
  if (words === null) return null;
  const topics = log.topics.slice(1).map(topicWord);
  switch (log.topics[0]?.toLowerCase()) {
    case TRANSFER:
      return transferred(tokenMovement(topics, words));
    case TRANSFER_SINGLE:
      return transferred(singleMovement(topics, words));
    case TRANSFER_BATCH:
      return batch(topics, words);
    case APPROVAL:
      return approvedBy(tokenApproval(topics, words));
    case APPROVAL_FOR_ALL:
      return approvedBy(approvalForAll(topics, words));
    case USER_OPERATION:
      return userOperation(topics, words);
    case undefined:
      return null;
  }
  return null;
}

type Words = readonly (string | null)[];

/** Movements of one batch that are read: each further one costs its sender 550 gas. */
const MAX_BATCH = 256;

function transferred(movements: readonly Movement[] | null, of = movements?.length ?? 0): DecodedLog | null {
  return movements === null ? null : { event: "transfer", movements, leftOut: of - movements.length };
}

function approvedBy(approval: ApprovalFact | null): DecodedLog | null {
  return approval === null ? null : { event: "approval", approval };
}

function tokenMovement(topics: Words, data: Words): readonly Movement[] | null {
  const [from, to] = [addressOf(topics[0]), addressOf(topics[1])];
  const value = thirdArgument(topics, data);
  if (from === null || to === null || value === null) return null;
  return value.indexed
    ? [{ standard: "erc721", from, to, amount: null, tokenId: value.word }]
    : [{ standard: "erc20", from, to, amount: value.word, tokenId: null }];
}

/** The uint256 that ERC-20 puts into the data and ERC-721 into a topic. */
function thirdArgument(
  topics: Words,
  data: Words,
): { readonly word: bigint; readonly indexed: boolean } | null {
  const indexed = topics.length === 3 && data.length === 0;
  if (!indexed && !(topics.length === 2 && data.length === 1)) return null;
  const word = uintOf(indexed ? topics[2] : data[0]);
  return word === null ? null : { word, indexed };
}

function singleMovement(topics: Words, data: Words): readonly Movement[] | null {
  const [from, to] = [addressOf(topics[1]), addressOf(topics[2])];
  const [tokenId, amount] = [uintOf(data[0]), uintOf(data[1])];
  if (topics.length !== 3 || data.length !== 2 || addressOf(topics[0]) === null) return null;
  if (from === null || to === null || tokenId === null || amount === null) return null;
  return [{ standard: "erc1155", from, to, amount, tokenId }];
}

function batch(topics: Words, data: readonly string[]): DecodedLog | null {
  const [from, to] = [addressOf(topics[1]), addressOf(topics[2])];
  if (topics.length !== 3 || addressOf(topics[0]) === null || from === null || to === null) return null;
  const [ids, amounts] = [uintArrayOf(data, 0), uintArrayOf(data, 1)];
  if (ids === null || amounts === null || ids.length !== amounts.length) return null;
  const movements = ids.slice(0, MAX_BATCH).flatMap((tokenId, index) => {
    const amount = amounts[index];
    return amount === undefined ? [] : [{ standard: "erc1155" as const, from, to, amount, tokenId }];
  });
  return transferred(movements, ids.length);
}

function tokenApproval(topics: Words, data: Words): ApprovalFact | null {
  const [owner, spender] = [addressOf(topics[0]), addressOf(topics[1])];
  const value = thirdArgument(topics, data);
  if (owner === null || spender === null || value === null) return null;
  return value.indexed
    ? { kind: "token", owner, spender, amount: null, tokenId: value.word, approved: spender !== NOBODY }
    : { kind: "amount", owner, spender, amount: value.word, tokenId: null, approved: value.word > 0n };
}

function approvalForAll(topics: Words, data: Words): ApprovalFact | null {
  const [owner, spender, approved] = [addressOf(topics[0]), addressOf(topics[1]), boolOf(data[0])];
  if (topics.length !== 2 || data.length !== 1) return null;
  if (owner === null || spender === null || approved === null) return null;
  return { kind: "all", owner, spender, amount: null, tokenId: null, approved };
}

function userOperation(topics: Words, data: Words): DecodedLog | null {
  const [hash, wallet, paymaster] = [topics[0], addressOf(topics[1]), addressOf(topics[2])];
  const [nonce, success, cost, used] = [uintOf(data[0]), boolOf(data[1]), uintOf(data[2]), uintOf(data[3])];
  if (topics.length !== 3 || data.length !== 4) return null;
  if (hash === null || hash === undefined || wallet === null || paymaster === null) return null;
  if (nonce === null || success === null || cost === null || used === null) return null;
  const operation = {
    userOpHash: `0x${hash}` as const,
    wallet,
    paymaster: paymaster === NOBODY ? null : paymaster,
    nonce,
    success,
    actualGasCostWei: cost,
    actualGasUsed: used,
  };
  return { event: "user_operation", operation };
}
