import type { Address, Hex } from "viem";

/** How a call is meant to end on chain. */
export type Outcome = "success" | "revert" | "out-of-gas";

/** Facts that calldata may depend on and that are known only once the order of all calls is. */
export type Ids = {
  /** The agent or job id that the call with this key created; throws for a key not created before. */
  idOf(key: string): bigint;
  /** The nonce of the next ERC-4337 operation of the account, to be asked for once for each. */
  nextOperation(account: Address): bigint | Promise<bigint>;
  /** Unix seconds of the call's block. */
  readonly blockTime: number;
};

/** Calldata, or a function of the ids given to agents and jobs before the call. */
export type CallData = Hex | ((ids: Ids) => Hex | Promise<Hex>);

/** On-chain result of a call that later calls refer to by key. */
type Creation = { readonly kind: "agent" | "job"; readonly key: string };

/** Gas that a kind of call takes on chain, least and most over the whole population. */
export type GasNeed = { readonly least: number; readonly most: number };

/** A call without its sender, its time and its fees. */
export type Deed = {
  /** Null creates a contract. */
  readonly to: Address | null;
  readonly data: CallData;
  /** Wei. */
  readonly value: bigint;
  readonly gas: GasNeed;
  readonly outcome: Outcome;
  readonly creates: Creation | null;
  /** Key of the agent or job that must exist before. */
  readonly needs: string | null;
};

/** One transaction that an account of the population will send. */
export type PlannedCall = Omit<Deed, "gas"> & {
  /** Unix seconds, not before which it is mined. */
  readonly at: number;
  readonly from: Address;
  readonly gasLimit: number;
  /** Wei per gas on top of the base fee. */
  readonly tipWei: bigint;
};

/** Names of the kinds of agents, as the samples call them. */
export type ArchetypeName =
  | "keeper"
  | "diverse-trader"
  | "payment-agent"
  | "escrow-worker"
  | "oracle-feeder"
  | "weekly-payroll"
  | "newcomer"
  | "dormant"
  | "always-failing"
  | "recovering"
  | "retry-storm"
  | "self-dealing-ring"
  | "spammed-victim"
  | "sanctioned"
  | "flaky"
  | "gas-war"
  | "dirty-hygiene"
  | "stale-strategy"
  | "half-failing"
  | "fresh-contract-ring"
  | "smart-account"
  | "x402-payer"
  | "x402-seller";
