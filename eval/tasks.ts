import type { Address, Hex } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { logBetween } from "./draw.ts";
import type { Account, Deed } from "./ledger.ts";
import type { Market, MarketToken } from "./market.ts";

/** A deed without its time, outcome and price, made for the moment at which it is tried. */
export type Task = (time: number) => Omit<Deed, "time" | "outcome" | "overpay" | "usedShare">;

/** Methods by their first four bytes. */
export const METHODS = {
  transfer: "0xa9059cbb",
  approve: "0x095ea7b3",
  deposit: "0xd0e30db0",
  swap: "0x38ed1739",
  supply: "0x617ba037",
  withdraw: "0x69328dec",
  upkeep: "0x4585e33b",
  report: "0xb1dc65a4",
  submit: "0xe7c5f0e2",
  complete: "0x3d3bcd2a",
  claim: "0x4e71d92d",
} as const satisfies Record<string, Hex>;

/** Gas that a call of each kind uses, give or take a tenth. */
export const GAS = {
  native: 21_000,
  pay: 48_000,
  approve: 46_000,
  wrap: 45_000,
  swap: 140_000,
  call: 90_000,
  report: 160_000,
} as const;

/** A payment in USDC, or another token, of so many dollars. */
export function pay(market: Market, to: Address, usd: (time: number) => number, token = market.usdc): Task {
  return (time) => {
    const dollars = usd(time);
    const amount = market.unitsOf(token, dollars, time);
    return {
      to: token.address,
      selector: METHODS.transfer,
      payment: { recipient: to, amount },
      usd: dollars,
      effect: "transfer",
      emitters: [token.address],
      moves: [{ token: token.address, amount: -amount }],
      gas: GAS.pay,
    };
  };
}

/** A payment in the native coin. */
export function payNative(market: Market, to: Address, usd: (time: number) => number): Task {
  return (time) => {
    const dollars = usd(time);
    return {
      to,
      selector: null,
      value: market.weiOf(dollars, time),
      usd: dollars,
      effect: "none",
      gas: GAS.native,
    };
  };
}

/** A call of a contract that changes its state and moves none of the caller's tokens. */
export function work(place: Account, selector: Hex, gas: number = GAS.call): Task {
  return () => ({ to: place.address, selector, effect: "other", emitters: [place.address], gas });
}

/** A swap of one token for another of the same worth but for a small spread. */
export function swap(
  market: Market,
  { venue, sold, bought, usd }: { venue: Account; sold: MarketToken; bought: MarketToken; usd: number },
): Task {
  return (time) => ({
    to: venue.address,
    selector: METHODS.swap,
    usd: 0,
    effect: "other",
    emitters: [sold.address, bought.address, venue.address],
    moves: [
      { token: sold.address, amount: -market.unitsOf(sold, usd, time) },
      { token: bought.address, amount: market.unitsOf(bought, usd * 0.998, time) },
    ],
    gas: GAS.swap,
  });
}

/** A deposit of dollars in a contract, which takes the tokens. */
export function supply(market: Market, venue: Account, usd: number): Task {
  return (time) => ({
    to: venue.address,
    selector: METHODS.supply,
    usd,
    effect: "other",
    emitters: [market.usdc.address, venue.address],
    moves: [{ token: market.usdc.address, amount: -market.unitsOf(market.usdc, usd, time) }],
    gas: GAS.swap,
  });
}

/** An approval of a token. */
export function approve(token: MarketToken): Task {
  return () => ({
    to: token.address,
    selector: METHODS.approve,
    effect: "approval",
    emitters: [token.address],
    gas: GAS.approve,
  });
}

/** Native coin turned into its token. */
export function wrap(market: Market, usd: number): Task {
  return (time) => {
    const wei = market.weiOf(usd, time);
    return {
      to: market.wrapped.address,
      selector: METHODS.deposit,
      value: wei,
      usd: 0,
      effect: "wrap",
      emitters: [market.wrapped.address],
      moves: [{ token: market.wrapped.address, amount: wei }],
      gas: GAS.wrap,
    };
  };
}

/** Dollars of a usual payment between agents: cents to tens of dollars, each time anew. */
export function usualAmount(random: Random): (time: number) => number {
  const middle = logBetween(random, 0.05, 20);
  return () => middle * logBetween(random, 0.3, 3);
}
