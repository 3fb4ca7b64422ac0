import type { Address } from "viem";
import {
  type BoughtAnswer,
  type Caller,
  type Charge,
  type ChargeTerms,
  OwedAnswer,
  type PaidRequest,
  type PayingCaller,
} from "../../access/access.ts";
import type { Access } from "../../access/create-access.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Services } from "../services.ts";
import { addHeaders, answer } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";
import type { Deadline } from "./deadline.ts";
import type { CheckContext, PaidWorkContext, Sale, SaleSpec } from "./endpoint-spec.ts";
import type { RequestInput } from "./read-input.ts";

/** A priced request with a known caller and no stored answer. */
type PaidCall<Params, Query, Body> = {
  readonly input: RequestInput<Params, Query, Body>;
  readonly request: PaidRequest;
  readonly access: Access;
  /** Covers everything but the settlement, which is never interrupted. */
  readonly deadline: Deadline;
  /** Starts a new deadline, for work after the settlement. */
  startDeadline(): Deadline;
  readonly caller: Caller;
  readonly context: CheckContext;
};

/**
 * Checks the request, proves that the caller can pay, prepares and sells, within the deadline. Payment, charge and storage ignore
 * the deadline, because each has its own.
 */
export async function servePaid<Params, Query, Body, Answer, Checked, Prepared>(
  context: ApiContext,
  spec: SaleSpec<Params, Query, Body, Answer, Checked, Prepared>,
  call: PaidCall<Params, Query, Body>,
): Promise<Response> {
  const { input, deadline, request } = call;
  const checked = await deadline.wait(spec.check(input, call.context));
  const caller = await payingCaller(spec, call);
  const work = { ...call.context, caller, header: request.header };
  const preparing = spec.prepare?.(input, checked, work) ?? onlyChecked<Checked, Prepared>(checked);
  const release = (): void => {
    // Release only what was prepared.
    preparing.then(
      (prepared) => spec.release?.(prepared),
      () => undefined,
    );
  };
  let prepared: Prepared;
  try {
    prepared = await deadline.wait(preparing);
  } catch (error) {
    release();
    throw error;
  }
  let working: Promise<unknown> = Promise.resolve();
  const begin: Begin = (doing, settlement) => {
    working = doing;
    return (settlement === "before" ? call.startDeadline() : deadline).wait(doing);
  };
  try {
    return await spec.sell(input, prepared, saleOf(context, spec, { ...call, work, begin }));
  } finally {
    // Work that missed its deadline still uses what was prepared.
    working.then(release, release);
  }
}

/** Waits for work until the deadline; a settlement before the work starts a new deadline. */
type Begin = <Result>(doing: Promise<Result>, settlement: ChargeTerms["settlement"]) => Promise<Result>;

/** The caller, proven able to pay, except for a key where its answer may be free. */
async function payingCaller(
  { takesPoorKeys }: { readonly takesPoorKeys?: true },
  { access, caller, request }: Pick<PaidCall<unknown, unknown, unknown>, "access" | "caller" | "request">,
): Promise<PayingCaller> {
  return takesPoorKeys && caller.kind === "key" ? caller : access.prove(caller, request);
}

/** An endpoint without `prepare` works with the result of its check: the default type of its spec says so. */
async function onlyChecked<Checked, Prepared>(checked: Checked): Promise<Prepared> {
  return checked as unknown as Prepared;
}

function saleOf<Params, Query, Body, Answer, Checked, Prepared>(
  context: ApiContext,
  spec: SaleSpec<Params, Query, Body, Answer, Checked, Prepared>,
  call: PaidCall<Params, Query, Body> & { readonly work: PaidWorkContext; readonly begin: Begin },
): Sale<Answer> {
  const { input, request, access, work, begin } = call;
  const render = async (answer: Answer) => (await spec.render?.(answer, input, work)) ?? json(answer);
  return {
    ...work,
    request,
    isOwed: access.isOwed(work.caller, request),
    async free(answer) {
      const free = await render(answer);
      return answerBought(context, await access.keepFree(work.caller, request, free));
    },
    async take(terms) {
      const charge = await access.take(work.caller, request, terms);
      return {
        debitId: charge.debitId ?? null,
        async deliver(doWork) {
          const doing = async () => {
            const answer = await doWork();
            const bought = await render(answer);
            return {
              answer,
              bought,
              meteredUnits: spec.meteredUnits?.(answer),
              kept: spec.withoutSecrets === undefined ? bought : await render(spec.withoutSecrets(answer)),
            };
          };
          const { answer, bought, kept, meteredUnits } = await charged(charge, request, () =>
            begin(doing(), terms.settlement),
          );
          addHeaders(context, await charge.keep(kept, meteredUnits));
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
function noteInterest(wallet: string, { recordInterest, logger }: Services): void {
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
