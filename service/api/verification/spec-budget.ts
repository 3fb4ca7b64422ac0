import { hash } from "node:crypto";
import { Problem, unavailable } from "../../access/problems.ts";
import type { ByteBudget, SpentBudget } from "../../access/rate-limits.ts";
import type { SpecDraft } from "../../verification/verdicts/register-spec.ts";

/** Who registers a specification: a key, or the address of a request; null where it came over no socket. */
export type SpecSender = { readonly keyId: string } | { readonly address: string | null };

const MEGABYTE = 1_000_000;
/** Bytes a day. The largest specification has 1.6 MB. */
export const SPEC_BYTES = {
  /** Of one address, by the first 64 bits of an IPv6 one. */
  address: 20 * MEGABYTE,
  key: 200 * MEGABYTE,
  /** Of all addresses together: what an unused specification takes is free again within a day or two. */
  addresses: 2_000 * MEGABYTE,
  keys: 20_000 * MEGABYTE,
  /** Of those that name a job of an escrow without its client's signature, since they stay as long as the job runs. */
  unsigned: {
    address: 2 * MEGABYTE,
    key: 4 * MEGABYTE,
    addresses: 200 * MEGABYTE,
    keys: 200 * MEGABYTE,
  },
} as const;
/** A row and its index entries, whatever the texts. */
const ROW_BYTES = 1_000;

/** What a specification takes to keep: UTF-8, as the database stores it. */
export function bytesOf({ specText, acceptanceCriteria, domain, clientSignature }: SpecDraft): number {
  const texts = [specText, acceptanceCriteria ?? "", domain, clientSignature ?? ""];
  return ROW_BYTES + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** The budgets that a specification is taken from; the sender's own stand first. */
export function budgetsOf(sender: SpecSender, { job, clientSignature }: SpecDraft): readonly ByteBudget[] {
  const isUnsigned = job !== null && job.escrow !== null && clientSignature === null;
  const all = "keyId" in sender ? "keys" : "addresses";
  return [
    ...(isUnsigned ? ownBudgets(sender) : ownBudgets(sender).slice(0, 1)),
    { owner: `specs of ${all}`, bytes: SPEC_BYTES[all] },
    ...(isUnsigned ? [{ owner: `unsigned specs of ${all}`, bytes: SPEC_BYTES.unsigned[all] }] : []),
  ];
}

/** The 429 of a sender whose own budget is spent, or the 503 where that of all is. */
export function budgetRefusal(sender: SpecSender, { budget, retryAfterSeconds }: SpentBudget): Problem {
  if (ownBudgets(sender).some(({ owner }) => owner === budget.owner))
    return new Problem(
      "rate-limited",
      `${budget.owner.startsWith("unsigned ") ? "Specifications that name a job without its client's signature, of" : "Specifications of"} more than ${budget.bytes / MEGABYTE} MB a day came from ${"keyId" in sender ? "this API key" : "this address"}; this one can be registered in ${retryAfterSeconds} s.`,
      { headers: { "retry-after": String(retryAfterSeconds) } },
    );
  return unavailable(
    "storage-spent",
    "The service keeps as many bytes of specifications as it takes in a day; one with an API key, or signed by the client of its job, may still be taken.",
    { retryAfterSeconds },
  );
}

/** What one sender may register, and of it what may name a job of an escrow without its client's signature. */
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
  // As a digest: rows do not show who sent what.
  return sender.address === null ? null : hash("sha256", sender.address, "hex");
}
