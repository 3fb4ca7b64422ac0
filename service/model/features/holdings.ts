import type { Address } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import { isEstablished } from "./credit.ts";
import type { Market } from "./market.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { CallReceipt, CounterpartyFact, OwnCall, WalletRows } from "./types.ts";
import type { WeighedHistory } from "./weigh-calls.ts";

/** A token that the wallet's own calls left it with. */
export type Holding = {
  readonly token: Address;
  /** Amount that own calls brought in, less the amount that they took out; in the token's smallest unit, above 0. */
  readonly amount: bigint;
  /** Listed, or established and used by others. */
  readonly recognised: boolean;
  /** Millionths of a US dollar; null where neither a list nor the wallet's own trades price it. */
  readonly worth: number | null;
};

/** unread: most receipts are missing. none: no call ever brought a token in. held: tokens came in, and some may be left. */
export type Holdings =
  | { readonly kind: "unread" }
  | { readonly kind: "none" }
  | {
      readonly kind: "held";
      readonly tokens: readonly Holding[];
      /** Worth of the native coin that own calls paid of late, in millionths of a US dollar. */
      readonly nativeWorth: number;
    };

/** Why nothing can be said of holdings of either kind. */
export const NO_HOLDINGS = {
  unread: "the receipts of most calls were not read",
  none: "the wallet never acquired a token",
} as const;

type Ledger = {
  /** Amount that own calls brought in, less the amount that they took out. */
  net: bigint;
  /** Unix seconds of the first call that brought it in; null before there is one. */
  acquiredAt: number | null;
  /** Of calls that gave something of known worth for it: how much came, and what was given. */
  bought: bigint;
  givenWorth: number;
};

type Sources = {
  readonly rows: WalletRows;
  readonly history: WeighedHistory;
  readonly market: Market;
  readonly policy: Policy;
};

/** Sums of what own calls moved, whatever their outcome; what strangers send is in no own call. */
export function holdingsOf(sources: Sources): Holdings {
  const { history, policy } = sources;
  if (history.receiptWeight < policy.holdings.minReceiptShare * history.totalWeight) {
    return { kind: "unread" };
  }
  const ledgers = readMoves(sources);
  const acquired = [...ledgers].filter(([, { acquiredAt }]) => acquiredAt !== null);
  if (acquired.length === 0) return { kind: "none" };
  const facts = new Map(sources.rows.counterparties.map((fact) => [fact.address, fact]));
  const tokens = acquired
    .filter(([, { net }]) => net > 0n)
    .map(([token, ledger]) => toHolding(token, ledger, { ...sources, fact: facts.get(token) }));
  return { kind: "held", tokens, nativeWorth: nativePaid(sources) };
}

function readMoves({ history, market }: Sources): ReadonlyMap<Address, Ledger> {
  const ledgers = new Map<Address, Ledger>();
  for (const call of history.calls) {
    const { receipt } = call;
    if (receipt === null || receipt.moves.length === 0) continue;
    const price = purchasePrice(call, receipt, market);
    for (const { token, amount } of receipt.moves) {
      const ledger = ledgerOf(ledgers, token);
      ledger.net += amount;
      if (amount <= 0n) continue;
      ledger.acquiredAt ??= call.timestamp;
      if (price === null) continue;
      ledger.bought += amount;
      ledger.givenWorth += price;
    }
  }
  return ledgers;
}

/** Price that a call paid for each token without a market price; null if it paid nothing of known worth. */
function purchasePrice(call: OwnCall, { moves }: CallReceipt, market: Market): number | null {
  const value = call.value === null || call.value === 0n ? 0 : market.nativeWorth(call.value, call.timestamp);
  let given = value === null ? 0 : value;
  let unpriced = 0;
  for (const { token, amount } of moves) {
    const worth = market.tokenWorth(token, amount, call.timestamp);
    if (worth !== null) given -= worth;
    else if (amount > 0n) unpriced += 1;
  }
  return given > 0 && unpriced > 0 ? given / unpriced : null;
}

function ledgerOf(ledgers: Map<Address, Ledger>, token: Address): Ledger {
  const known = ledgers.get(token);
  if (known !== undefined) return known;
  const made: Ledger = { net: 0n, acquiredAt: null, bought: 0n, givenWorth: 0 };
  ledgers.set(token, made);
  return made;
}

function toHolding(
  token: Address,
  ledger: Ledger,
  { history, market, policy, fact }: Sources & { readonly fact: CounterpartyFact | undefined },
): Holding {
  // The last own call's day: later prices do not move a silent wallet's score.
  const at = history.calls.at(-1)?.timestamp;
  if (at === undefined || ledger.acquiredAt === null) throw new Error(`${token} was held by no call`);
  const isKnown =
    fact !== undefined &&
    fact.outsideUsers >= policy.recognisedUsers &&
    isEstablished(fact, ledger.acquiredAt, policy);
  const listed = market.tokenWorth(token, ledger.net, at);
  const worth = listed ?? boughtWorth(ledger);
  return { token, amount: ledger.net, recognised: market.isListed(token) || isKnown, worth };
}

function boughtWorth({ net, bought, givenWorth }: Ledger): number | null {
  return bought === 0n ? null : (givenWorth * Number(net)) / Number(bought);
}

/** Value and fees of the last own calls: the coin that the wallet runs on, of which a balance could be a gift. */
function nativePaid({ history, market, policy }: Sources): number {
  const last = history.calls.at(-1);
  if (last === undefined) return 0;
  const from = last.timestamp - policy.holdings.nativeDays * SECONDS_PER_DAY;
  let sum = 0;
  for (let position = history.calls.length - 1; position >= 0; position--) {
    const call = history.calls[position];
    if (call === undefined || call.timestamp < from) break;
    const worth = market.nativeWorth((call.value ?? 0n) + call.fee, call.timestamp);
    if (worth !== null) sum += worth;
  }
  return sum;
}
