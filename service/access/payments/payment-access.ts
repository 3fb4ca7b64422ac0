import type { Hex } from "viem";
import {
  type BoughtAnswer,
  type Charge,
  type ChargeTerms,
  OwedAnswer,
  type PaidRequest,
  type PayerCaller,
  type PresentedPayment,
  UNCHARGED,
} from "../access.ts";
import type { PaymentAccess } from "../create-access.ts";
import { unavailable } from "../problems.ts";
import {
  type ChargeDeps,
  callerOf,
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
  reportOf,
  settle,
  settlementPending,
  withDeadline,
} from "./payment-settlement.ts";
import { settlementHeader } from "./payment-terms.ts";
import type { StoredPayment } from "./payments.ts";

/** Access for wallets that pay per call by x402 v2: scheme exact, by EIP-3009. */
export function createPaymentAccess(deps: PaymentAccessDeps): PaymentAccess {
  // What a request's payment was used for before, from its identification on; an entry goes with its request.
  const used = new WeakMap<PaidRequest, StoredPayment>();
  return {
    async identify(request) {
      const identified = await identifyPayer(deps, request);
      if (identified?.row) used.set(request, identified.row);
      return identified === null ? null : identified.caller;
    },
    async recall(_caller, request) {
      const row = used.get(request);
      return row === undefined ? null : recallRow(deps, row, request);
    },
    async verify({ payment }, request) {
      if (used.has(request)) return;
      const paid = await verifyPayment(deps, payment, request);
      if (paid !== null) used.set(request, paid);
    },
    async take(caller, request, terms) {
      const row = used.get(request);
      return row === undefined
        ? takeNew(deps, caller, { request, terms })
        : takeOwed(deps, caller, { request, row, terms });
    },
    challenge: (request, error) => refusal(deps, request, error),
  };
}

/** What a used authorization is good for to its payer: its answer, or null where the work is owed. */
async function recallRow(
  deps: PaymentAccessDeps,
  row: StoredPayment,
  request: PaidRequest,
): Promise<BoughtAnswer | null> {
  if (row.fingerprint !== request.fingerprint()) {
    deps.metrics.count("already_used");
    throw await refusal(deps, request, "payment_already_used: this authorization has bought something else.");
  }
  if (row.state === "reserved") {
    throw row.deadline > deps.clock.now() ? inFlight(deps) : settlementPending(claimOf(request));
  }
  if (row.state === "settled") {
    if (row.deadline > deps.clock.now()) throw inFlight(deps);
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
    headers: settlementHeader({
      ...reportOf(callerOf(row).payment),
      success: true,
      transaction: transactionOf(row),
    }),
  };
}

/** Only a payment that was verified is stored: anybody can show one that is no good. */
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

/** Whether what is bought was noted; where it was not, the authorization is release again. */
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

/** The work again, without a charge. Who came by another proof than the claim gets a claim anew. */
async function takeOwed(
  deps: PaymentAccessDeps,
  { payment }: PayerCaller,
  {
    request,
    row,
    terms,
  }: { readonly request: PaidRequest; readonly row: StoredPayment; readonly terms: ChargeTerms },
): Promise<Charge> {
  const shown = claimOf(request);
  const isClaimed = shown !== null && hashProof(shown) === row.claimHash;
  const claim = isClaimed ? shown : newClaim(deps);
  if (!(await deps.store.reopen(row.id, isClaimed ? null : hashProof(claim)))) throw inFlight(deps);
  deps.metrics.count("repeated");
  const held = heldPayment(deps, { id: row.id, claim, payment, request });
  const charge = settledCharge(deps, held, transactionOf(row));
  try {
    if ((await terms.accept?.({ debitId: null, paymentId: row.id })) !== false) return charge;
  } catch (error) {
    throw new OwedAnswer((await charge.giveBack()) ?? claim, error);
  }
  // Somebody else's money bought it meanwhile: this one stays owed.
  await charge.giveBack();
  return UNCHARGED;
}

/** What settled it; throws for a row that no transaction settled. */
function transactionOf({ id, transactionHash }: StoredPayment): Hex {
  if (transactionHash === null) throw new Error(`payment ${id} is settled by no transaction`);
  // A column of text forgets that it holds a hash.
  return transactionHash as Hex;
}

/** Above what a facilitator needs for its own tries. */
const VERIFY_DEADLINE_MS = 20_000;

/**
 * Asks the facilitator whether a payment that was unused when the request came is good: null where it is. One that was carried out
 * meanwhile, by whoever has the signature, has paid us: its row is answered, settled and owed. Throws the 402 of any other that is no
 * good, the 409 of one that another request took meanwhile, and the 503 of one that nobody can tell of yet.
 */
async function verifyPayment(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  request: PaidRequest,
): Promise<StoredPayment | null> {
  const late = { kind: "unavailable", cause: new Error("no word of the verification in time") } as const;
  const verified = await withDeadline(VERIFY_DEADLINE_MS, deps.facilitator.verify(payment), late);
  switch (verified.kind) {
    case "valid":
      return null;
    case "invalid": {
      const row = await deps.store.find(payment);
      if (row !== null && row.state !== "released") throw inFlight(deps);
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

async function useOf(deps: PaymentAccessDeps, payment: PresentedPayment): Promise<PaymentUse> {
  try {
    return await findUse(deps, payment);
  } catch (error) {
    throw paymentsUnavailable(deps, error);
  }
}

/** Puts an authorization on recordSettlement that was carried out between the request and its verification. */
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
    throw await leaveToReconciliation(
      deps,
      held,
      new Error("the authorization is used, but by no payment that is seen yet"),
    );
  }
  deps.metrics.count("front_run");
  await recordSettlement(deps, held, use.transaction);
  await deps.store.lapse(held.id);
  return deps.store.find(payment);
}

/** Moves the money now; the charge is then kept with the answer, or owed. */
async function settleFirst(deps: ChargeDeps, held: HeldPayment): Promise<Charge> {
  await refuseCancelled(deps, held);
  return settledCharge(deps, held, await settle(deps, held));
}

/** Moves the money once the answer is there, which is withheld until then. */
function settleLast(deps: ChargeDeps, held: HeldPayment): Charge {
  return {
    async keep(answer) {
      await refuseCancelled(deps, held);
      return settledCharge(deps, held, await settle(deps, held)).keep(answer);
    },
    async giveBack() {
      await release(deps, held, "the work failed");
      return null;
    },
    cancelled: () => withheld(deps, held),
  };
}

/** The charge of a payment whose money has moved. */
function settledCharge(deps: ChargeDeps, held: HeldPayment, transaction: Hex): Charge {
  const { store, logger, metrics } = deps;
  const { id, claim, payment } = held;
  return {
    async keep(answer) {
      // What cannot be stored is given all the same: the money has moved, and a repeat does the work again.
      await store.answer(id, answer).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "paid answer not stored");
      });
      metrics.count("answered");
      return settlementHeader({ ...reportOf(payment), success: true, transaction });
    },
    async giveBack() {
      metrics.count("owed");
      await store.lapse(id).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "owed payment stays held until its deadline");
      });
      return claim;
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
