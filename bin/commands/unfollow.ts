import { type Address, isAddress } from "viem";
import { type Database, requireMigrated } from "../../service/db/database.ts";
import { addUnfollowed, readUnfollowed, removeUnfollowed } from "../../service/ingest/unfollowed.ts";
import { indexedDeployment, withDatabase } from "../command.ts";
import type { Invocation } from "../config.ts";
import { renderTable } from "../render-table.ts";

/** Usage of `ahs unfollow`. */
export const USAGE = `Usage: ahs unfollow list
       ahs unfollow add ADDRESS
       ahs unfollow remove ADDRESS
add has an address followed no more, whatever names it on the chain, now and after a new index: no score of it is made or
renewed at once, and no transaction of it is read once "ahs index" has started again, which it does by itself under a
supervisor. What was published stays. remove lets it be followed again from then on; what it did meanwhile is read by a new
index alone ("ahs reset --index").`;

/** `ahs unfollow list|add|remove`: the addresses of the configured chain that are not followed. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const { chainId } = indexedDeployment(config);
  await withDatabase(config, "unfollow", async (db) => {
    await requireMigrated(db);
    await runUnfollow(args, { db, chainId, out });
  });
}

/** Runs `ahs unfollow …`; throws with what was given and expected when the arguments do not fit. */
export async function runUnfollow(
  args: readonly string[],
  deps: {
    db: Database;
    chainId: number;
    out: (line: string) => void;
  },
): Promise<void> {
  const { db, chainId, out } = deps;
  const [action, given, ...more] = args;
  if (action === "list" && given === undefined) return list(deps);
  if ((action !== "add" && action !== "remove") || given === undefined || more.length > 0) {
    throw new Error(`given "${args.join(" ")}"\n${USAGE}`);
  }
  if (!isAddress(given)) throw new Error(`given "${given}", expected an address with a right checksum`);
  const address = given.toLowerCase() as Address;
  if (action === "add") {
    const isNew = await addUnfollowed(db, chainId, address);
    out(
      isNew ? `${given} is followed no more: "ahs index" starts again` : `${given} was not followed before`,
    );
    return;
  }
  const isGone = await removeUnfollowed(db, chainId, address);
  out(isGone ? `${given} may be followed: "ahs index" starts again` : `${given} is not in the list`);
}

async function list({ db, chainId, out }: Parameters<typeof runUnfollow>[1]): Promise<void> {
  const rows = await readUnfollowed(db, chainId);
  if (rows.length === 0) return out("every address that asks for it is followed");
  for (const line of renderTable(rows.map(({ address, addedAt }) => [address, addedAt.toISOString()]))) {
    out(line);
  }
}
