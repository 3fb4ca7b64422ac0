import type { PublicClient } from "viem";
import { type Check, concern, fault, fine, notConfigured, type Verdict } from "../check.ts";
import type { Database } from "../db/database.ts";
import type { HistorySource } from "./history/history.ts";
import { countOpen } from "./warm/warm-state.ts";

/** Whether the time before the index is read. */
export function pastChecks({
  db,
  chainId,
}: {
  readonly db: Database;
  readonly chainId: number;
}): readonly Check[] {
  return [{ name: "past", run: async () => judgePast(await countOpen(db, chainId)) }];
}

/** Whether the time before the index is read of every followed wallet. */
function judgePast({ open, followed }: { readonly open: number; readonly followed: number }): Verdict {
  const detail = `${followed - open} of ${followed} followed wallets have their time before the index`;
  return open === 0
    ? fine(detail)
    : concern(detail, 'the worker reads the rest; "ahs warm" shows how far it is');
}

/** Whether the source of histories knows the newest block. */
export function historyChecks(
  client: PublicClient,
  { source, timeoutMs }: { readonly source: HistorySource | null; readonly timeoutMs: number },
): readonly Check[] {
  return [{ name: "history", run: () => checkHistory(client, source, timeoutMs) }];
}

async function checkHistory(
  client: PublicClient,
  source: HistorySource | null,
  timeoutMs: number,
): Promise<Verdict> {
  if (source === null) return notConfigured();
  const { number, hash, timestamp } = await client.getBlock({ blockTag: "latest" });
  const newest = { blockNumber: Number(number), blockHash: hash, timestamp: Number(timestamp) };
  const failure = await source.checkReach(newest, AbortSignal.timeout(timeoutMs));
  return failure === null || failure.reason === "behind"
    ? fine(`${source.name} answers`)
    : fault(`${source.name}: ${failure.reason}, ${failure.detail}`, "see HISTORY_URL and HISTORY_API_KEY");
}
