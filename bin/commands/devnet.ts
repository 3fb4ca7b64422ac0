import { once } from "node:events";
import { parseArgs } from "node:util";
import { attachDevnet } from "../../devnet/attach-devnet.ts";
import { localFiles } from "../../devnet/demo/local-files.ts";
import { createProgress, type Progress, type Stage } from "../../devnet/demo/progress.ts";
import { demoLabels, startDemoServices } from "../../devnet/demo-services.ts";
import { type Devnet, startDevnet } from "../../devnet/devnet.ts";
import { writeDeployment } from "../../service/chain/deployments.ts";
import type { Invocation } from "../config.ts";
import { createLogger, machineDate, openChainClient, shutdownSignal } from "../process.ts";

const DEFAULT_PORT = 8545;
const DEFAULT_SEED = "1";
const HISTORY_DAYS = 90;
const DEFAULT_WALLETS = 200;

/** Usage of `ahs devnet`. */
export const USAGE = `Usage: ahs devnet [--chain-port PORT] [--seed NUMBER] [--wallets NUMBER]
  --chain-port PORT  port of the node; default ${DEFAULT_PORT}
  --seed NUMBER      what the simulated population is drawn from; default ${DEFAULT_SEED}
  --wallets NUMBER   wallets of the population; default ${DEFAULT_WALLETS}
--rpc-url builds the population on a local node that already runs.`;

/**
 * `ahs devnet`: the local chain with its population, living from the start; below `ahs up` it reports its progress and its
 * contents to its parent, and lives from the parent's message on.
 */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "chain-port": { type: "string", default: String(DEFAULT_PORT) },
      seed: { type: "string", default: DEFAULT_SEED },
      wallets: { type: "string", default: String(DEFAULT_WALLETS) },
    },
  });
  const signal = shutdownSignal();
  const files = localFiles(config.dataDir);
  const progress =
    process.send === undefined
      ? createProgress(process.stderr, () => performance.now() / 1_000)
      : parentProgress();
  const logger = createLogger(config, "devnet");
  const plan = {
    dataDir: files.chainDir,
    seed: values.seed,
    wallets: wholeNumber("--wallets", values.wallets),
    days: HISTORY_DAYS,
    now: () => Math.floor(machineDate().getTime() / 1_000),
    onProgress: (step: { stage: Stage; done: number; total: number }) =>
      progress.show(step.stage, step.done, step.total),
    logger,
    signal,
  };
  const { rpcUrl } = config;
  const chain =
    rpcUrl === null
      ? await startDevnet({ ...plan, port: wholeNumber("--chain-port", values["chain-port"]) })
      : await attachDevnet({ ...plan, rpcUrl: await answering(rpcUrl) });
  progress.end();
  writeDeployment(files.deploymentFile, chain.deployment);
  const services = await startDemoServices({ labels: demoLabels(chain), logger });
  if (process.send === undefined) {
    out(`chain ${chain.deployment.chainId} at ${chain.rpcUrl}, deployment in ${files.deploymentFile}`);
    await chain.startLiving();
  } else {
    process.once("message", () => void chain.startLiving());
    process.send(describe(chain, files.deploymentFile, services.labelsUrl));
  }
  const died = signal.aborted
    ? null
    : await Promise.race([once(signal, "abort").then(() => null), chain.exited]);
  await services.stop();
  if (died !== null) throw new Error(`the local chain is gone: ${died}`);
  await chain.stop();
}

/** The URL itself; throws when no node answers there. */
async function answering(rpcUrl: string): Promise<string> {
  try {
    await openChainClient(rpcUrl).getChainId();
    return rpcUrl;
  } catch (error) {
    throw new Error(`no node answers JSON-RPC at ${rpcUrl}`, { cause: error });
  }
}

/** Report of the local chain to `ahs up`. */
export type DevnetReady = ReturnType<typeof describe>;

function describe({ rpcUrl, contracts, samples }: Devnet, deploymentFile: string, labelsUrl: string) {
  return { rpcUrl, deploymentFile, contracts, samples, labelsUrl };
}

function parentProgress(): Progress {
  return {
    show: (stage, done, total) => process.send?.({ stage, done, total }),
    end: () => undefined,
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name}: expected a whole number, got "${text}"`);
  return Number(text);
}
