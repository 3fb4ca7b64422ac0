import { parseArgs } from "node:util";
import { startPonder } from "../bin/indexer/start-ponder.ts";

/** One Ponder app in a process of its own, as the bench starts it. */
const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { root: text, schema: text, views: text, port: text, deployment: text, rpc: text, database: text },
});

function given(name: keyof typeof values): string {
  const value = values[name];
  if (value === undefined) throw new Error(`--${name} is missing`);
  return value;
}

await startPonder({
  root: given("root"),
  schema: given("schema"),
  viewsSchema: given("views"),
  host: "127.0.0.1",
  port: Number(given("port")),
  logLevel: "warn",
  settings: {
    deploymentFile: given("deployment"),
    rpcUrl: given("rpc"),
    databaseUrl: given("database"),
    pollingIntervalMs: 200,
    logsBlocks: null,
    unfollowed: [],
  },
});
