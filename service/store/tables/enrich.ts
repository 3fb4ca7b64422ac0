import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, numeric, primaryKey, text } from "drizzle-orm/pg-core";
import { ahs } from "./schema.ts";

/** How far finalized blocks have been read for every followed wallet, and by which hash that block is known. */
export const enrichCursor = ahs.table("enrich_cursor", {
  chainId: integer().primaryKey(),
  block: bigint({ mode: "number" }).notNull(),
  blockHash: text().notNull(),
});

/** Wallets that are read for: each from the block in which the index began to follow it. Addresses are lower-case. */
export const enrichWallet = ahs.table(
  "enrich_wallet",
  {
    chainId: integer().notNull(),
    wallet: text().notNull(),
    fromBlock: bigint({ mode: "number" }).notNull(),
    /**
     * Next block of its own past, for a wallet that began to be followed behind the chain's cursor; read up to `pastUntil`.
     * Null once nothing is missing up to the cursor.
     */
    pastNext: bigint({ mode: "number" }),
    pastUntil: bigint({ mode: "number" }),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.wallet] }),
    index("enrich_wallet_past").on(table.chainId, table.pastNext).where(sql`past_next is not null`),
  ],
);

/** What the receipt of an own call says beyond the index. */
export const enrichCall = ahs.table(
  "enrich_call",
  {
    chainId: integer().notNull(),
    hash: text().notNull(),
    block: bigint({ mode: "number" }).notNull(),
    transactionIndex: integer().notNull(),
    wallet: text().notNull(),
    /** Wei that a rollup charged for posting the call; null on chains whose receipts have no such fee. */
    l1FeeWei: numeric({ mode: "bigint" }),
    logs: integer().notNull(),
    /** Contracts that emitted its logs, each once, in the order of their first log. */
    emitters: text().array().notNull(),
    /** Those of them that are neither the wallet itself nor a contract that an own call of it had created by then. */
    outsideEmitters: text().array().notNull(),
    /** Logs of it by which the wallet approved somebody. */
    approvals: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.hash] }),
    index("enrich_call_wallet").on(table.chainId, table.wallet, table.block),
  ],
);

/** Which answers of the node a block's tip comes from: receipts of the whole block, or its transactions. */
export type BlockSource = "block_receipts" | "transactions";

/** Every block with own calls: what the market paid in it. */
export const enrichBlock = ahs.table(
  "enrich_block",
  {
    chainId: integer().notNull(),
    block: bigint({ mode: "number" }).notNull(),
    hash: text().notNull(),
    /** Unix seconds. */
    timestamp: bigint({ mode: "number" }).notNull(),
    /** Null before EIP-1559. */
    baseFeeWei: numeric({ mode: "bigint" }),
    /** Median over its transactions of the price paid above the base fee, those that pay none of it left out; null without any. */
    medianTipWei: numeric({ mode: "bigint" }),
    transactions: integer().notNull(),
    source: text().$type<BlockSource>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.block] })],
);

export type TokenStandard = "erc20" | "erc721" | "erc1155";

/** Tokens that moved into or out of followed wallets; any contract can claim any movement, so look at `token` and `sender`. */
export const enrichTransfer = ahs.table(
  "enrich_transfer",
  {
    chainId: integer().notNull(),
    block: bigint({ mode: "number" }).notNull(),
    logIndex: integer().notNull(),
    /** Place within one log: a batch moves several ids. */
    item: integer().notNull(),
    transactionHash: text().notNull(),
    /** Unix seconds. */
    timestamp: bigint({ mode: "number" }).notNull(),
    token: text().notNull(),
    standard: text().$type<TokenStandard>().notNull(),
    from: text().notNull(),
    to: text().notNull(),
    /** Null for ERC-721, which moves one id. */
    amount: numeric({ mode: "bigint" }),
    /** Null for ERC-20. */
    tokenId: numeric({ mode: "bigint" }),
    /** The followed wallet whose own call it happened in; null when a stranger sent the transaction. */
    sender: text(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.block, table.logIndex, table.item] }),
    index("enrich_transfer_from").on(table.chainId, table.from, table.block),
    index("enrich_transfer_to").on(table.chainId, table.to, table.block),
  ],
);

/** amount: ERC-20. token: one ERC-721 id. all: every id of a collection, ERC-721 and ERC-1155. */
export type ApprovalKind = "amount" | "token" | "all";

/** Approvals by followed wallets, each as it happened; the newest by block and log index counts. */
export const enrichApproval = ahs.table(
  "enrich_approval",
  {
    chainId: integer().notNull(),
    block: bigint({ mode: "number" }).notNull(),
    logIndex: integer().notNull(),
    transactionHash: text().notNull(),
    /** Unix seconds. */
    timestamp: bigint({ mode: "number" }).notNull(),
    token: text().notNull(),
    kind: text().$type<ApprovalKind>().notNull(),
    owner: text().notNull(),
    spender: text().notNull(),
    /** Null but for kind amount. */
    amount: numeric({ mode: "bigint" }),
    /** Null but for kind token. */
    tokenId: numeric({ mode: "bigint" }),
    /** False where it takes an earlier approval back. */
    approved: boolean().notNull(),
    /** The followed wallet whose own call it happened in; null when a stranger sent the transaction. */
    sender: text(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.block, table.logIndex] }),
    index("enrich_approval_owner").on(table.chainId, table.owner, table.block, table.logIndex),
  ],
);

/** ERC-4337 operations of followed accounts; any contract can emit one, so look at `entryPoint`. */
export const enrichUserOperation = ahs.table(
  "enrich_user_operation",
  {
    chainId: integer().notNull(),
    block: bigint({ mode: "number" }).notNull(),
    logIndex: integer().notNull(),
    transactionHash: text().notNull(),
    /** Unix seconds. */
    timestamp: bigint({ mode: "number" }).notNull(),
    entryPoint: text().notNull(),
    wallet: text().notNull(),
    userOpHash: text().notNull(),
    /** Null where the account paid by itself. */
    paymaster: text(),
    nonce: numeric({ mode: "bigint" }).notNull(),
    success: boolean().notNull(),
    actualGasCostWei: numeric({ mode: "bigint" }).notNull(),
    actualGasUsed: numeric({ mode: "bigint" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.block, table.logIndex] }),
    index("enrich_user_operation_wallet").on(table.chainId, table.wallet, table.block),
  ],
);
