import { hash } from "node:crypto";
import type { RepeatSlot } from "../../store/idempotent-answers.ts";
import { Problem } from "../problems.ts";
import type { Caller, PaidRequest } from "./access.ts";
import { ownerOf, ownerText } from "./owner.ts";

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

/** Where the answer to a request is kept for its repeats; null for a request without a key, and for nobody. Throws a 400 problem. */
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
