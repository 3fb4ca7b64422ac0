import type { Address, Hex } from "viem";
import { readTokenPayment } from "../../chain/token-payment.ts";
import type { CallOrigin, ownCall } from "../../db/tables/enrich.ts";
import type { CallReceipt, OwnCall } from "../../model/features/types.ts";
import { type EffectLog, effectOf, movesOf } from "./call-effect.ts";
import { createLogDecoder, type LogDecoder } from "./decode-log.ts";

/** What a wallet called, or what its account executed: a mined transaction's own members, or those of the inner call. */
export type MinedCall = {
  readonly hash: Hex;
  readonly block: number;
  readonly transactionIndex: number;
  /** 0 for a transaction, else the number of the log that tells of the execution, plus 1. */
  readonly position: number;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Lower-case, as every address here. */
  readonly wallet: Address;
  readonly to: Address | null;
  readonly input: Hex;
  readonly value: bigint;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
  /** Wei, without the L1 fee. */
  readonly fee: bigint;
};

/** What the receipt and the block say of it. */
export type CallOutcome = {
  /** Its logs, in order. */
  readonly logs: readonly EffectLog[];
  /** Shared by the calls of one transaction; absent where there is but one. */
  readonly decode?: LogDecoder;
  /** Wei; null where the receipt has none. */
  readonly l1Fee: bigint | null;
  /** Base fee and median tip of the block in wei per gas; null where the block tells none. */
  readonly marketPrice: bigint | null;
};

export type OwnCallRow = typeof ownCall.$inferInsert;

/** An own call whose receipt was read. */
export type ReadCall = OwnCall & { readonly receipt: CallReceipt };

const SELECTOR_CHARACTERS = 10;
/** Contracts of one call's logs that are kept: each becomes a contact whose facts are asked for, and costs 400 gas. */
const MAX_EMITTERS = 32;

/** The call as the model reads it, told by a node alone; what the wallet itself emitted is no effect. */
export function describeCall(call: MinedCall, outcome: CallOutcome, wrappedNative: Address | null): ReadCall {
  const { wallet, input, block: blockNumber, fee, ...same } = call;
  const payment = call.to === null ? null : readTokenPayment(input);
  const logs = outcome.logs.filter((log) => log.address !== wallet);
  const read = { wallet, wrappedNative, logs, decode: outcome.decode ?? createLogDecoder() };
  return {
    ...same,
    blockNumber,
    selector: selectorOf(input),
    fee: fee + (outcome.l1Fee ?? 0n),
    recipient: payment === null ? null : payment.recipient,
    amount: payment === null ? null : payment.amount,
    receipt: {
      marketPrice: outcome.marketPrice,
      effect: effectOf(read),
      emitters: [...new Set(logs.map((log) => log.address))].slice(0, MAX_EMITTERS),
      moves: movesOf(read),
    },
  };
}

type StoredCall = {
  readonly chainId: number;
  readonly wrappedNative: Address | null;
  readonly origin: CallOrigin;
};

/** The stored form of a call that enrichment read. */
export function ownCallRow(call: MinedCall, outcome: CallOutcome, stored: StoredCall): OwnCallRow {
  const { receipt } = describeCall(call, outcome, stored.wrappedNative);
  return {
    ...unreadCallRow(call, stored),
    l1FeeWei: outcome.l1Fee,
    marketPriceWei: receipt.marketPrice,
    effect: receipt.effect,
    logs: outcome.logs.length,
    emitters: [...receipt.emitters],
    moves: receipt.moves.map(({ token, amount }) => `${token}:${amount}`),
  };
}

/** The stored form of a call whose receipt no answer of the node had room for. */
export function unreadCallRow(
  call: MinedCall,
  { chainId, origin }: Pick<StoredCall, "chainId" | "origin">,
): OwnCallRow {
  const { input, gasPrice, fee, ...same } = call;
  const payment = call.to === null ? null : readTokenPayment(input);
  return {
    ...same,
    chainId,
    origin,
    source: "enrich",
    selector: selectorOf(input),
    gasPriceWei: gasPrice,
    feeWei: fee,
    l1FeeWei: null,
    recipient: payment === null ? null : payment.recipient,
    amount: payment === null ? null : payment.amount,
    marketPriceWei: null,
    effect: null,
    logs: null,
    emitters: null,
    moves: null,
  };
}

/** First four bytes of calldata; null for less. */
function selectorOf(input: Hex): Hex | null {
  return input.length < SELECTOR_CHARACTERS ? null : (input.slice(0, SELECTOR_CHARACTERS) as Hex);
}
