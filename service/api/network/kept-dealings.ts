import type { Address, Hex } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { type Dealings, findDealings, listDigest } from "../../reports/network/counterparties.ts";
import { type DealingTotals, totalsOf } from "../../reports/network/counterparties-totals.ts";
import type {
  DealingsReader,
  PinnedBlock,
  WalletDealings,
} from "../../reports/network/wallet-network-dealings.ts";
import type { ReportTurns } from "../report-turns.ts";

/** What answers tell of a wallet's dealings as of a block. */
export type FoundDealings = {
  readonly asOf: AsOf;
  readonly rows: Pick<WalletRows, "chainId" | "coverage" | "accountsLeftOut" | "tokens">;
  readonly found: Dealings;
  readonly totals: DealingTotals;
  /** Of the whole list, see `listDigest`. */
  readonly digest: string;
  readonly incomingTruncated: boolean;
};

/** not-ready: no block is both final and enriched. gone: the pinned block is no longer one. not-indexed: nobody followed the wallet by then. */
export type FoundOutcome =
  | ({ readonly kind: "read" } & FoundDealings)
  | { readonly kind: "not-ready" | "gone" | "not-indexed" };

export type KeeperParts = {
  readonly reader: DealingsReader;
  readonly policy: Policy;
  readonly turns: Pick<ReportTurns, "take">;
  readonly monotonicMs: () => number;
};

type Kept = {
  readonly outcome: Promise<FoundOutcome>;
  readonly at: number;
  /** Counterparties that it holds; 0 until they are known. */
  size: number;
};

/** As long as a caller takes from page to page. */
const KEPT_MS = 5 * 60_000;
/** A first page may be no older: facts of accounts are learnt while a block stays the newest final one. */
const FRESH_MS = 5_000;
const MOST_KEPT = 64;
/** Counterparties that are kept of all wallets together, about 100 MB, beside those of the wallet asked for last. */
const MOST_COUNTERPARTIES = 100_000;

/** Finds dealings, and keeps what was found of a wallet at a block for the pages that follow, for a few minutes in bounded memory. */
export function keepDealings({
  reader,
  policy,
  turns,
  monotonicMs,
}: KeeperParts): (wallet: Address, pin: PinnedBlock | null) => Promise<FoundOutcome> {
  const kept = new Map<string, Kept>();

  async function find(wallet: Address, pin: PinnedBlock): Promise<FoundOutcome> {
    return turns.take(async () => {
      const outcome = await reader.read(wallet, pin);
      return outcome.kind === "read" ? { kind: "read", ...(await foundIn(outcome, policy)) } : outcome;
    });
  }

  function keep(key: string, outcome: Promise<FoundOutcome>): void {
    const entry: Kept = { outcome, at: monotonicMs(), size: 0 };
    kept.set(key, entry);
    const forget = () => {
      if (kept.get(key) === entry) kept.delete(key);
    };
    outcome.then((told) => {
      if (told.kind !== "read") return forget();
      entry.size = told.found.counterparties.length;
      return dropOld(kept, monotonicMs() - KEPT_MS);
    }, forget);
  }

  return async (wallet, pin) => {
    const block = await reader.blockOf(pin);
    if (block === "not-ready" || block === "gone") return { kind: block };
    const key = keyOf(wallet, block.blockHash);
    const known = kept.get(key);
    const oldest = monotonicMs() - (pin === null ? FRESH_MS : KEPT_MS);
    if (known !== undefined && known.at > oldest) return known.outcome;
    kept.delete(key);
    // Of this block, whatever is the newest by the time that it is read.
    const outcome = find(wallet, { blockNumber: block.blockNumber, blockHash: block.blockHash });
    keep(key, outcome);
    return outcome;
  };
}

/** What answers tell of dealings that were read. */
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

/** Drops what is too old, and of the rest the oldest while there is too much of it; the newest always stays. */
function dropOld(kept: Map<string, Kept>, before: number): void {
  let total = 0;
  for (const { size } of kept.values()) total += size;
  for (const [key, { at, size }] of kept) {
    const isTooMuch = kept.size > MOST_KEPT || total > MOST_COUNTERPARTIES;
    if (kept.size === 1 || (at > before && !isTooMuch)) return;
    kept.delete(key);
    total -= size;
  }
}

function keyOf(wallet: Address, blockHash: Hex): string {
  return `${wallet} ${blockHash}`;
}
