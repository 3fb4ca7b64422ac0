import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import pino from "pino";
import { describe, expect, test } from "vitest";
import { keysBoughtBy, rotateApiKey } from "../../../../service/access/api-keys.ts";
import { createKeyDebits, returnExpiredHolds } from "../../../../service/access/key-debits.ts";
import { renderVerdict } from "../../../../service/api/verification/get-verdict.ts";
import { appeal } from "../../../../service/db/tables/appeal.ts";
import { openWindow, readAppealFigures } from "../../../../service/verification/escrow/appeal-rows.ts";
import { readUnsigned } from "../../../../service/verification/escrow/settlement-checks.ts";
import {
  type AppealCaller,
  noteAppeal,
  offerAppeal,
  openAppeal,
  sweepAppeals,
  withdrawAppeal,
} from "../../../../service/verification/verdicts/appeals.ts";
import { askRerun } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { recordReview } from "../../../../service/verification/verdicts/review.ts";
import type { RunPanel } from "../../../../service/verification/verdicts/run-one.ts";
import { readVerdict } from "../../../../service/verification/verdicts/verdict-view.ts";
import { decided } from "./a-decision.ts";
import { type Death, mortalDatabase } from "./mortal-database.ts";
import {
  allow,
  BALANCE,
  CHAIN_ID,
  CLIENT,
  DAY_MS,
  fails,
  hold,
  LEASE_MS,
  PROVIDER,
  UNITS,
  useVerdictWorld,
} from "./verdict-world.ts";

const ESCROW = `0x${"e5".repeat(20)}` as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const HOLD_MS = 121_000;
const logger = pino({ level: "silent" });

const world = useVerdictWorld();
const rejects: RunPanel = async () => decided("REJECT");
const provider: AppealCaller = { owner: `wallet:${PROVIDER}`, wallets: [PROVIDER] };

let jobs = 0n;
/** A rejected verdict of a job, which may be appealed for ten minutes. */
async function rejected(panel: RunPanel = rejects): Promise<string> {
  jobs += 1n;
  const id = await world.add({ jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: jobs });
  await world.run(panel);
  await openTime(id);
  return id;
}

async function openTime(verdictId: string): Promise<void> {
  const at = world.now();
  const { runs: run } = await world.row(verdictId);
  const after = (ms: number) => new Date(at.getTime() + ms);
  const times = { appealBy: after(10 * MINUTE_MS), decideBy: after(70 * MINUTE_MS), units: UNITS };
  await openWindow(world.db, { verdictId, chainId: CHAIN_ID, run, ...times, at });
}

const key = async () => (await world.query<{ id: string }>("select id from ahs.api_key"))[0]?.id ?? "";
const submitter = async (): Promise<AppealCaller> => ({ owner: `key:${await key()}`, wallets: [] });

/** The steps of a request of the submitter's key, as the endpoint makes them. */
async function appealByKey(verdictId: string, db = world.db): Promise<void> {
  const debits = createKeyDebits({ db, now: world.now, randomUuid: randomUUID });
  const held = await debits.hold({
    keyId: await key(),
    units: UNITS,
    endpoint: "POST /v1/verdicts/{verdict_id}/appeal",
  });
  if (held.kind !== "held") throw new Error("the key has a balance");
  const { debitId } = held;
  const purchase = {
    verdictId,
    caller: await submitter(),
    debitId,
    paymentId: null,
    now: world.now(),
  };
  const noted = await noteAppeal(db, purchase);
  if (noted.kind !== "noted") {
    await debits.giveBack(debitId);
    throw new Error(noted.kind);
  }
  await openAppeal({ db, now: world.now }, verdictId);
}

/** A settled payment of the provider's wallet, and its appeal. */
async function appealByPayment(verdictId: string, state = "settled"): Promise<string> {
  const paymentId = randomUUID();
  const purchase = { verdictId, caller: provider, debitId: null, paymentId, now: world.now() };
  await world.query(
    `insert into ahs.payment (id, chain_id, asset, payer, pay_to, nonce, amount, valid_after, valid_before, payload, state,
       endpoint, resource, fingerprint, settlement, claim_hash, deadline)
     values ($1::uuid, $2, '0xa', $3, '0xb', $1::text, 500000, 0, 1, '{}', $4, 'e', 'r', 'f', 'before', 'c', now())`,
    [paymentId, CHAIN_ID, PROVIDER, state],
  );
  expect(await noteAppeal(world.db, purchase)).toEqual({ kind: "noted" });
  return paymentId;
}

