import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { logBetween, poisson, zipfPicker } from "./draw.ts";
import { DAY, someFunder, type World } from "./world.ts";

const SELLERS = 24;
const PAYERS = 150;
/** Number of the busiest payees and sellers that are on the list of vetted services. */
const VETTED_PAYEES = 30;
const VETTED_SELLERS = 8;
const SLICE_DAYS = 5;

/** Services that are paid by x402, and the agents that pay them: payments are signed, and a facilitator sends them. */
export type Bazaar = {
  /** The busiest first. None of them ever sends a transaction. */
  readonly sellers: readonly Address[];
  readonly payers: readonly Address[];
};

/** Payees on a list of vetted services, payments to which are costs in part. */
export function vettedServices(world: World, bazaar: Bazaar | null): ReadonlySet<Address> {
  const payees = world.places.merchant.slice(0, VETTED_PAYEES).map(({ address }) => address);
  return new Set([...payees, ...(bazaar?.sellers.slice(0, VETTED_SELLERS) ?? [])]);
}

/** Opens sellers and lets agents that are not followed pay them for the world's days. */
export function openBazaar(world: World): Bazaar {
  const random = world.random.fork("bazaar");
  const sellers = Array.from({ length: SELLERS }, () => silentAccount(world, random, 400));
  const pick = zipfPicker(sellers);
  const payers = Array.from({ length: PAYERS }, () => {
    const chosen = new Set(Array.from({ length: random.int(1, 4) }, () => pick(random)));
    return letPay(world, random, [...chosen]);
  });
  return { sellers, payers };
}

/** An account that holds tokens and never sends a transaction, of up to so many days before the world's start. */
export function silentAccount(world: World, random: Random, ageDays: number): Address {
  const address = newAddress(random);
  world.ledger.accounts.set(address, {
    address,
    hasCode: false,
    creator: null,
    firstFunder: null,
    existedAt: world.start - random.between(0, ageDays) * DAY,
  });
  world.ledger.neverSent.add(address);
  return address;
}

/** One agent's life as a buyer; most of them also act on chain, in places of the world. */
function letPay(world: World, random: Random, sellers: readonly Address[]): Address {
  const { ledger, start, days, places, readShare } = world;
  const acts = random.chance(0.6);
  const address = silentAccount(world, random, 300);
  if (acts) {
    ledger.neverSent.delete(address);
    const account = ledger.accounts.get(address);
    if (account !== undefined) {
      ledger.accounts.set(address, { ...account, firstFunder: someFunder(random, world) });
    }
  }
  const perDay = logBetween(random, 0.1, 8);
  const price = logBetween(random, 0.005, 0.3);
  const venue = zipfPicker(places.venue);
  const from = random.chance(0.5) ? 0 : random.between(0, days * 0.7);
  for (let day = from; day < days; day += SLICE_DAYS) {
    const length = Math.min(SLICE_DAYS, days - day);
    const moment = () => Math.floor(start + random.between(day, day + length) * DAY);
    for (const payee of sellers) {
      const count = poisson(random, (perDay * length) / sellers.length);
      if (count > 0) {
        ledger.authorizations.push({
          authorizer: address,
          payee,
          time: moment(),
          count,
          usd: count * price * random.between(0.7, 1.3),
        });
      }
    }
    const calls = acts ? poisson(random, random.between(0, 4) * length * readShare) : 0;
    if (calls > 0) {
      const counterparty = venue(random).address;
      ledger.dealings.push({ account: address, counterparty, time: moment(), calls, sentMicroUsd: 0n });
    }
  }
  return address;
}
