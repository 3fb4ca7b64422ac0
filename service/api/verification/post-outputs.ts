import { z } from "@hono/zod-openapi";
import { ownerOf, ownerText } from "../../access/access.ts";
import { Problem } from "../../access/problems.ts";
import type { Intake } from "../../verification/intake.ts";
import { VERDICT_UNITS } from "../../verification/panel/run-cost.ts";
import type { AcceptedVerdict } from "../../verification/verdicts/accept-output.ts";
import {
  type PlacedOutput,
  placeOutput,
  requireDelivered,
} from "../../verification/verdicts/place-output.ts";
import type { StoredSpec } from "../../verification/verdicts/specs.ts";
import { requirePanel } from "../../verification/verdicts/token-budget.ts";
import { defineSale } from "../kit/endpoint.ts";
import type { UrlGuard } from "../kit/validation-failed.ts";
import { refuseUrl, ValidationFailed } from "../kit/validation-failed.ts";
import { laxUuid, toEip55 } from "../schemas/values.ts";
import { bodyAddress, fault, filledTextSchema, MAX_TEXT_CHARACTERS } from "./body-schema.ts";

/** Services of the endpoint. */
type Needs = {
  readonly outputs: Intake["outputs"];
  /** Returns why the guard refuses a URL; null if it does not. */
  readonly refuseUrl: UrlGuard["refusal"];
};

const MAX_URL_CHARACTERS = 2_048;
/** The body of POST /v1/outputs. */
const outputBodySchema = z
  .object({
    spec_id: laxUuid().openapi({
      type: "string",
      format: "uuid",
      description: "As POST /v1/specs answered it",
      example: "5b1c6a0e-4a1f-4f0e-9b57-0d7a3a1de2c4",
    }),
    output_text: filledTextSchema(MAX_TEXT_CHARACTERS).openapi({
      type: "string",
      minLength: 1,
      maxLength: MAX_TEXT_CHARACTERS,
      description:
        "What was delivered. For a job its UTF-8 bytes have to be those whose keccak256 is the deliverable on chain",
      example: "1, 2, 3",
    }),
    submitted_by: z.enum(["client", "agent", "protocol"]).default("client"),
    submitter_addr: bodyAddress("Wallet of the submitter"),
    provider_addr: bodyAddress(
      "Wallet of the agent that delivered; where the specification is bound to a job, that job's provider",
    ),
    mode: z.enum(["standard"]).default("standard"),
    webhook_url: filledTextSchema(MAX_URL_CHARACTERS)
      .refine(isWebUrl, "the URL has to be an absolute one, of https")
      .nullable()
      .default(null)
      .openapi({
        type: ["string", "null"],
        default: null,
        minLength: 1,
        maxLength: MAX_URL_CHARACTERS,
        format: "uri",
        description:
          "Where the verdict's events are POSTed (Standard Webhooks 1.0.0). A URL that leads anywhere but to a public https host is refused",
      }),
  })
  .openapi("OutputRequest");

/** True for a web URL. The guard then resolves its host. Some deployments allow http. */
function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ["https:", "http:"].includes(new URL(url).protocol);
}

/** The answer of POST /v1/outputs. */
const submittedSchema = z
  .object({
    verdict_id: z.uuid(),
    status: z.enum(["pending", "processing", "completed", "failed"]),
    webhook_secret: z.string().nullable().optional().openapi({
      description:
        "Only where a webhook_url was sent: signs the deliveries; only the first answer shows it. Null in a repeat, and where the verdict was there already: its events go where its first submission said",
    }),
  })
  .openapi("SubmittedOutput");

const RETRY_AFTER_SECONDS = 5;

/**
 * POST /v1/outputs. An output has one verdict, which is bought once: the output is stored after its price is reserved and before
 * money moves, activated once it is paid, and withdrawn if the price was given back. A crash in between is settled by
 * `settle-intake.ts`.
 */