const stateOf = async (id: string) =>
  (await world.db.select({ state: appeal.state }).from(appeal).where(eq(appeal.verdictId, id)))[0]?.state;
const sweep = (db = world.db) => sweepAppeals({ db, logger, now: world.now });
const openNow = (id: string) => openAppeal({ db: world.db, now: world.now }, id);
const judge = (panel: RunPanel) => world.run(fails(false), { runAppealPanel: panel });
const offer = (verdictId: string, caller: AppealCaller | null = provider) =>
  offerAppeal(world.db, { verdictId, caller, now: world.now() });
const unsigned = async () => {
  await world.query(`create schema if not exists chain_${CHAIN_ID}`);
  await world.query(
    `create table if not exists chain_${CHAIN_ID}.job (id text, submitted_block int, ended_block int)`,
  );
  const due = await readUnsigned(world.db, { chainId: CHAIN_ID, now: world.now(), limit: 10 });
  return due.map(({ run, decision, cause }) => ({ run, decision, cause }));
};

describe("an appeal", () => {
  test.each([
    ["ALLOW", allow, "overturned", BALANCE - UNITS],
    ["REJECT", rejects, "upheld", BALANCE - 2 * UNITS],
  ] as const)(
    "that ends in %s takes the place of a REJECT, by the second panel alone, and its price comes back if it is overturned",
    async (decision, panel, state, balance) => {
      const id = await rejected();
      const [first] = await world.runs(id);
      await appealByKey(id);
      expect(await world.row(id)).toMatchObject({
        status: "pending",
        cause: "appeal",
        final_verdict: "REJECT",
      });
      await judge(panel);
      expect(await world.row(id)).toMatchObject({ status: "completed", runs: 2, final_verdict: decision });
      expect(await stateOf(id)).toBe(state);
      const [, second] = await world.runs(id);
      expect(JSON.parse(second?.evidence ?? "")).toMatchObject({
        cause: "appeal",
        appealed: { run: 1, final_verdict: "REJECT", evidence_hash: first?.evidence_hash },
      });
      expect(JSON.parse(first?.evidence ?? "")).not.toHaveProperty("appealed");
      expect(await unsigned()).toEqual([{ run: 2, decision, cause: "appeal" }]);
      expect(await world.balance()).toBe(balance);
      expect((await world.events()).map(({ type }) => type)).toEqual([
        ...["verdict.appealed", "verdict.completed", "verdict.completed"],
      ]);
      expect(await offer(id)).toEqual({ kind: "appealed" });
      expect(await offer(id, await submitter())).toMatchObject({ kind: "there", state });
    },
  );

  test.each([
    ["REJECT", rejects],
    ["ALLOW", allow],
  ] as const)("that ends in HOLD leaves the first decision, %s, valid and final", async (decision, panel) => {
    const id = await rejected(panel);
    const [first] = await world.runs(id);
    await appealByKey(id);
    await judge(hold);
    expect(await world.row(id)).toMatchObject({ status: "completed", runs: 1, final_verdict: decision });
    expect(await stateOf(id)).toBe("held");
    expect(await unsigned()).toEqual([{ run: 1, decision, cause: "submitted" }]);
    expect(await world.balance()).toBe(BALANCE - 2 * UNITS);
    expect((await world.events()).map(({ type }) => type)).toEqual([
      ...["verdict.appeal_held", "verdict.appealed", "verdict.completed"],
    ]);
    const view = await readVerdict(world.db, id);
    expect(view).toMatchObject({
      status: "completed",
      progress: null,
      rerun: null,
      result: { final_verdict: decision },
    });
    expect(view === null ? null : renderVerdict(view)).toMatchObject({
      evidence_hash: first?.evidence_hash,
      appeal: { status: "held" },
      methodology: {
        runs: [
          { run: 1, final_verdict: decision },
          { run: 2, cause: "appeal", final_verdict: "HOLD" },
        ],
      },
    });
    expect(await offer(id, await submitter())).toMatchObject({ kind: "there", state: "held" });
    const at = world.now();
    for (const cause of ["evidence", "near_expiry"] as const)
      expect(await world.db.transaction((tx) => askRerun(tx, { verdictId: id, cause, at }))).toBe("not_held");
    const review = { verdictId: id, decision: "ALLOW", reason: "I say so.", reviewedBy: "someone" } as const;
    const deps = { db: world.db, chainId: CHAIN_ID, now: world.now };
    expect(await recordReview(deps, review)).toEqual({ kind: "not_held", finalVerdict: decision });
    expect(await world.work(allow)).toBe(0);
  });

  test.each([
    ["the second panel fails", () => judge(fails(false))],
    [
      "the second panel decides nothing in time",
      async () => {
        await judge(fails(true));
        world.pass(71 * MINUTE_MS);
        await sweep();
      },
    ],
    [
      "no worker has a second panel",
      async () => {
        await world.run(allow);
        world.pass(71 * MINUTE_MS);
        await sweep();
      },
    ],
  ])("gives its price back, and the first decision is valid, if %s", async (_, end) => {
    const id = await rejected();
    await appealByKey(id);
    expect(await world.balance()).toBe(BALANCE - 2 * UNITS);
    await end();
    expect(await stateOf(id)).toBe("failed");
    expect(await world.row(id)).toMatchObject({ status: "completed", runs: 1, final_verdict: "REJECT" });
    expect(await world.balance()).toBe(BALANCE - UNITS);
    expect(await unsigned()).toEqual([{ run: 1, decision: "REJECT", cause: "submitted" }]);
    expect((await world.events()).map(({ type }) => type)).toContain("verdict.appeal_failed");
    expect(await world.work(allow)).toBe(0);
  });

  test("that fails gives a payment back as credits of a key that its wallet rotates", async () => {
    const id = await rejected();
    const paymentId = await appealByPayment(id);
    await openNow(id);
    await judge(fails(false));
    const now = world.now();
    expect(await keysBoughtBy(world.db, { wallet: PROVIDER, now, limit: 5 })).toEqual([paymentId]);
    const right = { kind: "buyer", boughtBy: PROVIDER, keyId: paymentId } as const;
    const rotated = await rotateApiKey(world.db, { right, now }, { randomBytes });
    expect(rotated?.key).toMatchObject({ balanceUnits: UNITS, boughtBy: PROVIDER, scopes: [] });
    expect(await world.query("select state from ahs.payment")).toEqual([{ state: "answered" }]);
  });

  test("of a job is counted in the public figures for 90 days", async () => {
    for (const panel of [allow, allow, rejects, hold, fails(false)]) {
      const id = await rejected();
      await appealByKey(id);
      await judge(panel);
    }
    await appealByKey(await rejected());
    const read = () => readAppealFigures(world.db, { chainId: CHAIN_ID, now: world.now() });
    expect(await read()).toEqual({ open: 1, overturned: 2, upheld: 1, held: 1, failed: 1 });
    world.pass(91 * DAY_MS);
    expect(await read()).toEqual({ open: 1, overturned: 0, upheld: 0, held: 0, failed: 0 });
  });
});

