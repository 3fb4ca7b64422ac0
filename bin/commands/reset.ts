import { parseArgs } from "node:util";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { resetChain } from "../../service/store/reset-chain.ts";
import type { Invocation } from "../ahs.ts";
import { requireIndexSettings } from "../config.ts";
import { createLogger, openProcessDatabase } from "../process.ts";
import { removeDataDir } from "../up/local-files.ts";

/** `ahs reset`: removes the local data directory; with --index, only what one database derived from its chain. */
export async function reset({ config, args, out }: Invocation): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { index: { type: "boolean", default: false } } });
  if (!values.index) {
    out(removeDataDir(config.dataDir) ? `removed ${config.dataDir}` : `nothing to remove: ${config.dataDir}`);
    return;
  }
  const { deploymentFile } = requireIndexSettings(config);
  const { chainId } = loadDeployment(deploymentFile);
  const db = openProcessDatabase(config, "ahs-reset", createLogger(config, "reset"));
  try {
    await resetChain(db, chainId);
    out(`removed everything derived from chain ${chainId}; keys are kept`);
  } finally {
    await db.$client.end();
  }
}
