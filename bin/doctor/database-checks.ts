import { loadDeployment } from "../../service/chain/deployments.ts";
import { ageSeconds } from "../../service/sanctions/source-watch.ts";
import { readSanctionsSources } from "../../service/sanctions/sources.ts";
import { openDatabase } from "../../service/store/database.ts";
import {
  readChainQueues,
  readIndexHead,
  readRoleFacts,
  readServerFacts,
} from "../../service/store/operation-facts.ts";
import { readVerdictQueue } from "../../service/store/verdict-queue.ts";
import { readWebhookQueue } from "../../service/store/webhook-log.ts";
import { LOCAL_CHAIN_ID } from "../account-from-config.ts";
import type { Config } from "../config.ts";
import { judgeMigrations, judgeQueue, judgeRoles, judgeSkew, judgeVersion } from "./judge-database.ts";
import { judgeIndex, judgeSanctions } from "./judge-service.ts";
import type { Check } from "./run-checks.ts";

const CONNECTIONS = 3;
/** Shorter than a check's own deadline. */
const STATEMENT_MS = 10_000;
const CONNECT_MS = 10_000;

/** What is asked of the database, and what ends its connections. */
export type DatabaseChecks = { readonly checks: readonly Check[]; readonly close: () => Promise<void> };

/** Checks of the database, and of the chain's rows in it where a deployment is named. */
export function databaseChecks(
  config: Config,
  databaseUrl: string,
  deploymentFile: string | null,
): DatabaseChecks {
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "ahs-doctor",
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_MS,
    connectTimeoutMs: CONNECT_MS,
    // What a lost connection means is told by the check that wanted it.
    onIdleError: () => undefined,
  });
  const now = () => new Date();
  const deployment = deploymentFile === null ? null : loadDeployment(deploymentFile);
  const isLocal = deployment?.chainId === LOCAL_CHAIN_ID;
  const advice = "see that PostgreSQL at DATABASE_URL answers, and whether it is migrated";
  const check = (name: string, run: Check["run"]): Check => ({ name, advice, run });
  const general = [
    check("database", async () => judgeVersion(await readServerFacts(db.$client))),
    check("migrations", async () => judgeMigrations((await readServerFacts(db.$client)).migrations)),
    check("rights", async () => judgeRoles(await readRoleFacts(db.$client), isLocal)),
    check("clock", async () => {
      const server = await readServerFacts(db.$client);
      return judgeSkew("the database", (server.now.getTime() - now().getTime()) / 1_000);
    }),
  ];
  const ofChain = (chain: NonNullable<typeof deployment>): Check[] => [
    check("index", async () => {
      const head = await readIndexHead(db.$client, chain.chainId);
      const age = head === null ? null : now().getTime() / 1_000 - head.timestamp;
      return judgeIndex(age, config.maxIndexAgeSeconds);
    }),
    check("sanctions", async () => {
      const sources = await readSanctionsSources(db, chain);
      return sources.map((source) => judgeSanctions(source, ageSeconds(source, now()), sources.length === 1));
    }),
    check("queues", async () => {
      const [queues, verdicts, webhooks] = await Promise.all([
        readChainQueues(db.$client, { chainId: chain.chainId, now: now() }),
        readVerdictQueue(db, now()),
        readWebhookQueue(db, now()),
      ]);
      return [
        judgeQueue("publications", queues.publish),
        judgeQueue("transactions", queues.sender),
        judgeQueue("verdicts", { waiting: verdicts.depth, overdueSeconds: verdicts.ageSeconds }),
        judgeQueue("webhooks", { waiting: webhooks.depth, overdueSeconds: webhooks.lagSeconds }),
      ];
    }),
  ];
  return {
    checks: [...general, ...(deployment === null ? [] : ofChain(deployment))],
    close: () => db.$client.end(),
  };
}
