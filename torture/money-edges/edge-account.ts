import { type Address, createPublicClient, http } from "viem";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import { until } from "../../test/support/until.ts";
import { compareCounts, type Finding, lost } from "../accounts/finding.ts";
import type { Lane } from "../load/lane.ts";
import type { Stand } from "../stand/stand.ts";
import type { EdgeBuyer } from "./edge-buyers.ts";
import type { EdgePurchase } from "./edge-purchases.ts";

export type BuyerAtWork = {
  readonly buyer: EdgeBuyer;
  readonly lane: Lane<EdgePurchase>;
  readonly opening: bigint;
};

const COLLECT_TIMEOUT_MS = 180_000;

/** USDC units of an account on the present chain. */
export async function usdcOf(stand: Stand, account: Address): Promise<bigint> {
  const { rpcUrl, contracts } = stand.chain().test;
  return createPublicClient({ transport: http(rpcUrl) }).readContract({
    address: contracts.usdc,
    abi: usdCoinAbi,
    functionName: "balanceOf",
    args: [account],
  });
}

/** Amount due from a buyer: by its answers and, for requests that it broke off, by our rows. */
type Due = { readonly units: bigint; readonly findings: readonly Finding[] };

/**
 * Compares what every buyer was answered and says that it paid with its balance, and returns what the payee must have received.
 * Claims of channels and captures are collected first, as a worker does after half a day.
 */
export async function accountBuyers(
  stand: Stand,
  working: readonly BuyerAtWork[],
): Promise<{ readonly findings: readonly Finding[]; readonly received: bigint }> {
  const dues = await Promise.all(working.map((at) => dueOf(stand, at)));
  await stand.db.$client.query(
    "update ahs.payment_channel set look_at = now(), unclaimed_since = now() - interval '1 day' where unclaimed_since is not null",
  );
  const findings = await Promise.all(
    working.map(async ({ buyer, opening }, place) => {
      const due = dues[place]?.units ?? 0n;
      const spent = await untilSpent(stand, { buyer, opening, due });
      return [
        ...(dues[place]?.findings ?? []),
        ...compareCounts(`USDC units paid by "${buyer.name}"`, {
          expected: Number(due),
          found: Number(spent),
        }),
      ];
    }),
  );
  return { findings: findings.flat(), received: dues.reduce((sum, { units }) => sum + units, 0n) };
}

async function dueOf(stand: Stand, { buyer, lane }: BuyerAtWork): Promise<Due> {
  const { operations } = lane;
  const open = operations.filter(({ outcome }) => outcome === "open").length;
  // An answer that is owed for a payment is given to the next payment of the same request as well, which is not taken.
  const settlements = new Map(
    operations.map(({ idempotencyKey, settledBy, charged }) => [settledBy ?? idempotencyKey, charged ?? 0n]),
  );
  const answered = [...settlements.values()].reduce((sum, charged) => sum + charged, 0n);
  const { rows } = await stand.db.$client.query<{ units: string }>(
    `select coalesce(sum(charged_amount), 0)::text as units from ahs.payment
     where payer = $1 and state in ('settled', 'answered') and $2`,
    [buyer.account.address.toLowerCase(), buyer.cuts],
  );
  return {
    units: answered + BigInt(rows[0]?.units ?? 0),
    findings: open === 0 ? [] : [lost(`${open} purchases of "${buyer.name}" are neither answered nor free`)],
  };
}

/** Waits until captures and claims are done, and returns what the buyer paid: its balance's loss, or what was charged to its channel. */
async function untilSpent(
  stand: Stand,
  { buyer, opening, due }: { buyer: EdgeBuyer; opening: bigint; due: bigint },
): Promise<bigint> {
  const payer = buyer.account.address;
  const read = async () => {
    const channels = await chargedTo(stand, payer);
    return channels === null
      ? { spent: opening - (await usdcOf(stand, payer)), isCollected: true }
      : { spent: channels.charged, isCollected: channels.charged === channels.collected };
  };
  const patience = { what: "the money is collected", timeoutMs: COLLECT_TIMEOUT_MS };
  await until(patience, async () => {
    const { spent, isCollected } = await read();
    return spent === due && isCollected ? true : null;
  }).catch(() => null);
  return (await read()).spent;
}

/** Units that vouchers of a payer charge, and those of them that are claimed; null for a payer without a channel. */
async function chargedTo(stand: Stand, payer: Address) {
  const { rows } = await stand.db.$client.query<{ charged: string | null; collected: string | null }>(
    "select sum(charged)::text as charged, sum(collected)::text as collected from ahs.payment_channel where payer = $1",
    [payer.toLowerCase()],
  );
  const [row] = rows;
  if (row === undefined || row.charged === null || row.collected === null) return null;
  return { charged: BigInt(row.charged), collected: BigInt(row.collected) };
}
