import type { Address } from "viem";

/** Amount of one token that a call moved in or out. */
export type Leg = {
  readonly token: Address;
  /** Smallest unit, above 0. */
  readonly amount: bigint;
  /** Millionths of a US dollar; null if neither a feed nor the other side of the trade prices it. */
  readonly worth: bigint | null;
};

/** History of one token; amounts in its smallest unit, money in millionths of a US dollar. */
export type TokenLedger = ReturnType<LedgerKeeper["close"]>;
export type LedgerKeeper = ReturnType<typeof openLedger>;

/** Less is no gain and no loss: rounding and the spread of daily prices. */
const CENT = 10_000n;

/**
 * Tracks the lots of one token through calls in order. Gains are measured in a currency, which has no cost, sale or gain
 * itself. `contract` is the target or source of a transfer without a counterpart; null if unknown.
 */
export function openLedger({ isCurrency }: { isCurrency: boolean }) {
  const lots = createLotQueue();
  const deposits = openDeposits();
  /**
   * bought, sold: in trades. received: got for nothing in return (claims, withdrawals, wrapped coin). sent: payments and
   * deposits. uncovered: given without ever having come by an own call.
   */
  const sums = { bought: 0n, sold: 0n, received: 0n, sent: 0n, uncovered: 0n };
  /**
   * wins, losses: sales with a gain or loss of one cent or more. legs: purchases and sales; unpricedLegs: those of them with
   * an unknown price or a partly unknown cost. returns: from where it had been sent, at the original cost.
   */
  const counts = { sales: 0, wins: 0, losses: 0, legs: 0, unpricedLegs: 0, returns: 0 };
  let realised: bigint | null = null;
  let lastTrade: { readonly amount: bigint; readonly worth: bigint } | null = null;
  const noteTrade = ({ amount, worth }: Leg, isKnown: boolean) => {
    counts.legs += 1;
    if (!isKnown) counts.unpricedLegs += 1;
    if (worth !== null) lastTrade = { amount, worth };
  };
  const take = (amount: bigint) => {
    const taken = lots.take(amount);
    sums.uncovered += taken.uncovered;
    return taken;
  };
  return {
    buy(leg: Leg) {
      sums.bought += leg.amount;
      lots.add({ amount: leg.amount, cost: isCurrency ? null : leg.worth });
      if (!isCurrency) noteTrade(leg, leg.worth !== null);
    },
    sell(leg: Leg) {
      sums.sold += leg.amount;
      const taken = take(leg.amount);
      if (isCurrency) return;
      const result = resultOf(leg, taken);
      counts.sales += 1;
      noteTrade(leg, result.isWhole);
      if (result.gain === null) return;
      realised = (realised ?? 0n) + result.gain;
      if (result.gain >= CENT) counts.wins += 1;
      if (result.gain <= -CENT) counts.losses += 1;
    },
    receive({ amount, worth }: Leg, contract: Address | null) {
      sums.received += amount;
      if (isCurrency) return lots.add({ amount, cost: null });
      const { parts, uncovered } =
        contract === null ? { parts: [], uncovered: amount } : deposits.takeBack(contract, amount);
      if (parts.length > 0) counts.returns += 1;
      for (const lot of parts) lots.add(lot);
      if (uncovered === 0n) return;
      lots.add({ amount: uncovered, cost: worth === null ? null : (worth * uncovered) / amount });
    },
    send({ amount }: Leg, contract: Address | null) {
      sums.sent += amount;
      const taken = take(amount);
      if (contract !== null && !isCurrency) deposits.put(contract, taken);
    },
    close: () => ({
      ...sums,
      ...counts,
      /** Gains of sales less their losses, where price and cost are known; null where no sale is. */
      realised,
      /** Worth and amount of its newest priced trade; null without one. */
      lastTrade,
      /** Remaining lots from own calls, oldest first. */
      lots: lots.rest(),
    }),
  };
}

/** Gain of the parts of a sale with known cost; null without any. */
function resultOf({ amount, worth }: Leg, { parts, uncovered }: Taken) {
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

/** Lots of one token, first in, first out. Amounts and costs are conserved to the last unit. */
function createLotQueue() {
  const lots: Lot[] = [];
  let first = 0;
  return {
    add(lot: Lot) {
      lots.push(lot);
    },
    /** Removes an amount from the oldest lots. A split lot keeps the rest of its cost. */
    take(amount: bigint): Taken {
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

function split(lot: Lot, amount: bigint): { taken: Lot; left: Lot } {
  const { cost } = lot;
  const part = cost === null ? null : (cost * amount) / lot.amount;
  return {
    taken: { amount, cost: part },
    left: { amount: lot.amount - amount, cost: cost === null || part === null ? null : cost - part },
  };
}

/** Lots of one token that were sent without a return, by target, until they come back. */
function openDeposits() {
  const byContract = new Map<Address, ReturnType<typeof createLotQueue>>();
  return {
    put(contract: Address, { parts, uncovered }: Taken) {
      const queue = byContract.get(contract) ?? createLotQueue();
      byContract.set(contract, queue);
      // An amount without known origin has no known cost when it returns.
      for (const lot of parts) queue.add(lot);
      if (uncovered > 0n) queue.add({ amount: uncovered, cost: null });
    },
    /** Takes back an amount at its original cost, oldest first; `uncovered` is new. */
    takeBack: (contract: Address, amount: bigint): Taken =>
      byContract.get(contract)?.take(amount) ?? { parts: [], uncovered: amount },
  };
}
