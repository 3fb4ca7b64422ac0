import type { Address, Hex } from "viem";
import type { Random } from "../devnet/population/random.ts";
import type {
  CallEffect,
  OpenApproval,
  OwnCall,
  SanctionsFlag,
  TokenMove,
} from "../service/model/features/types.ts";
import { gaussian } from "./draw.ts";
import type { Market } from "./market.ts";

const BLOCK_SECONDS = 2;

/** An act that an account tries, and its outcome. */
export type Deed = {
  readonly time: number;
  readonly to: Address | null;
  readonly selector: Hex | null;
  readonly value?: bigint;
  /** Of an ERC-20 transfer. */
  readonly payment?: { readonly recipient: Address; readonly amount: bigint };
  /** Dollars that it sends to its counterparty when it succeeds. */
  readonly usd?: number;
  /** Effects of a success; a failure has none. */
  readonly effect: CallEffect;
  readonly emitters?: readonly Address[];
  readonly moves?: readonly TokenMove[];
  /** Gas that a success uses. */
  readonly gas: number;
  /** Gas that a revert uses; without it, 60 % of that of a success. */
  readonly revertGas?: number;
  /** Whether a smart account executed it; its value is known to those alone who trace transactions. */
  readonly execution?: boolean;
  readonly outcome: "ok" | "revert" | "out_of_gas";
  /** Price paid over the market's. */
  readonly overpay: number;
  /** Gas used over the limit, of a call that does not run out of it. */
  readonly usedShare: number;
};

/** A moment at which an account dealt with a counterparty: a call, or funds alone (calls 0). */
type Dealing = {
  readonly account: Address;
  readonly counterparty: Address;
  readonly time: number;
  readonly calls: number;
  readonly sentMicroUsd: bigint;
};

/** Payments by signed authorizations (EIP-3009), which a facilitator sent and paid the gas of. */
type Authorizations = {
  readonly authorizer: Address;
  readonly payee: Address;
  readonly time: number;
  /** How many there are at about that time. */
  readonly count: number;
  /** Dollars of all of them. */
  readonly usd: number;
};

/** Facts of an account of the world, read by the service or not. */
export type Account = {
  readonly address: Address;
  readonly hasCode: boolean;
  readonly creator: Address | null;
  readonly firstFunder: Address | null;
  readonly existedAt: number;
};

/** Everything that happened in a world as far as the service can see it; each list in the order of its telling. */
export type Ledger = {
  readonly start: number;
  readonly accounts: Map<Address, Account>;
  /** Own calls of followed wallets. */
  readonly calls: Map<Address, OwnCall[]>;
  readonly dealings: Dealing[];
  readonly authorizations: Authorizations[];
  /** Accounts that never sent a transaction, whatever their age. */
  readonly neverSent: Set<Address>;
  /** Times of all visible calls that went to no counterparty of a followed wallet, by account. */
  readonly elsewhere: Map<Address, number[]>;
  readonly approvals: Map<Address, OpenApproval[]>;
  readonly delegations: Map<Address, { readonly to: Address; readonly time: number }>;
  readonly flags: Map<Address, "sanctioned" | "mixer">;
  readonly sanctions: Map<Address, SanctionsFlag>;
};

/** A ledger of a world that starts at a time in Unix seconds. */
export function openLedger(start: number): Ledger {
  return {
    start,
    accounts: new Map(),
    calls: new Map(),
    dealings: [],
    authorizations: [],
    neverSent: new Set(),
    elsewhere: new Map(),
    approvals: new Map(),
    delegations: new Map(),
    flags: new Map(),
    sanctions: new Map(),
  };
}

/** Number of the block that is mined at a time. */
export function blockAt(ledger: Ledger, time: number): number {
  return Math.floor((time - ledger.start) / BLOCK_SECONDS);
}

export type Sender = { readonly ledger: Ledger; readonly market: Market; readonly random: Random };

