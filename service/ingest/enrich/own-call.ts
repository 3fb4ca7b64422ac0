import { type Address, type Hex, zeroAddress as NOBODY } from "viem";
import {
  AUTHORIZATION_USED,
  addressOf,
  DEPOSIT,
  logAnswer,
  type RawLog,
  type RawReceipt,
  topicWord,
  uintOf,
  WITHDRAWAL,
  wordsOf,
} from "../../chain/node/rpc-answers.ts";
import { readTokenPayment } from "../../chain/token-payment.ts";
import type { ownCall } from "../../db/tables/enrich.ts";
import type { CallEffect, CallReceipt, OwnCall, TokenMove } from "../../model/features/types.ts";
import { createLogDecoder, decodeLog, type LogDecoder } from "./decode-log.ts";
import type { IndexedCall } from "./enrich-reads.ts";

/** A wallet's call, its account's execution or its signed payment: a mined transaction's own members, or those of the inner call. */
export type MinedCall = Omit<IndexedCall, "value"> & {
  /** Wei; of an execution that a trace does not show null. */
  readonly value: bigint | null;
  /** 0 for a transaction, else the number of the log that shows the execution or payment, plus 1. */
  readonly position: number;
  /** Wei, without the L1 fee. */
  readonly fee: bigint;
};

export type OwnCallRow = typeof ownCall.$inferInsert;

const SELECTOR_CHARACTERS = 10;
/** Most contracts of one call's logs: each becomes a contact whose facts are requested, and costs an attacker 400 gas. */
const MAX_EMITTERS = 32;

/** The call as the model reads it, from a node alone. Logs of the wallet itself are no effect. */
export function describeCall(
  call: MinedCall,
  outcome: {
    /** Its logs, in order. */
    readonly logs: readonly EffectLog[];
    /** Shared by the calls of one transaction; absent where there is but one. */
    readonly decode?: LogDecoder;
    /** Wei; null where the receipt has none. */
    readonly l1Fee: bigint | null;
    /** Base fee of the block and tip of its stretch in wei per gas, see `marketPriceOf`; null where unknown. */
    readonly marketPrice: bigint | null;
  },
  wrappedNative: Address | null,
): OwnCall & { readonly receipt: CallReceipt } {
  const { wallet, input, block: blockNumber, fee, ...same } = call;
  const logs = outcome.logs.filter((log) => log.address !== wallet);
  const read = { wallet, wrappedNative, logs, decode: outcome.decode ?? createLogDecoder() };
  return {
    ...same,
    blockNumber,
    ...calldataOf(call),
    fee: fee + (outcome.l1Fee ?? 0n),
    receipt: {
      marketPrice: outcome.marketPrice,
      effect: effectOf(read),
      emitters: [...new Set(logs.map((log) => log.address))].slice(0, MAX_EMITTERS),
      moves: movesOf(read),
    },
  };
}

/** The stored form of a call that enrichment read. */
export function ownCallRow(
  call: MinedCall,
  outcome: Parameters<typeof describeCall>[1],
  stored: Pick<OwnCallRow, "chainId" | "origin"> & { readonly wrappedNative: Address | null },
): OwnCallRow {
  const { receipt } = describeCall(call, outcome, stored.wrappedNative);
  return {
    ...unreadCallRow(call, stored),
    l1FeeWei: outcome.l1Fee,
    marketPriceWei: receipt.marketPrice,
    effect: receipt.effect,
    logs: outcome.logs.length,
    emitters: [...receipt.emitters],
    moves: receipt.moves.map(({ token, amount }) => `${token}:${amount}`),
  };
}

/** The stored form of a call whose receipt is too large for an answer of the node. */
export function unreadCallRow(
  call: MinedCall,
  { chainId, origin }: Pick<OwnCallRow, "chainId" | "origin">,
): OwnCallRow {
  const { input, gasPrice, fee, ...same } = call;
  return {
    ...same,
    chainId,
    origin,
    source: "enrich",
    ...calldataOf(call),
    gasPriceWei: gasPrice,
    feeWei: fee,
    l1FeeWei: null,
    marketPriceWei: null,
    effect: null,
    logs: null,
    emitters: null,
    moves: null,
  };
}

/** First four bytes of calldata, null for less; and the token payment that it asks for. */
export function calldataOf({
  wallet,
  to,
  input,
}: {
  readonly wallet: Address;
  readonly to: Address | null;
  readonly input: string;
}) {
  const payment = to === null ? null : readTokenPayment(input, wallet);
  return {
    selector:
      input.length < SELECTOR_CHARACTERS ? null : (input.slice(0, SELECTOR_CHARACTERS).toLowerCase() as Hex),
    recipient: payment?.recipient ?? null,
    amount: payment?.amount ?? null,
  };
}

export type EffectLog = Pick<RawLog, "address" | "topics" | "data">;

type EffectOf = {
  readonly wallet: Address;
  /** Lower-case; null on a chain without one. */
  readonly wrappedNative: Address | null;
  /** Without those that the wallet itself emitted. */
  readonly logs: readonly EffectLog[];
  readonly decode: LogDecoder;
};

/** Most tokens of one call: a call can make any number of contracts log. */
const MAX_MOVES = 32;

