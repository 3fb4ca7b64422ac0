import type { Address } from "viem";
import {
  type Access,
  type BoughtAnswer,
  type Caller,
  type Charge,
  type ChargeTerms,
  OwedAnswer,
  type PaidRequest,
  type PayingCaller,
} from "../../access/access.ts";
import { lowerCase } from "../../db/columns.ts";
import { addHeaders, answer } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";
import type { Deadline } from "./deadline.ts";
import type {
  CheckContext,
  KitServices,
  PaidWorkContext,
  PaymentTerms,
  Sale,
  SaleSpec,
} from "./endpoint-spec.ts";
import type { RequestInput } from "./read-input.ts";

/** A priced request with a known caller and no stored answer. */
type PaidCall<Needs, Params, Query, Body> = {
  readonly input: RequestInput<Params, Query, Body>;
  readonly request: PaidRequest;
  readonly access: Access;
  /** Covers everything but the settlement, which is never interrupted. */
  readonly deadline: Deadline;
  /** Starts a new deadline, for work after the settlement. */
  startDeadline(): Deadline;
  readonly caller: Caller;
  readonly context: CheckContext<Needs>;
};

/**
 * Checks the request, proves that the caller can pay, prepares and sells, within the deadline. Payment, charge and storage ignore
 * the deadline, because each has its own.
 */
export async function servePaid<Needs, Params, Query, Body, Answer, Checked, Prepared>(
  context: ApiContext,
  spec: SaleSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>,
  call: PaidCall<Needs, Params, Query, Body>,
): Promise<Response> {
  const { input, deadline, request } = call;
  const checked = await deadline.wait(spec.check(input, { ...call.context, caller: call.caller }));
  const caller = await payingCaller(spec, call);
  const work = { ...call.context, caller, header: request.header };
  const preparing = spec.prepare?.(input, checked, work) ?? onlyChecked<Checked, Prepared>(checked);
  const prepared = await deadline.wait(preparing);
  const begin: Begin = (doing, settlement) =>
    (settlement === "before" ? call.startDeadline() : deadline).wait(doing);
  return spec.sell(input, prepared, saleOf(context, spec, { ...call, work, begin }));
}

/** Waits for work until the deadline; a settlement before the work starts a new deadline. */
type Begin = <Result>(doing: Promise<Result>, settlement: ChargeTerms["settlement"]) => Promise<Result>;

/** The caller, proven able to pay, except for a key where its answer may be free. */
async function payingCaller(
  { payment }: { readonly payment?: PaymentTerms },
  {
    access,
    caller,
    request,
  }: Pick<PaidCall<unknown, unknown, unknown, unknown>, "access" | "caller" | "request">,
): Promise<PayingCaller> {
  return payment?.keys === "poor too" && caller.kind === "key" ? caller : access.prove(caller, request);
}

/** An endpoint without `prepare` works with the result of its check: the default type of its spec says so. */
async function onlyChecked<Checked, Prepared>(checked: Checked): Promise<Prepared> {
  return checked as unknown as Prepared;
}

function saleOf<Needs, Params, Query, Body, Answer, Checked, Prepared>(
  context: ApiContext,
  spec: SaleSpec<Needs, Params, Query, Body, Answer, Checked, Prepared>,
  call: PaidCall<Needs, Params, Query, Body> & {
    readonly work: PaidWorkContext<Needs>;
    readonly begin: Begin;
  },
): Sale<Needs, Answer> {
  const { request, access, work, begin } = call;
  const { price } = spec;
  return {
    ...work,
    request,
    isOwed: access.isOwed(work.caller, request),
    async free(answer) {
      return answerBought(context, await access.keepFree(work.caller, request, json(answer)));
    },
    async take(terms) {
      const charge = await access.take(work.caller, request, terms);
      return {
        debitId: charge.debitId ?? null,
        async deliver(doWork, render = async (answer) => json(answer)) {
          const doing = async () => {
            const answer = await doWork();
            const bought = await render(answer);
            return {
              answer,
              bought,
              meteredUnits: "metered" in price ? price.metered(answer) : undefined,
              stored: spec.withoutSecrets === undefined ? bought : await render(spec.withoutSecrets(answer)),
            };
          };
          const { answer, bought, stored, meteredUnits } = await charged(charge, request, () =>
            begin(doing(), terms.settlement),
          );
          addHeaders(context, await charge.keep(stored, meteredUnits));
          for (const wallet of spec.interestIn?.(answer) ?? []) noteInterest(wallet, work.deps);
          return answerBought(context, bought);
        },
      };
    },
  };
}

/** Runs paid work. On failure the price is returned, or the error carries a claim to the owed answer. */
async function charged<Result>(
  charge: Charge,
  request: PaidRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const owed = await charge.giveBack();
    if (owed !== null) throw new OwedAnswer(owed, error);
    throw (request.signal.aborted ? await charge.cancelled?.() : null) ?? error;
  }
}

/** Does not wait. A failure is logged and does not fail the answer. */
function noteInterest(wallet: string, { recordInterest, logger }: KitServices): void {
  recordInterest(lowerCase(wallet as Address)).catch((error: unknown) => {
    logger.warn({ err: error, wallet }, "interest not recorded");
  });
}

function json(answer: unknown): BoughtAnswer {
  return { contentType: "application/json", body: JSON.stringify(answer) };
}

/** The response of a bought answer, new or repeated. */
export function answerBought(context: ApiContext, { contentType, body, headers }: BoughtAnswer): Response {
  return answer(context, { status: 200, body, headers: { ...headers, "content-type": contentType } });
}
