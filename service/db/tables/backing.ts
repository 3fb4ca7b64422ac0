import { sql } from "drizzle-orm";
import { index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { SellerProfile } from "../../model/backing/seller-profile.ts";
import { address, int8, moment, rowId, uint } from "../columns.ts";
import { ahs } from "./schema.ts";

/** A seller profile as JSON, which has no large numbers: the revenue is a text of digits. */
export type StoredSellerProfile = Omit<SellerProfile, "revenueMicroUsd" | "feedback"> & {
  readonly revenueMicroUsd: string;
  /** Absent from profiles that an older version stored. */
  readonly feedback?: SellerProfile["feedback"];
};

/** Backing of each wallet that has any, as of one block; all rows of a chain are replaced together. */
export const walletBacking = ahs.table(
  "wallet_backing",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    /** Costs of its own in the last 180 days that do not come back to it. */
    ownMicroUsd: uint().notNull(),
    /** CB: its own cost and the part of its payers' cost bases that their payments passed on. */
    costBasisMicroUsd: uint().notNull(),
    /** The part of its bond that is neither committed to a job nor unbonding; no part of the safe amount. */
    bondMicroUsd: uint().notNull().default(sql`0`),
    /** Half of the cost basis: the greatest amount to settle with it at once, before what is outstanding. */
    safeMicroUsd: uint().notNull(),
    /** Payments to it from outside its owner cluster within the last day of chain time. */
    receivedDayMicroUsd: uint().notNull(),
    /** How it earns; null where it received nothing in that time. */
    sellerProfile: jsonb().$type<StoredSellerProfile>(),
    asOfBlock: int8().notNull(),
    asOfTime: moment().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.wallet] })],
);

/** Amounts that routing said may be settled at once; each is outstanding for one day. */
export const routingPromise = ahs.table(
  "routing_promise",
  {
    id: rowId(),
    chainId: integer().notNull(),
    wallet: address().notNull(),
    /** Key or payer that received the answer. */
    caller: text().notNull(),
    amountMicroUsd: uint().notNull(),
    createdAt: moment().notNull().defaultNow(),
  },
  (table) => [index("routing_promise_wallet").on(table.chainId, table.wallet, table.createdAt)],
);

/** Entries of the ERC-8004 reputation registry by clients that paid the agent's wallet in USDC before; bounded for each agent. */
export const paidFeedback = ahs.table(
  "paid_feedback",
  {
    chainId: integer().notNull(),
    registry: address().notNull(),
    agentId: uint().notNull(),
    client: address().notNull(),
    /** Place among the entries of this client for the agent, from 1 on. */
    feedbackIndex: uint().notNull(),
    /** Wallet of the agent when it was given. */
    wallet: address().notNull(),
    block: int8().notNull(),
    /** The value times 10 to the power of 18. */
    value: uint().notNull(),
    /** tag1 in lower case, at most 32 characters; empty without one. */
    tag: text().notNull(),
    /** Sum of the client's payments to the wallet before, in the units of USDC. */
    paid: uint().notNull(),
  },
  (table) => [
    // Its own name would be longer than PostgreSQL's names are.
    primaryKey({
      name: "paid_feedback_pk",
      columns: [table.chainId, table.registry, table.agentId, table.client, table.feedbackIndex],
    }),
  ],
);
