import type { Hono } from "hono";
import { type ApiInterface, createInterfaceApp, type ServedParts } from "./create-interface.ts";
import type { ApiEnv } from "./kit/api-env.ts";
import type { NeedsOf } from "./kit/endpoint.ts";
import { describeWebhooks } from "./schemas/webhooks.ts";
import { deleteTexts } from "./verification/delete-texts.ts";
import { getAppeals } from "./verification/get-appeals.ts";
import { getReceipt, getReceiptMapping } from "./verification/get-receipt.ts";
import { getVerdict } from "./verification/get-verdict.ts";
import { getVerificationHealth } from "./verification/get-verification-health.ts";
import { postAppeal } from "./verification/post-appeal.ts";
import { postOutputs } from "./verification/post-outputs.ts";
import { postRetry } from "./verification/post-retry.ts";
import { postReview } from "./verification/post-review.ts";
import { postSpecs } from "./verification/post-specs.ts";
import { getTexts, getVerdictDeliveries } from "./verification/submitter-reads.ts";
import { VERDICT_EVENTS } from "./verification/verdict-events-schema.ts";
import { getEvidence, postEvidence } from "./verification/verdict-evidence.ts";

/** Endpoints of the verification interface; prices, document and reference derive from this list. */
export const VERIFICATION_ENDPOINTS = [
  postSpecs,
  postOutputs,
  getVerdict,
  getEvidence,
  postEvidence,
  getTexts,
  getVerdictDeliveries,
  deleteTexts,
  postRetry,
  postReview,
  postAppeal,
  getReceipt,
  getReceiptMapping,
  getAppeals,
  getVerificationHealth,
];

/** Services that they name. */
type VerificationNeeds = NeedsOf<typeof VERIFICATION_ENDPOINTS>;

export const VERIFICATION_INTERFACE: ApiInterface<VerificationNeeds> = {
  title: "Agent Health output verification",
  version: "0.1.0",
  purpose:
    "Judges what an agent delivered by the specification that its client registered: ALLOW, HOLD or REJECT, with evidence that a job's escrow can act on.",
  advice:
    "Register the specification with `POST /v1/specs`, send the output with `POST /v1/outputs`, and poll `GET /v1/verdicts/{verdict_id}` until its status is `completed` or `failed`. HOLD means that there is not enough to adjudicate, which is no rejection.",
  endpoints: VERIFICATION_ENDPOINTS,
  webhooks: describeWebhooks(VERDICT_EVENTS),
  documentPath: "/v1/openapi.json",
  referencePath: "/v1/docs",
};

/** The verification interface as a Hono app. */
export function createVerificationApp(ports: ServedParts<VerificationNeeds>): Hono<ApiEnv> {
  return createInterfaceApp(ports, [VERIFICATION_INTERFACE]);
}
