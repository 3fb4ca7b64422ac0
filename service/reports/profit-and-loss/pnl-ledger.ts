import type { Address } from "viem";
import type { Leg } from "./pnl-legs.ts";

/** History of one token; amounts in its smallest unit, money in millionths of a US dollar. */
export type TokenLedger = {
  /** Got in trades. */
  readonly bought: bigint;
  /** Given in trades. */
  readonly sold: bigint;
  /** Got for nothing in return: claims, withdrawals, wrapped coin. */
  readonly received: bigint;
  /** Given for nothing in return: payments and deposits. */
  readonly sent: bigint;
  /** Given without ever having come by an own call. */
  readonly uncovered: bigint;
  /** Remaining lots from own calls, oldest first. */
  readonly lots: readonly Lot[];
  /** Gains of sales less their losses, where price and cost are known; null where no sale is. */
  readonly realised: bigint | null;
  readonly sales: number;
  /** Sales with a gain, and with a loss, of one cent or more. */
  readonly wins: number;
  readonly losses: number;
  /** Purchases and sales, and those of them with an unknown price or a partly unknown cost. */
  readonly legs: number;
  readonly unpricedLegs: number;
  /** Worth and amount of its newest priced trade; null without one. */
  readonly lastTrade: { readonly amount: bigint; readonly worth: bigint } | null;
  /** Number of returns from where it had been sent, at the original cost. */
  readonly returns: number;
};

/** `contract` is the target or source of a transfer without a counterpart; null if unknown. */
export type LedgerKeeper = {
  buy(leg: Leg): void;
  sell(leg: Leg): void;
  receive(leg: Leg, contract: Address | null): void;
  send(leg: Leg, contract: Address | null): void;
  close(): TokenLedger;
};

/** Less is no gain and no loss: rounding and the spread of daily prices. */
const CENT = 10_000n;

const NO_COUNTS = { sales: 0, wins: 0, losses: 0, legs: 0, unpricedLegs: 0, returns: 0 } as const;

type Counts = { -readonly [name in keyof typeof NO_COUNTS]: number };

/** Tracks the lots of one token through calls in order. */
export function openLedger(): LedgerKeeper {
  const lots = createLotQueue();
  const deposits = openDeposits();
  const sums = { bought: 0n, sold: 0n, received: 0n, sent: 0n, uncovered: 0n };
  const counts: Counts = { ...NO_COUNTS };
  let realised: bigint | null = null;
  let lastTrade: TokenLedger["lastTrade"] = null;
  const noteTrade = ({ amount, worth }: Leg, isKnown: boolean) => {
    counts.legs += 1;
    if (!isKnown) counts.unpricedLegs += 1;
    if (worth !== null) lastTrade = { amount, worth };
  };
  return {
    buy(leg) {
      sums.bought += leg.amount;
      lots.add({ amount: leg.amount, cost: leg.worth });
      noteTrade(leg, leg.worth !== null);
    },
    sell(leg) {
      sums.sold += leg.amount;
      const taken = lots.take(leg.amount);
      sums.uncovered += taken.uncovered;
      const result = resultOf(leg, taken);
      counts.sales += 1;
      noteTrade(leg, result.isWhole);
      if (result.gain === null) return;
      realised = (realised ?? 0n) + result.gain;
      if (result.gain >= CENT) counts.wins += 1;
      if (result.gain <= -CENT) counts.losses += 1;
    },
    receive({ amount, worth }, contract) {
      sums.received += amount;
      const { parts, uncovered } =
        contract === null ? { parts: [], uncovered: amount } : deposits.takeBack(contract, amount);
      if (parts.length > 0) counts.returns += 1;
      for (const lot of parts) lots.add(lot);
      if (uncovered === 0n) return;
      lots.add({ amount: uncovered, cost: worth === null ? null : (worth * uncovered) / amount });
    },
    send({ amount }, contract) {
      sums.sent += amount;
      const taken = lots.take(amount);
      sums.uncovered += taken.uncovered;
      if (contract !== null) deposits.put(contract, taken);
    },
    close: () => ({ ...sums, ...counts, realised, lastTrade, lots: lots.rest() }),
  };
}

