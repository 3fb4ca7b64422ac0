import { setTimeout as sleep } from "node:timers/promises";
import { accountBuyers, type BuyerAtWork, usdcOf } from "../money-edges/edge-account.ts";
import { openBuyers } from "../money-edges/edge-buyers.ts";
import { playJobs } from "../money-edges/edge-jobs.ts";
import { startEdgePurchases } from "../money-edges/edge-purchases.ts";
import { refuseStrangers } from "../money-edges/refusing-seller.ts";
import { pick } from "../random.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext, secondsToRecover } from "./scenario.ts";

/** Units of 0.001 USD: jobs' outputs and appeals, and lookups of the seller's gate. */
const [JOBS_UNITS, GATE_UNITS] = [100_000, 100];
const DRAIN_MS = 240_000;
const TROUBLED = { kind: "troubled", share: 0.5 } as const;

/**
 * Purchases by every scheme, some broken off during the work, of wallets that no final block knows too; jobs with appeals and
 * slashed bonds; and a seller's gate; while processes are killed and the node answers with trouble of its own. Accounts for every unit.
 */
export async function moneyEdges(context: ScenarioContext): Promise<Injection> {
  const { stand, load, faults, extent } = context;
  const { ms, kills } = extent.edges;
  const random = stand.random("edges");
  const [jobsKey, gateKey] = [await stand.createKey(JOBS_UNITS), await stand.createKey(GATE_UNITS)];
  const working: BuyerAtWork[] = [];
  for (const buyer of await openBuyers(stand, { specId: load.specId })) {
    const opening = await usdcOf(stand, buyer.account.address);
    const asking = { ask: load.ask, servers: stand.services.servers, random, faults };
    working.push({ buyer, opening, lane: startEdgePurchases(buyer, asking) });
  }
  const end = performance.now() + ms;
  const jobs = playJobs(stand, { ask: load.ask, key: jobsKey }, () => performance.now() > end);
  const offers = refuseStrangers(stand, gateKey, faults);
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(ms / kills);
    pick(random, stand.services.all()).kill();
    stand.node.become(kill % 2 === 0 ? TROUBLED : { kind: "well" });
  }
  stand.node.become({ kind: "well" });
  const recovery = await secondsToRecover(context, performance.now());
  const open = await Promise.all(working.map(({ lane }) => lane.drain(DRAIN_MS)));
  const [{ findings: ofJobs, jobs: played }, offered] = await Promise.all([jobs, offers]);
  const accounted = await accountBuyers(stand, working);
  await Promise.all(working.map(({ lane }) => lane.stop()));
  load.besides.received += accounted.received;
  const { findings } = await context.settle();
  const bought = working.map(({ buyer, lane }) => `${lane.operations.length} ${buyer.name}`);
  return {
    injected: kills,
    of: `kills, and trouble of the node for ${ms / 2_000} s`,
    recovery,
    mayRestart: NEVER_RESTARTS,
    notes: [
      `purchases: ${bought.join(", ")}; open ${open.reduce((sum, count) => sum + count, 0)}`,
      `${played} jobs, half of them with a bond, and ${offered} payments of strangers at a seller's gate`,
    ],
    findings: [...accounted.findings, ...ofJobs, ...findings],
  };
}
