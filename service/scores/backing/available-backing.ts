import type { Address } from "viem";
import type { StoredSellerProfile, walletBacking } from "../../db/tables/backing.ts";

/**
 * Backing of a wallet and what of its safe amount is still available; amounts in millionths of a US dollar. A wallet on a sanctions list
 * has the safe amount 0, as on chain.
 */
export type AvailableBacking = Pick<
  typeof walletBacking.$inferSelect,
  "safeMicroUsd" | "costBasisMicroUsd" | "bondMicroUsd" | "asOfBlock" | "asOfTime"
> & {
  /** The greater of the amounts promised within a day and of the payments to it within a day of the chain. */
  readonly outstandingMicroUsd: bigint;
  /** The safe amount without what is outstanding, 0 or more. */
  readonly availableMicroUsd: bigint;
  /** How the wallet earns; null if it was never paid. */
  readonly sellerProfile: StoredSellerProfile | null;
};

/** An amount that is to settle at once. */
export type AmountRequest = {
  /** Lower-case. */
  readonly wallet: Address;
  /** Key or payer, as `ownerText` names it. */
  readonly caller: string;
  readonly amountMicroUsd: bigint;
  /** Decides by the part of the safe amount that is available. It must be pure. */
  readonly settles: (availableMicroUsd: bigint) => boolean;
};

/** The backing that decided, before the amount itself. The promise is null if the amount does not settle at once. */
export type AmountOutcome = {
  readonly backing: AvailableBacking | null;
  readonly promiseId: string | null;
};

/** The ledger of one chain's amounts that routing said may settle at once. */
export type PromisedAmounts = {
  /**
   * The backing of a wallet (lower-case). Null where it is unknown: none was computed as of a block of the last day, or the index
   * did not follow the wallet by then.
   */
  read(wallet: Address): Promise<AvailableBacking | null>;
  /** Promises the amount if it settles by what is available now. */
  promise(request: AmountRequest): Promise<AmountOutcome>;
  /** Releases a promise whose answer was not delivered. */
  release(promiseId: string): Promise<void>;
};
