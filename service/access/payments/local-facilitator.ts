import { setTimeout as sleep } from "node:timers/promises";
import { x402Facilitator } from "@x402/core/facilitator";
import { toFacilitatorEvmSigner } from "@x402/evm";
import {
  type Abi,
  type Address,
  concatHex,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  isHash,
  type PublicClient,
  TransactionReceiptNotFoundError,
  type TypedDataDefinition,
} from "viem";
import { fateOfCall } from "../../sender/orders/fate.ts";
import type { AuthorizationId, SettlementTransaction } from "../../sender/payments-sender.ts";
import { SETTLEMENT_MAX_GAS } from "../../sender/send-policy.ts";
import { classifySendFailure } from "../../sender/send-rpc.ts";
import type { PresentedPayment } from "../access.ts";
import { type Call, type PaymentScheme, schemeNamed } from "../schemes/scheme.ts";
import { createContractSignatures } from "../sign-in.ts";
import {
  type Facilitator,
  publicReason,
  SETTLE_DEADLINE_MS,
  type SettleOutcome,
  type VerifyOutcome,
} from "./facilitator.ts";
import type { SettlementSpending } from "./settlement-spending.ts";

export type LocalFacilitatorDeps = {
  /** The address whose key sends; this process does not hold the key. */
  readonly sender: Address;
  readonly network: `eip155:${number}`;
  readonly client: PublicClient;
  readonly schemes: readonly PaymentScheme[];
  /** The queue of the facilitator's sender. */
  readonly queue: {
    /** Queues the call once per authorization and returns the order's id. */
    enqueue(order: {
      readonly authorization: AuthorizationId;
      readonly to: Address;
      readonly data: Hex;
    }): Promise<number>;
    read(id: number): Promise<SettlementTransaction | null>;
  };
  readonly monotonicMs: () => number;
  readonly settleDeadlineMs?: number;
  /** Absent where gas costs nothing. */
  readonly spending?: SettlementSpending;
};

const POLL_MS = 100;
/** The protocol's word for it. */
const REVERTS = { kind: "invalid", reason: "invalid_exact_evm_transaction_simulation_failed" } as const;
const TOO_MUCH_GAS = { kind: "invalid", reason: "settlement_needs_too_much_gas" } as const;

/**
 * x402's own EVM facilitator in this process. It queues its transactions for the process that holds the key. Asking
 * twice sends once.
 */
export function createLocalFacilitator(deps: LocalFacilitatorDeps): Facilitator {
  const settlingOf = ({ scheme }: PresentedPayment) => schemeNamed(deps.schemes, scheme).settling;
  return {
    async verify(payment, worth = payment.amount) {
      const settling = settlingOf(payment);
      return "order" in settling
        ? verifyOrder(deps, settling.order(payment), worth)
        : verify(deps, { payment, settling }, worth);
    },
    async settle(payment) {
      const settling = settlingOf(payment);
      return "order" in settling
        ? settleOrder(deps, settling.order(payment))
        : settle(deps, { payment, settling });
    },
  };
}

type Settling<Way extends string> = Extract<PaymentScheme["settling"], { readonly [Key in Way]: unknown }>;
/** A call that this service makes itself, with the authorization that it carries out. */
type OwnOrder = ReturnType<Settling<"order">["order"]>;
/** A payment that the package's facilitator of its scheme settles. */
type ByPackage = { readonly payment: PresentedPayment; readonly settling: Settling<"facilitator"> };

/** Facts that the package's results hide: node failures, and how an order ended. */
type Notes = {
  trouble: unknown;
  order: SettlementTransaction | "pending" | null;
  /** The simulated transfer. */
  call: Call | null;
  /** By the monotonic clock. Nothing is queued after it, since the caller has gone on. */
  readonly deadline: number;
};

function newNotes({ monotonicMs, settleDeadlineMs = SETTLE_DEADLINE_MS }: LocalFacilitatorDeps): Notes {
  return { trouble: null, order: null, call: null, deadline: monotonicMs() + settleDeadlineMs };
}

