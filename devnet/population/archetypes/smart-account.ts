import { type AgentContext, type Archetype, favourites } from "../agent.ts";
import type { DeedOf } from "../deed.ts";
import { performTask, reportPrice } from "../deeds.ts";
import { operate } from "../operation.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { atRandom, MINUTE, wakingHours } from "../rhythm.ts";
import { sendToken } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";

const FAILURE_RATE = 0.01;

/** Acts through a smart account alone, by operations that a bundler sends: pays, keeps contracts up, reports prices. */
export const smartAccount: Archetype = {
  name: "smart-account",
  share: 4,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(2, 2.7), hours: wakingHours(random.int(0, 23), 16) };
    return atRandom(random, span, rate).flatMap((at) => act(context, at));
  },
  step: act,
};

function act(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const deed = dealing(context, random);
  const failed = random.chance(FAILURE_RATE) ? [operate(context, at, deed("revert"))] : [];
  const again = at + failed.length * random.int(3, 12) * MINUTE;
  return [...failed, operate(context, again, deed("success"))];
}

function dealing(context: AgentContext, random: Random): DeedOf {
  const { feeds, keeperTargets, merchants, usdc } = context.world;
  const kind = random.next();
  if (kind < 0.6) {
    const merchant = random.pick(favourites(context, "merchants", { among: merchants, count: [5, 10] }));
    return sendToken(usdc.address, merchant, BigInt(random.int(50, 2_500)) * 10_000n);
  }
  if (kind < 0.85) {
    const targets = favourites(context, "targets", { among: keeperTargets, count: [2, 3] });
    return performTask(random.pick(targets), random.int(0, 4));
  }
  const feed = random.pick(favourites(context, "feeds", { among: feeds, count: [2, 3] }));
  return reportPrice(feed.address, (feed.answer * BigInt(random.int(980, 1_020))) / 1_000n);
}
