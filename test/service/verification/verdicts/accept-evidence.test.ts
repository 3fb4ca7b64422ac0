import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { PanelCase } from "../../../../service/verification/panel/types.ts";
import { acceptEvidence, COLLECTING_MS } from "../../../../service/verification/verdicts/accept-evidence.ts";
import { askRerun } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { recordReview } from "../../../../service/verification/verdicts/review.ts";
import { decided } from "./a-decision.ts";
import {
  allow,
  CHAIN_ID,
  CLIENT,
  fails,
  hold,
  PROVIDER,
  SECOND_MS,
  useVerdictWorld,
} from "./verdict-world.ts";

const world = useVerdictWorld();

async function held(changes: Parameters<typeof world.add>[0] = {}): Promise<string> {
  const id = await world.add(changes);
  await world.work(hold);
  return id;
}

const by = async (id: string): Promise<string> => {
  const [row] = await world.query<{ owner: string }>("select owner from ahs.verdict where id = $1", [id]);
  return row?.owner ?? "";
};

async function offer(verdictId: string, text: string, changes: { owner?: string; isFinal?: boolean } = {}) {
  const owner = changes.owner ?? (await by(verdictId));
  return acceptEvidence(
    { db: world.db, now: world.now, randomUuid: randomUUID },
    { verdictId, owner, text, isFinal: changes.isFinal ?? false },
  );
}

describe("evidence for a verdict on HOLD", () => {
  it("is collected for ten minutes, then brings one re-run that reads all of it", async () => {
    const id = await held();
    const rerunAt = new Date(world.now().getTime() + COLLECTING_MS);
    expect(await offer(id, "first")).toMatchObject({ kind: "kept", count: 1, rerunAt });
    world.pass(60 * SECOND_MS);
    expect(await offer(id, "second")).toMatchObject({ kind: "kept", count: 2, rerunAt });
    expect(await world.work(hold)).toBe(0);
    world.pass(COLLECTING_MS);
    const cases: PanelCase[] = [];
    expect(
      await world.work(async (panelCase) => {
        cases.push(panelCase);
        return decided("ALLOW");
      }),
    ).toBe(1);
    expect(cases.map(({ evidenceTexts }) => evidenceTexts)).toEqual([["first", "second"]]);
    expect((await world.runs(id)).map(({ cause, final_verdict }) => [cause, final_verdict])).toEqual([
      ["submitted", "HOLD"],
      ["evidence", "ALLOW"],
    ]);
  });

  it("is run at once when the third text is in, or one is said to be the last", async () => {
    const [three, last] = [await held(), await held()];
    await offer(three, "1");
    await offer(three, "2");
    expect(await offer(three, "3")).toMatchObject({ count: 3, rerunAt: world.now() });
    expect(await offer(last, "all", { isFinal: true })).toMatchObject({ count: 1, rerunAt: world.now() });
    expect(await world.work(hold)).toBe(2);
  });

  it("counts a text once, and lets a repeat say that it was the last", async () => {
    const id = await held();
    await offer(id, "same");
    expect(await offer(id, "same")).toMatchObject({ count: 1 });
    expect(await offer(id, "same", { isFinal: true })).toMatchObject({ count: 1, rerunAt: world.now() });
  });

  it("makes one re-run in all: nothing is taken once it may have begun, nor after its decision", async () => {
    const id = await held();
    await offer(id, "all", { isFinal: true });
    expect(await offer(id, "late")).toEqual({ kind: "used-up" });
    await world.work(hold);
    expect(await offer(id, "later")).toEqual({ kind: "used-up" });
    expect(await world.runs(id)).toHaveLength(2);
  });

  it("may be tried again where its re-run gave no decision", async () => {
    const id = await held();
    await offer(id, "all", { isFinal: true });
    await world.work(fails(false));
    expect(await world.row(id)).toMatchObject({ status: "completed", final_verdict: "HOLD" });
    expect(await offer(id, "more", { isFinal: true })).toMatchObject({ kind: "kept", count: 2 });
  });

  it("is not added to a re-run that was tried and waits for its next try", async () => {
    const id = await held();
    await offer(id, "all", { isFinal: true });
    await world.work(fails(true));
    expect(await offer(id, "late")).toEqual({ kind: "used-up" });
  });

  it("waits for a re-run of another cause", async () => {
    const id = await held();
    await world.db.transaction((tx) =>
      askRerun(tx, { verdictId: id, cause: "near_expiry", at: world.now() }),
    );
    expect(await offer(id, "text")).toEqual({ kind: "busy" });
    await world.work(hold);
    expect(await offer(id, "text")).toMatchObject({ kind: "kept" });
  });

  it("takes three texts at most, however many are sent at once", async () => {
    const id = await held();
    const outcomes = await Promise.all(["a", "b", "c", "d", "e"].map((text) => offer(id, text)));
    expect(outcomes.filter(({ kind }) => kind === "kept")).toHaveLength(3);
    const rows = await world.query("select 1 from ahs.held_evidence where verdict_id = $1", [id]);
    expect(rows).toHaveLength(3);
  });

  it("is accepted from submitter, client and provider, and from no other caller", async () => {
    const id = await held();
    for (const owner of [`wallet:${CLIENT}`, `wallet:${PROVIDER}`])
      expect(await offer(id, owner, { owner })).toMatchObject({ kind: "kept" });
    const stranger = `wallet:0x${"dd".repeat(20)}`;
    expect(await offer(id, "mine", { owner: stranger })).toEqual({ kind: "stranger" });
    expect(await offer(id, "mine", { owner: "key:another" })).toEqual({ kind: "stranger" });
  });

  it("is taken for HOLD alone", async () => {
    const undecided = await world.add();
    expect(await offer(undecided, "x")).toEqual({ kind: "not-held", status: "pending" });
    await world.work(allow);
    expect(await offer(undecided, "x")).toEqual({ kind: "not-held", status: "ALLOW" });
    const reviewed = await held();
    await recordReview(
      { db: world.db, chainId: CHAIN_ID, now: world.now },
      { verdictId: reviewed, decision: "REJECT", reason: "No.", reviewedBy: "ada" },
    );
    expect(await offer(reviewed, "x")).toEqual({ kind: "not-held", status: "REJECT" });
  });

  it("is refused once the texts are dropped, and for unknown or unsettled ids", async () => {
    const id = await held();
    await world.query("delete from ahs.output_text where verdict_id = $1", [id]);
    expect(await offer(id, "x")).toEqual({ kind: "texts-dropped" });
    expect(await offer(randomUUID(), "x", { owner: "key:x" })).toEqual({ kind: "unknown" });
    const unsettled = await world.add({ status: "unsettled" });
    expect(await offer(unsettled, "x")).toEqual({ kind: "unknown" });
  });
});

