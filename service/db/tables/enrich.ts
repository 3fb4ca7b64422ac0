import { sql } from "drizzle-orm";
import { boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import type { CallEffect } from "../../model/features/types.ts";
import { address, addresses, hash, hex, int8, uint, unixSeconds, wei } from "../columns.ts";
import { ahs } from "./schema.ts";

/** How far finalized blocks have been read for every followed wallet, and by which hash that block is known. */
export const enrichCursor = ahs.table("enrich_cursor", {
  chainId: integer().primaryKey(),
  block: int8().notNull(),
  blockHash: hash().notNull(),
});

/** Ranges that enrichment is reading, noted before it reads them, so that the next process learns where one died. */
export const enrichReading = ahs.table(
  "enrich_reading",
  {
    chainId: integer().notNull(),
    /** chain: of every wallet; past: of wallets that joined late; warm: before the index. */
    task: text().$type<"chain" | "past" | "warm">().notNull(),
    fromBlock: int8().notNull(),
    /** Of the range, or of a larger one that processes died in. */
    toBlock: int8().notNull(),
    deaths: integer().notNull(),
    /** The transaction that is being decoded, in a range that a process died in; null at all other times. */
    transactionHash: hash(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.task] })],
);

/** Transactions that processes died of while they decoded them. */
export const enrichDeath = ahs.table(
  "enrich_death",
  {
    chainId: integer().notNull(),
    transactionHash: hash().notNull(),
    deaths: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.transactionHash] })],
);

/** Wallets that are read for: each from the block in which the index began to follow it. Addresses are lower-case. */
export const enrichWallet = ahs.table(
  "enrich_wallet",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    fromBlock: int8().notNull(),
    /**
     * Next block of its own past, for a wallet that began to be followed behind the chain's cursor; read up to `pastUntil`.
     * Null once nothing is missing up to the cursor.
     */
    pastNext: int8(),
    pastUntil: int8(),
    /** Whether the time before the index follows it is still to be read from a batch source. */
    warmOpen: boolean().notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.wallet] }),
    index("enrich_wallet_past").on(table.chainId, table.pastNext).where(sql`past_next is not null`),
    index("enrich_wallet_warm").on(table.chainId, table.wallet).where(sql`warm_open`),
  ],
);

/** Calls that followed wallets made, executed or signed, as the model reads them; from finalized blocks, and from history sources. */
export const ownCall = ahs.table(
  "own_call",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    block: int8().notNull(),
    transactionIndex: integer().notNull(),
    /** 0 for a transaction of its own, else the number of the log that shows the execution or signed payment, plus 1. */
    position: integer().notNull(),
    hash: hash().notNull(),
    /**
     * transaction: the wallet sent it. erc4337, safe: its account executed it in another's transaction. authorization: it
     * signed a payment (EIP-3009, as x402 uses it), which another account sent; its gas columns are 0.
     */
    origin: text().$type<"transaction" | "erc4337" | "safe" | "authorization">().notNull(),
    /** enrich, or the name of the history source that reported it. */
    source: text().notNull(),
    timestamp: unixSeconds().notNull(),
    /**
     * Null for a contract creation, and for an execution whose target is not known. For an execution it comes from
     * calldata, which the account's own code may ignore: `recipient` and `emitters` show the counterparties.
     */
    to: address(),
    selector: hex(),
    /** Of an execution that was asked to send native coin what a trace shows; null without a trace, and for one that failed. */
    value: wei(),
    ok: boolean().notNull(),
    gasLimit: uint().notNull(),
    gasUsed: uint().notNull(),
    gasPriceWei: wei().notNull(),
    /** Fee that the wallet paid for it, without the L1 fee. */
    feeWei: wei().notNull(),
    /** Wei that a rollup charged for posting the call; null on chains whose receipts have no such fee. */
    l1FeeWei: wei(),
    /** By the calldata of an ERC-20 transfer or transferFrom; null for other calls, and for an execution whose logs do not show it, as is `amount`. */
    recipient: address(),
    amount: uint(),
    /**
     * Base fee of the block and median tip of the first sampled block of its stretch; null where its receipt was not read, or no such
     * tip is known.
     */
    marketPriceWei: wei(),
    /** Null where its receipt was not read, as are the columns after it. */
    effect: text().$type<CallEffect>(),
    logs: integer(),
    /** Contracts that emitted its logs, each once, in the order of their first log: the first 32. */
    emitters: addresses(),
    /** Net ERC-20 changes of the wallet, "token:amount" by rising token; of more than 32 those that the logs show first. */
    moves: text().array(),
    /**
     * The call as scoring reads and hashes it, see `formatCall`; a trigger writes it, for to put it together at every reading takes
     * half of what scoring takes. Null in rows older than the column, of which readers put it together.
     */
    line: text(),
  },
  (table) => [
    primaryKey({
      columns: [table.chainId, table.wallet, table.block, table.transactionIndex, table.position],
    }),
    index("own_call_hash").on(table.chainId, table.hash),
  ],
);

