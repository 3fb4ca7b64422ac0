import { afterEach, expect, it } from "vitest";
import { jobSpec } from "../../../../service/db/tables/verdict.ts";
import { readFirstSigned } from "../../../../service/verification/escrow/bind-spec.ts";
import { useDatabase } from "../../../support/test-database.ts";

const JOB = { chainId: 31_337, escrow: "0xe5", jobId: 7n } as const;
const PARTIES = { client: "0xc1", provider: "0xa9" } as const;

const db = useDatabase();
afterEach(() => db.delete(jobSpec));

/** One more specification of the job, which its client signed; each a second later than the one before. */
async function registered(
  place: number,
  changes: Partial<typeof jobSpec.$inferInsert> = {},
): Promise<string> {
  const id = `00000000-0000-4000-8000-00000000000${place}`;
  await db.insert(jobSpec).values({
    id,
    clientAddr: PARTIES.client,
    domain: "default",
    specHash: `0x${place}`,
    jobChainId: JOB.chainId,
    jobEscrow: JOB.escrow,
    jobId: JOB.jobId,
    clientSignature: "0x12",
    registeredBlock: 10n,
    createdAt: new Date(Date.UTC(2026, 10, 20, 10, 0, place)),
    ...changes,
  });
  return id;
}

const first = async (before: bigint | null) =>
  (await readFirstSigned(db, { ...JOB, ...PARTIES }, before))?.specId ?? null;

it("is the oldest that the client signed for the job, whatever else was registered for it", async () => {
  await registered(1, { clientSignature: null });
  await registered(2, { clientAddr: "0xee" });
  await registered(3, { providerAddr: "0xee" });
  await registered(4, { jobId: 8n });
  await registered(5, { registeredBlock: null });
  const right = await registered(6, { providerAddr: PARTIES.provider });
  await registered(7);
  expect(await first(null)).toBe(right);
});

it("is one registered before the submission, else null", async () => {
  await registered(1, { registeredBlock: 20n });
  const early = await registered(2, { registeredBlock: 19n });
  expect(await first(20n)).toBe(early);
  expect(await first(19n)).toBeNull();
});