describe("an appeal is offered", () => {
  test("to client, provider and submitter, and to no other caller", async () => {
    const id = await rejected();
    const by = async (caller: AppealCaller) => {
      const answer = await offer(id, caller);
      return answer.kind === "open" ? answer.appellant : answer.kind;
    };
    expect(await by({ owner: "key:1", wallets: [CLIENT] })).toBe("client");
    expect(await by(provider)).toBe("provider");
    expect(await by(await submitter())).toBe("submitter");
    expect(await by({ owner: "key:1", wallets: [`0x${"99".repeat(20)}`] })).toBe("stranger");
  });

  test("once, within its time, for a decision that is about to be settled", async () => {
    expect(await offer(randomUUID())).toEqual({ kind: "unknown" });
    const unbound = await world.add();
    expect(await offer(unbound)).toMatchObject({ kind: "closed" });
    await world.run(rejects);
    expect(await offer(unbound)).toMatchObject({ kind: "closed", reason: expect.stringContaining("no job") });
    const early = await world.add({ jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: 900n });
    expect(await offer(early)).toMatchObject({ reason: "It has no decision yet." });
    await world.run(hold);
    expect(await offer(early)).toMatchObject({ reason: expect.stringContaining("HOLD") });
    const id = await rejected();
    expect(await offer(id, null)).toMatchObject({ kind: "open" });
    await appealByPayment(id, "reserved");
    expect(await offer(id, await submitter())).toEqual({ kind: "busy" });
    await expect(appealByKey(id)).rejects.toThrow("busy");
    const late = await rejected();
    world.pass(10 * MINUTE_MS);
    expect(await offer(late)).toMatchObject({ kind: "closed" });
    await expect(appealByKey(late)).rejects.toThrow("closed");
    expect(await world.balance()).toBe(BALANCE - 4 * UNITS);
  });
});

