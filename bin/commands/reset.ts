import { parseArgs } from "node:util";
import { removeDataDir } from "../../devnet/demo/local-files.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import type { Database } from "../../service/db/database.ts";
import { dropBuild, type IndexBuild, readBuilds } from "../../service/db/index-builds.ts";
import { readConnected, resetChain } from "../../service/db/reset-chain.ts";
import { indexedDeployment, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

/** Usage of `ahs reset` and `ahs prune`. */
export const USAGE = `Usage: ahs reset
       ahs reset --index [--yes] [--force]
       ahs prune [--yes]
reset deletes the data directory. reset --index deletes what the database derived from its chain; off the local chain it
needs --yes, and --force while processes are connected. prune lists index builds, and with --yes drops the unused ones.`;

const PLAN = [
  "removed, and rebuilt from the chain: the index and its cache, enrichment, registries, current scores; scores that wait to be published are withdrawn",
  "kept: keys, payments, verdicts, subscriptions, the history of scores, roots and their lists, transactions of our keys, reports of history sources, documents, visits, scans",
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
  const { chainId } = indexedDeployment(config);
  const isLocal = chainId === LOCAL_CHAIN_ID;
  if (!isLocal) for (const line of PLAN) out(line);
  if (!isLocal && !values.yes) {
    out(`nothing was done: stop all processes, back up, then ahs reset --index --yes for chain ${chainId}`);
    return;
  }
  await withDatabase(config, "reset", async (db) => {
    if (!isLocal && !values.force) await requireAlone(db);
    await resetChain(db, chainId);
    out(`removed what is derived from chain ${chainId}; keys are kept`);
  });
}

async function requireAlone(db: Database): Promise<void> {
  const names = [...new Set(await readConnected(db, "ahs-reset"))];
  if (names.length === 0) return;
  throw new Error(`${names.join(", ")} are connected to the database: stop them first, or add --force`);
}

/** `ahs prune`: lists the builds of a chain's index, and with --yes drops those that are neither served nor being indexed. */
export async function prune({ config, args, out }: Invocation): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { yes: { type: "boolean", default: false } } });
  const { chainId } = indexedDeployment(config);
  await withDatabase(config, "prune", async (db) => {
    const builds = await readBuilds(db.$client, chainId);
    for (const line of renderTable(builds.map(row))) out(line);
    const unused = builds.filter(({ isServed, isRunning }) => !isServed && !isRunning);
    for (const { schema } of values.yes ? unused : []) {
      const isDropped = await dropBuild(db.$client, { chainId, schema });
      out(isDropped ? `dropped ${schema}` : `kept ${schema}: it came into use meanwhile`);
    }
    if (!values.yes && unused.length > 0) out(`${unused.length} can be dropped: ahs prune --yes`);
  });
}

function row({ schema, startedAt, isServed, isRunning }: IndexBuild): string[] {
  const use = [isServed ? "served" : null, isRunning ? "being indexed" : null].filter(
    (word) => word !== null,
  );
  return [schema, startedAt ?? "before builds were dated", use.join(", ") || "unused"];
}