describe("evidence for a job's verdict", () => {
  const JOB = { jobChainId: CHAIN_ID, jobEscrow: `0x${"e5".repeat(20)}` as const, jobId: 7n };
  const client = { owner: `wallet:${CLIENT}` };
  const provider = { owner: `wallet:${PROVIDER}` };

  it("is run at once when both sides have said that it is all, not when one has", async () => {
    const id = await held(JOB);
    const rerunAt = new Date(world.now().getTime() + COLLECTING_MS);
    expect(await offer(id, "x", { ...client, isFinal: true })).toMatchObject({ kind: "kept", rerunAt });
    expect(await offer(id, "sources", provider)).toMatchObject({ kind: "kept", count: 2, rerunAt });
    expect(await world.work(hold)).toBe(0);
    expect(await offer(id, "sources", { ...provider, isFinal: true })).toMatchObject({
      count: 2,
      rerunAt: world.now(),
    });
    expect(await world.work(hold)).toBe(1);
  });

  it("has a place for each side, whatever the other and the submitter hand in", async () => {
    const id = await held(JOB);
    expect(await offer(id, "junk 1", client)).toMatchObject({ kind: "kept" });
    expect(await offer(id, "junk 2", client)).toMatchObject({ kind: "kept" });
    expect(await offer(id, "junk 3", client)).toEqual({ kind: "reserved" });
    expect(await offer(id, "by key")).toEqual({ kind: "reserved" });
    expect(await offer(id, "sources", provider)).toMatchObject({ count: 3, rerunAt: world.now() });
  });

  it("takes only the third place for a key, for any submitter, and its final text ends no other turn", async () => {
    const id = await held({ ...JOB, submittedBy: "agent", submitterAddr: PROVIDER });
    const rerunAt = new Date(world.now().getTime() + COLLECTING_MS);
    expect(await offer(id, "by key", { isFinal: true })).toMatchObject({ kind: "kept", rerunAt });
    expect(await offer(id, "more by key")).toEqual({ kind: "reserved" });
    expect(await offer(id, "x", { ...client, isFinal: true })).toMatchObject({ kind: "kept", rerunAt });
    expect(await offer(id, "sources", { ...provider, isFinal: true })).toMatchObject({
      rerunAt: world.now(),
    });
  });

  it("lets a side end its turn by what the other has handed in already", async () => {
    const id = await held(JOB);
    await offer(id, "same", { ...client, isFinal: true });
    expect(await offer(id, "same", { ...provider, isFinal: true })).toMatchObject({
      count: 1,
      rerunAt: world.now(),
    });
  });

  it("is waited for no longer than half the time to the review", async () => {
    const id = await held(JOB);
    const inSeconds = (seconds: number) => new Date(world.now().getTime() + seconds * SECOND_MS);
    await world.query(
      `insert into ahs.hold_clock (verdict_id, chain_id, expires_at, rerun_at, review_by, created_at)
       values ($1, $2, $3, $4, $5, $4)`,
      [id, CHAIN_ID, inSeconds(600), world.now(), inSeconds(360)],
    );
    expect(await offer(id, "x", client)).toMatchObject({ rerunAt: inSeconds(180) });
  });
});
