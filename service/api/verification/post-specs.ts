import { z } from "@hono/zod-openapi";
import type { CallSource } from "../../access/client-address.ts";
import { type ByteBudgets, type IpLimit, rateLimited } from "../../access/rate-limits.ts";
import type { Registration, SpecDraft } from "../../verification/verdicts/register-spec.ts";
import { answerJson } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed } from "../kit/validation-failed.ts";
import type { KeyPorts } from "../schemas/key-sale.ts";
import { budgetRefusal, budgetsOf, bytesOf, SPEC_BYTES, type SpecSender } from "./spec-budget.ts";
import { draftOf, fault, type JobScope, specBodySchema } from "./spec-schema.ts";

/** Specifications a minute that one address may register. */
export const SPECS_PER_MINUTE = 20;

/** What registers specifications. */
export type SpecPorts = {
  readonly specs: {
    readonly scope: JobScope;
    /** Throws a 503 where the node has to be asked and does not answer. */
    register(draft: SpecDraft, now: Date): Promise<Registration>;
    /** Whether a specification is its job's by now; null for one that names no job of an escrow. */
    binding(specId: string): Promise<SpecBindingView | null>;
    /** Counts a registration against its address. */
    readonly limit: IpLimit;
    /** The address that a request is counted for; null for one that came over no socket. */
    readonly addressOf: (source: CallSource) => string | null;
    /** Bytes that may be registered in a day. */
    readonly budgets: ByteBudgets;
  };
  readonly keys: Pick<KeyPorts["keys"], "enter">;
  readonly socketAddress: (context: ApiContext) => string | null;
};

const bindingSchema = z
  .object({
    status: z.enum(["bound", "unbound", "unknown"]).openapi({
      description: "unknown: node or index cannot tell now; it is asked again when an output comes",
    }),
    reason: z.string().nullable().openapi({ description: "Why it is not bound, or not known to be" }),
  })
  .openapi("SpecBindingStatus");

/** Whether a specification is its job's. */
export type SpecBindingView = z.infer<typeof bindingSchema>;

const registeredSchema = z
  .object({
    spec_id: z.uuid(),
    spec_hash: z
      .string()
      .regex(/^0x[0-9a-f]{64}$/)
      .openapi({
        description:
          "keccak256 of the RFC 8785 JSON of client_addr, provider_addr, spec_text, acceptance_criteria and domain, after defaults, addresses in EIP-55",
      }),
    binding: bindingSchema.nullable().openapi({
      description:
        "Whether the job that it names is its job as the chain stands; null where it names no job of an escrow",
    }),
  })
  .openapi("Spec");

/** POST /v1/specs. */
export const postSpecs = defineFree({
  method: "post",
  path: "/v1/specs",
  tag: "Verification",
  summary: "Register a job specification",
  description: `Registers what an output is going to be judged by, free of charge; every call registers anew. The tag \`ahs-spec:\` followed by \`spec_hash\` (one \`0x\`, 64 digits) goes into the job's description, or the job's client signs it, before the delivery: a specification that nobody can show to be the job's is judged by, and moves no escrow. A \`client_signature\` is verified here: one that is not the on-chain client's for this job and hash is refused (422), as are texts with invisible characters and texts that leave an output no room in the panel's models. \`erc8183_job_id\` without \`escrow\` is on record and binds nothing. At most ${SPECS_PER_MINUTE} a minute and ${SPEC_BYTES.address / 1_000_000} MB a day from one address, counted in UTF-8; with \`X-API-Key\` as many a minute as the key may make calls, and ${SPEC_BYTES.key / 1_000_000} MB a day (429 beyond). Beyond what the service takes from all in a day the answer is 503. One that names no escrow's job and gets no output is forgotten after a day, as is one that names a job that the index never saw; one that names a job once that is over.`,
  request: { params: z.object({}), query: z.object({}), body: specBodySchema },
  answer: {
    schema: registeredSchema,
    example: {
      spec_id: "5b1c6a0e-4a1f-4f0e-9b57-0d7a3a1de2c4",
      spec_hash: "0x6f3c0c2e8d4b9a7f1e5d2c3b4a5968778695a4b3c2d1e0f0112233445566778f",
      binding: null,
    },
    description: "The specification's id and hash",
  },
  headers: { "X-API-Key": "Optional: counts the specification for the key instead of the address" },
  problems: [
    "key-unknown",
    "key-expired",
    "key-revoked",
    "rate-limited",
    "storage-spent",
    "node-unavailable",
    "database-unavailable",
    "internal",
  ],
  async respond(context, { body }, { deps, now }: { readonly deps: SpecPorts; readonly now: Date }) {
    if (body === null) throw new Error("a specification without a body passed validation");
    const draft = draftOf(body, deps.specs.scope);
    const sender = await senderOf(context, deps);
    const spent = await deps.specs.budgets.take(budgetsOf(sender, draft), bytesOf(draft));
    if (spent !== null) throw budgetRefusal(sender, spent);
    const outcome = await deps.specs.register(draft, now);
    switch (outcome.kind) {
      case "refused":
        throw new ValidationFailed([fault(outcome.member, body[outcome.member], outcome.reason)]);
      case "registered":
        return answerJson(context, {
          spec_id: outcome.specId,
          spec_hash: outcome.specHash,
          binding: await deps.specs.binding(outcome.specId),
        });
    }
  },
});

/** Whose specification it is, counted against the rate of the key or the address: throws a 429, and the 401 of a key that is no good. */
async function senderOf(context: ApiContext, { keys, specs, socketAddress }: SpecPorts): Promise<SpecSender> {
  const key = await keys.enter(context.req);
  if (key !== null) return { keyId: key.keyId };
  const source = {
    socket: socketAddress(context),
    forwardedFor: context.req.header("x-forwarded-for"),
  };
  const limited = specs.limit(source);
  if (limited !== null) throw rateLimited(limited);
  return { address: specs.addressOf(source) };
}
