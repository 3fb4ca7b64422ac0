import type { Address, Hex } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { findDealings, listDigest, totalsOf } from "../../reports/network/counterparties.ts";
import type {
  DealingsReader,
  PinnedBlock,
  WalletDealings,
} from "../../reports/network/wallet-network-dealings.ts";
import type { ReportTurns } from "./report-turns.ts";
import { noBlock, notIndexed } from "./wallet-report.ts";

/** Dealings of a wallet as of a block, as answers show them. */
export type FoundDealings = {
  readonly asOf: AsOf;
  readonly rows: Pick<WalletRows, "chainId" | "coverage" | "accountsLeftOut" | "tokens">;
  readonly found: Awaited<ReturnType<typeof findDealings>>;
  readonly totals: ReturnType<typeof totalsOf>;
  /** Digest of the whole list, see `listDigest`. */
  readonly digest: string;
  readonly incomingTruncated: boolean;
};

/** not-ready: no block is both final and enriched. gone: the pinned block was replaced. not-indexed: the wallet was not followed at that block. */
export type FoundOutcome =
  | ({ readonly kind: "read" } & FoundDealings)
  | { readonly kind: "not-ready" | "gone" | "not-indexed" };

type CachedDealings = {
  readonly outcome: Promise<FoundOutcome>;
  readonly at: number;
  /** Number of counterparties in the entry; 0 while the read is under way. */
  size: number;
};

/** Time for a caller to fetch the following pages. */
const CACHED_MS = 5 * 60_000;
/** Maximum age of a first page: facts about accounts change while the final block stays the same. */
const FRESH_MS = 5_000;
const MAX_CACHED = 64;
/** Cached counterparties of all wallets, about 100 MB; the newest entry may exceed it. */
const MOST_COUNTERPARTIES = 100_000;

/** Reads dealings and caches them by wallet and block for the following pages, for a few minutes and in bounded memory. */
export function keepDealings({
  reader,
  policy,
  turns,
  monotonicMs,
}: {
  readonly reader: DealingsReader;
  readonly policy: Policy;
  readonly turns: Pick<ReportTurns, "take">;
  readonly monotonicMs: () => number;
}): (wallet: Address, pin: PinnedBlock | null) => Promise<FoundOutcome> {
  const cached = new Map<string, CachedDealings>();

  async function find(wallet: Address, pin: PinnedBlock): Promise<FoundOutcome> {
    return turns.take(async () => {
      const outcome = await reader.read(wallet, pin);
      return outcome.kind === "read" ? { kind: "read", ...(await foundIn(outcome, policy)) } : outcome;
    });
  }

  function keep(key: string, outcome: Promise<FoundOutcome>): void {
    const entry: CachedDealings = { outcome, at: monotonicMs(), size: 0 };
    cached.set(key, entry);
    const forget = () => {
      if (cached.get(key) === entry) cached.delete(key);
    };
    outcome.then((result) => {
      if (result.kind !== "read") return forget();
      entry.size = result.found.counterparties.length;
      return dropOld(cached, monotonicMs() - CACHED_MS);
    }, forget);
  }

  return async (wallet, pin) => {
    const block = await reader.blockOf(pin);
    if (block === "not-ready" || block === "gone") return { kind: block };
    const key = keyOf(wallet, block.blockHash);
    const known = cached.get(key);
    const oldest = monotonicMs() - (pin === null ? FRESH_MS : CACHED_MS);
    if (known !== undefined && known.at > oldest) return known.outcome;
    cached.delete(key);
    // Pinned, because a newer block may be final when the turn comes.
    const outcome = find(wallet, { blockNumber: block.blockNumber, blockHash: block.blockHash });
    keep(key, outcome);
    return outcome;
  };
}

/** Evaluates dealings that were read. */
export async function foundIn(dealings: WalletDealings, policy: Policy): Promise<FoundDealings> {
  const { rows, asOf, incoming, incomingTruncated } = dealings;
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const found = await findDealings({ rows, incoming, since, policy });
  const { chainId, coverage, tokens, accountsLeftOut } = rows;
  return {
    asOf,
    rows: { chainId, coverage, tokens, ...(accountsLeftOut === undefined ? {} : { accountsLeftOut }) },
    found,
    totals: totalsOf(found.counterparties),
    digest: listDigest(found.counterparties),
    incomingTruncated,
  };
}

/** Drops expired entries, then the oldest ones beyond the bounds. The newest entry always stays. */
function dropOld(cached: Map<string, CachedDealings>, before: number): void {
  let total = 0;
  for (const { size } of cached.values()) total += size;
  for (const [key, { at, size }] of cached) {
    const isTooMuch = cached.size > MAX_CACHED || total > MOST_COUNTERPARTIES;
    if (cached.size === 1 || (at > before && !isTooMuch)) return;
    cached.delete(key);
    total -= size;
  }
}

function keyOf(wallet: Address, blockHash: Hex): string {
  return `${wallet} ${blockHash}`;
}

/** Services of endpoints about a wallet's dealings. */
export type DealingsNeeds = {
  /** A wallet's dealings at the newest finalized and enriched block, or at an earlier one that is pinned. */
  readonly readDealings: (wallet: Address, pin: PinnedBlock | null) => Promise<FoundOutcome>;
};

/** Dealings of a wallet at the newest finalized and enriched block. Throws the 404 and 503 of `requireRead`. */
export async function readNewestDealings(
  wallet: Address,
  { readDealings }: DealingsNeeds,
): Promise<FoundDealings> {
  return requireRead(wallet, await readDealings(wallet, null));
}

/** Unwraps an outcome. Throws a 404 problem for a wallet that is not followed and a 503 problem if there is no block. */
export function requireRead(wallet: Address, outcome: FoundOutcome): FoundDealings {
  switch (outcome.kind) {
    case "read":
      return outcome;
    case "not-indexed":
      throw notIndexed(wallet);
    case "not-ready":
    case "gone":
      throw noBlock();
  }
}
