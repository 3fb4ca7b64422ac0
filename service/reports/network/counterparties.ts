import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Address } from "viem";
import { reportedCounterpartiesOf } from "../../model/features/credit.ts";
import { createMarket, type Market } from "../../model/features/market.ts";
import type { CounterpartyFact, OwnCall, OwnerLink, WalletRows } from "../../model/features/types.ts";
import { sortCalls } from "../../model/features/weigh-calls.ts";
import { MICRO } from "../../model/score/fixed-point.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { compare } from "../diagnosis/report-facts.ts";
import type { Incoming } from "./wallet-network-dealings.ts";

export type Counterparty = Ranked & {
  /** Own calls to it or payments to it, and transfers from it in transactions of others. */
  readonly interactions: number;
  readonly failedCalls: number;
  readonly transfersIn: number;
  readonly volumeOut: Volume;
  readonly volumeIn: Volume;
  /** Unix seconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** q, 0 to 1, the highest of its calls; null if no own call went to it. */
  readonly credit: number | null;
  /** Whether it belongs to the wallet's owner; null where nothing links it, or nothing is known of it. */
  readonly ownerLink: OwnerLink | null;
  /** Lowest address among called accounts of the same owner; null if there is no other. */
  readonly ownerGroup: Address | null;
};

type Tally = ReturnType<typeof newTally>;

/** Accounts and calls processed before the event loop gets a turn. */
const PAUSE_AFTER = 2_000;

/**
 * Finds the counterparties of a wallet and the amounts moved.
 * 1. An own call counts, with all it moved, for the account paid, else for the contract called.
 * 2. If that is an own account, or an execution whose target did not log, it counts for the outside contract of the
 * lowest address in its logs.
 * 3. Transfers by others count for their sender, unless they are dust.
 * Lets other work run in between.
 */
export async function findDealings(question: {
  readonly rows: WalletRows;
  readonly incoming: readonly Incoming[];
  /** Unix seconds; earlier calls are ignored. */
  readonly since: number;
  readonly policy: Policy;
}) {
  const { rows, incoming, policy } = question;
  const market = createMarket(rows.tokens);
  const tallies = new Map<Address, Tally>();
  const tallyOf = (address: Address, at: number): Tally => {
    const tally = tallies.get(address) ?? newTally(at);
    tallies.set(address, tally);
    tally.firstAt = Math.min(tally.firstAt, at);
    tally.lastAt = Math.max(tally.lastAt, at);
    return tally;
  };
  const own = await tallyCalls(question, market, tallyOf);
  const dust = dustSenders(incoming, market, policy);
  let dustTransfers = 0;
  for (const [place, { from, token, amount, transfers, firstAt, lastAt }] of incoming.entries()) {
    if (place % PAUSE_AFTER === 0) await setImmediate();
    if (dust.has(from)) {
      dustTransfers += transfers;
      continue;
    }
    const tally = tallyOf(from, firstAt);
    tally.lastAt = Math.max(tally.lastAt, lastAt);
    tally.transfersIn += transfers;
    tally.in ??= createVolumeTally(market);
    if (token === null) tally.in.addNative(amount, firstAt);
    else tally.in.addToken(token, amount, firstAt);
  }
  const counterparties = await toCounterparties(tallies, rows);
  /** Counterparties by own calls, then by worth received, both falling, then by rising address. */
  return { counterparties, ...own, dust: { senders: dust.size, transfers: dustTransfers } };
}

/** Sums of one account; `credit` is the highest q of its calls. */
function newTally(at: number) {
  return {
    calls: 0,
    failedCalls: 0,
    transfersIn: 0,
    firstAt: at,
    lastAt: at,
    out: null as ReturnType<typeof createVolumeTally> | null,
    in: null as ReturnType<typeof createVolumeTally> | null,
    credit: null as number | null,
  };
}

async function tallyCalls(
  { rows, since, policy }: Parameters<typeof findDealings>[0],
  market: Market,
  tallyOf: (address: Address, at: number) => Tally,
) {
  const calls = sortCalls(rows.calls).filter(({ timestamp }) => timestamp >= since);
  const partners = reportedCounterpartiesOf(rows, calls, policy);
  let callsToItself = 0;
  let callsToNobody = 0;
  for (const [place, call] of calls.entries()) {
    if (place % PAUSE_AFTER === 0) await setImmediate();
    const partner = partners[place];
    if (partner === undefined || partner.address === rows.wallet) {
      if ((call.recipient ?? call.to) === rows.wallet) callsToItself += 1;
      else callsToNobody += 1;
      continue;
    }
    const tally = tallyOf(partner.address, call.timestamp);
    tally.calls += 1;
    if (!call.ok) tally.failedCalls += 1;
    tally.credit = Math.max(tally.credit ?? 0, partner.credit / MICRO);
    addMoves(call, tally, market);
  }
  // Without a counterparty: contract creations, and executions without logs.
  return { callsToItself, callsToNobody };
}

