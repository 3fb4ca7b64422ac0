/** Version of everything that decides a verdict, except models and prompts: thresholds, rules and checks. */
export const PANEL_VERSION = "panel-2026.2";

/**
 * Confidence from which a ballot's lean is its vote, by domain, in hundredths. It is higher where a wrong verdict costs more and where work
 * is easier to check.
 */
export const THRESHOLD_HUNDREDTHS = {
  /** Taste decides much of it: a confident half is all that can be asked. */
  content: 50,
  /** Rows and formats can be checked, sources often cannot. */
  data_pipeline: 65,
  /** Nothing is known about the work. */
  default: 70,
  /** It works or it does not, and reading it shows most of that. */
  code: 75,
  /** Money is acted on, and a wrong number looks like a right one. */
  financial: 80,
} as const;

/** How ballots become votes. */
export const VOTING = {
  /** About two thirds of what was asked is there. */
  allowFrom: 65,
  /** Less than two fifths: what is missing is most of it. */
  rejectBelow: 40,
  /** Cap for uncheckable claims without agreed criteria: enough for content only. */
  uncheckableCapHundredths: 60,
  /** Of four: one role may fail or dissent, and two never decide. */
  majority: 3,
  /** The population standard deviation of scores from 0 to 100 is at most this. */
  greatestDeviation: 50,
} as const;

/** The generator that a second model answers for, if there is one: fabrications are what judges of one family overlook together. */
export const SECOND_MODEL_ROLE = "evidence_checker";

/**
 * Correlation of two ballots' errors. Measured on LLMBar's 419 pairs (docs/panel.md, section 8): prompt styles of GPT-4 0.62 to 0.78, one of
 * them and PaLM2, the nearest in skill, 0.31 to 0.43.
 */
export const CORRELATION = { sameModel: 0.7, otherModel: 0.35 } as const;

/** Votes that an ALLOW needs if it releases more than the amounts of the settings. */
export const MONEY = {
  /** Votes for ALLOW above the first amount: a missing ballot is no vote. */
  votes: 4,
  /**
   * Effective votes above the second amount. Any number of ballots of one model are worth less than 1 / 0.70 = 1.43, three of one model
   * and one of another 1.62.
   */
  effectiveVotesHundredths: 150,
} as const;

/** Amounts above which an ALLOW needs more, in millionths of a US dollar. */
export type MoneyLimits = {
  readonly unanimousAboveMicroUsd: bigint;
  readonly secondModelAboveMicroUsd: bigint;
};

/** The amounts by default: a HOLD costs ten minutes of a person, and unanimity pays once a wrong ALLOW costs more than 3.6 of them. */
export const MONEY_LIMITS: MoneyLimits = {
  unanimousAboveMicroUsd: 25_000_000n,
  secondModelAboveMicroUsd: 1_000_000_000n,
};

/** Conditions for a critic's challenge. */
export const CRITIC = {
  /** The size of a majority, so that none remains. */
  challengedGenerators: 3,
  /** Nearly every text contains one or two given characters. */
  minQuoteCharacters: 3,
} as const;

/** Conditions for a reported instruction. A shorter quotation is in many texts. */
export const INSTRUCTIONS = { minQuoteCharacters: 12 } as const;

/** Ballots that make a criterion unmet; one role alone may be wrong. */
export const UNMET = { ballots: 2, ballotsWithSynthesis: 1 } as const;

/** Extra confidence of a rejection over the threshold, in hundredths, because it takes money from the provider. */
export const REJECTION = {
  margin: 10,
  /** A provider without a score gets more benefit of the doubt. */
  marginWithoutScore: 15,
} as const;

/** Every role answers every item, so this bounds the cost of an answer. */
export const MAX_CRITERIA = 30;

/** Longest quotation in findings and evidence, in characters. */
export const MAX_QUOTE_CHARACTERS = 200;

/** A domain that has a threshold of its own. */
export type Domain = keyof typeof THRESHOLD_HUNDREDTHS;

/** Thresholds that recorded judgments can be replayed with; scores from 0 to 100, confidences in hundredths. */
export type Thresholds = {
  readonly confidence: Readonly<Record<Domain, number>>;
  readonly allowFrom: number;
  readonly rejectBelow: number;
  readonly rejectionMargin: number;
  readonly rejectionMarginWithoutScore: number;
  /** Votes, and effective votes in hundredths, for an ALLOW above the amounts. */
  readonly moneyVotes: number;
  readonly effectiveVotes: number;
};

/** The thresholds in force. */
export const THRESHOLDS: Thresholds = {
  confidence: THRESHOLD_HUNDREDTHS,
  allowFrom: VOTING.allowFrom,
  rejectBelow: VOTING.rejectBelow,
  rejectionMargin: REJECTION.margin,
  rejectionMarginWithoutScore: REJECTION.marginWithoutScore,
  moneyVotes: MONEY.votes,
  effectiveVotes: MONEY.effectiveVotesHundredths,
};

/** Returns the domain that applies and its threshold, a confidence from 0 to 1. An unknown domain uses `default`. */
export function thresholdOf(domain: string): { readonly domain: Domain; readonly confidence: number } {
  const known: Domain = isDomain(domain) ? domain : "default";
  return { domain: known, confidence: THRESHOLD_HUNDREDTHS[known] / 100 };
}

function isDomain(domain: string): domain is Domain {
  return Object.hasOwn(THRESHOLD_HUNDREDTHS, domain);
}
