import { z } from "@hono/zod-openapi";
import type { SellerProfile } from "../../model/backing/seller-profile.ts";
import type { AvailableBacking } from "../../scores/backing/available-backing.ts";
import { count, int, isoSchema, num, toUsd } from "./values.ts";

/** Backing beside a score: how much money a settlement may put at stake. */
export const backingSchema = z
  .object({
    safe_amount_usd: num(
      "Greatest amount to have at stake with the wallet at once: half of its cost basis, before what is outstanding. It is promised again each day. 0 for a sanctioned wallet, as in the oracle's record",
      42.5,
    ),
    available_usd: num("The safe amount without what is outstanding, 0 or more", 30.5),
    outstanding_usd: num(
      "The greater of two sums of one day: amounts that routing said may settle at once, and payments to the wallet on chain from outside its owner cluster",
      12,
    ),
    cost_basis_usd: num(
      "Costs of 180 days that do not come back to the wallet, and the part of its payers' cost bases that their payments passed on",
      85,
    ),
    bond_usd: num(
      "The part of its bond in USDC that is neither committed to a job nor unbonding. It covers ERC-8183 jobs that commit it, and is no part of the safe amount",
      0,
    ),
    as_of_block: int("All wallets' backings of a chain are computed together", 48_190),
    as_of_time: isoSchema,
  })
  .openapi("Backing", {
    description:
      "How much money the costs of the wallet and its payers stand for, in US dollars with at most 6 decimals. The health score predicts failures and is no fraud score; the safe amount says how much money a settlement may put at stake. Null while it is unknown, which is not zero: none was computed for the chain within a day, or the wallet was not followed by then. A routing decision shows it as it decided, before its own amount; records of POST /ahs/batch leave it out",
  });

const jobCounts = {
  completed: count("Completed"),
  rejected: count("Rejected by an evaluator of neither side"),
  expired: count("Expired"),
};

const feedbackSchema = z
  .object({
    payers: count("Independent payers who left feedback after a payment"),
    tags: z.array(
      z.object({
        tag: z
          .string()
          .openapi({ description: "tag1 in lower case, of at most 32 characters", example: "starred" }),
        payers: count("Payers who used it, each with its newest entry"),
        median: num("Median of their values, decimals applied", 87.5),
      }),
    ),
  })
  .openapi({
    description:
      "ERC-8004 feedback by independent payers, with the five most used tags. It counts for no score and no routing. Null where the deployment names no reputation registry",
  });

/** How a wallet earns, for those that others pay. */
export const sellerProfileSchema = z
  .object({
    payers: count("Independent payers: owner clusters other than its own"),
    weighted_payers: num("The same, each counted by its cost basis: as one from 1 USD on", 3.4),
    returning_payers: count("Payers in two different weeks or more"),
    weeks: count("Weeks with revenue"),
    active_weeks: num("Effective number of those weeks", 9.5),
    revenue_usd: num("Payments by independent payers in 180 days", 210.5),
    refunded_share: num("Share of the revenue that it paid back to who paid it", 0.02),
    own_cluster_share: num("Share of all payments to it that its own owner cluster made", 0.1),
    jobs: z
      .object(jobCounts)
      .openapi({ description: "ERC-8183 jobs of independent clients who funded them" }),
    verdicts: z.object({ allow: count("ALLOW"), reject: count("REJECT") }),
    feedback: feedbackSchema.nullable(),
  })
  .openapi("SellerProfile", {
    description:
      "How a wallet earned in 180 days; null where no one paid it and no job of another ended. It is no grade and changes none",
  });

function renderFeedback(feedback: SellerProfile["feedback"]) {
  return feedback && { payers: feedback.payers, tags: feedback.tags.map((tag) => ({ ...tag })) };
}

/** The seller profile of answers. */
export function renderSellerProfile(
  backing: AvailableBacking | null,
): z.infer<typeof sellerProfileSchema> | null {
  const profile = backing?.sellerProfile ?? null;
  if (profile === null) return null;
  return {
    payers: profile.payers,
    weighted_payers: profile.weightedPayers,
    returning_payers: profile.returningPayers,
    weeks: profile.weeks,
    active_weeks: profile.activeWeeks,
    revenue_usd: toUsd(BigInt(profile.revenueMicroUsd)),
    refunded_share: profile.refundedShare,
    own_cluster_share: profile.ownClusterShare,
    jobs: profile.jobs,
    verdicts: profile.verdicts,
    // Profiles of older versions have none until the next pass.
    feedback: renderFeedback(profile.feedback ?? null),
  };
}

/** The backing of answers; null where it is unknown, which is not zero. */
export function renderBacking(backing: AvailableBacking | null): z.infer<typeof backingSchema> | null {
  if (backing === null) return null;
  const { safeMicroUsd, availableMicroUsd, outstandingMicroUsd, costBasisMicroUsd, bondMicroUsd } = backing;
  return {
    safe_amount_usd: toUsd(safeMicroUsd),
    available_usd: toUsd(availableMicroUsd),
    outstanding_usd: toUsd(outstandingMicroUsd),
    cost_basis_usd: toUsd(costBasisMicroUsd),
    bond_usd: toUsd(bondMicroUsd),
    as_of_block: backing.asOfBlock,
    as_of_time: backing.asOfTime.toISOString(),
  };
}
