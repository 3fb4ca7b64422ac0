import { hash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import type { Address, Hex } from "viem";
import type { CallSource } from "../../access/client-address.ts";
import type { KeyServices } from "../../access/key-services.ts";
import { Problem, unavailable } from "../../access/problems.ts";
import { type ByteBudget, type ByteBudgets, type IpLimit, rateLimited } from "../../access/rate-limits.ts";
import { jobTagOf } from "../../verification/escrow/bind-spec.ts";
import type { Intake, SpecBinding } from "../../verification/intake.ts";
import { checkHidden } from "../../verification/panel/check-hidden.ts";
import { findInvisible } from "../../verification/panel/invisible.ts";
import type { NamedJob, SpecDraft } from "../../verification/verdicts/specs.ts";
import { answerJson, callerRequest } from "../kit/answer.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed, type ValidationFault } from "../kit/validation-failed.ts";
import { addressSchema, hashSchema, laxInteger, text, toEip55 } from "../schemas/values.ts";
import { bodyAddress, fault, filledTextSchema, MAX_TEXT_CHARACTERS, textSchema } from "./body-schema.ts";

/** Services of the endpoint. */
type Needs = {
  readonly keys: Pick<KeyServices, "enter">;
  readonly specs: Intake["specs"] & {
    /** Counts a registration against its address. */
    readonly limit: IpLimit;
    /** Address that a request is counted for; null for a request without a socket. */
    readonly addressOf: (source: CallSource) => string | null;
    /** Bytes that may be registered per day. */
    readonly budgets: ByteBudgets;
    /** Units that a key was charged since a moment. */
    readonly chargedUnits: (keyId: string, since: Date) => Promise<number>;
  };
  /** Address of the socket of a request; null for requests made in process. */
  readonly socketAddress: (context: ApiContext) => string | null;
};

/** Characters of a domain; an unknown domain is judged by `default`. */
const MAX_DOMAIN_CHARACTERS = 256;
/** A uint256 in hexadecimal. */
const JOB_ID = /^0x[0-9a-fA-F]{1,64}$/;
/** Contract wallets concatenate the signatures of their owners. */
const SIGNATURE = /^0x([0-9a-fA-F]{2}){1,2048}$/;

/** Schema of an address that may be null, which is its default. */
const optionalAddress = (description: string) =>
  addressSchema
    .nullable()
    .default(null)
    .openapi({ type: ["string", "null"], pattern: "^0x[0-9a-fA-F]{40}$", default: null, description });

/** The body of POST /v1/specs. */
const specBodySchema = z
  .object({
    client_addr: bodyAddress("Wallet of the client who registers the specification"),
    provider_addr: optionalAddress("Wallet of the provider it is meant for, if known"),
    spec_text: filledTextSchema(MAX_TEXT_CHARACTERS).openapi({
      type: "string",
      minLength: 1,
      maxLength: MAX_TEXT_CHARACTERS,
      description: "The task, as outputs are judged by it",
    }),
    acceptance_criteria: textSchema(MAX_TEXT_CHARACTERS).nullable().default(null).openapi({
      maxLength: MAX_TEXT_CHARACTERS,
      description:
        "What has to be met, one item a line; of more than thirty items the thirtieth and all after it are judged as one",
    }),
    domain: textSchema(MAX_DOMAIN_CHARACTERS).default("default").openapi({
      maxLength: MAX_DOMAIN_CHARACTERS,
      description:
        "content, data_pipeline, default, code or financial; any other key is judged by the thresholds of `default`",
    }),
    erc8183_job_id: z.string().regex(JOB_ID).nullable().default(null).openapi({
      description: "The job's id, hexadecimal. Without an escrow it is on record and binds nothing",
    }),
    chain_id: laxInteger(z.int().positive())
      .nullable()
      .default(null)
      .openapi({
        type: ["integer", "null"],
        exclusiveMinimum: 0,
        default: null,
        description: "The escrow's chain; this deployment's unless given",
      }),
    escrow: optionalAddress("The ERC-8183 escrow that holds the job"),
    client_signature: z.string().regex(SIGNATURE).nullable().default(null).openapi({
      description:
        "EIP-712 SpecBinding(address escrow,uint256 jobId,bytes32 specHash) by the job's client, in the domain of name `Agent Health Spec Binding`, version `1`, the chain's id and the evaluator as verifyingContract (`/.well-known/agent-registration.json` names it), for a job whose description does not name the hash. Verified at once, by ERC-1271 for a contract wallet: one that does not fit is refused",
    }),
  })
  .openapi("SpecRequest");

type SpecBody = z.infer<typeof specBodySchema>;

/** The chain and escrows whose jobs are settled. */
type JobScope = { readonly chainId: number; readonly escrows: readonly Address[] };

/**
 * Builds a specification for registration. Throws the 422 of one that names a job that cannot be settled here, so that it does not pass for
 * bound.
 */
function draftOf(body: SpecBody, scope: JobScope): SpecDraft {
  const faults = [...hiddenFaults(body), ...jobFaults(body, scope)];
  if (faults.length > 0) throw new ValidationFailed(faults);
  return {
    clientAddr: body.client_addr,
    providerAddr: body.provider_addr,
    specText: body.spec_text,
    acceptanceCriteria: body.acceptance_criteria,
    domain: body.domain,
    job: jobOf(body, scope),
    // The pattern ensures it.
    clientSignature: body.client_signature as Hex | null,
  };
}

function jobOf({ erc8183_job_id: id, escrow }: SpecBody, { chainId }: JobScope): NamedJob | null {
  if (id === null) return null;
  return { chainId: escrow === null ? null : chainId, escrow, jobId: BigInt(id) };
}

/** Refuses invisible text: models read it, but the parties never agreed to a criterion of tags. */
function hiddenFaults({ spec_text, acceptance_criteria }: SpecBody): ValidationFault[] {
  return Object.entries({ spec_text, acceptance_criteria }).flatMap(([name, text]) => {
    // Characters with a function, such as a joiner in a word, hide nothing.
    const hidden = text === null || checkHidden(text) === null ? null : findInvisible(text);
    if (hidden === null) return [];
    const error = `the text holds ${hidden.name} after ${hidden.after} characters, which is invisible`;
    return [fault(name, text, error)];
  });
}

function jobFaults(body: SpecBody, { chainId, escrows }: JobScope): ValidationFault[] {
  const { chain_id, escrow, client_signature, erc8183_job_id: id } = body;
  const faults: ValidationFault[] = [];
  if (chain_id !== null && chain_id !== chainId)
    faults.push(fault("chain_id", chain_id, `jobs are settled on the chain ${chainId} alone`));
  if (escrow !== null && !escrows.some((known) => known.toLowerCase() === escrow))
    faults.push(fault("escrow", escrow, `jobs are settled for ${escrowsIn(escrows)}`));
  else if (escrow !== null && id === null)
    faults.push(fault("escrow", escrow, "an escrow names no job without erc8183_job_id"));
  if (client_signature !== null && (escrow === null || id === null))
    faults.push(
      fault(
        "client_signature",
        client_signature,
        "a signature binds nothing without escrow and erc8183_job_id",
      ),
    );
  return faults;
}

function escrowsIn(escrows: readonly Address[]): string {
  return escrows.length === 0 ? "no escrow here" : `the escrows ${escrows.map(toEip55).join(", ")} alone`;
}

/** Sender of a specification: a key, or the address of a request; null for a request without a socket. */
type SpecSender = { readonly keyId: string } | { readonly address: string | null };

const MEGABYTE = 1_000_000;
/** Bytes a day. The largest specification has 1.6 MB. */
export const SPEC_BYTES = {
  /** Per address; the first 64 bits of an IPv6 address. */
  address: 20 * MEGABYTE,
  /** Per key that was charged KEY_UNITS in the last day. Any number of other keys can be bought again and again for the same money. */
  key: 200 * MEGABYTE,
  /** All addresses together. The space of unused specifications is free again within a day or two. */
  addresses: 2_000 * MEGABYTE,
  keys: 20_000 * MEGABYTE,
  /** Specifications that name a job without its client's signature, because they stay as long as the job runs. */
  unsigned: {
    address: 2 * MEGABYTE,
    key: 4 * MEGABYTE,
    addresses: 200 * MEGABYTE,
    keys: 400 * MEGABYTE,
  },
} as const;
/** Thousandths of a US dollar of a day's charges from which a key has bytes of its own. Others count for their address. */
export const KEY_UNITS = 1_000;
const DAY_MS = 86_400_000;
/** Bytes of a row and its index entries, without texts. */
const ROW_BYTES = 1_000;

/** Stored bytes of a specification, in UTF-8. */
function bytesOf({ specText, acceptanceCriteria, domain, clientSignature }: SpecDraft): number {
  const texts = [specText, acceptanceCriteria ?? "", domain, clientSignature ?? ""];
  return ROW_BYTES + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Budgets of a specification; the sender's own ones first. */
function budgetsOf(sender: SpecSender, { job, clientSignature }: SpecDraft): readonly ByteBudget[] {
  const isUnsigned = job !== null && job.escrow !== null && clientSignature === null;
  const all = "keyId" in sender ? "keys" : "addresses";
  return [
    ...(isUnsigned ? ownBudgets(sender) : ownBudgets(sender).slice(0, 1)),
    { owner: `specs of ${all}`, bytes: SPEC_BYTES[all] },
    ...(isUnsigned ? [{ owner: `unsigned specs of ${all}`, bytes: SPEC_BYTES.unsigned[all] }] : []),
  ];
}

/** Returns the 429 of a sender without budget left, or the 503 if the budget of all is used up. */
function budgetRefusal(
  sender: SpecSender,
  { budget, retryAfterSeconds }: NonNullable<Awaited<ReturnType<ByteBudgets["take"]>>>,
): Problem {
  if (ownBudgets(sender).some(({ owner }) => owner === budget.owner))
    return new Problem(
      "rate-limited",
      `${budget.owner.startsWith("unsigned ") ? "Specifications that name a job without its client's signature, of" : "Specifications of"} more than ${budget.bytes / MEGABYTE} MB a day came from ${"keyId" in sender ? "this API key" : "this address"}; this one can be registered in ${retryAfterSeconds} s.`,
      { headers: { "retry-after": String(retryAfterSeconds) } },
    );
  return unavailable(
    "storage-spent",
    `The service keeps as many bytes of specifications as it takes in a day; one with an API key that was charged ${KEY_UNITS / 1_000} USD within a day may still be taken.`,
    { retryAfterSeconds },
  );
}

/** Budgets of one sender: all specifications, and those that name a job without its client's signature. */
function ownBudgets(sender: SpecSender): readonly ByteBudget[] {
  const kind = "keyId" in sender ? "key" : "address";
  const owner = ownerOf(sender);
  if (owner === null) return [];
  return [
    { owner: `specs of ${owner}`, bytes: SPEC_BYTES[kind] },
    { owner: `unsigned specs of ${owner}`, bytes: SPEC_BYTES.unsigned[kind] },
  ];
}

function ownerOf(sender: SpecSender): string | null {
  if ("keyId" in sender) return `key ${sender.keyId}`;
  // A digest, so that rows do not show senders.
  return sender.address === null ? null : hash("sha256", sender.address, "hex");
}

/** Specifications per minute and address. */
export const SPECS_PER_MINUTE = 20;

const bindingSchema = z
  .object({
    status: z.enum(["bound", "unbound", "unknown"]).openapi({
      description: "unknown: node or index gives no answer now; it is checked again when an output comes",
    }),
    reason: text("Why it is not bound, or not known to be").nullable(),
  })
  .openapi("SpecBindingStatus") satisfies z.ZodType<SpecBinding>;

const registeredSchema = z
  .object({
    spec_id: z.uuid(),
    spec_hash: hashSchema.openapi({
      description:
        "keccak256 of the RFC 8785 JSON of client_addr, provider_addr, spec_text, acceptance_criteria and domain, after defaults, addresses in EIP-55",
    }),
    job_description_tag: text(
      "The tag to put into the job's on-chain description, as it is; it binds the specification to the job",
      "ahs-spec:0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    ),
    binding: bindingSchema.nullable().openapi({
      description:
        "Whether the chain now shows that the specification belongs to the job that it names; null if it names no job of an escrow",
      example: null,
    }),
  })
  .openapi("Spec");

/** POST /v1/specs. */
export const postSpecs = defineFree<Needs>()({
  method: "post",
  path: "/v1/specs",
  operationId: "register_spec",
  tool: "Registers the specification of a job, by which its output will be judged, and returns its id, hash and the tag for the job's on-chain description. Use it before the work begins.",
  tag: "Verification",
  summary: "Register a job specification",
  description: `Registers what an output is going to be judged by, free of charge; every call registers anew. Put \`job_description_tag\` of the answer into the job's description, or have the job's client sign the specification, before the delivery. Without one of them the specification is used for judging but settles no escrow. A \`client_signature\` is verified here: one that is not the on-chain client's for this job and hash is refused (422), as are texts with invisible characters and texts that leave an output no room in the panel's models. \`erc8183_job_id\` without \`escrow\` is on record and binds nothing. At most ${SPECS_PER_MINUTE} a minute and ${SPEC_BYTES.address / 1_000_000} MB a day from one address, counted in UTF-8; with \`X-API-Key\` as many a minute as the key may make calls, and, once it was charged ${KEY_UNITS / 1_000} USD within a day, ${SPEC_BYTES.key / 1_000_000} MB a day (429 beyond). Beyond what the service takes from all in a day the answer is 503. One that names no escrow's job and gets no output is forgotten after a day, as is one that names a job that the index never saw; one that names a job once that is over.`,
  request: { params: z.object({}), query: z.object({}), body: specBodySchema },
  answer: { schema: registeredSchema, description: "The specification's id and hash" },
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
  async respond(context, { body }, { deps, now }) {
    if (body === null) throw new Error("a specification without a body passed validation");
    const draft = draftOf(body, deps.specs.scope);
    const sender = await senderOf(context, deps, now);
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
          job_description_tag: jobTagOf(outcome.specHash),
          binding: await deps.specs.binding(outcome.specId),
        });
    }
  },
});

/**
 * Returns the sender of a specification, counted against the rate of the key or the address. Throws a 429, and the 401 of an invalid key.
 */
async function senderOf(
  context: ApiContext,
  { keys, specs, socketAddress }: Needs,
  now: Date,
): Promise<SpecSender> {
  const key = await keys.enter(callerRequest(context));
  if (key?.balanceUnits === null) return { keyId: key.keyId };
  const source = {
    socket: socketAddress(context),
    forwardedFor: context.req.header("x-forwarded-for"),
  };
  if (key !== null) {
    const charged = await specs.chargedUnits(key.keyId, new Date(now.getTime() - DAY_MS));
    return charged >= KEY_UNITS ? { keyId: key.keyId } : { address: specs.addressOf(source) };
  }
  const limited = specs.limit(source);
  if (limited !== null) throw rateLimited(limited);
  return { address: specs.addressOf(source) };
}
