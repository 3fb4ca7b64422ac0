import { THRESHOLD_HUNDREDTHS } from "./policy.ts";

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
