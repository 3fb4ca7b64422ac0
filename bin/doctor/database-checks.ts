import { readWebhookQueue } from "../../service/alerts/webhook-log.ts";
import { type Deployment, loadDeployment } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { type Database, openDatabase } from "../../service/db/database.ts";
import { type DatabaseClock, openDatabaseClock } from "../../service/db/database-clock.ts";
import { fromIndex, readIndexHead } from "../../service/db/index-snapshot.ts";
import {
  readChainQueues,
  readDatabaseUse,
  readRoleFacts,
  readServerFacts,
} from "../../service/db/operation-facts.ts";
import { readQuarantineFacts } from "../../service/db/quarantine.ts";
import { countOpen } from "../../service/ingest/warm/warm-state.ts";
import { ageSeconds, readSanctionsSources } from "../../service/sanctions/sources.ts";
import { readVerdictQueue } from "../../service/verification/verdicts/verdict-queue.sql.ts";
import type { Config } from "../config.ts";
import { MACHINE_CLOCK } from "../process.ts";
import { checkDatabaseDisk } from "./disk.ts";
import {
  judgeClock,
  judgeIndex,
  judgeMigrations,
  judgePast,
  judgeQuarantine,
  judgeQueue,
  judgeRoles,
  judgeSanctions,
  judgeUse,
  judgeVersion,
} from "./judge-service.ts";
import { type Check, unseen } from "./run-checks.ts";

const CONNECTIONS = 3;
/** Shorter than a check's own deadline. */
const STATEMENT_MS = 10_000;
const CONNECT_MS = 10_000;
const ADVICE = "see that PostgreSQL at DATABASE_URL answers, and whether it is migrated";

/** Checks of the database, and of the chain's rows in it where a deployment is named. */
export function databaseChecks(config: Config, databaseUrl: string, deploymentFile: string | null) {
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "ahs-doctor",
    maxConnections: CONNECTIONS,
    statementTimeoutMs: STATEMENT_MS,
    connectTimeoutMs: CONNECT_MS,
    // The check that used a lost connection reports it.
    onIdleError: () => undefined,
  });
  const deployment = deploymentFile === null ? null : loadDeployment(deploymentFile);
  const server = lookingAt(db);
  const ofChain = deployment === null ? [] : checksOfChain(server, deployment, config.maxIndexAgeSeconds);
  return {
    checks: [
      ...checksOfServer(server, { databaseUrl, isLocal: deployment?.chainId === LOCAL_CHAIN_ID }),
      ...ofChain,
    ],
    close: () => db.$client.end(),
  };
}

/** One finding reports the missing connection, instead of every check. */
function lookingAt(db: Database) {
  let connecting: Promise<DatabaseClock> | undefined;
  /** Connects once and measures the clock; throws why it cannot whenever it is asked. */
  const connect = () => {
    connecting ??= openDatabaseClock(db, MACHINE_CLOCK);
    return connecting;
  };
  const check = (name: string, run: Check["run"]): Check => ({
    name,
    advice: ADVICE,
    run: async () => {
      const isConnected = await connect().then(
        () => true,
        () => false,
      );
      return isConnected ? run() : unseen("no database");
    },
  });
  return { db, connect, check };
}

function checksOfServer(
  { db, connect, check }: ReturnType<typeof lookingAt>,
  { databaseUrl, isLocal }: { readonly databaseUrl: string; readonly isLocal: boolean },
): readonly Check[] {
  const judgeServer = async () => {
    await connect();
    return judgeVersion(await readServerFacts(db.$client));
  };
  return [
    { name: "database", advice: ADVICE, adviceOn: adviceOnRefusal, run: judgeServer },
    check("migrations", async () => judgeMigrations((await readServerFacts(db.$client)).migrations)),
    check("rights", async () => judgeRoles(await readRoleFacts(db.$client), isLocal)),
    check("clock", async () => judgeClock((await connect()).aheadSeconds())),
    check("database use", async () => judgeUse(await readDatabaseUse(db.$client))),
    check("database disk", async () => checkDatabaseDisk(databaseUrl, await readDatabaseUse(db.$client))),
  ];
}

function checksOfChain(
  { db, connect, check }: ReturnType<typeof lookingAt>,
  chain: Deployment,
  maxIndexAgeSeconds: number,
): readonly Check[] {
  const now = async () => (await connect()).now();
  return [
    check("index", async () => {
      const head = await fromIndex(readIndexHead(db, chain.chainId));
      return judgeIndex(head, { now: await now(), maxAgeSeconds: maxIndexAgeSeconds });
    }),
    check("sanctions", async () => {
      const sources = await readSanctionsSources(db, chain);
      const at = await now();
      return sources.map((source) => judgeSanctions(source, ageSeconds(source, at), sources.length === 1));
    }),
    check("quarantine", async () => judgeQuarantine(await readQuarantineFacts(db.$client, chain.chainId))),
    check("past", async () => judgePast(await countOpen(db, chain.chainId))),
    check("queues", async () => {
      const at = await now();
      const [queues, verdicts, webhooks] = await Promise.all([
        readChainQueues(db.$client, { chainId: chain.chainId, now: at }),
        readVerdictQueue(db, at),
        readWebhookQueue(db, at),
      ]);
      return [
        judgeQueue("publications", queues.publish),
        judgeQueue("transactions", queues.sender),
        judgeQueue("verdicts", { waiting: verdicts.depth, overdueSeconds: verdicts.ageSeconds }),
        judgeQueue("webhooks", { waiting: webhooks.depth, overdueSeconds: webhooks.lagSeconds }),
      ];
    }),
  ];
}

/** SQLSTATE of a refused connection, with its remedy. */
const REFUSALS: Readonly<Record<string, string>> = {
  "28P01": "correct user and password in DATABASE_URL, or give that user this password: docs/database.md",
  "28000": "correct the user in DATABASE_URL, or let it in by pg_hba.conf",
  "3D000": "correct the database's name in DATABASE_URL, or create it",
};

function adviceOnRefusal(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REFUSALS[code] ?? null;
}
