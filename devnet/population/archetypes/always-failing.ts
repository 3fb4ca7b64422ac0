import { type AgentContext, type Archetype, own, wayToFail } from "../agent.ts";
import { burnGas, performTask, runOnDemand } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom } from "../rhythm.ts";
import { sendToken } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";

/** Has never done anything but fail: late, short of gas or turned down. */
export const alwaysFailing: Archetype = {
  name: "always-failing",
  share: 9,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1, 2), hours: ALL_HOURS };
    return atRandom(random, span, rate).flatMap((at) => fail(context, at));
  },
  step: fail,
};

function fail(context: AgentContext, at: number): PlannedCall[] {
  const { contracts, keeperTargets, merchants, usdc } = context.world;
  const random = context.random.fork(`at/${at}`);
  const way = random.pick([1, 2, 3, 4] as const);
  const deeds = [
    runOnDemand(contracts.revertOnDemand, way),
    performTask(random.pick(keeperTargets), 1),
    sendToken(usdc.address, random.pick(merchants), 1_000_000n),
  ];
  if (random.chance(0.25))
    return [own(context, at, burnGas(contracts.gasBurner, random.int(200, 900))("out-of-gas"))];
  return [own(context, at, random.pick(deeds)(wayToFail(random)))];
}
