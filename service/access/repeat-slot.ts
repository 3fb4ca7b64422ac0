import { hash } from "node:crypto";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import type { Caller, PaidRequest } from "./access.ts";
import type { RepeatSlot } from "./idempotent-answers.ts";
import { ownerOf, ownerText } from "./owner.ts";
import { Problem } from "./problems.ts";

const MAX_CHARACTERS = 255;
/** A structured-field string (RFC 9651): printable ASCII in quotes, with backslashes before quotes and backslashes. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** What is accepted without quotes, as many clients send it: one word. */
const BARE = /^[!#-+\--~]+$/;

/**
 * The Idempotency-Key of a request (draft-ietf-httpapi-idempotency-key-header-07): a structured string of 1 to 255 characters,
 * with or without its quotes; null without the header. Throws a 400 problem for anything else.
 */
export function idempotencyKeyOf(request: Pick<PaidRequest, "header">): string | null {
  const given = request.header("idempotency-key");
  if (given === undefined) return null;
  const key = QUOTED.exec(given)?.[1]?.replaceAll(/\\(.)/g, "$1") ?? (BARE.test(given) ? given : "");
  if (key.length >= 1 && key.length <= MAX_CHARACTERS) return key;
  throw new Problem(
    "header-malformed",
    `Idempotency-Key has to be one string of 1 to ${MAX_CHARACTERS} printable ASCII characters, in quotes or, without spaces and commas, bare.`,
  );
}

const IDENTIFIER_SCOPE = "payment-identifier:";

/**
 * Where the answer to a request is kept for its repeats: by its Idempotency-Key, and for a payer by the identifier of its payment.
 * Empty for a request with neither, and for nobody. Throws a 400 problem.
 */
export function repeatSlotsOf(caller: Caller, request: PaidRequest): readonly RepeatSlot[] {
  const slots = [repeatSlotOf(caller, request)];
  const identifier = caller.kind === "payer" ? extractPaymentIdentifier(caller.payment.payload) : null;
  if (caller.kind === "payer" && identifier !== null) {
    slots.push({
      scope: `${IDENTIFIER_SCOPE}${caller.address}`,
      keyHash: hash("sha256", identifier, "hex"),
      fingerprint: request.fingerprint(),
    });
  }
  return slots.filter((slot) => slot !== null);
}

/** Whether the slot is named by a payment identifier; else it is by an Idempotency-Key. */
export function isIdentifierSlot({ scope }: RepeatSlot): boolean {
  return scope.startsWith(IDENTIFIER_SCOPE);
}

/** The slot of the Idempotency-Key alone; null for a request without one, and for nobody. Throws a 400 problem. */
export function repeatSlotOf(caller: Caller, request: PaidRequest): RepeatSlot | null {
  const owner = ownerOf(caller);
  // Read for nobody as well, who is told of a malformed one.
  const slot = slotOf(owner === null ? "" : ownerText(owner), request);
  return owner === null ? null : slot;
}

/** The same for a scope that is known; null for a request without a key. Throws a 400 problem. */
export function slotOf(
  scope: string,
  request: Pick<PaidRequest, "header" | "fingerprint">,
): RepeatSlot | null {
  const key = idempotencyKeyOf(request);
  if (key === null) return null;
  return { scope, keyHash: hash("sha256", key, "hex"), fingerprint: request.fingerprint() };
}
