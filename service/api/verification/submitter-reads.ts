import { z } from "@hono/zod-openapi";
import type { OwnerAccess } from "../../access/access.ts";
import { ownerText } from "../../access/access.ts";
import { Problem } from "../../access/problems.ts";
import type { Delivery, DeliveryPage } from "../../alerts/webhook-log.ts";
import type { readStoredTexts } from "../../verification/verdicts/verdict-view.ts";
import { answerJson, callerRequest } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { defineFree } from "../kit/endpoint.ts";
import { deliveriesShape, pageOfDeliveries, pageQuery } from "../schemas/deliveries.ts";
import { isoSchema } from "../schemas/values.ts";
import type { VerdictNeeds } from "./require-verdict.ts";
import { requireVerdict } from "./require-verdict.ts";
import { verdictParams } from "./verdict-schema.ts";

/** Services of the endpoint. */
type Needs = VerdictNeeds & {
  readonly owners: OwnerAccess;
  /** Texts of an existing verdict. */
  readonly verdicts: { texts(id: string): ReturnType<typeof readStoredTexts> };
  /** Events of a verdict for the webhook_url of its output, newest first. */
  readonly verdictDeliveries: (id: string, page: DeliveryPage) => Promise<readonly Delivery[]>;
};

const textsSchema = z
  .object({
    verdict_id: z.uuid(),
    spec_text: z
      .string()
      .openapi({ example: "List the ten largest DEX pools on Base by volume, each with its source." }),
    acceptance_criteria: z
      .string()
      .nullable()
      .openapi({ example: "1. Ten rows. 2. Every row names its source." }),
    output_text: z.string().openapi({ example: "| Pool | Volume | Source |\n|---|---|---|\n…" }),
    evidence: z
      .array(z.object({ text: z.string(), submitted_at: isoSchema }))
      .openapi({ description: "What was handed in after a HOLD, oldest first", example: [] }),
  })
  .openapi("VerdictTexts");

/** GET /v1/verdicts/{verdict_id}/texts. */
export const getTexts = defineFree<Needs>()({
  method: "get",
  path: "/v1/verdicts/{verdict_id}/texts",
  operationId: "get_verdict_texts",
  tag: "Verdicts",
  summary: "Texts that a verdict is about",
  description:
    "Specification, output and evidence as they were sent, for the submission's own key in `X-API-Key` or a `SIGN-IN-WITH-X` of the wallet that paid; 403 for everyone else. Texts are dropped after some time (90 days unless the operator chose another), or by `DELETE` of this path: from then on 410, while verdict and evidence stay.",
  identity: "owner",
  request: { params: verdictParams, query: z.object({}), body: null },
  answer: { schema: textsSchema, description: "The texts" },
  problems: ["not-the-submitter", "not-found", "texts-dropped", "database-unavailable", "internal"],
  async respond(context, { params }, { deps }) {
    const id = await requireOwnVerdict(context, params.verdict_id, { deps, what: "Texts" });
    const { specText, acceptanceCriteria, outputText, evidence } = await deps.verdicts.texts(id);
    if (specText === null || outputText === null)
      throw new Problem(
        "texts-dropped",
        "The texts of this verdict are no longer kept: their time was over, or they were erased on request.",
      );
    const body = {
      verdict_id: id,
      spec_text: specText,
      acceptance_criteria: acceptanceCriteria,
      output_text: outputText,
      evidence: evidence.flatMap(({ text, createdAt }) =>
        text === null ? [] : [{ text, submitted_at: createdAt.toISOString() }],
      ),
    };
    return answerJson(context, body, { headers: { "cache-control": "private, no-store" } });
  },
});

/** GET /v1/verdicts/{verdict_id}/deliveries. */
export const getVerdictDeliveries = defineFree<Needs>()({
  method: "get",
  path: "/v1/verdicts/{verdict_id}/deliveries",
  operationId: "list_verdict_deliveries",
  tag: "Verdicts",
  summary: "Deliveries to the webhook of an output",
  description:
    "Every event of the last 30 days that was sent to the `webhook_url` of the output, newest first, with each attempt to deliver it; none where the output came without one. For the submission's own key in `X-API-Key` or a `SIGN-IN-WITH-X` of the wallet that paid; 403 for everyone else.",
  identity: "owner",
  request: { params: verdictParams, query: pageQuery, body: null },
  answer: {
    schema: z.object({ verdict_id: z.uuid(), ...deliveriesShape }).openapi("VerdictDeliveries"),
    description: "A page of deliveries",
  },
  problems: ["not-the-submitter", "not-found", "database-unavailable", "internal"],
  async respond(context, { params, query }, { deps }) {
    const id = await requireOwnVerdict(context, params.verdict_id, { deps, what: "Deliveries" });
    const page = await pageOfDeliveries(query, (wanted) => deps.verdictDeliveries(id, wanted));
    const body = { verdict_id: id, ...page };
    return answerJson(context, body, { headers: { "cache-control": "private, no-store" } });
  },
});

/** The id of a verdict of the caller's own. Throws a 401 without a credential, a 404 for an unknown id and a 403 for another's. */
async function requireOwnVerdict(
  context: ApiContext,
  given: string,
  { deps, what }: { readonly deps: Pick<Needs, "owners" | "verdicts">; readonly what: string },
): Promise<string> {
  const owner = ownerText(await deps.owners.identify(callerRequest(context)));
  const view = await requireVerdict(given, deps);
  if (view.owner === owner) return view.id;
  throw new Problem(
    "not-the-submitter",
    `${what} are shown to the key that submitted the output, or the wallet that paid for it.`,
  );
}
