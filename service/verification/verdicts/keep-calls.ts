import type { Database } from "../../db/database.ts";
import type { RoleName, RoleRecord } from "../panel/types.ts";
import { keepRoleCall } from "./role-calls.ts";
import { storable } from "./storable.ts";
import type { Claim } from "./verdict-queue.ts";

/** The run of a verdict is another worker's by now. */
export class ClaimLost extends Error {
  constructor({ verdictId, attempts }: Claim) {
    super(`claim ${attempts} of verdict ${verdictId} is another worker's by now`);
    this.name = "ClaimLost";
  }
}

/** Takes what the roles of a run use and answer; each rejects with ClaimLost where the run is another worker's by now. */
export type CallKeeper = {
  /** Counts what a question will take at least, so that one that is broken off is counted, however that comes. */
  readonly begin: (record: RoleRecord) => Promise<void>;
  /** Keeps an answer or abstention with what it took, in place of what was counted for its questions. */
  readonly keep: (record: RoleRecord) => Promise<void>;
};

/** Keeps the calls of a claimed run. */
export function keepCalls(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  claim: Claim,
): CallKeeper {
  const begun = new Map<RoleName, readonly RoleRecord[]>();
  const write = async (record: RoleRecord) => {
    if (!(await keepRoleCall(db, claim, { record: storable(record), at: now() }))) throw new ClaimLost(claim);
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

/** What a record adds to a row in which another is counted already. */
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