/** Mines one own call of a followed wallet and writes down what the service will read of it; a deed before the start is refused. */
export function mine({ ledger, market, random }: Sender, wallet: Address, deed: Deed): OwnCall {
  if (deed.time < ledger.start)
    throw new RangeError(`the world starts at ${ledger.start}, not at ${deed.time}`);
  const calls = listOf(ledger.calls, wallet);
  const timestamp = Math.floor(deed.time);
  const price = market.gasPriceAt(timestamp) * Math.exp(0.04 * gaussian(random));
  const gasPrice = Math.max(1, Math.round(price * deed.overpay));
  const { gasUsed, gasLimit } = gasOf(deed);
  const ok = deed.outcome === "ok";
  const call: OwnCall = {
    hash: `0x${calls.length.toString(16).padStart(24, "0")}${wallet.slice(2)}`,
    blockNumber: blockAt(ledger, timestamp),
    // Two calls of one wallet in one block keep their order.
    transactionIndex: calls.length,
    position: deed.execution === true ? 1 : 0,
    timestamp,
    to: deed.to,
    selector: deed.selector,
    value: deed.value ?? 0n,
    ok,
    gasLimit: BigInt(gasLimit),
    gasUsed: BigInt(gasUsed),
    fee: BigInt(gasUsed) * BigInt(gasPrice),
    gasPrice: BigInt(gasPrice),
    recipient: deed.payment?.recipient ?? null,
    amount: deed.payment?.amount ?? null,
    receipt: {
      marketPrice: BigInt(Math.round(price)),
      effect: ok ? deed.effect : "none",
      emitters: ok ? (deed.emitters ?? []) : [],
      moves: ok ? sortMoves(deed.moves ?? []) : [],
    },
  };
  calls.push(call);
  deal(ledger, wallet, { call, usd: ok ? (deed.usd ?? 0) : 0 });
  return call;
}

/** Funds that reach an account without a call of a followed wallet; the sender is the dealing's account. */
export function fund(
  ledger: Ledger,
  {
    from,
    to,
    time,
    usd,
  }: { readonly from: Address; readonly to: Address; readonly time: number; readonly usd: number },
): void {
  ledger.dealings.push({ account: from, counterparty: to, time, calls: 0, sentMicroUsd: microUsd(usd) });
}

/** The list under a key, made empty if absent. */
export function listOf<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const made: V[] = [];
  lists.set(key, made);
  return made;
}

/** A whole number of millionths of a dollar. */
function microUsd(usd: number): bigint {
  return BigInt(Math.round(usd * 1e6));
}

function deal(
  ledger: Ledger,
  wallet: Address,
  { call, usd }: { readonly call: OwnCall; readonly usd: number },
): void {
  const counterparty = call.recipient ?? call.to;
  if (counterparty === null) return;
  ledger.dealings.push({
    account: wallet,
    counterparty,
    time: call.timestamp,
    calls: 1,
    sentMicroUsd: microUsd(usd),
  });
}

function gasOf({ gas, revertGas, outcome, usedShare }: Deed): {
  readonly gasUsed: number;
  readonly gasLimit: number;
} {
  const gasLimit = Math.max(21_000, Math.round(gas / usedShare));
  switch (outcome) {
    case "ok":
      return { gasUsed: gas, gasLimit };
    case "revert":
      // Most reverts come out before the work is done.
      return { gasUsed: Math.max(21_000, Math.round(revertGas ?? gas * 0.6)), gasLimit };
    case "out_of_gas":
      return {
        gasUsed: Math.max(21_000, Math.round(gas * 0.9)),
        gasLimit: Math.max(21_000, Math.round(gas * 0.9)),
      };
  }
}

function sortMoves(moves: readonly TokenMove[]): readonly TokenMove[] {
  return moves.length < 2 ? moves : moves.toSorted((a, b) => (a.token < b.token ? -1 : 1));
}