export const postOutputs = defineSale<Needs>()({
  method: "post",
  path: "/v1/outputs",
  operationId: "verify_output",
  tool: "Submits a delivered output to be judged by its registered specification, and returns the id of the verdict. The verdict takes some seconds: read it with get_verdict.",
  price: { units: VERDICT_UNITS },
  payment: { settled: "captured", keys: "poor too" },
  tag: "Verification",
  summary: "Have a delivered output judged",
  description:
    "Has a panel of six roles judge an output against its specification, for 0.50 USD, charged before the work. Poll the verdict at `GET /v1/verdicts/{verdict_id}`, or give a `webhook_url`.\n\n- An output has one verdict: posting it again returns that verdict to every caller and is not charged, whatever the key's balance; a payment is not taken. While another submission of the same output is being paid, the answer waits for it, up to a 409.\n- If the specification is bound to a job, there is one verdict per job and deliverable, `provider_addr` must be the job's provider, and the verdict moves the escrow. The output must be the text that the provider submitted on chain: before that, and until the index shows it, the answer is 409 `job-not-submitted`; for any other text it is 409 `deliverable-differs`.\n- A payment by x402's scheme `auth-capture` waits in the payment escrow until the verdict is decided. If the panel fails, the payer gets it back.\n- A failed verdict is replaced by the next submission, which is charged, after its third retry or once its payment is given back. One of a job is replaced at once by the submission of another party, so that neither party depends on who was quicker.\n- An unknown specification is not charged, nor is a submission that is refused or comes while no panel can run.\n- The price bounds the texts: specification, criteria and output together may take about 60,000 characters of English, by the operator's prices of tokens; larger ones are 422 with both sizes.\n- Half of the tokens that the panel may use per UTC day are for outputs of jobs alone, a quarter for re-runs. No key and no wallet takes more of a day than it leaves to the others, and outputs that wait, or fail by their texts, take no more than its verdicts and two large ones. Once many prices of a day have gone back without a verdict, a new key is refused, and a payment by `exact` is taken: 503 `panel-budget-spent`.",
  request: { params: z.object({}), query: z.object({}), body: outputBodySchema },
  answer: { schema: submittedSchema, description: "The verdict to poll" },
  problems: [
    "not-found",
    "names-unavailable",
    "job-not-submitted",
    "deliverable-differs",
    "output-unsettled",
    "texts-dropped",
    "escrow-suspended",
    "node-unavailable",
    "index-behind",
    "panel-not-configured",
    "panel-budget-spent",
  ],
  async check({ body }, { deps: { outputs } }) {
    if (body === null) throw new Error("an output without a body passed validation");
    if (!(await outputs.hasSpec(body.spec_id))) throw noSpec(body.spec_id);
    return body;
  },
  async prepare(_input, output, { deps, caller, now }) {
    const { outputs } = deps;
    const spec = await outputs.spec(output.spec_id);
    if (spec === null) throw noSpec(output.spec_id);
    await refuseWebhook(output, deps);
    const owner = ownerText(ownerOf(caller));
    const draft = await place(output, spec, outputs);
    const accepted = await outputs.find({ slot: draft.slot, owner });
    if (accepted !== null) return { draft, accepted };
    await requireDelivered(draft, outputs.readDeliverable);
    if (spec.specText === null)
      throw new Problem(
        "texts-dropped",
        `The texts of specification ${spec.id} are no longer kept; register it anew.`,
      );
    const measured = outputs.measure({ ...spec, specText: spec.specText }, draft.outputText);
    if (measured !== null && measured.overflow !== null)
      throw new ValidationFailed([fault("output_text", draft.outputText, measured.overflow)]);
    const runTokens = measured?.runTokens ?? null;
    await requirePanel(outputs.budget, now, {
      owner,
      isOfJob: draft.job !== null,
      isReturnable: caller.kind === "key" ? caller.balanceUnits !== null : caller.payment.taking === "held",
      runTokens,
    });
    const stakeMicroUsd = await outputs.readStake(draft.job);
    return { draft: { ...draft, runTokens, stakeMicroUsd }, accepted: null };
  },
  async sell(_input, { draft, accepted }, sale) {
    const { outputs } = sale.deps;
    const { caller, request } = sale;
    if (accepted !== null) return sale.free(answerOf(accepted, draft, null));
    const slot: { taken: Awaited<ReturnType<Intake["outputs"]["accept"]>> | null } = { taken: null };
    try {
      const { deliver } = await sale.take({
        settlement: "before",
        async accept(hold) {
          const owner = ownerText(ownerOf(caller));
          slot.taken = await outputs.accept(draft, {
            ...hold,
            owner,
            units: VERDICT_UNITS,
            signal: request.signal,
          });
          if (slot.taken.kind === "busy") throw unsettled();
          return slot.taken.kind === "noted";
        },
        async isThere() {
          if (caller.kind !== "key") return false;
          const place = { slot: draft.slot, keyId: caller.keyId };
          slot.taken = await outputs.awaitAccepted(place, request.signal);
          if (slot.taken?.kind === "busy") throw unsettled();
          return slot.taken !== null;
        },
      });
      const { taken } = slot;
      if (taken?.kind === "there") return await sale.free(answerOf(taken.accepted, draft, null));
      if (taken?.kind !== "noted") throw new Error("an output is paid for that was not stored");
      return await deliver(async () =>
        answerOf(await outputs.activate(taken.verdictId), draft, taken.webhookSecret),
      );
    } catch (error) {
      if (slot.taken?.kind === "noted") await outputs.withdraw(slot.taken.verdictId);
      throw error;
    }
  },
  withoutSecrets: (answer) =>
    answer.webhook_secret === undefined ? answer : { ...answer, webhook_secret: null },
});

function noSpec(id: string): Problem {
  return new Problem("not-found", `There is no specification ${id}.`);
}

/** Throws the 422 of a provider other than the bound job's. */
async function place(
  body: z.infer<typeof outputBodySchema>,
  spec: StoredSpec,
  { bind }: Pick<Intake["outputs"], "bind">,
): Promise<PlacedOutput> {
  const output = {
    outputText: body.output_text,
    submittedBy: body.submitted_by,
    submitterAddr: body.submitter_addr,
    providerAddr: body.provider_addr,
    webhookUrl: body.webhook_url,
  };
  const placed = await placeOutput(output, spec, bind);
  if (placed.kind === "placed") return placed.draft;
  const error = `the provider of the job that the specification is bound to is ${toEip55(placed.provider)}`;
  throw new ValidationFailed([fault("provider_addr", body.provider_addr, error)]);
}

async function refuseWebhook(
  { webhook_url: url }: z.infer<typeof outputBodySchema>,
  { refuseUrl: refusal }: Pick<Needs, "refuseUrl">,
): Promise<void> {
  if (url === null) return;
  const asked = URL.canParse(url) ? new URL(url).href : url;
  await refuseUrl({ loc: ["body", "webhook_url"], given: url, asked }, refusal);
}

function answerOf(
  { verdictId, status }: AcceptedVerdict,
  { webhookUrl }: PlacedOutput,
  secret: string | null,
): z.infer<typeof submittedSchema> {
  const shown = webhookUrl === null ? {} : { webhook_secret: secret };
  return { verdict_id: verdictId, status, ...shown };
}

function unsettled(): Problem {
  return new Problem(
    "output-unsettled",
    "Another submission of this output is being paid. Ask again for its verdict.",
    { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
  );
}
