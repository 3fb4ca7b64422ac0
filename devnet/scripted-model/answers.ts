/** Answer of a generator on the wire. */
export type BallotAnswer = {
  readonly score: number;
  readonly confidence: number;
  readonly criteria: readonly {
    readonly id: string;
    readonly met: "yes" | "no" | "unclear";
    readonly evidence: string;
  }[];
  readonly objections: readonly string[];
  readonly uncheckable_claims: readonly string[];
  readonly instructions_found: readonly string[];
  readonly reasoning: string;
};

/** Answer of the critic on the wire. */
export type CritiqueAnswer = {
  readonly challenges: readonly { readonly role: string; readonly quote: string; readonly reason: string }[];
  readonly missed_issues: readonly { readonly issue: string; readonly quote: string }[];
  readonly fabrication_risk: "none" | "low" | "medium" | "high";
  readonly fabrication_reason: string;
  readonly spec_gaming: boolean;
  readonly spec_gaming_reason: string;
  readonly case_for: string;
  readonly case_against: string;
  readonly confidence: number;
};

/** Answer of the synthesiser on the wire. */
export type SynthesisAnswer = {
  readonly met_criteria: readonly string[];
  readonly unmet_criteria: readonly { readonly id: string; readonly evidence: string }[];
  readonly key_objections: readonly string[];
  readonly reasoning: string;
  readonly strongest_dissent: string;
};
