import type { Address } from "viem";
import type { DevnetReady } from "../../bin/commands/devnet.ts";
import { AHS_SCRIPT, type Child, freePortFrom, startHost } from "../../bin/supervisor/child-process.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import type { LocalFiles } from "./local-files.ts";
import type { Progress, Stage } from "./progress.ts";

/** Usual port of a local node. */
const CHAIN_PORT = 8545;
/** Not 5432, where a PostgreSQL of the user may run. */
const DATABASE_PORT = 54_320;

export type RunningChain = {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** Of its population. */
  readonly seed: string;
  readonly deploymentFile: string;
  readonly contracts: Readonly<Record<string, Address>>;
  readonly samples: Readonly<Record<string, Address>>;
  /** Of the scripted provider of labels. */
  readonly labelsUrl: string;
  /** From here on new transactions come by themselves. */
  readonly live: () => void;
};

/** Starts the local chain, or brings contracts and population to the one at the RPC URL; throws when it is no chain 31337. */
export async function startChain(
  rising: Rising,
  wanted: { rpcUrl: string | null; seed: string; wallets: string },
): Promise<RunningChain> {
  const { files, progress, children, deaths } = rising;
  const { host, ready } = startHost({
    name: "chain",
    script: AHS_SCRIPT,
    args: [
      "devnet",
      "--seed",
      wanted.seed,
      "--wallets",
      wanted.wallets,
      "--chain-port",
      String(await freePortFrom(CHAIN_PORT)),
    ],
    env: { AHS_DATA_DIR: files.dataDir, ...(wanted.rpcUrl === null ? {} : { RPC_URL: wanted.rpcUrl }) },
    logFile: files.logFile("chain"),
    onMessage: (message) => {
      if (isProgress(message)) progress.show(message.stage, message.done, message.total);
    },
  });
  children.push(host);
  deaths.push(host.died);
  const described = (await ready) as DevnetReady;
  const { chainId } = loadDeployment(described.deploymentFile);
  const live = () => host.send("live");
  return { ...described, chainId, seed: wanted.seed, live };
}

function isProgress(message: unknown): message is { stage: Stage; done: number; total: number } {
  return typeof message === "object" && message !== null && "stage" in message;
}

export type Rising = {
  readonly files: LocalFiles;
  readonly progress: Progress;
  /** Every process started so far, oldest first: they are stopped from the end. */
  readonly children: Child[];
  /** Each resolves when a process dies that nothing can go on without. */
  readonly deaths: Promise<string>[];
  readonly signal: AbortSignal;
};

const HOST = new URL("./postgres-host.ts", import.meta.url).pathname;

/** Starts the embedded PostgreSQL on the data directory and answers its URL; throws with its own words when it cannot start. */
export async function startDatabase({ files, progress, children, deaths }: Rising): Promise<string> {
  progress.show("postgres", 0, 1);
  const { host, ready } = startHost({
    name: "postgres",
    script: HOST,
    args: ["--data-dir", files.postgresDir, "--port", String(await freePortFrom(DATABASE_PORT))],
    env: {},
    logFile: files.logFile("postgres"),
  });
  children.push(host);
  deaths.push(host.died);
  const answer = (await ready) as { databaseUrl?: string; error?: string };
  if (answer.databaseUrl === undefined) throw new Error(answer.error);
  progress.show("postgres", 1, 1);
  return answer.databaseUrl;
}
