import { type Address, zeroAddress as NOBODY } from "viem";
import { DEPOSIT, WITHDRAWAL } from "../../chain/node/event-topics.ts";
import type { RawLog } from "../../chain/node/raw-log.ts";
import { addressOf, topicWord, uintOf, wordsOf } from "../../chain/node/words.ts";
import type { CallEffect, TokenMove } from "../../model/features/types.ts";
import type { LogDecoder } from "./decode-log.ts";

/** What an effect is read from. */
export type EffectLog = Pick<RawLog, "address" | "topics" | "data">;

export type EffectOf = {
  readonly wallet: Address;
  /** Lower-case; null on a chain without one. */
  readonly wrappedNative: Address | null;
  /** Those that the wallet itself emitted left out. */
  readonly logs: readonly EffectLog[];
  readonly decode: LogDecoder;
};

/** Tokens of one call that are kept: a call can make any number of contracts log. */
const MAX_MOVES = 32;

/** What a call did by its logs, as `CallEffect` says; an approval of the same token beside a transfer does not make it more. */
export function effectOf(read: EffectOf): CallEffect {
  const { logs } = read;
  const facts = logs.map((log) => factOf(log, read));
  if (facts.length === 0) return "none";
  const all = (...kinds: readonly Fact["is"][]) => facts.every((fact) => kinds.includes(fact.is));
  const some = (kind: Fact["is"]) => facts.some((fact) => fact.is === kind);
  if (all("approval")) return "approval";
  if (some("wrapping") && all("wrapping", "wrapped_token")) return "wrap";
  const tokens = new Set(logs.map((log) => log.address));
  return some("payment") && all("payment", "approval") && tokens.size === 1 ? "transfer" : "other";
}

/**
 * Net ERC-20 changes of the wallet by rising token, those that cancel out left out; of more than 32 tokens those that the
 * logs show first. Wrapping native coin changes the wrapped
 * token also where it logs no Transfer of its own.
 */
export function movesOf(read: EffectOf): readonly TokenMove[] {
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

type Fact = { readonly is: "approval" | "payment" | "wrapping" | "wrapped_token" | "anything" };

function factOf(log: EffectLog, { wallet, wrappedNative, decode }: EffectOf): Fact {
  if (log.address === wrappedNative && wrappingOf(log) !== null) return { is: "wrapping" };
  const decoded = decode(log);
  if (decoded?.event === "approval") return { is: "approval" };
  const [movement] = decoded?.event === "transfer" ? decoded.movements : [];
  if (movement?.standard !== "erc20") return { is: "anything" };
  if (log.address === wrappedNative && (movement.from === NOBODY || movement.to === NOBODY))
    return { is: "wrapped_token" };
  return { is: movement.from === wallet ? "payment" : "anything" };
}

type Wrapping = { readonly event: "deposit" | "withdrawal"; readonly of: Address; readonly amount: bigint };

function wrappingOf(log: EffectLog): Wrapping | null {
  const topic = log.topics[0];
  if (log.topics.length !== 2 || (topic !== DEPOSIT && topic !== WITHDRAWAL)) return null;
  const words = wordsOf(log.data);
  const [of, amount] = [addressOf(topicWord(log.topics[1])), uintOf(words?.[0])];
  if (words?.length !== 1 || of === null || amount === null) return null;
  return { event: topic === DEPOSIT ? "deposit" : "withdrawal", of, amount };
}

/** What wrapping changed of the wallet's wrapped coins that no mint or burn among the logs tells. */
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
    if (wrapping.event === "deposit" && !minted) sum += wrapping.amount;
    if (wrapping.event === "withdrawal" && !burnt) sum -= wrapping.amount;
  }
  return sum;
}
