import { hash } from "node:crypto";
import type { PaymentPayload, SettleResponse } from "@x402/core/types";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import type { Logger } from "pino";
import type { AnswerHeaders, PaidRequest, PayerCaller, PresentedPayment } from "../access.ts";
import { idempotencyKeyOf, identifierReused } from "../idempotent-answers.ts";
import { Problem, unavailable } from "../problems.ts";
import type { PaymentFault, PaymentScheme, SchemeLedger } from "../schemes/scheme.ts";
import type { SignIn } from "../sign-in.ts";
import type { Facilitator } from "./facilitator.ts";
import type { createPaymentMetrics } from "./metrics.ts";
import type { PaymentChain } from "./payment-chain.ts";
import {
  type ContractPayers,
  isSignedByPayer,
  matchPayment,
  readPaymentHeader,
  untimely,
} from "./payment-header.ts";
import {
  describePayment,
  type FurtherExtra,
  listedAs,
  offersOf,
  PaymentRequiredError,
  type PaymentTerms,
  resourceOf,
} from "./payment-terms.ts";
import { isOwed, type PaymentStore, presentedOf, type StoredPayment } from "./payments.ts";

export type ChargeDeps = {
  readonly facilitator: Facilitator;
  readonly store: PaymentStore;
  readonly schemes: readonly PaymentScheme[];
  /** Of the schemes that have one, by name. */
  readonly ledgers: ReadonlyMap<string, SchemeLedger>;
  readonly chain: Pick<PaymentChain, "isUsed" | "findTransfer" | "fundsOf" | "finalBlock">;
  readonly metrics: ReturnType<typeof createPaymentMetrics>;
  readonly logger: Logger;
  readonly clock: { now(): Date };
  readonly settleDeadlineMs?: number;
};

export type PaymentAccessDeps = ChargeDeps & {
  readonly terms: PaymentTerms;
  /** Under which resources are named: scheme, host and port. */
  readonly origin: string;
  readonly contractPayers: ContractPayers;
  readonly signedInAddress: SignIn;
  readonly randomBytes: (size: number) => Uint8Array;
};

const RETRY_AFTER_SECONDS = 2;

/** The report of an attempted settlement, and what a client needs to go on. */
export type RefusalDetails = {
  readonly settlement: SettleResponse | null;
  readonly extra: FurtherExtra | null;
};

/** The 402 of a request, or a 503 if the terms cannot be read now. */
export async function refusal(
  { terms, origin }: PaymentAccessDeps,
  request: PaidRequest,
  error: string,
  { settlement = null, extra = null }: Partial<RefusalDetails> = {},
): Promise<Error> {
  try {
    const required = await describePayment(terms, resourceOf(request, origin), { error, extra });
    return new PaymentRequiredError(required, settlement);
  } catch (cause) {
    return nodeUnavailable(cause);
  }
}

/** The 409 of an authorization that another request holds; `settled` reports its settlement. */
export function inFlight({ metrics }: PaymentAccessDeps, settled: AnswerHeaders = {}): Problem {
  metrics.count("in_flight");
  return new Problem("payment-in-flight", "Another request is being served for this authorization.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS), ...settled },
  });
}

