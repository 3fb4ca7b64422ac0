import { type Address, zeroAddress } from "viem";
import type { Payment, Spending } from "../service/model/backing/cost-basis.ts";
import { findOwners } from "../service/model/features/find-owners.ts";
import { createMarket, type Market } from "../service/model/features/market.ts";
import type { OwnCall } from "../service/model/features/types.ts";
import type { Observer } from "./score-wallets.ts";
import { DAY, type World } from "./world.ts";

const WINDOW_DAYS = 180;
/** Protocol fee of a swap at a listed venue: 5 of 10,000. */
const SWAP_FEE = 0.0005;
/** ρ: the part of a payment to a vetted service that is a cost; some of such payments come back as resale or kickback. */
const VETTED_SHARE = 0.3;
/** Gas of a call of an account that is not followed, whose receipts are not read. */
const STRANGERS_GAS = 100_000;

/**
 * Returns own costs and payments of all accounts of a world until an observer's moment, as the service can know them. Own cost: fees
 * that it paid itself, protocol fees of swaps at venues that stood when the world began, and a part of its payments to vetted
 * services. A withdrawal from a public funder is its customer's own money and no payment.
 */
export function spendingOf(
  world: World,
  observer: Pick<Observer, "at" | "graph" | "facts">,
  vetted: ReadonlySet<Address>,
): Spending {
  const { ledger } = world;
  const from = observer.at - WINDOW_DAYS * DAY;
  const inWindow = (time: number) => time >= from && time <= observer.at;
  const own = new Map<Address, bigint>();
  const payments: Payment[] = [];
  const market = createMarket(world.market.list);
  const listed = new Set(
    world.places.venue.filter(({ existedAt }) => existedAt < world.start).map(({ address }) => address),
  );
  const funders = new Set([...world.publicFunders, world.mixer]);

  const spend = (wallet: Address, microUsd: number) =>
    own.set(wallet, (own.get(wallet) ?? 0n) + BigInt(Math.floor(microUsd)));
  const pay = (payer: Address, payee: Address, microUsd: number) => {
    if (funders.has(payer) || microUsd < 1) return;
    payments.push({ payer, payee, microUsd: BigInt(Math.floor(microUsd)) });
    if (vetted.has(payee)) spend(payer, VETTED_SHARE * microUsd);
  };

  for (const [wallet, calls] of ledger.calls) {
    for (const call of calls) {
      if (!inWindow(call.timestamp)) continue;
      spend(wallet, market.nativeWorth(call.fee, call.timestamp) ?? 0);
      if (!call.ok) continue;
      if (call.to !== null && listed.has(call.to)) spend(wallet, SWAP_FEE * swappedWorth(call, market));
      const paid = paidBy(call, market);
      if (paid !== null) pay(wallet, paid.payee, paid.microUsd);
    }
  }
  for (const { account, counterparty, time, calls, sentMicroUsd } of ledger.dealings) {
    if (!inWindow(time) || (ledger.calls.has(account) && calls > 0)) continue;
    const gas = STRANGERS_GAS * calls * world.market.gasPriceAt(time);
    if (calls > 0) spend(account, market.nativeWorth(BigInt(Math.round(gas)), time) ?? 0);
    // Transfers of strangers to contracts are deposits more often than payments.
    const isPayment = ledger.accounts.get(counterparty)?.hasCode === false;
    if (isPayment) pay(account, counterparty, Number(sentMicroUsd));
  }
  for (const { authorizer, payee, time, usd } of ledger.authorizations) {
    if (inWindow(time)) pay(authorizer, payee, usd * 1e6);
  }
  return { ownMicroUsd: own, payments, clusterOf: clustersOf(world, observer, { own, payments }) };
}

/** Worth of the listed token that a call gave for another token; 0 for a call that is no swap. */
function swappedWorth({ receipt, timestamp }: OwnCall, market: Market): number {
  const moves = receipt?.moves ?? [];
  const given = moves.find(({ amount }) => amount < 0n);
  if (given === undefined || !moves.some(({ amount }) => amount > 0n)) return 0;
  return -(market.tokenWorth(given.token, given.amount, timestamp) ?? 0);
}

/** Whom a successful call paid, in a token or native coin; null for a call that is no plain payment. */
function paidBy(
  { to, selector, value, recipient, amount, timestamp }: OwnCall,
  market: Market,
): { readonly payee: Address; readonly microUsd: number } | null {
  if (to === null) return null;
  if (recipient !== null && amount !== null) {
    return { payee: recipient, microUsd: market.tokenWorth(to, amount, timestamp) ?? 0 };
  }
  if (selector !== null || value === null || value === 0n) return null;
  return { payee: to, microUsd: market.nativeWorth(value, timestamp) ?? 0 };
}

/** Owner clusters among all who spent, paid or were paid, as the model finds them. */
function clustersOf(
  { publicFunders }: World,
  { graph, facts }: Pick<Observer, "graph" | "facts">,
  { own, payments }: { readonly own: ReadonlyMap<Address, bigint>; readonly payments: readonly Payment[] },
): (wallet: Address) => string {
  const accounts = new Set(own.keys());
  for (const { payer, payee } of payments) accounts.add(payer).add(payee);
  const { groups } = findOwners({
    wallet: zeroAddress,
    addresses: [...accounts].sort(),
    graph,
    facts,
    publicFunders: new Set(publicFunders),
    payersBack: new Set(),
  });
  return (wallet) => groups.get(wallet) ?? wallet;
}
