import { concern, fault, fine, type Verdict } from "../../service/check.ts";

export type ServiceSettings = {
  readonly isLocal: boolean;
  readonly publicUrl: string | null;
  readonly payTo: string | null;
  readonly hasPanel: boolean;
  readonly hasPublisher: boolean;
  readonly hasReceiptKey: boolean;
  readonly hasTextKey: boolean;
  readonly historySource: string;
  readonly allowRawKeys: boolean;
};

/** Settings that a public service needs and that are missing. */
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
    ...(settings.hasTextKey
      ? []
      : [concern("TEXT_ENCRYPTION_KEY is not set", "set it to encrypt stored orders and outputs")]),
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
