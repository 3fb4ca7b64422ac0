/** Name of everything that decides a verdict beside models and prompts: thresholds, rules and checks. */
export const PANEL_VERSION = "panel-2026.0";

/**
 * Confidence from which a ballot's lean is its vote, by domain, in hundredths: the dearer a wrong verdict and the easier the
 * work is to check, the surer a ballot has to be.
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
  /** Claims that nobody can check, judged by nothing that was agreed: enough for content alone. */
  uncheckableCapHundredths: 60,
  /** Of four: one role may fail or dissent, and no two decide alone. */
  majority: 3,
  /** The population standard deviation of scores from 0 to 100 is at most this. */
  greatestDeviation: 50,
} as const;

/** What a critic needs to be heard. */
export const CRITIC = {
  /** As many as make a majority: with that many in doubt there is none left. */
  challengedGenerators: 3,
  /** One or two characters are found in nearly every text, and show nothing. */
  minQuoteCharacters: 3,
} as const;

/** What a criterion needs to count as unmet: one role alone may be wrong. */
export const UNMET = { ballots: 2, ballotsWithSynthesis: 1 } as const;

/** By how much surer than its threshold a rejection has to be, in hundredths: it takes money from who did the work. */
export const REJECTION = {
  margin: 10,
  /** A provider without a score cannot be known to do poor work: more doubt is its due. */
  marginWithoutScore: 15,
} as const;

/** Every role answers every item, so their number bounds what an answer may cost. */
export const MAX_CRITERIA = 30;

/** Longest quotation of anybody's text in findings and evidence, in characters. */
export const MAX_QUOTE_CHARACTERS = 200;

/** A domain that has a threshold of its own. */
export type Domain = keyof typeof THRESHOLD_HUNDREDTHS;

/** The domain that decides and its threshold, a confidence from 0 to 1; a domain that has none is judged by `default`. */
export function thresholdOf(domain: string): { readonly domain: Domain; readonly confidence: number } {
  const known: Domain = isDomain(domain) ? domain : "default";
  return { domain: known, confidence: THRESHOLD_HUNDREDTHS[known] / 100 };
}

function isDomain(domain: string): domain is Domain {
  return Object.hasOwn(THRESHOLD_HUNDREDTHS, domain);
}