describe("an appeal whose request dies before it is paid", () => {
  test("is forgotten once its price is released, and may be made again", async () => {
    const id = await rejected();
    await appealByPayment(id, "reserved");
    await world.query("update ahs.payment set state = 'released'");
    await sweep();
    expect(await stateOf(id)).toBe("unsettled");
    world.pass(HOLD_MS);
    await sweep();
    expect(await stateOf(id)).toBe("window");
    await appealByKey(id);
    expect(await stateOf(id)).toBe("open");
  });

  test("takes no time to appeal from the other side, which may appeal until its second decision is due", async () => {
    const id = await rejected(allow);
    world.pass(MINUTE_MS);
    await appealByPayment(id, "reserved");
    world.pass(20 * MINUTE_MS);
    await world.query("update ahs.payment set state = 'released'");
    await sweep();
    const client = { owner: `wallet:${CLIENT}`, wallets: [CLIENT] };
    expect(await offer(id, client)).toMatchObject({ kind: "open", appellant: "client" });
    world.pass(9 * MINUTE_MS - 1);
    expect(await offer(id, client)).toMatchObject({ kind: "open" });
    world.pass(1);
    expect(await offer(id, client)).toMatchObject({ kind: "closed" });
    const other = await rejected(allow);
    await appealByPayment(other, "reserved");
    world.pass(70 * MINUTE_MS);
    await world.query("update ahs.payment set state = 'released'");
    await sweep();
    expect(await offer(other, client)).toMatchObject({ kind: "closed" });
  });

  test("is opened once its payment is settled, with the answer for its repeat", async () => {
    const id = await rejected();
    await appealByPayment(id, "reserved");
    world.pass(HOLD_MS);
    await sweep();
    expect(await stateOf(id)).toBe("unsettled");
    await world.query("update ahs.payment set state = 'settled'");
    world.pass(HOLD_MS);
    await sweep();
    expect(await stateOf(id)).toBe("open");
    const [paid] = await world.query<{ state: string; answer_body: Buffer }>("select * from ahs.payment");
    expect(paid?.state).toBe("answered");
    expect(JSON.parse(paid?.answer_body.toString() ?? "")).toMatchObject({ verdict_id: id, status: "open" });
  });

  test("and settles too late, fails and gives the payment back", async () => {
    const id = await rejected();
    const paymentId = await appealByPayment(id, "reserved");
    world.pass(2 * HOUR_MS);
    await world.query("update ahs.payment set state = 'settled'");
    await sweep();
    expect(await stateOf(id)).toBe("failed");
    expect(await world.row(id)).toMatchObject({ status: "completed", runs: 1 });
    expect(await keysBoughtBy(world.db, { wallet: PROVIDER, now: world.now(), limit: 5 })).toEqual([
      paymentId,
    ]);
    await sweep();
    expect(await world.query("select units from ahs.key_credit")).toEqual([{ units: String(UNITS) }]);
  });

  test.each(["settled", "released"])(
    "and is %s once the decision is signed queues nothing",
    async (state) => {
      const id = await rejected();
      await appealByPayment(id, "reserved");
      await world.query("delete from ahs.settlement_check");
      await world.query(
        `insert into ahs.settlement (chain_id, escrow, job_id, verdict_id, run, decision, deliverable, spec_hash, score,
         confidence_bps, evidence_hash, issued_at, deadline, evaluator, signer, signature, state, created_at, updated_at)
       values ($1, $2, $3, $4, 1, 'REJECT', 'd', 's', 0, 0, 'e', 0, 0, 'v', 's', '0x', 'signed', now(), now())`,
        [CHAIN_ID, ESCROW, jobs, id],
      );
      await world.query("update ahs.payment set state = $1", [state]);
      world.pass(2 * HOUR_MS);
      await sweep();
      expect(await stateOf(id)).toBe(state === "settled" ? "failed" : "window");
      expect(await world.query("select run from ahs.settlement_check")).toEqual([]);
    },
  );

  test("is withdrawn by its request, and forgotten by the next sweep", async () => {
    const id = await rejected();
    await appealByPayment(id, "reserved");
    await world.query("update ahs.payment set state = 'released'");
    await withdrawAppeal({ db: world.db, now: world.now, logger }, id);
    await sweep();
    expect(await stateOf(id)).toBe("window");
  });
});

