import { z } from "@hono/zod-openapi";
import type { StoredSpec } from "../../store/job-specs.ts";
import type { Acceptance, OutputDraft, Purchaser, VerdictStanding } from "../../verdicts/accept-output.ts";
import { ownerOf, ownerText } from "../access/owner.ts";
import { type AcceptContext, definePaid, type PaidWorkContext } from "../endpoint.ts";
import { Problem, unavailable } from "../problems.ts";
import { ValidationFailed } from "../validation/validation-failed.ts";
import { type OutputBody, outputBodySchema, type SubmittedAnswer, submittedSchema } from "./output-schema.ts";
import { type Bind, placeOutput } from "./place-output.ts";
import { fault } from "./spec-schema.ts";

/** What takes outputs in. */
export type OutputPorts = {
  readonly outputs: {
    spec(id: string): Promise<StoredSpec | null>;
    readonly bind: Bind;
    /** The accepted verdict of a slot; null where the output has to be bought. */
    find(slot: string): Promise<VerdictStanding | null>;
    accept(draft: OutputDraft, purchaser: Purchaser & { readonly signal: AbortSignal }): Promise<Acceptance>;
    activate(verdictId: string): Promise<VerdictStanding>;
    /** Never throws. */
    withdraw(verdictId: string): Promise<void>;
    /** What the panel may use; null where no model is configured. */
    readonly budget: {
      readonly tokensPerDay: number;
      usedSince(moment: Date): Promise<number>;
    } | null;
  };
  /** Why the guard refuses a URL; null where it does not. */
  readonly refuseUrl: (url: string) => Promise<string | null>;
};

/** Where an output belongs, and the verdict that is there already; null for a caller who can only be told the price. */
type Prepared = { readonly draft: OutputDraft; readonly standing: VerdictStanding | null } | null;

type Work = PaidWorkContext<OutputPorts>;

const UNITS = 500;
const DAY_MS = 86_400_000;
const RETRY_AFTER_SECONDS = 5;
const NOT_CONFIGURED_RETRY_SECONDS = 3_600;

/** POST /v1/outputs. */
export const postOutputs = definePaid({
  method: "post",
  path: "/v1/outputs",
  price: UNITS,
  settlement: () => "before",
  tag: "Verification",
  summary: "Have a delivered output judged",
  description:
    "Has a panel of six roles judge an output by its specification, for 0.50 USD, settled before the work; the verdict is polled at `GET /v1/verdicts/{verdict_id}` or told to `webhook_url`. There is one verdict of an output: posting it again answers the one that there is, uncharged, whoever posts it; while another submission of it is being paid it is waited for, up to a 409. Where the specification is bound to a job, that is one of the job and its deliverable, `provider_addr` has to be the job's provider, and the verdict moves the escrow. A verdict that failed past its third retry is replaced by the next submission, charged anew. Nothing is charged for an unknown specification, nor while no panel can run.",
  request: { params: z.object({}), query: z.object({}), body: outputBodySchema },
  answer: {
    schema: submittedSchema,
    example: { verdict_id: "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90", status: "pending" },
    description: "The verdict to poll",
  },
  problems: [
    "not-found",
    "output-unsettled",
    "texts-dropped",
    "node-unavailable",
    "index-behind",
    "panel-not-configured",
    "panel-budget-spent",
  ],
  async prepare({ body }, work: Work): Promise<Prepared> {
    const output = requireBody(body);
    const { outputs } = work.deps;
    const spec = await outputs.spec(output.spec_id);
    if (spec === null) throw new Problem("not-found", `There is no specification ${output.spec_id}.`);
    // Nobody asks a node or a name server without a credential.
    if (work.caller.kind === "nobody") {
      await requirePanel(work);
      return null;
    }
    await refuseWebhook(output, work.deps);
    const draft = await placeOutput(output, spec, outputs.bind);
    const standing = await outputs.find(draft.slot);
    if (standing !== null) return { draft, standing };
    if (spec.specText === null)
      throw new Problem(
        "texts-dropped",
        `The texts of specification ${spec.id} are no longer kept; register it anew.`,
      );
    await requirePanel(work);
    return { draft, standing: null };
  },
  bought(prepared): SubmittedAnswer | null {
    if (prepared === null || prepared.standing === null) return null;
    return answerOf(prepared.standing, prepared.draft, null);
  },
  async accept(_input, prepared, { deps, caller, debitId, paymentId, signal }: AcceptContext<OutputPorts>) {
    const owner = ownerOf(caller);
    if (prepared === null || owner === null) throw new Error("nobody submits an output");
    const { draft } = prepared;
    const purchaser = { owner: ownerText(owner), units: UNITS, debitId, paymentId, signal };
    const acceptance = await deps.outputs.accept(draft, purchaser);
    switch (acceptance.kind) {
      case "noted":
        return { kind: "noted", id: acceptance.verdictId, secret: acceptance.webhookSecret };
      case "there":
        return { kind: "bought", answer: answerOf(acceptance.standing, draft, null) };
      case "busy":
        throw unsettled();
    }
  },
  withdraw: (verdictId, { deps }) => deps.outputs.withdraw(verdictId),
  async work(_input, prepared, { deps, noted }): Promise<SubmittedAnswer> {
    if (prepared === null || noted === null) throw new Error("an output is paid for that was not noted");
    return answerOf(await deps.outputs.activate(noted.id), prepared.draft, noted.secret);
  },
  withoutSecrets: (answer) =>
    answer.webhook_secret === undefined ? answer : { ...answer, webhook_secret: null },
});

function requireBody(body: OutputBody | null): OutputBody {
  if (body === null) throw new Error("an output without a body passed validation");
  return body;
}

async function refuseWebhook({ webhook_url: url }: OutputBody, { refuseUrl }: OutputPorts): Promise<void> {
  if (url === null) return;
  // As it will be asked: the parser's spelling may be longer than the guard reads.
  const error = await refuseUrl(URL.canParse(url) ? new URL(url).href : url);
  if (error !== null) throw new ValidationFailed([fault("webhook_url", url, error)]);
}

async function requirePanel({ deps: { outputs }, now }: Work): Promise<void> {
  const { budget } = outputs;
  if (budget === null)
    throw unavailable("panel-not-configured", "No model is configured here that could judge an output.", {
      retryAfterSeconds: NOT_CONFIGURED_RETRY_SECONDS,
    });
  const day = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  if ((await budget.usedSince(day)) < budget.tokensPerDay) return;
  throw unavailable("panel-budget-spent", "The panel has used up its tokens of this day (UTC).", {
    retryAfterSeconds: Math.ceil((day.getTime() + DAY_MS - now.getTime()) / 1000),
  });
}

function answerOf(
  { verdictId, status }: VerdictStanding,
  { webhookUrl }: OutputDraft,
  secret: string | null,
): SubmittedAnswer {
  const shown = webhookUrl === null ? {} : { webhook_secret: secret };
  return { verdict_id: verdictId, status, ...shown };
}

function unsettled(): Problem {
  return new Problem(
    "output-unsettled",
    "Another submission of this output is being paid. Ask again for its verdict; nothing was charged.",
    { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
  );
}
