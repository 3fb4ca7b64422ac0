import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { type Agent, deedOf } from "./agent.ts";
import { logBetween } from "./draw.ts";
import { mine } from "./ledger.ts";
import type { Span } from "./rhythm.ts";
import { payNative } from "./tasks.ts";
import { allow } from "./trades.ts";
import { DAY, type World } from "./world.ts";

/** Careless dealings: unlimited approvals to contracts of days, sometimes foreign code for the wallet or money for a mixer. */
export function soil(
  world: World,
  random: Random,
  { agent, span }: { readonly agent: Agent; readonly span: Span },
): void {
  for (let i = random.int(3, 12); i > 0; i -= 1) {
    const at = random.between(span.from, span.until);
    const spender = newAddress(random);
    world.ledger.accounts.set(spender, {
      address: spender,
      hasCode: true,
      creator: newAddress(random),
      firstFunder: null,
      existedAt: at - random.between(0.1, 20) * DAY,
    });
    allow(world, agent, { spender, at });
  }
  if (random.chance(0.4)) {
    const time = random.between(span.from, span.until);
    world.ledger.delegations.set(agent.wallet, { to: newAddress(random), time });
  }
  if (!random.chance(0.3)) return;
  const careless = { outOfGas: 0, overpay: () => 1.2, usedShare: [0.5, 0.9] as const };
  for (let i = random.int(1, 12); i > 0; i -= 1) {
    const time = random.between(span.from, span.until);
    const task = payNative(world.market, world.mixer, () => logBetween(random, 50, 500));
    mine({ ...world, random }, agent.wallet, deedOf(random, careless, { task, time, failure: 0.02 }));
  }
}