/** More statements than a request has. */
const REQUEST_STATEMENTS = 24;
/** More statements than a run has. */
const RUN_STATEMENTS = 24;

describe.each<Death>(["before", "after"])("a process that dies %s any statement", (death) => {
  test("of a request leaves one open appeal for one price, or none for none", async () => {
    const opened: boolean[] = [];
    let spent = 0;
    for (let statement = 1; statement <= REQUEST_STATEMENTS; statement += 1) {
      const id = await rejected();
      spent += UNITS;
      const mortal = mortalDatabase(world.db, { statement, death });
      await appealByKey(id, mortal.db).catch(() => undefined);
      await mortal.bury();
      world.pass(HOLD_MS);
      await returnExpiredHolds(world.db, world.now());
      await sweep();
      const isOpen = (await stateOf(id)) === "open";
      opened.push(isOpen);
      if (isOpen) {
        spent += UNITS;
        await judge(rejects);
      }
      expect(await stateOf(id)).toBe(isOpen ? "upheld" : "window");
      expect(await world.balance()).toBe(BALANCE - spent);
      await world.query("update ahs.verdict set replaced_at = now() where id = $1", [id]);
    }
    expect([opened[0], opened.at(-1)]).toEqual([false, true]);
  });

  test.each([
    ["upholds", rejects, "upheld", 2 * UNITS, 2],
    ["overturns", allow, "overturned", UNITS, 2],
    ["ends in HOLD", hold, "held", 2 * UNITS, 2],
    ["fails", fails(false), "failed", UNITS, 1],
  ] as const)(
    "of a run that %s leaves one outcome, one event and one price",
    async (_, panel, state, price, runs) => {
      const died: boolean[] = [];
      for (let statement = 1; statement <= RUN_STATEMENTS; statement += 1) {
        const id = await rejected();
        await appealByKey(id);
        const mortal = mortalDatabase(world.db, { statement, death });
        await world.run(fails(false), { db: mortal.db, runAppealPanel: panel }).catch(() => undefined);
        await mortal.bury();
        died.push(mortal.hasDied());
        world.pass(LEASE_MS + 1);
        if ((await stateOf(id)) === "open") await judge(panel);
        expect(await stateOf(id)).toBe(state);
        expect(await world.runs(id)).toHaveLength(runs);
        expect(await world.balance()).toBe(BALANCE - statement * price);
      }
      expect([died[0], died.at(-1)]).toEqual([true, false]);
      expect((await world.events()).filter(({ type }) => type === "verdict.appealed")).toHaveLength(
        RUN_STATEMENTS,
      );
      expect(await world.events()).toHaveLength(3 * RUN_STATEMENTS);
    },
  );
});

test("a key that holds a returned price cannot be used before its wallet rotates it", async () => {
  const id = await rejected();
  await appealByPayment(id);
  await openNow(id);
  await judge(fails(false));
  const hashes = await world.query<{ key_hash: string }>(
    "select key_hash from ahs.api_key where bought_by is not null",
  );
  expect(hashes).toHaveLength(1);
  expect(hashes[0]?.key_hash).not.toMatch(/^[0-9a-f]{64}$/);
});
