import type { Address, Hex } from "viem";

/** How often an account called a counterparty. */
type Doing = Pick<Contact, "counterparty" | "calls">;

/** Facts about one account as of a block; a member is null if no source knows it. */
export type AccountFact = {
  readonly address: Address;
  readonly hasCode: boolean | null;
  readonly creator: Address | null;
  readonly firstFunder: Address | null;
  /** Unix seconds at which it had code, or had sent a transaction, at the latest. */
  readonly existedAt: number | null;
};

/** Calls and funds from one account to a counterparty, as of a block. */
export type Contact = {
  readonly counterparty: Address;
  readonly account: Address;
  /** Calls of the account to it; 0 where only funds are known. */
  readonly calls: number;
  /** Funds of known price that the account sent it, in millionths of a US dollar. */
  readonly sentMicroUsd: bigint;
  /** Unix seconds. */
  readonly firstTime: number;
  readonly lastTime: number;
};

export type ContactGraph = {
  /** By counterparty; contacts by rising account. */
  readonly usersOf: ReadonlyMap<Address, readonly Contact[]>;
  /** The sender of more than half of all known funds of an account. */
  readonly mainFunderOf: ReadonlyMap<Address, Address>;
  /** By account. */
  readonly contactsOf: ReadonlyMap<Address, readonly Doing[]>;
  /** Known calls of an account, at least those of its contacts; without an entry, those alone. */
  readonly callsOf: ReadonlyMap<Address, number>;
};

/** How the wallet spends gas on outside calls; points are 0 to 100. */
export type GasUse = {
  /** Share of the fees that failures burnt. */
  readonly burnt: number;
  /** P: how near the prices paid are to the market's; null where no block has one. */
  readonly pricePoints: number | null;
  /** Share of the weight of prices that counts, 0 to 1: 0 where no block has a market price. */
  readonly pricedShare: number;
  /** L: how near the gas limits are to the gas used. */
  readonly limitPoints: number;
  /** How many calls all of this is by: signed payments are left out. */
  readonly calls: number;
};

/** The block a record speaks for: the newest finalized and enriched one when the rows were read. */
export type AsOf = {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Unix seconds of that block. */
  readonly timestamp: number;
};

/**
 * Effect of an own call, by the logs of its receipt. none: no log. approval: approvals alone. wrap: native coin into or out
 * of its wrapped form alone. transfer: movements of one ERC-20 token out of the wallet alone. other: anything else.
 */
export type CallEffect = "none" | "approval" | "wrap" | "transfer" | "other";

/** Net change of one ERC-20 token of the wallet by one call; in the token's smallest unit, negative where it left. */
export type TokenMove = { readonly token: Address; readonly amount: bigint };

/** Facts about an own call from the block that it was mined in. */
export type CallReceipt = {
  /** Market price in wei per gas: base fee of the block and median tip of its stretch's sample; null where none is known. */
  readonly marketPrice: bigint | null;
  readonly effect: CallEffect;
  /** Contracts that emitted its logs, each once, in the order of their first log: the first 32. */
  readonly emitters: readonly Address[];
  /** By rising token address, the first 32; tokens that did not change on balance are left out. */
  readonly moves: readonly TokenMove[];
};

/**
 * One call that the wallet itself made, that its smart account executed, or that is a token payment which it signed and another
 * account sent (EIP-3009), and that was mined, whatever its outcome. A signed payment has no gas of its own: see `choseGas`.
 */
export type OwnCall = {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  /** Place within the transaction: 0 for the transaction itself, else the index of the execution's or payment's log plus 1. */
  readonly position: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /**
   * The called account; null for a contract creation, and for an execution whose target is not known. For an execution
   * it comes from calldata, which the account's own code may ignore: only logs show its counterparties.
   */
  readonly to: Address | null;
  /** First four bytes of the calldata; null for a plain transfer. Of a signed payment those of transferWithAuthorization. */
  readonly selector: Hex | null;
  /**
   * Native coin in wei that it sent, or tried to send as a transaction. Of an execution that was asked to send some what a
   * trace shows; null without a trace, and for one that failed.
   */
  readonly value: bigint | null;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei paid for it, what a rollup charged for posting it included. */
  readonly fee: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
  /** Recipient of an ERC-20 transfer or transferFrom of the token `to`, or an EIP-3009 transfer that the wallet signed, by the calldata; of a successful execution by its logs as well; null for any other call. */
  readonly recipient: Address | null;
  /** How much of it, in the token's smallest unit; null where recipient is. */
  readonly amount: bigint | null;
  /** Null where the call is known without its receipt. */
  readonly receipt: CallReceipt | null;
};