/** Tracks amounts of a currency. Gains are measured in it, so that it has no cost, sale or gain itself. */
export function openCurrencyLedger(): LedgerKeeper {
  const lots = createLotQueue();
  const sums = { bought: 0n, sold: 0n, received: 0n, sent: 0n, uncovered: 0n };
  const come = (kind: "bought" | "received", amount: bigint) => {
    sums[kind] += amount;
    lots.add({ amount, cost: null });
  };
  const go = (kind: "sold" | "sent", amount: bigint) => {
    sums[kind] += amount;
    sums.uncovered += lots.take(amount).uncovered;
  };
  return {
    buy: ({ amount }) => come("bought", amount),
    sell: ({ amount }) => go("sold", amount),
    receive: ({ amount }) => come("received", amount),
    send: ({ amount }) => go("sent", amount),
    close: () => ({ ...sums, ...NO_COUNTS, realised: null, lastTrade: null, lots: lots.rest() }),
  };
}

/** Gain of the parts of a sale with known cost; null without any. */
function resultOf(
  { amount, worth }: Leg,
  { parts, uncovered }: Taken,
): {
  readonly gain: bigint | null;
  readonly isWhole: boolean;
} {
  if (worth === null) return { gain: null, isWhole: false };
  let gain: bigint | null = null;
  let isWhole = uncovered === 0n;
  let past = 0n;
  for (const part of parts) {
    // Computed cumulatively, so that the parts add up to the price.
    const price = (worth * (past + part.amount)) / amount - (worth * past) / amount;
    past += part.amount;
    if (part.cost === null) isWhole = false;
    else gain = (gain ?? 0n) + price - part.cost;
  }
  return { gain, isWhole };
}

/** Part of a token's holdings with one origin. */
type Lot = {
  /** Smallest unit, above 0. */
  readonly amount: bigint;
  /** Cost in millionths of a US dollar; null if unknown. */
  readonly cost: bigint | null;
};

/** Removed lots, oldest first; `uncovered` is the amount without a lot. */
type Taken = { readonly parts: readonly Lot[]; readonly uncovered: bigint };

/** Lots of one token, first in, first out. */
type LotQueue = {
  add(lot: Lot): void;
  /** Removes an amount from the oldest lots. A split lot keeps the rest of its cost. */
  take(amount: bigint): Taken;
  /** Remaining lots, oldest first. */
  rest(): readonly Lot[];
};

/** An empty queue; amounts and costs are conserved to the last unit. */
function createLotQueue(): LotQueue {
  const lots: Lot[] = [];
  let first = 0;
  return {
    add(lot) {
      lots.push(lot);
    },
    take(amount) {
      const parts: Lot[] = [];
      let open = amount;
      for (let lot = lots[first]; lot !== undefined && open > 0n; lot = lots[first]) {
        if (lot.amount <= open) {
          parts.push(lot);
          open -= lot.amount;
          first += 1;
          continue;
        }
        const { taken, left } = split(lot, open);
        parts.push(taken);
        lots[first] = left;
        open = 0n;
      }
      return { parts, uncovered: open };
    },
    rest: () => lots.slice(first),
  };
}

function split(lot: Lot, amount: bigint): { readonly taken: Lot; readonly left: Lot } {
  const { cost } = lot;
  const part = cost === null ? null : (cost * amount) / lot.amount;
  return {
    taken: { amount, cost: part },
    left: { amount: lot.amount - amount, cost: cost === null || part === null ? null : cost - part },
  };
}

/** Lots of one token that were sent without a return, by target, until they come back. */
type Deposits = {
  put(contract: Address, taken: Taken): void;
  /** Takes back an amount at its original cost, oldest first; `uncovered` is new. */
  takeBack(contract: Address, amount: bigint): Taken;
};

/** Empty deposits. */
function openDeposits(): Deposits {
  const byContract = new Map<Address, LotQueue>();
  return {
    put(contract, { parts, uncovered }) {
      const queue = byContract.get(contract) ?? createLotQueue();
      byContract.set(contract, queue);
      // An amount without known origin has no known cost when it returns.
      const unknown: readonly Lot[] = uncovered === 0n ? [] : [{ amount: uncovered, cost: null }];
      for (const lot of [...parts, ...unknown]) queue.add(lot);
    },
    takeBack: (contract, amount) =>
      byContract.get(contract)?.take(amount) ?? { parts: [], uncovered: amount },
  };
}