async function verify(deps: LocalFacilitatorDeps, packed: ByPackage, worth: bigint): Promise<VerifyOutcome> {
  const { payment } = packed;
  const notes = newNotes(deps);
  try {
    const facilitator = facilitatorFor(deps, packed, notes);
    const { isValid, invalidReason } = await facilitator.verify(payment.payload, payment.requirements);
    if (isValid) return await checkGas(deps, payment, { worth, call: notes.call });
    // The package reports an unreachable node like a reverted call.
    if (notes.trouble !== null) return { kind: "unavailable", cause: notes.trouble };
    return { kind: "invalid", reason: publicReason(invalidReason, "payment_invalid") };
  } catch (error) {
    return { kind: "unavailable", cause: notes.trouble ?? error };
  }
}

/** The payer's own code may burn gas during its signature check, and we pay for it: expensive payers are refused. */
async function checkGas(
  deps: LocalFacilitatorDeps,
  payment: PresentedPayment,
  { worth: priceMicroUsd, call }: Pick<Notes, "call"> & { readonly worth: bigint },
): Promise<VerifyOutcome> {
  if (call === null) throw new Error("a payment was found valid whose transfer was never simulated");
  const gas = await estimateGas(deps, call);
  if (typeof gas !== "bigint") return gas;
  if (gas > SETTLEMENT_MAX_GAS) return TOO_MUCH_GAS;
  return (await deps.spending?.refusal({ gas, priceMicroUsd, payment })) ?? { kind: "valid" };
}

async function estimateGas(
  { client, sender }: LocalFacilitatorDeps,
  call: NonNullable<Notes["call"]>,
): Promise<bigint | VerifyOutcome> {
  try {
    return await client.estimateGas({ account: sender, ...call });
  } catch (error) {
    // The same call has just succeeded at the newest block. It may fail at the pending one because the nonce is used there.
    switch (classifySendFailure(error).kind) {
      case "unreachable":
      case "unknown":
        return { kind: "unavailable", cause: error };
      case "reverted_in_simulation":
        return REVERTS;
      default:
        return TOO_MUCH_GAS;
    }
  }
}

async function settle(deps: LocalFacilitatorDeps, packed: ByPackage): Promise<SettleOutcome> {
  const { payment } = packed;
  const notes = newNotes(deps);
  try {
    const facilitator = facilitatorFor(deps, packed, notes);
    const { success, transaction, errorReason } = await facilitator.settle(
      payment.payload,
      payment.requirements,
    );
    if (success && isHash(transaction)) return { kind: "settled", transaction };
    return failureOf(notes, errorReason);
  } catch (error) {
    return { kind: notes.order === null ? "unavailable" : "unknown", cause: error };
  }
}

/** The call is simulated. Its terms were compared before. */
async function verifyOrder(
  deps: LocalFacilitatorDeps,
  { authorization, call }: OwnOrder,
  worth: bigint,
): Promise<VerifyOutcome> {
  try {
    await deps.client.call({ account: deps.sender, ...call });
  } catch (error) {
    return isTrouble(error) ? { kind: "unavailable", cause: error } : REVERTS;
  }
  return checkGas(deps, authorization, { worth, call }).catch((cause) => ({ kind: "unavailable", cause }));
}

/** Moves the money into the escrow or the channel. */
async function settleOrder(
  deps: LocalFacilitatorDeps,
  { authorization, call }: OwnOrder,
): Promise<SettleOutcome> {
  const notes = newNotes(deps);
  notes.order = "pending";
  try {
    const transaction = await carryOut(deps, { authorization, ...call }, notes);
    const { status } = await awaitReceipt(deps, transaction, notes);
    return status === "success" ? { kind: "settled", transaction } : failureOf(notes, "the call reverted");
  } catch (error) {
    notes.trouble ??= error;
    return failureOf(notes, undefined);
  }
}

/** Whether the node said nothing of the call. */
function isTrouble(error: unknown): boolean {
  const { kind } = classifySendFailure(error);
  return kind === "unreachable" || kind === "unknown";
}

