import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { z } from "zod";
import { address, bytesAnswer, count } from "../../chain/node/rpc-answers.ts";
import { askNode, isFailure, type NodeOptions, readAs } from "../history/ask-source.ts";
import { type HistoryFailure, historyFailure } from "../history/history.ts";
import type { AccountFactSource, SourcedFacts } from "./account-facts.ts";
import { delegateOf } from "./read-delegations.ts";

/** Between the starts of two requests: an account takes up to some thirty, and the node has other work. */
const PAUSE_MS = 50;
/** Blocks by which the age of an account without code may be too low: its age counts in days. */
const NEAR_ENOUGH = 256;
/** Accounts that are refused one after the other until the node is taken for one without old states. */
const REFUSALS = 3;

const UNKNOWN: SourcedFacts = { kind: "facts", creator: null, firstFunder: null, existed: null };

const hasOwnCode = bytesAnswer.transform((code) => code !== "0x" && delegateOf(code) === null);
const hasSent = count.transform((sent) => sent > 0);
const blockAnswer = z.object({ timestamp: count }).nullable();
const receiptsAnswer = z.array(z.object({ from: address, contractAddress: address.nullish() })).nullable();

/**
 * Facts from any node that keeps old states: since when an account has code or has sent a transaction, by bisection, and who sent
 * the transaction that created a contract. A contract that a factory created has no creator here, no account a first funder. A node without
 * old states gives nothing; `onMissing` is called once, and it is asked no more.
 */
export function createNodeFacts(
  options: NodeOptions & { readonly onMissing: () => void; readonly pauseMs?: number },
): AccountFactSource {
  let refusals: number | null = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const askFrom = (signal: AbortSignal) => {
    const ask: Ask = async <Answer>(
      method: string,
      params: readonly unknown[],
      schema: z.ZodType<Answer>,
    ) => {
      turn = turn.then(() => sleep(options.pauseMs ?? PAUSE_MS));
      await turn;
      const form = schema.transform((answer): { readonly answer: Answer | null } => ({ answer }));
      const read = (result: unknown) => readAs(form, result, `${method}: an answer of another form`);
      return askNode(options, { method, params, read, refused: { answer: null } }, signal);
    };
    return ask;
  };
  return {
    name: "node",
    read: async ({ address: account, hasCode, block }, signal) => {
      if (refusals === REFUSALS) return UNKNOWN;
      const ask = askFrom(signal);
      const existsAt: ExistsAt = (number) =>
        hasCode
          ? ask("eth_getCode", [account, quantity(number)], hasOwnCode)
          : ask("eth_getTransactionCount", [account, quantity(number)], hasSent);
      const first = await findFirst(existsAt, { last: block, within: hasCode ? 1 : NEAR_ENOUGH });
      if (isFailure(first)) return first;
      if (first.answer === "refused") {
        if (refusals !== null && ++refusals === REFUSALS) options.onMissing();
        return UNKNOWN;
      }
      refusals = null;
      if (first.answer === "never") return UNKNOWN;
      return describe(ask, { account, hasCode, block: first.answer });
    },
  };
}

/** Null for what the node refuses. */
type Ask = <Answer>(
  method: string,
  params: readonly unknown[],
  schema: z.ZodType<Answer>,
) => Promise<{ readonly answer: Answer | null } | HistoryFailure>;

type ExistsAt = (block: number) => Promise<{ readonly answer: boolean | null } | HistoryFailure>;

/** The first block up to `last` from which on an account exists, at most `within` blocks too high. */
async function findFirst(
  existsAt: ExistsAt,
  { last, within }: { readonly last: number; readonly within: number },
): Promise<{ readonly answer: number | "never" | "refused" } | HistoryFailure> {
  let [before, after] = [0, last];
  // The oldest state first: it shows whether the node keeps any.
  for (let block = 0; ; block = Math.floor((before + after) / 2)) {
    const exists = await existsAt(block);
    if (isFailure(exists)) return exists;
    if (exists.answer === null) return { answer: "refused" };
    if (block === 0) {
      if (exists.answer) return { answer: 0 };
      const newest = await existsAt(last);
      if (isFailure(newest)) return newest;
      if (newest.answer !== true) return { answer: newest.answer === null ? "refused" : "never" };
    } else if (exists.answer) after = block;
    else before = block;
    if (after - before <= within) return { answer: after };
  }
}

async function describe(
  ask: Ask,
  {
    account,
    hasCode,
    block,
  }: { readonly account: Address; readonly hasCode: boolean; readonly block: number },
): Promise<SourcedFacts | HistoryFailure> {
  const header = await ask("eth_getBlockByNumber", [quantity(block), false], blockAnswer);
  if (isFailure(header)) return header;
  if (header.answer === null)
    return historyFailure("inconsistent", `the node has the state of block ${block}, and not the block`);
  const existed = { block, timestamp: header.answer.timestamp };
  if (!hasCode) return { ...UNKNOWN, existed };
  const receipts = await ask("eth_getBlockReceipts", [quantity(block)], receiptsAnswer);
  if (isFailure(receipts)) return receipts;
  const created = receipts.answer?.find(({ contractAddress }) => contractAddress === account);
  return { ...UNKNOWN, existed, creator: created?.from ?? null };
}

function quantity(block: number): string {
  return `0x${block.toString(16)}`;
}
