import type { Address } from "viem";
import type { walletBacking } from "../../db/tables/backing.ts";
import { costBases } from "../../model/backing/cost-basis.ts";
import {
  type EndedJobs,
  type PaidFeedback,
  type SellerProfile,
  sellerProfile,
} from "../../model/backing/seller-profile.ts";
import type { WalletReceipt } from "./read-spending.sql.ts";
import type { WalletSpending } from "./read-spending.ts";

/** Backing of one wallet, in millionths of a US dollar. */
export type ComputedBacking = Pick<
  typeof walletBacking.$inferSelect,
  "wallet" | "ownMicroUsd" | "costBasisMicroUsd" | "bondMicroUsd" | "safeMicroUsd" | "receivedDayMicroUsd"
> & { readonly sellerProfile: SellerProfile | null };

/** Inputs of the backing of all followed wallets of a chain. */
export type BackingInputs = WalletSpending & {
  /** Followed wallets whose rows were read. */
  readonly wallets: readonly Address[];
  /** Ended jobs by provider. */
  readonly jobs: ReadonlyMap<Address, readonly EndedJobs[]>;
  /** Feedback of payers by wallet; null where no reputation registry is read. */
  readonly feedback: ReadonlyMap<Address, readonly PaidFeedback[]> | null;
  readonly clusterOf: (account: Address) => string;
};

/**
 * Backing of each followed wallet that has any, or was paid, by rising address. All payments are by followed wallets: only theirs
 * are known completely, so that no other account passes a cost basis on. A bond is no part of a safe amount: it pays clients of jobs
 * that it is committed to, and leaves whatever other payers lost.
 */
export function computeBacking(inputs: BackingInputs): readonly ComputedBacking[] {
  const { own, payments, clusterOf, jobs, feedback } = inputs;
  const bases = costBases({ ownMicroUsd: own, payments, clusterOf });
  const costBasisOf = (account: Address) => bases.get(account)?.costBasis ?? 0n;
  const receiptsOf = Map.groupBy(inputs.receipts, ({ payee }) => payee);
  const paymentsOf = Map.groupBy(payments, ({ payer }) => payer);
  return inputs.wallets.toSorted().flatMap((wallet) => {
    const receipts = receiptsOf.get(wallet) ?? [];
    const { costBasis, safe } = bases.get(wallet) ?? { costBasis: 0n, safe: 0n };
    const profile = sellerProfile({
      wallet,
      receipts,
      clusterOf,
      costBasisOf,
      paidTo: new Map((paymentsOf.get(wallet) ?? []).map(({ payee, microUsd }) => [payee, microUsd])),
      jobs: jobs.get(wallet) ?? [],
      feedback: feedback === null ? null : (feedback.get(wallet) ?? []),
    });
    const ownMicroUsd = own.get(wallet) ?? 0n;
    const bondMicroUsd = inputs.bonds.get(wallet) ?? 0n;
    if (costBasis === 0n && bondMicroUsd === 0n && profile === null) return [];
    return [
      {
        wallet,
        ownMicroUsd,
        costBasisMicroUsd: costBasis,
        safeMicroUsd: safe,
        bondMicroUsd,
        receivedDayMicroUsd: receivedLastDay(wallet, receipts, clusterOf),
        sellerProfile: profile,
      },
    ];
  });
}

function receivedLastDay(
  wallet: Address,
  receipts: readonly WalletReceipt[],
  clusterOf: BackingInputs["clusterOf"],
): bigint {
  const home = clusterOf(wallet);
  return receipts
    .filter(({ payer }) => clusterOf(payer) !== home)
    .reduce((sum, { lastDayMicroUsd }) => sum + lastDayMicroUsd, 0n);
}
