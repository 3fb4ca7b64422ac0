import { and, eq, getTableColumns, gt, like, or, sql } from "drizzle-orm";
import { type Database, underDeadline } from "../../db/database.ts";
import { roleCall } from "../../db/tables/verdict.ts";
import { NO_ANSWER_YET, type PanelDeps, UNAVAILABLE } from "../panel/ask-role.ts";
import { GENERATOR_ROLES, type RoleName, type RoleRecord } from "../panel/types.ts";
import { addRoleCall } from "./role-calls.sql.ts";
import { openAnswer, placeOf, sealAnswer } from "./sealed-texts.ts";
import { storable } from "./store-decision.ts";
import { FREE_CAUSES } from "./token-budget.ts";
import type { RunLease } from "./verdict-queue.ts";

/** Another worker has the lease of the run. */
export class LeaseLost extends Error {
  constructor({ verdictId, attempts }: RunLease) {
    super(`lease ${attempts} of verdict ${verdictId} is another worker's by now`);
    this.name = "LeaseLost";
  }
}

/**
 * Stores usage and answers of a leased run's roles: the minimum usage of a question, so that an aborted one is counted too, and in its place
 * the answer or abstention with its usage. Both reject with LeaseLost if another worker has the lease.
 */
export function storeCalls(
  { db, now }: { db: Database; now: () => Date },
  lease: RunLease,
): Pick<PanelDeps, "begin" | "keep"> {
  const begun = new Map<RoleName, readonly RoleRecord[]>();
  const write = async (record: RoleRecord) => {
    if (!(await storeRoleCall(db, lease, { record: storable(record), at: now() })))
      throw new LeaseLost(lease);
  };
  return {
    begin: async (record) => {
      await write(record);
      begun.set(record.role, [...(begun.get(record.role) ?? []), record]);
    },
    keep: async (record) => {
      const counted = begun.get(record.role) ?? [];
      begun.delete(record.role);
      await write(counted.reduce(without, record));
    },
  };
}

/** Difference of a record to one that is counted already. */
function without(record: RoleRecord, counted: RoleRecord): RoleRecord {
  const isPriced = record.costUsd !== null && counted.costUsd !== null;
  return {
    ...record,
    requests: record.requests - counted.requests,
    promptTokens: record.promptTokens - counted.promptTokens,
    completionTokens: record.completionTokens - counted.completionTokens,
    costUsd: isPriced ? record.costUsd - counted.costUsd : record.costUsd,
  };
}

/**
 * Stores a role's answer in a leased run. Its usage is added to the role's earlier usage in the run, and may be negative if more was
 * counted. False, and nothing stored, if another worker has the lease.
 */
export async function storeRoleCall(
  db: Database,
  lease: RunLease,
  { record, at }: { record: RoleRecord; at: Date },
): Promise<boolean> {
  const { answer } = record;
  const place = placeOf("role_call.answer", lease.verdictId, lease.run, record.role);
  const { rowCount } = await db.execute(
    addRoleCall(lease, {
      ...record,
      json: answer.kind === "answer" ? sealAnswer(db.texts, answer.answer, place) : null,
      failure: answer.kind === "answer" ? null : answer.reason,
      at,
    }),
  );
  return rowCount === 1;
}

/** Reads the roles' answers of a run that were made with all its evidence texts. */
export async function readRoleCalls(
  db: Database,
  { verdictId, run }: Pick<RunLease, "verdictId" | "run">,
): Promise<readonly RoleRecord[]> {
  const { verdictId: _, run: __, createdAt, ...columns } = getTableColumns(roleCall);
  const rows = await db
    .select(columns)
    .from(roleCall)
    .where(
      and(
        eq(roleCall.verdictId, verdictId),
        eq(roleCall.run, run),
        sql`${createdAt} >= coalesce(
          (select max(created_at) from ahs.held_evidence where verdict_id = ${verdictId}), '-infinity')`,
      ),
    )
    .orderBy(roleCall.role);
  return rows.map(({ role, answer, failure, ...call }) => ({
    ...call,
    cachedTokens: null,
    // Only storeRoleCall writes it, and with this type.
    role: role as RoleName,
    answer:
      failure === null
        ? {
            kind: "answer",
            answer: openAnswer(db.texts, answer, placeOf("role_call.answer", verdictId, run, role)),
          }
        : { kind: "abstained", reason: failure },
  }));
}

/** Tokens of the tries of a decision, and of that those of questions that were answered. */
export type TakenTokens = { readonly tokens: number; readonly answered: number };

/** Failures of a role whose server gave no answer. */
const OUTAGE = or(eq(roleCall.failure, NO_ANSWER_YET), like(roleCall.failure, `${UNAVAILABLE}: %`));

const TOKENS = sql`sum(${roleCall.promptTokens}::bigint + ${roleCall.completionTokens})`;
const tokens = sql<number>`coalesce(${TOKENS}, 0)::float8`;

/** Reads the tokens that a run has taken. All unpaid runs of a verdict count as one. */
export async function readTakenTokens(
  db: Database,
  { verdictId, run, cause }: Pick<RunLease, "verdictId" | "run" | "cause">,
): Promise<TakenTokens> {
  const isRun = FREE_CAUSES.includes(cause)
    ? or(eq(roleCall.run, run), gt(roleCall.run, 1))
    : eq(roleCall.run, run);
  const [row] = await underDeadline(db)
    .select({
      tokens,
      answered: sql<number>`coalesce(${TOKENS} filter (where ${OUTAGE} is not true), 0)::float8`,
    })
    .from(roleCall)
    .where(and(eq(roleCall.verdictId, verdictId), isRun));
  if (row === undefined) throw new Error(`the tokens of verdict ${verdictId} were not read`);
  return row;
}

/** Usage of a run, all attempts included; the cost is null if the prices of a role's model are unknown. */
export async function readRunUsage(
  db: Database,
  { verdictId, run }: Pick<RunLease, "verdictId" | "run">,
): Promise<{ tokens: number; costUsd: number | null }> {
  const { costUsd } = roleCall;
  const [row] = await underDeadline(db)
    .select({
      tokens,
      costUsd: sql<number | null>`case when bool_and(${costUsd} is not null) then sum(${costUsd}) end`,
    })
    .from(roleCall)
    .where(and(eq(roleCall.verdictId, verdictId), eq(roleCall.run, run)));
  return row ?? { tokens: 0, costUsd: null };
}

/** Roles per round. Each round judges the answers of the rounds before. */
const ROUNDS: readonly (readonly RoleName[])[] = [GENERATOR_ROLES, ["critic"], ["synthesiser"]];

/**
 * Returns the answers of an interrupted or failed run that need not be asked again: all answers up to the first round with a missing role.
 * A role that abstained is asked again, and later roles judge anew then.
 */
export function reusableAnswers(records: readonly RoleRecord[]): readonly RoleRecord[] {
  const answers = new Map(
    records.filter(({ answer }) => answer.kind === "answer").map((record) => [record.role, record]),
  );
  const open = ROUNDS.findIndex((roles) => roles.some((role) => !answers.has(role)));
  return ROUNDS.slice(0, open === -1 ? ROUNDS.length : open + 1)
    .flat()
    .flatMap((role) => answers.get(role) ?? []);
}
