import { setTimeout as sleep } from "node:timers/promises";
import { servesFreshData } from "../../devnet/demo/await-ready.ts";
import type { Finding } from "../accounts/finding.ts";
import type { settle } from "../accounts/settle.ts";
import type { Faults } from "../faults.ts";
import type { Load } from "../load/load.ts";
import type { Stand } from "../stand/stand.ts";

/** How much a run does of everything. */
export type Extent = {
  readonly kills: number;
  readonly terminations: number;
  readonly reorgDepths: readonly number[];
  /** How long database and node are gone, and how long the node limits its callers or is slow. */
  readonly goneMs: number;
  readonly disturbedMs: number;
  /** How long throughput is measured, each time. */
  readonly measureMs: number;
  /** Hostile requests to each operation. */
  readonly fuzzed: number;
  /** Approvals of one agent that a stranger's contract claims, and as many transfers to it. */
  readonly forged: number;
  /** Wallets that register an agent and do nothing else. */
  readonly registrations: number;
  /** Own calls of one hostile wallet. */
  readonly busyCalls: number;
  /** How long purchases by every scheme, jobs and bonds go on, and processes that are killed meanwhile. */
  readonly edges: { readonly ms: number; readonly kills: number };
  /** Rounds of a specification and two requests that pay nothing. */
  readonly floods: number;
};

export type ScenarioContext = {
  readonly stand: Stand;
  readonly load: Load;
  readonly faults: Faults;
  readonly extent: Extent;
  /** Accounts for everything since the run began. */
  readonly settle: () => ReturnType<typeof settle>;
};

/** Work of a scenario, before the accounts are made. */
export type Injection = {
  readonly injected: number;
  readonly of: string;
  /** In seconds; "agreed" where it is the time until chain and database agree, null where nothing was taken away. */
  readonly recovery: number | "agreed" | null;
  /** How often a process may end by itself meanwhile, where it does so by design. */
  readonly mayRestart: (process: string) => number;
  readonly notes: readonly string[];
  /** Lost or doubled items, if the scenario accounts for everything itself. Otherwise the caller does so. */
  readonly findings?: readonly Finding[];
};

export type Scenario = (context: ScenarioContext) => Promise<Injection>;

export const NEVER_RESTARTS = (): number => 0;

const RECOVERY_TIMEOUT_MS = 180_000;
const POLL_MS = 100;

/**
 * Seconds from `since` (of performance.now) until every server is ready, the index holds the head, and every client has been
 * answered something that it began after that; the timeout where that does not come about, which is noted as a fault.
 */
export async function secondsToRecover(
  { stand, load, faults }: ScenarioContext,
  since: number,
): Promise<number> {
  const deadline = since + RECOVERY_TIMEOUT_MS;
  const waiting: { readonly what: string; readonly isBack: () => Promise<boolean> }[] = [
    { what: "the servers are not ready", isBack: () => areReady(stand) },
    { what: "the index is not at the head", isBack: () => isAtHead(stand) },
    ...load.lanes.map(({ name, operations }) => ({
      what: `${name} are not answered`,
      isBack: async () => operations.some(({ startedAt, doneAt }) => startedAt >= since && doneAt !== null),
    })),
  ];
  for (const { what, isBack } of waiting) {
    while (!(await isBack())) {
      if (performance.now() > deadline) {
        faults.note("no recovery", what);
        return RECOVERY_TIMEOUT_MS / 1_000;
      }
      await sleep(POLL_MS);
    }
  }
  return (performance.now() - since) / 1_000;
}

async function areReady(stand: Stand): Promise<boolean> {
  const answers = await Promise.all(stand.services.servers().map((url) => servesFreshData(url)));
  return answers.every((isServing) => isServing);
}

/** Whether the index has come as far as the chain was a moment ago. */
async function isAtHead(stand: Stand): Promise<boolean> {
  const { number, hash } = await stand.chain().head();
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { rows } = await stand.db.$client
      .query<{ hash: string }>(
        `select hash from chain_${stand.chain().test.deployment.chainId}.block where number = $1`,
        [number],
      )
      // Dropped and not built again yet.
      .catch(() => ({ rows: [] }));
    if (rows[0]?.hash === hash) return true;
    await sleep(POLL_MS);
  }
  return false;
}
