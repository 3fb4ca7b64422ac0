import fc from "fast-check";
import type { Address } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EnrichFailure } from "../../../service/enrich/failure.ts";
import { finishScan } from "../../../service/scan/finish-scan.ts";
import type { Grade } from "../../../service/score/record.ts";
import { readOpenEnrolments, requestEnrolment } from "../../../service/store/enrolments.ts";
import { readScans } from "../../../service/store/scan-runs.ts";
import {
  CELO,
  CHAIN,
  createReportWorld,
  FINAL,
  nodeWith,
  OLAS,
  olasService,
  type ReportWorld,
  walletOf,
} from "./report-world.ts";

const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)] as const;
const IDENTITY = "0x8004a169fb4a3325136eb29fa0ceb6d2e539a432";
const SOON = { now: new Date("2027-01-01T00:00:00Z"), limit: 10 };

let world: ReportWorld;
beforeAll(async () => {
  world = await createReportWorld();
});
afterAll(() => world.close());
beforeEach(() => world.clear());

describe("the report", () => {
  test("tells how the chain stands, and what is another than at the scan before", async () => {
    await world.grade(A, "A");
    await world.grade(B, null);
    await world.follow(A);
    await world.follow(B);
    await world.agent(0, 10);
    await world.agent(1, FINAL + 1);
    await world.document(0, "0x01");
    await world.document(1, null, "unreachable");
    const first = await world.scan();
    expect(first).toEqual({
      registries: [
        {
          registry: IDENTITY,
          name: "identity registry",
          agents: 1,
          newAgents: 1,
          newWallets: 0,
          block: FINAL,
          fault: null,
        },
      ],
      documents: { current: 1, unreachable: 1, refused: 0, malformed: 0 },
      documentsLeft: 0,
      changedDocuments: 0,
      endpoints: { alive: 0, failing: 0 },
      wallets: 2,
      grades: { A: 1, B: 0, C: 0, D: 0, E: 0, F: 0, insufficient: 1 },
      meanScoreHundredths: 9_500,
      sanctioned: 0,
      changedGrades: null,
      gradeMoves: [],
      root: { epoch: 20_777, root: `0x${"33".repeat(32)}`, leaves: 3 },
    });
    await world.grade(A, "C", true);
    await world.grade(B, "B");
    await world.grade(C, null);
    await world.document(0, "0x02");
    await world.document(1, "0x03");
    const second = await world.scan();
    expect(second).toMatchObject({
      registries: [{ agents: 1, newAgents: 0 }],
      changedDocuments: 1,
      changedGrades: 2,
      gradeMoves: [
        { wallet: A, from: "A", to: "C" },
        { wallet: B, from: null, to: "B" },
      ],
      meanScoreHundredths: 8_000,
      sanctioned: 1,
    });
    expect(await world.scan()).toMatchObject({ changedGrades: 0, gradeMoves: [], changedDocuments: 0 });
  });

  test("moves by what all reports before it add up to, whatever happened between them", async () => {
    const grade = fc.constantFrom<Grade | null>("A", "C", "F", null);
    const turn = fc.dictionary(fc.constantFrom("1", "2", "3"), grade, { minKeys: 1 });
    const turns = fc.sample(fc.array(turn, { minLength: 4, maxLength: 4 }), { seed: 7, numRuns: 3 }).flat();
    const replayed = new Map<string, Grade | null>();
    await world.scan();
    for (const grades of turns) {
      for (const [number, to] of Object.entries(grades)) await world.grade(walletOf(Number(number)), to);
      for (const { wallet, from, to } of (await world.scan()).gradeMoves) {
        expect(replayed.get(wallet) ?? null).toBe(from);
        replayed.set(wallet, to);
      }
      const { rows } = await world.db.$client.query<{ wallet: string; grade: Grade | null }>(
        "select wallet, grade from ahs.current_score",
      );
      const isKnown = ({ wallet }: { wallet: string }) => replayed.has(wallet);
      expect(Object.fromEntries(replayed)).toEqual(
        Object.fromEntries(
          rows.filter((row) => isKnown(row) || row.grade !== null).map((row) => [row.wallet, row.grade]),
        ),
      );
    }
  });

  test("is written by the newest attempt alone, with what the next one compares with", async () => {
    await world.grade(A, "A");
    const dead = await world.begin("nightly");
    const alive = await world.begin("nightly");
    if (dead === null || alive === null) throw new Error("nobody has finished it");
    expect([alive.id, alive.attempts]).toEqual([dead.id, 2]);
    const end = {
      ...{ deployment: world.deps.deployment, readings: new Map(), indexBlock: FINAL, root: null },
      ...{ documentsLeft: 0, finishedAt: world.deps.now() },
    };
    await expect(finishScan(world.db, { ...end, attempt: dead })).rejects.toThrow("another attempt");
    await finishScan(world.db, { ...end, attempt: alive });
    expect(await world.begin("nightly")).toBeNull();
    expect(await readScans(world.db, CHAIN, 10)).toMatchObject([
      { state: "done", attempts: 2, report: { grades: { A: 1 } } },
    ]);
  });
});

