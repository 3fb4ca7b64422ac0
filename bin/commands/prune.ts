import { parseArgs } from "node:util";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { dropBuild, type IndexBuild, readBuilds } from "../../service/db/index-builds.ts";
import type { Invocation } from "../command.ts";
import { requireIndexSettings } from "../config.ts";
import { createLogger, openProcessDatabase } from "../process.ts";
import { renderTable } from "../render-table.ts";

/** `ahs prune`: lists the builds of a chain's index, and with --yes drops those that are neither served nor being indexed. */
export async function prune({ config, args, out }: Invocation): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { yes: { type: "boolean", default: false } } });
  const { chainId } = loadDeployment(requireIndexSettings(config).deploymentFile);
  const db = openProcessDatabase(config, "ahs-prune", createLogger(config, "prune"));
  try {
    const builds = await readBuilds(db.$client, chainId);
    for (const line of renderTable(builds.map(row))) out(line);
    const unused = builds.filter(({ isServed, isRunning }) => !isServed && !isRunning);
    for (const { schema } of values.yes ? unused : []) {
      const isDropped = await dropBuild(db.$client, { chainId, schema });
      out(isDropped ? `dropped ${schema}` : `kept ${schema}: it came into use meanwhile`);
    }
    if (!values.yes && unused.length > 0) out(`${unused.length} can be dropped: ahs prune --yes`);
  } finally {
    await db.$client.end();
  }
}

function row({ schema, startedAt, isServed, isRunning }: IndexBuild): string[] {
  const use = [isServed ? "served" : null, isRunning ? "being indexed" : null].filter(
    (word) => word !== null,
  );
  return [schema, startedAt ?? "before builds were dated", use.join(", ") || "unused"];
}
