/** Who acts in which block of the chain of the scale bench. */
export type Schedule = {
  /** Calls of each wallet, the payments that it signs among them; the first wallets have the most. */
  readonly calls: Uint32Array;
  /** Number of a wallet's calls up to a block, included. */
  readonly callsBy: (wallet: number, block: number) => number;
  /** Events of a block, by place. */
  readonly eventsIn: (block: number) => readonly ScheduledEvent[];
  /** Blocks of a range that concern a wallet, in no order. */
  readonly blocksOf: (wallet: number, range: { readonly from: number; readonly to: number }) => number[];
};

/** The `rank`-th call of a wallet, or the `rank`-th transaction of a stranger for it, counted from 0. */
export type ScheduledEvent = {
  readonly of: "call" | "receipt";
  readonly wallet: number;
  readonly rank: number;
};

export type ScheduleOptions = {
  readonly seed: number;
  readonly wallets: number;
  readonly calls: number;
  /** Calls of the first wallet, if its part of `calls` is less. */
  readonly busiest: number;
  /** Number of the last block; the first one with events is 1. */
  readonly lastBlock: number;
};

/** Exponent of the tail: of 27,000 wallets the first has 5 % of all calls, the one in the middle a thousandth of a per cent. */
const TAIL = 0.9;
/** Transactions of strangers for a wallet, of its calls. */
const RECEIVED_PART = 0.3;
/** One wallet in so many began within the chain's time. */
const YOUNG_EVERY = 3;

/** 32 bits that depend on the seed and all numbers. */
export function mix(seed: number, ...numbers: readonly number[]): number {
  let hash = Math.imul(seed + 1, 0x27d4eb2f);
  hash ^= hash >>> 15;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number | 0), 0x9e3779b1);
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

type Kind = { readonly of: ScheduledEvent["of"]; readonly salt: number; readonly counts: Uint32Array };

/**
 * Spreads the calls of each wallet over cells of equal length, one in each, at a place that the seed gives. Holds four bytes for each
 * event and each block, and nothing else of the chain.
 */
export function createSchedule({
  seed,
  wallets,
  calls: wanted,
  busiest,
  lastBlock,
}: ScheduleOptions): Schedule {
  const starts = Uint32Array.from({ length: wallets }, (_, wallet) =>
    wallet > 0 && mix(seed, 1, wallet) % YOUNG_EVERY === 0
      ? 1 + (mix(seed, 2, wallet) % Math.ceil(lastBlock * 0.9))
      : 1,
  );
  const calls = tailOf({
    wallets,
    wanted,
    busiest,
    mostOf: (wallet) => lastBlock - at(starts, wallet),
  });
  const received = calls.map((count) => Math.ceil(count * RECEIVED_PART));
  const kinds: readonly Kind[] = [
    { of: "call", salt: 3, counts: calls },
    { of: "receipt", salt: 4, counts: received },
  ];
  const cellOf = ({ counts }: Kind, wallet: number) =>
    Math.floor((lastBlock - at(starts, wallet)) / at(counts, wallet));
  const blockOf = (kind: Kind, wallet: number, rank: number, cell: number) =>
    at(starts, wallet) + rank * cell + (mix(seed, kind.salt, wallet, rank) % cell);
  const index = indexOf({ lastBlock, kinds, wallets, cellOf, blockOf });
  const rankBy = (kind: Kind, wallet: number, block: number) => {
    const [start, cell] = [at(starts, wallet), cellOf(kind, wallet)];
    if (block < start) return 0;
    const rank = Math.floor((block - start) / cell);
    if (rank >= at(kind.counts, wallet)) return at(kind.counts, wallet);
    return blockOf(kind, wallet, rank, cell) <= block ? rank + 1 : rank;
  };
  return {
    calls,
    callsBy: (wallet, block) => rankBy(kindAt(kinds, 0), wallet, block),
    eventsIn: (block) =>
      Array.from(index.codesIn(block), (code) => {
        const kind = kindAt(kinds, code % kinds.length);
        const wallet = Math.floor(code / kinds.length);
        return { of: kind.of, wallet, rank: rankBy(kind, wallet, block) - 1 };
      }),
    blocksOf: (wallet, { from, to }) =>
      kinds.flatMap((kind) => {
        const [first, end] = [rankBy(kind, wallet, from - 1), rankBy(kind, wallet, to)];
        const cell = cellOf(kind, wallet);
        return Array.from({ length: end - first }, (_, place) => blockOf(kind, wallet, first + place, cell));
      }),
  };
}

/** Numbers of calls with a heavy tail, at least 3 each; their sum is about the wanted one. */
function tailOf(of: {
  readonly wallets: number;
  readonly wanted: number;
  readonly busiest: number;
  readonly mostOf: (wallet: number) => number;
}): Uint32Array {
  const { wallets, wanted, busiest, mostOf } = of;
  const weights = Float64Array.from({ length: wallets }, (_, wallet) => (wallet + 1) ** -TAIL);
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const first = Math.max(busiest, wanted / sum);
  return Uint32Array.from(weights, (weight, wallet) => {
    const count = wallet === 0 ? first : (Math.max(0, wanted - first) * weight) / (sum - 1);
    return Math.min(Math.max(3, Math.round(count)), mostOf(wallet));
  });
}

/** The events of each block, by counting. */
function indexOf(of: {
  readonly lastBlock: number;
  readonly kinds: readonly Kind[];
  readonly wallets: number;
  readonly cellOf: (kind: Kind, wallet: number) => number;
  readonly blockOf: (kind: Kind, wallet: number, rank: number, cell: number) => number;
}) {
  const { lastBlock, kinds, wallets, cellOf, blockOf } = of;
  const ends = new Uint32Array(lastBlock + 2);
  const forEach = (use: (block: number, code: number) => void) => {
    for (const [place, kind] of kinds.entries())
      for (let wallet = 0; wallet < wallets; wallet += 1) {
        const [count, cell] = [at(kind.counts, wallet), cellOf(kind, wallet)];
        for (let rank = 0; rank < count; rank += 1)
          use(blockOf(kind, wallet, rank, cell), wallet * kinds.length + place);
      }
  };
  forEach((block) => {
    ends[block + 1] = at(ends, block + 1) + 1;
  });
  for (let block = 1; block < ends.length; block += 1) ends[block] = at(ends, block) + at(ends, block - 1);
  const codes = new Uint32Array(at(ends, lastBlock + 1));
  // Filled from the start of each block on, which then is the end of it.
  forEach((block, code) => {
    codes[at(ends, block)] = code;
    ends[block] = at(ends, block) + 1;
  });
  return {
    codesIn: (block: number) => codes.subarray(block === 0 ? 0 : at(ends, block - 1), at(ends, block)),
  };
}

function at(numbers: Uint32Array, place: number): number {
  const number = numbers[place];
  if (number === undefined) throw new RangeError(`expected a place below ${numbers.length}, got ${place}`);
  return number;
}

function kindAt(kinds: readonly Kind[], place: number): Kind {
  const kind = kinds[place];
  if (kind === undefined) throw new RangeError(`expected a kind below ${kinds.length}, got ${place}`);
  return kind;
}
