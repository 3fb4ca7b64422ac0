import { hash } from "node:crypto";
import { and, eq, lte, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { type Database, underDeadline } from "../db/database.ts";
import { rateBucket } from "../db/tables/payment.ts";
import {
  type AnswerHeaders,
  type Charge,
  OwedAnswer,
  type Owner,
  ownerText,
  type PaidRequest,
  priceText,
  UNCHARGED,
} from "./access.ts";
import { Problem } from "./problems.ts";
import { SPENT } from "./rate-limits.ts";

const LIMIT = /^\d{1,7}(?:\.\d{1,3})?$/;

/** The limit in X-Spending-Limit-Usd, in thousandths of a US dollar; null without one. Throws a 400 for a malformed one. */
export function spendingLimitOf({ header }: Pick<PaidRequest, "header">): number | null {
  const given = header("x-spending-limit-usd");
  if (given === undefined) return null;
  if (LIMIT.test(given)) return Math.round(Number(given) * 1_000);
  const expected = "expected US dollars with at most three decimals, for example 5.00";
  throw new Problem("header-malformed", `X-Spending-Limit-Usd: ${expected}, got "${given.slice(0, 64)}".`);
}

export type SpendingLimits = ReturnType<typeof createSpendingLimits>;

/** Limits that callers set for themselves. Each proven caller has its own sum for each session, or for the UTC day without a session. */
export function createSpendingLimits({
  sums,
  now,
  logger,
}: {
  readonly sums: SpendingSums;
  readonly now: () => Date;
  readonly logger: Logger;
}) {
  return {
    /**
     * Takes a price within the caller's limit: counts it first, and corrects the sum by what is charged. A price that may have moved
     * stays counted. Throws a 403, and takes nothing, if the limit does not cover it. Expects a caller that can pay.
     */
    async within(
      owner: Owner,
      request: Pick<PaidRequest, "header" | "units">,
      take: () => Promise<Charge>,
    ): Promise<Charge> {
      const limitUnits = spendingLimitOf(request);
      if (limitUnits === null) return take();
      const { units } = request;
      const session = request.header("mcp-session-id") ?? now().toISOString().slice(0, 10);
      const sum = hash("sha256", JSON.stringify([ownerText(owner), session]), "hex");
      const spent = await sums.take(sum, { units, limitUnits });
      if (spent !== null) throw overLimit({ units, spent, limitUnits });
      const count = async (chargedUnits: number): Promise<void> => {
        if (chargedUnits === units) return;
        await sums.correct(sum, chargedUnits - units).catch((error: unknown) => {
          logger.error({ err: error }, "spending of a session not corrected");
        });
      };
      const counted = async <Result>(taking: () => Promise<Result>): Promise<Result> => {
        try {
          return await taking();
        } catch (error) {
          if (!mayHaveMoved(error)) await count(0);
          throw error;
        }
      };
      const charge = await counted(take);
      if (charge === UNCHARGED) {
        await count(0);
        return charge;
      }
      return {
        ...charge,
        keep: (...answer) =>
          counted(async () => {
            const headers = await charge.keep(...answer);
            await count(chargedUnitsOf(headers));
            return headers;
          }),
        async giveBack() {
          const owed = await charge.giveBack();
          if (owed === null) await count(0);
          return owed;
        },
      };
    },
  };
}

function overLimit({
  units,
  spent,
  limitUnits,
}: {
  readonly units: number;
  readonly spent: number;
  readonly limitUnits: number;
}): Problem {
  return new Problem(
    "spending-limit-reached",
    `This call costs at most ${priceText(units)} USD, and ${priceText(spent)} of the ${priceText(limitUnits)} USD that you allow in X-Spending-Limit-Usd are spent. Nothing was charged.`,
  );
}

/** Whether the error says that money is reserved or has moved. */
function mayHaveMoved(error: unknown): boolean {
  return error instanceof OwedAnswer || (error instanceof Problem && error.claim !== null);
}

/** An answer without the header was not charged. */
function chargedUnitsOf({ "x-charged-usd": charged }: AnswerHeaders): number {
  return charged === undefined ? 0 : Math.round(Number(charged) * 1_000);
}

/** Sums of charges, in thousandths of a US dollar. */
export type SpendingSums = Pick<ReturnType<typeof createSpendingSums>, "take" | "correct">;

/** Sums in the table of rate buckets. One that is not added to for two days ends, with the prices of processes that died. */
export function createSpendingSums({ db, now }: { readonly db: Database; readonly now: () => Date }) {
  const buckets = underDeadline(db);
  const { identity, tokens } = rateBucket;
  return {
    /** Reserves a price. Returns null if the sum stays within the limit, else the units that are spent already. */
    async take(
      sum: string,
      { units, limitUnits }: { readonly units: number; readonly limitUnits: number },
    ): Promise<number | null> {
      const added = sql`${tokens} + excluded.tokens`;
      if (units <= limitUnits) {
        const bucket = { identity: `${SPENT}${sum}`, tokens: units, granted: 0, updatedAt: now() };
        const { rowCount } = await buckets
          .insert(rateBucket)
          .values(bucket)
          .onConflictDoUpdate({
            target: identity,
            set: { tokens: added, updatedAt: bucket.updatedAt },
            setWhere: lte(added, limitUnits),
          });
        if (rowCount === 1) return null;
      }
      const [spent] = await buckets
        .select({ tokens })
        .from(rateBucket)
        .where(eq(identity, `${SPENT}${sum}`));
      return spent?.tokens ?? 0;
    },
    /** Corrects a reserved price by the difference to what was charged. A sum of nothing has no row. */
    async correct(sum: string, units: number): Promise<void> {
      const isSum = eq(identity, `${SPENT}${sum}`);
      await buckets
        .update(rateBucket)
        .set({ tokens: sql`greatest(0, ${tokens} + ${units}::float8)` })
        .where(isSum);
      await buckets.delete(rateBucket).where(and(isSum, eq(tokens, 0)));
    },
  };
}
