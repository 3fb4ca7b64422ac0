import type { Address } from "viem";
import { standingsOf } from "../features/credit.ts";
import { createMarket, type Market } from "../features/market.ts";
import type { OwnCall, OwnerLink, WalletRows } from "../features/types.ts";
import { sortCalls } from "../features/weigh-calls.ts";
import { MICRO } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Incoming } from "../store/wallet-network-dealings.ts";
import { compareRanked } from "./counterparties-page.ts";
import { createVolumeTally, type Volume, type VolumeTally } from "./counterparties-volume.ts";

/** An account that the wallet dealt with. */
export type Counterparty = {
  readonly address: Address;
  /** Own calls to it or payments to it, and transfers from it in transactions of others. */
  readonly interactions: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly transfersIn: number;
  readonly volumeOut: Volume;
  readonly volumeIn: Volume;
  /** Unix seconds. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** q, 0 to 1; null for an account that no own call went to. */
  readonly credit: number | null;
  /** Whether it belongs to the wallet's owner; null where nothing links it, or nothing is known of it. */
  readonly ownerLink: OwnerLink | null;
  /** Lowest of the accounts called that share an owner with it; null where none does. */
  readonly ownerGroup: Address | null;
};

export type DealingsQuestion = {
  readonly rows: WalletRows;
  readonly incoming: readonly Incoming[];
  /** Unix seconds; calls before it are not looked at. */
  readonly since: number;
  readonly policy: Policy;
};

export type Dealings = {
  /** By falling interactions, then by rising address. */
  readonly counterparties: readonly Counterparty[];
  /** Own calls of the window that called or paid the wallet itself. */
  readonly callsToItself: number;
  /** Those that show no counterparty: contract creations, and executions that no log explains. */
  readonly callsToNobody: number;
};

type Tally = {
  calls: number;
  failedCalls: number;
  transfersIn: number;
  readonly out: VolumeTally;
  readonly in: VolumeTally;
  firstAt: number;
  lastAt: number;
  credit: number | null;
};

/**
 * Whom a wallet dealt with, and what moved. A call counts for whom the model counts it: who is paid, else who is called, else
 * whom its logs show; so does all that it moved. What others sent counts for whom it came from.
 */
export function findDealings({ rows, incoming, since, policy }: DealingsQuestion): Dealings {
  const market = createMarket(rows.tokens);
  const tallies = new Map<Address, Tally>();
  const tallyOf = (address: Address, at: number): Tally => {
    const known = tallies.get(address);
    if (known === undefined) {
      const made = emptyTally(market, at);
      tallies.set(address, made);
      return made;
    }
    known.firstAt = Math.min(known.firstAt, at);
    known.lastAt = Math.max(known.lastAt, at);
    return known;
  };
  const calls = sortCalls(rows.calls).filter(({ timestamp }) => timestamp >= since);
  const standings = standingsOf(rows, calls, policy);
  let callsToItself = 0;
  let callsToNobody = 0;
  for (const [place, call] of calls.entries()) {
    const standing = standings[place];
    if (standing === undefined || standing.address === rows.wallet) {
      if ((call.recipient ?? call.to) === rows.wallet) callsToItself += 1;
      else callsToNobody += 1;
      continue;
    }
    const tally = tallyOf(standing.address, call.timestamp);
    tally.calls += 1;
    if (!call.ok) tally.failedCalls += 1;
    tally.credit = Math.max(tally.credit ?? 0, standing.credit / MICRO);
    addMoves(call, tally);
  }
  for (const { from, token, amount, transfers, firstAt, lastAt } of incoming) {
    const tally = tallyOf(from, firstAt);
    tally.lastAt = Math.max(tally.lastAt, lastAt);
    tally.transfersIn += transfers;
    if (token === null) tally.in.addNative(amount, firstAt);
    else tally.in.addToken(token, amount, firstAt);
  }
  return { counterparties: counterpartiesOf(tallies, rows), callsToItself, callsToNobody };
}

function emptyTally(market: Market, at: number): Tally {
  return {
    calls: 0,
    failedCalls: 0,
    transfersIn: 0,
    out: createVolumeTally(market),
    in: createVolumeTally(market),
    firstAt: at,
    lastAt: at,
    credit: null,
  };
}

/** What a call moved: its value, and the tokens by its logs, or by its calldata where they were not read; a failure moved nothing. */
function addMoves(call: OwnCall, tally: Tally): void {
  const { ok, value, timestamp, receipt, to, recipient, amount } = call;
  if (!ok) return;
  tally.out.addNative(value, timestamp);
  if (receipt === null) {
    if (recipient !== null && to !== null && amount !== null) tally.out.addToken(to, amount, timestamp);
    return;
  }
  for (const move of receipt.moves) {
    tally.out.addToken(move.token, -move.amount, timestamp);
    tally.in.addToken(move.token, move.amount, timestamp);
  }
}

function counterpartiesOf(tallies: ReadonlyMap<Address, Tally>, rows: WalletRows): readonly Counterparty[] {
  const facts = new Map(rows.counterparties.map((fact) => [fact.address, fact]));
  return [...tallies]
    .map(([address, tally]): Counterparty => {
      const { calls, failedCalls, transfersIn, firstAt, lastAt, credit } = tally;
      const fact = facts.get(address);
      return {
        address,
        interactions: calls + transfersIn,
        calls,
        failedCalls,
        transfersIn,
        volumeOut: tally.out.volume(),
        volumeIn: tally.in.volume(),
        firstAt,
        lastAt,
        credit,
        ownerLink: fact?.ownerLink ?? null,
        ownerGroup: fact?.mergedWith ?? null,
      };
    })
    .sort(compareRanked);
}
