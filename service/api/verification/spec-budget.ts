import { hash } from "node:crypto";
import type { ByteBudget, SpentBudget } from "../../store/byte-budgets.ts";
import type { SpecDraft } from "../../verdicts/register-spec.ts";
import { Problem, unavailable } from "../problems.ts";

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
  /** Of all that name a job of an escrow without the client's signature, since they stay as long as the job runs. */
  unsigned: 200 * MEGABYTE,
} as const;
/** A row and its index entries, whatever the texts. */
const ROW_BYTES = 1_000;

/** What a specification takes to keep: UTF-8, as the database stores it. */
export function bytesOf({ specText, acceptanceCriteria, domain, clientSignature }: SpecDraft): number {
  const texts = [specText, acceptanceCriteria ?? "", domain, clientSignature ?? ""];
  return ROW_BYTES + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** The budgets that a specification is taken from; the sender's own stands first. */
export function budgetsOf(sender: SpecSender, { job, clientSignature }: SpecDraft): readonly ByteBudget[] {
  const isUnsigned = job !== null && job.escrow !== null && clientSignature === null;
  return [
    ...ownBudget(sender),
    "keyId" in sender
      ? { owner: "specs of keys", bytes: SPEC_BYTES.keys }
      : { owner: "specs of addresses", bytes: SPEC_BYTES.addresses },
    ...(isUnsigned ? [{ owner: "specs of unsigned jobs", bytes: SPEC_BYTES.unsigned }] : []),
  ];
}

/** The 429 of a sender whose own budget is spent, or the 503 where that of all is. */
export function budgetRefusal(sender: SpecSender, { budget, retryAfterSeconds }: SpentBudget): Problem {
  if (ownBudget(sender).some(({ owner }) => owner === budget.owner))
    return new Problem(
      "rate-limited",
      `Specifications of more than ${budget.bytes / MEGABYTE} MB a day came from ${"keyId" in sender ? "this API key" : "this address"}; this one can be registered in ${retryAfterSeconds} s.`,
      { headers: { "retry-after": String(retryAfterSeconds) } },
    );
  return unavailable(
    "storage-spent",
    "The service keeps as many bytes of specifications as it takes in a day; one with an API key, or signed by the client of its job, may still be taken.",
    { retryAfterSeconds },
  );
}

function ownBudget(sender: SpecSender): readonly ByteBudget[] {
  if ("keyId" in sender) return [{ owner: `specs of key ${sender.keyId}`, bytes: SPEC_BYTES.key }];
  const { address } = sender;
  // As a digest: rows do not show who sent what.
  if (address === null) return [];
  return [{ owner: `specs of ${hash("sha256", address, "hex")}`, bytes: SPEC_BYTES.address }];
}
