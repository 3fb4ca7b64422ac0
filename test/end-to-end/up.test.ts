import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, createPublicClient, http } from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import type { UpFile } from "../../devnet/demo/local-files.ts";
import { apiKeyFinder, hashApiKey } from "../../service/access/api-keys.ts";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { decodeView } from "../../service/chain/oracle-codec.ts";
import { runScript, type Script } from "../support/anvil-testkit/script.ts";
import { createEmptyDatabase, openMigrated, type TestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { describeJobs } from "./up-jobs.ts";

/** A busy machine takes several times as long as an idle one. */
const UP_TIMEOUT_MS = 600_000;
const WALLETS = 42;

let dataDir: string;
let port: number;
let database: TestDatabase;
let running: Script | null = null;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "ahs-up-"));
  // Run as root, the embedded PostgreSQL is another user, who must be able to reach its directory.
  chmodSync(dataDir, 0o755);
  port = await freePort();
  database = await createEmptyDatabase();
});
afterAll(async () => {
  await running?.stop();
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe("ahs up", () => {
  let up: UpFile;
  beforeAll(async () => {
    up = await start([]);
  }, UP_TIMEOUT_MS);

  test("announces one address for everything, with the demo key, in a file of its owner alone", () => {
    expect(statSync(join(dataDir, "up.json")).mode & 0o777).toBe(0o600);
    expect(up).toMatchObject({
      chain_id: 31_337,
      base_url: `http://127.0.0.1:${port}`,
      verify_base_url: `http://127.0.0.1:${port}`,
    });
    expect(running?.log()).toContain(up.api_key);
    expect(running?.log()).toContain("Verdicts are by a scripted model");
  });

  test(
    "reaches published scores that chain and API agree on, and routes every archetype as it deserves",
    async () => {
      for (const archetype of [
        "keeper",
        "diverse-trader",
        "payment-agent",
        "escrow-worker",
        "oracle-feeder",
        "weekly-payroll",
        "x402-payer",
      ]) {
        expect(await record(up, archetype)).toMatchObject({
          grade: expect.stringMatching(/^[AB]$/),
          trust_routing: "instant_settle",
        });
      }
      expect(await record(up, "always-failing")).toMatchObject({
        grade: expect.stringMatching(/^[EF]$/),
        trust_routing: "reject",
      });
      for (const archetype of ["newcomer", "dormant", "x402-seller"]) {
        expect(await record(up, archetype)).toMatchObject({
          ahs_score: null,
          grade: null,
          confidence_level: "INSUFFICIENT",
          trust_routing: "escrow",
        });
      }
      expect(await record(up, "sanctioned")).toMatchObject({
        ahs_score: 0,
        grade: "F",
        d1_score: 0,
        trust_routing: "reject",
      });
      const { seller_profile } = await record(up, "x402-seller");
      expect(seller_profile.payers).toBeGreaterThan(2);
      expect(seller_profile.returning_payers).toBeGreaterThan(2);
      await expectSensibleRisks(up);
      for (const address of Object.values(up.samples)) await expectChainAgrees(up, address);
      const inputs = await inputFile(up, (await record(up, "keeper")).inputs_hash);
      expect(await inputFile(up, inputs.policy)).toMatchObject({ version: "AHS-2026.2" });
      expect(await explain(up, "keeper")).toMatch(/AHS \d+ [AB] [\s\S]*\nD1 +success_rate /);
      for (const archetype of ["keeper", "flaky", "smart-account", "x402-payer"]) {
        expect(await verify(up, archetype)).toContain("agrees: every line");
      }
    },
    UP_TIMEOUT_MS,
  );

  test(
    "stores a past of scores and scans in the background",
    async () => {
      await until({ what: "the past is stored", timeoutMs: UP_TIMEOUT_MS - 10_000 }, async () =>
        running?.log().includes("The simulated past is stored") ? true : null,
      );
      const oldest = (await record(up, "recovering")).history.at(-1);
      expect(Date.now() - Date.parse(oldest.as_of_time)).toBeGreaterThan(60 * 86_400_000);
      expect(await (await fetch(`${up.base_url}/`)).text()).toMatch(/over 1[45] nights/);
    },
    UP_TIMEOUT_MS,
  );

  describeJobs(() => ({ up, dataDir }));

  test(
    "a second start goes on with the chain, the key and the scores that it finds",
    async () => {
      const before = await headOf(up);
      const { inputs_hash } = await record(up, "keeper");
      const played = () => readFileSync(join(dataDir, "demo-jobs.json"), "utf8");
      const jobs = played();
      await stopLeavingNothing();
      const second = await start([]);
      await until({ what: "the jobs of the first start are listed", timeoutMs: 60_000 }, async () =>
        running?.log().includes("Jobs and verdicts of every state") ? true : null,
      );
      expect(played()).toBe(jobs);
      await expectIndexAdvances(second);
      expect(second.api_key).toBe(up.api_key);
      expect(second.contracts).toEqual(up.contracts);
      expect(await headOf(second)).toBeGreaterThanOrEqual(before);
      const { history } = await record(second, "keeper");
      expect(history).toContainEqual(expect.objectContaining({ inputs_hash }));
      await stopLeavingNothing();
    },
    UP_TIMEOUT_MS,
  );

  test(
    "a lost chain is noticed and everything derived from it built anew, while keys stay",
    async () => {
      const key = readFileSync(join(dataDir, "demo-key"), "utf8");
      rmSync(join(dataDir, "chain"), { recursive: true });
      const up = await start([]);
      expect(up.api_key).toBe(key);
      expect(await record(up, "keeper")).toMatchObject({ trust_routing: "instant_settle" });
      for (const address of Object.values(up.samples)) await expectChainAgrees(up, address);
      await stopLeavingNothing();
    },
    UP_TIMEOUT_MS,
  );

  test(
    "--database-url takes the place of the embedded PostgreSQL, and a key of another database is not taken over",
    async () => {
      const embedded = readFileSync(join(dataDir, "demo-key"), "utf8");
      const db = openMigrated(database.url);
      try {
        const { exited, log } = launch(["--database-url", database.url]);
        await whileRunning({ what: "wallets are indexed", exited, log }, async () => {
          const { rows } = await db.execute(
            `select to_regclass('"chain_31337".wallet') is not null as "isIndexed"`,
          );
          return rows[0]?.isIndexed === true ? true : null;
        });
        const key = readFileSync(join(dataDir, "demo-key"), "utf8");
        expect(key).not.toBe(embedded);
        expect(await apiKeyFinder(db)(hashApiKey(key))).toMatchObject({ name: "demo" });
        await stopLeavingNothing();
      } finally {
        await db.$client.end();
      }
    },
    UP_TIMEOUT_MS,
  );
});

async function start(more: readonly string[]): Promise<UpFile> {
  // A test that failed leaves its service running, on the port of the next.
  await running?.stop();
  const script = launch(more);
  const file = join(dataDir, "up.json");
  return whileRunning({ what: "ahs up is up", ...script }, () =>
    existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as UpFile) : null,
  );
}

function launch(more: readonly string[]): Script {
  const args = ["up", "--data-dir", dataDir, "--port", String(port), "--wallets", String(WALLETS), ...more];
  // Each job waits for its time to appeal, and a test lets minutes of the chain pass at once.
  const env = { APPEAL_WINDOW_SECONDS: "5", MAX_INDEX_AGE_SECONDS: "86400" };
  running = runScript(args, env, join(dataDir, "up.log"));
  return running;
}

/** Waits for a result of a running script; throws with its log when it ends first. */
async function whileRunning<Result>(
  { what, exited, log }: Pick<Script, "exited" | "log"> & { readonly what: string },
  read: () => Result | null | Promise<Result | null>,
): Promise<Result> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  return until({ what: `${what}\n${log()}`, timeoutMs: UP_TIMEOUT_MS - 10_000 }, async () => {
    if (ended) throw new Error(`ahs up ended\n${log()}`);
    return read();
  });
}

