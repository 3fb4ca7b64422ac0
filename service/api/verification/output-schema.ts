import { z } from "@hono/zod-openapi";
import { laxUuid } from "../schemas/values.ts";
import { bodyAddress } from "./spec-schema.ts";
import { filledTextSchema, MAX_TEXT_CHARACTERS } from "./text-schema.ts";

const MAX_URL_CHARACTERS = 2_048;
/** The body of POST /v1/outputs. */
export const outputBodySchema = z
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
    submitter_addr: bodyAddress("Wallet of whoever submits"),
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

export type OutputBody = z.infer<typeof outputBodySchema>;

/** Whether the guard, which asks name servers, has anything to look at; some deployments let it pass http. */
function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ["https:", "http:"].includes(new URL(url).protocol);
}

/** The answer of POST /v1/outputs. */
export const submittedSchema = z
  .object({
    verdict_id: z.uuid(),
    status: z.enum(["pending", "processing", "completed", "failed"]),
    webhook_secret: z.string().nullable().optional().openapi({
      description:
        "Only where a webhook_url was sent: signs the deliveries, and stands in the first answer alone. Null in a repeat, and where the verdict was there already: its events go where its first submission said",
    }),
  })
  .openapi("SubmittedOutput");

export type SubmittedAnswer = z.infer<typeof submittedSchema>;
