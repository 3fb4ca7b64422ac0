import { join } from "node:path";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { privateKeyOf, roleAccounts } from "../../devnet/accounts.ts";
import { servesFreshData } from "../../devnet/demo/await-ready.ts";
import type { ServiceOptions as TestServiceOptions } from "../../test/support/anvil-testkit/services.ts";
import { until } from "../../test/support/until.ts";
import { type Supervised, supervise } from "./supervise.ts";

const SERVERS = 2;
const WORKERS = 3;
const START_TIMEOUT_MS = 180_000;
/** Verdicts that one worker makes at once. */
const PANEL_AT_ONCE = 4;

type ServiceOptions = Omit<TestServiceOptions, "env"> & {
  readonly panel: Readonly<Record<string, string>>;
};

type Part = { readonly port: number; readonly start: () => Supervised; running: Supervised | null };

/** Starts one indexer, two servers and three workers on one database, each supervised, and waits until all are ready. */
export async function startServices(options: ServiceOptions) {
  const serverPorts = await freePorts(SERVERS);
  const workerPorts = await freePorts(WORKERS);
  // One name for all servers, as behind a load balancer: a payment names what it is for by it.
  const env = { ...environment(options), PUBLIC_URL: `http://127.0.0.1:${serverPorts[0]}` };
  const process = (name: string, command: string, own: Record<string, string>) => () =>
    supervise({ name, command, env: { ...env, ...own }, logFile: join(options.folder, `${name}.log`) });
  const indexPort = await freePort();
  const index = process("index", "index", { INDEX_PORT: String(indexPort) })();
  const servers = parts(serverPorts, (place, port) => process(`serve-${place}`, "serve", { PORT: port }));
  const workers = parts(workerPorts, (place, port) =>
    process(`work-${place}`, "work", { METRICS_PORT: port, ...workerKeys() }),
  );
  const running = (of: readonly Part[]) => of.flatMap(({ running }) => (running === null ? [] : [running]));
  const urls = (of: readonly Part[]) =>
    of.flatMap(({ port, running }) => (running === null ? [] : [`http://127.0.0.1:${port}`]));
  const ready = async (timeoutMs = START_TIMEOUT_MS): Promise<void> => {
    for (const url of urls(servers)) {
      await until({ what: `${url} is ready`, timeoutMs }, async () =>
        (await servesFreshData(url)) ? true : null,
      );
    }
  };
  const services = {
    /** Every process of ours that runs: index, servers, workers. */
    all: () => [index, ...running(servers), ...running(workers)],
    /** Base URLs of the servers that run. */
    servers: () => urls(servers),
    /** URLs of the metrics of every worker that runs. */
    workerMetrics: () => urls(workers).map((url) => `${url}/metrics`),
    indexUrl: `http://127.0.0.1:${indexPort}`,
    /** Stops processes, or starts them again, until so many run. */
    scale: async (count: { readonly servers: number; readonly workers: number }) => {
      await Promise.all([scaleParts(servers, count.servers), scaleParts(workers, count.workers)]);
      await ready();
    },
    ready,
    stop: async () => {
      await Promise.all([index.stop(), scaleParts(servers, 0), scaleParts(workers, 0)]);
    },
  };
  await ready().catch(async (error: unknown) => {
    await services.stop();
    throw error;
  });
  return services;
}

async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

function parts(
  ports: readonly number[],
  make: (place: number, port: string) => () => Supervised,
): readonly Part[] {
  return ports.map((port, index) => {
    const start = make(index + 1, String(port));
    return { port, start, running: start() };
  });
}

async function scaleParts(of: readonly Part[], count: number): Promise<void> {
  await Promise.all(
    of.map(async (part, place) => {
      if (place < count) {
        part.running ??= part.start();
        return;
      }
      const { running } = part;
      part.running = null;
      await running?.stop();
    }),
  );
}

function environment(options: ServiceOptions): Record<string, string> {
  const { publisher, signer, facilitator, payee } = roleAccounts();
  return {
    DATABASE_URL: options.databaseUrl,
    RPC_URL: options.rpcUrl,
    AHS_DEPLOYMENT: options.deploymentFile,
    LOG_LEVEL: "info",
    POLLING_INTERVAL_MS: "100",
    RESCORE_INTERVAL_SECONDS: "1",
    PROBE_LOOPBACK: "1",
    HISTORY_SOURCE: "none",
    PANEL_AT_ONCE: String(PANEL_AT_ONCE),
    PANEL_TOKENS_PER_DAY: "1000000000",
    PUBLISHER_PRIVATE_KEY: privateKeyOf(publisher),
    SIGNER_PRIVATE_KEY: privateKeyOf(signer),
    X402_PAY_TO: payee.address,
    X402_FACILITATOR_ADDRESS: facilitator.address,
    // Everything comes from one address.
    IP_RATE_PER_MINUTE: "10000000",
    // The chain mines faster than the wall clock goes.
    MAX_INDEX_AGE_SECONDS: "86400",
    ...options.panel,
  };
}

/** The server asks for settlements and verdicts; only workers can sign them. */
function workerKeys(): Record<string, string> {
  const { facilitator, relayer, verdictSigner } = roleAccounts();
  return {
    FACILITATOR_PRIVATE_KEY: privateKeyOf(facilitator),
    RELAYER_PRIVATE_KEY: privateKeyOf(relayer),
    VERDICT_SIGNER_PRIVATE_KEY: privateKeyOf(verdictSigner),
  };
}
