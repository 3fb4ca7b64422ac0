import type { Hex } from "viem";
import type { BoughtAnswer, Charge, ChargeTerms, PaidRequest, PayerCaller } from "../access.ts";
import type { PaymentAccess } from "../create-access.ts";
import { OwedAnswer } from "../owed-answer.ts";
import { settledCharge, settleFirst, settleLast, UNCHARGED } from "./payment-charge.ts";
import { inFlight, type PaymentAccessDeps, refusal } from "./payment-context.ts";
import { heldPayment, holdPayment, newClaim } from "./payment-hold.ts";
import { callerOf, identifyPayer } from "./payment-identity.ts";
import { claimOf, hashProof } from "./payment-proof.ts";
import { settlementHeader } from "./payment-required.ts";
import { free, type HeldPayment, reportOf, settlementPending } from "./payment-settlement.ts";
import { verifyPayment } from "./payment-verification.ts";
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

/** Whether what is bought was noted; where it was not, the authorization is free again. */
async function isAccepted(
  deps: PaymentAccessDeps,
  held: HeldPayment,
  { accept }: ChargeTerms,
): Promise<boolean> {
  try {
    if ((await accept?.({ debitId: null, paymentId: held.id })) !== false) return true;
  } catch (error) {
    await free(deps, held, "what it was to buy was not accepted");
    throw error;
  }
  await free(deps, held, "what it was to buy is there already");
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
