import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { hashText } from "../panel/hash-text.ts";
import { collectedBy, hasPlace, isAllIn, MAX_TEXTS, withText } from "./evidence-turns.ts";
import {
  type EvidenceStanding,
  hastenRun,
  insertEvidence,
  noteFinal,
  takeForEvidence,
} from "./held-evidence.ts";
import { askRerun } from "./verdict-reruns.ts";

/** A text that somebody hands in for a verdict on HOLD. */
export type EvidenceOffer = {
  readonly verdictId: string;
  /** Who offers it: key:ID or wallet:ADDRESS, lower-case. */
  readonly owner: string;
  readonly text: string;
  /** Whether the re-run need not wait for more of this owner's. */
  readonly isFinal: boolean;
};

/** kept: the re-run is due at rerunAt. Everything else changed nothing. */
export type EvidenceOutcome =
  | {
      readonly kind: "kept";
      readonly textHash: Hex;
      readonly count: number;
      readonly rerunAt: Date;
    }
  | { readonly kind: "unknown" }
  | { readonly kind: "stranger" }
  | { readonly kind: "not-held"; readonly status: string }
  /** Another re-run is due or under way: its decision is waited for. */
  | { readonly kind: "busy" }
  | { readonly kind: "used-up" }
  /** What is left of a job's verdict is for its client or its provider, who have not used it. */
  | { readonly kind: "reserved" }
  | { readonly kind: "texts-dropped" };

export type EvidenceDeps = {
  readonly db: Database;
  readonly now: () => Date;
  readonly randomUuid: () => string;
};

/**
 * Keeps a text for a verdict on HOLD and has it run again, once: when no more texts are waited for, or when their collecting is
 * over. A text that is there already counts once.
 */
export function acceptEvidence(
  { db, now, randomUuid }: EvidenceDeps,
  { verdictId, owner, text, isFinal }: EvidenceOffer,
): Promise<EvidenceOutcome> {
  const textHash = hashText(text);
  return db.transaction(async (tx) => {
    const at = now();
    const standing = await takeForEvidence(tx, verdictId);
    if (standing === null) return { kind: "unknown" };
    const refusal = refusalOf(standing, { owner, textHash, now: at });
    if (refusal !== null) return refusal;
    const evidence = { id: randomUuid(), verdictId, submittedBy: owner, text, textHash, createdAt: at };
    await insertEvidence(tx, evidence);
    if (isFinal) await noteFinal(tx, evidence);
    const turns = withText(standing, { owner, textHash, isFinal });
    const count = turns.texts.length;
    const isComplete = isAllIn(turns, isFinal);
    if (isCollecting(standing, at)) {
      if (isComplete) await hastenRun(tx, verdictId, at);
      return { kind: "kept", textHash, count, rerunAt: isComplete ? at : standing.notBefore };
    }
    const rerunAt = isComplete ? at : collectedBy(standing, at);
    const asked = await askRerun(tx, { verdictId, cause: "evidence", at: rerunAt });
    if (asked !== "asked") throw new Error(`verdict ${verdictId} took evidence and no re-run: ${asked}`);
    return { kind: "kept", textHash, count, rerunAt };
  });
}

/** Why a text is not taken; null where it is. */
function refusalOf(
  standing: EvidenceStanding,
  offer: { readonly owner: string; readonly textHash: Hex; readonly now: Date },
): EvidenceOutcome | null {
  if (!mayOffer(standing, offer.owner)) return { kind: "stranger" };
  const { finalVerdict, status, decidedBy, texts, isReplaced } = standing;
  if (finalVerdict === null) return { kind: "not-held", status };
  if (finalVerdict !== "HOLD" || decidedBy.includes("review"))
    return { kind: "not-held", status: finalVerdict };
  if (decidedBy.includes("evidence") || isReplaced) return { kind: "used-up" };
  if (!standing.hasTexts) return { kind: "texts-dropped" };
  if (status !== "completed" && standing.cause !== "evidence") return { kind: "busy" };
  if (status !== "completed" && !isCollecting(standing, offer.now)) return { kind: "used-up" };
  if (texts.some(({ textHash }) => textHash === offer.textHash)) return null;
  if (texts.length >= MAX_TEXTS) return { kind: "used-up" };
  return hasPlace(standing, offer.owner) ? null : { kind: "reserved" };
}

function mayOffer({ owner, clientAddr, providerAddr }: EvidenceStanding, by: string): boolean {
  return [owner, `wallet:${clientAddr}`, `wallet:${providerAddr}`].includes(by);
}

/** Once its run may begin, that has to know all texts. */
function isCollecting({ cause, status, notBefore, isTried }: EvidenceStanding, now: Date): boolean {
  return cause === "evidence" && status === "pending" && notBefore > now && !isTried;
}
