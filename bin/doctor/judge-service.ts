import type { SourceStatus } from "../../service/sanctions/sources.ts";
import { concern, fault, fine, type Verdict } from "./finding.ts";

/** Whether the index follows the chain; the age of its newest block in seconds, null where it holds none. */
export function judgeIndex(ageSeconds: number | null, maxAgeSeconds: number): Verdict {
  if (ageSeconds === null)
    return fault("the index holds no block", 'start "ahs index", or wait for its first pass');
  const detail = `newest indexed block ${Math.round(ageSeconds)} s old, at most ${maxAgeSeconds} s wanted`;
  return ageSeconds > maxAgeSeconds ? fault(detail, 'see that "ahs index" runs, and its log') : fine(detail);
}

/** Seconds after which the imported list should have been renewed, and must have been. */
const [OLD_LIST, STALE_LIST] = [2 * 86_400, 14 * 86_400];

/** Whether a source of sanctions is up to date; `isOnly` where nothing else can list anybody. */
export function judgeSanctions(source: SourceStatus, ageSeconds: number | null, isOnly: boolean): Verdict {
  const name = source.source;
  if (name === "chainalysis-oracle") {
    const { unasked } = source;
    if (ageSeconds === null || unasked === null)
      return concern(`${name}: nothing indexed yet`, 'wait for "ahs index"');
    return unasked > 0
      ? concern(
          `${name}: ${unasked} wallets not asked about yet`,
          'see that "ahs work" runs and reaches the node',
        )
      : fine(`${name}: ${source.entries} entries at ${source.edition}`);
  }
  const advice = 'run "ahs sanctions import" daily';
  if (ageSeconds === null) return (isOnly ? fault : concern)(`${name}: never imported`, advice);
  const detail = `${name}: ${source.entries} entries, imported ${Math.floor(ageSeconds / 3_600)} h ago`;
  if (ageSeconds > STALE_LIST) return fault(detail, advice);
  return ageSeconds > OLD_LIST ? concern(detail, advice) : fine(detail);
}

export type DiskFacts = { readonly freeBytes: number; readonly totalBytes: number };

const GB = 1_000_000_000;

/** Whether the data folder's disk has room. */
export function judgeDisk({ freeBytes, totalBytes }: DiskFacts): Verdict {
  const detail = `${(freeBytes / GB).toFixed(1)} of ${(totalBytes / GB).toFixed(1)} GB free`;
  if (freeBytes < GB) return fault(detail, "make room: PostgreSQL stops when its disk is full");
  return freeBytes < 5 * GB ? concern(detail, "make room, or move the data folder") : fine(detail);
}

export type ServiceSettings = {
  readonly isLocal: boolean;
  readonly publicUrl: string | null;
  readonly payTo: string | null;
  readonly hasPanel: boolean;
  readonly hasPublisher: boolean;
  readonly hasReceiptKey: boolean;
  readonly historySource: string;
  readonly allowRawKeys: boolean;
};

/** What the settings leave out that a service for others needs. */
export function judgeSettings(settings: ServiceSettings): readonly Verdict[] {
  const { isLocal, publicUrl, payTo, hasPanel, hasPublisher, hasReceiptKey, historySource } = settings;
  if (isLocal) return [fine("settings of a local chain")];
  const found = [
    ...(publicUrl === null
      ? [(hasPublisher ? fault : concern)("PUBLIC_URL is not set", "set it: sign-ins and roots name it")]
      : []),
    ...(payTo === null ? [concern("X402_PAY_TO is not set", "set it to sell single calls and keys")] : []),
    ...(hasPanel ? [] : [concern("no model is configured", "set PANEL_BASE_URL to judge outputs")]),
    ...(hasPublisher ? [] : [concern("no publisher's key here", '"ahs work" needs one')]),
    ...(hasReceiptKey
      ? []
      : [concern("RECEIPT_PRIVATE_KEY is not set", "set it to sign receipts of verdicts")]),
    ...(historySource === "none"
      ? [
          concern(
            "no source of history",
            "set HISTORY_SOURCE: paid calls for unknown wallets answer 404 without it",
          ),
        ]
      : []),
    ...(settings.allowRawKeys
      ? [concern("ALLOW_RAW_KEYS is set", "keep keys in keystores or a remote signer: docs/security.md")]
      : []),
  ];
  return found.length === 0 ? [fine("nothing is left out")] : found;
}
