/** A fault that an account found. Its name is unique, so that a run reports it once. */
export type Finding = {
  readonly kind: "lost" | "doubled";
  /** The thing that was lost or doubled. */
  readonly item: string;
  /** How many of it; one, unless it is counted. */
  readonly count: number;
};

export function lost(item: string): Finding {
  return { kind: "lost", item, count: 1 };
}

export function doubled(item: string): Finding {
  return { kind: "doubled", item, count: 1 };
}

/** Findings of a count that should be another: too few are lost, too many doubled. */
export function compareCounts(
  item: string,
  { expected, found }: { expected: number; found: number },
): Finding[] {
  if (found === expected) return [];
  return [{ kind: found < expected ? "lost" : "doubled", item, count: Math.abs(expected - found) }];
}

/** Returns new findings, and the growth of the counts of known ones. Records both as reported. */
export function newFindings(findings: readonly Finding[], reported: Map<string, number>): readonly Finding[] {
  return findings.flatMap((finding) => {
    const key = `${finding.kind} ${finding.item}`;
    const more = finding.count - (reported.get(key) ?? 0);
    if (more <= 0) return [];
    reported.set(key, finding.count);
    return [{ ...finding, count: more }];
  });
}