/** The effect of a call by its logs, see `CallEffect`. An approval or used authorization of the same token beside a transfer changes nothing. */
function effectOf(read: EffectOf): CallEffect {
  const { logs } = read;
  const facts = logs.map((log) => factOf(log, read));
  if (facts.length === 0) return "none";
  const all = (...kinds: readonly Fact[]) => facts.every((fact) => kinds.includes(fact));
  const some = (kind: Fact) => facts.includes(kind);
  if (all("approval")) return "approval";
  if (some("wrapping") && all("wrapping", "wrapped_token")) return "wrap";
  const tokens = new Set(logs.map((log) => log.address));
  const isTransfer = some("payment") && all("payment", "approval", "authorization") && tokens.size === 1;
  return isTransfer ? "transfer" : "other";
}

/** Net ERC-20 changes of the wallet by rising token, at most 32. Wrapping changes the wrapped token even without a Transfer. */
function movesOf(read: EffectOf): readonly TokenMove[] {
  const { wallet, wrappedNative, logs, decode } = read;
  const sums = new Map<Address, bigint>();
  const add = (token: Address, amount: bigint) => sums.set(token, (sums.get(token) ?? 0n) + amount);
  for (const log of logs) {
    const decoded = decode(log);
    if (decoded?.event !== "transfer") continue;
    for (const { standard, from, to, amount } of decoded.movements) {
      if (standard !== "erc20" || amount === null) continue;
      if (to === wallet) add(log.address, amount);
      if (from === wallet) add(log.address, -amount);
    }
  }
  if (wrappedNative !== null) add(wrappedNative, silentWrapping(read));
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .slice(0, MAX_MOVES)
    .map(([token, amount]) => ({ token, amount }))
    .toSorted((a, b) => (a.token < b.token ? -1 : 1));
}

type Fact = "approval" | "authorization" | "payment" | "wrapping" | "wrapped_token" | "anything";

function factOf(log: EffectLog, { wallet, wrappedNative, decode }: EffectOf): Fact {
  if (log.address === wrappedNative && wrappingOf(log) !== null) return "wrapping";
  if (log.topics[0] === AUTHORIZATION_USED) return "authorization";
  const decoded = decode(log);
  if (decoded?.event === "approval") return "approval";
  const [movement] = decoded?.event === "transfer" ? decoded.movements : [];
  if (movement?.standard !== "erc20") return "anything";
  if (log.address === wrappedNative && (movement.from === NOBODY || movement.to === NOBODY))
    return "wrapped_token";
  return movement.from === wallet ? "payment" : "anything";
}

/** The account of a deposit or withdrawal of wrapped coin, and its change of them. */
function wrappingOf(log: EffectLog): { readonly of: Address; readonly change: bigint } | null {
  const topic = log.topics[0];
  if (log.topics.length !== 2 || (topic !== DEPOSIT && topic !== WITHDRAWAL)) return null;
  const words = wordsOf(log.data);
  const [of, amount] = [addressOf(topicWord(log.topics[1])), uintOf(words?.[0])];
  if (words?.length !== 1 || of === null || amount === null) return null;
  return { of, change: topic === DEPOSIT ? amount : -amount };
}

/** Changes of the wallet's wrapped coins by wrapping, except those that a mint or burn in the logs shows. */
function silentWrapping({ wallet, wrappedNative, logs, decode }: EffectOf): bigint {
  const own = logs.filter((log) => log.address === wrappedNative);
  const isMovement = (log: EffectLog, from: Address, to: Address): boolean => {
    const decoded = decode(log);
    const [movement] = decoded?.event === "transfer" ? decoded.movements : [];
    return movement?.from === from && movement.to === to;
  };
  const minted = own.some((log) => isMovement(log, NOBODY, wallet));
  const burnt = own.some((log) => isMovement(log, wallet, NOBODY));
  let sum = 0n;
  for (const log of own) {
    const wrapping = wrappingOf(log);
    if (wrapping?.of !== wallet) continue;
    if (!(wrapping.change < 0n ? burnt : minted)) sum += wrapping.change;
  }
  return sum;
}

/** The called account; its payee if the only log is a Transfer of the called token from the sender; null for a creation. */
export function payeeOf(receipt: Pick<RawReceipt, "from" | "to" | "logs">): Address | null {
  const called = receipt.to ?? null;
  const [only, ...others] = receipt.logs;
  if (called === null || only === undefined || others.length > 0) return called;
  const log = logAnswer.safeParse(only);
  if (!log.success || log.data.address !== called) return called;
  const decoded = decodeLog(log.data);
  const [movement] = decoded?.event === "transfer" ? decoded.movements : [];
  const isPayment = movement?.standard === "erc20" && movement.from === receipt.from;
  return isPayment ? movement.to : called;
}

/** Median, rounded down, in wei per gas of what was paid above the base fee; deposits of a rollup, which pay less, are left out. */
export function medianTip(gasPrices: readonly bigint[], baseFee: bigint): bigint | null {
  const tips = gasPrices.filter((price) => price >= baseFee).map((price) => price - baseFee);
  tips.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const upper = tips[Math.floor(tips.length / 2)];
  const lower = tips[Math.floor((tips.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2n;
}