/** Senders whose transfers are all priced and together below the policy's dust bound. */
function dustSenders(incoming: readonly Incoming[], market: Market, policy: Policy): ReadonlySet<Address> {
  const worths = new Map<Address, number | null>();
  for (const { from, token, amount, firstAt } of incoming) {
    const known = worths.get(from);
    if (known === null) continue;
    const worth =
      token === null ? market.nativeWorth(amount, firstAt) : market.tokenWorth(token, amount, firstAt);
    worths.set(from, worth === null ? null : (known === undefined ? 0 : known) + worth);
  }
  const bound = policy.holdings.dustBelowMicroUsd;
  return new Set([...worths].filter(([, worth]) => worth !== null && worth < bound).map(([from]) => from));
}

/** Adds a call's value and token moves, by its logs, or by its calldata if they were not read. A failure moves nothing. */
function addMoves(call: OwnCall, tally: Tally, market: Market): void {
  const { ok, value, timestamp, receipt, to, recipient, amount } = call;
  if (!ok) return;
  tally.out ??= createVolumeTally(market);
  if (value !== null) tally.out.addNative(value, timestamp);
  if (receipt === null) {
    if (recipient !== null && to !== null && amount !== null) tally.out.addToken(to, amount, timestamp);
    return;
  }
  for (const move of receipt.moves) {
    tally.in ??= createVolumeTally(market);
    tally.out.addToken(move.token, -move.amount, timestamp);
    tally.in.addToken(move.token, move.amount, timestamp);
  }
}

async function toCounterparties(
  tallies: ReadonlyMap<Address, Tally>,
  rows: WalletRows,
): Promise<readonly Counterparty[]> {
  const facts = new Map(rows.counterparties.map((fact) => [fact.address, fact]));
  const list: Counterparty[] = [];
  for (const [address, tally] of tallies) {
    if (list.length % PAUSE_AFTER === 0) await setImmediate();
    list.push(counterpartyOf(address, tally, facts.get(address)));
  }
  return list.sort(compareRanked);
}

function counterpartyOf(address: Address, tally: Tally, fact: CounterpartyFact | undefined): Counterparty {
  const { calls, failedCalls, transfersIn, firstAt, lastAt, credit } = tally;
  const volumeIn = tally.in?.volume() ?? NO_VOLUME;
  return {
    address,
    calls,
    broughtMicroUsd: calls > 0 ? 0 : wholeWorth(volumeIn),
    interactions: calls + transfersIn,
    failedCalls,
    transfersIn,
    volumeOut: tally.out?.volume() ?? NO_VOLUME,
    volumeIn,
    firstAt,
    lastAt,
    credit,
    ownerLink: fact?.ownerLink ?? null,
    ownerGroup: fact?.mergedWith ?? null,
  };
}

/** For the rank, where unpriced amounts come last. */
function wholeWorth({ microUsd }: Volume): number {
  return microUsd === null ? 0 : Math.min(Math.round(microUsd), Number.MAX_SAFE_INTEGER);
}

/** Amounts moved in one direction between a wallet and a counterparty. */
export type Volume = {
  readonly nativeWei: bigint;
  /** Priced ones first, by worth, then the others by address. */
  readonly tokens: readonly { token: Address; amount: bigint; microUsd: number | null }[];
  /** Worth of all priced amounts, in millionths of a US dollar; null if amounts moved and none has a price. */
  readonly microUsd: number | null;
  readonly isPriced: boolean;
};

const NO_VOLUME: Volume = { nativeWei: 0n, tokens: [], microUsd: 0, isPriced: true };

/** Sums movements of one direction, each at the price of its day; ignores amounts that are not above zero. */
function createVolumeTally(market: Market) {
  let nativeWei = 0n;
  let native = 0;
  let isNativePriced = true;
  const tokens = new Map<Address, { amount: bigint; microUsd: number | null }>();
  return {
    addNative(wei: bigint, timestamp: number) {
      if (wei <= 0n) return;
      nativeWei += wei;
      const worth = market.nativeWorth(wei, timestamp);
      if (worth === null) isNativePriced = false;
      else native += worth;
    },
    addToken(token: Address, amount: bigint, timestamp: number) {
      if (amount <= 0n) return;
      const known = tokens.get(token);
      const worth = market.tokenWorth(token, amount, timestamp);
      const before = known === undefined ? 0 : known.microUsd;
      tokens.set(token, {
        amount: (known === undefined ? 0n : known.amount) + amount,
        microUsd: before === null || worth === null ? null : before + worth,
      });
    },
    volume(): Volume {
      const moved = [...tokens]
        .map(([token, sum]) => ({ token, ...sum }))
        .sort(
          (one, other) => (other.microUsd ?? -1) - (one.microUsd ?? -1) || compare(one.token, other.token),
        );
      const priced = moved.flatMap(({ microUsd }) => microUsd ?? []);
      const isPriced = isNativePriced && priced.length === moved.length;
      const hasWorth = (nativeWei > 0n && isNativePriced) || priced.length > 0;
      const isEmpty = nativeWei === 0n && moved.length === 0;
      const worth = priced.reduce((sum, microUsd) => sum + microUsd, native);
      return { nativeWei, tokens: moved, microUsd: hasWorth || isEmpty ? worth : null, isPriced };
    },
  };
}