/** The 503 of a failing node. */
function nodeUnavailable(cause: unknown): Problem {
  return unavailable("payments-unavailable", "Payments cannot be checked now. Send the same request again.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** A payer. `row` is set if its payment was used before. Without a proof anyone could have copied that payment from the chain. */
type Identified = {
  readonly caller: PayerCaller;
  readonly row: StoredPayment | null;
  readonly isProven: boolean;
};

/**
 * Finds the payer of a request by its payment or proof; null if it carries neither. Throws a 400 for a malformed
 * payment, a 402 for one that does not match or that another payer used, and a 409 for one that another request holds.
 */
export async function identifyPayer(
  deps: PaymentAccessDeps,
  request: PaidRequest,
): Promise<Identified | null> {
  const header = request.header("payment-signature");
  if (header !== undefined && header !== "") return identifyByPayment(deps, request, header);
  const claim = claimOf(request);
  if (claim !== null) {
    const row = await deps.store.findByClaim(hashProof(claim));
    if (row !== null) return identifiedBy(deps, row);
    throw await refused(deps, request, "claim_unknown: no payment has this claim.");
  }
  const payer = await deps.signedInAddress(request);
  if (payer === null) return null;
  const row = await deps.store.findBought(payer, request.fingerprint());
  return row === null ? null : identifiedBy(deps, row);
}

/** The payer of a used payment, who has proved to be it. */
function identifiedBy({ schemes }: PaymentAccessDeps, row: StoredPayment): Identified {
  return { caller: payerOf(presentedOf(row, schemes)), row, isProven: true };
}

async function identifyByPayment(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  header: string,
): Promise<Identified> {
  const read = readPaymentHeader(header, deps.schemes);
  const accepts = await asked(offersOf(deps.terms, request));
  const resource = resourceOf(request, deps.origin);
  const listed = listedAs(resource);
  const payment = matchPayment(read, { accepts, resourceUrl: resource.url, listed });
  if (typeof payment === "string" || read.signed === null)
    throw await refused(deps, request, String(payment));
  const { scheme, signature } = read.signed;
  if (!(await asked(isSignedByPayer(scheme, { payment, signature }, deps.contractPayers)))) {
    const fault = `invalid_signature: it is not one of ${payment.payer} over this authorization.`;
    throw await refused(deps, request, fault);
  }
  const row = await deps.store.find(payment);
  if (row !== null && row.state !== "released") {
    const isProven = await requireOwn(deps, { row, request, payment });
    return { caller: payerOf(payment), row, isProven };
  }
  const ledger = deps.ledgers.get(payment.scheme);
  if (ledger === undefined) await requireUnused(deps, request, payment);
  else await requireCovered(deps, request, { payment, ledger });
  const repeated = await findRepeated(deps, request, payment);
  if (repeated !== null) return identifiedBy(deps, repeated);
  if (ledger === undefined) await requireFunds(deps, request, payment);
  return { caller: payerOf(payment), row: null, isProven: true };
}

/** The payer's account covers the payment, which was charged to none before. */
async function requireCovered(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  { payment, ledger }: { readonly payment: PresentedPayment; readonly ledger: SchemeLedger },
): Promise<void> {
  const fault = await asked(ledger.check(payment));
  if (fault === null) return;
  // Another request with this payment may have taken and charged it in between.
  const row = await deps.store.find(payment);
  if (row !== null && row.state !== "released") throw inFlight(deps);
  deps.metrics.count("refused");
  throw await refusedBy(deps, request, { payment, fault });
}

/** The authorization can be carried out now, and was not yet. */
async function requireUnused(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<void> {
  const fault = untimely(payment, deps.clock.now());
  if (fault !== null) throw await refused(deps, request, fault);
  if (await asked(deps.chain.isUsed(payment))) throw await spent(deps, request, payment);
}

/** The error of an authorization that was used elsewhere first: the caller may have copied it from the chain. */
async function spent(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<Error> {
  // Another request may have taken and settled it in between.
  const row = await deps.store.find(payment);
  if (row !== null && row.state !== "released") return inFlight(deps);
  return refused(deps, request, "payment_already_used: the token has seen this authorization before.");
}

/** A signature of a wallet without funds must open nothing: no rate limit, no row and no work. */
async function requireFunds(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<void> {
  const { balance, approved } = await asked(deps.chain.fundsOf(payment));
  if (balance >= payment.amount && approved >= payment.amount) return;
  // The money may have moved to us since; verification finds that.
  if (await asked(deps.chain.isUsed(payment))) return;
  const fault =
    balance < payment.amount
      ? `insufficient_funds: the payer has ${balance} of the token's smallest unit, and ${payment.amount} are expected.`
      : `permit2_allowance_required: the payer has approved ${approved} of the token's smallest unit for Permit2, and ${payment.amount} are expected.`;
  throw await refused(deps, request, fault);
}

/** Returns the node's answer; throws a 503 if the node fails. */
async function asked<Answer>(question: Promise<Answer>): Promise<Answer> {
  try {
    return await question;
  } catch (error) {
    throw nodeUnavailable(error);
  }
}

/**
 * Finds the earlier payment with the same payment identifier, or for the same request one with the same Idempotency-Key or one
 * whose answer is owed. Its purchase is not charged again. The caller holds an unused authorization and therefore is its signer.
 * Throws the 409 of an identifier that came with another request.
 */
async function findRepeated(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<StoredPayment | null> {
  const { idempotencyKeyHash, paymentIdentifierHash } = proofsOf(request, payment.payload);
  const fingerprint = request.fingerprint();
  const named =
    paymentIdentifierHash === null
      ? null
      : await deps.store.findIdentified(payment.payer, paymentIdentifierHash);
  if (named !== null && named.fingerprint !== fingerprint) throw identifierReused();
  if (named !== null) return named;
  const repeated =
    idempotencyKeyHash === null
      ? null
      : await deps.store.findRepeated(payment.payer, fingerprint, idempotencyKeyHash);
  return repeated ?? deps.store.findOwed(payment.payer, fingerprint);
}

/**
 * Before anything is counted against the payer: a used authorization is public, so anyone may show it. Returns whether the request
 * proved to be the payer's.
 */
async function requireOwn(
  deps: PaymentAccessDeps,
  use: {
    readonly row: StoredPayment;
    readonly request: PaidRequest;
    readonly payment: PresentedPayment;
  },
): Promise<boolean> {
  const { row, request, payment } = use;
  if (row.state === "reserved" && row.deadline > deps.clock.now()) throw inFlight(deps);
  const proofs = proofsOf(request, payment.payload);
  if (await isProven(row, request, { proofs, signedInAddress: deps.signedInAddress })) return true;
  // Others can copy it from the chain as well. They get no secret, and the payer has other proofs of what it is owed.
  if (isOwed(row, deps.clock.now()) && !request.showsSecret && row.fingerprint === request.fingerprint())
    return false;
  if (row.state === "reserved") throw inFlight(deps);
  deps.metrics.count("already_used");
  const ledger = deps.ledgers.get(payment.scheme);
  if (ledger !== undefined) {
    throw await refusedBy(deps, request, { payment, fault: await asked(ledger.usedFault(payment)) });
  }
  throw await refusal(
    deps,
    request,
    `payment_already_used: sign a new authorization, or prove that this one is yours by ${PROOFS}.`,
  );
}

async function refused(deps: PaymentAccessDeps, request: PaidRequest, error: string): Promise<Error> {
  deps.metrics.count("refused");
  return refusal(deps, request, error);
}

/** The refusal of a payment by its scheme's own ledger. */
function refusedBy(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  { payment, fault }: { readonly payment: PresentedPayment; readonly fault: PaymentFault },
): Promise<Error> {
  const extra = { scheme: payment.scheme, members: fault.extra };
  return refusal(deps, request, fault.error, { extra });
}

function payerOf(payment: PresentedPayment): PayerCaller {
  return { kind: "payer", address: payment.payer, payment };
}

/** 32 bytes in hexadecimal. */
const CLAIM = /^[0-9a-f]{64}$/i;
/** Base64 characters of 128 random bits. Others can guess a shorter key. */
const PROVING_CHARACTERS = 22;
/** The proofs, in words. */
export const PROOFS = `its claim in X-Payment-Claim, its payment identifier or Idempotency-Key of at least ${PROVING_CHARACTERS} characters (for POST /keys no Idempotency-Key), or a sign-in`;
/** This endpoint sells something as good as money. Logs and proxies see an Idempotency-Key, so that it is not enough proof. */
const KEY_SALE = "POST /keys";

/** Reads the possible proofs of a request, as hex SHA-256. Throws a 400 for a malformed claim or Idempotency-Key. */
export function proofsOf(request: Pick<PaidRequest, "header" | "endpoint">, payload: PaymentPayload | null) {
  const claim = claimOf(request);
  const key = idempotencyKeyOf(request);
  const identifier = payload === null ? null : extractPaymentIdentifier(payload, true);
  return {
    claimHash: claim === null ? null : hashProof(claim),
    idempotencyKeyHash: hashOf(key),
    paymentIdentifierHash: hashOf(identifier),
    /** Whether the Idempotency-Key or payment identifier is long enough to prove the sender. */
    keyProves: isLong(key) && request.endpoint !== KEY_SALE,
    identifierProves: isLong(identifier),
  };
}

/** The claim of the X-Payment-Claim header, lower-case; null without one. */
export function claimOf(request: Pick<PaidRequest, "header">): string | null {
  const claim = request.header("x-payment-claim");
  if (claim === undefined || claim === "") return null;
  if (CLAIM.test(claim)) return claim.toLowerCase();
  throw new Problem("header-malformed", "X-Payment-Claim: 64 hexadecimal digits were expected.");
}

/** How a proof is stored and compared. */
export function hashProof(proof: string): string {
  return hash("sha256", proof, "hex");
}

/**
 * Returns whether the request comes from the payer: by claim, payment identifier, Idempotency-Key (not for bought keys)
 * or sign-in. Identifier and key need 22 characters. The authorization itself proves nothing, since settlement
 * publishes it.
 */
export async function isProven(
  row: StoredPayment,
  request: PaidRequest,
  {
    proofs,
    signedInAddress,
  }: { readonly proofs: ReturnType<typeof proofsOf>; readonly signedInAddress: SignIn },
): Promise<boolean> {
  if (proofs.claimHash !== null && proofs.claimHash === row.claimHash) return true;
  if (proofs.keyProves && proofs.idempotencyKeyHash === row.idempotencyKeyHash) return true;
  if (proofs.identifierProves && proofs.paymentIdentifierHash === row.paymentIdentifierHash) return true;
  return (await signedInAddress(request)) === row.payer;
}

function hashOf(text: string | null): string | null {
  return text === null || text === "" ? null : hashProof(text);
}

function isLong(text: string | null): boolean {
  return text !== null && text.length >= PROVING_CHARACTERS;
}
