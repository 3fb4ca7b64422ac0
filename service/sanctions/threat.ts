import { THREAT_KINDS } from "../db/tables/sanctions.ts";

export type ThreatKind = (typeof THREAT_KINDS)[number];

/** A list of threats that an address is on. */
export type Threat = {
  readonly list: string;
  readonly kind: ThreatKind;
  /** Where the list comes from, as its importer named it. */
  readonly source: string;
  /** When an import first showed the address there, ISO 8601. */
  readonly listed_at: string;
};

/** Code of a listing in answers: "listed_phishing". */
export type ThreatCode = `listed_${ThreatKind}`;

export const THREAT_CODES = THREAT_KINDS.map((kind) => `listed_${kind}` as const);

/** The codes of an address's threats, each once. */
export function threatCodes(threats: readonly Threat[]): readonly ThreatCode[] {
  return [...new Set(threats.map(({ kind }) => `listed_${kind}` as const))];
}
