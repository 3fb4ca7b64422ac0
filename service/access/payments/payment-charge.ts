import type { Hex } from "viem";
import type { Charge } from "../access.ts";
import { settlementHeader } from "./payment-required.ts";
import { type ChargeDeps, free, type HeldPayment, reportOf, settle } from "./payment-settlement.ts";

/** The charge of what costs nothing after all. */
export const UNCHARGED: Charge = {
  async keep() {
    return {};
  },
  async giveBack() {
    return null;
  },
};

/** Moves the money now; the charge is then kept with the answer, or owed. */
export async function settleFirst(deps: ChargeDeps, held: HeldPayment): Promise<Charge> {
  await refuseCancelled(deps, held);
  return settledCharge(deps, held, await settle(deps, held));
}

/** Moves the money once the answer is there, which is withheld until then. */
export function settleLast(deps: ChargeDeps, held: HeldPayment): Charge {
  return {
    async keep(answer) {
      await refuseCancelled(deps, held);
      return settledCharge(deps, held, await settle(deps, held)).keep(answer);
    },
    async giveBack() {
      await free(deps, held, "the work failed");
      return null;
    },
    cancelled: () => withheld(deps, held),
  };
}

/** The charge of a payment whose money has moved. */
export function settledCharge(deps: ChargeDeps, held: HeldPayment, transaction: Hex): Charge {
  const { store, logger, metrics } = deps;
  const { id, claim, payment } = held;
  return {
    async keep(answer) {
      // What cannot be stored is given all the same: the money has moved, and a repeat does the work again.
      await store.answer(id, answer).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "paid answer not stored");
      });
      metrics.count("answered");
      return settlementHeader({ ...reportOf(payment), success: true, transaction });
    },
    async giveBack() {
      metrics.count("owed");
      await store.lapse(id).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "owed payment stays held until its deadline");
      });
      return claim;
    },
  };
}

async function refuseCancelled(deps: ChargeDeps, held: HeldPayment): Promise<void> {
  if (!held.request.signal.aborted) return;
  await free(deps, held, "the request was cancelled before settlement");
  throw await withheld(deps, held);
}

function withheld({ metrics }: ChargeDeps, { refuse }: HeldPayment): Promise<Error> {
  metrics.count("withheld");
  return refuse("request_cancelled: the request ended before this service asked for its settlement.");
}
