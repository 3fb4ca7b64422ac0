import type { Address, Hex } from "viem";
import type { EvidenceStanding, HandedIn } from "./held-evidence.ts";

/** What decides whose turn it is. */
export type Turns = Pick<EvidenceStanding, "isBound" | "clientAddr" | "providerAddr" | "texts">;

/** Texts that a verdict takes. */
export const MAX_TEXTS = 3;
/** How long after the first text others are waited for, where no job runs out. */
export const COLLECTING_MS = 10 * 60_000;

/**
 * Whether somebody may add a text. Of the three of a job's verdict one stays for each of the job's two sides until it has used it:
 * a side is shown by its wallet alone, so a key takes the third, whomever it says that it submits for.
 */
export function hasPlace(turns: Turns, owner: string): boolean {
  const unheard = sidesOf(turns).filter((side) => side !== owner && !hasSpoken(turns, side));
  return turns.texts.length + unheard.length < MAX_TEXTS;
}

/**
 * Whether no more texts are waited for: three are in, or the newest was said to be the last; of a job's verdict, both sides of the
 * job have said so, since what one says ends its own turn alone.
 */
export function isAllIn(turns: Turns, isFinal: boolean): boolean {
  const { texts, isBound } = turns;
  if (texts.length >= MAX_TEXTS) return true;
  if (!isBound) return isFinal;
  return sidesOf(turns).every((side) => texts.some(({ finalBy }) => finalBy.includes(side)));
}

/**
 * When the collecting that the first text begins is over: after ten minutes; for a held job no later than halfway to its review,
 * or to its expiry once the review is due, so that the decision leaves time to act on it.
 */
export function collectedBy({ clock }: Pick<EvidenceStanding, "clock">, now: Date): Date {
  const end = clock === null ? null : clock.reviewBy > now ? clock.reviewBy : clock.expiresAt;
  const half = end === null ? COLLECTING_MS : (end.getTime() - now.getTime()) / 2;
  return new Date(now.getTime() + Math.max(0, Math.min(COLLECTING_MS, Math.floor(half))));
}

/** The turns once somebody has handed a text in; one that is there already stays its first sender's. */
export function withText<Standing extends Turns>(
  standing: Standing,
  { owner, textHash, isFinal }: { readonly owner: string; readonly textHash: Hex; readonly isFinal: boolean },
): Standing {
  const isThere = standing.texts.some((text) => text.textHash === textHash);
  const texts: readonly HandedIn[] = isThere
    ? standing.texts
    : [...standing.texts, { textHash, submittedBy: owner, finalBy: [] }];
  return {
    ...standing,
    texts: texts.map((text) =>
      isFinal && text.textHash === textHash ? { ...text, finalBy: [...text.finalBy, owner] } : text,
    ),
  };
}

/** Both sides of a job as owners of texts; one account may be both. None where there is no job. */
function sidesOf({ isBound, clientAddr, providerAddr }: Turns): readonly string[] {
  return isBound ? [walletOf(clientAddr), walletOf(providerAddr)] : [];
}

function hasSpoken({ texts }: Turns, side: string): boolean {
  return texts.some(({ submittedBy }) => submittedBy === side);
}

function walletOf(address: Address): string {
  return `wallet:${address}`;
}
