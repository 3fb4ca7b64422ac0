import {
  type Access,
  type BoughtAnswer,
  type Caller,
  type Charge,
  type ChargeTerms,
  OwedAnswer,
  type PaidRequest,
  type PayingCaller,
  type Settlement,
} from "../../access/access.ts";

import { addHeaders, answer } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";
import type { Deadline } from "./deadline.ts";
import type { Acceptance, CheckContext, Noted, PaidSpec, PaidWorkContext } from "./endpoint-spec.ts";
import type { RequestInput } from "./read-input.ts";

/** From this price on, settlement comes before the work, unless the endpoint decides otherwise. */
const SETTLE_FIRST_UNITS = 2000;

/** A priced request with a known caller and no stored answer. */
type PaidCall<Params, Query, Body, Deps> = {
  readonly input: RequestInput<Params, Query, Body>;
  readonly request: PaidRequest;
  readonly access: Access;
  /** Covers everything but the settlement, which is never interrupted. */
  readonly deadline: Deadline;
  /** Starts a new deadline, for work after the settlement. */
  startDeadline(): Deadline;
  readonly caller: Caller;
  readonly context: CheckContext<Deps>;
};

/**
 * Checks the request, proves that the caller can pay, prepares, charges, works and stores the answer, within the deadline. A
 * failure before the charge is final returns the price. Payment, charge and storage ignore the deadline, because each has its own.
 */
export async function servePaid<Params, Query, Body, Answer, Checked, Deps, Prepared>(
  context: ApiContext,
  spec: PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared>,
  call: PaidCall<Params, Query, Body, Deps>,
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
  try {
    return await answerPrepared(context, spec, {
      ...call,
      work,
      prepared,
      begin: (doing, settlement) => {
        working = doing;
        return (settlement === "before" ? call.startDeadline() : deadline).wait(doing);
      },
    });
  } finally {
    // Work that missed its deadline still uses what was prepared.
    working.then(release, release);
  }
}

/** The caller, proven able to pay. A key of any balance passes if another caller may have bought the answer already. */
async function payingCaller<Params, Query, Body, Answer, Checked, Deps, Prepared>(
  { boughtMeanwhile }: PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared>,
  { access, caller, request }: PaidCall<Params, Query, Body, Deps>,
): Promise<PayingCaller> {
  if (boughtMeanwhile !== undefined && caller.kind === "key") return caller;
  return access.prove(caller, request);
}

/** An endpoint without `prepare` works with the result of its check: the default type of PaidSpec says so. */
async function onlyChecked<Checked, Prepared>(checked: Checked): Promise<Prepared> {
  return checked as unknown as Prepared;
}

type PreparedCall<Params, Query, Body, Prepared, Deps> = PaidCall<Params, Query, Body, Deps> & {
  readonly work: PaidWorkContext<Deps>;
  readonly prepared: Prepared;
  /** Waits for work until the deadline; a settlement before the work starts a new deadline. */
  begin<Result>(doing: Promise<Result>, settlement: Settlement): Promise<Result>;
};

async function answerPrepared<Params, Query, Body, Answer, Checked, Deps, Prepared>(
  context: ApiContext,
  spec: PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared>,
  { input, prepared, request, access, work, begin }: PreparedCall<Params, Query, Body, Prepared, Deps>,
): Promise<Response> {
  const settlement =
    spec.settlement?.(input, prepared) ?? (request.units >= SETTLE_FIRST_UNITS ? "before" : "after");
  const render = async (answer: Answer) => (await spec.render?.(answer, input, work)) ?? json(answer);
  const there = spec.bought?.(prepared) ?? null;
  if (there !== null) return answerFree(there);
  const note = noteFor(spec, { input, prepared, work, request });
  try {
    const charge = await access.take(work.caller, request, { settlement, ...note.terms });
    const found = note.bought();
    if (found !== null) return await answerFree(found);
    const { bought, kept } = await charged(charge, request, () => begin(doWork(charge), settlement));
    addHeaders(context, await charge.keep(kept));
    return answerBought(context, bought);
  } catch (error) {
    await note.withdraw();
    throw error;
  }

  async function doWork({ debitId }: Charge) {
    const taken = { debitId: debitId ?? null, noted: note.noted() };
    const answer = await spec.work(input, prepared, { ...work, ...taken });
    const bought = await render(answer);
    return {
      bought,
      kept: spec.withoutSecrets === undefined ? bought : await render(spec.withoutSecrets(answer)),
    };
  }

  async function answerFree(answer: Answer): Promise<Response> {
    const free = await render(answer);
    await access.keepFree(work.caller, request, free);
    return answerBought(context, free);
  }
}

/** Runs paid work. On failure the price is returned, or the error carries a claim to the owed answer. */
async function charged<Result>(
  charge: Charge,
  { signal }: PaidRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const claim = await charge.giveBack();
    if (claim !== null) throw new OwedAnswer(claim, error);
    throw (signal.aborted ? await charge.cancelled?.() : null) ?? error;
  }
}

function json(answer: unknown): BoughtAnswer {
  return { contentType: "application/json", body: JSON.stringify(answer) };
}

/** The response of a bought answer, new or repeated. */
export function answerBought(context: ApiContext, { contentType, body, headers }: BoughtAnswer): Response {
  return answer(context, { status: 200, body, headers: { ...headers, "content-type": contentType } });
}

/** State of the purchase of one request. */
type PurchaseNote<Answer> = {
  /** Callbacks for access; empty if the endpoint has no `accept`. */
  readonly terms: Pick<ChargeTerms, "accept" | "isThere">;
  /** The note; null before it is made. */
  noted(): Noted | null;
  /** The answer that another caller bought before; else null. */
  bought(): Answer | null;
  /** Removes the note if there is one. Never throws. */
  withdraw(): Promise<void>;
};

/** Connects the purchase hooks of an endpoint with access. */
function noteFor<Params, Query, Body, Answer, Checked, Deps, Prepared>(
  spec: PaidSpec<Params, Query, Body, Answer, Checked, Deps, Prepared>,
  call: {
    readonly input: RequestInput<Params, Query, Body>;
    readonly prepared: Prepared;
    readonly work: PaidWorkContext<Deps>;
    readonly request: PaidRequest;
  },
): PurchaseNote<Answer> {
  const { accept, boughtMeanwhile } = spec;
  const { input, prepared, work, request } = call;
  const found: { acceptance: Acceptance<Answer> | null } = { acceptance: null };
  const noted = () => (found.acceptance?.kind === "noted" ? found.acceptance : null);
  return {
    terms: {
      ...(accept && {
        async accept(hold) {
          found.acceptance = await accept(input, prepared, { ...work, ...hold, signal: request.signal });
          return found.acceptance.kind === "noted";
        },
      }),
      ...(boughtMeanwhile && {
        async isThere() {
          const answer = await boughtMeanwhile(prepared, { ...work, signal: request.signal });
          if (answer !== null) found.acceptance = { kind: "bought", answer };
          return answer !== null;
        },
      }),
    },
    noted,
    bought: () => (found.acceptance?.kind === "bought" ? found.acceptance.answer : null),
    async withdraw() {
      const id = noted()?.id ?? null;
      if (id !== null) await spec.withdraw?.(id, work);
    },
  };
}
