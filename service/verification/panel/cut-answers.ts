/** The most that an answer may hold, as its prompts say: of texts in characters, of lists in entries. */
export const ANSWER_LIMITS = {
  /** A quotation shows one place. */
  quote: 400,
  /** A sentence or two. */
  point: 800,
  /** A page. */
  reason: 4_000,
  /** As many as anybody would read; a list that is longer says less. */
  points: 20,
} as const;

/** The beginning of a text, with an ellipsis where it was longer than the limit in UTF-16 units. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  // A pair that was cut in two leaves its first half.
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

/** The first entries of a list. */
export function cutList<Entry>(entries: readonly Entry[]): Entry[] {
  return entries.slice(0, ANSWER_LIMITS.points);
}

/** As many challenges, in their order: of every role its first ones, so that many against one do not hide those against others. */
export function cutChallenges<Challenge extends { readonly role: string }>(
  challenges: readonly Challenge[],
): Challenge[] {
  const counts = new Map<string, number>();
  const ranked = challenges.map((challenge, index) => {
    const rank = counts.get(challenge.role) ?? 0;
    counts.set(challenge.role, rank + 1);
    return { challenge, index, rank };
  });
  return ranked
    .sort((one, other) => one.rank - other.rank || one.index - other.index)
    .slice(0, ANSWER_LIMITS.points)
    .sort((one, other) => one.index - other.index)
    .map(({ challenge }) => challenge);
}
