import type { Deployment } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import type { ReleasedMoney } from "../panel/types.ts";
import { readFunded } from "./escrow-jobs.ts";
import { type EscrowClient, EscrowFailure, findEscrow, readPaymentToken } from "./escrow-node.ts";
import type { JobName } from "./types.ts";

/** An older price says too little. */
const PRICE_DAYS = 7;
const DAY_MS = 86_400_000;

/**
 * Reads the money that an ALLOW releases: what the job was funded with, in US dollars by the newest price of its token. USDC counts as a
 * dollar. `unknown` if the index has not seen the funding, or the token has no price of the last seven days; null without a job. Throws an
 * EscrowFailure if the node gives no usable answer.
 */
export async function readReleasedMoney(
  deps: {
    db: Database;
    client: EscrowClient;
    deployment: Pick<Deployment, "chainId" | "escrows" | "market" | "usdc">;
    now: () => Date;
  },
  job: JobName | null,
): Promise<ReleasedMoney> {
  if (job === null) return null;
  const { client, deployment } = deps;
  const escrow = findEscrow(deployment, job);
  const amount = escrow === undefined ? null : await readFunded(deps.db, job);
  if (escrow === undefined || amount === null) return "unknown";
  const address = await readPaymentToken(client, escrow, job.jobId).catch((error: unknown) => {
    if (error instanceof EscrowFailure && error.reason === "malformed") return null;
    throw error;
  });
  // It has six decimals, so its smallest unit is a millionth of a dollar.
  if (address !== null && address === deployment.usdc?.toLowerCase()) return amount;
  const token = deployment.market.tokens.find((one) => one.address.toLowerCase() === address);
  if (token === undefined || token.feed === null) return "unknown";
  const { feed, decimals } = token;
  return worthOf(deps, { feed, decimals, amount });
}

/** Rounded up, since a rule asks whether it is above an amount. */
async function worthOf(
  { db, deployment, now }: Pick<Parameters<typeof readReleasedMoney>[0], "db" | "deployment" | "now">,
  { feed, decimals, amount }: { feed: string; decimals: number; amount: bigint },
): Promise<ReleasedMoney> {
  const today = Math.floor(now().getTime() / DAY_MS);
  const { rows } = await db.$client.query<{ micro_usd: string }>(
    `select ceil($1::numeric * answer * 1000000 / power(10::numeric, decimals + $2::integer))::text as micro_usd
     from ahs.feed_price where chain_id = $3 and feed = lower($4) and day > $5 order by day desc limit 1`,
    [amount, decimals, deployment.chainId, feed, today - PRICE_DAYS],
  );
  return rows[0] === undefined ? "unknown" : BigInt(rows[0].micro_usd);
}
