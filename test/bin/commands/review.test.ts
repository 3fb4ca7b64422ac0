import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runReview } from "../../../bin/commands/review.ts";
import { recordReview } from "../../../service/verification/verdicts/review.ts";
import { runOne } from "../../../service/verification/verdicts/run-one.ts";
import { leaseVerdicts } from "../../../service/verification/verdicts/verdict-queue.sql.ts";
import { readVerdict } from "../../../service/verification/verdicts/verdict-view.ts";
import { decided } from "../../service/verification/verdicts/a-decision.ts";
import {
  CHAIN_ID,
  createVerdictWorld,
  LEASE_MS,
  type VerdictWorld,
} from "../../service/verification/verdicts/verdict-world.ts";

let world: VerdictWorld;
beforeAll(async () => {
  world = await createVerdictWorld();
});
afterAll(() => world.close());

async function review(...args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  const { db, now } = world;
  await runReview(args, {
    db,
    out: (line) => lines.push(line),
    record: (given) => recordReview({ db, chainId: CHAIN_ID, now }, given),
  });
  return lines;
}

async function held(): Promise<string> {
  const id = await world.add();
  const now = world.now();
  const claims = await leaseVerdicts(world.db, {
    now,
    leaseUntil: new Date(now.getTime() + LEASE_MS),
    limit: 10,
  });
  const deps = world.deps(async () => decided("HOLD"));
  for (const claim of claims) await runOne(deps, claim, new AbortController().signal);
  world.pass(60_000);
  return id;
}

const REASON = ["--reason", "All three are rivers."];

describe("ahs review", () => {
  it("lists what is on HOLD, the longest held first, until it is decided", async () => {
    expect(await review("list")).toEqual(["no verdict waits for a review"]);
    const [first, second] = [await held(), await held()];
    const listed = await review("list");
    expect(listed.slice(1).map((line) => line.split(" ")[0])).toEqual([first, second]);
    await review("decide", first, "--decision", "ALLOW", ...REASON, "--by", "ada");
    expect((await review("list")).join("\n")).not.toContain(first);
    expect(await readVerdict(world.db, first)).toMatchObject({
      result: { final_verdict: "ALLOW", review: { reviewed_by: "ada", reason: "All three are rivers." } },
    });
  });

  it("says that it shows the most urgent alone where there are more, and shows all with --all", async () => {
    for (let count = 0; count < 3; count += 1) await held();
    const total = (await review("list", "--all")).length - 1;
    const some = await review("list", "--limit", "1");
    expect(some).toHaveLength(3);
    expect(some.at(-1)).toContain(`1 of ${total} are shown`);
    expect((await review("list", "--all")).join("\n")).not.toContain("are shown");
  });

  it("decides in the operator's name unless another is given", async () => {
    const id = await held();
    const [line] = await review("decide", id, "--decision", "REJECT", ...REASON);
    expect(line).toContain(`verdict ${id} is REJECT: decision 2, evidence 0x`);
    expect((await readVerdict(world.db, id))?.result?.review?.reviewed_by).toBe("operator");
  });

  it("shows what the panel found and the texts, without what would move a terminal's cursor", async () => {
    const id = await held();
    await world.query("update ahs.output_text set text = $2 where verdict_id = $1", [
      id,
      "Rhine\u001b[2J\u202eElbe\nOder",
    ]);
    const shown = (await review("show", id)).join("\n");
    expect(shown).toContain(`verdict ${id} is HOLD: score 80`);
    expect(shown).toContain("--- specification ---\nName three rivers.");
    expect(shown).toContain("Rhine\uFFFD[2J\uFFFDElbe\nOder");
  });

  it("refuses what is not on HOLD", async () => {
    const id = await held();
    await review("decide", id, "--decision", "ALLOW", ...REASON);
    await expect(review("decide", id, "--decision", "REJECT", ...REASON)).rejects.toThrow(
      "is ALLOW, not HOLD",
    );
    const unknown = "00000000-0000-4000-8000-000000000000";
    await expect(review("decide", unknown, "--decision", "ALLOW", ...REASON)).rejects.toThrow(
      "there is no verdict",
    );
    await expect(review("show", unknown)).rejects.toThrow("there is no verdict");
  });

  it.each([
    [[], "no action"],
    [["forget"], 'unknown action "forget"'],
    [["decide", "x", "--decision", "ALLOW", ...REASON], 'the id of one verdict, got "x"'],
    [
      ["decide", "00000000-0000-4000-8000-000000000000", "--decision", "HOLD", ...REASON],
      '--decision: expected ALLOW or REJECT, got "HOLD"',
    ],
    [["decide", "00000000-0000-4000-8000-000000000000", "--decision", "ALLOW"], "--reason: expected a text"],
    [["list", "--limit", "0"], "--limit: expected a whole number"],
    [["list", "--limit", "2", "--all"], "--limit and --all exclude each other"],
  ] as const)("%j is answered with a fitting use", async (args, message) => {
    await expect(review(...args)).rejects.toThrow(message);
  });
});
