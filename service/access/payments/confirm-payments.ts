import type { Logger } from "pino";
import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { type Confirmation, confirmPayment, type MovedSighting } from "./confirm-payment.ts";
import { creditIdOf } from "./credit-id.ts";
import type { PaymentMetrics } from "./metrics.ts";
import type { FinalBlock, PaymentChain } from "./payment-chain.ts";
import type { StoredPayment } from "./payments.ts";
import { confirm, confirmLater, losePayment, readUnconfirmed } from "./payments-confirmed.ts";
import { authorizationOf, BATCH, findOrder, forEachFew, LOOK_BACK_MS, laterOf } from "./stored-payment.ts";

export type ConfirmationDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: PaymentChain;
  readonly metrics: PaymentMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Payments whose money is there to stay, and those whose money the chain took back. */
export type ConfirmationTally = { readonly confirmed: number; readonly lost: number };

/**
 * Asks the chain, once it can tell for good, whether money that had moved is still ours. Where it is not, the payment is lost, and
 * with it what it credited. What cannot be looked at is logged and looked at later.
 */
export async function confirmPayments(deps: ConfirmationDeps): Promise<ConfirmationTally> {
  const { db, chainId, chain, now, logger } = deps;
  const tally = { confirmed: 0, lost: 0 };
  const rows = await readUnconfirmed(db, { chainId, now: now(), limit: BATCH });
  if (rows.length === 0) return tally;
  const final = await chain.finalBlock();
  await forEachFew(rows, async (row) => {
    try {
      const decided = await decide(deps, row, final);
      await apply(deps, row, decided);
      if (decided.kind === "confirm") tally.confirmed += 1;
      if (decided.kind === "lose") tally.lost += 1;
    } catch (error) {
      logger.error({ err: error, payment: row.id }, "payment not confirmed: looking again later");
      await confirmLater(db, row.id, { transaction: null, until: laterOf(row.createdAt, now()) });
    }
  });
  return tally;
}

async function decide(deps: ConfirmationDeps, row: StoredPayment, final: FinalBlock): Promise<Confirmation> {
  // A column of text forgets that it holds a hash.
  const minedIn = row.transactionHash === null ? null : await deps.chain.minedIn(row.transactionHash as Hex);
  return confirmPayment({
    minedIn,
    finalBlock: final.number,
    ...(minedIn === null ? await lookFurther(deps, row, final) : STILL_THERE),
  });
}

type Further = Omit<MovedSighting, "minedIn" | "finalBlock">;

const STILL_THERE: Further = { transfer: null, usedInFinal: true, expired: false, orderOpen: false };

async function lookFurther(deps: ConfirmationDeps, row: StoredPayment, final: FinalBlock): Promise<Further> {
  const { chain } = deps;
  const authorization = authorizationOf(row);
  const since = new Date(row.createdAt.getTime() - LOOK_BACK_MS);
  const used = await chain.isUsed(authorization);
  return {
    transfer: used ? await chain.findTransfer(authorization, since) : null,
    usedInFinal: used && (await chain.isUsed(authorization, final.number)),
    expired: Number(final.timestamp) >= row.validBefore,
    orderOpen: (await findOrder(deps, authorization)) === "open",
  };
}

async function apply(deps: ConfirmationDeps, row: StoredPayment, decided: Confirmation): Promise<void> {
  const { db, chainId, metrics, logger } = deps;
  const now = deps.now();
  switch (decided.kind) {
    case "confirm":
      return confirm(db, row.id);
    case "wait":
      return confirmLater(db, row.id, {
        transaction: decided.transaction,
        until: laterOf(row.createdAt, now),
      });
    case "lose": {
      const creditId = creditIdOf({ network: `eip155:${chainId}`, ...row });
      if (!(await losePayment(db, row.id, { error: decided.error, creditId, now }))) return;
      metrics.count("lost");
      logger.error(
        { payment: row.id, payer: row.payer, endpoint: row.endpoint, transaction: row.transactionHash },
        `payment lost: ${decided.error}`,
      );
    }
  }
}