describe("registries", () => {
  test("are read to the last final block, and their wallets asked to be followed", async () => {
    const node = nodeWith([...olasService(1, 5), ...olasService(2, 700), ...olasService(3, FINAL + 1)]);
    await world.follow(walletOf(2));
    const report = await world.scan({ ...world.withRegistries([OLAS]), openReader: () => node });
    expect(report.registries[1]).toEqual({
      ...{ registry: OLAS.address.toLowerCase(), name: "olas", block: FINAL, fault: null },
      ...{ agents: 2, newAgents: 2, newWallets: 1 },
    });
    expect(node.asked.map(({ from, to }) => [from, to])).toEqual([
      [1, 500],
      [501, FINAL],
    ]);
    expect(await world.agents()).toEqual([
      { id: 1, wallet: walletOf(1), block: 5 },
      { id: 2, wallet: walletOf(2), block: 700 },
    ]);
    expect(await world.enrolments()).toEqual([{ wallet: walletOf(1), cause: "registry" }]);
    const again = await world.scan({ ...world.withRegistries([OLAS]), openReader: () => node });
    expect(again.registries[1]).toMatchObject({ agents: 2, newAgents: 0, newWallets: 0 });
    expect(node.asked).toHaveLength(2);
  });

  test("that fail spoil their own line alone, and go on where they stood", async () => {
    const node = nodeWith(olasService(1, 5));
    let isDown = true;
    const shaky: typeof node.logs = async (filter) => {
      const isOther = filter.addresses?.[0] === CELO.address.toLowerCase();
      if (isOther || (isDown && filter.from > 500)) throw new EnrichFailure("unreachable", "no answer");
      return node.logs(filter);
    };
    const changes = { ...world.withRegistries([CELO, OLAS]), openReader: () => ({ logs: shaky }) };
    expect((await world.scan(changes)).registries).toMatchObject([
      { block: FINAL, fault: null },
      { name: "another", agents: 0, block: null, fault: "the node did not answer" },
      { name: "olas", agents: 1, newAgents: 1, newWallets: 1, block: 500, fault: "the node did not answer" },
    ]);
    isDown = false;
    expect((await world.scan(changes)).registries[2]).toMatchObject({
      agents: 1,
      newAgents: 0,
      block: FINAL,
      fault: null,
    });
  });

  test("of ten thousand agents cost few requests of a node that refuses large answers, and end within the bound", async () => {
    const logs = Array.from({ length: 10_000 }, (_, id) =>
      olasService(id, 1 + Math.floor(id / 11)).slice(0, id % 50 === 0 ? 2 : 1),
    ).flat();
    const node = nodeWith(logs);
    let most = 0;
    const strict: typeof node.logs = async (filter) => {
      const found = await node.logs(filter);
      if (found.length > 2_000)
        throw new EnrichFailure("too_many_results", "query returned more than 2000 results");
      most = Math.max(most, found.length);
      return found;
    };
    const changes = { ...world.withRegistries([OLAS]), openReader: () => ({ logs: strict }) };
    const { registries } = await world.scan(changes);
    expect(registries[1]).toMatchObject({ agents: 10_000, newWallets: 100, fault: null });
    expect(node.asked.length).toBeLessThan(40);
    expect(most).toBeLessThanOrEqual(2_000);
    await world.clear();
    const limits = {
      ...world.deps.limits,
      registries: { maxBlocks: 100, maxLogs: 500, maxRequests: 5, maxMs: 60_000 },
    };
    const bounded = await world.scan({
      ...changes,
      limits: { documents: { maxMs: 0, stallMs: 0, pollMs: 0 }, ...limits },
    });
    expect(bounded.registries[1]?.fault).toMatch(
      /^what one scan may ask for is used up; the next goes on at block \d+$/,
    );
  });

  test("are neither lost nor doubled by whoever dies after any range, or reads beside another", async () => {
    const node = nodeWith(Array.from({ length: 40 }, (_, id) => olasService(id, 1 + 25 * id)).flat());
    const whole = { ...world.withRegistries([OLAS]), openReader: () => node };
    const small = { maxBlocks: 100, maxLogs: 500, maxRequests: 50, maxMs: 60_000 };
    const limits = { registries: small, documents: { maxMs: 0, stallMs: 0, pollMs: 0 } };
    for (const living of [1, 2, 3]) {
      let left = living;
      const mortal: typeof node.logs = async (filter) => {
        if (left-- === 0) throw new Error("killed");
        return node.logs(filter);
      };
      await expect(world.scan({ ...whole, limits, openReader: () => ({ logs: mortal }) })).rejects.toThrow(
        "killed",
      );
    }
    const beside = await Promise.allSettled([
      world.scan({ ...whole, limits }),
      world.scan({ ...whole, limits }),
    ]);
    expect(beside.map(({ status }) => status)).toContain("fulfilled");
    expect((await world.scan({ ...whole, limits })).registries[1]).toMatchObject({ agents: 40, fault: null });
    expect((await world.agents()).map(({ id, block }) => [id, block])).toEqual(
      Array.from({ length: 40 }, (_, id) => [id, 1 + 25 * id]),
    );
  });

  test("answers of another contract or of other blocks are not believed", async () => {
    const lying = async () => olasService(1, FINAL + 5);
    const { registries } = await world.scan({
      ...world.withRegistries([OLAS]),
      openReader: () => ({ logs: lying }),
    });
    expect(registries[1]).toMatchObject({
      agents: 0,
      block: null,
      fault: "the node answered with logs that nobody asked for",
    });
  });
});

