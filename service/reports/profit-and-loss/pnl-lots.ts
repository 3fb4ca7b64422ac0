/** Part of a token's holdings that came at once. */
export type Lot = {
  /** Smallest unit, above 0. */
  readonly amount: bigint;
  /** What it cost, in millionths of a US dollar; null where that is not known. */
  readonly cost: bigint | null;
};

/** What left, first the oldest lots; `uncovered` is what no lot accounts for. */
export type Taken = { readonly parts: readonly Lot[]; readonly uncovered: bigint };

/** Lots of one token, first in, first out. */
export type LotQueue = {
  add(lot: Lot): void;
  /** Takes an amount from the oldest lots; one that is taken in part keeps the rest of its cost. */
  take(amount: bigint): Taken;
  /** What is left, oldest first. */
  rest(): readonly Lot[];
};

/** An empty queue; amounts and costs are conserved to the last unit. */
export function createLotQueue(): LotQueue {
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
