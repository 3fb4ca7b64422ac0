import { parseArgs } from "node:util";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import type { Database } from "../../service/db/database.ts";
import { readConnected, resetChain } from "../../service/db/reset-chain.ts";
import type { Invocation } from "../command.ts";
import { requireIndexSettings } from "../config.ts";
import { createLogger, openProcessDatabase } from "../process.ts";
import { removeDataDir } from "../up/local-files.ts";

const APPLICATION = "ahs-reset";
const PLAN = [
  "goes, and is built anew from the chain: the index and its cache, what enrichment read, registries, current scores; scores that wait to be published are taken back",
  "stays: keys, payments, verdicts, subscriptions, the history of scores, roots and their lists, transactions of our keys, what history sources told, documents, visits, scans",
  "until the chain is indexed and enriched again, which takes as long as it did at first, no wallet has a score",
];

/**
 * `ahs reset`: removes the local data directory; with --index, only what one database derived from its chain: all of it on the
 * local chain, and on any other what PLAN says, with --yes, and while no process of ours is connected unless --force is given.
 */
export async function reset({ config, args, out }: Invocation): Promise<void> {
  const no = { type: "boolean", default: false } as const;
  const { values } = parseArgs({ args: [...args], options: { index: no, yes: no, force: no } });
  if (!values.index) {
    out(removeDataDir(config.dataDir) ? `removed ${config.dataDir}` : `nothing to remove: ${config.dataDir}`);
    return;
  }
  const { chainId } = loadDeployment(requireIndexSettings(config).deploymentFile);
  const isLocal = chainId === LOCAL_CHAIN_ID;
  if (!isLocal) for (const line of PLAN) out(line);
  if (!isLocal && !values.yes) {
    out(`nothing was done: stop all processes, back up, then ahs reset --index --yes for chain ${chainId}`);
    return;
  }
  const db = openProcessDatabase(config, APPLICATION, createLogger(config, "reset"));
  try {
    if (!isLocal && !values.force) await requireAlone(db);
    await resetChain(db, chainId);
    out(`removed what is derived from chain ${chainId}; keys are kept`);
  } finally {
    await db.$client.end();
  }
}

async function requireAlone(db: Database): Promise<void> {
  const names = [...new Set(await readConnected(db, APPLICATION))];
  if (names.length === 0) return;
  throw new Error(`${names.join(", ")} are connected to the database: stop them first, or add --force`);
}
