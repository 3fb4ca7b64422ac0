import type { Hex } from "viem";
import {
  type AnswerHeaders,
  type BoughtAnswer,
  type Charge,
  type ChargeTerms,
  chargeHeaders,
  OwedAnswer,
  type PaidRequest,
  type PayerCaller,
  type PresentedPayment,
  UNCHARGED,
} from "../access.ts";
import { unavailable } from "../problems.ts";
import {
  type ChargeDeps,
  claimOf,
  hashProof,
  identifyPayer,
  inFlight,
  type PaymentAccessDeps,
  refusal,
} from "./payment-identity.ts";
import {
  askSettlement,
  findUse,
  type HeldPayment,
  heldPayment,
  holdPayment,
  leaveToReconciliation,
  newClaim,
  type PaymentUse,
  paymentsUnavailable,
  reasonFor,
  recordSettlement,
  release,
  type SettledPayment,
  settle,
  settledHeaders,
  settlementPending,
  withDeadline,
} from "./payment-settlement.ts";
import { atomicPrice, unitsOf } from "./payment-terms.ts";
import { isOwed, presentedOf, type StoredPayment } from "./payments.ts";

export type PaymentAccess = ReturnType<typeof createPaymentAccess>;

/** Access for wallets that pay per call by x402 v2, by any of its schemes that are offered. */
export function createPaymentAccess(deps: PaymentAccessDeps) {
  // The stored row of a request whose payment was used before, set by `identify` and `verify`. An entry lives as long as its request.
  const used = new WeakMap<PaidRequest, StoredPayment>();
  /** Requests that show a used payment without a proof. */
  const unproven = new WeakSet<PaidRequest>();
  return {
    /** Returns null if the request carries no payment. Throws a 400 for a malformed one and a 402 for one that does not match. */
    async identify(request: PaidRequest): Promise<PayerCaller | null> {
      const identified = await identifyPayer(deps, request);
      if (identified?.row) used.set(request, identified.row);
      if (identified?.isProven === false) unproven.add(request);
      return identified === null ? null : identified.caller;
    },
    /**
     * Returns what the payment bought before, if the caller proves to be its payer. Throws the 402 or 409 of a payment
     * that is used or in use.
     */
    async recall(_caller: PayerCaller, request: PaidRequest): Promise<BoughtAnswer | null> {
      const row = used.get(request);
      return row === undefined ? null : recallRow(deps, row, request);
    },
    /** Throws the 402 or 503 of an invalid payment. A payment that was used before is not verified again. */
    async verify({ payment }: PayerCaller, request: PaidRequest): Promise<void> {
      if (used.has(request)) return;
      const paid = await verifyPayment(deps, payment, request);
      if (paid !== null) used.set(request, paid);
    },
    /** Whether the payment of a verified request was carried out before, so that its answer is owed. */
    isOwed: (request: PaidRequest): boolean => used.has(request),
    /** The report of the payment of a request, if it was settled before. */
    async report(request: PaidRequest): Promise<AnswerHeaders> {
      const row = used.get(request);
      return row === undefined ? {} : reportOf(deps, row, request);
    },
    /** Whether the earlier request of a used payment has ended: it is answered, or owed. */
    hasEnded(request: PaidRequest): boolean {
      const row = used.get(request);
      return row !== undefined && (row.state === "answered" || isOwed(row, deps.clock.now()));
    },
    /** Expects a payment that was verified for this request. */
    async take(caller: PayerCaller, request: PaidRequest, terms: ChargeTerms): Promise<Charge> {
      const row = used.get(request);
      return row === undefined
        ? takeNew(deps, caller, { request, terms })
        : takeOwed(deps, caller, { request, row, terms, isProven: !unproven.has(request) });
    },
    /** The 402 with the price and the reason of the refusal. */
    challenge: (request: PaidRequest, error: string) => refusal(deps, request, error),
  };
}

/** Returns the stored answer of a used authorization to its payer, or null if the work is owed. */
async function recallRow(
  deps: PaymentAccessDeps,
  row: StoredPayment,
  request: PaidRequest,
): Promise<BoughtAnswer | null> {
  if (row.fingerprint !== request.fingerprint()) {
    deps.metrics.count("already_used");
    throw await refusal(deps, request, "payment_already_used: this authorization has bought something else.");
  }
  if (isReturned(row)) {
    throw await refusal(
      deps,
      request,
      "payment_returned: this payment goes back to its payer from the escrow. Sign a new one.",
    );
  }
  if (row.state === "reserved") {
    throw row.deadline > deps.clock.now() ? inFlight(deps) : settlementPending(claimOf(request));
  }
  if (row.state === "settled") {
    if (row.deadline > deps.clock.now()) throw inFlight(deps, await reportOf(deps, row, request));
    return null;
  }
  if (row.state === "lost") {
    throw await refusal(
      deps,
      request,
      "payment_lost: a reorganisation of the chain took this payment back. Sign a new one.",
    );
  }
  if (row.answerType === null || row.answerBody === null) {
    throw await refusal(deps, request, "payment_already_used: its answer was kept for a day.");
  }
  deps.metrics.count("repeated");
  return {
    contentType: row.answerType,
    body: new Uint8Array(row.answerBody),
    headers: { ...(await reportOf(deps, row, request)), ...chargeHeaders(0) },
  };
}

