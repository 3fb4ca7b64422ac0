import fc from "fast-check";
import type { Address } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import type { Grade } from "../../../../service/model/score/record.ts";
import { readOpenEnrolments, requestEnrolments } from "../../../../service/oracle/enrolments.ts";
import { countWaitingDocuments } from "../../../../service/registries/documents/agent-documents.ts";
import { finishScan } from "../../../../service/registries/nightly/finish-scan.ts";
import { scanOnce } from "../../../../service/registries/nightly/scan-once.ts";
import { readScans } from "../../../../service/registries/nightly/scan-runs.ts";
import { requestRegistryWallets } from "../../../../service/registries/readers/registry-agents.sql.ts";
import { forFile } from "../../../support/test-database.ts";
import { insertOnlyCall } from "../../model/features/index-tables.ts";
import {
  CELO,
  CHAIN,
  createReportWorld,
  FINAL,
  nodeWith,
  OLAS,
  olasService,
  walletOf,
} from "./report-world.ts";

const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)] as const;
const IDENTITY = "0x8004a169fb4a3325136eb29fa0ceb6d2e539a432";
const SOON = { now: new Date("2027-01-01T00:00:00Z"), limit: 10 };
const NO_ROOT = { root: null, noRoot: "there is no score to publish" };

const world = await forFile(createReportWorld);
beforeEach(() => world.clear());

describe("the report", () => {
  test("lists the grades and agents of the chain, and the changes since the scan before", async () => {
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
      noRoot: null,
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
      ...{ deployment: world.deps.deployment, readings: new Map(), indexBlock: FINAL, root: NO_ROOT },
      ...{ askedAt: world.deps.now(), finishedAt: world.deps.now() },
    };
    await expect(finishScan(world.db, { ...end, attempt: dead })).rejects.toThrow("another attempt");
    await finishScan(world.db, { ...end, attempt: alive });
    expect(await world.begin("nightly")).toBeNull();
    expect(await readScans(world.db, CHAIN, 10)).toMatchObject([
      { state: "done", attempts: 2, report: { grades: { A: 1 } } },
    ]);
  });
});

describe("the steps", () => {
  test("ask for documents once scores and root are done, and touch few at once, however many there are", async () => {
    await world.db.$client.query(`
      insert into ahs.agent_document (chain_id, agent_id, uri, state, content_hash, services, attempts, fetched_at, not_before)
      select ${CHAIN}, id, case when id = 7 then 'data:,' else 'https://a.example' end,
        case when id = 8 then 'unreachable' else 'current' end, '0x01', '[]', 0, '2026-11-19', '2026-11-21'
      from generate_series(0, 20_000) id`);
    const readTouched = await world.watchDocuments();
    const asked = () => countWaitingDocuments(world.db, CHAIN, world.deps.now());
    const seen: [string, number][] = [];
    const note = async (step: string) => void seen.push([step, await asked()]);
    const steps = {
      scoreAll: async () => note("scores").then(() => 0),
      publishRoot: async () => note("root").then(() => NO_ROOT),
    };
    const report = await world.scan({ steps });
    expect(report).toMatchObject({ ...NO_ROOT, changedDocuments: 0 });
    expect([...seen, ["report", await asked()]]).toEqual([
      ["scores", 0],
      ["root", 0],
      ["report", 19_999],
    ]);
    expect(await readTouched()).toEqual({ most: 10_000, all: 19_999 + 20_001 });
  });

  test("leave documents that were not read again to the report, but for agents that the index has lost", async () => {
    await world.agent(1, 10);
    await world.document(1, "0x01");
    await world.document(2, "0x01");
    await world.db.$client.query(
      "update ahs.agent_document set fetched_at = '2026-11-19', not_before = '2026-11-21'",
    );
    expect(await world.scan()).toMatchObject({ documentsLeft: 1 });
  });

  test("end the scoring when the process ends, or loses the scan's lock", async () => {
    const attempt = await world.begin();
    if (attempt === null) throw new Error("a scan by hand always begins");
    const stop = new AbortController();
    const scoreAll = (_: unknown, signal: AbortSignal) =>
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        stop.abort(new Error("the lock was lost"));
      });
    const steps = { ...world.deps.steps, scoreAll };
    await expect(scanOnce({ ...world.deps, steps }, attempt, stop.signal)).rejects.toThrow(
      "the lock was lost",
    );
  });
});

describe("wallets of registries", () => {
  const ask = async (wallet: Address) => {
    await insertOnlyCall(world.db.$client, wallet);
    await world.db.transaction((tx) =>
      requestEnrolments(tx, {
        chainId: CHAIN,
        wallets: [wallet],
        requestedBy: "key:1",
        now: world.deps.now(),
      }),
    );
  };

  test("wait behind paid wallets, and become paid once a caller pays", async () => {
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

  test("are asked for, the oldest and the newest registration alternately, as many as may wait", async () => {
    const node = nodeWith([3, 2, 1].flatMap((id) => olasService(id, 10 - id)));
    const changes = { ...world.withRegistries([OLAS]), openReader: () => node, mostWaiting: 2 };
    expect((await world.scan(changes)).registries[1]?.newWallets).toBe(2);
    expect((await world.enrolments()).map(({ wallet }) => wallet)).toEqual([walletOf(1), walletOf(3)]);
    expect((await world.scan(changes)).registries[1]?.newWallets).toBe(0);
  });

  describe("that wait for their turn", () => {
    const wallets = async () => (await world.enrolments()).map(({ wallet }) => wallet);
    const askFor = (mostWaiting: number) =>
      requestRegistryWallets(world.db, {
        ...{ chainId: CHAIN, registries: [OLAS, CELO].map(({ address }) => address.toLowerCase()) },
        ...{ now: world.deps.now(), mostWaiting },
      });
    const register = ({ address }: { address: Address }, ids: readonly number[]) =>
      world.db.$client.query(
        `insert into ahs.registry_agent (chain_id, registry, agent_id, wallet, registered_block, updated_block)
         select ${CHAIN}, $1, id, '0x' || lpad(to_hex(id + 1), 40, '0'), id, id from unnest($2::int[]) id`,
        [address.toLowerCase(), ids],
      );
    const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);

    test("share it among registries, however many agents one has", async () => {
      await register(OLAS, range(1, 500));
      await register(CELO, range(1_000, 5));
      expect(await askFor(20)).toBe(20);
      expect(await wallets()).toEqual(expect.arrayContaining(range(1_000, 5).map(walletOf)));
    });

    test("get it despite a flood before or after them", async () => {
      await register(OLAS, [1, ...range(2, 500), 600]);
      expect(await askFor(2)).toBe(2);
      expect(await wallets()).toEqual([walletOf(1), walletOf(600)]);
      expect(await askFor(2)).toBe(0);
    });

    test("are asked for once where several registries have them", async () => {
      await register(OLAS, [1, 2]);
      await register(CELO, [1, 3]);
      expect(await askFor(10)).toBe(3);
    });
  });
});