/**
 * Sampled blocks, which are read whole: what the market paid in them. The row of a stretch's last sampled block notes that the users
 * of all of them are in `sampled_contact`.
 */
export const enrichBlock = ahs.table(
  "enrich_block",
  {
    chainId: integer().notNull(),
    block: int8().notNull(),
    hash: hash().notNull(),
    timestamp: unixSeconds().notNull(),
    baseFeeWei: wei(),
    /** Median over its transactions of the price paid above the base fee, those that pay none of it left out; null without any. */
    medianTipWei: wei(),
    /** Null where no answer of the node has room for them. */
    transactions: integer(),
    /** Answers of the node: receipts of the whole block, its transactions alone, or nothing but its header. */
    source: text().$type<"block_receipts" | "transactions" | "header">().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.block] })],
);

/** native: the chain's own coin, moved by a transaction's value, without a log. */
export type TokenStandard = "native" | "erc20" | "erc721" | "erc1155";

/** Movements into or out of followed wallets; any contract can claim any movement, so check `token` and `sender`. */
export const enrichTransfer = ahs.table(
  "enrich_transfer",
  {
    chainId: integer().notNull(),
    block: int8().notNull(),
    /** Of native coin that a transaction sent: −1 − the transaction's index. */
    logIndex: integer().notNull(),
    /** Place within one log: a batch moves several ids. Of native coin that an execution sent the execution's position. */
    item: integer().notNull(),
    transactionHash: hash().notNull(),
    timestamp: unixSeconds().notNull(),
    token: address().notNull(),
    standard: text().$type<TokenStandard>().notNull(),
    from: address().notNull(),
    to: address().notNull(),
    /** Null for ERC-721, which moves one id. */
    amount: uint(),
    /** Null for native coin and ERC-20. */
    tokenId: uint(),
    /** The followed wallet whose own call it happened in; null when a stranger sent the transaction. */
    sender: address(),
    /** Unix seconds of chain time until which it is kept, since any contract can claim it; null for good. */
    storedUntil: unixSeconds(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.block, table.logIndex, table.item] }),
    index("enrich_transfer_from").on(table.chainId, table.from, table.block),
    index("enrich_transfer_to").on(table.chainId, table.to, table.block),
    index("enrich_transfer_stored_until")
      .on(table.chainId, table.storedUntil)
      .where(sql`stored_until is not null`),
  ],
);

/**
 * Approvals that followed wallets gave, by what they are of: of each the newest log in a call or execution of its owner, and
 * the newest of others' transactions after it, which shows the remaining allowance. At most 2,000 of a wallet; see `storeApprovals`.
 */
export const enrichApproval = ahs.table(
  "enrich_approval",
  {
    chainId: integer().notNull(),
    owner: address().notNull(),
    token: address().notNull(),
    /** amount: ERC-20. token: one ERC-721 id. all: every id of a collection, ERC-721 and ERC-1155. */
    kind: text().$type<"amount" | "token" | "all">().notNull(),
    /** The spender; of kind token the id, since there one spender replaces the other. */
    subject: text().notNull(),
    /** Whether a call or an execution of the owner logged it. */
    own: boolean().notNull(),
    block: int8().notNull(),
    logIndex: integer().notNull(),
    transactionHash: hash().notNull(),
    timestamp: unixSeconds().notNull(),
    spender: address().notNull(),
    /** Null but for kind amount. */
    amount: uint(),
    /** Null but for kind token. */
    tokenId: uint(),
    /** False where it takes an earlier approval back. */
    approved: boolean().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.chainId, table.owner, table.token, table.kind, table.subject, table.own],
    }),
  ],
);

/** ERC-4337 operations of followed accounts; any contract can emit one, so check `entryPoint`. */
export const enrichUserOperation = ahs.table(
  "enrich_user_operation",
  {
    chainId: integer().notNull(),
    block: int8().notNull(),
    logIndex: integer().notNull(),
    transactionHash: hash().notNull(),
    timestamp: unixSeconds().notNull(),
    entryPoint: address().notNull(),
    wallet: address().notNull(),
    userOpHash: hash().notNull(),
    /** Null where the account paid by itself. */
    paymaster: address(),
    nonce: uint().notNull(),
    success: boolean().notNull(),
    actualGasCostWei: wei().notNull(),
    actualGasUsed: uint().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.block, table.logIndex] }),
    index("enrich_user_operation_wallet").on(table.chainId, table.wallet, table.block),
  ],
);