/** The headers that report the settlement of a row. */
function reportOf(deps: PaymentAccessDeps, row: StoredPayment, request: PaidRequest) {
  return settledHeaders(deps, request, { payment: presentedOf(row), transaction: transactionOf(deps, row) });
}

/** Whether the escrow gives the money back and nothing was delivered for it. */
function isReturned({ captureState, answerBody }: StoredPayment): boolean {
  return (captureState === "voiding" || captureState === "voided") && answerBody === null;
}

/** Only a verified payment is stored: anyone can show an invalid one. */
async function takeNew(
  deps: PaymentAccessDeps,
  caller: PayerCaller,
  { request, terms }: { readonly request: PaidRequest; readonly terms: ChargeTerms },
): Promise<Charge> {
  const { settlement } = terms;
  const held = await holdPayment(deps, caller.payment, { request, settlement });
  if (!(await isAccepted(deps, held, terms))) return UNCHARGED;
  return settlement === "before" ? settleFirst(deps, held) : settleLast(deps, held);
}

/** Returns false if the purchase was not stored; the authorization is then released. */
async function isAccepted(
  deps: PaymentAccessDeps,
  held: HeldPayment,
  { accept }: ChargeTerms,
): Promise<boolean> {
  try {
    if ((await accept?.({ debitId: null, paymentId: held.id })) !== false) return true;
  } catch (error) {
    await release(deps, held, "what it was to buy was not accepted");
    throw error;
  }
  await release(deps, held, "what it was to buy is there already");
  return false;
}

/**
 * Runs owed work again without a charge. A caller with another proof than the claim gets a new claim. One without a proof gets none, and
 * the payer's claim stays good.
 */
async function takeOwed(
  deps: PaymentAccessDeps,
  { payment }: PayerCaller,
  {
    request,
    row,
    terms,
    isProven,
  }: {
    readonly request: PaidRequest;
    readonly row: StoredPayment;
    readonly terms: ChargeTerms;
    readonly isProven: boolean;
  },
): Promise<Charge> {
  const shown = claimOf(request);
  const isClaimed = shown !== null && hashProof(shown) === row.claimHash;
  const fresh = isClaimed || !isProven ? null : newClaim(deps);
  const claim = isClaimed ? shown : fresh;
  if (!(await deps.store.reopen(row.id, fresh === null ? null : hashProof(fresh)))) throw inFlight(deps);
  deps.metrics.count("repeated");
  const held = heldPayment(deps, { id: row.id, claim, payment, request });
  const settled = { payment: presentedOf(row), transaction: transactionOf(deps, row) };
  const charge = settledCharge(deps, held, settled);
  try {
    if ((await terms.accept?.({ debitId: null, paymentId: row.id })) !== false) return charge;
  } catch (error) {
    const owed = await charge.giveBack();
    throw owed === null ? error : new OwedAnswer(owed, error);
  }
  // Another payment has bought it already: this one stays owed.
  await charge.giveBack();
  return UNCHARGED;
}

/** The transaction that settled a payment; null for a charge of a ledger alone. Throws for another row without one. */
function transactionOf(
  { ledgers }: PaymentAccessDeps,
  { id, scheme, transactionHash }: StoredPayment,
): Hex | null {
  if (transactionHash === null && !ledgers.has(scheme))
    throw new Error(`payment ${id} is settled by no transaction`);
  return transactionHash;
}

/** Longer than a facilitator's own retries take. */
const VERIFY_DEADLINE_MS = 20_000;

/**
 * Asks the facilitator about a payment that was unused at the start of the request. Returns null if it is valid. If a
 * third party has carried it out since, we are paid: returns its row, settled and owed. Throws a 402 for an invalid
 * payment, a 409 if another request took it, and a 503 if its state is unknown.
 */