describe("wallets of registries", () => {
  const ask = (wallet: Address) =>
    world.db.transaction((tx) => requestEnrolment(tx, { chainId: CHAIN, wallet, now: world.deps.now() }));

  test("wait behind those that somebody paid for, and are paid for once somebody does", async () => {
    const node = nodeWith([...olasService(1, 5), ...olasService(2, 6)]);
    await world.scan({ ...world.withRegistries([OLAS]), openReader: () => node });
    world.clock.ms += 1_000;
    await ask(walletOf(9));
    await ask(walletOf(2));
    const open = await readOpenEnrolments(world.db, CHAIN, SOON);
    expect(open.map(({ wallet, cause }) => [wallet, cause])).toEqual([
      [walletOf(2), "paid"],
      [walletOf(9), "paid"],
      [walletOf(1), "registry"],
    ]);
  });

  test("are asked for in the order of their registration, as many as may wait", async () => {
    const node = nodeWith([3, 2, 1].flatMap((id) => olasService(id, 10 - id)));
    const changes = { ...world.withRegistries([OLAS]), openReader: () => node, mostWaiting: 2 };
    expect((await world.scan(changes)).registries[1]?.newWallets).toBe(2);
    expect((await world.enrolments()).map(({ wallet }) => wallet)).toEqual([walletOf(2), walletOf(3)]);
    expect((await world.scan(changes)).registries[1]?.newWallets).toBe(0);
  });
});
