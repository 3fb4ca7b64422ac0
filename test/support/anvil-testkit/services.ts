import { join } from "node:path";
import { freePort } from "../../../bin/supervisor/child-process.ts";
import { privateKeyOf } from "../../../bin/up/start-services.ts";
import { roleAccounts } from "../../../devnet/accounts.ts";
import type { RoleName } from "../../../service/db/role-rights.ts";
import { urlForRole } from "../test-database.ts";
import { runScript, type Script, until } from "./script.ts";

export type ServiceOptions = {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly deploymentFile: string;
  /** Set on top of what every service gets. */
  readonly env?: Readonly<Record<string, string>>;
};

export type TestServer = Script & { readonly baseUrl: string };

const LISTEN_TIMEOUT_MS = 170_000;

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
  await until({ what: "the server listens", timeoutMs: LISTEN_TIMEOUT_MS }, async () => {
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
    ...env,
  };
}
