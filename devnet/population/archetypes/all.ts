import type { Archetype } from "../agent.ts";
import { alwaysFailing } from "./always-failing.ts";
import { dirtyHygiene } from "./dirty-hygiene.ts";
import { diverseTrader } from "./diverse-trader.ts";
import { dormant } from "./dormant.ts";
import { escrowWorker } from "./escrow-worker.ts";
import { flaky } from "./flaky.ts";
import { freshContractRing } from "./fresh-contract-ring.ts";
import { gasWar } from "./gas-war.ts";
import { halfFailing } from "./half-failing.ts";
import { keeper } from "./keeper.ts";
import { newcomer } from "./newcomer.ts";
import { oracleFeeder } from "./oracle-feeder.ts";
import { paymentAgent } from "./payment-agent.ts";
import { recovering } from "./recovering.ts";
import { retryStorm } from "./retry-storm.ts";
import { sanctioned } from "./sanctioned.ts";
import { selfDealingRing } from "./self-dealing-ring.ts";
import { smartAccount } from "./smart-account.ts";
import { spammedVictim } from "./spammed-victim.ts";
import { staleStrategy } from "./stale-strategy.ts";
import { weeklyPayroll } from "./weekly-payroll.ts";

/** Every kind of agent; the shares add up to 200, the rounding gives the rest. */
export const ARCHETYPES: readonly Archetype[] = [
  keeper,
  diverseTrader,
  paymentAgent,
  escrowWorker,
  oracleFeeder,
  weeklyPayroll,
  newcomer,
  dormant,
  alwaysFailing,
  recovering,
  retryStorm,
  selfDealingRing,
  spammedVictim,
  sanctioned,
  flaky,
  gasWar,
  dirtyHygiene,
  staleStrategy,
  halfFailing,
  freshContractRing,
  smartAccount,
];
