/** How much a step of a plan matters. */
export type StepSeverity = "high" | "medium" | "low";

const SEVERITIES: readonly StepSeverity[] = ["high", "medium", "low"];

type Ranked = { readonly severity: StepSeverity };

/** Steps of a plan, each list in an order of its own. */
type StepLists<Step> = {
  /** Go first among steps of their severity. */
  readonly first: readonly Step[];
  /** Keep their order, whatever their severities: their transactions follow one another. */
  readonly sequence: readonly Step[];
  /** Go last among steps of their severity. */
  readonly rest: readonly Step[];
};

/** All steps by severity; one of the sequence stands where the gravest of those stands that come after it in the sequence. */
export function rankSteps<Step extends Ranked>({ first, sequence, rest }: StepLists<Step>): readonly Step[] {
  const rankOf = ({ severity }: Ranked) => SEVERITIES.indexOf(severity);
  const placed = [
    ...first.map((step) => ({ step, rank: rankOf(step), list: 0 })),
    ...sequence.map((step, place) => ({
      step,
      rank: Math.min(...sequence.slice(place).map(rankOf)),
      list: 1,
    })),
    ...rest.map((step) => ({ step, rank: rankOf(step), list: 2 })),
  ];
  return placed.toSorted((a, b) => a.rank - b.rank || a.list - b.list).map(({ step }) => step);
}
