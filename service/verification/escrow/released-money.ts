import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { feedPrice } from "../../db/tables/enrich.ts";
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
  { feed, decimals, amount }: { feed: Address; decimals: number; amount: bigint },
): Promise<ReleasedMoney> {
  const today = Math.floor(now().getTime() / DAY_MS);
  const { answer, day, decimals: places } = feedPrice;
  const [price] = await db
    .select({
      microUsd: sql<string>`ceil(${amount}::numeric * ${answer} * 1000000 / power(10::numeric, ${places} + ${decimals}::integer))::text`,
    })
    .from(feedPrice)
    .where(
      and(
        eq(feedPrice.chainId, deployment.chainId),
        eq(feedPrice.feed, lowerCase(feed)),
        gt(day, today - PRICE_DAYS),
      ),
    )
    .orderBy(desc(day))
    .limit(1);
  return price === undefined ? "unknown" : BigInt(price.microUsd);
}
