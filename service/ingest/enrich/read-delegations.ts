import { and, desc, eq } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { readCode } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { isOneOf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { walletDelegation } from "../../db/tables/enrich.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { EnrichContext } from "./context.ts";

/** Wallets of one range: reading them must not hold up its cursor. */
const MAX_WALLETS = 200;
/** Failures after which a range asks for no more code: the node may be in trouble. */
const MAX_FAILURES = 3;
const CALLER_SECONDS = 3_600;
const ANY_SECONDS = 86_400;
/** EIP-7702: what the code of a delegating account starts with; the delegate's address follows. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/**
 * Delegations that changed by the end of a range that reaches the newest finalized block: of wallets that signed one, and of those whose
 * code was never read. Where signers are not known, also of wallets that called at most hourly, and of all once a day of chain time,
 * those longest ago first. A first reading counts as a change. `settle` is called once the range is stored.
 */
export async function readChangedDelegations(
  context: EnrichContext,
  /** `endTime` is in Unix seconds of the last block. */
  range: { wallets: readonly Address[]; to: number; endTime: number; areSignersKnown: boolean },
) {
  const { delegations, chainId } = context;
  const due = dueWallets(delegations, range);
  const known = await readDelegations(context.db, chainId, due);
  const { signed } = delegations;
  // Read by an earlier process.
  const unchanged = range.areSignersKnown
    ? due.filter((wallet) => known.has(wallet) && !delegations.readAt.has(wallet) && !signed.has(wallet))
    : [];
  const asked = due.filter((wallet) => !unchanged.includes(wallet));
  const { found, failed } = await readEach(context, asked, range.to);
  return {
    rows: found
      .filter(({ wallet, delegate }) => known.get(wallet) !== delegate)
      .map((read) => ({ ...read, chainId, block: range.to })),
    settle: () => {
      for (const wallet of unchanged) delegations.readAt.set(wallet, range.endTime);
      for (const { wallet } of found) {
        delegations.readAt.set(wallet, range.endTime);
        delegations.called.delete(wallet);
        signed.delete(wallet);
        delegations.failedAt.delete(wallet);
      }
      for (const wallet of failed) delegations.failedAt.set(wallet, range.endTime);
    },
  };
}

/** Each wallet by itself: one that the node does not answer for takes nothing from the others. */
async function readEach(
  { client, limits, logger }: EnrichContext,
  wallets: readonly Address[],
  block: number,
) {
  const found: { wallet: Address; delegate: Address | null }[] = [];
  const failed: Address[] = [];
  await mapLimited(wallets, limits.concurrency, async (wallet) => {
    if (failed.length >= MAX_FAILURES) return;
    try {
      found.push({ wallet, delegate: delegateOf(await readCode(client, wallet, block)) });
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      failed.push(wallet);
      logger.warn({ wallet, err: error }, "no code of a wallet; asking again later");
    }
  });
  return { found, failed };
}

function dueWallets(
  watch: EnrichContext["delegations"],
  range: { wallets: readonly Address[]; endTime: number; areSignersKnown: boolean },
) {
  const readAt = (wallet: Address) => watch.readAt.get(wallet) ?? Number.NEGATIVE_INFINITY;
  const due = range.wallets.filter((wallet) => isDue(watch, wallet, range));
  // Two that were never read differ by no number.
  due.sort((a, b) => (readAt(a) === readAt(b) ? 0 : readAt(a) - readAt(b)));
  return due.slice(0, MAX_WALLETS);
}

/** The account whose code a wallet runs by EIP-7702; null for any other code. */
export function delegateOf(code: Hex): Address | null {
  const digits = DELEGATION.exec(code.toLowerCase())?.[1];
  return digits === undefined ? null : `0x${digits}`;
}

function isDue(
  { readAt, called, signed, failedAt }: EnrichContext["delegations"],
  wallet: Address,
  { endTime, areSignersKnown }: { readonly endTime: number; readonly areSignersKnown: boolean },
): boolean {
  const failed = failedAt.get(wallet);
  if (failed !== undefined && endTime - failed < CALLER_SECONDS) return false;
  const last = readAt.get(wallet);
  if (last === undefined || signed.has(wallet)) return true;
  if (called.has(wallet)) return endTime - last >= CALLER_SECONDS;
  return !areSignersKnown && endTime - last >= ANY_SECONDS;
}

/** The newest known delegation of those of the wallets whose code was ever read; null if it delegates to no account. */
async function readDelegations(db: Database, chainId: number, wallets: readonly Address[]) {
  const { chainId: chain, wallet, delegate, block } = walletDelegation;
  const rows = await db
    .selectDistinctOn([wallet], { wallet, delegate })
    .from(walletDelegation)
    .where(and(eq(chain, chainId), isOneOf(wallet, wallets)))
    .orderBy(wallet, desc(block));
  return new Map(rows.map((row) => [row.wallet, row.delegate]));
}
