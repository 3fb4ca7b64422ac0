import { openDatabase } from "../../../service/db/database.ts";
import { workInShards } from "../../../service/db/shards.ts";

/** A worker that takes a share of the items of its arguments, says so, and works on it for ever. */
const [url = "", name = "", ...items] = process.argv.slice(2);
const db = openDatabase({
  ...{ url, applicationName: "ahs-test", maxConnections: 2, statementTimeoutMs: 30_000 },
  ...{ connectTimeoutMs: 5_000, onIdleError: () => undefined },
});
const options = { db, name, chainId: 1, atOnce: items.length, signal: new AbortController().signal };
await workInShards(options, items, async (held) => {
  process.send?.(held);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
