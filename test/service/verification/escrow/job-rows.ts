import { randomUUID } from "node:crypto";
import type { Address, Hex } from "viem";
import { lowerCase } from "../../../../service/db/columns.ts";
import type { Database } from "../../../../service/db/database.ts";
import { jobSpec, type RunCause, verdict, verdictRun } from "../../../../service/db/tables/verdict.ts";
import { readBindable } from "../../../../service/verification/escrow/bind-spec.ts";
import { queueDecision } from "../../../../service/verification/escrow/settlements.ts";
import type { BindableSpec, JobName } from "../../../../service/verification/escrow/types.ts";
import { verdictResult } from "../../api/verification/fake-verification-ports.ts";
import { CLIENT, hashOf, PROVIDER } from "./jobs-on-chain.ts";

type SpecOptions = {
  readonly specHash: Hex;
  readonly job: JobName;
  readonly clientAddr?: Address;
  readonly signature?: Hex;
  readonly registeredBlock?: number;
};

type SettlementRow = {
  readonly id: string;
  readonly decision: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly issued_at: string;
};

type DecisionOptions = {
  readonly specId: string;
  readonly job: JobName;
  readonly output: string;
  readonly decision: "ALLOW" | "HOLD" | "REJECT";
};

export function rowActions(db: Database) {
  // Two registrations of one millisecond have no order.
  let registered = Date.now();
  return {
    /** Registers a specification as POST /v1/specs does, its signature being taken for verified, and answers what binding reads of it. */
    register: async (options: SpecOptions): Promise<BindableSpec> => {
      const id = randomUUID();
      await db.insert(jobSpec).values({
        id,
        clientAddr: lowerCase(options.clientAddr ?? CLIENT.address),
        providerAddr: null,
        specText: "Translate.",
        acceptanceCriteria: null,
        domain: "content",
        specHash: options.specHash,
        jobChainId: options.job.chainId,
        jobEscrow: options.job.escrow,
        jobId: options.job.jobId,
        clientSignature: options.signature ?? null,
        registeredBlock: BigInt(options.registeredBlock ?? 1),
        createdAt: new Date(registered++),
      });
      const claim = await readBindable(db, id);
      if (claim === null) throw new Error("what was stored is there");
      return claim as BindableSpec;
    },
    /** A verdict on a job's output as accepting and running it leave it: bound, with one decision. */
    decide: async ({ specId, job, output, decision }: DecisionOptions): Promise<string> => {
      const id = randomUUID();
      const now = new Date();
      await db.insert(verdict).values({
        id,
        specId,
        slot: `test:${id}`,
        outputHash: hashOf(output),
        submittedBy: "agent",
        submitterAddr: lowerCase(PROVIDER),
        providerAddr: lowerCase(PROVIDER),
        owner: "key:test",
        units: 500,
        status: "completed",
        notBefore: now,
        cause: "submitted",
        finalVerdict: decision,
        jobChainId: job.chainId,
        jobEscrow: job.escrow,
        jobId: job.jobId,
        createdAt: now,
        acceptedAt: now,
        evaluatedAt: now,
        updatedAt: now,
      });
      await addRun(db, id, { decision, run: 1, cause: "submitted" });
      return id;
    },
    /** Signed settlements of a job. */
    settlements: async (job: JobName) => {
      const { rows } = await db.$client.query(
        "select id, decision, state, attempts, error, issued_at from ahs.settlement where escrow = $1 and job_id = $2 order by id",
        [job.escrow, String(job.jobId)],
      );
      return rows as SettlementRow[];
    },
    /** One more decision on a verdict. */
    decideAgain: async (id: string, decision: "ALLOW" | "HOLD" | "REJECT"): Promise<void> => {
      await addRun(db, id, { decision, run: 2, cause: "review" });
    },
  };
}

async function addRun(
  db: Database,
  verdictId: string,
  { decision, run, cause }: { decision: "ALLOW" | "HOLD" | "REJECT"; run: number; cause: RunCause },
): Promise<void> {
  const result = verdictResult({ final_verdict: decision, final_score: 80, confidence: 0.83 });
  const evidence = JSON.stringify({ verdictId, run });
  await db.insert(verdictRun).values({
    verdictId,
    run,
    cause,
    finalVerdict: decision,
    result,
    evidence,
    evidenceHash: hashOf(evidence),
    createdAt: new Date(),
  });
  await db.$client.query("update ahs.verdict set runs = $2, final_verdict = $3 where id = $1", [
    verdictId,
    run,
    decision,
  ]);
  await queueDecision(db, { verdictId, run }, new Date());
}