async function stopLeavingNothing(): Promise<void> {
  const script = running;
  if (script === null) throw new Error("nothing runs");
  const family = descendantsOf(script.pid).map((pid) => ({ pid, command: commandOf(pid) }));
  expect(family.length).toBeGreaterThanOrEqual(5);
  await script.stop();
  running = null;
  // Those whose parent ended first are reaped by the system, a moment later.
  await expect.poll(() => family.filter(({ pid }) => existsSync(`/proc/${pid}`))).toEqual([]);
  expect(existsSync(join(dataDir, "up.json"))).toBe(false);
}

function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
}

/** Every process below the given one. */
function descendantsOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    const stat =
      /^\d+$/.test(entry) && existsSync(`/proc/${entry}/stat`)
        ? readFileSync(`/proc/${entry}/stat`, "utf8")
        : "";
    const parent = /\) \S (\d+)/.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(entry), Number(parent));
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === root || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

async function record(up: UpFile, archetype: string) {
  const answer = await fetch(`${up.base_url}/ahs/${up.samples[archetype]}?include=history`, {
    headers: { "x-api-key": up.api_key },
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return JSON.parse(await answer.text());
}

/** Risks as a caller reads them before dealing with a wallet. */
async function expectSensibleRisks(up: UpFile): Promise<void> {
  expect(await risk(up, "keeper")).toMatchObject({ risk_level: "LOW", reason: "scored" });
  const failing = await risk(up, "always-failing");
  expect(["HIGH", "CRITICAL"]).toContain(failing.risk_level);
  expect(failing.signals.map((signal: { name: string }) => signal.name)).toContain("success_rate");
  expect(await risk(up, "sanctioned")).toMatchObject({ risk_score: 100, risk_level: "CRITICAL" });
  expect(await risk(up, "newcomer")).toMatchObject({
    risk_score: null,
    risk_level: "UNKNOWN",
    reason: "insufficient_history",
  });
  const { listed_share } = (await risk(up, "dirty-hygiene")).counterparty_exposure;
  expect(listed_share).toBeGreaterThan(0);
}

async function risk(up: UpFile, archetype: string) {
  const answer = await fetch(`${up.base_url}/risk/${up.samples[archetype]}`, {
    headers: { "x-api-key": up.api_key },
  });
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text());
}

async function inputFile(up: UpFile, hash: string) {
  const answer = await fetch(`${up.base_url}/inputs/${hash}`);
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text());
}