/** Why an account is counted to the wallet's owner. */
export type OwnerLink = "itself" | "creator" | "first_funder" | "mutual_funding";

/** Facts about an account that the wallet dealt with or gave an approval, as of the record's block. */
export type CounterpartyFact = {
  readonly address: Address;
  /** Null where nothing links it to the wallet's owner. */
  readonly ownerLink: OwnerLink | null;
  /** Lowest of the accounts here that share an owner with it, itself included; absent where none but itself does. */
  readonly mergedWith?: Address;
  /** Whether it has code; null where no source knows. */
  readonly hasCode: boolean | null;
  /** Unix seconds at which it had code, or had sent a transaction, at the latest; null where no source knows. */
  readonly existedAt: number | null;
  /** True if an account outside the owner cluster funded or created it first; null if no source knows. */
  readonly fundedFromOutside: boolean | null;
  /** Unix seconds of the wallet's first call to it; null where it never called it. */
  readonly firstContactAt: number | null;
  /** u: distinct outside users in the window, captive ones left out; counted up to the policy's limit. */
  readonly outsideUsers: number;
  /** Lists that contain it. */
  readonly flag: "sanctioned" | "mixer" | null;
};

/** An open approval without limit: kind amount for ERC-20, all for collections. */
export type OpenApproval = {
  readonly token: Address;
  readonly spender: Address;
  readonly kind: "amount" | "all";
  /** Unix seconds. */
  readonly approvedAt: number;
};

/** EIP-7702 delegation of the wallet: null where its code was never read, else the account whose code it runs, if any. */
export type Delegation = { readonly to: Address | null };

/** UTC day number and the price of one whole token at that day's end, in millionths of a US dollar. */
export type DailyPrice = readonly [day: number, priceMicroUsd: number];

export type ListedToken = {
  readonly address: Address;
  readonly symbol: string;
  readonly decimals: number;
  /** By rising day; empty where no feed prices it. */
  readonly prices: readonly DailyPrice[];
};

/** Recognised tokens and their daily prices as of a block, the same for every wallet. */
export type TokenList = {
  readonly native: Omit<ListedToken, "address">;
  /** By rising address. */
  readonly tokens: readonly ListedToken[];
};

export type SanctionsFlag = {
  readonly source: "chainalysis-oracle" | "ofac-sdn";
  readonly reference: string;
  /** ISO 8601 UTC. */
  readonly detected_at: string;
};

/** Which part of the chain the rows cover. */
export type Coverage = {
  readonly fromBlock: number;
  readonly fromTimestamp: number;
  readonly toBlock: number;
  /** Whether every transaction of the wallet in the window up to toBlock is in the rows; before it was followed, nothing else is. */
  readonly complete: boolean;
  readonly sources: readonly string[];
  /** Present where the wallet made more calls in the window than are read of one, see `WALLET_BOUNDS`. */
  readonly newestCallsOnly?: true;
};

/** All inputs of the model for one wallet; every list in any order. */
export type WalletRows = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly calls: readonly OwnCall[];
  /** Of every account that a call went to, paid or shows in its logs, may spend by an open approval, or runs as the wallet's code. */
  readonly counterparties: readonly CounterpartyFact[];
  /** Those of them that only logs show and that a report leaves out for their number; absent where none is, and in every score. */
  readonly accountsLeftOut?: number;
  /** Null where approvals are not known. */
  readonly approvals: readonly OpenApproval[] | null;
  /** Null where the wallet's code was never read. */
  readonly delegation: Delegation | null;
  readonly tokens: TokenList;
  /** Unix seconds at which one of its agents' services last answered; null where none is known to. */
  readonly servicesUpAt: number | null;
  readonly sanctions: readonly SanctionsFlag[];
  readonly coverage: Coverage;
  /** Unix seconds of the chain's first block; null where the index starts later than the chain. */
  readonly chainStartTimestamp: number | null;
};