/** Sort key of a list: most own calls, then most worth received, then by rising address. */
export type Ranked = {
  readonly address: Address;
  /** Own calls to it. */
  readonly calls: number;
  /** Whole millionths of a US dollar received from it. 0 for a called account, so that third parties cannot change its rank. */
  readonly broughtMicroUsd: number;
};

/** Negative if `one` comes first; no two addresses are equal. */
export function compareRanked(one: Ranked, other: Ranked): number {
  return (
    other.calls - one.calls ||
    other.broughtMicroUsd - one.broughtMicroUsd ||
    compare(one.address, other.address)
  );
}

/**
 * At most `limit` entries of a sorted list after a position. `next` is the position of the next page; null after the last.
 * Consecutive pages cover the list.
 */
export function pageOf<Entry extends Ranked>(
  sorted: readonly Entry[],
  after: Ranked | null,
  limit: number,
): { entries: readonly Entry[]; next: Ranked | null } {
  const start = after === null ? 0 : sorted.findIndex((entry) => compareRanked(after, entry) < 0);
  if (start < 0) return { entries: [], next: null };
  const entries = sorted.slice(start, start + limit);
  const last = entries.at(-1);
  if (last === undefined || start + limit >= sorted.length) return { entries, next: null };
  return {
    entries,
    next: { address: last.address, calls: last.calls, broughtMicroUsd: last.broughtMicroUsd },
  };
}

/** A digest of 16 hex digits of a sorted list. Pages of lists with different digests must not be combined. */
export function listDigest(sorted: readonly Ranked[]): string {
  const hash = createHash("sha256");
  for (const { address, calls, broughtMicroUsd } of sorted)
    hash.update(`${address} ${calls} ${broughtMicroUsd}\n`);
  return hash.digest("hex").slice(0, 16);
}

/** Direction of dealings: out by own calls, in by transfers from there. Both where it was called and something came from it, in an own call or in another's transaction. */
export function directionOf({ calls, transfersIn, volumeIn }: Counterparty): "out" | "in" | "both" {
  if (calls === 0) return "in";
  return transfersIn > 0 || hasMoved(volumeIn) ? "both" : "out";
}

/**
 * The totals and the concentration of a whole list. Worths are in millionths of a US dollar, null where something moved and
 * nothing of it has a price. Third parties cannot change `callsHhi`.
 */
export function totalsOf(list: readonly Counterparty[]) {
  const byDirection = { out: 0, in: 0, both: 0 };
  for (const counterparty of list) byDirection[directionOf(counterparty)] += 1;
  const sum = (of: (counterparty: Counterparty) => number) =>
    list.reduce((total, counterparty) => total + of(counterparty), 0);
  return {
    counterparties: list.length,
    byDirection,
    interactions: sum(({ interactions }) => interactions),
    calls: sum(({ calls }) => calls),
    failedCalls: sum(({ failedCalls }) => failedCalls),
    transfersIn: sum(({ transfersIn }) => transfersIn),
    outMicroUsd: worthOf(list.map(({ volumeOut }) => volumeOut)),
    inMicroUsd: worthOf(list.map(({ volumeIn }) => volumeIn)),
    unpriced: list.filter(({ volumeOut, volumeIn }) => !volumeOut.isPriced || !volumeIn.isPriced).length,
    // Unpriced parts count as 0.
    callsHhi: herfindahl(list.map(({ calls }) => calls)),
    outHhi: herfindahl(list.map(({ volumeOut }) => volumeOut.microUsd ?? 0)),
    inHhi: herfindahl(list.map(({ volumeIn }) => volumeIn.microUsd ?? 0)),
  };
}

function worthOf(volumes: readonly Volume[]): number | null {
  const moved = volumes.filter(hasMoved);
  const priced = moved.flatMap(({ microUsd }) => microUsd ?? []);
  if (moved.length > 0 && priced.length === 0) return null;
  return priced.reduce((sum, microUsd) => sum + microUsd, 0);
}

function hasMoved({ nativeWei, tokens }: Volume): boolean {
  return nativeWei > 0n || tokens.length > 0;
}

/**
 * Herfindahl-Hirschman index of amounts: the sum of squared shares in percent, 0 to 10,000, rounded. 10,000 is a single
 * counterparty, 10,000 / n are n equal ones. Null if no amount is above zero.
 */
export function herfindahl(amounts: readonly number[]): number | null {
  // Relative to the largest, so that small amounts are not lost in huge sums.
  const largest = amounts.reduce((most, amount) => Math.max(most, amount), 0);
  if (largest <= 0) return null;
  let sum = 0;
  let squares = 0;
  for (const amount of amounts) {
    if (amount <= 0) continue;
    const part = amount / largest;
    sum += part;
    squares += part * part;
  }
  return Math.round((10_000 * squares) / (sum * sum));
}
