import { z } from "@hono/zod-openapi";
import type { Address, Hex } from "viem";
import { checkHidden } from "../../verification/panel/check-hidden.ts";
import { findInvisible } from "../../verification/panel/find-invisible.ts";
import type { NamedJob } from "../../verification/verdicts/job-specs.ts";
import type { SpecDraft } from "../../verification/verdicts/register-spec.ts";
import { echoInput, ValidationFailed, type ValidationFault } from "../kit/validation-failed.ts";
import { addressSchema, laxInteger, toEip55 } from "../schemas/values.ts";
import { filledTextSchema, MAX_TEXT_CHARACTERS, textSchema } from "./text-schema.ts";

/** Keys of the domain table have a few; an unknown one is judged by `default`. */
const MAX_DOMAIN_CHARACTERS = 256;
/** A uint256 in hexadecimal. */
const JOB_ID = /^0x[0-9a-fA-F]{1,64}$/;
/** Contract wallets concatenate the signatures of their owners. */
const SIGNATURE = /^0x([0-9a-fA-F]{2}){1,2048}$/;

/** An address of a body, as its description has it. */
export const bodyAddress = (description: string) =>
  addressSchema.openapi({
    type: "string",
    pattern: "^0x[0-9a-fA-F]{40}$",
    description,
    example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  });

/** The same where it may be null, which is what it is unless it is sent. */
const optionalAddress = (description: string) =>
  addressSchema
    .nullable()
    .default(null)
    .openapi({ type: ["string", "null"], pattern: "^0x[0-9a-fA-F]{40}$", default: null, description });

/** The body of POST /v1/specs. */
export const specBodySchema = z
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

export type SpecBody = z.infer<typeof specBodySchema>;

/** Where jobs are settled: one chain, and the escrows on it. */
export type JobScope = { readonly chainId: number; readonly escrows: readonly Address[] };

/**
 * A specification as it is registered. Throws the 422 of one that names a job that could never be settled here, so that nobody takes
 * it for bound.
 */
export function draftOf(body: SpecBody, scope: JobScope): SpecDraft {
  const faults = [...hiddenFaults(body), ...jobFaults(body, scope)];
  if (faults.length > 0) throw new ValidationFailed(faults);
  return {
    clientAddr: body.client_addr,
    providerAddr: body.provider_addr,
    specText: body.spec_text,
    acceptanceCriteria: body.acceptance_criteria,
    domain: body.domain,
    job: jobOf(body, scope),
    // The pattern has vouched for it.
    clientSignature: body.client_signature as Hex | null,
  };
}

function jobOf({ erc8183_job_id: id, escrow }: SpecBody, { chainId }: JobScope): NamedJob | null {
  if (id === null) return null;
  return { chainId: escrow === null ? null : chainId, escrow, jobId: BigInt(id) };
}

/** Models read what people do not see: a criterion of tags alone would be one that nobody agreed to. */
function hiddenFaults({ spec_text, acceptance_criteria }: SpecBody): ValidationFault[] {
  return Object.entries({ spec_text, acceptance_criteria }).flatMap(([name, text]) => {
    // One with a use, such as a joiner in a word, hides nothing.
    const hidden = text === null || checkHidden(text) === null ? null : findInvisible(text);
    if (hidden === null) return [];
    const error = `the text holds ${hidden.name} after ${hidden.after} characters, which nobody sees`;
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

/** A fault of a member of the body that its schema cannot see. */
export function fault(name: string, input: unknown, error: string): ValidationFault {
  return {
    type: "value_error",
    loc: ["body", name],
    msg: `Value error, ${error}`,
    input: echoInput(input),
    ctx: { error },
  };
}
