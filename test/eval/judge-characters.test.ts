import { describe, expect, test } from "vitest";
import { HARMFUL } from "../../eval/harmful.ts";
import { HONEST, peopleWorld } from "../../eval/judge-characters.ts";
import { observe } from "../../eval/score-wallets.ts";
import { DAY } from "../../eval/world.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";

const CROWD = { users: 100, keepers: 10, feeders: 5 };
const { world, settled, vetted } = peopleWorld("people", { lives: 1, crowd: CROWD });

function callsOf(name: string) {
  const [wallet] = settled.get(name) ?? [];
  if (wallet === undefined) throw new Error(`nobody lives as ${name}`);
  return { wallet, calls: world.ledger.calls.get(wallet) ?? [] };
}

function failedShare(name: string): number {
  const { calls } = callsOf(name);
  return calls.filter(({ ok }) => !ok).length / calls.length;
}

describe("a world of honest and harmful wallets", () => {
  test("holds at least 20 honest kinds and all harmful ones, each name once", () => {
    const names = [...HONEST, ...HARMFUL].map(({ name }) => name);
    expect(HONEST.length).toBeGreaterThanOrEqual(20);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(settled.get(name)?.length).toBeGreaterThan(0);
  });

  test.each([
    ["searcher", 0.2, 0.4],
    ["arbitrage_own_contract", 0.03, 0.13],
    ["liquidation_keeper", 0.35, 0.55],
    ["payroll_new_accounts", 0, 0.02],
    ["loyal_suppliers", 0, 0.02],
  ])("lets %s fail as often as it is described", (name, least, most) => {
    expect(failedShare(name)).toBeGreaterThanOrEqual(least);
    expect(failedShare(name)).toBeLessThanOrEqual(most);
  });

  test("makes a lost race cheap", () => {
    for (const name of ["searcher", "liquidation_keeper"]) {
      const { calls } = callsOf(name);
      const [lost, won] = [false, true].map((ok) => calls.find((call) => call.ok === ok)?.gasUsed);
      expect(2n * (lost ?? 0n)).toBeLessThan(won ?? 0n);
    }
  });

  test("lets those without gas sign and never send", () => {
    for (const name of ["x402_payer_gasless", "x402_seller_gasless"]) {
      const { wallet, calls } = callsOf(name);
      expect(calls).toEqual([]);
      expect(world.ledger.neverSent.has(wallet)).toBe(true);
      const signed = world.ledger.authorizations.filter(
        ({ authorizer, payee }) => authorizer === wallet || payee === wallet,
      );
      expect(signed.length).toBeGreaterThan(400);
    }
  });

  test("describes sellers without calls of their own by a seller profile, and their payers not", () => {
    const observer = observe(world, { at: world.start + 180 * DAY, policy: AHS_2026_2 });
    const isSeller = (name: string) => settled.get(name)?.map(observer.hasSellerProfile);
    expect(isSeller("x402_seller_gasless")).toEqual([true]);
    expect(isSeller("x402_payer_gasless")).toEqual([false]);
  });

  test("lets smart accounts execute, and pay native coin", () => {
    const { calls } = callsOf("smart_account_native");
    expect(calls.every(({ position, value }) => position > 0 && (value ?? 0n) > 0n)).toBe(true);
    expect(callsOf("smart_account_tokens").calls.every(({ position }) => position > 0)).toBe(true);
  });

  test("gives the moved wallet less than two weeks, and others nearly half a year", () => {
    const spanOf = (name: string) => {
      const times = callsOf(name).calls.map(({ timestamp }) => timestamp);
      return (Math.max(...times) - Math.min(...times)) / DAY;
    };
    expect(spanOf("moved_wallet")).toBeLessThan(13);
    for (const name of ["trader", "dca_weekly", "subscriptions", "ping_bot"]) {
      expect(spanOf(name)).toBeGreaterThan(150);
    }
  });

  test("keeps a weekday worker from weekends, and a silent week silent", () => {
    const weekdays = callsOf("weekday_only").calls.map(({ timestamp }) => {
      return (Math.floor(timestamp / DAY) + 3) % 7;
    });
    // A retry of Friday's last call may fall on Friday night.
    expect(weekdays.filter((day) => day >= 5)).toEqual([]);
  });

  test("puts payees of the world and sellers of the bazaar on the list of vetted services", () => {
    expect(vetted.size).toBe(38);
    expect(world.places.merchant.slice(0, 30).every(({ address }) => vetted.has(address))).toBe(true);
  });
});
