import { join } from "node:path";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { privateKeyOf, roleAccounts } from "../../../devnet/accounts.ts";
import type { RoleName } from "../../../service/db/role-rights.ts";
import { urlForRole } from "../test-database.ts";
import { until } from "../until.ts";
import { runScript, type Script } from "./script.ts";

export type ServiceOptions = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly deploymentFile: string;
  /** Set on top of what every service gets. */
  readonly env?: Readonly<Record<string, string>>;
};

export type TestServer = Script & { readonly baseUrl: string };

export type TestIndexer = Script & {
  /** Resolves once the index holds that block; fails at once when the indexer has ended. */
  readonly reach: (blockNumber: number) => Promise<void>;
};

/** Characters of the log that a failure shows. */
const LOG_SHOWN = 6_000;

/** Starts `ahs index` with the rights of its role on a chain and a migrated database. */
export async function startIndexer(options: ServiceOptions): Promise<TestIndexer> {
  const port = await freePort();
  const env = {
    DATABASE_URL: urlForRole(options.databaseUrl, "ahs_index"),
    RPC_URL: options.rpcUrl,
    AHS_DEPLOYMENT: options.deploymentFile,
    INDEX_PORT: String(port),
    POLLING_INTERVAL_MS: "100",
    LOG_LEVEL: "info",
    ...options.env,
  };
  const script = runScript(["index"], env, join(options.folder, "index.log"));
  let ended: number | null | undefined;
  void script.exited.then((code) => {
    ended = code;
  });
  const reach = async (blockNumber: number): Promise<void> => {
    await until({ what: `the index reaches block ${blockNumber}` }, async () => {
      if (ended !== undefined) throw new Error(`the indexer ended with ${ended}`);
      const indexed = await indexedBlock(port);
      return indexed !== null && indexed >= blockNumber ? indexed : null;
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${script.log().slice(-LOG_SHOWN)}`);
    });
  };
  return { ...script, reach };
}

async function indexedBlock(port: number): Promise<number | null> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/status`);
    const status = (await response.json()) as Record<string, { block?: { number: number } }>;
    return status.scored?.block?.number ?? null;
  } catch {
    return null;
  }
}

/** Starts `ahs work` with the rights of its role, scoring as often as the index allows. */
export function startWorker(options: ServiceOptions): Script {
  const env = {
    ...environment(options, "ahs_work"),
    RESCORE_INTERVAL_SECONDS: "1",
    FACILITATOR_PRIVATE_KEY: privateKeyOf(roleAccounts().facilitator),
  };
  return runScript(["work"], env, join(options.folder, "work.log"));
}

/** Starts `ahs serve` with the rights of its role on a free port, or on a given one, and waits until it listens. */
export async function startServer(options: ServiceOptions, port?: number): Promise<TestServer> {
  const chosen = port ?? (await freePort());
  const script = runScript(
    ["serve"],
    { ...environment(options, "ahs_serve"), PORT: String(chosen) },
    join(options.folder, "serve.log"),
  );
  const baseUrl = `http://127.0.0.1:${chosen}`;
  await until({ what: "the server listens" }, async () => {
    const answer = await fetch(`${baseUrl}/livez`).catch(() => null);
    return answer?.ok === true ? true : null;
  });
  return { ...script, baseUrl };
}

function environment(
  { databaseUrl, rpcUrl, deploymentFile, env }: ServiceOptions,
  role: RoleName,
): Record<string, string> {
  const { publisher, signer, facilitator, payee } = roleAccounts();
  return {
    DATABASE_URL: urlForRole(databaseUrl, role),
    RPC_URL: rpcUrl,
    AHS_DEPLOYMENT: deploymentFile,
    PUBLISHER_PRIVATE_KEY: privateKeyOf(publisher),
    SIGNER_PRIVATE_KEY: privateKeyOf(signer),
    X402_PAY_TO: payee.address,
    X402_FACILITATOR_ADDRESS: facilitator.address,
    // A whole test comes from one address.
    IP_RATE_PER_MINUTE: "1000000",
    // Chains of tests mine faster than the wall clock goes.
    MAX_INDEX_AGE_SECONDS: "86400",
    ...env,
  };
}
