import { once } from "node:events";
import pino from "pino";
import type { Address } from "viem";
import { openDatabase } from "../service/db/database.ts";
import { AHS_2026_2 as policy } from "../service/model/score/policy.ts";
import { defaultPublishPolicy } from "../service/oracle/publish-policy.ts";
import { createFactPatience, scoreDueWallets } from "../service/scores/run-scoring.ts";
import { scoreAtFinalized } from "../service/scores/score-wallets.ts";
import { marketOf } from "./scoring-population.ts";

/** The scoring of `ahs work`, alone in its process: scores what is due once for each message, and reports how many it stored. */
const CHAIN_ID = 31_337;
const WARM_UP = 500;
const [databaseUrl = ""] = process.argv.slice(2);
const signal = new AbortController().signal;
const db = openDatabase({
  url: databaseUrl,
  applicationName: "ahs-bench",
  maxConnections: 10,
  statementTimeoutMs: 600_000,
  connectTimeoutMs: 5_000,
  onIdleError: () => undefined,
});
const context = {
  db,
  chainId: CHAIN_ID,
  chain: await marketOf(databaseUrl),
  policy,
  publishPolicy: defaultPublishPolicy,
  now: () => new Date(),
  rescoreIntervalSeconds: 600,
  logger: pino({ level: "silent" }),
};
const { rows } = await db.$client.query<{ address: Address }>(
  `select address from chain_${CHAIN_ID}.wallet limit ${WARM_UP}`,
);
await scoreAtFinalized(
  context,
  rows.map(({ address }) => address),
);
process.send?.("ready");
for (;;) {
  await once(process, "message");
  process.send?.(
    await scoreDueWallets(
      context,
      createFactPatience(() => 0),
      signal,
    ),
  );
}
