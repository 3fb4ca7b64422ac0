import { and, desc, eq, gte, inArray, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { type Database, underDeadline } from "../db/database.ts";
import { keyDebit } from "../db/tables/api-key.ts";
import { payment } from "../db/tables/payment.ts";
import type { Owner } from "./access.ts";

/** Charges that are read, the newest. */
const MOST_CHARGES = 1_000;

/** Units (0.001 USD) that an owner was charged since a moment and did not get back, over its newest charges. */
export async function readChargedUnits(db: Database, owner: Owner, since: Date): Promise<number> {
  const reads = underDeadline(db);
  const charges =
    owner.kind === "key" ? debitsOf(reads, owner.keyId, since) : paymentsOf(reads, owner.address, since);
  const [row] = await reads
    .select({ units: sql<number>`coalesce(sum(${charges.units}), 0)::float8` })
    .from(charges);
  if (row === undefined) throw new Error("the charges of a caller were not read");
  return row.units;
}

function debitsOf(db: NodePgDatabase, keyId: string, since: Date) {
  return db
    .select({ units: sql<number>`${keyDebit.units}`.as("units") })
    .from(keyDebit)
    .where(and(eq(keyDebit.keyId, keyId), eq(keyDebit.state, "kept"), gte(keyDebit.createdAt, since)))
    .orderBy(desc(keyDebit.createdAt))
    .limit(MOST_CHARGES)
    .as("charges");
}

/** A unit has a thousand of the smallest units of USDC. */
function paymentsOf(db: NodePgDatabase, payer: Address, since: Date) {
  const { chargedAmount, amount, captureState } = payment;
  return db
    .select({ units: sql<number>`coalesce(${chargedAmount}, ${amount})::numeric / 1000`.as("units") })
    .from(payment)
    .where(
      and(
        eq(payment.payer, payer),
        gte(payment.createdAt, since),
        inArray(payment.state, ["settled", "answered"]),
        sql`coalesce(${captureState} not in ('voiding', 'voided'), true)`,
      ),
    )
    .orderBy(desc(payment.createdAt))
    .limit(MOST_CHARGES)
    .as("charges");
}
