import { type Address, getContractAddress } from "viem";
import { keeperTargetCreationCode } from "../../contract-list.ts";
import { type AgentContext, type Archetype, attempt, own } from "../agent.ts";
import { createContract, performTask } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom, MINUTE } from "../rhythm.ts";
import { joinsAtTheStart } from "./joining.ts";
import { pay } from "./payment-agent.ts";

const RELIABILITY = { failureRate: 0.005, retryMinutes: [3, 9] } as const;
const CONTRACTS = 20;
/** The rest is spent with others, for the looks of it. */
const INSIDE_SHARE = 0.72;

/** Creates contracts without other users and calls them in rotation, to look like an account with many dealings. */
export const freshContractRing: Archetype = {
  name: "fresh-contract-ring",
  share: 3,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.2, 2.2), hours: ALL_HOURS };
    const creations = Array.from({ length: CONTRACTS }, (_, i) =>
      own(context, span.start + i * MINUTE, createContract(keeperTargetCreationCode())),
    );
    const built = { start: span.start + CONTRACTS * MINUTE, end: span.end };
    return [...creations, ...atRandom(random, built, rate).flatMap((at) => rotate(context, at))];
  },
  step: rotate,
};

function rotate(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (!random.chance(INSIDE_SHARE)) return pay(context, at).slice(-1);
  const target = contractOf(context.wallet.address, random.int(0, CONTRACTS - 1));
  return attempt(context, random, { at, deed: performTask(target, 1), reliability: RELIABILITY });
}

/** Its registration is its first transaction, and the creations follow before anything else. */
function contractOf(creator: Address, index: number): Address {
  return getContractAddress({ from: creator, nonce: BigInt(index + 1) });
}
