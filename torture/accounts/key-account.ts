import { readFileSync } from "node:fs";
import type { Load } from "../load/load.ts";
import type { Stand, StandKey } from "../stand/stand.ts";
import { compareCounts, doubled, type Finding, lost } from "./finding.ts";

/** Units of 0.001 USD of an output to be judged, as README states it. */
const OUTPUT_UNITS = 500;

/** Compares what clients were answered with what their keys were charged, and what is left on them. */
export async function accountKeys(
  stand: Stand,
  { callKey, outputKey, calls, outputs }: Load,
): Promise<Finding[]> {
  const answered = calls.operations.filter(({ outcome }) => outcome === "answered");
  const unanswered = calls.operations.filter(({ outcome }) => outcome === "open");
  const judged = outputs.operations.filter(({ outcome }) => outcome === "judged");
  const units = answered.reduce((sum, call) => sum + call.units, 0);
  const given = answersGivenAway(stand);
  const changed = calls.operations.filter(({ isChanged }) => isChanged).length;
  return [
    ...compareCounts("repeats that got another answer, which was kept", {
      expected: 0,
      found: Math.max(0, changed - given),
    }),
    ...unanswered.map(({ path, idempotencyKey }) => lost(`call ${path} ${idempotencyKey} is not answered`)),
    ...(await accountKey(stand, { what: "calls", key: callKey, charges: answered.length, units, given })),
    ...(await accountKey(stand, {
      what: "outputs",
      key: outputKey,
      charges: judged.length,
      units: judged.length * OUTPUT_UNITS,
      given: 0,
    })),
    ...(await accountBought(stand, outputKey)),
  ];
}

/** Every price that was kept for an output pays for one verdict, and no verdict is paid twice. */
async function accountBought({ db }: Stand, key: StandKey): Promise<Finding[]> {
  const { rows } = await db.$client.query<{ id: string; verdicts: number; created_at: Date }>(
    `select d.id, d.created_at, (select count(*)::int from ahs.verdict v where v.debit_id = d.id) as verdicts
     from ahs.key_debit d where d.key_id = $1 and d.state = 'kept'`,
    [key.id],
  );
  return rows
    .filter(({ verdicts }) => verdicts !== 1)
    .map(({ id, verdicts, created_at: at }) =>
      doubled(`debit ${id} of ${at.toISOString()} was kept for ${verdicts} verdicts`),
    );
}

async function accountKey(
  stand: Stand,
  {
    what,
    key,
    charges,
    units,
    given,
  }: {
    what: string;
    key: StandKey;
    charges: number;
    units: number;
    /** So many of them may be missing. */
    given: number;
  },
): Promise<Finding[]> {
  const { rows } = await stand.db.$client.query<{
    captured: number;
    held: number;
    units: string;
    balance: string;
  }>(
    `select count(*) filter (where state = 'kept')::int as captured,
            count(*) filter (where state = 'held')::int as held,
            coalesce(sum(units) filter (where state = 'kept'), 0) as units,
            (select balance_units from ahs.api_key where id = $1) as balance
     from ahs.key_debit where key_id = $1`,
    [key.id],
  );
  const found = rows[0];
  if (found === undefined) throw new Error("a count is always one row");
  const missing = charges - found.captured;
  const isGiven = missing > 0 && missing <= given;
  const spent = key.balanceUnits - Number(found.balance);
  return [
    ...compareCounts(`charges for ${what}`, {
      expected: isGiven ? found.captured : charges,
      found: found.captured,
    }),
    ...compareCounts(`debits for ${what} still held`, { expected: 0, found: found.held }),
    ...compareCounts(`units spent on ${what}`, {
      expected: isGiven ? Number(found.units) : units,
      found: spent,
    }),
  ];
}

/** Answers that servers say they gave without their price, which they could not keep in time. */
export function answersGivenAway({ services }: Stand): number {
  return services
    .all()
    .map(({ logFile }) => readFileSync(logFile, "utf8").split('"debit not kept').length - 1)
    .reduce((sum, count) => sum + count, 0);
}