/** A reverted transaction may be reorged and mined again without reverting: only the chain's final word releases it. */
function failureOf({ order, trouble }: Notes, reason: string | undefined): SettleOutcome {
  const cause = trouble ?? new Error(`settlement: ${reason ?? "no reason given"}`);
  if (order === null) {
    return trouble === null
      ? { kind: "refused", reason: publicReason(reason, "settlement_refused") }
      : { kind: "unavailable", cause };
  }
  if (order === "pending" || order.state !== "failed") return { kind: "unknown", cause };
  return fateOfCall(order).kind === "refused"
    ? { kind: "refused", reason: publicReason(reason, "settlement_refused") }
    : { kind: "unavailable", cause };
}

function facilitatorFor(deps: LocalFacilitatorDeps, { payment, settling }: ByPackage, notes: Notes) {
  const { client, sender, network } = deps;
  const noting = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (isTrouble(error)) notes.trouble = error;
      throw error;
    }
  };
  const signer = toFacilitatorEvmSigner(
    {
      address: sender,
      readContract: (call) => {
        const read = { ...call, abi: call.abi as Abi, args: call.args ?? [] };
        if (call.functionName !== settling.functionName) return noting(client.readContract(read));
        notes.call = { to: call.address, data: encodeFunctionData(read) };
        // A contract may admit only the facilitator that the payer signed.
        return noting(client.readContract({ ...read, account: sender }));
      },
      // The package types typed data loosely; viem checks the parts when it hashes them.
      verifyTypedData: (data) => noting(isSigned(client, data as unknown as SignedData)),
      getCode: ({ address }) => noting(client.getCode({ address })),
      waitForTransactionReceipt: ({ hash }) => noting(awaitReceipt(deps, hash, notes)),
      sendTransaction: async () => {
        throw new Error("wallets are not deployed on a payer's behalf");
      },
      writeContract: async ({ address, abi, functionName, args, dataSuffix }) => {
        const call = encodeFunctionData({ abi: abi as Abi, functionName, args });
        const data = dataSuffix === undefined ? call : concatHex([call, dataSuffix]);
        if (deps.monotonicMs() >= notes.deadline) throw new Error("too late to settle");
        notes.order = "pending";
        return carryOut(deps, { authorization: payment, to: address, data }, notes);
      },
    },
    { confirmationTimeoutMs: deps.settleDeadlineMs ?? SETTLE_DEADLINE_MS },
  );
  return new x402Facilitator().register(network, settling.facilitator(signer));
}

type SignedData = TypedDataDefinition & { readonly address: Address; readonly signature: Hex };

/** viem answers false where the node fails as well: only the contract's own answer refuses a signature. */
async function isSigned(client: PublicClient, data: SignedData): Promise<boolean> {
  const { address, signature } = data;
  if (await client.verifyTypedData(data)) return true;
  return createContractSignatures(client)({ address, hash: hashTypedData(data), signature });
}

/** This node may be behind the sender's node. */
async function awaitReceipt({ client, monotonicMs }: LocalFacilitatorDeps, hash: Hex, { deadline }: Notes) {
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      const isMissing = error instanceof TransactionReceiptNotFoundError;
      if (!isMissing || monotonicMs() >= deadline) throw error;
    }
    await sleep(POLL_MS);
  }
}

/** Queues the call and waits until it is in a block; throws when it never will be, or at the deadline. */
async function carryOut(
  deps: LocalFacilitatorDeps,
  order: { readonly authorization: PresentedPayment; readonly to: Address; readonly data: Hex },
  notes: Notes,
): Promise<Hex> {
  const { scheme, asset, payer, nonce } = order.authorization;
  const id = await deps.queue.enqueue({ ...order, authorization: { scheme, asset, payer, nonce } });
  while (deps.monotonicMs() < notes.deadline) {
    const row = await deps.queue.read(id);
    if (row === null) throw new Error(`the order ${id} is gone`);
    if (row.state === "failed") {
      notes.order = row;
      throw new Error(row.error ?? "the transaction failed before it was sent");
    }
    if (row.minedHash !== null && isHash(row.minedHash)) {
      notes.order = row;
      return row.minedHash;
    }
    await sleep(POLL_MS);
  }
  throw new Error("the transaction is not in a block yet");
}
