import { type AgentContext, type Archetype, own } from "../agent.ts";
import type { DeedOf } from "../deed.ts";
import { runOnDemand } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom, DAY } from "../rhythm.ts";
import { sendToken } from "../token-deeds.ts";
import { trade } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

/** Hammers the same failing call within minutes instead of waiting, a few times a month. */
export const retryStorm: Archetype = {
  name: "retry-storm",
  share: 10,
  purse: { pools: [1, 2] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const calm = atRandom(random, span, { perDay: random.between(0.9, 1.5), hours: ALL_HOURS });
    const storms = atRandom(random, span, { perDay: random.between(0.02, 0.05), hours: ALL_HOURS });
    // Even the luckiest has had one of late.
    const late = Math.floor(
      span.end - random.between(0.1, 1) * Math.min(20 * DAY, (span.end - span.start) / 3),
    );
    return [
      ...calm.flatMap((at) => trade(context, at)),
      ...[...storms, late].flatMap((at) => storm(context, at)),
    ];
  },
  step: (context, at) =>
    context.random.fork(`choice/${at}`).chance(0.015) ? storm(context, at) : trade(context, at),
};

function storm(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`storm/${at}`);
  const { contracts, merchants } = context.world;
  const token = random.pick(random.pick(context.pools).tokens);
  const deed: DeedOf = random.chance(0.7)
    ? runOnDemand(contracts.revertOnDemand, random.pick([1, 2, 3, 4] as const))
    : sendToken(token.address, random.pick(merchants), 2n * token.perDollar);
  const failures = random.int(10, 18);
  const gap = random.int(40, 150);
  const calls = Array.from({ length: failures }, (_, i) => own(context, at + i * gap, deed("revert")));
  // It gives up without an answer as often as it gets through.
  return random.chance(0.5) ? [...calls, own(context, at + failures * gap, deed("success"))] : calls;
}
