import type { Logger } from "pino";
import { readChainMark } from "../../service/db/chain-fence.ts";
import type { Database } from "../../service/db/database.ts";
import { EXIT_RESTART } from "../exit-code.ts";
import { repeat } from "./repeat.ts";

const CHAIN_PAUSE_MS = 2_000;

/** What was planned for a chain that is gone must not go on: a new process starts with the new chain. */
export async function exitWithChain(
  db: Database,
  { chainId, logger, signal }: { chainId: number; logger: Logger; signal: AbortSignal },
): Promise<void> {
  let known: string | null = null;
  await repeat({ logger, pauseMs: CHAIN_PAUSE_MS, what: "watching the chain" }, signal, async () => {
    const generation = (await readChainMark(db, chainId))?.generation ?? null;
    if (known !== null && generation !== known) {
      logger.fatal("the chain was replaced and its data cleared: starting over");
      process.exit(EXIT_RESTART);
    }
    known = generation;
  });
}
