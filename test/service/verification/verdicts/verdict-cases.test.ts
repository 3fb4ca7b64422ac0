import { expect, test } from "vitest";
import { currentScore, score } from "../../../../service/db/tables/score.ts";
import { readVerdictCase } from "../../../../service/verification/verdicts/verdict-cases.ts";
import { CHAIN_ID, CLIENT, PROVIDER, useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld();

/** The provider's newest record on a chain; null: without enough history for a score. */
async function record(chainId: number, ahsScore: number | null): Promise<void> {
  const common = {
    chainId,
    wallet: PROVIDER,
    asOfBlock: 9,
    asOfTime: world.now(),
    ahsScore,
    confidenceMicros: 500_000,
    confidenceLevel: "MEDIUM",
    sanctioned: false,
  } as const;
  const coverage = { fromBlock: 0, fromTimestamp: 0, toBlock: 9, complete: true, sources: [] };
  const [row] = await world.db
    .insert(score)
    .values({
      ...common,
      asOfHash: "0x1",
      modelVersion: "m",
      sanctionsFlags: [],
      patterns: [],
      features: [],
      coverage,
      inputsHash: "0x2",
    })
    .returning({ id: score.id });
  if (row === undefined) throw new Error("no row was written");
  await world.db.insert(currentScore).values({ ...common, scoreId: row.id });
}

const read = (verdictId: string) =>
  readVerdictCase(world.db, { verdictId, chainId: CHAIN_ID, texts: world.db.texts });

test("a verdict's case is its specification, output, evidence in order, job and parties", async () => {
  const job = { chainId: CHAIN_ID, escrow: `0x${"e5".repeat(20)}`, jobId: 2n ** 200n } as const;
  const id = await world.add({ jobChainId: job.chainId, jobEscrow: job.escrow, jobId: job.jobId });
  for (const [place, text] of ["first", "second"].entries()) {
    const at = new Date(world.now().getTime() + place);
    await world.addEvidence(id, text, { hash: `0x${place}`, at });
  }
  const { specId, ...rest } = await read(id);
  expect(specId).toMatch(/^[0-9a-f-]{36}$/);
  expect(rest).toEqual({
    appealed: null,
    specHash: `0x${"5e".repeat(32)}`,
    outputHash: `0x${"0f".repeat(32)}`,
    clientAddr: CLIENT,
    providerAddr: PROVIDER,
    submitterAddr: CLIENT,
    submittedBy: "client",
    domain: "content",
    job,
    evidenceHashes: ["0x0", "0x1"],
    providerHasScore: false,
    texts: {
      specText: "Name three rivers.",
      acceptanceCriteria: "Names three rivers",
      outputText: "Rhine, Elbe, Oder",
      evidenceTexts: ["first", "second"],
    },
  });
});

test.each([
  ["a score on this chain", CHAIN_ID, 70, true],
  ["a record without a score", CHAIN_ID, null, false],
  ["a score on another chain", 8_453, 70, false],
])("a provider with %s counts as: has one %#", async (_, chainId, ahsScore, hasScore) => {
  await record(chainId, ahsScore);
  expect(await read(await world.add())).toMatchObject({ providerHasScore: hasScore });
});

test.each([
  ["output", "delete from ahs.output_text"],
  ["specification", "update ahs.job_spec set spec_text = null, acceptance_criteria = null"],
  ["evidence", "update ahs.held_evidence set text = null"],
])("a verdict whose %s is gone has no texts to judge", async (_, drop) => {
  const id = await world.add();
  await world.addEvidence(id, "x");
  expect((await read(id)).texts).not.toBeNull();
  await world.query(drop);
  expect(await read(id)).toMatchObject({ texts: null, evidenceHashes: ["0x1"] });
});
