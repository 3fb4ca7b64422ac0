import { alertChecks } from "../../service/alerts/checks.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { type Check, unseen } from "../../service/check.ts";
import { chainRowChecks, serverChecks } from "../../service/db/checks.ts";
import { openDatabase } from "../../service/db/database.ts";
import { type DatabaseClock, openDatabaseClock } from "../../service/db/database-clock.ts";
import { pastChecks } from "../../service/ingest/checks.ts";
import { sanctionsChecks } from "../../service/sanctions/checks.ts";
import { verdictChecks } from "../../service/verification/checks.ts";
import type { Config } from "../config.ts";
import { MACHINE_CLOCK } from "../process.ts";
import type { AdvisedCheck } from "./run-checks.ts";

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
  let connecting: Promise<DatabaseClock> | undefined;
  /** Connects once and measures the clock; throws why it cannot whenever it is asked. */
  const connect = () => {
    connecting ??= openDatabaseClock(db, MACHINE_CLOCK);
    return connecting;
  };
  const now = async () => (await connect()).now();
  const isLocal = deployment?.chainId === LOCAL_CHAIN_ID;
  const checks = serverChecks({ db, connect }, { databaseUrl, isLocal });
  const ofChain = () => {
    if (deployment === null) return [];
    const { chainId } = deployment;
    return [
      ...chainRowChecks({ db, now }, { chainId, maxIndexAgeSeconds: config.maxIndexAgeSeconds }),
      ...sanctionsChecks({ db, deployment }, now),
      ...pastChecks({ db, chainId }),
      ...verdictChecks(db, now),
      ...alertChecks(db, now),
    ];
  };
  return {
    checks: [...checks, ...ofChain()].map((check, place) => advised(check, place === 0 ? null : connect)),
    close: () => db.$client.end(),
  };
}

/** The first check connects and reports why it cannot; all others are not made then. */
function advised({ name, run }: Check, connect: (() => Promise<unknown>) | null): AdvisedCheck {
  if (connect === null) return { name, run, advice: ADVICE, adviceOn: adviceOnRefusal };
  const isConnected = () =>
    connect().then(
      () => true,
      () => false,
    );
  return { name, advice: ADVICE, run: async () => ((await isConnected()) ? run() : unseen("no database")) };
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
