import type { Archetype } from "../agent.ts";
import * as payers from "./payers.ts";
import * as traders from "./traders.ts";
import * as workers from "./workers.ts";
import * as x402 from "./x402.ts";

/** Every kind of agent; the shares add up to 200, the rounding gives the rest. */
export const ARCHETYPES: readonly Archetype[] = [
  workers.keeper,
  traders.diverseTrader,
  payers.paymentAgent,
  workers.escrowWorker,
  workers.oracleFeeder,
  payers.weeklyPayroll,
  traders.newcomer,
  payers.dormant,
  workers.alwaysFailing,
  traders.recovering,
  traders.retryStorm,
  payers.selfDealingRing,
  traders.spammedVictim,
  payers.sanctioned,
  traders.flaky,
  traders.gasWar,
  traders.dirtyHygiene,
  traders.staleStrategy,
  traders.halfFailing,
  payers.freshContractRing,
  workers.smartAccount,
  x402.x402Payer,
  x402.x402Seller,
];