/**
 * Calls and funds from an account to a counterparty. Complete for followed wallets as the account. Of other accounts it holds only
 * funds: of a bounded number for each counterparty, those that sent a followed wallet most. The zero address's row has the sum of
 * the other payers.
 */
export const contact = ahs.table(
  "contact",
  {
    chainId: integer().notNull(),
    counterparty: address().notNull(),
    account: address().notNull(),
    /** Calls of the account to it, token payments to it included; 0 where only funds are known. */
    calls: integer().notNull(),
    /** Value sent to it in native coin and priced tokens, at the prices of the day, in millionths of a US dollar. */
    sentMicroUsd: uint().notNull(),
    firstBlock: int8().notNull(),
    firstTime: unixSeconds().notNull(),
    lastBlock: int8().notNull(),
    lastTime: unixSeconds().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.counterparty, table.account] }),
    // The accounts that an account calls, and how often, come from the index alone: scoring reads it for every user of a counterparty.
    index("contact_account").on(table.chainId, table.account, table.counterparty, table.calls),
  ],
);

/**
 * Calls of any account to a counterparty in sampled blocks, of each counterparty some senders of each sample. Readers take the users
 * that are not followed from here, and those that are from `contact`.
 */
export const sampledContact = ahs.table(
  "sampled_contact",
  {
    chainId: integer().notNull(),
    counterparty: address().notNull(),
    account: address().notNull(),
    calls: integer().notNull(),
    firstBlock: int8().notNull(),
    firstTime: unixSeconds().notNull(),
    lastBlock: int8().notNull(),
    lastTime: unixSeconds().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.counterparty, table.account] }),
    index("sampled_contact_account").on(table.chainId, table.account, table.counterparty, table.calls),
    // Rows that no score counts any more are deleted.
    index("sampled_contact_last").on(table.chainId, table.lastTime),
  ],
);

/**
 * Facts about an account that never change once known; a column is null if no source knows it. Accounts without any fact are
 * asked about again.
 */
export const accountFact = ahs.table(
  "account_fact",
  {
    chainId: integer().notNull(),
    address: address().notNull(),
    hasCode: boolean(),
    creator: address(),
    firstFunder: address(),
    /** Block and Unix seconds at which it had code, or had sent a transaction, at the latest. */
    existedBlock: int8(),
    existedAt: unixSeconds(),
    /** index, or the name of the history source. */
    source: text().notNull(),
    readBlock: int8().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.address] }),
    // Accounts that an account funded first, and contracts that it created.
    index("account_fact_funder").on(table.chainId, table.firstFunder, table.address),
    index("account_fact_creator").on(table.chainId, table.creator, table.address),
  ],
);

/** Accounts whose facts are still to be asked for, each by every followed wallet that they matter to. */
export const pendingFact = ahs.table(
  "pending_fact",
  {
    chainId: integer().notNull(),
    address: address().notNull(),
    wallet: address().notNull(),
    /** Whether it only created or first funded another that is asked for; then its own creator and funder are not wanted. */
    ancestor: boolean().notNull(),
    /** Unix seconds of chain time from which it is to be asked for; of an account not asked for yet, those of its first contact. */
    dueAt: unixSeconds().notNull(),
    /** Requests without a result. */
    asked: integer().notNull(),
    /** Whether it is the wallet, or own calls of the wallet called or paid it, or it created or funded one of those. */
    own: boolean().notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.address, table.wallet] }),
    index("pending_fact_turn").on(table.chainId, table.wallet, table.own.desc(), table.dueAt),
  ],
);

/** Last answer of a price feed on each UTC day with one. */
export const feedPrice = ahs.table(
  "feed_price",
  {
    chainId: integer().notNull(),
    feed: address().notNull(),
    /** UTC day number. */
    day: integer().notNull(),
    block: int8().notNull(),
    /** US dollars with `decimals` decimals. */
    answer: uint().notNull(),
    decimals: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.feed, table.day] })],
);

/** EIP-7702 delegation of followed wallets, a row whenever it was found changed. */
export const walletDelegation = ahs.table(
  "wallet_delegation",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    block: int8().notNull(),
    /** Null if it delegates to no account. */
    delegate: address(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.wallet, table.block] })],
);
