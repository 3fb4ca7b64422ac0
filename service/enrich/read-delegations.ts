import type { Address, Hex } from "viem";
import type { EnrichRows } from "../store/enrich-writes.ts";
import { readDelegations } from "../store/wallet-delegations.ts";
import type { EnrichContext } from "./context.ts";
import { mapLimited } from "./map-limited.ts";
import { readCode } from "./read-code.ts";

/** When the code of each wallet was last read, and which wallets have called since then. */
export type DelegationWatch = {
  /** Unix seconds of the chain. */
  readonly readAt: Map<Address, number>;
  readonly called: Set<Address>;
};

export type DelegationRange = {
  readonly wallets: readonly Address[];
  readonly to: number;
  /** Unix seconds of the last block. */
  readonly endTime: number;
};

const CALLER_SECONDS = 3_600;
const ANY_SECONDS = 86_400;
/** EIP-7702: what the code of a delegating account starts with; the delegate's address follows. */
const DELEGATION = /^0xef0100([0-9a-f]{40})$/;

/** To be called once the range is stored: what was read counts as read. */
export type ReadDelegations = {
  readonly rows: EnrichRows["delegations"];
  readonly settle: () => void;
};

/**
 * Delegations that changed, as of the end of a range that reaches the newest finalized block: of wallets that called, at most
 * hourly, and of all once a day of chain time. The first reading of a wallet always counts as a change.
 */
export async function readChangedDelegations(
  context: EnrichContext,
  range: DelegationRange,
): Promise<ReadDelegations> {
  const { delegations, chainId, client, limits } = context;
  const due = range.wallets.filter((wallet) => isDue(delegations, wallet, range.endTime));
  const known = await readDelegations(context.db, chainId, due);
  const found = await mapLimited(due, limits.concurrency, async (wallet) => ({
    wallet,
    delegate: delegateOf(await readCode(client, wallet, range.to)),
  }));
  return {
    rows: found
      .filter(({ wallet, delegate }) => known.get(wallet) !== delegate)
      .map((read) => ({ ...read, chainId, block: range.to })),
    settle: () => {
      for (const wallet of due) {
        delegations.readAt.set(wallet, range.endTime);
        delegations.called.delete(wallet);
      }
    },
  };
}

/** The account whose code a wallet runs; null where it is none of EIP-7702's. */
export function delegateOf(code: Hex): Address | null {
  const digits = DELEGATION.exec(code.toLowerCase())?.[1];
  return digits === undefined ? null : `0x${digits}`;
}

function isDue({ readAt, called }: DelegationWatch, wallet: Address, now: number): boolean {
  const last = readAt.get(wallet);
  if (last === undefined) return true;
  return now - last >= (called.has(wallet) ? CALLER_SECONDS : ANY_SECONDS);
}