/** Output of `ahs score --explain` beside the running service. */
function explain(up: UpFile, archetype: string): Promise<string> {
  return run(["score", String(up.samples[archetype]), "--explain"], {
    DATABASE_URL: up.database_url,
    ...nodeOf(up),
  });
}

/** Output of `ahs verify-score` with a node and a key only. */
function verify(up: UpFile, archetype: string): Promise<string> {
  const args = ["verify-score", String(up.samples[archetype]), "--service", up.base_url];
  return run(args, { AHS_API_KEY: up.api_key, ...nodeOf(up) });
}

function nodeOf(up: UpFile) {
  return { RPC_URL: up.rpc_url, AHS_DEPLOYMENT: join(dataDir, "deployment.json") };
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const script = runScript([...args], env, join(dataDir, `${args[0]}.log`));
  const code = await script.exited;
  expect(code, script.log()).toBe(0);
  return script.log();
}

/** The indexed block never goes back once the service is announced. */
async function expectIndexAdvances(up: UpFile): Promise<void> {
  const first = await indexedBlock(up);
  const seen = [first];
  await until({ what: "the index is two blocks further" }, async () => {
    const block = await indexedBlock(up);
    seen.push(block);
    return block >= first + 2 ? true : null;
  });
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
}

async function indexedBlock(up: UpFile): Promise<number> {
  const { index } = JSON.parse(await (await fetch(`${up.base_url}/readyz`)).text());
  return Number(/^block (\d+)/.exec(index.detail)?.[1]);
}

async function headOf(up: UpFile): Promise<number> {
  return Number(await createPublicClient({ transport: http(up.rpc_url) }).getBlockNumber());
}

/** Asking scores anew, and what moved by then is on chain some seconds later. */
async function expectChainAgrees(up: UpFile, address: Address): Promise<void> {
  await vi.waitFor(() => compareWithChain(up, address), { timeout: 170_000, interval: 500 });
}

async function compareWithChain(up: UpFile, address: Address): Promise<void> {
  const client = createPublicClient({ transport: http(up.rpc_url) });
  const answer = await fetch(`${up.base_url}/ahs/${address}`, { headers: { "x-api-key": up.api_key } });
  const { published, ahs_score, grade } = JSON.parse(await answer.text());
  const oracle = up.contracts.oracle as Address;
  const view = await client.readContract({
    address: oracle,
    abi: agentHealthOracleAbi,
    functionName: "scoreOf",
    args: [address],
  });
  const onChain = decodeView(view);
  if (onChain === null || onChain.outcome.kind === "insufficient") {
    expect(published).toBeNull();
    return;
  }
  expect(published).toMatchObject({
    ahs_score: onChain.outcome.ahsScore,
    as_of_block: Number(onChain.asOf),
    grade: onChain.grade,
    safe_amount_usd: Number(onChain.safeMicroUsd) / 1_000_000,
  });
  expect(Math.abs(ahs_score - published.ahs_score)).toBeLessThan(3);
  expect(grade).toBe(published.grade);
}
