import type { Address } from "viem";
import { unavailable } from "../../access/problems.ts";
import type { PinnedBlock } from "../../reports/network/wallet-network-dealings.ts";
import { notIndexed } from "../wallet-report.ts";
import type { FoundDealings, FoundOutcome } from "./kept-dealings.ts";

export type DealingsPort = {
  /** A wallet's dealings at the newest finalized and enriched block, or at an earlier one that is pinned. */
  readonly readDealings: (wallet: Address, pin: PinnedBlock | null) => Promise<FoundOutcome>;
};

const RETRY_AFTER_SECONDS = 10;

/** A wallet's dealings at the newest finalized and enriched block; throws the 404 and the 503 of those that cannot be read. */
export async function readNewestDealings(wallet: Address, ports: DealingsPort): Promise<FoundDealings> {
  return requireRead(wallet, await ports.readDealings(wallet, null));
}

/** The dealings that were read; throws a 404 problem for a wallet not followed by then, and a 503 problem where there is no block. */
export function requireRead(wallet: Address, outcome: FoundOutcome): FoundDealings {
  switch (outcome.kind) {
    case "read":
      return outcome;
    case "not-indexed":
      throw notIndexed(wallet);
    case "not-ready":
    case "gone":
      throw unavailable("scoring-unavailable", "No block is both final and enriched yet.", {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }
}