async function verifyPayment(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  request: PaidRequest,
): Promise<StoredPayment | null> {
  const worth = await worthOf(deps, payment);
  if (worth === null) return null;
  const late = { kind: "unavailable", cause: new Error("no word of the verification in time") } as const;
  const verified = await withDeadline(VERIFY_DEADLINE_MS, deps.facilitator.verify(payment, worth), late);
  switch (verified.kind) {
    case "valid":
      return null;
    case "invalid": {
      const row = await deps.store.find(payment);
      if (row !== null && row.state !== "released") throw inFlight(deps);
      const ledger = deps.ledgers.get(payment.scheme);
      if (ledger !== undefined) {
        deps.metrics.count("refused");
        throw await refusal(
          deps,
          request,
          `${verified.reason}: ${ledger.brings} does not pass verification.`,
        );
      }
      const use = await useOf(deps, payment);
      if (use.kind === "paid" || use.kind === "open") return takeUsed(deps, payment, { request, use });
      deps.metrics.count("refused");
      const reason = await reasonFor(deps, payment, verified.reason);
      throw await refusal(deps, request, `${reason}: the payment does not pass verification.`);
    }
    case "dear": {
      deps.metrics.count("too_dear");
      const { detail, retryAfterSeconds } = verified;
      throw unavailable("settlement-too-dear", detail, { retryAfterSeconds });
    }
    case "unavailable":
      throw paymentsUnavailable(deps, verified.cause);
  }
}

/** The amount that the gas of a payment's settlement is compared with; null for one that brings nothing to a ledger, which is checked. */
async function worthOf(deps: PaymentAccessDeps, payment: PresentedPayment): Promise<bigint | null> {
  const ledger = deps.ledgers.get(payment.scheme);
  if (ledger === undefined) return payment.amount;
  try {
    return await ledger.worth(payment);
  } catch (error) {
    throw paymentsUnavailable(deps, error);
  }
}

async function useOf(deps: PaymentAccessDeps, payment: PresentedPayment): Promise<PaymentUse> {
  try {
    return await findUse(deps, payment);
  } catch (error) {
    throw paymentsUnavailable(deps, error);
  }
}

/** Records an authorization that was carried out between the request and its verification. */
async function takeUsed(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  {
    request,
    use,
  }: {
    readonly request: PaidRequest;
    readonly use: Extract<PaymentUse, { readonly kind: "paid" | "open" }>;
  },
): Promise<StoredPayment | null> {
  const held = await holdPayment(deps, payment, { request, settlement: "before" });
  await askSettlement(deps, held);
  if (use.kind === "open") {
    const cause = new Error("the authorization is used, but by no payment that is seen yet");
    throw await leaveToReconciliation(deps, held, { cause });
  }
  deps.metrics.count("front_run");
  await recordSettlement(deps, held, { payment, transaction: use.transaction });
  await deps.store.lapse(held.id);
  return deps.store.find(payment);
}

/** Moves the money now; the charge is then answered or owed. */
async function settleFirst(deps: ChargeDeps, held: HeldPayment): Promise<Charge> {
  await refuseCancelled(deps, held);
  return settledCharge(deps, held, await settle(deps, held));
}

/** Moves the money after the work; the answer is withheld until then. */
function settleLast(deps: ChargeDeps, held: HeldPayment): Charge {
  return {
    async keep(answer, meteredUnits) {
      await refuseCancelled(deps, held);
      const amount = takenOf(held.payment, meteredUnits);
      if (amount > 0n) return settledCharge(deps, held, await settle(deps, held, amount)).keep(answer);
      await release(deps, held, "the answer costs nothing");
      return chargeHeaders(0);
    },
    async giveBack() {
      await release(deps, held, "the work failed");
      return null;
    },
    cancelled: () => withheld(deps, held),
  };
}

/** The amount to take for an answer: never more than the payer signed. */
function takenOf({ taking, amount }: PresentedPayment, meteredUnits: number | undefined): bigint {
  if (taking !== "metered" || meteredUnits === undefined) return amount;
  const metered = meteredUnits === 0 ? 0n : atomicPrice(meteredUnits);
  return metered < amount ? metered : amount;
}

/** The charge of a payment whose money has moved. */
function settledCharge(deps: ChargeDeps, held: HeldPayment, settled: SettledPayment): Charge {
  const { store, logger, metrics } = deps;
  const { id, claim, reportSettled } = held;
  return {
    async keep(answer) {
      // The answer is sent even if storing it fails: the money has moved, and a repeat does the work again.
      await store.answer(id, answer).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "paid answer not stored");
      });
      metrics.count("answered");
      const units = unitsOf(BigInt(settled.payment.requirements.amount));
      return { ...(await reportSettled(settled)), ...chargeHeaders(units) };
    },
    async giveBack() {
      metrics.count("owed");
      await store.lapse(id).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "owed payment stays held until its deadline");
      });
      return { claim, headers: await reportSettled(settled) };
    },
  };
}

async function refuseCancelled(deps: ChargeDeps, held: HeldPayment): Promise<void> {
  if (!held.request.signal.aborted) return;
  await release(deps, held, "the request was cancelled before settlement");
  throw await withheld(deps, held);
}

function withheld({ metrics }: ChargeDeps, { refuse }: HeldPayment): Promise<Error> {
  metrics.count("withheld");
  return refuse("request_cancelled: the request ended before this service asked for its settlement.");
}
